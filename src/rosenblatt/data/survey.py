"""How large the values of a table are, as a look at some of its rows tells: all of them, and column by column."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.surveys import survey_csr, survey_dense
from rosenblatt.data.table import ALL_ROWS, Table
from rosenblatt.engine.rows import Csr, Dense

Array = npt.NDArray[Any]

# Rows that are looked at, evenly spread: a share of an epoch in all but small tables, where it takes microseconds.
SURVEYED_ROWS = 512
# Entries that NumPy surveys in less time than it takes to load a compiled loop.
FEW_ENTRIES = 1 << 14
# Rows that are looked at where the size of each column matters: a rare value may be most of it.
ROWS_FOR_COLUMNS = 1 << 16
# Columns up to which their products are summed, too. So many products at a time, for which BLAS starts no threads: on a
# busy machine they would wait for one another many times as long.
COLUMNS_WITH_PRODUCTS, PRODUCTS_PER_BLOCK = 128, 1 << 18
# Columns, for each entry of these rows, up to which a sum is kept for every column of sparse rows.
SURVEYED_COLUMNS_PER_ENTRY = 4


class ColumnSizes(NamedTuple):
    """How large the values of each column are, as some rows tell."""

    rows: int  # looked at
    squares: Array  # of the values, summed
    counts: Array  # of the values that are not zero
    moments: Array | None = None  # products of the columns, with a column of ones as the last; if there are few

    def merge(self, other: ColumnSizes) -> ColumnSizes:
        """Return what the rows of both tell."""
        known = self.moments is not None and other.moments is not None
        moments = self.moments + other.moments if known else None  # type: ignore[operator]
        return ColumnSizes(self.rows + other.rows, self.squares + other.squares, self.counts + other.counts, moments)


class Survey(NamedTuple):
    """Root mean squares: of the rows' lengths, and of the values that are not zero. Zeros if all values are."""

    row_length: float
    value: float  # of all values
    column: int  # where the values are largest
    column_value: float  # of the values there
    median_value: float  # median of the columns
    columns: ColumnSizes | None = None  # where they are known, and few


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


def _spread(table: Table, subset: Array, most: int) -> Array:
    """Return the numbers of some rows, evenly spread."""
    n_rows = subset.size or table.shape[0]
    rows = np.arange(0, n_rows, -(-n_rows // most))
    return subset[rows].astype(rows.dtype) if subset.size else rows


def _sums(table: Table, rows: Array) -> tuple[Array, Array, Array]:
    """Return for each column that has values the sum of their squares, their number, and its own number."""
    return _survey_dense(table.rows.X, rows) if isinstance(table.rows, Dense) else _survey_sparse(table, rows)


def column_sizes(table: Table, subset: Array = ALL_ROWS, most: int = ROWS_FOR_COLUMNS) -> ColumnSizes | None:
    """Look at the sizes of the values column by column; None unless the columns are few.

    Parameters
    ----------
    table : Table
    subset : int array
        The rows that matter; empty for all.
    most : int
        Rows to look at.
    """
    if table.shape[1] >= SURVEYED_ROWS:
        return None
    rows = _spread(table, subset, most)
    sizes = ColumnSizes(rows.size, *np.zeros((2, table.shape[1])))
    squares, counts, columns = _sums(table, rows)
    sizes.squares[columns], sizes.counts[columns] = squares, counts
    return sizes._replace(moments=_moments(table, rows)) if table.shape[1] <= COLUMNS_WITH_PRODUCTS else sizes


def _moments(table: Table, rows: Array) -> Array:
    """Sum the products of the columns, a column of ones among them; of sparse rows as of dense ones."""
    matrix, width = table.matrix(), table.shape[1] + 1
    total, size = np.zeros((width, width)), PRODUCTS_PER_BLOCK // width**2
    for first in range(0, rows.size, size):
        part = matrix[rows[first : first + size]]
        padded = np.ones((part.shape[0], width))
        padded[:, :-1] = part if isinstance(table.rows, Dense) else part.toarray()
        with np.errstate(all="ignore"):  # what overflows is not used
            total += padded.T @ padded
    return total


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
    rows = _spread(table, subset, SURVEYED_ROWS)
    squares, counts, columns = _sums(table, rows)
    if not columns.size:
        return Survey(0.0, 0.0, 0, 0.0, 0.0)
    total, means = float(squares.sum()), squares / counts
    largest = means.max()
    column = columns[means == largest].min()  # the first, in whatever order they were found
    length, value = math.sqrt(total / rows.size), math.sqrt(total / counts.sum())
    return Survey(length, value, int(column), math.sqrt(largest), math.sqrt(_median(means)))
