"""Check the labels, targets and weights of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.matrices import unmasked
from rosenblatt.data.table import ALL_ROWS, row_numbers
from rosenblatt.errors import InvalidInput
from rosenblatt.text import short_repr

Array = npt.NDArray[Any]


def check_column(y: Any, n_samples: int) -> Array:
    """Return labels or targets as an array with one value for each row and no missing values.

    A matrix with a single column counts as that column.

    Raises
    ------
    InvalidInput
        If there is not one value for each row, a value is missing, or text is mixed with numbers.
    """
    try:
        values = np.asarray(unmasked(y))
    except ValueError as error:
        raise InvalidInput(
            f"y cannot be read as one label for each row: {error}. Pass a flat list of labels."
        ) from None
    if values.dtype.kind == "T":  # NumPy's StringDType, which may hold missing values
        values = values.astype(object)
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
        raise _of_mixed_types(y)  # NumPy would turn them all into text
    if values.dtype.kind == "c":
        raise InvalidInput("Complex data not supported: y has complex numbers. Pass class labels, or real numbers.")
    _refuse_missing(values)
    if values.dtype.kind in "USO":
        _refuse_nul(y if isinstance(y, list | tuple) else values)
    return values


def _refuse_nul(labels: Any) -> None:
    """Raise an error for text that ends with NUL: NumPy arrays of text drop trailing NULs."""
    ends = ("\0", b"\0")
    row = next((i for i, v in enumerate(labels) if isinstance(v, str | bytes) and v[-1:] in ends), None)
    if row is not None:
        raise InvalidInput(
            f"y has the label {labels[row]!r:.60} in row {row}, which ends with NUL, and NumPy drops a NUL at the end. "
            "Strip it, or use another mark."
        )


def _refuse_missing(values: Array) -> None:
    """Raise an error if a label is missing: NaN, None, or a missing value of pandas."""
    kind = values.dtype.kind
    if kind == "O":
        missing = np.array([_is_missing(value) for value in values.tolist()], dtype=bool)
    else:
        missing = ~np.isfinite(values) if kind in "fcmM" else np.empty(0, bool)
    if missing.any():
        row = int(missing.argmax())
        label = short_repr(values[row]).replace("nan", "NaN")
        raise InvalidInput(
            f"Input y contains {'infinity' if label.endswith('inf') else label} (row {row}). Remove rows "
            "without a label."
        )


def _is_missing(value: Any) -> bool:
    # By the names of their types, because pandas may not be installed.
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _of_mixed_types(labels: Any) -> InvalidInput:
    first = labels[0]
    other = next((label for label in labels if type(label) is not type(first)), None)
    if other is None:
        return InvalidInput(f"y has labels such as {short_repr(first)}, which cannot be sorted. Use numbers or text.")
    both = " and ".join(f"{short_repr(one)} ({type(one).__name__})" for one in (first, other))
    return InvalidInput(f"y has labels of different types, {both}. Use one type for all, such as str(label).")


def as_labels(y: Any, n_samples: int) -> tuple[Array, Array]:
    """Return the sorted classes in y, and the index of each row's class as int32; there must be `n_samples` labels."""
    values = check_column(y, n_samples)
    if values.dtype.kind == "f" and np.any(values != np.floor(values)):
        raise InvalidInput(
            "Unknown label type: continuous. y has values between whole numbers, such as those of a regression. "
            "Pass class labels, for example y > threshold."
        )
    if values.dtype.kind in "biuf":
        # Two distinct numbers, the common case, need no sorting.
        low, high = values.min(), values.max()
        upper = values == high
        if low != high and (upper | (values == low)).all():
            return np.array([low, high], values.dtype), upper.astype(np.int32)
    try:
        if values.dtype.kind == "O" and values.size:
            _ = values[0] < values[0]  # np.unique would accept a single label that cannot be compared
        classes, label = np.unique(values, return_inverse=True)
    except (TypeError, ValueError):
        raise _of_mixed_types(values.tolist()) from None
    return classes, label.reshape(-1).astype(np.int32)


def labels_of(y: Any, n_rows: int) -> tuple[Array, Array]:
    """Return the classes, at least two, and the number of each row's class."""
    classes, label = as_labels(y, n_rows)
    check_several(classes)
    return classes, label


def check_several(classes: Array) -> None:
    """Raise an error if there is only one class."""
    if classes.size < 2:
        raise InvalidInput(
            f"The number of classes has to be greater than one; got 1 class: {short_repr(classes[0])}. "
            "Add examples of another class."
        )


def as_classes(classes: Any) -> Array:
    """Return the sorted classes in a list of labels; raise an error if they are not labels."""
    try:
        values = np.asarray(classes)
    except ValueError:
        values = np.empty((0, 0))
    if values.ndim != 1:
        raise InvalidInput(f"classes={short_repr(classes)} is not a list of labels. Pass all labels, such as [0, 1].")
    return as_labels(classes if isinstance(classes, list | tuple) else values, values.size)[0]


def as_targets(y: Any) -> Array:
    """Return the targets of a regression as finite floats."""
    values = np.asarray(y)
    if values.dtype.kind in "OUS":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInput(
                f"y cannot be read as numbers ({error}). A regression needs numbers; for classes use Adaline."
            ) from None
    target = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(target).all():
        raise InvalidInput("Input y contains NaN or infinity. Remove rows without a target.")
    return target


def as_weights(sample_weight: Any, n_samples: int) -> Array:
    """Return sample weights as a checked array; empty if there are none."""
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
        raise InvalidInput("sample_weight has values that are negative or not finite. Pass numbers from 0.")
    if not weight.any():
        raise InvalidInput(
            "sample_weight is zero everywhere: there is nothing to learn from. Give some row a weight above 0."
        )
    return np.ascontiguousarray(weight)


def used_rows(weight: Array) -> Array:
    """Return the rows whose weight is not zero; empty stands for all rows."""
    return row_numbers(np.flatnonzero(weight)) if weight.size and not weight.all() else ALL_ROWS


def as_names(classes: Array) -> tuple[bool | int | float | str, ...]:
    """Return class labels as plain Python values that JSON can represent."""
    return tuple(name if isinstance(name, int | float | str) else str(name) for name in classes.tolist())
