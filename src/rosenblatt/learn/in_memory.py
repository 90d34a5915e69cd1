"""Rows of one table in memory, presented to the problems by one thread or several."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled import epochs
from rosenblatt.compiled.epochs import Task
from rosenblatt.data.table import ALL_ROWS, Table, row_numbers
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.multiclass import by_pairs, decision, winners
from rosenblatt.learn.order import Order
from rosenblatt.learn.plan import Plan, Run
from rosenblatt.learn.stopping import BATCH, LOSS, PERCEPTRON, REGRESSION, Ceiling, Cycle, Stop, Words
from rosenblatt.learn.trainer import Clock, Presenter, Shown, Trainer
from rosenblatt.methods.method import Method, Pass, all_finite, copy_state, new_counts, order_of, scores

Array = npt.NDArray[Any]

# Trials between two looks at the clock, where a time limit was set.
TRIALS_PER_LOOK = 1 << 15


@dataclass(frozen=True)
class Validation:
    """Rows kept out of training, to measure the error on."""

    table: Table
    subset: Array
    label: Array  # class of each row of the table; -1 for one that training does not know
    weight: Array


@dataclass(frozen=True)
class Job:
    """What to learn, from which rows, how, and until when.

    Attributes
    ----------
    method : Method
    table : Table
    task : Task
    plan : Plan
    multiclass : {"ovr", "ovo", "ovo-vote", "joint"}
    subset : int array
        The rows to train on, in the order of a cycle; empty for all.
    validation : Validation or None
        Rows to measure the error on.
    names : tuple
        Labels of the classes, for a certificate; empty for none.
    """

    method: Method
    table: Table
    task: Task
    plan: Plan
    multiclass: str = "ovr"
    subset: Array = field(default_factory=lambda: ALL_ROWS)
    validation: Validation | None = None
    names: tuple[Any, ...] = ()


def run(job: Job, state: Any) -> Run:
    """Train `state` in place, and return the record.

    Parameters
    ----------
    job : Job
    state : NamedTuple of arrays
        Of the job's method; in units of the learning rate where that only scales.
    """
    if job.plan.batch and not job.method.finite:
        raise InvalidInput("Batch updates are for the perceptron without a penalty. Drop batch=True, or the penalty.")
    if job.plan.threads == 1:
        return Trainer(job.plan, InMemory(job, state)).run()
    with ThreadPoolExecutor(job.plan.threads) as pool:
        return Trainer(job.plan, InMemory(job, state, pool)).run()


def _words(job: Job) -> Words:
    if job.task.target.size:
        return REGRESSION
    if not job.method.finite:
        return LOSS
    return BATCH if job.plan.batch else PERCEPTRON


class InMemory(Presenter):
    """Rows of a table. A part is one problem, or all classes of a joint task."""

    def __init__(self, job: Job, state: Any, pool: ThreadPoolExecutor | None = None) -> None:
        self.job, self.state, self.pool = job, state, pool
        self.method, self.plan, self.task = job.method, job.plan, job.task
        self.planes = job.method.hyperplanes(state)
        self.n_rows = job.subset.size or job.table.shape[0]
        self.joint = job.multiclass == "joint" and state.b.size > 1
        self.parts = self.counted = 1 if self.joint else state.b.size
        self.rests, self.validates = job.method.rests, job.validation is not None
        self.words = _words(job)
        target = job.task.target
        self.zero_loss = job.method.zero_loss * (float(target @ target) / target.size if target.size else 1.0)
        self.remedy = job.method.remedy
        self.counts = new_counts(self.parts)
        self.copied: Any = None
        # A constant rate only scales weights that start at zero. The run is made with rate one, whose sums of
        # integers are exact; 0.1 would break the ties that the algorithm depends on.
        self.rate_scale = job.method.rate_scale(self.plan.eta)
        self.order = Order(self.plan.order, job.task.label, job.subset, self.plan.seed)
        repeats = self.plan.order == "cyclic" and self.plan.schedule == "constant" and job.method.finite
        self.cycle = Cycle(state.W, state.b) if repeats else None
        self.ceiling = (
            Ceiling(job.table, job.task, job.subset, state.W, state.b, self.parts, job.names)
            if job.method.additive
            else None
        )

    # ------------------------------------------------------------------------------------------------- presentation

    def present(self, epoch: int, active: list[int], clock: Clock) -> Shown:
        """Run the method's loop over the rows of an epoch, in pieces where the clock matters."""
        for column in self.counts:
            column[:] = 0
        rate = self.plan.rate(epoch) / self.rate_scale
        order = self.order.draw()
        trials = self._batch(order, active, rate) if self.plan.batch else self._pieces(order, active, rate, clock)
        if self.method.looks_back:
            self.method.end_epoch(self._pass(order, np.array(active), rate), self.state)
        if self.ceiling is not None:
            self.ceiling.steps += self.counts.step
        if self.planes.W is not self.state.W:  # else it is the state itself, and up to date
            del self.planes  # before the next ones take as much memory
            self.planes = self.method.hyperplanes(self.state)
        if not all_finite(self.planes):
            raise InvalidInput(f"The weights overflowed {self.planes.W.dtype} in epoch {epoch}: {self.remedy}.")
        # Lists: there are few parts as a rule, and a sum of NumPy's costs more than a hundred of them.
        mistakes, updates, loss = (column.tolist() for column in self.counts[:3])
        if self.plan.batch:
            updates = [min(count, 1) for count in updates]
        if self.rate_scale != 1.0:
            loss = [total * self.rate_scale for total in loss]
        return Shown(mistakes, updates, loss, trials, trials == self.n_rows and self.plan.order != "random")

    def _pieces(self, order: Array, active: list[int], rate: float, clock: Clock) -> int:
        pieces = [order]
        if clock.limit is not None:
            numbers = order if order.size else row_numbers(np.arange(self.n_rows))
            pieces = np.split(numbers, range(TRIALS_PER_LOOK, self.n_rows, TRIALS_PER_LOOK))
        trials = 0
        for piece in pieces:
            self._share(piece, active, rate, self.state)
            trials += piece.size or self.n_rows
            if clock.late:
                break
        return trials

    def _batch(self, order: Array, active: list[int], rate: float) -> int:
        """Present all rows to the weights as they are, and add the sum of the corrections."""
        problems, features = self.state.W.shape
        into = self.method.start(problems, features, self.state.W.dtype, order_of(self.state.W))
        self._share(order, active, rate, into)
        self.state.W[:] += into.W
        self.state.b[:] += into.b
        return order.size or self.n_rows

    def _share(self, order: Array, active: list[int], rate: float, into: Any) -> None:
        """Share the active problems among the threads; each belongs to one, so the result is the same."""

        def work(problems: Array) -> None:
            self.method.present(self._pass(order, problems, rate), self.state, into)

        problems = np.array(active)
        if self.pool is None or self.joint or problems.size == 1:
            work(problems)
        else:
            list(self.pool.map(work, np.array_split(problems, min(self.plan.threads, problems.size))))

    def _pass(self, order: Array, problems: Array, rate: float) -> Pass:
        rows, subset = self.job.table.rows, self.job.subset
        return Pass(rows, self.task, order, subset, problems, rate, self.counts, self.joint)

    # ---------------------------------------------------------------------------------------------------- measures

    @cached_property
    def _measured(self) -> tuple[Validation, Task]:
        """The rows to measure the error on: the validation rows if there are any, else the training rows."""
        job = self.job
        rows = job.validation or Validation(job.table, job.subset, job.task.label, job.task.sample_weight)
        return rows, self.task._replace(label=rows.label, sample_weight=rows.weight)

    def error(self) -> float:
        """Return the share of wrong rows, by weight."""
        rows, task = self._measured
        if not by_pairs(self.job.multiclass) or self.parts == 1:
            wrong, total = epochs.weigh_errors(rows.table.rows, task, rows.subset, self.planes)
            return float(wrong / total)
        subset = rows.subset if rows.subset.size else row_numbers(np.arange(rows.table.shape[0]))
        label = rows.label[subset]
        cost = np.append(task.class_cost, 1.0)[label] * (rows.weight[subset] if rows.weight.size else 1.0)
        elected = winners(decision(scores(rows.table, self.planes, subset), task.sign.shape[0], self.job.multiclass))
        return float(cost[elected != label].sum() / cost.sum())

    def fits(self, part: int) -> bool:
        """Look at every row of a part; return whether each is on its side."""
        rows, subset = self.job.table.rows, self.job.subset
        if self.joint:
            return bool(epochs.weigh_errors(rows, self.task, subset, self.planes)[0] == 0.0)
        return bool(epochs.misfits(rows, self.task, subset, part, self.planes) == 0)

    def objective(self, shown: Shown) -> list[float]:
        """Return the mean loss of each part, with its penalty."""
        # At zero weights the loss of a batch is zero, which no later epoch can improve on; its errors can fall.
        figures = shown.mistakes if self.plan.batch else shown.loss
        penalty = self.method.penalty_value(self.planes)
        if isinstance(penalty, float):
            return [figure / self.n_rows for figure in figures]
        values = [float(np.sum(penalty))] if self.joint else np.asarray(penalty).tolist()
        return [figure / self.n_rows + value for figure, value in zip(figures, values, strict=True)]

    def hopeless(self, parts: list[int], level: float, epoch: int) -> dict[int, Stop]:
        """Return which parts nothing separates, or nothing with a margin above a share of the radius."""
        if self.ceiling is None or not self.method.finite:
            return super().hopeless(parts, level, epoch)
        return self.ceiling.end(parts, level * self.ceiling.radius, epoch)

    def returned(self, active: list[int]) -> dict[int, int]:
        """Return parts whose weights are back where they were so many epochs ago."""
        if self.cycle is None:
            return {}
        length = self.cycle.length
        back = {part: length for part in active if self.cycle.returned(self._rows_of(part))}
        self.cycle.advance()
        return back

    def _rows_of(self, part: int) -> slice:
        """Return the weight vectors of a part."""
        return slice(None) if self.joint else slice(part, part + 1)

    @property
    def radius(self) -> float:
        """Largest norm of a row, the constant of the bias included."""
        return math.sqrt(self.job.table.largest + self.task.bias)

    def margin_ceiling(self) -> float:
        """Return the largest margin that any separator can have, as the run's mistakes prove."""
        return np.inf if self.ceiling is None else self.ceiling.observe()

    @property
    def certificate(self) -> Any:  # type: ignore[override]
        """The proof that two classes cannot be separated."""
        return None if self.ceiling is None else self.ceiling.certificate

    # ------------------------------------------------------------------------------------------------ what was learned

    def snapshot(self) -> Any:
        """Return a copy of the state, in the place of an earlier one: they may be large, and only the last is used."""
        self.copied = copy_state(self.state, self.copied)
        return self.copied

    def restore(self, snapshot: Any) -> None:
        """Put a copy of the state back."""
        copy_state(snapshot, self.state)
        del self.planes
        self.planes = self.method.hyperplanes(self.state)

    def weights(self) -> tuple[Array, Array]:
        """Return the weights at the learning rate that was asked for."""
        rate = self.planes.W.dtype.type(self.rate_scale)
        return self.planes.W * rate, self.planes.b * rate
