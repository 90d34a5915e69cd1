"""Convert arrays, frames and sparse matrices to rows that a compiled loop can read without checks.

Compiled loops do not check bounds. Indices out of range, broken row pointers, values that are not finite and shapes
that do not match are rejected here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.matrices import as_csr, damaged_matrix, dense_values, real_values, refuse_infinite, sp
from rosenblatt.engine.inspection import inspect_csr, inspect_dense
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]

# Squared lengths of rows between which sums of millions of products neither overflow nor underflow.
SQUARED_LENGTHS = {np.dtype(np.float32): (1e-30, 1e30), np.dtype(np.float64): (1e-280, 1e280)}

# Up to this many values NumPy is faster than loading a compiled loop.
FEW_VALUES = 1 << 12

# The subset that stands for all rows, in the order in which they are stored.
ALL_ROWS = np.empty(0, np.int32)


def row_numbers(rows: Array) -> Array:
    """Return row numbers as int32 if they fit, else as int64: the types that the loops are compiled for."""
    largest = int(rows.max()) if rows.size else 0
    return np.ascontiguousarray(rows, dtype=np.int32 if largest <= np.iinfo(np.int32).max else np.int64)


def part_of(subset: Array, first: int, size: int, n_rows: int) -> Array:
    """Return the numbers of `size` rows of a subset, from position `first` on; empty stands for all rows.

    An empty subset stands for all `n_rows` rows of the table, as they are stored.
    """
    if first == 0 and size >= n_rows:
        return subset
    return subset[first : first + size] if subset.size else row_numbers(np.arange(first, min(first + size, n_rows)))


@dataclass(frozen=True)
class Table:
    """Validated rows."""

    rows: Dense | Csr  # the rows, in place where the input allowed it
    shape: tuple[int, int]  # number of rows and of features
    dtype: np.dtype[Any]  # float32 or float64: the type of the values, and of the weights trained on them
    largest: float  # largest squared Euclidean norm of a row
    # The values themselves, integers and Fractions, where `rows` holds them rounded; for proofs only.
    exact: Array | None = None

    @property
    def entries(self) -> int:
        """Number of stored values."""
        return int(self.values.size)

    @property
    def values(self) -> Array:
        """The stored values, without a copy."""
        return self.rows.X if isinstance(self.rows, Dense) else self.rows.data

    def matrix(self) -> Any:
        """Return the rows as an array or a scipy CSR matrix, without a copy."""
        return self.rows.X if isinstance(self.rows, Dense) else sp.csr_matrix(tuple(self.rows), shape=self.shape)

    def take(self, subset: Array) -> Table:
        """Return a copy of some of the rows."""
        part, exact = self.matrix()[subset], self.exact
        rows = Dense(part) if isinstance(self.rows, Dense) else Csr(part.data, part.indices, part.indptr)
        if exact is not None and isinstance(self.rows, Dense):
            exact = exact[subset]
        elif exact is not None:
            place = sp.csr_matrix((np.arange(exact.size), *self.rows[1:]), shape=self.shape)[subset].data
            exact = exact[place]
        return Table(rows, (subset.size, self.shape[1]), self.dtype, self.largest, exact)

    def with_exact(self, exact: Array) -> Table:
        """Return the same rows with the exact values that they are rounded from."""
        return replace(self, exact=exact)


def as_table(X: Any) -> Table:
    """Validate X and return its rows for the compiled loops, without a copy where possible.

    float32 and float64 values are used in place, in C-contiguous arrays and in CSR matrices with int32 or int64
    indices; anything else is converted once.

    Raises
    ------
    InvalidInput
        If X is not a finite real matrix with at least one row and one feature, or is a damaged sparse matrix.
    """
    return as_sparse_table(X) if hasattr(X, "tocsr") else _dense_table(X)


def _dense_table(X: Any) -> Table:
    values = dense_values(X)
    with np.errstate(over="ignore", invalid="ignore"):  # compiled code does not warn
        largest, fault = (_inspect_few if values.size <= FEW_VALUES else inspect_dense)(values)
    if fault >= 0:
        refuse_infinite(values[fault], fault)
    return Table(Dense(values), values.shape, values.dtype, largest)


def _inspect_few(X: Array) -> tuple[float, int]:
    """Return what `inspect_dense` returns, in less time than it takes to load that."""
    X = X.astype(np.float64, copy=False)
    squares = np.einsum("ij,ij->i", X, X)
    faults = np.flatnonzero(~(squares < np.inf))
    return float(squares[squares < np.inf].max(initial=0.0)), int(faults[0]) if faults.size else -1


def as_sparse_table(X: Any, *, to_score: bool = False) -> Table:
    """Validate a sparse matrix and return its rows, as `as_table` does.

    With ``to_score=True`` the attribute `largest` may be an upper bound, which is enough for scores and faster.
    """
    matrix = as_csr(X)
    values, indices, indptr = matrix.data, matrix.indices, matrix.indptr
    values = real_values(values[: indptr[-1]], "X")
    indices = np.ascontiguousarray(indices, dtype=np.int32 if indices.dtype == np.int32 else np.int64)
    indptr = np.ascontiguousarray(indptr, dtype=np.int64 if indptr[-1] > np.iinfo(np.int32).max else indices.dtype)
    with np.errstate(over="ignore"):
        enough = SQUARED_LENGTHS[values.dtype][1] if to_score else -1.0
        largest, outside, infinite, disorder = inspect_csr(values, indices, indptr, matrix.shape[1], enough)
    if outside >= 0:
        raise damaged_matrix(f"an index of row {outside} is outside [0, {matrix.shape[1]})")
    if infinite >= 0:
        stored = slice(indptr[infinite], indptr[infinite + 1])
        refuse_infinite(values[stored], infinite, indices[stored])
    if disorder >= 0:
        # scipy adds up repeated entries; the sum of their squares is not the row's squared norm.
        tidy = sp.csr_matrix((values, indices, indptr), shape=matrix.shape, copy=True)
        tidy.sum_duplicates()
        return as_sparse_table(tidy, to_score=to_score)
    return Table(Csr(values, indices, indptr), matrix.shape, values.dtype, largest)


def too_long(largest: float, dtype: np.dtype[Any]) -> bool:
    """Return whether sums of products of rows may overflow; `largest` is the largest squared norm of a row."""
    return largest > SQUARED_LENGTHS[dtype][1]


def learnable(table: Table) -> Table:
    """Return rows whose products neither overflow nor underflow, converted to float64 if float32 is too narrow.

    Raises
    ------
    InvalidInput
        If float64 is too narrow as well.
    """
    least, most = SQUARED_LENGTHS[table.dtype]
    if least <= table.largest <= most or not table.values.any():
        return table
    if table.dtype == np.float32:
        return widened(table)
    size, fault = ("large", "overflow") if table.largest > most else ("small", "underflow")
    raise InvalidInput(
        f"X is too {size}: squared values {fault} {table.dtype} (max |x| = {np.abs(table.values).max():.3g}). "
        "Scale the data, for example with StandardScaler."
    )


def widened(table: Table) -> Table:
    """Return the rows in float64."""
    values = table.values.astype(np.float64)
    rows = Dense(values) if isinstance(table.rows, Dense) else table.rows._replace(data=values)
    return Table(rows, table.shape, values.dtype, table.largest)


def with_dtype(table: Table, dtype: np.dtype[Any]) -> Table:
    """Return rows with values of another dtype, without a copy if they have it already."""
    if dtype == table.dtype:
        return table
    with np.errstate(over="ignore"):
        values = table.values.astype(dtype)
    if too_long(table.largest, dtype) or not np.isfinite(values).all():
        raise InvalidInput(
            f"X has values of {np.abs(table.values).max():.3g}, which {dtype} cannot hold. Scale the data."
        )
    rows = Dense(values) if isinstance(table.rows, Dense) else table.rows._replace(data=values)
    return Table(rows, table.shape, dtype, table.largest)


def with_own_indices(table: Table) -> Table:
    """Return the rows with a private copy of their indices, for training that calls the user's functions.

    A loop reads indices without bounds checks, so a user's function must not be able to change them. Changed values are
    harmless.
    """
    if isinstance(table.rows, Dense):
        return table
    data, indices, indptr = table.rows
    return Table(Csr(data, indices.copy(), indptr.copy()), table.shape, table.dtype, table.largest)
