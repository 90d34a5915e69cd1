"""Learning rates of columns: where their sizes differ, one for all is too long for some and too short for others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.data.numbers import is_real
from rosenblatt.data.survey import SURVEYED_ROWS, ColumnSizes
from rosenblatt.storage.registry import expect

# Times the smallest that the mean square of the largest column must have.
DIFFERENT = 16.0
# Added before rounding down, so that powers of two, and their halves, are on no border.
BORDER = 0.55
# Powers of two that a rate may be: float32 holds their products with values of any usual size.
LEAST, MOST = -60, 60


def choose_rates(sizes: ColumnSizes | None) -> list[float]:
    """Return a rate for each column, close to one over the mean square of its values that are not zero; or none.

    Rates change how fast least squares are reached, and where there are more rows than columns nothing else. Else they
    would choose among many solutions: in texts, for the words that are rare. So there are none for as many columns as
    rows that were looked at, and none where the columns are of about one size.
    """
    if sizes is None or sizes.squares.size >= min(sizes.rows, SURVEYED_ROWS):
        return []
    found = sizes.squares > 0.0
    means = sizes.squares[found] / sizes.counts[found]
    if not found.any() or means.max() <= DIFFERENT * means.min():
        return []
    power = np.empty(found.size)
    # Borders between the powers: equal values, whose mean rounding in the order of storage may change, are on none.
    power[found] = -np.floor(np.log2(means) + BORDER)
    power[~found] = np.sort(power[found])[means.size // 2]
    rates: list[float] = (2.0 ** np.clip(power, LEAST, MOST)).tolist()
    return rates


def rated_length(sizes: ColumnSizes, rates: list[float]) -> float:
    """Return the root mean square of the rows' lengths, measured with the rates of their columns."""
    return math.sqrt(float((sizes.squares * np.array(rates)).sum()) / sizes.rows)


def check_rates(rates: Any) -> None:
    """Raise a `Fault` unless rates from a file are some."""
    fits = type(rates) is list and len(rates) < SURVEYED_ROWS and all(map(_is_rate, rates))
    expect(fits, "column_rates_ are not positive numbers, one for each column")


def _is_rate(value: Any) -> bool:
    return is_real(value) and 2.0**LEAST <= value <= 2.0**MOST
