"""The voted perceptron: one fit, three predictions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from oracles import family
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.errors import InvalidInput
from strategies import integer_sets

THREE = {"shuffle": False, "max_iter": 3, "tol": None}


def rows_of(classes=2, n=61, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.integers(0, classes, n)


@given(integer_sets())
def test_the_votes_are_those_of_the_oracle(data):
    X, label = data
    model = VotedPerceptron(**THREE).fit(X, label)
    padded = np.c_[X, np.ones(len(X))]
    run = family.voted(padded, (2 * label - 1).tolist(), [range(len(X))] * model.n_iter_)
    trials = len(X) * model.n_iter_
    for x, share in zip(padded, model.decision_function(X), strict=True):
        votes = sum(count * (1 if v @ x > 0 else -1) for v, count in run.more["vectors"])
        assert round(share * trials) == votes


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_the_other_aggregates_are_the_perceptron_and_its_average(multiclass):
    X, y = rows_of(3)
    voted, plain, average = (
        cls(multiclass=multiclass, **THREE).fit(X, y) for cls in (VotedPerceptron, Perceptron, AveragedPerceptron)
    )
    np.testing.assert_allclose(voted.decision_function(X, aggregate="last"), plain.decision_function(X), atol=1e-9)
    expected = average.decision_function(X)
    np.testing.assert_allclose(voted.decision_function(X, aggregate="average"), expected, atol=1e-9)
    np.testing.assert_allclose(voted.coef_, average.coef_, atol=1e-12)
    np.testing.assert_allclose(voted.intercept_, average.intercept_, atol=1e-12)
    np.testing.assert_allclose(voted.distance(X), average.distance(X), atol=1e-9)


@given(integer_sets(), st.booleans(), st.integers(1, 24))
def test_the_vectors_are_those_of_the_oracle(data, sparse, cut):
    X, label = data
    rows = sp.csr_array(X) if sparse else X
    model = VotedPerceptron().partial_fit(rows[:cut], label[:cut], classes=[0, 1])
    if cut < len(X):
        model.partial_fit(rows[cut:], label[cut:])
    run = family.voted(np.c_[X, np.ones(len(X))], (2 * label - 1).tolist(), [range(len(X))])
    found = [([*w, b], survived) for w, b, survived in model.vectors()]
    assert found == [(v.tolist(), count) for v, count in run.more["vectors"] if count]
    assert sum(survived for _, survived in found) == model.t_


def test_every_problem_has_its_vectors_and_no_other_has_any():
    X, y = rows_of(3)
    model = VotedPerceptron(**THREE).fit(X, y)
    for problem in range(3):
        *_, (w, b, _) = model.vectors(problem)
        np.testing.assert_allclose(w, model._stream.state.W[problem], atol=1e-12)
        assert b == model._stream.state.b[problem]
    for problem in (3, -1, 1.0, True):
        with pytest.raises(InvalidInput, match="choose a row of coef_, 0 to 2"):
            model.vectors(problem)


def test_the_weights_cannot_be_assigned():
    model = VotedPerceptron().fit(*rows_of())
    with pytest.raises(InvalidInput, match="cannot be assigned"):
        model.coef_ = np.ones((1, 3))
    with pytest.raises(InvalidInput, match="cannot be assigned"):
        model.intercept_ = [1.0]


def test_the_average_of_a_stream_is_that_of_all_its_trials():
    X, y = rows_of()
    model, average = VotedPerceptron(), AveragedPerceptron()
    for start in (0, 20, 40):
        part = X[start : start + 20], y[start : start + 20]
        model.partial_fit(*part)
        average.partial_fit(*part)
        expected = average.decision_function(X)
        np.testing.assert_allclose(model.decision_function(X, aggregate="average"), expected, atol=1e-12)
        np.testing.assert_allclose(model.coef_, average.coef_, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_one_row_is_predicted_by_the_vote(classes):
    X, y = rows_of(classes)
    fitted = VotedPerceptron(**THREE).fit(X, y)
    stream = clone(fitted)
    for x, label in zip(X, y.tolist(), strict=True):
        stream.learn_one(x, label)
    for model in (fitted, stream):
        assert [model.predict_one(x) for x in X] == [model.predict(x[None])[0] for x in X]
        last = model.predict(X, aggregate="last").tolist()
        assert [model.predict_one(x) for x in X] != last  # or this test could not tell them apart


def test_an_unknown_aggregate_is_refused():
    model = VotedPerceptron().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InvalidInput, match=r"aggregate='best' is not known: choose one of 'vote', 'average', 'last'\."):
        model.predict([[0.0]], aggregate="best")


def test_a_vote_starts_from_zero():
    with pytest.raises(InvalidInput, match="starts from zero"):
        VotedPerceptron().fit([[0.0], [1.0]], [0, 1], coef_init=[[1.0]])
