"""A return of the weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.learn.cycle import Cycle


@given(st.integers(0, 6), st.integers(1, 7))
def test_a_cycle_is_found_with_a_length_that_is_a_multiple_of_its_own(before, length):
    W, b = np.zeros((1, 1)), np.zeros(1)
    cycle = Cycle(W, b)
    for epoch in range(1, 200):
        place = epoch if epoch < before else before + (epoch - before) % length
        W[0, 0] = place
        if cycle.returned(slice(None)):
            assert cycle.length % length == 0
            assert cycle.length < 2 * (before + length) + 2
            return
        cycle.advance()
    pytest.fail("no cycle was found")
