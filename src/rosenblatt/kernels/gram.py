"""Training in the dual with a Gram matrix: for rows that are so few that it fits into memory.

Of the matrix only the columns of updated rows are ever computed, each once, and only their memory is ever touched. The
rows are kept class by class. So the scores of a problem of two classes are two stretches, and an update of one of many
pairs costs what its own rows cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.kernels import dual as loops
from rosenblatt.kernels.expansion import Expansion, expand
from rosenblatt.kernels.runner import KernelJob, Unbounded, empty_updates
from rosenblatt.kernels.threads import Threads, pieces

Array = npt.NDArray[Any]

# Up to so many bytes, 8,000 rows, a matrix is computed once and read in every epoch. Blocks take two to six times as
# long.
GRAM_MAX_BYTES = 512e6
COLUMNS_AHEAD = 256  # columns that are computed together, for one matrix product
COLUMNS_PER_SHARE = 128  # columns that a thread takes at a time
ENTRIES_PER_BLOCK = 1 << 26  # scores that are changed between two looks at the clock, if every row is mistaken
UPDATE_EPOCHS = 4  # epochs of nothing but mistakes whose updates are logged together


def has_room(job: KernelJob) -> bool:
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
        self.block = loops.Block(self.number, label, weight, self.K, scores, self.number, self._spans(label))
        entries = np.abs(self.task.sign) @ np.diff(self.block.spans)[:, :, 0].sum(axis=1)  # that a trial may change
        self.rows_per_block = max(1, min(self.n_rows, ENTRIES_PER_BLOCK // int(entries.max())))
        self.column, self.filled = np.full(self.n_objects, -1), 0  # side by side, so that no other memory is touched
        self.updates = empty_updates(0)

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
        self._make_room(row.size, problems)
        at = 0
        while (at := self._run(block, problems, self.column, at, self.updates)) < row.size:
            self._fill(self._choose(order[at:], problems))
        self._check_finite(block.scores)

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

    def _choose(self, place: Array, problems: loops.Problems) -> Array:
        """Return the next rows, of those still to be presented, that need an update now and have no similarities."""
        excess = np.empty(place.size)
        loops.margins(self.block._replace(order=place), problems, self.progress, 0, excess)
        missing = place[~(excess > 0.0) & (self.column[place] < 0)]
        return missing[:COLUMNS_AHEAD] if self.each_row_once else np.unique(missing[:COLUMNS_AHEAD])

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

    def coef(self) -> Array:
        """Return the coefficients, summed from the log."""
        self._log_updates()
        return super().coef()

    def expansion(self) -> Expansion:
        """Return what was learned."""
        self._log_updates()
        return super().expansion()
