"""First-order rules: what merging means, and where the rate goes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import AveragedPerceptron, SoftMargin
from rosenblatt.data.table import as_table
from rosenblatt.engine.rules import passive_aggressive, perceptron
from rosenblatt.learners.arow import Arow
from rosenblatt.learners.pocket import PocketAlgorithm
from rosenblatt.learners.soft_margin import hinge, logistic
from rosenblatt.learners.voted_perceptron import Voted
from rosenblatt.learners.winnow import Multiplicative, WinnowRule
from rosenblatt.storage.registry import Fault
from rosenblatt.training import first_order
from rosenblatt.training.algorithm import FEW_WEIGHTS, EpochArgs, new_counts, order_of
from rosenblatt.training.first_order import FirstOrder, HarmonicRate, average, restart_average
from rosenblatt.training.multiclass import coding_matrix, make_task

METHODS = {
    "perceptron": FirstOrder(perceptron()),
    "averaged": FirstOrder(perceptron(), averaged=True),
    "ridge": FirstOrder(hinge(), l2=0.1),
    "elastic net, averaged": FirstOrder(hinge(), l1=0.1, l2=0.1, averaged=True),
    "passive-aggressive": FirstOrder(passive_aggressive(C=1.0)),
    "voted": Voted(perceptron()),
    "AROW": Arow(1.0),
    "AROW, full": Arow(1.0, full=True),
    "balanced Winnow": Multiplicative(WinnowRule(1.5, balanced=True)),
    "Winnow": Multiplicative(WinnowRule(2.0, False), 1.5),
    "pocket": PocketAlgorithm(),
}


def trained(algorithm, classes=3, n=25, d=4, seed=0, state=None):
    rng = np.random.default_rng(seed)
    X, label = rng.integers(0, 4, (n, d)).astype(float), rng.integers(0, classes, n).astype(np.int32)
    sign = coding_matrix(classes, "ovr")
    task = make_task(label, sign, "ovr", weight=np.empty(0), bias=1.0)
    state = algorithm.start(sign.shape[1], d, np.float64) if state is None else state
    every, counts = np.empty(0, np.int32), new_counts(sign.shape[1])
    shown = EpochArgs(as_table(X).rows, task, every, every, np.arange(sign.shape[1]), 1.0, counts, False)
    algorithm.run_epoch(shown, state, state)
    return state, shown


@pytest.mark.parametrize("name", ["perceptron", "averaged", "ridge", "elastic net, averaged", "passive-aggressive"])
def test_the_merged_weights_are_the_mean_and_the_merged_average_counts_every_trial(name):
    algorithm = METHODS[name]
    states = [trained(algorithm, n=n, seed=n)[0] for n in (10, 25, 40)]
    share = np.array([0.2, 0.3, 0.5])
    merged = algorithm.merge(states, share)
    algorithm.check_state(merged)
    assert merged.t.tolist() == [75, 75, 75]
    W = sum(s * state.scale[:, None] * state.W for s, state in zip(share, states, strict=True))
    np.testing.assert_allclose(merged.scale[:, None] * merged.W, W, atol=1e-12)
    if algorithm.averaged and not algorithm.penalised:
        total = sum(state.t[:, None] * algorithm.hyperplanes(state).W for state in states)
        np.testing.assert_allclose(algorithm.hyperplanes(merged).W, total / 75, atol=1e-12)
    trained(algorithm, state=merged)  # and it goes on


@given(st.floats(0.01, 100.0))
def test_the_rate_is_taken_out_of_the_state_only_where_it_scales(eta):
    assert METHODS["perceptron"].rate_scale(eta) == METHODS["averaged"].rate_scale(eta) == eta
    for name in ("ridge", "passive-aggressive", "AROW", "balanced Winnow"):
        assert METHODS[name].rate_scale(eta) == 1.0


def rows(classes, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(12, 3)), np.arange(12) % classes


def weights_after_each_trial(model, X, y, epochs):
    """Present the rows one by one, and return the weights and biases after each."""
    found = []
    for _ in range(epochs):
        for i in range(y.size):
            model.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.unique(y))
            found.append(np.column_stack([model.coef_, model.intercept_]))
    return found


@pytest.mark.parametrize("epochs", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("options", [{}, {"penalty": None, "schedule": "constant"}, {"loss": "logistic", "alpha": 0.5}])
def test_a_soft_margin_is_the_average_since_the_last_power_of_two(epochs, classes, layout, options):
    X, y = rows(classes)
    options = {"shuffle": False, **options}
    model = SoftMargin(max_iter=epochs, tol=None, **options).fit(layout(X), y)
    found = weights_after_each_trial(SoftMargin(average=False, **options), X, y, epochs)
    begin = 2 ** int(np.log2(epochs))
    # The weights that the average begins with count as those of a trial; those before the first epoch do not.
    wanted = np.mean(found[y.size * (begin - 1) - 1 :] if begin > 1 else found, axis=0)
    np.testing.assert_allclose(np.column_stack([model.coef_, model.intercept_]), wanted, rtol=1e-9, atol=1e-12)


def test_the_averaged_perceptron_is_the_average_over_all_trials():
    X, y = rows(2, 1)
    X, y = np.round(3 * X), np.roll(y, 1)
    model = AveragedPerceptron(max_iter=4, tol=None, shuffle=False).fit(X, y)
    assert model.n_iter_ == 4
    total, w = np.zeros(4), np.zeros(4)
    for _ in range(4):
        for x, c in zip(X, y, strict=True):
            x, sign = np.append(x, 1.0), 2 * c - 1
            if sign * (w @ x) <= 0:
                w = w + sign * x
            total += w
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), total / 48)


def test_an_average_that_begins_anew_is_the_weights_as_they_are():
    algorithm = FirstOrder(hinge(), l2=0.1, averaged=True, late=True)
    state = algorithm.start(2, 3, np.float64)
    state.W[:], state.b[:], state.t[:], state.scale[:] = 2.0, 3.0, [1, 5], [1.0, 0.5]
    restart_average(state, [0, 1])
    algorithm.check_state(state)
    found = average(algorithm._folded(state))
    assert found.W.tolist() == [[2.0] * 3, [1.0] * 3]
    assert found.b.tolist() == [3.0, 3.0]


def test_a_problem_that_has_ended_keeps_its_average():
    algorithm = FirstOrder(hinge(), averaged=True, late=True)
    state = algorithm.start(2, 1, np.float64)
    state.W[:], state.t[:], state.scale_sum[:], state.lag[:] = 4.0, 4, 4.0, 6.0
    before = average(state).W[0, 0]
    algorithm.begin_epoch(2, [1], state)
    assert average(state).W[:, 0].tolist() == [before, 4.0]
    algorithm.begin_epoch(3, [0], state)
    assert average(state).W[0, 0] == before


@pytest.mark.parametrize("skipped", [-1, 6])
def test_a_state_that_skips_trials_that_were_not_made_is_refused(skipped):
    algorithm = FirstOrder(hinge(), averaged=True, late=True)
    state = algorithm.start(1, 2, np.float64)
    state.t[:], state.skipped[:] = 5, skipped
    with pytest.raises(Fault, match="skips trials"):
        algorithm.check_state(state)


LEARNERS = {
    "hinge": FirstOrder(hinge(), l2=1e-3, rate=HarmonicRate(1e-3, 1e3), averaged=True, late=True),
    "hinge from the first trial": FirstOrder(hinge(), l2=0.1, rate=HarmonicRate(0.1, 0.0), averaged=True),
    "hinge that vanishes": FirstOrder(hinge(), l2=0.6, rate=HarmonicRate(0.01, 2.0), averaged=True),
    "logistic": FirstOrder(logistic(), averaged=True),
    "perceptron": FirstOrder(perceptron(), averaged=True),
}


def sparse_pass(problems, order, dtype):
    """Return a pass over 50 sparse rows with values that sums depend on the order of, some of them empty."""
    rng = np.random.default_rng(problems)
    X = rng.normal(size=(50, 30)) * (rng.random((50, 30)) < 0.3)
    X[::9] = 0.0
    label = rng.integers(0, problems, 50).astype(np.int32)
    task = make_task(label, coding_matrix(problems, "ovr"), "ovr", weight=rng.random(50), bias=1.0)
    orders = {"stored": np.empty(0, np.int32), "mixed": rng.permutation(50)[:41], "drawn": rng.integers(0, 50, 70)}
    rows, every = as_table(sp.csr_array(X.astype(dtype))).rows, np.empty(0, np.int32)
    active = np.delete(np.arange(problems), [0, 2] if problems > 3 else [])
    return EpochArgs(rows, task, orders[order].astype(np.int32), every, active, 1.0, new_counts(problems), joint=False)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("problems", [3, 21])
@pytest.mark.parametrize(
    ("order", "dtype"),
    [
        ("stored", "f8"),
        pytest.param("stored", "f4", marks=pytest.mark.long),  # the same loops, compiled once more
        ("mixed", "f8"),
        ("drawn", "f8"),
    ],
)
def test_the_memory_order_of_the_weights_changes_no_bit(name, problems, order, dtype):
    algorithm = LEARNERS[name]
    states = [algorithm.start(problems, 30, dtype, memory) for memory in ("C", "F")]
    for state in states:
        for _ in range(2):
            algorithm.run_epoch(sparse_pass(problems, order, dtype), state, state)
    for field, one, other in zip(states[0]._fields, *states, strict=True):
        assert one.tobytes("C") == other.tobytes("C"), field
    assert states[0].lag.any()


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_penalty_of_many_weights_is_told_before_they_are_derived_or_not_at_all(averaged, dtype, monkeypatch):
    monkeypatch.setattr(first_order, "CACHED_BYTES", 0)
    algorithm = FirstOrder(hinge(), l2=0.25, rate=HarmonicRate(0.25, 10.0), averaged=averaged)
    state = algorithm.start(3, 30, dtype, "F")
    algorithm.run_epoch(sparse_pass(3, "mixed", dtype), state, state)
    assert algorithm.penalty_of(state) == pytest.approx(algorithm.penalty_value(algorithm.hyperplanes(state)), rel=1e-5)
    largest = np.finfo(dtype).max
    for unsure in (
        state._replace(W=np.full((3, 30), np.inf, dtype, order="F")),
        state._replace(b=np.full(3, np.nan, dtype)),
        state._replace(W=np.full((3, 30), largest, dtype, order="F"), scale=np.full(3, 9.0)),
        state._replace(W=state.W.copy("C"), lag=state.lag.copy("C")),
    ):
        with np.errstate(over="raise"):  # which says that nothing warns
            assert algorithm.penalty_of(unsure) is None


def test_a_loop_averages_as_numpy_does():
    algorithm, problems = LEARNERS["hinge"], 30
    state = algorithm.start(problems, 200, np.float64, "F")
    rng = np.random.default_rng(0)
    state.W[:], state.lag[:], state.t[:] = rng.normal(size=(30, 200)), rng.normal(size=(30, 200)), np.arange(30)
    state.scale_sum[:] = rng.random(30)
    assert state.W.size > FEW_WEIGHTS
    wanted = average(state._replace(W=state.W.copy("C"), lag=state.lag.copy("C")))
    found = average(state)
    assert order_of(found.W) == "F"
    assert found.W.tobytes("C") == wanted.W.tobytes("C")


def test_all_averages_begin_anew_as_each_does():
    algorithm, states = FirstOrder(hinge(), averaged=True), []
    for problems in ([0, 1, 2], slice(None), [2, 0, 1]):
        states.append(algorithm.start(3, 4, np.float64, "F"))
        states[-1].W[:], states[-1].b[:], states[-1].t[:], states[-1].lag[:] = 2.0, [3.0, 4.0, 5.0], [1, 5, 0], 7.0
        restart_average(states[-1], problems)
    assert not states[0].lag.any()
    assert states[0].skipped.tolist() == [0, 4, 0]
    assert [[part.tolist() for part in state] for state in states[1:]] == [[part.tolist() for part in states[0]]] * 2


@pytest.mark.parametrize("shape", [(3, 7), (1, 1), (100, 1000)])
@pytest.mark.parametrize(("dtype", "order"), [(np.float32, "F"), (float, "C"), ("f8", "F")])
def test_zeros_begin_with_a_line_of_the_cache(shape, dtype, order):
    found, wanted = first_order._aligned_zeros(shape, dtype, order), np.zeros(shape, dtype, order)
    assert found.ctypes.data % first_order.LINE_BYTES == 0
    assert (found.shape, found.dtype, found.strides) == (wanted.shape, wanted.dtype, wanted.strides)
    assert found.flags.writeable
    assert not found.any()
    assert first_order._aligned_zeros((shape[0], 0), dtype, order).shape == (shape[0], 0)
