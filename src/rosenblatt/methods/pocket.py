"""The perceptron with its best weights in the pocket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.pocket import Pocket, consider, run_pocket_epoch
from rosenblatt.methods.method import Method, Order, Pass, as_hyperplanes
from rosenblatt.storage.registry import stored
from rosenblatt.verbs.rows import Hyperplanes

stored("Pocket")(Pocket)

# Entries of rows that are looked at between two pauses: some milliseconds.
ENTRIES_PER_LOOK = 1 << 24


def _rows_per_look(state: Pocket) -> int:
    return max(1, ENTRIES_PER_LOOK // max(1, int(state.W.shape[1])))


class PocketMethod(Method):
    """The pocket algorithm with ratchet."""

    finite = additive = looks_back = True
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
    }

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> Pocket:
        """Return zero weights, and an empty pocket."""
        return Pocket(
            W=np.zeros((problems, features), dtype),
            b=np.zeros(problems, dtype),
            t=np.zeros(problems, np.int64),
            best_w=np.zeros((problems, features), dtype),
            best_b=np.zeros(problems, dtype),
            run=np.zeros(problems, np.int64),
            best_run=np.full(problems, -1),
            errors=np.full(problems, np.inf),
        )

    def present(self, shown: Pass, state: Pocket, into: Pocket) -> int:
        """Run the pocket loop, with pauses in which an interrupt is heard."""
        rows, task, order, subset, active = shown[:5]
        place, errors, most = np.zeros(3, np.int64), np.zeros(1), _rows_per_look(state)
        while not run_pocket_epoch(rows, task, order, subset, active, state, shown.counts, place, errors, most):
            if shown.late():
                break
        return int(place[0])

    def end_epoch(self, shown: Pass, state: Pocket) -> None:
        """Look at the weights that the epoch ended with."""
        place, errors, most = np.zeros(3, np.int64), np.zeros(1), _rows_per_look(state)
        for p in shown.active:
            if not shown.counts.updates[p]:
                state.run[p] = max(state.run[p], state.best_run[p] + 1)  # no error at all: whatever ran longer
            consider(shown.rows, shown.task, shown.subset, p, state, place, errors, most)
            while place[2] and not shown.late():
                consider(shown.rows, shown.task, shown.subset, p, state, place, errors, most)
            place[2] = 0

    def hyperplanes(self, state: Pocket) -> Hyperplanes:
        """Return what is in the pocket."""
        return as_hyperplanes(state.best_w, state.best_b)
