"""How large the values of a table are, as a look at some of its rows tells: all of them, and column by column."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import ALL_ROWS, Table
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.engine.surveys import survey_csr, survey_dense

Array = npt.NDArray[Any]

# Rows that are looked at, evenly spread: a share of an epoch in all but small tables, where it takes microseconds.
SURVEYED_ROWS = 512
# Entries that NumPy surveys in less time than it takes to load a compiled loop.
FEW_ENTRIES = 1 << 14
# Columns, for each entry of these rows, up to which a sum is kept for every column of sparse rows.
SURVEYED_COLUMNS_PER_ENTRY = 4


class Survey(NamedTuple):
    """Root mean squares: of the rows' lengths, and of the values that are not zero. Zeros if all values are."""

    row_length: float
    value: float  # of all values
    column: int  # where the values are largest
    column_value: float  # of the values there
    median_value: float  # median of the columns


def _survey_dense(X: Array, rows: Array) -> tuple[Array, Array, Array]:
    """Return for each column that has values the sum of their squares, their number, and its own number."""
    squares: Array
    counts: Array
    squares, counts = np.zeros((2, X.shape[1]))
    if rows.size * X.shape[1] <= FEW_ENTRIES:
        values, every = X[rows].ravel().astype(float), np.tile(np.arange(X.shape[1]), rows.size)
        squares[:] = np.bincount(every, values * values, X.shape[1])  # adds up in the order of the compiled loop
        counts[:] = np.bincount(every, values != 0.0, X.shape[1])
    else:
        survey_dense(X, rows, squares, counts)
    columns = np.flatnonzero(counts)
    return squares[columns], counts[columns], columns


def _survey_sparse(table: Table, rows: Array) -> tuple[Array, Array, Array]:
    """Do the same for sparse rows, in memory proportional to their entries, however many columns there are."""
    assert isinstance(table.rows, Csr)
    data, indices, indptr = table.rows
    start, size = indptr[rows], indptr[rows + 1] - indptr[rows]
    found = np.empty(size.sum(), np.int64)
    if table.shape[1] <= SURVEYED_COLUMNS_PER_ENTRY * found.size:
        squares, counts = np.zeros((2, table.shape[1]))
        found = found[: survey_csr(data, indices, indptr, rows, squares, counts, found)]
        return squares[found], counts[found], found
    ends = np.cumsum(size)
    entries = np.arange(ends[-1]) + np.repeat(start - (ends - size), size)
    columns, place = np.unique(indices[entries], return_inverse=True)
    pointers = np.concatenate([[0], ends]).astype(indptr.dtype)
    squares, counts = np.zeros((2, columns.size))
    place = place.astype(indices.dtype)
    found = found[: survey_csr(data[entries], place, pointers, np.arange(rows.size), squares, counts, found)]
    return squares[found], counts[found], columns[found]


def _median(values: Array) -> float:
    """Return the median; NumPy's takes ten times as long for a few values."""
    ordered, half = np.sort(values), values.size // 2
    return float(ordered[half] if values.size % 2 else 0.5 * (ordered[half - 1] + ordered[half]))


def _spread(table: Table, subset: Array) -> Array:
    """Return the numbers of some rows, evenly spread."""
    n_rows = subset.size or table.shape[0]
    rows = np.arange(0, n_rows, -(-n_rows // SURVEYED_ROWS))
    return subset[rows].astype(rows.dtype) if subset.size else rows


def _sums(table: Table, rows: Array) -> tuple[Array, Array, Array]:
    """Return for each column that has values the sum of their squares, their number, and its own number."""
    return _survey_dense(table.rows.X, rows) if isinstance(table.rows, Dense) else _survey_sparse(table, rows)


def survey(table: Table, subset: Array = ALL_ROWS) -> Survey:
    """Look at the sizes of the values in some rows.

    Dense and sparse copies of the same rows are surveyed alike, and what is stored as zero does not count.

    Parameters
    ----------
    table : Table
    subset : int array
        The rows that matter; empty for all.

    Returns
    -------
    Survey
    """
    rows = _spread(table, subset)
    squares, counts, columns = _sums(table, rows)
    if not columns.size:
        return Survey(0.0, 0.0, 0, 0.0, 0.0)
    total, means = float(squares.sum()), squares / counts
    largest = means.max()
    column = columns[means == largest].min()  # the first, in whatever order they were found
    length, value = math.sqrt(total / rows.size), math.sqrt(total / counts.sum())
    return Survey(length, value, int(column), math.sqrt(largest), math.sqrt(_median(means)))
