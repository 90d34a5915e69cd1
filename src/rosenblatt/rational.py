"""Exact linear algebra over the rationals, on Python integers of any size.

Small systems are eliminated without fractions (Bareiss, 1968). Larger ones are solved by p-adic lifting (Dixon, 1982)
on a minor that is nonsingular modulo a prime, hence nonsingular. Whatever is returned is proved: a solution by a bound
on the residual that its p-adic digits imply, a null vector by multiplication with all rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from operator import mul
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt import _modular
from rosenblatt.errors import InvalidInput

Vector = list[int]
Matrix = list[list[int]]
Array = npt.NDArray[Any]

# Up to this many unknowns, elimination in pure Python is faster than any conversion.
SMALL = 12
# Sums of more products than this may not be exact in the compiled code.
LARGEST = 1 << 12
# The largest primes below 2**27.
PRIMES = (134217689, 134217649)


@cache
def _flint() -> ModuleType | None:
    """python-flint where it is installed."""
    try:
        import flint
    except ImportError:
        return None
    return flint


def as_integers(values: Sequence[float] | Array, decimal: bool = False) -> tuple[Vector, Fraction]:
    """Write numbers as integers without common divisor times one positive rational, exactly.

    Parameters
    ----------
    values : sequence or 1-D array of finite numbers
        What to write; anything but an integer array is taken as float64.
    decimal : bool
        Take a number for the shortest decimal that rounds to it, so that 0.1 is 1/10. Otherwise for its binary value.

    Returns
    -------
    integers : list of int
        All zero, or without common divisor.
    scale : Fraction
        values[j] = scale * integers[j].

    Examples
    --------
    >>> as_integers([0.5, -0.75])
    ([2, -3], Fraction(1, 4))
    >>> as_integers([0.1, 0.3], decimal=True)
    ([1, 3], Fraction(1, 10))
    """
    numbers = values.tolist() if isinstance(values, np.ndarray) else list(map(float, values))
    try:
        if decimal:
            ratios = [Decimal(repr(number)).as_integer_ratio() for number in numbers]
        else:
            ratios = [number.as_integer_ratio() for number in numbers]
    except (OverflowError, ValueError):
        raise InvalidInput(f"{numbers} holds a number that is not finite. Pass finite numbers.") from None
    denominator = math.lcm(*[below for _, below in ratios])
    integers = [above * (denominator // below) for above, below in ratios]
    divisor = math.gcd(*integers)
    if divisor == 0:
        return integers, Fraction(1)
    return [integer // divisor for integer in integers], Fraction(divisor, denominator)


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
    """Row and column numbers of a largest nonsingular minor; their count is the rank.

    The rows are those that do not depend on rows above them, the columns those that do not depend on columns to
    their left. Both ascend.

    Beyond small matrices the elimination is done modulo a prime. A minor that is nonsingular modulo a prime is
    nonsingular, so what is returned is certain. That a larger one exists has negligible probability: a deficient rank
    is confirmed modulo a second prime, and both, near 2**27, would have to divide every larger minor.

    Examples
    --------
    >>> pivots([[0, 1, 2], [0, 2, 4], [3, 0, 1]])
    ([0, 2], [0, 1])
    """
    if not A or not A[0]:
        return [], []
    if min(len(A), len(A[0])) <= SMALL:
        _, _, rows, columns, _ = _eliminated(A, len(A[0]))
        return sorted(rows), columns
    best: tuple[Vector, Vector] = [], []
    values = _array(A)
    for p in PRIMES:
        rows, columns = _pivots_modulo(values, p)
        if len(rows) > len(best[0]):
            best = rows, columns
        if len(rows) == min(values.shape):
            break
    return best


def solve(A: Matrix, b: Vector) -> tuple[Vector, int] | None:
    """Solve a square system exactly.

    Returns
    -------
    x : list of int
        Numerators.
    q : int
        Common denominator, positive: A x = q b, in lowest terms.

    None is returned if A is singular, which is proved.

    Examples
    --------
    >>> solve([[2, 0], [0, 3]], [1, 1])
    ([3, 2], 6)
    """
    solutions = _solve_each(A, [b])
    return None if solutions is None else solutions[0]


def null_space(rows: Matrix, width: int) -> Matrix:
    """Exact basis of all v with rows . v = 0, as primitive integer vectors; `width` is the length of v.

    Examples
    --------
    >>> null_space([[1, 2, 3]], 3)
    [[-2, 1, 0], [-3, 0, 1]]
    """
    if min(len(rows), width) > SMALL:
        minor, columns = pivots(rows)
        basis = _null_basis(rows, width, minor, columns)
        if basis is not None:
            return basis
    # Here too, with negligible probability, if both primes hid a part of the rank.
    return _null_basis_by_elimination(rows, width)


def null_vector(rows: Matrix) -> Vector | None:
    """Find the linear dependency of the rows, if there is exactly one.

    Returns
    -------
    list of int or None
        Primitive coefficients lam, most of them positive, with sum_i lam[i] rows[i] = 0; None if the rows are
        independent or have several dependencies.

    Examples
    --------
    >>> null_vector([[1, 0], [0, 1], [-2, -3]])
    [2, 3, 1]
    """
    equations = [
        [entry // divisor for entry in column] for column in zip(*rows, strict=True) if (divisor := math.gcd(*column))
    ]
    count = len(rows)
    if min(len(equations), count) > SMALL:
        minor, columns = pivots(equations)
        if len(columns) != count - 1:
            return None
        basis = _null_basis(equations, count, minor, columns)
    else:
        basis = _null_basis_by_elimination(equations, count)
    if basis is None or len(basis) != 1:
        return None
    vector = basis[0]
    balance = sum((entry > 0) - (entry < 0) for entry in vector)
    return [-entry for entry in vector] if balance < 0 else vector


def lift(rows: Matrix, free: dict[int, int], width: int) -> Vector | None:
    """Complete coordinates at the non-pivot columns to a vector v with rows . v = 0.

    Parameters
    ----------
    rows : matrix
        The equations.
    free : dict
        An integer for each column that is not in `pivots(rows)[1]`.
    width : int
        Length of v.

    Returns
    -------
    list of int or None
        Primitive v that at the columns of `free` is a positive multiple of it. None if the rank of the rows is
        larger than modulo the primes of `pivots`.

    Examples
    --------
    >>> lift([[2, 1, 0], [0, 1, 1]], {2: 4}, 3)
    [1, -2, 2]
    """
    minor, columns = pivots(rows)
    if set(free) != set(range(width)) - set(columns):
        raise InvalidInput(f"free has the columns {sorted(free)}. Pass all but the pivot columns {columns}.")
    right = [-sum(rows[i][j] * value for j, value in free.items()) for i in minor]
    solution = solve([[rows[i][j] for j in columns] for i in minor], right)
    if solution is None:
        return None
    v = [0] * width
    for j, value in free.items():
        v[j] = solution[1] * value
    for j, value in zip(columns, solution[0], strict=True):
        v[j] = value
    return primitive(v) if _annihilates(rows, v) else None


def _annihilates(rows: Matrix, v: Vector) -> bool:
    return not any(sum(map(mul, row, v)) for row in rows)


def _null_basis(rows: Matrix, width: int, minor: Vector, columns: Vector) -> Matrix | None:
    """Solve for the pivot coordinates of each unit vector of the others; None if a row contradicts."""
    free = sorted(set(range(width)) - set(columns))
    if not free:
        return []
    square = [[rows[i][j] for j in columns] for i in minor]
    solutions = _solve_each(square, [[-rows[i][j] for i in minor] for j in free])
    if solutions is None:
        return None
    basis = []
    for j, (x, q) in zip(free, solutions, strict=True):
        v = [0] * width
        v[j] = q
        for column, value in zip(columns, x, strict=True):
            v[column] = value
        if not _annihilates(rows, v):
            return None
        basis.append(v)
    return basis


def _null_basis_by_elimination(rows: Matrix, width: int) -> Matrix:
    reduced, free, minor, columns, q = _eliminated(rows, width)
    basis = []
    for position, j in enumerate(free):
        v = [0] * width
        v[j] = abs(q)
        for i, column in zip(minor, columns, strict=True):
            v[column] = -reduced[i][position] if q > 0 else reduced[i][position]
        basis.append(primitive(v))
    return basis


def _eliminated(A: Matrix, width: int) -> tuple[Matrix, Vector, Vector, Vector, int]:
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


def _solve_each(A: Matrix, right: Matrix) -> list[tuple[Vector, int]] | None:
    """Solve A x = q b for each b, in lowest terms; None if A is singular."""
    n = len(A)
    if n > LARGEST:
        raise InvalidInput(f"The system has {n} unknowns. Systems of more than {LARGEST} cannot be solved exactly.")
    if n <= SMALL:
        return _solve_by_elimination(A, right)
    if flint := _flint():
        return _solve_by_flint(flint, A, right)
    values = _array(A)
    for p in _small_primes():
        system = _PAdic(values, p)
        if system.nonsingular:
            return [system.solve(b) for b in right]
        if _is_singular(values, A, p):
            return None
    raise AssertionError("there are infinitely many primes")


def _solve_by_elimination(A: Matrix, right: Matrix) -> list[tuple[Vector, int]] | None:
    n = len(A)
    reduced, _, rows, _, q = _eliminated(
        [[*row, *extra] for row, extra in zip(A, zip(*right, strict=True), strict=True)], n
    )
    if len(rows) < n:
        return None
    return [_lowest([reduced[i][k] for i in rows], q) for k in range(len(right))]


def _solve_by_flint(flint: ModuleType, A: Matrix, right: Matrix) -> list[tuple[Vector, int]] | None:
    try:
        x = flint.fmpz_mat(A).solve(flint.fmpz_mat(list(map(list, zip(*right, strict=True)))))
    except ZeroDivisionError:
        return None
    numerators, denominator = x.numer_denom()
    q = int(denominator)
    return [_lowest(list(map(int, column)), q) for column in numerators.transpose().tolist()]


def _lowest(x: Vector, q: int) -> tuple[Vector, int]:
    divisor = math.gcd(q, *x) * (1 if q > 0 else -1)
    return ([value // divisor for value in x], q // divisor) if divisor != 1 else (x, q)


def _is_singular(values: Array, A: Matrix, p: int) -> bool:
    """Whether a null vector of A modulo p is one of A. If A is singular, it is for all but finitely many primes."""
    rows, columns = _pivots_modulo(values, p)
    j = next(j for j in range(len(A)) if j not in set(columns))
    system = _PAdic(values[np.ix_(rows, columns)], p)
    x, q = system.solve([-A[i][j] for i in rows])
    v = [0] * len(A)
    v[j] = q
    for column, value in zip(columns, x, strict=True):
        v[column] = value
    return _annihilates(A, v)


def _pivots_modulo(values: Array, p: int) -> tuple[Vector, Vector]:
    rows, columns = _modular.pivots(_residues(values, p), float(p))
    return sorted(rows.tolist()), columns.tolist()


def _array(A: Matrix | Vector) -> Array:
    """Integers as int64 where there is room to add two of them, else as objects."""
    try:
        values = np.array(A, np.int64)
    except OverflowError:
        return np.array(A, object)
    return values if values.size == 0 or np.abs(values).max() < 1 << 62 else np.array(A, object)


def _residues(values: Array, p: int) -> Array:
    """Residues modulo p nearest to zero."""
    return np.ascontiguousarray((values + p // 2) % p - p // 2, np.float64)


def _limbs(values: Array) -> list[Array]:
    """Integers as digits to the base 2**LIMB, each nearest to zero."""
    half = 1 << (_modular.LIMB - 1)
    limbs: list[Array] = []
    while not limbs or values.any():
        low = ((values + half) & (2 * half - 1)) - half
        values = (values - low) >> _modular.LIMB
        limbs.append(low.astype(np.float64))
    return limbs


@cache
def _odd_divisors() -> range:
    return range(3, 1 << (_modular.LIMB // 2 + 1), 2)


def _small_primes() -> Iterator[int]:
    """Yield the primes below 2**LIMB, largest first."""
    for candidate in range((1 << _modular.LIMB) - 1, 2, -2):
        if all(candidate % divisor for divisor in _odd_divisors()):
            yield candidate


class _PAdic:
    """Systems with one matrix, nonsingular modulo the prime p, solved by p-adic lifting."""

    def __init__(self, values: Array, p: int) -> None:
        self.p = p
        self.values = values
        self.inverse = _residues(values, p)
        self.nonsingular = bool(_modular.invert(self.inverse, float(p)))

    def solve(self, b: Vector) -> tuple[Vector, int]:
        n = len(b)
        if n == 0:
            return [], 1
        limbs = _limbs(self.values)
        right = _limbs(_array(b))
        residual = np.zeros((max(len(limbs), len(right)) + 1, n))
        residual[: len(right)] = right
        objects = self.values.astype(object)
        # Hadamard: numerators and denominator are determinants of n columns of (A, b).
        squares = (objects * objects).sum(axis=1) + np.array([value * value for value in b], object)
        bound = sum(int(square).bit_length() / 2 for square in squares)
        norm = max(int(row) + abs(value) for row, value in zip(np.abs(objects).sum(axis=1), b, strict=True))
        weights = np.random.default_rng(0).integers(1, 64, n)
        spare = norm.bit_length() + int(weights.sum()).bit_length() + 8
        most = math.ceil((2 * bound + spare) / math.log2(self.p))
        digits = np.empty((most, n))
        matrix = np.concatenate(limbs)
        done = 0
        for halvings in range(max(0, most.bit_length() - 4), -1, -1):
            wanted = -(-most >> halvings)
            _modular.lift(matrix, self.inverse, residual, float(self.p), digits[done:wanted])
            done = wanted
            solution = self._reconstruct(digits[:done].astype(np.int64), weights, norm, spare, bound, done == most)
            if solution is not None:
                return _lowest(*solution)
        raise AssertionError("Hadamard's bound was not enough")

    def _reconstruct(
        self, digits: Array, weights: Array, norm: int, spare: int, bound: float, last: bool
    ) -> tuple[Vector, int] | None:
        p = self.p
        modulus = p ** len(digits)
        total = int(_evaluated((digits @ weights)[:, None], p)[0])
        numerator, q = _fraction(total % modulus, modulus, math.isqrt(modulus >> 1))
        if not last and abs(numerator) * q >> (modulus.bit_length() - 64) > 0:
            return None
        # The numerators need half of the digits, now that the denominator is known.
        few = math.ceil((max(abs(numerator), q).bit_length() + spare + 64) / math.log2(p))
        for count in (few, len(digits)):
            if count > len(digits):
                continue
            full = count == len(digits) and last
            modulus = p**count
            size = 1 << math.ceil(bound + 1) if full else modulus >> (norm.bit_length() + 32)
            x, denominator = self._numerators(digits[:count], modulus, q, size)
            if norm * max(denominator, *map(abs, x)) < modulus:
                return x, denominator
        return None

    def _numerators(self, digits: Array, modulus: int, q: int, size: int) -> tuple[Vector, int]:
        half = modulus >> 1
        numerators: Vector = []
        for value in _evaluated(digits, self.p):
            numerator = (value * q + half) % modulus - half
            factor = 1
            if abs(numerator) > size:
                numerator, factor = _fraction(numerator % modulus, modulus, size)
                q *= factor
                numerators = [previous * factor for previous in numerators]
            numerators.append(numerator)
        return numerators, q


def _evaluated(digits: Array, p: int) -> Array:
    """Sum of digits[k] p**k for each column, by halving."""
    count, n = digits.shape
    padded = np.zeros((-(-count // 3) * 3, n), np.int64)
    padded[:count] = digits
    if abs(padded).max() < 1 << 20:
        values = (padded[::3] + p * padded[1::3] + p * p * padded[2::3]).astype(object)
        power = p**3
    else:
        values = padded.astype(object)
        power = p
    while len(values) > 1:
        even, odd = values[::2], values[1::2]
        values = even.copy()
        values[: len(odd)] += odd * power
        power *= power
    return np.asarray(values[0])


def _fraction(residue: int, modulus: int, size: int) -> tuple[int, int]:
    """Find the n / d equal to the residue, with |n| <= size and d smallest (Wang, 1981)."""
    above, below, previous, d = modulus, residue, 0, 1
    while below > size:
        quotient = above // below
        above, below = below, above - quotient * below
        previous, d = d, previous - quotient * d
    return (below, d) if d > 0 else (-below, -d)
