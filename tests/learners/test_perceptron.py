"""Rosenblatt's perceptron against scikit-learn's, its margins and its average."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from hypothesis import given
from hypothesis import strategies as st

from oracles import family, reference
from rosenblatt import AveragedPerceptron, Perceptron
from rosenblatt.errors import InvalidInput
from strategies import integer_sets

THREE = {"shuffle": False, "max_iter": 3, "tol": None}


def test_every_parameter_of_scikit_learns_perceptron_is_taken_with_its_default():
    theirs = inspect.signature(sklearn.linear_model.Perceptron).parameters
    ours = inspect.signature(Perceptron).parameters
    assert {name: p.default for name, p in theirs.items()} == {name: ours[name].default for name in theirs}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@given(data=integer_sets(classes=2), epochs=st.integers(1, 6), intercept=st.booleans())
def test_integer_weights_equal_scikit_learns(dtype, data, epochs, intercept):
    X, label = data
    options = {"shuffle": False, "max_iter": epochs, "tol": None, "fit_intercept": intercept}
    ours = Perceptron(**options).fit(X.astype(dtype), label)
    theirs = sklearn.linear_model.Perceptron(**options).fit(X.astype(dtype), label)
    assert ours.coef_.tolist() == theirs.coef_.tolist()
    assert ours.intercept_.tolist() == theirs.intercept_.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"eta0": 0.3},
        {"penalty": "l2", "alpha": 1e-3},
        {"penalty": "l1", "alpha": 1e-3},
        {"penalty": "elasticnet", "alpha": 1e-3, "l1_ratio": 0.4, "eta0": 0.5},
        {"class_weight": {0: 3.0, 1: 0.5, 2: 1.0}},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_float_weights_equal_scikit_learns_to_rounding(options, classes):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 6))
    y = (X @ rng.standard_normal((6, classes)) + rng.standard_normal((300, classes))).argmax(1)
    weight = rng.uniform(0.5, 2, 300)
    options = {"shuffle": False, "max_iter": 7, "tol": None} | options
    if classes == 2 and isinstance(options.get("class_weight"), dict):
        options["class_weight"] = {0: 3.0, 1: 0.5}
    ours = Perceptron(**options).fit(X, y, sample_weight=weight)
    theirs = sklearn.linear_model.Perceptron(**options).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-8)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()


@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
def test_penalised_dense_and_sparse_agree_and_chunks_do_not_matter(penalty):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 8)) * (rng.random((200, 8)) < 0.4)
    y = rng.integers(0, 3, 200)
    options = {"penalty": penalty, "alpha": 1e-3, "shuffle": False, "max_iter": 1, "tol": None}
    dense = Perceptron(**options).fit(X, y)
    sparse = Perceptron(**options).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-10)
    stream = Perceptron(**options)
    for i in range(0, 200, 17):
        stream.partial_fit(X[i : i + 17], y[i : i + 17])
    np.testing.assert_allclose(stream.coef_, dense.coef_, atol=1e-9)


@given(integer_sets(), st.integers(1, 5))
def test_the_weights_are_those_of_the_lectures(data, epochs):
    X, label = data
    model = Perceptron(shuffle=False, max_iter=epochs, tol=None).fit(X, label)
    w, b, mistakes = reference.perceptron(X.tolist(), (2 * label - 1).tolist(), [range(len(X))] * epochs)
    assert (model.coef_.tolist(), model.intercept_.tolist()) == ([w], [b])
    assert model.run_.mistakes == tuple(mistakes[: model.n_iter_])


@given(integer_sets())
def test_a_margin_is_in_units_of_the_weights_whatever_the_rate(data):
    X, label = data
    one = Perceptron(margin=2.0, **THREE).fit(X, label)
    other = Perceptron(margin=1.0, eta0=0.5, **THREE).fit(X, label)
    assert other.coef_.tolist() == (0.5 * one.coef_).tolist()
    assert other.run_.mistakes == one.run_.mistakes


@pytest.mark.parametrize("margin", [-1.0, np.nan, np.inf, (1.0, -1.0), (1, 2, 3), "wide", None], ids=repr)
@pytest.mark.parametrize("cls", [Perceptron, AveragedPerceptron])
def test_an_impossible_margin_is_refused(cls, margin):
    with pytest.raises(InvalidInput, match="margin="):
        cls(margin=margin).fit([[0.0], [1.0]], [0, 1])


@given(integer_sets(), st.integers(1, 4))
def test_the_average_is_over_all_trials(data, epochs):
    X, label = data
    model = AveragedPerceptron(shuffle=False, max_iter=epochs, tol=None).fit(X, label)
    padded = np.c_[X, np.ones(len(X))]
    run = family.averaged(padded, (2 * label - 1).tolist(), [range(len(X))] * model.n_iter_)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), run.w, atol=1e-12)


def test_the_average_makes_the_mistakes_of_the_perceptron():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 3)), rng.integers(0, 3, 80)
    for multiclass in ("ovr", "ovo", "joint"):
        plain, average = (cls(multiclass=multiclass, **THREE).fit(X, y) for cls in (Perceptron, AveragedPerceptron))
        assert average.run_.mistakes == plain.run_.mistakes
