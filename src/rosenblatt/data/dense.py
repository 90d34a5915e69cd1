"""From what users have to dense rows, with NumPy alone: a prediction needs no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]


def real_values(values: Array, what: str) -> Array:
    """Return values as native float32 or float64."""
    if values.dtype.kind == "c":
        raise InvalidInput(f"Complex data not supported: {what} has dtype {values.dtype}. Pass its real part.")
    if values.dtype.kind not in "fiub":
        raise InvalidInput(
            f"{what} has dtype {values.dtype}, which is not numeric. Turn text and categories into numbers "
            "first, for example with a vectorizer or one-hot encoding."
        )
    # float16 fits float32; every integer up to 2**53 fits float64.
    kept = np.float32 if values.dtype in (np.float16, np.float32) else np.float64
    return np.ascontiguousarray(values, dtype=kept)


def _numeric(X: Any) -> Array:
    values = np.asarray(X)
    if values.dtype.kind in "OUS":
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"X cannot be read as numbers ({error}). Turn text and categories into numbers first, for "
                "example with a vectorizer or one-hot encoding."
            ) from None
    return values


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise an error unless a shape is that of a matrix with rows and features."""
    if len(shape) != 2:
        raise InvalidInput(
            f"Expected 2D array, got {len(shape)}D array instead: X has shape {shape}. "
            "Reshape your data so that each row is one sample: X.reshape(n_samples, -1)."
        )
    for size, kind in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise InvalidInput(f"Found array with 0 {kind}(s) (shape={shape}) while a minimum of 1 is required.")


def refuse_infinite(values: Array, row: int) -> None:
    """Raise an error that names what is not finite in a row."""
    faulty = np.flatnonzero(~np.isfinite(values))
    if faulty.size == 0:
        raise InvalidInput(
            f"X has values as large as {np.abs(values).max():.3g} in row {row}, whose squared norm overflows. "
            "Scale the data, for example with StandardScaler."
        )
    name = "NaN" if np.isnan(values[faulty[0]]) else "infinity"
    raise InvalidInput(
        f"Input X contains {name} (row {row}, stored value {faulty[0]}). "
        "Remove such rows or fill them in, for example with SimpleImputer."
    )


def dense_values(X: Any) -> Array:
    """Return X as a matrix of native float32 or float64 in C order, without a copy where possible."""
    numbers = _numeric(X)
    check_shape(numbers.shape)
    return real_values(numbers, "X")


def finite_values(X: Any) -> Array:
    """Return the same; raise an error if a value is not finite."""
    values = dense_values(X)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        refuse_infinite(values[row], row)
    return values
