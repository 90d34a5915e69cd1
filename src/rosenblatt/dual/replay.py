"""Every trial of a run in the dual, from its log: the order of the rows is drawn again, and the updates are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.dual.expansion import Expansion
from rosenblatt.dual.kernels import take
from rosenblatt.dual.presenter import DualJob
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.order import Order
from rosenblatt.learn.plan import Run
from rosenblatt.learn.record import MAX_TRIALS, Recording

Array = npt.NDArray[Any]


def replay(job: DualJob, learned: Expansion, run: Run, estimator: Any) -> Recording:
    """Return the recording of a run that started from nothing and kept its log.

    The weights of the recording are the coefficients of the expansion, with a column for each vector.
    """
    if job.start.rows.size:
        raise InvalidInput("A warm start has no record of the trials before it. Fit a fresh estimator.")
    if run.trials > MAX_TRIALS:
        raise InvalidInput(f"A recording holds {MAX_TRIALS} trials; this run has {run.trials}. Take fewer epochs.")
    problems, vectors = learned.coef.shape
    orders = Order(job.plan.order, job.task.label, job.subset, job.plan.seed)
    row, epoch = _rows(orders, job, run)
    K = np.asarray(job.kernel.columns(take(learned.vectors, np.arange(vectors)), job.objects), dtype=np.float64)
    coef, states = np.zeros((problems, vectors)), [np.zeros((problems, vectors))]
    seen, at = np.zeros(problems, np.int64), np.zeros(row.size, np.int64)
    score, loss = np.empty((row.size, problems)), np.zeros(row.size)
    mistakes = np.zeros(row.size, np.int64)
    later = _log_by_trial(learned)
    joint = job.multiclass == "joint" and problems > 1
    for t, i in enumerate(row):
        score[t] = coef @ K[:, i]
        for p in range(problems):
            sign = job.task.sign[job.task.label[i], p]
            if sign == 0:
                continue
            for slot, step in later.get((p, int(seen[p])), ()):
                coef[p, slot] += step
                if not joint or step > 0:
                    mistakes[t] += 1
                    loss[t] += max(0.0, -sign * score[t, p] if not joint else _lead(score[t], p))
            seen[p] += 1
        if mistakes[t]:
            states.append(coef.copy())
        at[t] = len(states) - 1
    b = np.zeros((len(states), problems))
    label = job.task.label[row].astype(np.int64)
    return Recording(row, epoch, label, score, loss, mistakes, mistakes.copy(), at, np.array(states), b, run, estimator)


def _lead(score: Array, c: int) -> float:
    """Return how far the best wrong class is ahead of class c."""
    return float(np.delete(score, c).max() - score[c])


def _rows(orders: Order, job: DualJob, run: Run) -> tuple[Array, Array]:
    """Return the rows in the order in which they were presented, and their epochs."""
    drawn = []
    for _ in range(run.epochs):
        order = orders.draw()
        drawn.append(np.array(order if order.size else np.arange(job.objects.shape[0]), np.int64))
    epoch = np.repeat(np.arange(1, run.epochs + 1), [order.size for order in drawn])
    return np.concatenate(drawn)[: run.trials], epoch[: run.trials]


def _log_by_trial(learned: Expansion) -> dict[tuple[int, int], list[tuple[int, float]]]:
    """Return the slots and steps of the updates by problem and number of trials before them."""
    found: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for slot, problem, step, trial in zip(*(part.tolist() for part in learned.log), strict=True):
        found.setdefault((problem, trial), []).append((slot, step))
    return found
