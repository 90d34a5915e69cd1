"""Learners that are trained in epochs and learn from streams: their stream owns what was learned."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_weights
from rosenblatt.data.sparse import sp
from rosenblatt.data.survey import Survey
from rosenblatt.data.table import Table
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.base import Estimator, all_or_nothing, undone
from rosenblatt.learners.contract import ConvergenceWarning, check_random_state, effective_n_jobs
from rosenblatt.learners.rows import choose_padding, first_row_padding, same_width
from rosenblatt.storage.checks import check_record
from rosenblatt.storage.registry import expect
from rosenblatt.text import count, listed
from rosenblatt.training.algorithm import Algorithm, copy_state
from rosenblatt.training.in_memory import Job, run
from rosenblatt.training.model import LinearModel
from rosenblatt.training.named_rows import is_dict, row_names
from rosenblatt.training.plan import Epoch, Plan, Run
from rosenblatt.training.reasons import PERCEPTRON, Words
from rosenblatt.training.record import Recorder, Recording
from rosenblatt.training.sharded import run_in_shards
from rosenblatt.training.stopping import Stop
from rosenblatt.training.stream import Learned, Settings, Stream
from rosenblatt.training.trainer import Trainer

Array = npt.NDArray[Any]

_ORDER = {True: "shuffled", False: "cyclic", "random": "random"}


def learning_rate(learner: Any) -> float:
    """Return the learning rate of a learner; 1 if it has none."""
    return float(getattr(learner, "eta0", 1.0))


def seed_of(learner: Any) -> int:
    """Return the seed that the parameter `random_state` of a learner stands for."""
    if isinstance(learner.random_state, Integral):
        return int(learner.random_state)
    return int(check_random_state(learner.random_state).randint(np.iinfo(np.int32).max))


def plan_of(learner: Any, **changes: Any) -> Plan:
    """Return the plan of a run, from the parameters of a learner."""

    def watch(epoch: Epoch) -> Any:
        if learner.verbose:
            error = "" if epoch.error is None else f", error {epoch.error:.4f}"
            mistakes = count(epoch.mistakes, "mistake")
            print(  # noqa: T201
                f"epoch {epoch.number}: {mistakes}, loss {epoch.loss:.4g}{error}, {epoch.seconds:.2f} s"
            )
        return None if learner.callback is None else learner.callback(epoch)

    stops_early, keep = getattr(learner, "early_stopping", False), getattr(learner, "keep", None)
    watched = learner.tol is not None or stops_early
    settings: dict[str, Any] = {
        "order": _ORDER[learner.shuffle],
        "schedule": getattr(learner, "schedule", "constant"),
        "eta0": learning_rate(learner),
        "batch": bool(getattr(learner, "batch", False)),
        "max_iter": int(learner.max_iter),
        "max_seconds": learner.max_seconds,
        "tol": None if learner.tol is None or learner.tol == -np.inf else float(learner.tol),
        "n_iter_no_change": int(learner.n_iter_no_change),
        "keep": keep or ("best" if stops_early else learner.default_keep if watched else "last"),
        "random_state": seed_of(learner),
        "n_jobs": effective_n_jobs(getattr(learner, "n_jobs", None)),
        "callback": watch if learner.verbose or learner.callback is not None else None,
    }
    return Plan(**(settings | changes))


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


class EpochLearner(Estimator):
    """A learner that is trained in epochs and learns from streams; its attributes are those of its stream.

    A subclass declares its parameters, and returns its way to learn from `_algorithm`.
    """

    # Templates of the reason why a run ended.
    words: ClassVar[Words] = PERCEPTRON
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

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *start: Any) -> tuple[Job, Array, Any]:
        """Return what to learn, the classes, and the state to start from."""
        raise NotImplementedError

    def _fit(self, *data: Any) -> Self:
        """Train. Each `fit` calls it directly: the stack level of warnings counts on that."""
        with all_or_nothing(self):
            job, classes, state = self._prepare(*data)
            record = run(job, state) if self.shards == 1 else run_in_shards(job, state, int(self.shards), self.mixes)
            self._finish(record, job, classes, state)
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
                raise InvalidInput(f"shards={self.shards} learn beside each other, not trial by trial. Use shards=1.")
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
            start = time.perf_counter()
            self._check_streaming()
            table, y = self._check_rows(X, y, reset="_stream" not in self.__dict__)
            stream, rows = self._going_on(table.rows), table.shape[0]
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
        """Return the stream to continue, with the parameters as they are now; a new one begins with the `first` row."""
        stream: Stream | None = self.__dict__.get("_stream")
        if "intercept_scaling" in self.declared:
            chooses = stream is None and self.intercept_scaling == "auto"
            self.intercept_scaling_ = first_row_padding(first) if chooses else self._padding()
        if stream is None:
            return self._make_stream(self._settings())
        stream.reconfigure(self._settings())
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
        names = self.__dict__["feature_names_in_"].tolist()
        unknown = x.keys() - set(names)
        if unknown:
            raise InvalidInput(
                f"x has features that the model does not have: {listed(sorted(map(str, unknown)))}. Leave them out, or "
                "start a stream with dicts, which takes new features."
            )
        return np.array([x.get(name, 0.0) for name in names], dtype=np.float64)

    def _one_row(self, x: Any) -> Table:
        """Return a single row as a table, to predict from."""
        return self._stream.row_table(self._by_names(self._stream, x))

    # ------------------------------------------------------------------------------------------------------------ files

    def _to_file(self) -> dict[str, Any]:
        if "_stream" not in self.__dict__:
            return {}
        if self._stream.outdated:  # a file holds one set of parameters, and what was learned must be of them
            self._check_parameters()
            self._going_on()
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
        if name in self.declared and "_stream" in self.__dict__:
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
