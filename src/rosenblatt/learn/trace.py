"""The online protocol, trial by trial, and classes that appear while it runs.

`trace` is the lectures' algorithm in plain Python, slow and complete: it yields what the compiled engine only
counts. The rest lets a stream of rows bring new classes: one more class, the stranger, is trained along with those
known, on every row as an example of something else. A class that appears takes the stranger's weights, which are
exactly those it would have, had it been announced at the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.epochs import Csr, Dense
from rosenblatt.data.table import as_labels, as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.model import EVERY_ROW, by_pairs, check_start, code
from rosenblatt.learn.order import Order
from rosenblatt.learn.trainer import Plan

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Trial:
    """One trial: a row is seen, scored, its label revealed, a loss incurred, the weights corrected.

    Attributes
    ----------
    t : int
        The trial, from 1.
    epoch : int
        The epoch it belongs to, from 1.
    row : int
        The row that was presented.
    label : int
        Its sign, +1 or -1.
    score : float
        f(x) = w.x + b before the update.
    loss : float
        max(0, -y f(x)).
    mistake : bool
        Whether y f(x) <= 0.
    w, b : array, float
        The weights after the trial.
    mistakes : int
        Mistakes up to and including this trial.
    total_loss : float
        Loss up to and including this trial.
    """

    t: int
    epoch: int
    row: int
    label: int
    score: float
    loss: float
    mistake: bool
    w: Array
    b: float
    mistakes: int
    total_loss: float


def trace(
    X: Any,
    y: Any,
    *,
    epochs: int = 1000,
    order: str = "cyclic",
    schedule: Any = "constant",
    eta: float = 1.0,
    fit_intercept: bool = True,
    init: Any = None,
    seed: int = 0,
) -> Iterator[Trial]:
    """Run the perceptron trial by trial and yield each trial, until an epoch passes without a mistake.

    Same semantics, order and, on integers, same weights as `train`; plain Python, for looking and teaching.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes, of which the larger is positive.
    epochs : int
        Most epochs.
    order : {"cyclic", "shuffled", "random"}
    schedule : str or callable
    eta : float
    fit_intercept : bool
    init : (w0, b0) or None
    seed : int

    Yields
    ------
    Trial

    Examples
    --------
    >>> from rosenblatt import trace
    >>> for trial in trace([[0, 0], [1, 1]], [-1, 1], epochs=1):
    ...     print(trial.t, trial.row, trial.score, trial.mistake, trial.w, trial.b)
    1 0 0.0 True [0. 0.] -1.0
    2 1 -1.0 True [1. 1.] 0.0
    """
    plan = Plan(order=order, schedule=schedule, eta=eta, epochs=epochs, seed=seed)
    table = as_table(X)
    classes, label = as_labels(y, table.shape[0])
    if classes.size != 2:
        raise InvalidInput(f"y has {classes.size} classes; a trace follows one perceptron, which tells two apart.")
    rows = table.rows
    sign = 2 * label - 1
    w, b = np.zeros(table.shape[1], table.dtype), 0.0
    if init is not None:
        W0, b0 = check_start(init, 1, table.shape[1])
        w, b = (W0[0] / eta).astype(table.dtype), float(b0[0]) / eta
    orders = Order(order, label, EVERY_ROW, seed)
    t = mistakes = 0
    total = 0.0
    for epoch in range(1, epochs + 1):
        clean = True
        drawn = orders.draw()
        for i in drawn if drawn.size else range(table.shape[0]):
            t += 1
            columns, x = _entries(rows, i)
            score = float(w[columns] @ x) + b
            mistake = sign[i] * score <= 0
            loss = eta * max(0.0, -sign[i] * score)
            if mistake:
                clean = False
                w[columns] += plan.rate(epoch) * sign[i] * x
                b += plan.rate(epoch) * sign[i] * fit_intercept
            mistakes += int(mistake)
            total += loss
            yield Trial(
                t, epoch, int(i), int(sign[i]), eta * score, loss, bool(mistake), eta * w, eta * b, mistakes, total
            )
        if clean and order != "random":
            return


def _entries(rows: Dense | Csr, i: int) -> tuple[Array, Array]:
    """Give the columns and the values of a row."""
    if isinstance(rows, Dense):
        return np.arange(rows.X.shape[1]), rows.X[i]
    stored = slice(rows.indptr[i], rows.indptr[i + 1])
    return rows.indices[stored], rows.data[stored]


def open_code(n_classes: int, multiclass: str) -> Array:
    """Give the table sign[class, problem] of the known classes, with the problems of the stranger at the end.

    Joint training has no stranger: its classes compete, and how a class that is not there would have fared
    depends on how many more are not.
    """
    known = code(n_classes, multiclass)
    if multiclass == "joint" or n_classes == 1:
        return known
    stranger = np.eye(n_classes, dtype=np.int8) if by_pairs(multiclass) else np.full((n_classes, 1), -1, np.int8)
    return np.hstack([known, stranger])


def _unfold(n_classes: int, multiclass: str) -> Array:
    """Give the matrix from the stored vectors to one for each class, or pair, of the known classes and the stranger."""
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
    """Give the matrix that turns the stored vectors of the known classes into those of more classes.

    Parameters
    ----------
    known : list of int
        The places of the classes known so far among the new ones, ascending.
    n_classes : int
        How many there are now.
    multiclass : {"ovr", "ovo", "ovo-vote", "joint"}

    Returns
    -------
    int8 array of shape (new problems, old problems), entries -1, 0, 1
    """
    old = _unfold(len(known), multiclass)
    stranger = len(known)
    before = [known.index(c) if c in known else stranger for c in range(n_classes)] + [stranger]
    fresh = [c not in known for c in range(n_classes)] + [True]
    if not by_pairs(multiclass):
        full = old[before] if multiclass == "ovr" or stranger == 1 else np.vstack([old, 0 * old[:1]])[before]
        if multiclass == "joint":
            full = full[:-1]
        return full[1:] if n_classes == 2 else full
    place = {(k, m): row for row, (k, m) in enumerate(_pairs(stranger + 1))}
    rows = []
    for a, b in _pairs(n_classes + 1):
        vector = np.zeros(old.shape[1], np.int8)
        if not (fresh[a] and fresh[b]):
            k, m = before[a], before[b]
            vector = old[place[k, m]] if k < m else -old[place[m, k]]
        rows.append(vector)
    full = np.array(rows, np.int8)
    among = np.array([b < n_classes for _, b in _pairs(n_classes + 1)])
    stored = np.vstack([full[among], full[~among]])
    if n_classes == 2:
        stored[0] *= -1
    return stored
