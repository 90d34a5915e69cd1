"""The linear classifiers: fitting, its defaults, its ends."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model
from hypothesis import given
from sklearn.datasets import load_iris, load_svmlight_file
from sklearn.exceptions import ConvergenceWarning

from oracles import reference
from rosenblatt import (
    Perceptron,
)
from rosenblatt.errors import InvalidInput
from strategies import integer_sets

IRIS = load_iris(return_X_y=True)


@given(integer_sets(classes=4, most_rows=20))
def test_one_vs_one_elects_by_the_sum_of_signed_scores(data):
    X, label = data
    model = Perceptron(multiclass="ovo", shuffle=False, max_iter=3, tol=None).fit(X, label)
    vectors = reference.one_vs_one(X.tolist(), label.tolist(), 4, [range(len(X))] * 3)
    assert model.predict(X).tolist() == [reference.elect_one_vs_one(vectors, 4, x) for x in X.tolist()]


def test_distance_is_to_the_hyperplane():
    model = Perceptron(init=([3.0, 4.0], -5.0), max_iter=1, tol=None).fit([[9.0, 9.0], [0.0, 0.0]], [1, 0])
    assert model.coef_.tolist() == [[3, 4]]
    np.testing.assert_allclose(model.distance([[3.0, 4.0], [0.0, 0.0]]), [20 / 5, -5 / 5])
    three = Perceptron().fit(*IRIS)
    assert three.distance(IRIS[0]).shape == (150, 3)
    with pytest.raises(InvalidInput, match="zero"):
        Perceptron(max_iter=1, tol=None, shuffle=False).fit([[0.0], [0.0]], [0, 1]).distance([[1.0]])


@pytest.mark.parametrize("seed", range(40))
def test_defaults_separate_what_is_separable(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 21))
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((300, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    height = X @ u + 0.1 / np.sqrt(d)
    y = np.where(height > 0, 1, -1)
    X += (np.maximum(0.02 - np.abs(height), 0) * y)[:, None] * u  # no row nearer than 0.02 to the plane
    X[:20] -= (height[:20] - 0.02 * y[:20])[:, None] * u * (np.abs(height[:20]) > 0.02)[:, None]  # many at it
    model = Perceptron().fit(X, y)
    assert model.score(X, y) == 1
    assert "without an update" in model.stop_reason_


def test_defaults_tell_the_truth_on_a9a(real_data):
    X, y = load_svmlight_file(real_data / "a9a" / "a9a", n_features=123)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    model = Perceptron().fit(X, y)
    theirs = sklearn.linear_model.Perceptron().fit(X, y)
    assert model.stop_reason_.startswith("the training error stopped changing")
    assert model.run_.ceiling <= 1e-3 * model.run_.radius
    assert model.score(X, y) >= theirs.score(X, y)


def test_a_fit_that_ends_short_warns_with_the_remedy():
    X, y = IRIS
    with pytest.warns(ConvergenceWarning, match="allow more epochs"):
        Perceptron(max_iter=2).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="no hyperplane separates the rows"):
        Perceptron(shuffle=False).fit([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Perceptron(max_iter=2, tol=None).fit(X, y)


def test_early_stopping_holds_rows_out_and_keeps_the_best():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 4))
    y = np.where(X[:, 0] + rng.standard_normal(500) > 0, "a", "b")
    model = Perceptron(early_stopping=True, validation_fraction=0.2).fit(X, y)
    assert model.run_.stop.name == "VALIDATION"
    assert model.run_.trials == 400 * model.n_iter_
    assert model.run_.errors[model.run_.kept - 1] == min(model.run_.errors)


def test_warm_start_goes_on_where_it_stopped():
    X, y = np.round(10 * IRIS[0]), IRIS[1]
    options = {"shuffle": False, "tol": None, "eta0": 0.1}
    whole = Perceptron(max_iter=6, **options).fit(X, y)
    half = Perceptron(max_iter=3, warm_start=True, **options).fit(X, y).fit(X, y)
    assert half.coef_.tolist() == whole.coef_.tolist()
    moved = Perceptron(max_iter=3, warm_start=True, **options).fit(X, y)
    moved.coef_ = np.zeros_like(moved.coef_)
    moved.intercept_ = np.zeros_like(moved.intercept_)
    assert moved.fit(X, y).coef_.tolist() == Perceptron(max_iter=3, **options).fit(X, y).coef_.tolist()
    with pytest.raises(InvalidInput, match="warm_start"):
        half.fit(X, y + 5)


def test_rows_of_weight_zero_are_left_out():
    X, y = IRIS
    weight = (np.arange(150) % 3 > 0).astype(float)
    options = {"shuffle": False, "max_iter": 4, "tol": None}
    with_zeros = Perceptron(**options).fit(X, y, sample_weight=weight)
    without = Perceptron(**options).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(with_zeros.coef_, without.coef_)


def test_n_jobs_changes_nothing():
    for multiclass in ("ovr", "ovo", "joint"):
        one, two = (Perceptron(multiclass=multiclass, n_jobs=jobs).fit(*IRIS) for jobs in (None, 2))
        assert one.coef_.tolist() == two.coef_.tolist()
