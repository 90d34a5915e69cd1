"""What counts as a number in a parameter: numpy's numbers too, booleans not; and what as a truth value."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np


def is_real(value: Any) -> bool:
    """Return whether a value is a real number, and not a boolean."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_truth(value: Any) -> bool:
    """Return whether a value says yes or no: True or False, of NumPy's too, or the number 1 or 0."""
    return isinstance(value, bool | np.bool_) or (isinstance(value, Integral) and value in (0, 1))


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer, and not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
