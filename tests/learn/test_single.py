"""Single rows: a journal leads back to the state before the last one."""

from typing import NamedTuple

import numpy as np
import pytest

from rosenblatt import AROW, Adaline, AveragedPerceptron, PassiveAggressive, Perceptron, SoftMargin
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.single import MIN_ENTRIES, Journal


class State(NamedTuple):
    W: np.ndarray
    b: np.ndarray


def test_a_journal_leads_back_to_the_state_after_the_last_row_written_down():
    state = State(np.zeros((1, 2)), np.zeros(1))
    journal = Journal(state)

    def learn(row, c):
        state.W[0] += row[0] * (2 * c - 1)
        state.b[:] += 0.1
        return 0

    rng = np.random.default_rng(0)
    for k in range(2 * MIN_ENTRIES):  # the copy is made anew now and then
        row = rng.standard_normal(2)
        learn((row,), k % 2)
        journal.note(learn, (row,), k % 2)
    before = [array.copy() for array in state]
    learn((np.full(2, np.inf),), 1)
    journal.restore()
    assert all(np.array_equal(old, new) for old, new in zip(before, state, strict=True))
    assert len(journal.rows) < MIN_ENTRIES


DIVERGING = {"normalised": False, "eta0": 1e50, "fit_intercept": False}
MODELS = [Adaline(**DIVERGING), Adaline(average=True, **DIVERGING)]
AS_ROW = {"array": lambda x: np.array(x), "list": list, "dict": lambda x: {"a": x[0], "b": x[1]}}


@pytest.mark.parametrize("form", AS_ROW)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_row_that_makes_the_weights_overflow_is_refused_and_undone(model, form):
    model = model.__class__(**model.get_params())
    rows = [[1e-30, 2e-30], [2e-30, -1e-30], [3e-30, 1e-30]]
    for k in range(6):
        model.learn_one(AS_ROW[form](rows[k % 3]), k % 2)
    before, trials = [array.copy() for array in model._stream.state], model.t_
    told = None
    for k in range(40):
        try:
            model.learn_one(AS_ROW[form]([1.0, 1.0]), k % 2)
        except InvalidInput as error:
            told = str(error)
            break
        before, trials = [array.copy() for array in model._stream.state], model.t_
    assert told is not None
    assert "The weights overflowed float64" in told
    assert "Nothing was learned from this row" in told
    assert model.t_ == trials
    assert all(np.array_equal(old, new) for old, new in zip(before, model._stream.state, strict=True))
    model.learn_one(AS_ROW[form]([0.0, 0.0]), 0)  # and the stream goes on


@pytest.mark.parametrize(
    "model", [Perceptron(), AveragedPerceptron(), PassiveAggressive(), AROW(), SoftMargin()], ids=str
)
def test_whether_rows_are_written_down_changes_nothing(model):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), rng.integers(0, 3, 50)
    y[:3] = [0, 1, 2]
    one = model.__class__(**model.get_params())
    for x, label in zip(X, y, strict=True):
        one.learn_one(x, int(label))
        x[:] = np.nan  # what was written down is not the user's array
    X = np.random.default_rng(0).standard_normal((50, 3))
    chunk = model.__class__(**model.get_params()).partial_fit(X[:1], y[:1]).partial_fit(X[1:], y[1:])
    np.testing.assert_allclose(one.coef_, chunk.coef_, rtol=1e-9)
