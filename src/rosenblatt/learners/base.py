"""What the scikit-learn classes share: rows that can be trusted, plans, fitting, streams, prediction.

The classes here have no parameters of their own. A member of the family inherits its parameters from
`rosenblatt.learners.parameters`, and gives its `_method`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from numbers import Integral
from types import MethodType
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from rosenblatt.data.dense import readable, refuse_kind
from rosenblatt.data.labels import as_labels, check_column
from rosenblatt.data.sparse import as_csr
from rosenblatt.data.table import Table, as_sparse_table, as_table, learnable, too_long, widened
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.parameters import learning_rate
from rosenblatt.learners.storable import Storable
from rosenblatt.text import count, did_you_mean, listed, short_repr
from rosenblatt.training.plan import Epoch, Plan, Run

Array = npt.NDArray[Any]
Read = TypeVar("Read", bound=Callable[..., Any])

UNCHECKED: Any = object()  # in the place of labels that there are not
PLAIN_TYPES = (np.dtype(np.float64), np.dtype(np.float32))
_ORDER = {True: "shuffled", False: "cyclic", "random": "random"}


def validated(estimator: Any, X: Any, y: Any = UNCHECKED, *, reset: bool, **options: Any) -> Any:
    """Return rows, and labels if there are any, as scikit-learn checks them.

    What would lead scipy or scikit-learn astray, and what they refuse without a remedy, is refused before: broken
    pointers, dates, text, shapes and sizes that do not fit. Features are named and counted by scikit-learn.

    Parameters
    ----------
    estimator : estimator
        Whose features they are.
    X : array-like, data frame or sparse matrix
    y : array-like, optional
    reset : bool
        Whether the features are those of X from now on.
    **options
        For scikit-learn.

    Returns
    -------
    array or sparse matrix; with y a pair
    """
    if sp.issparse(X):
        X = as_csr(X)
        refuse_kind(X.dtype, "X")
        if not options.get("accept_sparse", False):
            raise InvalidInput("Sparse data was passed for X, but dense data is required. Pass X.toarray().")
    else:
        X = readable(X)
    if not reset:
        _check_width(estimator, X)
    if y is not UNCHECKED and y is not None:  # of None scikit-learn's checks want to hear in its own words
        values = check_column(y, X.shape[0])
        # Of integers and truth values of pandas, which may be missing, scikit-learn would make floats.
        if not isinstance(kind := getattr(y, "dtype", values.dtype), np.dtype) or kind.kind == "T":
            y = values
    if options.get("ensure_all_finite") is False and _need_no_change(estimator, X, y):
        if reset:
            estimator.n_features_in_ = X.shape[1]
        return X if y is UNCHECKED else (X, y)
    kinds = [np.float64, np.float32]
    y = "no_validation" if y is UNCHECKED else y
    return validate_data(estimator, X, y, reset=reset, dtype=kinds, **options)


def _check_width(estimator: Any, X: Any) -> None:
    """Raise an error if rows have another number of features than the estimator was fitted on."""
    width = getattr(estimator, "n_features_in_", None)
    other = width is not None and not hasattr(X, "columns") and X.ndim == 2 and X.shape[1] != width
    # Of numbers that are none scikit-learn's checks want to hear first, in its own words.
    if other and (sp.issparse(X) or X.dtype.kind not in "fc" or np.isfinite(X).all()):
        raise InvalidInput(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {width} features as input. Pass "
            "the columns that it was fitted on."
        )


def _need_no_change(estimator: Any, X: Any, y: Any) -> bool:
    """Return whether scikit-learn's checks would return these rows and labels as they are.

    On a small table they take as long as ten epochs.
    """
    sparse = sp.issparse(X)
    if sparse:
        plain = X.format == "csr" and X.ndim == 2 and min(X.shape) > 0
    else:
        plain = type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.flags.c_contiguous
    if not plain or X.dtype not in PLAIN_TYPES or hasattr(estimator, "feature_names_in_"):
        return False
    return y is UNCHECKED or (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU")


def labels_of(y: Any, n_rows: int) -> tuple[Array, Array]:
    """Return the classes, of which there must be two, and the number of each row's class."""
    classes, label = as_labels(y, n_rows)
    if classes.size < 2:
        raise InvalidInput(
            f"The number of classes has to be greater than one; got 1 class: {short_repr(classes[0])}. "
            "Add examples of another class."
        )
    return classes, label


def choose_aggregate(aggregate: str | None, default: str, possible: tuple[str, ...]) -> str:
    """Return how to predict from all hypotheses of a fit."""
    chosen = aggregate or default
    if chosen not in possible:
        known = ", ".join(map(repr, possible))
        hint = did_you_mean(chosen, possible)
        raise InvalidInput(f"aggregate={short_repr(chosen)} is not known: choose one of {known}.{hint}")
    return chosen


def same_classes(classes: Array, known: Array) -> None:
    """Raise an error if a warm start would have to tell other classes apart."""
    if not np.array_equal(classes, known):
        raise InvalidInput(
            f"warm_start continues with the classes {listed(known)}, but y has {listed(classes)}. "
            "Fit a fresh estimator, or use partial_fit, which takes new classes."
        )


def same_width(width: int | None, known: int | None) -> None:
    """Raise an error if a warm start would have to learn from rows of another length."""
    if width != known:
        raise InvalidInput(
            f"warm_start continues with {count(known or 0, 'feature')}, but X has {width or 0}. Fit anew."
        )


class Turn:
    """Whose turn it is with an estimator: one thread learns at a time, and the others can tell whether one does."""

    __slots__ = ("changes", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.changes = 0  # odd while a thread learns

    def __enter__(self) -> None:
        self.lock.acquire()
        self.changes += 1

    def __exit__(self, *error: object) -> None:
        self.changes += 1
        self.lock.release()


def steady(read: Read) -> Read:
    """Return a method whose answer is of one moment, however many threads learn meanwhile.

    It takes no turn while nobody learns, so that threads that only predict never wait for one another.
    """

    @wraps(read)
    def reading(self: Any, *args: Any, **options: Any) -> Any:
        turn: Turn = self._turn
        before = turn.changes
        if before % 2 == 0:
            try:
                answer = read(self, *args, **options)
            except Exception:
                if turn.changes == before:
                    raise
            else:
                if turn.changes == before:
                    return answer
        with turn.lock:
            return read(self, *args, **options)

    return cast(Read, reading)


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if what happens inside fails or is interrupted, never half changed.

    One thread does so at a time.
    """
    with estimator._turn, undone(estimator):
        yield


@contextmanager
def undone(estimator: Any) -> Iterator[None]:
    """Do the same in a turn that was taken before."""
    before = dict(vars(estimator))
    stream = before.get("_stream")
    go_back = None if stream is None else stream.begin()
    try:
        yield
    except BaseException:
        if go_back is not None:
            go_back()
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
    if stream is not None:
        stream.end()


class available_when:  # noqa: N801 (a decorator)
    """Return a method that is there only if a check passes, which raises `NotAvailable` with a reason and a remedy.

    As scikit-learn's `available_if`, whose own sentence gives neither.
    """

    def __init__(self, check: Callable[[Any], object]) -> None:
        self.check = check

    def __call__(self, method: Callable[..., Any]) -> Any:
        """Return the method, guarded by the check."""
        return _Guarded(method, self.check)


class _Guarded:
    def __init__(self, method: Callable[..., Any], check: Callable[[Any], object]) -> None:
        self.method, self.check = method, check
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self.method
        self.check(estimator)
        return MethodType(self.method, estimator)


class EpochLearner(Storable):
    """What every estimator trained in epochs shares: the plan of a run, and rows that can be trusted."""

    # Parameters that every class here declares, with its own constraints.
    fit_intercept: Any
    max_iter: Any
    tol: Any
    shuffle: Any
    verbose: Any
    random_state: Any
    n_iter_no_change: Any
    max_seconds: Any
    callback: Any
    class_weight: Any
    multiclass: Any
    # Read by the plan; a class whose constructor takes one of them hides it.
    n_jobs: Any = None
    shards: Any = 1
    mixes: Any = "auto"
    early_stopping: Any = False
    validation_fraction: Any = 0.1
    warm_start: Any = False
    init: Any = None
    keep: Any = None
    intercept_scaling: Any = 1.0
    # What a class keeps by itself.
    default_keep: ClassVar[str] = "last"

    n_features_in_: int
    n_iter_: int
    run_: Run
    stop_reason_: str
    _turn: Turn

    def __new__(cls, *positional: Any, **chosen: Any) -> Self:
        """Return an estimator with a turn of its own, also of a copy and of one that is unpickled."""
        made: Self = super().__new__(cls)
        vars(made)["_turn"] = Turn()
        return made

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_turn"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _repr_html_inner(self) -> str:
        # What scikit-learn's property _repr_html_ returns: its diagram, here with the record of the fit below.
        return str(super()._repr_html_inner()) + self._fit_as_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._fit_as_html()
        return bundle

    def _fit_as_html(self) -> str:
        """Return the record of the fit, with a small picture; empty before one."""
        run = getattr(self, "run_", None)
        return run._repr_html_() if isinstance(run, Run) else ""

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
            "eta": learning_rate(self),
            "batch": bool(getattr(self, "batch", False)),
            "epochs": int(self.max_iter),
            "seconds": self.max_seconds,
            "tol": None if self.tol is None or self.tol == -np.inf else float(self.tol),
            "patience": int(self.n_iter_no_change),
            "keep": self.keep or ("best" if self.early_stopping else self.default_keep if watched else "last"),
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
            mistakes = count(epoch.mistakes, "mistake")
            print(  # noqa: T201
                f"epoch {epoch.number}: {mistakes}, loss {epoch.loss:.4g}{error}, {epoch.seconds:.2f} s"
            )
        return None if self.callback is None else self.callback(epoch)

    def _check_rows(self, X: Any, y: Any = UNCHECKED, *, reset: bool) -> tuple[Table, Any]:
        options = {"accept_sparse": "csr", "order": "C", "accept_large_sparse": True, "ensure_all_finite": False}
        checked = validated(self, X, y, reset=reset, **options)
        if y is UNCHECKED:
            table = as_sparse_table(checked, to_score=True) if sp.issparse(checked) else as_table(checked)
            return widened(table) if too_long(table.largest, table.dtype) else table, None
        return learnable(as_table(checked[0])), checked[1]

    def _store(self, record: Run) -> None:
        """Keep the record of a fit or of a chunk."""
        self.run_, self.n_iter_, self.stop_reason_ = record, record.epochs, record.reason
