"""What counts as a number in a parameter: numpy's numbers too, booleans not."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np


def is_real(value: Any) -> bool:
    """Return whether a value is a real number, and not a boolean."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer, and not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
