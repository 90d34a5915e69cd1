"""Projected weights: what a state from a file must be, and what can be continued."""

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.learners.alma import AlmaRule
from rosenblatt.learners.projection import Projected
from rosenblatt.learners.romma import RommaRule


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
