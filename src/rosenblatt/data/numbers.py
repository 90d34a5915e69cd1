"""Check the type of parameter values. NumPy's numbers count as numbers, booleans do not."""

from __future__ import annotations

from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

# Integers from here on round to 2**1024, which is too large for a float.
TOO_LARGE = (1 << 1024) - (1 << 970)


def is_real(value: Any) -> bool:
    """Return whether a value is a real number that a float can hold, not a boolean."""
    if isinstance(value, bool | np.bool_) or is_too_large(value):
        return False
    return isinstance(value, Real)


def is_too_large(value: Any) -> bool:
    """Return whether a value is an integer or a fraction too large for a float."""
    return isinstance(value, int | Fraction) and not -TOO_LARGE < value < TOO_LARGE


def is_truth(value: Any) -> bool:
    """Return whether a value is a truth value: True, False, 1 or 0, including NumPy's."""
    return isinstance(value, bool | np.bool_) or (isinstance(value, Integral) and value in (0, 1))


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer, not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
