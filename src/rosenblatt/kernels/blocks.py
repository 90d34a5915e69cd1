"""Training in the dual block by block: for more rows than have a Gram matrix that fits a cache, at BLAS speed.

The algorithm is the lectures': present the rows one by one; on a mistake, y f(x) <= 0, increase the row's count
alpha_i, where f(x) is the sum of alpha_i y_i k(x_i, x). The blocks make it fast and change nothing of that. The scores
of all rows are kept. A block of rows is first brought up to date: one matrix product adds, for all problems, every
change since the block's last visit. Then its rows are presented one by one, with the similarities of those rows that
are mistaken or may become so. Before the next epoch, each block adds the changes that were made after its own turn.
So an epoch costs its own mistakes and no more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.kernels import dual as loops
from rosenblatt.kernels.expansion import VECTORS_PER_TILE, Expansion, Log
from rosenblatt.kernels.gram import WholeGram, has_room
from rosenblatt.kernels.objects import ColumnCache, GrowingArray
from rosenblatt.kernels.runner import NO_SPANS, ROWS_PER_SHARE, KernelJob, Unbounded, empty_updates, run_presenter
from rosenblatt.kernels.threads import Threads, pieces
from rosenblatt.training.multiclass import by_pairs
from rosenblatt.training.plan import Run

Array = npt.NDArray[Any]

ROWS_PER_BLOCK = 512  # rows that are presented together
EXPENSIVE_ROWS_PER_BLOCK = 32  # the same, where one similarity is so slow that none may be wasted
COLUMNS_AHEAD = 32  # similarities of so many rows of a block cost hardly more than those of one


def run_dual(job: KernelJob) -> tuple[Expansion, Run]:
    """Train without a budget, over the whole Gram matrix if that is small, else block by block.

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
        runner = (WholeGram if has_room(job) else Blockwise)(job, threads)
        record = run_presenter(job, runner)
        return runner.expansion(), record


class Blockwise(Unbounded):
    """A run without a budget that computes similarities block by block."""

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
        worth = job.plan.epochs > 1 and self.pool.known is None and job.kernel.worth_caching(job.objects)
        self.cache = ColumnCache(self.n_objects, self.dtype, job.cache_bytes) if worth else None
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
        """Bring a block up to date, present its rows one by one, and log the updates."""
        scores = self._scores_of(row)
        if self.each_row_once:
            self.kept_scores[:, row] = scores
            self.behind += [(row[share], self.changed.size) for share in pieces(row.size, ROWS_PER_SHARE)]
        self._check_finite(scores)
        K, order = self._room(row.size), np.arange(row.size)
        block = loops.Block(row, self.task.label[row], self.sample_weight[row], K, scores, order, NO_SPANS)
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

    def _run_epoch(self, block: loops.Block, problems: loops.Problems) -> loops.Updates:
        """Present the rows of a block one by one, and compute similarities when they are missing."""
        row, n_rows = block.row, block.row.size
        updates = empty_updates(self._most_updates(n_rows, problems))
        column, filled, at = np.full(n_rows, -1, np.int64), 0, 0
        while True:
            at = self._run(block, problems, column, at, updates)
            if at == n_rows:
                return updates
            chosen = self._choose_columns(block, problems, column, at)
            # Rows that have been presented need no similarities any more.
            self._fill(row[chosen], row[at:], block.K[filled : filled + chosen.size, at:])
            column[chosen] = np.arange(filled, filled + chosen.size)
            filled += chosen.size

    def _choose_columns(self, block: loops.Block, problems: loops.Problems, column: Array, at: int) -> Array:
        """Return the rows whose similarities to compute: of row `at`, which needs an update, and of those that may."""
        margin = np.full(block.label.size, np.inf)
        loops.margins(block, problems, self.progress, at, margin)
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
                self._add(scores, steps[place], K, row)
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

        if self.cache is not None:
            self.cache.open(self.member.size)
        # The first block is always presented, however short the time.
        self.threads.share(work, pieces(row.size, ROWS_PER_SHARE), self.clock if self.changed.size else None)
        return scores

    def _catch_up(self) -> None:
        """Add to the kept scores of every row the changes that were made after its presentation."""

        def work(part: tuple[Array, int]) -> None:
            row, known = part
            self.kept_scores[:, row] = self._add_changes(row, known)

        if self.cache is not None:
            self.cache.open(self.member.size)
        self.threads.share(work, self.behind, self.clock)
        self.behind = []
        self.complete = self.member.size
        self.changed.size = self.steps.size = 0

    def scores(self) -> Array:
        """Return the current scores of all objects."""
        self._catch_up()
        return self.kept_scores
