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
from rosenblatt.prover.certificates.brackets import Bracket, margin_bracket, quotient
from rosenblatt.prover.exact.clock import Deadline, OutOfTime
from rosenblatt.prover.exact.rational import as_integers
from rosenblatt.prover.exact.signed_rows import EPS, SignedRows
from rosenblatt.prover.search import limits
from rosenblatt.prover.search.coordinates import (
    AffineView,
    CompactRows,
    RowSpaceView,
    factoring_seconds,
    is_long,
    is_wide,
    rescale,
    sample_rows,
    standardised,
)
from rosenblatt.prover.search.descent import coordinate_descent, gap
from rosenblatt.prover.search.integer_search import PaddedSearch
from rosenblatt.prover.search.nearest import ORIGIN, WorkingSet, continue_search, lowest_rows
from rosenblatt.prover.search.verdict import contradiction, find_separator
from rosenblatt.prover.search.witness import as_floats, as_fractions, separates

Array = npt.NDArray[Any]


class LargestMargin(NamedTuple):
    """Weights of largest margin, and signed rows whose weighted mean shows that none is larger."""

    w: Array
    ids: Array
    shares: Array


class Hyperplane(NamedTuple):
    """A hyperplane between two classes, scaled so that the closest rows have y f(x) = 1."""

    w: Array
    b: float
    margin: Bracket  # `lower` is the margin of w and b as rounded
    support: Array
    exact: tuple[Fraction, ...] = ()  # weights and bias, if w and b do not separate


# ----------------------------------------------------------------------------------------------------- proved brackets


def largest_margin_hyperplane(signed: SignedRows, deadline: Deadline, tol: float = 0.0) -> Hyperplane | None:
    """Find the hyperplane with the largest distance from the rows of two classes; None if they are not separable.

    For many wide rows the distance may be below the largest by a share of at most `tol`.

    Raises
    ------
    OutOfTime, TooLarge
        If the question stays undecided.
    """
    with np.errstate(all="ignore"), deadline:
        bracket = Bracket(0.0, math.inf)
        if is_wide(signed):  # here the search for the margin finds a separator sooner than that for any separator
            if contradiction(signed.table, signed.label, deadline) is not None:
                return None
            close = _close_hyperplane(signed, deadline, tol) if tol > 0.0 else None
            if close is not None:
                return close
            bracket = _claimed(signed, None, deadline, augmented=False)
        if not bracket.lower > 0:
            vector = find_separator(signed, deadline)
            if vector is None:
                return None
            bracket = _claimed(signed, vector, deadline, augmented=False)
            if not bracket.lower > 0:  # the margin is tiny, and there are too many rows to search on integers
                bracket = replace(margin_bracket(signed, vector, bracket.rows, bracket.weights), upper=bracket.upper)
        plane = _scaled(signed, bracket) or _rounded(signed, bracket)
        if plane.exact:  # other weights of a smaller margin may be less sensitive to rounding
            w = rescale(np.array(find_separator(signed, deadline), np.float64))
            margin = plane_margin(signed, w)
            if margin > 0:
                return Hyperplane(w[:-1], float(w[-1]), replace(bracket, lower=margin), plane.support)
        return plane


def _close_hyperplane(signed: SignedRows, deadline: Deadline, tol: float) -> Hyperplane | None:
    """Return the hyperplane that coordinate descent finds for many wide rows; None if it is not close enough.

    Both bounds of the margin are proved by bounds on rounding errors; exact sums would take longer than the search.
    """
    if signed.n < limits.MIN_ROWS_FOR_CLOSE or signed.table.exact is not None:
        return None
    view = _wide_view(signed, _frame(signed, augmented=False)[1])
    u, alpha = coordinate_descent(view, limits.CLOSE_DESCENT_EPOCHS, deadline, reached=tol)
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
    """Bound the distance of the weighted means of the two classes from above, by floats and their rounding errors."""
    matrix = signed.table.matrix()[ids].astype(float)
    means, sizes = [], []
    for c in (0, 1):
        own = signed.label[ids] == c
        if not own.any():
            return math.inf
        part, share = matrix[own], weight[own] / weight[own].sum()
        means.append(part.T @ share)
        sizes.append(np.linalg.norm(abs(part).T @ share))
    # No term is rounded more often, with shares, their sum, coordinates, norms and decimals as floats together.
    lost = (3 * ids.size + 2 * signed.width + 32) * 2.0**-53 * (sizes[0] + sizes[1]) + 2.0**-490
    return float(np.linalg.norm(means[0] - means[1]) + lost) * (1 + 2.0**-50)


def _scaled(signed: SignedRows, bracket: Bracket) -> Hyperplane | None:
    """Scale weights in floats so that the closest rows have y f(x) = 1; None if rounding then reduces the margin."""
    if not isinstance(bracket.w[0], float):
        return None
    w = np.array(bracket.w)
    w = w / max(signed.margins(w)[0].min(), np.finfo(float).tiny)
    if not (np.isfinite(w).all() and w[:-1].any()):
        return None
    margin = quotient(signed.lowest_margin(w, np.arange(signed.n)), w[:-1])
    if not margin >= bracket.lower * (1 - limits.BRACKET_WIDTH):
        return None
    return Hyperplane(w[:-1], float(w[-1]), replace(bracket, lower=margin), np.sort(np.array(bracket.rows, np.int64)))


def _rounded(signed: SignedRows, bracket: Bracket) -> Hyperplane:
    """Round exact weights to floats, with the closest rows at y f(x) = 1, and measure the margin of these floats."""
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
        # A negative margin proves nothing, so floats suffice if they lose little of it and hold the square of |w|.
        if lost.max() < -1e-12 * lowest and 1e-100 < length < 1e100:
            return lowest / length * (1.0 + (signed.width + 8) * EPS)
    integers, scale = as_integers(w)
    exact = signed.lowest_margin(integers, np.arange(signed.n)) * scale
    return quotient(exact, w[:-1]) if w[:-1].any() else -math.inf


def _nearest_rows(signed: SignedRows, w: list[int]) -> tuple[Fraction, Fraction]:
    """Return the exact lowest margin of the rows of either class."""
    negative, positive = (signed.lowest_margin(w, np.flatnonzero(signed.label == c)) for c in (0, 1))
    return negative, positive


def _nearest_float(value: Fraction) -> float:
    """Return the nearest float, infinity beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def margin_claims(signed: SignedRows, vector: tuple[Any, ...], deadline: Deadline) -> dict[str, Any]:
    """Return the fields of a certificate on the largest margins of separable rows.

    They are margin (a distance), augmented (the margin of the mistake bound), and vector if a better one was found.
    """
    claims: dict[str, Any] = {}
    if not signed.constant:  # a hyperplane through the origin has one margin, the augmented
        claims["margin"] = None
    elif signed.label.min() > 0:  # one class alone has no largest margin
        claims["margin"] = Bracket(np.inf, np.inf)
    else:
        claims["margin"] = _claimed(signed, vector, deadline, augmented=False)
        w = claims["margin"].w
        if isinstance(w[0] if w else None, float) and separates(signed, np.array(w)):
            claims["vector"] = vector = w
    try:
        claims["augmented"] = _claimed(signed, vector, deadline, augmented=True)
    except OutOfTime as fault:
        claims["reason"] = f"The augmented margin, and with it a mistake bound, was not determined: {fault}."
    for name in ("margin", "augmented"):
        if claims.get(name) is not None and not claims[name].lower > 0:
            claims[name] = None
    return claims


def _claimed(signed: SignedRows, vector: tuple[Any, ...] | None, deadline: Deadline, *, augmented: bool) -> Bracket:
    """Bracket a margin from a separator, in compact coordinates; moving the rows changes no distances."""
    rows = CompactRows(signed, moved=not augmented, scaled=False)
    inner, w = rows.signed, None if vector is None else rows.from_weights(vector)
    best = largest_margin(inner, deadline, augmented=augmented, w=w)
    known = best.w
    if not separates(inner, best.w):
        # With rows of very different sizes, floats may lose all of the margin; a known separator may still have one. If
        # none is known there may be none, which must be decided before a search on integers.
        if w is None:
            return Bracket(0.0, math.inf)
        known = w
    bracket = _bracket(inner, known, best, deadline, augmented=augmented)
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


def _bracket(signed: SignedRows, w: Array, best: LargestMargin, deadline: Deadline, *, augmented: bool) -> Bracket:
    """Bracket a margin by weights and by the support of the best ones; on integers if floats are too coarse."""
    bracket = Bracket(0.0, math.inf)
    if augmented or w[:-1].any():  # beside a large bias, all weights may have underflowed
        bracket = margin_bracket(signed, w, best.ids.tolist(), best.shares.tolist(), augmented=augmented)
    small = (
        signed.features <= limits.INTEGER_SEARCH_MAX_FEATURES
        and signed.n * signed.width <= limits.INTEGER_SEARCH_MAX_ENTRIES
    )
    if not _narrow(bracket) and small:
        with suppress(OutOfTime):
            bracket = _integer_bracket(signed, best, deadline, augmented=augmented) or bracket
    return bracket


def _integer_bracket(signed: SignedRows, best: LargestMargin, deadline: Deadline, *, augmented: bool) -> Bracket | None:
    """Bracket a margin by the nearest point on integers; witnesses are floats if these suffice, else fractions."""
    # The bias then has less than 2**-40 of the squared length of the weights.
    padding = 1 if augmented else 1 << max(0, math.frexp(math.sqrt(signed.table.largest))[1] + 20)
    search = PaddedSearch(signed, padding)
    found = search.largest_margin(best.ids.tolist() or [0], best.shares.tolist() or [1.0], deadline)
    if found is None or not any(found.point):
        return None
    integers, rounded = search.to_weights(found.point), [float(share) for share in found.shares]
    if min(rounded) > 0:
        bracket = margin_bracket(signed, as_floats(integers), found.support, rounded, augmented=augmented)
        if _narrow(bracket):
            return bracket
    return margin_bracket(signed, as_fractions(integers), found.support, found.shares, augmented=augmented)


def _narrow(bracket: Bracket) -> bool:
    """Return whether a bracket leaves nearly nothing of the margin open."""
    return bracket.lower > 0 and bracket.upper <= bracket.lower * (1 + limits.BRACKET_WIDTH)


# ------------------------------------------------------------------------------------------------- search with floats


def largest_margin(signed: SignedRows, deadline: Deadline, *, augmented: bool, w: Array | None = None) -> LargestMargin:
    """Find the separator of two classes with the largest margin.

    The length of the weights includes the bias if `augmented`, as in the perceptron's mistake bound; otherwise the
    margin is the distance of the rows from the hyperplane. The search starts from the rows of lowest margin of a known
    separator w.
    """
    if is_long(signed):
        return _largest_margin_wide(signed, deadline, augmented=augmented)
    index = sample_rows(signed)
    part = signed if index.size == signed.n else signed.take(index)
    centre, spread, padding = _frame(part, augmented)
    radius = max(spread, padding)
    inverse = np.full(signed.features, 1.0 / radius)
    view = AffineView(signed, centre, inverse, padding / radius, normalise=False)
    support, shares = index[:0], np.empty(0)
    if w is None and part is signed:
        easy = standardised(signed)
        w = rescale(easy.to_weights(coordinate_descent(easy, limits.DESCENT_EPOCHS, deadline)[0]))
    elif w is None:
        # If the sample has m of n rows, only about width n / m of all rows violate its optimum (Clarkson 1995).
        best = largest_margin(part, deadline, augmented=augmented)
        w, support, shares = best.w, index[best.ids], best.shares
    low = lowest_rows(signed.margins(w)[0], signed.width)
    working = WorkingSet(view, np.concatenate([support, np.setdiff1d(low, support)]))
    working.start(np.arange(support.size), shares)
    continue_search(working, deadline, to_optimum=True)
    w = rescale(view.to_weights(working.point))
    return LargestMargin(w if augmented else centred(signed, w), working.support, working.shares)


def _largest_margin_wide(signed: SignedRows, deadline: Deadline, *, augmented: bool) -> LargestMargin:
    """Find the largest margin of wide rows, starting from the rows that coordinate descent gives multipliers."""
    _, spread, padding = _frame(signed, augmented)
    view = _wide_view(signed, 1.0 if augmented else spread)
    reached = limits.REACHED_GAP if augmented else limits.CLOSE_GAP
    u, alpha = coordinate_descent(view, limits.WIDE_DESCENT_EPOCHS, deadline, reached=reached)
    ids = np.flatnonzero(alpha)
    share = alpha[ids] / alpha.sum()
    if augmented and gap(view.margins(u), u, alpha) < limits.REACHED_GAP:
        return LargestMargin(rescale(view.to_weights(u)), ids, share)
    if ids.size > limits.ROW_SPACE_MAX_ROWS:  # their space would not fit into memory; accept a wider bracket
        w = rescale(view.to_weights(u))
        return LargestMargin(w if augmented else centred(signed, w), ids, share)
    shortest = math.inf
    while True:
        deadline.check(factoring_seconds(ids.size))
        row_space = RowSpaceView(signed, ids, padding, normalise=False)
        working = WorkingSet(row_space, np.arange(row_space.n))
        working.start_with_basis(row_space, share)
        end = continue_search(working, deadline, to_optimum=True)
        w, support = row_space.to_weights(working.point), ids[working.support]
        margins = signed.margins(w)[0]
        low = np.setdiff1d(np.flatnonzero(margins < margins[support].min() * (1 - limits.WIDE_MARGIN_GAP)), ids)
        # More rows have a nearer point. If not, rounding keeps the search from converging.
        length = float(np.linalg.norm(working.point) / working.shares.sum())
        done = end == ORIGIN or not length < shortest
        shortest = length
        if done or not low.size or ids.size >= limits.ROW_SPACE_MAX_ROWS:
            return LargestMargin(rescale(w) if augmented else centred(signed, rescale(w)), support, working.shares)
        ids = np.union1d(support, low[np.argsort(margins[low])[: limits.ADDED_WIDE_ROWS]])
        share = np.zeros(ids.size)
        share[np.searchsorted(ids, support)] = working.shares


def _wide_view(signed: SignedRows, spread: float) -> AffineView:
    """Scale wide rows by their spread, so that the constant of the bias is comparable with the rows."""
    inverse = np.full(signed.features, 1.0 / spread)
    return AffineView(signed, np.zeros(signed.features), inverse, 1.0, normalise=False)


def _frame(signed: SignedRows, augmented: bool) -> tuple[Array, float, float]:
    """Return the centre of the rows, their largest distance from it, and the constant that the bias is a weight on."""
    if augmented:
        return np.zeros(signed.features), math.sqrt(signed.table.largest + 1.0), 1.0
    rows, step = signed.table.rows, -(-signed.n // limits.SAMPLE_ROWS)
    if isinstance(rows, Dense):
        X = rows.X[::step].astype(float)
        centre = X.mean(axis=0)
        squares = ((X - centre) ** 2).sum(axis=1)
    else:  # centring the matrix would make it dense
        matrix = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(signed.n, signed.features))
        part = matrix[::step].astype(float)
        centre = part.mean(axis=0)
        squares = part.multiply(part).sum(axis=1) - 2.0 * (part @ centre) + centre @ centre
    spread = math.sqrt(max(float(squares.max()), 0.0))
    return centre, spread or 1.0, limits.PADDING_OVER_SPREAD * (spread or 1.0)


def centred(signed: SignedRows, w: Array) -> Array:
    """Move the hyperplane half-way between the closest rows of two classes."""
    sign = 2.0 * signed.label - 1.0
    scores = signed.margins(w)[0] * sign
    w = w.copy()
    w[-1] -= (scores[sign > 0].min() + scores[sign < 0].max()) / 2
    return w
