"""Labels, weights and targets of rows, checked once."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import ALL_ROWS, row_numbers
from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]


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
    values = _uniform(y)
    if values.ndim != 1 or values.size != n_samples:
        raise InvalidInput(
            f"y has shape {values.shape}, X has {n_samples} rows: found input variables with inconsistent numbers of "
            "samples. Pass one label for each row."
        )
    if values.dtype.kind in "fc" and not np.isfinite(values).all():
        raise InvalidInput("Input y contains NaN or infinity. Remove the rows whose label is not known.")
    if values.dtype.kind == "c" or (values.dtype.kind == "f" and np.any(values != np.floor(values))):
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
    classes, label = np.unique(values, return_inverse=True)
    return classes, label.reshape(-1).astype(np.int32)


def _uniform(y: Any) -> Array:
    """Return y as an array whose values can be compared with one another; raise InvalidInput if they cannot."""
    listed = isinstance(y, list | tuple)
    values = np.asarray(y)
    if values.ndim != 1 or values.dtype.kind not in ("OUSV" if listed else "O"):
        return values
    kinds = {_kind(value) for value in (y if listed else values.tolist())}
    missing = kinds & {"None", "NaN"}
    if missing:
        raise InvalidInput(f"y has {missing.pop()} among its labels. Remove the rows whose label is not known.")
    if len(kinds) > 1:
        raise InvalidInput(f"y has labels of different types: {' and '.join(sorted(kinds))}. Convert them to one type.")
    return values


def _kind(value: Any) -> str:
    """Name the type of a label; numbers of all types compare with one another."""
    if value is None:
        return "None"
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value)):
        return "NaN"
    if isinstance(value, str | bytes):
        return type(value).__name__.removesuffix("_")
    return "number" if isinstance(value, Number | np.generic) else type(value).__name__


def as_column(y: Any) -> Any:
    """Return one label for each row where y is a table of one column, as formulas make them; y itself otherwise."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return np.asarray(y).reshape(-1) if len(shape) == 2 and shape[1] == 1 else y


def as_weights(sample_weight: Any, n_samples: int) -> Array:
    """Return sample weights as a checked array, empty where all are one."""
    if sample_weight is None:
        return np.empty(0)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise InvalidInput(
            f"sample_weight has shape {weight.shape}; it must be one number for each of {n_samples} rows."
        )
    if not np.isfinite(weight).all() or weight.min() < 0:
        raise InvalidInput("sample_weight has values that are negative or not finite. Weights are numbers from 0.")
    if not weight.any():
        raise InvalidInput("sample_weight is zero everywhere: there is nothing to learn from.")
    return np.ascontiguousarray(weight)


def as_targets(y: Any) -> Array:
    """Return the targets of a regression as checked numbers."""
    values = np.asarray(y)
    if values.dtype.kind in "OUS":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"y cannot be read as numbers ({error}). A regression needs numbers.") from None
    target = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(target).all():
        raise InvalidInput("Input y contains NaN or infinity. Remove the rows whose target is not known.")
    return target


def used_rows(weight: Array) -> Array:
    """Return the rows whose weight is not zero; empty if there are no others."""
    return row_numbers(np.flatnonzero(weight)) if weight.size and not weight.all() else ALL_ROWS


def as_names(classes: Array) -> tuple[bool | int | float | str, ...]:
    """Return the labels as plain values that JSON can hold."""
    return tuple(name if isinstance(name, int | float | str) else str(name) for name in classes.tolist())
