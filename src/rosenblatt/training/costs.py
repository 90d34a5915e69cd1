"""Costs of classes: factors of the steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.text import did_you_mean, listed, short_repr

Array = npt.NDArray[Any]


def class_costs(class_weight: Any, classes: Array, counts: Array | None = None) -> Array:
    """Return the factor of each class.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Classes that a dict does not name have factor one.
    classes : array of shape (n_classes,)
    counts : int array of shape (n_classes,), optional
        How many rows each class has, for "balanced"; None in a stream, which does not know the rows to come.
    """
    if class_weight is None:
        return np.ones(classes.size)
    if isinstance(class_weight, str):
        return _balanced(class_weight, classes, counts)
    if not isinstance(class_weight, Mapping):
        raise InvalidInput(f"class_weight={short_repr(class_weight)} is not possible. Pass a dict, 'balanced' or None.")
    unknown = [key for key in class_weight if key not in classes.tolist()]
    if unknown and counts is not None and len(class_weight) - len(unknown) < classes.size:
        raise InvalidInput(
            f"class_weight names {listed(unknown)}, which y does not have: its classes are {listed(classes)}. "
            "Use the labels as they are in y."
        )
    try:
        costs = np.array([float(class_weight.get(key, 1.0)) for key in classes.tolist()])
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"class_weight has a weight that is not a number ({error}). Weights are numbers from 0."
        ) from None
    if not (np.isfinite(costs).all() and costs.min() >= 0.0 and costs.any()):
        raise InvalidInput(
            f"class_weight={short_repr(class_weight)} has weights that are negative, not finite, or all zero. Weights "
            "are numbers from 0, one of them above it."
        )
    return costs


def _balanced(class_weight: str, classes: Array, counts: Array | None) -> Array:
    """Return factors under which each class has the same share of the rows."""
    if class_weight != "balanced":
        meant = did_you_mean(class_weight, ["balanced"])
        raise InvalidInput(
            f"class_weight={short_repr(class_weight)} is not known. Pass a dict, 'balanced' or None.{meant}"
        )
    if counts is None:
        raise InvalidInput(
            "class_weight='balanced' is not supported for partial_fit, which cannot know the classes to come. "
            "Compute the weights yourself and pass them as a dict."
        )
    return np.asarray(int(counts.sum()) / (classes.size * counts))
