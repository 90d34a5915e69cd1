"""First-order rules: what merging means, and where the rate goes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.table import as_table
from rosenblatt.engine.rules import passive_aggressive, perceptron
from rosenblatt.learners.arow import Arow
from rosenblatt.learners.pocket import PocketAlgorithm
from rosenblatt.learners.soft_margin import hinge
from rosenblatt.learners.voted_perceptron import Voted
from rosenblatt.learners.winnow import BalancedWinnowRule, Multiplicative, WinnowRule
from rosenblatt.training.algorithm import EpochArgs, new_counts
from rosenblatt.training.first_order import FirstOrder, Penalty
from rosenblatt.training.multiclass import code, make_task

METHODS = {
    "perceptron": FirstOrder(perceptron()),
    "averaged": FirstOrder(perceptron(), averaged=True),
    "ridge": FirstOrder(hinge(), Penalty(l2=0.1)),
    "elastic net, averaged": FirstOrder(hinge(), Penalty(0.1, 0.1), averaged=True),
    "passive-aggressive": FirstOrder(passive_aggressive(C=1.0)),
    "voted": Voted(perceptron()),
    "AROW": Arow(1.0),
    "AROW, full": Arow(1.0, full=True),
    "balanced Winnow": Multiplicative(BalancedWinnowRule(1.5)),
    "Winnow": Multiplicative(WinnowRule(2.0, False), 1.5),
    "pocket": PocketAlgorithm(),
}


def trained(algorithm, classes=3, n=25, d=4, seed=0, state=None):
    rng = np.random.default_rng(seed)
    X, label = rng.integers(0, 4, (n, d)).astype(float), rng.integers(0, classes, n).astype(np.int32)
    sign = code(classes, "ovr")
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
