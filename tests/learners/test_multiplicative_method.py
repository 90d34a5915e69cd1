"""Weights that are multiplied: promotions, demotions, elimination."""

import numpy as np
import pytest

from rosenblatt.data.table import as_table
from rosenblatt.learners.winnow import BalancedWinnowRule, Multiplicative, WinnowRule
from rosenblatt.training.algorithm import EpochArgs, new_counts
from rosenblatt.training.multiclass import code, make_task


def after(algorithm, X, label):
    """Return the state after one pass over two classes."""
    sign, every = code(2, "ovr"), np.empty(0, np.int32)
    task = make_task(np.array(label, np.int32), sign, "ovr", weight=np.empty(0), bias=0.0)
    state = algorithm.start(1, len(X[0]), np.float64)
    rows = as_table(np.array(X, float)).rows
    algorithm.run_epoch(EpochArgs(rows, task, every, every, np.arange(1), 1.0, new_counts(1), False), state, state)
    return state


def test_a_promotion_multiplies_the_weights_of_the_features_that_are_there():
    state = after(Multiplicative(WinnowRule(2.0, False), 3.0), [[1, 0, 1]], [1])
    assert state.W.tolist() == [[2.0, 1.0, 2.0]]


@pytest.mark.parametrize(("eliminate", "weight"), [(False, 0.5), (True, 0.0)])
def test_a_demotion_divides_or_eliminates(eliminate, weight):
    state = after(Multiplicative(WinnowRule(2.0, eliminate), 0.5), [[1, 0, 1]], [0])
    assert state.W.tolist() == [[weight, 1.0, weight]]


def test_balanced_weights_take_either_sign():
    rule = BalancedWinnowRule(2.0)
    assert after(Multiplicative(rule), [[1, -1]], [1]).W.tolist() == [[1.5, -1.5]]
    assert after(Multiplicative(rule), [[1, -1]], [0]).W.tolist() == [[-1.5, 1.5]]


def test_states_of_other_rules_are_of_another_kind():
    rules = WinnowRule(2.0, False), WinnowRule(2.0, True), BalancedWinnowRule(2.0)
    assert len({Multiplicative(rule, threshold).kind for rule in rules for threshold in (1.0, 2.0)}) == 6
