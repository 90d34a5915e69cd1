"""The members that minimise something: squared errors, penalised losses, the length of the weights."""

from __future__ import annotations

import warnings
from contextlib import suppress
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt.compiled.epochs import (
    HarmonicRate,
    HingeRule,
    LmsRule,
    LogisticRule,
    NormalisedLmsRule,
    PerceptronRule,
    SquaredHingeRule,
    Task,
)
from rosenblatt.data.table import Table, as_targets, as_weights
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.base import (
    COMMON,
    EpochLearner,
    LinearClassifier,
    check_penalty,
    check_rate,
    learner,
    penalty_of,
    require,
    require_one_of,
)
from rosenblatt.exact.signed_rows import SignedRows
from rosenblatt.learn.methods import FirstOrder, Method
from rosenblatt.learn.model import EVERY_ROW, MULTICLASS, as_model, check_start, code, scores
from rosenblatt.learn.order import SCHEDULES, row_numbers
from rosenblatt.learn.trainer import Job, Plan, Run, run
from rosenblatt.proof.brackets import Bracket
from rosenblatt.separability.clock import Clock, OutOfTime
from rosenblatt.separability.margin import Hyperplane, largest_margin_hyperplane

Array = npt.NDArray[Any]


@learner(eta0=0.1, schedule="constant", normalised=True)
class Adaline(LinearClassifier):
    """Adaline: the adaptive linear neuron of Widrow and Hoff, trained by least mean squares.

    Every row moves the weights, right or wrong: w += eta (y - f(x)) x (LMS), divided by |x|^2 if `normalised`.

    Parameters
    ----------
    eta0 : float, default 0.1
        Learning rate; stable below 2 if normalised, else below 2/|x|^2.
    schedule : str or callable, default "constant"
        Factor of the learning rate by epoch, as for `Perceptron`.
    normalised : bool, default True
        Whether steps are divided by the squared length of the row (NLMS).
    {common}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Widrow and Hoff (1960), Adaptive switching circuits, IRE WESCON Convention Record.

    See Also
    --------
    AdalineRegressor : the same for targets that are numbers.

    Examples
    --------
    >>> from rosenblatt import Adaline
    >>> Adaline().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """

    modes = ("ovr", "ovo", "ovo-vote")
    keeps = "last"

    def _check_own(self) -> None:
        check_rate(self)

    def _method(self) -> Method:
        return FirstOrder(NormalisedLmsRule() if self.normalised else LmsRule())


@learner(loss="hinge", penalty="l2", alpha=0.0001, l1_ratio=0.15, eta0=0.01, schedule="optimal", average=False)
class SoftMargin(LinearClassifier):
    """Soft margins: minimise the mean loss plus a penalty by stochastic gradient steps.

    Losses of the margin m = y f(x): hinge max(0, 1 - m), its square, or logistic log(1 + e^-m); penalty
    alpha ((1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1).

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "logistic"}, default "hinge"
    penalty : {"l2", "l1", "elasticnet"} or None, default "l2"
    alpha : float, default 0.0001
        Strength of the penalty.
    l1_ratio : float, default 0.15
        Share of L1 in the elastic net.
    eta0 : float, default 0.01
        Learning rate of the schedules by epoch.
    schedule : str or callable, default "optimal"
        "pegasos": 1/(alpha t) in trial t; "optimal": 1/(alpha (t0 + t)) with Bottou's t0; or by epoch, as for
        `Perceptron`.
    average : bool, default False
        Whether the model is the average of the weights over all trials (averaged SGD).
    {common}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Shalev-Shwartz, Singer and Srebro (2007), Pegasos: primal estimated sub-gradient solver for SVM. Tsuruoka, Tsujii
    and Ananiadou (2009), Stochastic gradient descent training for L1-regularized log-linear models. Xu (2011), Towards
    optimal one pass large scale learning with averaged stochastic gradient descent.

    Examples
    --------
    >>> from rosenblatt import SoftMargin
    >>> model = SoftMargin(loss="logistic").fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """

    keeps = "last"

    @property
    def modes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Modes that the loss has: the logistic loss of several classes at once is another one."""
        return MULTICLASS[:-1] if self.loss == "logistic" else MULTICLASS

    def _check_own(self) -> None:
        check_rate(self)
        check_penalty(self)
        require_one_of("loss", self.loss, ("hinge", "squared_hinge", "logistic"))
        if not callable(self.schedule):
            require_one_of("schedule", self.schedule, ("optimal", "pegasos", *SCHEDULES))
        if self.schedule in ("optimal", "pegasos") and not self.alpha > 0:
            raise InvalidInput(f"schedule={self.schedule!r} divides by alpha, which is 0. Choose schedule='constant'.")

    def _plan(self, **changes: Any) -> Plan:
        by_trial = self.schedule in ("optimal", "pegasos")
        return super()._plan(**({"schedule": "constant"} if by_trial else {}), **changes)

    def _method(self) -> Method:
        rule = {"hinge": HingeRule(), "squared_hinge": SquaredHingeRule(), "logistic": LogisticRule()}[self.loss]
        return FirstOrder(rule, penalty_of(self), self._pace(), bool(self.average))

    def _pace(self) -> HarmonicRate | None:
        if self.schedule == "pegasos":
            return HarmonicRate(float(self.alpha), 0.0)
        if self.schedule == "optimal":
            # Bottou's choice: the first step is no longer than a weight of typical size.
            typical = (1.0 / self.alpha**0.5) ** 0.5
            steepest = 2.0 * (1.0 + typical) if self.loss == "squared_hinge" else 1.0
            return HarmonicRate(float(self.alpha), steepest / (typical * self.alpha) - 1.0)
        return None

    def _is_logistic(self) -> bool:
        if self.loss != "logistic":
            raise AttributeError("predict_proba is only there with loss='logistic'.")
        return True

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Give the probability of each class, from the logistic scores; several classes are scaled to add up to one.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        positive = 1.0 / (1.0 + np.exp(-np.clip(self._class_scores(X).astype(float), -700, 700)))
        if positive.shape[1] == 1:
            return np.hstack([1.0 - positive, positive])
        return np.asarray(positive / positive.sum(axis=1, keepdims=True))


_NOT_FOR_MARGINS = tuple(name for name in COMMON if name not in ("max_seconds", "multiclass"))


@learner(without=_NOT_FOR_MARGINS)
class MaximumMargin(LinearClassifier):
    """The hyperplane furthest from all rows: the hard-margin support vector machine.

    Unlike the perceptron's, the solution is unique. It is found as the shortest vector between the convex hulls of
    the two classes (an active set of rows that grows), and scaled so that the closest rows have y f(x) = 1; the margin
    is 1/|w|, and certified: see `certify`.

    Parameters
    ----------
    max_seconds : float or None, default None
        Most seconds; a problem that is not solved by then is treated as one that cannot be separated.
    multiclass : {"ovr", "ovo", "ovo-vote"}, default "ovr"
        More than two classes: one against the rest, or every pair.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As for `Perceptron`.
    margin_ : array of shape (n_problems,)
        Distance of the closest rows from each hyperplane, rounded down.
    margin_ceiling_ : array of shape (n_problems,)
        Largest distance that any hyperplane can have, rounded up: proved by two points of the hulls.
    support_ : list of int arrays
        The rows that each hyperplane rests on.
    stop_reason_ : str
        How close the two are.

    Notes
    -----
    Where classes cannot be separated there is no largest margin: a warning says so, `margin_` is negative for such a
    problem, and its weights are the best that the perceptron came by.

    References
    ----------
    Lawson and Hanson (1974), Solving Least Squares Problems, chapter 23; Wolfe (1976), Finding the nearest point in a
    polytope, Mathematical Programming 11, 128-149. From a sample to all rows: Clarkson (1995), Las Vegas algorithms for
    linear and integer programming when the dimension is small, Journal of the ACM 42, 488-499.

    See Also
    --------
    certify : proves the margin, or that there is none.
    SoftMargin : for data that is not separable.

    Examples
    --------
    >>> from rosenblatt import MaximumMargin
    >>> model = MaximumMargin().fit([[0.0, 0.0], [0.0, 4.0]], [0, 1])
    >>> model.margin_.round(6).tolist(), model.intercept_.round(6).tolist()
    ([2.0], [-1.0])
    """

    modes = ("ovr", "ovo", "ovo-vote")
    fit_intercept = True
    class_weight = None

    margin_: Array
    margin_ceiling_: Array
    support_: list[Array]

    @property
    def partial_fit(self) -> Any:
        """Not there: the largest margin is a property of all rows together."""
        raise AttributeError("MaximumMargin needs all rows at once. Use Perceptron(margin=...) for streams.")

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Find the hyperplane.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        require_one_of("multiclass", self.multiclass, self.modes)
        if self.max_seconds is not None:
            require("max_seconds", self.max_seconds, Real, lambda v: v > 0, "a positive number")
        table, y = self._check_rows(X, y, reset=True)
        classes, label = self._labels(y, table)
        sign = code(classes.size, self.multiclass)
        clock = Clock(self.max_seconds)
        found = [_furthest(table, label, sign[:, p : p + 1], clock) for p in range(sign.shape[1])]
        self.classes_ = classes
        self.coef_ = np.array([plane.w for plane in found])
        self.intercept_ = np.array([plane.b for plane in found])
        self.margin_ = np.array([plane.margin.lower for plane in found])
        self.margin_ceiling_ = np.array([plane.margin.upper for plane in found])
        self.support_ = [plane.support for plane in found]
        apart = self.margin_ > 0
        if apart.all():
            gap = float((1 - self.margin_ / self.margin_ceiling_).max())
            self.stop_reason_ = f"the margin is within a share of {max(gap, 0.0):.1g} of the largest possible."
        else:
            self.stop_reason_ = (
                f"{np.count_nonzero(~apart)} of {apart.size} problems cannot be separated: there is no largest margin."
            )
            warnings.warn(f"{self.stop_reason_} Consider SoftMargin.", ConvergenceWarning, stacklevel=2)
        return self


def _furthest(table: Table, label: Array, sign: Array, clock: Clock) -> Hyperplane:
    """Give the hyperplane of one problem, or the best that the perceptron comes by where nothing separates."""
    index = row_numbers(np.flatnonzero(sign[label, 0]))
    part = table if index.size == label.size else table.take(index)
    with suppress(OutOfTime):
        found = largest_margin_hyperplane(SignedRows(part, sign[label[index], 0] > 0, 2), clock)
        if found is not None:
            return found._replace(support=index[found.support])
    task = Task(label, sign, np.ones(sign.shape), np.ones(sign.shape[0]), np.empty(0), np.empty(0), 1.0)
    method = FirstOrder(PerceptronRule(0.0, 0.0))
    state = method.start(1, table.shape[1], table.dtype)
    record = run(Job(method, table, task, Plan(epochs=100, keep="best"), index=index), state)
    w, b = record.coef[0].astype(float), float(record.intercept[0])
    heights = sign[label[index], 0] * scores(table, as_model(record.coef, record.intercept), index)[:, 0]
    reached = float(heights.min()) / (float(np.linalg.norm(w)) or 1.0)
    return Hyperplane(w, b, Bracket(min(reached, -np.finfo(float).tiny), 0.0), index[:0])


@learner(
    eta0=0.1,
    schedule="constant",
    normalised=True,
    without=("early_stopping", "validation_fraction", "class_weight", "multiclass", "keep", "n_jobs", "init"),
)
class AdalineRegressor(RegressorMixin, EpochLearner):  # type: ignore[misc]
    """Adaline for numbers: linear regression by least mean squares, row by row.

    w += eta (y - f(x)) x, divided by |x|^2 if `normalised`.

    Parameters
    ----------
    eta0 : float, default 0.1
        Learning rate; stable below 2 if normalised, else below 2/|x|^2.
    schedule : str or callable, default "constant"
        Factor of the learning rate by epoch, as for `Perceptron`.
    normalised : bool, default True
        Whether steps are divided by the squared length of the row (NLMS).
    {common}

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

    coef_: Array
    intercept_: float
    n_iter_: int
    run_: Run
    stop_reason_: str
    t_: int

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
        return self._train(X, y, sample_weight, fresh=not (self.warm_start and hasattr(self, "coef_")), stream=False)

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
        return self._train(X, y, sample_weight, fresh=not hasattr(self, "coef_"), stream=True)

    def _train(self, X: Any, y: Any, sample_weight: Any, *, fresh: bool, stream: bool) -> Self:
        self._check_common()
        check_rate(self)
        table, y = self._check_rows(X, y, reset=fresh or not stream)
        target = as_targets(y)
        weight = as_weights(sample_weight, table.shape[0])
        index = row_numbers(np.flatnonzero(weight)) if weight.size and not weight.all() else EVERY_ROW
        one = np.ones((1, 1))
        label = np.zeros(table.shape[0], np.int32)
        bias = 1.0 if self.fit_intercept else 0.0
        task = Task(label, one.astype(np.int8), one, one[0], weight, target, bias)
        method = FirstOrder(NormalisedLmsRule() if self.normalised else LmsRule())
        state = method.start(1, table.shape[1], table.dtype)
        if not fresh:
            W0, b0 = check_start((self.coef_, self.intercept_), 1, table.shape[1])
            state.W[:], state.b[:] = W0, b0
        plan = self._plan(**({"order": "cyclic", "epochs": 1, "tol": None} if stream else {}))
        self.run_ = run(Job(method, table, task, plan, index=index), state)
        self.coef_, self.intercept_ = self.run_.coef[0], float(self.run_.intercept[0])
        self.t_ = self.run_.trials + (0 if fresh else self.t_)
        self.n_iter_, self.stop_reason_ = self.run_.epochs, self.run_.reason
        return self

    def predict(self, X: Any) -> Array:
        """Give the number that belongs to each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        table, _ = self._check_rows(X, reset=False)
        if np.shape(self.coef_) != (table.shape[1],):
            raise InvalidInput(f"coef_ has shape {np.shape(self.coef_)}; X has {table.shape[1]} features. Fit again.")
        coef = np.asarray(self.coef_, dtype=np.result_type(table.dtype, self.coef_.dtype))[None, :]
        return scores(table, as_model(coef, np.array([self.intercept_], dtype=coef.dtype)))[:, 0]
