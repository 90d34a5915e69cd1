"""Attributes that are those of a stream: one owner, snapshots, and the record of a chunk."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from rosenblatt import AdalineRegressor, AveragedPerceptron, Perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.stopping import Stop

X, Y = np.eye(4), np.array([0, 1, 0, 1])


@pytest.mark.parametrize("name", ["coef_", "intercept_", "classes_", "t_", "mistakes_"])
def test_before_a_fit_nothing_is_there_and_the_error_says_what_to_do(name):
    with pytest.raises(AttributeError, match=f"has no {name} yet. Call fit or partial_fit first"):
        getattr(Perceptron(), name)
    with pytest.raises(NotFittedError):
        Perceptron().predict(X)


def test_a_fit_that_fails_leaves_what_was_learned():
    model = Perceptron().fit(X, Y)
    before = model.coef_
    with pytest.raises(InvalidInput):
        model.fit(X, [1, 1, 1, 1])
    assert model.coef_ is before


@pytest.mark.parametrize("model", [Perceptron(), AveragedPerceptron(), AdalineRegressor()], ids=str)
def test_the_record_of_a_chunk_speaks_of_the_chunk(model):
    model.partial_fit(X, Y).partial_fit(X[:3], Y[:3])
    run = model.run_
    assert (run.stop, run.epochs, run.trials, len(run.mistakes)) == (Stop.CHUNK, 1, 3, 1)
    assert model.t_ == 7
    assert "the chunk of the stream was over (rows: 3, m" in model.stop_reason_
    for word in ("epoch", "separable"):
        assert word not in model.stop_reason_


def test_assigned_weights_are_where_learning_goes_on():
    model = Perceptron(shuffle=False).fit(X, Y)
    model.coef_ = np.full((1, 4), 8.0)
    assert model.coef_.tolist() == [[8.0] * 4]
    model.partial_fit(X[:1], [0])  # a mistake: the row is scored above zero
    assert model.coef_.tolist() == [[7.0, 8.0, 8.0, 8.0]]
    model.intercept_ = [3.0]
    assert model.intercept_.tolist() == [3.0]
    for wrong in ([[1.0, 2.0]], "no", [[np.nan] * 4]):
        with pytest.raises(InvalidInput):
            model.coef_ = wrong
    assert model.coef_.tolist() == [[7.0, 8.0, 8.0, 8.0]]


def test_a_regression_shows_a_vector_and_a_number():
    model = AdalineRegressor().fit(X, Y)
    assert model.coef_.shape == (4,)
    assert isinstance(model.intercept_, float)
    model.coef_ = np.zeros(4)
    model.intercept_ = 2.5
    assert model.predict(X).tolist() == [2.5] * 4
