"""Parameters that are changed after a fit: what was learned keeps its meaning, or the change is refused."""

import io
import pickle
import threading
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor

from members import STREAMS
from rosenblatt import (
    AROW,
    AdalineRegressor,
    AssociationUnits,
    KernelPerceptron,
    MaximumMargin,
    PassiveAggressiveRegressor,
    Perceptron,
    SoftMargin,
    VotedPerceptron,
    load,
    save,
)
from rosenblatt.errors import InvalidInput

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(60, 3)) + np.arange(60)[:, None] % 4
Y = np.arange(60) % 4
MEMBERS = [
    *STREAMS,
    AdalineRegressor(),
    PassiveAggressiveRegressor(),
    MaximumMargin(),
    KernelPerceptron(),
    KernelPerceptron(kernel="poly", degree=2),
]
# Values that parameters may be changed to, where a member has them; most are not the ones that it has.
CHANGES = {
    "multiclass": ["ovr", "ovo", "ovo-vote", "joint"],
    "fit_intercept": [False, True],
    "intercept_scaling": [3.0],
    "kernel": ["linear", "rbf"],
    "gamma": [7.0],
    "degree": [4],
    "coef0": [0.5],
    "aggregate": ["last", "vote"],
    "average": [True, False],
    "penalty": ["l1", "l2", None],
    "loss": ["hinge", "squared_hinge", "modified_huber", "logistic"],
    "eta0": [0.3],
    "balanced": [True, False],
    "factor": [1.7],
    "p": [5.0],
    "covariance": ["full", "diagonal"],
    "budget": [5, None],
    "C": [0.01],
    "epsilon": [0.7],
    "class_weight": [{0: 3.0}],
}
CASES = [
    pytest.param(model, name, value, id=f"{model} {name}={value}")
    for model in MEMBERS
    for name, values in CHANGES.items()
    if name in model.declared
    for value in values
]


def there_and_back(model):
    save(model, file := io.BytesIO())
    return load(file.getvalue())


def answers(model, rows):
    return model.predict(rows) if is_regressor(model) else model.decision_function(rows)


@pytest.mark.parametrize(("model", "name", "value"), CASES)
def test_a_fitted_model_answers_as_it_was_fitted(model, name, value):
    """In memory at once, after a file, and where learning goes on from: the same answers, or a refusal."""
    rows = abs(X) if "Winnow" in type(model).__name__ else X
    fitted = clone(model).set_params(max_iter=5, tol=None) if "max_iter" in model.declared else clone(model)
    fitted = fitted.fit(rows, Y)
    before = answers(fitted, rows)
    fitted.set_params(**{name: value})
    np.testing.assert_array_equal(answers(fitted, rows), before)
    np.testing.assert_array_equal(answers(pickle.loads(pickle.dumps(fitted)), rows), before)
    with suppress(InvalidInput):
        np.testing.assert_allclose(answers(there_and_back(fitted), rows), before, rtol=1e-9, atol=1e-9)
    with suppress(InvalidInput, AttributeError):  # some members have no stream
        fitted.partial_fit(0.0 * rows[:1], fitted.predict(0.0 * rows[:1]), sample_weight=[0.0])
    np.testing.assert_allclose(answers(fitted, rows), before, rtol=1e-9, atol=1e-9)


def test_probabilities_are_of_the_loss_that_was_minimised():
    logistic = SoftMargin(loss="logistic").fit(X, Y)
    before = logistic.predict_proba(X)
    np.testing.assert_array_equal(logistic.set_params(loss="hinge").predict_proba(X), before)
    assert not hasattr(SoftMargin().fit(X, Y).set_params(loss="logistic"), "predict_proba")


def test_units_are_what_they_were_drawn_as():
    units = AssociationUnits(units="cosine", n_units=7).fit(X)
    before = units.transform(X)
    np.testing.assert_array_equal(units.set_params(units="step").transform(X), before)
    with pytest.raises(InvalidInput, match="units='step' is not what the model was fitted with, 'cosine'"):
        save(units, io.BytesIO())


@pytest.mark.parametrize("changes", [{"gamma": 2.0}, {"degree": 3}, {"fit_intercept": True}, {"coef0": 2.0}], ids=str)
def test_a_kernel_does_not_learn_on_in_another_space(changes):
    model = KernelPerceptron(kernel="poly", degree=2).fit(X, Y)
    with pytest.raises(InvalidInput, match=r"is not what the model was fitted with, .*Set it back, or fit again"):
        model.set_params(**changes).partial_fit(X, Y)


# ------------------------------------------------------------------------------------- arrays, frames and dicts


@pytest.mark.parametrize("model", [Perceptron(), AdalineRegressor()], ids=str)
@pytest.mark.parametrize(
    "kind", [np.asarray, lambda rows: pd.DataFrame(rows, columns=list("uvw"))], ids=["array", "frame"]
)
def test_a_fit_begins_anew_after_a_stream_of_dicts(model, kind):
    one = clone(model)
    for row, label in zip(X, Y.tolist(), strict=True):
        one.learn_one(dict(zip("abcde", row, strict=False)), label)
    fresh = clone(model).fit(kind(X), Y)
    one.fit(kind(X), Y)
    np.testing.assert_array_equal(one.coef_, fresh.coef_)
    assert hasattr(one, "feature_names_in_") == hasattr(fresh, "feature_names_in_")


@pytest.mark.parametrize("model", [Perceptron(warm_start=True), AdalineRegressor(warm_start=True)], ids=str)
def test_a_warm_start_does_not_take_columns_for_others(model):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = clone(model).fit(frame, Y)
    with pytest.raises(InvalidInput, match="features 'a', 'b' and 'c', in this order, but X has 'c', 'b' and 'a'"):
        model.fit(frame[["c", "b", "a"]], Y)
    named = clone(model)
    for row, label in zip(X, Y.tolist(), strict=True):
        named.learn_one(dict(zip("abc", row, strict=True)), label)
    for table in (frame, frame[["c", "b", "a"]], X):
        with pytest.raises(InvalidInput, match="continues a stream of dicts, but X is a table"):
            named.fit(table, Y)


# ------------------------------------------------------------------------------------------------------- threads


def in_threads(work, count=8):
    """Run work(number) in so many threads at once; return what went wrong."""
    wrong, ready = [], threading.Barrier(count)

    def run(number):
        ready.wait()
        try:
            work(number)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


@pytest.mark.parametrize("model", [Perceptron(), SoftMargin(average=False)], ids=str)
def test_threads_that_learn_from_named_rows_lose_nothing(model):
    one = clone(model)

    def learn(number):
        for row in range(40):
            one.learn_one({f"feature {number} {row}": 1.0, "common": -1.0}, f"class {number}")

    assert in_threads(learn) == []
    assert one.t_ == 8 * 40
    assert one.classes_.tolist() == [f"class {number}" for number in range(8)]
    assert one.n_features_in_ == len(one.feature_names_in_) == 8 * 40 + 1


@pytest.mark.parametrize(
    "model", [Perceptron(), Perceptron(multiclass="ovo"), VotedPerceptron(), KernelPerceptron()], ids=str
)
def test_threads_may_predict_while_others_learn(model):
    one = clone(model).partial_fit(X[:4], Y[:4])

    def work(number):
        for row in range(25):
            if number % 2:
                one.partial_fit(X[row : row + 1], [10 * number + row % 3])
            else:
                known = set(one.classes_.tolist())
                label = one.predict(X)
                assert label.shape == (60,)
                assert known
                one.decision_function(X)

    assert in_threads(work, 4) == []
    assert one.t_ == 4 + 2 * 25
    assert one.classes_.size == 4 + 2 * 3


def test_a_model_that_threads_use_is_copied_and_pickled():
    model = Perceptron().fit(X, Y)
    for other in (pickle.loads(pickle.dumps(model)), clone(model).fit(X, Y)):
        np.testing.assert_array_equal(other.coef_, model.coef_)
        assert in_threads(lambda number, other=other: other.learn_one(X[number], 0)) == []


def test_similarities_with_too_few_rows_are_refused_whatever_the_number_of_features_says():
    X = np.random.default_rng(0).integers(0, 3, (12, 4)).astype(float)
    model = KernelPerceptron(kernel="precomputed", max_iter=3).fit(X @ X.T, np.arange(12) % 3)
    model.n_features_in_ = 2
    with pytest.raises(InvalidInput, match="similarities with 2 training rows"):
        model.predict(np.ones((3, 2)))


def test_a_full_covariance_learns_from_sparse_rows_after_a_change_of_the_covariance():
    X = np.random.default_rng(0).integers(0, 3, (24, 4)).astype(float)
    model = AROW(covariance="diagonal").partial_fit(sp.csr_array(X), np.arange(24) % 3)
    model.set_params(covariance="full")
    model.learn_one(sp.csr_array(X[:1]), 1)
    assert model.t_ == 25


@pytest.mark.parametrize(
    ("model", "name", "value", "sentence"),
    [
        (MaximumMargin(), "intercept_", np.array(["a", "b", "c"]), "not numbers"),
        (Perceptron(), "intercept_scaling_", 1e300, "intercept_scaling_=1e"),
        (KernelPerceptron(multiclass="ovo"), "classes_", np.arange(9), "not those that the model was learned with"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_what_is_assigned_after_a_fit_is_refused_in_words(model, name, value, sentence):
    X = np.random.default_rng(0).integers(0, 3, (24, 4)).astype(float)
    model.fit(X, np.arange(24) % 3)

    def assign_and_predict():
        setattr(model, name, value)
        model.predict(X)

    with pytest.raises(InvalidInput, match=sentence):
        assign_and_predict()
