"""Pictures of the plane: boundaries, regions, and runs update by update."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.learn.decisions import decision
from rosenblatt.learn.record import Trial
from rosenblatt.plots.axes import (
    COLOURS,
    GREY,
    INK,
    SKY,
    Axes,
    add_legend,
    add_text,
    as_trials,
    draw_classes,
    draw_line,
    draw_rings,
    frame_points,
    plane_points,
    quiet_axes,
)

Array = npt.NDArray[Any]

# Of the grid that regions are found on.
GRID_POINTS_PER_SIDE = 301


def plot_boundary(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw what a linear classifier makes of the plane.

    Two classes: the hyperplane w.x + b = 0, its normal w, and the distance of the row closest to it. More classes:
    the region of each, as the model's own rule of decision (`multiclass`) gives it.

    Parameters
    ----------
    model : fitted linear classifier
        Anything with coef_, intercept_ and classes_, of two features.
    X : array-like or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the data or the model is not two-dimensional, or the weights are zero.
    """
    coef, intercept, known = _linear(model)
    points, classes, label = plane_points(X, y)
    if known.size == 2 and not coef[0].any():
        raise InvalidInput("The weight vector is zero: it has no hyperplane to draw. Train on more rows.")
    # Classes that the model does not know come last, in colours of their own.
    named = np.concatenate([known, classes[~np.isin(classes, known)]])
    place = np.array([np.flatnonzero(named == name)[0] for name in classes])
    ax = quiet_axes(ax)
    frame_points(ax, points)
    _regions(ax, coef, intercept, known.size, getattr(model, "multiclass", "ovr"))
    if known.size == 2:
        w, b = coef[0], float(intercept[0])
        draw_line(ax, w, b, color=INK, linewidth=1.6, zorder=3)
        _normal(ax, w, b, points)
        _closest(ax, w, b, points)
    draw_classes(ax, points, named, place[label])
    names = getattr(model, "feature_names_in_", ("$x_1$", "$x_2$"))
    ax.set(xlabel=names[0], ylabel=names[1])
    add_legend(ax)
    return ax


def plot_trace(trials: Iterable[Trial], X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw a run on 2-D data update by update: the hyperplane after each, fading in, the last one strong.

    A ring marks the rows that caused an update.

    Parameters
    ----------
    trials : iterable of Trial
        From `rosenblatt.trace`, on the same rows.
    X : array-like or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None

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
    ax = quiet_axes(ax)
    frame_points(ax, points)
    for k, trial in enumerate(drawn[:-1], start=1):
        age = k / len(drawn)
        draw_line(ax, trial.w, trial.b, color=SKY, linewidth=0.7 + 0.6 * age, alpha=0.2 + 0.7 * age**2, zorder=1)
    last = drawn[-1]
    draw_line(ax, last.w, last.b, color=INK, linewidth=1.8, zorder=2, label=f"after update {last.mistakes}, the last")
    _normal(ax, last.w, last.b, points)
    draw_rings(ax, points[np.unique([trial.row for trial in updates])], GREY)
    draw_classes(ax, points, classes, label)
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
    add_legend(ax)
    return ax


def _linear(model: Any) -> tuple[Array, Array, Array]:
    """Return the weights, biases and classes of a fitted linear model."""
    missing = [name for name in ("coef_", "intercept_", "classes_") if not hasattr(model, name)]
    if missing:
        raise InvalidInput(
            f"{type(model).__name__} has no {missing[0]}: it is not fitted, or not linear. Fit it first."
        )
    coef = np.atleast_2d(np.asarray(model.coef_, np.float64))
    if coef.shape[1] != 2:
        raise InvalidInput(f"The model has {coef.shape[1]} features; a picture of the plane needs 2. Fit it on two.")
    return coef, np.broadcast_to(np.asarray(model.intercept_, np.float64), coef.shape[0]), np.asarray(model.classes_)


def _regions(ax: Axes, coef: Array, intercept: Array, n_classes: int, multiclass: str) -> None:
    """Tint the plane by the class that is elected, with thin borders in between."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    x, y = np.meshgrid(np.linspace(left, right, GRID_POINTS_PER_SIDE), np.linspace(low, high, GRID_POINTS_PER_SIDE))
    grid = np.column_stack([x.ravel(), y.ravel()])
    scores = decision(grid @ coef.T + intercept, n_classes, multiclass)
    if n_classes == 2:
        scores = np.hstack([-scores, scores])
    for k in range(n_classes):
        lead = (scores[:, k] - np.delete(scores, k, axis=1).max(axis=1)).reshape(x.shape)
        if lead.max() > 0:
            ax.contourf(x, y, lead, levels=[0, lead.max()], colors=[COLOURS[k % len(COLOURS)]], alpha=0.13, zorder=0)
            if n_classes > 2 and lead.min() < 0:
                ax.contour(x, y, lead, levels=[0], colors=[INK], linewidths=1.0, zorder=1)


def _normal(ax: Axes, w: Array, b: float, points: Array) -> None:
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
    add_text(ax, point, f"{abs(signed[nearest]):.3g}", (20 if signed[nearest] >= 0 else -20) * unit)
