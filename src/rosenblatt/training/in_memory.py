"""Rows of one table in memory, presented to the problems by one thread or several."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import ALL_ROWS, Table, part_of, row_numbers
from rosenblatt.engine.rows import Hyperplanes, Task
from rosenblatt.engine.scores import misfits, weigh_errors
from rosenblatt.errors import InvalidInput
from rosenblatt.training.algorithm import Algorithm, EpochArgs, never
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import elect, weigh_rows
from rosenblatt.training.order import Order
from rosenblatt.training.plan import Plan, Run
from rosenblatt.training.runner import EpochStats, LinearRunner, RunClock
from rosenblatt.training.stopping import ENTRIES_PER_CHECK, MarginBound
from rosenblatt.training.trainer import Trainer

if TYPE_CHECKING:
    from rosenblatt.training.check_separable import SeparabilityCheck

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Validation:
    """Rows kept out of training, to measure the error on."""

    table: Table
    subset: Array
    label: Array  # class of each row of the table; -1 for one that training does not know
    weight: Array


@dataclass(frozen=True)
class Job:
    """A fit in memory: the rows, the algorithm, and the plan."""

    algorithm: Algorithm
    table: Table
    task: Task
    plan: Plan
    multiclass: str = "ovr"  # one of "ovr", "ovo", "ovo-vote", "joint"
    # The rows to train on, in the order of a cycle; empty for all.
    subset: Array = field(default_factory=lambda: ALL_ROWS)
    validation: Validation | None = None  # rows to measure the error on
    names: tuple[Any, ...] = ()  # labels of the classes, for a certificate; empty for none
    # Started before the rows were checked, which counts against the time limit; None: starts with the run.
    clock: RunClock | None = None


def run(job: Job, state: Any) -> Run:
    """Train `state` in place, which is in units of the learning rate if that only scales the weights."""
    if job.plan.n_jobs == 1:
        return Trainer(job.plan, InMemory(job, state), job.clock).run()
    with ThreadPoolExecutor(job.plan.n_jobs) as pool:
        return Trainer(job.plan, InMemory(job, state, pool), job.clock).run()


def _check_separable(
    job: Job, state: Any, names: tuple[Any, ...], part: int, work: float, seconds: float
) -> SeparabilityCheck:
    # Imported here: most runs end without it, and load neither the search nor the proofs.
    from rosenblatt.training.check_separable import Problem, check_separable

    problem = Problem(job.table, job.task.sign[job.task.label, part], job.subset, job.task.bias, names)
    return check_separable(problem, np.ascontiguousarray(state.W[part]), float(state.b[part]), work, seconds)


class InMemory(LinearRunner):
    """Runs epochs over the rows of a table."""

    def __init__(self, job: Job, state: Any, pool: ThreadPoolExecutor | None = None) -> None:
        if job.plan.batch and not job.algorithm.finite_updates:
            raise InvalidInput(
                "Batch updates are for the perceptron without a penalty. Drop batch=True, or the penalty."
            )
        table, task = job.table, job.task
        problems, target = state.b.size, task.target
        super().__init__(
            job.algorithm,
            job.plan,
            problems,
            job.multiclass,
            task.bias,
            names=job.names,
            regression=bool(target.size),
            pool=pool,
        )
        self.job, self.task, self.largest = job, task, table.largest
        self.n_rows = job.subset.size or table.shape[0]
        self.validates = job.validation is not None
        self.leaves_out = bool(job.subset.size) or not task.class_cost.all()
        if target.size:
            self.zero_loss *= float(target @ target) / target.size
        self.beyond = self._remedies()
        origin = " through the origin" if task.bias == 0.0 else ""
        self.plane = f"{'set of hyperplanes' if self.joint else 'hyperplane'}{origin}"
        cost = job.algorithm.trial_cost(max(1, table.entries // table.shape[0]), *state.W.shape[::-1])
        self.rows_per_check = max(1, self.plan.n_jobs * ENTRIES_PER_CHECK // cost)
        self.order = Order(self.plan.order, task.label, job.subset, self.plan.random_state)
        self._begin(state)
        if job.algorithm.is_sum_of_rows:
            # A certificate is about one problem of all rows with a bias, whatever the size of the bias.
            names = job.names if problems == 1 and not job.subset.size and task.bias > 0.0 else ()
            self.bound = MarginBound(
                state.W,
                state.b,
                self.parts,
                bias=task.bias,
                radius=self.radius,
                entries=table.entries,
                search=None if self.joint else partial(_check_separable, job, state, names),
                certifies=bool(names),
            )

    def _remedies(self) -> str:
        """Return advice for rows that no hyperplane separates, without what the job does already."""
        remedies = ["a kernel (KernelPerceptron)", "a soft margin (SoftMargin)"]
        if not self.algorithm.derives_weights:
            remedies.append("an average (AveragedPerceptron)")
        if self.bias == 0.0:
            remedies.insert(0, "a bias (fit_intercept=True)")
        return f"{', '.join(remedies[:-1])} or {remedies[-1]} may help"

    # ------------------------------------------------------------------------------------------------------- an epoch

    def run_epoch(self, epoch: int, active: list[int], clock: RunClock) -> EpochStats:
        """Present the rows of an epoch, a few at a time: the result does not depend on how many."""
        for column in self.counts:
            column[:] = 0
        args = EpochArgs(
            self.job.table.rows,
            self.task,
            self.order.draw(),
            self.job.subset,
            np.array(active),
            self.plan.rate(epoch) / self.rate_scale,
            self.counts,
            self.joint,
            lambda: clock.late,
        )
        self.algorithm.begin_epoch(epoch, slice(None) if self.joint else active, self.state)
        trials = self._present_rows(args, clock)
        self._add_batch()
        if self.algorithm.needs_epoch_end and not clock.overdue:
            self.algorithm.end_epoch(args._replace(late=never), self.state)
        if self.bound is not None:
            self.bound.add(self.counts.step)
        return self._stats(epoch, trials, trials == self.n_rows)

    def _present_rows(self, args: EpochArgs, clock: RunClock) -> int:
        """Present the rows until they or the time are over; return how many were presented."""
        trials = 0
        while trials < self.n_rows and not (trials and clock.late):
            piece = part_of(args.order, trials, self.rows_per_check, self.n_rows)
            trials += self._present(args._replace(order=piece))
        return trials

    # -------------------------------------------------------------------------------------------------------- measures

    @cached_property
    def _measured(self) -> tuple[Validation, Task]:
        """The rows to measure the error on: the validation rows if there are any, else the training rows."""
        job = self.job
        rows = job.validation or Validation(job.table, job.subset, job.task.label, job.task.sample_weight)
        return rows, self.task._replace(label=rows.label, sample_weight=rows.weight)

    def _blocks(self, table: Table, subset: Array, problems: int, clock: RunClock) -> Iterator[Array]:
        """Yield rows to measure, a moment's work at a time, until the clock is overdue."""
        n_rows = subset.size or table.shape[0]
        size = max(1, ENTRIES_PER_CHECK // (problems * max(1, table.entries // table.shape[0])))
        for first in range(0, n_rows, size):
            if clock.overdue:
                return
            yield part_of(subset, first, size, n_rows)

    def error(self, clock: RunClock) -> float | None:
        """Return the share of wrong rows, by weight; None if out of time."""
        rows, task = self._measured
        n_rows = rows.subset.size or rows.table.shape[0]
        wrong, total, seen = 0.0, 0.0, 0
        for block in self._blocks(rows.table, rows.subset, self.state.b.size, clock):
            more = weigh_rows(rows.table, task, block, self.planes, self.multiclass)
            wrong, total, seen = wrong + more[0], total + more[1], seen + (block.size or n_rows)
        return float(wrong / total) if seen == n_rows else None

    def fits(self, part: int, clock: RunClock) -> bool:
        """Return whether every row of a part is on its side; False if there is no time to check.

        Under the last weights, which an epoch without an update is about. Margins that a loss requires are not checked.
        """
        if not self.algorithm.finite_updates:
            return False
        table, subset, planes = self.job.table, self.job.subset, Hyperplanes(self.state.W, self.state.b)
        seen = 0
        for block in self._blocks(table, subset, self.state.b.size if self.joint else 1, clock):
            if self.joint:
                wrong = weigh_errors(table.rows, self.task, block, planes)[0]
            else:
                wrong = misfits(table.rows, self.task, block, part, planes)
            if wrong:
                return False
            seen += block.size or self.n_rows
        return seen == self.n_rows

    def cycle_proves(self) -> bool:
        """Return whether all sums are exact, so that returning weights prove that nothing separates the rows."""
        task, table = self.task, self.job.table
        if isinstance(self.algorithm, FirstOrder) and not self.algorithm.rule.of.unit:
            return False
        steps = [task.sample_weight, task.cost, task.class_cost]
        whole = all(np.array_equal(part, np.rint(part)) for part in [table.values, self.state.W, self.state.b, *steps])
        largest = max(float(np.abs(part).max(initial=0.0)) for part in (table.values, self.state.W, self.state.b))
        weight = math.prod(float(np.max(part, initial=1.0)) for part in steps)
        rate = self.plan.eta0 / self.rate_scale
        most = largest * (1.0 + self.n_rows * weight * rate)
        return whole and task.bias in (0.0, 1.0) and rate == round(rate) and most < 2.0 / np.finfo(table.dtype).eps

    def misses(self) -> int | None:
        """Return how many of the rows that were learned from the model predicts wrongly."""
        if not self.algorithm.linear or self.task.target.size:
            return None
        subset = self.job.subset if self.job.subset.size else row_numbers(np.arange(self.n_rows))
        subset = subset[self.task.class_cost[self.task.label[subset]] > 0]
        elected = elect(self.job.table, subset, self.planes, self.task.sign.shape[0], self.multiclass)
        return int(np.count_nonzero(elected != self.task.label[subset]))
