"""Training in the dual with the whole Gram matrix: for rows that are so few that it fits a cache."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled import dual as loops
from rosenblatt.dual.expansion import expand
from rosenblatt.dual.kernels import take
from rosenblatt.dual.presenter import ROWS_PER_SHARE, DualJob, Unbounded
from rosenblatt.dual.threads import Threads, pieces

Array = npt.NDArray[Any]

# Up to so many bytes, a matrix is computed once and read in every epoch.
GRAM_MAX_BYTES = 50e6


def has_room(job: DualJob) -> bool:
    """Return whether the Gram matrix of a job is worth its memory: it is small, needed, and similarities are cheap."""
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
        self.rows_per_block = self.n_rows
        self.kept_scores = np.zeros((self.trials.size, self.n_objects))
        if self.pool.offset:
            self.kept_scores = expand(job.kernel, job.start.vectors, job.objects, job.start.coef)
        self.K = np.empty((self.n_objects, self.n_objects), self.dtype)
        self.number = np.arange(self.n_objects)

        def work(share: Array) -> None:
            self.K[share[0] : share[-1] + 1] = job.kernel.columns(take(job.objects, share), job.objects)

        threads.share(work, pieces(self.n_objects, ROWS_PER_SHARE))

    def _learn(self, row: Array, problems: loops.Problems) -> None:
        """Present the rows one by one, and log the updates."""
        label, weight, scores = self.task.label, self.sample_weight, self.kept_scores
        block = loops.Block(self.number, label, weight, self.K, scores, row, True)
        updates = self._room_for_updates(row.size, problems)
        self._run(block, problems, self.number, 0, updates)
        self._check_finite(scores)
        if updates.size[0]:
            self._enter(self.number, updates)

    def scores(self) -> Array:
        """Return the current scores of all objects."""
        return self.kept_scores
