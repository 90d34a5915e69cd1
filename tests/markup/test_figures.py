"""Pictures from arrays: what they show is where the numbers say."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from rosenblatt.markup.figures import (
    growth_chart,
    key,
    margin_chart,
    mistakes_chart,
    plane_chart,
    squeeze_chart,
    weights_chart,
)
from rosenblatt.markup.palette import CLASSES, UPDATE

SVG = "{http://www.w3.org/2000/svg}"


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
    assert "at most 9" in growth_chart(t, t, 9)
    assert "at most" not in growth_chart(t, t, 9e9)


def test_a_key_names_every_mark():
    assert re.sub(r"<[^>]*>", "", key(["a", "<b>"])).split() == ["a", "&lt;b&gt;"]
