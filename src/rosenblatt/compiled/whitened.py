"""Steps along whitened rows: the loop of least mean squares with a matrix of learning rates."""

from typing import NamedTuple

import numpy as np

from rosenblatt.jit import compiled
from rosenblatt.verbs.learning import RuleInput, Weights, respond
from rosenblatt.verbs.rows import FASTMATH, ROWS_AHEAD, dot, entries, entry, request, row_count
from rosenblatt.verbs.single import is_finite_row, no_counts, one_row


class Whitening(NamedTuple):
    """What the directions of steps are made of; a row's is matrix (x - centre), and what that leaves for the bias."""

    matrix: np.ndarray  # (features, features)
    centre: np.ndarray  # (features,)
    shift: np.ndarray  # (features,) minus matrix times centre
    padding: float  # 1; 0 without a bias


class Steering(NamedTuple):
    """How the loop steps beside its rule."""

    eta: float
    averaged: bool
    stored: bool  # whether there is a direction for each row already; else there is room for one


@compiled(forceinline=True, fastmath=FASTMATH)
def _add_row(value, matrix, j, out, place):
    for k in range(matrix.shape[1]):
        out[place, k] += value * matrix[j, k]


@compiled(fastmath=FASTMATH)
def _beside_centre(centre, out, place):
    total = 0.0
    for k in range(centre.size):
        total += centre[k] * out[place, k]
    return total


@compiled(forceinline=True)
def _direct(rows, i, whitening, out, place):
    """Write the direction of row i: that of the weights, that of the bias, and the squared length of the row by it."""
    matrix, centre, shift = whitening.matrix, whitening.centre, whitening.shift
    features = centre.size
    for k in range(features):
        out[place, k] = shift[k]
    start, end = entries(rows, i)
    for m in range(start, end):
        j, value = entry(rows, i, m)
        _add_row(value, matrix, j, out, place)
    bias = whitening.padding - _beside_centre(centre, out, place)
    length = bias
    for m in range(start, end):
        j, value = entry(rows, i, m)
        length += value * out[place, j]
    out[place, features], out[place, features + 1] = bias, max(length, 0.0)


@compiled()
def direct_all(rows, whitening, out):
    """Write the directions of all rows."""
    for i in range(row_count(rows)):
        _direct(rows, i, whitening, out, i)


@compiled(forceinline=True, fastmath=FASTMATH)
def _move(factor, directions, place, W, p):
    step = W.dtype.type(factor)
    for j in range(W.shape[1]):
        W[p, j] += step * directions[place, j]


@compiled(forceinline=True, fastmath=FASTMATH)
def _move_both(factor, late, directions, place, W, lag, p):
    step = W.dtype.type(factor)
    for j in range(W.shape[1]):
        value = directions[place, j]
        W[p, j] += step * value
        lag[p, j] += late * value


@compiled()
def run_whitened_epoch(rule, how, rows, task, order, active, whitening, directions, weights, counts):
    """Present the rows in `order` (empty: all as they are stored) to the `active` problems, as `run_epoch` does.

    The weights move along the directions of the rows. Least squares of whitened rows are reached at one speed in all
    directions, whatever the units of the columns, their means and what they have in common (LMS/Newton: Widrow and
    Stearns 1985, Adaptive Signal Processing).
    """
    jumps = order.size > 0
    trials = order.size if jumps else task.label.size
    W, b, seen, scale_sum, lag, lag_b = weights.W, weights.b, weights.t, weights.scale_sum, weights.lag, weights.lag_b
    features = W.shape[1]
    for t in range(trials):
        i = order[t] if jumps else t
        if jumps:
            request(rows, order[min(t + ROWS_AHEAD, trials - 1)], order[min(t + 2 * ROWS_AHEAD, trials - 1)])
        c, place = task.label[i], i
        if not how.stored:
            place = 0
            _direct(rows, i, whitening, directions, 0)
        bias, length = directions[place, features], directions[place, features + 1]
        for a in range(active.size):
            p = active[a]
            sign = task.sign[c, p]
            if sign == 0:
                continue
            margin = sign * (dot(rows, i, W, p) + b[p])
            importance = task.cost[c, p] * task.sample_weight[i] if task.sample_weight.size else task.cost[c, p]
            step, loss = respond(rule, sign, margin, rows, i, RuleInput(how.eta, importance, 1.0, 0.0, length))
            if step != 0.0:
                factor = sign * step
                b[p] += factor * bias
                if how.averaged:  # see `rosenblatt.verbs.averages`
                    _move_both(factor, scale_sum[p] * factor, directions, place, W, lag, p)
                    lag_b[p] += seen[p] * factor * bias
                else:
                    _move(factor, directions, place, W, p)
                counts.mistakes[p] += not margin > 0.0
                counts.updates[p] += 1
                counts.loss[p] += loss
                counts.step[p] += step
            seen[p] += 1
            if how.averaged:
                scale_sum[p] += 1.0


# With all arrays as arguments: see `rosenblatt.verbs.single` for what Numba takes to unpack a structure.


@compiled()
def learn_whitened_row(
    how, known, label, sign, cost, class_cost, bias, W, b, t, scale, owed, paid, scale_sum, lag, lag_b, rows, c
):
    """Present the only row, of class c, to all problems: `run_whitened_epoch` for one trial.

    Returns the mistakes of the first `known` problems, -1 if the row is not finite, -2 if the weights overflowed.
    """
    rule, steering, whitening, room = how
    if not is_finite_row(rows):
        return -1
    weights, counts = Weights(W, b, t, scale, owed, paid, scale_sum, lag, lag_b, t), no_counts(b.size)
    (task, order), active = one_row(c, label, sign, cost, class_cost, bias, scale), np.arange(b.size)
    run_whitened_epoch(rule, steering, rows, task, order, active, whitening, room, weights, counts)
    for p in range(b.size):  # a step moves all weights
        if not abs(b[p]) < np.inf:
            return -2
        for j in range(W.shape[1]):
            if not abs(W[p, j]) < np.inf:
                return -2
    return counts.mistakes[:known].sum()
