"""Coordinates: margins, weights and witnesses go there and back."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.prover.exact.clock import Deadline, OutOfTime
from rosenblatt.prover.exact.numbers import exact_table
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.coordinates import (
    AffineView,
    CompactRows,
    RowSpaceView,
    SubspaceView,
    is_wide,
    reciprocal,
    rescale,
    sample_rows,
    standardised,
)
from rosenblatt.prover.search.limits import SAMPLE_ROWS

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((40, 3)) * [1.0, 100.0, 0.01] + [5.0, 0.0, 1.0]
LABEL = RNG.integers(0, 3, 40)


def signed_rows(classes, store):
    return SignedRows(as_table(store(ROWS)), LABEL % classes, classes)


def views(signed):
    yield standardised(signed)
    yield AffineView(signed, np.zeros(3), np.array([1.0, 2.0, 0.5]), 4.0, normalise=False)
    yield RowSpaceView(signed, np.arange(signed.n))


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("classes", [2, 3])
def test_margins_are_those_of_the_weights_up_to_positive_factors(classes, store):
    signed = signed_rows(classes, store)
    for view in views(signed):
        u = RNG.standard_normal(view.width)
        Z = view.gather(np.arange(view.n))
        assert np.allclose(Z @ u, view.margins(u))
        ratio = signed.margins(view.to_weights(u))[0] / (Z @ u)
        assert (ratio > 0).all()


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("classes", [2, 3])
def test_normalised_rows_have_length_one(classes, store):
    signed = signed_rows(classes, store)
    for view in (standardised(signed), RowSpaceView(signed, np.arange(signed.n))):
        assert np.allclose(np.linalg.norm(view.gather(np.arange(view.n)), axis=1), 1.0)


def test_a_subspace_is_where_the_support_vanishes():
    signed = signed_rows(2, np.asarray)
    view = standardised(signed)
    rest = SubspaceView.vanishing_on(view, np.array([0, 1]), 2, Deadline(None))
    assert rest.width == view.width - 2
    assert not np.isin([0, 1], rest.ids).any()
    w = rest.to_weights(RNG.standard_normal(rest.width))
    margins = np.abs(signed.margins(w)[0])
    assert margins[[0, 1]].max() < 1e-9 * margins.max()
    further = rest.vanishing(np.array([7]), 1)
    assert further.width == rest.width - 1
    margins = np.abs(signed.margins(further.to_weights(np.ones(further.width)))[0])
    assert margins[[0, 1, 7]].max() < 1e-9 * margins.max()


def test_the_way_to_a_subspace_looks_at_the_clock():
    view = standardised(signed_rows(2, np.asarray))
    with pytest.raises(OutOfTime):
        SubspaceView.vanishing_on(view, np.array([0, 1]), 2, Deadline(-1.0))


def test_wide_rows_have_many_more_features_than_rows():
    assert is_wide(SignedRows(as_table(np.zeros((10, 2000))), np.zeros(10, int), 2))
    assert not is_wide(SignedRows(as_table(np.zeros((10, 200))), np.zeros(10, int), 2))
    assert not is_wide(SignedRows(as_table(sp.csr_array((4000, 2000))), np.zeros(4000, int), 2))


def test_a_sample_has_both_classes_and_few_rows_are_all_taken():
    few = SignedRows(as_table(np.zeros((100, 2))), np.zeros(100, int), 2)
    assert sample_rows(few).tolist() == list(range(100))
    label = np.zeros(20 * SAMPLE_ROWS, int)
    label[[5, 77]] = 1
    index = sample_rows(SignedRows(as_table(np.zeros((label.size, 2))), label, 2))
    assert {5, 77} <= set(index.tolist())
    assert index.size < 2 * SAMPLE_ROWS


def test_weights_are_scaled_by_powers_of_two():
    w = np.array([3.0, -40.0, 0.1])
    assert (rescale(w) * 64.0 == w).all()
    assert rescale(np.zeros(2)).tolist() == [0.0, 0.0]
    assert reciprocal(np.array([2.0, 0.0, 1e-320])).tolist() == [0.5, 1.0, 1 / 1e-290]


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
