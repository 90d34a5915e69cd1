"""Training in the dual: an expansion in similarities with the rows that were mistaken, row by row, at BLAS speed.

The algorithm is the lectures': present the rows one by one; on a mistake, y f(x) <= 0, count it for the row, where
f(x) is the sum of alpha_i y_i k(x_i, x). What makes it fast changes nothing of that. The scores of all rows are kept.
A block of rows first takes in, by one product of matrices for all problems, what has changed since its last visit;
then its rows are presented one by one, with the similarities of those among them that are, or may become, mistaken.
At the end of an epoch each block takes in what changed after it. So an epoch costs its own mistakes and no more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from rosenblatt.compiled import dual as duals
from rosenblatt.compiled.epochs import Task
from rosenblatt.dual.kernels import Objects, Similarity, join, take
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.model import EVERY_ROW
from rosenblatt.learn.order import Order
from rosenblatt.learn.stopping import PRECEDENCE, Patience, Stop
from rosenblatt.learn.trainer import Epoch, Plan, Run

Array = npt.NDArray[Any]

BLOCK = 512  # rows that are presented together
SHARE = 256  # rows that a thread takes at a time
TILE = 1024  # vectors whose similarities with a share are computed together: a megabyte, which a cache can hold
AHEAD = 32  # similarities of so many rows of a block cost hardly more than those of one
CHUNK = 256  # columns of the cache that are allocated together


class Log(NamedTuple):
    """The updates in the order of the trials."""

    slot: Array  # (m,) which vector
    problem: Array  # (m,)
    step: Array  # (m,) signed
    trial: Array  # (m,) trials of the problem before it


@dataclass(frozen=True)
class Expansion:
    """What is learned: f_p(x) = sum over s of coef[p, s] k(x_s, x), and how it came about.

    Attributes
    ----------
    vectors : objects
        The x_s, in the order of their first mistakes.
    rows : int array of shape (n_vectors,)
        Their numbers among all rows presented.
    coef : array of shape (n_problems, n_vectors)
    trials : int array of shape (n_problems,)
        Trials so far.
    log : Log
        All updates.
    """

    vectors: Objects
    rows: Array
    coef: Array
    trials: Array
    log: Log

    @classmethod
    def empty(cls, objects: Objects, problems: int) -> Expansion:
        """Give the zero function of such objects."""
        none = np.empty(0, np.int64)
        log = Log(none, none, np.empty(0), none)
        return cls(objects[:0], none, np.zeros((problems, 0)), np.zeros(problems, np.int64), log)

    def summed(self) -> Array:
        """Give the coefficients of the sum of f_p over all trials, exact where the steps are."""
        lag = np.zeros_like(self.coef)
        np.add.at(lag, (self.log.problem, self.log.slot), self.log.step * self.log.trial)
        return self.trials[:, None] * self.coef - lag

    def grow(self, change: Array) -> Expansion:
        """Give the expansion of more problems, each an old one, an old one with its sign changed, or a new one."""
        parts = []
        for p, line in enumerate(change):
            (old,) = np.nonzero(line) if line.any() else (np.array([-1]),)
            mine = self.log.problem == old[0]
            step = line[old[0]] * self.log.step[mine]
            parts.append(Log(self.log.slot[mine], np.full(mine.sum(), p), step, self.log.trial[mine]))
        log = Log(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        trials = np.abs(change).astype(np.int64) @ self.trials
        return replace(self, coef=change.astype(float) @ self.coef, trials=trials, log=log)


class Crew:
    """Threads that share out rows, each with matrix products of its own.

    The products are too small to be shared well by a BLAS with several threads, which wait for one another in each: on
    a busy machine that took four times as long. What is shared is fixed, so the result does not depend on the number
    of threads. A user's function is called by one thread only, and may use what BLAS has.
    """

    def __init__(self, kernel: Similarity) -> None:
        self.alone = kernel.foreign
        self.threads = 1
        self.pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Crew:
        if not self.alone:
            blas = _blas()
            self.threads = min([os.cpu_count() or 1, *(library["num_threads"] for library in blas.info())])
            self.limit = blas.limit(limits=1)
        return self

    def __exit__(self, *_: object) -> None:
        if not self.alone:
            self.limit.restore_original_limits()
        if self.pool is not None:
            self.pool.shutdown()

    def share(self, work: Callable[[Any], None], parts: Iterable[Any]) -> None:
        """Do the work for each part."""
        parts = list(parts)
        if self.threads == 1 or len(parts) < 2:
            for part in parts:
                work(part)
            return
        if self.pool is None:
            self.pool = ThreadPoolExecutor(self.threads)
        list(self.pool.map(work, parts))


@cache
def _blas() -> Any:
    """Find the BLAS libraries, which takes a millisecond."""
    return ThreadpoolController().select(user_api="blas")


def expand(kernel: Similarity, vectors: Objects, rows: Objects, coef: Array) -> Array:
    """Give the sums of coef[p, s] k(x_s, x) for each row x.

    Parameters
    ----------
    kernel : Similarity
    vectors, rows : objects
    coef : array of shape (n_problems, n_vectors)

    Returns
    -------
    array of shape (n_problems, n_rows)
    """
    out = np.zeros((coef.shape[0], rows.shape[0]))

    def work(part: Array) -> None:
        block = take(rows, part)
        for some in _pieces(vectors.shape[0], TILE):
            K = kernel.columns(take(vectors, some), block)
            out[:, part[0] : part[-1] + 1] += coef[:, some].astype(K.dtype) @ K

    with Crew(kernel) as crew:
        crew.share(work, _pieces(rows.shape[0], BLOCK))
    return out


def poll(kernel: Similarity, expansion: Expansion, rows: Objects) -> Array:
    """Let every f that there was during training vote on each row, once for each trial that it survived.

    Returns
    -------
    array of shape (n_problems, n_rows)
        Share of votes for less share of votes against; the zero function abstains.
    """
    log, problems = expansion.log, expansion.trials.size
    order = np.argsort(log.problem, kind="stable")
    slot, step, trial, problem = (part[order] for part in (log.slot, log.step, log.trial, log.problem))
    first = np.searchsorted(problem, np.arange(problems + 1))
    following = np.append(trial[1:], 0)
    ends = first[1:][np.diff(first) > 0] - 1
    following[ends] = expansion.trials[problem[ends]]
    survived = (following - trial) / np.maximum(expansion.trials, 1)[problem]
    out = np.zeros((problems, rows.shape[0]))
    if not slot.size:
        return out

    def work(part: Array) -> None:
        block = take(rows, part)
        tiles = [kernel.columns(take(expansion.vectors, some), block) for some in _pieces(expansion.rows.size, TILE)]
        votes = np.zeros((problems, part.size))
        duals.add_votes(np.concatenate(tiles), slot, step, survived, first, votes)
        out[:, part[0] : part[-1] + 1] = votes

    with Crew(kernel) as crew:
        crew.share(work, _pieces(rows.shape[0], SHARE))
    return out


def _pieces(size: int, length: int) -> Iterator[Array]:
    for start in range(0, size, length):
        yield np.arange(start, min(start + length, size))


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
    index : int array
        The objects to train on, in the order of a cycle; empty for all.
    memory : float
        Most bytes of similarities to keep.
    strangers : int
        How many of the last problems the record leaves out of its counts.
    before : int
        How many objects of a stream came earlier.
    """

    kernel: Similarity
    objects: Objects
    task: Task
    plan: Plan
    multiclass: str
    start: Expansion
    index: Array = field(default_factory=lambda: EVERY_ROW)
    memory: float = 1e9
    strangers: int = 0
    before: int = 0


class Pool:
    """The objects of a run, numbered through: the vectors it starts with, then its rows."""

    def __init__(self, job: DualJob) -> None:
        self.kernel, self.first, self.rows = job.kernel, job.start.vectors, job.objects
        self.offset = int(job.start.rows.size)
        size = self.offset + job.objects.shape[0]
        # Of a function that is called for every pair, no pair is asked twice if that fits into memory.
        remembers = job.kernel.dear and 8.0 * size * size <= job.memory
        self.known = np.full((size, size), np.nan) if remembers else None

    def take(self, number: Array) -> Objects:
        """Give objects by their numbers."""
        early = int(np.searchsorted(number, self.offset)) if (np.diff(number) >= 0).all() else -1
        if early == 0 or self.offset == 0:
            return take(self.rows, number - self.offset)
        if early == number.size:
            return take(self.first, number)
        old = number < self.offset
        if early >= 0:
            return join(take(self.first, number[old]), take(self.rows, number[~old] - self.offset))
        mixed = join(take(self.first, number[old]), take(self.rows, number[~old] - self.offset))
        place = np.empty(number.size, np.int64)
        place[np.concatenate([np.flatnonzero(old), np.flatnonzero(~old)])] = np.arange(number.size)
        return mixed[place]

    def columns(self, number: Array, row: Array) -> Array:
        """Give the similarities of objects with rows, shape (numbers, rows)."""
        if self.known is None:
            return self.kernel.columns(self.take(number), take(self.rows, row))
        row = row + self.offset
        for i in number:
            missing = row[np.isnan(self.known[i, row])]
            if missing.size:
                found = self.kernel.columns(self.take(np.array([i])), self.take(missing))[0]
                self.known[i, missing] = self.known[missing, i] = found
        return np.asarray(self.known[np.ix_(number, row)])

    def own(self) -> Array:
        """Give k(x, x) of the rows."""
        return self.kernel.own(self.rows)


class _Cache:
    """Columns of similarities with all rows, of as many vectors as the memory allows, the earliest first."""

    def __init__(self, rows: int, dtype: npt.DTypeLike, memory: float) -> None:
        self.rows, self.dtype = rows, np.dtype(dtype)
        self.capacity = int(memory // (rows * self.dtype.itemsize))
        self.chunks: list[Array] = []

    def open(self, slots: int) -> None:
        """Make room for so many vectors, as far as it goes."""
        while len(self.chunks) * CHUNK < min(slots, self.capacity):
            width = min(CHUNK, self.capacity - len(self.chunks) * CHUNK)
            self.chunks.append(np.empty((width, self.rows), self.dtype))

    def write(self, slot: Array, row: Array, K: Array) -> None:
        """Keep the similarities of some vectors with some rows."""
        for number in np.unique(slot[slot < self.capacity] // CHUNK):
            here = np.flatnonzero((slot // CHUNK == number) & (slot < self.capacity))
            column = slot[here] - number * CHUNK
            if _neighbours(row) and _neighbours(column) and _neighbours(here):
                part = K[here[0] : here[-1] + 1]
                self.chunks[number][column[0] : column[-1] + 1, row[0] : row[-1] + 1] = part
            else:
                self.chunks[number][np.ix_(column, row)] = K[here]

    def read(self, slot: Array, row: Array) -> Iterator[tuple[Array, Array]]:
        """Give places among the slots, and the similarities kept of them."""
        near = _neighbours(row)
        for number in np.unique(slot // CHUNK):
            here = np.flatnonzero(slot // CHUNK == number)
            column = slot[here] - number * CHUNK
            chunk = self.chunks[number]
            yield here, chunk[column, row[0] : row[-1] + 1] if near else chunk[np.ix_(column, row)]


def _neighbours(number: Array) -> bool:
    """Tell whether numbers follow one another, so that a slice can stand for them."""
    return bool(number[-1] - number[0] == number.size - 1 and (np.diff(number) == 1).all())


class _Stack:
    """An array that grows at its end."""

    def __init__(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        self.array, self.size = np.empty((256, *shape), dtype), 0

    def push(self, values: Array) -> None:
        """Add values."""
        needed = self.size + len(values)
        if needed > len(self.array):
            grown = np.empty((max(needed, 2 * len(self.array)), *self.array.shape[1:]), self.array.dtype)
            grown[: self.size] = self.array[: self.size]
            self.array = grown
        self.array[self.size : needed] = values
        self.size = needed

    def view(self, start: int = 0) -> Array:
        """Give the values from `start` on."""
        return self.array[start : self.size]


class Epochs:
    """A run in progress: blocks of rows, counts, the end. A part is what ends by itself.

    Each problem is a part. A joint task is one part, and so is a run whose problems share their vectors: on a budget,
    a problem that ended would no longer learn, while the others went on replacing the vectors that it needs.
    """

    block = BLOCK
    shares_vectors = False

    def __init__(self, job: DualJob, crew: Crew) -> None:
        self.start = time.perf_counter()
        self.job, self.plan, self.task, self.crew = job, job.plan, job.task, crew
        self.pool = Pool(job)
        self.rows, problems = job.objects.shape[0], job.start.trials.size
        self.every = job.index if job.index.size else np.arange(self.rows)
        self.joint = job.multiclass == "joint" and problems > 1
        self.parts = 1 if self.joint or self.shares_vectors else problems
        self.known = problems - job.strangers
        self.active = np.arange(self.parts)
        self.stops: dict[int, Stop] = {}
        self.trials = job.start.trials.copy()
        self.importance = job.task.sample_weight if job.task.sample_weight.size else np.ones(self.rows)
        self.order = Order(job.plan.order, job.task.label, job.index, job.plan.seed)
        self.patience = None if job.plan.tol is None else Patience(self.parts, job.plan.tol, job.plan.patience)
        self.dtype = self.pool.columns(np.array([self.pool.offset]), np.array([0])).dtype
        self.counts = np.zeros((2, problems))  # of a joint task, only the first of each
        self.progress = duals.Progress(self.trials, *self.counts)
        self.mistakes: list[int] = []
        self.losses: list[float] = []
        self.presented = 0
        self.ceiling: float | None = None

    # ------------------------------------------------------------------------------------- what a kind of run brings

    def begin(self) -> None:
        """Prepare for an epoch."""

    def learn(self, row: Array) -> None:
        """Present a block of rows one by one."""
        raise NotImplementedError

    def skip(self, row: Array) -> None:
        """Take note of rows that are not presented in this epoch any more."""

    def scores_now(self) -> Array:
        """Give the scores of all rows, up to date."""
        raise NotImplementedError

    def ceilings(self) -> Array:
        """Give for each part the largest margin that a separator can have, as far as the run proves it."""
        return np.zeros(self.parts)

    def expansion(self) -> Expansion:
        """Give what was learned."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------------- epochs

    def problems(self) -> duals.Problems:
        """Return what the rows teach the problems that still learn."""
        active = self.active if self.parts == self.trials.size else np.arange(self.trials.size)
        return duals.Problems(self.task.sign, self.task.cost, self.task.class_cost, active, self.joint)

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self.start

    @property
    def late(self) -> bool:
        """Whether the time limit is over."""
        return self.plan.seconds is not None and self.seconds > self.plan.seconds

    def epoch(self) -> None:
        """Present every row once, then decide which parts go on."""
        self.begin()
        self.counts[:] = 0.0
        order = self.order.draw()
        order = np.asarray(order if order.size else np.arange(self.rows), dtype=np.int64)
        whole = True
        for part in _pieces(order.size, self.block):
            self.learn(order[part])
            self.presented += part.size
            if self.late:
                rest = order[part[-1] + 1 :]
                whole = not rest.size
                self.skip(rest)
                break
        self.mistakes.append(int(self.counts[0, : self.known].sum()))
        self.losses.append(float(self.counts[1, : self.known].sum()) / self.every.size)
        self._judge(whole and self.plan.order != "random")

    def refuse_overflow(self, scores: Array) -> None:
        """Stop where scores are not finite."""
        if not np.isfinite(scores).all():
            raise InvalidInput(
                f"The scores overflowed {self.dtype}: similarities are too large. Scale the data, for example with "
                "StandardScaler, or lower gamma or degree."
            )

    def _judge(self, all_seen: bool) -> None:
        mistakes, loss = self.counts if self.parts > 1 else self.counts.sum(axis=1, keepdims=True)
        clean = self.active[mistakes[self.active] == 0]
        if clean.size and not all_seen:
            clean = clean[self._fits(clean)]
        self._end(clean, Stop.SEPARATED)
        if self.patience is not None:
            lost = np.array(self.patience.lost((loss / self.every.size).tolist()))
            tired = self.active[lost[self.active]]
            if tired.size:
                ceilings = self.ceilings()
                tired = tired[ceilings[tired] <= self.patience.tol * self.radius]
                self._end(tired, Stop.TRAINING)
                if tired.size:
                    before = np.inf if self.ceiling is None else self.ceiling
                    self.ceiling = float(np.min(ceilings[tired], initial=before))
        if self.plan.callback is not None and self.plan.callback(self._report()):
            self._end(self.active, Stop.CALLBACK)
        if self.late:
            self._end(self.active, Stop.SECONDS)
        if len(self.mistakes) == self.plan.epochs:
            self._end(self.active, Stop.EPOCHS)

    def _end(self, parts: Array, stop: Stop) -> None:
        if parts.size:
            self.stops.update((int(part), stop) for part in parts)
            self.active = np.array([part for part in self.active if part not in self.stops], np.int64)

    def _fits(self, parts: Array) -> Array:
        """Return for each of the parts whether every row is on its side."""
        label, given = self.task.label[self.every], np.ascontiguousarray(self.scores_now()[:, self.every])
        if self.joint:
            margin = np.empty(label.size)
            duals.margins(label, given, self.problems(), 0, margin)
            return np.array([bool((margin > 0).all())])
        signs = self.task.sign[label].T
        fits = ((signs * given > 0) | (signs == 0)).all(axis=1)
        return np.asarray(fits[parts] if self.parts > 1 else fits.all(keepdims=True))

    @property
    def radius(self) -> float:
        """Largest length of a row in the space of the similarity."""
        if "_radius" not in self.__dict__:
            self._radius = float(np.sqrt(max(0.0, float(self.pool.own().max()))))
        return self._radius

    # ------------------------------------------------------------------------------------------------------ the record

    def _report(self) -> Epoch:
        mistakes = self.mistakes[-1]
        coef, intercept = self.expansion().coef, np.zeros(self.trials.size)
        return Epoch(len(self.mistakes), mistakes, mistakes, self.losses[-1], None, self.seconds, coef, intercept)

    def record(self, coef: Array) -> Run:
        """Write the record."""
        stops = tuple(self.stops[part] for part in range(self.parts))
        problems = 1 if self.joint else self.trials.size
        return Run(
            mistakes=tuple(self.mistakes),
            losses=tuple(self.losses),
            errors=(),
            updates=sum(self.mistakes),
            epochs=len(self.mistakes),
            trials=self.presented,
            seconds=self.seconds,
            stop=next(stop for stop in PRECEDENCE if stop in stops),
            reason=self._reason(stops),
            stops=stops * (problems // self.parts),  # one for each problem, as everywhere
            kept=len(self.mistakes),
            cycle=None,
            radius=self.radius,
            ceiling=self.ceiling,
            certificate=None,
            coef=coef,
            intercept=np.zeros(self.trials.size),
        )

    def _reason(self, stops: tuple[Stop, ...]) -> str:
        """Say why the run ended, with its figures."""
        if self.parts == 1:
            return self._sentence(stops[0]) + "."
        counts = ((stops.count(stop), stop) for stop in PRECEDENCE if stop in stops)
        return "; ".join(f"{count} of {self.parts} problems: {self._sentence(stop)}" for count, stop in counts) + "."

    def _sentence(self, stop: Stop) -> str:
        plan, epochs = self.plan, len(self.mistakes)
        alone = f" ({sum(self.mistakes)} updates in {epochs} epochs)" if self.parts == 1 else ""
        proof = ""
        if self.ceiling:
            proof = (
                ", and no hyperplane of the kernel's space separates the rows with a margin above "
                f"{self.ceiling / (self.radius or 1.0):.1g} of their radius"
            )
        figures = {
            Stop.SEPARATED: alone,
            Stop.EPOCHS: f" ({self.mistakes[-1]} in epoch {epochs}): allow more epochs, or another kernel",
            Stop.SECONDS: f" ({plan.seconds} s, in epoch {epochs})",
            Stop.TRAINING: f": {plan.patience} epochs in a row did not lower the mean loss by {plan.tol}{proof}",
            Stop.CALLBACK: f", after epoch {epochs}",
        }
        return stop.value + figures[stop]


class _Unbounded(Epochs):
    """A run that keeps every row that was mistaken."""

    def __init__(self, job: DualJob, crew: Crew) -> None:
        super().__init__(job, crew)
        problems = self.trials.size
        self.block = AHEAD if job.kernel.dear else BLOCK
        self.scores = np.zeros((problems, self.rows))
        # Slots number the vectors: those of the start, then rows in the order of their first mistakes.
        self.number = _Stack((), np.int64)
        self.number.push(np.arange(self.pool.offset))
        self.slot = np.full(self.rows, -1, np.int64)
        self.log = [job.start.log]
        # What changed in this epoch: slots and their steps. The start is a change, too.
        self.changed, self.steps = _Stack((), np.int64), _Stack((problems,), self.dtype)
        self.changed.push(np.arange(self.pool.offset))
        self.steps.push(job.start.coef.T)
        # Drawn with replacement, a row may come twice: its kept score is then that of the start of the epoch.
        self.once = job.plan.order != "random"
        self.behind: list[tuple[Array, int]] = []  # rows, and how many of the changes they know
        self.complete = 0  # slots below this one have whole columns in the cache
        worth = job.plan.epochs > 1 and self.pool.known is None and job.kernel.costly(job.objects)
        self.cache = _Cache(self.rows, self.dtype, job.memory) if worth else None
        self.K = np.empty((0, 0), self.dtype)

    def begin(self) -> None:
        """Let every row know of the last epoch."""
        if self.behind:
            self._settle()
        if not self.once:
            self.behind = [(self.every[some], 0) for some in _pieces(self.every.size, SHARE)]

    def learn(self, row: Array) -> None:
        """Take in what changed in this epoch, then present the rows one by one, and write down the updates."""
        scores = self._visit(row)
        if self.once:
            self.scores[:, row] = scores
            self.behind += [(row[some], self.changed.size) for some in _pieces(row.size, SHARE)]
        self.refuse_overflow(scores)
        self._write(row, self._present(row, scores))

    def skip(self, row: Array) -> None:
        """Take note of rows that know of nothing that changed."""
        if self.once:
            self.behind += [(row[some], 0) for some in _pieces(row.size, SHARE)]

    def _take_in(self, row: Array, known: int) -> Array:
        """Give the scores of some rows, which know of so many changes already, with the rest of them added."""
        scores = self.scores[:, row]
        slot, steps = self.changed.view(known), self.steps.view(known)
        kept = np.zeros(slot.size, bool)
        if self.cache is not None:
            kept = slot < min(self.complete, self.cache.capacity)
            here = np.flatnonzero(kept)
            for place, K in self.cache.read(slot[here], row):
                scores += steps[here[place]].T @ K
        fresh = np.flatnonzero(~kept)
        for some in _pieces(fresh.size, TILE):
            place = fresh[some]
            K = self.pool.columns(self.number.array[slot[place]], row)
            if self.cache is not None:
                self.cache.write(slot[place], row, K)
            with np.errstate(invalid="ignore", over="ignore"):
                scores += steps[place].T @ K
        return scores

    def _settle(self) -> None:
        """Let every row know of what changed after it was presented."""

        def work(part: tuple[Array, int]) -> None:
            row, known = part
            self.scores[:, row] = self._take_in(row, known)

        if self.cache is not None:
            self.cache.open(self.number.size)
        self.crew.share(work, self.behind)
        self.behind = []
        self.complete = self.number.size
        self.changed.size = self.steps.size = 0

    def _visit(self, row: Array) -> Array:
        """Give the scores of a block, with all changes of this epoch taken in."""
        scores = np.empty((self.trials.size, row.size))

        def work(some: Array) -> None:
            scores[:, some] = self._take_in(row[some], 0)

        if self.cache is not None:
            self.cache.open(self.number.size)
        self.crew.share(work, _pieces(row.size, SHARE))
        return scores

    def _columns(self, asked: Array, row: Array, out: Array) -> None:
        """Compute the similarities of some rows of a block with others of it."""

        def work(some: Array) -> None:
            out[:, some[0] : some[-1] + 1] = self.pool.columns(asked + self.pool.offset, row[some])

        self.crew.share(work, _pieces(row.size, SHARE))

    def _present(self, row: Array, scores: Array) -> duals.Updates:
        """Present the rows of a block one by one; return the updates."""
        problems = self.problems()
        capacity = row.size * (2 if self.joint else problems.active.size)
        whole, count = np.empty((3, capacity), np.int64), np.zeros(1, np.int64)
        updates = duals.Updates(whole[0], whole[1], np.empty(capacity), whole[2], count)
        column, filled, at = np.full(row.size, -1, np.int64), 0, 0
        if self.K.shape[1] != row.size:
            self.K = np.empty((row.size, row.size), self.dtype)
        block = duals.Block(row, self.task.label[row], self.importance[row], self.K, scores)
        present = duals.run_joint_block if self.joint else duals.run_block
        while True:
            at = present(block, problems, column, at, self.progress, updates)
            if at == row.size:
                break
            asked = self._ask(block, problems, column, at)
            # Rows that have been presented need no similarities any more.
            self._columns(row[asked], row[at:], self.K[filled : filled + asked.size, at:])
            column[asked] = np.arange(filled, filled + asked.size)
            filled += asked.size
        return updates

    def _ask(self, block: duals.Block, problems: duals.Problems, column: Array, at: int) -> Array:
        """Choose the rows of a block whose similarities to compute: the one that is mistaken, and those that may be."""
        margin = np.full(block.label.size, np.inf)
        duals.margins(block.label, block.scores, problems, at, margin)
        margin[column >= 0] = np.inf
        mistaken = int(np.count_nonzero(margin <= 0.0))
        left = int(np.count_nonzero(margin < np.inf))
        wanted = mistaken if self.job.kernel.dear else max(AHEAD, 2 * mistaken)
        if wanted < left:
            margin[at] = -np.inf
            return np.argpartition(margin, wanted - 1)[:wanted]
        return np.flatnonzero(margin < np.inf)

    def _write(self, row: Array, updates: duals.Updates) -> None:
        """Enter the updates of a block, of which each row is one change."""
        size = int(updates.size[0])
        if not size:
            return
        place, problem, step, trial = (part[:size].copy() for part in updates[:4])
        who, line = np.unique(place, return_inverse=True)
        fresh, first = np.unique(row[who][self.slot[row[who]] < 0], return_index=True)
        fresh = fresh[np.argsort(first)]  # in the order of their first mistakes
        self.slot[fresh] = self.number.size + np.arange(fresh.size)
        self.number.push(fresh + self.pool.offset)
        steps = np.zeros((who.size, self.trials.size), self.dtype)
        np.add.at(steps, (line, problem), step)
        self.changed.push(self.slot[row[who]])
        self.steps.push(steps)
        self.log.append(Log(self.slot[row[place]], problem, step, trial))

    def scores_now(self) -> Array:
        """Give the scores of all rows, up to date."""
        self._settle()
        return self.scores

    def ceilings(self) -> Array:
        """Give for each part |w| over the sum of the steps: a separator gains its margin in each of them."""
        self._settle()
        coef, number = self._coef(), self.number.view()
        given = np.empty((self.trials.size, number.size))
        late = number >= self.pool.offset
        given[:, late] = self.scores[:, number[late] - self.pool.offset]
        if self.pool.offset:
            given[:, ~late] = expand(self.job.kernel, self.pool.take(number), self.pool.first, coef)
        squares, steps = np.maximum((coef * given).sum(axis=1), 0.0), np.abs(coef).sum(axis=1)
        if self.joint:
            squares, steps = squares.sum(keepdims=True), steps.sum(keepdims=True) / 2
        return np.asarray(np.sqrt(squares) / np.where(steps > 0, steps, np.inf))

    def _coef(self) -> Array:
        coef = np.zeros((self.trials.size, self.number.size))
        for log in self.log:
            np.add.at(coef, (log.problem, log.slot), log.step)
        return coef

    def expansion(self) -> Expansion:
        """Give what was learned."""
        late = self.number.view(self.pool.offset) - self.pool.offset
        return Expansion(
            vectors=join(self.pool.first, self.job.objects[late]),
            rows=np.concatenate([self.job.start.rows, late + self.job.before]),
            coef=self._coef(),
            trials=self.trials,
            log=Log(*(np.concatenate(column) for column in zip(*self.log, strict=True))),
        )


def run_dual(job: DualJob) -> tuple[Expansion, Run]:
    """Train, and give what was learned, with the record.

    Parameters
    ----------
    job : DualJob

    Returns
    -------
    Expansion
    Run
        With the coefficients of the expansion as its `coef`.
    """
    with Crew(job.kernel) as crew:
        return finish(_Unbounded(job, crew))


def finish(running: Epochs) -> tuple[Expansion, Run]:
    """Go on until every part has ended; give what was learned, with the record."""
    while running.active.size:
        running.epoch()
    learned = running.expansion()
    return learned, running.record(learned.coef)
