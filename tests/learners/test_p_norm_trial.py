"""The loop of the p-norm perceptron, by hand."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.learners.p_norm import PNorm
from rosenblatt.training.algorithm import EpochArgs, new_counts
from rosenblatt.training.multiclass import code, make_task

storages = pytest.mark.parametrize("storage", [np.array, sp.csr_array], ids=["dense", "sparse"])


def present(rows, labels, power, bias=0.0, cost=None, dtype=np.float64):
    algorithm, every = PNorm(power), np.empty(0, np.int32)
    state = algorithm.start(1, rows.shape[1], dtype)
    label = np.array(labels, np.int32)
    task = make_task(label, code(2, "ovr"), "ovr", class_cost=cost, weight=np.empty(0), bias=bias)
    counts = new_counts(1)
    table = as_table(rows.astype(dtype))
    algorithm.run_epoch(EpochArgs(table.rows, task, every, every, np.arange(1), 1.0, counts, False), state, state)
    return algorithm.hyperplanes(state), state, counts


@storages
def test_a_mistake_is_added_to_theta_and_the_weights_are_its_link(storage):
    planes, state, counts = present(storage([[3.0, 0.0, -4.0]]), [1], 4.0)
    assert state.theta.tolist() == [[3.0, 0.0, -4.0]]
    np.testing.assert_allclose(planes.W[0], np.array([27.0, 0.0, -64.0]) / (81 + 256) ** 0.5, rtol=1e-14)
    assert (counts.mistakes.tolist(), counts.updates.tolist(), counts.loss.tolist()) == ([1], [1], [0.0])


def test_the_padding_is_an_entry_of_its_length():
    planes, state, _ = present(np.array([[2.0]]), [0], 3.0, bias=16.0)
    assert (state.theta.tolist(), state.theta_b.tolist()) == ([[-2.0]], [-16.0])
    expected = -np.array([2.0**2, 4.0 * 4.0**2]) / (8 + 64) ** (1 / 3)
    np.testing.assert_allclose([planes.W[0, 0], planes.b[0]], expected, rtol=1e-14)


@storages
@pytest.mark.parametrize(("dtype", "rel"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_the_sum_of_powers_is_that_of_theta_after_many_updates(storage, dtype, rel):
    rng = np.random.default_rng(0)
    X = storage(rng.standard_normal((2000, 4)) * (rng.random((2000, 4)) < 0.5))
    _, state, counts = present(X, rng.integers(0, 2, 2000), 8.0, bias=1.0, dtype=dtype)
    assert counts.updates[0] > 500
    theta = np.append(state.theta[0], state.theta_b[0]).astype(float)
    assert state.power_sum[0] == pytest.approx((np.abs(theta / state.unit[0]) ** 8).sum(), rel=rel)
    assert 2.0**-10 <= state.power_sum[0] <= 2.0**10


@pytest.mark.parametrize("power", [2.0, 5.0])
def test_theta_that_comes_back_to_zero_leaves_no_weights_and_goes_on(power):
    there_and_back = np.array([[0.1, 0.7], [-0.1, -0.7]])
    planes, state, counts = present(there_and_back, [1, 1], power, bias=0.0)
    assert (planes.W.tolist(), state.power_sum.tolist(), counts.mistakes.tolist()) == ([[0.0, 0.0]], [0.0], [2])
    planes, _, counts = present(np.r_[there_and_back, [[3.0, 0.0]]], [1, 1, 0], power)
    np.testing.assert_allclose(planes.W, [[-3.0, 0.0]], rtol=1e-14)
    assert counts.mistakes.tolist() == [3]


def test_a_row_that_costs_nothing_is_passed_over():
    planes, state, counts = present(np.array([[1.0]]), [1], 3.0, cost=np.array([1.0, 0.0]))
    assert planes.W.tolist() == [[0.0]]
    assert (state.t.tolist(), counts.updates.tolist()) == ([1], [0])


def test_the_loss_is_that_of_the_weights_and_not_of_their_units():
    rows, labels = np.array([[3.0, 4.0], [1.0, 1.0]]), [1, 0]
    planes, _, _ = present(rows[:1], labels[:1], 6.0)
    _, _, counts = present(rows, labels, 6.0)
    assert counts.loss[0] == pytest.approx(planes.W[0] @ rows[1], rel=1e-12)


def test_ties_of_whole_numbers_stay_ties():
    # theta = (3, 4, 5): its squares are those of a right triangle.
    _, state, counts = present(np.array([[3.0, 4.0, 5.0], [7.0, 7.0, -7.0]]), [1, 1], 3.0)
    assert (counts.mistakes.tolist(), counts.loss.tolist()) == ([2], [0.0])
    assert state.theta.tolist() == [[10.0, 11.0, -2.0]]
