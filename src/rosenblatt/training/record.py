"""Record every trial of a fit, through the estimator's own training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import row_numbers
from rosenblatt.engine.rows import Hyperplanes
from rosenblatt.errors import InvalidInput
from rosenblatt.markup.charts import growth_chart, with_caption
from rosenblatt.text import brief, count
from rosenblatt.training.algorithm import EpochArgs
from rosenblatt.training.plan import Run
from rosenblatt.training.runner import InMemory, Job
from rosenblatt.training.scores import scores
from rosenblatt.training.trainer import EpochStats, RunClock

Array = npt.NDArray[Any]

# A recording is for a person, or a page, to look at.
MAX_TRIALS = 1_000_000


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
        The row that was presented; -1 where all rows are one trial, as in a batch.
    label : int
        Its sign, +1 or -1; for more than two classes and for a batch, the number of the class or 0.
    score : float or array of shape (n_problems,)
        f(x) = w.x + b before the update.
    loss : float
        The loss of the algorithm, such as max(0, -y f(x)) for the perceptron.
    mistake : bool
        Whether y f(x) <= 0, for any problem.
    w, b : array and float, or arrays of shape (n_problems, n_features) and (n_problems,)
        The weights after the trial.
    mistakes : int
        Mistakes up to and including this trial.
    total_loss : float
        Loss up to and including this trial.
    update : bool
        Whether the trial changed the weights.
    cycle : int or None
        On the last trial of a run that ended because the weights came back: how many epochs ago they were the same.
    """

    t: int
    epoch: int
    row: int
    label: int
    score: Any
    loss: float
    mistake: bool
    w: Any
    b: Any
    mistakes: int
    total_loss: float
    update: bool = False
    cycle: int | None = None

    def __repr__(self) -> str:
        """Return the trial in a few lines, without its weights if there are many."""
        return brief(self)


@dataclass(frozen=True)
class Recording:
    """All trials of a fit.

    Attributes
    ----------
    row, epoch : int arrays of shape (n_trials,)
        The row presented (-1 for a batch) and the epoch, from 1.
    label : int array of shape (n_trials,)
        Number of the row's class; -1 for a batch.
    score : array of shape (n_trials, n_problems)
        f(x) before the update.
    loss : array of shape (n_trials,)
    mistakes, updates : int arrays of shape (n_trials,)
        Problems that were mistaken, and that changed, in each trial.
    at : int array of shape (n_trials,)
        Number of the weights after each trial.
    W, b : arrays of shape (n_states, n_problems, n_features) and (n_states, n_problems)
        The distinct weights, the first before any trial.
    run : Run
        The record of the fit.
    estimator : object
        The fitted estimator.
    vectors : int array of shape (n_features,), or None
        With a kernel: the rows whose coefficients the columns of W are.
    """

    row: Array
    epoch: Array
    label: Array
    score: Array
    loss: Array
    mistakes: Array
    updates: Array
    at: Array
    W: Array
    b: Array
    run: Run
    estimator: Any
    vectors: Array | None = None

    def __repr__(self) -> str:
        """Return the recording in a few lines, with the size of long columns."""
        return brief(self)

    def __str__(self) -> str:
        """Report the recording in a few lines."""
        size = (
            f"{count(self.row.size, 'trial')} of {type(self.estimator).__name__}, {count(len(self.W), 'weight vector')}"
        )
        return f"{size}, {count(int(self.mistakes.sum()), 'mistake')}.\nIt stopped: {self.run.reason}"

    def _repr_html_(self) -> str:
        growth = growth_chart(np.arange(self.row.size + 1), np.cumsum([0, *self.mistakes]))
        return with_caption(growth, str(self))

    def trials(self) -> Iterator[Trial]:
        """Yield the trials one by one."""
        binary = self.b.shape[1] == 1
        mistakes, total = np.cumsum(self.mistakes), np.cumsum(self.loss)
        last = self.row.size - 1
        for k in range(self.row.size):
            W, b, number = self.W[self.at[k]], self.b[self.at[k]], int(self.label[k])
            sign = 0 if number < 0 else 2 * number - 1 if binary else number
            yield Trial(
                t=k + 1,
                epoch=int(self.epoch[k]),
                row=int(self.row[k]),
                label=sign,
                score=float(self.score[k, 0]) if binary else self.score[k],
                loss=float(self.loss[k]),
                mistake=bool(self.mistakes[k]),
                w=W[0] if binary else W,
                b=float(b[0]) if binary else b,
                mistakes=int(mistakes[k]),
                total_loss=float(total[k]),
                update=bool(self.updates[k]),
                cycle=self.run.cycle if k == last else None,
            )


def record(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Recording:
    """Fit an estimator and record every trial.

    The estimator learns through its own training, one row at a time: its weights and its stopping are those of `fit`,
    to the last bit. A batch epoch is one trial.

    Parameters
    ----------
    estimator : estimator
        A member of the family that learns from rows one by one. It is fitted.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.
    sample_weight : array-like of shape (n_samples,), optional
        Factor of each row's step.

    Returns
    -------
    Recording
        Every trial, and the weights after it.
    """
    fit = getattr(estimator, "_record", None)
    if fit is None:
        name = type(estimator).__name__
        raise InvalidInput(f"{name} does not learn trial by trial: there is nothing to record. Call its fit.")
    recording: Recording = fit(X, y, sample_weight)
    return recording


class Recorder(InMemory):
    """Runs epochs over the rows of a table, one row at a time, and notes every trial."""

    def __init__(self, job: Job, state: Any) -> None:
        super().__init__(job, state)
        self.epoch = 0
        self.notes: list[tuple[Any, ...]] = []
        self.states = [self._current()]

    def run_epoch(self, epoch: int, active: list[int], clock: RunClock) -> EpochStats:
        """Run an epoch; a batch is noted as one trial."""
        self.epoch = epoch
        stats = super().run_epoch(epoch, active, clock)
        if self.plan.batch:
            self._note(-1, np.full(self.state.b.size, np.nan), [0.0] * 3)
        return stats

    def _present_rows(self, args: EpochArgs, clock: RunClock) -> int:
        if self.plan.batch:
            return super()._present_rows(args, clock)
        numbers = args.order if args.order.size else row_numbers(np.arange(self.n_rows))
        if len(self.notes) + numbers.size > MAX_TRIALS:
            raise InvalidInput(
                f"A recording holds {MAX_TRIALS} trials; epoch {self.epoch} would go beyond. Take fewer rows or epochs."
            )
        trials = 0
        for i in numbers:
            row = np.array([i], numbers.dtype)
            score = self._scores(row)
            before = [float(column.sum()) for column in self.counts[:3]]
            self._present(args._replace(order=row))
            self._note(int(i), score, before)
            trials += 1
            if clock.late:
                break
        return trials

    def _scores(self, row: Array) -> Array:
        """Return the scores of a row under the weights that learn."""
        state = self.state
        products = scores(self.job.table, Hyperplanes(state.W, np.zeros_like(state.b)), row)[0]
        scale = getattr(state, "scale", np.ones(state.b.size))
        return np.asarray((scale * products + state.b) * self.rate_scale)

    def _current(self) -> tuple[Array, Array]:
        """Return a copy of the weights that learn, at the learning rate of the plan."""
        state = self.state
        scale = getattr(state, "scale", np.ones(state.b.size)) * self.rate_scale
        return state.W * scale[:, None], state.b * self.rate_scale

    def _note(self, i: int, score: Array, before: list[float]) -> None:
        mistakes, updates, loss = (float(column.sum()) for column in self.counts[:3])
        W, b = self._current()
        if not (np.array_equal(W, self.states[-1][0]) and np.array_equal(b, self.states[-1][1])):
            self.states.append((W, b))
        label = -1 if i < 0 else int(self.task.label[i])
        change = (loss - before[2]) * self.rate_scale
        counts = int(mistakes - before[0]), int(updates - before[1])
        self.notes.append((i, self.epoch, label, score, change, *counts, len(self.states) - 1))

    def recording(self, run: Run, estimator: Any) -> Recording:
        """Return the trials noted so far."""
        columns = [np.array(column) for column in zip(*self.notes, strict=True)]
        row, epoch, label, score, loss, mistakes, updates, at = columns
        W, b = (np.array(part) for part in zip(*self.states, strict=True))
        return Recording(row, epoch, label, score, loss, mistakes, updates, at, W, b, run, estimator)
