"""Penalties: scales folded in, truncation paid."""

import numpy as np

from rosenblatt.methods.first_order import FirstOrder
from rosenblatt.engine.rules import hinge
from rosenblatt.engine.epoch import rate_at, settle
from rosenblatt.methods.first_order import HarmonicRate, Penalty


def test_all_that_is_owed_is_paid_but_not_past_zero():
    state = FirstOrder(hinge(), ElasticNet(0.1, 0.1)).start(1, 4, np.float64)
    state.W[:], state.scale[:], state.owed[:] = [[4.0, 1.0, -1.0, 0.0]], 0.5, 0.75
    settle(state)
    assert state.W.tolist() == [[1.25, 0.0, 0.0, 0.0]]
    assert state.scale.tolist() == [1.0]
    settle(state)
    assert state.W.tolist() == [[1.25, 0.0, 0.0, 0.0]], "and only once"


def test_a_harmonic_rate_falls_with_the_trials():
    assert [rate_at(HarmonicRate(2.0, 3.0), t) for t in (1, 2)] == [1 / 8, 1 / 10]
