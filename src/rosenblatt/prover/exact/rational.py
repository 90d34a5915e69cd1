"""Exact linear algebra over the rationals, on Python integers of any size.

Small systems are eliminated without fractions (Bareiss, 1968). Larger ones are solved by p-adic lifting (Dixon, 1982)
on a minor that is nonsingular modulo a prime, hence nonsingular. All results are proved: a solution because its
residual, 0 modulo a power of the prime, is shorter than that power; a null vector by multiplication with all rows.
Whether a vector lies in a cone is decided by the simplex method on integers.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.errors import InvalidInput, TooLarge
from rosenblatt.prover.exact.clock import check_time
from rosenblatt.prover.exact.modular import (
    EXACT_TERMS,
    Array,
    Lifting,
    Matrix,
    Solution,
    Vector,
    add_products,
    all_zero,
    as_array,
    as_limbs,
    pivots_modulo,
    small_primes,
)

# Up to so many unknowns, elimination in pure Python is faster than lifting with its conversions: 0.2 ms and 0.3 for 9
# unknowns of 53 bits, 0.5 and 0.4 for 12, 8 and 0.7 for 24.
ELIMINATION_MAX_UNKNOWNS = 12
# Sums of more products than this may not be exact in the compiled code (see `modular.LIMB_BITS`).
MAX_UNKNOWNS = 4000
# The largest primes below 2**27.
PRIMES = (134217689, 134217649)


def as_integers(values: Sequence[float] | Array, decimal: bool = False) -> tuple[Vector, Fraction]:
    """Write numbers as integers times one positive rational, exactly: values[j] = scale * integers[j].

    The numbers are floats; or integers and Fractions, in an array of integers or of objects. With `decimal` a float is
    the shortest decimal that rounds to it. The integers are all zero, or without common divisor.

    Examples
    --------
    >>> as_integers([0.5, -0.75])
    ([2, -3], Fraction(1, 4))
    >>> as_integers([0.1, 0.3], decimal=True)
    ([1, 3], Fraction(1, 10))
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuO":
        return _rationals_as_integers(values.tolist())
    numbers = np.asarray(values, np.float64)
    if not np.isfinite(numbers).all():
        raise InvalidInput(f"{numbers} holds a number that is not finite. Pass finite numbers.")
    exponents = np.frexp(numbers)[1][numbers != 0.0]
    if exponents.size == 0:
        return [0] * numbers.size, Fraction(1)
    lowest = int(exponents.min()) - sys.float_info.mant_dig
    if not decimal and int(exponents.max()) - lowest < sys.float_info.max_exp:
        # Times a power of two, these are integers that float64 can still hold.
        integers = list(map(int, np.ldexp(numbers, -lowest).tolist()))
        divisor = math.gcd(*integers)
        scale = Fraction(divisor, 1 << -lowest) if lowest < 0 else Fraction(divisor << lowest)
    else:
        exact = [Decimal(repr(number)) if decimal else number for number in numbers.tolist()]
        return _rationals_as_integers(exact)
    return ([integer // divisor for integer in integers] if divisor > 1 else integers), scale


def _rationals_as_integers(values: Sequence[Any]) -> tuple[Vector, Fraction]:
    """Write exact numbers as integers without common divisor times one positive rational."""
    above, below = zip(*[number.as_integer_ratio() for number in values], strict=True)
    denominator = math.lcm(*below)
    integers = [n * (denominator // d) for n, d in zip(above, below, strict=True)]
    divisor = math.gcd(*integers) or 1
    if not any(integers):
        return integers, Fraction(1)
    return ([integer // divisor for integer in integers] if divisor > 1 else integers), Fraction(divisor, denominator)


def primitive(v: Vector) -> Vector:
    """Divide a vector by the greatest common divisor of its entries.

    Examples
    --------
    >>> primitive([6, -4, 0])
    [3, -2, 0]
    """
    divisor = math.gcd(*v)
    return [entry // divisor for entry in v] if divisor > 1 else list(v)


def pivots(A: Matrix) -> tuple[Vector, Vector]:
    """Return the row and column numbers of a largest nonsingular minor; their count is the rank.

    The rows are those that do not depend on rows above them, the columns those that do not depend on columns to
    their left. Both ascend.

    Larger matrices are eliminated modulo a prime. A minor that is nonsingular modulo a prime is nonsingular, so the
    returned one is certain. That a larger one exists has negligible probability: a deficient rank is confirmed modulo a
    second prime, and both, near 2**27, would have to divide every larger minor.

    Examples
    --------
    >>> pivots([[0, 1, 2], [0, 2, 4], [3, 0, 1]])
    ([0, 2], [0, 1])
    """
    if not A or not A[0]:
        return [], []
    if min(len(A), len(A[0])) <= ELIMINATION_MAX_UNKNOWNS:
        _, _, rows, columns, _ = _eliminate(A, len(A[0]))
        return sorted(rows), columns
    return array_pivots(as_array(A))


def array_pivots(values: Array) -> tuple[Vector, Vector]:
    """Return the `pivots` of an array of int64 or of Python integers, modulo primes whatever its size."""
    best: tuple[Vector, Vector] = [], []
    for p in PRIMES:
        rows, columns = pivots_modulo(values, p)
        if len(rows) > len(best[0]):
            best = rows, columns
        if len(rows) == min(values.shape):
            break
    return best


def solve(A: Matrix, b: Vector) -> Solution | None:
    """Solve a square system exactly: A x = q b in lowest terms, q positive; None if A is singular, which is proved.

    Examples
    --------
    >>> solve([[2, 0], [0, 3]], [1, 1])
    ([3, 2], 6)
    """
    solutions = _solve_for_each(A, [b])
    return None if solutions is None else solutions[0]


def solving_seconds(size: int, bits: int = 53) -> float:
    """Estimate the seconds that `solve` takes, from above: digits of the solution times the cost of a digit.

    One core of a server took 0.1 to 1 times that for 50 to 200 unknowns.
    """
    return 2e-10 * size**3 * (bits + 6) * (1 + bits / 21)


def null_space(rows: Matrix, width: int) -> Matrix:
    """Compute a basis of all v with rows . v = 0, as primitive integer vectors; `width` is the length of v.

    Examples
    --------
    >>> null_space([[1, 2, 3]], 3)
    [[-2, 1, 0], [-3, 0, 1]]
    """
    if min(len(rows), width) > ELIMINATION_MAX_UNKNOWNS:
        minor, columns = pivots(rows)
        basis = _null_basis(rows, width, minor, columns, _free(width, columns))
        if basis is not None:
            return basis
    # Larger matrices get here only if both primes hid a part of the rank, which has negligible probability.
    return _null_basis_by_elimination(rows, width)


def null_vector(rows: Matrix) -> Vector | None:
    """Find the linear dependency of the rows: primitive coefficients, most of them positive, checked on all columns.

    None if the rows are independent or have several dependencies (or if `pivots` missed some, which has negligible
    probability).

    Examples
    --------
    >>> null_vector([[1, 0], [0, 1], [-2, -3]])
    [2, 3, 1]
    """
    equations = [primitive(list(column)) for column in zip(*rows, strict=True) if any(column)]
    count = len(rows)
    if min(len(equations), count) > ELIMINATION_MAX_UNKNOWNS:
        minor, columns = pivots(equations)
        if len(columns) != count - 1:
            return None
        basis = _null_basis(equations, count, minor, columns, _free(count, columns))
    else:
        basis = _null_basis_by_elimination(equations, count)
    if basis is None or len(basis) != 1:
        return None
    vector = basis[0]
    balance = sum((entry > 0) - (entry < 0) for entry in vector)
    return [-entry for entry in vector] if balance < 0 else vector


def placed(width: int, entries: dict[int, int]) -> Vector:
    """Return a vector with some entries, and zeros elsewhere."""
    v = [0] * width
    for j, value in entries.items():
        v[j] = value
    return v


def _annihilates(rows: Matrix, v: Vector) -> bool:
    """Return whether rows . v = 0."""
    if len(v) <= ELIMINATION_MAX_UNKNOWNS or not rows:
        return not any(sum(map(mul, row, v)) for row in rows)
    left, right = as_limbs(as_array(rows)), as_limbs(as_array(v))
    starts = range(0, len(v), EXACT_TERMS)
    if len(left) * len(starts) > 1 << 9:  # sums of so many numbers below 2**53 fit into int64
        return not any(sum(map(mul, row, v)) for row in rows)
    total = np.zeros((len(rows), len(left) + len(right)), np.int64)
    for start in starts:
        check_time()
        block = slice(start, start + EXACT_TERMS)
        add_products(np.concatenate(left[:, :, block]), np.ascontiguousarray(right[:, block]), total)
    return bool(all_zero(total))


def _free(width: int, columns: Vector) -> Vector:
    """List the columns that are not pivots."""
    return sorted(set(range(width)) - set(columns))


def _null_basis(rows: Matrix, width: int, minor: Vector, columns: Vector, free: Vector) -> Matrix | None:
    """Return null vectors that are 0 at all but one of the free columns, one for each; None if a row contradicts."""
    if not free:
        return []
    square = [[rows[i][j] for j in columns] for i in minor]
    solutions = _solve_for_each(square, [[-rows[i][j] for i in minor] for j in free])
    if solutions is None:
        return None
    basis = [
        placed(width, {j: q} | dict(zip(columns, x, strict=True))) for j, (x, q) in zip(free, solutions, strict=True)
    ]
    return basis if all(_annihilates(rows, v) for v in basis) else None


def _null_basis_by_elimination(rows: Matrix, width: int) -> Matrix:
    reduced, free, minor, columns, q = _eliminate(rows, width)
    basis = []
    for position, j in enumerate(free):
        x, denominator = _lowest([-reduced[i][position] for i in minor], q)
        basis.append(placed(width, {j: denominator} | dict(zip(columns, x, strict=True))))
    return basis


def _eliminate(A: Matrix, width: int) -> tuple[Matrix, Vector, Vector, Vector, int]:
    """Eliminate the first `width` columns without fractions (Bareiss, 1968).

    Returns
    -------
    reduced : matrix
        A without its pivot columns: row i of the pivots says q x[column i] + reduced[i] . x[others] = 0.
    free : list of int
        The columns before `width` that are left.
    rows, columns : list of int
        Positions of the pivots, in the order of the elimination.
    q : int
        The last pivot: up to its sign the determinant of the minor.
    """
    reduced = [list(row) for row in A]
    free: Vector = []
    rows: Vector = []
    columns: Vector = []
    left = list(range(len(A)))
    q = 1
    for column in range(width):
        # Pivot columns are deleted, so what remains of this one is at the number of free columns before it.
        c = len(free)
        pivot = next((i for i in left if reduced[i][c]), None)
        if pivot is None:
            free.append(column)
            continue
        left.remove(pivot)
        top = reduced[pivot]
        p = top.pop(c)
        for i, row in enumerate(reduced):
            check_time()
            if i != pivot:
                factor = row.pop(c)
                if factor:
                    reduced[i] = [(p * a - factor * t) // q for a, t in zip(row, top, strict=True)]
                elif p != q:
                    reduced[i] = [p * a // q for a in row]
        q = p
        rows.append(pivot)
        columns.append(column)
    return reduced, free, rows, columns, q


def _solve_for_each(A: Matrix, right: Matrix) -> list[Solution] | None:
    """Solve A x = q b for each b, in lowest terms; None if A is singular."""
    n = len(A)
    if n > MAX_UNKNOWNS:
        raise TooLarge(f"The system has {n} unknowns; exact solutions are limited to {MAX_UNKNOWNS}.")
    if n <= ELIMINATION_MAX_UNKNOWNS:
        return _solve_by_elimination(A, right)
    for p in small_primes():
        lifting = Lifting(A, p)
        if lifting.nonsingular:
            return [_lowest(*lifting.solve(b)) for b in right]
        if _is_singular(A, p):
            return None
    raise AssertionError("there are more primes than can divide a determinant")


def _solve_by_elimination(A: Matrix, right: Matrix) -> list[Solution] | None:
    n = len(A)
    augmented = [[*row, *values] for row, values in zip(A, zip(*right, strict=True), strict=True)]
    reduced, _, rows, _, q = _eliminate(augmented, n)
    if len(rows) < n:
        return None
    return [_lowest([reduced[i][k] for i in rows], q) for k in range(len(right))]


def _lowest(x: Vector, q: int) -> Solution:
    divisor = math.gcd(q, *x) * (1 if q > 0 else -1)
    return ([value // divisor for value in x], q // divisor) if divisor != 1 else (x, q)


def _is_singular(A: Matrix, p: int) -> bool:
    """Return whether a null vector of A modulo p gives one of A, as it does for nearly all primes if A is singular."""
    rows, columns = pivots_modulo(as_array(A), p)
    return _null_basis(A, len(A), rows, columns, _free(len(A), columns)[:1]) is not None


# --------------------------------------------------------------------------------------------------------- cones


class ConeAnswer(NamedTuple):
    """Rows that the target is a combination of, with positive factors; or a vector that separates it from all rows."""

    members: list[int]  # numbers of independent rows; empty if the target is outside the cone
    normal: Vector | None  # not negative on any row, negative on the target


def in_cone(rows: Matrix, target: Vector) -> ConeAnswer:
    """Decide whether a vector other than zero is a sum of rows times nonnegative factors, on integers (Farkas 1902).

    This is the first phase of the simplex method with Bland's rule (1977), which always ends. All numbers of the
    tableau have the same denominator, the last pivot (Edmonds 1967), so no division leaves a remainder.

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
    # How much the sum of the artificial variables, the last `size`, falls for each column.
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
                tableau[i] = _pivoted(row, top, pivot, row[entering], last)
        cost = _pivoted(cost, top, pivot, cost[entering], last)
        basis[leaving], last = entering, pivot
    if cost[-1] == 0:
        return ConeAnswer([b for b, row in zip(basis, tableau, strict=True) if b < count and row[-1]], None)
    return ConeAnswer([], [-sign * (c + last) for sign, c in zip(flip, cost[count:-1], strict=True)])


def _first_tableau(rows: Matrix, target: Vector, flip: Vector) -> Matrix:
    """Return the equations, each with an artificial variable and a nonnegative right side."""
    units = range(len(target))
    return [
        [*(sign * row[t] for row in rows), *(int(t == k) for k in units), sign * target[t]]
        for t, sign in enumerate(flip)
    ]


def _pivoted(row: Vector, top: Vector, pivot: int, factor: int, last: int) -> Vector:
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
