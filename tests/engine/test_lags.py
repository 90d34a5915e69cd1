"""Averages of many weights, and their squares."""

import numpy as np
import pytest

from rosenblatt.engine.classes import average_all, sum_squares


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_averages_and_their_squares_are_those_of_numpy(dtype):
    random = np.random.default_rng(1)
    W, lag, sums = random.normal(size=(30, 5)).astype(dtype), random.normal(size=(30, 5)), random.normal(size=5)
    trials, found, squares = np.arange(1, 6), np.empty((30, 5), dtype), np.zeros(5)
    average_all(W, sums, lag, trials, found)
    assert found.tobytes() == ((sums * W - lag) / trials).astype(dtype).tobytes()
    sum_squares(W, sums, lag, squares)
    assert squares == pytest.approx(((sums * W - lag) ** 2).sum(axis=0))
    squares[:] = 0.0
    sum_squares(W, sums, lag[:0], squares)
    assert squares == pytest.approx(((sums * W) ** 2).sum(axis=0))
