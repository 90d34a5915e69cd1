"""From what users have (arrays, frames, sparse matrices) to rows that a compiled loop may read without checks.

Compiled loops do not check bounds, so everything that could lead them astray is refused here: indices out
of range, broken row pointers, values that are not finite, shapes that do not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.epochs import Csr, Dense
from rosenblatt.compiled.inspection import inspect_csr, inspect_dense
from rosenblatt.data.dense import check_shape, dense_values, real_values, refuse_infinite
from rosenblatt.data.sparse import sp
from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]

# Squared lengths of rows between which sums of millions of products neither overflow nor vanish, by type of values.
SQUARED_LENGTHS = {np.dtype(np.float32): (1e-30, 1e30), np.dtype(np.float64): (1e-280, 1e280)}

# Values that NumPy looks through in less time than it takes to load a compiled loop.
FEW_VALUES = 1 << 12

# The subset of the rows that is all of them, in the order in which they are stored.
ALL_ROWS = np.empty(0, np.int32)


def row_numbers(rows: Array) -> Array:
    """Return row numbers in the type that the loops are compiled for, half the size wherever it fits."""
    largest = int(rows.max()) if rows.size else 0
    return np.ascontiguousarray(rows, dtype=np.int32 if largest <= np.iinfo(np.int32).max else np.int64)


def part_of(subset: Array, first: int, size: int, n_rows: int) -> Array:
    """Return the numbers of so many rows of a subset, from the `first` on; empty means all, here as there.

    Parameters
    ----------
    subset : int array
        Row numbers; empty for all `n_rows` rows as they are stored.
    first, size : int
    n_rows : int
        How many rows there are in all.
    """
    if first == 0 and size >= n_rows:
        return subset
    return subset[first : first + size] if subset.size else row_numbers(np.arange(first, min(first + size, n_rows)))


@dataclass(frozen=True)
class Table:
    """Validated rows.

    Attributes
    ----------
    rows : Dense or Csr
        The rows, in place where the input allowed it.
    shape : (int, int)
        Number of rows and of features.
    dtype : numpy.dtype
        float32 or float64: the type of the values, and of the weights trained on them.
    largest : float
        Largest squared Euclidean norm of a row.
    exact : array of the shape of `values`, or None
        The values themselves, integers and Fractions, where `rows` holds them rounded; for proofs only.
    """

    rows: Dense | Csr
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    largest: float
    exact: Array | None = None

    @property
    def entries(self) -> int:
        """How many values are stored."""
        return int(self.values.size)

    @property
    def values(self) -> Array:
        """The stored values, without a copy."""
        return self.rows.X if isinstance(self.rows, Dense) else self.rows.data

    def matrix(self) -> Any:
        """Return the rows as an array or a scipy CSR matrix, without a copy."""
        return self.rows.X if isinstance(self.rows, Dense) else sp.csr_matrix(self.rows, shape=self.shape)

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
        """Return the same rows with the values that they are rounded from."""
        return replace(self, exact=exact)


def as_table(X: Any) -> Table:
    """Validate X and return its rows for the compiled loops, without a copy where possible.

    float32 and float64 values are used in place, in C-contiguous arrays and in CSR matrices with int32 or int64
    indices; anything else is converted once.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    Table

    Raises
    ------
    InvalidInput
        If X is not a finite real matrix with at least one row and one feature, or is a damaged sparse matrix.
    """
    return _sparse_table(check_sparse(X)) if sp.issparse(X) else _dense_table(X)


def _dense_table(X: Any) -> Table:
    values = dense_values(X)
    with np.errstate(over="ignore", invalid="ignore"):  # compiled code does not warn
        largest, fault = (_inspect_few if values.size <= FEW_VALUES else inspect_dense)(values)
    if fault >= 0:
        refuse_infinite(values[fault], fault)
    return Table(Dense(values), values.shape, values.dtype, largest)


def _inspect_few(X: Array) -> tuple[float, int]:
    """Do what `inspect_dense` does, in less time than it takes to load that."""
    X = X.astype(np.float64, copy=False)
    squares = np.einsum("ij,ij->i", X, X)
    faults = np.flatnonzero(~(squares < np.inf))
    return float(squares[squares < np.inf].max(initial=0.0)), int(faults[0]) if faults.size else -1


def too_long(largest: float, dtype: np.dtype[Any]) -> bool:
    """Return whether sums of products of rows, the longest of them of this squared length, may overflow."""
    return largest > SQUARED_LENGTHS[dtype][1]


def learnable(table: Table) -> Table:
    """Return rows whose products neither overflow nor vanish: in float64 where float32 does not do.

    Parameters
    ----------
    table : Table

    Returns
    -------
    Table

    Raises
    ------
    InvalidInput
        If float64 does not do either.
    """
    least, most = SQUARED_LENGTHS[table.dtype]
    if least <= table.largest <= most or not table.values.any():
        return table
    if table.dtype == np.float32:
        return widened(table)
    fault = "overflow" if table.largest > most else "vanish"
    raise InvalidInput(
        f"X has values of at most {np.abs(table.values).max():.3g} in size, whose products {fault} in {table.dtype}. "
        "Scale the data, for example with StandardScaler."
    )


def widened(table: Table) -> Table:
    """Return the rows in float64."""
    values = table.values.astype(np.float64)
    rows = Dense(values) if isinstance(table.rows, Dense) else table.rows._replace(data=values)
    return Table(rows, table.shape, values.dtype, table.largest)


def with_dtype(table: Table, dtype: np.dtype[Any]) -> Table:
    """Return rows with values of another type; without a copy if they have it already."""
    if dtype == table.dtype:
        return table
    with np.errstate(over="ignore"):
        values = table.values.astype(dtype)
    if too_long(table.largest, dtype) or not np.isfinite(values).all():
        raise InvalidInput(f"X has values of {np.abs(table.values).max():.3g}, which {dtype} cannot hold: scale X.")
    rows = Dense(values) if isinstance(table.rows, Dense) else table.rows._replace(data=values)
    return Table(rows, table.shape, dtype, table.largest)


def _damaged(fault: str) -> InvalidInput:
    return InvalidInput(
        f"X is a damaged sparse matrix: {fault}. Build it anew from its coordinates, for example with "
        "scipy.sparse.coo_array((values, (rows, columns)), shape=...).tocsr()."
    )


def _check_compressed(X: Any) -> None:
    """Raise an error if the arrays of a CSR, CSC or BSR matrix do not describe a matrix of its shape."""
    _check_arrays(X, {"indptr": (1, "iu"), "indices": (1, "iu"), "data": (3 if X.format == "bsr" else 1, VALUES)})
    indptr, indices, values = X.indptr, X.indices, X.data
    major, minor = X.shape if X.format != "csc" else X.shape[::-1]
    if X.format == "bsr":
        high, wide = values.shape[1:]
        if not (high and wide) or major % high or minor % wide:
            raise _damaged(f"blocks of {high} times {wide} do not fill the shape {X.shape}")
        major, minor = major // high, minor // wide
    if indptr.size != major + 1:
        raise _damaged(f"indptr has {indptr.size} entries where the shape {X.shape} needs {major + 1}")
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise _damaged("indptr does not rise from 0")
    if indptr[-1] > min(indices.size, len(values)):
        raise _damaged(
            f"indptr ends at {indptr[-1]}, past the {indices.size} indices and {len(values)} values there are"
        )
    if X.format != "csr":  # the compiled inspection reads the indices of CSR
        _check_range("indices", indices[: indptr[-1]], minor)


def _check_coordinates(X: Any) -> None:
    """Raise an error if the coordinates of a COO matrix lead outside its shape."""
    _check_arrays(X, {"row": (1, "iu"), "col": (1, "iu"), "data": (1, VALUES)})
    for index, size in ((X.row, X.shape[0]), (X.col, X.shape[1])):
        if index.size != X.data.size:
            raise _damaged(f"it has {index.size} coordinates for {X.data.size} values")
        _check_range("coordinates", index, size)


def _check_lists(X: Any) -> None:
    """Raise an error if the lists of a LIL matrix do not fit one another: scipy would read past their ends."""
    _check_arrays(X, {"rows": (1, "O"), "data": (1, "O")})
    if not X.rows.size == X.data.size == X.shape[0]:
        raise _damaged(f"it has {X.rows.size} and {X.data.size} lists for {X.shape[0]} rows")
    for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if type(columns) is not list or type(values) is not list or len(columns) != len(values):
            raise _damaged(f"the columns and the values of row {row} are not two lists of the same length")
    columns = [column for columns in X.rows for column in columns]
    if not all(isinstance(column, int | np.integer) for column in columns):
        raise _damaged("a column is not an integer")
    if columns:
        _check_range("indices", np.array([min(columns), max(columns)]), X.shape[1])


def _check_diagonals(X: Any) -> None:
    """Raise an error if a DIA matrix has not one offset for each diagonal, and each once."""
    _check_arrays(X, {"offsets": (1, "iu"), "data": (2, VALUES)})
    if X.offsets.size != X.data.shape[0]:
        raise _damaged(f"it has {X.offsets.size} offsets for {X.data.shape[0]} diagonals")
    if np.unique(X.offsets).size != X.offsets.size:
        raise _damaged("an offset comes twice")


def _check_keys(X: Any) -> None:
    """Raise an error if the keys of a DOK matrix are not places in it."""
    for key in X.keys():  # noqa: SIM118 (a matrix is not iterated by its keys)
        pair = isinstance(key, tuple) and len(key) == 2 and all(isinstance(index, int | np.integer) for index in key)
        if not pair or not all(0 <= index < size for index, size in zip(key, X.shape, strict=True)):
            raise _damaged(f"its key {key!r:.60} is not a place in the shape {X.shape}")


# Kinds of values that are numbers, or that are refused as what they are.
VALUES = "biufcOUSmMV"
_CHECKS: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(("csr", "csc", "bsr"), _check_compressed),
    "coo": _check_coordinates,
    "lil": _check_lists,
    "dia": _check_diagonals,
    "dok": _check_keys,
}


def _check_arrays(X: Any, wanted: dict[str, tuple[int, str]]) -> None:
    """Raise an error unless the parts of a matrix are arrays of these dimensions and kinds."""
    for name, (dimensions, kinds) in wanted.items():
        part = getattr(X, name, None)
        if not isinstance(part, np.ndarray) or part.ndim != dimensions or part.dtype.kind not in kinds:
            of = " of integers" if kinds == "iu" else ""
            raise _damaged(f"{name} is not a {('', 'one', 'two', 'three')[dimensions]}-dimensional array{of}")


def _check_range(name: str, index: Array, size: int) -> None:
    if index.size and (index.min() < 0 or index.max() >= size):
        raise _damaged(f"its {name} go outside [0, {size}): from {index.min()} to {index.max()}")


def check_sparse(X: Any) -> Any:
    """Check that the arrays of a sparse matrix can be trusted by scipy's own conversions and products.

    Parameters
    ----------
    X : scipy sparse matrix or array

    Returns
    -------
    scipy sparse matrix or array
        X itself.

    Raises
    ------
    InvalidInput
        If an index or a pointer of X leads outside its arrays.
    """
    check_shape(X.shape)
    check = _CHECKS.get(X.format)
    if check is not None:
        check(X)
    return X


def with_own_indices(table: Table) -> Table:
    """Return the rows with indices that nobody else can change while a loop reads them without looking.

    For whoever calls functions of the user's meanwhile. Values may change: they cannot lead a loop astray.
    """
    if isinstance(table.rows, Dense):
        return table
    data, indices, indptr = table.rows
    return Table(Csr(data, indices.copy(), indptr.copy()), table.shape, table.dtype, table.largest)


def _sparse_table(X: Any) -> Table:
    try:
        matrix = X.tocsr()
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise _damaged(f"scipy cannot convert it ({error})") from None
    values, indices, indptr = matrix.data, matrix.indices, matrix.indptr
    values = real_values(values[: indptr[-1]], "X")
    indices = np.ascontiguousarray(indices, dtype=np.int32 if indices.dtype == np.int32 else np.int64)
    indptr = np.ascontiguousarray(indptr, dtype=np.int64 if indptr[-1] > np.iinfo(np.int32).max else indices.dtype)
    with np.errstate(over="ignore"):
        largest, outside, infinite, disorder = inspect_csr(values, indices, indptr, matrix.shape[1])
    if outside >= 0:
        raise _damaged(f"an index of row {outside} is outside [0, {matrix.shape[1]})")
    if infinite >= 0:
        stored = slice(indptr[infinite], indptr[infinite + 1])
        refuse_infinite(values[stored], infinite, indices[stored])
    if disorder >= 0:
        # Repeated entries add up in scipy's eyes; a sum of their squares would not be the row's norm.
        tidy = sp.csr_matrix((values, indices, indptr), shape=matrix.shape, copy=True)
        tidy.sum_duplicates()
        return _sparse_table(tidy)
    return Table(Csr(values, indices, indptr), matrix.shape, values.dtype, largest)
