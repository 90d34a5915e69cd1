"""Several classes as binary problems: codes and tasks."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.errors import InvalidInput
from rosenblatt.text import did_you_mean, short_repr

if TYPE_CHECKING:
    from rosenblatt.engine.rows import Task

Array = npt.NDArray[Any]

MULTICLASS = ("ovr", "ovo", "ovo-vote", "joint")
# Bytes for each class in each problem while a task is made: its sign, its cost, and what they are computed from.
BYTES_PER_SIGN = 18


def by_pairs(multiclass: str) -> bool:
    """Whether a mode has a problem for each pair of classes."""
    return multiclass.startswith("ovo")


def count_problems(n_classes: int, multiclass: str) -> int:
    """Return the number of binary problems that a multiclass task is turned into: the columns of its `code`."""
    if n_classes <= 2:
        return 1
    return n_classes * (n_classes - 1) // 2 if by_pairs(multiclass) else n_classes


def code(n_classes: int, multiclass: str) -> Array:
    """Return the table sign[class, problem] that turns a multiclass task into binary problems.

    Two classes need one problem, whose positive class is the second. Otherwise ``"ovr"`` and ``"joint"`` have one
    problem per class, ``"ovo"`` and ``"ovo-vote"`` one per pair k < l with k positive and l negative.

    Parameters
    ----------
    n_classes : int
    multiclass : {"ovr", "ovo", "ovo-vote", "joint"}

    Returns
    -------
    int8 array of shape (n_classes, n_problems)
    """
    if not isinstance(multiclass, str) or multiclass not in MULTICLASS:
        meant = did_you_mean(multiclass, MULTICLASS)
        raise InvalidInput(
            f"multiclass={short_repr(multiclass)} is not known. Choose one of {', '.join(MULTICLASS)}.{meant}"
        )
    if n_classes == 1:
        return np.ones((1, 1), np.int8)
    if n_classes == 2:
        return np.array([[-1], [1]], np.int8)
    problems = count_problems(n_classes, multiclass)
    check_memory(
        float(BYTES_PER_SIGN) * n_classes * problems,
        f"To learn {n_classes} classes as {problems} problems",
        'With multiclass="ovr" there are fewer problems. Or merge rare classes.'
        if by_pairs(multiclass)
        else "Merge rare classes, or learn groups of them apart.",
    )
    if not by_pairs(multiclass):
        return (2 * np.eye(n_classes, dtype=np.int8) - 1).astype(np.int8)
    first, second = np.triu_indices(n_classes, 1)
    sign = np.zeros((n_classes, first.size), np.int8)
    sign[first, np.arange(first.size)] = 1
    sign[second, np.arange(first.size)] = -1
    return sign


def part_names(names: tuple[Any, ...], multiclass: str) -> tuple[tuple[Any, ...], tuple[str, str]]:
    """Return what the problems of several classes are called, and what a problem and several of them are."""
    if by_pairs(multiclass):
        return tuple(combinations(names, 2)), ("pair", "pairs")
    return names, ("class", "classes")


def is_joint(sign: Array, multiclass: str) -> bool:
    """Whether all classes are learned at once, rather than problem by problem."""
    return multiclass == "joint" and sign.shape[1] > 1


def make_task(
    label: Array, sign: Array, multiclass: str, *, class_cost: Array | None = None, weight: Array, bias: float
) -> Task:
    """Return what each row teaches each problem.

    As in scikit-learn, one-vs-all weights the class that a problem looks for, and not the rest.

    Parameters
    ----------
    label, sign, weight, bias
        As in `rosenblatt.engine.rows.Task`.
    multiclass : {"ovr", "ovo", "ovo-vote", "joint"}
    class_cost : array of shape (n_classes,), optional
        Factor of the steps for each class; one by default.
    """
    # Imported here: a model that only predicts needs no Numba.
    from rosenblatt.engine.rows import Task

    if class_cost is None:
        class_cost = np.ones(sign.shape[0])
    own = sign > 0 if multiclass == "ovr" and sign.shape[0] > 2 else sign != 0
    cost = np.where(own, class_cost[:, None], 1.0)
    return Task(label, sign, cost, class_cost, weight, np.empty(0), bias)
