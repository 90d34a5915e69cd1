"""Solutions by p-adic lifting against their systems, and the integer arrays that it works on."""

import itertools
import math
import random

from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt.prover.exact import modular
from rosenblatt.prover.exact.lifting import Lifting, as_array, as_limbs, residues, small_primes
from rosenblatt.prover.exact.rational import pivots


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
