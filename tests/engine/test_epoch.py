"""The compiled engine against the oracle, on every storage and number type."""

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from oracles import reference
from rosenblatt import train
from rosenblatt.engine.epoch import Learner, rate_at, settle
from rosenblatt.learners.soft_margin import hinge
from rosenblatt.training.first_order import FirstOrder
from strategies import integer_sets, small


def csr(X, index):
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


STORAGES = {
    "dense float64": lambda X: X,
    "dense float32": lambda X: X.astype(np.float32),
    "csr float64 int32": lambda X: csr(X, np.int32),
    "csr float64 int64": lambda X: csr(X, np.int64),
    "csr float32 int32": lambda X: csr(X.astype(np.float32), np.int32),
    "csr float32 int64": lambda X: csr(X.astype(np.float32), np.int64),
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "lists": lambda X: X.tolist(),
}
# For 64-bit indices every loop is compiled again. Scikit-learn's checks of Perceptron and AROW have them, too.
CASES = [pytest.param(make, id=name, marks=[pytest.mark.long] * ("int64" in name)) for name, make in STORAGES.items()]
storage = pytest.mark.parametrize("stored", CASES)


@storage
@given(integer_sets(), st.integers(1, 5))
def test_single_sample_perceptron_is_the_lectures(stored, data, epochs):
    X, label = data
    run = train(stored(X), label, order="cyclic", max_iter=epochs, tol=None)
    w, b, mistakes = reference.perceptron(X.tolist(), (2 * label - 1).tolist(), [range(len(X))] * epochs)
    assert (run.coef.tolist(), run.intercept.tolist()) == ([w], [b])
    assert run.mistakes == tuple(mistakes[: run.epochs])


@storage
@given(integer_sets(), st.integers(1, 4))
def test_batch_perceptron_is_the_lectures(stored, data, epochs):
    X, label = data
    run = train(stored(X), label, order="cyclic", max_iter=epochs, tol=None, batch=True)
    w, b = reference.batch_perceptron(X.tolist(), (2 * label - 1).tolist(), epochs)
    assert (run.coef.tolist(), run.intercept.tolist()) == ([w], [b])


@given(integer_sets(), st.lists(small, min_size=6, max_size=6), st.lists(st.integers(0, 3), min_size=24, max_size=24))
def test_any_start_and_any_weights(data, start, weights):
    X, label = data
    weights = np.array(weights[: len(X)])
    if not weights.any():
        return
    w0, b0 = start[: X.shape[1]], start[-1]
    run = train(X, label, order="cyclic", max_iter=3, tol=None, init=(w0, b0), sample_weight=weights)
    used = [i for i in range(len(X)) if weights[i]]
    w, b, _ = reference.perceptron(
        X.tolist(), (2 * label - 1).tolist(), [used] * 3, w0=w0, b0=b0, weights=weights.tolist()
    )
    assert (run.coef.tolist(), run.intercept.tolist()) == ([w], [b])


@pytest.mark.parametrize(
    ("schedule", "rate"),
    [
        ("1/t", lambda t: Fraction(1, t)),
        ("1/sqrt(t)", lambda t: t**-0.5),
        ("step", lambda t: Fraction(1, 2 ** ((t - 1) // 10))),
        (lambda t: 3.0 - t / 50, lambda t: 3.0 - t / 50),
    ],
    ids=["1/t", "1/sqrt(t)", "step", "callable"],
)
def test_learning_rate_schedules_follow_their_formula(schedule, rate):
    rng = np.random.default_rng(3)
    X, label = rng.integers(-5, 6, (40, 3)).astype(float), rng.integers(0, 2, 40)
    run = train(X, label, order="cyclic", max_iter=24, tol=None, schedule=schedule)
    rates = [float(rate(t)) for t in range(1, 25)]
    w, b, _ = reference.perceptron(X.tolist(), (2 * label - 1).tolist(), [range(40)] * 24, rates=rates)
    np.testing.assert_allclose(run.coef[0], w, rtol=1e-9)
    np.testing.assert_allclose(run.intercept[0], b, rtol=1e-9, atol=1e-12)


@storage
@given(integer_sets(classes=3), st.integers(1, 4))
def test_one_vs_all_in_one_pass_is_one_perceptron_per_class(stored, data, epochs):
    X, label = data
    run = train(stored(X), label, order="cyclic", max_iter=epochs, tol=None)
    expected = reference.one_vs_all(X.tolist(), label.tolist(), 3, [range(len(X))] * epochs)
    assert run.coef.tolist() == [w for w, _, _ in expected]
    assert run.intercept.tolist() == [b for _, b, _ in expected]


@storage
@given(integer_sets(classes=4, most_rows=20), st.integers(1, 4))
def test_one_vs_one_in_one_pass_is_one_perceptron_per_pair(stored, data, epochs):
    X, label = data
    run = train(stored(X), label, order="cyclic", max_iter=epochs, tol=None, multiclass="ovo")
    expected = reference.one_vs_one(X.tolist(), label.tolist(), 4, [range(len(X))] * epochs)
    assert run.coef.tolist() == [w for w, _, _ in expected]
    assert run.intercept.tolist() == [b for _, b, _ in expected]


def test_the_kernels_run_as_plain_python():
    script = (
        "import numpy as np, scipy.sparse as sp\n"
        "from rosenblatt import train\n"
        "X = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)\n"
        "for rows in (X, sp.csr_array(X)):\n"
        "    run = train(rows, [-1, 1, 1, 1], order='cyclic')\n"
        "    assert run.coef.tolist() == [[2, 2]] and run.updates == 9, run\n"
        "    for multiclass in ('ovr', 'ovo', 'joint'):\n"
        "        train(rows, [0, 1, 2, 1], multiclass=multiclass, max_iter=5, keep='best')\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, env=environment)


def test_all_that_is_owed_is_paid_but_not_past_zero():
    state = FirstOrder(hinge(), l1=0.1, l2=0.1).start(1, 4, np.float64)
    state.W[:], state.scale[:], state.owed[:] = [[4.0, 1.0, -1.0, 0.0]], 0.5, 0.75
    settle(state)
    assert state.W.tolist() == [[1.25, 0.0, 0.0, 0.0]]
    assert state.scale.tolist() == [1.0]
    settle(state)
    assert state.W.tolist() == [[1.25, 0.0, 0.0, 0.0]], "and only once"


def test_a_rate_stays_or_falls_with_the_trials():
    assert [rate_at(Learner(0.3), t) for t in (1, 5, 1000)] == [0.3] * 3
    assert [rate_at(Learner(0.3, 2.0, 3.0), t) for t in (1, 2)] == [1 / 8, 1 / 10]
