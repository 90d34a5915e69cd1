"""The lectures' algorithm in plain Python: see a row, predict, see its label, update.

Slow and complete: `trace` yields every trial, which the compiled engine only counts. Given an estimator, it yields the
trials of that estimator's own training instead (`rosenblatt.training.record`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels
from rosenblatt.data.numbers import is_truth
from rosenblatt.data.table import ALL_ROWS, Table, as_table
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.text import count, short_repr
from rosenblatt.training.algorithm import check_start
from rosenblatt.training.plan import Order, Plan
from rosenblatt.training.record import Trial, record
from rosenblatt.training.stopping import Cycle

Array = npt.NDArray[Any]


def trace(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    max_iter: int = 1000,
    order: str = "cyclic",
    schedule: Any = "constant",
    eta0: float = 1.0,
    fit_intercept: bool = True,
    init: Any = None,
    random_state: int = 0,
) -> Iterator[Trial]:
    """Run the perceptron trial by trial and yield each trial, until an epoch passes without a mistake.

    Same semantics, order and, on integers, same weights as `train`; plain Python, for teaching. In cyclic
    order with a constant rate it also ends when the weights come back to where they were at the end of an earlier
    epoch: from there on the run repeats itself. The last trial then has the length of the `cycle`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Two classes, of which the larger is positive; any labels that the estimator takes, if there is one.
    estimator : estimator, optional
        Trace the training of this member of the family, with its own parameters; the others here are then ignored.
        The estimator is fitted.
    max_iter : int
        Maximum number of epochs.
    order : {"cyclic", "shuffled", "random"}
        The rows in turn, each once per epoch in a new order, or drawn with replacement.
    schedule : str or callable
        How the learning rate changes, as for `train`.
    eta0 : float
        Factor of every step.
    fit_intercept : bool
        Whether to learn a bias.
    init : (w0, b0) or None
        Where to start; zero by default.
    random_state : int
        Seed of the order.

    Yields
    ------
    Trial

    Examples
    --------
    >>> from rosenblatt import trace
    >>> for trial in trace([[0, 0], [1, 1]], [-1, 1], max_iter=1):
    ...     print(trial.t, trial.row, trial.score, trial.mistake, trial.w, trial.b)
    1 0 0.0 True [0. 0.] -1.0
    2 1 -1.0 True [1. 1.] 0.0

    The weights of XOR come back to zero after each epoch:

    >>> [*trace([[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, -1])][-1].cycle
    1
    """
    if estimator is not None:
        yield from record(estimator, X, y).trials()
        return
    plan = Plan(order=order, schedule=schedule, eta0=eta0, max_iter=max_iter, random_state=random_state)
    table = as_table(X)
    classes, label = as_labels(y, table.shape[0])
    _check_own(classes.size, fit_intercept)
    sign = 2 * label - 1
    w, b = _start(table, init, eta0)
    orders, cycle = Order(order, label, ALL_ROWS, random_state), Cycle(w, b)
    repeats = order == "cyclic" and schedule == "constant"
    t = mistakes = 0
    total = 0.0
    for epoch in range(1, max_iter + 1):
        rate, before = plan.rate(epoch) / eta0, mistakes
        drawn = orders.draw()
        for i in drawn if drawn.size else range(table.shape[0]):
            columns, x = _entries(table.rows, i)  # see x
            score = float(w[columns] @ x) + float(b[0])  # predict
            mistake = bool(sign[i] * score <= 0)  # see y
            loss = eta0 * max(0.0, -sign[i] * score)
            if mistake:  # update
                w[columns] += rate * sign[i] * x
                b += rate * sign[i] * fit_intercept
            t, mistakes, total = t + 1, mistakes + mistake, total + loss
            back = repeats and t % table.shape[0] == 0 and mistakes > before and cycle.returned().all()
            seen = (t, epoch, int(i), int(sign[i]), eta0 * score, loss, mistake)
            yield Trial(*seen, eta0 * w, eta0 * float(b[0]), mistakes, total, mistake, cycle.length if back else None)
            if back:
                return
        cycle.advance()
        if mistakes == before and order != "random":
            return


def _check_own(n_classes: int, fit_intercept: Any) -> None:
    """Raise an error unless there are two classes, and fit_intercept is a bool."""
    if n_classes != 2:
        remedy = "Add examples of another." if n_classes < 2 else "Pass estimator=Perceptron(), which takes several."
        raise InvalidInput(f"y has {count(n_classes, 'class', 'classes')}; a perceptron separates two. {remedy}")
    if not is_truth(fit_intercept):
        raise InvalidInput(f"fit_intercept={short_repr(fit_intercept)} is invalid: pass True or False.")


def _start(table: Table, init: Any, eta0: float) -> tuple[Array, Array]:
    """Return the first weights, in units of the rate, as in `train`: sums of integers stay exact."""
    w, b = np.zeros(table.shape[1], table.dtype), np.zeros(1)
    if init is not None:
        W0, b0 = check_start(init, 1, table.shape[1])
        w[:], b[:] = W0[0] / eta0, b0 / eta0
    return w, b


def _entries(rows: Dense | Csr, i: int) -> tuple[Array, Array]:
    """Return the columns and the values of a row."""
    if isinstance(rows, Dense):
        return np.arange(rows.X.shape[1]), rows.X[i]
    stored = slice(rows.indptr[i], rows.indptr[i + 1])
    return rows.indices[stored], rows.data[stored]
