"""Is there a separator? Search with floats, then prove in exact arithmetic what was found.

The point nearest to the origin in the convex hull of the signed rows is a separator; or it is the origin, which proves
that there is none (Gordan 1873). A result of the search counts only after an exact check, so rounding may cost time but
never a wrong verdict. Where floats do not decide, the same search runs on integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.rules import passive_aggressive, perceptron
from rosenblatt.prover.exact.clock import Clock
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.integer_search import StandardisedSearch
from rosenblatt.prover.search.narrow import NarrowView, is_long, narrowed, widened
from rosenblatt.prover.search.nearest import ORIGIN
from rosenblatt.prover.search.search import (
    DESCENT_EPOCHS,
    WorkingSet,
    coordinate_descent,
    find_nearest_point,
    joint_epochs,
    lowest_rows,
)
from rosenblatt.prover.search.views import (
    ROW_SPACE_MAX_ROWS,
    AffineView,
    RowSpaceView,
    View,
    factoring_seconds,
    rescale,
    sample_rows,
    standardised,
    whitened,
)
from rosenblatt.prover.search.witness import Witness, separates, separator, vanishing_sum

Array = npt.NDArray[Any]

# Epochs before the search where there are several classes or wide rows.
PREPARATION_EPOCHS = 100
# Epochs of the perceptron that follow where there are several classes of wide rows: at most, and in entries by class.
PERCEPTRON_EPOCHS, PERCEPTRON_ENTRIES = 1000, 10**10
# Wide rows that a search takes in at a time.
ADDED_WIDE_ROWS = 500
# Shares below this one of the largest share are likely to be rounding errors.
ZERO_SHARE_OF_LARGEST = 1e-12
# The searches to try, one after the other: the view, whether to go on to the nearest point, and what counts as zero.
ATTEMPTS = ((None, False, 1e-12), (None, True, 1e-12), (whitened, True, 1e-12), (None, True, 0.0))


def decide(signed: SignedRows, clock: Clock) -> tuple[Witness | None, View]:
    """Find a separator, or multipliers that rule one out; None if the search gave up. Return also the view of it."""
    view = standardised(signed)
    index = sample_rows(signed) if signed.classes == 2 else np.arange(signed.n)
    if index.size < signed.n:
        witness, w = _decide_sample(signed.take(index), clock)
        if witness is not None:  # rows that no weights separate stay inseparable when more are added
            return witness._replace(support=index[witness.support].tolist()), view
        alpha = np.ones(signed.n)
    else:
        w, alpha = _prepare(signed, view, clock)
    margins = signed.margins(w)[0]
    if margins.min() > 0 and separates(signed, w):
        return separator(w), view
    if is_long(signed):
        rows = narrowed(signed, clock)
        if rows is not None:
            inner, inner_view = decide(rows.signed, clock)
            witness = widened(signed, rows, inner)
            if witness is not None:
                return witness, NarrowView(signed, rows, inner_view)
        if signed.classes > 2 and separates(signed, w := _passed(signed, clock)):
            return separator(w), view
        return _decide_wide(signed, alpha, clock)
    return _decide_narrow(signed, view, margins, clock), view


def _prepare(signed: SignedRows, view: AffineView, clock: Clock) -> tuple[Array, Array]:
    """Pass over the rows a few times; return weights and what each row contributes to them."""
    if signed.classes == 2:
        u, alpha = coordinate_descent(view, PREPARATION_EPOCHS if is_long(signed) else DESCENT_EPOCHS, clock)
        return rescale(view.to_weights(u)), alpha
    w = rescale(joint_epochs(signed, passive_aggressive(C=np.inf), PREPARATION_EPOCHS, clock))
    return w, np.ones(signed.n)


def _passed(signed: SignedRows, clock: Clock) -> Array:
    """Pass over wide rows of several classes, of which nothing else would be decided within minutes, more often."""
    epochs = min(PERCEPTRON_EPOCHS, PERCEPTRON_ENTRIES // (signed.table.entries * signed.classes))
    return rescale(joint_epochs(signed, perceptron(), epochs, clock))


def _decide_sample(signed: SignedRows, clock: Clock) -> tuple[Witness | None, Array]:
    """Find the weights of largest margin of a sample in floats; if nothing separates it, prove that too."""
    view = standardised(signed)
    first = lowest_rows(view.margins(coordinate_descent(view, DESCENT_EPOCHS, clock)[0]), view.width)
    end, working = find_nearest_point(view, first, clock, to_optimum=True)
    witness = vanishing_sum(signed, working.support.tolist(), clock) if end == ORIGIN else None
    return witness, rescale(view.to_weights(working.point))


def _decide_narrow(signed: SignedRows, view: AffineView, margins: Array, clock: Clock) -> Witness | None:
    """Search all rows in several views, then on integers."""
    first = lowest_rows(margins / view.lengths, view.width)
    attempts = list(ATTEMPTS)
    while attempts:
        make, to_optimum, zero = attempts.pop(0)
        tried = view if make is None else make(signed)
        end, working = find_nearest_point(tried, first, clock, to_optimum=to_optimum, zero=zero)
        witness = _proved(signed, tried, end, working, clock)
        if witness is not None:
            return witness
        if end == ORIGIN:  # but for rounding, as of a grid that was standardised: what counts as zero must be less
            attempts.sort(key=lambda attempt: attempt[2])
    support = [int(i) for i in working.support] or [0]
    exact = StandardisedSearch(signed, view).find_witness(support, np.arange(signed.n), clock)
    return vanishing_sum(signed, exact.support, clock) if exact and exact.support else exact


def _decide_wide(signed: SignedRows, alpha: Array, clock: Clock) -> tuple[Witness | None, View]:
    """Decide for wide rows in their row space, beginning with those of the largest multipliers."""
    ids = np.sort(np.argsort(-alpha, kind="stable")[:ADDED_WIDE_ROWS])
    while True:
        clock.check(factoring_seconds(ids.size))
        view = RowSpaceView(signed, ids)
        end, working = find_nearest_point(view, np.arange(view.n), clock, to_optimum=False)
        witness = _proved(signed, view, end, working, clock)
        if witness is not None:
            return witness, view
        margins = signed.margins(view.to_weights(working.point))[0]
        low = np.setdiff1d(np.flatnonzero(margins <= 0), ids)
        if end == ORIGIN or not low.size or ids.size >= ROW_SPACE_MAX_ROWS:
            return None, view
        ids = np.union1d(ids, low[np.argsort(margins[low])[:ADDED_WIDE_ROWS]])


def _proved(signed: SignedRows, view: View, end: int, working: WorkingSet, clock: Clock) -> Witness | None:
    """Turn the result of a search into a witness, if it holds exactly."""
    support = view.ids[working.support] if isinstance(view, RowSpaceView) else working.support
    if end == ORIGIN:
        return vanishing_sum(signed, support.tolist(), clock)
    w = rescale(view.to_weights(working.point))
    if separates(signed, w):
        return separator(w)
    # On its way to the origin the point may have stopped at a rounding error; shares of zero become small ones.
    likely = support[working.shares > ZERO_SHARE_OF_LARGEST * working.shares.max(initial=0.0)]
    return vanishing_sum(signed, likely.tolist(), clock) if likely.size else None
