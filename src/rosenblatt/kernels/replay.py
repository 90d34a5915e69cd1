"""Record every trial of a run in the dual: from its log, or on a budget, which keeps no log, from notes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.errors import InvalidInput
from rosenblatt.kernels.budget import Budgeted
from rosenblatt.kernels.expansion import Expansion
from rosenblatt.kernels.kernels import take
from rosenblatt.kernels.loops import RowBlock
from rosenblatt.kernels.runner import KernelJob
from rosenblatt.training.plan import Order, Run
from rosenblatt.training.record import MAX_TRIALS, Recording

Array = npt.NDArray[Any]


def replay(job: KernelJob, learned: Expansion, run: Run, estimator: Any) -> Recording:
    """Return the recording of a run that started from nothing and kept its log.

    The order of the rows is drawn again, and the updates are known. The weights of the recording are the coefficients
    of the expansion, with a column for each vector.
    """
    if run.trials > MAX_TRIALS:
        raise InvalidInput(f"A recording holds {MAX_TRIALS} trials; this run has {run.trials}. Take fewer epochs.")
    problems, vectors = learned.coef.shape
    orders = Order(job.plan.order, job.task.label, job.subset, job.plan.random_state)
    row, epoch = _rows(orders, job, run)
    K = np.asarray(job.kernel.columns(take(learned.vectors, np.arange(vectors)), job.objects), dtype=np.float64)
    coef, states = np.zeros((problems, vectors)), [np.zeros((problems, vectors))]
    seen, at = np.zeros(problems, np.int64), np.zeros(row.size, np.int64)
    score, loss = np.empty((row.size, problems)), np.zeros(row.size)
    mistakes, updates = np.zeros((2, row.size), np.int64)
    later = _log_by_trial(learned)
    joint = job.multiclass == "joint" and problems > 1
    for t, i in enumerate(row):
        score[t] = coef @ K[:, i]
        margin = _margins(job, joint, score[t], i)
        # A problem that has ended has no more trials; a joint task has one for all of them.
        taught = np.isfinite(margin) & ((seen < learned.trials)[: margin.size])
        loss[t] = np.maximum(job.margin - margin, 0.0)[taught].sum()
        mistakes[t] = np.count_nonzero(margin[taught] <= 0.0)
        for p in range(problems):
            if job.task.sign[job.task.label[i], p] == 0:
                continue
            for slot, step in later.get((p, int(seen[p])), ()):
                coef[p, slot] += step
                updates[t] += not joint or step > 0
            seen[p] += 1
        if updates[t]:
            states.append(coef.copy())
        at[t] = len(states) - 1
    b = np.zeros((len(states), problems))
    label = job.task.label[row].astype(np.int64)
    return Recording(
        row, epoch, label, score, loss, mistakes, updates, at, np.array(states), b, run, estimator, learned.rows
    )


def check_start(job: KernelJob) -> None:
    """Raise InvalidInput unless a run starts from nothing."""
    if job.start.rows.size:
        raise InvalidInput("A warm start has no record of the trials before it. Fit a fresh estimator.")


class BudgetNotes:
    """Notes of each trial on a budget, of a job that starts from nothing."""

    def __init__(self, job: KernelJob) -> None:
        self.job, self.rows_per_epoch = job, job.subset.size or job.objects.shape[0]
        self.notes: list[tuple[int, Array, float, float, float, int]] = []
        self.so_far = 0.0, 0.0, 0.0  # mistakes, updates and loss of the epoch
        # Rows that are vectors, and their coefficients.
        self.states: list[tuple[Array, Array]] = [(np.empty(0, np.int64), np.empty((job.start.trials.size, 0)))]

    def after_trial(self, runner: Budgeted, block: RowBlock, i: int) -> None:
        """Note a trial."""
        trial = len(self.notes)
        if trial == MAX_TRIALS:
            raise InvalidInput(f"A recording holds {MAX_TRIALS} trials. Take fewer rows or epochs.")
        before = self.so_far if trial % self.rows_per_epoch else (0.0, 0.0, 0.0)
        progress = runner.progress
        self.so_far = float(progress.mistakes.sum()), float(progress.updates.sum()), float(progress.loss.sum())
        mistakes, updates, loss = (now - then for now, then in zip(self.so_far, before, strict=True))
        if updates:
            self.states.append((runner.member.copy(), runner.coef()))
        self.notes.append((int(block.row[i]), block.scores[:, i].copy(), loss, mistakes, updates, len(self.states) - 1))

    def recording(self, run: Run, estimator: Any) -> Recording:
        """Return the trials noted so far, with a column of weights for each row that was ever a vector."""
        row, score, loss, mistakes, updates, at = (np.array(column) for column in zip(*self.notes, strict=True))
        vectors = np.unique(np.concatenate([member for member, _ in self.states]))
        shape = len(self.states), self.states[0][1].shape[0], vectors.size
        check_memory(8.0 * np.prod(shape), "A recording of so many weights", "Take fewer rows or epochs.")
        W = np.zeros(shape)
        for state, (member, coef) in zip(W, self.states, strict=True):
            # A row may occur twice: mistaken again before its first vector was removed.
            np.add.at(state.T, np.searchsorted(vectors, member), coef.T)
        epoch, label = np.arange(row.size) // self.rows_per_epoch + 1, self.job.task.label[row].astype(np.int64)
        mistakes, updates = mistakes.astype(np.int64), updates.astype(np.int64)
        b = np.zeros(shape[:2])
        return Recording(row, epoch, label, score, loss, mistakes, updates, at, W, b, run, estimator, vectors)


def _margins(job: KernelJob, joint: bool, score: Array, i: int) -> Array:
    """Return y f(x) of each problem, infinite if the row is not an example; for a joint task, the lead of the class."""
    c = job.task.label[i]
    if joint:
        return np.array([score[c] - np.delete(score, c).max()])
    sign = job.task.sign[c].astype(float)
    return np.where((sign != 0) & (job.task.cost[c] != 0.0), sign * score, np.inf)


def _rows(orders: Order, job: KernelJob, run: Run) -> tuple[Array, Array]:
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
