"""The loop of the Winnow family, by hand."""

import numpy as np
import pytest

from rosenblatt.data.table import as_table
from rosenblatt.learners.winnow import BalancedWinnowRule, Multiplicative, WinnowRule
from rosenblatt.training.algorithm import EpochArgs, new_counts
from rosenblatt.training.multiclass import code, make_task


@pytest.mark.parametrize(
    ("rule", "threshold", "label", "wanted"),
    [
        (WinnowRule(2.0, False), 9.0, 1, [2.0, 1.0, 4.0]),
        (WinnowRule(2.0, False), 0.5, 0, [0.5, 1.0, 0.25]),
        (WinnowRule(2.0, True), 0.5, 0, [0.0, 1.0, 0.0]),
        (BalancedWinnowRule(2.0), 0.0, 1, [1.5, 0.0, 3.75]),
    ],
    ids=["promotion", "demotion", "elimination", "balanced"],
)
def test_a_mistake_multiplies_the_weights_of_the_features_of_the_row(rule, threshold, label, wanted):
    algorithm, every = Multiplicative(rule, threshold), np.empty(0, np.int32)
    state = algorithm.start(1, 3, np.float64)
    task = make_task(np.array([label], np.int32), code(2, "ovr"), "ovr", weight=np.empty(0), bias=0.0)
    rows, counts = as_table([[1.0, 0.0, 2.0]]).rows, new_counts(1)
    algorithm.run_epoch(EpochArgs(rows, task, every, every, np.arange(1), 1.0, counts, False), state, state)
    assert state.W[0].tolist() == wanted
    assert counts.mistakes.tolist() == [1]
