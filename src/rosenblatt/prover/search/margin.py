"""The largest margin of two classes: weights that reach it, rows that bound it, and brackets between proved numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.engine.rows import Dense
from rosenblatt.prover.certificates.brackets import Bracket, augmented_bracket, margin_bracket, quotient
from rosenblatt.prover.exact.clock import Clock, OutOfTime
from rosenblatt.prover.exact.rational import MAX_UNKNOWNS, as_integers
from rosenblatt.prover.exact.signed_rows import EPS, SignedRows
from rosenblatt.prover.search.compact import CompactRows
from rosenblatt.prover.search.decide import ADDED_WIDE_ROWS
from rosenblatt.prover.search.equal_rows import contradiction
from rosenblatt.prover.search.integer_search import PaddedSearch
from rosenblatt.prover.search.nearest import ORIGIN
from rosenblatt.prover.search.search import (
    DESCENT_EPOCHS,
    WorkingSet,
    continue_search,
    coordinate_descent,
    gap,
    lowest_rows,
)
from rosenblatt.prover.search.verdict import find_separator
from rosenblatt.prover.search.views import (
    ROW_SPACE_MAX_ROWS,
    SAMPLE_ROWS,
    AffineView,
    RowSpaceView,
    factoring_seconds,
    is_wide,
    rescale,
    sample_rows,
    standardised,
)
from rosenblatt.prover.search.witness import as_floats, as_fractions, separates

Array = npt.NDArray[Any]

# The bias is a weight on a constant, this many times the spread: its share of the length of w is then negligible.
PADDING_OVER_SPREAD = 100.0
# Epochs of coordinate descent towards the largest margin of wide rows, and the share of it that may be missing: at its
# end, or where a search goes on from there.
WIDE_DESCENT_EPOCHS = 1000
REACHED_GAP, CLOSE_GAP = 1e-9, 1e-3
# Share by which the margin of another wide row may be below the support's.
WIDE_MARGIN_GAP = 1e-7
# Features and entries up to which a margin that floats do not resolve is searched for on integers: a few seconds.
INTEGER_SEARCH_MAX_FEATURES, INTEGER_SEARCH_MAX_ENTRIES = 24, 100_000
# Share of the margin that a bracket may leave open.
BRACKET_WIDTH = 1e-7
# Share of a negative margin that floats may lose; and lengths whose squares floats hold.
NOTHING_LOST, LEAST_LENGTH = 1e-12, 1e-100
# Wide rows from which on a margin that is close to the largest will do: the space of fewer takes a moment. Epochs of
# descent towards it; rows that cannot be separated waste them.
MIN_ROWS_FOR_CLOSE, CLOSE_DESCENT_EPOCHS = 512, 300


class LargestMargin(NamedTuple):
    """Weights of largest margin, and signed rows whose weighted mean shows that none is larger."""

    w: Array
    ids: Array
    shares: Array


class Hyperplane(NamedTuple):
    """A hyperplane between two classes, scaled so that the closest rows have y f(x) = 1."""

    w: Array
    b: float
    margin: Bracket  # `lower` is what w and b have, as they are rounded
    support: Array
    exact: tuple[Fraction, ...] = ()  # weights and bias, where w and b do not separate


# ----------------------------------------------------------------------------------------------------- proved brackets


def largest_margin_hyperplane(signed: SignedRows, clock: Clock, tol: float = 0.0) -> Hyperplane | None:
    """Find the hyperplane with the largest distance from the rows of two classes; None if they are not separable.

    Of many wide rows the distance may lack a share of at most `tol`.

    Raises
    ------
    OutOfTime, TooLarge
        If that was not decided.
    """
    with np.errstate(all="ignore"), clock:
        bracket = Bracket(0.0, math.inf)
        if is_wide(signed):  # the search for the margin finds a separator sooner than another one would
            if contradiction(signed.table, signed.label, clock) is not None:
                return None
            close = _close_hyperplane(signed, clock, tol) if tol > 0.0 else None
            if close is not None:
                return close
            bracket = _claimed(signed, None, clock, augmented=False)
        if not bracket.lower > 0:
            vector = find_separator(signed, clock)
            if vector is None:
                return None
            bracket = _claimed(signed, vector, clock, augmented=False)
            if not bracket.lower > 0:  # hardly any margin, and too many rows to find the largest on integers
                bracket = replace(margin_bracket(signed, vector, bracket.rows, bracket.weights), upper=bracket.upper)
        plane = _scaled(signed, bracket) or _rounded(signed, bracket)
        if plane.exact:  # other weights, of a smaller margin, may be less sensitive to rounding
            w = rescale(np.array(find_separator(signed, clock), np.float64))
            margin = plane_margin(signed, w)
            if margin > 0:
                return Hyperplane(w[:-1], float(w[-1]), replace(bracket, lower=margin), plane.support)
        return plane


def _close_hyperplane(signed: SignedRows, clock: Clock, tol: float) -> Hyperplane | None:
    """Return the hyperplane that coordinate descent finds for many wide rows; None if that is not close enough.

    Both bounds of the margin are proved by what floats can lose, not by exact sums, which would take longer than the
    search.
    """
    if signed.n < MIN_ROWS_FOR_CLOSE or signed.table.exact is not None:
        return None
    view = _wide_view(signed, _frame(signed, augmented=False)[1])
    u, alpha = coordinate_descent(view, CLOSE_DESCENT_EPOCHS, clock, reached=tol)
    w = centred(signed, rescale(view.to_weights(u)))
    w /= max(signed.margins(w)[0].min(), np.finfo(float).tiny)
    if not (np.isfinite(w).all() and w[:-1].any()):
        return None
    margins, sizes = signed.margins(w)
    relative, absolute = signed.slack(w)
    length = float(np.linalg.norm(w[:-1])) * (1 + signed.width * 2.0**-52)
    lower = float((margins - relative * sizes - absolute).min()) / length * (1 - 2.0**-50)
    ids = np.flatnonzero(alpha)
    upper = _hull_distance_above(signed, ids, alpha[ids]) / 2
    # Beyond these lengths squares may underflow or overflow.
    if not (1e-100 < length < 1e100 and lower > 0 and upper < math.inf and lower >= upper * (1 - tol)):
        return None
    return Hyperplane(w[:-1], float(w[-1]), Bracket(lower, upper), ids)


def _hull_distance_above(signed: SignedRows, ids: Array, weight: Array) -> float:
    """Bound the distance of the weighted means of the two classes from above, by floats and what they can lose."""
    matrix = signed.table.matrix()[ids].astype(float)
    means, sizes = [], []
    for c in (0, 1):
        own = signed.label[ids] == c
        if not own.any():
            return math.inf
        part, share = matrix[own], weight[own] / weight[own].sum()
        means.append(part.T @ share)
        sizes.append(np.linalg.norm(abs(part).T @ share))
    # Shares, their sum, the sums of each coordinate, a decimal's float, the norms: each term is rounded fewer times.
    lost = (3 * ids.size + 2 * signed.width + 32) * 2.0**-53 * (sizes[0] + sizes[1]) + 2.0**-490
    return float(np.linalg.norm(means[0] - means[1]) + lost) * (1 + 2.0**-50)


def _scaled(signed: SignedRows, bracket: Bracket) -> Hyperplane | None:
    """Scale weights in floats so that the closest rows have y f(x) = 1; None if that, or the bias, costs margin."""
    if not isinstance(bracket.w[0], float):
        return None
    w = np.array(bracket.w)
    w = w / max(signed.margins(w)[0].min(), np.finfo(float).tiny)
    if not (np.isfinite(w).all() and w[:-1].any()):
        return None
    margin = quotient(signed.lowest_margin(w, np.arange(signed.n)), w[:-1])
    if not margin >= bracket.lower * (1 - BRACKET_WIDTH):
        return None
    return Hyperplane(w[:-1], float(w[-1]), replace(bracket, lower=margin), np.sort(np.array(bracket.rows, np.int64)))


def _rounded(signed: SignedRows, bracket: Bracket) -> Hyperplane:
    """Round weights to floats, the closest rows at y f(x) = 1, and measure the margin that these floats have."""
    integers = _proportional(bracket.w)
    negative, positive = _nearest_rows(signed, [*integers[:-1], 0])
    scale, middle = 2 / (negative + positive), (negative - positive) / 2
    exact = [value * scale for value in integers[:-1]]
    w = np.array([_nearest_float(value) for value in exact])
    margin, b = -math.inf, 0.0
    if np.isfinite(w).all() and w.any():
        directed, common = as_integers(w)
        negative, positive = _nearest_rows(signed, [*directed, 0])
        b = _nearest_float((negative - positive) / 2 * common)
        margin = plane_margin(signed, np.append(w, b)) if math.isfinite(b) else -math.inf
    weights = () if margin > 0 else (*exact, middle * scale)
    w, b = np.where(np.isfinite(w), w, 0.0), b if math.isfinite(b) else 0.0
    return Hyperplane(w, b, replace(bracket, lower=margin), np.sort(np.array(bracket.rows, np.int64)), weights)


def plane_margin(signed: SignedRows, w: Array) -> float:
    """Compute the distance of the closest row from a hyperplane, negative on its wrong side, rounded down."""
    with np.errstate(all="ignore"):
        margins, sizes = signed.margins(w)
        relative, absolute = signed.slack(w)
        lost = relative * sizes + absolute
        lowest, length = float((margins - lost).min()), math.sqrt(float(w[:-1] @ w[:-1]))
        # On the wrong side nothing is to be proved, and floats will do where they lose nearly nothing.
        if lost.max() < -NOTHING_LOST * lowest and LEAST_LENGTH < length < 1.0 / LEAST_LENGTH:
            return lowest / length * (1.0 + (signed.width + 8) * EPS)
    integers, scale = as_integers(w)
    exact = signed.lowest_margin(integers, np.arange(signed.n)) * scale
    return quotient(exact, w[:-1]) if w[:-1].any() else -math.inf


def _nearest_rows(signed: SignedRows, w: list[int]) -> tuple[Fraction, Fraction]:
    """Return the lowest margin of the rows of either class, exactly."""
    negative, positive = (signed.lowest_margin(w, np.flatnonzero(signed.label == c)) for c in (0, 1))
    return negative, positive


def _nearest_float(value: Fraction) -> float:
    """Round, to infinity if need be."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def margin_claims(signed: SignedRows, vector: tuple[Any, ...], clock: Clock) -> dict[str, Any]:
    """Bracket the largest margin of separable rows, as a distance and as the mistake bound has it.

    Return the fields of a certificate: margin, augmented, and the vector where a better one was found.
    """
    claims: dict[str, Any] = {"margin": Bracket(np.inf, np.inf)}  # of one class alone
    if signed.label.min() == 0:
        claims["margin"] = _claimed(signed, vector, clock, augmented=False)
        w = claims["margin"].w
        if isinstance(w[0] if w else None, float) and separates(signed, np.array(w)):
            claims["vector"] = vector = w
    try:
        claims["augmented"] = _claimed(signed, vector, clock, augmented=True)
    except OutOfTime as fault:
        claims["reason"] = f"The augmented margin, and with it a mistake bound, was not determined: {fault}."
    for name in ("margin", "augmented"):
        if name in claims and not claims[name].lower > 0:
            claims[name] = None
    return claims


def _claimed(signed: SignedRows, vector: tuple[Any, ...] | None, clock: Clock, *, augmented: bool) -> Bracket:
    """Bracket a margin from a separator, searching where floats hold the rows; moving them changes no distances."""
    rows = CompactRows(signed, moved=not augmented, scaled=False)
    inner, w = rows.signed, None if vector is None else rows.from_weights(vector)
    best = largest_margin(inner, clock, augmented=augmented, w=w)
    known = best.w
    if not separates(inner, best.w):
        # Rows of very different sizes may leave nothing of the margin in floats. A known separator may have some. Where
        # none is known there may be none: that is decided before the margin is searched for on integers.
        if w is None:
            return Bracket(0.0, math.inf)
        known = w
    bracket = _bracket(inner, known, best, clock, augmented=augmented)
    if rows.same or not bracket.w:
        return bracket
    if not rows.moved:
        exact = not isinstance(bracket.w[0], float)
        placed = rows.to_weights(list(_proportional(bracket.w)) if exact else np.array(bracket.w))
        return replace(bracket, w=as_fractions(placed) if exact else tuple(placed.tolist()))
    integers = rows.to_weights(_proportional(bracket.w))
    rounded = margin_bracket(signed, as_floats(integers), bracket.rows, bracket.weights)
    if _narrow(rounded):
        return rounded
    return margin_bracket(signed, as_fractions(integers), bracket.rows, bracket.weights)


def _proportional(w: Sequence[Any]) -> list[int]:
    """Return integers in the direction of floats or Fractions."""
    return as_integers(np.array([Fraction(v) for v in w], object))[0]


def _bracket(signed: SignedRows, w: Array, best: LargestMargin, clock: Clock, *, augmented: bool) -> Bracket:
    """Bracket a margin by weights and by the support of the best ones; on integers where floats are too coarse."""
    bracket = Bracket(0.0, math.inf)
    if augmented or w[:-1].any():  # else floats of one scale hold nothing of the weights but the bias
        bracket = (augmented_bracket if augmented else margin_bracket)(
            signed, w, best.ids.tolist(), best.shares.tolist()
        )
    small = signed.features <= INTEGER_SEARCH_MAX_FEATURES and signed.n * signed.width <= INTEGER_SEARCH_MAX_ENTRIES
    if not _narrow(bracket) and small:
        with suppress(OutOfTime):
            bracket = _integer_bracket(signed, best, clock, augmented=augmented) or bracket
    return bracket


def _integer_bracket(signed: SignedRows, best: LargestMargin, clock: Clock, *, augmented: bool) -> Bracket | None:
    """Bracket a margin by the nearest point on integers: in floats if they do, else in fractions."""
    bracket_of = augmented_bracket if augmented else margin_bracket
    # The bias then has less than 2**-40 of the squared length of the weights.
    padding = 1 if augmented else 1 << max(0, math.frexp(math.sqrt(signed.table.largest))[1] + 20)
    search = PaddedSearch(signed, padding)
    found = search.largest_margin(best.ids.tolist() or [0], best.shares.tolist() or [1.0], clock)
    if found is None or not any(found.point):
        return None
    integers, rounded = search.to_weights(found.point), [float(share) for share in found.shares]
    if min(rounded) > 0:
        bracket = bracket_of(signed, as_floats(integers), found.support, rounded)
        if _narrow(bracket):
            return bracket
    return bracket_of(signed, as_fractions(integers), found.support, found.shares)


def _narrow(bracket: Bracket) -> bool:
    """Return whether a bracket determines the margin."""
    return bracket.lower > 0 and bracket.upper <= bracket.lower * (1 + BRACKET_WIDTH)


# ------------------------------------------------------------------------------------------------- search with floats


def largest_margin(signed: SignedRows, clock: Clock, *, augmented: bool, w: Array | None = None) -> LargestMargin:
    """Find the separator of two classes with the largest margin.

    Parameters
    ----------
    signed : SignedRows
    clock : Clock
    augmented : bool
        Whether the bias counts in the length of the weights, as in the perceptron's mistake bound; otherwise the
        margin is the distance of the rows from the hyperplane.
    w : array of shape (width,), optional
        A separator, if one is known: the search begins with the rows of lowest margin.
    """
    if is_wide(signed) or signed.width > MAX_UNKNOWNS:
        return _largest_margin_wide(signed, clock, augmented=augmented)
    index = sample_rows(signed)
    part = signed if index.size == signed.n else signed.take(index)
    centre, spread, padding = _frame(part, augmented)
    radius = max(spread, padding)
    inverse = np.full(signed.features, 1.0 / radius)
    view = AffineView(signed, centre, inverse, padding / radius, normalise=False)
    support, shares = index[:0], np.empty(0)
    if w is None and part is signed:
        easy = standardised(signed)
        w = rescale(easy.to_weights(coordinate_descent(easy, DESCENT_EPOCHS, clock)[0]))
    elif w is None:
        # If the sample has m of n rows, only about width n / m of all rows violate its optimum (Clarkson 1995).
        best = largest_margin(part, clock, augmented=augmented)
        w, support, shares = best.w, index[best.ids], best.shares
    low = lowest_rows(signed.margins(w)[0], signed.width)
    working = WorkingSet(view, np.concatenate([support, np.setdiff1d(low, support)]))
    working.start(np.arange(support.size), shares)
    continue_search(working, clock, to_optimum=True)
    w = rescale(view.to_weights(working.point))
    return LargestMargin(w if augmented else centred(signed, w), working.support, working.shares)


def _largest_margin_wide(signed: SignedRows, clock: Clock, *, augmented: bool) -> LargestMargin:
    """Find the largest margin of wide rows, beginning with those that coordinate descent gives multipliers."""
    _, spread, padding = _frame(signed, augmented)
    view = _wide_view(signed, 1.0 if augmented else spread)
    reached = REACHED_GAP if augmented else CLOSE_GAP
    u, alpha = coordinate_descent(view, WIDE_DESCENT_EPOCHS, clock, reached=reached)
    ids = np.flatnonzero(alpha)
    share = alpha[ids] / alpha.sum()
    if augmented and gap(view.margins(u), u, alpha) < REACHED_GAP:
        return LargestMargin(rescale(view.to_weights(u)), ids, share)
    if ids.size > ROW_SPACE_MAX_ROWS:  # their space would not fit into memory: a wider bracket must do
        w = rescale(view.to_weights(u))
        return LargestMargin(w if augmented else centred(signed, w), ids, share)
    shortest = math.inf
    while True:
        clock.check(factoring_seconds(ids.size))
        row_space = RowSpaceView(signed, ids, padding, normalise=False)
        working = WorkingSet(row_space, np.arange(row_space.n))
        working.start_with_basis(row_space, share)
        end = continue_search(working, clock, to_optimum=True)
        w, support = row_space.to_weights(working.point), ids[working.support]
        margins = signed.margins(w)[0]
        low = np.setdiff1d(np.flatnonzero(margins < margins[support].min() * (1 - WIDE_MARGIN_GAP)), ids)
        # More rows have a nearer point: if not, rounding keeps the search from an end. The origin is the nearest one.
        length = float(np.linalg.norm(working.point) / working.shares.sum())
        done = end == ORIGIN or not length < shortest
        shortest = length
        if done or not low.size or ids.size >= ROW_SPACE_MAX_ROWS:
            return LargestMargin(rescale(w) if augmented else centred(signed, rescale(w)), support, working.shares)
        ids = np.union1d(support, low[np.argsort(margins[low])[:ADDED_WIDE_ROWS]])
        share = np.zeros(ids.size)
        share[np.searchsorted(ids, support)] = working.shares


def _wide_view(signed: SignedRows, spread: float) -> AffineView:
    """Return wide rows in units of their spread: the constant of the bias is then about as long as they are."""
    inverse = np.full(signed.features, 1.0 / spread)
    return AffineView(signed, np.zeros(signed.features), inverse, 1.0, normalise=False)


def _frame(signed: SignedRows, augmented: bool) -> tuple[Array, float, float]:
    """Return the centre of the rows, how far they are from it, and the constant that the bias is a weight on."""
    if augmented:
        return np.zeros(signed.features), math.sqrt(signed.table.largest + 1.0), 1.0
    rows, step = signed.table.rows, -(-signed.n // SAMPLE_ROWS)
    if isinstance(rows, Dense):
        X = rows.X[::step].astype(float)
        centre = X.mean(axis=0)
        squares = ((X - centre) ** 2).sum(axis=1)
    else:  # the matrix is not centred: that would fill it
        matrix = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(signed.n, signed.features))
        part = matrix[::step].astype(float)
        centre = part.mean(axis=0)
        squares = part.multiply(part).sum(axis=1) - 2.0 * (part @ centre) + centre @ centre
    spread = math.sqrt(max(float(squares.max()), 0.0))
    return centre, spread or 1.0, PADDING_OVER_SPREAD * (spread or 1.0)


def centred(signed: SignedRows, w: Array) -> Array:
    """Move the hyperplane half-way between the closest rows of two classes."""
    sign = 2.0 * signed.label - 1.0
    scores = signed.margins(w)[0] * sign
    w = w.copy()
    w[-1] -= (scores[sign > 0].min() + scores[sign < 0].max()) / 2
    return w
