"""Pictures of the plane: boundaries, regions, and runs update by update."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.plots.axes import (
    COLOURS,
    DASHES,
    GREY,
    INK,
    SKY,
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
    quiet_axes,
)
from rosenblatt.report.models import Classifier, as_classifier
from rosenblatt.training.multiclass import by_pairs, coding_matrix
from rosenblatt.training.record import Trial

Array = npt.NDArray[Any]

# Of the grid that regions are found on.
GRID_POINTS_PER_SIDE = 301


def plot_boundary(
    model: Any,
    X: Any,
    y: Any,
    ax: Axes | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    hyperplanes: bool = False,
    undecided: bool = False,
    style: Style = "paper",
) -> Axes:
    """Draw what a classifier makes of the plane.

    Two classes and a linear model: the hyperplane w.x + b = 0, its normal w, and the distance of the row closest to
    it. Otherwise the region of each class, as the model itself predicts.

    Parameters
    ----------
    model : fitted classifier
        Anything of two features with `predict`: members of the family, kernels, pipelines, others' classifiers, and
        what `train` returns.
    X : array-like, data frame or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None
    feature_names : sequence of str, optional
        By default those that the model or X knows.
    class_names : sequence of str, optional
        One for each class of the model, in sorted order, and then for those that are only in y.
    hyperplanes : bool
        Whether to draw the hyperplane of each problem too, where there are more than two classes.
    undecided : bool
        Whether to hatch where the problems contradict one another: with one-vs-all, where no class or several claim
        a point; with one-vs-one, where no class beats all others. The model decides there too, by its scores.
    style : {"paper", "talk"}
        Of a new figure; for a projector "talk".

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the data or the model is not two-dimensional, the weights are zero, or single hyperplanes are asked for
        where there are none.
    """
    points, classes, label = plane_points(X, y)
    seen = as_classifier(model, X, y)
    known = seen.classes
    if known.size == 2 and seen.weights is not None and not seen.weights[0][0].any():
        raise InvalidInput("The weight vector is zero: it has no hyperplane to draw. Train on more rows.")
    # Classes that the model does not know come last, in colours of their own.
    every = np.concatenate([known, classes[~np.isin(classes, known)]])
    place = np.array([np.flatnonzero(every == name)[0] for name in classes])
    ax = quiet_axes(ax, style)
    frame_points(ax, points)
    x, y_, grid = grid_over(ax)
    draw_regions(ax, x, y_, seen.scores(grid))
    if seen.weights is not None and known.size == 2 and seen.is_linear(grid):
        w, b = seen.weights[0][0], float(seen.weights[1][0])
        draw_line(ax, w, b, color=INK, linewidth=1.6, zorder=3)
        draw_normal(ax, w, b, points)
        _closest(ax, w, b, points)
    if hyperplanes or undecided:
        _problems(ax, seen, (x, y_, grid), hyperplanes=hyperplanes, undecided=undecided)
    draw_classes(ax, points, every, place[label], class_names)
    names = named(feature_names, seen.names, 2, "features")
    ax.set(xlabel=names[0], ylabel=names[1])
    add_legend(ax)
    return ax


def plot_trace(
    trials: Iterable[Trial],
    X: Any,
    y: Any,
    ax: Axes | None = None,
    *,
    class_names: Sequence[str] | None = None,
    style: Style = "paper",
) -> Axes:
    """Draw a run on 2-D data update by update: the hyperplane after each, fading in, the last one strong.

    A ring marks the rows that caused an update.

    Parameters
    ----------
    trials : iterable of Trial
        From `rosenblatt.trace`, or a recording, on the same rows.
    X : array-like or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None
    class_names : sequence of str, optional
    style : {"paper", "talk"}
        Of a new figure; for a projector "talk".

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the data is not two-dimensional, or no update gave a hyperplane.
    """
    points, classes, label = plane_points(X, y)
    updates = [trial for trial in as_trials(trials) if trial.mistake]
    drawn = [trial for trial in updates if np.any(trial.w)]
    if not drawn:
        raise InvalidInput("No update among the trials gives a hyperplane: there is nothing to draw. Trace more rows.")
    if np.ndim(drawn[-1].w) != 1:
        raise InvalidInput("The trials are of several problems; this picture is of one hyperplane. Trace two classes.")
    ax = quiet_axes(ax, style)
    frame_points(ax, points)
    for k, trial in enumerate(drawn[:-1], start=1):
        age = k / len(drawn)
        draw_line(ax, trial.w, trial.b, color=SKY, linewidth=0.7 + 0.6 * age, alpha=0.2 + 0.7 * age**2, zorder=1)
    last = drawn[-1]
    draw_line(ax, last.w, last.b, color=INK, linewidth=1.8, zorder=2, label=f"after update {last.mistakes}, the last")
    draw_normal(ax, last.w, last.b, points)
    draw_rings(ax, points[np.unique([trial.row for trial in updates])], GREY)
    draw_classes(ax, points, classes, label, class_names)
    names = named(None, getattr(X, "columns", None), 2, "features")
    ax.set(xlabel=names[0], ylabel=names[1])
    add_legend(ax)
    return ax


def grid_over(ax: Axes) -> tuple[Array, Array, Array]:
    """Return the points of a grid over the axes: across, upwards, and one by one."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    x, y = np.meshgrid(np.linspace(left, right, GRID_POINTS_PER_SIDE), np.linspace(low, high, GRID_POINTS_PER_SIDE))
    return x, y, np.column_stack([x.ravel(), y.ravel()])


def draw_regions(ax: Axes, x: Array, y: Array, scores: Array) -> None:
    """Tint the plane by the class that is elected, with thin borders in between."""
    n_classes = scores.shape[1]
    for k in range(n_classes):
        lead = (scores[:, k] - np.delete(scores, k, axis=1).max(axis=1)).reshape(x.shape)
        if lead.max() > 0:
            ax.contourf(x, y, lead, levels=[0, lead.max()], colors=[COLOURS[k % len(COLOURS)]], alpha=0.13, zorder=0)
            if (n_classes > 2 or k == 1) and lead.min() < 0:
                ax.contour(x, y, lead, levels=[0], colors=[INK], linewidths=1.0, zorder=1)


def _problems(
    ax: Axes, seen: Classifier, grid: tuple[Array, Array, Array], *, hyperplanes: bool, undecided: bool
) -> None:
    """Draw the hyperplane of each problem, and hatch where they contradict one another."""
    if seen.weights is None or seen.classes.size < 3 or seen.multiclass == "joint":
        raise InvalidInput(
            "The model has no hyperplane for each problem: it is not linear, has two classes, or learned all at once. "
            "Pass a linear one-vs-all or one-vs-one model of several classes, or hyperplanes=False, undecided=False."
        )
    coef, intercept = seen.weights
    pairs = by_pairs(seen.multiclass)
    if undecided:
        x, y, points = grid
        wins = (points @ coef.T + intercept > 0).astype(float)
        if pairs:
            signs = coding_matrix(seen.classes.size, "ovo").astype(float)
            wins = (2 * wins - 1) @ signs.T
            torn = wins.max(axis=1) < seen.classes.size - 1
        else:
            torn = wins.sum(axis=1) != 1
        mask = torn.reshape(x.shape).astype(float)
        if mask.any():
            shaded = ax.contourf(
                x, y, mask, levels=[0.5, 1.5], colors=["white"], alpha=0.55, hatches=["////"], zorder=0.5
            )
            shaded.set(edgecolor="#9aa0a6", linewidth=0)
            text = "no class wins all" if pairs else "no class, or several"
            ax.fill([], [], facecolor="white", edgecolor="#9aa0a6", hatch="////", linewidth=0, label=text)
    for k in range(len(coef) if hyperplanes else 0):
        if coef[k].any():
            look = {"color": GREY if pairs else COLOURS[k % len(COLOURS)], "linestyle": DASHES}
            draw_line(ax, coef[k], float(intercept[k]), linewidth=1.0 if pairs else 1.4, zorder=2, **look)


def draw_normal(ax: Axes, w: Array, b: float, points: Array) -> None:
    """Draw the normal where the hyperplane has most room around it."""
    limits = np.array([ax.get_xlim(), ax.get_ylim()])
    middle, size = limits.mean(axis=1), float(np.diff(limits).min())
    unit = w / np.linalg.norm(w)
    along = np.array([-unit[1], unit[0]])
    foot = middle - (middle @ w + b) / np.linalg.norm(w) * unit
    segments = [(at, at + 0.15 * size * unit) for at in foot + np.linspace(-0.4, 0.4, 17)[:, None] * size * along]
    inside = [pair for pair in segments if _within(ax, pair[0], size) and _within(ax, pair[1], size)]
    if inside:
        start, tip = max(inside, key=lambda pair: _distance(points, *pair))
        arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=tuple(tip), xytext=tuple(start), arrowprops=arrow, zorder=5)
        add_text(ax, tip, "$w$", 9 * unit)


def _within(ax: Axes, point: Array, size: float) -> bool:
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    rim = 0.08 * size
    return bool(left + rim < point[0] < right - rim and low + rim < point[1] < high - rim)


def _distance(points: Array, start: Array, end: Array) -> float:
    """Return the distance of the closest point from a segment."""
    way = end - start
    share = np.clip((points - start) @ way / (way @ way), 0, 1)
    return float(np.linalg.norm(points - start - share[:, None] * way, axis=1).min())


def _closest(ax: Axes, w: Array, b: float, points: Array) -> None:
    """Draw the distance of the point closest to the hyperplane."""
    unit = w / np.linalg.norm(w)
    signed = (points @ w + b) / np.linalg.norm(w)
    nearest = int(np.abs(signed).argmin())
    point = points[nearest]
    foot = point - signed[nearest] * unit
    ax.plot([point[0], foot[0]], [point[1], foot[1]], color=INK, linewidth=1.2, linestyle=(0, (2, 1.5)), zorder=3)
    draw_rings(ax, points[[nearest]], INK)
    # Beside the middle of the segment, on the side where the picture has more room.
    along = np.array([-unit[1], unit[0]])
    centre = np.array([ax.get_xlim(), ax.get_ylim()]).mean(axis=1)
    side = 16.0 if (centre - point) @ along >= 0 else -16.0
    add_text(ax, (point + foot) / 2, f"{abs(signed[nearest]):.3g}", side * along)
