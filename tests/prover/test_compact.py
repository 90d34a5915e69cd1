"""Compact rows are separated by the same weights, exactly."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.prover.exact.numbers import exact_table
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.compact import CompactRows

BIG = 2**53


def compact(X, classes=2, **options):
    table = exact_table(X)
    signed = SignedRows(table, np.arange(table.shape[0]) % classes, classes)
    return signed, CompactRows(signed, **options)


CASES = [
    np.array([[BIG + 1, 3], [BIG + 4, -1], [BIG + 2, 0]]),
    np.array([[1e15, 0.25], [1e15 + 2, 0.5], [1e15 + 4, 1.0]]),
    np.array([[Fraction(1, 3), Fraction(1, 7)], [Fraction(2, 3), 1], [0, Fraction(5, 7)]]),
    np.array([[0, 0, 0, 0, 1.0, 0], [0, 0, 0, 0, 2.0, 0], [0, 0, 0, 0, 3.0, 0]]),
    np.array([[0, 10**30, 1], [0, 10**30 + 7, 2], [0, 10**30 - 7, 2]], object),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("store", [np.array, sp.csr_array])
@pytest.mark.parametrize("X", CASES)
def test_weights_have_the_same_margins_on_the_original_rows(X, store, classes):
    signed, rows = compact(store(X) if X.dtype != object else X, classes)
    assert not rows.same
    rng = np.random.default_rng(0)
    for _ in range(5):
        w = rng.integers(-9, 10, rows.signed.width).tolist()
        there = rows.to_weights(w)
        assert rows.signed.signs(w).tolist() == signed.signs(there).tolist()
        rounded = rows.to_weights(np.array(w, float))
        assert signed.signs(rounded).tolist() == signed.signs(there).tolist()
        back = rows.from_weights([Fraction(v) for v in there])
        largest = max(map(abs, w)) or 1
        np.testing.assert_allclose(back / np.abs(back).max(), np.array(w) / largest, atol=1e-12)


@pytest.mark.parametrize("X", CASES[:3])
def test_floats_hold_what_was_moved_and_scaled(X):
    assert compact(X)[1].signed.table.exact is None


def test_distances_stay_unless_columns_may_be_scaled():
    X = np.array([[Fraction(1, 3), BIG + 1], [Fraction(2, 3), BIG]])
    _, rows = compact(X, scaled=False)
    assert rows.factor == [1, 1]
    assert rows.centre[1] in (BIG, BIG + 1)
    _, rows = compact(X, moved=False, scaled=False)
    assert rows.same


def test_ordinary_rows_are_left_alone():
    for X in (np.random.default_rng(0).standard_normal((20, 3)), sp.csr_array(np.eye(400))):
        assert compact(X)[1].same


def test_empty_columns_cost_nothing():
    X = sp.csr_array(([1.0, 2.0, 1.0, 3.0], ([0, 0, 1, 1], [3, 7, 3, 7])), shape=(2, 10**6))
    signed, rows = compact(X)
    assert rows.signed.features == 2
    weights = rows.to_weights(np.array([1.0, 2.0, 3.0]))
    assert weights.shape == (signed.width,)
    assert np.flatnonzero(weights).tolist() == [3, 7, 10**6]
    assert rows.from_weights(weights).tolist() == [1.0, 2.0, 3.0]
