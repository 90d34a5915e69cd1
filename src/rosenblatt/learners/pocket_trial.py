"""The perceptron with the best weights in the pocket."""

from typing import NamedTuple

import numpy as np

from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import add, dot


class Pocket(NamedTuple):
    """The weights of the perceptron, and the best ones found so far in the pocket."""

    W: np.ndarray  # (problems, features); Fortran order where sparse rows have several problems
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,)
    best_w: np.ndarray  # (problems, features) in the same order
    best_b: np.ndarray  # (problems,)
    run: np.ndarray  # (problems,) correct trials in a row of W
    best_run: np.ndarray  # (problems,) and of the pocket
    errors: np.ndarray  # (problems,) training errors of the pocket
    settled: np.ndarray  # (problems,) whether an epoch has ended with no fewer errors, so that runs are looked at


class PocketRoom(NamedTuple):
    """Where a loop is that was cut, all zero at first, and room to work in."""

    resume: np.ndarray  # (3,) the trial, the place of the problem among the active ones, the row of a look
    errors: np.ndarray  # (1,) what the look has counted
    vector: np.ndarray  # (1, features) for weights to look at that are not side by side; else (1, 0)


@compiled()
def run_pocket_epoch(rows, task, order, subset, active, state, counts, room, most):
    """Run the perceptron with the best weights in the pocket, and a ratchet. Gallant (1990).

    Weights that were right more often in a row than those in the pocket take their place, if they also make fewer
    errors on all rows. They are looked at when their run ends; those of a problem that is not settled when the epoch
    ends, which is the caller's.

    To look at all rows takes as long as an epoch. The loop ends after `most` rows, of trials and looks together, and
    goes on when it is called again. Returns whether all trials are over.
    """
    place = room.resume
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
            left -= consider(rows, task, subset, p, state, room, left)
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
def consider(rows, task, subset, p, state, room, most):
    """Put the weights of problem p into the pocket if they belong there; return how many rows that took.

    At most `most` rows at a time, one at least: resume[2] of the room is the row to go on with, or 0 when all is done.
    """
    if state.run[p] <= state.best_run[p] or not state.settled[p]:
        return 0
    place, errors, vector = room.resume, room.errors, room.vector
    first, size = place[2], subset.size if subset.size else task.label.size
    last = min(size, first + max(most, 1))
    wrong = errors[0] if first > 0 else 0.0
    place[2] = 0
    apart = vector.shape[1] > 0
    if apart and first == 0:
        vector[0] = state.W[p]
    for t in range(first, last):
        i = subset[t] if subset.size else t
        c = task.label[i]
        sign = task.sign[c, p]
        score = (dot(rows, i, vector, 0) if apart else dot(rows, i, state.W, p)) + state.b[p]
        if sign != 0 and not sign * score > 0.0:
            wrong += task.cost[c, p] * (task.sample_weight[i] if task.sample_weight.size else 1.0)
            if wrong >= state.errors[p]:
                return t - first
    if last < size:
        place[2], errors[0] = last, wrong
        return last - first
    state.errors[p] = wrong
    state.best_run[p] = state.run[p]
    state.best_b[p] = state.b[p]
    state.best_w[p] = state.W[p]
    return last - first
