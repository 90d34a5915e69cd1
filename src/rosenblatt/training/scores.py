"""Scores of the rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import SURELY_THERE
from rosenblatt.data.table import ALL_ROWS, Table, part_of
from rosenblatt.engine.rows import Csr, Dense, Hyperplanes
from rosenblatt.engine.scores import score
from rosenblatt.storage.sparse import SparseArray, compress, from_columns
from rosenblatt.training.algorithm import has_columns, order_of

Array = npt.NDArray[Any]

# Entries of rows between two checks for an interrupt, for each problem: a fraction of a second.
PIECE_ENTRIES = 1 << 27
# Entries of rows, as a share of the weights, from which it is faster to copy the weights to another memory order.
ENTRIES_PER_WEIGHT = 0.25
# Entries of rows, as a share of the features, up to which it is faster to gather the weights that they touch.
TOUCHED_PER_FEATURE = 0.1
# How many times faster a matrix product of dense rows is than a loop. Each piece of them reads all weights again.
PRODUCT_SPEED = 8


def scores(table: Table, planes: Hyperplanes, subset: Array = ALL_ROWS) -> Array:
    """Return the score W.x + b of each row under each problem.

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
    for first in range(0, n_rows, size):  # compiled code does not react to Ctrl-C
        score(table.rows, part_of(subset, first, size, n_rows), planes, out[first : first + size])
    return out


def touches_few(table: Table, features: int) -> bool:
    """Return whether rows touch so few of the weights that gathering these is faster."""
    return isinstance(table.rows, Csr) and table.entries <= TOUCHED_PER_FEATURE * features


def touched_part(state: Any, table: Table) -> tuple[Any, Table]:
    """Return the part of a state that sparse rows touch, and the rows with their columns numbered accordingly.

    Each entry has its own column, whether or not another entry is of the same feature.
    """
    assert isinstance(table.rows, Csr)
    data, indices, indptr = table.rows
    rows = Csr(data, np.arange(indices.size, dtype=indices.dtype), indptr)
    return _columns_of(state, indices), Table(rows, (table.shape[0], indices.size), table.dtype, table.largest)


def _columns_of(state: Any, columns: Array) -> Any:
    features, order = state.W.shape[1], order_of(state.W)
    part = (np.array(array[:, columns], order=order) if has_columns(array, features) else array for array in state)
    return type(state)(*part)


def used_weights(settings: Any, state: Any) -> tuple[Array | SparseArray, Array]:
    """Return copies of the weights that predict and of the biases; many weights sparse, if few columns were used.

    Only the weights of those columns are derived from the state: averaging all weights would touch all memory.
    """
    columns = _used_columns(state)
    if columns is not None:
        unused = np.setdiff1d(np.arange(columns.size + 1), columns)[:1].astype(columns.dtype)
        planes = settings.hyperplanes(_columns_of(state, np.append(columns, unused)))
        W = from_columns(planes.W, columns, state.W.shape[1])
        if W is not None:
            return W, planes.b.copy()
    planes = settings.hyperplanes(state)
    return np.array(planes.W, order="C"), planes.b.copy()


def _used_columns(state: Any) -> Array | None:
    """Return the columns in which a large state is not the same everywhere, sorted; None if they are most of them."""
    features = state.W.shape[1]
    if state.W.nbytes <= SURELY_THERE:
        return None
    parts = [compress(array) for array in state if has_columns(array, features)]
    if any(part is None for part in parts):
        return None
    columns = np.unique(np.concatenate([part.columns for part in parts if part is not None]))
    return columns if columns.size < features else None
