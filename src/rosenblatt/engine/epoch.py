"""The loop of the lectures: see a row, score it, ask the rule for a step, move the weights, count.

`run_dense` and `run_csr` are the same loop for the two kinds of rows. Every rule of `rosenblatt.engine.rules` runs in
them, a user's own included, with a penalty and an average where there are any.

Nothing here checks bounds; `rosenblatt.data` validates each array before it arrives.
"""

from typing import NamedTuple

import numpy as np

from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import U, add_csr, add_dense, dot_csr, dot_dense, square_csr, square_dense
from rosenblatt.engine.rules import leaves_mistakes, respond

# Scale of a vector below which it is multiplied into all weights. An average, scale_sum W - lag, loses as many digits.
LEAST_SCALE = 1e-3


class Weights(NamedTuple):
    """Weight vectors: problem p scores scale[p] * W[p].x + b[p]. Every array has a row for each problem."""

    W: np.ndarray  # (problems, features); Fortran order where sparse rows have several problems
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,) trials seen
    scale: np.ndarray  # (problems,)
    owed: np.ndarray  # (problems,) truncation that every weight should have received
    paid: np.ndarray  # (problems, features) truncation it did receive; (problems, 0) without an L1 penalty
    # For the average, which is (scale_sum W - lag) / (t - skipped), and (t b - lag_b) / (t - skipped) for the bias:
    scale_sum: np.ndarray  # (problems,) scales summed over its trials
    lag: np.ndarray  # (problems, features) what updates came too late to add; (problems, 0) without an average
    lag_b: np.ndarray  # (problems,)
    skipped: np.ndarray  # (problems,) trials before those of the average


class UpdateLog(NamedTuple):
    """Where every update is written down, if there is room: which row, which problem, by how much, in which trial."""

    row: np.ndarray  # (capacity,); empty: nothing is written down
    problem: np.ndarray  # (capacity,)
    factor: np.ndarray  # (capacity,)
    trial: np.ndarray  # (capacity,) trials that the problem had seen before
    size: np.ndarray  # (1,) updates written so far; the caller provides room for every trial it asks for


def update_log(capacity):
    """Return a log with room for so many updates."""
    whole = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    return UpdateLog(*whole, np.empty(capacity), np.empty(capacity, np.int64), np.zeros(1, np.int64))


NO_LOG = update_log(0)


class Learner(NamedTuple):
    """How the weights move, beside the rule."""

    rate: float  # the learning rate, unless it falls with the trials
    strength: float = 0.0  # if positive, the rate in trial t is 1 / (strength (start + t))
    start: float = 0.0
    l2: float = 0.0  # each trial shrinks the weights by rate * l2
    l1: float = 0.0  # and truncates those that the row touches by rate * l1
    averaged: bool = False
    log: UpdateLog = NO_LOG


@compiled(error_model="numpy")
def run_dense(rule, learner, rows, task, order, active, weights, into, counts):
    """Present dense rows in `order` (empty: all of them as they are stored) to the `active` problems.

    Scores are read from `weights` and corrections written `into`: a zeroed sum for the batch perceptron, None for the
    weights themselves.
    """
    if into is None:
        into = weights
    X, source = rows.X, weights.W
    W, b, seen, scale, owed, _, scale_sum, lag, lag_b, _ = into
    for t in range(order.size if order.size else X.shape[0]):
        i = U(order[t] if order.size else t)
        c = U(task.label[i])
        norm = square_dense(X, i) + task.bias
        for a in range(active.size):
            p = U(active[a])
            sign = task.sign[c, p]
            if sign == 0:
                continue
            score = weights.scale[p] * dot_dense(X, i, source, p) + weights.b[p]
            # A rule that steps by 1 - margin then steps by target - score.
            margin = 1.0 + score - task.target[i] if task.target.size else sign * score
            importance = task.cost[c, p] * task.sample_weight[i] if task.sample_weight.size else task.cost[c, p]
            rate = rate_at(learner, seen[p] + 1)
            step, loss = respond(rule, margin, norm, rate, importance, sign)
            if learner.l2 > 0.0:
                scale[p] *= max(0.0, 1.0 - rate * learner.l2)
                if scale[p] < LEAST_SCALE:
                    fold(W, scale, scale_sum, lag, p)
            if step != 0.0:
                factor, bias = sign * step / scale[p], sign * step * task.bias
                if learner.averaged:
                    add_dense(X, i, scale_sum[p] * factor, lag, p)
                    lag_b[p] += seen[p] * bias
                add_dense(X, i, factor, W, p)
                b[p] += bias
                if learner.log.row.size:
                    write_down(learner.log, i, p, factor, seen[p])
                counts.mistakes[p] += not margin > 0.0 and not task.target.size
                counts.updates[p] += 1
                counts.loss[p] += loss
                counts.step[p] += step
            elif leaves_mistakes(rule) and not margin > 0.0 and importance > 0.0 and not task.target.size:
                counts.mistakes[p] += 1
                counts.loss[p] += loss
            if learner.l1 > 0.0:
                owed[p] += rate * learner.l1
                for j in range(X.shape[1]):
                    if X[i, j] != 0.0:
                        truncate(into, p, j)
            seen[p] += 1
            if learner.averaged:
                scale_sum[p] += scale[p]


@compiled(error_model="numpy")
def run_csr(rule, learner, rows, task, order, active, weights, into, counts):
    """Present sparse rows, as `run_dense` presents dense ones."""
    if into is None:
        into = weights
    data, indices, indptr = rows
    source = weights.W
    W, b, seen, scale, owed, _, scale_sum, lag, lag_b, _ = into
    for t in range(order.size if order.size else indptr.size - 1):
        i = U(order[t] if order.size else t)
        c = U(task.label[i])
        for a in range(active.size):
            p = U(active[a])
            sign = task.sign[c, p]
            if sign == 0:
                continue
            score = weights.scale[p] * dot_csr(data, indices, indptr, i, source, p) + weights.b[p]
            margin = 1.0 + score - task.target[i] if task.target.size else sign * score
            importance = task.cost[c, p] * task.sample_weight[i] if task.sample_weight.size else task.cost[c, p]
            rate = rate_at(learner, seen[p] + 1)
            # Here and not once per row: the product has read the entries by now, and several problems seldom come here.
            norm = square_csr(data, indptr, i) + task.bias
            step, loss = respond(rule, margin, norm, rate, importance, sign)
            if learner.l2 > 0.0:
                scale[p] *= max(0.0, 1.0 - rate * learner.l2)
                if scale[p] < LEAST_SCALE:
                    fold(W, scale, scale_sum, lag, p)
            if step != 0.0:
                factor, bias = sign * step / scale[p], sign * step * task.bias
                if learner.averaged:
                    add_csr(data, indices, indptr, i, scale_sum[p] * factor, lag, p)
                    lag_b[p] += seen[p] * bias
                add_csr(data, indices, indptr, i, factor, W, p)
                b[p] += bias
                if learner.log.row.size:
                    write_down(learner.log, i, p, factor, seen[p])
                counts.mistakes[p] += not margin > 0.0 and not task.target.size
                counts.updates[p] += 1
                counts.loss[p] += loss
                counts.step[p] += step
            elif leaves_mistakes(rule) and not margin > 0.0 and importance > 0.0 and not task.target.size:
                counts.mistakes[p] += 1
                counts.loss[p] += loss
            if learner.l1 > 0.0:
                owed[p] += rate * learner.l1
                # Only what the row touches: a weight that no row reads can pay later, and sparse stays sparse.
                for k in range(U(indptr[i]), U(indptr[i + U(1)])):
                    if data[k] != 0.0:
                        truncate(into, p, indices[k])
            seen[p] += 1
            if learner.averaged:
                scale_sum[p] += scale[p]


@compiled(forceinline=True, error_model="numpy")
def rate_at(learner, t):
    """Return the learning rate of a problem's trial t, from 1."""
    return 1.0 / (learner.strength * (learner.start + t)) if learner.strength > 0.0 else learner.rate


@compiled()
def write_down(log, i, p, factor, t):
    """Write down that vector p is moved by `factor` times row i in trial t."""
    k = log.size[0]
    log.row[k], log.problem[k], log.factor[k], log.trial[k] = i, p, factor, t
    log.size[0] = k + 1


@compiled(error_model="numpy")
def fold(W, scale, scale_sum, lag, p):
    """Multiply the scale of vector p into it; the sum over the trials, scale_sum W - lag, stays what it is."""
    # All of that sum goes into the lag. Dividing scale_sum by the scale instead would let both terms grow without end
    # under a strong penalty, and their difference lose its digits.
    for j in range(lag.shape[1]):
        lag[p, j] -= scale_sum[p] * W[p, j]
    scale_sum[p] = 0.0
    for j in range(W.shape[1]):
        W[p, j] *= scale[p]
    scale[p] = 1.0


@compiled(forceinline=True, error_model="numpy")
def truncate(weights, p, j):
    """Truncate weight j of vector p by what it still owes, but not past zero (Tsuruoka et al. 2009, cumulative)."""
    scale = weights.scale[p]
    before = scale * weights.W[p, j]
    after = before
    if before > 0.0:
        after = max(0.0, before - (weights.owed[p] + weights.paid[p, j]))
    elif before < 0.0:
        after = min(0.0, before + (weights.owed[p] - weights.paid[p, j]))
    if after != before:
        weights.paid[p, j] += after - before
        if weights.lag.shape[1]:
            weights.lag[p, j] += weights.scale_sum[p] * (after - before) / scale
        weights.W[p, j] = after / scale


@compiled(error_model="numpy")
def settle(weights):
    """Apply all pending truncation and fold in the scales, so that W alone is the model."""
    for p in range(weights.W.shape[0]):
        for j in range(weights.paid.shape[1]):
            truncate(weights, p, j)
        fold(weights.W, weights.scale, weights.scale_sum, weights.lag, p)
