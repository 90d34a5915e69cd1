"""The perceptron as a judge: on integers it separates the rows or comes back to weights that it had, and either proves.

If the weights after one epoch equal those after an earlier one, the updates in between add up to zero: the numbers of
updates are the multipliers of Gordan's theorem. On rows that cannot be separated the weights stay bounded (Block and
Levin 1970), on a lattice they must come back, and Brent's algorithm notices it with one comparison for each epoch.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled import cycle as compiled
from rosenblatt.errors import InvalidInput
from rosenblatt.exact.rational import as_integers, primitive
from rosenblatt.exact.signed_rows import SignedRows
from rosenblatt.proof.certificate import Certificate, issue, prepare
from rosenblatt.separability.certify import Reduction, check_options, multipliers_of, reduce
from rosenblatt.separability.integer_search import Proof
from rosenblatt.separability.search import Clock, OutOfTime, standardised

Array = npt.NDArray[Any]

# Sums stay below this, so that none leaves 64 bits.
LARGEST = 1 << 62
# Entries of the rows as integers, half a gigabyte; and those that are read between two looks at the clock.
MOST, LOOK = 1 << 26, 1 << 22


def certify_cycle(
    X: Any, y: Any, *, epochs: int = 1_000_000, exact: str = "binary", time_limit: float | None = None
) -> Certificate:
    """Decide whether two classes are separable by running the perceptron until it separates them or repeats itself.

    Rows are presented in order, from weights zero, in integer arithmetic. Slow where `certify` is fast, but a proof
    that needs nothing beyond the algorithm itself.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Integers, or numbers that become integers when each column is multiplied by one factor.
    y : array-like of shape (n_samples,)
        Two classes, of which the larger is positive.
    epochs : int
        Most epochs.
    exact : {"binary", "decimal"}
        What a value means: the float itself, or the shortest decimal that rounds to it, so that a column of tenths is
        multiplied by ten.
    time_limit : float or None
        Most seconds.

    Returns
    -------
    Certificate
        Separable: the perceptron's weights separate. Otherwise the multipliers are the numbers of updates on each row
        in one cycle; where they alone leave open whether the data are quasi-separable or overlapping, rows are added
        to them. Undecided where neither came about within the limits.

    Raises
    ------
    InvalidInput
        If there are more than two classes, or the numbers are not integers of a size that 64 bits can add up.

    Notes
    -----
    How long it takes to come back has no useful bound: XOR takes one epoch, one class of the irises in tenths against
    the others 262,268, and another has not come back in millions.

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
        raise InvalidInput(f"epochs={epochs!r} is not possible: it must be a whole number from 1.")
    rows, classes = prepare(X, y, decimal=exact == "decimal")
    if rows.classes != 2:
        raise InvalidInput(f"y has {rows.classes} classes; a perceptron tells two apart. Use certify or certify_pairs.")
    clock = Clock(time_limit)
    Z, factors = _whole(rows)
    # In one epoch each weight may grow by every row; then it is multiplied by an entry.
    limit = LARGEST // int(np.abs(Z).max()) - len(Z) * int(np.abs(Z).sum(axis=1).max())
    if limit < 0:
        raise InvalidInput(f"The largest of the integers is {np.abs(Z).max()}: sums may leave 64 bits. Use certify.")
    w, counts, state = np.zeros(rows.width, np.int64), np.zeros(rows.n, np.int64), np.array([0, 0, 1])
    mark = w.copy()
    end = compiled.GOING
    while end == compiled.GOING and state[0] < epochs and clock.left > 0:
        batch = min(epochs - int(state[0]), max(1, LOOK // Z.size))
        end = compiled.advance(Z, w, mark, counts, state, batch, limit)
    if end == compiled.SEPARATED:
        vector: list[Any] = [int(v) * factor for v, factor in zip(w, factors, strict=True)]
        if max(map(abs, vector)).bit_length() <= 53:
            vector = [float(v) for v in vector]
        return issue(rows, classes, verdict="separable", vector=vector, diverging=Z.any(axis=0))
    if end == compiled.RETURNED:
        return issue(rows, classes, **_repeated(rows, counts, clock))
    why = "the weights are about to leave 64 bits" if end == compiled.OVERFLOW else "the limit was reached"
    told = f"In {state[0]} epochs the perceptron neither separated the rows nor came back to weights it had: {why}."
    return issue(rows, classes, verdict="undecided", reason=told)


def _whole(rows: SignedRows) -> tuple[Array, list[int]]:
    """Give the signed rows as integers, and the factor that made each column whole."""
    if rows.n * rows.width > MOST:
        raise InvalidInput(f"{rows.n} rows of {rows.features} features are too many to run in integers. Use certify.")
    given = rows.gather(np.arange(rows.n))
    Z, factors = np.empty(given.shape, np.int64), []
    for j in range(rows.width):
        integers, scale = as_integers(given[:, j], rows.decimal)
        if max(map(abs, integers)) * scale.numerator >= 1 << 31:
            raise InvalidInput(
                f"Column {j} has no small factor that makes its values whole: its largest would be "
                f"{float(max(map(abs, integers)) * scale.numerator):.3g}. Use certify, or round the values."
            )
        Z[:, j] = np.array(integers) * scale.numerator
        factors.append(scale.denominator)
    return Z, factors


def _repeated(rows: SignedRows, counts: Array, clock: Clock) -> dict[str, Any]:
    """Find what a certificate claims of rows on which the updates of a cycle add up to zero."""
    ids = np.flatnonzero(counts).tolist()
    cycle = dict(zip(ids, counts[ids].tolist(), strict=True))
    start = Proof(None, ids, _counts(rows, cycle))
    found = Reduction("undecided", start)
    with np.errstate(all="ignore"), suppress(OutOfTime):
        found = reduce(rows, standardised(rows), start, clock)
    if found.verdict == "undecided":
        told = "The perceptron cycles, so that no hyperplane separates; whether one separates weakly is open."
        return {"verdict": "undecided", "reason": told}
    if len(found.proof.support) > len(ids):
        cycle = dict(zip(found.proof.support, multipliers_of(rows, found.proof), strict=True))
    support = sorted(cycle)
    return {
        "verdict": found.verdict,
        "support": support,
        "rivals": rows.split(np.array(support))[1],
        "multipliers": [cycle[i] for i in support],
        "vector": found.weak,
        "null_basis": found.null_basis,
        "diverging": found.diverging,
    }


def _counts(rows: SignedRows, cycle: dict[int, int]) -> list[int]:
    """Turn multipliers of rows into counts of the rows made whole, which proofs have."""
    shares = [count * rows.integers(i)[1] for i, count in cycle.items()]
    common = math.lcm(*(share.denominator for share in shares))
    return primitive([int(share * common) for share in shares])
