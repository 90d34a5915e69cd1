"""Plane geometry that several drawings need: half-planes cut from polygons, and convex hulls."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def clip(corners: Array, normal: Array, constant: float) -> Array:
    """Return the part of a convex polygon where normal.x + constant >= 0 (Sutherland and Hodgman)."""
    score = corners @ normal + constant
    kept: list[Array] = []
    for k, here in enumerate(score):
        after = (k + 1) % len(corners)
        there = score[after]
        if here >= 0:
            kept.append(corners[k])
        if (here > 0 > there) or (here < 0 < there):
            kept.append(corners[k] + here / (here - there) * (corners[after] - corners[k]))
    return np.array(kept).reshape(-1, 2)


def hull(points: Array) -> Array:
    """Return the corners of the convex hull of points in the plane, in order (Andrew's monotone chain)."""
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered
    sides: list[list[Array]] = []
    for path in (ordered, ordered[::-1]):
        side: list[Array] = []
        for point in path:
            while len(side) > 1 and _turn(side[-2], side[-1], point) <= 0:
                side.pop()
            side.append(point)
        sides.append(side[:-1])
    return np.array(sides[0] + sides[1])


def _turn(a: Array, b: Array, c: Array) -> float:
    """Return a positive number if the path a, b, c turns left."""
    return float((b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]))
