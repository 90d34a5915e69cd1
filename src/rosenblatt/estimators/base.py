"""What the scikit-learn classes share: rows that can be trusted, plans, fitting, streams, prediction.

The classes here have no parameters of their own. A member of the family inherits its parameters from
`rosenblatt.estimators.parameters`, and gives its `_method`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.compiled.epochs import Counts, ElasticNet, NoPenalty, Ridge
from rosenblatt.data.labels import as_labels, as_names, as_weights, used_rows
from rosenblatt.data.table import Table, as_table, check_sparse, row_numbers
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.storable import Storable
from rosenblatt.learn.first_order import Penalty
from rosenblatt.learn.in_memory import Job, Validation, run
from rosenblatt.learn.methods import Method, copy_state, start_state
from rosenblatt.learn.model import LinearModel
from rosenblatt.learn.multiclass import MULTICLASS, class_costs, code, decision, make_task, winners
from rosenblatt.learn.plan import Epoch, Plan, Run
from rosenblatt.learn.record import Recorder, Recording
from rosenblatt.learn.stopping import PERCEPTRON, Stop, Words
from rosenblatt.learn.stream import Learned, Settings, Stream
from rosenblatt.learn.trainer import Trainer
from rosenblatt.storage.checks import check_counts, check_record
from rosenblatt.storage.registry import expect

Array = npt.NDArray[Any]

_ORDER = {True: "shuffled", False: "cyclic", "random": "random"}

ATTRIBUTES = """\
    coef_ : array of shape (n_problems, n_features)
        Weights: one vector for two classes, otherwise one per class, or per pair with "ovo". To change them, assign a
        whole array: training then starts anew from it.
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


def check_before_sklearn(X: Any) -> None:
    """Raise an error for what would lead scipy or scikit-learn astray: broken pointers, and dates."""
    if sp.issparse(X):
        check_sparse(X)
    elif getattr(getattr(X, "dtype", None), "kind", None) in ("m", "M"):
        raise InvalidInput(f"X has dtype {X.dtype}. Turn dates into numbers that mean something, such as days since.")


def penalty_of(estimator: Any) -> Penalty:
    """Return the penalty that the parameters describe."""
    if estimator.penalty is None:
        return NoPenalty()
    share = {"l1": 1.0, "l2": 0.0, "elasticnet": float(estimator.l1_ratio)}[estimator.penalty]
    if share == 0.0:
        return Ridge(float(estimator.alpha))
    return ElasticNet(float(estimator.alpha) * share, float(estimator.alpha) * (1.0 - share))


def labels_of(y: Any, n_rows: int) -> tuple[Array, Array]:
    """Return the classes, of which there must be two, and the number of each row's class."""
    classes, label = as_labels(y, n_rows)
    if classes.size < 2:
        raise InvalidInput(
            f"The number of classes has to be greater than one; got 1 class: {classes[0]!r}. "
            "Add examples of another class."
        )
    return classes, label


def choose_aggregate(aggregate: str | None, method: str | None, default: str, possible: tuple[str, ...]) -> str:
    """Return how to predict from all hypotheses of a fit: what is asked for, under its name or its former one."""
    if method is not None:
        warnings.warn("method= has been renamed: use aggregate=.", FutureWarning, stacklevel=4)
    chosen = aggregate or method or default
    if chosen not in possible:
        listed = ", ".join(map(repr, possible))
        raise InvalidInput(f"aggregate={chosen!r} is not known: choose one of {listed}.")
    return chosen


def same_classes(classes: Array, known: Array) -> None:
    """Raise an error if a warm start would have to tell other classes apart."""
    if not np.array_equal(classes, known):
        raise InvalidInput(
            f"warm_start continues with the classes {known.tolist()}, but y has {classes.tolist()}. "
            "Fit a fresh estimator, or use partial_fit, which takes new classes."
        )


def same_features(table: Table, stream: Stream) -> None:
    """Raise an error if a warm start would have to weigh other features."""
    if table.shape[1] != stream.n_features:
        raise InvalidInput(
            f"warm_start continues with {stream.n_features} features, but X has {table.shape[1]}. Fit anew."
        )


class EpochLearner(Storable):
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

    n_features_in_: int
    n_iter_: int
    run_: Run
    stop_reason_: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_own(self) -> None:
        """Raise an error for values of a class's own parameters that are impossible together."""

    def _check_parameters(self) -> None:
        self._check_declared()
        self._check_own()

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
        check_before_sklearn(X)
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

    def _store(self, record: Run) -> None:
        """Keep the record of a fit or of a chunk."""
        self.run_, self.n_iter_, self.stop_reason_ = record, record.epochs, record.reason


def chunk_record(counts: Counts, rows: int, largest: float, stream: Stream, words: Words, seconds: float) -> Run:
    """Return the record of a chunk of a stream, of so many rows, with the largest squared norm of them."""
    mistakes = int(counts.mistakes.sum())
    loss = float(counts.loss.sum()) * stream.settings.rate_scale / rows
    return Run(
        mistakes=(mistakes,),
        losses=(loss,),
        errors=(),
        updates=int(counts.updates.sum()),
        epochs=1,
        trials=rows,
        seconds=seconds,
        stop=Stop.CHUNK,
        reason=words[Stop.CHUNK].format(trials=rows, mistakes=mistakes, loss=loss) + ".",
        stops=(Stop.CHUNK,) * counts.mistakes.size,
        kept=1,
        cycle=None,
        radius=float(np.sqrt(largest + stream.settings.bias)),
        ceiling=None,
    )


class FromStream(EpochLearner):
    """Attributes of an estimator that are its stream's: nothing learned is stored twice."""

    stored_attributes: ClassVar[tuple[str, ...]] = ("model", "learned", "run_", "n_iter_", "stop_reason_")
    derived = ("_stream",)

    _stream: Stream

    def _settings(self) -> Settings:
        """Return how the stream learns, from the parameters."""
        raise NotImplementedError

    def _make_stream(self, settings: Settings, learned: Learned | None = None) -> Stream:
        return Stream(settings, learned, init=self.init)

    def _to_file(self) -> dict[str, Any]:
        if "_stream" not in self.__dict__:
            return {}
        return {"model": self._named_model(), "learned": self._stream.learned, **super()._to_file()}

    def _named_model(self) -> LinearModel:
        model = self._stream.model()
        names = tuple(self.feature_names_in_.tolist()) if hasattr(self, "feature_names_in_") else ()
        return replace(model, feature_names=names)

    def _check_learned(self) -> None:
        self._check_parameters()
        learned, model = self.__dict__.pop("learned"), self.__dict__.pop("model")
        # The weights alone are for `load_linear`; files of version 1 have none.
        expect(model is None or type(model) is LinearModel, "its model is none")
        expect(type(learned) is Learned, "what it has learned is missing. Fit again")
        check_record("what was learned", learned, Learned)
        check_counts(self, "n_iter_")
        expect(isinstance(self.stop_reason_, str), "stop_reason_ is not a sentence")
        expect(type(self.run_) is Run, "run_ is not a Run")
        stream = self._make_stream(self._settings(), learned)
        self._check_stream(stream)
        self._stream = stream

    def _check_stream(self, stream: Stream) -> None:
        stream.check()
        expect(stream.n_features == self.n_features_in_, f"the weights are of {stream.n_features} features. Fit again")

    @classmethod
    def _from_version_1(cls, parameters: dict[str, Any], attributes: dict[str, Any]) -> dict[str, Any]:
        old = {"coef_", "intercept_", "classes_", "t_", "mistakes_", "_trained", "run_", "n_iter_", "stop_reason_"}
        missing = old - attributes.keys()
        expect(not missing, f"it has no {', '.join(sorted(missing))}, as after a fit that failed. Fit it again")
        kept = {name: value for name, value in attributes.items() if name not in old or name in cls.stored_attributes}
        trained = attributes["_trained"]
        expect(type(trained) is tuple and len(trained) == 3, "what it was trained to is not known. Fit again")
        counts = attributes["t_"], attributes["mistakes_"]
        return kept | {"learned": Learned(attributes["classes_"], trained[0], *counts, ()), "model": None}

    def _learned(self, name: str) -> Stream:
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is None or stream.state is None:
            raise AttributeError(f"This {type(self).__name__} has no {name} yet. Call fit or partial_fit first.")
        return stream

    def __sklearn_is_fitted__(self) -> bool:
        return "_stream" in self.__dict__

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in self.declared and "_stream" in self.__dict__:
            self._stream.outdated = True

    @property
    def feature_names_in_(self) -> Array:
        """Names of the features, where rows had any."""
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is not None and stream.columns is not None:
            return np.array([*stream.columns], dtype=object)
        if "feature_names_in_" not in self.__dict__:
            raise AttributeError(f"The features of this {type(self).__name__} have no names.")
        names: Array = self.__dict__["feature_names_in_"]
        return names

    @feature_names_in_.setter
    def feature_names_in_(self, names: Array) -> None:
        self.__dict__["feature_names_in_"] = names

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        del self.__dict__["feature_names_in_"]

    @property
    def t_(self) -> int:
        """Trials so far."""
        return self._learned("t_").trials


class LinearPredictor(ClassifierMixin, EpochLearner):  # type: ignore[misc]
    """Prediction by hyperplanes."""

    # Modes that the method has.
    modes: ClassVar[tuple[str, ...]] = MULTICLASS

    classes_: Array
    coef_: Array
    intercept_: Array

    def _check_parameters(self) -> None:
        self._check_declared()
        if self.multiclass not in self.modes:
            raise InvalidInput(
                f"multiclass={self.multiclass!r} does not exist for {type(self).__name__}: choose "
                f"{' or '.join(repr(mode) for mode in self.modes)}."
            )
        self._check_own()

    def _problem_scores(self, table: Table) -> Array:
        """Return the score of each row under each problem."""
        raise NotImplementedError

    def _class_scores(self, X: Any) -> Array:
        check_is_fitted(self)
        table, _ = self._check_rows(X, reset=False)
        return self._decide(self._problem_scores(table))

    def _decide(self, problem_scores: Array) -> Array:
        return decision(problem_scores, code(self.classes_.size, self.multiclass), self.multiclass)

    def _elect(self, class_scores: Array) -> Array:
        if self.classes_.size == 1:
            return np.repeat(self.classes_, class_scores.shape[0])
        return self.classes_[winners(class_scores)]

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)
            For one-vs-one the sum of a class's signed scores against each other class.
        """
        scores = self._class_scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Array:
        """Return the class of each row; a score of zero is the negative class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._elect(self._class_scores(X))

    def distance(self, X: Any) -> Array:
        """Return the signed distance (w.x + b) / |w| of each row from each hyperplane.

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
        distances = np.asarray(self._problem_scores(table) / length)
        return distances[:, 0] if distances.shape[1] == 1 else distances


class LinearClassifier(FromStream, LinearPredictor):
    """What the linear classifiers of the family share: fitting, streams, and the stream that owns what was learned.

    A subclass inherits its parameters from `rosenblatt.estimators.parameters`, and gives its `_method`.
    """

    keeps = "best"
    # A class that tells no sides apart, as a threshold does, cannot lend its weights to a class that appears.
    takes_new_classes: ClassVar[bool] = True
    attributes_text = ATTRIBUTES

    def _method(self) -> Method:
        """Return the way to learn, from the parameters."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------ what was learned

    @property
    def classes_(self) -> Array:  # type: ignore[override]
        """The labels, sorted."""
        return self._learned("classes_").classes

    @property
    def mistakes_(self) -> int:
        """Mistakes so far."""
        return self._learned("mistakes_").mistakes

    @property
    def coef_(self) -> Array:
        """The weights; assign a whole array to start anew from other ones."""
        return self._learned("coef_").model().W

    @coef_.setter
    def coef_(self, value: Any) -> None:
        self._learned("coef_").set_weights(value, self.intercept_)

    @property
    def intercept_(self) -> Array:
        """The biases; assign a whole array to start anew from other ones."""
        return self._learned("intercept_").model().b

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        self._learned("intercept_").set_weights(self.coef_, value)

    def _settings(self) -> Settings:
        plan = self._plan()
        return Settings(
            self._method(), self.multiclass, plan.eta, self._bias(), self.class_weight, self.takes_new_classes
        )

    def _bias(self) -> float:
        """Return the square of the constant that pads each row."""
        return 1.0 if self.fit_intercept else 0.0

    # --------------------------------------------------------------------------------------------------------- fitting

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
        job, classes, state = self._prepare(X, y, coef_init, intercept_init, sample_weight)
        self._finish(run(job, state), job, classes, state)
        self._warn()
        return self

    def _prepare(
        self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> tuple[Job, Array, Any]:
        """Return what to learn, the classes, and the state to start from."""
        self._check_parameters()
        table, y = self._check_rows(X, y, reset=True)
        classes, label = labels_of(y, table.shape[0])
        sign = code(classes.size, self.multiclass)
        weight = as_weights(sample_weight, table.shape[0])
        costs = class_costs(self.class_weight, classes, label)
        task = make_task(label, sign, self.multiclass, class_cost=costs, weight=weight, bias=self._bias())
        method, plan = self._method(), self._plan()
        explicit = coef_init is not None or intercept_init is not None
        if self.warm_start and "_stream" in self.__dict__ and not explicit:
            same_classes(classes, self.classes_)
            same_features(table, self._stream)
            self._stream.reconfigure(self._settings())
            state = copy_state(self._stream.state, part=slice(self._stream.known))
        else:
            w0 = np.zeros(table.shape[1]) if coef_init is None else coef_init
            init = (w0, 0.0 if intercept_init is None else intercept_init) if explicit else self.init
            scale = method.rate_scale(plan.eta)
            state = start_state(method, sign.shape[1], table.shape[1], table.dtype, init, scale)
        subset, validation = self._split(table, label, weight)
        job = Job(method, table, task, plan, self.multiclass, subset, validation, names=as_names(classes))
        return job, classes, state

    def _split(self, table: Table, label: Array, weight: Array) -> tuple[Array, Validation | None]:
        """Return the rows to train on, and those held out if training is to stop early."""
        used = used_rows(weight)
        if not self.early_stopping:
            return used, None
        rows = used if used.size else row_numbers(np.arange(table.shape[0]))
        splitter = StratifiedShuffleSplit(1, test_size=self.validation_fraction, random_state=self.random_state)
        inside, outside = next(splitter.split(np.zeros((rows.size, 1)), label[rows]))
        return np.sort(rows[inside]), Validation(table, np.sort(rows[outside]), label, weight)

    def _finish(self, record: Run, job: Job, classes: Array, state: Any) -> None:
        """Keep what was learned, and the record."""
        learned = Learned(classes, state, record.trials, sum(record.mistakes), ())
        self._stream = self._make_stream(self._settings(), learned)
        self._store(record)

    def _warn(self) -> None:
        remedy = {Stop.CYCLE: "shuffle=True", Stop.EPOCHS: "a larger max_iter"}.get(self.run_.stop)
        if remedy is not None and (self.tol is not None or self.run_.stop is Stop.CYCLE):
            warnings.warn(f"Not converged: {self.stop_reason_} Consider {remedy}.", ConvergenceWarning, stacklevel=3)

    def _record(self, X: Any, y: Any, sample_weight: Any = None) -> Recording:
        """Fit, and write down every trial: see `rosenblatt.learn.record`."""
        job, classes, state = self._prepare(X, y, sample_weight=sample_weight)
        recorder = Recorder(job, state)
        self._finish(Trainer(job.plan, recorder).run(), job, classes, state)
        return recorder.recording(self.run_, self)

    # --------------------------------------------------------------------------------------------------------- streams

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
        start = time.perf_counter()
        self._check_parameters()
        table, y = self._check_rows(X, y, reset="_stream" not in self.__dict__)
        stream = self._going_on()
        counts = stream.learn(table, y, as_weights(sample_weight, table.shape[0]), classes)
        self._stream = stream
        seconds = time.perf_counter() - start
        self._store(chunk_record(counts, table.shape[0], table.largest, stream, PERCEPTRON, seconds))
        return self

    def _going_on(self) -> Stream:
        """Return the stream to go on with, by the parameters as they are now."""
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is None:
            return self._make_stream(self._settings())
        stream.reconfigure(self._settings())
        return stream

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row of a stream: the same as `partial_fit` with one row, with less work around it.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, or dict from names to numbers
            With dicts, features may appear at any time.
        y : label
            Of any type; new classes may appear at any time.

        Returns
        -------
        bool
            Whether it was a mistake.
        """
        stream = self.__dict__.get("_stream")
        if stream is None or stream.outdated:
            self._check_parameters()
            stream = self._going_on()
        if isinstance(x, Mapping):
            x = self._by_names(stream, x)
        mistake = stream.learn_one(x, y)
        if self.__dict__.get("n_features_in_") != stream.n_features or "run_" not in self.__dict__:
            self._begin(stream)
        return mistake

    def _begin(self, stream: Stream) -> None:
        """Keep a stream that began with a single row, or has new features."""
        self._stream, self.n_features_in_ = stream, stream.n_features
        if "run_" not in self.__dict__:
            counts = Counts(*(np.array([number]) for number in (stream.mistakes, stream.trials, 0.0, 0.0)))
            self._store(chunk_record(counts, stream.trials, 0.0, stream, PERCEPTRON, 0.0))

    def _by_names(self, stream: Stream, x: Mapping[str, Any]) -> Any:
        """Return a dict of named features as an array, where the features are those of a data frame."""
        if stream.columns is not None or "feature_names_in_" not in self.__dict__:
            return x
        names = self.__dict__["feature_names_in_"].tolist()
        unknown = x.keys() - set(names)
        if unknown:
            raise InvalidInput(
                f"x has features that the model does not have: {sorted(map(str, unknown))!r:.200}. Leave them out, or "
                "start a stream with dicts, which takes new features."
            )
        return np.array([x.get(name, 0.0) for name in names], dtype=np.float64)

    def predict_one(self, x: Any) -> Any:
        """Return the class of one row, as `predict` does.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, or dict from names to numbers

        Returns
        -------
        label
        """
        check_is_fitted(self)
        if isinstance(x, Mapping):
            x = self._by_names(self._stream, x)
        table = self._stream.row_table(x)
        label = self._elect(self._decide(self._problem_scores(table)))[0]
        return label.item() if isinstance(label, np.generic) else label

    # ------------------------------------------------------------------------------------------------------ prediction

    def _problem_scores(self, table: Table) -> Array:
        return self._stream.problem_scores(table)
