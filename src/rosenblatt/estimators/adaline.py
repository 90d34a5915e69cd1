"""Adaline, for classes and for numbers."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.labels import as_weights, used_rows
from rosenblatt.data.numbers import is_real
from rosenblatt.data.sparse import as_dense
from rosenblatt.data.table import with_own_indices
from rosenblatt.data.targets import as_targets
from rosenblatt.engine.rules import least_mean_squares
from rosenblatt.estimators.base import all_or_nothing, steady
from rosenblatt.estimators.contract import RegressorMixin
from rosenblatt.estimators.linear import LinearClassifier
from rosenblatt.estimators.linear_parameters import ForAdaline, ForAdalineRegressor
from rosenblatt.estimators.rates import check_rates, check_whitening
from rosenblatt.estimators.streamed import FromStream, chunk_record
from rosenblatt.learn.in_memory import Job, run
from rosenblatt.learn.reasons import REGRESSION
from rosenblatt.learn.record import Recorder, Recording
from rosenblatt.learn.regression import RegressionStream, regression_task
from rosenblatt.learn.stopping import Stop
from rosenblatt.learn.stream import NO_CLASSES, Learned, Settings
from rosenblatt.learn.trainer import Trainer
from rosenblatt.methods.method import copy_state
from rosenblatt.storage.registry import expect

Array = npt.NDArray[Any]


class Adaline(ForAdaline, LinearClassifier):
    """Adaline: the adaptive linear neuron of Widrow and Hoff, trained by least mean squares.

    Every row moves the weights, right or wrong: w += eta (y - f(x)) x (LMS), divided by |x|^2 if `normalised` (NLMS). A
    constant rate never comes to rest, so the model is the average of the weights, unless told otherwise; Widrow and
    Hoff's is ``normalised=False, average=False``.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    row_length_ : float
        Root mean square of the lengths of the rows of the last fit, the constant of the bias included; with the rates
        of the columns, where they have some.
    whitening_ : array of shape (n_features + 1, n_features)
        A matrix of learning rates R that the last fit chose, and the means m of the columns below it: a row moves the
        weights along R (x - m). Of shape (0, 0): there is none.
    column_rates_ : list of float
        Learning rate of each column, which the last fit chose: powers of two. Empty: one rate for all, or a matrix.

    References
    ----------
    Widrow and Hoff (1960), Adaptive switching circuits, IRE WESCON Convention Record. A matrix of rates: Widrow and
    Stearns (1985), Adaptive Signal Processing.

    See Also
    --------
    AdalineRegressor : the same for targets that are numbers.

    Examples
    --------
    >>> from rosenblatt import Adaline
    >>> Adaline().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """

    at_times = (*LinearClassifier.at_times, "row_length_", "column_rates_", "whitening_")

    @property
    def minds_scale(self) -> bool:  # type: ignore[override]
        """Whether a column of large values outweighs the others: not if it has a rate of its own."""
        return not self.__dict__.get("column_rates_") and not np.size(self.__dict__.get("whitening_", ()))

    def _check_learned(self) -> None:
        check_rates(self.__dict__.get("column_rates_", []))
        check_whitening(self.__dict__.get("whitening_", np.zeros((0, 0))))
        length = self.__dict__.get("row_length_", 0.0)
        expect(is_real(length) and 0 <= length < np.inf, f"row_length_={length!r:.60} is not a length")
        super()._check_learned()


class AdalineRegressor(ForAdalineRegressor, RegressorMixin, FromStream):
    """Adaline for numbers: linear regression by least mean squares, row by row.

    w += eta (y - f(x)) x, divided by |x|^2 if `normalised`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    n_iter_, run_, stop_reason_, t_, n_features_in_, feature_names_in_
        As for `Perceptron`.

    References
    ----------
    Widrow and Hoff (1960), Adaptive switching circuits, IRE WESCON Convention Record.

    Examples
    --------
    >>> from rosenblatt import AdalineRegressor
    >>> model = AdalineRegressor(max_iter=1000, tol=None).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(3).tolist()
    [7.0]
    """

    @property
    def coef_(self) -> Array:
        """The weights; assign a whole array to start anew from other ones."""
        weights = self._snapshot("coef_").W
        shown: Array = self._shown(weights if self.__dict__.get("_shows_sparse") else weights[0])
        return shown

    @coef_.setter
    def coef_(self, value: Any) -> None:
        dense = as_dense(value) if hasattr(value, "toarray") else [value]
        self._learned("coef_").set_weights(dense, [self.intercept_])

    @property
    def intercept_(self) -> float:
        """The bias; assign a number to start anew from another one."""
        return float(self._snapshot("intercept_").b[0])

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        stream = self._learned("intercept_")
        stream.set_weights(stream.model().W, [value])

    def _make_stream(self, settings: Settings, learned: Learned | None = None) -> RegressionStream:
        return RegressionStream(settings, learned)

    def _settings(self) -> Settings:
        return Settings(self._method(), eta=float(self.eta0), bias=1.0 if self.fit_intercept else 0.0)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Job, Settings, Any]:
        self._check_parameters()
        warm = self.warm_start and "_stream" in self.__dict__
        names = getattr(self, "feature_names_in_", None)
        table, y = self._check_rows(X, y, reset=True)
        weight, settings = as_weights(sample_weight, table.shape[0]), self._settings()
        if self.callback is not None or callable(self.schedule):
            table = with_own_indices(table)
        task = regression_task(as_targets(y), weight, settings.bias)
        if warm:
            self._check_warm(table.shape[1], names)
            self._stream.reconfigure(settings)
            state = copy_state(self._stream.state)
        else:
            state = settings.method.start(1, table.shape[1], table.dtype)
        return Job(settings.method, table, task, self._plan(), subset=used_rows(weight)), settings, state

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
        with all_or_nothing(self):
            job, settings, state = self._prepare(X, y, sample_weight)
            record = run(job, state)
            self.__dict__.pop("_shows_sparse", None)
            self._stream = self._make_stream(settings, Learned(NO_CLASSES, state, record.trials, 0, ()))
            self._store(replace(record, single_pass=None))  # what is promised of mistakes says nothing of numbers
            if record.stop is Stop.DIVERGED:
                warnings.warn(f"Not converged: {self.stop_reason_}", ConvergenceWarning, stacklevel=2)
        return self

    def _record(self, X: Any, y: Any, sample_weight: Any = None) -> Recording:
        """Fit, and write down every trial: see `rosenblatt.learn.record`."""
        with all_or_nothing(self):
            job, settings, state = self._prepare(X, y, sample_weight)
            recorder = Recorder(job, state)
            record = Trainer(job.plan, recorder).run()
            self.__dict__.pop("_shows_sparse", None)
            self._stream = self._make_stream(settings, Learned(NO_CLASSES, state, record.trials, 0, ()))
            record = replace(record, single_pass=None)  # what is promised of mistakes says nothing of numbers
            self._store(record)
        return recorder.recording(record, self)

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
        with all_or_nothing(self):
            return self._learn_chunk(X, y, sample_weight)

    def _learn_chunk(self, X: Any, y: Any, sample_weight: Any) -> Self:
        start = time.perf_counter()
        self._check_parameters()
        first = "_stream" not in self.__dict__
        table, y = self._check_rows(X, y, reset=first)
        stream = self._make_stream(self._settings()) if first else self._stream
        stream.reconfigure(self._settings())
        counts = stream.learn(table, y, as_weights(sample_weight, table.shape[0]))
        self._stream = stream
        seconds = time.perf_counter() - start
        self._store_chunk(chunk_record(counts, table.shape[0], table.largest, stream, REGRESSION, seconds))
        return self

    @steady
    def predict(self, X: Any) -> Array:
        """Return the number that belongs to each row.

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
    def predict_one(self, x: Any) -> float:
        """Return the number that belongs to one row, as `predict` does.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, or dict from names to numbers

        Returns
        -------
        float
        """
        table = self._one_row(x)
        return float(self._stream.problem_scores(table)[0, 0])
