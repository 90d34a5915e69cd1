"""The perceptron as a proof: on integers it either separates the rows or returns to earlier weights.

If the weights after one epoch equal those after an earlier one, the updates in between add up to zero: the numbers of
updates are the multipliers of Gordan's theorem. On rows that cannot be separated the weights stay bounded (Block and
Levin 1970). Integer weights must therefore return, and Brent's algorithm detects it with one comparison per epoch.
"""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.jit import compiled
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.certificates.certificate import Certificate, issue
from rosenblatt.prover.certificates.verify import confirmed
from rosenblatt.prover.designs import read_design
from rosenblatt.prover.exact.clock import TIME_LIMIT, Deadline, OutOfTime
from rosenblatt.prover.exact.rational import as_integers
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.certify import check_options
from rosenblatt.prover.search.verdict import inseparable_claims
from rosenblatt.prover.search.witness import Witness, multipliers_to_counts
from rosenblatt.text import count

Array = npt.NDArray[Any]

# No sum may overflow int64, so sums and the integers of a column are limited.
MAX_SUM, MAX_INTEGER = 1 << 62, 1 << 31
# Entries of the rows as integers (512 MB), and those presented between two checks of the deadline (some milliseconds).
MAX_ENTRIES, ENTRIES_PER_CHECK = 1 << 26, 1 << 22

# How a run ends.
GOING, SEPARATED, RETURNED, OVERFLOW = 0, 1, 2, 3


def certify_cycle(
    X: Any, y: Any, *, epochs: int = 1_000_000, exact: str = "binary", time_limit: float | None = TIME_LIMIT
) -> Certificate:
    """Decide whether two classes are separable by running the perceptron until it separates them or repeats itself.

    Rows are presented in order, from zero weights, in integer arithmetic. This is slow where `certify` is fast, but the
    proof needs nothing beyond the algorithm itself.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Integers, or numbers that become integers if each column is multiplied by a small factor.
    y : array-like of shape (n_samples,)
        Two classes, of which the larger is positive.
    epochs : int
        Maximum number of epochs.
    exact : {"binary", "decimal"}
        What a value means: the float itself, or the shortest decimal that rounds to it. A column of tenths is then
        multiplied by ten.
    time_limit : float or None
        Maximum number of seconds; None: no limit.

    Returns
    -------
    Certificate
        If separable, the perceptron's weights are the separator. Otherwise the multipliers are the numbers of updates
        on each row in one cycle; more rows are added if these do not distinguish quasi-separable from overlapping data.
        Undecided if the perceptron neither separated the rows nor returned within the limits.

    Raises
    ------
    InvalidInput
        If there are more than two classes, or the numbers are not integers that can be added up in 64 bits.

    Notes
    -----
    The number of epochs until the weights return has no useful bound: XOR takes one, one class of the irises in tenths
    against the others 262,268, and another class has not returned in millions.

    References
    ----------
    Block and Levin (1970), On the boundedness of an iterative procedure for solving a system of linear inequalities,
    Proceedings of the American Mathematical Society 26. Brent (1980), An improved Monte Carlo factorization algorithm,
    BIT 20.

    Examples
    --------
    >>> from rosenblatt import certify_cycle
    >>> X = [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> certify_cycle(X, [-1, 1, 1, -1]).multipliers
    (1, 1, 1, 1)
    >>> certify_cycle(X, [-1, 1, 1, 1]).vector
    (2.0, 2.0, -1.0)
    """
    check_options(exact, time_limit)
    if not isinstance(epochs, int | np.integer) or epochs < 1:
        raise InvalidInput(f"epochs={epochs!r} is not a whole number from 1. Pass the most epochs to run.")
    signed, classes = read_design(X, y, decimal=exact == "decimal")[:2]
    if signed.classes != 2:
        raise InvalidInput(f"y has {signed.classes} classes; a perceptron separates two. Use certify or certify_pairs.")
    deadline = Deadline(time_limit)
    Z, factors = _integral_rows(signed)
    # In one epoch each weight may grow by every row; then it is multiplied by an entry.
    limit = MAX_SUM // int(np.abs(Z).max()) - len(Z) * int(np.abs(Z).sum(axis=1).max())
    if limit < 0:
        raise InvalidInput(f"The largest of the integers is {np.abs(Z).max()}: sums may overflow 64 bits. Use certify.")
    w, counts, state = np.zeros(signed.width, np.int64), np.zeros(signed.n, np.int64), np.array([0, 0, 1])
    mark = w.copy()
    end = GOING
    while end == GOING and state[0] < epochs and deadline.left > 0:
        batch = min(epochs - int(state[0]), max(1, ENTRIES_PER_CHECK // Z.size))
        end = run_epochs(Z, w, mark, counts, state, batch, limit)
    if end == SEPARATED:
        vector: list[Any] = [int(v) * factor for v, factor in zip(w, factors, strict=True)]
        if max(map(abs, vector)).bit_length() <= 53:  # floats hold them
            vector = [float(v) for v in vector]
        return confirmed(issue(signed, classes, verdict="separable", vector=vector), signed)
    if end == RETURNED:
        return confirmed(issue(signed, classes, **_cycle_claims(signed, counts, deadline)), signed)
    why = "the weights are about to overflow 64 bits" if end == OVERFLOW else "the limit was reached"
    epochs_run = count(int(state[0]), "epoch")
    reason = f"In {epochs_run} the perceptron neither separated the rows nor returned to earlier weights: {why}."
    return issue(signed, classes, verdict="undecided", reason=reason)


def _integral_rows(signed: SignedRows) -> tuple[Array, list[int]]:
    """Return the signed rows as integers, and the factor that made each column integral."""
    if signed.n * signed.width > MAX_ENTRIES:
        raise InvalidInput(
            f"{signed.n} rows of {signed.features} features are too many to copy as integers. Use certify."
        )
    if signed.table.exact is None:
        rows = signed.gather(np.arange(signed.n))
    else:
        rows = np.zeros((signed.n, signed.width), object)
        for i in range(signed.n):
            entries, scale = signed.integers(i)
            rows[i, list(entries)] = [value * scale for value in entries.values()]
    Z, factors = np.empty(rows.shape, np.int64), []
    for j in range(signed.width):
        integers, scale = as_integers(rows[:, j], signed.decimal)
        largest = max(map(abs, integers)) * scale.numerator
        if largest >= MAX_INTEGER:
            raise InvalidInput(
                f"Column {j} has no small factor that makes its values integers: the largest would be "
                f"{Decimal(largest):.3g}. Use certify, or round the values."
            )
        Z[:, j] = np.array(integers) * scale.numerator
        factors.append(scale.denominator)
    return Z, factors


def _cycle_claims(signed: SignedRows, counts: Array, deadline: Deadline) -> dict[str, Any]:
    """Return the fields of a certificate on rows whose updates in a cycle add up to zero."""
    ids = np.flatnonzero(counts).tolist()
    updates = counts[ids].tolist()
    with np.errstate(all="ignore"), suppress(OutOfTime), deadline:
        claims = inseparable_claims(signed, Witness(None, ids, multipliers_to_counts(signed, ids, updates)), deadline)
        if claims["verdict"] != "undecided":  # the numbers of updates may have a common divisor
            return claims | ({"multipliers": updates} if claims["support"] == tuple(ids) else {})
    reason = "The perceptron cycles, so no hyperplane separates; whether one separates weakly is not decided."
    return {"verdict": "undecided", "reason": reason}


@compiled()
def run_epochs(Z, w, mark, counts, state, epochs, limit):
    """Present the rows of Z in order for more epochs, continuing the last call, with Brent's search for a return.

    Nothing here checks bounds: the caller validates the arrays. All are int64. A row of Z (n, width) with z.w <= 0 is a
    mistake and is added to w. `mark` has the earlier weights that w is compared with, `counts` the updates on each row
    since then; `state` the epochs so far, those since the mark, and the number after which the mark moves. Up to a sum
    of |w| of `limit` an epoch cannot overflow.

    Return SEPARATED after an epoch without a mistake, RETURNED if w equals the mark, OVERFLOW if the next epoch might
    overflow, else GOING.
    """
    n, width = Z.shape
    for _ in range(epochs):
        size = 0
        for j in range(width):
            size += abs(w[j])
        if size > limit:
            return OVERFLOW
        mistakes = 0
        for i in range(n):
            margin = 0
            for j in range(width):
                margin += Z[i, j] * w[j]
            if margin <= 0:
                for j in range(width):
                    w[j] += Z[i, j]
                counts[i] += 1
                mistakes += 1
        state[0] += 1
        if mistakes == 0:
            return SEPARATED
        state[1] += 1
        same = True
        for j in range(width):
            if w[j] != mark[j]:
                same = False
                break
        if same:
            return RETURNED
        if state[1] == state[2]:
            state[1], state[2] = 0, 2 * state[2]
            mark[:] = w
            counts[:] = 0
    return GOING
