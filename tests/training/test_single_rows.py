"""Single rows: the same as a chunk of one row, and as `predict`; what is refused leaves nothing behind."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from members import others_long
from rosenblatt import (
    ALMA,
    AROW,
    Adaline,
    AdalineRegressor,
    AveragedPerceptron,
    PassiveAggressive,
    Perceptron,
    PNormPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
)
from rosenblatt.data.table import as_table
from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.arow import Arow
from rosenblatt.training.algorithm import RowTask, copy_state, new_counts
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import make_task
from rosenblatt.training.snapshots import MIN_ENTRIES, ReplayLog
from ways import STREAMING, trained


class State(NamedTuple):
    W: np.ndarray
    b: np.ndarray


def test_a_journal_leads_back_to_the_state_after_the_last_row_written_down():
    state = State(np.zeros((1, 2)), np.zeros(1))
    journal = ReplayLog(state)

    def learn(c, values, columns):
        state.W[0] += values * (2 * c - 1)
        state.b[:] += 0.1
        return 0

    rng = np.random.default_rng(0)
    for k in range(2 * MIN_ENTRIES):  # the copy is made anew now and then
        row = rng.standard_normal(2)
        learn(k % 2, row, None)
        journal.note(learn, k % 2, (row, None))
    before = [array.copy() for array in state]
    learn(1, np.full(2, np.inf), None)
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


def test_a_row_that_was_undone_is_not_learned_when_a_later_one_overflows():
    model = Adaline(**DIVERGING)
    for k in range(4):
        model.learn_one(np.array([[1e-30, 2e-30], [2e-30, -1e-30]][k % 2]), k % 2)
    stream = model._stream
    undo = stream.begin()
    stream.learn_known(np.array([3e-30, 1e-30]), 1)
    undo()
    for k in range(40):
        before = [array.copy() for array in stream.state]
        try:
            model.learn_one(np.ones(2), k % 2)
        except InvalidInput:
            break
    else:
        pytest.fail("the weights did not overflow")
    assert all(np.array_equal(old, new) for old, new in zip(before, stream.state, strict=True))


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


# ---------------------------------------------------------------------------------------------------- one compiled call

MEMBERS = [
    Perceptron(),
    Perceptron(eta0=0.3, multiclass="ovo"),
    Perceptron(multiclass="joint"),
    AveragedPerceptron(),
    PassiveAggressive(),
    SoftMargin(alpha=0.01),
    SoftMargin(alpha=0.01, average=True),
    SoftMargin(alpha=0.01, penalty="l1"),
    AROW(),
    ALMA(),
    PNormPerceptron(),
    Winnow(factor=1.5),
    VotedPerceptron(),
]
KINDS = {
    "arrays": lambda x: x,
    "every second number of an array": lambda x: np.repeat(x, 2)[::2],
    "lists": lambda x: x.tolist(),
    "sparse": lambda x: sp.csr_array(x[None]),
    "dicts": lambda x: {f"f{j}": value for j, value in enumerate(x.tolist())},
    "dicts in another order": lambda x: {f"f{j}": x[j] for j in np.argsort(x)},
}


def rows_of(classes, seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 7)) * (rng.random((n, 7)) < 0.7)
    y = (X @ rng.standard_normal((7, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y.tolist()


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("member", others_long(MEMBERS), ids=str)
def test_predict_one_says_what_predict_says(member, kind, classes):
    if "dicts" in kind and isinstance(member, VotedPerceptron):
        pytest.skip("takes arrays")
    X, y = rows_of(classes)
    model = clone(member)
    model.learn_one(KINDS["dicts"](X[0]) if "dicts" in kind else X[0], y[0])
    for x, label in zip(X[1:], y[1:], strict=True):
        found = model.predict_one(KINDS[kind](x))
        assert type(found) is int
        table = pd.DataFrame([KINDS["dicts"](x)]) if "dicts" in kind else x[None]
        scores = np.sort(np.ravel(model.decision_function(table)))
        tie = scores[-1] - scores[-2] if scores.size > 1 else abs(scores[0])
        assert found == model.predict(table)[0] or tie < 1e-12
        model.learn_one(KINDS[kind](x), label)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", ["arrays", "sparse", "dicts", "dicts in another order"])
@pytest.mark.parametrize(
    "member",
    [Perceptron(), AveragedPerceptron(), PassiveAggressive(), Adaline(average=True), SoftMargin(alpha=0.01), AROW()],
    ids=str,
)
def test_single_rows_have_the_bits_of_a_chunk(member, kind, classes):
    X, y = rows_of(classes)
    one, chunk = clone(member), clone(member)
    # Rows of dicts have all columns from the first on, so that they are those of the matrix.
    one.learn_one(KINDS["dicts"](X[0]) if "dicts" in kind else KINDS[kind](X[0]), y[0])
    for x, label in zip(X[1:], y[1:], strict=True):
        one.learn_one(KINDS[kind](x), label)
    whole = sp.csr_array(X) if kind == "sparse" else X
    if "dicts" in kind:  # which store their zeros
        whole = sp.csr_array((X.ravel(), np.tile(np.arange(7), len(X)), np.arange(0, X.size + 1, 7)), X.shape)
    for k in range(classes):  # a new class multiplies the scales into the weights, which rounds
        chunk.partial_fit(whole[[k]], y[k : k + 1])
    chunk.partial_fit(whole[classes:], y[classes:])
    np.testing.assert_array_equal(one.coef_, chunk.coef_)
    np.testing.assert_array_equal(one.intercept_, chunk.intercept_)
    assert one.t_ == chunk.t_


@pytest.mark.parametrize("kind", ["arrays", "sparse", "dicts"])
@pytest.mark.parametrize("member", [Perceptron, AveragedPerceptron, PassiveAggressive], ids=lambda kind: kind.__name__)
def test_a_mistake_that_no_step_can_mend_counts_as_in_a_chunk(member, kind):
    one, chunk = member(fit_intercept=False), member(fit_intercept=False)
    for x, label in zip(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), [0, 1, 0], strict=True):
        before = chunk.mistakes_ if chunk.__sklearn_is_fitted__() else 0
        chunk.partial_fit(x[None], [label], classes=[0, 1])
        assert one.learn_one(KINDS[kind](x), label) == (chunk.mistakes_ > before)


def test_before_the_first_row_the_answer_is_that_of_river():
    for row in ({"a": 1.0}, np.ones(2), [1.0, 2.0], sp.csr_array(np.ones((1, 2)))):
        assert Perceptron().predict_one(row) is None
        assert AROW().predict_one(row) is None
        assert AdalineRegressor().predict_one(row) == 0.0
        assert SoftMargin(loss="logistic").predict_proba_one(row) == {}
    model = Perceptron()
    model.learn_one({"a": 1.0}, "only")
    assert model.predict_one({"a": -3.0}) == model.predict_one({"other": 1.0}) == model.predict_one({}) == "only"


@pytest.mark.parametrize("member", [Perceptron(), AveragedPerceptron(), AROW(), AdalineRegressor()], ids=str)
@pytest.mark.parametrize("as_dict", [True, False])
def test_what_is_no_row_is_refused_by_both(member, as_dict):
    model, rng = clone(member), np.random.default_rng(0)
    for k, x in enumerate(rng.standard_normal((6, 2))):
        model.learn_one({"a": x[0], "b": x[1]} if as_dict else x, k % 2)
    wrong = [{"a": 1.0, "b": value} for value in (np.nan, np.inf, 1e200, "text", None, [1.0], 10**400)]
    if not as_dict:
        wrong = [np.array([1.0, value]) for value in (np.nan, np.inf, 1e200)]
        wrong += [np.ones(3), np.ones(1), np.ones((2, 2)), np.array(1.0), ["a", "b"], {"a": 1.0}]
    before, trials = [array.copy() for array in model._stream.state], model.t_
    for row in wrong:
        with pytest.raises(InvalidInput):
            model.predict_one(row)
        with pytest.raises(InvalidInput):
            model.learn_one(row, 1)
    assert model.t_ == trials
    assert all(np.array_equal(old, new) for old, new in zip(before, model._stream.state, strict=True))


@pytest.mark.parametrize(("columns", "values"), [([2], 1), ([0, 5], 2), ([-1, 0], 2), ([0], 2), ([0, 1], 1)])
def test_a_compiled_call_refuses_columns_that_there_are_not(columns, values):
    W, columns = np.zeros((1, 2)), np.array(columns)
    row, task = (
        (np.ones(values).tobytes(), columns),
        make_task(np.empty(0, np.int32), np.array([[-1], [1]], np.int8), "ovr", weight=np.empty(0), bias=1.0),
    )
    for algorithm in (FirstOrder(perceptron()), FirstOrder(perceptron(), averaged=True), Arow(1.0)):
        state = algorithm.start(1, W.shape[1], np.float64)
        assert algorithm.row_learner(RowTask(task, 1.0, False, 1), state, row)(1, *row) == -1
        assert np.isnan(algorithm.row_scorer(1, state, row)(*row))
        assert not state.W.any()


def test_threads_that_predict_share_nothing():
    rng = np.random.default_rng(0)
    rows = [{f"f{j}": value for j, value in enumerate(x)} for x in rng.standard_normal((50, 20)).tolist()]
    model = AveragedPerceptron()
    for k, row in enumerate(rows):
        model.learn_one(row, k % 3)
    expected = [model.predict_one(row) for row in rows]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: [model.predict_one(row) for row in rows], range(40)))
    assert all(one == expected for one in found)


def test_threads_may_predict_while_one_learns_new_names_and_classes():
    model = Perceptron()
    model.learn_one({"f0": 1.0}, 0)
    stop, wrong = threading.Event(), []

    def predict():
        while not stop.is_set():
            for width in (1, 50, 400):
                try:
                    model.predict_one({f"f{j}": 1.0 for j in range(width)})
                except Exception as error:
                    wrong.append(error)

    threads = [threading.Thread(target=predict) for _ in range(3)]
    for thread in threads:
        thread.start()
    for k in range(400):
        model.learn_one({f"f{k}": 1.0, "f0": -1.0}, k % 5)
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert model.t_ == 401


@pytest.mark.parametrize("algorithm", STREAMING.values(), ids=STREAMING.keys())
@pytest.mark.parametrize("row", [(np.zeros(4), None), (bytes(32), np.arange(4))], ids=["dense", "sparse"])
def test_one_row_at_a_time_is_the_pass(algorithm, row):
    _, shown = trained(algorithm)
    X, whole = shown.rows.X, algorithm.start(3, 4, np.float64)
    shown = shown._replace(rows=as_table(X if row[1] is None else sp.csr_array(X)).rows, counts=new_counts(3))
    algorithm.run_epoch(shown, whole, whole)
    state, total = algorithm.start(3, 4, np.float64), 0
    learn = algorithm.row_learner(RowTask(shown.task, 1.0, False, 3), state, row)
    for i in range(25):
        places = np.flatnonzero(X[i])
        one = (X[i].copy(), None) if row[1] is None else (X[i, places].tobytes(), places)
        total += learn(int(shown.task.label[i]), *one)
    for name, one, other in zip(state._fields, state, whole, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)
    assert total == shown.counts.mistakes.sum()


@pytest.mark.parametrize("algorithm", STREAMING.values(), ids=STREAMING.keys())
def test_a_row_that_is_not_finite_teaches_nothing(algorithm):
    state, shown = trained(algorithm)
    before = copy_state(state)
    for row in ((np.array([1.0, 1.0, np.nan, 1.0]), None), (np.array([1.0, np.inf]).tobytes(), np.array([0, 3]))):
        assert algorithm.row_learner(RowTask(shown.task, 1.0, False, 3), state, row)(0, *row) == -1
    for old, new in zip(before, state, strict=True):
        np.testing.assert_array_equal(old, new)
