"""The search with floats: how it ends, and what the passes before it find."""

import numpy as np
import pytest
import scipy.sparse as sp

from margins_by_hand import planted_margin
from rosenblatt.data.table import as_table
from rosenblatt.engine.rules import passive_aggressive, perceptron
from rosenblatt.prover.exact.clock import Clock, OutOfTime
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.nearest import NEAREST, ORIGIN
from rosenblatt.prover.search.search import (
    WorkingSet,
    coordinate_descent,
    find_nearest_point,
    joint_epochs,
    lowest_rows,
)
from rosenblatt.prover.search.views import MatrixView, RowSpaceView, standardised


def test_a_search_ends_where_margins_overflow():
    working = WorkingSet(MatrixView(np.eye(3)), np.arange(2))
    for margins in (np.full(3, np.nan), np.array([-1.0, -1.0, np.nan]), np.full(3, np.inf)):
        assert not working.extend(margins)
    assert working.extend(np.array([np.nan, np.nan, 0.5]))
    assert working.ids.tolist() == [0, 1, 2]
    assert not working.extend(np.zeros(3))  # nothing is left


def test_the_nearest_point_of_a_triangle_and_of_one_around_the_origin():
    Z = np.array([[1.0, 2.0], [1.0, -1.0], [3.0, 0.0]])
    end, working = find_nearest_point(MatrixView(Z), np.array([2]), Clock(None), to_optimum=True)
    assert end == NEAREST
    assert np.allclose(working.point / working.shares.sum(), [1.0, 0.0])
    assert sorted(working.support.tolist()) == [0, 1]
    assert np.allclose(working.shares @ Z[working.support], working.point)
    Z = np.array([[1.0, 2.0], [1.0, -1.0], [-3.0, 0.0]])
    assert find_nearest_point(MatrixView(Z), np.arange(3), Clock(None), to_optimum=False)[0] == ORIGIN
    with pytest.raises(OutOfTime):
        find_nearest_point(MatrixView(Z[:2]), np.arange(2), Clock(-1.0), to_optimum=True)


def test_a_warm_start_needs_no_iteration():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((300, 6)) + 2.0
    _, working = find_nearest_point(MatrixView(Z), np.arange(300), Clock(None), to_optimum=True)
    again = WorkingSet(MatrixView(Z), np.arange(300))
    again.start(working.support, working.shares)
    assert again.search(1, to_optimum=True) == NEAREST
    assert np.allclose(again.point, working.point)


def test_few_rows_are_all_taken_in_and_of_many_the_lowest():
    assert lowest_rows(np.arange(150.0), 3).tolist() == list(range(150))
    margins = np.random.default_rng(0).permutation(1000).astype(float)
    assert sorted(margins[lowest_rows(margins, 30)].tolist()) == list(range(300))


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_coordinate_descent_separates_and_ties(store):
    X, y = planted_margin(200, 5, 2.0**-2)
    signed = SignedRows(as_table(store(X)), y > 0, 2)
    view = standardised(signed)
    u, alpha = coordinate_descent(view, 500, Clock(None))
    assert signed.margins(view.to_weights(u))[0].min() > 0
    assert alpha.min() >= 0
    line = SignedRows(as_table(store(np.array([[0.0, 1.0], [0.0, 1.0], [3.0, 1.0], [-2.0, 1.0]]))), [0, 1, 1, 0], 2)
    view = standardised(line)
    margins = view.margins(coordinate_descent(view, 1000, Clock(None), tied=np.array([0, 1]), reached=1e-9)[0])
    assert np.abs(margins[:2]).max() < 1e-6
    assert margins[2:].min() > 0.1


@pytest.mark.parametrize("rule", [passive_aggressive(C=np.inf), perceptron()])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_joint_epochs_separate_three_classes(store, rule):
    rng = np.random.default_rng(0)
    label = np.arange(90) % 3
    X = np.array([[4.0, 0.0], [0.0, 4.0], [-4.0, -4.0]])[label] + rng.uniform(-1, 1, (90, 2))
    signed = SignedRows(as_table(store(X)), label, 3)
    assert signed.margins(joint_epochs(signed, rule, 100, Clock(None)))[0].min() > 0


def test_a_start_with_the_basis_has_the_factors_that_the_rows_have():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2000))
    X[5] = X[4]
    signed = SignedRows(as_table(X), rng.random(30) < 0.5, 2)
    view = RowSpaceView(signed, np.arange(25), 10.0, normalise=False)
    share = rng.random(25)
    working = WorkingSet(view, np.arange(25))
    working.start_with_basis(view, share)
    columns, Q, R = (
        np.vstack([view.Z[view.basis].T, np.ones(24)]),
        working.active.Q[:24].T,
        working.active.R[:24, :24].T,
    )
    np.testing.assert_allclose(Q @ R, columns, atol=1e-14)
    np.testing.assert_allclose(Q.T @ Q, np.eye(24), atol=1e-14)
    assert not np.tril(R, -1).any()
    np.testing.assert_array_equal(working.active.c[:24], Q[-1])
    np.testing.assert_array_equal(working.shares, share[working.support])
    same = WorkingSet(view, np.arange(25))
    same.start(view.basis, share[view.basis])
    np.testing.assert_allclose(working.residual, same.residual, atol=1e-14)
