"""Arithmetic modulo primes, and exact solutions of square systems by p-adic lifting (Dixon, 1982).

The compiled loops hold residues as integers in float64, nearest to zero: |r| <= p / 2, so r is 0 modulo p only if it is
0.0. With primes below 2**27 each product stays below 2**53 and is exact, and unlike the integer remainder it
vectorises. Sums may be reordered, since every partial sum is an exact integer, too.

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

from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import FASTMATH
from rosenblatt.prover.exact.clock import check_time, timed

Array = npt.NDArray[Any]
Vector = list[int]
Matrix = list[list[int]]
Solution = tuple[Vector, int]

# Bits of a limb. With primes of as many bits, sums of 4000 products of a limb and a digit are exact.
LIMB_BITS = 21
# Sums of so many products of two unsigned limbs, or of digits, are exact.
EXACT_TERMS = 1 << 11
# A fraction that is shorter than its modulus by so many bits is the solution, not a coincidence.
CERTAIN_BITS = 32
# Leading bits from which the quotients of Euclid's algorithm are guessed: they fit into int64.
QUOTIENT_BITS = 62
# Products of compiled code between two checks of the deadline: a fraction of a second.
PRODUCTS_PER_LOOK = 1 << 27


# ----------------------------------------------------------------------------------------------------- compiled loops


@compiled()
def _reciprocal(a, p):
    """Compute the inverse of a modulo p by Fermat's little theorem."""
    base = np.int64(a) % np.int64(p)
    modulus = np.int64(p)
    exponent = modulus - 2
    power = np.int64(1)
    while exponent > 0:
        if exponent & 1:
            power = power * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return power - modulus if 2 * power > modulus else power


@compiled(inline="always")
def _residue(t, p, inverse_p):
    return t - np.rint(t * inverse_p) * p


@compiled(fastmath=FASTMATH)
def _subtract(row, factor, other, p, inverse_p):
    """Subtract a multiple of another row. The loop only vectorises with indices that count from 0."""
    for j in range(row.size):
        t = row[j] - factor * other[j]
        row[j] = t - np.rint(t * inverse_p) * p


@compiled()
def find_pivots(M, p, begin, end, left, rows, columns, rank):
    """Eliminate some columns one by one, overwriting M.

    The pivot of a column is its topmost nonzero among the remaining rows, which keep their order: the pivot rows are
    independent of the rows above them, and the pivot columns of the columns to their left.

    M holds residues modulo p, with the columns before `begin` eliminated; `left` (m,) the remaining rows in order, all
    of them at first. `rows` and `columns` receive the pivots, `rank` of them so far; return how many there are now.
    """
    m = M.shape[0]
    inverse_p = 1.0 / p
    for c in range(begin, end):
        count = m - rank
        if count == 0:
            break
        first = 0
        while first < count and M[left[first], c] == 0.0:
            first += 1
        if first == count:
            continue
        pivot = left[first]
        scale = np.float64(_reciprocal(M[pivot, c], p))
        for s in range(first + 1, count):
            i = left[s]
            left[s - 1] = i
            if M[i, c] != 0.0:
                factor = _residue(M[i, c] * scale, p, inverse_p)
                _subtract(M[i, c + 1 :], factor, M[pivot, c + 1 :], p, inverse_p)
        rows[rank] = pivot
        columns[rank] = c
        rank += 1
    return rank


@compiled()
def invert(M, p, begin, end, swapped):
    """Replace M by its inverse modulo p (Gauss and Jordan, in place); False if M is singular modulo p.

    One call handles the columns from `begin` to before `end`, so the work can be interrupted; `swapped` records row
    exchanges, which the last call undoes.
    """
    n = M.shape[0]
    inverse_p = 1.0 / p
    for c in range(begin, end):
        pivot = c
        while pivot < n and M[pivot, c] == 0.0:
            pivot += 1
        if pivot == n:
            return False
        swapped[c] = pivot
        if pivot != c:
            for j in range(n):
                M[c, j], M[pivot, j] = M[pivot, j], M[c, j]
        scale = np.float64(_reciprocal(M[c, c], p))
        M[c, c] = 1.0
        for j in range(n):
            M[c, j] = _residue(M[c, j] * scale, p, inverse_p)
        for i in range(n):
            factor = M[i, c]
            if i != c and factor != 0.0:
                M[i, c] = 0.0
                _subtract(M[i], factor, M[c], p, inverse_p)
    if end < n:
        return True
    for c in range(n - 1, -1, -1):
        if swapped[c] != c:
            for i in range(n):
                M[i, c], M[i, swapped[c]] = M[i, swapped[c]], M[i, c]
    return True


@compiled(fastmath=FASTMATH)
def _dot(M, i, x):
    total = 0.0
    for j in range(x.size):
        total += M[i, j] * x[j]
    return total


@compiled()
def lift_digits(limbs, inverse, residual, p, digits):
    """Continue the p-adic expansion of the solution of A x = b by one digit for each row of `digits`.

    Dixon (1982): the next digit is x = A^-1 r modulo p, the next residual (r - A x) / p.

    `limbs` (l n, n) is A as a sum of 2**(LIMB_BITS k) times the k-th n rows, `inverse` that of A modulo p. `residual`
    (m, n) has the residual's limbs, the highest with the sign; b at first. m is at least one more than the limbs of A
    and of b. Digits are nearest to zero.
    """
    m, n = residual.shape
    base = 2.0**LIMB_BITS
    inverse_base = 1.0 / base
    inverse_p = 1.0 / p
    x = np.empty(n)
    carry = np.empty(n)
    remainder = np.zeros(n)
    for k in range(m - 1, -1, -1):
        for i in range(n):
            remainder[i] = _residue(remainder[i] * base + residual[k, i], p, inverse_p)
    for digit in range(digits.shape[0]):
        for i in range(n):
            x[i] = _residue(_dot(inverse, i, remainder), p, inverse_p)
            digits[digit, i] = x[i]
        for i in range(limbs.shape[0]):
            residual[i // n, i % n] -= _dot(limbs, i, x)
        carry[:] = 0.0
        for k in range(m - 1):
            for i in range(n):
                t = residual[k, i] + carry[i]
                carry[i] = np.floor(t * inverse_base)
                residual[k, i] = t - carry[i] * base
        for i in range(n):
            residual[m - 1, i] += carry[i]
        # Divide by p from the highest limb down; `carry` is the remainder of the division, 0 in the end.
        carry[:] = 0.0
        remainder[:] = 0.0
        for k in range(m - 1, -1, -1):
            for i in range(n):
                t = carry[i] * base + residual[k, i]
                q = np.rint(t * inverse_p)
                carry[i] = t - q * p
                residual[k, i] = q
                remainder[i] = _residue(remainder[i] * base + q, p, inverse_p)


@compiled()
def reduce_limbs(limbs, p, out):
    """Write to `out` the residues of integers with the limbs limbs[k] in place k, modulo a prime below 2**LIMB_BITS."""
    inverse_p = 1.0 / p
    base = _residue(2.0**LIMB_BITS, p, inverse_p)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for k in range(limbs.shape[0] - 1, -1, -1):
                total = _residue(total * base + limbs[k, i, j], p, inverse_p)
            out[i, j] = total


@compiled()
def congruent(A, B, p):
    """Return whether two matrices of integers below 2**52 are equal modulo p."""
    inverse_p = 1.0 / p
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if _residue(_residue(A[i, j] - B[i, j], p, inverse_p), p, inverse_p) != 0.0:
                return False
    return True


@compiled()
def multiply(digits, factor, p, begin, end, total, product):
    """Multiply p-adic numbers, a column each, by the digits of an integer. The result has digits nearest to zero.

    One call writes the places of `product` from `begin` to before `end`; `total` is the carry of each column between
    calls, zero at first.
    """
    n = digits.shape[1]
    inverse_p = 1.0 / p
    for k in range(begin, end):
        # The carry to the next place is kept apart, so that neither it nor the total exceeds the exact integers.
        carry = np.zeros(n)
        for start in range(0, min(k + 1, factor.size), EXACT_TERMS):
            for s in range(start, min(k + 1, factor.size, start + EXACT_TERMS)):
                for i in range(n):
                    total[i] += factor[s] * digits[k - s, i]
            for i in range(n):
                q = np.rint(total[i] * inverse_p)
                total[i] -= q * p
                carry[i] += q
        for i in range(n):
            q = np.rint(total[i] * inverse_p)
            product[k, i] = total[i] - q * p
            total[i] = carry[i] + q


@compiled()
def add_products(rows, v, total):
    """Add rows . v to total, by places.

    `rows` (l m, n) has the limbs of m rows, those of the lowest place of all rows first; n is at most EXACT_TERMS. v
    (k, n) has the limbs of a vector; `total` (m, k + l) numbers to the base 2**LIMB_BITS, of digits of any size.
    """
    m = total.shape[0]
    for t in range(v.shape[0]):
        for i in range(rows.shape[0]):
            total[i % m, t + i // m] += np.int64(_dot(rows, i, v[t]))


@compiled()
def all_zero(total):
    """Return whether all numbers that `add_products` made are 0, carrying in place."""
    for i in range(total.shape[0]):
        for t in range(total.shape[1] - 1):
            if total[i, t] & ((1 << LIMB_BITS) - 1):
                return False
            total[i, t + 1] += total[i, t] >> LIMB_BITS
        if total[i, total.shape[1] - 1] != 0:
            return False
    return True


@compiled()
def decided_quotients(x, y):
    """Take the steps of Euclid's algorithm that all numbers with leading digits x and y share (Lehmer, 1938).

    Return the rows (a, b) and (c, d) of their matrix.
    """
    a, b, c, d = 1, 0, 0, 1
    while y + c != 0 and y + d != 0:
        q = (x + a) // (y + c)
        if q != (x + b) // (y + d):
            break
        a, c = c, a - q * c
        b, d = d, b - q * d
        x, y = y, x - q * y
    return a, b, c, d


# ---------------------------------------------------------------------------------------------------- integer arrays


def as_array(A: Matrix | Vector) -> Array:
    """Return integers as int64 if they leave a bit to spare, else as objects."""
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
    """Write integers in base 2**LIMB_BITS, one digit per place of the first axis; the highest digit has the sign."""
    flat = values.ravel()
    bits = int(abs(flat).max(initial=0)).bit_length()
    if flat.dtype == object:
        size = bits // 8 + LIMB_BITS
        octets = np.frombuffer(b"".join([value.to_bytes(size, "little", signed=True) for value in flat]), np.uint8)
        octets = octets.reshape(-1, size).T.astype(np.int64)
    limbs = np.empty((bits // LIMB_BITS + 1, flat.size))
    for place, limb in enumerate(limbs):
        if flat.dtype == object:
            first, shift = divmod(place * LIMB_BITS, 8)
            word = sum(octets[first + k] << (8 * k) for k in range(4)) >> shift
        else:
            word = flat >> (place * LIMB_BITS)
        limb[:] = word & ((1 << LIMB_BITS) - 1)
    limbs[-1] -= np.where(flat < 0, 1 << LIMB_BITS, 0)
    return limbs.reshape(-1, *values.shape)


@cache
def _is_prime(candidate: int) -> bool:
    return all(candidate % divisor for divisor in range(3, math.isqrt(candidate) + 1, 2))


def small_primes() -> Iterator[int]:
    """Yield the primes below 2**LIMB_BITS, largest first."""
    return filter(_is_prime, range((1 << LIMB_BITS) - 1, 2, -2))


def pieces(count: int, products: int) -> Iterator[tuple[int, int]]:
    """Cut a loop of `count` steps of `products` products each into pieces; check the deadline before each."""
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
        rank = int(find_pivots(M, float(p), begin, end, left, rows, columns, rank))
    return sorted(rows[:rank].tolist()), columns[:rank].tolist()


def invert_modulo(M: Array, p: int) -> bool:
    """Replace residues by those of the inverse matrix; return whether it has one modulo p."""
    swapped = np.empty(len(M), np.int64)
    return all(invert(M, float(p), begin, end, swapped) for begin, end in pieces(len(M), M.size))


def _multiplied(digits: Array, factor: Array, p: int) -> Array:
    """Multiply p-adic numbers, a column each, by the digits of an integer."""
    total, product = np.zeros(digits.shape[1]), np.empty_like(digits)
    for begin, end in pieces(len(digits), digits.shape[1] * factor.size):
        multiply(digits, factor, float(p), begin, end, total, product)
    return product


class Lifting:
    """Solver for systems with one matrix by p-adic lifting, if the matrix is `nonsingular` modulo the prime p."""

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
        # Weights without structure: nothing cancels in the weighted sum of the solution.
        weights = 1 + np.arange(n) * 29 % 61
        # Hadamard: all numerators and the denominator are determinants of n columns of (A, b).
        bits = sum(square.bit_length() for square in squares) + 2 * int(weights.sum()).bit_length()
        most = math.ceil((bits + norm.bit_length() + CERTAIN_BITS + 2) / math.log2(self.p))
        right = as_limbs(as_array(b))
        residual = np.zeros((max(len(self.limbs), len(right)) + 1, n))
        residual[: len(right)] = right
        digits = np.empty((most, n))
        done = 0
        # Solutions are often shorter than the bound: try an eighth of the digits, a quarter, a half, then all.
        for wanted in sorted({max(most >> halvings, min(most, 8)) for halvings in range(4)}):
            for begin, end in pieces(wanted - done, self.limbs.size + self.inverse.size):
                part = digits[done + begin : done + end]
                lift_digits(self.limbs.reshape(-1, n), self.inverse, residual, float(self.p), part)
            done = wanted
            solution = self._reconstructed(digits[:done], weights, norm)
            if solution is not None:
                return solution
        raise AssertionError("Hadamard's bound holds")

    def _reconstructed(self, digits: Array, weights: Array, norm: int) -> Solution | None:
        """Return the solution with these first digits, if it is short enough to be determined by them."""
        # The weighted sum of all entries has, barring coincidence, their common denominator and the longest length.
        modulus = self.p ** len(digits)
        total = _multiplied((digits @ weights)[:, None], np.ones(1), self.p)
        numerator, q = _fraction(_evaluated(total, self.p)[0] % modulus, modulus, math.isqrt(modulus >> 1))
        if (numerator * q).bit_length() > modulus.bit_length() - CERTAIN_BITS:
            return None
        spare = norm.bit_length() + 2 * CERTAIN_BITS
        needed = math.ceil((max(abs(numerator), q).bit_length() + spare) / math.log2(self.p))
        if needed < len(digits):
            # With the denominator known, the numerators follow from half of the digits.
            solution = self._numerators(digits[:needed], q, norm, self.p**needed >> spare // 2)
            if solution is not None:
                return solution
        return self._numerators(digits, q, norm, math.isqrt(modulus >> 1))

    def _numerators(self, digits: Array, q: int, norm: int, size: int) -> Solution | None:
        """Return numerators over the denominator q, or over the least multiple of q for which they are short.

        The residual A x - q b is 0 modulo p**count. If it is also shorter than that, it is 0, which proves the
        solution.
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
    """Write a positive integer in base p."""
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
    """Return the fraction n / d congruent to a residue, with |n| <= size and d smallest (Wang, 1981)."""
    above, below, previous, denominator = modulus, residue, 0, 1
    while below > size:
        check_time()
        b = 0
        if below.bit_length() > size.bit_length() + QUOTIENT_BITS:
            shift = above.bit_length() - QUOTIENT_BITS
            a, b, c, d = decided_quotients(above >> shift, below >> shift)
        if b == 0:
            a, b, c, d = 0, 1, 1, -(above // below)
        above, below = a * above + b * below, c * above + d * below
        previous, denominator = a * previous + b * denominator, c * previous + d * denominator
    return (below, denominator) if denominator > 0 else (-below, -denominator)
