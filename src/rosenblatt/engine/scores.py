"""Scores of rows under given weights, and the errors that the weights make."""

from typing import Any

import numpy as np

from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import Csr, dot


@compiled()
def _score(rows, subset, W, b, out):
    for t in range(out.shape[0]):
        i = subset[t] if subset.size else t
        for p in range(b.size):
            out[t, p] = dot(rows, i, W, p) + b[p]


def score(rows: Any, subset: Any, planes: Any, out: Any) -> None:
    """Write the score of each row of `subset` (empty: all rows) in each problem to out (rows, problems)."""
    loop, flags = _score, planes.W.flags
    if isinstance(rows, Csr) and flags.f_contiguous and not flags.c_contiguous:
        from rosenblatt.engine.classes import score_classes as loop  # which imports Numba
    loop(rows, subset, planes.W, planes.b, out)


@compiled()
def misfits(rows, task, subset, p, planes):
    """Return the number of rows of `subset` (empty: all rows) with y f(x) <= 0 in problem p."""
    wrong = 0
    for t in range(subset.size if subset.size else task.label.size):
        i = subset[t] if subset.size else t
        sign = task.sign[task.label[i], p]
        if sign != 0 and not sign * (dot(rows, i, planes.W, p) + planes.b[p]) > 0.0:
            wrong += 1
    return wrong


@compiled()
def all_finite(W, b):
    """Return whether every weight and every bias is finite. Pass W transposed if that is its order in memory."""
    faults = 0  # counted instead of returning early: a loop without an exit is vectorised
    for p in range(b.size):
        faults += not abs(b[p]) < np.inf
    for p in range(W.shape[0]):
        for j in range(W.shape[1]):
            faults += not abs(W[p, j]) < np.inf
    return faults == 0


# Separate functions for a single problem and for one problem per class: compiling both takes a second.


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
    """Return the total weight of the misclassified rows, and of all rows. A tie is an error, and so is class -1.

    The weights are those of one problem of two classes, or of one problem per class.
    """
    if planes.b.size == 1:
        return _weigh_signs(rows, task, subset, planes)
    scores = np.empty((subset.size or task.label.size, planes.b.size), planes.W.dtype)
    score(rows, subset, planes, scores)
    return _weigh_winners(scores, task, subset)
