"""Pattern space and weight space side by side: the cone of solutions, and the geometry of one update.

A row is a point in pattern space and a hyperplane in weight space; weights are a point in weight space and a hyperplane
in pattern space. A tie is a mistake, so that the set of solutions is open: its border does not belong to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.numbers import is_whole
from rosenblatt.errors import InvalidArgument, InvalidInput
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
    named,
    plane_points,
    quiet_pair,
)
from rosenblatt.plots.plane import draw_normal
from rosenblatt.report.models import linear_parts
from rosenblatt.text import short_repr
from rosenblatt.training.record import Recording, Trial

Array = npt.NDArray[Any]

# Rows up to which each has its line in weight space; beyond, those that bound the solutions and a sample.
MAX_LINES = 60
# Rows up to which each is numbered.
MAX_NUMBERED = 12
# Share of the picture below which a polygon is a rounding error, not a set of solutions.
SMALLEST_AREA = 1e-12


# ------------------------------------------------------------------------------------------------------ weight space


def solution_polygon(points: Array, sign: Array, b: float, box: Sequence[float]) -> Array:
    """Compute the weights in a box that make no mistake, for a given bias.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
    sign : array of shape (n_samples,)
        +1 or -1.
    b : float
    box : (float, float, float, float)
        Least and largest w1, least and largest w2.

    Returns
    -------
    array of shape (n_corners, 2)
        The corners of the open convex polygon y (w.x + b) > 0, in order; empty if nothing is in it. Its border belongs
        to it only where it is the box's: a tie is a mistake.
    """
    left, right, low, high = box
    corners = np.array([[left, low], [right, low], [right, high], [left, high]], np.float64)
    for x, s in zip(points, sign, strict=True):
        if not x.any():
            if s * b <= 0:  # a row at the origin has the score b, whatever the weights
                return np.empty((0, 2))
            continue
        corners = _clipped(corners, s * x, s * b)
        if len(corners) < 3:
            return np.empty((0, 2))
    x, y = corners.T
    area = abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    return corners if area > SMALLEST_AREA * (right - left) * (high - low) else np.empty((0, 2))


def _clipped(corners: Array, normal: Array, constant: float) -> Array:
    """Return the part of a convex polygon where normal.w + constant is not negative."""
    score = corners @ normal + constant
    found: list[Array] = []
    for k, here in enumerate(score):
        after = (k + 1) % len(corners)
        there = score[after]
        if here >= 0:
            found.append(corners[k])
        if (here > 0 > there) or (here < 0 < there):
            found.append(corners[k] + here / (here - there) * (corners[after] - corners[k]))
    return np.array(found).reshape(-1, 2)


def plot_spaces(
    model: Any, X: Any, y: Any, axes: Any = None, *, class_names: Sequence[str] | None = None, style: Style = "paper"
) -> Any:
    """Draw pattern space and weight space side by side, with the cone of solutions.

    Left, rows are points and the weights are the hyperplane w.x + b = 0. Right, the weights are a point, and each row
    x is the line of all w with w.x + b = 0, for the bias that was learned. Solutions are where every row is on its
    side: an open set, dashed because a tie is a mistake. Without a bias all lines meet at the origin, and the
    solutions are a cone; with one, they are the slice of a cone in three dimensions, which may be empty where another
    bias has solutions.

    Parameters
    ----------
    model : fitted linear classifier, Recording, or iterable of Trial
        Of trials the last weights; where none has a bias, also the way that the weights took.
    X : array-like or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
        Two classes.
    axes : pair of matplotlib.axes.Axes or None
    class_names : sequence of str, optional
    style : {"paper", "talk"}
        Of a new figure; for a projector "talk".

    Returns
    -------
    list of two matplotlib.axes.Axes
        Pattern space and weight space.
    """
    points, classes, label = plane_points(X, y)
    if classes.size != 2:
        raise InvalidInput(f"y has {classes.size} classes; the solutions are those of two. Pass rows of two classes.")
    path, w, b = _way(model)
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
        right.plot(*path.T, color=UPDATE, linewidth=1.2, marker=".", markersize=4, zorder=4, label="way of $w$")
    right.plot(*w, "o", color=INK, markersize=6, zorder=6, label=f"$w$ = ({w[0]:.3g}, {w[1]:.3g})")
    right.plot(0, 0, "+", color=GREY, markersize=8, zorder=3)
    if b or not np.array_equal(points, np.zeros_like(points)):
        add_text(right, (0.98, 0.02), f"$b$ = {b:.3g}", xycoords="axes fraction", ha="right", va="bottom")
    if points.shape[0] <= MAX_NUMBERED:
        _number(left, points)
    add_legend(left)
    add_legend(right)
    return [left, right]


def _way(model: Any) -> tuple[Array, Array, float]:
    """Return the weights over time where none has a bias, the last weights, and the last bias."""
    if isinstance(model, Recording) or (hasattr(model, "__iter__") and not hasattr(model, "predict")):
        trials = as_trials(model)
        if not trials:
            raise InvalidInput("There are no trials: there are no weights to draw. Trace at least one epoch.")
        if np.ndim(trials[-1].w) != 1:
            raise InvalidInput("The trials are of several problems; weight space is that of one. Trace two classes.")
        w, b = np.asarray(trials[-1].w, np.float64), float(trials[-1].b)
        if any(trial.b for trial in trials):
            return np.empty((0, 2)), w, b
        steps = [trial.w for trial in trials if trial.update or trial.mistake]
        return np.array([np.zeros(2), *steps]).reshape(-1, 2), w, b
    coef, intercept, classes = linear_parts(model)
    if coef.shape != (1, 2) or classes.size != 2:
        raise InvalidInput(
            f"The model has weights of shape {coef.shape}; weight space is drawn for one problem of two features."
            " Fit a linear classifier on two features and two classes."
        )
    return np.empty((0, 2)), coef[0], float(intercept[0])


def _box(points: Array, w: Array, b: float, path: Array) -> tuple[float, float, float, float]:
    """Return limits of weight space that show the origin, the weights, and what is around them."""
    lengths = np.linalg.norm(points, axis=1)
    usual = abs(b) / np.median(lengths[lengths > 0]) if lengths.any() else 0.0
    seen = np.vstack([np.zeros(2), w, path]) if len(path) else np.vstack([np.zeros(2), w])
    reach = 1.35 * max(float(np.abs(seen).max()), min(usual, 3 * float(np.abs(w).max())), 1e-9)
    if not w.any() and not len(path):
        reach = max(1.0, 2 * usual)
    return -reach, reach, -reach, reach


def _draw_solutions(ax: Axes, corners: Array) -> None:
    """Fill the solutions, with a dashed border because it does not belong to them; or say that there are none."""
    if not len(corners):
        at = {"xycoords": "axes fraction", "va": "top", "ha": "left", "color": GREY}
        add_text(ax, (0.02, 0.98), "no solution here", **at)
        return
    look = {"facecolor": SOLUTIONS, "alpha": SOLUTIONS_OPACITY, "linewidth": 0, "zorder": 1}
    ax.fill(*corners.T, label="solutions (open)", **look)
    rim = np.array([ax.get_xlim(), ax.get_ylim()])
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        cut = any(start[k] == end[k] and start[k] in rim[k] for k in range(2))
        if not cut:  # the picture ends there, not the solutions
            ax.plot(*np.array([start, end]).T, color=SOLUTIONS, linewidth=2.4, linestyle=DASHES, zorder=2.5)


def _draw_rows(ax: Axes, points: Array, label: Array, b: float, corners: Array) -> None:
    """Draw the line of each row in weight space; of very many, those that bound the solutions and a sample."""
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
            at = _visible(points[i], b, edge, taken)
            if at is not None:
                taken.append(at)
                add_text(ax, at, f"$x_{{{i + 1}}}$", color=COLOURS[label[i]])


def _visible(x: Array, b: float, edge: float, taken: list[Array]) -> Array | None:
    """Return a place on the line of a row, near the rim of the picture and away from other names."""
    foot, along = -b * x / (x @ x), np.array([-x[1], x[0]]) / np.linalg.norm(x)
    for far in (0.86, 0.74, 0.62, 0.5):
        for way in (1, -1):
            places = [foot + way * t * along for t in np.linspace(0, 3 * edge, 200)]
            inside = [place for place in places if np.abs(place).max() <= far * edge]
            if inside and all(np.linalg.norm(inside[-1] - other) > 0.14 * edge for other in taken):
                return np.asarray(inside[-1])
    return None


def _number(ax: Axes, points: Array) -> None:
    """Write the number of each row beside it; rows at the same place share a note."""
    places: dict[tuple[float, ...], list[str]] = {}
    for i, point in enumerate(points, start=1):
        places.setdefault(tuple(point.tolist()), []).append(f"$x_{{{i}}}$")
    for point, names in places.items():
        add_text(ax, point, ", ".join(names), (9, 9), bbox=None)


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

    Left, the row that was on the wrong side, and the hyperplane that moved. Right, the weights before, the step in the
    direction of y x, and their sum.

    Parameters
    ----------
    trials : iterable of Trial, or Recording
        From `rosenblatt.trace` or `rosenblatt.record`, on the same rows.
    X : array-like or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
        Two classes.
    number : int, optional
        Which update, from 1; the last by default.
    axes : pair of matplotlib.axes.Axes or None
    class_names : sequence of str, optional
    style : {"paper", "talk"}
        Of a new figure; for a projector "talk".

    Returns
    -------
    list of two matplotlib.axes.Axes
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
        raise InvalidArgument(
            f"number={short_repr(number)} is not the number of an update. Pass a whole number from 1."
        )
    if not places or (number is not None and not 1 <= number <= len(places)):
        raise InvalidInput(
            f"There are {len(places)} updates among the trials; number={number} is not there. Trace more."
        )
    k = places[-1 if number is None else number - 1]
    trial = trials[k]
    if trial.row < 0 or np.ndim(trial.w) != 1:
        raise InvalidInput(
            "The update is one of a batch or of several problems, which has no single row. Trace others."
        )
    if k:
        return trial, (np.asarray(trials[k - 1].w, np.float64), float(trials[k - 1].b))
    # Nobody wrote down the start. It is zero, or the step back along (x, 1) to where the row had its score.
    if not trial.score:
        return trial, (np.zeros(2), 0.0)
    x, padded = points[trial.row], float(trial.b != 0)
    step = (trial.w @ x + trial.b - trial.score) / (x @ x + padded)
    return trial, (np.asarray(trial.w - step * x, np.float64), float(trial.b - step * padded))


def _draw_sum(ax: Axes, w0: Array, w1: Array, row: int) -> None:
    """Draw old weights, step and new weights as arrows that add up."""
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
