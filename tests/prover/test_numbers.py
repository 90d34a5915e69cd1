"""Numbers that float64 does not hold are taken as they are, or refused; never rounded."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from oracles import exact_lp
from rosenblatt import certify, certify_cycle, certify_pairs, verify
from rosenblatt.errors import InvalidInput
from rosenblatt.prover import monomials
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.prover.exact.numbers import exact_table

BIG = 2**53


def exact_values(table):
    """The numbers of a dense table as Fractions."""
    values = table.values if table.exact is None else table.exact
    return [[Fraction(v) for v in row] for row in values.tolist()]


@pytest.mark.parametrize(
    "X",
    [
        [[BIG + 1, 1], [-BIG - 3, 2]],
        np.array([[BIG + 1, 1], [-BIG - 3, 2]]),
        np.array([[2**64 - 1, 1], [2**63 + 1, 2]], np.uint64),
        [[2**64 - 1, -1], [10**40 + 1, 2]],
        [[BIG + 1, 0.5], [0, 0.1]],
        [[Fraction(1, 3), 0], [Fraction(-22, 7), 1]],
        [[Decimal("0.1"), 1], [Decimal("1e-30"), 2]],
        np.array([[BIG + 1, 0.5]], object),
    ],
)
def test_values_are_those_that_were_passed(X):
    table = exact_table(X)
    assert exact_values(table) == [[Fraction(v) for v in row] for row in (X.tolist() if hasattr(X, "dtype") else X)]
    assert table.exact is not None
    rounded = [[float(Fraction(v)) for v in row] for row in table.exact.tolist()]
    assert table.rows.X.tolist() == rounded


@pytest.mark.parametrize(
    "X", [[[1, 2]], [[0.1, 2]], np.array([[2**60, -(2**62)]]), [[Fraction(1, 4), Decimal("0.5")]], [[True, False]]]
)
def test_nothing_is_kept_beside_floats_that_hold_everything(X):
    assert exact_table(X).exact is None


def test_frames_are_read_column_by_column():
    columns = {"id": [BIG, BIG + 1], "x": [0.5, 0.25]}
    wanted = [[BIG, Fraction(1, 2)], [BIG + 1, Fraction(1, 4)]]
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        assert exact_values(exact_table(frame)) == wanted
        assert certify(frame, [0, 1]).verdict == "separable"


def test_a_long_double_keeps_its_digits():
    X = np.array([[0.1], [0.1]], np.longdouble)
    X[1] = np.nextafter(X[1], np.longdouble(1))
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("long doubles are doubles here")
    assert certify(X, [0, 1]).verdict == "separable"
    assert certify(X.astype(float), [0, 1]).verdict == "overlapping"


def test_a_float_of_few_bits_is_its_own_shortest_decimal():
    for dtype in (np.float32, np.float16):
        table = exact_table(np.array([[0.1, 0.25]], dtype), decimal=True)
        assert table.exact is None
        assert table.rows.X.tolist() == [[0.1, 0.25]]
        sparse = exact_table(sp.csr_array(np.array([[0.1, 0.25]], np.float32)), decimal=True)
        assert sparse.rows.data.tolist() == [0.1, 0.25]
    # Three tenths on a line: in decimals the middle is the mean of its neighbours.
    X = np.array([[0.1, 1], [0.2, 1], [0.3, 1]], np.float32)
    certificate = certify(X, [0, 1, 0], exact="decimal")
    assert certificate.multipliers == (1, 2, 1)
    assert verify(certificate, X, [0, 1, 0])


def test_decimals_beside_floats_are_read_as_the_option_says():
    X, y = [[Decimal("0.1"), BIG + 1], [0.1, BIG + 1]], [0, 1]
    for exact, truth in (("binary", "separable"), ("decimal", "overlapping")):
        certificate = certify(X, y, exact=exact)
        assert (certificate.verdict, certificate.arithmetic) == (truth, "rational")
        assert verify(certificate, X, y)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([["0.1"], ["2"]], "text"),
        (np.array([["1", 2.0]], object), "text"),
        ([[None], [1]], "missing values"),
        ([[Decimal("nan")], [1]], "NaN"),
        ([[float("inf")], [Fraction(1, 3)]], "infinity"),
        ([[10**400], [1]], "too large"),
        ([[Decimal("1e-1000000000")], [1]], "too small"),
        ([[Fraction(1, 10**400)], [1]], "too small"),
        ([[10**200 + 1], [1]], "overflows"),
    ],
)
def test_what_cannot_be_taken_exactly_is_refused(X, words):
    with pytest.raises(InvalidInput, match=words):
        certify(X, [0, 1][: len(X)])


@pytest.mark.parametrize("wide", [2**64 + 1, 2**60 + 1])
@pytest.mark.parametrize("other", [0.5, np.longdouble(1) / 3, np.float32(0.5)])
def test_a_list_of_mixed_numbers_is_taken_as_it_is(wide, other):
    assert exact_table([[wide, other]]).exact.tolist() == [[wide, Fraction(*other.as_integer_ratio())]]


def test_in_a_list_each_float_is_a_decimal_of_its_own_precision():
    rows = [[np.float32(0.1), 0.1], [np.float32(0.2), 3]]
    assert exact_table(rows, decimal=True).values.tolist() == [[0.1, 0.1], [0.2, 3.0]]
    arrays = [np.array([0.1, 0.2], np.float32), np.array([0.3, 0.4], np.float32)]
    assert exact_table(arrays, decimal=True).values.tolist() == [[0.1, 0.2], [0.3, 0.4]]
    arrays[1] = np.array([0.3, 0.4])
    assert exact_table(arrays, decimal=True).values.tolist() == [[0.1, 0.2], [0.3, 0.4]]


def integer_sets(rng):
    """Integers beyond 2**53, near one another, dense and sparse."""
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    X = int(rng.choice([BIG, 2**60, -(2**61)])) * rng.integers(0, 2, d) + rng.integers(-2, 3, (n, d))
    return X, rng.integers(0, int(rng.integers(2, 4)), n)


def test_the_oracle_agrees_on_integers_beyond_the_floats():
    rng = np.random.default_rng(3)
    for k in range(150):
        X, y = integer_sets(rng)
        y = np.unique(y, return_inverse=True)[1]
        truth = exact_lp.verdict(X.tolist(), y.tolist())
        for data in (X, sp.csr_array(X), X.astype(object)):
            certificate = certify(data, y, margin=k % 5 == 0)
            assert certificate.verdict == truth, (X.tolist(), y.tolist())
            assert verify(certificate, data, y)
            assert verify(Certificate.from_dict(certificate.to_dict()), X, y)


def test_dense_and_sparse_integers_have_one_digest():
    X, y = np.array([[BIG + 1, 0], [BIG + 4, 3], [BIG + 2, 1]]), [0, 0, 1]
    for one, other in ((X, sp.csr_array(X)), (sp.csr_array(X), X.astype(object))):
        certificate = certify(one, y)
        assert certificate.verdict == "overlapping"
        assert verify(certificate, other, y)
        assert not verify(certificate, X.astype(float), y)
        assert not verify(certificate, X + np.array([[0, 0], [0, 0], [1, 0]]), y)


def test_a_perceptron_cycles_on_fractions():
    X = [[0, 0], [Fraction(1, 3), 0], [0, Fraction(1, 3)], [Fraction(1, 3), Fraction(1, 3)]]
    certificate = certify_cycle(X, [-1, 1, 1, -1])
    assert certificate.multipliers == (1, 1, 1, 1)
    assert verify(certificate, X, [-1, 1, 1, -1])


def test_monomials_of_exact_numbers_are_exact():
    X, y = [[Fraction(1, 3)], [Fraction(2, 3)], [BIG + 1]], [0, 1, 0]
    assert certify(X, y, kernel="quadratic").verdict == "separable"
    features = monomials(X)
    assert features.tolist() == [[x, x * x] for (x,) in X]
    assert verify(certify(X, y, kernel="quadratic"), features, y)


@pytest.mark.parametrize("exact", ["binary", "decimal"])
@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_a_pair_of_classes_is_read_as_it_would_be_alone(exact, form):
    """Floats hold the rows of two classes, and not those of the third."""
    X, y = np.array([[BIG + 1, 1], [3, 2], [4, 7], [9, 9]]), np.array([0, 1, 2, 1])
    for pair, certificate in certify_pairs(form(X), y, exact=exact).items():
        own = np.isin(y, pair)
        assert certificate.arithmetic == ("rational" if 0 in pair else exact)
        assert verify(certificate, X[own], y[own])
