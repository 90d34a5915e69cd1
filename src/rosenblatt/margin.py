"""The largest margin: the shortest vector between the convex hulls of two classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt import _kernels as kernels
from rosenblatt.data import Table
from rosenblatt.model import as_model, scores

Array = npt.NDArray[Any]

# The bias is a weight on a constant feature; so large that its share of the length does not count.
PADDING = 100.0
CLOSE = 1e-9


class Widest(NamedTuple):
    """A hyperplane of largest margin, scaled so that the closest rows have y f(x) = 1."""

    w: Array
    b: float
    margin: float
    ceiling: float
    support: Array
    rounds: int


def widest_margin(table: Table, index: Array, sign: Array, rounds: int) -> Widest | None:
    """Find the hyperplane that keeps the largest distance from the rows of both signs.

    Parameters
    ----------
    table : Table
    index : int array
        The rows that count.
    sign : array of +1 and -1, one for each of them
    rounds : int
        Most rounds of the working set.

    Returns
    -------
    Widest or None
        None if the rows cannot be separated.
    """
    centre, spread = _frame(table, index)
    working = _first(table, index, sign)
    best: Widest | None = None
    for number in range(1, rounds + 1):
        Z = _signed(table, index[working], sign[working], centre, spread)
        norm, point, support, shares = kernels.nearest_point(Z, 1e-12, 50 * Z.shape[1] + 1000)
        if norm <= 1e-11:
            return best
        w = point[:-1] / spread
        heights = scores(table, as_model(w.astype(table.dtype)[None, :], np.zeros(1, table.dtype)), index)[:, 0]
        low, high = heights[sign > 0].min(), heights[sign < 0].max()
        length = np.linalg.norm(w)
        chosen = working[support]
        ceiling = _ceiling(table, index[chosen], sign[chosen], shares)
        if low > high and (best is None or (low - high) / (2 * length) > best.margin):
            scale = 2.0 / (low - high)
            best = Widest(scale * w, 1 - scale * low, 1 / (scale * length), ceiling, np.sort(index[chosen]), number)
        margins = sign * (heights - (low + high) / 2)
        inside = (Z[support] @ point).min()
        violating = np.flatnonzero(sign * (heights - centre @ w + point[-1] * PADDING) < inside * (1 - CLOSE))
        added = np.setdiff1d(violating[np.argsort(margins[violating])[: max(50, Z.shape[1])]], working)
        if not added.size:
            return best
        working = np.union1d(working, added)
    return best


def _frame(table: Table, index: Array) -> tuple[Array, float]:
    """Give the mean of the rows and their radius about it, as far as a sample tells."""
    sample = index[:: max(1, index.size // 2000)]
    Z = np.zeros((sample.size, table.shape[1]))
    kernels.gather(table.rows, sample, np.ones(sample.size), Z)
    centre = Z.mean(axis=0)
    return centre, float(np.sqrt(((Z - centre) ** 2).sum(axis=1).max())) or 1.0


def _first(table: Table, index: Array, sign: Array) -> Array:
    """Choose rows of both signs to begin with: the nearest along the line between the means."""
    size = max(100, 3 * (table.shape[1] + 2))
    direction = np.zeros((1, table.shape[1]), table.dtype)
    for side in (1.0, -1.0):
        rows = index[sign == side]
        sums = np.zeros((1, table.shape[1]))
        for i in rows[:: max(1, rows.size // 500)]:
            kernels.gather(table.rows, np.array([i], index.dtype), np.array([side]), sums)
        direction += (sums / max(1, len(rows[:: max(1, rows.size // 500)]))).astype(table.dtype)
    heights = sign * scores(table, as_model(direction, np.zeros(1, table.dtype)), index)[:, 0]
    chosen = [np.flatnonzero(sign == side) for side in (1.0, -1.0)]
    nearest = [rows[np.argsort(heights[rows], kind="stable")[:size]] for rows in chosen]
    return np.sort(np.concatenate(nearest))


def _signed(table: Table, index: Array, sign: Array, centre: Array, spread: float) -> Array:
    """Give the rows y ((x - centre) / spread, padding)."""
    Z = np.zeros((index.size, table.shape[1] + 1))
    kernels.gather(table.rows, index, np.ones(index.size), Z)
    Z[:, :-1] = (Z[:, :-1] - centre) / spread * sign[:, None]
    Z[:, -1] = sign * PADDING
    return Z


def _ceiling(table: Table, index: Array, sign: Array, shares: Array) -> float:
    """Half the distance between two points of the hulls: no margin can be larger."""
    X = np.zeros((index.size, table.shape[1]))
    kernels.gather(table.rows, index, np.ones(index.size), X)
    points = []
    for side in (sign > 0, sign < 0):
        if not shares[side].sum() > 0:
            return float("inf")
        points.append(shares[side] @ X[side] / shares[side].sum())
    return float(np.linalg.norm(points[0] - points[1]) / 2)
