"""Streams of rows whose targets are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_targets
from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Counts, Task
from rosenblatt.storage.registry import expect
from rosenblatt.training.stream import Stream

Array = npt.NDArray[Any]


class RegressionStream(Stream):
    """Learn to predict numbers."""

    __slots__ = ()

    @property
    def known(self) -> int:
        """One problem."""
        return 1

    def learn(self, table: Table, y: Any, weight: Array, classes: Any = None) -> Counts:
        """Learn from the rows once, in the order in which they come; `y` are numbers."""
        with self.all_or_nothing():
            return self._run_epoch(table, regression_task(as_targets(y), weight, self.settings.bias))

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row, as from a chunk; there are no mistakes in a regression."""
        self.learn(self.row_table(x, grow=True), [y], np.empty(0))
        return False

    def meet(self, classes: Array) -> None:
        """Do nothing: a regression has no classes."""

    def _open(self) -> None:
        """Do nothing: a regression has no reserve class."""

    def _check_classes(self) -> None:
        expect(self.classes.size == 0, "a regression has classes")


def regression_task(target: Array, weight: Array, bias: float) -> Task:
    """Return the task of targets that are numbers."""
    one = np.ones((1, 1))
    return Task(np.zeros(target.size, np.int32), one.astype(np.int8), one, one[0], weight, target, bias)
