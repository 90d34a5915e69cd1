"""Linear models: weight vectors, the classes they speak of, and the scores they give."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.epochs import Dense, Model, score
from rosenblatt.data.table import Table
from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]

EVERY_ROW = np.empty(0, np.int32)
MULTICLASS = ("ovr", "ovo", "ovo-vote", "joint")


def by_pairs(multiclass: str) -> bool:
    """Whether a mode has a problem for each pair of classes."""
    return multiclass.startswith("ovo")


def count_problems(n_classes: int, multiclass: str) -> int:
    """Give the number of binary problems that a multiclass task is turned into: the columns of its `code`."""
    if n_classes <= 2:
        return 1
    return n_classes * (n_classes - 1) // 2 if by_pairs(multiclass) else n_classes


def code(n_classes: int, multiclass: str) -> Array:
    """Give the table sign[class, problem] that turns a multiclass task into binary problems.

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
    if multiclass not in MULTICLASS:
        raise InvalidInput(f"multiclass={multiclass!r} is not known. Choose one of {', '.join(MULTICLASS)}.")
    if n_classes == 1:
        return np.ones((1, 1), np.int8)
    if n_classes == 2:
        return np.array([[-1], [1]], np.int8)
    if not by_pairs(multiclass):
        return (2 * np.eye(n_classes, dtype=np.int8) - 1).astype(np.int8)
    first, second = np.triu_indices(n_classes, 1)
    sign = np.zeros((n_classes, first.size), np.int8)
    sign[first, np.arange(first.size)] = 1
    sign[second, np.arange(first.size)] = -1
    return sign


def as_model(W: Array, b: Array) -> Model:
    """Give weights and biases as the kernels take them."""
    return Model(W, b, np.ones(b.size))


def copy_state(source: Any, target: Any = None, part: slice = slice(None)) -> Any:
    """Copy the rows of `part` of every array of a state, into `target` or into new arrays."""
    if target is None:
        return type(source)(*(array[part].copy() for array in source))
    for given, kept in zip(source, target, strict=True):
        kept[part] = given[part]
    return target


def check_start(init: Any, n_problems: int, n_features: int) -> tuple[Array, Array]:
    """Give an initial (w0, b0) as arrays for every problem, or say what is wrong with it."""
    wanted = (n_problems, n_features)
    try:
        w0, b0 = (np.asarray(part, dtype=np.float64) for part in init)
        if w0.shape not in (wanted, wanted[1:]):
            raise ValueError(f"w0 has shape {w0.shape}")
        W0, b0 = np.broadcast_to(w0, wanted), np.broadcast_to(b0, wanted[:1])
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"init is not a pair (w0, b0) with w0 of shape {wanted} and b0 of shape {wanted[:1]}: {error}."
        ) from None
    if not (np.isfinite(W0).all() and np.isfinite(b0).all()):
        raise InvalidInput("init has values that are not finite. Start from finite weights.")
    return W0, b0


def scores(table: Table, model: Model, index: Array = EVERY_ROW) -> Array:
    """Give the score W.x + b of each row under each problem.

    Parameters
    ----------
    table : Table
    model : Model
    index : int array, default all rows

    Returns
    -------
    array of shape (n_rows, n_problems)
    """
    if isinstance(table.rows, Dense) and not index.size:
        return np.asarray(table.rows.X @ model.W.T + model.b)
    out = np.empty((index.size or table.shape[0], model.b.size), model.W.dtype)
    score(table.rows, index, model, out)
    return out


def decision(problem_scores: Array, sign: Array, multiclass: str) -> Array:
    """Turn scores of problems into scores of classes.

    One-vs-one adds up, for each class, its signed scores against every other. With votes each pair counts one, and the
    sum of the scores, squeezed into a third of a vote, decides between equals. The other modes have one problem per
    class, or a single one for two classes.
    """
    if not by_pairs(multiclass) or sign.shape[0] <= 2:
        return problem_scores
    signs = sign.T.astype(problem_scores.dtype)
    sums = np.asarray(problem_scores @ signs)
    if multiclass == "ovo":
        return sums
    votes = np.where(problem_scores > 0, 1, -1).astype(problem_scores.dtype) @ signs / 2
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


def winners(class_scores: Array) -> Array:
    """Give the number of the class that each row of scores elects; a tie of two classes elects the negative one."""
    if class_scores.shape[1] == 1:
        return np.asarray(class_scores[:, 0] > 0, dtype=np.intp)
    return np.asarray(class_scores.argmax(axis=1))
