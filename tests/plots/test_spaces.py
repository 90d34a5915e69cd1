"""Weight space: the solutions are exactly the weights without a mistake, and an update is what the trial says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.path import Path

from rosenblatt import Perceptron, record, trace, train
from rosenblatt.datasets import logical, noisy, separable
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.plots import plot_losses, plot_spaces, plot_update
from rosenblatt.plots.spaces import solution_polygon, step_counts

BOX = (-4.0, 4.0, -4.0, 4.0)
whole = st.integers(-3, 3)


def mistakes(points, sign, w, b):
    return (sign * (points @ w + b) <= 0).sum()


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(st.tuples(whole, whole, st.sampled_from([-1, 1])), min_size=1, max_size=6), b=st.integers(-2, 2))
def test_the_polygon_contains_weights_exactly_if_they_make_no_mistake(rows, b):
    points, sign = np.array([row[:2] for row in rows], float), np.array([row[2] for row in rows])
    corners = solution_polygon(points, sign, b, BOX)
    # Halves, thirds and sevenths: on and off the lines.
    weights = np.array([(i / 7 + 0.003, j / 3 + 0.001) for i in range(-27, 28, 3) for j in range(-11, 12)])
    right = np.array([mistakes(points, sign, w, b) == 0 for w in weights])
    if not len(corners):
        assert not right.any()
    else:
        middle = corners.mean(axis=0)
        assert mistakes(points, sign, middle, b) == 0
        # Weights at the very border may fall to either side by rounding: move them towards the middle, and away.
        for w in weights[right]:
            assert Path(corners).contains_point(w + 1e-6 * (middle - w), radius=1e-9) or Path(corners).contains_point(
                w + 1e-6 * (middle - w), radius=-1e-9
            )
        for w in weights[~right]:
            assert not Path(corners).contains_point(w + 1e-6 * (w - middle))


def test_the_solutions_are_open_so_that_or_has_none_without_a_bias():
    X, y = logical("or")
    assert not len(solution_polygon(X, y, 0.0, BOX))  # clipping with >= would fill a quadrant
    corners = solution_polygon(X, y, -1.0, BOX)
    assert sorted(map(tuple, corners.tolist())) == [(1, 1), (1, 4), (4, 1), (4, 4)]


def test_xor_has_no_solution_for_any_bias():
    X, y = logical("xor")
    assert not any(len(solution_polygon(X, y, b, BOX)) for b in np.linspace(-3, 3, 25))


def texts(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_spaces_draw_the_hyperplane_left_and_the_weights_right():
    X, y = logical("or")
    model = Perceptron(shuffle=False).fit(X, y)
    left, right = plot_spaces(model, X, y)
    line = next(line for line in left.lines if line.get_linewidth() == 1.6)
    assert np.array([line.get_xy1(), line.get_xy2()]) @ model.coef_[0] + model.intercept_[0] == pytest.approx([0, 0])
    (point,) = [line for line in right.lines if line.get_marker() == "o"]
    assert [point.get_xdata()[0], point.get_ydata()[0]] == model.coef_[0].tolist()
    (filled,) = right.patches
    assert filled.get_path().contains_point(model.coef_[0])
    assert "$w$ = (2, 2), $b$ = -1" in legend(right)
    # One line for each row that is not at the origin, each where the row is a tie.
    lines = [line for line in right.lines if hasattr(line, "get_xy1")]
    ties = {tuple(np.round(np.array([line.get_xy1(), line.get_xy2()]) @ x - 1, 12)) for line in lines for x in X[1:]}
    assert len(lines) == 3
    assert (0, 0) in ties


def test_spaces_say_where_there_is_no_solution():
    X, y = logical("xor")
    _, right = plot_spaces(trace(X, y, max_iter=1, fit_intercept=False), X, y)
    assert "no solution here" in legend(right)


def test_spaces_show_the_path_of_weights_without_a_bias():
    X, y = separable(12, 2, 0.25, seed=3)
    trials = list(trace(X, y, fit_intercept=False))
    _, right = plot_spaces(trials, X, y)
    (way,) = [line for line in right.lines if line.get_label() == "path of $w$"]
    assert way.get_xydata()[-1].tolist() == trials[-1].w.tolist()
    assert len(way.get_xydata()) == 1 + trials[-1].mistakes


def test_many_rows_do_not_become_many_lines():
    X, y = separable(500, 2, 0.1)
    _, right = plot_spaces(Perceptron(fit_intercept=False).fit(X, y), X, y)
    assert 20 < len([line for line in right.lines if hasattr(line, "get_xy1")]) < 80


@pytest.mark.parametrize("number", [1, 2, 8, None])
def test_an_update_adds_up(number):
    X, y = logical("or")
    trials = list(trace(X, y))
    left, right = plot_update(trials, X, y, number)
    updates = [k for k, trial in enumerate(trials) if trial.mistake]
    k = updates[-1 if number is None else number - 1]
    arrows = [(note.xyann, note.xy) for note in right.texts if note.arrow_patch is not None]
    if arrows:
        assert arrows[-1][1] == tuple(trials[k].w)
    before = trials[k - 1] if k else None
    margin = y[trials[k].row] * (0.0 if before is None else before.w @ X[trials[k].row] + before.b)
    assert legend(left)[0].startswith(f"before: $y f(x)$ = {margin + 0.0:.3g}")


def test_the_first_update_from_a_start_goes_back_to_that_start():
    X, y = logical("or")
    _, right = plot_update(record(Perceptron(shuffle=False, init=([1.0, -2.0], 0.5)), X, y), X, y, 1)
    tips = {tuple(np.round(note.xy, 9)) for note in right.texts if note.arrow_patch is not None}
    assert (1.0, -2.0) in tips


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda X, y: plot_update(trace(X, y), X, y, 10), "9 updates"),
        (lambda X, y: plot_update(trace(X, y), X, y, 1.5), "an integer from 1"),
        (lambda X, y: plot_spaces([], X, y), "no trials"),
        (lambda X, y: plot_spaces(Perceptron().fit(X, [0, 1, 2, 2]), X, y), "one problem"),
        (lambda X, y: plot_spaces(Perceptron().fit(X, y), X, [0, 1, 2, 2]), "3 classes"),
        (lambda X, y: plot_spaces(Perceptron().fit(X, y), X, y, [None]), "this figure needs two"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_its_fault(call, fault):
    with pytest.raises((InvalidInput, InvalidArgument), match=fault):
        call(*logical("or"))


# --------------------------------------------------------------------------------------- losses along a line of weights

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
        (([1.0], 0.0), ([1.0, 1.0], 0.0), "one weight for each"),
        (([1.0, 1.0], 0.0), ([1.0, 1.0], 0.0), "no loss changes"),
    ],
)
def test_ends_without_a_line_between_them_are_rejected_with_their_fault(start, end, fault):
    with pytest.raises(InvalidInput, match=fault):
        plot_losses(*logical("or"), start, end)
    with pytest.raises(InvalidInput, match="3 classes"):
        plot_losses(logical("or")[0], [0, 1, 2, 2], ([1.0, 1.0], 0.0), ([0.0, 1.0], 0.0))
