"""The perceptron with every update written down, for the vote of all its hypotheses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rosenblatt.data.sparse import sp
from rosenblatt.engine.epoch import UpdateLog, Weights, update_log
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.training.algorithm import Algorithm, EpochArgs
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.single_row import LearnRow, Row, RowTask

Array = npt.NDArray[Any]


class CopiedUpdates:
    """The updates of passes over rows, with a copy of each row.

    Rows are copied after each pass, so that a time limit covers it, and only once: the memory that they are in grows
    where it is.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self.columns: list[tuple[Array, ...]] = []  # problems, factors, trials
        self.sparse: list[Any] = []
        self.dense: Array | None = None
        self.size = 0

    def add(self, rows: Dense | Csr, updates: UpdateLog, features: int) -> None:
        """Add the updates of a pass."""
        size = int(updates.size[0])
        row, *columns = (column[:size] for column in updates[:-1])
        self.columns.append(tuple(column.copy() for column in columns))
        if isinstance(rows, Csr):
            self.sparse.append(sp.csr_matrix(tuple(rows), shape=(rows.indptr.size - 1, features))[row])
            return
        if self.dense is None or self.dense.shape[1] != features:
            self.dense = np.empty((size, features), rows.X.dtype)
        if self.size + size > len(self.dense):
            # No copy where the system can move pages; nobody else holds the array. In steps that take a moment.
            self.dense.resize(((5 * self.size) // 4 + size, features), refcheck=False)
        np.take(rows.X, row, axis=0, out=self.dense[self.size : self.size + size], mode="clip")
        self.size += size

    def take(self) -> tuple[Any, Array, Array, Array]:
        """Return the rows, problems, factors and trials of all updates, and forget them."""
        problem, factor, trial = (np.concatenate(column) for column in zip(*self.columns, strict=True))
        rows: Any = self.dense
        if self.dense is None:
            rows = sp.vstack(self.sparse, format="csr")
        else:
            self.dense.resize((self.size, self.dense.shape[1]), refcheck=False)
        self.clear()
        return rows, problem, factor, trial


@dataclass
class Voted(FirstOrder):
    """The perceptron with every update written down, in the order of the trials.

    Attributes
    ----------
    log : CopiedUpdates
    """

    predictor: ClassVar[str] = "the vote"
    linear: ClassVar[bool] = False

    log: CopiedUpdates = field(default_factory=lambda: CopiedUpdates(), compare=False, repr=False)

    def row_learner(self, trial: RowTask, state: Weights, row: Row) -> LearnRow:
        """Return a function that runs one trial, and keeps its updates."""
        return Algorithm.row_learner(self, trial, state, row)

    def row_scorer(self, known: int, state: Weights, row: Row) -> None:
        """Return None: a vote is no score of hyperplanes."""

    def run_epoch(self, shown: EpochArgs, state: Weights, into: Weights) -> int:
        """Run the first-order loop and keep its updates."""
        capacity = shown.size * (2 if shown.joint else shown.active.size)
        log = update_log(capacity)
        self._run_epoch(shown, state, into, self._learner(shown.eta, log))
        self.log.add(shown.rows, log, state.W.shape[1])
        return shown.size
