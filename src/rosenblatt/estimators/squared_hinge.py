"""The least squared hinge loss of a few columns, by Newton's method."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dposv

from rosenblatt.exact.clock import Clock

Array = npt.NDArray[Any]

# Penalty of the squared weights. The second one is for each row, and keeps columns that depend on others from dividing
# by zero.
PENALTY, PENALTY_PER_ROW = 1e-6, 1e-10
# Steps at most: five are usual. The gain that a step must promise, as a share of the loss.
MAX_STEPS, LEAST_GAIN = 50, 1e-5
# The slope that the loss may have at the end of a step, as a share of that at its start; lengths to try.
STEEP, MAX_TRIALS = 0.1, 20


def least_squared_hinge(Z: Array, side: Array, clock: Clock) -> Array:
    """Minimise the sum of max(0, 1 - side Z v)^2 with hardly any penalty.

    The loss is a square of the rows within the margin, whose least squares solution is Newton's step (Keerthi and
    DeCoste 2005, A modified finite Newton method for fast solution of large scale linear SVMs). Out of time it returns
    what it has.

    Parameters
    ----------
    Z : array of shape (rows, width)
        Rows of columns of about one size, the constant of the bias among them.
    side : array of shape (rows,)
        +1 or -1.
    clock : Clock
    """
    rows, width = Z.shape
    v, margins, penalty = np.zeros(width), np.zeros(rows), PENALTY + PENALTY_PER_ROW * rows
    before, curvature = np.zeros(rows, bool), np.diag(np.full(width, penalty))
    for _ in range(MAX_STEPS):
        lacking = np.maximum(1.0 - margins, 0.0)
        within = lacking > 0.0
        entered, left = Z[within & ~before], Z[before & ~within]  # few, after the first steps
        curvature += entered.T @ entered - left.T @ left
        before = within
        slope = penalty * v - Z.T @ (lacking * side)
        step = -dposv(curvature, slope)[1]  # without the checks, which take longer
        gains, promised = side * (Z @ step), -float(slope @ step)
        length = _best_length(margins, gains, penalty * float(v @ step), penalty * float(step @ step), promised)
        v, margins = v + length * step, margins + length * gains
        if promised <= LEAST_GAIN * float(lacking @ lacking) or clock.left <= 0.0:
            break
    return v


def _best_length(margins: Array, gains: Array, first: float, second: float, promised: float) -> float:
    """Return about the length of a step, in units of Newton's, at which the loss is least along it.

    The slope rises with the length, in straight pieces: Newton's method goes from one to the next, and halves the
    interval that it must be in where it would leave it.
    """
    low, high, length = 0.0, np.inf, 1.0
    for _ in range(MAX_TRIALS):
        lacking = 1.0 - margins - length * gains
        within = lacking > 0.0
        gained = gains[within]
        slope = first + length * second - float(lacking[within] @ gained)
        if abs(slope) <= STEEP * promised:
            break
        low, high = (length, high) if slope < 0.0 else (low, length)
        length -= slope / (second + float(gained @ gained))
        if not low < length < high:
            length = (low + high) / 2.0 if high < np.inf else 2.0 * low
    return length
