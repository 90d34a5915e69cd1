"""Classes that appear while a stream runs.

A class that appears mid-stream must have the weights that it would have, had it been announced at the start. Therefore
a stream trains one more class, the *reserve class*, on every row as an example of something else. A new class takes
its weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.training.multiclass import by_pairs, coding_matrix

Array = npt.NDArray[Any]


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
