"""Labels and weights of rows, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.dense import unmasked
from rosenblatt.data.table import ALL_ROWS, row_numbers
from rosenblatt.errors import InvalidInput
from rosenblatt.text import short_repr

Array = npt.NDArray[Any]


def check_column(y: Any, n_samples: int) -> Array:
    """Return labels or targets as an array of one value for each row, none of them missing.

    A matrix of one column is read as that column.

    Raises
    ------
    InvalidInput
        If there is not one value for each row, or one is missing, or texts are mixed with numbers.
    """
    try:
        values = np.asarray(unmasked(y))
    except ValueError as error:
        raise InvalidInput(
            f"y cannot be read as one label for each row: {error}. Pass a flat list of labels."
        ) from None
    values = values.astype(object) if values.dtype.kind == "T" else values  # texts that may be missing
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InvalidInput(
            f"y should be a 1d array, got an array of shape {values.shape} instead. Pass one label for each row."
        )
    if values.size != n_samples:
        raise InvalidInput(
            f"y has {values.size} values, X has {n_samples} rows: found input variables with inconsistent numbers of "
            "samples. Pass one label for each row."
        )
    if isinstance(y, list | tuple) and values.dtype.kind in "US" and not all(isinstance(v, str | bytes) for v in y):
        raise _of_mixed_types(y)  # NumPy would turn all of them into text
    if values.dtype.kind == "c":
        raise InvalidInput("Complex data not supported: y has complex numbers. Pass class labels, or real numbers.")
    _refuse_missing(values)
    if values.dtype.kind in "USO":
        _refuse_nul(y if isinstance(y, list | tuple) else values)
    return values


def _refuse_nul(labels: Any) -> None:
    """Raise an error for a text that ends with a NUL: an array of texts would take it for the text without."""
    ends = ("\0", b"\0")
    row = next((i for i, v in enumerate(labels) if isinstance(v, str | bytes) and v[-1:] in ends), None)
    if row is not None:
        raise InvalidInput(
            f"y has the label {labels[row]!r:.60} in row {row}, and texts that end with a NUL are not kept apart from "
            "those without. Strip it, or use another mark."
        )


def _refuse_missing(values: Array) -> None:
    """Raise an error if a label is missing: NaN, None, or the like of pandas."""
    kind = values.dtype.kind
    if kind == "O":
        missing = np.array([_is_missing(value) for value in values.tolist()], dtype=bool)
    else:
        missing = ~np.isfinite(values) if kind in "fcmM" else np.empty(0, bool)
    if missing.any():
        row = int(missing.argmax())
        found = short_repr(values[row]).replace("nan", "NaN")
        raise InvalidInput(
            f"Input y contains {'infinity' if found.endswith('inf') else found} (row {row}). Remove the rows whose "
            "label is not known."
        )


def _is_missing(value: Any) -> bool:
    # The missing values of pandas are told by the names of their types: pandas need not be there.
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _of_mixed_types(labels: Any) -> InvalidInput:
    first = labels[0]
    other = next((label for label in labels if type(label) is not type(first)), None)
    if other is None:
        return InvalidInput(f"y has labels such as {short_repr(first)}, which cannot be sorted. Use numbers or texts.")
    both = " and ".join(f"{short_repr(one)} ({type(one).__name__})" for one in (first, other))
    return InvalidInput(f"y has labels of different types, {both}. Use one type for all, such as str(label).")


def as_labels(y: Any, n_samples: int) -> tuple[Array, Array]:
    """Return the sorted classes in y, and the number of each row's class.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    n_samples : int
        How many there must be.

    Returns
    -------
    classes : array of shape (n_classes,)
    label : int32 array of shape (n_samples,)
    """
    values = check_column(y, n_samples)
    if values.dtype.kind == "f" and np.any(values != np.floor(values)):
        raise InvalidInput(
            "Unknown label type: continuous. y has values between whole numbers, such as those of a regression. "
            "Pass class labels, for example y > threshold."
        )
    if values.dtype.kind in "biuf":
        # Two numbers, the common case, need no sorting.
        low, high = values.min(), values.max()
        upper = values == high
        if low != high and (upper | (values == low)).all():
            return np.array([low, high], values.dtype), upper.astype(np.int32)
    try:
        if values.dtype.kind == "O" and values.size:
            _ = values[0] < values[0]  # a single label is sorted without a comparison
        classes, label = np.unique(values, return_inverse=True)
    except (TypeError, ValueError):
        raise _of_mixed_types(values.tolist()) from None
    return classes, label.reshape(-1).astype(np.int32)


def as_weights(sample_weight: Any, n_samples: int) -> Array:
    """Return sample weights as a checked array, empty where all are one."""
    if sample_weight is None:
        return np.empty(0)
    try:
        weight = np.asarray(unmasked(sample_weight), dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"sample_weight cannot be read as numbers ({error}). Pass one number for each row."
        ) from None
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise InvalidInput(
            f"sample_weight has shape {weight.shape}, X has {n_samples} rows. Pass one number for each row."
        )
    if not np.isfinite(weight).all() or weight.min() < 0:
        raise InvalidInput("sample_weight has values that are negative or not finite. Weights are numbers from 0.")
    if not weight.any():
        raise InvalidInput("sample_weight is zero everywhere: nothing is left to learn from. Weight some row above 0.")
    return np.ascontiguousarray(weight)


def used_rows(weight: Array) -> Array:
    """Return the rows whose weight is not zero; empty if there are no others."""
    return row_numbers(np.flatnonzero(weight)) if weight.size and not weight.all() else ALL_ROWS


def as_names(classes: Array) -> tuple[bool | int | float | str, ...]:
    """Return the labels as plain values that JSON can hold."""
    return tuple(name if isinstance(name, int | float | str) else str(name) for name in classes.tolist())
