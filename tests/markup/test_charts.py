"""Small pictures: their geometry, and that they are well-formed XML without styles or scripts."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.markup.charts import (
    MAX_CURVE_POINTS,
    Chart,
    mark,
    shortened,
    shown_number,
    sideways_bars,
    sparkline,
    thinned,
    ticks,
)

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text):
    root = ET.fromstring(text)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in {"svg", "rect", "line", "text", "polyline", "polygon", "circle", "path"}
        assert not {name for name in element.attrib if name == "style" or name.startswith("on")}
    return root


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_inside_and_few(low, span):
    found = ticks(low, low + span)
    assert len(found) <= 7
    assert all(low - 1e-6 * span <= tick <= low + 1.000001 * span for tick in found)


def test_a_line_passes_where_the_weights_say():
    chart = Chart((-1, 1), (-1, 1), equal=True, title="a <title>")
    w, b = np.array([2.0, 1.0]), -0.5
    chart.line(w, b)
    (line,) = [e for e in parsed(chart.svg()).iter(f"{SVG}line") if e.get("stroke-width")]
    for name in "12":
        across, down = float(line.get(f"x{name}")), float(line.get(f"y{name}"))
        x = chart.x[0] + (across - chart.left) / (chart.right - chart.left) * (chart.x[1] - chart.x[0])
        y = chart.y[0] + (chart.bottom - down) / (chart.bottom - chart.top) * (chart.y[1] - chart.y[0])
        assert w @ [x, y] + b == pytest.approx(0, abs=0.02)


def test_equal_scales_keep_right_angles():
    chart = Chart((0, 1), (0, 1), equal=True)
    (x0, x1), (y0, y1) = chart.place([0, 1], [0, 0])[0], chart.place([0, 0], [0, 1])[1]
    assert x1 - x0 == pytest.approx(y0 - y1)


@given(st.lists(st.floats(-1e300, 1e300), max_size=50), st.booleans())
def test_any_values_make_a_document(values, log):
    heights = np.abs(values) + 1 if log else np.array(values)
    chart = Chart((0, 10), (1, 100) if log else (-1, 1), log=log, xlabel="x & y", ylabel="<y>")
    chart.curve(np.arange(len(values)), heights, "#000")
    chart.bars(np.arange(len(values)), np.arange(len(values)) + 1, heights, ["#000"] * len(values))
    chart.points(np.arange(len(values)), heights, 3)
    chart.text(0, 1, "</svg><script>")
    parsed(chart.svg())


def test_long_curves_keep_their_peaks():
    y = np.sin(np.arange(100_000))
    y[77_777] = 50
    x, kept = thinned(np.arange(100_000), y)
    assert x.size <= MAX_CURVE_POINTS + 2
    assert kept.max() == 50
    assert x[-1] == 99_999


def test_ten_classes_have_ten_marks():
    shapes = {re.sub(r'fill="#\w+"', "", mark(0, 0, k)) for k in range(10)}
    colours = {re.search(r'fill="(#\w+)"', mark(0, 0, k))[1] for k in range(10)}
    assert len(shapes) == len(colours) == 10


def test_names_and_numbers_are_short():
    assert len(shortened("a" * 100, 20)) == 20
    assert shown_number(float("inf")) == "inf"
    assert shown_number(1 / 3) == "0.333"


def test_small_pictures_without_axes():
    parsed(sparkline([3, 1, 2], "three & more"))
    parsed(sparkline(range(1000), "many"))
    parsed(sideways_bars(["<a>", "b"], [1.0, -2.0], "weights", ["#000", "#111"]))
