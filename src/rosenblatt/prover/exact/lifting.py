"""Exact solution of square systems by p-adic lifting (Dixon, 1982), and the integer arrays that it works on.

The lifting starts from a matrix that is nonsingular modulo a small prime. A solution is proved: its residual is 0
modulo a power of the prime and shorter than that power, hence 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.prover.exact import modular
from rosenblatt.prover.exact.clock import PRODUCTS_PER_LOOK, check_time, timed

Vector = list[int]
Matrix = list[list[int]]
Array = npt.NDArray[Any]
Solution = tuple[Vector, int]

# A fraction shorter than its modulus by so many bits is no accident.
ACCIDENT_BITS = 32
# Leading bits from which quotients are guessed.
QUOTIENT_BITS = 62


def as_array(A: Matrix | Vector) -> Array:
    """Return integers as int64 where there is room to add a bit, else as objects."""
    try:
        values = np.array(A, np.int64)
    except OverflowError:
        return np.array(A, object)
    room = 1 << 62
    return values if -room < values.min(initial=0) and values.max(initial=0) < room else values.astype(object)


def residues(values: Array, p: int) -> Array:
    """Return the residues modulo p nearest to zero."""
    if values.dtype == object and values.ndim == 2:
        return np.array([residues(row, p) for row in timed(values)]).reshape(values.shape)
    return np.ascontiguousarray((values + p // 2) % p - p // 2, np.float64)


def as_limbs(values: Array) -> Array:
    """Write integers to the base 2**LIMB_BITS, one digit per place of the first axis. The highest has the sign."""
    flat = values.ravel()
    bits = int(abs(flat).max(initial=0)).bit_length()
    if flat.dtype == object:
        size = bits // 8 + modular.LIMB_BITS
        octets = np.frombuffer(b"".join([value.to_bytes(size, "little", signed=True) for value in flat]), np.uint8)
        octets = octets.reshape(-1, size).T.astype(np.int64)
    limbs = np.empty((bits // modular.LIMB_BITS + 1, flat.size))
    for place, limb in enumerate(limbs):
        if flat.dtype == object:
            first, shift = divmod(place * modular.LIMB_BITS, 8)
            word = sum(octets[first + k] << (8 * k) for k in range(4)) >> shift
        else:
            word = flat >> (place * modular.LIMB_BITS)
        limb[:] = word & ((1 << modular.LIMB_BITS) - 1)
    limbs[-1] -= np.where(flat < 0, 1 << modular.LIMB_BITS, 0)
    return limbs.reshape(-1, *values.shape)


@cache
def _is_prime(candidate: int) -> bool:
    return all(candidate % divisor for divisor in range(3, math.isqrt(candidate) + 1, 2))


def small_primes() -> Iterator[int]:
    """Yield the primes below 2**LIMB_BITS, largest first."""
    return filter(_is_prime, range((1 << modular.LIMB_BITS) - 1, 2, -2))


def pieces(count: int, products: int) -> Iterator[tuple[int, int]]:
    """Cut a loop of so many steps, of so many products each, into pieces; look at the clock before each."""
    size = max(1, PRODUCTS_PER_LOOK // max(products, 1))
    for begin in range(0, count, size):
        check_time()
        yield begin, min(begin + size, count)


def pivots_modulo(values: Array, p: int) -> tuple[Vector, Vector]:
    """Return the rows and columns, both ascending, of a largest minor that is nonsingular modulo p."""
    M = residues(values, p)
    left, rank = np.arange(len(M)), 0
    rows, columns = np.empty((2, min(M.shape)), np.int64)
    for begin, end in pieces(M.shape[1], M.size):
        rank = int(modular.find_pivots(M, float(p), begin, end, left, rows, columns, rank))
    return sorted(rows[:rank].tolist()), columns[:rank].tolist()


def invert_modulo(M: Array, p: int) -> bool:
    """Replace residues by those of the inverse matrix; return whether it has one modulo p."""
    swapped = np.empty(len(M), np.int64)
    return all(modular.invert(M, float(p), begin, end, swapped) for begin, end in pieces(len(M), M.size))


def _multiplied(digits: Array, factor: Array, p: int) -> Array:
    """Multiply p-adic numbers, a column each, by the digits of an integer."""
    total, product = np.zeros(digits.shape[1]), np.empty_like(digits)
    for begin, end in pieces(len(digits), digits.shape[1] * factor.size):
        modular.multiply(digits, factor, float(p), begin, end, total, product)
    return product


class Lifting:
    """Systems with one matrix, solved by p-adic lifting if it is `nonsingular` modulo the prime p."""

    def __init__(self, A: Matrix, p: int) -> None:
        self.p = p
        self.squares = [sum(map(mul, row, row)) for row in A]
        values = as_array(A)
        self.inverse = residues(values, p)
        self.nonsingular = invert_modulo(self.inverse, p)
        self.limbs = as_limbs(values)

    def solve(self, b: Vector) -> Solution:
        """Return numerators x and a common denominator q with A x = q b, not always in lowest terms."""
        n = len(b)
        squares = [square + value * value for square, value in zip(self.squares, b, strict=True)]
        # Of any row (a, b), by Cauchy and Schwarz: |a x - q b| <= norm max(|x|, q).
        norm = math.isqrt(max(squares) * (n + 1)) + 1
        # No structure of the solution, so that nothing cancels in the weighted sum.
        weights = 1 + np.arange(n) * 29 % 61
        # Hadamard: all numerators and the denominator are determinants of n columns of (A, b).
        bits = sum(square.bit_length() for square in squares) + 2 * int(weights.sum()).bit_length()
        most = math.ceil((bits + norm.bit_length() + ACCIDENT_BITS + 2) / math.log2(self.p))
        right = as_limbs(as_array(b))
        residual = np.zeros((max(len(self.limbs), len(right)) + 1, n))
        residual[: len(right)] = right
        digits = np.empty((most, n))
        done = 0
        # Solutions are often shorter than the bound: look at an eighth of the digits, a quarter, a half.
        for wanted in sorted({max(most >> halvings, min(most, 8)) for halvings in range(4)}):
            for begin, end in pieces(wanted - done, self.limbs.size + self.inverse.size):
                part = digits[done + begin : done + end]
                modular.lift_digits(self.limbs.reshape(-1, n), self.inverse, residual, float(self.p), part)
            done = wanted
            solution = self._reconstructed(digits[:done], weights, norm)
            if solution is not None:
                return solution
        raise AssertionError("Hadamard's bound holds")

    def _reconstructed(self, digits: Array, weights: Array, norm: int) -> Solution | None:
        """Return the solution with these first digits, if it is short enough to be known from them."""
        # A sum of all entries has their common denominator, but for an accident, and is about as long as the longest.
        modulus = self.p ** len(digits)
        total = _multiplied((digits @ weights)[:, None], np.ones(1), self.p)
        numerator, q = _fraction(_evaluated(total, self.p)[0] % modulus, modulus, math.isqrt(modulus >> 1))
        if (numerator * q).bit_length() > modulus.bit_length() - ACCIDENT_BITS:
            return None
        spare = norm.bit_length() + 2 * ACCIDENT_BITS
        needed = math.ceil((max(abs(numerator), q).bit_length() + spare) / math.log2(self.p))
        if needed < len(digits):
            # With the denominator known, the numerators follow from half of the digits.
            solution = self._numerators(digits[:needed], q, norm, self.p**needed >> spare // 2)
            if solution is not None:
                return solution
        return self._numerators(digits, q, norm, math.isqrt(modulus >> 1))

    def _numerators(self, digits: Array, q: int, norm: int, size: int) -> Solution | None:
        """Return numerators over the denominator q, or over its least multiple for which they are short.

        The residual A x - q b is 0 modulo p**count. Once it is shorter than that it is 0, which proves the solution.
        """
        count = len(digits)
        modulus = self.p**count
        low = count - math.ceil(norm.bit_length() / math.log2(self.p))
        factor = q
        while low > 0 and norm * q < modulus:
            digits = _multiplied(digits, _digits(factor, self.p), self.p)
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
    """Compute the sum of digits[k] p**k for each column, by halving."""
    words = np.zeros((-(-len(digits) // 3), 3, digits.shape[1]), np.int64)
    words.reshape(-1, digits.shape[1])[: len(digits)] = digits
    values = (words[:, 0] + p * words[:, 1] + p * p * words[:, 2]).astype(object)
    base = p**3
    while len(values) > 1:
        check_time()
        odd = values[1::2] * base
        values = values[::2]
        values[: len(odd)] += odd
        base *= base
    return values[0].tolist()  # type: ignore[no-any-return]


def _fraction(residue: int, modulus: int, size: int) -> tuple[int, int]:
    """Find the n / d equal to the residue, with |n| <= size and d smallest (Wang, 1981)."""
    above, below, previous, denominator = modulus, residue, 0, 1
    while below > size:
        check_time()
        b = 0
        if below.bit_length() > size.bit_length() + QUOTIENT_BITS:
            shift = above.bit_length() - QUOTIENT_BITS
            a, b, c, d = modular.decided_quotients(above >> shift, below >> shift)
        if b == 0:
            a, b, c, d = 0, 1, 1, -(above // below)
        above, below = a * above + b * below, c * above + d * below
        previous, denominator = a * previous + b * denominator, c * previous + d * denominator
    return (below, denominator) if denominator > 0 else (-below, -denominator)
