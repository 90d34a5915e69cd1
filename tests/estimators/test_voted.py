"""The voted perceptron: one fit, three predictions."""

import warnings

import numpy as np
import pytest
from hypothesis import given
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
    assert voted.coef_.tolist() == plain.coef_.tolist()


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


def test_an_unknown_aggregate_is_refused_and_the_former_name_is_taken_with_a_warning():
    model = VotedPerceptron().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InvalidInput, match=r"aggregate='best' is not known: choose one of 'vote', 'average', 'last'\."):
        model.predict([[0.0]], aggregate="best")
    for use in (model.predict, model.decision_function):
        with pytest.warns(FutureWarning, match="use aggregate="):
            found = use([[0.0], [1.0]], method="last")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert found.tolist() == use([[0.0], [1.0]], aggregate="last").tolist()


def test_a_vote_starts_from_zero():
    with pytest.raises(InvalidInput, match="starts from zero"):
        VotedPerceptron().fit([[0.0], [1.0]], [0, 1], coef_init=[[1.0]])
