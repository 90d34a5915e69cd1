"""The perceptron with the best weights in the pocket."""

from typing import NamedTuple

import numpy as np

from rosenblatt.jit import compiled
from rosenblatt.verbs.rows import add, dot


class Pocket(NamedTuple):
    """The weights of the perceptron, and the best ones found so far in the pocket."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,)
    best_w: np.ndarray  # (problems, features)
    best_b: np.ndarray  # (problems,)
    run: np.ndarray  # (problems,) correct trials in a row of W
    best_run: np.ndarray  # (problems,) and of the pocket
    errors: np.ndarray  # (problems,) training errors of the pocket


@compiled()
def run_pocket_epoch(rows, task, order, subset, active, state, counts, place, errors, most):
    """Run the perceptron with the best weights in the pocket, and a ratchet. Gallant (1990).

    Weights that were right more often in a row than those in the pocket take their place, if they also make fewer
    errors on all rows. They are looked at when their run ends.

    To look at all rows takes as long as an epoch. The loop ends after `most` rows, of trials and looks together, and
    goes on when it is called again: `place` holds the trial, the place of the problem among the active ones, and the
    row of a look, all 0 at first; `errors` what the look has counted. Returns whether all trials are over.
    """
    trials = order.size if order.size else task.label.size
    left = most
    while place[0] < trials:
        i = order[place[0]] if order.size else place[0]
        c = task.label[i]
        while place[1] < active.size:
            p = active[place[1]]
            sign = task.sign[c, p]
            if sign == 0:
                place[1] += 1
                continue
            margin = sign * (dot(rows, i, state.W, p) + state.b[p])
            left -= 1
            if margin > 0.0:
                state.t[p] += 1
                state.run[p] += 1
                place[1] += 1
                continue
            left -= consider(rows, task, subset, p, state, place, errors, left)
            if place[2] > 0:
                return False
            state.t[p] += 1
            place[1] += 1
            step = task.cost[c, p]
            if task.sample_weight.size:
                step *= task.sample_weight[i]
            add(rows, i, sign * step, state.W, p)
            state.b[p] += sign * step * task.bias
            state.run[p] = 0
            counts.mistakes[p] += 1
            counts.updates[p] += 1
            counts.loss[p] += max(0.0, -margin)
            counts.step[p] += step
        place[0] += 1
        place[1] = 0
        if left <= 0:
            return place[0] == trials
    return True


@compiled()
def consider(rows, task, subset, p, state, place, errors, most):
    """Put the weights of problem p into the pocket if they belong there; return how many rows that took.

    At most `most` rows at a time, one at least: place[2] is the row to go on with, or 0 when all is done.
    """
    if state.run[p] <= state.best_run[p]:
        return 0
    first, size = place[2], subset.size if subset.size else task.label.size
    last = min(size, first + max(most, 1))
    wrong = errors[0] if first > 0 else 0.0
    place[2] = 0
    for t in range(first, last):
        i = subset[t] if subset.size else t
        c = task.label[i]
        sign = task.sign[c, p]
        if sign != 0 and not sign * (dot(rows, i, state.W, p) + state.b[p]) > 0.0:
            wrong += task.cost[c, p] * (task.sample_weight[i] if task.sample_weight.size else 1.0)
            if wrong >= state.errors[p]:
                return t - first
    if last < size:
        place[2], errors[0] = last, wrong
        return last - first
    state.errors[p] = wrong
    state.best_run[p] = state.run[p]
    state.best_b[p] = state.b[p]
    for j in range(state.W.shape[1]):
        state.best_w[p, j] = state.W[p, j]
    return last - first
