"""From the scores of binary problems to the class that wins."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table, row_numbers
from rosenblatt.engine.rows import Hyperplanes, Task
from rosenblatt.training.multiclass import by_pairs, code
from rosenblatt.training.scores import scores

Array = npt.NDArray[Any]

# Classes up to which a product with the table of signs is faster than sums by class, which need no table.
MAX_CLASSES_BY_PRODUCT = 100


def decision(problem_scores: Array, n_classes: int, multiclass: str) -> Array:
    """Turn scores of problems into scores of classes.

    One-vs-one adds up, for each class, its signed scores against every other. With votes, each pair of classes casts
    one vote. Ties are broken by the sum of scores, scaled to at most a third of a vote. The other modes have one
    problem per class, or a single one for two classes.
    """
    if not by_pairs(multiclass) or n_classes <= 2:
        return problem_scores
    sums = _sum_by_class(problem_scores, n_classes)
    if multiclass == "ovo":
        return sums
    votes = _sum_by_class(np.where(problem_scores > 0, 1, -1).astype(problem_scores.dtype), n_classes) / 2
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


def _sum_by_class(pair_scores: Array, n_classes: int) -> Array:
    """Return for each class the sum of its scores against each other class."""
    if n_classes <= MAX_CLASSES_BY_PRODUCT:
        return np.asarray(pair_scores @ code(n_classes, "ovo").T.astype(pair_scores.dtype))
    sums = np.zeros((pair_scores.shape[0], n_classes), pair_scores.dtype)
    start = 0
    for k in range(n_classes - 1):  # the pairs of k with the classes after it are neighbours
        against = pair_scores[:, start : start + n_classes - 1 - k]
        sums[:, k] += against.sum(axis=1)
        sums[:, k + 1 :] -= against
        start += n_classes - 1 - k
    return sums


def winners(class_scores: Array) -> Array:
    """Return the number of the class with the highest score; a tie of two classes goes to the negative one."""
    if class_scores.shape[1] == 1:
        return np.asarray(class_scores[:, 0] > 0, dtype=np.intp)
    return np.asarray(class_scores.argmax(axis=1))


def elect(table: Table, subset: Array, planes: Hyperplanes, n_classes: int, multiclass: str) -> Array:
    """Return the number of the class that wins on each row of a subset."""
    return winners(decision(scores(table, planes, subset), n_classes, multiclass))


def weigh_pairs(table: Table, task: Task, order: Array, planes: Hyperplanes, multiclass: str) -> tuple[float, float]:
    """Return the weight of the rows whose class does not win against the others, and of all; no order: all rows."""
    subset = order if order.size else row_numbers(np.arange(table.shape[0]))
    label = task.label[subset]
    cost = np.append(task.class_cost, 1.0)[label] * (task.sample_weight[subset] if task.sample_weight.size else 1.0)
    elected = elect(table, subset, planes, task.sign.shape[0], multiclass)
    return float(cost[elected != label].sum()), float(cost.sum())
