"""Plots of weight space: the cone of solutions, the geometry of one update, and losses along a line of weights.

A row is a point in pattern space and a hyperplane in weight space; weights are a point in weight space and a hyperplane
in pattern space. A tie is a mistake, so the set of solutions is open: its border does not belong to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels
from rosenblatt.data.numbers import is_whole
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.markup.geometry import clip
from rosenblatt.markup.palette import SOLUTIONS, SOLUTIONS_OPACITY, UPDATE
from rosenblatt.plots.axes import (
    COLOURS,
    DASHES,
    GREY,
    INK,
    Axes,
    Style,
    add_legend,
    add_text,
    as_trials,
    draw_classes,
    draw_line,
    draw_rings,
    frame_points,
    free_place,
    named,
    plane_points,
    points_per_unit,
    quiet_pair,
)
from rosenblatt.plots.plane import draw_normal
from rosenblatt.report.models import linear_parts
from rosenblatt.text import short_repr
from rosenblatt.training.record import Recording, Trial

Array = npt.NDArray[Any]

# Lines of rows in weight space; of more rows, those that bound the solutions and a sample are drawn.
MAX_LINES = 60
# Rows up to which each has its number.
MAX_NUMBERED = 12
# Jumps of a loss up to which each has a dot.
MAX_JUMPS_WITH_DOTS = 60
# A polygon with a smaller share of the area of the plot is a rounding error, not a set of solutions.
SMALLEST_AREA = 1e-12


# ------------------------------------------------------------------------------------------------------ weight space


def solution_polygon(points: Array, sign: Array, b: float, box: Sequence[float]) -> Array:
    """Return the corners of the open convex polygon of weights without mistakes, for a given bias; empty if none is.

    `box` has the limits of w1 and of w2. Only the parts of the border on the border of the box belong to the polygon: a
    tie is a mistake.
    """
    left, right, low, high = box
    corners = np.array([[left, low], [right, low], [right, high], [left, high]], np.float64)
    for x, s in zip(points, sign, strict=True):
        if not x.any():
            if s * b <= 0:  # the score of a row at the origin is b for all weights
                return np.empty((0, 2))
            continue
        corners = clip(corners, s * x, s * b)
        if len(corners) < 3:
            return np.empty((0, 2))
    x, y = corners.T
    area = abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    return corners if area > SMALLEST_AREA * (right - left) * (high - low) else np.empty((0, 2))


def plot_spaces(
    model: Any, X: Any, y: Any, axes: Any = None, *, class_names: Sequence[str] | None = None, style: Style = "paper"
) -> Any:
    """Draw pattern space and weight space side by side, with the cone of solutions.

    On the left, rows are points and the weights are the hyperplane w.x + b = 0. On the right, the weights are a point,
    and each row x is the line of all w with w.x + b = 0, for the learned bias. The solutions have every row on its
    correct side: an open set, with a dashed border because a tie is a mistake. Without a bias all lines meet at the
    origin, and the solutions are a cone; with one, they are a slice of a cone in three dimensions, which may be empty
    although another bias has solutions.

    Parameters
    ----------
    model : fitted linear classifier, Recording, or iterable of Trial
        Of trials, the last weights are drawn; and their path, if no trial has a bias.
    X : array-like or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
        Two classes.
    axes : pair of matplotlib.axes.Axes or None
    class_names : sequence of str, optional
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    list of two matplotlib.axes.Axes
        Pattern space and weight space.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.datasets import logical
    >>> from rosenblatt.plots import plot_spaces
    >>> X, y = logical("or")
    >>> patterns, weights = plot_spaces(Perceptron(shuffle=False).fit(X, y), X, y)
    >>> [text.get_text() for text in weights.get_legend().get_texts()]
    ['solutions (open)', '$w$ = (2, 2), $b$ = -1']
    """
    points, classes, label = plane_points(X, y)
    if classes.size != 2:
        raise InvalidInput(f"y has {classes.size} classes; weight space is drawn for two. Pass rows of two classes.")
    path, w, b = _path(model)
    sign = 2 * label - 1
    left, right = quiet_pair(axes, style)
    frame_points(left, points)
    if w.any():
        draw_line(left, w, b, color=INK, linewidth=1.6, zorder=3)
        draw_normal(left, w, b, points)
    draw_classes(left, points, classes, label, class_names)
    names = named(None, getattr(X, "columns", None), 2, "features")
    left.set(xlabel=names[0], ylabel=names[1])
    box = _box(points, w, b, path)
    right.set(xlim=box[:2], ylim=box[2:], xlabel="$w_1$", ylabel="$w_2$")
    right.set_aspect("equal", adjustable="box")
    corners = solution_polygon(points, sign, b, box)
    _draw_solutions(right, corners)
    _draw_rows(right, points, label, b, corners)
    if len(path) > 1:
        right.plot(*path.T, color=UPDATE, linewidth=1.2, marker=".", markersize=4, zorder=4, label="path of $w$")
    text = f"$w$ = ({w[0]:.3g}, {w[1]:.3g}), $b$ = {b:.3g}"
    right.plot(*w, "o", color=INK, markersize=6, zorder=6, label=text)
    right.plot(0, 0, "+", color=GREY, markersize=8, zorder=3)
    if points.shape[0] <= MAX_NUMBERED:
        _number(left, points)
    add_legend(left)
    add_legend(right)
    return [left, right]


def _path(model: Any) -> tuple[Array, Array, float]:
    """Return the weights over time (empty if any has a bias), the last weights, and the last bias."""
    if isinstance(model, Recording) or (hasattr(model, "__iter__") and not hasattr(model, "predict")):
        trials = as_trials(model)
        if not trials:
            raise InvalidInput("There are no trials, so there are no weights to draw. Trace at least one epoch.")
        if np.ndim(trials[-1].w) != 1:
            raise InvalidInput("The trials are of several problems; weight space is drawn for one. Trace two classes.")
        w, b = np.asarray(trials[-1].w, np.float64), float(trials[-1].b)
        if any(trial.b for trial in trials):
            return np.empty((0, 2)), w, b
        steps = [trial.w for trial in trials if trial.update or trial.mistake]
        return np.array([np.zeros(2), *steps]).reshape(-1, 2), w, b
    coef, intercept, classes = linear_parts(model)
    if coef.shape != (1, 2) or classes.size != 2:
        raise InvalidInput(
            f"The model has weights of shape {coef.shape}; weight space is drawn for one problem of two features. "
            "Fit a linear classifier on two features and two classes."
        )
    return np.empty((0, 2)), coef[0], float(intercept[0])


def _box(points: Array, w: Array, b: float, path: Array) -> tuple[float, float, float, float]:
    """Return limits of weight space that show the origin, the weights and their surroundings."""
    lengths = np.linalg.norm(points, axis=1)
    usual = abs(b) / np.median(lengths[lengths > 0]) if lengths.any() else 0.0
    seen = np.vstack([np.zeros(2), w, path]) if len(path) else np.vstack([np.zeros(2), w])
    reach = 1.35 * max(float(np.abs(seen).max()), min(usual, 3 * float(np.abs(w).max())), 1e-9)
    if not w.any() and not len(path):
        reach = max(1.0, 2 * usual)
    return -reach, reach, -reach, reach


def _draw_solutions(ax: Axes, corners: Array) -> None:
    """Fill the solutions, and dash their border, which does not belong to them; or write that there are none."""
    if not len(corners):
        ax.plot([], [], " ", label="no solution here")
        return
    look = {"facecolor": SOLUTIONS, "alpha": SOLUTIONS_OPACITY, "linewidth": 0, "zorder": 1}
    ax.fill(*corners.T, label="solutions (open)", **look)
    rim = np.array([ax.get_xlim(), ax.get_ylim()])
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        cut = any(start[k] == end[k] and start[k] in rim[k] for k in range(2))
        if not cut:  # where the plot ends, the solutions do not
            ax.plot(*np.array([start, end]).T, color=SOLUTIONS, linewidth=2.4, linestyle=DASHES, zorder=2.5)


def _draw_rows(ax: Axes, points: Array, label: Array, b: float, corners: Array) -> None:
    """Draw the line of each row in weight space; of many rows, those that bound the solutions and a sample."""
    rows = np.flatnonzero(points.any(axis=1))
    if rows.size > MAX_LINES:
        scale = np.linalg.norm(points[rows], axis=1) * (float(np.abs(corners).max()) if len(corners) else 1.0)
        # A line that bounds the polygon passes through two of its corners.
        touched = (np.abs(points[rows] @ corners.T + b) < 1e-9 * scale[:, None]).sum(axis=1)
        rows = np.union1d(rows[touched > 1], rows[:: -(-rows.size // (MAX_LINES // 2))])
    for i in rows:
        draw_line(ax, points[i], b, color=COLOURS[label[i]], linewidth=1.1, alpha=0.8, zorder=2)
    if points.shape[0] <= MAX_NUMBERED:
        edge = ax.get_xlim()[1]
        taken: list[Array] = []
        for i in rows:
            x = points[i]
            along = np.linspace(-3, 3, 400)[:, None] * edge * np.array([-x[1], x[0]]) / np.linalg.norm(x)
            places = along - b * x / (x @ x)
            inside = places[np.abs(places).max(axis=1) <= 0.86 * edge]
            nearest_edge = inside[np.argsort(-np.abs(inside).max(axis=1), kind="stable")]
            at = free_place(ax, nearest_edge, taken)
            if at is not None:
                add_text(ax, at, f"$x_{{{i + 1}}}$", color=COLOURS[label[i]])


def _number(ax: Axes, points: Array) -> None:
    """Write the number of each row next to it, where there is room; rows at the same point share a label."""
    places: dict[tuple[float, ...], list[str]] = {}
    for i, point in enumerate(points, start=1):
        places.setdefault(tuple(point.tolist()), []).append(f"$x_{{{i}}}$")
    corners = 9 / points_per_unit(ax) * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    taken: list[Array] = []
    for point, names in places.items():
        at = free_place(ax, point + corners, taken)
        if at is not None:
            add_text(ax, point, ", ".join(names), 9 * np.sign(at - point), bbox=None)


# -------------------------------------------------------------------------------------------------------- one update


def plot_update(
    trials: Iterable[Trial] | Recording,
    X: Any,
    y: Any,
    number: int | None = None,
    axes: Any = None,
    *,
    class_names: Sequence[str] | None = None,
    style: Style = "paper",
) -> Any:
    """Draw the geometry of one update: the hyperplane before and after, and the weights as arrows.

    On the left, the row on the wrong side, and the hyperplane before and after. On the right, the weights before, the
    step in the direction of y x, and their sum.

    Parameters
    ----------
    trials : iterable of Trial, or Recording
        From `rosenblatt.trace` or `rosenblatt.record`, on the same rows.
    X : array-like or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
        Two classes.
    number : int, optional
        Number of the update, from 1; by default the last.
    axes : pair of matplotlib.axes.Axes or None
    class_names : sequence of str, optional
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    list of two matplotlib.axes.Axes

    Examples
    --------
    >>> from rosenblatt import trace
    >>> from rosenblatt.datasets import logical
    >>> from rosenblatt.plots import plot_update
    >>> X, y = logical("or")
    >>> plane, arrows = plot_update(trace(X, y), X, y, number=8)
    >>> [text.get_text() for text in arrows.get_legend().get_texts()]
    ['$w$ before', 'step along $x_{3}$', '$w$ after']
    """
    points, classes, label = plane_points(X, y)
    trial, before = _update(as_trials(trials), number, points)
    (w0, b0), (w1, b1) = before, (np.asarray(trial.w, np.float64), float(trial.b))
    x, sign = points[trial.row], 2 * int(label[trial.row]) - 1
    left, right = quiet_pair(axes, style)
    frame_points(left, points)
    texts = [
        f"{when}: $y f(x)$ = {sign * (w @ x + b) + 0.0:.3g}" for when, w, b in (("before", w0, b0), ("after", w1, b1))
    ]
    looks: list[dict[str, Any]] = [
        {"color": GREY, "linewidth": 1.4, "linestyle": DASHES},
        {"color": INK, "linewidth": 1.8},
    ]
    for w, b, text, look in ((w0, b0, texts[0], looks[0]), (w1, b1, texts[1], looks[1])):
        if w.any():
            draw_line(left, w, b, zorder=3, label=text, **look)
        else:
            left.plot([], [], label=f"{text}, no boundary", **look)
    draw_rings(left, x[None], UPDATE)
    draw_classes(left, points, classes, label, class_names)
    inwards = np.array([np.mean(left.get_xlim()), np.mean(left.get_ylim())]) - x
    add_text(left, x, f"$x_{{{trial.row + 1}}}$", 15 * inwards / (np.linalg.norm(inwards) or 1.0), color=UPDATE)
    left.set(xlabel="$x_1$", ylabel="$x_2$")
    _draw_sum(right, w0, w1, trial.row)
    add_legend(left)
    add_legend(right)
    return [left, right]


def _update(trials: list[Trial], number: int | None, points: Array) -> tuple[Trial, tuple[Array, float]]:
    """Return the trial of an update, and the weights before it."""
    places = [k for k, trial in enumerate(trials) if trial.update or trial.mistake]
    if number is not None and not is_whole(number):
        raise InvalidArgument(f"number={short_repr(number)} is not the number of an update. Pass an integer from 1.")
    if not places or (number is not None and not 1 <= number <= len(places)):
        raise InvalidInput(
            f"The trials have {len(places)} updates, but number={number}. Pass a smaller number, or trace more epochs."
        )
    k = places[-1 if number is None else number - 1]
    trial = trials[k]
    if trial.row < 0 or np.ndim(trial.w) != 1:
        raise InvalidInput(
            "The update is of a batch or of several problems, so it has no single row. Trace one row at a time."
        )
    if k:
        return trial, (np.asarray(trials[k - 1].w, np.float64), float(trials[k - 1].b))
    # The start is not recorded. It is zero, or a step back along (x, 1) to where the row had its score.
    if not trial.score:
        return trial, (np.zeros(2), 0.0)
    x, padded = points[trial.row], float(trial.b != 0)
    step = (trial.w @ x + trial.b - trial.score) / (x @ x + padded)
    return trial, (np.asarray(trial.w - step * x, np.float64), float(trial.b - step * padded))


def _draw_sum(ax: Axes, w0: Array, w1: Array, row: int) -> None:
    """Draw the old weights, the step and the new weights as arrows that add up."""
    tips = np.vstack([np.zeros(2), w0, w1])
    frame_points(ax, tips)
    arrows = [
        (np.zeros(2), w0, GREY, "$w$ before", DASHES),
        (w0, w1, UPDATE, f"step along $x_{{{row + 1}}}$", "-"),
        (np.zeros(2), w1, INK, "$w$ after", "-"),
    ]
    for start, end, colour, text, dashes in arrows:
        if np.array_equal(start, end):
            ax.plot(*end, "o", color=colour, markersize=5, label=f"{text} = 0" if not end.any() else f"{text}: none")
            continue
        look = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0, "linestyle": dashes}
        ax.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=look | {"mutation_scale": 13}, zorder=4)
        ax.plot([], [], color=colour, linewidth=1.8, linestyle=dashes, label=text)
    ax.plot(0, 0, "+", color=GREY, markersize=8, zorder=3)
    ax.set(xlabel="$w_1$", ylabel="$w_2$")


# ------------------------------------------------------------------------------------- losses along a line of weights


def plot_losses(X: Any, y: Any, start: Any, end: Any, axes: Any = None, *, style: Style = "paper") -> Any:
    """Draw losses along a line in weight space: the number of misclassified rows, and the perceptron loss.

    The number of rows with y f(x) <= 0 is constant between jumps: it has no gradient to follow. The perceptron loss,
    the sum of max(0, -y f(x)), is convex, and its gradient gives the update. The line extends a little beyond `start`
    and `end`.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes.
    start, end : (w, b), fitted linear classifier, Run or Trial
        The weights at 0 and at 1.
    axes : pair of matplotlib.axes.Axes or None
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    list of two matplotlib.axes.Axes
        For the misclassified rows, and below them for the loss.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.datasets import logical
    >>> from rosenblatt.plots import plot_losses
    >>> X, y = logical("or")
    >>> counts, losses = plot_losses(X, y, ([0.0, 0.0], -1.0), Perceptron(shuffle=False).fit(X, y))
    >>> losses.get_xlabel()
    'from start (0) to end (1)'
    """
    table = as_table(X)
    classes, label = as_labels(y, table.shape[0])
    if classes.size != 2:
        raise InvalidInput(f"y has {classes.size} classes; these losses are for two. Pass rows of two classes.")
    rows = table.matrix()
    sign = 2 * label - 1
    first, last = (sign * (rows @ w + b) for w, b in (_weights(end_, table.shape[1]) for end_ in (start, end)))
    if np.array_equal(first, last):
        raise InvalidInput(
            "start and end give every row the same score, so no loss changes between them. Pass different weights."
        )
    jumps, counts, at_jumps = step_counts(first, last, -0.25, 1.25)
    upper, lower = quiet_pair(axes, style, width=5.4, height=5.0, stacked=True)
    upper.stairs(counts, [-0.25, *jumps, 1.25], color=COLOURS[0], linewidth=1.8, baseline=None, label="misclassified")
    if jumps.size <= MAX_JUMPS_WITH_DOTS:
        upper.plot(jumps, at_jumps, "o", color=COLOURS[0], markersize=3.5, label="at a jump: a tie is a mistake")
    place = np.array([-0.25, *jumps, 1.25])
    loss = np.maximum(0, -(first[None] + place[:, None] * (last - first)[None])).sum(axis=1)
    lower.plot(place, loss, color=COLOURS[1], linewidth=1.8, label="perceptron loss")
    for ax in (upper, lower):
        for end_of_line in (0, 1):
            ax.axvline(end_of_line, color=GREY, linewidth=1.0, linestyle=DASHES, zorder=1)
        ax.margins(y=0.12)
        add_legend(ax)
    upper.set(ylabel="rows", xlim=(-0.25, 1.25))
    upper.yaxis.get_major_locator().set_params(integer=True)
    lower.set(ylabel=r"sum of $\max(0, -y f(x))$", xlabel="from start (0) to end (1)")
    return [upper, lower]


def step_counts(first: Array, last: Array, low: float, high: float) -> tuple[Array, Array, Array]:
    """Count the misclassified rows on a line from low to high, exactly; `first` and `last` are y f(x) at 0 and at 1.

    Returns the places where some row has y f(x) = 0, in order; the rows with y f(x) <= 0 between these jumps, one count
    more; and the same at each jump, where the row that changes sides is a tie, and counts.
    """
    slope = last - first
    moving = slope != 0
    zero = -first[moving] / slope[moving]
    jumps = np.unique(zero[(zero > low) & (zero < high)])
    edges = np.array([low, *jumps, high])
    middles = (edges[1:] + edges[:-1]) / 2
    counts = (first[None] + middles[:, None] * slope[None] <= 0).sum(axis=1)
    still = int((first[~moving] <= 0).sum())
    # A row is wrong before its own zero if its margin grows, else after it.
    wrong = (slope[moving] > 0)[None] == (jumps[:, None] < zero[None])
    at_jumps = still + (wrong | (jumps[:, None] == zero[None])).sum(axis=1)
    return jumps, counts, at_jumps


def _weights(end: Any, n_features: int) -> tuple[Array, float]:
    """Return the weights and the bias of a pair, a trial or a model."""
    if isinstance(end, Trial):
        end = (end.w, end.b)
    if isinstance(end, tuple | list) and len(end) == 2:
        w, b = np.asarray(end[0], np.float64), float(np.asarray(end[1], np.float64).reshape(()))
    else:
        coef, intercept, _ = linear_parts(end)
        w, b = coef[0] if len(coef) == 1 else coef.ravel(), float(intercept[0])
    if w.shape != (n_features,):
        raise InvalidInput(
            f"The weights have shape {w.shape}, but X has {n_features} features. Pass one weight for each."
        )
    return w, b
