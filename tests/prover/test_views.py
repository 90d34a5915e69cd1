"""Views: the same margins in other coordinates, up to a positive factor for each row."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.prover.exact.clock import Clock, OutOfTime
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.views import (
    SAMPLE_ROWS,
    AffineView,
    RowSpaceView,
    SubspaceView,
    is_wide,
    reciprocal,
    rescale,
    sample_rows,
    standardised,
    whitened,
)

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((40, 3)) * [1.0, 100.0, 0.01] + [5.0, 0.0, 1.0]
LABEL = RNG.integers(0, 3, 40)


def signed_rows(classes, store):
    return SignedRows(as_table(store(ROWS)), LABEL % classes, classes)


def views(signed):
    yield standardised(signed)
    yield whitened(signed)
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
    for view in (standardised(signed), whitened(signed), RowSpaceView(signed, np.arange(signed.n))):
        assert np.allclose(np.linalg.norm(view.gather(np.arange(view.n)), axis=1), 1.0)


def test_a_subspace_is_where_the_support_vanishes():
    signed = signed_rows(2, np.asarray)
    view = standardised(signed)
    rest = SubspaceView.vanishing_on(view, np.array([0, 1]), 2, Clock(None))
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
        SubspaceView.vanishing_on(view, np.array([0, 1]), 2, Clock(-1.0))


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
