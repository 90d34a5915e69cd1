"""What the scikit-learn classes share: parameters, labels, checks, training by epochs or by a stream."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.compiled import epochs as kernels
from rosenblatt.compiled.epochs import ElasticNet, NoPenalty, Ridge, Task
from rosenblatt.data.table import Table, as_labels, as_names, as_table, as_weights, check_sparse
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.methods import FirstOrder, Method, Penalty
from rosenblatt.learn.model import (
    EVERY_ROW,
    MULTICLASS,
    as_model,
    check_start,
    code,
    count_problems,
    decision,
    scores,
    winners,
)
from rosenblatt.learn.order import row_numbers
from rosenblatt.learn.stopping import Stop
from rosenblatt.learn.trace import growth, open_code
from rosenblatt.learn.trainer import Epoch, Job, Plan, Run, Validation, run

Array = npt.NDArray[Any]
Class = TypeVar("Class", bound=type)

_ORDER = {True: "shuffled", False: "cyclic", "random": "random"}

COMMON: dict[str, Any] = {
    "fit_intercept": True,
    "max_iter": 1000,
    "tol": 1e-3,
    "shuffle": True,
    "verbose": 0,
    "n_jobs": None,
    "random_state": 0,
    "early_stopping": False,
    "validation_fraction": 0.1,
    "n_iter_no_change": 5,
    "class_weight": None,
    "warm_start": False,
    "multiclass": "ovr",
    "max_seconds": None,
    "init": None,
    "callback": None,
    "keep": None,
}

COMMON_PARAMETERS = """\
    fit_intercept : bool, default True
        Whether to learn a bias b.
    max_iter : int, default 1000
        Most epochs, that is passes over the rows.
    tol : float or None, default 1e-3
        The fit ends when the mean loss has not fallen by more than tol for `n_iter_no_change` epochs. A perceptron
        goes on nevertheless while some hyperplane may separate the data with a margin above tol times the radius.
        None: all `max_iter` epochs.
    shuffle : True, False or "random", default True
        Reshuffle the rows each epoch, present them as they lie, or draw them with replacement. From 16,384 rows on
        blocks of 64 neighbours are reshuffled, at the speed of memory; single rows still if the labels come sorted.
    verbose : int, default 0
        Print a line per epoch.
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
        Whether `fit` continues from where the last call stopped.
    multiclass : {"ovr", "ovo", "ovo-vote", "joint"}, default "ovr"
        More than two classes: one against the rest; every pair, adding up their scores or with one vote each; or all at
        once by correcting the true class and the best wrong one (Crammer and Singer 2003).
    max_seconds : float or None, default None
        Most seconds to train.
    init : (w0, b0) or None, default None
        Weights and bias to start from.
    callback : callable or None, default None
        Called with an `Epoch` after each; a true answer ends the fit.
    keep : {"last", "best"} or None, default None
        Return the weights of the last epoch, or those with the fewest errors at the end of an epoch, on the held-out
        rows if there are any. None: what suits the method, and "last" where tol=None asks for all epochs."""

COMMON_ATTRIBUTES = """\
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
    t_, mistakes_ : int
        Trials and mistakes so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X had any."""


def learner(*, without: tuple[str, ...] = (), **own: Any) -> Callable[[Class], Class]:
    """Give a class its constructor: its own parameters and the common ones, by keyword, stored as they are.

    The placeholders {common} and {attributes} of its docstring are filled in.
    """
    shared = {name: default for name, default in COMMON.items() if name not in without and name not in own}
    parameters = own | shared

    def decorate(cls: Class) -> Class:
        def __init__(self: Any, **given: Any) -> None:  # noqa: N807
            unknown = sorted(given.keys() - parameters.keys())
            if unknown:
                raise TypeError(
                    f"{cls.__name__} has no parameter {', '.join(unknown)}. It has {', '.join(parameters)}."
                )
            for name, default in parameters.items():
                setattr(self, name, given.get(name, default))

        kind = inspect.Parameter
        listed = [kind(name, kind.KEYWORD_ONLY, default=default) for name, default in parameters.items()]
        __init__.__signature__ = inspect.Signature([kind("self", kind.POSITIONAL_OR_KEYWORD), *listed])  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[misc]
        text = (cls.__doc__ or "").replace("    {common}", COMMON_PARAMETERS)
        cls.__doc__ = text.replace("    {attributes}", COMMON_ATTRIBUTES)
        return cls

    return decorate


def require(name: str, value: Any, kind: type, accept: Callable[[Any], bool], wanted: str) -> None:
    """Refuse a parameter that is not of its kind or not acceptable."""
    if not isinstance(value, kind) or isinstance(value, bool | np.bool_) or not accept(value):
        raise InvalidInput(f"{name}={value!r} is not possible: it must be {wanted}.")


def require_one_of(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a parameter that is not one of the choices."""
    if not any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise InvalidInput(f"{name}={value!r} is not known: choose one of {listed}.")


def check_sparse_first(X: Any) -> None:
    """Refuse what would lead scipy or scikit-learn astray before they see it: broken pointers, and dates."""
    if sp.issparse(X):
        check_sparse(X)
    elif getattr(getattr(X, "dtype", None), "kind", None) in ("m", "M"):
        raise InvalidInput(f"X has dtype {X.dtype}. Turn dates into numbers that mean something, such as days since.")


def check_rate(estimator: Any) -> None:
    """Refuse a learning rate that is not one."""
    require("eta0", estimator.eta0, Real, lambda v: 0 < v < np.inf, "a positive number")


def check_penalty(estimator: Any) -> None:
    """Refuse a penalty that is not one."""
    require("alpha", estimator.alpha, Real, lambda v: 0 <= v < np.inf, "a number from 0")
    require("l1_ratio", estimator.l1_ratio, Real, lambda v: 0 <= v <= 1, "a number from 0 to 1")
    require_one_of("penalty", estimator.penalty, (None, "l1", "l2", "elasticnet"))


def penalty_of(estimator: Any) -> Penalty:
    """Give the penalty that the parameters describe."""
    if estimator.penalty is None:
        return NoPenalty()
    share = {"l1": 1.0, "l2": 0.0, "elasticnet": float(estimator.l1_ratio)}[estimator.penalty]
    if share == 0.0:
        return Ridge(float(estimator.alpha))
    return ElasticNet(float(estimator.alpha) * share, float(estimator.alpha) * (1.0 - share))


class EpochLearner(BaseEstimator):  # type: ignore[misc]
    """What every estimator trained in epochs shares: the plan of a run, and rows that can be trusted."""

    # Read by the plan; a class whose constructor takes one of them hides it.
    n_jobs: Any = None
    early_stopping: Any = False
    validation_fraction: Any = 0.1
    warm_start: Any = False
    init: Any = None
    keep: Any = None
    # What a class keeps by itself.
    keeps: ClassVar[str] = "last"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_common(self) -> None:
        require("max_iter", self.max_iter, Integral, lambda v: v >= 1, "a whole number from 1")
        require("n_iter_no_change", self.n_iter_no_change, Integral, lambda v: v >= 1, "a whole number from 1")
        if self.tol is not None:
            require("tol", self.tol, Real, lambda v: v == v, "a number, or None for all epochs")
        if self.max_seconds is not None:
            require("max_seconds", self.max_seconds, Real, lambda v: v > 0, "a positive number or None")
        require_one_of("keep", self.keep, (None, "last", "best"))
        require_one_of("shuffle", self.shuffle, tuple(_ORDER))

    def _plan(self, **changes: Any) -> Plan:
        watched = self.tol is not None or self.early_stopping
        settings: dict[str, Any] = {
            "order": _ORDER[self.shuffle],
            "schedule": getattr(self, "schedule", "constant"),
            "eta": float(getattr(self, "eta0", 1.0)),
            "batch": bool(getattr(self, "batch", False)),
            "epochs": int(self.max_iter),
            "seconds": self.max_seconds,
            "tol": None if self.tol is None or self.tol == -np.inf else float(self.tol),
            "patience": int(self.n_iter_no_change),
            "keep": self.keep or ("best" if self.early_stopping else self.keeps if watched else "last"),
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

    def _more_labels(self, y: Any, n_samples: int, expected: Any, first: bool) -> tuple[Array, Array]:
        """Give the classes of a stream so far, with those expected, and the number of each row's class."""
        if isinstance(self.class_weight, str):
            raise InvalidInput(
                "class_weight='balanced' is not supported for partial_fit, which cannot know the classes to come. "
                "Compute the weights yourself and pass them as a dict."
            )
        given, number = as_labels(y, n_samples)
        others = [] if expected is None else [np.unique(np.asarray(expected))]
        seen = np.unique(np.concatenate([*([] if first else [self.classes_]), *others, given]))
        return seen, np.searchsorted(seen, given).astype(np.int32)[number]


class LinearClassifier(ClassifierMixin, EpochLearner):  # type: ignore[misc]
    """What the linear classifiers of the family share.

    A subclass gets its constructor from `learner` and gives its `_method`.
    """

    # Modes that the method has, and what it keeps by itself.
    modes: ClassVar[tuple[str, ...]] = MULTICLASS
    keeps = "best"
    # A class that tells no sides apart, as a threshold does, cannot lend its weights to a class that appears.
    takes_new_classes: ClassVar[bool] = True

    classes_: Array
    coef_: Array
    intercept_: Array
    n_iter_: int
    n_features_in_: int
    run_: Run
    stop_reason_: str
    t_: int
    mistakes_: int
    _trained: tuple[Any, Array, Array]

    def _method(self) -> Method:
        """Give the way to learn, from the parameters."""
        raise NotImplementedError

    def _check_own(self) -> None:
        """Refuse impossible values of a class's own parameters."""

    def _check_parameters(self) -> None:
        self._check_common()
        require("validation_fraction", self.validation_fraction, Real, lambda v: 0 < v < 1, "between 0 and 1")
        require_one_of("multiclass", self.multiclass, MULTICLASS)
        if self.multiclass not in self.modes:
            raise InvalidInput(
                f"multiclass={self.multiclass!r} does not exist for {type(self).__name__}: choose "
                f"{' or '.join(repr(mode) for mode in self.modes)}."
            )
        self._check_own()

    def _task(self, label: Array, sign: Array, classes: Array, y: Array, weight: Array) -> Task:
        """Say what each row teaches each problem.

        As in scikit-learn, one-vs-all weights the class that a problem looks for, and not the rest.
        """
        stake = np.ones(classes.size)
        if self.class_weight is not None:
            stake = compute_class_weight(self.class_weight, classes=classes, y=y).astype(float)
        own = sign > 0 if self.multiclass == "ovr" and classes.size > 2 else sign != 0
        cost = np.where(own, stake[:, None], 1.0)
        return Task(label, sign, cost, stake, weight, np.empty(0), 1.0 if self.fit_intercept else 0.0)

    # --------------------------------------------------------------------------------------------------- training

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Train until a stopping rule says so.

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
        classes, label = self._labels(y, table)
        sign = code(classes.size, self.multiclass)
        weight = as_weights(sample_weight, table.shape[0])
        task = self._task(label, sign, classes, y, weight)
        method = self._method()
        explicit = coef_init is not None or intercept_init is not None
        if self.warm_start and hasattr(self, "coef_") and not explicit:
            state = self._warm_state(method, classes, table)
        else:
            w0 = np.zeros(table.shape[1]) if coef_init is None else coef_init
            init = (w0, 0.0 if intercept_init is None else intercept_init) if explicit else self.init
            state = self._fresh_state(method, sign.shape[1], table, init)
        index, held = self._split(table, label, weight)
        given = (method, table, task, self._plan(), self.multiclass, index, held)
        self.run_ = run(Job(*given, names=as_names(classes)), state)
        self.classes_ = classes
        self.t_, self.mistakes_ = self.run_.trials, sum(self.run_.mistakes)
        self._finish(state, method, table, task)
        self._warn()
        return self

    @staticmethod
    def _labels(y: Any, table: Table) -> tuple[Array, Array]:
        classes, label = as_labels(y, table.shape[0])
        if classes.size < 2:
            raise InvalidInput(
                f"The number of classes has to be greater than one; got 1 class: {classes[0]!r}. "
                "Add examples of another class."
            )
        return classes, label

    def _warn(self) -> None:
        remedy = {Stop.CYCLE: "shuffle=True", Stop.EPOCHS: "a larger max_iter"}.get(self.run_.stop)
        if remedy is not None and (self.tol is not None or self.run_.stop is Stop.CYCLE):
            warnings.warn(f"Not converged: {self.stop_reason_} Consider {remedy}.", ConvergenceWarning, stacklevel=3)

    def _check_weights(self) -> None:
        """Refuse weights that were changed by hand to a size that no kernel may read."""
        wanted = (count_problems(self.classes_.size, self.multiclass), self.n_features_in_)
        found, biases = np.shape(self.coef_), np.shape(self.intercept_)
        if found != wanted or biases != wanted[:1]:
            raise InvalidInput(
                f"coef_ has shape {found} and intercept_ {biases}, where {wanted} and {wanted[:1]} belong. "
                "Set them to that size, or fit again."
            )

    def _fresh_state(self, method: Method, problems: int, table: Table, init: Any) -> Any:
        state = method.start(problems, table.shape[1], table.dtype)
        if init is not None:
            W0, b0 = check_start(init, problems, table.shape[1])
            unit = method.unit(self._plan().eta)
            state.W[:], state.b[:] = W0 / unit, b0 / unit
        return state

    def _warm_state(self, method: Method, classes: Array, table: Table) -> Any:
        if not np.array_equal(classes, self.classes_):
            raise InvalidInput(
                f"warm_start continues with the classes {self.classes_.tolist()}, but y has {classes.tolist()}. "
                "Fit a fresh estimator, or use partial_fit, which takes new classes."
            )
        return self._resume(method, table, self.coef_.shape[0])

    def _resume(self, method: Method, table: Table, problems: int) -> Any:
        """Give the state that training continues from: the one it left, unless coef_ was changed by hand since."""
        self._check_weights()
        left, coef, intercept = self._trained
        known = self.coef_.shape[0]
        state = method.start(problems, table.shape[1], table.dtype)
        # Parameters that change what a state keeps, such as the penalty, leave only the weights to go on from.
        same = [array.shape[1:] for array in left] == [array.shape[1:] for array in state]
        if same and np.array_equal(self.coef_, coef) and np.array_equal(self.intercept_, intercept):
            stored = min(problems, left.b.size)
            for given, kept in zip(left, state, strict=True):
                kept[:stored] = given[:stored]
        else:
            state = method.start(problems, table.shape[1], table.dtype)
            unit = method.unit(self._plan().eta)
            state.W[:known] = np.asarray(self.coef_) / unit
            state.b[:known] = np.asarray(self.intercept_) / unit
        return state

    def _split(self, table: Table, label: Array, weight: Array) -> tuple[Array, Validation | None]:
        """Give the rows to train on, and those held out if training is to stop early."""
        used = row_numbers(np.flatnonzero(weight)) if weight.size and not weight.all() else EVERY_ROW
        if not self.early_stopping:
            return used, None
        rows = used if used.size else row_numbers(np.arange(table.shape[0]))
        splitter = StratifiedShuffleSplit(1, test_size=self.validation_fraction, random_state=self.random_state)
        inside, outside = next(splitter.split(np.zeros((rows.size, 1)), label[rows]))
        return np.sort(rows[inside]), Validation(table, np.sort(rows[outside]), label, weight)

    def _finish(self, state: Any, method: Method, table: Table, task: Task) -> None:
        """Store what was learned."""
        known = code(self.classes_.size, self.multiclass).shape[1]
        self.coef_, self.intercept_ = self.run_.coef[:known], self.run_.intercept[:known]
        self._trained = (state, self.coef_.copy(), self.intercept_.copy())
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
        first = not hasattr(self, "coef_")
        table, y = self._check_rows(X, y, reset=first)
        seen, label = self._more_labels(y, table.shape[0], classes, first)
        method = self._method()
        sign = self._open_code(seen.size)
        state = self._meet(first, method, seen, sign.shape[1], table)
        weight = as_weights(sample_weight, table.shape[0])
        index = row_numbers(np.flatnonzero(weight)) if weight.size and not weight.all() else EVERY_ROW
        task = self._task(label, sign, seen, seen, weight)
        plan = self._plan(order="cyclic", epochs=1, tol=None, keep="last", seconds=None, batch=False)
        strangers = sign.shape[1] - code(seen.size, self.multiclass).shape[1]
        job = Job(method, table, task, plan, self.multiclass, index, None, strangers)
        self.run_ = run(job, state)
        self.classes_ = seen
        self.t_ = self.run_.trials + (0 if first else self.t_)
        self.mistakes_ = sum(self.run_.mistakes) + (0 if first else self.mistakes_)
        self._finish(state, method, table, task)
        return self

    def _open_code(self, n_classes: int) -> Array:
        return open_code(n_classes, self.multiclass) if self.takes_new_classes else code(n_classes, self.multiclass)

    def _meet(self, first: bool, method: Method, seen: Array, problems: int, table: Table) -> Any:
        """Give the state to continue with when the classes are those seen, new ones among them perhaps."""
        if first:
            return self._fresh_state(method, problems, table, self.init)
        state = self._resume(method, table, self._open_code(self.classes_.size).shape[1])
        if seen.size == self.classes_.size:
            return state
        if not self.takes_new_classes:
            new = sorted(set(seen.tolist()) - set(self.classes_.tolist()))
            raise InvalidInput(
                f"{type(self).__name__} cannot take the new classes {new} mid-stream: announce them in the first call "
                "with classes=."
            )
        places = np.searchsorted(seen, self.classes_).tolist()
        return method.grow(state, growth(places, seen.size, self.multiclass))

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row of a stream, with as little ado as possible.

        Parameters
        ----------
        x : array of shape (n_features,)
        y : label
            One of two classes that are known from `fit` or `partial_fit(..., classes=...)`; else the row takes the
            long way through `partial_fit`.

        Returns
        -------
        bool
            Whether it was a mistake.
        """
        quick = self.__dict__.get("_quick")
        if quick is None or quick[0] is not self.coef_ or quick[1] is not self.intercept_:
            quick = self._quick = self._prepare_quick()
        coef, intercept, sides, rule, bias, row = quick
        sign = sides.get(y)
        if sign is None:
            mistakes = self.__dict__.get("mistakes_", 0)
            self.partial_fit(np.asarray(x, dtype=float).reshape(1, -1), [y])
            return bool(self.mistakes_ > mistakes)
        if getattr(x, "shape", None) != row.shape[1:]:
            x = np.asarray(x, dtype=float)
            if x.shape != row.shape[1:]:
                raise InvalidInput(
                    f"x has shape {x.shape}; the model has {row.shape[1]} features. Pass one row of them."
                )
        row[0] = x
        mistake = kernels.learn_row(rule, row, sign, bias, coef, intercept)
        if mistake < 0:
            raise InvalidInput("x contains NaN, infinity or values that overflow. Remove such rows or scale them.")
        self.t_ += 1
        self.mistakes_ += mistake
        return bool(mistake)

    def _prepare_quick(self) -> tuple[Any, ...]:
        """Give what `learn_one` needs at hand; no sides where it has to take the long way."""
        if not hasattr(self, "coef_"):
            return None, None, {}, None, 0.0, None
        self._check_weights()
        method = self._method()
        if not self._is_simple(method):
            return self.coef_, self.intercept_, {}, None, 0.0, None
        sides = {self.classes_[0].item(): -1.0, self.classes_[1].item(): 1.0}
        row = np.zeros((1, self.coef_.shape[1]))
        bias = 1.0 if self.fit_intercept else 0.0
        return self.coef_, self.intercept_, sides, getattr(method, "rule", None), bias, row

    def _is_simple(self, method: Method) -> bool:
        """Whether one kernel call on coef_ itself is all there is to a trial."""
        if type(method) is not FirstOrder or method.penalised or method.averaged or method.rate is not None:
            return False
        unweighted = self._plan().eta == 1.0 and self.class_weight is None
        plain = all(part.dtype == np.float64 and part.flags.carray for part in (self.coef_, self.intercept_))
        return bool(unweighted and self.classes_.size == 2 and plain)

    def predict_one(self, x: Any) -> Any:
        """Give the class of one row.

        Parameters
        ----------
        x : array of shape (n_features,)

        Returns
        -------
        label
        """
        given = np.asarray(self.coef_ @ x + self.intercept_).reshape(1, -1)
        sign = code(self.classes_.size, self.multiclass)
        return self.classes_[winners(decision(given, sign, self.multiclass))[0]].item()

    # -------------------------------------------------------------------------------------------------- prediction

    def _class_scores(self, X: Any) -> Array:
        check_is_fitted(self)
        table, _ = self._check_rows(X, reset=False)
        sign = code(self.classes_.size, self.multiclass)
        return decision(self._problem_scores(table), sign, self.multiclass)

    def _problem_scores(self, table: Table) -> Array:
        self._check_weights()
        coef = np.ascontiguousarray(self.coef_, dtype=np.result_type(table.dtype, self.coef_.dtype))
        intercept = np.asarray(self.intercept_, dtype=coef.dtype)
        return scores(table, as_model(coef, intercept))

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
        self._check_weights()
        length = np.linalg.norm(np.asarray(self.coef_, dtype=float), axis=1)
        if not length.all():
            raise InvalidInput("A weight vector is zero: it has no hyperplane to measure from. Train on more rows.")
        given = np.asarray(self._problem_scores(table) / length)
        return given[:, 0] if given.shape[1] == 1 else given
