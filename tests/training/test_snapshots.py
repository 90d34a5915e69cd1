"""What a few sparse rows ask of a stream is done with the weights that they touch, and gives the same bits."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from members import STREAMS
from rosenblatt import AveragedPerceptron, Perceptron, SoftMargin
from rosenblatt.data.table import as_table
from rosenblatt.training.scores import touched_part, touches_few
from rosenblatt.training.snapshots import Snapshot, stays_local

FEATURES = 1 << 18
DERIVED = [
    AveragedPerceptron(),
    Perceptron(eta0=0.1),
    SoftMargin(),
    SoftMargin(penalty="elasticnet"),
    SoftMargin(average=True),
]


def text(rows=20, entries=60, classes=2, features=FEATURES, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((rows, features), density=entries / features, format="csr", rng=rng)
    return X, np.arange(rows) % classes


def peak_bytes(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("model", STREAMS + DERIVED, ids=str)
def test_a_few_rows_have_the_scores_that_all_weights_give_them(model, classes):
    X, y = text(40, 9, classes, features=5_000)
    stream = clone(model).partial_fit(abs(X), y)._stream
    few = as_table(abs(X[:5]))
    assert touches_few(few, X.shape[1])
    by_part = stream.problem_scores(few)
    stream.hyperplanes()
    assert by_part.tobytes() == stream.problem_scores(few).tobytes()


@pytest.mark.parametrize("model", DERIVED, ids=str)
def test_a_chunk_and_a_prediction_take_memory_for_their_entries_only(model):
    """Ten copies of the entries, say, but not a tenth of the weights."""
    X, y = text()
    model = clone(model).partial_fit(X, y)
    model.predict(X)
    for use in (lambda: model.partial_fit(X, y), lambda: model.predict(X)):
        assert peak_bytes(use) < 0.1 * model._stream.state.W.nbytes


@pytest.mark.parametrize(
    ("model", "copies"),
    [
        (Perceptron(keep="last"), 1),
        (Perceptron(), 2),  # and the best ones so far
        (Perceptron(shuffle=False), 3),  # and those that a cycle would come back to
        (AveragedPerceptron(), 5),  # with what they lag behind, and their average
        (AveragedPerceptron(max_iter=2), 5),  # which goes back to the best ones at its end
    ],
    ids=str,
)
def test_a_fit_holds_the_weights_that_it_needs_and_no_further_copy(model, copies):
    X, y = text(100)
    clone(model).fit(X, y)  # which loads the loops
    assert peak_bytes(lambda: clone(model).fit(X, y)) < (copies + 0.5) * 8 * FEATURES


def test_rows_with_many_entries_and_dense_rows_are_not_looked_at_alone():
    X, _ = text(40, 9, features=1_000)
    assert touches_few(as_table(X[:5]), 1_000)
    assert not touches_few(as_table(X), 1_000)
    assert not touches_few(as_table(X[:1].toarray()), 1_000)


def test_the_part_that_rows_touch_keeps_their_values():
    X, y = text(6, 4, 3, features=50)
    state = AveragedPerceptron().partial_fit(X, y)._stream.state
    table = as_table(X[2:4])
    part, rows = touched_part(state, table)
    columns = X[2:4].indices
    assert rows.shape == (2, columns.size)
    assert rows.matrix().sum(axis=1).tolist() == X[2:4].sum(axis=1)[:, None].tolist()
    assert rows.rows.indices.tolist() == list(range(columns.size))
    assert (state.W[:, columns] == part.W).all()
    assert (part.lag == state.lag[:, columns]).all()
    assert part.b is state.b


@pytest.mark.parametrize("penalty", ["l2", "elasticnet"])
def test_a_penalty_reaches_all_weights_where_the_scale_gets_too_small(penalty):
    X, y = text(40, 4, 2, features=50)
    stream = Perceptron(penalty=penalty, alpha=0.5).partial_fit(X, y)._stream
    stream.state.scale[:] = 1.0
    assert stays_local(stream.settings.algorithm, stream.state, 1.0, 8)  # 2^-8 is more than 2e-3
    assert not stays_local(stream.settings.algorithm, stream.state, 1.0, 40)  # 2^-40 is less
    assert stays_local(Perceptron().partial_fit(X, y)._stream.settings.algorithm, stream.state, 1.0, 40)


@pytest.mark.parametrize("dense", [True, False])
def test_undo_puts_back_what_the_rows_touch(dense):
    X, y = text(6, 4, 3, features=50)
    state = AveragedPerceptron().partial_fit(X, y)._stream.state
    before = [array.copy() for array in state]
    undo = Snapshot(state, as_table(X[:2].toarray() if dense else X[:2]).rows)
    state.W[:, X[:2].indices] = np.nan
    state.lag[:, X[:2].indices] = np.inf
    state.b[:], state.t[:] = np.nan, -1
    undo.restore()
    assert all((array == old).all() for array, old in zip(state, before, strict=True))
