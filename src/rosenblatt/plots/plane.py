"""Plots of the plane: boundaries, regions, runs update by update, and rows mapped to another space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
    quiet_pair,
)
from rosenblatt.report.models import Classifier, as_classifier, linear_parts
from rosenblatt.training.multiclass import by_pairs, coding_matrix
from rosenblatt.training.record import Trial

Array = npt.NDArray[Any]

# Grid on which regions are determined.
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
    """Draw the decision regions of a classifier in the plane.

    For a linear model of two classes also the hyperplane w.x + b = 0, its normal w, and the distance of the closest
    row.

    Parameters
    ----------
    model : fitted classifier
        Any classifier of two features with `predict`: also kernels, pipelines, classifiers of other packages, and what
        `train` returns.
    X : array-like, data frame or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None
    feature_names : sequence of str, optional
        By default those of the model or of X.
    class_names : sequence of str, optional
        One for each class of the model, in sorted order, and then one for each class that is only in y.
    hyperplanes : bool
        Draw the hyperplane of each problem too, if there are more than two classes.
    undecided : bool
        Hatch the regions where the problems contradict one another: with one-vs-all, where no class or several classes
        claim a point; with one-vs-one, where no class beats all others. The model still decides there, by its scores.
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the data or the model is not two-dimensional, the weights are zero, or `hyperplanes` or `undecided` is set
        for a model that has no hyperplane for each problem.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.datasets import logical
    >>> from rosenblatt.plots import plot_boundary
    >>> X, y = logical("or")
    >>> ax = plot_boundary(Perceptron(shuffle=False).fit(X, y), X, y, class_names=["false", "true"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['closest row: 0.354', 'false', 'true']
    """
    points, classes, label = plane_points(X, y)
    seen = as_classifier(model, X, y)
    if seen.classes.size == 2 and seen.weights is not None and not seen.weights[0][0].any():
        raise InvalidInput("The weight vector is zero, so there is no hyperplane to draw. Train on more rows.")
    # Classes that the model was not trained on come last, in colours of their own.
    every = np.concatenate([seen.classes, classes[~np.isin(classes, seen.classes)]])
    place = np.array([np.flatnonzero(every == name)[0] for name in classes])
    ax = quiet_axes(ax, style)
    frame_points(ax, points)
    x, y_, grid = grid_over(ax)
    draw_regions(ax, x, y_, seen.scores(grid))
    if seen.weights is not None and seen.classes.size == 2 and seen.is_linear(grid):
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
    """Draw a run on 2-D data: the hyperplane after each update, the later the darker, and the last one bold.

    The rows that caused an update are ringed.

    Parameters
    ----------
    trials : iterable of Trial
        From `rosenblatt.trace`, or a recording, on the same rows.
    X : array-like or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None
    class_names : sequence of str, optional
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the data are not two-dimensional, or no update gave a hyperplane.

    Examples
    --------
    >>> from rosenblatt import trace
    >>> from rosenblatt.datasets import logical
    >>> from rosenblatt.plots import plot_trace
    >>> X, y = logical("or")
    >>> ax = plot_trace(trace(X, y), X, y)
    >>> ax.get_legend().get_texts()[0].get_text()
    'after update 9, the last'
    """
    points, classes, label = plane_points(X, y)
    updates = [trial for trial in as_trials(trials) if trial.mistake]
    drawn = [trial for trial in updates if np.any(trial.w)]
    if not drawn:
        raise InvalidInput(
            "No update among the trials gives a hyperplane, so there is nothing to draw. Trace more rows."
        )
    if np.ndim(drawn[-1].w) != 1:
        raise InvalidInput("The trials are of several problems; this figure shows one hyperplane. Trace two classes.")
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


def plot_mapped(
    model: Any,
    X: Any,
    y: Any,
    mapping: Callable[[Any], Any] | None = None,
    axes: Any = None,
    *,
    class_names: Sequence[str] | None = None,
    style: Style = "paper",
) -> Any:
    """Draw a boundary in the plane next to the hyperplane in the space that rows are mapped to.

    An ellipse in the plane, for example, is a line in the space of the squares. A space of more than two dimensions is
    projected such that the hyperplane is a line: x is the distance from it, y the direction along it in which the rows
    differ most.

    Parameters
    ----------
    model : pipeline, or fitted linear classifier of mapped rows
        The last step of the pipeline is a linear classifier, the others are the mapping.
    X : array-like of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
        Two classes.
    mapping : callable, optional
        Maps rows to rows, such as ``np.square``; by default the first steps of the pipeline.
    axes : pair of matplotlib.axes.Axes or None
    class_names : sequence of str, optional
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    list of two matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import MaximumMargin
    >>> from rosenblatt.datasets import circles
    >>> from rosenblatt.plots import plot_mapped
    >>> X, y = circles(80, factor=0.5, noise=0.06)
    >>> plane, squares = plot_mapped(MaximumMargin().fit(np.square(X), y), X, y, np.square)
    >>> squares.get_xlabel()
    '$x_1^2$'
    """
    points, classes, label = plane_points(X, y)
    if mapping is None:
        if not hasattr(model, "steps"):
            raise InvalidInput(f"{type(model).__name__} is not a pipeline, so it has no mapping. Pass mapping=.")
        mapping, model = model[:-1].transform, model[-1]
    coef, intercept, labels = linear_parts(model)
    if labels.size != 2 or classes.size != 2 or not coef[0].any():
        fault = f"The model has {labels.size} classes and y has {classes.size}, or the weights are zero."
        raise InvalidInput(f"{fault} Fit a model with a hyperplane on two classes.")
    w, b = coef[0], float(intercept[0])
    left, right = quiet_pair(axes, style)
    frame_points(left, points)
    x, y_, grid = grid_over(left)
    score = (_mapped(mapping, grid, w.size) @ w + b)[:, None]
    draw_regions(left, x, y_, np.hstack([-score, score]))
    draw_classes(left, points, classes, label, class_names)
    left.set(xlabel="$x_1$", ylabel="$x_2$")
    mapped = _mapped(mapping, points, w.size)
    names = ("mapped $x_1$", "mapped $x_2$")
    if mapping is np.square:
        names = ("$x_1^2$", "$x_2^2$")
    if w.size != 2:
        mapped, w, b = _side(mapped, w, b)
        names = ("distance from the hyperplane", "along the hyperplane")
    frame_points(right, mapped)
    right.set_aspect("auto")
    (low, high), (bottom, top) = left.get_xlim(), left.get_ylim()
    right.set_box_aspect((top - bottom) / (high - low))
    x, y_, grid = grid_over(right)
    score = (grid @ w + b)[:, None]
    draw_regions(right, x, y_, np.hstack([-score, score]))
    draw_line(right, w, b, color=INK, linewidth=1.6, zorder=3)
    draw_classes(right, mapped, classes, label, class_names)
    right.set(xlabel=names[0], ylabel=names[1])
    add_legend(left)
    return [left, right]


def grid_over(ax: Axes) -> tuple[Array, Array, Array]:
    """Return a grid over the axes: its x and y coordinates, and its points as rows."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    x, y = np.meshgrid(np.linspace(left, right, GRID_POINTS_PER_SIDE), np.linspace(low, high, GRID_POINTS_PER_SIDE))
    return x, y, np.column_stack([x.ravel(), y.ravel()])


def draw_regions(ax: Axes, x: Array, y: Array, scores: Array) -> None:
    """Tint the region of each class, and draw the borders between them."""
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
    """Draw the hyperplane of each problem, and hatch the regions where they contradict one another."""
    if seen.weights is None or seen.classes.size < 3 or seen.multiclass == "joint":
        raise InvalidInput(
            "The model has no hyperplane for each problem: it is not linear, has two classes, or multiclass='joint'. "
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
    """Draw the normal of a hyperplane where it is farthest from the points."""
    limits = np.array([ax.get_xlim(), ax.get_ylim()])
    middle, size = limits.mean(axis=1), float(np.diff(limits).min())
    unit = w / np.linalg.norm(w)
    along = np.array([-unit[1], unit[0]])
    foot = middle - (middle @ w + b) / np.linalg.norm(w) * unit
    segments = [(at, at + 0.15 * size * unit) for at in foot + np.linspace(-0.4, 0.4, 17)[:, None] * size * along]
    within = np.diff(limits)[:, 0] / 2 - 0.08 * size  # of the middle, with some room at the edge
    inside = [pair for pair in segments if np.all(np.abs(np.array(pair) - middle) < within)]
    if inside:
        start, tip = max(inside, key=lambda pair: _distance(points, *pair))
        arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=tuple(tip), xytext=tuple(start), arrowprops=arrow, zorder=5)
        add_text(ax, tip, "$w$", 9 * unit)


def _distance(points: Array, start: Array, end: Array) -> float:
    """Return the distance of the closest point from a segment."""
    along = end - start
    share = np.clip((points - start) @ along / (along @ along), 0, 1)
    return float(np.linalg.norm(points - start - share[:, None] * along, axis=1).min())


def _closest(ax: Axes, w: Array, b: float, points: Array) -> None:
    """Draw the distance of the closest point from a hyperplane."""
    signed = (points @ w + b) / np.linalg.norm(w)
    nearest = int(np.abs(signed).argmin())
    foot = points[nearest] - signed[nearest] * w / np.linalg.norm(w)
    look = {"color": INK, "linewidth": 1.2, "linestyle": (0, (2, 1.5)), "zorder": 3}
    ax.plot(*np.array([points[nearest], foot]).T, label=f"closest row: {abs(signed[nearest]):.3g}", **look)
    draw_rings(ax, points[[nearest]], INK)


def _mapped(mapping: Callable[[Any], Any], rows: Array, width: int) -> Array:
    values = mapping(rows)
    values = np.asarray(values.toarray() if hasattr(values, "toarray") else values, np.float64)
    if values.shape != (len(rows), width):
        raise InvalidInput(
            f"mapping gives an array of shape {values.shape}, but the model has {width} weights. Pass the mapping "
            "that it was fitted with."
        )
    return values


def _side(rows: Array, w: Array, b: float) -> tuple[Array, Array, float]:
    """Return rows projected along a hyperplane: their distance from it, and the direction in which they differ most."""
    length = float(np.linalg.norm(w))
    distance = (rows @ w + b) / length
    flat = rows - np.outer(distance, w / length)
    flat -= flat.mean(axis=0)
    main = np.linalg.svd(flat, full_matrices=False)[2][0]
    return np.column_stack([distance, flat @ main]), np.array([1.0, 0.0]), 0.0
