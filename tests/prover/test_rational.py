"""Exact linear algebra against Gaussian elimination in fractions."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracles.exact_lp import feasible
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.exact import rational
from rosenblatt.prover.exact.rational import in_cone

# Zeros, repeated values and numbers of several limbs are all frequent.
ENTRIES = st.one_of(
    st.integers(-2, 2), st.sampled_from([2**21, -(2**20), 2**62, -(2**63), 3 * 2**100]), st.integers(-(2**200), 2**200)
)
SIZES = st.integers(1, 5)


@st.composite
def matrices(draw, rows=SIZES, columns=SIZES):
    """Matrices whose rank is often deficient: some rows are combinations of others, some columns zero."""
    m, n = draw(rows), draw(columns)
    A = draw(st.lists(st.lists(ENTRIES, min_size=n, max_size=n), min_size=m, max_size=m))
    for _ in range(draw(st.integers(0, 2))):
        i, k, other = (draw(st.integers(0, m - 1)) for _ in range(3))
        factors = draw(st.tuples(st.integers(-3, 3), st.integers(-3, 3)))
        A[i] = [factors[0] * a + factors[1] * b for a, b in zip(A[k], A[other], strict=True)]
    if draw(st.booleans()):
        j = draw(st.integers(0, n - 1))
        for row in A:
            row[j] = 0
    return A


def square():
    return SIZES.flatmap(lambda n: matrices(st.just(n), st.just(n)))


@pytest.fixture(params=["elimination", "lifting"], autouse=True, scope="module")
def path(request):
    """Each way to solve, also at sizes that the other one would be taken for."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "lifting":
            patch.setattr(rational, "ELIMINATION_MAX_UNKNOWNS", 0)
        yield request.param


def echelon(A):
    """Reduced row echelon form in fractions, and the pivot columns."""
    A = [[Fraction(a) for a in row] for row in A]
    columns = []
    for j in range(len(A[0]) if A else 0):
        r = len(columns)
        i = next((i for i in range(r, len(A)) if A[i][j]), None)
        if i is None:
            continue
        A[r], A[i] = A[i], A[r]
        A[r] = [a / A[r][j] for a in A[r]]
        for k in range(len(A)):
            if k != r:
                A[k] = [a - A[k][j] * t for a, t in zip(A[k], A[r], strict=True)]
        columns.append(j)
    return A, columns


def transposed(A):
    return [list(column) for column in zip(*A, strict=True)]


def times(A, v):
    return [sum(a * x for a, x in zip(row, v, strict=True)) for row in A]


def random_integers(seed, m, n, bits):
    source = random.Random(seed)
    return [[source.getrandbits(bits) - (1 << (bits - 1)) for _ in range(n)] for _ in range(m)]


@given(square(), st.data())
@example([[2**21, 0], [0, 2**21]], None)
def test_solve_agrees_with_elimination_in_fractions(A, data):
    n = len(A)
    b = data.draw(st.lists(ENTRIES, min_size=n, max_size=n)) if data else [1, 2]
    reduced, columns = echelon([[*row, value] for row, value in zip(A, b, strict=True)])
    solution = rational.solve(A, b)
    if columns != list(range(n)):
        assert solution is None
    else:
        x, q = solution
        assert q > 0
        assert math.gcd(q, *x) == 1
        assert [Fraction(value, q) for value in x] == [row[n] for row in reduced]


@given(matrices())
def test_pivots_are_the_first_independent_rows_and_columns(A):
    rows, columns = rational.pivots(A)
    assert columns == echelon(A)[1]
    assert rows == echelon(transposed(A))[1]


@given(matrices())
def test_null_space_is_primitive_and_as_large_as_the_rank_leaves(A):
    n = len(A[0])
    basis = rational.null_space(A, n)
    columns = echelon(A)[1]
    free = [j for j in range(n) if j not in columns]
    assert len(basis) == len(free)
    for k, v in enumerate(basis):
        assert not any(times(A, v))
        assert math.gcd(*v) == 1
        # Positive at its own free column and 0 at the others: hence independent.
        assert [v[j] > 0 for j in free] == [i == k for i in range(len(free))]
        assert not any(v[j] for i, j in enumerate(free) if i != k)


def test_null_space_of_no_equations_is_everything():
    assert rational.null_space([], 2) == [[1, 0], [0, 1]]
    assert rational.null_space([[], []], 0) == []


@given(matrices(st.integers(1, 6)))
def test_null_vector_is_there_when_the_rows_have_one_dependency(A):
    lam = rational.null_vector(A)
    if len(A) - len(echelon(A)[1]) != 1:
        assert lam is None
    else:
        assert any(lam)
        assert not any(times(transposed(A), lam))
        assert math.gcd(*lam) == 1
        assert sum(value > 0 for value in lam) >= sum(value < 0 for value in lam)


@pytest.mark.parametrize(("n", "bits"), [(13, 54), (25, 200), (60, 54)])
def test_large_systems(n, bits):
    *A, b = random_integers(n, n + 1, n, bits)
    x, q = rational.solve(A, b)
    assert times(A, x) == [q * value for value in b]
    assert math.gcd(q, *x) == 1
    lam = rational.null_vector([*transposed(A), b])
    assert lam in ([*x, -q], [*(-value for value in x), q])
    # One row a combination of two others: singular, and found to be.
    A[n // 2] = [3 * a - 5 * c for a, c in zip(A[0], A[n - 1], strict=True)]
    assert rational.solve(A, b) is None
    assert rational.pivots(A) == ([i for i in range(n) if i != n - 1], list(range(n - 1)))
    (v,) = rational.null_space(A, n)
    assert not any(times(A, v))


def test_columns_of_any_scale_have_the_same_dependency():
    rows = random_integers(2, 21, 20, 54)
    scaled = [[a << (80 * (j % 3)) for j, a in enumerate(row)] + [0] for row in rows]
    assert rational.null_vector(scaled) == rational.null_vector(rows)


def test_a_rank_that_the_primes_hide_is_found_or_not_claimed(monkeypatch):
    monkeypatch.setattr(rational, "ELIMINATION_MAX_UNKNOWNS", 0)
    monkeypatch.setattr(rational, "PRIMES", (3, 5))
    A = [[1, 2, 3, 4], [0, 15, 0, 30]]
    assert rational.pivots(A) == ([0], [0])
    assert rational.null_space(A, 4) == [[-3, 0, 1, 0], [0, -2, 0, 1]]


def test_numbers_too_long_for_the_compiled_check():
    long = 3**20000
    A = [[long, 2, 0], [0, long + 1, 1]]
    (v,) = rational.null_space(A, 3)
    assert not any(times(A, v))
    assert v[2] == long * (long + 1)


def test_a_wrong_null_vector_is_noticed():
    rows = random_integers(3, 40, 20, 80)
    v = rational.null_space(rows[:19], 20)[0]
    assert rational._annihilates(rows[:19], v)
    v[3] += 1 << 2000
    assert not rational._annihilates(rows[:19], v)
    assert not rational._annihilates(rows, v)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8), st.booleans())
@example([5e-324, 1.7976931348623157e308, 0.0], False)
@example([5e-324, 2.2250738585072014e-308], False)
@example([1e308, -1e308], False)
@example([0.1, 1e-5, 1e22], True)
def test_as_integers_is_exact_and_without_common_divisor(values, decimal):
    integers, scale = rational.as_integers(values, decimal)
    exact = [Fraction(repr(value)) if decimal else Fraction(value) for value in values]
    assert [scale * integer for integer in integers] == exact
    assert scale > 0
    assert math.gcd(*integers) == 1 if any(integers) else scale == 1
    assert rational.as_integers(np.array(values), decimal) == (integers, scale)


def test_as_integers_takes_any_number():
    assert rational.as_integers([True, 3, np.float64(0.5)]) == ([2, 6, 1], Fraction(1, 2))
    assert rational.as_integers(np.array([6, 4])) == ([3, 2], Fraction(2))


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("decimal", [False, True])
def test_as_integers_wants_finite_numbers(value, decimal):
    with pytest.raises(InvalidInput, match="finite"):
        rational.as_integers([1.0, value], decimal)


@given(st.lists(ENTRIES, max_size=5), st.integers(1, 10**30))
def test_primitive_divides_by_the_greatest_common_divisor(v, factor):
    result = rational.primitive([factor * value for value in v])
    assert result == rational.primitive(v)
    assert math.gcd(*result) == (1 if any(v) else 0)
    divisor = math.gcd(*v)
    assert [divisor * value for value in result] == v


def test_systems_too_large_for_exact_sums_are_refused(monkeypatch):
    monkeypatch.setattr(rational, "MAX_UNKNOWNS", 2)
    with pytest.raises(InvalidInput, match="3 unknowns"):
        rational.solve([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, 1, 1])


@given(st.integers(1, 30), st.integers(0, 10**6), st.integers(2, 120))
def test_flint_gives_the_same_solutions(n, seed, bits):
    flint = pytest.importorskip("flint")
    *A, b = random_integers(seed, n + 1, n, bits)
    solution = rational.solve(A, b)
    try:
        expected = flint.fmpz_mat(A).solve(flint.fmpz_mat([[value] for value in b]))
    except ZeroDivisionError:
        assert solution is None
    else:
        x, q = solution
        assert [Fraction(value, q) for value in x] == [
            Fraction(int(value.p), int(value.q)) for value in expected.entries()
        ]


def test_every_answer_proves_itself_and_the_oracle_agrees():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        count, size = int(rng.integers(1, 7)), int(rng.integers(1, 5))
        rows = rng.integers(-3, 4, (count, size)).tolist()
        target = rng.integers(-3, 4, size).tolist()
        if not any(target):
            continue
        members, normal = in_cone(rows, target)
        # Outside the cone if some x is not negative on the rows and negative on the target.
        outside = feasible([*rows, [-v for v in target]], [0] * count + [1])
        assert outside == (normal is not None)
        seen.add(outside)
        if normal is not None:
            assert all(sum(a * b for a, b in zip(row, normal, strict=True)) >= 0 for row in rows)
            assert sum(a * b for a, b in zip(target, normal, strict=True)) < 0
        else:
            assert np.linalg.matrix_rank(np.array(rows)[members]) == len(members)
            factors = np.linalg.lstsq(np.array(rows, float)[members].T, np.array(target, float), rcond=None)[0]
            assert factors.min() > 0
            np.testing.assert_allclose(np.array(rows, float)[members].T @ factors, target, atol=1e-9)
    assert seen == {True, False}


def test_integers_of_any_size_are_exact():
    long = 3**200
    members, normal = in_cone([[long, 1], [-long, 1]], [1, 0])
    assert members == []
    assert normal[0] * long + normal[1] >= 0
    assert -normal[0] * long + normal[1] >= 0
    assert normal[0] < 0
    assert Fraction(normal[1], -normal[0]) >= long
