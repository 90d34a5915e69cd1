"""A curved boundary in the plane beside the hyperplane that it is, in the space that rows are mapped to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.plots.axes import (
    INK,
    Style,
    add_legend,
    draw_classes,
    draw_line,
    frame_points,
    plane_points,
    quiet_pair,
)
from rosenblatt.plots.plane import draw_regions, grid_over
from rosenblatt.report.models import linear_parts

Array = npt.NDArray[Any]


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
    """Draw a boundary in the plane beside the hyperplane in the space that rows are mapped to.

    The ellipse in the plane is a line where the rows are mapped to their squares. If that space has more than two
    dimensions, it is seen from a side on which the hyperplane is a line: across, the distance from it; upwards, the
    direction along it in which the rows differ most.

    Parameters
    ----------
    model : pipeline, or fitted linear classifier of mapped rows
        A pipeline is a mapping and, as its last step, a linear classifier.
    X : array-like of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
        Two classes.
    mapping : callable, optional
        From rows to mapped rows, such as ``np.square``; by default the first steps of the pipeline.
    axes : pair of matplotlib.axes.Axes or None
    class_names : sequence of str, optional
    style : {"paper", "talk"}
        Of a new figure; for a projector "talk".

    Returns
    -------
    list of two matplotlib.axes.Axes
    """
    points, classes, label = plane_points(X, y)
    if mapping is None:
        if not hasattr(model, "steps"):
            raise InvalidInput(f"{type(model).__name__} is no pipeline: its mapping is not known. Pass mapping=.")
        mapping, model = model[:-1].transform, model[-1]
    coef, intercept, known = linear_parts(model)
    if known.size != 2 or classes.size != 2 or not coef[0].any():
        raise InvalidInput("The picture is of two classes and weights that are not zero. Fit on more rows, or on two.")
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


def _mapped(mapping: Callable[[Any], Any], rows: Array, width: int) -> Array:
    found = mapping(rows)
    found = np.asarray(found.toarray() if hasattr(found, "toarray") else found, np.float64)
    if found.shape != (len(rows), width):
        raise InvalidInput(
            f"mapping gives an array of shape {found.shape}; the model has {width} weights. Use its own."
        )
    return found


def _side(rows: Array, w: Array, b: float) -> tuple[Array, Array, float]:
    """Return rows seen from the side: distances from a hyperplane, and places along it where they differ most."""
    length = float(np.linalg.norm(w))
    distance = (rows @ w + b) / length
    flat = rows - np.outer(distance, w / length)
    flat -= flat.mean(axis=0)
    main = np.linalg.svd(flat, full_matrices=False)[2][0]
    return np.column_stack([distance, flat @ main]), np.array([1.0, 0.0]), 0.0
