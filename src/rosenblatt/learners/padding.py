"""The constant that pads each row, so that its weight is the bias."""

from __future__ import annotations

import math
from typing import Any

from rosenblatt.data.numbers import is_real
from rosenblatt.data.survey import Survey
from rosenblatt.storage.registry import expect

# Below this root mean square of the values that are not zero, a bias that moves by one outweighs the rows.
SMALL_VALUE = 0.25
# Between the powers of two, so that rows of equal values, such as 1/sqrt(32), are on no border: their sum of squares,
# rounded in the order of storage, must not decide.
ROUNDING = 0.55


def choose_padding(sizes: Survey, n_classes: int) -> float:
    """Return the constant for rows of these sizes: 1, or where the values are small, one that does not outweigh them.

    Two classes: half the length of a row. More: the size of a value, because the scores of several classes are held
    against each other, and a bias that moves far at each mistake disturbs that. A power of two scales the bias without
    rounding.
    """
    if not 0.0 < sizes.value < SMALL_VALUE:
        return 1.0
    wanted = sizes.row_length / 2 if n_classes == 2 else sizes.value
    return min(max(2.0 ** math.floor(math.log2(wanted) + ROUNDING), 1e-100), 1.0)


def check_padding(value: Any) -> None:
    """Raise a `Fault` unless a constant from a file is one."""
    fits = is_real(value) and 1e-100 <= value <= 1e100
    expect(fits, f"intercept_scaling_={value!r:.60} is not a positive number")
