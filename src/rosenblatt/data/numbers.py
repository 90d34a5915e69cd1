"""What counts as a number in a parameter: numpy's numbers too, booleans not."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

# Integers from here on are too large for a float.
TOO_LARGE = 1 << 1024


def is_real(value: Any) -> bool:
    """Return whether a value is a real number that a float can hold, and not a boolean."""
    if isinstance(value, bool | np.bool_) or is_too_large(value):
        return False
    return isinstance(value, Real)


def is_too_large(value: Any) -> bool:
    """Return whether a value is an integer of so many digits that no float can hold it."""
    return isinstance(value, int) and not -TOO_LARGE < value < TOO_LARGE


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer, and not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
