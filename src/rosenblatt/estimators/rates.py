"""Learning rates of columns: where their sizes differ, one for all is too long for some and too short for others.

Of few columns there is a rate for each pair of them: then it does not matter, either, what they have in common.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.numbers import is_real
from rosenblatt.data.survey import SURVEYED_ROWS, ColumnSizes
from rosenblatt.storage.checks import check_array, shape_of
from rosenblatt.storage.registry import expect

Array = npt.NDArray[Any]

# Times the smallest that the mean square of the largest column must have.
DIFFERENT = 16.0
# Added before rounding down, so that powers of two, and their halves, are on no border.
BORDER = 0.55
# Powers of two that a rate may be: float32 holds their products with values of any usual size.
LEAST, MOST = -60, 60
# Added to the variances of standardised columns. Directions in which the rows hardly differ are then learned slowly, as
# with a penalty. Measured on 43 data sets, raw and scaled: none is a point of accuracy below ridge regression. With
# 0.03 one is (segment), with 0.003 another (sonar), without a matrix 15 are, by up to 15 points (satimage).
NOISE = 0.01
# A variance that is a smaller share than that of the mean square is mostly rounding.
ROUNDING = 1e-10


def choose_whitening(sizes: ColumnSizes | None, bias: float) -> tuple[Array, float]:
    """Return a matrix of rates with the centre of the rows below, and the mean square of the rows' lengths by it.

    The matrix is nearly the inverse of the covariance of the columns; without a bias, of their mean products. It is
    empty where the columns are many, or not fewer than the rows that were looked at.
    """
    none = np.zeros((0, 0)), 0.0
    if sizes is None or sizes.moments is None or not 0 < sizes.squares.size < min(sizes.rows, SURVEYED_ROWS):
        return none
    if not np.isfinite(sizes.moments).all():
        return none
    moments = sizes.moments / sizes.rows
    centre = moments[-1, :-1] * (bias > 0)
    covariance = moments[:-1, :-1] - np.outer(centre, centre)
    variance = covariance.diagonal()
    found = variance > ROUNDING * moments.diagonal()[:-1]
    if not found.any():
        return none
    # Columns that do not vary among these rows, but may among others, take the median.
    scale = np.sqrt(np.where(found, variance, np.sort(variance[found])[np.count_nonzero(found) // 2]))
    with np.errstate(all="ignore"):
        related = np.where(np.outer(found, found), covariance / np.outer(scale, scale), 0.0)
        inverse = np.linalg.inv(related + np.diag(np.where(found, NOISE, 1.0)))
        matrix = (inverse + inverse.T) / 2.0 / np.outer(scale, scale)
    if not np.isfinite(matrix).all():
        return none
    return np.vstack([matrix, centre]), float((inverse * related).sum())


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


def check_whitening(whitening: Any) -> None:
    """Raise a `Fault` unless a matrix of rates from a file is one."""
    shape = shape_of(whitening)
    features = shape[1] if len(shape) == 2 else 0
    check_array("whitening_", whitening, "d", (features + 1, features) if features else (0, 0))
    expect(np.all(whitening[:-1].diagonal() > 0.0), "whitening_ has rates that are not positive")
