"""Pictures of runs, margins, weights and the plane as SVG, from plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.markup.charts import Chart, mark, shortened, sideways_bars
from rosenblatt.markup.elements import Markup, tag
from rosenblatt.markup.palette import CLASSES, INK, SKY, SOFT, UPDATE

Array = npt.NDArray[Any]

# Points of each class up to which all are drawn; beyond, a sample.
MAX_POINTS = 600
# Cells of a map of regions, on each side.
GRID = 72


def key(names: Sequence[Any], *, lines: bool = False) -> Markup:
    """Return what marks or lines mean, for below a picture."""
    parts = []
    for k, name in enumerate(names):
        shape = tag("rect", x=0, y=4, width=12, height=3, fill=CLASSES[k % len(CLASSES)]) if lines else mark(6, 6, k)
        icon = tag("svg", shape, width=12, height=12, aria_hidden="true")
        parts.append(tag("span", icon, " ", shortened(name, 40), class_="key"))
    return tag("p", *parts, class_="keys")


def mistakes_chart(mistakes: Sequence[int], errors: Sequence[float | None], rows: int, kept: int) -> Markup:
    """Return mistakes by epochs as shares of the rows, the errors at their ends, and the epoch that was kept."""
    shares = np.asarray(mistakes, np.float64) / max(rows, 1)
    measured = [(epoch, error) for epoch, error in enumerate(errors, 1) if error is not None]
    top = max([float(shares.max(initial=0)), *(error for _, error in measured), 1e-9])
    title = "Mistakes in each epoch, as a share of the rows"
    chart = Chart((0.5, len(shares) + 0.5), (0, 1.08 * top), title=title, xlabel="epoch", ylabel="share of the rows")
    if shares.size <= 60:
        place = np.arange(shares.size) + 0.5
        chart.bars(place, place + 1, shares, [SKY] * shares.size)
    else:
        chart.curve(np.arange(1, shares.size + 1), shares, CLASSES[0])
    if len(measured) > 1:
        epochs, values = zip(*measured, strict=True)
        chart.curve(epochs, values, CLASSES[1], width=2)
    if 1 <= kept <= shares.size:
        chart.rule(x=kept, colour=UPDATE)
    return chart.svg()


def growth_chart(presented: Any, mistakes: Any, bound: float | None = None) -> Markup:
    """Return mistakes as they add up over trials, below their bound where that is near."""
    total = np.asarray(mistakes, np.float64)
    near = bound is not None and bound <= 8 * max(total[-1], 1)
    top = max(float(total[-1]), float(bound) if near and bound is not None else 0.0, 1.0)
    last = float(np.asarray(presented)[-1])
    title = "Mistakes so far, against rows presented"
    chart = Chart((0, last), (0, 1.12 * top), title=title, xlabel="rows presented", ylabel="mistakes so far")
    chart.curve(presented, total, CLASSES[0], steps=True)
    if near and bound is not None:
        chart.rule(y=float(bound))
        chart.text(last, float(bound), f"at most {bound:,.0f}", anchor="end", colour=SOFT, up=4)
    return chart.svg()


def squeeze_chart(updates: Array, alignment: Array, floor: Array, square: Array, cap: Array) -> Markup:
    """Return the two quantities of the proof between their bounds: <w, w*> and |w| against the mistakes."""
    length, most = np.sqrt(square), np.sqrt(cap)
    low = min(0.0, *(float(part.min()) for part in (alignment, floor) if part.size), 0.0)
    limits = (float(updates[0]), float(updates[-1])), (low, 1.08 * float(most.max()))
    title = "The length of the weights below its cap, and their product with a separator above its floor"
    chart = Chart(*limits, title=title, xlabel="mistakes M", ylabel="length")
    if alignment.size:
        room = np.vstack([np.column_stack([updates, most]), np.column_stack([updates, floor])[::-1]])
        chart.polygon(room, SKY, 0.15)
        chart.curve(updates, floor, CLASSES[0], width=1, dashed=True)
        chart.curve(updates, alignment, CLASSES[0])
    chart.curve(updates, most, CLASSES[1], width=1, dashed=True)
    chart.curve(updates, length, CLASSES[1])
    return chart.svg()


def margin_chart(margins: Array, bins: int = 30) -> Markup:
    """Return how margins are distributed, mistakes in their own colour."""
    low, high = min(float(margins.min()), 0.0), max(float(margins.max()), 0.0)
    width = (high - low) / bins or 1.0
    # Zero is the end of a bin, so that no bar holds both mistakes and others.
    edges = np.arange(int(np.floor(low / width - 1e-9)), int(np.ceil(high / width + 1e-9)) + 1) * width
    moved = np.where(margins <= 0, np.minimum(margins, -width / 2), margins)
    counts, _ = np.histogram(moved, edges)
    title = "How many rows have which margin; mistakes are at zero and below"
    chart = Chart(
        (edges[0], edges[-1]), (0, 1.08 * max(int(counts.max()), 1)), title=title, xlabel="margin", ylabel="rows"
    )
    chart.bars(edges[:-1], edges[1:], counts, [UPDATE if edge < -1e-12 else CLASSES[0] for edge in edges[:-1]])
    chart.rule(x=0, colour=INK)
    return chart.svg()


def weights_chart(names: Sequence[Any], weights: Any, top: int, title: str) -> Markup:
    """Return the largest weights with the names of their features."""
    values = np.asarray(weights, np.float64)
    chosen = np.argsort(-np.abs(values), kind="stable")[:top]
    chosen = chosen[values[chosen] != 0]
    colours = [CLASSES[1] if values[j] > 0 else CLASSES[0] for j in chosen]
    return sideways_bars([names[j] for j in chosen], values[chosen].tolist(), title, colours)


def plane_chart(
    points: Array, label: Array, names: Sequence[Any], *, regions: Any = None, hyperplane: Any = None, size: int = 340
) -> Markup:
    """Return rows in the plane, over the regions of their classes.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
    label : int array of shape (n_samples,)
    names : pair of str
        Of the features.
    regions : callable, optional
        From points to class numbers.
    hyperplane : (array, float), optional
        Weights and bias, to be drawn as a line.
    size : int
        Width and height, in pixels.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    rim = 0.08 * (float((high - low).max()) or 1.0)
    limits = (low[0] - rim, high[0] + rim), (low[1] - rim, high[1] + rim)
    look: dict[str, Any] = {"xlabel": shortened(names[0], 30), "ylabel": shortened(names[1], 30), "equal": True}
    chart = Chart(limits[0], limits[1], width=size, height=size, title="The rows in the plane", **look)
    if hyperplane is not None and np.any(hyperplane[0]):
        _halves(chart, *hyperplane)
        chart.line(np.asarray(hyperplane[0]), float(hyperplane[1]))
    elif regions is not None:
        _map(chart, regions)
    shown = np.arange(len(points))
    if shown.size > MAX_POINTS:
        shown = shown[:: -(-shown.size // MAX_POINTS)]
    chart.points(points[shown, 0], points[shown, 1], label[shown])
    return chart.svg()


def _halves(chart: Chart, w: Array, b: float) -> None:
    """Tint the two sides of a hyperplane."""
    (left, right), (low, high) = chart.x, chart.y
    corners = np.array([[left, low], [right, low], [right, high], [left, high]])
    for k, sign in ((1, 1.0), (0, -1.0)):
        score = sign * (corners @ w + b)
        kept = []
        for i in range(4):
            here, there = score[i], score[(i + 1) % 4]
            if here >= 0:
                kept.append(corners[i])
            if (here > 0 > there) or (here < 0 < there):
                kept.append(corners[i] + here / (here - there) * (corners[(i + 1) % 4] - corners[i]))
        chart.polygon(np.array(kept).reshape(-1, 2), CLASSES[k], 0.12)


def _map(chart: Chart, regions: Any) -> None:
    """Tint the plane by class, in stripes of cells of the same class."""
    x, y = np.linspace(*chart.x, GRID + 1), np.linspace(*chart.y, GRID + 1)
    across, upwards = np.meshgrid((x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2)
    found = np.asarray(regions(np.column_stack([across.ravel(), upwards.ravel()]))).reshape(GRID, GRID)
    paths: dict[int, list[str]] = {}
    columns, rows = chart.place(x, np.zeros_like(x))[0], chart.place(np.zeros_like(y), y)[1]
    for j in range(GRID):
        starts = np.flatnonzero(np.diff(found[j], prepend=np.nan) != 0)
        for start, end in zip(starts, [*starts[1:], GRID], strict=True):
            box = f"M{columns[start]:.1f} {rows[j]:.1f}H{columns[end]:.1f}V{rows[j + 1]:.1f}H{columns[start]:.1f}z"
            paths.setdefault(int(found[j, start]), []).append(box)
    for k, boxes in paths.items():
        if k >= 0:
            chart.parts.append(tag("path", d="".join(boxes), fill=CLASSES[k % len(CLASSES)], fill_opacity=0.14))
