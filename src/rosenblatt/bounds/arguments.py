"""Checks of the arguments of the bounds."""

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.errors import InvalidInput
from rosenblatt.text import short_repr


def check_number(name: str, value: Any) -> None:
    """Raise `InvalidInput` unless a value is a single real number."""
    number = isinstance(value, Real) or getattr(value, "shape", None) == ()
    try:
        float(value if number and not isinstance(value, bool) else "not a number")
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"{name}={short_repr(value)} is not a number that a float can hold. Pass one number."
        ) from None


def check_positive(name: str, value: float) -> None:
    """Raise `InvalidInput` unless a value is finite and above zero."""
    check_number(name, value)
    if not (0 < value < math.inf):
        raise InvalidInput(f"{name}={value} is not a positive number. Pass a finite number above 0.")


def check_not_negative(name: str, value: float) -> None:
    """Raise `InvalidInput` unless a value is finite and at least zero."""
    check_number(name, value)
    if not (0 <= value < math.inf):
        raise InvalidInput(f"{name}={value} is not a finite number from 0. Pass a sum or a count, 0 or more.")


def check_count(name: str, value: int, *, least: int) -> None:
    """Raise `InvalidInput` unless a value is an integer from `least` on."""
    check_number(name, value)
    if not (least <= value < math.inf) or value != int(value):
        raise InvalidInput(f"{name}={value} is not a whole number from {least}. Pass a count of at least {least}.")


def check_possible(margin: float, largest: float, description: str) -> None:
    """Raise `InvalidInput` if a margin exceeds the largest that a separator of unit norm can have."""
    if margin > largest * (1 + 1e-9):
        raise InvalidInput(
            f"margin={margin} is above {largest}, {description}: no separator of unit norm has it. "
            "Divide the margin by the norm of the separator."
        )


def check_radius_and_margin(radius: float, margin: float) -> None:
    """Raise `InvalidInput` unless both are positive and some separator of unit norm can have the margin."""
    check_positive("radius", radius)
    check_positive("margin", margin)
    check_possible(margin, radius, "the radius")


def check_competitor(radius: float, norm: float, **loss: float) -> None:
    """Raise `InvalidInput` unless the radius is positive, and the norm and the loss of any vector are not negative."""
    check_positive("radius", radius)
    check_not_negative("norm", norm)
    for name, value in loss.items():
        check_not_negative(name, value)


def as_vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return values as a vector of finite floats, or raise `InvalidInput`."""
    try:
        vector = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{name} cannot be read as numbers ({error}). Pass one row of numbers.") from None
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise InvalidInput(f"{name} has shape {vector.shape} or values that are not finite. Pass one row of numbers.")
    return vector
