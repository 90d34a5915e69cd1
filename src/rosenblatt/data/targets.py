"""Targets of a regression, and the classes that a stream announces, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels
from rosenblatt.errors import InvalidInput
from rosenblatt.text import short_repr

Array = npt.NDArray[Any]


def as_classes(classes: Any) -> Array:
    """Return classes that are announced, sorted, each once; raise an error if they are not labels."""
    try:
        values = np.asarray(classes)
    except ValueError:
        values = np.empty((0, 0))
    if values.ndim != 1:
        raise InvalidInput(f"classes={short_repr(classes)} is not a list of labels. Pass all labels, such as [0, 1].")
    return as_labels(classes if isinstance(classes, list | tuple) else values, values.size)[0]


def as_targets(y: Any) -> Array:
    """Return the targets of a regression as checked numbers."""
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
        raise InvalidInput("Input y contains NaN or infinity. Remove the rows whose target is not known.")
    return target
