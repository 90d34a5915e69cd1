"""The perceptron with its best weights in the pocket."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import part_of
from rosenblatt.engine.rows import Csr, Dense, Hyperplanes
from rosenblatt.engine.scores import score
from rosenblatt.learners.pocket_trial import Pocket, PocketRoom, consider, run_pocket_epoch
from rosenblatt.storage.registry import stored
from rosenblatt.training.algorithm import Algorithm, EpochArgs, Order, as_hyperplanes, order_of

stored("Pocket")(Pocket)

Array = npt.NDArray[Any]

# Entries of rows that are looked at between two pauses: some milliseconds.
ENTRIES_PER_LOOK = 1 << 24
# Scores that are computed at once: some megabytes, however short the rows are.
SCORES_AT_ONCE = 1 << 20
LONGEST_RUN = 1 << 60  # that a count of trials holds


def _room(state: Pocket) -> PocketRoom:
    vector = np.empty((1, state.W.shape[1] if order_of(state.W) == "F" else 0), state.W.dtype)
    return PocketRoom(np.zeros(3, np.int64), np.zeros(1), vector)


def _rows_per_look(rows: Dense | Csr) -> int:
    entries, count = (rows.X.size, rows.X.shape[0]) if isinstance(rows, Dense) else (rows.data.size, rows.indptr.size)
    return max(1, ENTRIES_PER_LOOK * count // max(1, entries))


class PocketMethod(Algorithm):
    """The pocket algorithm with ratchet.

    At first nearly every run is longer than the one before, and to look at its weights takes an epoch. So while each
    epoch ends with fewer errors than the one before, those weights go into the pocket; they are looked at for all
    problems at once. From the first epoch on that does not, a problem is settled, and every longer run is looked at.
    """

    finite_updates = is_sum_of_rows = needs_epoch_end = by_feature = True
    predictor: ClassVar[str] = "the pocket"
    signed: ClassVar[frozenset[str]] = frozenset({"W", "b", "best_w", "best_b"})
    state_class: ClassVar[type] = Pocket
    layout: ClassVar[Mapping[str, str]] = {
        "W": "f pd",
        "b": "f p",
        "t": "l p",
        "best_w": "f pd",
        "best_b": "f p",
        "run": "l p",
        "best_run": "l p",
        "errors": "d? p",
        "settled": "l p",
    }

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> Pocket:
        """Return zero weights, and an empty pocket."""
        return Pocket(
            W=np.zeros((problems, features), dtype, order),
            b=np.zeros(problems, dtype),
            t=np.zeros(problems, np.int64),
            best_w=np.zeros((problems, features), dtype, order),
            best_b=np.zeros(problems, dtype),
            run=np.zeros(problems, np.int64),
            best_run=np.full(problems, -1),
            errors=np.full(problems, np.inf),
            settled=np.zeros(problems, np.int64),
        )

    def run_epoch(self, shown: EpochArgs, state: Pocket, into: Pocket) -> int:
        """Run the pocket loop, with pauses in which an interrupt is heard."""
        rows, task, order, subset, active = shown[:5]
        room, most = _room(state), _rows_per_look(rows)
        while not run_pocket_epoch(rows, task, order, subset, active, state, shown.counts, room, most):
            if shown.late():
                break
        return int(room.resume[0])

    def end_epoch(self, shown: EpochArgs, state: Pocket) -> None:
        """Look at the weights that the epoch ended with."""
        settled = state.settled[shown.active] > 0
        if not settled.all():
            self._take_better(shown, state, shown.active[~settled])
        for p in shown.active[settled].tolist():
            if not shown.counts.updates[p]:
                state.run[p] = max(state.run[p], state.best_run[p] + 1)  # no error at all: whatever ran longer
            if state.run[p] > state.best_run[p]:
                self._consider(shown, state, p)

    def _consider(self, shown: EpochArgs, state: Pocket, p: int) -> None:
        """Put the weights of a problem into the pocket if they belong there, with pauses."""
        room, most = _room(state), _rows_per_look(shown.rows)
        consider(shown.rows, shown.task, shown.subset, p, state, room, most)
        while room.resume[2] and not shown.late():
            consider(shown.rows, shown.task, shown.subset, p, state, room, most)

    def _take_better(self, shown: EpochArgs, state: Pocket, problems: Array) -> None:
        """Put the weights of problems that make fewer errors into the pocket; the others are settled."""
        looked = self._errors(shown, as_hyperplanes(state.W, state.b))
        if looked is None:
            return
        wrong, total = looked
        better = wrong[problems] < state.errors[problems]
        state.settled[problems[~better]] = 1
        taken = problems[better]
        # Of n trials with a share q of errors, the longest run to be expected has log(n q) / q (Erdos and Renyi 1970).
        # One of the pocket's own weights is not worth a look; half of that was measured to find the better ones.
        share = np.maximum(wrong / np.maximum(total, 1e-300), 1e-300)
        expected = 0.5 * np.log(np.maximum(share * shown.size, math.e)) / share
        expected = np.minimum(expected, LONGEST_RUN).astype(np.int64)
        state.errors[taken], state.best_run[taken] = wrong[taken], np.maximum(state.run, expected)[taken]
        state.best_w[taken], state.best_b[taken] = state.W[taken], state.b[taken]

    def _errors(self, shown: EpochArgs, planes: Hyperplanes) -> tuple[Array, Array] | None:
        """Return what the rows count that each problem has wrong, and all; None where the clock leaves no time."""
        task, wrong, total = shown.task, *np.zeros((2, planes.b.size))
        n_rows = shown.subset.size or task.label.size
        size = max(1, min(_rows_per_look(shown.rows), SCORES_AT_ONCE) // planes.b.size)
        for first in range(0, n_rows, size):
            if first and shown.late():
                return None
            block = part_of(shown.subset, first, size, n_rows)
            rows = block if block.size else slice(None)
            sign = task.sign[task.label[rows]]
            found = np.empty(sign.shape, planes.W.dtype)
            score(shown.rows, block, planes, found)
            cost = task.cost[task.label[rows]] * (task.sample_weight[rows, None] if task.sample_weight.size else 1.0)
            cost = cost * (sign != 0)
            wrong += (cost * ~(sign * found > 0.0)).sum(axis=0)
            total += cost.sum(axis=0)
        return wrong, total

    def hyperplanes(self, state: Pocket) -> Hyperplanes:
        """Return what is in the pocket; the weights of the perceptron as long as it is empty."""
        empty = np.isinf(state.errors)
        if not empty.any():
            return as_hyperplanes(state.best_w, state.best_b)
        W, b = state.best_w.copy(order="K"), state.best_b.copy()
        W[empty], b[empty] = state.W[empty], state.b[empty]
        return as_hyperplanes(W, b)
