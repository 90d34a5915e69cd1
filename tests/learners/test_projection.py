"""Projected weights: what a state from a file must be, and what can be continued."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.alma import AlmaRule
from rosenblatt.learners.projection import Projected
from rosenblatt.learners.romma import RommaRule
from rosenblatt.training.algorithm import EpochArgs, new_counts
from rosenblatt.training.multiclass import coding_matrix, make_task


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [("scale", 0.0, "scales that are not positive"), ("corrections", -1, "fewer than no corrections")],
)
def test_a_state_that_no_loop_leaves_is_refused(field, value, fault):
    algorithm = Projected(AlmaRule(1.0))
    state = algorithm.start(2, 3, np.float64)
    getattr(state, field)[0] = value
    with pytest.raises(InvalidInput, match=fault):
        algorithm.check_state(state)


def test_a_scale_belongs_to_the_weights_and_not_to_the_bias():
    algorithm = Projected(AlmaRule(1.0))
    state = algorithm.start(1, 2, np.float32)
    state.W[:], state.b[:], state.scale[:] = [2.0, 4.0], 3.0, 0.5
    planes = algorithm.hyperplanes(state)
    assert (planes.W.tolist(), planes.b.tolist(), planes.W.dtype) == ([[1.0, 2.0]], [3.0], np.float32)


def test_another_share_goes_on_from_the_same_state():
    assert Projected(AlmaRule(1.0)).kind == Projected(AlmaRule(2.0)).kind
    assert Projected(AlmaRule(1.0)).kind != Projected(RommaRule(True)).kind


def present(rows, labels, rule, bias=0.0, cost=None):
    algorithm, every = Projected(rule), np.empty(0, np.int32)
    state = algorithm.start(1, rows.shape[1], np.float64)
    label = np.array(labels, np.int32)
    task = make_task(label, coding_matrix(2, "ovr"), "ovr", class_cost=cost, weight=np.empty(0), bias=bias)
    counts = new_counts(1)
    algorithm.run_epoch(
        EpochArgs(as_table(rows).rows, task, every, every, np.arange(1), 1.0, counts, False), state, state
    )
    return algorithm.hyperplanes(state), state, counts


@pytest.mark.parametrize("storage", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_a_correction_of_alma_ends_on_the_unit_ball(storage):
    planes, state, counts = present(storage([[3.0, 0.0, 4.0]]), [1], AlmaRule(1.0))
    np.testing.assert_allclose(planes.W[0], [0.6, 0.0, 0.8], rtol=1e-15)
    assert state.norm[0] == pytest.approx(1.0, rel=1e-15)
    assert (state.corrections.tolist(), state.t.tolist()) == ([1], [1])
    assert (counts.mistakes.tolist(), counts.updates.tolist(), counts.loss.tolist()) == ([1], [1], [1.0])


def test_the_padding_counts_in_the_norm_of_the_row_and_of_the_weights():
    planes, state, _ = present(np.array([[3.0]]), [0], AlmaRule(1.0), bias=16.0)
    np.testing.assert_allclose([planes.W[0, 0], planes.b[0] / 4.0], [-0.6, -0.8], rtol=1e-15)
    assert state.norm[0] == pytest.approx(1.0, rel=1e-15)


def test_the_norm_is_that_of_the_weights_after_many_corrections():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 4))
    planes, state, counts = present(X, rng.integers(0, 2, 500), AlmaRule(20.0), bias=1.0)
    assert counts.updates[0] > 300
    assert state.norm[0] == pytest.approx(planes.W[0] @ planes.W[0] + planes.b[0] ** 2, rel=1e-10)


def test_a_row_that_costs_nothing_is_passed_over():
    planes, state, counts = present(np.array([[1.0]]), [1], AlmaRule(1.0), cost=np.array([1.0, 0.0]))
    assert planes.W.tolist() == [[0.0]]
    assert (state.corrections.tolist(), state.t.tolist(), counts.updates.tolist()) == ([0], [1], [0])


def test_a_mistake_that_nothing_can_mend_is_not_rest():
    _, state, counts = present(np.array([[0.0]]), [1], AlmaRule(1.0))
    assert (counts.mistakes.tolist(), counts.updates.tolist(), state.corrections.tolist()) == ([1], [1], [0])


@pytest.mark.parametrize("storage", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_romma_takes_the_least_weights_that_meet_both_bounds(storage):
    # v = (1, 0) after the first row. The least w with w.v >= 1 and -(w_1 + w_2) >= 1 is (1, -2).
    planes, state, _ = present(storage([[1.0, 0.0], [1.0, 1.0]]), [1, 0], RommaRule(False))
    np.testing.assert_allclose(planes.W[0], [1.0, -2.0], rtol=1e-14)
    assert state.corrections.tolist() == [2]


@pytest.mark.parametrize(("aggressive", "wanted"), [(False, [1.0, 0.0]), (True, [2.0, 0.0])])
def test_aggressive_romma_updates_within_the_margin(aggressive, wanted):
    # The second row has a margin of 0.5: passed over, or brought to 1, where its own bound gives the least w.
    planes, _, counts = present(np.array([[1.0, 0.0], [0.5, 0.0]]), [1, 1], RommaRule(aggressive))
    np.testing.assert_allclose(planes.W[0], wanted, rtol=1e-14)
    assert (counts.mistakes.tolist(), counts.updates.tolist()) == ([1], [1 + aggressive])
