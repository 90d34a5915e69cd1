"""Charts: they show what the numbers say, and are well-formed XML without styles or scripts."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.markup.charts import (
    MAX_CURVE_POINTS,
    Chart,
    growth_chart,
    legend,
    margin_chart,
    mark,
    mistakes_chart,
    plane_chart,
    short_number,
    shortened,
    sideways_bars,
    sparkline,
    squeeze_chart,
    thinned,
    ticks,
    weights_chart,
)
from rosenblatt.markup.palette import CLASSES, UPDATE

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


@given(st.lists(st.floats(-1e300, 1e300), max_size=50))
def test_any_values_make_a_document(values):
    place, heights = np.arange(len(values)), np.array(values)
    chart = Chart((0, 10), (-1, 1), title="</svg><script>", xlabel="x & y", ylabel="<y>")
    chart.curve(place, heights, "#000")
    chart.bars(place, place + 1, heights, ["#000"] * len(values))
    chart.points(place, heights, 3)
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
    assert short_number(float("inf")) == "inf"
    assert short_number(1 / 3) == "0.333"


def test_small_pictures_without_axes():
    parsed(sparkline([3, 1, 2], "three & more"))
    parsed(sparkline(range(1000), "many"))
    parsed(sideways_bars(["<a>", "b"], [1.0, -2.0], "weights", ["#000", "#111"]))


# ---------------------------------------------------------------------------------------- runs, margins, weights, plane


def bars(svg, colour=None):
    found = list(ET.fromstring(svg).iter(f"{SVG}rect"))[1:]  # without the ground
    return [bar for bar in found if colour is None or bar.get("fill") == colour]


def test_bars_of_mistakes_are_as_high_as_their_shares():
    heights = [float(bar.get("height")) for bar in bars(mistakes_chart([8, 4, 0], [None, 0.2, 0.1], 8, 3))]
    assert heights[0] == pytest.approx(2 * heights[1], rel=0.01)
    assert heights[2] == 0


def test_long_runs_are_curves():
    svg = mistakes_chart(list(range(500)), (), 500, 500)
    assert not bars(svg)
    assert len(list(ET.fromstring(svg).iter(f"{SVG}polyline"))) == 1


def test_margins_at_zero_are_mistakes():
    svg = margin_chart(np.array([-1.0, 0.0, 0.0, 1.0, 2.0]))
    low = sum(float(bar.get("height")) for bar in bars(svg, UPDATE))
    high = sum(float(bar.get("height")) for bar in bars(svg, CLASSES[0]))
    assert low == pytest.approx(1.5 * high, rel=0.02)
    ET.fromstring(margin_chart(np.zeros(3)))


def test_the_largest_weights_are_shown_first():
    svg = weights_chart(["<i>a</i>", "b", "c"], [0.5, -2.0, 0.0], 5, "weights")
    names = [e.text for e in ET.fromstring(svg).iter(f"{SVG}text") if e.get("fill") == "#1c2024"]
    assert names == ["b", "<i>a</i>"]


def test_the_plane_is_tinted_on_both_sides_of_the_line():
    points, label = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0, 1])
    root = ET.fromstring(plane_chart(points, label, ("a", "b"), hyperplane=(np.array([1.0, 0.5]), -0.8)))
    halves = [e for e in root.iter(f"{SVG}polygon") if e.get("fill-opacity")]
    assert {e.get("fill") for e in halves} == set(CLASSES[:2])
    centres = {
        e.get("fill"): np.mean([[float(v) for v in p.split(",")] for p in e.get("points").split()], axis=0)
        for e in halves
    }
    # The second class is to the right.
    assert centres[CLASSES[1]][0] > centres[CLASSES[0]][0]


def test_regions_have_the_colour_of_the_predicted_class():
    points, label = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.array([0, 1, 2])
    svg = plane_chart(points, label, ("a", "b"), regions=lambda grid: (grid[:, 0] > 0.5) * 2)
    fills = [e.get("fill") for e in ET.fromstring(svg).iter(f"{SVG}path") if e.get("fill-opacity")]
    assert sorted(fills) == sorted([CLASSES[0], CLASSES[2]])


def test_thousands_of_rows_do_not_make_a_large_picture():
    points = np.random.default_rng(0).normal(size=(50_000, 2))
    assert len(plane_chart(points, np.zeros(50_000, int), ("a", "b"))) < 100_000


def test_curves_are_documents():
    t = np.arange(5.0)
    ET.fromstring(squeeze_chart(t, t, t / 2, t**2, 4 * t))
    ET.fromstring(squeeze_chart(t, np.empty(0), np.empty(0), t**2, 4 * t))
    ET.fromstring(growth_chart(t, t))


def test_a_legend_names_every_mark():
    assert re.sub(r"<[^>]*>", "", legend(["a", "<b>"])).split() == ["a", "&lt;b&gt;"]
