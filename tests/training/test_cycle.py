"""A return of the weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.training.cycle import Cycle


@given(st.integers(0, 6), st.integers(1, 7))
def test_a_cycle_is_found_with_a_length_that_is_a_multiple_of_its_own(before, length):
    W, b = np.zeros((1, 1)), np.zeros(1)
    cycle = Cycle(W, b)
    for epoch in range(1, 200):
        place = epoch if epoch < before else before + (epoch - before) % length
        W[0, 0] = place
        if cycle.returned().all():
            assert cycle.length % length == 0
            assert cycle.length < 2 * (before + length) + 2
            return
        cycle.advance()
    pytest.fail("no cycle was found")


@given(st.sampled_from("CF"), st.lists(st.integers(0, 2999), max_size=4))
def test_only_the_problems_that_are_back_are_told_wherever_the_others_differ(order, places):
    W, b = np.zeros((4, 3000), order=order), np.zeros(4)
    cycle = Cycle(W, b)
    for part, place in enumerate(places):
        W[part, place] = 1.0
    assert cycle.returned().tolist() == [part >= len(places) for part in range(4)]
    assert cycle.back([0, 1, 3], joint=False) == {part: 1 for part in (0, 1, 3) if part >= len(places)}


def test_classes_that_learn_jointly_are_back_together():
    W, b = np.zeros((3, 5)), np.zeros(3)
    cycle = Cycle(W, b)
    assert cycle.back([0], joint=True) == {0: 1}
    W[2, 4] = 1.0
    assert cycle.back([0], joint=True) == {}
