"""Runners of linear algorithms: present the rows of an epoch, and answer the trainer's questions about the weights.

`LinearRunner` is what they share. `InMemory` presents the rows of a table; those of chunks and of shards are in
`chunked` and `sharded`.
"""

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
from rosenblatt.training.algorithm import Algorithm, EpochArgs, all_finite, copy_state, never, new_counts, order_of
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import elect, weigh_rows
from rosenblatt.training.plan import Order, Plan, Run
from rosenblatt.training.stopping import ENTRIES_PER_CHECK, MOST_WATCHED_WEIGHTS, Cycle, MarginBound, words_for
from rosenblatt.training.trainer import EpochRunner, EpochStats, RunClock, Trainer

if TYPE_CHECKING:
    from rosenblatt.training.check_separable import SeparabilityCheck

Array = npt.NDArray[Any]


class LinearRunner(EpochRunner):
    """A runner whose state is the weights of an `Algorithm`.

    A part is one problem, or all classes of a joint task.

    Parameters
    ----------
    bias : float
        Square of the constant that pads each row; 0 for no bias.
    names : tuple
        Labels of the classes; empty for none.
    regression : bool
        Whether the targets are numbers.
    pool : ThreadPoolExecutor or None
        Threads that share the problems.

    Attributes
    ----------
    counts : Counts
        Of the epoch in progress.
    """

    state: Any = None
    batch_sum: Any = None  # with batch updates, the sum of the corrections of the epoch so far
    largest: float  # largest squared norm of a row so far, without the constant

    def __init__(
        self,
        algorithm: Algorithm,
        plan: Plan,
        problems: int,
        multiclass: str,
        bias: float,
        *,
        names: tuple[Any, ...] = (),
        regression: bool = False,
        pool: ThreadPoolExecutor | None = None,
    ) -> None:
        super().__init__(plan, problems, multiclass, names)
        self.algorithm, self.bias, self.pool = algorithm, bias, pool
        self.converges_when_clean = algorithm.converges_when_clean
        self.zero_loss, self.remedy, self.penalised = algorithm.zero_loss, algorithm.remedy, algorithm.penalised
        self.predictor = algorithm.predictor or self.predictor
        # A constant rate only scales weights that start at zero. The run uses rate one, whose sums of integers are
        # exact: rounding with 0.1 would break ties that the algorithm depends on.
        self.rate_scale = algorithm.rate_scale(plan.eta0)
        self.counts = new_counts(self.parts)
        self.words = words_for(algorithm, regression=regression, batch=plan.batch)
        self._planes: Any = None
        self._penalty: Any = 0.0
        self._copy: Any = None

    def _begin(self, state: Any) -> None:
        """Start from a state."""
        self.state = state
        if self.plan.batch:
            self.batch_sum = self.algorithm.start(state.b.size, state.W.shape[1], state.W.dtype, order_of(state.W))
        # Weights can return only if all epochs are alike.
        alike = self.plan.order == "cyclic" and self.plan.schedule == "constant"
        if alike and self.algorithm.finite_updates and state.W.size <= MOST_WATCHED_WEIGHTS:
            self.cycle = Cycle(state.W, state.b, joint=self.joint)

    # ------------------------------------------------------------------------------------------------------- an epoch

    def _present(self, args: EpochArgs) -> int:
        """Present rows to the active problems; return how many.

        Each problem belongs to one thread, so the result does not depend on their number.
        """
        target = self.state if self.batch_sum is None else self.batch_sum
        if self.pool is None or self.joint or args.active.size == 1:
            return self.algorithm.run_epoch(args, self.state, target)

        def work(problems: Array) -> int:
            return self.algorithm.run_epoch(args._replace(active=problems), self.state, target)

        return max(self.pool.map(work, np.array_split(args.active, min(self.plan.n_jobs, args.active.size))))

    def _add_batch(self) -> None:
        """Add the corrections of a batch to the weights."""
        if self.batch_sum is not None:
            for total, part in ((self.state.W, self.batch_sum.W), (self.state.b, self.batch_sum.b)):
                total += part
                part[:] = 0

    def _stats(self, epoch: int, trials: int, complete: bool) -> EpochStats:
        """Check the weights after an epoch, and return its counts."""
        if self._planes is not None and self._planes.W is not self.state.W:  # else they are the state, and up to date
            self._planes = None
        self._penalty = self.algorithm.penalty_of(self.state)
        if self._penalty is None:
            self._penalty = self.algorithm.penalty_value(self.planes)
            if not all_finite(self.planes):
                raise InvalidInput(f"The weights overflowed {self.planes.W.dtype} in epoch {epoch}: {self.remedy}.")
        # Lists: there are few parts as a rule, and summing an array costs more than summing a hundred of them.
        mistakes, updates, loss = (column.tolist() for column in self.counts[:3])
        if self.plan.batch:
            updates = [min(count, 1) for count in updates]
        loss = [total * self.rate_scale for total in loss]
        return EpochStats(mistakes, updates, loss, trials, complete and self.plan.order != "random")

    # ------------------------------------------------------------------------------------------------ for the trainer

    @property
    def planes(self) -> Any:
        """The weights that predict, derived from the state when they are first needed."""
        if self._planes is None:
            self._planes = self.algorithm.hyperplanes(self.state)
        return self._planes

    @property
    def radius(self) -> float:
        """Largest norm of a row so far, the constant of the bias included."""
        return math.sqrt(self.largest + self.bias)

    def objective(self, stats: EpochStats) -> list[float]:
        """Return the mean loss of each part, with its penalty."""
        # At zero weights the loss of a batch is zero, which no later epoch can improve on; its errors can fall.
        figures = stats.mistakes if self.plan.batch else stats.loss
        if not self.penalised:
            return [figure / self.n_rows for figure in figures]
        values = [float(self._penalty.sum())] if self.joint else self._penalty.tolist()
        return [figure / self.n_rows + value for figure, value in zip(figures, values, strict=True)]

    def snapshot(self) -> Any:
        """Return a copy of the state; it replaces the earlier copy, as states may be large."""
        self._copy = copy_state(self.state, self._copy)
        return self._copy

    def restore(self, snapshot: Any) -> None:
        """Go back to a copy of the state."""
        copy_state(snapshot, self.state)
        self._planes = None

    def weights(self) -> tuple[Array, Array]:
        """Return the weights at the learning rate of the plan."""
        rate = self.planes.W.dtype.type(self.rate_scale)
        return self.planes.W * rate, self.planes.b * rate

    def learned(self) -> Any:
        """Return a copy of the state."""
        return copy_state(self.state)


# ---------------------------------------------------------------------------------------------------- rows in memory


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
    from rosenblatt.training.check_separable import check_separable

    task, W, b = job.task, np.ascontiguousarray(state.W[part]), float(state.b[part])
    sign = task.sign[task.label, part]
    return check_separable(job.table, sign, job.subset, W, b, work, seconds, bias=task.bias, names=names)


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
