"""Losses along a line: counted exactly, ties as mistakes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Perceptron, trace, train
from rosenblatt.datasets import logical, noisy
from rosenblatt.errors import InvalidInput
from rosenblatt.plots import plot_losses
from rosenblatt.plots.losses import step_counts

margins = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=12)


@given(margins)
def test_counts_are_those_of_the_rows_between_and_at_the_jumps(pairs):
    first, last = np.array(pairs, float).T
    jumps, counts, at_jumps = step_counts(first, last, -0.25, 1.25)
    edges = np.array([-0.25, *jumps, 1.25])
    assert np.all(np.diff(edges) > 0)
    for left, right, count in zip(edges[:-1], edges[1:], counts, strict=True):
        place = left + 0.37 * (right - left)
        assert count == (first + place * (last - first) <= 0).sum()
    # At a jump the row that changes sides is a tie, and a tie is a mistake.
    for before, after, there in zip(counts[:-1], counts[1:], at_jumps, strict=True):
        assert there >= max(before, after)


def test_the_picture_has_the_steps_and_a_convex_loss():
    X, y = noisy(40, 3, flip=0.1)
    upper, lower = plot_losses(X, y, ([1.0, -1.0, 0.0], 0.3), Perceptron().fit(X, y))
    (stairs,) = upper.patches
    values, edges = stairs.get_data()[:2]
    assert values.size == edges.size - 1
    curve = lower.lines[0].get_xydata()
    slopes = np.diff(curve[:, 1]) / np.diff(curve[:, 0])
    assert np.all(np.diff(slopes) > -1e-6)
    assert np.array_equal(curve[:, 0], edges)


def test_ends_may_be_runs_trials_or_weights():
    X, y = logical("or")
    trials = list(trace(X, y))
    for end in (train(X, y, order="cyclic"), trials[-1], ([2.0, 2.0], -1.0)):
        upper, _ = plot_losses(X, y, ([0.0, 0.0], -1.0), end)
        values, edges = upper.patches[0].get_data()[:2]
        assert values[np.searchsorted(edges, 0.9999) - 1] == 0


@pytest.mark.parametrize(
    ("start", "end", "fault"),
    [
        (([1.0], 0.0), ([1.0, 1.0], 0.0), "one for each"),
        (([1.0, 1.0], 0.0), ([1.0, 1.0], 0.0), "no line"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_its_fault(start, end, fault):
    with pytest.raises(InvalidInput, match=fault):
        plot_losses(*logical("or"), start, end)
    with pytest.raises(InvalidInput, match="3 classes"):
        plot_losses(logical("or")[0], [0, 1, 2, 2], ([1.0, 1.0], 0.0), ([0.0, 1.0], 0.0))
