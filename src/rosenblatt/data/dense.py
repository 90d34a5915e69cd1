"""Convert arrays, data frames and nested lists to dense rows, with NumPy alone."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.text import short_repr

Array = npt.NDArray[Any]

TEXT_REMEDY = "Turn text and categories into numbers first, for example with a vectorizer or one-hot encoding."
DATE_REMEDY = "Turn dates into numbers, such as days since the first."


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
