"""Scores of all rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import ALL_ROWS, Table, part_of
from rosenblatt.engine.rows import Csr, Dense, Hyperplanes
from rosenblatt.engine.scores import score
from rosenblatt.training.pieces import PIECE_ENTRIES

Array = npt.NDArray[Any]

# Entries of rows, as a share of the weights, from which it pays to lay the weights out for them.
ENTRIES_PER_WEIGHT = 0.25
# How many times faster a matrix product of dense rows is than a loop. Each piece of them reads all weights again.
PRODUCT_SPEED = 8


def scores(table: Table, planes: Hyperplanes, subset: Array = ALL_ROWS) -> Array:
    """Return the score W.x + b of each row under each problem.

    Parameters
    ----------
    table : Table
    planes : Hyperplanes
    subset : int array, default all rows

    Returns
    -------
    array of shape (n_rows, n_problems)
    """
    n_rows = subset.size or table.shape[0]
    size = max(1, PIECE_ENTRIES // (max(1, table.entries // table.shape[0]) * planes.b.size))
    if isinstance(table.rows, Dense) and not subset.size:
        size *= PRODUCT_SPEED
        if n_rows <= size:
            return np.asarray(table.rows.X @ planes.W.T + planes.b)
        X = table.rows.X
        return np.concatenate([X[first : first + size] @ planes.W.T + planes.b for first in range(0, n_rows, size)])
    if isinstance(table.rows, Csr) and table.entries >= ENTRIES_PER_WEIGHT * planes.W.size:
        planes = planes._replace(W=np.asfortranarray(planes.W))
    out = np.empty((n_rows, planes.b.size), planes.W.dtype)
    for first in range(0, n_rows, size):  # with pauses in which an interrupt is heard
        score(table.rows, part_of(subset, first, size, n_rows), planes, out[first : first + size])
    return out
