"""Training in the dual: an expansion in similarities with the mistaken rows, presented one by one, at BLAS speed.

The algorithm is the lectures': present the rows one by one; on a mistake, y f(x) <= 0, increase the row's count
alpha_i, where f(x) is the sum of alpha_i y_i k(x_i, x). The blocks make it fast and change nothing of that. The scores
of all rows are kept. A block of rows is first brought up to date: one matrix product adds, for all problems, every
change since the block's last visit. Then its rows are presented one by one, with the similarities of those rows that
are mistaken or may become so. Before the next epoch, each block adds the changes that were made after its own turn.
So an epoch costs its own mistakes and no more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled import dual as loops
from rosenblatt.compiled.epochs import Task
from rosenblatt.data.table import ALL_ROWS
from rosenblatt.dual.expansion import VECTORS_PER_TILE, Expansion, Log, expand
from rosenblatt.dual.kernels import Objects, Similarity, join
from rosenblatt.dual.objects import ColumnCache, GrowingArray, ObjectPool
from rosenblatt.dual.threads import Threads, pieces
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.order import Order
from rosenblatt.learn.plan import Plan, Run
from rosenblatt.learn.stopping import KERNEL, Stop
from rosenblatt.learn.trainer import Clock, Presenter, Shown, Trainer

Array = npt.NDArray[Any]

ROWS_PER_BLOCK = 512  # rows that are presented together
EXPENSIVE_ROWS_PER_BLOCK = 32  # the same, where one similarity is so slow that none may be wasted
ROWS_PER_SHARE = 256  # rows that a thread takes at a time
COLUMNS_AHEAD = 32  # similarities of so many rows of a block cost hardly more than those of one


@dataclass(frozen=True)
class DualJob:
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


def run_dual(job: DualJob) -> tuple[Expansion, Run]:
    """Train without a budget.

    Parameters
    ----------
    job : DualJob

    Returns
    -------
    Expansion
        What was learned.
    Run
        The record.
    """
    with Threads(alone=job.kernel.user_defined) as threads:
        presenter = Unbounded(job, threads)
        record = run_presenter(job, presenter)
        return presenter.expansion(), record


def run_presenter(job: DualJob, presenter: DualPresenter) -> Run:
    """Train until a stopping rule says so, or present the rows once, as a chunk of a stream."""
    trainer = Trainer(job.plan, presenter)
    return trainer.run_chunk() if job.streams else trainer.run()


class DualPresenter(Presenter):
    """Objects presented in blocks: what runs with and without a budget have in common.

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
    proof = ", and no hyperplane of the kernel's space separates the rows with a margin above {share} of their radius"

    def __init__(self, job: DualJob, threads: Threads) -> None:
        self.job, self.task, self.threads = job, job.task, threads
        self.pool = ObjectPool(job.kernel, job.start.vectors, job.objects, job.cache_bytes)
        self.n_objects, problems = job.objects.shape[0], job.start.trials.size
        self.subset = job.subset if job.subset.size else np.arange(self.n_objects)
        self.n_rows = self.subset.size
        self.joint = job.multiclass == "joint" and problems > 1
        self.parts = 1 if self.joint or self.shares_vectors else problems
        self.counted = self.parts - job.n_reserve
        self.trials = job.start.trials.copy()
        self.progress = loops.Progress(self.trials, np.zeros(problems), np.zeros(problems))
        self.sample_weight = job.task.sample_weight if job.task.sample_weight.size else np.ones(self.n_objects)
        self.order = Order(job.plan.order, job.task.label, job.subset, job.plan.seed)
        # Drawn with replacement, a row may come twice in an epoch, or never.
        self.each_row_once = job.plan.order != "random"
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

    def present(self, epoch: int, active: list[int], clock: Clock) -> Shown:
        """Present every row once to the active parts, or as many as the clock allows."""
        self._begin()
        mistakes, loss = self.progress.mistakes, self.progress.loss
        mistakes[:], loss[:] = 0.0, 0.0
        order = self.order.draw()
        order = np.asarray(order if order.size else np.arange(self.n_objects), dtype=np.int64)
        problems, trials = self._problems(active), 0
        for piece in pieces(order.size, self.rows_per_block):
            self._learn(order[piece], problems)
            trials += piece.size
            if clock.late:
                self._skip(order[trials:])
                break
        if self.parts == 1:
            mistakes, loss = mistakes.sum(keepdims=True), loss.sum(keepdims=True)
        counts = mistakes.astype(np.int64).tolist()
        return Shown(counts, counts, loss.tolist(), trials, trials == order.size and self.each_row_once)

    def _problems(self, active: list[int]) -> loops.Problems:
        """Return what the rows teach the problems of the active parts."""
        chosen = np.array(active, np.int64) if self.parts > 1 else np.arange(self.trials.size)
        return loops.Problems(self.task.sign, self.task.cost, self.task.class_cost, chosen, self.joint)

    def fits(self, part: int) -> bool:
        """Return whether every row is on its side."""
        problems, margin = self._problems([part]), np.empty(self.n_rows)
        scores = np.ascontiguousarray(self.scores()[:, self.subset])
        loops.margins(self.task.label[self.subset], scores, problems, 0, margin)
        return bool((margin > 0).all())

    def weights(self) -> tuple[Array, Array]:
        """Return a copy of the coefficients, and biases, which are zero."""
        return self.coef(), np.zeros(self.trials.size)

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


class Unbounded(DualPresenter):
    """A run that keeps every row that was ever mistaken.

    Slots number the vectors: those of the start, then rows in the order of their first mistakes.
    """

    def __init__(self, job: DualJob, threads: Threads) -> None:
        super().__init__(job, threads)
        problems = self.trials.size
        self.rows_per_block = EXPENSIVE_ROWS_PER_BLOCK if job.kernel.expensive else ROWS_PER_BLOCK
        self.kept_scores = np.zeros((problems, self.n_objects))
        self.member = GrowingArray((), np.int64)  # number in the pool of each slot
        self.member.push(np.arange(self.pool.offset))
        self.slot = np.full(self.n_objects, -1, np.int64)
        self.log = [job.start.log]
        # The changes of this epoch: slots and their steps. The start is a change, too.
        self.changed, self.steps = GrowingArray((), np.int64), GrowingArray((problems,), self.dtype)
        self.changed.push(np.arange(self.pool.offset))
        self.steps.push(job.start.coef.T)
        # Rows, and how many of the changes their kept scores contain. If a row may come twice in an epoch, its kept
        # score is that of the start of the epoch.
        self.behind: list[tuple[Array, int]] = []
        self.complete = 0  # slots below this one have whole columns in the cache
        worth = job.plan.epochs > 1 and self.pool.known is None and job.kernel.worth_caching(job.objects)
        self.cache = ColumnCache(self.n_objects, self.dtype, job.cache_bytes) if worth else None
        self.K = np.empty((0, 0), self.dtype)
        self.ceiling = np.inf

    # --------------------------------------------------------------------------------------------------- presentation

    def _begin(self) -> None:
        """Add the changes of the last epoch to the scores of every row."""
        if self.behind:
            self._catch_up()
        if not self.each_row_once:
            self.behind = [(self.subset[share], 0) for share in pieces(self.subset.size, ROWS_PER_SHARE)]

    def _learn(self, row: Array, problems: loops.Problems) -> None:
        """Bring a block up to date, present its rows one by one, and log the updates."""
        scores = self._scores_of(row)
        if self.each_row_once:
            self.kept_scores[:, row] = scores
            self.behind += [(row[share], self.changed.size) for share in pieces(row.size, ROWS_PER_SHARE)]
        self._check_finite(scores)
        block = loops.Block(row, self.task.label[row], self.sample_weight[row], self._room(row.size), scores)
        self._log_updates(row, self._present(block, problems))

    def _skip(self, row: Array) -> None:
        """Note rows whose scores contain no change of this epoch."""
        if self.each_row_once:
            self.behind += [(row[share], 0) for share in pieces(row.size, ROWS_PER_SHARE)]

    def _room(self, n_rows: int) -> Array:
        """Return an array for the similarities within a block, the same for all blocks of a size."""
        if self.K.shape[1] != n_rows:
            self.K = np.empty((n_rows, n_rows), self.dtype)
        return self.K

    def _present(self, block: loops.Block, problems: loops.Problems) -> loops.Updates:
        """Present the rows of a block one by one, and compute similarities when they are missing."""
        row, n_rows = block.row, block.row.size
        capacity = n_rows * (2 if self.joint else problems.active.size)
        place, problem, trial = np.empty((3, capacity), np.int64)
        updates = loops.Updates(place, problem, np.empty(capacity), trial, np.zeros(1, np.int64))
        present = loops.run_joint_block if self.joint else loops.run_block
        column, filled, at = np.full(n_rows, -1, np.int64), 0, 0
        while True:
            at = present(block, problems, column, at, self.progress, updates)
            if at == n_rows:
                return updates
            chosen = self._choose_columns(block, problems, column, at)
            # Rows that have been presented need no similarities any more.
            self._fill(row[chosen], row[at:], block.K[filled : filled + chosen.size, at:])
            column[chosen] = np.arange(filled, filled + chosen.size)
            filled += chosen.size

    def _choose_columns(self, block: loops.Block, problems: loops.Problems, column: Array, at: int) -> Array:
        """Return the rows whose similarities to compute: the mistaken row `at`, and those that may become mistaken."""
        margin = np.full(block.label.size, np.inf)
        loops.margins(block.label, block.scores, problems, at, margin)
        margin[column >= 0] = np.inf
        mistaken = int(np.count_nonzero(margin <= 0.0))
        left = int(np.count_nonzero(margin < np.inf))
        wanted = mistaken if self.job.kernel.expensive else max(COLUMNS_AHEAD, 2 * mistaken)
        if wanted < left:
            margin[at] = -np.inf
            return np.argpartition(margin, wanted - 1)[:wanted]
        return np.flatnonzero(margin < np.inf)

    def _fill(self, chosen: Array, row: Array, out: Array) -> None:
        """Write the similarities of the chosen rows with `row` into out."""

        def work(share: Array) -> None:
            out[:, share[0] : share[-1] + 1] = self.pool.columns(chosen + self.pool.offset, row[share])

        self.threads.share(work, pieces(row.size, ROWS_PER_SHARE))

    def _log_updates(self, row: Array, updates: loops.Updates) -> None:
        """Enter the updates of a block into the log and the changes. Each mistaken row is one change."""
        size = int(updates.size[0])
        if not size:
            return
        place, problem, step, trial = (part[:size].copy() for part in updates[:4])
        who, line = np.unique(place, return_inverse=True)
        fresh, first = np.unique(row[who][self.slot[row[who]] < 0], return_index=True)
        fresh = fresh[np.argsort(first)]  # in the order of their first mistakes
        self.slot[fresh] = self.member.size + np.arange(fresh.size)
        self.member.push(fresh + self.pool.offset)
        steps = np.zeros((who.size, self.trials.size), self.dtype)
        np.add.at(steps, (line, problem), step)
        self.changed.push(self.slot[row[who]])
        self.steps.push(steps)
        self.log.append(Log(self.slot[row[place]], problem, step, trial))

    # --------------------------------------------------------------------------------------------------------- scores

    def _add_changes(self, row: Array, known: int) -> Array:
        """Return the scores of some rows. Their kept scores contain the first `known` changes; the rest are added."""
        scores = self.kept_scores[:, row]
        slot, steps = self.changed.view(known), self.steps.view(known)
        cached = np.zeros(slot.size, bool)
        if self.cache is not None:
            cached = slot < min(self.complete, self.cache.capacity)
            here = np.flatnonzero(cached)
            for place, K in self.cache.read(slot[here], row):
                scores += steps[here[place]].T @ K
        missing = np.flatnonzero(~cached)
        for tile in pieces(missing.size, VECTORS_PER_TILE):
            place = missing[tile]
            K = self.pool.columns(self.member.array[slot[place]], row)
            if self.cache is not None:
                self.cache.write(slot[place], row, K)
            with np.errstate(invalid="ignore", over="ignore"):
                scores += steps[place].T @ K
        return scores

    def _scores_of(self, row: Array) -> Array:
        """Return the scores of a block, with all changes of this epoch added."""
        scores = np.empty((self.trials.size, row.size))

        def work(share: Array) -> None:
            scores[:, share] = self._add_changes(row[share], 0)

        if self.cache is not None:
            self.cache.open(self.member.size)
        self.threads.share(work, pieces(row.size, ROWS_PER_SHARE))
        return scores

    def _catch_up(self) -> None:
        """Add to the kept scores of every row the changes that were made after its presentation."""

        def work(part: tuple[Array, int]) -> None:
            row, known = part
            self.kept_scores[:, row] = self._add_changes(row, known)

        if self.cache is not None:
            self.cache.open(self.member.size)
        self.threads.share(work, self.behind)
        self.behind = []
        self.complete = self.member.size
        self.changed.size = self.steps.size = 0

    def scores(self) -> Array:
        """Return the current scores of all objects."""
        self._catch_up()
        return self.kept_scores

    # -------------------------------------------------------------------------------------------------------- results

    def hopeless(self, parts: list[int], level: float, epoch: int) -> dict[int, Stop]:
        """Return which of the stalled parts should end: those without a margin above `level` of the radius."""
        ceilings = self._ceilings()
        ended = [part for part in parts if ceilings[part] <= level * self.radius]
        self.ceiling = min([self.ceiling, *(float(ceilings[part]) for part in ended)])
        return dict.fromkeys(ended, Stop.TRAINING)

    def margin_ceiling(self) -> float:
        """Return the largest margin that a separator of any ended part can have; infinite if none has stalled."""
        return self.ceiling

    def _ceilings(self) -> Array:
        """Return for each part |w| over the sum of the steps: a separator gains at least its margin in each step."""
        scores, coef, number = self.scores(), self.coef(), self.member.view()
        of_vectors = np.empty((self.trials.size, number.size))
        late = number >= self.pool.offset
        of_vectors[:, late] = scores[:, number[late] - self.pool.offset]
        if self.pool.offset:
            of_vectors[:, ~late] = expand(self.job.kernel, self.pool.take(number), self.pool.first, coef)
        squares, steps = np.maximum((coef * of_vectors).sum(axis=1), 0.0), np.abs(coef).sum(axis=1)
        if self.joint:
            squares, steps = squares.sum(keepdims=True), steps.sum(keepdims=True) / 2
        return np.asarray(np.sqrt(squares) / np.where(steps > 0, steps, np.inf))

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
