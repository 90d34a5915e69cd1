"""The voted perceptron's stream: it keeps the row of every update, of which its weight vectors are sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.compiled.epochs import Counts, Task
from rosenblatt.data.table import Table
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.stream import Learned, Settings, Stream
from rosenblatt.methods.first_order import Voted
from rosenblatt.storage.checks import check_array, check_record, check_rows
from rosenblatt.storage.registry import expect, stored

Array = npt.NDArray[Any]

# Scores that are computed at once: 32 MB of them.
SCORES_PER_BLOCK = 1 << 22


@stored("Updates")
class Updates(NamedTuple):
    """The updates of one problem, in the order of its trials."""

    rows: Any  # (n_updates, n_features), sparse where the data is
    factor: Array  # (n_updates,) what the row was multiplied by
    trial: Array  # (n_updates,) trials that the problem had seen before

    def join(self, later: Updates) -> Updates:
        """Return these updates followed by later ones."""
        if sp.issparse(self.rows) or sp.issparse(later.rows):
            rows = sp.vstack([sp.csr_matrix(self.rows), sp.csr_matrix(later.rows)], format="csr")
        else:
            rows = np.vstack([self.rows, later.rows])
        return Updates(rows, np.append(self.factor, later.factor), np.append(self.trial, later.trial))


class VotedStream(Stream):
    """A stream of the voted perceptron.

    Attributes
    ----------
    updates : list of Updates
        One for each problem.
    """

    def __init__(
        self, settings: Settings, learned: Learned | None = None, init: Any = None, updates: list[Updates] | None = None
    ) -> None:
        super().__init__(settings, learned, init)
        self.updates = [] if updates is None else updates

    def check(self) -> None:
        """Raise a `Fault` unless what was read from a file makes sense."""
        super().check()
        each = type(self.updates) is list and len(self.updates) == self.state.b.size
        expect(each, "it has not kept its updates. Fit again")
        for updates in self.updates:
            check_record("an update", updates, Updates)
            count = np.shape(updates.factor)[:1]
            check_array("the factors of the updates", updates.factor, "d", count)
            check_array("the trials of the updates", updates.trial, "l", count)
            check_rows("the rows of the updates", updates.rows, updates.factor.size, self.n_features)

    def _present(self, table: Table, task: Task) -> Counts:
        counts = super()._present(table, task)
        self.take_log(table)
        return counts

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row, as from a chunk: its row is kept."""
        if isinstance(x, Mapping):
            raise InvalidInput("The vote keeps rows of a fixed width, which dicts do not have. Pass arrays.")
        return self._learn_first(x, y)

    def take_log(self, table: Table) -> None:
        """Add the updates that the method has written down, of rows of a table, to those kept."""
        method = self.settings.method
        assert isinstance(method, Voted)
        row, problem, factor, trial = (np.concatenate(column) for column in zip(*method.log, strict=True))
        method.log.clear()
        matrix, before = table.matrix(), self.updates
        self.updates = []
        for p in range(self.state.b.size):
            mine = problem == p
            new = Updates(matrix[row[mine]], factor[mine], trial[mine])
            self.updates.append(before[p].join(new) if p < len(before) else new)

    def _grow(self, change: Array) -> None:
        super()._grow(change)
        if not self.updates:
            return
        source = np.abs(change).argmax(axis=1)
        sign = change[np.arange(change.shape[0]), source]
        rows, factor, trial = self.updates[0]
        empty = Updates(rows[:0], factor[:0], trial[:0])
        old = self.updates + [empty] * (change.shape[1] - len(self.updates))
        self.updates = [
            old[p]._replace(factor=s * old[p].factor) if s else empty for p, s in zip(source, sign, strict=True)
        ]

    def vote(self, table: Table, *, average: bool = False) -> Array:
        """Let every weight vector that there was vote on each row, or take their average.

        Returns
        -------
        array of shape (n_rows, n_problems)
            Share of votes for less share of votes against; or the scores of the average.
        """
        columns = [self._vote(table, p, average) for p in range(self.known)]
        return np.stack(columns, axis=1)

    def _vote(self, table: Table, p: int, average: bool) -> Array:
        rows, factor, trial = self.updates[p]
        result, trials = np.zeros(table.shape[0]), int(self.state.t[p])
        if not factor.size:
            return result
        # Whole numbers, divided last: their sums are exact, and a tie is a tie.
        survived = np.diff(trial, append=trials).astype(np.float64)
        bias = np.cumsum(factor) * self.settings.bias
        matrix, size = table.matrix(), max(1, SCORES_PER_BLOCK // factor.size)
        for start in range(0, table.shape[0], size):
            product: Any = matrix[start : start + size] @ rows.T
            product = product.toarray() if hasattr(product, "toarray") else product
            scores = np.cumsum(np.asarray(product) * factor, axis=1) + bias
            ballots = scores if average else np.where(scores > 0, 1.0, -1.0)
            result[start : start + size] = ballots @ survived
        return result / max(trials, 1)
