"""Training in the dual without a budget: every row that was ever mistaken is kept, with a log of its updates.

A run ends when every row is on its side; or when its mistakes prove that a separator would guarantee nothing about new
rows. With a separator of margin g there are at most (R / g)^2 mistakes, and the probability of an error on a new row is
at most their expected number over n + 1 (Freund and Schapire 1999, after Vapnik). The mistakes so far bound every
margin from above, g <= |f| / (sum of the steps). Once the largest possible margin allows as many mistakes as there are
rows, epochs no longer count as progress, and `n_iter_no_change` ends the run. Its average has been a good hypothesis
since the first epoch.

If no row may be updated more than `most_updates` times, a run has a natural end: an epoch without an update, in which
every row has its margin or has had its updates. This is the counterpart of a soft margin, whose coefficients are at
most C.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.kernels import loops
from rosenblatt.kernels.expansion import VECTORS_PER_TILE, Expansion, Log, check_finite, expand
from rosenblatt.kernels.kernels import are_neighbours, join, take
from rosenblatt.kernels.runner import NO_SPANS, ROWS_PER_SHARE, KernelJob, KernelRunner, run_job
from rosenblatt.kernels.threads import Threads, pieces
from rosenblatt.training.multiclass import by_pairs
from rosenblatt.training.plan import Run
from rosenblatt.training.stopping import FREE_TRIALS, LIMITED_KERNEL_WORDS, UNBOUNDED_KERNEL_WORDS, Stop
from rosenblatt.training.trainer import EpochStats, RunClock

Array = npt.NDArray[Any]

# A Gram matrix of at most this size (8,000 rows) is computed once and read in every epoch. Blocks take two to six times
# the time.
GRAM_MAX_BYTES = 512e6
GRAM_COLUMNS_AHEAD = 256  # columns that are computed together, in one matrix product
COLUMNS_PER_SHARE = 128  # columns that a thread takes at a time

ROWS_PER_BLOCK = 512  # rows that are presented together
EXPENSIVE_ROWS_PER_BLOCK = 32  # the same if a similarity is so slow that none may be wasted
COLUMNS_PER_READ = 256  # columns of the cache that are read together
FIRST_CAPACITY = 256  # initial capacity of a growing array
COLUMNS_AHEAD = 32  # computing the similarities of so many rows of a block costs hardly more than of one


def run_dual(job: KernelJob) -> tuple[Expansion, Run]:
    """Train without a budget, with the whole Gram matrix if that is small, else block by block."""
    with Threads(alone=job.kernel.user_defined) as threads:
        runner = (WholeGram if has_room(job) else Blockwise)(job, threads)
        record = run_job(job, runner)
        return runner.expansion(), record


def empty_updates(capacity: int) -> loops.UpdateBuffer:
    """Return arrays with room for so many updates."""
    place, problem, trial = np.empty((3, capacity), np.int64)
    return loops.UpdateBuffer(place, problem, np.empty(capacity), trial, np.zeros(1, np.int64))


class Unbounded(KernelRunner):
    """Keeps every row that was ever mistaken, and logs every update.

    Slots number the vectors: those of the start, then rows in the order of their first mistakes.
    """

    words = UNBOUNDED_KERNEL_WORDS

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
        if self.pool.offset and not job.streams:  # a chunk of a stream does not need lengths
            coef, vectors = job.start.coef, job.start.vectors
            self.progress.square[:] = (coef * expand(job.kernel, vectors, vectors, coef)).sum(axis=1)
            self.progress.steps[:] = np.abs(coef).sum(axis=1)
        self.proved, self.highest = np.full(self.parts, np.inf), np.zeros(self.parts)
        # A limited run stops by itself, except with random sampling, where an epoch may miss rows.
        self.limited = bool(np.isfinite(job.most_updates))
        if self.limited:
            self.words = LIMITED_KERNEL_WORDS

    def _most_updates(self, n_trials: int, problems: loops.Problems) -> int:
        """Return the maximum of updates in so many trials."""
        return n_trials * (2 if self.joint else int(np.diff(problems.first).max()))

    def _run(
        self, block: loops.RowBlock, problems: loops.Problems, column: Array, at: int, to: loops.UpdateBuffer
    ) -> int:
        """Present the rows of a block until a similarity is missing; return the trial that needs it."""
        run = loops.run_joint_block if self.joint else loops.run_block
        return int(run(block, problems, column, at, self.progress, to))

    def _enter(self, row: Array, updates: loops.UpdateBuffer) -> Log:
        """Enter updates into the log, by the numbers of the rows of their block; return that part of the log."""
        place, problem, step, trial = (part[: int(updates.size[0])].copy() for part in updates[:4])
        row = row[place]
        fresh = row[self.slot[row] < 0]
        if fresh.size:
            fresh = fresh[np.sort(np.unique(fresh, return_index=True)[1])]  # in the order of their first mistakes
            self.slot[fresh] = self.member.size + np.arange(fresh.size)
            self.member.push(fresh + self.pool.offset)
        log = Log(self.slot[row], problem, step, trial)
        self.log.append(log)
        return log

    # ---------------------------------------------------------------------------------------------------------- the end

    def objective(self, stats: EpochStats) -> list[float]:
        """Return the mean loss of each part; or a figure above all earlier ones if its fall is no longer progress."""
        figures = np.array(stats.loss) / self.n_rows
        if self.limited:
            return list(figures)
        in_vain = self._guarantees_nothing()
        self.highest = np.maximum(self.highest, figures) + in_vain
        return list(np.where(in_vain, self.highest, figures))

    def give_up(self, parts: list[int], tol: float, epoch: int, clock: RunClock) -> dict[int, Stop]:
        """Return the stalled parts that end: those for which no separator would guarantee anything about new rows.

        If updates are limited, none: the remaining ones will be made, or are not due.
        """
        if self.limited:
            return {} if self.each_row_once else dict.fromkeys(parts, Stop.TRAINING)
        in_vain, bounds = self._guarantees_nothing(), self._margin_bounds()
        ended = [part for part in parts if in_vain[part] or bounds[part] <= tol * self.radius]
        self.proved[ended] = np.minimum(self.proved[ended], bounds[ended])
        return dict.fromkeys(ended, Stop.TRAINING)

    def margin_bounds(self) -> list[float]:
        """Return for each part an upper bound on the margin of any separator; infinite if it has not stalled."""
        bounds: list[float] = self.proved.tolist()
        return bounds

    def _margin_bounds(self) -> Array:
        """Return for each part |f| over the sum of the steps: a separator gains at least its margin in each step."""
        squares, steps = np.maximum(self.progress.square, 0.0), self.progress.steps
        if self.joint:
            squares, steps = squares.sum(keepdims=True), steps.sum(keepdims=True) / 2
        return np.asarray(np.sqrt(squares) / np.where(steps > 0, steps, np.inf))

    def _guarantees_nothing(self) -> Array:
        """Return for each part whether no possible margin has a mistake bound (R / g)^2 below its number of rows."""
        # A joint trial compares two classes: it adds the row to one vector and subtracts it from another.
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
            trials=self.trials.copy(),
            log=Log(*(np.concatenate(column) for column in zip(*self.log, strict=True))),
            label=np.concatenate([self.job.start.label, self.job.task.label[late]]),
        )


# ------------------------------------------------------------------------------------------------ a whole Gram matrix


def has_room(job: KernelJob) -> bool:
    """Return whether the Gram matrix of a job fits, its rows are all known, and similarities may be wasted."""
    return (
        not job.streams
        and not job.kernel.expensive
        and 8.0 * job.objects.shape[0] ** 2 <= min(GRAM_MAX_BYTES, job.cache_bytes)
    )


class WholeGram(Unbounded):
    """Runs an epoch as one compiled call over a Gram matrix. Every update is added to the scores of all rows at once.

    Only the columns of updated rows are ever computed, each once, and only their memory is ever touched. The rows are
    sorted by class. So the scores of a problem of two classes are two spans, and an update of one of many pairs costs
    only its own rows.
    """

    def __init__(self, job: KernelJob, threads: Threads) -> None:
        super().__init__(job, threads)
        self.number = np.argsort(job.task.label, kind="stable")  # of each place
        self.place = np.empty_like(self.number)
        self.place[self.number] = np.arange(self.n_objects)
        self.objects, label = job.objects[self.number], job.task.label[self.number]
        self.K = np.empty((self.n_objects, self.n_objects), self.dtype)
        scores, weight = np.zeros((self.trials.size, self.n_objects)), self.sample_weight[self.number]
        if self.pool.offset:
            scores = expand(job.kernel, job.start.vectors, self.objects, job.start.coef)
        self.block = loops.RowBlock(self.number, label, weight, self.K, scores, self.number, self._spans(label))
        entries = np.abs(self.task.sign) @ np.diff(self.block.spans)[:, :, 0].sum(axis=1)  # that a trial may change
        # At most 2^26 scores change between two checks of the clock, even if every row is mistaken.
        self.rows_per_block = max(1, min(self.n_rows, (1 << 26) // int(entries.max())))
        self.column, self.filled = np.full(self.n_objects, -1), 0  # side by side, so that no other memory is touched

    def _spans(self, label: Array) -> Array:
        """Return for each problem where its rows are: all, or those of two classes."""
        sign, spans = self.task.sign, np.zeros((self.trials.size, 2, 2), np.int64)
        spans[:, 0, 1] = self.n_objects
        if not self.joint and sign.shape[0] > 2 and (np.count_nonzero(sign, axis=0) == 2).all():
            pair = np.nonzero(sign.T)[1].reshape(-1, 2)
            spans[:, :, 0], spans[:, :, 1] = (np.searchsorted(label, pair, side) for side in ("left", "right"))
        return spans

    def _learn(self, row: Array, problems: loops.Problems) -> None:
        """Present the rows one by one, compute similarities when they are missing, and log the updates."""
        order = self.place[row]
        block = self.block._replace(order=order)
        updates, at = empty_updates(self._most_updates(row.size, problems)), 0
        while (at := self._run(block, problems, self.column, at, updates)) < row.size:
            self._fill(self._choose(order[at:], problems))
        check_finite(block.scores)
        if updates.size[0]:
            self._enter(self.number, updates)

    def _choose(self, place: Array, problems: loops.Problems) -> Array:
        """Return the next rows, of those still to be presented, that need an update now and have no similarities."""
        excess = np.empty(place.size)
        loops.margins(self.block._replace(order=place), problems, self.progress, 0, excess)
        missing = place[~(excess > 0.0) & (self.column[place] < 0)]
        return missing[:GRAM_COLUMNS_AHEAD] if self.each_row_once else np.unique(missing[:GRAM_COLUMNS_AHEAD])

    def _fill(self, place: Array) -> None:
        """Compute the similarities of some rows with all."""

        def work(share: Array) -> None:
            self.K[self.filled + share] = self.job.kernel.columns(self.objects[place[share]], self.objects)

        self.threads.share(work, pieces(place.size, COLUMNS_PER_SHARE))
        self.column[place] = np.arange(self.filled, self.filled + place.size)
        self.filled += place.size

    def scores(self) -> Array:
        """Return the current scores of all objects."""
        return self.block.scores[:, self.place]


# ----------------------------------------------------------------------------------------------------------- in blocks


class Blockwise(Unbounded):
    """Computes similarities block by block: for Gram matrices that do not fit a cache, at BLAS speed.

    The algorithm is the lectures': present the rows one by one; on a mistake, y f(x) <= 0, increase the row's count
    alpha_i, where f(x) is the sum of alpha_i y_i k(x_i, x). The blocks make it fast without changing it. The scores of
    all rows are kept. A block of rows is first updated: one matrix product adds, for all problems, every change since
    the block's last visit. Then its rows are presented one by one, with the similarities of the rows that are mistaken
    or may become so. Before the next epoch, each block adds the changes that were made after its own turn. So an epoch
    costs its own mistakes and no more.
    """

    def __init__(self, job: KernelJob, threads: Threads) -> None:
        super().__init__(job, threads)
        problems = self.trials.size
        self.rows_per_block = EXPENSIVE_ROWS_PER_BLOCK if job.kernel.expensive else ROWS_PER_BLOCK
        self.kept_scores = np.zeros((problems, self.n_objects))
        # The changes of this epoch: slots and their steps. The start is a change, too.
        self.changed, self.steps = GrowingArray((), np.int64), GrowingArray((problems,), self.dtype)
        self.changed.push(np.arange(self.pool.offset))
        self.steps.push(job.start.coef.T)
        # Rows, and how many of the changes their kept scores contain. If a row may come twice in an epoch, its kept
        # score is that of the start of the epoch.
        self.behind: list[tuple[Array, int]] = []
        self.complete = 0  # slots below this one have whole columns in the cache
        worth = job.plan.max_iter > 1 and self.pool.known is None and job.kernel.worth_caching(job.objects)
        most = self.pool.offset + self.n_objects
        self.cache = ColumnCache(self.n_objects, most, self.dtype, job.cache_bytes) if worth else None
        self.K = np.empty((0, 0), self.dtype)
        self.by_pairs = by_pairs(job.multiclass) and problems > 3

    # --------------------------------------------------------------------------------------------------- presentation

    def _begin(self) -> None:
        """Add the changes of the last epoch to the scores of every row."""
        if self.behind:
            self._catch_up()
        if not self.each_row_once:
            self.behind = [(self.subset[share], 0) for share in pieces(self.subset.size, ROWS_PER_SHARE)]

    def _learn(self, row: Array, problems: loops.Problems) -> None:
        """Update the scores of a block, present its rows one by one, and log the updates."""
        scores = self._scores_of(row)
        if self.each_row_once:
            self.kept_scores[:, row] = scores
            self.behind += [(row[share], self.changed.size) for share in pieces(row.size, ROWS_PER_SHARE)]
        check_finite(scores)
        K, order = self._room(row.size), np.arange(row.size)
        block = loops.RowBlock(row, self.task.label[row], self.sample_weight[row], K, scores, order, NO_SPANS)
        updates = self._run_epoch(block, problems)
        if updates.size[0]:
            self._note_changes(updates.row[: updates.size[0]], self._enter(row, updates))

    def _skip(self, row: Array) -> None:
        """Note rows whose scores contain no change of this epoch."""
        if self.each_row_once:
            self.behind += [(row[share], 0) for share in pieces(row.size, ROWS_PER_SHARE)]

    def _room(self, n_rows: int) -> Array:
        """Return an array for the similarities within a block, the same for all blocks of a size."""
        if self.K.shape[1] != n_rows:
            self.K = np.empty((n_rows, n_rows), self.dtype)
        return self.K

    def _run_epoch(self, block: loops.RowBlock, problems: loops.Problems) -> loops.UpdateBuffer:
        """Present the rows of a block one by one, and compute similarities when they are missing."""
        row, n_rows = block.row, block.row.size
        updates = empty_updates(self._most_updates(n_rows, problems))
        column, filled, at = np.full(n_rows, -1, np.int64), 0, 0
        while True:
            at = self._run(block, problems, column, at, updates)
            if at == n_rows:
                return updates
            needed = self._choose_columns(block, problems, column, at)
            # Rows that have been presented no longer need similarities.
            self._fill(row[needed], row[at:], block.K[filled : filled + needed.size, at:])
            column[needed] = np.arange(filled, filled + needed.size)
            filled += needed.size

    def _choose_columns(self, block: loops.RowBlock, problems: loops.Problems, column: Array, at: int) -> Array:
        """Return the rows whose similarities to compute: of row `at`, which needs an update, and of those that may."""
        margin = np.full(block.label.size, np.inf)
        loops.margins(block, problems, self.progress, at, margin)
        margin[column >= 0] = np.inf
        mistaken = int(np.count_nonzero(margin <= 0.0))
        left = int(np.count_nonzero(margin < np.inf))
        size = mistaken if self.job.kernel.expensive else max(COLUMNS_AHEAD, 2 * mistaken)
        if size < left:
            margin[at] = -np.inf
            return np.argpartition(margin, size - 1)[:size]
        return np.flatnonzero(margin < np.inf)

    def _fill(self, needed: Array, row: Array, out: Array) -> None:
        """Write the similarities of the needed rows with `row` into out."""

        def work(share: Array) -> None:
            out[:, share[0] : share[-1] + 1] = self.pool.columns(needed + self.pool.offset, row[share])

        self.threads.share(work, pieces(row.size, ROWS_PER_SHARE))

    def _note_changes(self, place: Array, log: Log) -> None:
        """Note the updates of a block, by places within it: each mistaken row is one change."""
        _, first, line = np.unique(place, return_index=True, return_inverse=True)
        steps = np.zeros((first.size, self.trials.size), self.dtype)
        np.add.at(steps, (line, log.problem), log.step)
        self.changed.push(log.slot[first])
        self.steps.push(steps)

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
                self._add(scores, steps[here[place]], K, row)
        missing = np.flatnonzero(~cached)
        for tile in pieces(missing.size, VECTORS_PER_TILE):
            place = missing[tile]
            K = self.pool.columns(self.member.array[slot[place]], row)
            if self.cache is not None:
                self.cache.write(slot[place], row, K)
            with np.errstate(invalid="ignore", over="ignore"):
                self._add(scores, take(steps, place), K, row)
        return scores

    def _add(self, scores: Array, steps: Array, K: Array, row: Array) -> None:
        """Add steps to the scores of some rows: of those problems that a row is an example of, if these are few."""
        if not self.by_pairs:
            scores += steps.T @ K
            return
        label = self.task.label[row]
        for c in np.unique(label):
            mine, problems = np.flatnonzero(label == c), np.flatnonzero(self.task.sign[c])
            scores[np.ix_(problems, mine)] += steps[:, problems].T @ K[:, mine]

    def _scores_of(self, row: Array) -> Array:
        """Return the scores of a block, with all changes of this epoch added."""
        scores = np.empty((self.trials.size, row.size))

        def work(share: Array) -> None:
            scores[:, share] = self._add_changes(row[share], 0)

        # The first block is always presented, even if time is short.
        self.threads.share(work, pieces(row.size, ROWS_PER_SHARE), self.clock if self.changed.size else None)
        return scores

    def _catch_up(self) -> None:
        """Add to the kept scores of every row the changes that were made after its presentation."""

        def work(part: tuple[Array, int]) -> None:
            row, known = part
            self.kept_scores[:, row] = self._add_changes(row, known)

        self.threads.share(work, self.behind, self.clock)
        self.behind = []
        self.complete = self.member.size
        self.changed.size = self.steps.size = 0

    def scores(self) -> Array:
        """Return the current scores of all objects."""
        self._catch_up()
        return self.kept_scores


# -------------------------------------------------------------------------------------------------------------- storage


class ColumnCache:
    """Columns of similarities with all rows, of the first vectors up to the capacity, which bytes limit.

    Memory that was never written to costs nothing: it is all allocated at once.
    """

    def __init__(self, n_rows: int, n_vectors: int, dtype: npt.DTypeLike, cache_bytes: float) -> None:
        self.capacity = min(n_vectors, int(cache_bytes // (n_rows * np.dtype(dtype).itemsize)))
        self.K = np.empty((self.capacity, n_rows), dtype)

    def write(self, slot: Array, row: Array, K: Array) -> None:
        """Keep the similarities of some vectors with some rows; vectors beyond the capacity are left out."""
        kept = slot < self.capacity
        self.K[_place(slot[kept], row)] = K if kept.all() else K[kept]

    def read(self, slot: Array, row: Array) -> Iterator[tuple[Array, Array]]:
        """Yield places within `slot`, and the kept similarities of those vectors with the rows."""
        for number in np.unique(slot // COLUMNS_PER_READ):
            here = np.flatnonzero(slot // COLUMNS_PER_READ == number)
            yield here, self.K[_place(slot[here], row)]


def _place(slot: Array, row: Array) -> Any:
    """Return the index of some rows and columns of a matrix: slices where they are neighbours, which copy nothing."""
    if are_neighbours(slot) and are_neighbours(row):
        return slice(slot[0], slot[-1] + 1), slice(row[0], row[-1] + 1)
    return np.ix_(slot, row)


class GrowingArray:
    """An array that grows at its end. `size` entries are in use."""

    def __init__(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        self.array, self.size = np.empty((FIRST_CAPACITY, *shape), dtype), 0

    def push(self, values: Array) -> None:
        """Append values."""
        needed = self.size + len(values)
        if needed > len(self.array):
            grown = np.empty((max(needed, 2 * len(self.array)), *self.array.shape[1:]), self.array.dtype)
            grown[: self.size] = self.array[: self.size]
            self.array = grown
        self.array[self.size : needed] = values
        self.size = needed

    def view(self, start: int = 0) -> Array:
        """Return the values from `start` on, without a copy."""
        return self.array[start : self.size]
