"""The least squared hinge loss: its slope vanishes, and a support vector machine finds the same."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.svm import LinearSVC

from rosenblatt.estimators.squared_hinge import PENALTY, PENALTY_PER_ROW, least_squared_hinge
from rosenblatt.exact.clock import Clock


def overlapping(seed, rows=200, columns=6):
    random = np.random.default_rng(seed)
    Z = np.column_stack([random.standard_normal((rows, columns)), np.ones(rows)])
    return Z, np.where(Z @ random.standard_normal(columns + 1) + 2 * random.standard_normal(rows) > 0, 1.0, -1.0)


def slope(Z, side, v):
    lacking = np.maximum(1.0 - side * (Z @ v), 0.0)
    return (PENALTY + PENALTY_PER_ROW * len(Z)) * v - Z.T @ (lacking * side)


@pytest.mark.parametrize("seed", range(10))
def test_the_loss_has_no_slope_where_it_ends(seed):
    Z, side = overlapping(seed)
    v = least_squared_hinge(Z, side, Clock(None))
    assert np.abs(slope(Z, side, v)).max() < 1e-2 * np.abs(slope(Z, side, 0 * v)).max()
    loss = np.sum(np.maximum(1.0 - side * (Z @ v), 0.0) ** 2)
    for other in np.random.default_rng(seed).standard_normal((50, v.size)):
        assert np.sum(np.maximum(1.0 - side * (Z @ (v + 0.01 * other)), 0.0) ** 2) > loss * (1 - 1e-5)


@pytest.mark.parametrize("data", [load_iris, load_breast_cancer])
def test_a_support_vector_machine_with_hardly_any_penalty_has_the_same_weights(data):
    X, y = data(return_X_y=True)
    X, side = (X - X.mean(axis=0)) / X.std(axis=0), np.where(y == 1, 1.0, -1.0)
    side[::7] *= -1  # so that nothing separates
    v = least_squared_hinge(np.column_stack([X, np.ones(len(X))]), side, Clock(None))
    machine = LinearSVC(C=1e6, tol=1e-8, max_iter=10**6, dual=False).fit(X, side)
    scores = machine.decision_function(X)
    np.testing.assert_allclose(X @ v[:-1] + v[-1], scores, atol=2e-2 * np.abs(scores).max())


def test_columns_that_depend_on_others_and_constants_do_no_harm():
    Z, side = overlapping(0)
    alike = np.column_stack([Z, Z[:, 0] + Z[:, 1], np.ones(len(Z)), np.zeros(len(Z))])
    found, wanted = least_squared_hinge(alike, side, Clock(None)), least_squared_hinge(Z, side, Clock(None))
    np.testing.assert_allclose(alike @ found, Z @ wanted, atol=1e-2)


def test_what_is_separable_is_separated():
    Z, _ = overlapping(3)
    side = np.where(Z @ np.arange(1.0, 8.0) > 0, 1.0, -1.0)
    assert (side * (Z @ least_squared_hinge(Z, side, Clock(None))) > 0).all()
    assert (Z @ least_squared_hinge(Z, np.ones(len(Z)), Clock(None)) > 0).all()


def test_out_of_time_it_returns_what_it_has():
    Z, side = overlapping(1)
    clock = Clock(1e-9)
    v = least_squared_hinge(Z, side, clock)
    assert np.isfinite(v).all()
    assert v.any()
