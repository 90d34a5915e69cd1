"""The voted perceptron's stream: it keeps the row of every update, of which its weight vectors are sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.scipy_sparse import sp
from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Counts, Csr, Hyperplanes, Task
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.voted_method import Voted
from rosenblatt.learners.votes import cast_ballots, cast_sparse_ballots
from rosenblatt.storage.checks import check_array, check_record, check_rows, shape_of
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.algorithm import as_hyperplanes
from rosenblatt.training.model import LinearModel
from rosenblatt.training.scores import scores
from rosenblatt.training.stream import Learned, Settings, Stream

Array = npt.NDArray[Any]

# Weights of the vectors that vote at once, and scores that are computed at once: each 1 MB, which fits a cache.
WEIGHTS_PER_BLOCK = SCORES_PER_BLOCK = 1 << 17
# Vectors that vote at once, at least: loops over fewer spend their time on each row anew.
MIN_VECTORS_PER_BLOCK = 64


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
    """A stream of the voted perceptron. Its model is the average of its weight vectors, by the trials they survived.

    Attributes
    ----------
    updates : list of Updates
        One for each problem.
    """

    __slots__ = ("_sums", "updates")

    def __init__(
        self, settings: Settings, learned: Learned | None = None, init: Any = None, updates: list[Updates] | None = None
    ) -> None:
        super().__init__(settings, learned, init)
        self.updates = [] if updates is None else updates
        self._sums: Hyperplanes | None = None

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        return None, super().__getstate__()[1] | {"_sums": None}

    def check(self) -> None:
        """Raise a `Fault` unless what was read from a file makes sense."""
        super().check()
        each = type(self.updates) is list and len(self.updates) == self.state.b.size
        expect(each, "it has not kept its updates. Fit again")
        for updates in self.updates:
            check_record("an update", updates, Updates)
            count = shape_of(updates.factor)[:1] or (0,)
            check_array("the factors of the updates", updates.factor, "d", count)
            check_array("the trials of the updates", updates.trial, "l", count)
            check_rows("the rows of the updates", updates.rows, updates.factor.size, self.n_features)

    def _run_epoch(self, table: Table, task: Task) -> Counts:
        counts = super()._run_epoch(table, task)
        self.take_log()
        return counts

    def reconfigure(self, settings: Settings) -> None:
        """Go on with other settings, unless the vectors that vote would be others by them."""
        if self.state is not None and settings.bias != self.settings.bias:
            raise InvalidInput(
                "fit_intercept or intercept_scaling is not what the vectors that vote were learned with. Set that "
                "back, or fit anew."
            )
        super().reconfigure(settings)

    def learn(self, table: Table, y: Any, weight: Array, classes: Any = None) -> Counts:
        """Learn from the rows once; nothing of a chunk that is refused or interrupted is kept."""
        try:
            return super().learn(table, y, weight, classes)
        except BaseException:
            self._own_method().log.clear()
            raise

    def _own_method(self) -> Voted:
        algorithm = self.settings.algorithm
        assert isinstance(algorithm, Voted)
        return algorithm

    def learn_known(self, x: Any, y: Any) -> None:
        """Return None: every row is kept."""

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row, as from a chunk: its row is kept."""
        if isinstance(x, Mapping):
            raise InvalidInput("The vote keeps rows of a fixed width, which dicts do not have. Pass arrays.")
        return self._learn_first(x, y)

    def take_log(self) -> None:
        """Add the updates that the method has written down to those kept."""
        rows, problem, factor, trial = self._own_method().log.take()
        before = self.updates
        self.updates, self._sums, self._model = [], None, None
        for p in range(self.state.b.size):
            mine = slice(None) if self.state.b.size == 1 else problem == p
            new = Updates(rows[mine], factor[mine], trial[mine])
            self.updates.append(before[p].join(new) if p < len(before) else new)

    def _grow(self, change: Array) -> None:
        super()._grow(change)
        self._sums = None
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

    # ------------------------------------------------------------------------------------------ what many vectors say

    def vectors(self, p: int) -> Iterator[tuple[Array, float, int]]:
        """Yield the weight vectors of a problem in their order, each with its bias and the trials that it survived.

        The zero vector that training starts from is not among them: its ballot would not depend on the row.
        """
        rows, factor, trial = self.updates[p]
        survived = np.diff(trial, append=int(self.state.t[p])).tolist()
        bias = (np.cumsum(factor) * self.settings.bias).tolist()
        for first, V in _vector_blocks(rows, factor):
            for k, w in enumerate(V, start=first):
                yield w, bias[k], survived[k]

    def average_scores(self, table: Table) -> Array:
        """Return the score of each row under the average of each known problem's vectors."""
        self._check_width(table)
        # Whole numbers, divided last: their sums are exact, and a tie is a tie.
        return scores(table, self._summed()) / self._trials()

    def model(self) -> LinearModel:
        """Return the average of the weight vectors, which will not change when the stream goes on."""
        if self._model is None:
            sums, trials, dtype = self._summed(), self._trials(), self.state.W.dtype
            W, b = (sums.W / trials[:, None]).astype(dtype), (sums.b / trials).astype(dtype)
            W.flags.writeable = b.flags.writeable = False
            self._model = LinearModel(W, b, self.classes, self.settings.multiclass)
        return self._model

    def set_weights(self, W: Any, b: Any) -> None:
        """Raise an error: the vote is one of the vectors that training went through."""
        raise InvalidInput(
            "coef_ and intercept_ are the average of every vector that training went through, and cannot be assigned. "
            "Fit again."
        )

    def merge(self, others: Sequence[Stream], shares: Sequence[float] | None = None) -> Stream:
        """Raise an error: there is no order in which the trials of several streams follow each other."""
        raise InvalidInput("The votes of several streams cannot be merged. Train one stream, or merge averages.")

    def _trials(self) -> Array:
        return np.asarray(np.maximum(self.state.t[: self.known], 1))

    def _summed(self) -> Hyperplanes:
        """Return the sum of the vectors over the trials, for each known problem; kept until the stream goes on."""
        if self._sums is None:
            W = np.zeros((self.known, self.n_features))
            b = np.zeros(self.known)
            for p, (rows, factor, trial) in enumerate(self.updates[: self.known]):
                times = factor * (int(self.state.t[p]) - trial)  # an update is in every later vector
                W[p], b[p] = rows.T @ times, times.sum() * self.settings.bias
            self._sums = as_hyperplanes(W, b)
        return self._sums

    def vote(self, table: Table) -> Array:
        """Let every weight vector that there was vote on each row.

        Returns
        -------
        array of shape (n_rows, n_problems)
            Share of votes for less share of votes against.
        """
        self._check_width(table)
        columns, rows = None, table.rows
        if isinstance(rows, Csr):  # the vectors need no other columns than those that the rows touch
            columns, place = np.unique(rows.indices, return_inverse=True)
            rows = rows._replace(indices=place.astype(rows.indices.dtype))
        votes = np.stack([self._vote(rows, table.shape[0], p, columns) for p in range(self.known)], axis=1)
        return votes / self._trials()

    def _vote(self, rows: Any, count: int, p: int, columns: Array | None) -> Array:
        """Return the votes for less the votes against each row, in trials: whole numbers, whose sums are exact."""
        vectors, factor, trial = self.updates[p]
        votes = np.zeros(count)
        survived = np.diff(trial, append=int(self.state.t[p])).astype(np.float64)
        bias = np.cumsum(factor) * self.settings.bias
        for first, V in _vector_blocks(vectors if columns is None else vectors[:, columns], factor):
            part = slice(first, first + len(V))
            if isinstance(rows, Csr):
                cast_sparse_ballots(*rows, np.ascontiguousarray(V.T), bias[part], survived[part], votes)
                continue
            size = max(1, SCORES_PER_BLOCK // len(V))
            for start in range(0, count, size):
                block = slice(start, start + size)
                cast_ballots(rows.X[block] @ V.T, bias[part], survived[part], votes[block])
        return votes


def _vector_blocks(rows: Any, factor: Array) -> Iterator[tuple[int, Array]]:
    """Yield the vectors after each update in blocks: the number of the first, and a matrix of them."""
    last = np.zeros(rows.shape[1], rows.dtype)
    size = max(MIN_VECTORS_PER_BLOCK, WEIGHTS_PER_BLOCK // max(1, rows.shape[1]))
    for first in range(0, factor.size, size):
        block = rows[first : first + size]
        V = (block.toarray() if hasattr(block, "toarray") else block) * factor[first : first + size, None].astype(
            rows.dtype
        )
        V[0] += last
        np.cumsum(V, axis=0, out=V)
        last = V[-1].copy()
        yield first, V
