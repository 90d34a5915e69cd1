"""Plane geometry: convex hulls and half-planes cut from polygons."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.markup.geometry import clip, hull

whole = st.integers(-3, 3)


def test_the_corners_of_a_hull():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5], [0.5, 0.0]])
    assert hull(square).tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert hull(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])).tolist() == [[0, 0], [1, 1]]


@given(st.lists(st.tuples(whole, whole), min_size=3, max_size=12))
def test_all_points_are_on_the_left_of_every_side_of_their_hull(points):
    corners = hull(np.array(points, float))
    assert {tuple(corner) for corner in corners.tolist()} <= set(points)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        way = b - a
        assert all(way[0] * (y - a[1]) - way[1] * (x - a[0]) >= 0 for x, y in points)


@given(whole, whole, whole)
def test_a_half_plane_cuts_a_square_into_two_parts_that_fill_it(a, b, c):
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    parts = [clip(square, sign * np.array([a, b]), sign * c) for sign in (1.0, -1.0)]
    if a or b:
        assert abs(sum(map(area, parts)) - 4) < 1e-12
    for sign, part in zip((1.0, -1.0), parts, strict=True):
        assert (sign * (part @ [a, b] + c) >= -1e-12).all()


def area(corners):
    if len(corners) < 3:
        return 0.0
    x, y = corners.T
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
