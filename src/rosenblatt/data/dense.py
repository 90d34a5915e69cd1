"""From what users have to dense rows, with NumPy alone: a prediction needs no more."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.text import short_repr

Array = npt.NDArray[Any]


# What to do about values that are not numbers.
TEXT_REMEDY = "Turn text and categories into numbers first, for example with a vectorizer or one-hot encoding."
DATE_REMEDY = "Turn dates into numbers that mean something, such as days since the first."


def real_values(values: Array, what: str) -> Array:
    """Return values as native float32 or float64."""
    refuse_kind(values.dtype, what)
    if values.dtype.kind not in "fiub":
        raise InvalidInput(f"{what} has dtype {values.dtype}, which is not numeric. {TEXT_REMEDY}")
    # float16 fits float32; every integer up to 2**53 fits float64.
    kept = np.float32 if values.dtype in (np.float16, np.float32) else np.float64
    return np.ascontiguousarray(values, dtype=kept)


def refuse_kind(dtype: Any, what: str) -> None:
    """Raise an error for complex numbers and dates, which would be read as other numbers than they are."""
    kind = getattr(dtype, "kind", "")
    if kind == "c":
        raise InvalidInput(f"Complex data not supported: {what} has dtype {dtype}. Pass its real part.")
    if kind == "V":
        raise InvalidInput(f"{what} has dtype {dtype}: records, not numbers. Pass a matrix of their columns.")
    if kind and kind in "mM":
        raise InvalidInput(f"{what} has dtype {dtype}. {DATE_REMEDY}")


def unmasked(values: Any) -> Any:
    """Return an array with NaN where values are masked, which are missing ones; anything else as it is."""
    known = "numpy.ma" in sys.modules  # else there is no such array, and to import it takes as long as a small fit
    masked = known and isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values)
    return values.astype(object).filled(np.nan) if masked else values


def readable(X: Any) -> Any:
    """Return dense rows that can be read as numbers: frames and arrays as they are, anything else as an array.

    Raises
    ------
    InvalidInput
        If X is not rows, or has values that are not numbers; a column is named where it has a name.
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        from rosenblatt.data.texts import check_frame

        check_frame(X)
        return X
    values = _as_array(X)
    if values.ndim == 0:
        raise InvalidArgument(
            f"Expected 2D array, got scalar array instead: X is {short_repr(X)}, which has no rows. Pass an array, a "
            "data frame or a sparse matrix with one row for each sample."
        )
    values = _read(values)
    check_shape(values.shape)
    refuse_kind(values.dtype, "X")
    if not values.flags.forc:  # it will be copied, and what is broadcast is larger than it is
        size = f"A copy of X, of shape {values.shape},"
        check_memory(8.0 * values.size, size, "Pass fewer rows or columns.")
    return values


def _read(values: Array) -> Array:
    """Return texts and objects as numbers; anything else as it is."""
    if values.dtype.kind not in "OUS":
        return values
    # Imported here: most rows are numbers.
    from rosenblatt.data.texts import read_values

    return read_values(values)


def _as_array(X: Any) -> Array:
    try:
        return np.asarray(unmasked(X))
    except (TypeError, ValueError) as error:
        lengths = sorted({len(row) for row in X if hasattr(row, "__len__")}) if hasattr(X, "__iter__") else []
        fault = f"its rows have from {lengths[0]} to {lengths[-1]} values" if len(lengths) > 1 else str(error)
        raise InvalidInput(
            f"X cannot be read as a matrix: {fault}. Pass rows of the same length, with a number for each feature."
        ) from None


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
    """Raise an error that names what is not finite in a row, whose values are those of all columns or of some."""
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
    values = _read(np.asarray(readable(X)))  # a frame may mix numbers and objects which can be read as numbers
    check_shape(values.shape)
    return real_values(values, "X")
