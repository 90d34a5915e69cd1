"""Exact linear algebra over the rationals, on Python integers of any size.

Small systems are eliminated without fractions (Bareiss, 1968). Larger ones are solved by p-adic lifting (Dixon, 1982)
on a minor that is nonsingular modulo a prime, hence nonsingular. Whatever is returned is proved: a solution because its
residual, 0 modulo a power of the prime, is shorter than that power; a null vector by multiplication with all rows.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib import import_module
from operator import mul
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled import modular as _modular
from rosenblatt.errors import InvalidInput, TooLarge

Vector = list[int]
Matrix = list[list[int]]
Array = npt.NDArray[Any]
Solution = tuple[Vector, int]

# Up to this many unknowns, elimination in pure Python is faster than any conversion.
SMALL = 12
# Up to this many, FLINT is faster than the lifting.
FLINT = 24
# Sums of more products than this may not be exact in the compiled code.
LARGEST = 4000
# Sums of so many numbers below 2**53 fit into int64.
TERMS = 1 << 9
# A fraction shorter than its modulus by so many bits is no accident.
ACCIDENT = 32
# Leading bits from which quotients are guessed.
WORD = 62
MANTISSA = sys.float_info.mant_dig
# The largest primes below 2**27.
PRIMES = (134217689, 134217649)


@cache
def _flint() -> ModuleType | None:
    """python-flint where it is installed."""
    try:
        return import_module("flint")
    except ImportError:
        return None


def as_integers(values: Sequence[float] | Array, decimal: bool = False) -> tuple[Vector, Fraction]:
    """Write numbers as integers without common divisor times one positive rational, exactly.

    Parameters
    ----------
    values : sequence or 1-D array of finite numbers
        What to write, taken as float64.
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
    numbers = np.asarray(values, np.float64)
    if not np.isfinite(numbers).all():
        raise InvalidInput(f"{numbers} holds a number that is not finite. Pass finite numbers.")
    exponents = np.frexp(numbers)[1][numbers != 0.0]
    if exponents.size == 0:
        return [0] * numbers.size, Fraction(1)
    lowest = int(exponents.min()) - MANTISSA
    if not decimal and int(exponents.max()) - lowest < sys.float_info.max_exp:
        # Times a power of two these are whole numbers that float64 still holds.
        integers = list(map(int, np.ldexp(numbers, -lowest).tolist()))
        divisor = math.gcd(*integers)
        scale = Fraction(divisor, 1 << -lowest) if lowest < 0 else Fraction(divisor << lowest)
    else:
        exact = [Decimal(repr(number)) if decimal else number for number in numbers.tolist()]
        above, below = zip(*[number.as_integer_ratio() for number in exact], strict=True)
        denominator = math.lcm(*below)
        integers = [n * (denominator // d) for n, d in zip(above, below, strict=True)]
        divisor = math.gcd(*integers)
        scale = Fraction(divisor, denominator)
    return ([integer // divisor for integer in integers] if divisor > 1 else integers), scale


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
        basis = _null_basis(rows, width, minor, columns, _free(width, columns))
        if basis is not None:
            return basis
    # Here too, with negligible probability, if both primes hid a part of the rank.
    return _null_basis_by_elimination(rows, width)


def null_vector(rows: Matrix) -> Vector | None:
    """Find the linear dependency of the rows, if there is exactly one.

    Returns
    -------
    list of int or None
        Primitive coefficients lam, most of them positive, with sum_i lam[i] rows[i] = 0, which is checked on all
        columns. None if the rows are independent or have several dependencies (or if `pivots` missed some, which has
        negligible probability).

    Examples
    --------
    >>> null_vector([[1, 0], [0, 1], [-2, -3]])
    [2, 3, 1]
    """
    equations = [primitive(list(column)) for column in zip(*rows, strict=True) if any(column)]
    count = len(rows)
    if min(len(equations), count) > SMALL:
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
    if sorted(free) != _free(width, columns):
        raise InvalidInput(f"free has the columns {sorted(free)}. Pass all but the pivot columns {columns}.")
    right = [-sum(rows[i][j] * value for j, value in free.items()) for i in minor]
    solution = solve([[rows[i][j] for j in columns] for i in minor], right)
    if solution is None:
        return None
    x, q = solution
    v = _placed(width, {j: q * value for j, value in free.items()} | dict(zip(columns, x, strict=True)))
    return primitive(v) if _annihilates(rows, v) else None


def _placed(width: int, entries: dict[int, int]) -> Vector:
    v = [0] * width
    for j, value in entries.items():
        v[j] = value
    return v


def _annihilates(rows: Matrix, v: Vector) -> bool:
    """Whether rows . v = 0."""
    if len(v) <= SMALL or not rows:
        return not any(sum(map(mul, row, v)) for row in rows)
    left, right = _limbs(_array(rows)), _limbs(_array(v))
    starts = range(0, len(v), _modular.BLOCK)
    if len(left) * len(starts) > TERMS:
        return not any(sum(map(mul, row, v)) for row in rows)
    total = np.zeros((len(rows), len(left) + len(right)), np.int64)
    for start in starts:
        block = slice(start, start + _modular.BLOCK)
        _modular.add_products(np.concatenate(left[:, :, block]), np.ascontiguousarray(right[:, block]), total)
    return bool(_modular.all_zero(total))


def _free(width: int, columns: Vector) -> Vector:
    """List the columns that are not pivots."""
    return sorted(set(range(width)) - set(columns))


def _null_basis(rows: Matrix, width: int, minor: Vector, columns: Vector, free: Vector) -> Matrix | None:
    """Null vectors that are 0 at all but one of the free columns, one for each; None if a row contradicts."""
    if not free:
        return []
    square = [[rows[i][j] for j in columns] for i in minor]
    solutions = _solve_each(square, [[-rows[i][j] for i in minor] for j in free])
    if solutions is None:
        return None
    basis = [
        _placed(width, {j: q} | dict(zip(columns, x, strict=True))) for j, (x, q) in zip(free, solutions, strict=True)
    ]
    return basis if all(_annihilates(rows, v) for v in basis) else None


def _null_basis_by_elimination(rows: Matrix, width: int) -> Matrix:
    reduced, free, minor, columns, q = _eliminated(rows, width)
    basis = []
    for position, j in enumerate(free):
        x, denominator = _lowest([-reduced[i][position] for i in minor], q)
        basis.append(_placed(width, {j: denominator} | dict(zip(columns, x, strict=True))))
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


def _solve_each(A: Matrix, right: Matrix) -> list[Solution] | None:
    """Solve A x = q b for each b, in lowest terms; None if A is singular."""
    n = len(A)
    if n > LARGEST:
        raise TooLarge(f"The system has {n} unknowns. Systems of more than {LARGEST} cannot be solved exactly.")
    if n <= SMALL:
        return _solve_by_elimination(A, right)
    if n <= FLINT and (flint := _flint()):
        return _solve_by_flint(flint, A, right)
    for p in _small_primes():
        lifting = _Lifting(A, p)
        if lifting.nonsingular:
            return [_lowest(*lifting.solve(b)) for b in right]
        if _is_singular(A, p):
            return None
    raise AssertionError("there are more primes than can divide a determinant")


def _solve_by_elimination(A: Matrix, right: Matrix) -> list[Solution] | None:
    n = len(A)
    augmented = [[*row, *values] for row, values in zip(A, zip(*right, strict=True), strict=True)]
    reduced, _, rows, _, q = _eliminated(augmented, n)
    if len(rows) < n:
        return None
    return [_lowest([reduced[i][k] for i in rows], q) for k in range(len(right))]


def _solve_by_flint(flint: ModuleType, A: Matrix, right: Matrix) -> list[Solution] | None:
    try:
        solutions = flint.fmpz_mat(A).solve(flint.fmpz_mat(right).transpose())
    except ZeroDivisionError:
        return None
    numerators, denominator = solutions.transpose().numer_denom()
    return [_lowest(list(map(int, x)), int(denominator)) for x in numerators.tolist()]


def _lowest(x: Vector, q: int) -> Solution:
    divisor = math.gcd(q, *x) * (1 if q > 0 else -1)
    return ([value // divisor for value in x], q // divisor) if divisor != 1 else (x, q)


def _is_singular(A: Matrix, p: int) -> bool:
    """Whether a null vector of A modulo p is one of A. If A is singular, it is for all but finitely many primes."""
    rows, columns = _pivots_modulo(_array(A), p)
    return _null_basis(A, len(A), rows, columns, _free(len(A), columns)[:1]) is not None


def _pivots_modulo(values: Array, p: int) -> tuple[Vector, Vector]:
    rows, columns = _modular.pivots(_residues(values, p), float(p))
    return sorted(rows.tolist()), columns.tolist()


def _array(A: Matrix | Vector) -> Array:
    """Integers as int64 where there is room to add a bit, else as objects."""
    try:
        values = np.array(A, np.int64)
    except OverflowError:
        return np.array(A, object)
    room = 1 << 62
    return values if -room < values.min(initial=0) and values.max(initial=0) < room else values.astype(object)


def _residues(values: Array, p: int) -> Array:
    """Residues modulo p nearest to zero."""
    return np.ascontiguousarray((values + p // 2) % p - p // 2, np.float64)


def _limbs(values: Array) -> Array:
    """Integers to the base 2**LIMB, a digit for each place of the first axis. The highest carries the sign."""
    flat = values.ravel()
    bits = int(abs(flat).max(initial=0)).bit_length()
    if flat.dtype == object:
        size = bits // 8 + _modular.LIMB
        octets = np.frombuffer(b"".join([value.to_bytes(size, "little", signed=True) for value in flat]), np.uint8)
        octets = octets.reshape(-1, size).T.astype(np.int64)
    limbs = np.empty((bits // _modular.LIMB + 1, flat.size))
    for place, limb in enumerate(limbs):
        if flat.dtype == object:
            first, shift = divmod(place * _modular.LIMB, 8)
            word = sum(octets[first + k] << (8 * k) for k in range(4)) >> shift
        else:
            word = flat >> (place * _modular.LIMB)
        limb[:] = word & ((1 << _modular.LIMB) - 1)
    limbs[-1] -= np.where(flat < 0, 1 << _modular.LIMB, 0)
    return limbs.reshape(-1, *values.shape)


@cache
def _is_prime(candidate: int) -> bool:
    return all(candidate % divisor for divisor in range(3, math.isqrt(candidate) + 1, 2))


def _small_primes() -> Iterator[int]:
    """Yield the primes below 2**LIMB, largest first."""
    return filter(_is_prime, range((1 << _modular.LIMB) - 1, 2, -2))


class _Lifting:
    """Systems with one matrix, nonsingular modulo the prime p, solved by p-adic lifting (Dixon, 1982)."""

    def __init__(self, A: Matrix, p: int) -> None:
        self.p = p
        self.squares = [sum(map(mul, row, row)) for row in A]
        values = _array(A)
        self.inverse = _residues(values, p)
        self.nonsingular = bool(_modular.invert(self.inverse, float(p)))
        self.limbs = _limbs(values)

    def solve(self, b: Vector) -> Solution:
        n = len(b)
        squares = [square + value * value for square, value in zip(self.squares, b, strict=True)]
        # Of any row (a, b), by Cauchy and Schwarz: |a x - q b| <= norm max(|x|, q).
        norm = math.isqrt(max(squares) * (n + 1)) + 1
        # No structure of the solution, so that nothing cancels in the weighted sum.
        weights = 1 + np.arange(n) * 29 % 61
        # Hadamard: all numerators and the denominator are determinants of n columns of (A, b).
        bits = sum(square.bit_length() for square in squares) + 2 * int(weights.sum()).bit_length()
        most = math.ceil((bits + norm.bit_length() + ACCIDENT + 2) / math.log2(self.p))
        right = _limbs(_array(b))
        residual = np.zeros((max(len(self.limbs), len(right)) + 1, n))
        residual[: len(right)] = right
        digits = np.empty((most, n))
        done = 0
        # Solutions are often shorter than the bound: look at an eighth of the digits, a quarter, a half.
        for wanted in sorted({max(most >> halvings, min(most, 8)) for halvings in range(4)}):
            _modular.lift(self.limbs.reshape(-1, n), self.inverse, residual, float(self.p), digits[done:wanted])
            done = wanted
            solution = self._reconstructed(digits[:done], weights, norm)
            if solution is not None:
                return solution
        raise AssertionError("Hadamard's bound holds")

    def _reconstructed(self, digits: Array, weights: Array, norm: int) -> Solution | None:
        """Solution with these first digits, if it is short enough to be known from them."""
        # A sum of all entries has their common denominator, but for an accident, and is about as long as the longest.
        modulus = self.p ** len(digits)
        total = _modular.multiply((digits @ weights)[:, None], np.ones(1), float(self.p))
        numerator, q = _fraction(_evaluated(total, self.p)[0] % modulus, modulus, math.isqrt(modulus >> 1))
        if (numerator * q).bit_length() > modulus.bit_length() - ACCIDENT:
            return None
        spare = norm.bit_length() + 2 * ACCIDENT
        few = math.ceil((max(abs(numerator), q).bit_length() + spare) / math.log2(self.p))
        if few < len(digits):
            # With the denominator known, the numerators follow from half of the digits.
            solution = self._numerators(digits[:few], q, norm, self.p**few >> spare // 2)
            if solution is not None:
                return solution
        return self._numerators(digits, q, norm, math.isqrt(modulus >> 1))

    def _numerators(self, digits: Array, q: int, norm: int, size: int) -> Solution | None:
        """Numerators over the denominator q, or over its least multiple for which they are short.

        The residual A x - q b is 0 modulo p**count. Once it is shorter than that it is 0, which proves the solution.
        """
        count = len(digits)
        modulus = self.p**count
        low = count - math.ceil(norm.bit_length() / math.log2(self.p))
        factor = q
        while low > 0 and norm * q < modulus:
            digits = _modular.multiply(digits, _digits(factor, self.p), float(self.p))
            long = np.flatnonzero(digits[low:].any(axis=0))
            if long.size == 0:
                return _evaluated(digits[:low], self.p), q
            value = _evaluated(digits[:, long[:1]], self.p)[0]
            factor = _fraction(value % modulus, modulus, size)[1]
            if factor == 1:
                break
            q *= factor
        return None


def _digits(value: int, p: int) -> Array:
    """Write a positive integer to the base p."""
    digits = []
    while value:
        value, digit = divmod(value, p)
        digits.append(digit)
    return np.array(digits, np.float64)


def _evaluated(digits: Array, p: int) -> Vector:
    """Sum of digits[k] p**k for each column, by halving."""
    words = np.zeros((-(-len(digits) // 3), 3, digits.shape[1]), np.int64)
    words.reshape(-1, digits.shape[1])[: len(digits)] = digits
    values = (words[:, 0] + p * words[:, 1] + p * p * words[:, 2]).astype(object)
    base = p**3
    while len(values) > 1:
        odd = values[1::2] * base
        values = values[::2]
        values[: len(odd)] += odd
        base *= base
    return values[0].tolist()  # type: ignore[no-any-return]


def _fraction(residue: int, modulus: int, size: int) -> tuple[int, int]:
    """Find the n / d equal to the residue, with |n| <= size and d smallest (Wang, 1981)."""
    above, below, previous, denominator = modulus, residue, 0, 1
    while below > size:
        b = 0
        if below.bit_length() > size.bit_length() + WORD:
            shift = above.bit_length() - WORD
            a, b, c, d = _modular.decided_quotients(above >> shift, below >> shift)
        if b == 0:
            a, b, c, d = 0, 1, 1, -(above // below)
        above, below = a * above + b * below, c * above + d * below
        previous, denominator = a * previous + b * denominator, c * previous + d * denominator
    return (below, denominator) if denominator > 0 else (-below, -denominator)
