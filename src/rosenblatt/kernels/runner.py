"""Training in the dual: what to learn, and what all presenters of objects have in common.

A run without a budget keeps every row that was ever mistaken, and a log of its updates. It ends when every row is on
its side; or when its own mistakes prove that this would say nothing of new rows. A separator with margin g makes at
most (R / g)^2 mistakes, and errs on a new row with a probability of at most their expected number over n + 1 (Freund
and Schapire 1999, after Vapnik). The mistakes so far bound every margin from above, g <= |f| / (sum of the steps). Once
even the largest possible margin promises no fewer mistakes than there are rows, epochs are no progress any more, and
patience (`n_iter_no_change`) ends the run. Its average has been a good hypothesis since the first epoch.

Where no row is updated more than `most_updates` times, a run has a natural end: an epoch without an update, in which
every row has its margin or has had its updates. This is the counterpart of a soft margin, whose coefficients are at
most C.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import ALL_ROWS
from rosenblatt.engine.rows import Task
from rosenblatt.errors import InvalidInput
from rosenblatt.kernels import dual as loops
from rosenblatt.kernels.expansion import Expansion, Log, expand
from rosenblatt.kernels.kernels import Objects, Similarity, join
from rosenblatt.kernels.objects import GrowingArray, ObjectPool
from rosenblatt.kernels.threads import Threads, pieces
from rosenblatt.prover.exact.clock import OutOfTime
from rosenblatt.training.decisions import decision, winners
from rosenblatt.training.multiclass import part_names
from rosenblatt.training.order import Order
from rosenblatt.training.plan import Plan, Run
from rosenblatt.training.reasons import KERNEL, LIMITED_KERNEL, UNBOUNDED_KERNEL
from rosenblatt.training.stopping import FREE_TRIALS, Stop
from rosenblatt.training.trainer import Clock, EpochRunner, EpochStats, Trainer

Array = npt.NDArray[Any]

ROWS_PER_SHARE = 256  # rows that a thread takes at a time
NO_SIMILARITIES = np.empty((0, 0))
FEW_SIMILARITIES = 1 << 21  # that a run computes again, to say how the model does
NO_SPANS = np.empty((0, 2, 2), np.int64)  # of a block that keeps the scores of the rows that follow up to date


@dataclass(frozen=True)
class KernelJob:
    """What to learn, from which objects, how, and until when.

    Attributes
    ----------
    kernel : Similarity
    objects : objects
        What is presented.
    task : Task
    plan : Plan
    multiclass : {"ovr", "ovo", "ovo-vote", "joint"}
    start : Expansion
        Where to start.
    subset : int array
        The objects to train on, in the order of a cycle; empty for all.
    cache_bytes : float
        Most bytes of similarities to keep.
    n_reserve : int
        How many of the last problems belong to the reserve class, which the record does not count.
    n_before : int
        How many objects of a stream came earlier.
    streams : bool
        Whether the objects are a chunk of a stream, to be presented once.
    margin : float
        An update is due as long as y f(x) is not above it.
    most_updates : float
        Of a row in a problem; infinite for no limit.
    names : tuple
        Labels of the classes; empty for none.
    aggregate : {"last", "average", "vote"}
        What will predict.
    """

    kernel: Similarity
    objects: Objects
    task: Task
    plan: Plan
    multiclass: str
    start: Expansion
    subset: Array = field(default_factory=lambda: ALL_ROWS)
    cache_bytes: float = 1e9
    n_reserve: int = 0
    n_before: int = 0
    streams: bool = False
    margin: float = 0.0
    most_updates: float = np.inf
    names: tuple[Any, ...] = ()
    aggregate: str = "last"

    def __post_init__(self) -> None:
        """Raise an error for a start of other problems: the loops go through them by number."""
        if self.start.trials.size != self.task.sign.shape[1]:
            raise InvalidInput(
                f"What was learned has {self.start.trials.size} problems, where there are {self.task.sign.shape[1]} to "
                "learn. Fit anew."
            )


def run_presenter(job: KernelJob, runner: KernelRunner) -> Run:
    """Train until a stopping rule says so, or present the rows once, as a chunk of a stream."""
    trainer = Trainer(job.plan, runner)
    return trainer.run_chunk() if job.streams else trainer.run()


class KernelRunner(EpochRunner):
    """Objects presented in the dual: what all runs have in common.

    A part is a problem; or all problems, of a joint task, and where they share their vectors.

    Attributes
    ----------
    shares_vectors : bool
        Whether the problems compete for the same vectors. They must end together then: a problem that had ended would
        no longer learn, while the others went on replacing the vectors that it needs.
    """

    rows_per_block: int
    shares_vectors = False
    words = KERNEL
    beyond = "another kernel, or another gamma, may help"
    plane = "hyperplane of the kernel's space"

    def __init__(self, job: KernelJob, threads: Threads) -> None:
        self.job, self.task, self.threads = job, job.task, threads
        self.pool = ObjectPool(job.kernel, job.start.vectors, job.objects, job.cache_bytes)
        self.n_objects, problems = job.objects.shape[0], job.start.trials.size
        self.subset = job.subset if job.subset.size else np.arange(self.n_objects)
        self.n_rows = self.subset.size
        self.joint = job.multiclass == "joint" and problems > 1
        self.parts = 1 if self.joint or self.shares_vectors else problems
        self.counted = self.parts - job.n_reserve
        if self.parts > 1 and job.names:
            self.names, self.noun = part_names(job.names, job.multiclass)
        self.trials = job.start.trials.copy()
        counted = self.n_objects if np.isfinite(job.most_updates) else 0
        counts = np.zeros((1 if self.joint else problems, counted), np.int32)
        mistakes, updates, loss, square, steps = np.zeros((5, problems))
        self.progress = loops.Progress(self.trials, mistakes, updates, loss, square, steps, counts)
        self.sample_weight = job.task.sample_weight if job.task.sample_weight.size else np.ones(self.n_objects)
        self.order = Order(job.plan.order, job.task.label, job.subset, job.plan.seed)
        # Drawn with replacement, a row may come twice in an epoch, or never.
        self.each_row_once = job.plan.order != "random"
        self.clock = Clock(None)  # of the run in progress
        self.lesson: tuple[list[int], loops.Problems | None] = (
            [],
            None,
        )  # active parts and what they are taught, kept between epochs
        self.dtype = self.pool.columns(np.array([self.pool.offset]), np.array([0])).dtype

    # --------------------------------------------------------------------------------- what the two kinds of run add

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

    # ------------------------------------------------------------------------------------------------- for the trainer

    def run_epoch(self, epoch: int, active: list[int], clock: Clock) -> EpochStats:
        """Present every row once to the active parts, or as many as the clock allows."""
        self.clock = clock
        mistakes, updates, loss = self.progress.mistakes, self.progress.updates, self.progress.loss
        mistakes[:], updates[:], loss[:] = 0.0, 0.0, 0.0
        order = self.order.draw()
        order = np.asarray(order if order.size else np.arange(self.n_objects), dtype=np.int64)
        problems, trials = self._problems(active), 0
        with suppress(OutOfTime):  # while scores were brought up to date, with nothing half learned
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
        """Return what the rows teach the problems of the active parts."""
        if self.lesson[1] is not None and active == self.lesson[0]:
            return self.lesson[1]
        chosen = np.array(active, np.int64) if self.parts > 1 else np.arange(self.trials.size)
        label, place = np.nonzero(self.task.sign[:, chosen])
        first = np.searchsorted(label, np.arange(self.task.sign.shape[0] + 1))
        task, job = self.task, self.job
        problems = loops.Problems(
            task.sign, task.cost, task.class_cost, chosen[place], first, self.joint, job.margin, job.most_updates
        )
        self.lesson = list(active), problems
        return problems

    def fits(self, part: int, clock: Clock) -> bool:
        """Return whether every row has its margin; False where the clock leaves no time to find out."""
        if clock.late:
            return False
        excess, label = np.empty(self.n_rows), self.task.label
        scores, number = np.ascontiguousarray(self.scores()), np.arange(self.n_objects)
        block = loops.Block(number, label, self.sample_weight, NO_SIMILARITIES, scores, self.subset, NO_SPANS)
        loops.margins(block, self._problems([part])._replace(most=np.inf), self.progress, 0, excess)
        return bool((excess > 0).all())

    def weights(self) -> tuple[Array, Array]:
        """Return a copy of the coefficients, and biases, which are zero."""
        return self.coef(), np.zeros(self.trials.size)

    @property
    def leaves_out(self) -> bool:  # type: ignore[override]
        """Whether rows have no weight."""
        return bool(self.job.subset.size) or not self.task.class_cost.all()

    @property
    def predictor(self) -> str:  # type: ignore[override]
        """What predicts, where it is not the last f of each problem."""
        added = self.trials.size > 1 and self.job.multiclass == "ovo"
        named = {"average": "the average", "vote": "the vote"}
        return named.get(self.job.aggregate, "the sum of the scores of all pairs" * added)

    def misses(self) -> int | None:
        """Return how many of the rows that were learned from the model predicts wrongly; None: that takes too long."""
        learned, job = self.expansion(), self.job
        if job.aggregate == "vote" or self.n_rows * learned.rows.size > FEW_SIMILARITIES:
            return None
        rows = self.subset[self.task.class_cost[self.task.label[self.subset]] > 0]
        coef = learned.coef
        if job.aggregate == "average":
            coef = learned.summed() / np.maximum(learned.trials, 1)[:, None]
        scores = expand(job.kernel, learned.vectors, job.objects[rows], coef).T
        elected = winners(decision(scores, self.task.sign.shape[0], job.multiclass))
        return int(np.count_nonzero(elected != self.task.label[rows]))

    @cached_property
    def radius(self) -> float:
        """Largest length of a row in the space of the kernel."""
        return float(np.sqrt(max(0.0, float(self.job.kernel.diagonal(self.job.objects).max()))))

    def _check_finite(self, scores: Array) -> None:
        """Raise InvalidInput if scores are not finite."""
        if not np.isfinite(scores).all():
            raise InvalidInput(
                f"The scores overflowed {self.dtype}: similarities are too large. Scale the data, for example with "
                "StandardScaler, or lower gamma or degree."
            )


def empty_updates(capacity: int) -> loops.Updates:
    """Return arrays with room for so many updates."""
    place, problem, trial = np.empty((3, capacity), np.int64)
    return loops.Updates(place, problem, np.empty(capacity), trial, np.zeros(1, np.int64))


class Unbounded(KernelRunner):
    """A run that keeps every row that was ever mistaken, and logs every update.

    Slots number the vectors: those of the start, then rows in the order of their first mistakes.
    """

    words = UNBOUNDED_KERNEL

    def __init__(self, job: KernelJob, threads: Threads) -> None:
        super().__init__(job, threads)
        self.member = GrowingArray((), np.int64)  # number in the pool of each slot
        self.member.push(np.arange(self.pool.offset))
        self.slot = np.full(self.n_objects, -1, np.int64)
        self.log = [job.start.log]
        if self.joint:
            self.n_examples = np.array([self.n_rows])
        else:
            per_class = np.bincount(job.task.label[self.subset], minlength=job.task.sign.shape[0])
            self.n_examples = per_class @ (job.task.sign != 0)
        if self.pool.offset and not job.streams:  # a chunk of a stream has no need of lengths
            coef, vectors = job.start.coef, job.start.vectors
            self.progress.square[:] = (coef * expand(job.kernel, vectors, vectors, coef)).sum(axis=1)
            self.progress.steps[:] = np.abs(coef).sum(axis=1)
        self.proved, self.highest = np.full(self.parts, np.inf), np.zeros(self.parts)
        # So few updates end by themselves, unless the rows are drawn: then no epoch shows that none is due.
        self.limited = bool(np.isfinite(job.most_updates))
        if self.limited:
            self.words = LIMITED_KERNEL

    def _most_updates(self, n_trials: int, problems: loops.Problems) -> int:
        """Return how many updates so many trials can make."""
        return n_trials * (2 if self.joint else int(np.diff(problems.first).max()))

    def _run(self, block: loops.Block, problems: loops.Problems, column: Array, at: int, to: loops.Updates) -> int:
        """Present the rows of a block until a similarity is missing; return the trial that needs it."""
        run = loops.run_joint_block if self.joint else loops.run_block
        return int(run(block, problems, column, at, self.progress, to))

    def _enter(self, row: Array, updates: loops.Updates) -> Log:
        """Enter updates into the log, by the numbers of the rows of their block; return that part of the log."""
        place, problem, step, trial = (part[: int(updates.size[0])].copy() for part in updates[:4])
        row = row[place]
        fresh, first = np.unique(row[self.slot[row] < 0], return_index=True)
        if fresh.size:
            fresh = fresh[np.argsort(first)]  # in the order of their first mistakes
            self.slot[fresh] = self.member.size + np.arange(fresh.size)
            self.member.push(fresh + self.pool.offset)
        log = Log(self.slot[row], problem, step, trial)
        self.log.append(log)
        return log

    # ---------------------------------------------------------------------------------------------------------- the end

    def objective(self, shown: EpochStats) -> list[float]:
        """Return the mean loss of each part; where its fall is progress no more, a figure above all that there were."""
        figures = np.array(shown.loss) / self.n_rows
        if self.limited:
            return list(figures)
        in_vain = self._promises_nothing()
        self.highest = np.maximum(self.highest, figures) + in_vain
        return list(np.where(in_vain, self.highest, figures))

    def give_up(self, parts: list[int], tol: float, epoch: int, clock: Clock) -> dict[int, Stop]:
        """Return which of the stalled parts end: those of which no separator would promise anything.

        Where updates are limited, none: what is left of them will be made, or is not due.
        """
        if self.limited:
            return {} if self.each_row_once else dict.fromkeys(parts, Stop.TRAINING)
        in_vain, bounds = self._promises_nothing(), self._margin_bounds()
        ended = [part for part in parts if in_vain[part] or bounds[part] <= tol * self.radius]
        self.proved[ended] = np.minimum(self.proved[ended], bounds[ended])
        return dict.fromkeys(ended, Stop.TRAINING)

    def margin_bounds(self) -> list[float]:
        """Return the largest margin that a separator of each part can have; infinite for one that has not stalled."""
        bounds: list[float] = self.proved.tolist()
        return bounds

    def _margin_bounds(self) -> Array:
        """Return for each part |f| over the sum of the steps: a separator gains at least its margin in each step."""
        squares, steps = np.maximum(self.progress.square, 0.0), self.progress.steps
        if self.joint:
            squares, steps = squares.sum(keepdims=True), steps.sum(keepdims=True) / 2
        return np.asarray(np.sqrt(squares) / np.where(steps > 0, steps, np.inf))

    def _promises_nothing(self) -> Array:
        """Return for each part whether no margin is left with a mistake bound (R / g)^2 below its number of rows."""
        # Joint trials compare two classes: what they add is the difference of two vectors, each with the row.
        squared_radius = (2.0 if self.joint else 1.0) * self.radius**2
        in_vain = self.n_examples * self._margin_bounds() ** 2 <= squared_radius
        return np.asarray(in_vain & (self.trials[: self.parts] >= FREE_TRIALS))

    # -------------------------------------------------------------------------------------------------------- results

    def coef(self) -> Array:
        """Return the coefficients, summed from the log."""
        coef = np.zeros((self.trials.size, self.member.size))
        for log in self.log:
            np.add.at(coef, (log.problem, log.slot), log.step)
        return coef

    def expansion(self) -> Expansion:
        """Return what was learned."""
        late = self.member.view(self.pool.offset) - self.pool.offset
        return Expansion(
            vectors=join(self.pool.first, self.job.objects[late]),
            rows=np.concatenate([self.job.start.rows, late + self.job.n_before]),
            coef=self.coef(),
            trials=self.trials,
            log=Log(*(np.concatenate(column) for column in zip(*self.log, strict=True))),
        )
