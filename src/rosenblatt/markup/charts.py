"""Charts as SVG, without matplotlib: axes, curves, bars and points; runs, margins, weights and the plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.markup.elements import Markup, tag
from rosenblatt.markup.geometry import clip
from rosenblatt.markup.palette import AXES, CLASSES, INK, LINE, PANEL, SKY, SOFT, UPDATE

Array = npt.NDArray[Any]

# A curve of more points is thinned to the lowest and the highest of each stretch.
MAX_CURVE_POINTS = 400
# Of more points than this a sample is drawn.
MAX_POINTS = 600
# More values than this are a curve, fewer are bars.
MAX_BARS = 60
# Cells on each side of a map of regions.
GRID = 72
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
# Corners of the marks of the classes, at radius one; the first class has a circle.
_PLUS = "-0.4,-1.1 0.4,-1.1 0.4,-0.4 1.1,-0.4 1.1,0.4 0.4,0.4 0.4,1.1 -0.4,1.1 -0.4,0.4 -1.1,0.4 -1.1,-0.4 -0.4,-0.4"
_SHAPES = tuple(
    tuple(tuple(float(number) for number in corner.split(",")) for corner in corners.split())
    for corners in (
        "",
        "-0.85,-0.85 0.85,-0.85 0.85,0.85 -0.85,0.85",
        "0,-1.15 1.05,0.8 -1.05,0.8",
        "0,-1.25 1.1,0 0,1.25 -1.1,0",
        "0,1.15 1.05,-0.8 -1.05,-0.8",
        _PLUS,
        "0,-1.15 1.09,-0.36 0.68,0.93 -0.68,0.93 -1.09,-0.36",
        "0,-1.4 0.35,-0.49 1.33,-0.43 0.57,0.19 0.82,1.13 0,0.6 -0.82,1.13 -0.57,0.19 -1.33,-0.43 -0.35,-0.49",
        "1.1,0 0.55,0.95 -0.55,0.95 -1.1,0 -0.55,-0.95 0.55,-0.95",
        "-1.1,-1.1 0,-0.4 1.1,-1.1 0.4,0 1.1,1.1 0,0.4 -1.1,1.1 -0.4,0",
    )
)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers between two limits, at most `most` + 1 of them.

    Examples
    --------
    >>> ticks(0, 27), ticks(-0.12, 1.12)
    ([0.0, 10.0, 20.0], [0.0, 0.5, 1.0])
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return []
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """Return a curve of fewer points that looks the same: the lowest and the highest of each stretch."""
    if x.size <= MAX_CURVE_POINTS:
        return x, y
    kept = {0, x.size - 1}
    for part in np.array_split(np.arange(x.size), MAX_CURVE_POINTS // 2):
        kept |= {int(part[y[part].argmin()]), int(part[y[part].argmax()])}
    chosen = np.array(sorted(kept))
    return x[chosen], y[chosen]


class Chart:
    """A chart with axes between limits x and y, in pixels. Draw into it with its methods, then call `svg`.

    `title` is the alternative text for screen readers. If `equal`, the scale is the same in both directions, and one of
    the limits is widened to fit.
    """

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        width: int = 340,
        height: int = 200,
        title: str = "",
        xlabel: str = "",
        ylabel: str = "",
        equal: bool = False,
    ) -> None:
        self.width, self.height, self.title = width, height, title
        self.left, self.right = 46.0, width - 10.0
        self.top, self.bottom = 18.0 if ylabel else 8.0, height - (34.0 if xlabel else 20.0)
        self.x, self.y = _widened(x), _widened(y)
        if equal:
            self._equalise()
        self.labels = xlabel, ylabel
        self.parts: list[Markup] = []

    def _equalise(self) -> None:
        spans = self.x[1] - self.x[0], self.y[1] - self.y[0]
        unit = max(spans[0] / (self.right - self.left), spans[1] / (self.bottom - self.top))
        wide, tall = unit * (self.right - self.left) / 2, unit * (self.bottom - self.top) / 2
        middle = sum(self.x) / 2, sum(self.y) / 2
        self.x, self.y = (middle[0] - wide, middle[0] + wide), (middle[1] - tall, middle[1] + tall)

    def place(self, x: Any, y: Any) -> tuple[Array, Array]:
        """Return the pixels of points. Far outside the chart they are clipped, to keep the numbers short."""
        (left, right), (low, high) = self.x, self.y
        across = self.left + (np.asarray(x, np.float64) - left) / (right - left) * (self.right - self.left)
        down = self.bottom - (np.asarray(y, np.float64) - low) / (high - low) * (self.bottom - self.top)
        return np.clip(across, -9e3, 9e3), np.clip(down, -9e3, 9e3)

    def curve(
        self, x: Any, y: Any, colour: str, *, width: float = 1.6, dashed: bool = False, steps: bool = False
    ) -> None:
        """Draw a line through points; with `steps`, each value holds until the next point."""
        xs, ys = thinned(np.asarray(x, np.float64), np.asarray(y, np.float64))
        across, down = self.place(xs, ys)
        if steps:
            across, down = np.repeat(across, 2)[1:], np.repeat(down, 2)[:-1]
        dashes = {"stroke_dasharray": "5 3"} if dashed else {}
        self._add("polyline", points=_path(across, down), fill="none", stroke=colour, stroke_width=width, **dashes)

    def polygon(self, corners: Array, colour: str, opacity: float) -> None:
        """Fill a polygon; nothing if it has fewer than three corners."""
        if len(corners) > 2:
            points = _path(*self.place(corners[:, 0], corners[:, 1]))
            self._add("polygon", points=points, fill=colour, fill_opacity=opacity)

    def bars(self, left: Any, right: Any, height: Any, colours: Sequence[str]) -> None:
        """Draw vertical bars from zero."""
        xs, tops = self.place(left, height)
        ends, feet = self.place(right, np.zeros(np.shape(right)))
        for x, end, top, base, colour in zip(xs, ends, tops, feet, colours, strict=True):
            box = {"x": float(x), "y": float(min(top, base)), "width": float(max(end - x - 0.5, 0.5))}
            self._add("rect", **box, height=float(abs(base - top)), fill=colour)

    def points(self, x: Any, y: Any, number: Any) -> None:
        """Draw points in the colour and shape of their classes."""
        label = np.broadcast_to(np.asarray(number), np.shape(x))
        for across, down, k in zip(*self.place(x, y), label.tolist(), strict=True):
            self.parts.append(mark(float(across), float(down), int(k)))

    def line(self, w: Array, b: float) -> None:
        """Draw the hyperplane w.x + b = 0, if it crosses the chart."""
        box = self._corners()
        score = box @ w + b
        ends = []
        for k in range(4):
            here, there = score[k], score[(k + 1) % 4]
            if (here > 0) != (there > 0):
                ends.append(box[k] + here / (here - there) * (box[(k + 1) % 4] - box[k]))
        if len(ends) == 2:
            across, down = self.place(*np.array(ends).T)
            corners = {"x1": float(across[0]), "y1": float(down[0]), "x2": float(across[1]), "y2": float(down[1])}
            self._add("line", **corners, stroke=INK, stroke_width=1.6)

    def sides(self, w: Array, b: float) -> None:
        """Tint the two sides of the hyperplane w.x + b = 0."""
        for k, sign in ((1, 1.0), (0, -1.0)):
            self.polygon(clip(self._corners(), sign * w, sign * b), CLASSES[k], 0.12)

    def _corners(self) -> Array:
        (left, right), (low, high) = self.x, self.y
        return np.array([[left, low], [right, low], [right, high], [left, high]])

    def rule(self, x: float, colour: str) -> None:
        """Draw a dashed vertical line at x."""
        across = float(self.place(x, self.y[0])[0])
        self._add("line", x1=across, x2=across, y1=self.top, y2=self.bottom, stroke=colour, stroke_dasharray="5 3")

    def _add(self, name: str, *content: Any, **attributes: Any) -> None:
        self.parts.append(tag(name, *content, **attributes))

    def _frame(self) -> list[Markup]:
        parts = []
        for value in ticks(*self.y, most=4):
            down = float(self.place(self.x[0], value)[1])
            parts.append(tag("line", x1=self.left, x2=self.right, y1=down, y2=down, stroke=LINE))
            parts.append(tag("text", short_number(value), x=self.left - 5, y=down + 3.5, text_anchor="end", fill=SOFT))
        for value in ticks(*self.x):
            across = float(self.place(value, self.y[0])[0])
            parts.append(tag("line", x1=across, x2=across, y1=self.bottom, y2=self.bottom + 3, stroke=AXES))
            parts.append(
                tag("text", short_number(value), x=across, y=self.bottom + 14, text_anchor="middle", fill=SOFT)
            )
        return parts

    def svg(self) -> Markup:
        """Return the chart as an SVG element."""
        xlabel, ylabel = self.labels
        names = []
        if xlabel:
            names.append(tag("text", xlabel, x=self.right, y=self.height - 4, text_anchor="end", fill=SOFT))
        if ylabel:
            names.append(tag("text", ylabel, x=2, y=11, fill=SOFT))
        axes = tag("path", d=f"M{self.left} {self.top}V{self.bottom}H{self.right}", stroke=AXES, fill="none")
        x, y, width, height = self.left, self.top - 4, self.right - self.left, self.bottom - self.top + 8
        size = {"x": x, "y": y, "width": width, "height": height}
        # A nested svg clips without an id, which would have to be unique in a page with several charts.
        box = f"{x} {y} {width} {height}"
        inside = tag("svg", *self.parts, viewBox=box, overflow="hidden", **size)
        return drawing(self.width, self.height, self.title, *self._frame(), axes, inside, *names)


def drawing(width: int, height: int, title: str, *content: Any) -> Markup:
    """Return an SVG element with a white background and a title for screen readers."""
    background = tag("rect", width=width, height=height, fill=PANEL)
    look = {"font_family": FONT, "font_size": 11, "role": "img", "aria_label": title}
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return tag("svg", background, *content, xmlns="http://www.w3.org/2000/svg", **size, **look)


def mark(x: float, y: float, number: int, radius: float = 4.0) -> Markup:
    """Return the mark of class `number`."""
    look = {"fill": CLASSES[number % len(CLASSES)], "stroke": PANEL, "stroke_width": 0.7}
    corners = _SHAPES[number % len(_SHAPES)]
    if not corners:
        return tag("circle", cx=x, cy=y, r=radius, **look)
    points = " ".join(f"{x + radius * dx:.1f},{y + radius * dy:.1f}" for dx, dy in corners)
    return tag("polygon", points=points, **look)


def sparkline(values: Sequence[float], title: str, colour: str = CLASSES[0]) -> Markup:
    """Return a small chart without axes, to go with text: bars, or a curve if there are many values."""
    heights = np.asarray(values, np.float64)
    chart = Chart((0, max(heights.size, 1)), (0, max(float(heights.max(initial=0)), 1)), width=240, height=56)
    chart.left, chart.right, chart.top, chart.bottom = 2, 238, 4, 52
    if heights.size <= MAX_BARS:
        place = np.arange(heights.size)
        chart.bars(place, place + 1, heights, [colour] * heights.size)
    else:
        chart.curve(np.arange(heights.size), heights, colour)
    axis = tag("line", x1=2, x2=238, y1=52.5, y2=52.5, stroke=AXES)
    return drawing(240, 56, title, *chart.parts, axis)


def with_caption(picture: Markup, caption: str) -> Markup:
    """Return a picture with the first line of its caption above it, and the others below."""
    first, *others = (tag("p", line) for line in caption.splitlines())
    return tag("div", first, picture, *others)


def sideways_bars(names: Sequence[Any], values: Sequence[float], title: str, colours: Sequence[str]) -> Markup:
    """Return named horizontal bars, to the left of the axis where values are negative."""
    height, row = 18 * len(names) + 8, 18
    largest = max([abs(value) for value in values if math.isfinite(value)] or [1.0]) or 1.0
    two_sided = min(values, default=0) < 0
    middle, reach = (320.0, 100.0) if two_sided else (170.0, 190.0)
    parts = [tag("line", x1=middle, x2=middle, y1=2, y2=height - 2, stroke=AXES)]
    for k, (name, value, colour) in enumerate(zip(names, values, colours, strict=True)):
        size = min(abs(value) / largest, 1.0) * reach
        left, y = middle - size if value < 0 else middle, 6 + row * k
        parts.append(tag("rect", x=left, y=y, width=max(size, 0.5), height=12, fill=colour))
        parts.append(tag("text", shortened(name, 24), x=160, y=y + 10, text_anchor="end", fill=INK))
        end = left + size + 4 if value >= 0 else left - 4
        side = "start" if value >= 0 else "end"
        parts.append(tag("text", short_number(value), x=end, y=y + 10, text_anchor=side, fill=SOFT))
    return drawing(470 if two_sided else 410, height, title, *parts)


def legend(names: Sequence[Any]) -> Markup:
    """Return the mark of each class with its name."""
    parts = []
    for k, name in enumerate(names):
        icon = tag("svg", mark(6, 6, k), width=12, height=12, aria_hidden="true")
        parts.append(tag("span", icon, " ", shortened(name, 40), class_="key"))
    return tag("p", *parts, class_="keys")


def mistakes_chart(mistakes: Sequence[int], errors: Sequence[float | None], rows: int, kept: int) -> Markup:
    """Return a chart of the mistakes in each epoch, the error at its end, and the epoch whose weights were kept."""
    shares = np.asarray(mistakes, np.float64) / max(rows, 1)
    measured = [(epoch, error) for epoch, error in enumerate(errors, 1) if error is not None]
    top = max([float(shares.max(initial=0)), *(error for _, error in measured), 1e-9])
    title = "Mistakes in each epoch, as a share of the rows"
    chart = Chart((0.5, len(shares) + 0.5), (0, 1.08 * top), title=title, xlabel="epoch", ylabel="share of the rows")
    if shares.size <= MAX_BARS:
        place = np.arange(shares.size) + 0.5
        chart.bars(place, place + 1, shares, [SKY] * shares.size)
    else:
        chart.curve(np.arange(1, shares.size + 1), shares, CLASSES[0])
    if len(measured) > 1:
        epochs, values = zip(*measured, strict=True)
        chart.curve(epochs, values, CLASSES[1], width=2)
    if 1 <= kept <= shares.size:
        chart.rule(kept, UPDATE)
    return chart.svg()


def growth_chart(presented: Any, mistakes: Any) -> Markup:
    """Return a chart of the mistakes made so far, against the rows presented."""
    total, last = np.asarray(mistakes, np.float64), float(np.asarray(presented)[-1])
    top = max(float(total[-1]), 1.0)
    title = "Mistakes so far, against rows presented"
    chart = Chart((0, last), (0, 1.12 * top), title=title, xlabel="rows presented", ylabel="mistakes so far")
    chart.curve(presented, total, CLASSES[0], steps=True)
    return chart.svg()


def squeeze_chart(updates: Array, alignment: Array, floor: Array, square: Array, cap: Array) -> Markup:
    """Return a chart of <w, w*> and |w| by mistakes, each with its bound: Novikoff's proof."""
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


def margin_bins(margins: Array, bins: int) -> tuple[Array, Array]:
    """Return a histogram of margins: the count of each bin, and the edges of the bins.

    Zero is an edge, and a margin of zero counts below it: no bin has both mistakes and rows that are right.
    """
    low, high = min(float(margins.min()), 0.0), max(float(margins.max()), 0.0)
    width = (high - low) / bins or 1.0
    edges = np.arange(int(np.floor(low / width - 1e-9)), int(np.ceil(high / width + 1e-9)) + 1) * width
    counts, _ = np.histogram(np.where(margins <= 0, np.minimum(margins, -width / 2), margins), edges)
    return counts, edges


def margin_chart(margins: Array, bins: int = 30) -> Markup:
    """Return a histogram of margins, with mistakes in their own colour."""
    counts, edges = margin_bins(margins, bins)
    title = "Histogram of the margins; mistakes are at zero and below"
    chart = Chart(
        (edges[0], edges[-1]), (0, 1.08 * max(int(counts.max()), 1)), title=title, xlabel="margin", ylabel="rows"
    )
    chart.bars(edges[:-1], edges[1:], counts, [UPDATE if edge < 0 else CLASSES[0] for edge in edges[:-1]])
    chart.rule(0, INK)
    return chart.svg()


def weights_chart(names: Sequence[Any], weights: Any, top: int, title: str) -> Markup:
    """Return a chart of the `top` largest weights, with the names of their features."""
    values = np.asarray(weights, np.float64)
    chosen = np.argsort(-np.abs(values), kind="stable")[:top]
    chosen = chosen[values[chosen] != 0]
    colours = [CLASSES[1] if values[j] > 0 else CLASSES[0] for j in chosen]
    return sideways_bars([names[j] for j in chosen], values[chosen].tolist(), title, colours)


def plane_chart(
    points: Array, label: Array, names: Sequence[Any], *, regions: Any = None, hyperplane: Any = None, size: int = 340
) -> Markup:
    """Return a chart of rows in the plane, over the regions of the classes.

    `regions` takes points and returns their class numbers; a `hyperplane` (weights, bias) is drawn as a line instead.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    rim = 0.08 * (float((high - low).max()) or 1.0)
    limits = (low[0] - rim, high[0] + rim), (low[1] - rim, high[1] + rim)
    look: dict[str, Any] = {"xlabel": shortened(names[0], 30), "ylabel": shortened(names[1], 30), "equal": True}
    chart = Chart(limits[0], limits[1], width=size, height=size, title="The rows in the plane", **look)
    if hyperplane is not None and np.any(hyperplane[0]):
        w, b = np.asarray(hyperplane[0]), float(hyperplane[1])
        chart.sides(w, b)
        chart.line(w, b)
    elif regions is not None:
        _map(chart, regions)
    step = -(-len(points) // MAX_POINTS)
    chart.points(points[::step, 0], points[::step, 1], label[::step])
    return chart.svg()


def _map(chart: Chart, regions: Any) -> None:
    """Tint the regions of the classes, in stripes of cells of the same class."""
    x, y = np.linspace(*chart.x, GRID + 1), np.linspace(*chart.y, GRID + 1)
    across, upwards = np.meshgrid((x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2)
    number = np.asarray(regions(np.column_stack([across.ravel(), upwards.ravel()]))).reshape(GRID, GRID)
    paths: dict[int, list[str]] = {}
    columns, rows = chart.place(x, np.zeros_like(x))[0], chart.place(np.zeros_like(y), y)[1]
    for j in range(GRID):
        starts = np.flatnonzero(np.diff(number[j], prepend=np.nan) != 0)
        for start, end in zip(starts, [*starts[1:], GRID], strict=True):
            box = f"M{columns[start]:.1f} {rows[j]:.1f}H{columns[end]:.1f}V{rows[j + 1]:.1f}H{columns[start]:.1f}z"
            paths.setdefault(int(number[j, start]), []).append(box)
    for k, boxes in paths.items():
        if k >= 0:
            chart.parts.append(tag("path", d="".join(boxes), fill=CLASSES[k % len(CLASSES)], fill_opacity=0.14))


def short_number(value: float) -> str:
    """Return a number in a few characters.

    Examples
    --------
    >>> short_number(0.30000000000000004), short_number(120000.0), short_number(-2.0)
    ('0.3', '120,000', '-2')
    """
    if abs(value) < 1e7 and value == round(value):
        return f"{round(value):,}"
    return f"{value:.3g}"


def shortened(name: Any, most: int) -> str:
    """Return a name on one line, cut to at most `most` characters."""
    text = " ".join(str(name).split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _widened(limits: tuple[float, float]) -> tuple[float, float]:
    low, high = limits
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _path(across: Array, down: Array) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across.tolist(), down.tolist(), strict=True))
