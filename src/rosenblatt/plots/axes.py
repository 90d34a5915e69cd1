"""What every picture is made of: figures, axes, colours, points, lines and words.

pyplot and its global state are never touched, so that servers and threads may draw. The colours are those of Okabe and
Ito, which colour-blind readers can tell apart; classes differ by marker as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidArgument, InvalidInput, MissingExtra
from rosenblatt.learn.record import Trial
from rosenblatt.words import shown

Array = npt.NDArray[Any]
Axes = Any  # matplotlib.axes.Axes, which need not be installed

# Okabe and Ito (2008), Color universal design; neighbours chosen far apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK, GREY, SKY = "#222222", "#767676", "#56B4E9"
DASHES = (0, (4, 3))
# Points or epochs up to which a curve shows each by a dot.
MAX_EPOCHS_WITH_DOTS = 40


def new_figure(width: float = 5.0, height: float = 4.2) -> Any:
    """Return an empty matplotlib figure that belongs to no global state.

    Parameters
    ----------
    width, height : float
        In inches.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        fault = "matplotlib is not installed, and pictures need it."
        raise MissingExtra(f'{fault} Run: pip install "rosenblatt[plots]"') from None
    return Figure(figsize=(width, height), dpi=144, layout="constrained")


def quiet_axes(ax: Axes | None) -> Axes:
    """Return axes without decoration: those passed, or those of a new figure."""
    ax = new_figure().subplots() if ax is None else ax
    if not hasattr(ax, "spines"):
        raise InvalidArgument(f"ax is {shown(ax)}, not axes of matplotlib. Pass such axes, or None for new ones.")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(colors=GREY, labelcolor=INK, labelsize=8)
    ax.xaxis.label.set(size=9, color=INK)
    ax.yaxis.label.set(size=9, color=INK)
    return ax


def check_kind(value: Any, kind: type, name: str, remedy: str) -> None:
    """Raise an error if an argument is not of the kind that a picture is of."""
    if not isinstance(value, kind):
        raise InvalidArgument(f"{name} is {shown(value)}, not a {kind.__name__}. Pass {remedy}.")


def as_trials(trials: Any) -> list[Trial]:
    """Return trials as a list, or raise an error if they are something else."""
    found = list(trials) if hasattr(trials, "__iter__") else [trials]
    for trial in found:
        check_kind(trial, Trial, "A trial", "what rosenblatt.trace yields")
    return found


def add_legend(ax: Axes) -> None:
    """Explain the marks above the axes, where nothing is hidden."""
    look = {"frameon": False, "fontsize": 8, "labelcolor": INK, "handletextpad": 0.4, "columnspacing": 1.2}
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0.2, **look)


def add_text(ax: Axes, at: Any, text: str, offset: Any = (0, 0), **look: Any) -> None:
    """Write beside a point, `offset` in points of print away from it."""
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    look = {"color": INK, "bbox": box, "ha": "center", "va": "center"} | look
    ax.annotate(text, xy=tuple(at), xytext=tuple(offset), textcoords="offset points", fontsize=8, zorder=6, **look)


def plane_points(X: Any, y: Any) -> tuple[Array, Array, Array]:
    """Return the points (n, 2), the classes and the class number of each point."""
    table = as_table(X.toarray() if hasattr(X, "toarray") else X)
    points = np.asarray(table.rows[0], np.float64)
    if points.shape[1] != 2:
        raise InvalidInput(f"X has {points.shape[1]} features; a picture of the plane needs 2. Train on two columns.")
    return points, *as_labels(y, points.shape[0])


def frame_points(ax: Axes, points: Array) -> None:
    """Show the points with a border, at the same scale in both directions, so that right angles look right."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high - low).max()) or 1.0
    half = np.maximum((high - low) / 2, 0.35 * extent) + 0.12 * extent
    middle = (low + high) / 2
    ax.set(xlim=(middle[0] - half[0], middle[0] + half[0]), ylim=(middle[1] - half[1], middle[1] + half[1]))
    ax.set_aspect("equal", adjustable="box")


def draw_classes(ax: Axes, points: Array, classes: Array, label: Array) -> None:
    """Draw each point in the colour and with the marker of its class."""
    for k, name in enumerate(classes.tolist()):
        own = points[label == k]
        text = f"class {name:g}" if isinstance(name, float) else f"class {name}"
        look = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)], "label": text}
        ax.scatter(own[:, 0], own[:, 1], s=26, edgecolors="white", linewidths=0.6, zorder=4, **look)


def draw_rings(ax: Axes, points: Array, colour: str) -> None:
    """Draw a ring around each point."""
    ax.scatter(points[:, 0], points[:, 1], s=85, facecolors="none", edgecolors=colour, linewidths=1.0, zorder=5)


def draw_line(ax: Axes, w: Array, b: float, **look: Any) -> None:
    """Draw the hyperplane w.x + b = 0 across the axes."""
    foot = -b * w / (w @ w)
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    ax.axline(tuple(foot), xy2=tuple(foot + along), **look)
