"""The base of linear learners: fitting in epochs, streams, prediction by hyperplanes.

Their stream owns what was learned.
"""

from __future__ import annotations

import copy
import math
import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_classes, as_names, as_weights, labels_of, used_rows
from rosenblatt.data.matrices import as_dense, sp
from rosenblatt.data.survey import Survey, choose_padding, first_row_padding, survey, warn_of_scale
from rosenblatt.data.table import Table, row_numbers, with_own_indices
from rosenblatt.engine.rows import Hyperplanes
from rosenblatt.errors import InvalidInput, NotAvailable
from rosenblatt.learners.base import (
    Estimator,
    all_or_nothing,
    available_when,
    same_classes,
    same_width,
    steady,
    undone,
)
from rosenblatt.learners.callbacks import Watched
from rosenblatt.learners.contract import (
    ClassifierMixin,
    ConvergenceWarning,
    StratifiedShuffleSplit,
    check_is_fitted,
)
from rosenblatt.learners.shared import learning_rate, plan_of
from rosenblatt.storage.checks import check_record
from rosenblatt.storage.registry import expect
from rosenblatt.text import count, listed, short_repr
from rosenblatt.training.algorithm import Algorithm, copy_state, start_state
from rosenblatt.training.explanation import Explanation, by_place, explain, row_entries
from rosenblatt.training.model import LinearModel
from rosenblatt.training.multiclass import by_pairs, class_costs, coding_matrix, decision, make_task, winners
from rosenblatt.training.named_rows import by_names, is_dict, row_names
from rosenblatt.training.plan import Epoch, Plan, Run
from rosenblatt.training.record import Recorder, Recording
from rosenblatt.training.runner import Job, Validation, run
from rosenblatt.training.sharded import run_in_shards, table_stats
from rosenblatt.training.stopping import PERCEPTRON_WORDS, Stop, Words
from rosenblatt.training.stream import Learned, Settings, Stream
from rosenblatt.training.trainer import RunClock, Trainer

Array = npt.NDArray[Any]

ATTRIBUTES = """\
coef_ : array of shape (n_problems, n_features)
    Weights: one vector for two classes, otherwise one per class, or per pair with "ovo". To change them, assign a
    whole array: training then continues from it.
intercept_ : array of shape (n_problems,)
    Biases.
classes_ : array of shape (n_classes,)
    The labels, sorted; with two, the second is the positive one.
intercept_scaling_ : float
    The constant that pads each row, given or chosen.
n_iter_ : int
    Epochs run.
run_ : Run
    Record of the last fit: mistakes per epoch, updates, seconds, why it stopped.
stop_reason_ : str
    Why training stopped.
t_, mistakes_ : int
    Trials and mistakes so far.
n_features_in_ : int
    Number of features.
feature_names_in_ : array of shape (n_features_in_,)
    Their names, where X had any."""


# The reason in the record of single rows: a file with it holds a stream whose record continues.
ONE_BY_ONE = "rows came one by one"


def stream_record(how: str, rows: int, mistakes: int, stream: Stream, seen: tuple[int, int] | None) -> Run:
    """Return the record of rows that a stream has learned other than in one chunk; `how` describes how.

    Losses and norms of such rows are not kept: that would take longer than learning.
    """
    counted = f", mistakes: {mistakes}" if stream.classes.size else ""
    parts = 1 if stream.settings.multiclass == "joint" else stream.known
    return Run(
        mistakes=(mistakes,),
        losses=(),
        errors=(),
        updates=0,
        epochs=1,
        trials=rows,
        seconds=0.0,
        stop=Stop.CHUNK,
        reason=f"{how} (rows: {rows}{counted}): the stream can continue.",
        stops=(Stop.CHUNK,) * parts,
        kept=1,
        cycle=None,
        radius=0.0,
        ceiling=None,
        single_pass=seen,
    )


class EpochLearner(Watched, Estimator):
    """A learner that is trained in epochs and learns from streams; its attributes are those of its stream.

    A subclass declares its parameters, and returns its way to learn from `_algorithm`.
    """

    # Templates of the reason why a run ended.
    words: ClassVar[Words] = PERCEPTRON_WORDS
    # Ends of a fit that did not converge.
    unconverged: ClassVar[tuple[Stop, ...]] = (Stop.DIVERGED, Stop.CYCLE, Stop.EPOCHS)
    # Whether a class that appears in a stream can start from the negated weights of another class.
    supports_new_classes: ClassVar[bool] = True
    stored_attributes: ClassVar[tuple[str, ...]] = ("model", "learned", "run_", "n_iter_", "stop_reason_")
    derived = ("_stream", "_shows_sparse")

    if not TYPE_CHECKING:  # a type checker would take them for parameters of the constructor
        _stream = None  # before anything is learned
        # Values of the parameters that a class does not declare.
        fit_intercept, max_iter, tol, n_iter_no_change, max_seconds = True, 1000, 1e-3, 5, None
        shuffle, random_state, verbose, callback = True, 0, 0, None
        class_weight, multiclass, intercept_scaling = None, "ovr", 1.0
        n_jobs, shards, mixes = None, 1, "auto"
        early_stopping, validation_fraction, keep = False, 0.1, None
        warm_start, init = False, None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------------------------------- how it learns, and by what

    def _algorithm(self) -> Algorithm:
        """Return the way to learn, from the parameters."""
        raise NotImplementedError

    def _plan(self, **changes: Any) -> Plan:
        return plan_of(self, **changes)

    def _settings(self) -> Settings:
        """Return how the stream learns, from the parameters."""
        return Settings(
            self._algorithm(),
            self.multiclass,
            learning_rate(self),
            self._bias(),
            self.class_weight,
            self.supports_new_classes,
        )

    def _bias(self) -> float:
        """Return the square of the constant that pads each row."""
        return self._padding() ** 2 if self.fit_intercept else 0.0

    def _padding(self) -> float:
        """Return the constant that pads each row: the given one, or the one that a fit has chosen."""
        if self.intercept_scaling != "auto":
            return float(self.intercept_scaling)
        return float(self.__dict__.get("intercept_scaling_", 1.0))

    def _adapt(self, sizes: Survey, n_classes: int, *, warm: bool) -> None:
        """Choose what depends on the sizes of the values; a warm start keeps what was chosen."""
        if "intercept_scaling" in self.declared:
            chosen = self._padding() if warm or self.intercept_scaling != "auto" else choose_padding(sizes, n_classes)
            self.intercept_scaling_ = chosen

    def _make_stream(self, settings: Settings, learned: Learned | None = None) -> Stream:
        return Stream(settings, learned, init=self.init)

    def sparsify(self) -> Self:
        """Show `coef_` as a CSR matrix, which takes less room where most weights are zero, as with L1.

        What is learned stays as it is: prediction and streams go on as before, and need no `densify`.

        Returns
        -------
        self
        """
        self._learned("coef_")
        self._shows_sparse = True
        return self

    def densify(self) -> Self:
        """Show `coef_` as an array again.

        Returns
        -------
        self
        """
        self._learned("coef_")
        self.__dict__.pop("_shows_sparse", None)
        return self

    def _shown(self, weights: Array) -> Any:
        """Return weights as `coef_` shows them."""
        return sp.csr_matrix(weights) if self.__dict__.get("_shows_sparse") else weights

    # ----------------------------------------------------------------------------------------------------- the record

    @property
    def run_(self) -> Run:
        """Record of the last fit, of the last chunk, or of the rows that came one by one since."""
        record: Run | None = self.__dict__.get("run_")
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is not None and stream.recorded[0] < stream.trials:
            rows, mistakes = stream.trials - stream.recorded[0], stream.mistakes - stream.recorded[1]
            return stream_record(ONE_BY_ONE, rows, mistakes, stream, self._seen_once())
        if record is None:
            raise AttributeError(f"This {type(self).__name__} has no run_ yet. Call fit or partial_fit first.")
        return record

    @run_.setter
    def run_(self, record: Run) -> None:
        self.__dict__["run_"] = record

    @property
    def stop_reason_(self) -> str:
        """Why training stopped."""
        return self.run_.reason

    @property
    def n_iter_(self) -> int:
        """Epochs run."""
        return self.run_.epochs

    def _seen_once(self) -> tuple[int, int] | None:
        """Return the rows and mistakes of a stream that began without a fit: all its rows were seen once."""
        stream, before = self._stream, self.__dict__.get("run_")
        once = before is None or (before.stop is Stop.CHUNK and before.single_pass is not None)
        return (stream.trials, stream.mistakes) if once and stream.classes.size and stream.trials else None

    # --------------------------------------------------------------------------------------------------------- fitting

    def _out_of_reach(self, table: Table) -> Table:
        """Return rows whose indices no function of the user can change between epochs."""
        calls = self.callback is not None or self._is_watched or callable(getattr(self, "schedule", None))
        return with_own_indices(table) if calls else table

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *start: Any) -> tuple[Job, Array, Any]:
        """Return what to learn, the classes, and the state to start from."""
        raise NotImplementedError

    def _fit(self, *data: Any) -> Self:
        """Train. Each `fit` calls it directly: the stack level of warnings counts on that."""
        with all_or_nothing(self):
            job, classes, state = self._prepare(*data)

            def train(plan: Plan) -> None:
                planned = replace(job, plan=plan)
                shards = int(self.shards)
                record = run(planned, state) if shards == 1 else run_in_shards(planned, state, shards, self.mixes)
                self._finish(record, job, classes, state)

            def fitted(epoch: Epoch) -> dict[str, Any]:
                copied, (learned, record) = copy.copy(self), epoch.learned()
                copied._finish(record, replace(job, algorithm=copy.deepcopy(job.algorithm)), classes, learned)
                return vars(copied)

            self._run_watched(job.plan, train, fitted, *data[:3])
            self._warn()
        return self

    def _finish(self, record: Run, job: Job, classes: Array, state: Any) -> None:
        """Keep the learned state and the record."""
        continued = self._continues()
        self.__dict__.pop("_shows_sparse", None)
        learned = Learned(classes, state, record.trials, sum(record.mistakes), ())
        self._stream = self._make_stream(self._settings(), learned)
        self.run_ = replace(record, single_pass=None) if continued else record

    def _warn(self) -> None:
        """Warn if the fit ended before it converged."""
        stop = self.run_.stop
        if stop in self.unconverged and (stop is not Stop.EPOCHS or self.tol is not None):
            warnings.warn(f"Not converged: {self.stop_reason_}", ConvergenceWarning, stacklevel=4)

    def _record(self, X: Any, y: Any, sample_weight: Any = None) -> Recording:
        """Fit, and record every trial: see `rosenblatt.training.record`."""
        with all_or_nothing(self):
            job, classes, state = self._prepare(X, y, sample_weight)
            if self.shards != 1:
                raise InvalidInput(
                    f"shards={self.shards} learn in parallel, so there is no order of trials. Use shards=1."
                )
            recorder = Recorder(job, state)
            self._finish(Trainer(job.plan, recorder, job.clock).run(), job, classes, state)
        return recorder.recording(self.run_, self)

    def _continues(self) -> bool:
        """Return whether a fit continues from what was learned before."""
        return self.warm_start and "_stream" in self.__dict__

    def _warm_state(self, width: int, known: Array | None) -> Any:
        """Return a copy of the state to continue from; `known` are the names that the features had.

        Raises an error if columns would be taken for others.
        """
        stream, names = self._stream, self.__dict__.get("feature_names_in_")
        if stream.columns is not None:
            raise InvalidInput(
                "warm_start continues a stream of dicts, but X is a table. Continue with learn_one, or fit a fresh "
                "estimator."
            )
        stream.check_arrays()
        same_width(width, stream.n_features)
        if names is not None and known is not None and not np.array_equal(names, known):
            raise InvalidInput(
                f"warm_start continues with the features {listed(known)}, in this order, but X has {listed(names)}. "
                "Pass the columns that it was fitted on, or fit again."
            )
        stream.reconfigure(self._settings())
        return copy_state(stream.state, part=slice(stream.known))

    # --------------------------------------------------------------------------------------------------------- streams

    def _learn_chunk(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """Learn from the rows once; a chunk that is rejected changes nothing."""
        with all_or_nothing(self):
            start, stream = time.perf_counter(), self._stream
            if stream is None or stream.outdated:
                self._check_streaming()
            table, y = self._check_rows(X, y, reset=stream is None)
            if stream is None or stream.outdated:
                stream = self._going_on(table.rows)
            rows = table.shape[0]
            counts = stream.learn(table, y, as_weights(sample_weight, rows), classes)
            self._stream = stream
            mistakes, loss = int(counts.mistakes.sum()), float(counts.loss.sum()) * stream.settings.rate_scale / rows
            self.run_ = replace(
                stream_record("", rows, mistakes, stream, self._seen_once()),
                losses=(loss,),
                updates=int(counts.updates.sum()),
                seconds=time.perf_counter() - start,
                reason=self.words[Stop.CHUNK].format(trials=rows, mistakes=mistakes, loss=loss) + ".",
                stops=(Stop.CHUNK,) * counts.mistakes.size,
                radius=float(np.sqrt(table.largest + stream.settings.bias)),
            )
            stream.recorded = stream.trials, stream.mistakes
        return self

    def _going_on(self, first: Any = None) -> Stream:
        """Return the stream to continue, with the current parameters; a new one suits the `first` row."""
        if "intercept_scaling" in self.declared:
            chooses = "_stream" not in self.__dict__ and self.intercept_scaling == "auto"
            self.intercept_scaling_ = first_row_padding(first) if chooses else self._padding()
        settings = self._settings()
        stream = self._make_stream(settings) if self._stream is None else self._stream
        stream.reconfigure(settings)
        return stream

    def _check_streaming(self) -> None:
        """Raise an error for parameters that a stream cannot have."""
        self._check_parameters()
        if self.early_stopping:
            raise InvalidInput(
                "early_stopping=True holds out rows, which a stream cannot. Use early_stopping=False with partial_fit "
                "and learn_one."
            )

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row of a stream: the same as `partial_fit` with one row, with less work around it.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, row of a data frame, or dict from names to numbers
            With dicts, features may appear at any time. Rows of data frames go by their names.
        y : label, or number in a regression
            Of any type; new classes may appear at any time, but not texts among numbers.

        Returns
        -------
        bool
            Whether it was a mistake; always False in a regression.
        """
        turn = self._turn
        turn.lock.acquire()  # and not `with turn`, which takes an eighth of the time of a short row
        try:
            turn.changes += 1
            try:
                stream = self._stream
                plain = np.ndarray if stream is None or stream.columns is None else dict
                if stream is not None and type(x) is plain and not stream.outdated:
                    mistake = stream.learn_known(x, y)
                    if mistake is not None:
                        return mistake  # the common case, without a further look
                with undone(self):
                    return self._learn_other(stream, x, y)
            finally:
                turn.changes += 1
        finally:
            turn.lock.release()

    def predict_one(self, x: Any) -> Any:
        """Predict one row, as `predict` does; before the first row was learned None, or 0 in a regression.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, row of a data frame, or dict from names to numbers
            Names that were never learned count as zero.

        Returns
        -------
        label, or float in a regression
        """
        turn, stream = self._turn, self._stream
        before = turn.changes  # as in `steady`: no lock while no thread learns
        plain = np.ndarray if stream is None or stream.columns is None else dict
        if stream is not None and type(x) is plain and not before % 2:
            try:
                answer = stream.predict_one(x)
            except Exception:
                answer = None  # the slower way below reports the error
            if answer is not None and turn.changes == before:
                return answer
        return self._predict_other(x)

    def _predict_other(self, x: Any) -> Any:
        """Return the prediction for a row of any kind, by any way."""
        raise NotImplementedError

    def _learn_other(self, stream: Stream | None, x: Any, y: Any) -> bool:
        """Learn from the first row, from one after a change of the parameters, or from one that is not an array."""
        if stream is None or stream.outdated:
            self._check_streaming()
            if "n_features_in_" not in self.__dict__:  # a method may depend on it
                sized = getattr(x, "shape", ()) or (len(x) if hasattr(x, "__len__") else 0,)
                self.n_features_in_ = int(sized[-1])
            stream = self._going_on(x)
        if "_stream" not in self.__dict__ and (names := row_names(x)):
            self.feature_names_in_ = np.array(names, dtype=object)
        mistake = stream.learn_one(self._by_names(stream, x), y)
        if self.__dict__.get("n_features_in_") != stream.n_features or "_stream" not in self.__dict__:
            self._stream, self.n_features_in_ = stream, stream.n_features
        return mistake

    def _by_names(self, stream: Stream, x: Any) -> Any:
        """Return a row with names as an array, where the features are those of a data frame; else as it is."""
        if stream.columns is not None or "feature_names_in_" in self.__dict__:
            x = x.to_dict() if row_names(x) else x
        if stream.columns is not None or "feature_names_in_" not in self.__dict__ or not is_dict(x):
            return x
        return by_names(x, self.__dict__["feature_names_in_"].tolist())

    def _one_row(self, x: Any) -> Table:
        """Return a single row as a table, to predict from."""
        return self._stream.row_table(self._by_names(self._stream, x))

    # ---------------------------------------------------------------------------------------------------- explanations

    @steady
    def explain(self, x: Any, top: int | None = None) -> Explanation:
        """Return the scores of one row as sums over its features.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, row of a data frame, or dict from names to numbers
        top : int, optional
            How many contributions to list, the largest first; the others are added up. By default all.

        Returns
        -------
        Explanation
            Prints as a line for each class: ``spam 6.1 = prize 3.2, money 2.1, bias -0.6``.
        """
        check_is_fitted(self)
        return self._explained(self._stream.hyperplanes(), x, top)

    def _explained(self, planes: Hyperplanes, x: Any, top: int | None) -> Explanation:
        whole = len(getattr(x, "shape", ())) == 2  # a frame, or a matrix, of one row
        table = self._check_rows(x, reset=False)[0] if whole else self._one_row(x)
        stream, entries = self._stream, row_entries(table, by_place(getattr(self, "feature_names_in_", ())))
        touched = Hyperplanes(planes.W[: stream.known, entries.column], planes.b[: stream.known])
        return explain(touched, stream.classes, stream.settings.multiclass, entries, top)

    # ------------------------------------------------------------------------------------------------------------ files

    def _to_file(self) -> dict[str, Any]:
        if "_stream" not in self.__dict__:
            return {}
        if self._stream.outdated:  # a file holds one set of parameters, and what was learned must be of them
            self._check_parameters()
            self._going_on().outdated = True  # whether a stream can have them is another question
        learned = {"model": self._named_model(), "learned": self._stream.learned, **super()._to_file()}
        if (run := getattr(self, "run_", None)) is not None:  # else the check of what is stored says so
            learned |= {"run_": run, "n_iter_": run.epochs, "stop_reason_": run.reason}
        return learned

    def _snapshot(self, name: str) -> LinearModel:
        """Return the weights as they are, for the attribute of a name; they stay so."""
        with self._turn.lock:
            return self._learned(name).model()

    def _named_model(self) -> LinearModel:
        model = self._stream.model()
        names = tuple(self.feature_names_in_.tolist()) if hasattr(self, "feature_names_in_") else ()
        return replace(model, feature_names=names)

    def _check_learned(self) -> None:
        self._check_parameters()
        learned, model = self.__dict__.pop("learned"), self.__dict__.pop("model")
        expect(
            type(model) is LinearModel, "the file does not contain a LinearModel"
        )  # the weights alone are for `load_linear`
        expect(type(learned) is Learned, "what it has learned is missing. Fit again")
        check_record("what was learned", learned, Learned)
        run, *_ = (self.__dict__.pop(name) for name in ("run_", "n_iter_", "stop_reason_"))  # the record has all three
        stream = self._make_stream(self._settings(), learned)
        self._check_stream(stream)
        self._stream, self.run_ = stream, run
        if run.stop is Stop.CHUNK and run.reason.startswith(ONE_BY_ONE):
            stream.recorded = max(0, stream.trials - run.trials), max(0, stream.mistakes - sum(run.mistakes))

    def _check_stream(self, stream: Stream) -> None:
        stream.check()
        expect(stream.n_features == self.n_features_in_, f"the weights are of {stream.n_features} features. Fit again")

    def _learned(self, name: str) -> Stream:
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is None or stream.state is None:
            raise AttributeError(f"This {type(self).__name__} has no {name} yet. Call fit or partial_fit first.")
        return stream

    def __sklearn_is_fitted__(self) -> bool:
        return "_stream" in self.__dict__

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if (name in self.declared or name in self.at_times) and "_stream" in self.__dict__:
            self._stream.outdated = True  # the stream learns by the new value

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
        self.__dict__.pop("feature_names_in_", None)  # those of dicts go with their stream

    @property
    def t_(self) -> int:
        """Trials so far."""
        return self._learned("t_").trials


# ---------------------------------------------------------------------------------------------------------- classifiers


def without_probabilities(estimator: Any) -> NoReturn:
    """Raise an error: scores of hyperplanes are not probabilities. SoftMargin with the logistic loss has them."""
    raise NotAvailable(
        f"{type(estimator).__name__} has no probabilities. Use decision_function, SoftMargin(loss='logistic'), or "
        "scikit-learn's CalibratedClassifierCV around it."
    )


def distances(scores: Array, coef: Any) -> Array:
    """Return the signed distance of each row from each hyperplane, from scores and weights."""
    length = np.linalg.norm(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=float), axis=1)
    if not length.all():
        raise InvalidInput("A weight vector is zero: it has no hyperplane to measure from. Train on more rows.")
    found = np.asarray(scores / length)
    return found[:, 0] if found.shape[1] == 1 else found


class LinearClassifier(ClassifierMixin, EpochLearner):
    """A classifier by hyperplanes, trained in epochs or from a stream, which owns what was learned.

    A subclass declares its parameters, and returns its way to learn from `_algorithm`.
    """

    default_keep = "best"
    # Whether a column of large values outweighs the others, as where the weights move along the row.
    scale_sensitive: ClassVar[bool] = True
    attributes_text = ATTRIBUTES
    at_times: ClassVar[tuple[str, ...]] = ("intercept_scaling_",)

    # ------------------------------------------------------------------------------------------------ what was learned

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return self._learned("classes_").classes

    @property
    def mistakes_(self) -> int:
        """Mistakes so far."""
        return self._learned("mistakes_").mistakes

    @property
    def coef_(self) -> Array:
        """The weights; assign a whole array to continue from others."""
        shown: Array = self._shown(np.asarray(self._snapshot("coef_").W))
        return shown

    @coef_.setter
    def coef_(self, value: Any) -> None:
        self._learned("coef_").set_weights(as_dense(value), self.intercept_)

    @property
    def intercept_(self) -> Array:
        """The biases; assign a whole array to continue from others."""
        return self._snapshot("intercept_").b

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        stream = self._learned("intercept_")
        stream.set_weights(stream.model().W, value)

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
        return self._fit(X, y, sample_weight, coef_init, intercept_init)

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, coef_init: Any = None, intercept_init: Any = None
    ) -> tuple[Job, Array, Any]:
        self._check_parameters()
        clock = RunClock(self.max_seconds)
        names = getattr(self, "feature_names_in_", None)
        table, y = self._check_rows(X, y, reset=True)
        classes, label = labels_of(y, table.shape[0])
        sign = coding_matrix(classes.size, self.multiclass)
        weight = as_weights(sample_weight, table.shape[0])
        costs = class_costs(self.class_weight, classes, np.bincount(label))
        explicit = coef_init is not None or intercept_init is not None
        warm = self._continues() and not explicit
        self._look_at(table, weight, classes.size, warm=warm)
        task = make_task(label, sign, self.multiclass, class_cost=costs, weight=weight, bias=self._bias())
        algorithm, plan = self._algorithm(), self._plan()
        if warm:
            same_classes(classes, self.classes_)
            state = self._warm_state(table.shape[1], names)
        else:
            init = self.init
            if explicit:
                w0 = np.zeros(table.shape[1]) if coef_init is None else coef_init
                init = (w0, 0.0 if intercept_init is None else intercept_init)
            scale = algorithm.rate_scale(plan.eta0)
            state = start_state(algorithm, sign.shape[1], table, init, scale, by_pairs=by_pairs(self.multiclass))
        subset, validation = self._split(table, label, weight, classes)
        job = Job(
            algorithm,
            self._out_of_reach(table),
            task,
            plan,
            self.multiclass,
            subset,
            validation,
            as_names(classes),
            clock,
        )
        return job, classes, state

    def _look_at(self, table: Table, weight: Array, n_classes: int, *, warm: bool) -> None:
        """Choose what the sizes of the values determine, and warn of columns that outweigh the others."""
        used = used_rows(weight)
        sizes = survey(table, used)
        # Added up shard by shard, the sizes are the same wherever the shards are.
        chosen_by = sizes if self.shards == 1 else table_stats(table, used, int(self.shards)).survey()
        self._adapt(chosen_by, n_classes, warm=warm)
        if self.scale_sensitive and not warm:
            warn_of_scale(sizes, self.__dict__.get("feature_names_in_"), stacklevel=5)

    def _split(self, table: Table, label: Array, weight: Array, classes: Array) -> tuple[Array, Validation | None]:
        """Return the rows to train on, and those held out if training is to stop early."""
        used = used_rows(weight)
        if not self.early_stopping:
            return used, None
        rows = used if used.size else row_numbers(np.arange(table.shape[0]))
        self._check_split(label[rows], classes)
        splitter = StratifiedShuffleSplit(1, test_size=self.validation_fraction, random_state=self.random_state)
        inside, outside = next(splitter.split(np.zeros((rows.size, 1)), label[rows]))
        return np.sort(rows[inside]), Validation(table, np.sort(rows[outside]), label, weight)

    def _check_split(self, label: Array, classes: Array) -> None:
        """Raise an error if there are too few rows of a class to hold some of them out."""
        per_class = np.bincount(label, minlength=classes.size)
        if 1 in per_class:
            alone = short_repr(classes[per_class == 1][0])
            raise InvalidInput(
                f"early_stopping holds out rows of each class, but class {alone} has only one. Add examples of it, or "
                "use early_stopping=False."
            )
        held = math.ceil(self.validation_fraction * label.size)
        present = int(np.count_nonzero(per_class))
        if min(held, label.size - held) < present:
            raise InvalidInput(
                f"validation_fraction={self.validation_fraction} holds out {held} of {label.size} rows, too few on one "
                f"side for {count(present, 'class', 'classes')}. Choose another share, or early_stopping=False."
            )

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
        return self._learn_chunk(X, y, sample_weight, None if classes is None else as_classes(classes))

    @steady
    def _predict_other(self, x: Any) -> Any:
        if "_stream" not in self.__dict__:
            return None
        x = self._by_names(self._stream, x)
        label = self._stream.predict_one(x)
        if label is None:
            label = self._elect(self._decide(self._problem_scores(self._stream.row_table(x))))[0]
        return label.item() if isinstance(label, np.generic) else label

    # ------------------------------------------------------------------------------------------------------ prediction

    def _problem_scores(self, table: Table) -> Array:
        """Return the score of each row under each problem."""
        return self._stream.problem_scores(table)

    def _hyperplane_scores(self, table: Table) -> Array:
        """Return the score of each row under each hyperplane of `coef_`."""
        return self._problem_scores(table)

    def _class_scores(self, X: Any) -> Array:
        check_is_fitted(self)
        table, _ = self._check_rows(X, reset=False)
        return self._decide(self._problem_scores(table))

    def _decide(self, problem_scores: Array) -> Array:
        # As they were learned, whatever `multiclass` is set to since.
        return decision(problem_scores, self.classes_.size, self._stream.settings.multiclass)

    def _elect(self, class_scores: Array) -> Array:
        if self.classes_.size == 1:
            return np.repeat(self.classes_, class_scores.shape[0])
        return self.classes_[winners(class_scores)]

    @steady
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

    @steady
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

    predict_proba = available_when(without_probabilities)(without_probabilities)

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
        return distances(self._hyperplane_scores(table), self.coef_)
