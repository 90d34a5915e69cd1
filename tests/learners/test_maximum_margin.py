"""The largest margin: unique, certified, and without streams."""

import io
import math
import warnings
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from rosenblatt import MaximumMargin, SoftMargin, certify, load, save
from rosenblatt.errors import InvalidInput
from rosenblatt.training.stopping import Stop
from strategies import separable_sets


@given(separable_sets())
@settings(max_examples=40)
def test_the_margin_is_that_of_a_hard_support_vector_machine(data):
    X, y, _, _ = data
    if len(set(y)) < 2:
        return
    model = MaximumMargin().fit(X, y)
    svm = SVC(kernel="linear", C=1e10, tol=1e-10).fit(X, y)
    theirs = (y * svm.decision_function(X)).min() / np.linalg.norm(svm.coef_)
    assert model.margin_[0] >= theirs * (1 - 1e-6)
    assert model.margin_[0] <= model.margin_ceiling_[0]
    np.testing.assert_allclose((y * model.decision_function(X)).min(), 1.0, rtol=1e-6)
    np.testing.assert_allclose(1 / np.linalg.norm(model.coef_), model.margin_[0], rtol=1e-6)


def test_the_support_is_where_the_margin_is_met():
    X = np.array([[0.0, 0.0], [0.0, -5.0], [4.0, 0.0], [9.0, 3.0]])
    model = MaximumMargin().fit(X, [0, 0, 1, 1])
    assert sorted(model.support_[0].tolist()) == [0, 2]
    np.testing.assert_allclose(model.coef_, [[0.5, 0.0]], atol=1e-5)
    np.testing.assert_allclose(model.intercept_, [-1.0], atol=1e-5)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "ovo-vote"])
def test_several_classes_have_a_margin_for_each_problem(multiclass):
    X = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]]).repeat(3, axis=0) + np.tile(np.eye(3, 2), (3, 1))
    y = np.repeat(["a", "b", "c"], 3)
    for rows in (X, sp.csr_array(X)):
        model = MaximumMargin(multiclass=multiclass).fit(rows, y)
        assert model.margin_.shape == model.margin_ceiling_.shape == (3,)
        assert (model.margin_ > 0).all()
        assert model.score(rows, y) == 1.0


def test_where_nothing_separates_it_warns_and_says_so():
    with pytest.warns(ConvergenceWarning, match="there is no largest margin.*SoftMargin"):
        model = MaximumMargin().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert model.margin_[0] < 0
    assert "1 of 1 problems cannot be separated" in model.stop_reason_


def margin_of(model, X, label):
    """The distance of the closest row from the weights as they are, over the rationals."""
    w, b = [Fraction(v) for v in model.coef_[0].tolist()], Fraction(model.intercept_[0].item())
    lowest = min((2 * c - 1) * (sum(map(mul, map(Fraction, x), w)) + b) for x, c in zip(X, label, strict=True))
    return float(lowest) / math.sqrt(sum(v * v for v in w))


@pytest.mark.parametrize(
    ("X", "label"),
    [
        ([[1e15], [1e15 + 2]], [0, 1]),
        ([[1e15, 0.0], [1e15 + 2, 1.0], [1e15 + 4, 0.0]], [0, 1, 1]),
        ([[1e12 + 1, 3.0], [1e12 - 1, -3.0], [1e12, 0.5]], [0, 1, 0]),
        ([[1e-130], [3e-130]], [0, 1]),
    ],
)
def test_the_margin_is_that_of_the_weights_that_are_returned(X, label):
    model = MaximumMargin().fit(X, label)
    truth = margin_of(model, X, label)
    assert truth > 0
    assert truth * (1 - 1e-12) <= model.margin_[0] <= truth * (1 + 1e-12)
    assert model.exact_weights_ == [()]


def test_weights_separate_wherever_certify_finds_some():
    rng = np.random.default_rng(0)
    exact = 0
    for _ in range(150):
        n = int(rng.integers(4, 9))
        t = rng.standard_normal(n)
        noise = rng.standard_normal((n, 2)) * 10.0 ** -float(rng.integers(13, 17))
        X, label = np.column_stack([t, t[:, None] * (1 + noise)]), rng.permutation(np.arange(n) % 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = MaximumMargin().fit(X, label)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()
        truth = margin_of(model, X, label)
        np.testing.assert_allclose(model.margin_[0], truth, rtol=1e-9)
        separable = certify(X, label, margin=False).verdict == "separable"
        assert separable == (model.margin_ceiling_[0] > 0)
        if separable and truth <= 0:
            assert "exact_weights_" in model.stop_reason_
            *w, b = model.exact_weights_[0]
            assert all(
                (2 * c - 1) * (sum(map(mul, map(Fraction, x), w)) + b) > 0 for x, c in zip(X, label, strict=True)
            )
            exact += 1
    assert 0 < exact < 50


def test_out_of_time_nothing_is_said_of_separability():
    X = np.random.default_rng(0).standard_normal((2000, 300))
    with pytest.warns(ConvergenceWarning, match="not solved in the time given"):
        model = MaximumMargin(max_seconds=1e-9).fit(X, X[:, 0] > 0)
    assert "cannot" not in model.stop_reason_
    assert model.margin_ceiling_[0] == np.inf


@pytest.mark.parametrize("name", ["partial_fit", "learn_one", "predict_one"])
def test_it_has_no_streams(name):
    assert not hasattr(MaximumMargin(), name)
    with pytest.raises(AttributeError, match=f"MaximumMargin.*({name}|Use Perceptron)"):
        getattr(MaximumMargin(), name)


def test_weights_changed_by_hand_to_another_size_are_refused():
    model = MaximumMargin().fit([[0.0], [1.0]], [0, 1])
    model.coef_ = np.ones((2, 3))
    with pytest.raises(InvalidInput, match="coef_ has shape"):
        model.predict([[0.0]])


@pytest.mark.parametrize("name", ["partial_fit", "learn_one"])
def test_it_says_why_it_has_no_stream(name):
    assert not hasattr(MaximumMargin(), name)
    with pytest.raises(AttributeError) as caught:
        getattr(MaximumMargin(), name)
    assert "all rows at once" in f"{caught.value} {caught.value.__cause__}"


def test_rows_of_weight_zero_are_left_out_and_other_weights_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = np.where(X[:, 0] > 0, "b", "a")
    X[:, 0] += np.where(y == "b", 0.5, -0.5)
    weight = rng.integers(0, 3, 40) * 1.5
    wrong = weight == 0
    y = np.where(wrong, np.where(y == "a", "b", "a"), y)  # what is left out would make it impossible
    model, alone = MaximumMargin().fit(X, y, sample_weight=weight), MaximumMargin().fit(X[~wrong], y[~wrong])
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    assert not wrong[model.support_[0]].any()
    np.testing.assert_allclose(np.abs(model.decision_function(X[model.support_[0]])), 1.0, rtol=1e-6)
    with pytest.raises(InvalidInput, match="zero everywhere"):
        MaximumMargin().fit(X, y, sample_weight=np.zeros(40))


def test_a_fit_leaves_a_record():
    run = MaximumMargin().fit([[0.0, 0.0], [0.0, 4.0]], [0, 1]).run_
    assert (run.stop, run.mistakes, run.trials, run.stops) == (Stop.SEPARATED, (0,), 2, (Stop.SEPARATED,))
    with pytest.warns(ConvergenceWarning):
        model = MaximumMargin().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert model.run_.stop is Stop.TRAINING
    assert model.run_.mistakes[0] >= 1
    assert model.run_.reason == model.stop_reason_
    file = io.BytesIO()
    save(model, file)
    assert load(file.getvalue()).run_ == model.run_


@pytest.mark.parametrize("data", [load_iris, load_breast_cancer])
def test_where_there_is_no_largest_margin_the_weights_are_those_of_soft_margin(data):
    X, y = data(return_X_y=True)
    X, y[::20] = X / X.std(axis=0), (y[::20] + 1) % 2  # so that nothing separates
    with pytest.warns(ConvergenceWarning, match=r"those of SoftMargin\(\). Use SoftMargin instead"):
        model = MaximumMargin().fit(X, y)
    soft = SoftMargin(random_state=0, intercept_scaling=1.0).fit(X, y)
    overlapping = model.margin_ceiling_ == 0
    assert overlapping.any()
    np.testing.assert_allclose(model.coef_[overlapping], soft.coef_[overlapping], rtol=1e-12)
    np.testing.assert_allclose(model.intercept_[overlapping], soft.intercept_[overlapping], rtol=1e-12)
