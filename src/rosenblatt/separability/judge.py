"""May these rows still be separable? The one door from training to the search and the proofs.

Training imports this module only when a run stalls, so that a run that converges loads none of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.gathering import gather
from rosenblatt.compiled.nearest import LIMIT, ORIGIN
from rosenblatt.compiled.scores import score
from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Csr, Hyperplanes
from rosenblatt.exact.clock import Clock, OutOfTime
from rosenblatt.exact.signed_rows import SignedRows
from rosenblatt.proof.certificate import Certificate, issue
from rosenblatt.proof.verify import confirmed
from rosenblatt.separability.reduction import inseparable_claims
from rosenblatt.separability.search import WorkingSet
from rosenblatt.separability.views import MatrixView, standardised
from rosenblatt.separability.witness import vanishing_sum

Array = npt.NDArray[Any]

# Width up to which a search, whose cost grows with its cube, is worth it.
SEARCH_MAX_WIDTH = 256
# Rows that are searched, at least and for each column: those that are hardest for the weights.
MIN_SEARCHED_ROWS, SEARCHED_ROWS_PER_COLUMN = 200, 6
# Rounding error of the norm of a point, as a share of the radius.
NORM_ROUNDING = 1e-15
# Work that a search may do beside what the run has done, in entries of rows; and its least number of iterations.
FREE_SEARCH_ENTRIES, MIN_ITERATIONS = 1e6, 10
# Work of a proof in entries of rows: a constant, for each cubed row of the support, and for each entry of the data.
PROOF_ENTRIES, PROOF_ENTRIES_PER_CUBE, PROOF_PASSES = 2e6, 66.0, 10.0
# The same for each cubed column, where a support is too small to span all of them: whether the rows are quasi-separable
# or overlap is then a question of its own, of exact arithmetic on long integers.
REDUCTION_ENTRIES_PER_CUBE = 1e4
# Work that a proof may always do: two milliseconds.
FREE_PROOF_ENTRIES = 2.4e6
# Iterations of a search between two looks at the clock.
ITERATIONS_PER_LOOK = 1000
NO_LIMIT = Clock(None)


class Judgement(NamedTuple):
    """What a search found out about the rows of one problem."""

    ceiling: float  # no weights of length one have a larger margin on the padded rows; inf if nothing was found
    certificate: Certificate | None


class HullSearch(NamedTuple):
    """A short point in the hull of rows."""

    norm: float  # of the point: no weights of length one have a larger margin
    support: Array  # rows that it is a mean of
    is_origin: bool  # whether it seems to be the origin


class Problem(NamedTuple):
    """The rows of one problem.

    Attributes
    ----------
    table : Table
    sign : array of shape (n_samples,)
        +1 and -1 for positive and negative rows, 0 for rows that do not belong to the problem.
    subset : int array
        The rows that are trained on; empty means all.
    bias : float
        Square of the constant that pads each row; 0 without a bias.
    names : tuple
        The two labels if a certificate may be issued: all rows belong to the problem, with a bias. Else empty.
    """

    table: Table
    sign: Array
    subset: Array
    bias: float = 1.0
    names: tuple[Any, ...] = ()


def judge(problem: Problem, W: Array, b: float, work: float, seconds: float = math.inf) -> Judgement:
    """Look for a short point in the hull of the signed rows that are hardest for the weights.

    Parameters
    ----------
    problem : Problem
    W : array of shape (n_features,)
    b : float
    work : float
        Entries of rows that the run has processed. It is the budget of the search, counted and not timed, because the
        result must not depend on a clock.
    seconds : float
        What a time limit leaves, where one was asked for.

    Returns
    -------
    Judgement
    """
    table, sign, subset, bias, names = problem
    clock = Clock(None if seconds == math.inf else seconds)
    width = table.shape[1] + 1
    if width > SEARCH_MAX_WIDTH:
        return Judgement(np.inf, None)
    index, signs = _hardest(table, sign, subset, W, b)
    radius = float(np.sqrt(table.largest + bias))
    Z = np.zeros((index.size, width))
    gather(table.rows, index, signs / radius, Z)
    Z[:, -1] = signs * np.sqrt(bias) / radius
    iterations = MIN_ITERATIONS + int((FREE_SEARCH_ENTRIES + work) / (Z.size + 4 * width**2))
    found = search_hull(Z, iterations, clock)
    ceiling = radius * (found.norm + NORM_ROUNDING)
    if not (found.is_origin and names and _proof_cost(table, found.support.size) <= max(FREE_PROOF_ENTRIES, work / 2)):
        return Judgement(ceiling, None)
    signed = SignedRows(table, sign > 0, 2)
    return Judgement(ceiling, certify_support(signed, names, index[found.support].tolist(), clock))


def _proof_cost(table: Table, support: int) -> float:
    """Estimate the work of a certificate from a support of so many rows, in entries of rows."""
    width = table.shape[1] + 1
    entries = table.rows.data.size if isinstance(table.rows, Csr) else table.rows.X.size
    cost = PROOF_ENTRIES + PROOF_ENTRIES_PER_CUBE * support**3 + PROOF_PASSES * entries
    return cost if support > width else cost + REDUCTION_ENTRIES_PER_CUBE * width**3


def _hardest(table: Table, sign: Array, subset: Array, W: Array, b: float) -> tuple[Array, Array]:
    """Choose the rows of the problem with the lowest margins; return their numbers and signs."""
    width = table.shape[1] + 1
    most = max(MIN_SEARCHED_ROWS, SEARCHED_ROWS_PER_COLUMN * width)
    # The type of row numbers that training uses too, so that nothing is compiled anew.
    kind = np.int32 if table.shape[0] <= np.iinfo(np.int32).max else np.int64
    index = subset if subset.size else np.arange(table.shape[0], dtype=kind)
    signs = sign[index].astype(float)
    index, signs = index[signs != 0], signs[signs != 0]
    if index.size > most:
        scores = np.empty((index.size, 1), W.dtype)
        score(table.rows, index, Hyperplanes(W[None, :], np.array([b], W.dtype), np.ones(1)), scores)
        hardest = np.sort(np.argpartition(signs * scores[:, 0], most - 1)[:most])
        index, signs = index[hardest], signs[hardest]
    return index, signs


def search_hull(Z: Array, iterations: int, clock: Clock = NO_LIMIT) -> HullSearch:
    """Look for a short point in the hull of rows, within limits."""
    working, end = WorkingSet(MatrixView(Z), np.arange(len(Z))), LIMIT
    while end == LIMIT and iterations > 0 and clock.left > 0:
        end = working.search(min(iterations, ITERATIONS_PER_LOOK), to_optimum=True)
        iterations -= ITERATIONS_PER_LOOK
    total = float(working.shares.sum())
    norm = float(np.linalg.norm(working.point)) / total if total else np.inf
    return HullSearch(norm, working.support, end == ORIGIN)


def certify_support(
    signed: SignedRows, classes: tuple[Any, ...], ids: Sequence[int], clock: Clock = NO_LIMIT
) -> Certificate | None:
    """Certify that rows are not separable, from a support that a search has found; None if it proves nothing."""
    try:
        with np.errstate(all="ignore"), clock:
            witness = vanishing_sum(signed, list(ids), clock)
            if witness is None:
                return None
            claims = inseparable_claims(signed, standardised(signed), witness, clock)
            return None if claims["verdict"] == "undecided" else confirmed(issue(signed, classes, **claims), signed)
    except OutOfTime:
        return None
