"""The ways to learn: their states grow, widen, merge and are stored, and keep the weights they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from rosenblatt import ALMA, AROW, ROMMA, Perceptron, PNormPerceptron, SoftMargin, VotedPerceptron
from rosenblatt.data.table import as_table
from rosenblatt.engine.rows import Hyperplanes
from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.storage.registry import Fault
from rosenblatt.training import stream as stream_module
from rosenblatt.training.algorithm import (
    EpochArgs,
    all_finite,
    best_order,
    check_start,
    copy_state,
    new_counts,
    order_of,
    start_state,
)
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import coding_matrix, make_task
from rosenblatt.training.scores import scores
from ways import METHODS, STREAMING, trained

methods = pytest.mark.parametrize("algorithm", METHODS.values(), ids=METHODS.keys())


@methods
def test_the_state_that_a_method_starts_and_trains_is_one_that_a_file_may_hold(algorithm):
    for dtype in (np.float32, np.float64):
        algorithm.check_state(algorithm.start(3, 4, dtype))
    algorithm.check_state(trained(algorithm)[0])
    assert isinstance(algorithm.start(1, 2, np.float64), algorithm.state_class)


@methods
def test_a_state_of_another_method_is_refused(algorithm):
    others = [other for other in METHODS.values() if other.kind != algorithm.kind and type(other) is type(algorithm)]
    strange = [trained(other)[0] for other in others if other.state_class is not algorithm.state_class]
    for state in strange:
        with pytest.raises(InvalidInput):
            algorithm.check_state(state)
    negative = trained(algorithm)[0]
    negative.t[0] = -1
    with pytest.raises(InvalidInput, match="fewer than no trials"):
        algorithm.check_state(negative)


@methods
def test_growing_keeps_the_problems_their_signs_changed_or_not(algorithm):
    state, _ = trained(algorithm)
    same = algorithm.grow(state, np.eye(3, dtype=np.int8))
    for name, old, new in zip(state._fields, algorithm.hyperplanes(state), algorithm.hyperplanes(same), strict=False):
        np.testing.assert_allclose(new, old, atol=1e-12, err_msg=name)
    change = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0]], np.int8)
    grown, before = algorithm.hyperplanes(algorithm.grow(state, change)), algorithm.hyperplanes(state)
    fresh = algorithm.hyperplanes(algorithm.start(1, 4, np.float64))
    for p, (q, sign) in enumerate([(1, 1), (0, -1), (None, 0), (2, 1), (1, 1)]):
        W, b = (fresh.W[0], fresh.b[0]) if q is None else (sign * before.W[q], sign * before.b[q])
        np.testing.assert_allclose(grown.W[p], W, atol=1e-12)
        np.testing.assert_allclose(grown.b[p], b, atol=1e-12)


@methods
def test_a_wider_state_scores_as_before_and_learns_on(algorithm):
    state, _ = trained(algorithm)
    wider = algorithm.widen(state, 7)
    algorithm.check_state(wider)
    old, new, fresh = (algorithm.hyperplanes(one) for one in (state, wider, algorithm.start(3, 7, np.float64)))
    np.testing.assert_allclose(new.W[:, :4], old.W, atol=1e-15)
    np.testing.assert_allclose(new.W[:, 4:], fresh.W[:, 4:])
    np.testing.assert_allclose(new.b, old.b)


@pytest.mark.parametrize("algorithm", STREAMING.values(), ids=STREAMING.keys())
def test_features_that_come_late_are_as_if_they_had_been_zero(algorithm):
    narrow, shown = trained(algorithm)
    padded = algorithm.start(3, 6, np.float64)
    rows = as_table(np.hstack([shown.rows.X, np.zeros((25, 2))])).rows
    algorithm.run_epoch(shown._replace(rows=rows, counts=new_counts(3)), padded, padded)
    for name, late, early in zip(padded._fields, algorithm.widen(narrow, 6), padded, strict=True):
        np.testing.assert_allclose(late, early, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", ["AROW", "balanced Winnow", "ALMA"])
def test_what_cannot_be_merged_says_so(name):
    with pytest.raises(InvalidInput, match="No meaningful mean of states"):
        METHODS[name].merge([], np.empty(0))


@methods
def test_a_copied_state_is_its_own(algorithm):
    state, _ = trained(algorithm)
    copied = copy_state(state)
    copied.W[:] = 99.0
    assert not (state.W == 99.0).any()
    copy_state(state, copied, slice(0, 1))
    assert copied.W[0].tolist() == state.W[0].tolist()
    assert (copied.W[1:] == 99.0).all()


def test_a_state_starts_with_given_weights_in_units_of_the_rate():
    state = start_state(METHODS["perceptron"], 2, as_table(np.eye(2)), ([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0]), 0.5)
    assert state.W.tolist() == [[2, 4], [6, 8]]
    assert state.b.tolist() == [10, 12]


BY_FEATURE = {name: algorithm for name, algorithm in METHODS.items() if algorithm.by_feature}
JOINTLY = {name: algorithm for name, algorithm in BY_FEATURE.items() if name != "pocket"}
LAYOUTS = [
    *((False, np.float64, name) for name in BY_FEATURE),
    *((True, np.float64, name) for name in JOINTLY),
    (True, np.float32, "perceptron"),
    # The same loops, compiled once more.
    *(pytest.param(True, np.float32, name, marks=pytest.mark.long) for name in JOINTLY if name != "perceptron"),
]


def sparse_pass(joint=False, classes=9, n=60, d=40, seed=1, dtype=np.float64):
    """Return a pass over sparse rows of up to 20 entries with values that sums depend on the order of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < rng.random((n, 1)) / 2)
    label, sign = rng.integers(0, classes, n).astype(np.int32), coding_matrix(classes, "ovr")
    task = make_task(label, sign, "ovr", weight=np.empty(0), bias=1.0)
    counts, every = new_counts(1 if joint else classes), np.empty(0, np.int32)
    rows = as_table(sp.csr_matrix(X.astype(dtype))).rows
    return EpochArgs(rows, task, rng.permutation(n).astype(np.int32), every, np.arange(classes), 1.0, counts, joint)


@pytest.mark.parametrize(("joint", "dtype", "name"), LAYOUTS)
def test_the_layout_of_the_weights_changes_no_bit(joint, dtype, name):
    algorithm = BY_FEATURE[name]
    states = [algorithm.start(9, 40, dtype, order) for order in ("C", "F")]
    for state in states:
        shown = sparse_pass(joint, dtype=dtype)
        for _ in range(3):
            algorithm.run_epoch(shown, state, state)
    assert [order_of(state.W) for state in states] == ["C", "F"]
    for name, one, other in zip(states[0]._fields, *states, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)
    table = as_table(sp.csr_matrix((shown.rows.data, shown.rows.indices, shown.rows.indptr), shape=(60, 40)))
    found = [scores(table, algorithm.hyperplanes(state)) for state in states]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("algorithm", BY_FEATURE.values(), ids=BY_FEATURE.keys())
def test_problems_learn_alike_alone_and_together(algorithm):
    together, alone = (algorithm.start(9, 40, np.float64, "F") for _ in range(2))
    shown = sparse_pass()
    algorithm.run_epoch(shown, together, together)
    for active in ([0, 8], [1], [2, 3, 4, 5], [6, 7]):  # two of nine that lie apart, neighbours, one
        algorithm.run_epoch(shown._replace(active=np.array(active)), alone, alone)
    for name, one, other in zip(together._fields, together, alone, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)


def test_the_layout_is_for_sparse_rows_of_several_problems():
    sparse, dense, perceptron = as_table(sp.csr_matrix(np.eye(3))), as_table(np.eye(3)), METHODS["perceptron"]
    assert best_order(perceptron, 3, sparse, by_pairs=False) == "F"
    for algorithm, problems, table, by_pairs in [
        (perceptron, 1, sparse, False),
        (perceptron, 3, dense, False),
        (perceptron, 3, sparse, True),
        (METHODS["AROW, full"], 3, sparse, False),
    ]:
        assert best_order(algorithm, problems, table, by_pairs=by_pairs) == "C"


@pytest.mark.parametrize("algorithm", BY_FEATURE.values(), ids=BY_FEATURE.keys())
def test_the_layout_stays_when_a_state_is_copied_grown_or_widened(algorithm):
    state = algorithm.start(3, 5, np.float64, "F")
    for other in (copy_state(state), algorithm.grow(state, np.eye(4, 3, dtype=np.int8)), algorithm.widen(state, 9)):
        assert order_of(other.W) == "F"
    assert order_of(copy_state(state, part=slice(2)).W) == "F"


def test_scores_and_streams_do_not_depend_on_the_pieces_that_they_are_cut_into(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (50, 4)).astype(float)
    y = rng.integers(0, 3, 50)
    for rows in (X, sp.csr_matrix(X)):
        whole = Perceptron().partial_fit(rows, y)
        expected = whole.decision_function(rows)
        with monkeypatch.context() as patch:
            patch.setattr(stream_module, "PIECE_ENTRIES", 30)
            patch.setattr("rosenblatt.training.scores.PIECE_ENTRIES", 30)
            pieces = Perceptron().partial_fit(rows, y)
            assert pieces.coef_.tolist() == whole.coef_.tolist()
            assert pieces.decision_function(rows).tolist() == expected.tolist()


@pytest.mark.parametrize("model", [Perceptron(), VotedPerceptron(), AROW()], ids=str)
def test_nothing_of_an_interrupted_chunk_is_learned(monkeypatch, model):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.integers(0, 2, 60)
    model = clone(model).partial_fit(X, y)
    before, trials = model.coef_.copy(), model.t_
    kind, calls = type(model._algorithm()), []
    present = kind.run_epoch

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return present(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(stream_module, "PIECE_ENTRIES", 30)
        patch.setattr(kind, "run_epoch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X, rng.integers(0, 3, 60))
    assert len(calls) == 3
    assert (model.coef_.tolist(), model.t_, model.classes_.tolist()) == (before.tolist(), trials, [0, 1])
    again = clone(model).partial_fit(X, y)
    assert model.partial_fit(X, y).coef_.tolist() == again.partial_fit(X, y).coef_.tolist()


# Each trial multiplies the weights of the penalised ones by a tenth, which the tenth trial writes to all of them.
FAR_REACHING = [
    AROW(covariance="full"),
    ROMMA(),
    ALMA(),
    PNormPerceptron(),
    Perceptron(penalty="l2", alpha=0.9),
    Perceptron(penalty="elasticnet", alpha=0.9, l1_ratio=0.001),
    Perceptron(penalty="l2", alpha=0.9, multiclass="joint"),
    SoftMargin(alpha=0.9, schedule="constant", eta0=1.0, average=True),
]


@pytest.mark.parametrize("model", FAR_REACHING, ids=str)
def test_sparse_rows_of_an_interrupted_chunk_leave_the_other_weights_alone(monkeypatch, model):
    rng = np.random.default_rng(0)
    classes = 3 if getattr(model, "multiclass", "") == "joint" else 2
    X, y = rng.standard_normal((60, 30)), rng.integers(0, classes, 60)
    model = clone(model).partial_fit(X, y)
    few = sp.csr_matrix((rng.standard_normal(20), (np.arange(20), np.arange(20) % 3)), shape=(20, 30))
    kind, calls = type(model._algorithm()), []
    before, present = [array.copy() for array in model._stream.state], kind.run_epoch

    def interrupted(self, shown, state, into):
        calls.append(1)
        if len(calls) == 12:
            raise KeyboardInterrupt
        if isinstance(model, (ALMA, ROMMA)):
            state.scale[:] = 1e-12  # to be multiplied in at once
        return present(self, shown, state, into)

    with monkeypatch.context() as patch:
        patch.setattr(stream_module, "PIECE_ENTRIES", 1)
        patch.setattr(kind, "run_epoch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(few, np.arange(20) % 2)
    assert [array.tolist() for array in model._stream.state] == [array.tolist() for array in before]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_whose_squares_overflow_are_finite_and_no_warning_says_otherwise(dtype):
    large = np.array([[np.finfo(dtype).max, 1.0]], dtype)
    none = np.zeros_like(large)
    for W, b, finite in ((large, 1.0, True), (large, np.inf, False), (none, np.nan, False), (none, 1.0, True)):
        assert all_finite(Hyperplanes(W, np.array([b], dtype))) is finite


def state_of(problems, features, order="C"):
    algorithm = FirstOrder(perceptron(), averaged=True)
    state = algorithm.start(problems, features, np.float32, order)
    state.W[:], state.lag[:], state.t[:] = np.arange(state.W.size).reshape(state.W.shape), 2.0, 7
    return algorithm, state


def test_a_start_is_checked_and_spread_over_the_problems():
    W, b = check_start(([1.0, 2.0], 3.0), 3, 2)
    assert W.tolist() == [[1, 2]] * 3
    assert b.tolist() == [3, 3, 3]
    for wrong in (np.ones(2), ([1.0], 0.0), ("ab", 0.0), ([1.0, np.nan], 0.0), None, 3):
        with pytest.raises(InvalidInput, match="init"):
            check_start(wrong, 3, 2)


@pytest.mark.parametrize("order", ["C", "F"])
def test_more_problems_are_old_ones_with_either_sign_or_new(order):
    algorithm, state = state_of(2, 3, order)
    found = algorithm.grow(state, np.array([[0, 1], [-1, 0], [0, 0]]))
    assert found.W.tolist() == [[3, 4, 5], [0, -1, -2], [0, 0, 0]]
    assert found.lag[:, 0].tolist() == [2, -2, 0]
    assert found.t.tolist() == [7, 7, 0]
    assert found.W.dtype == np.float32


@pytest.mark.parametrize("order", ["C", "F"])
def test_more_features_have_no_weight(order):
    algorithm, state = state_of(2, 2, order)
    found = algorithm.widen(state, 4)
    assert found.W.tolist() == [[0, 1, 0, 0], [2, 3, 0, 0]]
    assert found.lag.tolist() == [[2, 2, 0, 0]] * 2


def test_a_state_from_a_file_has_the_shapes_that_loops_read():
    algorithm, state = state_of(2, 3)
    algorithm.check_state(state)
    for wrong in (state._replace(b=np.zeros(3, np.float32)), state._replace(t=state.t - 9), state._replace(W=state.b)):
        with pytest.raises(Fault, match="the state"):
            algorithm.check_state(wrong)
