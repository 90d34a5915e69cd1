"""Rows of one table in memory, presented to the problems by one thread or several."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import ALL_ROWS, Table, part_of, row_numbers
from rosenblatt.engine.rows import Task
from rosenblatt.engine.scores import misfits, weigh_errors
from rosenblatt.errors import InvalidInput
from rosenblatt.training.algorithm import Algorithm, EpochArgs, as_hyperplanes, never, new_counts, order_of
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import by_pairs, part_names
from rosenblatt.training.order import Order
from rosenblatt.training.plan import Plan, Run
from rosenblatt.training.stopping import ENTRIES_PER_LOOK, MarginBound
from rosenblatt.training.trainer import Clock, EpochStats, LinearRunner, Trainer

if TYPE_CHECKING:
    from rosenblatt.training.check_separable import SeparabilityCheck
    from rosenblatt.training.reasons import Words

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
    clock : Clock or None
        Started when the rows came, so that to check them counts against the time limit; None: starts with the run.
    """

    algorithm: Algorithm
    table: Table
    task: Task
    plan: Plan
    multiclass: str = "ovr"
    subset: Array = field(default_factory=lambda: ALL_ROWS)
    validation: Validation | None = None
    names: tuple[Any, ...] = ()
    clock: Clock | None = None


def run(job: Job, state: Any) -> Run:
    """Train `state` in place, and return the record.

    Parameters
    ----------
    job : Job
    state : NamedTuple of arrays
        Of the job's method; in units of the learning rate where that only scales.
    """
    if job.plan.batch and not job.algorithm.finite:
        raise InvalidInput("Batch updates are for the perceptron without a penalty. Drop batch=True, or the penalty.")
    if job.plan.threads == 1:
        return Trainer(job.plan, InMemory(job, state), job.clock).run()
    with ThreadPoolExecutor(job.plan.threads) as pool:
        return Trainer(job.plan, InMemory(job, state, pool), job.clock).run()


def _check_separable(
    job: Job, state: Any, names: tuple[Any, ...], part: int, work: float, seconds: float
) -> SeparabilityCheck:
    # Imported here, because most runs end without it: training then loads neither the search nor the proofs.
    from rosenblatt.training.check_separable import Problem, check_separable

    problem = Problem(job.table, job.task.sign[job.task.label, part], job.subset, job.task.bias, names)
    return check_separable(problem, np.ascontiguousarray(state.W[part]), float(state.b[part]), work, seconds)


def _beyond(job: Job) -> str:
    """Return what to try where no hyperplane separates the rows, beside what the job does already."""
    remedies = ["a kernel (KernelPerceptron)", "a soft margin (SoftMargin)"]
    if not job.algorithm.derived:
        remedies.append("an average (AveragedPerceptron)")
    if job.task.bias == 0.0:
        remedies.insert(0, "a bias (fit_intercept=True)")
    return f"{', '.join(remedies[:-1])} or {remedies[-1]} may help"


class InMemory(LinearRunner):
    """Rows of a table. A part is one problem, or all classes of a joint task."""

    def __init__(self, job: Job, state: Any, pool: ThreadPoolExecutor | None = None) -> None:
        self.job, self.state, self.pool = job, state, pool
        self.algorithm, self.plan, self.task = job.algorithm, job.plan, job.task
        self.n_rows = job.subset.size or job.table.shape[0]
        self.multiclass = job.multiclass
        self.joint = job.multiclass == "joint" and state.b.size > 1
        self.parts = self.counted = 1 if self.joint else state.b.size
        self.converges_when_clean, self.validates = job.algorithm.converges_when_clean, job.validation is not None
        target = job.task.target
        self.zero_loss = job.algorithm.zero_loss * (float(target @ target) / target.size if target.size else 1.0)
        self.remedy = job.algorithm.remedy
        self.beyond = _beyond(job)
        origin = " through the origin" if job.task.bias == 0.0 else ""
        self.plane = f"{'set of hyperplanes' if self.joint else 'hyperplane'}{origin}"
        if self.parts > 1 and job.names:
            self.names, self.noun = part_names(job.names, job.multiclass)
        self.counts = new_counts(self.parts)
        cost = job.algorithm.trial_cost(max(1, job.table.entries // job.table.shape[0]), *state.W.shape[::-1])
        self.piece = max(1, self.plan.threads * ENTRIES_PER_LOOK // cost)  # rows
        # A constant rate only scales weights that start at zero. The run is made with rate one, whose sums of
        # integers are exact; 0.1 would break the ties that the algorithm depends on.
        self.rate_scale = job.algorithm.rate_scale(self.plan.eta)
        self.order = Order(self.plan.order, job.task.label, job.subset, self.plan.seed)
        self._watch()
        if job.algorithm.is_sum_of_rows:
            # One problem, all rows, a bias: the question that a certificate answers, whatever the size of the bias.
            certifies = state.b.size == 1 and not job.subset.size and job.task.bias > 0.0
            names = job.names if certifies else ()
            self.bound = MarginBound(
                state.W,
                state.b,
                self.parts,
                bias=job.task.bias,
                radius=self.radius,
                entries=job.table.entries,
                search=None if self.joint else partial(_check_separable, job, state, names),
                certifies=bool(names),
            )

    # ------------------------------------------------------------------------------------------------- presentation

    def run_epoch(self, epoch: int, active: list[int], clock: Clock) -> EpochStats:
        """Run the method's loop over the rows of an epoch, piece by piece: the result does not depend on the pieces."""
        for column in self.counts:
            column[:] = 0
        rate = self.plan.rate(epoch) / self.rate_scale
        order = self.order.draw()
        self.algorithm.begin_epoch(epoch, slice(None) if self.joint else active, self.state)
        trials = (self._batch if self.plan.batch else self._pieces)(order, active, rate, clock)
        if self.algorithm.needs_epoch_end and not clock.overdue:
            self.algorithm.end_epoch(self._pass(order, np.array(active), rate), self.state)
        if self.bound is not None:
            self.bound.add(self.counts.step)
        self._derive(epoch)
        # Lists: there are few parts as a rule, and a sum of NumPy's costs more than a hundred of them.
        mistakes, updates, loss = (column.tolist() for column in self.counts[:3])
        if self.plan.batch:
            updates = [min(count, 1) for count in updates]
        loss = [total * self.rate_scale for total in loss]
        return EpochStats(mistakes, updates, loss, trials, trials == self.n_rows and self.plan.order != "random")

    def _pieces(self, order: Array, active: list[int], rate: float, clock: Clock) -> int:
        return self._in_pieces(order, active, rate, clock, self.state)

    def _in_pieces(self, order: Array, active: list[int], rate: float, clock: Clock, into: Any) -> int:
        """Present the rows until they or the time are over; return how many were presented."""
        trials = 0
        while trials < self.n_rows and not (trials and clock.late):
            piece = part_of(order, trials, self.piece, self.n_rows)
            trials += self._share(piece, active, rate, into, clock)
        return trials

    def _batch(self, order: Array, active: list[int], rate: float, clock: Clock) -> int:
        """Present all rows to the weights as they are, and add the sum of the corrections."""
        problems, features = self.state.W.shape
        into = self.algorithm.start(problems, features, self.state.W.dtype, order_of(self.state.W))
        trials = self._in_pieces(order, active, rate, clock, into)
        self.state.W[:] += into.W
        self.state.b[:] += into.b
        return trials

    def _share(self, order: Array, active: list[int], rate: float, into: Any, clock: Clock) -> int:
        """Share the active problems among the threads; each belongs to one, so the result is the same.

        Return how many rows were presented.
        """

        def work(problems: Array) -> int:
            return self.algorithm.run_epoch(self._pass(order, problems, rate, lambda: clock.late), self.state, into)

        problems = np.array(active)
        if self.pool is None or self.joint or problems.size == 1:
            return work(problems)
        return max(self.pool.map(work, np.array_split(problems, min(self.plan.threads, problems.size))))

    def _pass(self, order: Array, problems: Array, rate: float, late: Callable[[], bool] = never) -> EpochArgs:
        rows, subset = self.job.table.rows, self.job.subset
        return EpochArgs(rows, self.task, order, subset, problems, rate, self.counts, self.joint, late)

    # ---------------------------------------------------------------------------------------------------- measures

    @cached_property
    def _measured(self) -> tuple[Validation, Task]:
        """The rows to measure the error on: the validation rows if there are any, else the training rows."""
        job = self.job
        rows = job.validation or Validation(job.table, job.subset, job.task.label, job.task.sample_weight)
        return rows, self.task._replace(label=rows.label, sample_weight=rows.weight)

    def _looks(self, table: Table, subset: Array, problems: int, clock: Clock) -> Iterator[Array]:
        """Yield the rows to measure, as many at a time as take a moment, until the clock is overdue."""
        n_rows = subset.size or table.shape[0]
        size = max(1, ENTRIES_PER_LOOK // (problems * max(1, table.entries // table.shape[0])))
        for first in range(0, n_rows, size):
            if clock.overdue:
                return
            yield part_of(subset, first, size, n_rows)

    def error(self, clock: Clock) -> float | None:
        """Return the share of wrong rows, by weight; None where the clock leaves no time for all of them."""
        rows, task = self._measured
        n_rows = rows.subset.size or rows.table.shape[0]
        wrong, total, seen = 0.0, 0.0, 0
        for block in self._looks(rows.table, rows.subset, self.state.b.size, clock):
            if not by_pairs(self.job.multiclass) or self.parts == 1:
                found = weigh_errors(rows.table.rows, task, block, self.planes)
            else:
                from rosenblatt.training.decisions import weigh_pairs

                found = weigh_pairs(rows.table, task, block, self.planes, self.job.multiclass)
            wrong, total, seen = wrong + found[0], total + found[1], seen + (block.size or n_rows)
        return float(wrong / total) if seen == n_rows else None

    def fits(self, part: int, clock: Clock) -> bool:
        """Look at every row of a part; return whether each is on its side, as far as the clock leaves time to see.

        Under the last weights, of which an end without an update speaks; margins that a loss asks for are not seen.
        """
        if not self.algorithm.finite:
            return False
        table, subset, planes = self.job.table, self.job.subset, as_hyperplanes(self.state.W, self.state.b)
        seen = 0
        for block in self._looks(table, subset, self.state.b.size if self.joint else 1, clock):
            if self.joint:
                wrong = weigh_errors(table.rows, self.task, block, planes)[0]
            else:
                wrong = misfits(table.rows, self.task, block, part, planes)
            if wrong:
                return False
            seen += block.size or self.n_rows
        return seen == self.n_rows

    @property
    def words(self) -> Words:  # type: ignore[override]
        """What an end means for the method."""
        from rosenblatt.training import reasons

        if self.task.target.size:
            return reasons.REGRESSION
        if not self.algorithm.finite:
            return reasons.LOSS
        return reasons.BATCH if self.plan.batch else reasons.PERCEPTRON

    def cycle_proves(self) -> bool:
        """Return whether all sums are exact, so that a return of the weights proves that nothing separates."""
        task, table = self.task, self.job.table
        if isinstance(self.algorithm, FirstOrder) and not self.algorithm.rule.of.unit:
            return False
        steps = [task.sample_weight, task.cost, task.class_cost]
        whole = all(np.array_equal(part, np.rint(part)) for part in [table.values, self.state.W, self.state.b, *steps])
        largest = max(float(np.abs(part).max(initial=0.0)) for part in (table.values, self.state.W, self.state.b))
        weight = math.prod(float(np.max(part, initial=1.0)) for part in steps)
        rate = self.plan.eta / self.rate_scale
        most = largest * (1.0 + self.n_rows * weight * rate)
        return whole and task.bias in (0.0, 1.0) and rate == round(rate) and most < 2.0 / np.finfo(table.dtype).eps

    @property
    def radius(self) -> float:
        """Largest norm of a row, the constant of the bias included."""
        return math.sqrt(self.job.table.largest + self.task.bias)

    @property
    def leaves_out(self) -> bool:  # type: ignore[override]
        """Whether rows are held out, or have no weight."""
        return bool(self.job.subset.size) or not self.task.class_cost.all()

    def misses(self) -> int | None:
        """Return how many of the rows that were learned from the model predicts wrongly."""
        if not self.algorithm.linear or self.task.target.size:
            return None
        from rosenblatt.training.decisions import elect

        subset = self.job.subset if self.job.subset.size else row_numbers(np.arange(self.n_rows))
        subset = subset[self.task.class_cost[self.task.label[subset]] > 0]
        elected = elect(self.job.table, subset, self.planes, self.task.sign.shape[0], self.job.multiclass)
        return int(np.count_nonzero(elected != self.task.label[subset]))

    @property
    def certificate(self) -> Any:  # type: ignore[override]
        """The proof that two classes cannot be separated."""
        return None if self.bound is None else self.bound.certificate
