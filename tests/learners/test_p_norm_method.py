"""The method of the p-norm perceptron: what a state from a file must be, and what can be continued."""

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.learners.p_norm import PNorm


def test_a_state_that_no_loop_leaves_is_refused():
    algorithm = PNorm(3.0)
    state = algorithm.start(2, 3, np.float64)
    state.unit[0] = 0.0
    with pytest.raises(InvalidInput, match="units that are not positive"):
        algorithm.check_state(state)


def test_weights_that_were_put_there_are_the_weights():
    algorithm = PNorm(3.0)
    state = algorithm.start(1, 2, np.float32)
    state.W[:], state.b[:] = [2.0, 4.0], 3.0
    planes = algorithm.hyperplanes(state)
    assert (planes.W.tolist(), planes.b.tolist(), planes.W.dtype) == ([[2.0, 4.0]], [3.0], np.float32)


def test_the_factor_belongs_to_weights_and_bias():
    algorithm = PNorm(4.0)
    state = algorithm.start(1, 1, np.float64)
    state.W[:], state.b[:], state.unit[:], state.power_sum[:] = 2.0, 3.0, 6.0, 4.0
    planes = algorithm.hyperplanes(state)
    assert (planes.W.tolist(), planes.b.tolist()) == ([[6.0]], [9.0])


def test_another_p_has_another_link():
    assert PNorm(2.0).kind != PNorm(3.0).kind
