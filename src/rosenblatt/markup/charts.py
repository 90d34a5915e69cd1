"""Small pictures as SVG: axes, curves, bars, points and lines, without matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.markup.elements import Markup, tag
from rosenblatt.markup.palette import AXES, CLASSES, INK, LINE, PANEL, SOFT

Array = npt.NDArray[Any]

# Points up to which a curve is drawn as it is; beyond, in each stretch its lowest and its highest.
MAX_CURVE_POINTS = 400
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
# Radius of a mark, in pixels.
MARK = 4.0
# Corners of the marks of classes, at radius one; the first class has a circle.
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
    """Return round numbers between two limits, at most so many and one more.

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
    """Return a curve with fewer points that looks the same: of each stretch its lowest and its highest."""
    if x.size <= MAX_CURVE_POINTS:
        return x, y
    kept = {0, x.size - 1}
    for part in np.array_split(np.arange(x.size), MAX_CURVE_POINTS // 2):
        kept |= {int(part[y[part].argmin()]), int(part[y[part].argmax()])}
    chosen = np.array(sorted(kept))
    return x[chosen], y[chosen]


class Chart:
    """A picture with axes, drawn piece by piece.

    Parameters
    ----------
    x, y : (float, float)
        Limits of the axes.
    width, height : int
        In pixels.
    title : str
        For those who cannot see the picture.
    xlabel, ylabel : str
    equal : bool
        Whether the scale is the same in both directions; one of the limits is then widened.
    log : bool
        Whether heights are on a logarithmic scale.
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
        log: bool = False,
    ) -> None:
        self.width, self.height, self.title, self.log = width, height, title, log
        self.left, self.right = 46.0, width - 10.0
        self.top, self.bottom = 18.0 if ylabel else 8.0, height - (34.0 if xlabel else 20.0)
        self.x, self.y = _widened(x), _widened(y)
        if log:
            self.y = (math.log10(y[0]), math.log10(y[1]))
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
        """Return the pixels of points, cut to what a document can hold."""
        heights = np.asarray(y, np.float64)
        if self.log:
            heights = np.log10(np.maximum(heights, 1e-300))
        across = self.left + (np.asarray(x, np.float64) - self.x[0]) / (self.x[1] - self.x[0]) * (
            self.right - self.left
        )
        down = self.bottom - (heights - self.y[0]) / (self.y[1] - self.y[0]) * (self.bottom - self.top)
        return np.clip(across, -9e3, 9e3), np.clip(down, -9e3, 9e3)

    def curve(
        self, x: Any, y: Any, colour: str, *, width: float = 1.6, dashed: bool = False, steps: bool = False
    ) -> None:
        """Draw a line through points; with steps, each height lasts until the next point."""
        xs, ys = thinned(np.asarray(x, np.float64), np.asarray(y, np.float64))
        across, down = self.place(xs, ys)
        if steps:
            across, down = np.repeat(across, 2)[1:], np.repeat(down, 2)[:-1]
        look = {"stroke_dasharray": "5 3"} if dashed else {}
        self._add("polyline", points=_path(across, down), fill="none", stroke=colour, stroke_width=width, **look)

    def polygon(self, corners: Array, colour: str, opacity: float) -> None:
        """Fill a polygon."""
        if len(corners) > 2:
            points = _path(*self.place(corners[:, 0], corners[:, 1]))
            self._add("polygon", points=points, fill=colour, fill_opacity=opacity)

    def bars(self, left: Any, right: Any, height: Any, colours: Sequence[str]) -> None:
        """Draw upright bars from zero."""
        foot = self.y[0] if self.log else 0.0
        xs, tops = self.place(left, height)
        ends, feet = self.place(right, np.full(np.shape(right), 10**foot if self.log else foot))
        for x, end, top, base, colour in zip(xs, ends, tops, feet, colours, strict=True):
            box = {"x": float(x), "y": float(min(top, base)), "width": float(max(end - x - 0.5, 0.5))}
            self._add("rect", **box, height=float(abs(base - top)), fill=colour)

    def points(self, x: Any, y: Any, number: Any) -> None:
        """Draw points with the colour and the shape of their classes."""
        label = np.broadcast_to(np.asarray(number), np.shape(x))
        for across, down, k in zip(*self.place(x, y), label.tolist(), strict=True):
            self.parts.append(mark(float(across), float(down), int(k)))

    def rings(self, x: Any, y: Any, colour: str = INK) -> None:
        """Draw a ring around points."""
        for across, down in zip(*self.place(x, y), strict=True):
            self._add("circle", cx=float(across), cy=float(down), r=7, fill="none", stroke=colour)

    def line(self, w: Array, b: float, colour: str = INK, *, width: float = 1.6, dashed: bool = False) -> None:
        """Draw the hyperplane w.x + b = 0 across the picture, if it is there."""
        box = np.array([[self.x[0], self.y[0]], [self.x[1], self.y[0]], [self.x[1], self.y[1]], [self.x[0], self.y[1]]])
        score = box @ w + b
        ends = []
        for k in range(4):
            here, there = score[k], score[(k + 1) % 4]
            if (here > 0) != (there > 0):
                ends.append(box[k] + here / (here - there) * (box[(k + 1) % 4] - box[k]))
        if len(ends) == 2:
            across, down = self.place(*np.array(ends).T)
            look = {"stroke_dasharray": "5 3"} if dashed else {}
            corners = {"x1": float(across[0]), "y1": float(down[0]), "x2": float(across[1]), "y2": float(down[1])}
            self._add("line", **corners, stroke=colour, stroke_width=width, **look)

    def rule(self, *, x: float | None = None, y: float | None = None, colour: str = SOFT) -> None:
        """Draw a dashed line upright at x, or level at y."""
        if x is not None:
            across = float(self.place(x, self.y[0] if not self.log else 10 ** self.y[0])[0])
            ends = {"x1": across, "x2": across, "y1": self.top, "y2": self.bottom}
        else:
            down = float(self.place(self.x[0], y)[1])
            ends = {"x1": self.left, "x2": self.right, "y1": down, "y2": down}
        self._add("line", **ends, stroke=colour, stroke_dasharray="5 3")

    def text(self, x: float, y: float, text: str, *, anchor: str = "middle", colour: str = INK, up: float = 6) -> None:
        """Write at a point, some pixels above it."""
        across, down = self.place(x, y)
        look = {"text_anchor": anchor, "fill": colour, "stroke": PANEL, "stroke_width": 3, "paint_order": "stroke"}
        self._add("text", text, x=float(across), y=float(down) - up, **look)

    def _add(self, name: str, *content: Any, **attributes: Any) -> None:
        self.parts.append(tag(name, *content, **attributes))

    def _frame(self) -> list[Markup]:
        found = []
        heights = ticks(*self.y, most=4)
        if self.log:
            heights = [k for k in heights if k == round(k)]
        for value in heights:
            down = self.bottom - (value - self.y[0]) / (self.y[1] - self.y[0]) * (self.bottom - self.top)
            found.append(tag("line", x1=self.left, x2=self.right, y1=down, y2=down, stroke=LINE))
            text = shown_number(10**value if self.log else value)
            found.append(tag("text", text, x=self.left - 5, y=down + 3.5, text_anchor="end", fill=SOFT))
        for value in ticks(*self.x):
            across = self.left + (value - self.x[0]) / (self.x[1] - self.x[0]) * (self.right - self.left)
            found.append(tag("line", x1=across, x2=across, y1=self.bottom, y2=self.bottom + 3, stroke=AXES))
            found.append(
                tag("text", shown_number(value), x=across, y=self.bottom + 14, text_anchor="middle", fill=SOFT)
            )
        return found

    def svg(self) -> Markup:
        """Return the picture."""
        xlabel, ylabel = self.labels
        names = []
        if xlabel:
            names.append(tag("text", xlabel, x=self.right, y=self.height - 4, text_anchor="end", fill=SOFT))
        if ylabel:
            names.append(tag("text", ylabel, x=2, y=11, fill=SOFT))
        floor = tag("path", d=f"M{self.left} {self.top}V{self.bottom}H{self.right}", stroke=AXES, fill="none")
        size = {
            "x": self.left,
            "y": self.top - 4,
            "width": self.right - self.left,
            "height": self.bottom - self.top + 8,
        }
        # Nested, because it clips without a name, of which a page with several pictures could have two.
        box = f"{size['x']} {size['y']} {size['width']} {size['height']}"
        inside = tag("svg", *self.parts, viewBox=box, overflow="hidden", **size)
        return drawing(self.width, self.height, self.title, *self._frame(), floor, inside, *names)


def drawing(width: int, height: int, title: str, *content: Any) -> Markup:
    """Return an SVG element with a white ground and a title for screen readers."""
    ground = tag("rect", width=width, height=height, fill=PANEL)
    look = {"font_family": FONT, "font_size": 11, "role": "img", "aria_label": title}
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return tag("svg", ground, *content, xmlns="http://www.w3.org/2000/svg", **size, **look)


def mark(x: float, y: float, number: int, radius: float = MARK) -> Markup:
    """Return the mark of a class, by its number."""
    look = {"fill": CLASSES[number % len(CLASSES)], "stroke": PANEL, "stroke_width": 0.7}
    corners = _SHAPES[number % len(_SHAPES)]
    if not corners:
        return tag("circle", cx=x, cy=y, r=radius, **look)
    points = " ".join(f"{x + radius * dx:.1f},{y + radius * dy:.1f}" for dx, dy in corners)
    return tag("polygon", points=points, **look)


def sparkline(values: Sequence[float], title: str, colour: str = CLASSES[0]) -> Markup:
    """Return a curve without axes, for the middle of a text: bars where there are few values."""
    heights = np.asarray(values, np.float64)
    chart = Chart((0, max(heights.size, 1)), (0, max(float(heights.max(initial=0)), 1)), width=240, height=56)
    chart.left, chart.right, chart.top, chart.bottom = 2, 238, 4, 52
    if heights.size <= 60:
        place = np.arange(heights.size)
        chart.bars(place, place + 1, heights, [colour] * heights.size)
    else:
        chart.curve(np.arange(heights.size), heights, colour)
    floor = tag("line", x1=2, x2=238, y1=52.5, y2=52.5, stroke=AXES)
    return drawing(240, 56, title, *chart.parts, floor)


def told(text: str, picture: Markup) -> Markup:
    """Return a text of several lines, with a picture after the first."""
    first, *others = (tag("p", line) for line in text.splitlines())
    return tag("div", first, picture, *others)


def sideways_bars(names: Sequence[Any], values: Sequence[float], title: str, colours: Sequence[str]) -> Markup:
    """Return named bars that lie on their side, to the left of the middle where they are negative."""
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
        parts.append(tag("text", shown_number(value), x=end, y=y + 10, text_anchor=side, fill=SOFT))
    return drawing(470 if two_sided else 410, height, title, *parts)


def shown_number(value: float) -> str:
    """Return a number in few characters.

    Examples
    --------
    >>> shown_number(0.30000000000000004), shown_number(120000.0), shown_number(-2.0)
    ('0.3', '120,000', '-2')
    """
    if abs(value) < 1e7 and value == round(value):
        return f"{round(value):,}"
    return f"{value:.3g}"


def shortened(name: Any, most: int) -> str:
    """Return a name in at most so many characters."""
    text = " ".join(str(name).split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _widened(limits: tuple[float, float]) -> tuple[float, float]:
    low, high = limits
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _path(across: Array, down: Array) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across.tolist(), down.tolist(), strict=True))
