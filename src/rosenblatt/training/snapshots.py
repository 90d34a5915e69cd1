"""Undo what rows did to a state: copies of the weights that they change."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from rosenblatt.engine.rows import Csr
from rosenblatt.training.algorithm import Algorithm, LearnRow, Row, copy_state, has_columns
from rosenblatt.training.first_order import FirstOrder, may_fold

Array = npt.NDArray[Any]

# A log keeps rows of at least this many entries before it copies the state again.
MIN_ENTRIES = 4096


def stays_local(algorithm: Algorithm, state: Any, eta: float, n_rows: int) -> bool:
    """Return whether so many rows change the weights of their own features only.

    A penalty shrinks all weights through their scale, and multiplies it into each of them when it becomes too small.
    """
    if not isinstance(algorithm, FirstOrder) or not algorithm.penalised:
        return algorithm.local_updates
    return not may_fold(algorithm._learner(eta), state, n_rows)


class Snapshot:
    """A copy of the weights that rows change: of their features if rows are sparse and updates local, else of all."""

    def __init__(self, state: Any, rows: Any, *, local: bool = True) -> None:
        self.state, self.features = state, state.W.shape[1]
        few = local and isinstance(rows, Csr) and rows.indices.size < self.features
        # A column that occurs several times is restored several times, to the same values.
        self.columns = rows.indices if few else slice(None)
        self.before = [self._touched(array).copy() for array in state]

    def _touched(self, array: Array) -> Array:
        return array[:, self.columns] if has_columns(array, self.features) else array

    def restore(self) -> None:
        """Put the weights back."""
        for array, old in zip(self.state, self.before, strict=True):
            if has_columns(array, self.features):
                array[:, self.columns] = old
            else:
                array[:] = old


class ReplayLog:
    """A copy of a state, and the rows learned since: how to undo a row that makes the weights overflow.

    A row is learned in place, and whether the weights overflow is known only afterwards. Copying them before each row
    would take longer than learning it. So they are copied from time to time, and the rows since then are kept: the
    state before the last row is the copy after learning the same rows again.
    """

    def __init__(self, state: Any) -> None:
        self.state, self.copied = state, copy_state(state)
        self.rows: list[tuple[LearnRow, int, Row]] = []
        self.size = max(MIN_ENTRIES, sum(array.size for array in state))
        self.room = self.size

    def learn(self, learn: LearnRow, c: int, row: Row) -> int:
        """Learn a row of class c and keep it, or undo it if the weights overflowed; return what `learn` does."""
        mistakes = learn(c, *row)
        if mistakes == -2:
            self.restore()
        elif mistakes >= 0:
            self.note(learn, c, row)
        return mistakes

    def note(self, learn: LearnRow, c: int, row: Row) -> None:
        """Keep a row that was learned as one of class c."""
        if row[1] is None:  # it may be the user's own array
            row = row[0].copy(), None
        self.rows.append((learn, c, row))
        self.room -= (row[0] if row[1] is None else row[1]).size + 1
        if self.room < 0:
            self.copied = copy_state(self.state, self.copied)
            self.rows, self.room = [], self.size

    def restore(self) -> None:
        """Restore the state after the last row that was kept."""
        copy_state(self.copied, self.state)
        for learn, c, row in self.rows:
            learn(c, *row)
