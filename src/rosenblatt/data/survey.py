"""How large the values of a table are, as a look at some of its rows tells: all of them, and column by column."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.epochs import Csr, Dense
from rosenblatt.compiled.inspection import survey_csr, survey_dense
from rosenblatt.data.table import ALL_ROWS, Table

Array = npt.NDArray[Any]

# Rows that are looked at, evenly spread: a share of an epoch in all but small tables, where it takes microseconds.
SURVEYED_ROWS = 512
# Columns, for each entry of these rows, up to which a sum is kept for every column of sparse rows.
SURVEYED_COLUMNS_PER_ENTRY = 4


class Survey(NamedTuple):
    """Root mean squares: of the rows' lengths, and of the values that are not zero. Zeros if all values are."""

    row_length: float
    value: float  # of all values
    column: int  # where the values are largest
    column_value: float  # of the values there
    median_value: float  # median of the columns


def _survey_sparse(table: Table, rows: Array) -> tuple[Any, ...]:
    """Survey sparse rows in memory proportional to their entries, however many columns there are."""
    assert isinstance(table.rows, Csr)
    data, indices, indptr = table.rows
    start, size = indptr[rows], indptr[rows + 1] - indptr[rows]
    if table.shape[1] <= SURVEYED_COLUMNS_PER_ENTRY * size.sum():
        return tuple(survey_csr(data, indices, indptr, rows, *np.zeros((2, table.shape[1]))))
    ends = np.cumsum(size)
    entries = np.arange(ends[-1]) + np.repeat(start - (ends - size), size)
    columns, place = np.unique(indices[entries], return_inverse=True)
    pointers = np.concatenate([[0], ends]).astype(indptr.dtype)
    zeros = np.zeros((2, columns.size))
    found = survey_csr(data[entries], place.astype(indices.dtype), pointers, np.arange(rows.size), *zeros)
    total, count, column, largest, median = found
    return total, count, columns[column] if columns.size else column, largest, median


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
    n_rows = subset.size or table.shape[0]
    rows = np.arange(0, n_rows, -(-n_rows // SURVEYED_ROWS))
    if subset.size:
        rows = subset[rows].astype(rows.dtype)
    if isinstance(table.rows, Dense):
        total, count, column, largest, median = survey_dense(table.rows.X, rows)
    else:
        total, count, column, largest, median = _survey_sparse(table, rows)
    length, value = math.sqrt(total / rows.size), math.sqrt(total / max(count, 1.0))
    return Survey(length, value, int(column), math.sqrt(largest), math.sqrt(median))
