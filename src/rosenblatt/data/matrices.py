"""Check matrices of every kind, and convert them to arrays: dense ones, data frames, nested lists; SciPy's sparse ones.

Sparse matrices are not trusted: SciPy itself does not check bounds. It is imported with the first of them: programs
without one start a tenth of a second sooner.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.text import short_repr

if TYPE_CHECKING:
    from scipy import sparse

    sp = sparse
else:

    class _LazySparse:
        """The module `scipy.sparse`, imported when a name in it is first used."""

        def __getattr__(self, name: str) -> Any:
            import scipy.sparse

            value = getattr(scipy.sparse, name)
            setattr(self, name, value)
            return value

        @staticmethod
        def issparse(X: Any) -> bool:
            """Return whether X is sparse; if scipy.sparse has not been imported, it cannot be."""
            loaded = sys.modules.get("scipy.sparse")
            return loaded is not None and loaded.issparse(X)

    sp = _LazySparse()

Array = npt.NDArray[Any]

TEXT_REMEDY = "Turn text and categories into numbers first, for example with a vectorizer or one-hot encoding."
DATE_REMEDY = "Turn dates into numbers, such as days since the first."
# For each row and each column: any work on a matrix takes a few vectors of both lengths.
BYTES_PER_SIDE = 3 * 8
# Kinds of values that are numbers, or that a later check rejects with a better message.
VALUES = "biufcOUSmMV"

# ------------------------------------------------------------------------------------------------------- dense matrices


def real_values(values: Array, what: str) -> Array:
    """Return values as native float32 or float64."""
    refuse_kind(values.dtype, what)
    if values.dtype.kind not in "fiub":
        raise InvalidInput(f"{what} has dtype {values.dtype}, which is not numeric. {TEXT_REMEDY}")
    # float16 fits float32; every integer up to 2**53 fits float64.
    kept = np.float32 if values.dtype in (np.float16, np.float32) else np.float64
    return np.ascontiguousarray(values, dtype=kept)


def refuse_kind(dtype: Any, what: str) -> None:
    """Raise an error for complex numbers, records and dates, which a conversion to float would distort."""
    kind = getattr(dtype, "kind", "")
    if kind == "c":
        raise InvalidInput(f"Complex data not supported: {what} has dtype {dtype}. Pass its real part.")
    if kind == "V":
        raise InvalidInput(f"{what} has dtype {dtype}: records, not numbers. Pass a matrix of their columns.")
    if kind and kind in "mM":
        raise InvalidInput(f"{what} has dtype {dtype}. {DATE_REMEDY}")


def unmasked(values: Any) -> Any:
    """Return a masked array with NaN in place of its masked values; anything else as it is."""
    loaded = "numpy.ma" in sys.modules  # importing it takes as long as a small fit
    masked = loaded and isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values)
    return values.astype(object).filled(np.nan) if masked else values


def column_names(X: Any) -> tuple[str, ...]:
    """Return the column names of a data frame (pandas, polars) or a design matrix (patsy); empty if it has none."""
    design = getattr(X, "design_info", None)
    columns = getattr(design, "column_names", None) if design is not None else getattr(X, "columns", None)
    names = tuple(columns) if columns is not None else ()
    return tuple(map(str, names)) if all(isinstance(name, str) for name in names) else ()


def readable(X: Any) -> Any:
    """Return dense rows that convert to numbers: frames and arrays as they are, anything else as an array.

    Raises
    ------
    InvalidInput
        If X is not a matrix, or has values that are not numbers. The message names the column if it has a name.
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        check_frame(X)
        return X
    values = _as_array(X)
    if values.ndim == 0:
        raise InvalidArgument(
            f"Expected 2D array, got scalar array instead: X is {short_repr(X)}, which has no rows. Pass an array, a "
            "data frame or a sparse matrix with one row for each sample."
        )
    if values.dtype.kind in "OUS":
        values = read_values(values)
    check_shape(values.shape)
    refuse_kind(values.dtype, "X")
    if not values.flags.forc:  # it will be copied, and a broadcast array is larger than its memory
        size = f"A copy of X, of shape {values.shape},"
        check_memory(8.0 * values.size, size, "Pass fewer rows or columns.")
    return values


def _as_array(X: Any) -> Array:
    try:
        return np.asarray(unmasked(X))
    except (TypeError, ValueError) as error:
        lengths = sorted({len(row) for row in X if hasattr(row, "__len__")}) if hasattr(X, "__iter__") else []
        fault = f"its rows have from {lengths[0]} to {lengths[-1]} values" if len(lengths) > 1 else str(error)
        raise InvalidInput(
            f"X cannot be read as a matrix: {fault}. Pass rows of the same length, with a number for each feature."
        ) from None


def check_frame(X: Any) -> None:
    """Raise an error for the first column of a data frame that is not numeric."""
    if hasattr(X, "collect"):
        raise InvalidInput(f"X is a {type(X).__name__}, whose rows have not been computed yet. Pass X.collect().")
    for number, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        if getattr(dtype, "kind", "O") not in "fiub":
            column = X.iloc[:, number] if hasattr(X, "iloc") else X[name]
            values = np.asarray(column)
            refuse_kind(values.dtype, f"The column {short_repr(name)} of X")
            if values.dtype.kind in "OUS":
                read_values(values[:, None], [name])


def read_values(values: Array, names: Any = None) -> Array:
    """Return text and objects as numbers, or raise an error that names the first value that is not a number."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        where, value = _first_fault(values, names)
        kind = InvalidArgument if isinstance(error, TypeError) else InvalidInput
        detail = "" if isinstance(error, ValueError) else f" ({error})"
        raise kind(f"{where} has {short_repr(value)}, which is not a number{detail}. {TEXT_REMEDY}") from None


def _first_fault(values: Array, names: Any) -> tuple[str, Any]:
    """Return the column of the first value that is not a number, and the value."""
    columns = values.reshape(values.shape[0], -1) if values.ndim > 1 else values[:, None]
    for number in range(columns.shape[1]):
        for value in columns[:, number].tolist():
            try:
                float(value)
            except (TypeError, ValueError, OverflowError):
                name = "X" if values.ndim == 1 else f"Column {number} of X"
                return name if names is None else f"The column {short_repr(names[number])} of X", value
    return "X", values.ravel()[0]


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise an error unless a shape is that of a matrix with rows and features."""
    if len(shape) != 2:
        raise InvalidInput(
            f"Expected 2D array, got {len(shape)}D array instead: X has shape {shape}. Reshape your data so that each "
            "row is one sample: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one sample."
        )
    for size, kind in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise InvalidInput(
                f"Found array with 0 {kind}(s) (shape={shape}) while a minimum of 1 is required. Pass rows and columns."
            )


def refuse_infinite(values: Array, row: int, columns: Array | None = None) -> None:
    """Raise an error that names the value of a row that is not finite, or reports that its norm overflows.

    `values` are those stored, in these `columns`; by default in all columns in order.
    """
    faulty = np.flatnonzero(~np.isfinite(values))
    if faulty.size == 0:
        raise InvalidInput(
            f"X has values as large as {np.abs(values).max():.3g} in row {row}, whose squared norm overflows. "
            "Scale the data, for example with StandardScaler."
        )
    name = "NaN" if np.isnan(values[faulty[0]]) else "infinity"
    raise InvalidInput(
        f"Input X contains {name} (row {row}, column {faulty[0] if columns is None else columns[faulty[0]]}). "
        "Remove such rows or fill them in, for example with SimpleImputer."
    )


def dense_values(X: Any) -> Array:
    """Return X as a matrix of native float32 or float64 in C order, without a copy where possible."""
    values = np.asarray(readable(X))
    if values.dtype.kind in "OUS":  # a frame may mix numbers and objects that convert to numbers
        values = read_values(values)
    check_shape(values.shape)
    return real_values(values, "X")


# ------------------------------------------------------------------------------------------------------ sparse matrices


def damaged_matrix(fault: str) -> InvalidInput:
    """Return the error for a sparse matrix whose arrays do not describe a matrix."""
    return InvalidInput(
        f"X is a damaged sparse matrix: {fault}. Build it again from its coordinates, for example with "
        "scipy.sparse.coo_array((values, (rows, columns)), shape=...).tocsr()."
    )


def _unsupported(X: Any, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"X is a sparse matrix of format {X.format!r} and dtype {X.dtype} that scipy cannot convert ({error}). "
        "Build it from numbers of type float."
    )


def _check_compressed(X: Any) -> None:
    """Raise an error if the arrays of a CSR, CSC or BSR matrix do not describe a matrix of its shape."""
    _check_arrays(X, {"indptr": (1, "iu"), "indices": (1, "iu"), "data": (3 if X.format == "bsr" else 1, VALUES)})
    indptr, indices, values = X.indptr, X.indices, X.data
    major, minor = X.shape if X.format != "csc" else X.shape[::-1]
    if X.format == "bsr":
        high, wide = values.shape[1:]
        if not (high and wide) or major % high or minor % wide:
            raise damaged_matrix(f"blocks of {high} times {wide} do not fill the shape {X.shape}")
        major, minor = major // high, minor // wide
    if indptr.size != major + 1:
        raise damaged_matrix(f"indptr has {indptr.size} entries where the shape {X.shape} needs {major + 1}")
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise damaged_matrix("indptr does not rise from 0")
    if indptr[-1] > min(indices.size, len(values)):
        raise damaged_matrix(
            f"indptr ends at {indptr[-1]}, past the {indices.size} indices and {len(values)} values there are"
        )
    if indices.size != len(values):
        raise damaged_matrix(f"it has {indices.size} indices for {len(values)} values")
    if X.format != "csr":  # the compiled inspection reads the indices of CSR
        _check_range("indices", indices, minor)


def _check_coordinates(X: Any) -> None:
    """Raise an error if the coordinates of a COO matrix lie outside its shape."""
    _check_arrays(X, {"row": (1, "iu"), "col": (1, "iu"), "data": (1, VALUES)})
    for index, size in ((X.row, X.shape[0]), (X.col, X.shape[1])):
        if index.size != X.data.size:
            raise damaged_matrix(f"it has {index.size} coordinates for {X.data.size} values")
        _check_range("coordinates", index, size)


def _check_lists(X: Any) -> None:
    """Raise an error if the lists of a LIL matrix do not match: scipy would read past their ends."""
    _check_arrays(X, {"rows": (1, "O"), "data": (1, "O")})
    if not X.rows.size == X.data.size == X.shape[0]:
        raise damaged_matrix(f"it has {X.rows.size} and {X.data.size} lists for {X.shape[0]} rows")
    for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if type(columns) is not list or type(values) is not list or len(columns) != len(values):
            raise damaged_matrix(f"the columns and the values of row {row} are not two lists of the same length")
    columns = [column for columns in X.rows for column in columns]
    if not all(isinstance(column, int | np.integer) for column in columns):
        raise damaged_matrix("a column is not an integer")
    if columns:
        _check_range("indices", np.array([min(columns), max(columns)]), X.shape[1])


def _check_diagonals(X: Any) -> None:
    """Raise an error unless a DIA matrix has one offset for each diagonal, all different."""
    _check_arrays(X, {"offsets": (1, "iu"), "data": (2, VALUES)})
    if X.offsets.size != X.data.shape[0]:
        raise damaged_matrix(f"it has {X.offsets.size} offsets for {X.data.shape[0]} diagonals")
    if np.unique(X.offsets).size != X.offsets.size:
        raise damaged_matrix("an offset occurs twice")
    n_rows, n_columns = X.shape
    if X.offsets.size and not -n_rows <= int(X.offsets.min()) <= int(X.offsets.max()) <= n_columns:
        raise damaged_matrix(f"its offsets go outside [-{n_rows}, {n_columns}]: {short_repr(X.offsets)}")


def _check_keys(X: Any) -> None:
    """Raise an error if a key of a DOK matrix lies outside its shape."""
    if not isinstance(_part(X, "_dict"), dict):
        raise damaged_matrix("it has no keys")
    for key in X.keys():  # noqa: SIM118 (iterating a matrix does not yield its keys)
        pair = isinstance(key, tuple) and len(key) == 2 and all(isinstance(index, int | np.integer) for index in key)
        if not pair or not all(0 <= index < size for index, size in zip(key, X.shape, strict=True)):
            raise damaged_matrix(f"its key {key!r:.60} is not a position in the shape {X.shape}")


_CHECKS: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(("csr", "csc", "bsr"), _check_compressed),
    "coo": _check_coordinates,
    "lil": _check_lists,
    "dia": _check_diagonals,
    "dok": _check_keys,
}


def _check_arrays(X: Any, arrays: dict[str, tuple[int, str]]) -> None:
    """Raise an error unless the arrays of a matrix have these dimensions and kinds."""
    for name, (dimensions, kinds) in arrays.items():
        part = _part(X, name)
        if not isinstance(part, np.ndarray) or part.ndim != dimensions or part.dtype.kind not in kinds:
            of = " of integers" if kinds == "iu" else ""
            raise damaged_matrix(f"{name} is not a {('', 'one', 'two', 'three')[dimensions]}-dimensional array{of}")
        # It will be copied, and a broadcast array is larger than its memory.
        check_memory(float(part.size) * part.itemsize, f"{name} of {part.size} entries", "Use fewer entries.")


def _part(X: Any, name: str) -> Any:
    """Return an attribute of a matrix; None if it is missing or scipy fails to compute it."""
    try:
        return getattr(X, name)
    except (AttributeError, IndexError, TypeError, ValueError):
        return None


def _check_range(name: str, index: Array, size: int) -> None:
    if index.size and (index.min() < 0 or index.max() >= size):
        raise damaged_matrix(f"its {name} go outside [0, {size}): from {index.min()} to {index.max()}")


def check_sparse(X: Any) -> Any:
    """Check the arrays of a sparse matrix before scipy converts or multiplies it.

    Returns
    -------
    scipy sparse matrix or array
        X itself.

    Raises
    ------
    InvalidInput
        If an index or a pointer of X lies outside its arrays.
    """
    _check_sides(X.shape)
    check = _CHECKS.get(X.format)
    if check is not None:
        check(X)
    return X


def _check_sides(shape: Any) -> None:
    """Raise an error unless a shape is valid, and a few vectors of its rows and columns fit into memory."""
    if not isinstance(shape, tuple) or not all(isinstance(side, int | np.integer) and side >= 0 for side in shape):
        raise damaged_matrix(f"its shape is {short_repr(shape)}")
    check_shape(shape)
    n_rows, n_columns = map(int, shape)
    check_memory(
        float(BYTES_PER_SIDE) * (n_rows + n_columns),
        f"To work with {n_rows} rows and {n_columns} columns",
        "Leave out columns that are empty, or hash them into fewer (rosenblatt.TextHasher, TableHasher).",
    )


def as_csr(X: Any) -> Any:
    """Return a sparse matrix of any format as CSR; X itself if it is CSR already.

    It is checked before scipy reads it. The column indices of a matrix that was CSR already are not checked.

    Raises
    ------
    InvalidInput
        If an index or a pointer of X lies outside its arrays, or scipy cannot convert it.
    """
    check_sparse(X)
    if X.format == "csr":
        return X
    try:
        matrix = X.tocsr()
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RuntimeError) as error:
        raise _unsupported(X, error) from None
    return check_sparse(matrix)


def as_dense(X: Any) -> Any:
    """Return a sparse matrix as an array, after checking every index; anything else as it is."""
    if not sp.issparse(X):
        return X
    matrix = as_csr(X)
    _check_range("indices", matrix.indices, matrix.shape[1])
    n_rows, n_columns = matrix.shape
    check_memory(8.0 * n_rows * n_columns, f"An array of {n_rows} rows and {n_columns} columns", "Take fewer of them.")
    try:
        return matrix.toarray()
    except ValueError as error:
        raise _unsupported(X, error) from None
