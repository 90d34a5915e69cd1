"""The voted perceptron: every weight vector votes, as often as it survived (Freund and Schapire 1999).

The row of every update is kept; the vectors are sums of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from rosenblatt.data.matrices import sp
from rosenblatt.data.numbers import is_whole
from rosenblatt.data.table import Table
from rosenblatt.engine.epoch import UpdateLog, Weights, update_log
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import Counts, Csr, Dense, Hyperplanes, Task
from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import shared
from rosenblatt.learners.base import Facts, choose_aggregate, steady
from rosenblatt.learners.contract import check_is_fitted
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.storage.checks import check_array, check_rows, shape_of
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.algorithm import Algorithm, EpochArgs, Row, refuse_replaced
from rosenblatt.training.explanation import Explanation
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.model import LinearModel
from rosenblatt.training.plan import Run
from rosenblatt.training.runner import Job
from rosenblatt.training.scores import scores
from rosenblatt.training.stream import Learned, Settings, Stream

Array = npt.NDArray[Any]

AGGREGATES = ("vote", "average", "last")
# Weights of the vectors that vote at once, and scores that are computed at once: each 1 MB, which fits a cache.
WEIGHTS_PER_BLOCK = SCORES_PER_BLOCK = 1 << 17
# Vectors that vote at once, at least: loops over fewer spend their time on each row again.
MIN_VECTORS_PER_BLOCK = 64
# Sums of whole numbers, in any order.
FASTMATH = {"reassoc", "contract", "nsz"}

# ------------------------------------------------------------------------------------------------ the updates of a run


class CopiedUpdates:
    """The updates of passes over rows, with a copy of each row.

    Rows are copied after each pass, which a time limit covers, and only once: the array grows in place.
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
            # No copy where the system can move pages; there is no other reference to the array.
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
    """The perceptron with a log of every update, in the order of the trials."""

    predictor = "the vote"
    linear = False

    log: CopiedUpdates = field(default_factory=lambda: CopiedUpdates(), compare=False, repr=False)

    def row_scorer(self, known: int, state: Weights, row: Row) -> None:
        """Return None: a vote is not a score of hyperplanes."""

    def run_epoch(self, args: EpochArgs, state: Weights, target: Weights) -> int:
        """Run the first-order loop and keep its updates."""
        capacity = args.size * (2 if args.joint else args.active.size)
        log = update_log(capacity)
        self._run_epoch(args, state, target, self._learner(args.eta, log))
        self.log.add(args.rows, log, state.W.shape[1])
        return args.size


# ------------------------------------------------------------------------------------------------------------ the vote


@compiled(forceinline=True, fastmath=FASTMATH)
def _ballots(scores, bias, survived):
    """Sum of the trials survived by vectors with a positive score, less those of the others."""
    total = 0.0
    for v in range(bias.size):
        total += survived[v] if scores[v] + bias[v] > 0.0 else -survived[v]
    return total


@compiled()
def cast_ballots(scores, bias, survived, votes):
    """Add the ballots of each row to its votes, from its scores (rows, vectors) without the bias."""
    for i in range(votes.size):
        votes[i] += _ballots(scores[i], bias, survived)


@compiled()
def cast_sparse_ballots(data, indices, indptr, V, bias, survived, votes):
    """Do the same for sparse rows, from the vectors themselves: V is (features, vectors)."""
    scores = np.empty(bias.size, V.dtype)
    for i in range(votes.size):
        scores[:] = 0.0
        k, end = indptr[i], indptr[i + 1]
        while k + 4 <= end:  # four entries at a time, in the order of the loops that learn
            x0, x1, x2, x3 = data[k], data[k + 1], data[k + 2], data[k + 3]
            j0, j1, j2, j3 = indices[k], indices[k + 1], indices[k + 2], indices[k + 3]
            for v in range(scores.size):
                scores[v] += (x0 * V[j0, v] + x1 * V[j1, v]) + (x2 * V[j2, v] + x3 * V[j3, v])
            k += 4
        while k < end:
            x0, j0 = data[k], indices[k]
            for v in range(scores.size):
                scores[v] += x0 * V[j0, v]
            k += 1
        votes[i] += _ballots(scores, bias, survived)


@stored("Updates")
class VoteUpdates(NamedTuple):
    """The updates of one problem, in the order of its trials."""

    rows: Any  # (n_updates, n_features), sparse where the data is
    factor: Array  # (n_updates,) what the row was multiplied by
    trial: Array  # (n_updates,) trials that the problem had seen before

    def join(self, later: VoteUpdates) -> VoteUpdates:
        """Return these updates followed by later ones."""
        if sp.issparse(self.rows) or sp.issparse(later.rows):
            rows = sp.vstack([sp.csr_matrix(self.rows), sp.csr_matrix(later.rows)], format="csr")
        else:
            rows = np.vstack([self.rows, later.rows])
        return VoteUpdates(rows, np.append(self.factor, later.factor), np.append(self.trial, later.trial))


class VotedStream(Stream):
    """A stream of the voted perceptron. Its model is the average of its weight vectors, by the trials they survived."""

    __slots__ = ("_sums", "updates")

    def __init__(self, settings: Settings, learned: Learned | None = None, init: Any = None) -> None:
        super().__init__(settings, learned, init)
        self.updates: list[VoteUpdates] = []  # one for each problem
        self._sums: Hyperplanes | None = None

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_sums": None}

    def check(self) -> None:
        """Raise a `Fault` unless what was read from a file makes sense."""
        super().check()
        self._check_updates()

    def _check_updates(self) -> None:
        each = type(self.updates) is list and len(self.updates) == self.state.b.size
        expect(each, "it has not kept its updates. Fit again")
        for updates in self.updates:
            expect(type(updates) is VoteUpdates, "an update is not a VoteUpdates")
            count = shape_of(updates.factor)[:1] or (0,)
            check_array("the factors of the updates", updates.factor, "d", count)
            check_array("the trials of the updates", updates.trial, "l", count)
            check_rows("the rows of the updates", updates.rows, updates.factor.size, self.n_features)

    def _run_epoch(self, table: Table, task: Task) -> Counts:
        algorithm: Any = self.settings.algorithm
        algorithm.log.clear()  # of an epoch that was interrupted
        try:
            counts = super()._run_epoch(table, task)
            self.take(algorithm.log)
        finally:
            algorithm.log.clear()  # of rows that were refused
        return counts

    def reconfigure(self, settings: Settings) -> None:
        """Continue with other settings; raise an error if they would change the vectors that vote."""
        if self.state is not None and settings.bias != self.settings.bias:
            raise InvalidInput(
                "fit_intercept or intercept_scaling is not what the vectors that vote were learned with. Set it "
                "back, or fit again."
            )
        super().reconfigure(settings)

    def learn_known(self, x: Any, y: Any) -> None:
        """Return None: every row is kept."""

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row, as from a chunk: its row is kept."""
        if isinstance(x, Mapping):
            raise InvalidInput("The vote keeps rows of a fixed width, which dicts do not have. Pass arrays.")
        return self._learn_as_chunk(x, y)

    def take(self, log: CopiedUpdates) -> None:
        """Add the updates of a log to those kept."""
        rows, problem, factor, trial = log.take()
        before = self.updates
        self.updates, self._sums, self._model = [], None, None
        for p in range(self.state.b.size):
            mine = slice(None) if self.state.b.size == 1 else problem == p
            new = VoteUpdates(rows[mine], factor[mine], trial[mine])
            self.updates.append(before[p].join(new) if p < len(before) else new)

    def _grow(self, change: Array) -> None:
        super()._grow(change)
        self._sums = None
        if not self.updates:
            return
        source = np.abs(change).argmax(axis=1)
        sign = change[np.arange(change.shape[0]), source]
        rows, factor, trial = self.updates[0]
        empty = VoteUpdates(rows[:0], factor[:0], trial[:0])
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
        """Return the average of the weight vectors, as a copy that later rows do not change."""
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
        """Return the sum of the vectors over the trials, for each known problem; cached until the next row."""
        self.check_arrays()
        if self._sums is None:
            W = np.zeros((self.known, self.n_features))
            b = np.zeros(self.known)
            for p, (rows, factor, trial) in enumerate(self.updates[: self.known]):
                times = factor * (int(self.state.t[p]) - trial)  # an update is in every later vector
                W[p], b[p] = rows.T @ times, times.sum() * self.settings.bias
            self._sums = Hyperplanes(W, b)
        return self._sums

    def vote(self, table: Table) -> Array:
        """Let every weight vector that there was vote on each row.

        Returns
        -------
        array of shape (n_rows, n_problems)
            Share of votes for less share of votes against.
        """
        self.check_arrays()
        with refuse_replaced():
            self._check_updates()
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


class VotedPerceptron(LinearClassifier):
    """The voted perceptron: every weight vector it passed through votes, as often as it survived.

    One fit gives three predictions: by the last vector, by the average, and by the vote of all of them. What is
    stored is the row of each update, sparse where the data is; the vectors are sums of them.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    `coef_` and `intercept_` are the average, which explains the model as far as one vector can. They cannot be
    assigned. `vectors` yields every vector with the trials that it survived.

    A prediction by vote costs one inner product for each update that was made; by the average or the last vector, one
    in all. After one pass the vote errs on a new row with
    probability at most 2 E/(n + 1), E the expected mistakes (`rosenblatt.bounds.leave_one_out_vote`).

    References
    ----------
    Freund and Schapire (1999), Large margin classification using the perceptron algorithm, Machine Learning 37.

    Examples
    --------
    >>> from rosenblatt import VotedPerceptron
    >>> model = VotedPerceptron().fit([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 1])
    >>> [model.predict([[0, 0], [1, 1]], aggregate=way).tolist() for way in ("vote", "average", "last")]
    [[0, 1], [0, 1], [0, 1]]
    """

    fit_intercept: bool = shared.FIT_INTERCEPT
    max_iter: int = shared.MAX_ITER
    tol: float | None = shared.TOL
    shuffle: shared.Shuffle = shared.SHUFFLE
    verbose: int = shared.VERBOSE
    random_state: shared.RandomState = shared.RANDOM_STATE
    n_iter_no_change: int = shared.N_ITER_NO_CHANGE
    max_seconds: float | None = shared.MAX_SECONDS
    callback: shared.Callback = shared.CALLBACK
    class_weight: shared.ClassWeight = shared.CLASS_WEIGHT
    multiclass: shared.Multiclass = shared.MULTICLASS
    intercept_scaling: shared.Padding = shared.INTERCEPT_SCALING

    facts = Facts(
        published=1999,
        does="every vector votes; last, average and vote from one fit; `vectors()`",
        when="you want the vote itself",
        title="Voted perceptron",
        lecture="Perceptron and Kernelization",
        rule="perceptron",
    )
    default_keep = "last"
    without_shards = (
        "A vote is over all weights in the order of the trials, which shards do not have. Choose "
        "AveragedPerceptron, or train without shards."
    )
    stored_attributes = (*LinearClassifier.stored_attributes, "updates")

    def _algorithm(self) -> Algorithm:
        return Voted(perceptron())

    def _make_stream(self, settings: Settings, learned: Learned | None = None) -> VotedStream:
        return VotedStream(settings, learned)

    def _to_file(self) -> dict[str, Any]:
        stored = super()._to_file()
        return stored | {"updates": self._voted_stream().updates} if stored else stored

    def _check_stream(self, stream: Stream) -> None:
        assert isinstance(stream, VotedStream)
        stream.updates = self.__dict__.pop("updates")
        super()._check_stream(stream)

    def _voted_stream(self) -> VotedStream:
        stream = self._stream
        assert isinstance(stream, VotedStream)
        return stream

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Train until a stopping rule says so; see `Perceptron.fit`. It starts from zero."""
        if coef_init is not None or intercept_init is not None:
            raise InvalidInput("The vote starts from zero: drop coef_init and intercept_init.")
        return self._fit(X, y, sample_weight)

    def _finish(self, record: Run, job: Job, classes: Array, state: Any) -> None:
        super()._finish(record, job, classes, state)
        assert isinstance(job.algorithm, Voted)
        self._voted_stream().take(job.algorithm.log)

    @steady
    def decision_function(self, X: Any, aggregate: str | None = None) -> Array:
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        aggregate : {"vote", "average", "last"}, default "vote"
            The share of votes for less against, between -1 and 1; the score of the average; of the last vector.

        Returns
        -------
        array of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        scores = self._class_scores(X, choose_aggregate(aggregate, "vote", AGGREGATES))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @steady
    def predict(self, X: Any, aggregate: str | None = None) -> Array:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        aggregate : {"vote", "average", "last"}, default "vote"

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._elect(self._class_scores(X, choose_aggregate(aggregate, "vote", AGGREGATES)))

    @steady
    def explain(self, x: Any, top: int | None = None, aggregate: str | None = None) -> Explanation:
        """Return the scores of one row as sums over its features, by the average or by the last vector.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, or row of a data frame
        top : int, optional
            How many contributions to list, the largest first; the others are added up. By default all.
        aggregate : {"average", "last"}
            The vote itself is not a sum over features.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        stream = self._voted_stream()
        if choose_aggregate(aggregate, "vote", AGGREGATES) == "vote":
            raise InvalidInput(
                "The vote of many vectors is not a sum over features. Pass aggregate='average' or aggregate='last'."
            )
        model = stream.model()
        planes = stream.hyperplanes() if aggregate == "last" else Hyperplanes(np.asarray(model.W), model.b)
        return self._explained(planes, x, top)

    def vectors(self, problem: int = 0) -> Iterator[tuple[Array, float, int]]:
        """Yield the weight vectors that vote, in the order of training.

        Parameters
        ----------
        problem : int, default 0
            The row of `coef_`; with two classes there is one.

        Yields
        ------
        w : array of shape (n_features,)
        b : float
            Its bias.
        survived : int
            The trials after which it was the current one: its votes.

        Examples
        --------
        >>> from rosenblatt import VotedPerceptron
        >>> model = VotedPerceptron(shuffle=False).fit([[-1.0], [1.0]], ["no", "yes"])
        >>> [(w.tolist(), b, survived) for w, b, survived in model.vectors()]
        [([1.0], -1.0, 1), ([2.0], 0.0, 3)]
        """
        check_is_fitted(self)
        stream = self._voted_stream()
        if not is_whole(problem) or not 0 <= problem < stream.known:
            raise InvalidInput(f"problem={problem!r} does not exist: choose a row of coef_, 0 to {stream.known - 1}.")
        return stream.vectors(int(problem))

    def _hyperplane_scores(self, table: Table) -> Array:
        return self._voted_stream().average_scores(table)

    def _class_scores(self, X: Any, aggregate: str = "vote") -> Array:
        check_is_fitted(self)
        table, _ = self._check_rows(X, reset=False)
        return self._decide(self._problem_scores(table, aggregate))

    def _problem_scores(self, table: Table, aggregate: str = "vote") -> Array:
        stream = self._voted_stream()
        if aggregate == "last":
            return stream.problem_scores(table)
        return stream.average_scores(table) if aggregate == "average" else stream.vote(table)
