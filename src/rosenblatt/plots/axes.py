"""Shared parts of all plots: figures, axes, colours, points, lines, labels and legends.

pyplot and its global state are not used, so servers and threads can draw. The colours are those of the lab, chosen for
colour-blind readers; classes differ by marker as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels
from rosenblatt.data.matrices import as_dense
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidArgument, InvalidInput, MissingExtra
from rosenblatt.markup import palette
from rosenblatt.markup.charts import shortened
from rosenblatt.text import did_you_mean, short_repr
from rosenblatt.training.record import Recording, Trial

Array = npt.NDArray[Any]
Axes = Any  # matplotlib.axes.Axes, which need not be installed
Style = Literal["paper", "talk"]

COLOURS = tuple(colour.upper() for colour in palette.CLASSES)
MARKERS = ("o", "s", "^", "D", "v", "P", "p", "*", "h", "X")
# Areas at which the markers look equally large, in square points.
AREAS = (26, 26, 30, 24, 30, 36, 34, 62, 34, 34)
INK, GREY, SKY = palette.INK, palette.SOFT, palette.SKY
DASHES = (0, (4, 3))
# A curve of more points is drawn without dots.
MAX_EPOCHS_WITH_DOTS = 40
# Scale of text, lines and markers relative to the figure.
STYLES: dict[str, float] = {"paper": 1.0, "talk": 1.6}
# Characters of a name; rows of a legend.
MAX_NAME, MAX_LEGEND_ROWS = 60, 4
# Room for the number of a row, in points.
LABEL_WIDTH, LABEL_HEIGHT = 20, 13


def new_figure(width: float = 5.0, height: float = 4.2, style: Style = "paper") -> Any:
    """Return an empty matplotlib figure, which pyplot does not know.

    Parameters
    ----------
    width, height : float
        In inches.
    style : {"paper", "talk"}
        "talk" is for a projector: text, lines and markers are 1.6 times as large relative to the figure. The figure has
        fewer inches at a higher resolution, and so the same number of pixels.

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
        fault = "matplotlib is not installed, and plots need it."
        raise MissingExtra(f'{fault} Run: pip install "rosenblatt[plots]"') from None
    if style not in STYLES:
        raise InvalidArgument(
            f"style={short_repr(style)} is not known. Choose 'paper' or 'talk'.{did_you_mean(style, STYLES)}"
        )
    factor = STYLES[style]
    return Figure(figsize=(width / factor, height / factor), dpi=144 * factor, layout="constrained")


def quiet_axes(ax: Axes | None, style: Style = "paper") -> Axes:
    """Return axes without decoration: those passed, or new ones."""
    ax = new_figure(style=style).subplots() if ax is None else ax
    if not hasattr(ax, "spines"):
        raise InvalidArgument(f"ax is {short_repr(ax)}, not axes of matplotlib. Pass axes, or None for new ones.")
    if ax.figure.get_layout_engine() is None and ax.get_subplotspec() is not None:
        ax.figure.figure.set_layout_engine("constrained")  # makes room for legends, titles and names
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(palette.AXES)
    ax.tick_params(colors=palette.AXES, labelcolor=INK, labelsize=8)
    ax.xaxis.label.set(size=9, color=INK)
    ax.yaxis.label.set(size=9, color=INK)
    return ax


def quiet_pair(axes: Any, style: Style, *, width: float = 8.6, height: float = 4.2, stacked: bool = False) -> Any:
    """Return two axes without decoration, side by side or one above the other: those passed, or new ones."""
    if axes is None:
        figure = new_figure(width, height, style)
        axes = figure.subplots(2, 1, sharex=True) if stacked else figure.subplots(1, 2)
    pair = list(np.ravel(np.asarray(axes, dtype=object)))
    if len(pair) != 2:
        raise InvalidArgument(f"axes has {len(pair)} axes; this figure needs two. Pass two, or None.")
    return [quiet_axes(ax) for ax in pair]


def check_kind(value: Any, kind: type, name: str, remedy: str) -> None:
    """Raise `InvalidArgument` unless an argument is of a type."""
    if not isinstance(value, kind):
        raise InvalidArgument(f"{name} is {short_repr(value)}, not a {kind.__name__}. Pass {remedy}.")


def as_trials(trials: Any) -> list[Trial]:
    """Return trials as a list; raise `InvalidArgument` if they are something else."""
    if isinstance(trials, Recording):
        return list(trials.trials())
    listed = list(trials) if hasattr(trials, "__iter__") else [trials]
    for trial in listed:
        check_kind(trial, Trial, "A trial", "what rosenblatt.trace yields")
    return listed


def add_legend(ax: Axes) -> None:
    """Add a legend between the axes and their title. Long names are shortened."""
    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        return
    look = {"frameon": False, "fontsize": 8, "labelcolor": INK, "handletextpad": 0.4, "columnspacing": 1.2}
    look |= {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    share = ax.get_position().width / 0.775  # of the figure's width: single axes take 0.775 of it
    room = 0.82 * min(share, 1.0) * ax.figure.bbox.width  # the rest is for the names of the axis
    least = -(-len(labels) // MAX_LEGEND_ROWS)
    most = max(least, min(len(labels), 5 if len(labels) > 8 else 4))
    whole = [(labels, columns) for columns in range(most, least - 1, -1)]
    for texts, columns in (*whole, *((_cut_all(labels, length), least) for length in range(48, 5, -3))):
        if ax.legend(handles, texts, ncols=columns, **look).get_window_extent().width <= room:
            break
    # matplotlib keeps titles above child axes, but not above legends: an invisible child covers the legend.
    ax.inset_axes([0, 0, 1, 1], visible=False).set_axes_locator(partial(_legend_box, ax))


def _legend_box(ax: Axes, _: Axes, renderer: Any) -> Any:
    """Return the place of the legend of some axes in their figure; that of the axes themselves if it was removed."""
    legend = ax.get_legend()
    if legend is None:
        return ax.get_position()
    return legend.get_window_extent(renderer).transformed(ax.figure.transSubfigure.inverted())


def _cut_all(labels: list[str], most: int) -> list[str]:
    """Return names of at most so many characters; if they became equal, they begin where the labels differ."""
    texts = [_cut(label, most) for label in labels]
    if len(set(texts)) == len(set(labels)):
        return texts
    same = next(k for k, letters in enumerate(zip_longest(*labels)) if len(set(letters)) > 1)
    return [_cut(f"...{label[same:]}", most) for label in labels]


def _cut(label: str, most: int) -> str:
    """Return a name, shortened in the middle since class names often differ at the end; formulas stay whole."""
    text = label.replace(r"\$", "$")
    if "$" in label.replace(r"\$", ""):
        return label
    if len(text) > most and text.startswith("..."):
        text = text[:most]
    elif len(text) > most:
        text = f"{text[: (most - 2) // 2]}...{text[len(text) - (most - 3) // 2 :]}"
    return text.replace("$", r"\$")


def add_text(ax: Axes, at: Any, text: str, offset: Any = (0, 0), **look: Any) -> None:
    """Write a text `offset` points away from a point of the plot."""
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    look = {"color": INK, "bbox": box, "ha": "center", "va": "center"} | look
    ax.annotate(text, xy=tuple(at), xytext=tuple(offset), textcoords="offset points", fontsize=8, zorder=6, **look)


def points_per_unit(ax: Axes) -> float:
    """Return about how many points a unit of the data will take, once the layout has shrunk the axes."""
    shortest = 72 / ax.figure.dpi * min(ax.bbox.width, ax.bbox.height)
    return float(0.6 * shortest / max(np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())))


def free_place(ax: Axes, places: Iterable[Array], taken: list[Array]) -> Array | None:
    """Return the first place where the number of a row hits none of those taken, and add it to them; None if all do."""
    for place in places:
        gaps = points_per_unit(ax) * np.abs(np.reshape(taken, (-1, 2)) - place)
        if np.all((gaps[:, 0] > LABEL_WIDTH) | (gaps[:, 1] > LABEL_HEIGHT)):
            taken.append(place)
            return place
    return None


def plane_points(X: Any, y: Any) -> tuple[Array, Array, Array]:
    """Return the points (n, 2), the classes and the class number of each point."""
    table = as_table(as_dense(X))
    points = np.asarray(table.rows[0], np.float64)
    if points.shape[1] != 2:
        raise InvalidInput(f"X has {points.shape[1]} features; a plot of the plane needs 2. Train on two columns.")
    return points, *as_labels(y, points.shape[0])


def named(names: Sequence[str] | None, default: Any, count: int, what: str) -> list[str]:
    """Return a name for each feature or class: those passed, the default ones, or x1, x2, ..."""
    names = default if names is None else names
    if names is None:
        return [f"$x_{{{j}}}$" for j in range(1, count + 1)]
    if isinstance(names, str) or len(names) != count:
        raise InvalidArgument(f"There are {count} {what}, but the names are {short_repr(names)}. Pass one for each.")
    # A dollar sign would begin a formula.
    return [shortened(name, MAX_NAME).replace("$", r"\$") for name in names]


def frame_points(ax: Axes, points: Array) -> None:
    """Set the limits around some points, with the same scale in both directions: right angles look right."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high - low).max()) or 1.0
    half = np.maximum((high - low) / 2, 0.35 * extent) + 0.12 * extent
    middle = (low + high) / 2
    ax.set(xlim=(middle[0] - half[0], middle[0] + half[0]), ylim=(middle[1] - half[1], middle[1] + half[1]))
    ax.set_aspect("equal", adjustable="box")
    # No steps of 0.25, whose labels are long; on small axes one tick is better than many that overlap.
    ax.locator_params(steps=[1, 2, 5, 10], min_n_ticks=1)


def draw_classes(ax: Axes, points: Array, classes: Array, label: Array, names: Sequence[str] | None = None) -> None:
    """Draw each point with the colour and the marker of its class."""
    plain = [f"class {name:g}" if isinstance(name, float) else f"class {name}" for name in classes.tolist()]
    for k, text in enumerate(named(names, plain, len(plain), "classes")):
        own = points[label == k]
        look = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)], "label": text}
        area = AREAS[k % len(AREAS)]
        ax.scatter(own[:, 0], own[:, 1], s=area, edgecolors="white", linewidths=0.6, zorder=4, **look)


def draw_rings(ax: Axes, points: Array, colour: str) -> None:
    """Draw a ring around each point."""
    ax.scatter(points[:, 0], points[:, 1], s=85, facecolors="none", edgecolors=colour, linewidths=1.0, zorder=5)


def draw_line(ax: Axes, w: Array, b: float, **look: Any) -> None:
    """Draw the hyperplane w.x + b = 0 across the axes."""
    foot = -b * w / (w @ w)
    # Scaled by the distance of the foot: otherwise rounding could make both points equal far from the origin.
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w) * max(1.0, float(np.linalg.norm(foot)))
    ax.axline(tuple(foot), xy2=tuple(foot + along), **look)
