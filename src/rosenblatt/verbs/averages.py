"""What is kept of earlier weights: their average, or every update."""

from typing import NamedTuple

import numpy as np

from rosenblatt.verbs.learning import LAG, NOTE, PASS, lag_never, pass_none
from rosenblatt.verbs.rows import BY_FEATURE, add, by_layout


class Average(NamedTuple):
    """The average of the weights after each trial can be told at any time, and training goes on undisturbed."""

    none: float = 0.0


class UpdateLog(NamedTuple):
    """Every update is written down: which row, which problem, by how much, in which trial."""

    row: np.ndarray  # (capacity,)
    problem: np.ndarray  # (capacity,)
    factor: np.ndarray  # (capacity,)
    trial: np.ndarray  # (capacity,) trials that the problem had seen before
    size: np.ndarray  # (1,) updates written so far; the caller provides room for every trial it asks for


def _note_mean(averaging, i, factor, bias, lag_b, t, p):
    # An update after t trials is missing from t of the vectors that the average adds up; `shift_lag` does the weights.
    lag_b[p] += t[p] * bias


def _note_log(averaging, i, factor, bias, lag_b, t, p):
    k = averaging.size[0]
    averaging.row[k] = i
    averaging.problem[k] = p
    averaging.factor[k] = factor
    averaging.trial[k] = t[p]
    averaging.size[0] = k + 1


def _pass_mean(averaging, scale_sum, scale, p):
    scale_sum[p] += scale[p]


def _lag_later(averaging, rows, i, t, factor, lag, p, steps):
    steps[min(t + 1, steps.shape[0] - 1), p] = factor


def _lag_now(averaging, rows, i, t, factor, lag, p, steps):
    add(rows, i, factor, lag, p)


BY_FEATURE["lag"] = _lag_later
NOTE |= {Average: _note_mean, UpdateLog: _note_log}
PASS |= {Average: _pass_mean, UpdateLog: pass_none}
LAG |= {Average: by_layout("lag", _lag_now), UpdateLog: lambda rows, lag: lag_never}
