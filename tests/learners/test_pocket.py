"""The pocket: never worse, and no streams."""

import traceback

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import PocketPerceptron
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import pocket
from rosenblatt.learners.pocket import PocketAlgorithm, new_room, run_pocket_epoch
from rosenblatt.training.algorithm import EpochArgs, never, new_counts
from rosenblatt.training.multiclass import coding_matrix, make_task
from strategies import integer_sets


@given(integer_sets(classes=3), st.integers(0, 3))
@settings(max_examples=40)
def test_the_pocket_of_every_problem_has_the_errors_it_counted(data, seed):
    X, label = data
    for multiclass in ("ovr", "ovo"):
        model = PocketPerceptron(multiclass=multiclass, max_iter=4, tol=None, random_state=seed).fit(X, label)
        stream = model._stream
        sign = stream.settings.coding_matrix(3)[:, : stream.known][label]
        wrong = (sign * (X @ model.coef_.T + model.intercept_) <= 0) & (sign != 0)
        assert stream.state.errors.tolist() == wrong.sum(0).tolist()


def test_the_weights_of_a_row_count_in_its_errors():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1, 0])
    light = PocketPerceptron(max_iter=3000, tol=None).fit(X, y)
    assert light.score(X, y) == 0.8
    heavy = PocketPerceptron(max_iter=3000, tol=None).fit(X, y, sample_weight=[1, 1, 1, 1, 9])
    assert heavy.predict([[4.0]])[0] == 0


@pytest.mark.parametrize("name", ["partial_fit", "learn_one"])
def test_it_looks_back_at_all_rows_and_says_so(name):
    model = PocketPerceptron()
    assert not hasattr(model, name)
    with pytest.raises(AttributeError) as caught:
        getattr(model, name)
    assert "looks back at all rows" in "".join(traceback.format_exception(caught.value))


def test_there_is_no_joint_pocket():
    with pytest.raises(InvalidInput, match="does not exist for PocketPerceptron: choose one of 'ovr', 'ovo'"):
        PocketPerceptron(multiclass="joint").fit(np.eye(3), [0, 1, 2])


def errors(X, y, planes):
    return int((y * (X @ planes.W[0] + planes.b[0]) <= 0).sum())


def test_the_errors_of_the_pocket_never_rise_and_are_those_that_it_counts():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (30, 2)).astype(float)
    label = (X[:, 0] + rng.standard_normal(30) > 0).astype(np.int32)
    algorithm, every = PocketAlgorithm(), np.empty(0, np.int32)
    task = make_task(label, coding_matrix(2, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    state, found = algorithm.start(1, 2, np.float64), []
    for _ in range(20):
        order = rng.integers(0, 30, 30).astype(np.int32)
        shown = EpochArgs(as_table(X).rows, task, order, every, np.arange(1), 1.0, new_counts(1), False)
        algorithm.run_epoch(shown, state, state)
        algorithm.end_epoch(shown, state)
        found.append(errors(X, 2 * label - 1, algorithm.hyperplanes(state)))
        assert found[-1] == state.errors[0]
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[0]
    assert state.settled[0], "the rows cannot be separated"


def problems_of(algorithm, rows, label, classes=3):
    task = make_task(label, coding_matrix(classes, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    every, active = np.empty(0, np.int32), np.arange(classes)
    return lambda late=never: EpochArgs(rows, task, every, every, active, 1.0, new_counts(classes), False, late)


def test_sparse_rows_side_by_side_fill_the_same_pockets():
    rng = np.random.default_rng(1)
    X, label = rng.integers(-3, 4, (60, 5)) * rng.integers(0, 2, (60, 5)) * 1.0, rng.integers(0, 3, 60).astype(np.int32)
    found = []
    for rows, order in (
        (as_table(X).rows, "C"),
        (as_table(sp.csr_array(X)).rows, "C"),
        (as_table(sp.csr_array(X)).rows, "F"),
    ):
        algorithm = PocketAlgorithm()
        state, shown = algorithm.start(3, 5, np.float64, order), problems_of(algorithm, rows, label)
        for _ in range(12):
            present = shown()
            algorithm.run_epoch(present, state, state)
            algorithm.end_epoch(present, state)
        found.append([array.tolist() for array in state])
    assert found[0] == found[1] == found[2]


def test_rows_are_counted_alike_in_blocks_of_any_size(monkeypatch):
    rng = np.random.default_rng(3)
    X, label = rng.integers(-3, 4, (40, 3)).astype(float), rng.integers(0, 3, 40).astype(np.int32)
    found = []
    for scores in (1, 7, 1 << 20):
        monkeypatch.setattr(pocket, "SCORES_AT_ONCE", scores)
        algorithm = PocketAlgorithm()
        state, shown = algorithm.start(3, 3, np.float64), problems_of(algorithm, as_table(X).rows, label)()
        algorithm.run_epoch(shown, state, state)
        algorithm.end_epoch(shown, state)
        found.append([array.tolist() for array in state])
    assert found[0] == found[1] == found[2]
    sign = 2 * np.eye(3)[label] - 1
    assert found[0][7] == (sign * (X @ state.W.T + state.b) <= 0).sum(axis=0).tolist()


def test_an_empty_pocket_predicts_with_the_weights_that_there_are():
    rng = np.random.default_rng(2)
    X, label = rng.standard_normal((50, 4)), rng.integers(0, 3, 50).astype(np.int32)
    algorithm = PocketAlgorithm()
    state, shown = algorithm.start(3, 4, np.float64), problems_of(algorithm, as_table(X).rows, label)()
    algorithm.run_epoch(shown, state, state)
    assert np.isinf(state.errors).all()
    assert algorithm.hyperplanes(state).W.tolist() == state.W.tolist()
    algorithm.end_epoch(shown, state)
    assert np.isfinite(state.errors).all()


def test_an_epoch_can_be_interrupted_while_all_rows_are_looked_at(monkeypatch):
    monkeypatch.setattr(pocket, "ENTRIES_PER_SLICE", 8)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    label = (X[:, 0] > 0).astype(np.int32)
    algorithm, every = PocketAlgorithm(), np.empty(0, np.int32)
    task = make_task(label, coding_matrix(2, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    state, counts = algorithm.start(1, 2, np.float64), new_counts(1)
    state.settled[:] = 1
    looks = iter([False] * 100)
    late = lambda: next(looks, True)  # noqa: E731
    shown = EpochArgs(as_table(X).rows, task, every, every, np.arange(1), 1.0, counts, False, late)
    trials = algorithm.run_epoch(shown, state, state)
    assert 0 < trials < 300
    assert trials == state.t[0]
    assert np.isfinite(state.errors[0]), "the pocket is not empty"


def test_a_loop_that_is_cut_into_pieces_learns_the_same():
    random = np.random.default_rng(0)
    X, label = random.integers(-4, 5, (40, 3)).astype(float), random.integers(0, 3, 40).astype(np.int32)
    task = make_task(label, coding_matrix(3, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    rows, every, found = as_table(X).rows, np.empty(0, np.int32), []
    for most in (1, 7, 10**6):
        state, counts = PocketAlgorithm().start(3, 3, np.float64), new_counts(3)
        state.settled[:] = 1
        room, calls = new_room(state), 1
        while not run_pocket_epoch(rows, task, every, every, np.arange(3), state, counts, room, most):
            calls += 1
        assert (calls == 1) == (most > 10**3)
        found.append([array.tolist() for array in (*state, *counts)])
    assert found[0] == found[1] == found[2]
