"""Errors that given weights make."""

from typing import Any

import numpy as np

from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import dot
from rosenblatt.engine.scores import score


@compiled()
def misfits(rows, task, subset, p, planes):
    """Count the rows with y f(x) <= 0 in problem p; `subset` as the order of an epoch."""
    wrong = 0
    for t in range(subset.size if subset.size else task.label.size):
        i = subset[t] if subset.size else t
        sign = task.sign[task.label[i], p]
        if sign != 0 and not sign * (dot(rows, i, planes.W, p) + planes.b[p]) > 0.0:
            wrong += 1
    return wrong


@compiled()
def all_finite(W, b):
    """Whether every weight and every bias is finite; W may be transposed, to be read as it lies in memory."""
    faults = 0  # counted, not returned at: the loop has no way out and is vectorised
    for p in range(b.size):
        faults += not abs(b[p]) < np.inf
    for p in range(W.shape[0]):
        for j in range(W.shape[1]):
            faults += not abs(W[p, j]) < np.inf
    return faults == 0


# Two functions for one problem of two classes and for one problem per class: to compile both takes a second.


@compiled()
def _weigh_signs(rows, task, subset, planes):
    wrong, total = 0.0, 0.0
    for t in range(subset.size if subset.size else task.label.size):
        i = subset[t] if subset.size else t
        c = task.label[i]
        cost = task.class_cost[c] if c >= 0 else 1.0
        if task.sample_weight.size:
            cost *= task.sample_weight[i]
        total += cost
        if c < 0 or not task.sign[c, 0] * (dot(rows, i, planes.W, 0) + planes.b[0]) > 0.0:
            wrong += cost
    return wrong, total


@compiled()
def _weigh_winners(scores, task, subset):
    wrong, total = 0.0, 0.0
    for t in range(scores.shape[0]):
        i = subset[t] if subset.size else t
        c = task.label[i]
        cost = task.class_cost[c] if c >= 0 else 1.0
        if task.sample_weight.size:
            cost *= task.sample_weight[i]
        total += cost
        wins = c >= 0
        for k in range(scores.shape[1]):
            wins = wins and (k == c or scores[t, c] > scores[t, k])
        if not wins:
            wrong += cost
    return wrong, total


def weigh_errors(rows: Any, task: Any, subset: Any, planes: Any) -> Any:
    """Return the weight of the rows whose class does not win, and of all rows; a tie is an error, and so is class -1.

    For one problem of two classes, or one problem per class.
    """
    if planes.b.size == 1:
        return _weigh_signs(rows, task, subset, planes)
    scores = np.empty((subset.size or task.label.size, planes.b.size), planes.W.dtype)
    score(rows, subset, planes, scores)
    return _weigh_winners(scores, task, subset)
