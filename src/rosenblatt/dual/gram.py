"""Training in the dual with a Gram matrix: for rows that are so few that it fits a cache.

Of the matrix only the columns of mistaken rows are ever computed, each once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled import dual as loops
from rosenblatt.dual.expansion import Expansion, expand
from rosenblatt.dual.presenter import DualJob, Unbounded, empty_updates
from rosenblatt.dual.threads import Threads, pieces

Array = npt.NDArray[Any]

# Up to so many bytes, a matrix is computed once and read in every epoch.
GRAM_MAX_BYTES = 50e6
COLUMNS_AHEAD = 256  # columns that are computed together, for one matrix product
COLUMNS_PER_SHARE = 128  # columns that a thread takes at a time
ENTRIES_PER_BLOCK = 1 << 26  # scores that are changed between two looks at the clock, if every row is mistaken
UPDATE_EPOCHS = 4  # epochs of nothing but mistakes whose updates are logged together


def has_room(job: DualJob) -> bool:
    """Return whether a job has few enough rows, all of them known, and a kernel that may be asked too often."""
    return (
        not job.streams
        and not job.kernel.expensive
        and 8.0 * job.objects.shape[0] ** 2 <= min(GRAM_MAX_BYTES, job.cache_bytes)
    )


class WholeGram(Unbounded):
    """A run without a budget over a Gram matrix: an epoch is one compiled call.

    Every update is added to the scores of all rows at once.
    """

    def __init__(self, job: DualJob, threads: Threads) -> None:
        super().__init__(job, threads)
        self.rows_per_block = max(1, min(self.n_rows, ENTRIES_PER_BLOCK // (self.n_objects * self.trials.size)))
        self.kept_scores = np.zeros((self.trials.size, self.n_objects))
        if self.pool.offset:
            self.kept_scores = expand(job.kernel, job.start.vectors, job.objects, job.start.coef)
        self.K = np.empty((self.n_objects, self.n_objects), self.dtype)
        self.number, self.column = np.arange(self.n_objects), np.full(self.n_objects, -1)
        self.updates = empty_updates(0)

    def _learn(self, row: Array, problems: loops.Problems) -> None:
        """Present the rows one by one, compute similarities when they are missing, and log the updates."""
        label, weight, scores = self.task.label, self.sample_weight, self.kept_scores
        block = loops.Block(self.number, label, weight, self.K, scores, row, True)
        self._make_room(row.size, problems)
        at = 0
        while (at := self._run(block, problems, self.column, at, self.updates)) < row.size:
            self._fill(self._choose(row[at:], problems))
        self._check_finite(scores)

    def _make_room(self, n_trials: int, problems: loops.Problems) -> None:
        """Make room for the updates of an epoch behind those of earlier ones, which are logged if there is none."""
        needed = self._most_updates(n_trials, problems)
        if self.updates.row.size - self.updates.size[0] < needed:
            self._log_updates()
            self.updates = empty_updates(UPDATE_EPOCHS * needed)

    def _log_updates(self) -> None:
        """Enter the updates since the last call into the log."""
        if self.updates.size[0]:
            self._enter(self.number, self.updates)
            self.updates.size[0] = 0

    def _choose(self, row: Array, problems: loops.Problems) -> Array:
        """Return the next rows, of those still to be presented, that are mistaken now and have no similarities."""
        margin = np.empty(row.size)
        loops.margins(self.task.label[row], np.ascontiguousarray(self.kept_scores[:, row]), problems, 0, margin)
        missing = row[~(margin > 0.0) & (self.column[row] < 0)]
        return missing[:COLUMNS_AHEAD] if self.each_row_once else np.unique(missing[:COLUMNS_AHEAD])

    def _fill(self, row: Array) -> None:
        """Compute the similarities of some rows with all."""

        def work(share: Array) -> None:
            self.K[row[share]] = self.job.kernel.columns(self.job.objects[row[share]], self.job.objects)

        self.threads.share(work, pieces(row.size, COLUMNS_PER_SHARE))
        self.column[row] = row

    def scores(self) -> Array:
        """Return the current scores of all objects."""
        return self.kept_scores

    def coef(self) -> Array:
        """Return the coefficients, summed from the log."""
        self._log_updates()
        return super().coef()

    def expansion(self) -> Expansion:
        """Return what was learned."""
        self._log_updates()
        return super().expansion()
