"""Check whether the rows of a stalled fit are separable: a short search, and a proof if it is cheap.

Training imports this module only when a run stalls: one that converges loads neither the search nor the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Hyperplanes, gather
from rosenblatt.engine.scores import score
from rosenblatt.prover.certificates.certificate import Certificate, issue
from rosenblatt.prover.certificates.verify import confirmed
from rosenblatt.prover.exact.clock import Deadline, OutOfTime
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.coordinates import MatrixView
from rosenblatt.prover.search.nearest import LIMIT, ORIGIN, WorkingSet
from rosenblatt.prover.search.verdict import inseparable_claims
from rosenblatt.prover.search.witness import vanishing_sum
from rosenblatt.training.stopping import (
    ENTRIES_PER_CHECK,
    FREE_ENTRIES,
    PROOF_ENTRIES_PER_CUBED_COLUMN,
    PROOF_ENTRIES_PER_ROW,
    PROOF_ENTRIES_PER_SQUARED_COLUMN,
    SEARCH_MAX_WIDTH,
    SEARCHED_ROWS,
)

Array = npt.NDArray[Any]

NO_LIMIT = Deadline(None)
NORM_ROUNDING = 1e-15  # of the norm of a point, as a share of the radius


class SeparabilityCheck(NamedTuple):
    """The result of a search."""

    margin_bound: float  # no weights of length one have a larger margin on the padded rows; inf if nothing was found
    certificate: Certificate | None


def check_separable(
    table: Table,
    sign: Array,
    subset: Array,
    W: Array,
    b: float,
    work: float,
    seconds: float = math.inf,
    *,
    bias: float = 1.0,
    names: tuple[Any, ...] = (),
) -> SeparabilityCheck:
    """Search for a short point in the hull of the signed rows with the lowest margins; prove it if it is the origin.

    Parameters
    ----------
    sign : array of shape (n_samples,)
        +1 and -1 for positive and negative rows, 0 for rows that do not belong to the problem.
    subset : array
        The rows that are trained on; empty means all.
    W, b : array and float
        The weights.
    work : float
        Entries of rows that the run has processed. The search may process the same number, or `FREE_ENTRIES` if that is
        more; so may the proof.
    seconds : float
        Time left.
    bias : float
        Square of the constant that pads each row; 0 without a bias.
    names : tuple
        The two labels if a certificate may be issued: all rows belong to the problem, with a bias. Else empty.
    """
    clock = Deadline(None if seconds == math.inf else seconds)
    width = table.shape[1] + 1
    if width > SEARCH_MAX_WIDTH:
        return SeparabilityCheck(np.inf, None)
    index, signs = _hardest(table, sign, subset, W, b)
    radius = float(np.sqrt(table.largest + bias))
    Z = np.zeros((index.size, width))
    gather(table.rows, index, signs / radius, Z)
    Z[:, -1] = signs * np.sqrt(bias) / radius
    budget = max(work, FREE_ENTRIES)
    norm, support, is_origin = search_hull(Z, budget, clock)
    bound = radius * (norm + NORM_ROUNDING)
    if not (is_origin and names and _proof_cost(table, support.size) <= budget):
        return SeparabilityCheck(bound, None)
    signed = SignedRows(table, sign > 0, 2)
    return SeparabilityCheck(bound, certify_support(signed, names, index[support].tolist(), clock))


def _proof_cost(table: Table, support: int) -> float:
    """Estimate the work of a certificate from a support of so many rows, in entries of rows."""
    rows, width = table.shape[0], table.shape[1] + 1
    reduction = PROOF_ENTRIES_PER_CUBED_COLUMN * width**3 if support <= width else 0.0
    return PROOF_ENTRIES_PER_ROW * rows + PROOF_ENTRIES_PER_SQUARED_COLUMN * width**2 + reduction


def _hardest(table: Table, sign: Array, subset: Array, W: Array, b: float) -> tuple[Array, Array]:
    """Choose the rows of the problem with the lowest margins; return their numbers and signs."""
    # Row numbers have the dtype that training uses: nothing is compiled again.
    kind = np.int32 if table.shape[0] <= np.iinfo(np.int32).max else np.int64
    index = subset if subset.size else np.arange(table.shape[0], dtype=kind)
    signs = sign[index].astype(float)
    index, signs = index[signs != 0], signs[signs != 0]
    if index.size > SEARCHED_ROWS:
        scores = np.empty((index.size, 1), W.dtype)
        score(table.rows, index, Hyperplanes(W[None, :], np.array([b], W.dtype)), scores)
        hardest = np.sort(np.argpartition(signs * scores[:, 0], SEARCHED_ROWS - 1)[:SEARCHED_ROWS])
        index, signs = index[hardest], signs[hardest]
    return index, signs


def search_hull(Z: Array, budget: float, clock: Deadline = NO_LIMIT) -> tuple[float, Array, bool]:
    """Search for a short point in the hull of rows, within a budget in entries and within the time limit.

    Returns
    -------
    norm : float
        Of the point: no weights of length one have a larger margin.
    support : array
        Rows that it is a mean of.
    is_origin : bool
        Whether it seems to be the origin.
    """
    cost = Z.size + 4 * Z.shape[1] ** 2  # of an iteration
    left, at_once = 1 + int(budget / cost), 1 + ENTRIES_PER_CHECK // cost
    working, end = WorkingSet(MatrixView(Z), np.arange(len(Z))), LIMIT
    while end == LIMIT and left > 0 and clock.left > 0:
        end = working.search(min(left, at_once), to_optimum=True)
        left -= at_once
    total = float(working.shares.sum())
    norm = float(np.linalg.norm(working.point)) / total if total else np.inf
    return norm, working.support, end == ORIGIN


def certify_support(
    signed: SignedRows, classes: tuple[Any, ...], ids: Sequence[int], clock: Deadline = NO_LIMIT
) -> Certificate | None:
    """Certify that rows are not separable, from a support that a search has found; None if it proves nothing."""
    try:
        with np.errstate(all="ignore"), clock:
            witness = vanishing_sum(signed, list(ids), clock)
            if witness is None:
                return None
            claims = inseparable_claims(signed, witness, clock)
            return None if claims["verdict"] == "undecided" else confirmed(issue(signed, classes, **claims), signed)
    except OutOfTime:
        return None
