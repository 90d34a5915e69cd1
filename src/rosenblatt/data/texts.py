"""Columns of data frames, texts and objects: read as numbers, or refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.dense import TEXT_REMEDY, refuse_kind
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.text import short_repr

Array = npt.NDArray[Any]


def check_frame(X: Any) -> None:
    """Raise an error for the first column of a data frame that is not one of numbers."""
    if hasattr(X, "collect"):
        raise InvalidInput(f"X is a {type(X).__name__}, whose rows are yet to be computed. Pass X.collect().")
    for number, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        if getattr(dtype, "kind", "O") not in "fiub":
            column = X.iloc[:, number] if hasattr(X, "iloc") else X[name]
            values = np.asarray(column)
            refuse_kind(values.dtype, f"The column {short_repr(name)} of X")
            if values.dtype.kind in "OUS":
                read_values(values[:, None], [name])


def read_values(values: Array, names: Any = None) -> Array:
    """Return texts and objects as numbers, or raise an error that names the first that is none."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        where, value = _first_fault(values, names)
        kind = InvalidArgument if isinstance(error, TypeError) else InvalidInput
        detail = "" if isinstance(error, ValueError) else f" ({error})"
        raise kind(f"{where} has {short_repr(value)}, which is not a number{detail}. {TEXT_REMEDY}") from None


def _first_fault(values: Array, names: Any) -> tuple[str, Any]:
    """Return which column of X has a value that is not a number, and that value."""
    columns = values.reshape(values.shape[0], -1) if values.ndim > 1 else values[:, None]
    for number in range(columns.shape[1]):
        for value in columns[:, number].tolist():
            try:
                float(value)
            except (TypeError, ValueError, OverflowError):
                name = "X" if values.ndim == 1 else f"Column {number} of X"
                return name if names is None else f"The column {short_repr(names[number])} of X", value
    return "X", values.ravel()[0]
