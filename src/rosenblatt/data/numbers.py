"""What counts as a number in a parameter: numpy's numbers too, booleans not; and what as a truth value."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

# What is raised for a value that is not a number, or that is one which no float can hold.
NOT_A_FLOAT = (TypeError, ValueError, OverflowError)
# Integers from here on are too large for a float.
TOO_LARGE = 1 << 1024


def is_real(value: Any) -> bool:
    """Return whether a value is a real number that a float can hold, and not a boolean."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def is_too_large(value: Any) -> bool:
    """Return whether a value is an integer of so many digits that no float can hold it."""
    return isinstance(value, int) and not -TOO_LARGE < value < TOO_LARGE


def is_truth(value: Any) -> bool:
    """Return whether a value says yes or no: True or False, of NumPy's too, or the number 1 or 0."""
    return isinstance(value, bool | np.bool_) or (isinstance(value, Integral) and value in (0, 1))


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer, and not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
