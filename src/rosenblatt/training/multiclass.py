"""Several classes as binary problems: the coding matrix, classes that appear later, the tasks, the class that wins."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.data.table import Table, row_numbers
from rosenblatt.engine.rows import Hyperplanes, Task
from rosenblatt.engine.scores import weigh_errors
from rosenblatt.errors import InvalidInput
from rosenblatt.text import did_you_mean, listed, short_repr
from rosenblatt.training.scores import scores

Array = npt.NDArray[Any]

MULTICLASS = ("ovr", "ovo", "ovo-vote", "joint")
# Bytes per class and problem while a task is made: its sign, its cost, and intermediate results.
BYTES_PER_SIGN = 18
# Up to so many classes a product with the coding matrix is faster than sums by class, which do not need the matrix.
MAX_CLASSES_BY_PRODUCT = 100


def by_pairs(multiclass: str) -> bool:
    """Return whether a mode has one problem for each pair of classes."""
    return multiclass.startswith("ovo")


def count_problems(n_classes: int, multiclass: str) -> int:
    """Return the number of binary problems: the columns of the `coding_matrix`."""
    if n_classes <= 2:
        return 1
    return n_classes * (n_classes - 1) // 2 if by_pairs(multiclass) else n_classes


def coding_matrix(n_classes: int, multiclass: str) -> Array:
    """Return sign[class, problem]: whether a class is positive, negative or no example in each binary problem.

    Two classes need one problem, whose positive class is the second. Otherwise ``"ovr"`` and ``"joint"`` have one
    problem per class, ``"ovo"`` and ``"ovo-vote"`` one per pair k < l with k positive and l negative.

    Returns
    -------
    int8 array of shape (n_classes, n_problems)
        With entries 1, -1 and 0.
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
    """Return the names of the problems of several classes, and the noun for one problem and for several."""
    if by_pairs(multiclass):
        return tuple(combinations(names, 2)), ("pair", "pairs")
    return names, ("class", "classes")


# ------------------------------------------------------------------------------ classes that appear while a stream runs

# A class that appears mid-stream must have the weights that it would have, had it been announced at the start.
# Therefore a stream trains one more class, the *reserve class*, on every row as an example of something else. A new
# class takes its weights.


def check_kind(new: Array, known: Array) -> None:
    """Raise an error if new classes are texts and the known ones numbers, or the other way round.

    NumPy would convert the numbers to texts, and 1 and "1" would become one class.
    """
    if new.size and known.size and _are_texts(new) != _are_texts(known):
        kinds = ("numbers", "texts")
        raise InvalidInput(
            f"y has {new[:3].tolist()!r:.60}, which are {kinds[_are_texts(new)]}, where the classes of this stream, "
            f"{known[:3].tolist()!r:.60}, are {kinds[_are_texts(known)]}. Convert y to the same kind."
        )


def _are_texts(classes: Array) -> bool:
    return classes.dtype.kind in "US" or (classes.dtype.kind == "O" and isinstance(classes[0], str))


def open_coding_matrix(n_classes: int, multiclass: str) -> Array:
    """Return the coding matrix of the known classes, with the problems of the reserve class at the end.

    Joint training has no reserve class: its classes compete, so the weights of an absent class would depend on how many
    others are absent.
    """
    known = coding_matrix(n_classes, multiclass)
    if multiclass == "joint" or n_classes == 1:
        return known
    reserve = np.eye(n_classes, dtype=np.int8) if by_pairs(multiclass) else np.full((n_classes, 1), -1, np.int8)
    return np.hstack([known, reserve])


def _unfold(n_classes: int, multiclass: str) -> Array:
    """Return the matrix from the stored vectors to one per class, or pair, of the known classes and the reserve."""
    if n_classes == 1:
        return np.ones((1, 1), np.int8) if by_pairs(multiclass) else np.array([[1], [-1]], np.int8)
    if not by_pairs(multiclass):
        full = np.eye(n_classes + 1, dtype=np.int8)
        full = full if n_classes > 2 else np.array([[-1, 0], [1, 0], [0, 1]], np.int8)
        return full[:, :-1] if multiclass == "joint" else full
    first, second = np.triu_indices(n_classes + 1, 1)
    pairs = n_classes * (n_classes - 1) // 2
    full = np.zeros((first.size, pairs + n_classes), np.int8)
    among = second < n_classes
    full[np.flatnonzero(among), np.arange(pairs)] = 1 if n_classes > 2 else -1
    full[np.flatnonzero(~among), pairs + first[~among]] = 1
    return full


def _pairs(n: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(n) for b in range(a + 1, n)]


def growth(known: list[int], n_classes: int, multiclass: str) -> Array:
    """Return the matrix that turns the stored vectors of the known classes into those of more classes.

    Parameters
    ----------
    known : list of int
        The places of the classes known so far among the new ones, ascending.
    n_classes : int
        How many there are now.

    Returns
    -------
    int8 array of shape (new problems, old problems), entries -1, 0, 1
    """
    old = _unfold(len(known), multiclass)
    reserve = len(known)
    before = [known.index(c) if c in known else reserve for c in range(n_classes)] + [reserve]
    if by_pairs(multiclass):
        return _pair_growth(old, before, reserve, n_classes)
    full = old[before] if multiclass == "ovr" or reserve == 1 else np.vstack([old, 0 * old[:1]])[before]
    if multiclass == "joint":
        full = full[:-1]
    return full[1:] if n_classes == 2 else full


def _pair_growth(old: Array, before: list[int], reserve: int, n_classes: int) -> Array:
    """Return the growth of one-vs-one, where `before` is what each class, and the reserve, was so far."""
    place = {pair: row for row, pair in enumerate(_pairs(reserve + 1))}
    pairs = _pairs(n_classes + 1)
    full = np.zeros((len(pairs), old.shape[1]), np.int8)
    for row, (a, b) in enumerate(pairs):
        k, m = before[a], before[b]
        if k != m:  # else both are new, and nothing is known of how they differ
            full[row] = old[place[k, m]] if k < m else -old[place[m, k]]
    among = np.array([b < n_classes for _, b in pairs])
    stored = np.vstack([full[among], full[~among]])
    if n_classes == 2:
        stored[0] *= -1
    return stored


# --------------------------------------------------------------------------------------------------------------- tasks


def is_joint(sign: Array, multiclass: str) -> bool:
    """Return whether all classes are learned at once, rather than problem by problem."""
    return multiclass == "joint" and sign.shape[1] > 1


def make_task(
    label: Array, sign: Array, multiclass: str, *, class_cost: Array | None = None, weight: Array, bias: float
) -> Task:
    """Return the task of classification: the sign and the cost of each row in each problem.

    As in scikit-learn, one-vs-all weights the class that a problem looks for, and not the rest.
    `class_cost` is the factor of the steps for each class, one by default; the others are as in `Task`.
    """
    if class_cost is None:
        class_cost = np.ones(sign.shape[0])
    own = sign > 0 if multiclass == "ovr" and sign.shape[0] > 2 else sign != 0
    cost = np.where(own, class_cost[:, None], 1.0)
    return Task(label, sign, cost, class_cost, weight, np.empty(0), bias)


def regression_task(target: Array, weight: Array, bias: float) -> Task:
    """Return the task of a regression, whose targets are numbers."""
    one = np.ones((1, 1))
    return Task(np.zeros(target.size, np.int32), one.astype(np.int8), one, one[0], weight, target, bias)


def class_costs(class_weight: Any, classes: Array, counts: Array | None = None) -> Array:
    """Return the factor of the steps for each class.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        A class that a dict does not name has factor one.
    counts : int array of shape (n_classes,), optional
        Rows of each class, for "balanced"; None in a stream, which does not know the rows to come.
    """
    if class_weight is None:
        return np.ones(classes.size)
    if isinstance(class_weight, str):
        return _balanced(class_weight, classes, counts)
    if not isinstance(class_weight, Mapping):
        raise InvalidInput(f"class_weight={short_repr(class_weight)} is invalid. Pass a dict, 'balanced' or None.")
    unknown = [key for key in class_weight if key not in classes.tolist()]
    if unknown and counts is not None and len(class_weight) - len(unknown) < classes.size:
        raise InvalidInput(
            f"class_weight names {listed(unknown)}, which y does not have: its classes are {listed(classes)}. "
            "Use the labels as they are in y."
        )
    try:
        costs = np.array([float(class_weight.get(key, 1.0)) for key in classes.tolist()])
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"class_weight has a weight that is not a number ({error}). Weights are numbers from 0."
        ) from None
    if not (np.isfinite(costs).all() and costs.min() >= 0.0 and costs.any()):
        raise InvalidInput(
            f"class_weight={short_repr(class_weight)} has weights that are negative, not finite, or all zero. Weights "
            "are numbers from 0, one of them above it."
        )
    return costs


def _balanced(class_weight: str, classes: Array, counts: Array | None) -> Array:
    """Return factors that give each class the same share of the rows."""
    if class_weight != "balanced":
        meant = did_you_mean(class_weight, ["balanced"])
        raise InvalidInput(
            f"class_weight={short_repr(class_weight)} is not known. Pass a dict, 'balanced' or None.{meant}"
        )
    if counts is None:
        raise InvalidInput(
            "class_weight='balanced' is not supported for partial_fit, which cannot know the classes to come. "
            "Compute the weights yourself and pass them as a dict."
        )
    return np.asarray(int(counts.sum()) / (classes.size * counts))


# ----------------------------------------------------------------------------------------------------------- decisions


def decision(problem_scores: Array, n_classes: int, multiclass: str) -> Array:
    """Return the scores of the classes, from those of the problems.

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
        return np.asarray(pair_scores @ coding_matrix(n_classes, "ovo").T.astype(pair_scores.dtype))
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


def weigh_rows(table: Table, task: Task, order: Array, planes: Hyperplanes, multiclass: str) -> tuple[float, float]:
    """Return the weight of the misclassified rows, and of all rows; an empty order means every row."""
    if not by_pairs(multiclass) or planes.b.size == 1:
        wrong, total = weigh_errors(table.rows, task, order, planes)
        return float(wrong), float(total)
    subset = order if order.size else row_numbers(np.arange(table.shape[0]))
    label = task.label[subset]
    cost = np.append(task.class_cost, 1.0)[label] * (task.sample_weight[subset] if task.sample_weight.size else 1.0)
    elected = elect(table, subset, planes, task.sign.shape[0], multiclass)
    return float(cost[elected != label].sum()), float(cost.sum())
