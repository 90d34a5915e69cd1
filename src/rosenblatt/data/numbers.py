"""What counts as a number in a parameter: numpy's numbers too, booleans not; and what as a truth value."""

from __future__ import annotations

from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

# Integers from here on are too large for a float: they would be rounded to the next power of two.
TOO_LARGE = (1 << 1024) - (1 << 970)


def is_real(value: Any) -> bool:
    """Return whether a value is a real number that a float can hold, and not a boolean."""
    if isinstance(value, bool | np.bool_) or is_too_large(value):
        return False
    return isinstance(value, Real)


def is_too_large(value: Any) -> bool:
    """Return whether a value is an integer or a fraction so large that no float can hold it."""
    return isinstance(value, int | Fraction) and not -TOO_LARGE < value < TOO_LARGE


def is_truth(value: Any) -> bool:
    """Return whether a value says yes or no: True or False, of NumPy's too, or the number 1 or 0."""
    return isinstance(value, bool | np.bool_) or (isinstance(value, Integral) and value in (0, 1))


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer, and not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
