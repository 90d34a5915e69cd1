"""States that do not begin at zero."""

import numpy as np
import pytest

from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.storage.registry import Fault
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.starts import LINE_BYTES, check_start, check_stored, grown, widened, zeros


def state_of(problems, features, order="C"):
    algorithm = FirstOrder(perceptron(), averaged=True)
    state = algorithm.start(problems, features, np.float32, order)
    state.W[:], state.lag[:], state.t[:] = np.arange(state.W.size).reshape(state.W.shape), 2.0, 7
    return algorithm, state


def test_a_start_is_checked_and_spread_over_the_problems():
    W, b = check_start(([1.0, 2.0], 3.0), 3, 2)
    assert W.tolist() == [[1, 2]] * 3
    assert b.tolist() == [3, 3, 3]
    for wrong in (np.ones(2), ([1.0], 0.0), ("ab", 0.0), ([1.0, np.nan], 0.0), None, 3):
        with pytest.raises(InvalidInput, match="init"):
            check_start(wrong, 3, 2)


@pytest.mark.parametrize("order", ["C", "F"])
def test_more_problems_are_old_ones_with_either_sign_or_new(order):
    algorithm, state = state_of(2, 3, order)
    found = grown(algorithm, state, np.array([[0, 1], [-1, 0], [0, 0]]))
    assert found.W.tolist() == [[3, 4, 5], [0, -1, -2], [0, 0, 0]]
    assert found.lag[:, 0].tolist() == [2, -2, 0]
    assert found.t.tolist() == [7, 7, 0]
    assert found.W.dtype == np.float32


@pytest.mark.parametrize("order", ["C", "F"])
def test_more_features_have_no_weight(order):
    algorithm, state = state_of(2, 2, order)
    found = widened(algorithm, state, 4)
    assert found.W.tolist() == [[0, 1, 0, 0], [2, 3, 0, 0]]
    assert found.lag.tolist() == [[2, 2, 0, 0]] * 2


def test_a_state_from_a_file_has_the_shapes_that_loops_read():
    algorithm, state = state_of(2, 3)
    check_stored(algorithm, state)
    for wrong in (state._replace(b=np.zeros(3, np.float32)), state._replace(t=state.t - 9), state._replace(W=state.b)):
        with pytest.raises(Fault, match="the state"):
            check_stored(algorithm, wrong)


@pytest.mark.parametrize("shape", [(3, 7), (1, 1), (100, 1000)])
@pytest.mark.parametrize(("dtype", "order"), [(np.float32, "F"), (float, "C"), ("f8", "F")])
def test_zeros_begin_with_a_line_of_the_cache(shape, dtype, order):
    found, wanted = zeros(shape, dtype, order), np.zeros(shape, dtype, order)
    assert found.ctypes.data % LINE_BYTES == 0
    assert (found.shape, found.dtype, found.strides) == (wanted.shape, wanted.dtype, wanted.strides)
    assert found.flags.writeable
    assert not found.any()
    assert zeros((shape[0], 0), dtype, order).shape == (shape[0], 0)
