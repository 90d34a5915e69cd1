"""Arithmetic modulo primes and p-adic lifting against Python's integers."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt.prover.exact import modular
from rosenblatt.prover.exact.modular import Lifting, as_array, as_limbs, residues, small_primes
from rosenblatt.prover.exact.rational import pivots

P = 2097143  # the largest prime below 2**21


def nearest(value):
    """Residue nearest to zero."""
    return (value + P // 2) % P - P // 2


def random_matrix(seed, m, n, bits=40):
    source = random.Random(seed)
    return [[source.getrandbits(bits) - (1 << (bits - 1)) for _ in range(n)] for _ in range(m)]


def as_residues(A):
    return np.array([[nearest(v) for v in row] for row in A], float)


def limbs(values, count):
    """Numbers to the base 2**LIMB_BITS, the highest digit with the sign."""
    out = np.empty((count, len(values)))
    for j, value in enumerate(values):
        for k in range(count):
            out[k, j] = value if k == count - 1 else value % (1 << modular.LIMB_BITS)
            value >>= modular.LIMB_BITS
    return out


@pytest.mark.parametrize("seed", range(5))
def test_pivots_are_the_first_independent_rows_and_columns(seed):
    A = random_matrix(seed, 6, 5)
    A[1] = [3 * a for a in A[0]]
    A[4] = [a + b for a, b in zip(A[2], A[3], strict=True)]
    for row in A:
        row[2] = row[0] - 2 * row[1]
    M, left, rank = as_residues(A), np.arange(6), 0
    rows, columns = np.empty((2, 5), np.int64)
    for begin, end in ((0, 2), (2, 2), (2, 5)):  # in pieces
        rank = modular.find_pivots(M, float(P), begin, end, left, rows, columns, rank)
    assert sorted(rows[:rank].tolist()) == [0, 2, 3, 5]
    assert columns[:rank].tolist() == [0, 1, 3, 4]


def inverted(M, *pieces):
    """Whether M was replaced by its inverse modulo P, some columns at a time."""
    swapped = np.empty(len(M), np.int64)
    ends = [*pieces, len(M)]
    return all(
        modular.invert(M, float(P), begin, end, swapped) for begin, end in zip([0, *ends[:-1]], ends, strict=True)
    )


def test_inverses():
    A = random_matrix(1, 6, 6)
    A[0][0] = 0  # the first pivot is further down
    M, other = as_residues(A), as_residues(A)
    assert inverted(M)
    assert inverted(other, 1, 4)
    assert np.array_equal(M, other)
    product = [[sum(a * int(M[k, j]) for k, a in enumerate(row)) % P for j in range(6)] for row in A]
    assert product == [[int(i == j) for j in range(6)] for i in range(6)]
    A[3] = [2 * a for a in A[1]]
    assert not inverted(as_residues(A))


def test_lifted_digits_are_those_of_the_solution():
    n, count = 4, 30
    A, (b,) = random_matrix(2, n, n), random_matrix(3, 1, n)
    inverse = as_residues(A)
    assert inverted(inverse)
    size = 3
    parts = limbs([v for row in A for v in row], size)
    residual = np.zeros((size + 1, n))
    residual[:size] = limbs(b, size)
    digits = np.empty((count, n))
    modular.lift_digits(parts.reshape(-1, n), inverse, residual, float(P), digits[:10])
    modular.lift_digits(parts.reshape(-1, n), inverse, residual, float(P), digits[10:])
    x = [sum(int(d) * P**k for k, d in enumerate(digits[:, j])) for j in range(n)]
    for row, value in zip(A, b, strict=True):
        assert (sum(a * v for a, v in zip(row, x, strict=True)) - value) % P**count == 0
    assert np.abs(digits).max() <= P // 2


def test_products_of_numbers_given_by_digits():
    numbers, factor = [123456789012345, 77], 3**40
    count = 8
    digits = np.zeros((count, 2))
    for j, value in enumerate(numbers):
        for k in range(count):
            digits[k, j] = nearest(value)
            value = (value - nearest(value)) // P
    parts = []
    left = factor
    while left:
        left, digit = divmod(left, P)
        parts.append(float(digit))
    total, product = np.zeros(2), np.empty_like(digits)
    for begin, end in ((0, 3), (3, count)):  # in pieces
        modular.multiply(digits, np.array(parts), float(P), begin, end, total, product)
    for j, value in enumerate(numbers):
        assert (sum(int(d) * P**k for k, d in enumerate(product[:, j])) - value * factor) % P**count == 0


def test_products_with_a_vector_vanish_only_if_they_are_zero():
    rows = random_matrix(4, 3, 5, bits=60)
    v = random_matrix(5, 1, 5, bits=60)[0]
    for row in rows:  # made orthogonal by a last column
        row.append(-sum(a * b for a, b in zip(row, v, strict=True)))
    v.append(1)
    for change in (0, 1):
        v[-1] = 1 + change
        left = limbs([a for row in rows for a in row], 7)
        right = limbs(v, 4)
        total = np.zeros((3, 11), np.int64)
        modular.add_products(left.reshape(-1, 6), right, total)
        assert modular.all_zero(total) == (change == 0)


def test_decided_quotients_are_steps_of_euclids_algorithm():
    x, y = 3**39, 5**26
    a, b, c, d = modular.decided_quotients(x, y)
    assert abs(a * d - b * c) == 1
    above, below = a * x + b * y, c * x + d * y
    assert 0 <= below < above < y
    assert math.gcd(above, below) == math.gcd(x, y)
    # The same for every number that begins with x and y.
    for extra in (0, 999):
        longer = 1000 * x + extra, 1000 * y
        assert a * longer[0] + b * longer[1] > c * longer[0] + d * longer[1] >= 0


@pytest.mark.parametrize("bits", [10, 21, 60, 100])
def test_residues_of_limbs(bits):
    A = random_matrix(bits, 3, 4, bits)
    places = np.stack([limbs(row, bits // modular.LIMB_BITS + 1) for row in A], axis=1)
    out = np.empty((3, 4))
    modular.reduce_limbs(places, float(P), out)
    assert out.tolist() == as_residues(A).tolist()


def test_matrices_are_congruent_if_all_entries_are():
    A = np.array([[1.0, -5.0], [2.0**50, 0.0]])
    B = A + P * np.array([[3.0, -7.0], [-(2.0**30), 2.0**31]])
    assert modular.congruent(A, B, float(P))
    B[1, 1] += 1
    assert not modular.congruent(A, B, float(P))


def random_integers(seed, m, n, bits):
    source = random.Random(seed)
    return [[source.getrandbits(bits) - (1 << (bits - 1)) for _ in range(n)] for _ in range(m)]


def times(A, v):
    return [sum(a * x for a, x in zip(row, v, strict=True)) for row in A]


def solve(A, b):
    """Solve with the first prime modulo which the matrix is nonsingular."""
    lifting = next(lifting for lifting in (Lifting(A, p) for p in small_primes()) if lifting.nonsingular)
    x, q = lifting.solve(b)
    divisor = math.gcd(q, *x)
    return [value // divisor for value in x], q // divisor


@given(st.integers(2, 5), st.integers(0, 10**6), st.integers(1, 4))
def test_matrices_that_vanish_modulo_the_first_primes_are_solved(n, seed, primes):
    """Multiples of the primes that the lifting tries first: singular modulo each of them, not over the rationals."""
    first = list(itertools.islice(small_primes(), primes))
    divisor = math.prod(first)
    A = [[divisor * a for a in row] for row in random_integers(seed, n, n, 30)]
    A[0] = [a + 1 for a in A[0]]
    assume(len(pivots(A)[0]) == n)
    assert not any(Lifting(A, p).nonsingular for p in first)
    b = list(range(1, n + 1))
    x, q = solve(A, b)
    assert times(A, x) == [q * value for value in b]


def test_short_solutions_of_large_systems():
    """The lifting may stop long before the bound; also with denominators that one entry alone does not show."""
    n = 30
    A = random_integers(1, n, n, 54)
    x = [(-1) ** i * i for i in range(n)]
    assert solve(A, times(A, x)) == (x, 1)
    primes = [p for p in range(2, 200) if all(p % d for d in range(2, p))][:n]
    diagonal = [[p if i == j else 0 for j in range(n)] for i, p in enumerate(primes)]
    q = math.prod(primes)
    assert solve(diagonal, [1] * n) == ([q // p for p in primes], q)
    # Only one entry has a denominator, and the unknowns are of very different lengths.
    diagonal[7][7] = 2**300
    assert solve(diagonal, [*primes[:7], 1, *primes[8:]]) == ([2**300] * 7 + [1] + [2**300] * (n - 8), 2**300)


@given(st.lists(st.one_of(st.integers(-9, 9), st.integers(-(2**200), 2**200)), min_size=1, max_size=6))
def test_limbs_and_residues_are_those_of_the_integers(values):
    array = as_array(values)
    limbs = as_limbs(array)
    for j, value in enumerate(values):
        assert sum(int(limb) << (modular.LIMB_BITS * k) for k, limb in enumerate(limbs[:, j])) == value
        assert (limbs[:-1, j] >= 0).all()
    p = 101
    for residue, value in zip(residues(array, p).tolist(), values, strict=True):
        assert (int(residue) - value) % p == 0
        assert 2 * abs(residue) < p


def test_small_primes_descend_from_the_largest_of_one_limb():
    first = list(itertools.islice(small_primes(), 5))
    candidates = range(2**modular.LIMB_BITS - 1, first[-1] - 1, -1)
    assert first == [p for p in candidates if all(p % d for d in range(2, 1449))]
