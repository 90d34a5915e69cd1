"""The voted perceptron."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.numbers import is_whole
from rosenblatt.data.table import Table
from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.base import choose_aggregate, steady
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import ForClasses, InEpochs, WithPadding
from rosenblatt.learners.voted_method import Voted
from rosenblatt.learners.voted_stream import VotedStream
from rosenblatt.training.algorithm import Algorithm
from rosenblatt.training.in_memory import Job
from rosenblatt.training.plan import Run
from rosenblatt.training.stream import Learned, Settings, Stream

Array = npt.NDArray[Any]

AGGREGATES = ("vote", "average", "last")


class VotedPerceptron(InEpochs, ForClasses, WithPadding, LinearClassifier):
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
        """Train until a stopping rule says so; see `Perceptron.fit`. A start other than zero is not possible."""
        if coef_init is not None or intercept_init is not None:
            raise InvalidInput("The vote starts from zero: drop coef_init and intercept_init.")
        return self._fit(X, y, sample_weight=sample_weight)

    def _finish(self, record: Run, job: Job, classes: Array, state: Any) -> None:
        learned = Learned(classes, state, record.trials, sum(record.mistakes), ())
        stream = VotedStream(Settings(job.algorithm, self.multiclass, bias=self._bias()), learned)
        stream.take_log()
        self._stream = stream
        self._store(record)

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
