"""First-order rules with a matrix of learning rates."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.in_memory import Job, run
from rosenblatt.learn.multiclass import code, make_task
from rosenblatt.learn.plan import Plan
from rosenblatt.methods import whitened
from rosenblatt.methods.first_order import FirstOrder
from rosenblatt.methods.method import Pass, new_counts
from rosenblatt.methods.whitened import LONG, Whitened
from rosenblatt.storage.registry import Fault
from rosenblatt.verbs.rules import NormalisedLmsRule

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((60, 3)) @ (np.eye(3) + 0.5) * [1.0, 8.0, 0.125] + [5.0, -3.0, 0.0]
X[RANDOM.random(X.shape) < 0.2] = 0.0
Y = (np.arange(60) % 3).astype(np.int32)
CENTRE = X.mean(axis=0)
RATES = np.linalg.inv(np.cov(X.T))
WEIGHT = RANDOM.random(60) + 0.5


def learned(method, rows, eta, bias=1.0, mode="ovr", epochs=3, **more):
    table, sign = as_table(rows), code(3, mode)
    state = method.start(sign.shape[1], table.shape[1], table.dtype)
    task = make_task(Y, sign, mode, weight=WEIGHT, bias=bias)
    run(Job(method, table, task, Plan(order="cyclic", epochs=epochs, tol=None, eta=eta, **more), mode), state)
    return state


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("mode", ["ovr", "ovo"])
def test_a_matrix_of_rates_stands_for_whitened_rows(kind, averaged, mode):
    method = Whitened(NormalisedLmsRule(4.0), averaged=averaged, whitening=np.vstack([RATES, CENTRE]))
    found = method.hyperplanes(learned(method, kind(X), 0.1, mode=mode))
    root = np.linalg.cholesky(RATES)
    plain = FirstOrder(NormalisedLmsRule(4.0), averaged=averaged)
    wanted = plain.hyperplanes(learned(plain, (X - CENTRE) @ root, LONG * 0.1, mode=mode))
    np.testing.assert_allclose(found.W, wanted.W @ root.T, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.b, wanted.b - found.W @ CENTRE, rtol=1e-8, atol=1e-12)


def test_without_a_bias_there_is_none_and_nothing_is_moved():
    method = Whitened(NormalisedLmsRule(4.0), whitening=np.vstack([RATES, np.zeros(3)]))
    found, root = learned(method, X, 0.1, bias=0.0), np.linalg.cholesky(RATES)
    wanted = learned(FirstOrder(NormalisedLmsRule(4.0)), X @ root, LONG * 0.1, bias=0.0)
    np.testing.assert_allclose(found.W, wanted.W @ root.T, rtol=1e-8)
    assert not found.b.any()


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_directions_that_are_kept_are_those_that_are_computed_again(kind, monkeypatch):
    states = []
    for entries in (whitened.KEPT_ENTRIES, 0):
        monkeypatch.setattr(whitened, "KEPT_ENTRIES", entries)
        method = Whitened(NormalisedLmsRule(4.0), averaged=True, whitening=np.vstack([RATES, CENTRE]))
        states.append(learned(method, kind(X), 0.1))
        assert (method._kept is None) == (entries == 0)
    for one, other in zip(*states, strict=True):
        np.testing.assert_array_equal(one, other)


def test_threads_do_not_matter():
    whitening = np.vstack([RATES, CENTRE])
    states = [learned(Whitened(NormalisedLmsRule(4.0), whitening=whitening), X, 0.1, threads=k) for k in (1, 2)]
    np.testing.assert_array_equal(states[0].W, states[1].W)


def test_a_stream_keeps_no_directions_for_its_array_may_be_filled_anew():
    method, given = Whitened(NormalisedLmsRule(4.0), whitening=np.vstack([RATES, CENTRE])), X.copy()
    states = [method.start(3, 3, np.float64) for _ in range(2)]
    task, none = make_task(Y, code(3, "ovr"), "ovr", weight=np.empty(0), bias=1.0), np.empty(0, np.int32)
    for part in (X, X[::-1].copy()):
        given[:] = part
        for state, rows in zip(states, (given, part), strict=True):
            shown = Pass(as_table(rows).rows, task, none, none, np.arange(3), 0.1, new_counts(3), joint=False)
            method.present(shown, state, state)
    np.testing.assert_array_equal(states[0].W, states[1].W)
    assert method._kept is None


def test_features_that_appear_later_have_the_median_as_their_own_rate():
    found = Whitened(NormalisedLmsRule(), whitening=np.array([[4.0, 1.0], [1.0, 2.0], [7.0, 8.0]]))._whitening(3, 1.0)
    assert found.matrix.tolist() == [[4.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 4.0]]
    assert found.centre.tolist() == [7.0, 8.0, 0.0]


def test_a_matrix_for_other_rows_is_cut_or_refused_and_never_read_beyond():
    whitening = np.array([[4.0, 1.0], [1.0, 2.0], [7.0, 8.0]])
    method = Whitened(NormalisedLmsRule(), whitening=whitening)
    assert method._whitening(1, 1.0).matrix.tolist() == [[4.0]]
    with pytest.raises(Fault, match="for 2 features, of 1"):
        method.check_state(method.start(1, 1, np.float64))
    with pytest.raises(InvalidInput, match="shape"):
        Whitened(NormalisedLmsRule(), whitening=whitening[:2])


def test_a_copy_leaves_the_directions_behind():
    method = Whitened(NormalisedLmsRule(4.0), whitening=np.vstack([RATES, CENTRE]))
    learned(method, X, 0.1)
    assert method._kept is not None
    assert pickle.loads(pickle.dumps(method))._kept is None
