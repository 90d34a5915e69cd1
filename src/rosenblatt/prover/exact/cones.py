"""Is a vector in the cone of some rows? The simplex method on integers, without rounding."""

from __future__ import annotations

from typing import NamedTuple

from rosenblatt.prover.exact.clock import check_time
from rosenblatt.prover.exact.lifting import Matrix, Vector


class ConeAnswer(NamedTuple):
    """Rows of which the target is a combination with positive factors; or a vector that tells them apart."""

    members: list[int]  # numbers of independent rows; empty if there are none
    normal: Vector | None  # not negative on any row, negative on the target


def in_cone(rows: Matrix, target: Vector) -> ConeAnswer:
    """Decide whether a vector other than zero is a sum of rows times factors that are not negative (Farkas 1902).

    Parameters
    ----------
    rows : matrix of integers
    target : list of int
        Not zero.

    Returns
    -------
    ConeAnswer

    Notes
    -----
    The first phase of the simplex method with Bland's rule (1977), which always ends. All numbers of the tableau have
    the same denominator, the last pivot (Edmonds 1967), so that every division leaves no remainder.

    Examples
    --------
    >>> in_cone([[1, 0], [1, 1]], [3, 1])
    ConeAnswer(members=[0, 1], normal=None)
    >>> in_cone([[1, 0], [1, 1]], [0, -1])
    ConeAnswer(members=[], normal=[0, 1])
    """
    count, size = len(rows), len(target)
    flip = [-1 if value < 0 else 1 for value in target]
    tableau = _first_tableau(rows, target, flip)
    # The sum of the artificial variables, which are the last `size`, as what it falls by for each column.
    cost = [sum(column) for column in zip(*tableau, strict=True)]
    cost[count : count + size] = [0] * size
    basis = list(range(count, count + size))
    last = 1
    while (entering := next((j for j in range(count) if cost[j] > 0), None)) is not None:
        leaving = _binding(tableau, basis, entering)
        top, pivot = tableau[leaving], tableau[leaving][entering]
        for i, row in enumerate(tableau):
            check_time()
            if i != leaving:
                tableau[i] = _reduced(row, top, pivot, row[entering], last)
        cost = _reduced(cost, top, pivot, cost[entering], last)
        basis[leaving], last = entering, pivot
    if cost[-1] == 0:
        return ConeAnswer([b for b, row in zip(basis, tableau, strict=True) if b < count and row[-1]], None)
    return ConeAnswer([], [-sign * (c + last) for sign, c in zip(flip, cost[count:-1], strict=True)])


def _first_tableau(rows: Matrix, target: Vector, flip: Vector) -> Matrix:
    """Return the equations, one artificial variable in each, with right sides that are not negative."""
    units = range(len(target))
    return [
        [*(sign * row[t] for row in rows), *(int(t == k) for k in units), sign * target[t]]
        for t, sign in enumerate(flip)
    ]


def _reduced(row: Vector, top: Vector, pivot: int, factor: int, last: int) -> Vector:
    return [(v * pivot - factor * p) // last for v, p in zip(row, top, strict=True)]


def _binding(tableau: Matrix, basis: list[int], entering: int) -> int:
    """Return the row that binds first; of several, the one whose variable has the least number."""
    rows = [i for i, row in enumerate(tableau) if row[entering] > 0]  # not empty: the sum is bounded by zero
    best = rows[0]
    for i in rows[1:]:
        here, there = tableau[i][-1] * tableau[best][entering], tableau[best][-1] * tableau[i][entering]
        if here < there or (here == there and basis[i] < basis[best]):
            best = i
    return best
