"""The base of linear learners of numbers: fitting in epochs, streams, prediction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_targets, as_weights, used_rows
from rosenblatt.data.matrices import as_dense
from rosenblatt.learners.base import steady
from rosenblatt.learners.contract import RegressorMixin, check_is_fitted
from rosenblatt.learners.linear import EpochLearner
from rosenblatt.training.multiclass import regression_task
from rosenblatt.training.plan import Run
from rosenblatt.training.runner import Job
from rosenblatt.training.stopping import REGRESSION_WORDS, Stop
from rosenblatt.training.stream import NO_CLASSES, Learned, RegressionStream, Settings

Array = npt.NDArray[Any]

ATTRIBUTES = """\
coef_ : array of shape (n_features,)
intercept_ : float
n_iter_, run_, stop_reason_, t_, n_features_in_, feature_names_in_
    As for `Perceptron`."""


class LinearRegressor(RegressorMixin, EpochLearner):
    """A linear learner of numbers, trained in epochs or from a stream, which owns what was learned.

    A subclass declares its parameters, and returns its way to learn from `_algorithm`. In place of a margin its rule
    is given 1 - (y - f(x)), so that a rule for margins which steps by 1 - m steps by the error.
    """

    words = REGRESSION_WORDS
    unconverged = (Stop.DIVERGED,)
    without_shards = "Shards are for classes, and not for numbers. Train on one machine, or as a stream."
    attributes_text = ATTRIBUTES

    @property
    def coef_(self) -> Array:
        """The weights; assign a whole array to continue from other weights."""
        weights = np.asarray(self._snapshot("coef_").W)
        shown: Array = self._shown(weights if self.__dict__.get("_shows_sparse") else weights[0])
        return shown

    @coef_.setter
    def coef_(self, value: Any) -> None:
        dense = as_dense(value) if hasattr(value, "toarray") else [value]
        self._learned("coef_").set_weights(dense, [self.intercept_])

    @property
    def intercept_(self) -> float:
        """The bias; assign a number to continue from another bias."""
        return float(self._snapshot("intercept_").b[0])

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        stream = self._learned("intercept_")
        stream.set_weights(stream.model().W, [value])

    def _make_stream(self, settings: Settings, learned: Learned | None = None) -> RegressionStream:
        return RegressionStream(settings, learned)

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *start: Any) -> tuple[Job, Array, Any]:
        self._check_parameters()
        names = getattr(self, "feature_names_in_", None)
        table, y = self._check_rows(X, y, reset=True)
        weight, algorithm = as_weights(sample_weight, table.shape[0]), self._algorithm()
        task = regression_task(as_targets(y), weight, self._bias())
        if self._continues():
            state = self._warm_state(table.shape[1], names)
        else:
            state = algorithm.start(1, table.shape[1], table.dtype)
        return (
            Job(algorithm, self._out_of_reach(table), task, self._plan(), subset=used_rows(weight)),
            NO_CLASSES,
            state,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train until a stopping rule says so.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _finish(self, record: Run, job: Job, classes: Array, state: Any) -> None:
        super()._finish(replace(record, single_pass=None), job, classes, state)  # bounds on mistakes do not apply

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows once, in the order in which they come; chunks of any size give the same weights.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        return self._learn_chunk(X, y, sample_weight)

    @steady
    def predict(self, X: Any) -> Array:
        """Return the predicted number of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        table, _ = self._check_rows(X, reset=False)
        return self._stream.problem_scores(table)[:, 0]

    @steady
    def _predict_other(self, x: Any) -> float:
        if "_stream" not in self.__dict__:
            return 0.0
        return float(self._stream.problem_scores(self._one_row(x))[0, 0])
