"""Training in the dual: the job, its objects, and the base of the runners (`budget`, and `unbounded` without one)."""

from __future__ import annotations

import copy
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import ALL_ROWS
from rosenblatt.engine.rows import Task
from rosenblatt.errors import InvalidInput
from rosenblatt.kernels import loops
from rosenblatt.kernels.expansion import Expansion
from rosenblatt.kernels.kernels import Objects, Similarity, join, take
from rosenblatt.kernels.threads import Threads, pieces
from rosenblatt.prover.exact.clock import OutOfTime
from rosenblatt.training.multiclass import decision, winners
from rosenblatt.training.plan import Order, Plan, Run
from rosenblatt.training.stopping import PERCEPTRON_WORDS
from rosenblatt.training.trainer import EpochRunner, EpochStats, RunClock, Trainer

Array = npt.NDArray[Any]

ROWS_PER_SHARE = 256  # rows that a thread takes at a time
NO_SIMILARITIES = np.empty((0, 0))
NO_SPANS = np.empty((0, 2, 2), np.int64)  # for a block that updates the scores of the rows that follow


@dataclass(frozen=True)
class KernelJob:
    """A fit with a kernel: the objects, the targets, and the plan."""

    kernel: Similarity
    objects: Objects  # the rows to present
    task: Task
    plan: Plan
    multiclass: str  # "ovr", "ovo", "ovo-vote" or "joint"
    start: Expansion  # the result of earlier training, which the run continues
    # The objects to train on, in the order of a cycle; empty for all.
    subset: Array = field(default_factory=lambda: ALL_ROWS)
    cache_bytes: float = 1e9  # most bytes of similarities to keep
    n_reserve: int = 0  # how many of the last problems belong to the reserve class, which the record does not count
    n_before: int = 0  # how many objects of a stream came earlier
    streams: bool = False  # whether the objects are a chunk of a stream, to be presented once
    margin: float = 0.0  # an update is due while y f(x) is not above it
    most_updates: float = np.inf  # maximum of updates of a row in a problem
    names: tuple[Any, ...] = ()  # labels of the classes; empty for none
    aggregate: str = "last"  # which f predicts: "last", "average" or "vote"

    def __post_init__(self) -> None:
        """Raise an error if the start has other problems: the loops index them by number."""
        if self.start.trials.size != self.task.sign.shape[1]:
            raise InvalidInput(
                f"The model has {self.start.trials.size} problems, but there are {self.task.sign.shape[1]} to learn. "
                "Fit it again."
            )


class ObjectPool:
    """The objects of a run, numbered consecutively: the vectors it starts with, then its rows."""

    def __init__(self, kernel: Similarity, first: Objects, rows: Objects, cache_bytes: float) -> None:
        self.kernel, self.first, self.rows = kernel, first, rows
        self.offset = int(first.shape[0])
        size = self.offset + rows.shape[0]
        # A function of pairs is never called twice for the same pair, if the cache has room for all of them.
        remembers = kernel.expensive and 8.0 * size * size <= cache_bytes
        self.known = np.full((size, size), np.nan) if remembers else None

    def take(self, number: Array) -> Objects:
        """Return objects by their numbers."""
        if self.offset == 0:
            return take(self.rows, number)
        old = number < self.offset
        parted = join(take(self.first, number[old]), take(self.rows, number[~old] - self.offset))
        place = np.argsort(np.argsort(~old, kind="stable"))
        return take(parted, place)

    def columns(self, number: Array, row: Array) -> Array:
        """Return the similarities of objects, by their numbers, with rows, in shape (objects, rows)."""
        if self.known is None:
            return self.kernel.columns(self.take(number), take(self.rows, row))
        row = row + self.offset
        for i in number:
            missing = row[np.isnan(self.known[i, row])]
            if missing.size:
                found = self.kernel.columns(self.take(np.array([i])), self.take(missing))[0]
                self.known[i, missing] = self.known[missing, i] = found
        return np.asarray(self.known[np.ix_(number, row)])


def run_job(job: KernelJob, runner: KernelRunner) -> Run:
    """Train until a stopping rule says so, or present the rows once, as a chunk of a stream."""
    trainer = Trainer(job.plan, runner)
    return trainer.run_chunk() if job.streams else trainer.run()


class KernelRunner(EpochRunner):
    """Presents objects in the dual. A part is a problem; or all problems, of a joint task or if they share vectors."""

    rows_per_block: int
    # Whether the problems compete for the same vectors. They must end together then: a problem that had ended would no
    # longer learn, while the others replaced the vectors that it needs.
    shares_vectors = False
    words = PERCEPTRON_WORDS
    beyond = "another kernel, or another gamma, may help"
    plane = "hyperplane of the kernel's space"

    def __init__(self, job: KernelJob, threads: Threads) -> None:
        problems = job.start.trials.size
        super().__init__(job.plan, problems, job.multiclass, job.names, together=self.shares_vectors)
        self.counted = self.parts - job.n_reserve
        self.predictor = {"average": "the average", "vote": "the vote"}.get(job.aggregate, self.predictor)
        self.leaves_out = bool(job.subset.size) or not job.task.class_cost.all()
        self.job, self.task, self.threads = job, job.task, threads
        self.pool = ObjectPool(job.kernel, job.start.vectors, job.objects, job.cache_bytes)
        self.n_objects = job.objects.shape[0]
        self.subset = job.subset if job.subset.size else np.arange(self.n_objects)
        self.n_rows = self.subset.size
        self.trials = job.start.trials.copy()
        counted = self.n_objects if np.isfinite(job.most_updates) else 0
        counts = np.zeros((1 if self.joint else problems, counted), np.int32)
        mistakes, updates, loss, square, steps = np.zeros((5, problems))
        self.progress = loops.Progress(self.trials, mistakes, updates, loss, square, steps, counts)
        self.sample_weight = job.task.sample_weight if job.task.sample_weight.size else np.ones(self.n_objects)
        self.order = Order(job.plan.order, job.task.label, job.subset, job.plan.random_state)
        # Drawn with replacement, a row may come twice in an epoch, or never.
        self.each_row_once = job.plan.order != "random"
        self.clock = RunClock(None)  # of the run in progress
        self.active: list[int] = []  # parts that `problems` is about, kept between epochs
        self.problems: loops.Problems | None = None
        self.dtype = self.pool.columns(np.array([self.pool.offset]), np.array([0])).dtype

    # ------------------------------------------------------------------------------------------------- for subclasses

    def _begin(self) -> None:
        """Prepare for an epoch."""

    def _learn(self, row: Array, problems: loops.Problems) -> None:
        """Present a block of rows one by one."""
        raise NotImplementedError

    def _skip(self, row: Array) -> None:
        """Note rows that are not presented in this epoch."""

    def scores(self) -> Array:
        """Return the current scores of all objects, in shape (problems, objects)."""
        raise NotImplementedError

    def coef(self) -> Array:
        """Return a copy of the coefficients of the expansion."""
        raise NotImplementedError

    def expansion(self) -> Expansion:
        """Return what was learned."""
        raise NotImplementedError

    def state(self) -> Any:
        """Return what a rule of a budget needs to continue; without a budget None."""
        return None

    def lag(self) -> Array | None:
        """Return the lag of the average, as in `Expansion.summed`; None if the log has it."""
        return None

    # ------------------------------------------------------------------------------------------------- for the trainer

    def run_epoch(self, epoch: int, active: list[int], clock: RunClock) -> EpochStats:
        """Present every row once to the active parts, or as many as the clock allows."""
        self.clock = clock
        mistakes, updates, loss = self.progress.mistakes, self.progress.updates, self.progress.loss
        mistakes[:], updates[:], loss[:] = 0.0, 0.0, 0.0
        order = self.order.draw()
        order = np.asarray(order if order.size else np.arange(self.n_objects), dtype=np.int64)
        problems, trials = self._problems(active), 0
        with suppress(OutOfTime):  # while scores were updated, before anything was learned
            self._begin()
            for piece in pieces(order.size, self.rows_per_block):
                self._learn(order[piece], problems)
                trials += piece.size
                if clock.late:
                    break
        if trials < order.size:
            self._skip(order[trials:])
        if self.parts == 1:
            mistakes, updates, loss = (part.sum(keepdims=True) for part in (mistakes, updates, loss))
        counts, changes = mistakes.astype(np.int64).tolist(), updates.astype(np.int64).tolist()
        return EpochStats(counts, changes, loss.tolist(), trials, trials == order.size and self.each_row_once)

    def _problems(self, active: list[int]) -> loops.Problems:
        """Return the task of the problems of the active parts."""
        if self.problems is not None and active == self.active:
            return self.problems
        numbers = np.array(active, np.int64) if self.parts > 1 else np.arange(self.trials.size)
        label, place = np.nonzero(self.task.sign[:, numbers])
        first = np.searchsorted(label, np.arange(self.task.sign.shape[0] + 1))
        task, job = self.task, self.job
        problems = loops.Problems(
            task.sign, task.cost, task.class_cost, numbers[place], first, self.joint, job.margin, job.most_updates
        )
        self.active, self.problems = list(active), problems
        return problems

    def fits(self, part: int, clock: RunClock) -> bool:
        """Return whether every row has its margin; False if there is no time to check."""
        if clock.late:
            return False
        excess, label = np.empty(self.n_rows), self.task.label
        scores, number = np.ascontiguousarray(self.scores()), np.arange(self.n_objects)
        block = loops.RowBlock(number, label, self.sample_weight, NO_SIMILARITIES, scores, self.subset, NO_SPANS)
        loops.margins(block, self._problems([part])._replace(most=np.inf), self.progress, 0, excess)
        return bool((excess > 0).all())

    def weights(self) -> tuple[Array, Array]:
        """Return a copy of the coefficients, and biases, which are zero."""
        return self.coef(), np.zeros(self.trials.size)

    def learned(self) -> tuple[Expansion, Any]:
        """Return a copy of the expansion, and of what a rule of a budget needs to continue."""
        return self.expansion(), copy.deepcopy(self.state())

    def misses(self) -> int | None:
        """Return how many of the rows that were learned from the model predicts wrongly; None if that takes long."""
        learned, job = self.expansion(), self.job
        if job.aggregate == "vote" or self.n_rows * learned.rows.size > 1 << 21:  # similarities to compute again
            return None
        rows = self.subset[self.task.class_cost[self.task.label[self.subset]] > 0]
        scores = learned.scores(job.kernel, job.objects[rows], job.aggregate, self.lag())
        elected = winners(decision(scores.T, self.task.sign.shape[0], job.multiclass))
        return int(np.count_nonzero(elected != self.task.label[rows]))

    @cached_property
    def radius(self) -> float:
        """Largest length of a row in the space of the kernel."""
        return float(np.sqrt(max(0.0, float(self.job.kernel.diagonal(self.job.objects).max()))))
