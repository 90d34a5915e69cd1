"""Adaline, for classes and for numbers."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from oracles import family
from rosenblatt import Adaline, AdalineRegressor
from rosenblatt.errors import InvalidInput
from rosenblatt.training.stopping import Stop
from strategies import integer_sets

THREE = {"shuffle": False, "max_iter": 3, "tol": None}


def line(n=50, d=3, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X, X @ np.arange(1.0, d + 1) - 2.0


@given(data=integer_sets(), normalised=st.booleans())
def test_classes_are_learned_as_the_numbers_minus_one_and_one(data, normalised):
    X, label = data
    options = {"eta0": 0.02, "normalised": normalised, **THREE}
    model = Adaline(**options).fit(X, label)
    numbers = AdalineRegressor(**options).fit(X, 2.0 * label - 1.0)
    np.testing.assert_allclose(model.coef_[0], numbers.coef_, rtol=1e-9, atol=1e-12)
    run = family.lms(np.c_[X, np.ones(len(X))], 2 * label - 1, [range(len(X))] * 3, eta=0.02, normalised=normalised)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), run.w, rtol=1e-9, atol=1e-12)


def test_a_normalised_step_of_one_meets_the_target():
    X, y = line()
    model = AdalineRegressor(eta0=1.0)
    for x, target in zip(X, y, strict=True):
        model.partial_fit(x[None], [target])
        np.testing.assert_allclose(model.predict(x[None])[0], target, atol=1e-10)


REASONS = {
    "epochs": lambda X, y: AdalineRegressor(max_iter=2, tol=None).fit(X, y),
    "training": lambda X, y: AdalineRegressor(max_iter=500).fit(X, y + np.random.default_rng(1).standard_normal(50)),
    "exact": lambda X, y: AdalineRegressor(max_iter=5).fit(np.ones((50, 1)), np.zeros(50)),
    "chunk": lambda X, y: AdalineRegressor().partial_fit(X, y),
    "classes in a chunk": lambda X, y: Adaline().partial_fit(X, y > 0),
    "callback": lambda X, y: AdalineRegressor(callback=lambda epoch: True).fit(X, y),
    "time": lambda X, y: AdalineRegressor(max_seconds=1e-9).fit(X, y),
}


@pytest.mark.parametrize("learn", REASONS.values(), ids=REASONS.keys())
def test_no_reason_speaks_of_mistakes_in_epochs_or_of_separating(learn):
    reason = learn(*line()).stop_reason_
    assert reason.endswith(".")
    assert "in epoch" not in reason or "time" in reason
    for words in ("mistakes in epoch", "mistakes still", "separable", "separates", "on its side"):
        assert words not in reason


def test_a_regression_says_what_it_ended_with():
    X, y = line()
    model = AdalineRegressor(max_iter=2, tol=None).fit(X, y)
    assert f"mean loss of {model.run_.losses[-1]:.3g}" in model.stop_reason_
    model.partial_fit(X[:7], y[:7])
    assert model.stop_reason_.startswith("the chunk of the stream was over (rows: 7, mean loss: ")
    assert model.run_.stop.name == "CHUNK"


def test_chunks_storage_and_precision_do_not_matter():
    X, y = line()
    whole = AdalineRegressor(shuffle=False, max_iter=1, tol=None).fit(X, y)
    stream = AdalineRegressor()
    for k in range(0, 50, 7):
        stream.partial_fit(sp.csr_array(X[k : k + 7]), y[k : k + 7])
    np.testing.assert_allclose(stream.coef_, whole.coef_, atol=1e-12)
    assert stream.t_ == 50
    assert stream.partial_fit(X[:5].astype(np.float32), y[:5]).coef_.dtype == np.float64


def test_weights_are_handed_out_once_and_can_be_assigned():
    X, y = line()
    model = AdalineRegressor().fit(X, y)
    held, before = model.coef_, model.coef_.copy()
    model.partial_fit(X, y)
    assert held.tolist() == before.tolist()
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0] = 1.0
    model.coef_, model.intercept_ = [1.0, 2.0, 3.0], -2.0
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
    with pytest.raises(InvalidInput, match="coef_ has shape"):
        model.coef_ = [1.0]


def test_a_warm_start_goes_on():
    X, y = line()
    half = AdalineRegressor(warm_start=True, **THREE).fit(X, y).fit(X, y)
    whole = AdalineRegressor(**(THREE | {"max_iter": 6})).fit(X, y)
    np.testing.assert_allclose(half.coef_, whole.coef_, atol=1e-12)


def test_a_regression_has_no_classes():
    for name in ("classes_", "mistakes_", "decision_function"):
        assert not hasattr(AdalineRegressor().fit(*line()), name)


DIVERGING = {
    "normalised": (Adaline(eta0=3.0), "eta0, which is stable below 2"),
    "plain": (Adaline(eta0=1.0, normalised=False), r"stable below 2/\|x\|\^2"),
    "all epochs": (Adaline(eta0=2.5, tol=None, max_iter=8), "eta0, which is stable below 2"),
}


@pytest.mark.parametrize(("model", "remedy"), DIVERGING.values(), ids=DIVERGING.keys())
def test_a_loss_that_grows_is_told_as_such_with_the_remedy(model, remedy):
    X, y = load_iris(return_X_y=True)
    try:
        with (
            np.errstate(over="ignore", invalid="ignore"),  # compiled code does not warn; the same as plain Python does
            pytest.warns(ConvergenceWarning, match="grew far above"),
        ):
            model.fit(X, y)
    except InvalidInput as error:  # the weights overflowed before patience was over
        assert re.search(remedy, str(error))  # noqa: PT017
    else:
        assert model.run_.stop is Stop.DIVERGED
        assert re.search(remedy, model.stop_reason_)
        assert max(model.run_.losses) > 5


def test_a_regression_that_diverges_says_so():
    X, y = line()
    with pytest.warns(ConvergenceWarning, match="grew far above"):
        AdalineRegressor(eta0=2.5, max_iter=20).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AdalineRegressor(max_iter=200).fit(X, 1000 * y)


def test_a_fit_is_the_rule_of_widrow_and_hoff_whatever_the_shape_of_the_data():
    rng = np.random.default_rng(0)
    for n, d in ((40, 2), (40, 60), (900, 3)):
        X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-2, 3, d)
        label = (X[:, 0] > 0).astype(int)
        w = np.zeros(d + 1)
        for _ in range(2):
            for x, y in zip(np.c_[X, np.ones(n)], 2 * label - 1, strict=True):
                w += 0.1 * (y - w @ x) * x / (x @ x)
        model = Adaline(shuffle=False, max_iter=2, tol=None, intercept_scaling=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, label)
        np.testing.assert_allclose(np.append(model.coef_, model.intercept_), w, rtol=1e-9, atol=1e-12)
