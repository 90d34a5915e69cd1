"""The scikit-learn classes: parameters, labels, checks. No arithmetic; the only module that imports scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt._kernels import ElasticNet, NoPenalty, PerceptronRule, Task, Weights
from rosenblatt.data import Table, as_labels, as_table, as_weights, check_sparse
from rosenblatt.errors import InvalidInput
from rosenblatt.model import EVERY_ROW, MULTICLASS, code, decision, initial_weights, scores, winners
from rosenblatt.online import grow, open_code
from rosenblatt.order import row_numbers
from rosenblatt.stopping import Stop
from rosenblatt.training import Epoch, Held, Penalty, Plan, Run, run

Array = npt.NDArray[Any]

_ORDER = {True: "shuffled", False: "cyclic", "random": "random"}


def _require(name: str, value: Any, kind: type, accept: Callable[[Any], bool], wanted: str) -> None:
    if not isinstance(value, kind) or isinstance(value, bool | np.bool_) or not accept(value):
        raise InvalidInput(f"{name}={value!r} is not possible: it must be {wanted}.")


class LinearClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What the linear classifiers of the family share: labels in and out, training by epochs or by a stream.

    A subclass stores the parameters of its constructor and gives its `_rule`.
    """

    classes_: Array
    coef_: Array
    intercept_: Array
    n_iter_: int
    n_features_in_: int
    run_: Run
    stop_reason_: str
    t_: int
    mistakes_: int
    _trained: tuple[Weights, Array, Array]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _rule(self) -> PerceptronRule:
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------- parameters

    def _check_parameters(self) -> None:
        whole, number = Integral, Real
        _require("max_iter", self.max_iter, whole, lambda v: v >= 1, "a whole number from 1")
        _require("n_iter_no_change", self.n_iter_no_change, whole, lambda v: v >= 1, "a whole number from 1")
        _require("eta0", self.eta0, number, lambda v: 0 < v < np.inf, "a positive number")
        _require("alpha", self.alpha, number, lambda v: 0 <= v < np.inf, "a number from 0")
        _require("l1_ratio", self.l1_ratio, number, lambda v: 0 <= v <= 1, "a number from 0 to 1")
        _require("validation_fraction", self.validation_fraction, number, lambda v: 0 < v < 1, "between 0 and 1")
        if self.tol is not None:
            _require("tol", self.tol, number, lambda v: v == v, "a number, or None for all epochs")
        if self.max_seconds is not None:
            _require("max_seconds", self.max_seconds, number, lambda v: v > 0, "a positive number or None")
        for name, known in (
            ("penalty", (None, "l1", "l2", "elasticnet")),
            ("multiclass", MULTICLASS),
            ("keep", (None, "last", "best")),
            ("shuffle", tuple(_ORDER)),
        ):
            if getattr(self, name) not in known:
                choices = ", ".join(repr(choice) for choice in known)
                raise InvalidInput(f"{name}={getattr(self, name)!r} is not known: choose one of {choices}.")

    def _penalty(self) -> Penalty:
        if self.penalty is None:
            return NoPenalty()
        share = {"l1": 1.0, "l2": 0.0, "elasticnet": float(self.l1_ratio)}[self.penalty]
        return ElasticNet(float(self.alpha * share), float(self.alpha * (1.0 - share)))

    def _plan(self, **changes: Any) -> Plan:
        watched = self.tol is not None or self.early_stopping
        settings: dict[str, Any] = {
            "order": _ORDER[self.shuffle],
            "schedule": self.schedule,
            "eta": float(self.eta0),
            "batch": bool(self.batch),
            "epochs": int(self.max_iter),
            "seconds": self.max_seconds,
            "tol": None if self.tol is None or self.tol == -np.inf else float(self.tol),
            "patience": int(self.n_iter_no_change),
            "keep": self.keep or ("best" if watched else "last"),
            "seed": self._seed(),
            "threads": effective_n_jobs(self.n_jobs),
            "callback": self._watch if self.verbose or self.callback is not None else None,
        }
        return Plan(**(settings | changes))

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _watch(self, epoch: Epoch) -> Any:
        if self.verbose:
            error = "" if epoch.error is None else f", error {epoch.error:.4f}"
            print(  # noqa: T201
                f"epoch {epoch.number}: {epoch.mistakes} mistakes, loss {epoch.loss:.4g}{error}, {epoch.seconds:.2f} s"
            )
        return None if self.callback is None else self.callback(epoch)

    # ------------------------------------------------------------------------------------------------------ input

    def _check_rows(self, X: Any, y: Any = "no_validation", *, reset: bool) -> tuple[Table, Any]:
        if sp.issparse(X):
            check_sparse(X)  # before anything of scipy's follows its pointers
        elif getattr(getattr(X, "dtype", None), "kind", None) in ("m", "M"):
            raise InvalidInput(
                f"X has dtype {X.dtype}. Turn dates into numbers that mean something, such as days since."
            )
        checked = validate_data(
            self,
            X,
            y,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            accept_large_sparse=True,
            ensure_all_finite=False,
        )
        if isinstance(y, str) and y == "no_validation":
            return as_table(checked), None
        return as_table(checked[0]), checked[1]

    def _task(self, label: Array, sign: Array, classes: Array, y: Array, weight: Array) -> Task:
        """Say what each row teaches each problem.

        As in scikit-learn, one-vs-all weights the class that a problem looks for, and not the rest.
        """
        stake = np.ones(classes.size)
        if self.class_weight is not None:
            stake = compute_class_weight(self.class_weight, classes=classes, y=y).astype(float)
        own = sign > 0 if self.multiclass == "ovr" and classes.size > 2 else sign != 0
        cost = np.where(own, stake[:, None], 1.0)
        return Task(label, sign, cost, stake, weight, 1.0 if self.fit_intercept else 0.0)

    # --------------------------------------------------------------------------------------------------- training

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Train until the data is separated, or another stopping rule says so.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any type.
        coef_init : array-like of shape (n_problems, n_features), optional
            Weights to start from.
        intercept_init : array-like of shape (n_problems,), optional
            Biases to start from.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of each row's step; rows of weight zero are left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        table, y = self._check_rows(X, y, reset=True)
        classes, label = as_labels(y, table.shape[0])
        if classes.size < 2:
            raise InvalidInput(
                f"The number of classes has to be greater than one; got 1 class: {classes[0]!r}. "
                "Add examples of another class."
            )
        plan = self._plan()
        sign = code(classes.size, self.multiclass)
        weight = as_weights(sample_weight, table.shape[0])
        task = self._task(label, sign, classes, y, weight)
        weights = self._start(classes, sign.shape[1], table, coef_init, intercept_init)
        index, held = self._split(table, label, weight)
        self.run_ = run(
            self._rule(),
            self._penalty(),
            table,
            task,
            weights,
            plan,
            multiclass=self.multiclass,
            index=index,
            held=held,
        )
        self.classes_ = classes
        self.t_, self.mistakes_ = self.run_.trials, sum(self.run_.mistakes)
        self._finish(weights)
        if self.run_.stop is Stop.CYCLE or (self.run_.stop is Stop.EPOCHS and self.tol is not None):
            remedy = "shuffle=True" if self.run_.stop is Stop.CYCLE else "a larger max_iter"
            warnings.warn(f"Not converged: {self.stop_reason_} Consider {remedy}.", ConvergenceWarning, stacklevel=2)
        return self

    @property
    def _unit(self) -> float:
        """The rate that the private weights are to be multiplied with; a penalty ties them to the true one."""
        return 1.0 if self.penalty is not None else float(self.eta0)

    def _start(self, classes: Array, problems: int, table: Table, coef_init: Any, intercept_init: Any) -> Weights:
        truncated = self.penalty in ("l1", "elasticnet")
        if coef_init is not None or intercept_init is not None:
            w0 = np.zeros(table.shape[1]) if coef_init is None else coef_init
            init = (w0, 0.0 if intercept_init is None else intercept_init)
        elif self.warm_start and hasattr(self, "coef_"):
            if not np.array_equal(classes, self.classes_):
                raise InvalidInput(
                    f"warm_start continues with the classes {self.classes_.tolist()}, but y has {classes.tolist()}. "
                    "Fit a fresh estimator, or use partial_fit, which takes new classes."
                )
            return self._resume(table, problems)
        else:
            init = self.init
        weights = initial_weights(init, problems, table.shape[1], table.dtype, truncated=truncated)
        weights.W[:] /= self._unit
        weights.b[:] /= self._unit
        return weights

    def _resume(self, table: Table, problems: int) -> Weights:
        """Give the weights that training continues from: those it left, unless coef_ was changed by hand since."""
        state, coef, intercept = self._trained
        known = self.coef_.shape[0]
        untouched = np.array_equal(self.coef_, coef) and np.array_equal(self.intercept_, intercept)
        resumed = initial_weights(None, problems, table.shape[1], table.dtype, truncated=state.paid.shape[1] > 0)
        stored = min(problems, state.b.size)
        for given, kept in zip(state, resumed, strict=True):
            kept[:stored] = given[:stored]
        if not untouched:
            resumed.W[:known] = np.asarray(self.coef_) / self._unit
            resumed.b[:known] = np.asarray(self.intercept_) / self._unit
        return resumed

    def _split(self, table: Table, label: Array, weight: Array) -> tuple[Array, Held | None]:
        """Give the rows to train on, and those held out if training is to stop early."""
        used = row_numbers(np.flatnonzero(weight)) if weight.size and not weight.all() else EVERY_ROW
        if not self.early_stopping:
            return used, None
        rows = used if used.size else row_numbers(np.arange(table.shape[0]))
        splitter = StratifiedShuffleSplit(1, test_size=self.validation_fraction, random_state=self.random_state)
        inside, outside = next(splitter.split(np.zeros((rows.size, 1)), label[rows]))
        return np.sort(rows[inside]), Held(table, np.sort(rows[outside]), label, weight)

    def _finish(self, weights: Weights) -> None:
        known = code(self.classes_.size, self.multiclass).shape[1]
        self.coef_, self.intercept_ = self.run_.coef[:known], self.run_.intercept[:known]
        self._trained = (weights, self.coef_.copy(), self.intercept_.copy())
        self.n_iter_ = self.run_.epochs
        self.stop_reason_ = self.run_.reason

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the rows once, in the order in which they come.

        A stream in chunks of any size gives the same weights. Classes may appear at any time: a new one starts from
        the weights that it would have, had it been announced at the start (with ``multiclass="joint"``, from zero).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            Classes to expect; those that y brings are added by themselves.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_parameters()
        if self.class_weight == "balanced":
            raise InvalidInput(
                "class_weight='balanced' is not supported for partial_fit, which cannot know the classes to come. "
                "Compute the weights yourself and pass them as a dict."
            )
        first = not hasattr(self, "coef_")
        table, y = self._check_rows(X, y, reset=first)
        given, number = as_labels(y, table.shape[0])
        expected = [] if classes is None else [np.unique(np.asarray(classes))]
        seen = np.unique(np.concatenate([*([] if first else [self.classes_]), *expected, given]))
        sign = open_code(seen.size, self.multiclass)
        weights = self._meet(first, seen, sign.shape[1], table)
        label = np.searchsorted(seen, given).astype(np.int32)[number]
        weight = as_weights(sample_weight, table.shape[0])
        index = row_numbers(np.flatnonzero(weight)) if weight.size and not weight.all() else EVERY_ROW
        task = self._task(label, sign, seen, seen, weight)
        plan = self._plan(order="cyclic", epochs=1, tol=None, keep="last", seconds=None, batch=False)
        strangers = sign.shape[1] - code(seen.size, self.multiclass).shape[1]
        self.run_ = run(
            self._rule(),
            self._penalty(),
            table,
            task,
            weights,
            plan,
            multiclass=self.multiclass,
            index=index,
            strangers=strangers,
        )
        self.classes_ = seen
        self.t_ = self.run_.trials + (0 if first else self.t_)
        self.mistakes_ = sum(self.run_.mistakes) + (0 if first else self.mistakes_)
        self._finish(weights)
        return self

    def _meet(self, first: bool, seen: Array, problems: int, table: Table) -> Weights:
        """Give the weights to continue with when the classes are those seen, new ones among them perhaps."""
        if first:
            return self._start(seen, problems, table, None, None)
        stored = open_code(self.classes_.size, self.multiclass).shape[1]
        weights = self._resume(table, stored)
        if seen.size == self.classes_.size:
            return weights
        return grow(weights, np.searchsorted(seen, self.classes_).tolist(), seen.size, self.multiclass)

    # -------------------------------------------------------------------------------------------------- prediction

    def _class_scores(self, X: Any) -> Array:
        check_is_fitted(self)
        table, _ = self._check_rows(X, reset=False)
        sign = code(self.classes_.size, self.multiclass)
        return decision(self._problem_scores(table), sign, self.multiclass)

    def _problem_scores(self, table: Table) -> Array:
        coef = np.ascontiguousarray(self.coef_, dtype=np.result_type(table.dtype, self.coef_.dtype))
        intercept = np.asarray(self.intercept_, dtype=coef.dtype)
        weights = initial_weights(None, intercept.size, 0, coef.dtype)._replace(W=coef, b=intercept)
        return scores(table, weights)

    def decision_function(self, X: Any) -> Array:
        """Give the scores of the classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)
            For one-vs-one the sum of a class's signed scores against each other class.
        """
        given = self._class_scores(X)
        return given[:, 0] if given.shape[1] == 1 else given

    def predict(self, X: Any) -> Array:
        """Give the class of each row; a score of zero is the negative class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        given = self._class_scores(X)
        return self.classes_[winners(given) if self.classes_.size > 1 else np.zeros(given.shape[0], int)]

    def distance(self, X: Any) -> Array:
        """Give the signed distance (w.x + b) / |w| of each row from each hyperplane.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for one hyperplane, else (n_samples, n_hyperplanes)
        """
        check_is_fitted(self)
        table, _ = self._check_rows(X, reset=False)
        length = np.linalg.norm(np.asarray(self.coef_, dtype=float), axis=1)
        if not length.all():
            raise InvalidInput("A weight vector is zero: it has no hyperplane to measure from. Train on more rows.")
        given = np.asarray(self._problem_scores(table) / length)
        return given[:, 0] if given.shape[1] == 1 else given


class Perceptron(LinearClassifier):
    r"""Rosenblatt's perceptron: on a mistake, move the weights towards the row.

    For a row x with label y in {-1, +1} and the score f(x) = w.x + b, a mistake is y f(x) <= 0, and then
    w += eta0 y x, b += eta0 y. If some hyperplane separates the classes with margin g, and no row is longer than R,
    this happens at most (R/g)^2 times, in any order.

    Takes every parameter of scikit-learn's ``Perceptron``, with its meaning. The defaults differ in effect: fitting
    goes on as long as the data may be separable, and the best weights are kept when it is not.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default None
        Shrink the weights a little in each trial.
    alpha : float, default 0.0001
        Strength of the penalty.
    l1_ratio : float, default 0.15
        Share of L1 in the elastic net.
    fit_intercept : bool, default True
        Whether to learn a bias b.
    max_iter : int, default 1000
        Most epochs, that is passes over the rows.
    tol : float or None, default 1e-3
        The fit ends when the mean loss has not fallen by more than tol for `n_iter_no_change` epochs, and no
        hyperplane can separate the data with a margin above tol times the radius. None: all `max_iter` epochs.
    shuffle : True, False or "random", default True
        Reshuffle the rows each epoch, present them as they lie, or draw them with replacement. From 16,384 rows on
        blocks of 64 neighbours are reshuffled, at the speed of memory; single rows still if the labels come sorted.
    verbose : int, default 0
        Print a line per epoch.
    eta0 : float, default 1
        Learning rate.
    n_jobs : int or None, default None
        Threads for the problems of a multiclass task; -1 for all processors. The result does not depend on it.
    random_state : int, RandomState or None, default 0
        For the shuffling.
    early_stopping : bool, default False
        Hold out `validation_fraction` of the rows and end when the error on them stops decreasing.
    validation_fraction : float, default 0.1
        Share of the rows to hold out.
    n_iter_no_change : int, default 5
        Epochs without progress to wait.
    class_weight : dict, "balanced" or None, default None
        Factor of the steps for each class.
    warm_start : bool, default False
        Whether `fit` continues from the weights of the last call.
    multiclass : {"ovr", "ovo", "joint"}, default "ovr"
        More than two classes: one against the rest, every pair, or all at once by correcting the true class and
        the best wrong one (Crammer and Singer 2003).
    schedule : str or callable, default "constant"
        Factor of the learning rate by epoch: "constant", "1/t", "1/sqrt(t)", "step" (halved every ten epochs), or a
        function of the epoch's number from 1.
    max_seconds : float or None, default None
        Most seconds to train.
    init : (w0, b0) or None, default None
        Weights and bias to start from; zero by default.
    callback : callable or None, default None
        Called with an `Epoch` after each; a true answer ends the fit.
    keep : {"last", "best"} or None, default None
        Return the weights of the last epoch, or those with the fewest errors at the end of an epoch, on the held-out
        rows if there are any. None: "best", but "last" where tol=None asks for a number of epochs and no more.
    batch : bool, default False
        One update per epoch, by the sum over all misclassified rows.

    Attributes
    ----------
    coef_ : array of shape (n_problems, n_features)
        Weights: one vector for two classes, otherwise one per class, or per pair with "ovo".
    intercept_ : array of shape (n_problems,)
        Biases.
    classes_ : array of shape (n_classes,)
        The labels, sorted; with two, the second is the positive one.
    n_iter_ : int
        Epochs run.
    run_ : Run
        Record of the last fit: mistakes per epoch, updates, seconds, why it stopped.
    stop_reason_ : str
        Why it stopped, as a sentence.
    t_ : int
        Trials so far.
    mistakes_ : int
        Mistakes so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X had any.

    Notes
    -----
    An epoch reads the data once, for all classes together, at the speed of memory. Keeping the best weights adds a
    second reading. Dense and sparse copies of the same data give the same model.

    References
    ----------
    Rosenblatt (1958), The perceptron: a probabilistic model for information storage and organization in the brain.
    Novikoff (1962), On convergence proofs on perceptrons.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X = [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> model = Perceptron(shuffle=False).fit(X, ["no", "yes", "yes", "yes"])
    >>> model.predict([[0, 0], [1, 1]]).tolist(), model.coef_.tolist(), model.run_.mistakes
    (['no', 'yes'], [[2.0, 2.0]], (3, 1, 2, 2, 1, 0))
    """

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool | str = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        multiclass: str = "ovr",
        schedule: Any = "constant",
        max_seconds: float | None = None,
        init: Any = None,
        callback: Any = None,
        keep: str | None = None,
        batch: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.multiclass = multiclass
        self.schedule = schedule
        self.max_seconds = max_seconds
        self.init = init
        self.callback = callback
        self.keep = keep
        self.batch = batch

    def _rule(self) -> PerceptronRule:
        return PerceptronRule(0.0)
