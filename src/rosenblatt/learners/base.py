"""The base of every estimator: declared parameters, checked rows, one learning thread at a time, model files."""

from __future__ import annotations

import copy
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from types import MethodType
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import check_column
from rosenblatt.data.matrices import as_csr, readable, refuse_kind, sp
from rosenblatt.data.numbers import is_real, is_whole
from rosenblatt.data.table import Table, as_sparse_table, as_table, learnable, too_long, widened
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.learners.contract import BaseEstimator, validate_data
from rosenblatt.learners.parameters import (
    Parameter,
    choice,
    custom,
    flag,
    integer,
    margins,
    real,
    schedule_of,
    seed,
)
from rosenblatt.storage.checks import check_classes
from rosenblatt.storage.registry import expect
from rosenblatt.text import count, did_you_mean, listed, short_repr
from rosenblatt.training.multiclass import MULTICLASS
from rosenblatt.training.plan import Run
from rosenblatt.training.stream import Stream

SITE = "https://rosenblatt-developers.github.io/rosenblatt/"

Array = npt.NDArray[Any]
Read = TypeVar("Read", bound=Callable[..., Any])

UNCHECKED: Any = object()  # in the place of labels where X comes alone


@dataclass(frozen=True)
class Facts:
    """The facts that lists of learners show: in the lab, on the command line, in the tables of the documentation.

    Attributes
    ----------
    published : int
        The year; lists are in this order.
    does, when : str
        What it does, and when to choose it: its line in the table of learners.
    command : str
        Its name for `rosenblatt train --learner`; empty if files cannot train it.
    title : str
        Its name in the lab; empty if the lab does not show it.
    lecture : str
        Which lecture has it.
    rule : str
        How the lab explains an update: a key of RULES in lab/static/narrate.js.
    """

    published: int
    does: str
    when: str
    command: str = ""
    title: str = ""
    lecture: str = "beyond the lectures"
    rule: str = ""


# ------------------------------------------------------------------------------------------------------------ threads


class Turn:
    """The lock of an estimator: one thread learns at a time, and the others can see whether one does."""

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
    """Return a method that sees the estimator as it is between two updates, while other threads learn.

    It takes the lock only if a thread is learning: threads that only predict never wait for one another.
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
    """Restore the estimator if the block fails or is interrupted; one thread at a time."""
    with estimator._turn, undone(estimator):
        yield


@contextmanager
def undone(estimator: Any) -> Iterator[None]:
    """Do the same while the lock is held."""
    before = dict(vars(estimator))
    stream = before.get("_stream")
    restore = None if stream is None else stream.begin()
    try:
        yield
    except BaseException:
        if restore is not None:
            restore()
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
    if stream is not None:
        stream.end()


def available_when(check: Callable[[Any], object]) -> Callable[[Callable[..., Any]], Any]:
    """Hide a method unless a check passes; the check raises `NotAvailable` with a reason and a remedy.

    scikit-learn's `available_if` gives neither.
    """
    return partial(_Guarded, check)


class _Guarded:
    def __init__(self, check: Callable[[Any], object], method: Callable[..., Any]) -> None:
        self.check, self.method, self.__doc__ = check, method, method.__doc__

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self.method
        self.check(estimator)
        return MethodType(self.method, estimator)


# ----------------------------------------------------------------------------------------------------------------- rows


def validated(estimator: Any, X: Any, y: Any = UNCHECKED, *, reset: bool, **options: Any) -> Any:
    """Return X, or X and y if there are labels, as scikit-learn's `validate_data` does with these options.

    Input that scipy or scikit-learn would misread, or reject without a remedy, is rejected first: broken pointers,
    dates, text, shapes and sizes that do not fit. `reset` makes the features of X those of the estimator.
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
    if y is not UNCHECKED and y is not None:  # scikit-learn reports None, with its own message
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
    # Let scikit-learn report NaN first, with its own message.
    if other and (sp.issparse(X) or X.dtype.kind not in "fc" or np.isfinite(X).all()):
        raise InvalidInput(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {width} features as input. Pass "
            "the columns that it was fitted on."
        )


def _need_no_change(estimator: Any, X: Any, y: Any) -> bool:
    """Return whether scikit-learn's checks would return these rows and labels as they are.

    On a small table its checks take the time of ten epochs.
    """
    sparse = sp.issparse(X)
    if sparse:
        plain = X.format == "csr" and X.ndim == 2 and min(X.shape) > 0
    else:
        plain = type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.flags.c_contiguous
    if not plain or X.dtype not in (np.float64, np.float32) or hasattr(estimator, "feature_names_in_"):
        return False
    return y is UNCHECKED or (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU")


def same_classes(classes: Array, known: Array) -> None:
    """Raise an error if a warm start has other classes."""
    if not np.array_equal(classes, known):
        raise InvalidInput(
            f"warm_start continues with the classes {listed(known)}, but y has {listed(classes)}. "
            "Fit a fresh estimator, or use partial_fit, which takes new classes."
        )


def same_width(width: int | None, known: int | None) -> None:
    """Raise an error if a warm start has rows of another length."""
    if width != known:
        raise InvalidInput(
            f"warm_start continues with {count(known or 0, 'feature')}, but X has {width or 0}. Fit again."
        )


# ---------------------------------------------------------------------------------------------------- after a fit


def _is_count(value: Any) -> bool:
    return is_whole(value) and 0 <= value < 1 << 62


def _are_classes(value: Any) -> bool:
    try:
        check_classes(value)
    except InvalidInput:
        return False
    return True


# Attributes of a fit that users can assign, that files hold, and that later calls rely on: each with a condition.
CONDITIONS: dict[str, Callable[[Any], bool]] = {
    "n_features_in_": _is_count,
    "n_iter_": _is_count,
    "t_": _is_count,
    "mistakes_": _is_count,
    "run_": lambda value: isinstance(value, Run),
    "stop_reason_": lambda value: isinstance(value, str),
    "classes_": _are_classes,
    "dual_coef_": lambda value: isinstance(value, np.ndarray) and value.dtype.kind in "fiu",
    "gamma_": lambda value: is_real(value) and 0 < value < np.inf,
    "intercept_scaling_": lambda value: is_real(value) and 1e-100 <= value <= 1e100,
    "covariance_": lambda value: isinstance(value, str) and value in ("full", "diagonal"),
    "averaged_": lambda value: isinstance(value, bool),
}


@dataclass_transform(
    kw_only_default=True, field_specifiers=(real, integer, choice, flag, custom, seed, margins, schedule_of)
)
class Estimator(BaseEstimator):
    """An estimator whose parameters are the declared fields of its class, and that files can hold.

    The constructor takes the fields by keyword and only stores them, as scikit-learn asks. The docstring of the class
    lists them at the placeholder ``{parameters}``. Type checkers and editors know the constructor through
    `typing.dataclass_transform` (PEP 681).

    By default a file holds the attributes named in `stored_attributes`, and those of `at_times` that are there. A class
    whose state is in a stream, or that keeps something else, overrides `_to_file` and `_from_file`.
    """

    # Where scikit-learn's diagram of an estimator links to.
    _doc_link_module = "rosenblatt"
    _doc_link_template = f"{SITE}reference/generated/rosenblatt.{{estimator_name}}.html"

    declared: ClassVar[Mapping[str, Parameter]] = {}
    facts: ClassVar[Facts | None] = None
    # Why the class has no parameter `shards`, for the error message.
    without_shards: ClassVar[str] = ""
    # Attributes that a fit sets, for the placeholder {attributes} of the docstring.
    attributes_text: ClassVar[str] = ""
    # Modes of several classes that the algorithm has.
    modes: Any = MULTICLASS

    stored_attributes: ClassVar[tuple[str, ...]] = ()
    # Attributes that only some fits leave.
    at_times: ClassVar[tuple[str, ...]] = ()
    # Attributes that are made of the others when a file is loaded.
    derived: ClassVar[tuple[str, ...]] = ()
    # Parameters that the learned state depends on. A fitted estimator uses their values at the time of the fit.
    meaning: ClassVar[tuple[str, ...]] = ()

    # Parameters that shared code reads, where a class has them.
    fit_intercept: Any
    tol: Any
    random_state: Any
    max_seconds: Any
    callback: Any
    class_weight: Any
    multiclass: Any
    shards: Any
    mixes: Any
    early_stopping: Any
    validation_fraction: Any
    warm_start: Any
    init: Any
    intercept_scaling: Any
    # Which weights are kept unless `keep` says so.
    default_keep: ClassVar[str] = "last"

    n_features_in_: int
    intercept_scaling_: float
    _fitted_with: dict[str, Any]
    _stream: Stream
    _turn: Turn

    # ------------------------------------------------------------------------------------------------------ parameters

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
        for name in own:
            delattr(cls, name)
        # Its own first, then the inherited ones, as the docstring lists them.
        cls.declared = own | {name: value for name, value in cls.declared.items() if name not in own}
        setattr(cls, "__init__", _constructor(cls))  # noqa: B010 (a type checker knows it from dataclass_transform)
        if cls.__doc__ and "{parameters}" in cls.__doc__:
            entries = "\n".join(parameter.document(name) for name, parameter in cls.declared.items())
            # Without its indentation, as Python 3.13 and later compile it.
            text = inspect.cleandoc(cls.__doc__)
            cls.__doc__ = text.replace("{parameters}", entries).replace("{attributes}", cls.attributes_text)

    def __new__(cls, *positional: Any, **params: Any) -> Self:
        """Return an estimator with its own lock, also when copied or unpickled."""
        made: Self = super().__new__(cls)
        vars(made)["_turn"] = Turn()
        return made

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_turn"}

    def __setattr__(self, name: str, value: Any) -> None:
        if name in CONDITIONS and not CONDITIONS[name](value):
            raise InvalidInput(
                f"{name}={short_repr(value)} is not what a fit would set. Fit again, or leave it as it is."
            )
        super().__setattr__(name, value)

    @classmethod
    def _check_names(cls, names: Iterable[str]) -> None:
        """Raise an error for the first name that is not a parameter's."""
        for name in names:
            if name not in cls.declared:
                remedy = did_you_mean(name, cls.declared) or f" It has {', '.join(cls.declared)}."
                if name == "shards" and cls.without_shards:
                    remedy = f" {cls.without_shards}"
                raise InvalidArgument(f"{cls.__name__} has no parameter {name!r}.{remedy}")

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **params
            Values, checked when the estimator is fitted.

        Returns
        -------
        self
        """
        self._check_names(params)
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def _check_own(self) -> None:
        """Raise an error for values of the class's own parameters that do not go together."""

    def _check_parameters(self) -> None:
        """Raise an error for the first parameter with an invalid value."""
        for name, parameter in self.declared.items():
            parameter.check(name, getattr(self, name))
        if "multiclass" in self.declared and self.multiclass not in self.modes:
            raise InvalidInput(
                f"multiclass={self.multiclass!r} does not exist for {type(self).__name__}: choose one of "
                f"{', '.join(map(repr, self.modes))}."
            )
        self._check_own()

    # ------------------------------------------------------------------------------------------------------------ rows

    def _check_rows(self, X: Any, y: Any = UNCHECKED, *, reset: bool) -> tuple[Table, Any]:
        options = {"accept_sparse": "csr", "order": "C", "accept_large_sparse": True, "ensure_all_finite": False}
        checked = validated(self, X, y, reset=reset, **options)
        if y is UNCHECKED:
            table = as_sparse_table(checked, to_score=True) if sp.issparse(checked) else as_table(checked)
            return widened(table) if too_long(table.largest, table.dtype) else table, None
        return learnable(as_table(checked[0])), checked[1]

    # ------------------------------------------------------------------------------------------------------ the record

    def _repr_html_inner(self) -> str:
        # Called by scikit-learn's property _repr_html_: the diagram, with the record of the fit below.
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

    # ----------------------------------------------------------------------------------------------------------- files

    def _note_meaning(self) -> None:
        """Remember the parameters that the learned state depends on."""
        self._fitted_with = {name: getattr(self, name) for name in self.meaning}

    def _changed(self) -> dict[str, Any]:
        """Return the remembered values of those that have changed since the fit."""
        noted = vars(self).get("_fitted_with", {})
        return {name: value for name, value in noted.items() if getattr(self, name) != value}

    def _as_fitted(self) -> Self:
        """Return the estimator with the parameters of its fit: itself, if none has changed since."""
        changed = self._changed()
        if not changed:
            return self
        fitted = copy.copy(self)
        vars(fitted).update(changed)
        return fitted

    def _refuse_changed(self, names: Iterable[str]) -> None:
        """Raise an error if one of these parameters has changed since the fit."""
        for name, before in self._changed().items():
            if name in names:
                now, then = ("a function" if callable(value) else value for value in (getattr(self, name), before))
                raise InvalidInput(
                    f"{name}={now!r} is not what the model was fitted with, {then!r}. Set it back, or fit again."
                )

    def _to_file(self) -> dict[str, Any]:
        """Return what was learned, by name; empty before a fit."""
        self._refuse_changed(self.meaning)
        names = (*self.stored_attributes, *self.at_times)
        return {name: vars(self)[name] for name in names if name in vars(self)}

    def _from_file(self, attributes: dict[str, Any]) -> None:
        """Take what was learned from a file, or raise a `Fault` if it does not fit."""
        strange = attributes.keys() - {*self.stored_attributes, *self.at_times}
        expect(
            not strange,
            f"it has {', '.join(sorted(strange)):.60}, which {type(self).__name__} does not have. Remove it",
        )
        missing = set(self.stored_attributes) - attributes.keys()
        expect(not missing, f"it has no {', '.join(sorted(missing))}, as after a fit that failed. Fit it again")
        for name in attributes.keys() & CONDITIONS.keys() - {"classes_"}:  # `check_classes` says more of these
            value = attributes[name]
            expect(CONDITIONS[name](value), f"{name}={short_repr(value)} is not what a fit would set. Fit again")
        self.__dict__.update(attributes)
        self._check_learned()

    def _check_learned(self) -> None:
        """Raise a `Fault` unless the attributes from a file fit one another."""


def _without_name(cls: type[Estimator], value: Any) -> InvalidArgument:
    """Return the error for a positional value, with the parameter that takes such a word."""
    named = [name for name, parameter in cls.declared.items() if isinstance(value, str) and value in parameter.words]
    example = f"{cls.__name__}({named[0]}={value!r})" if named else f"{cls.__name__}(name=value)"
    return InvalidArgument(
        f"{cls.__name__} takes its parameters by name, not by position: {short_repr(value)} stands without one. "
        f"Write {example}."
    )


def _constructor(cls: type[Estimator]) -> Callable[..., None]:
    parameters = cls.declared

    def __init__(self: Any, *positional: Any, **chosen: Any) -> None:  # noqa: N807
        if positional:
            raise _without_name(cls, positional[0])
        cls._check_names(chosen)
        for name, parameter in parameters.items():
            setattr(self, name, chosen.get(name, parameter.default))

    kind = inspect.Parameter
    listed = [kind(name, kind.KEYWORD_ONLY, default=parameter.default) for name, parameter in parameters.items()]
    signature = inspect.Signature([kind("self", kind.POSITIONAL_OR_KEYWORD), *listed])
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def choose_aggregate(aggregate: str | None, default: str, possible: tuple[str, ...]) -> str:
    """Return how to predict from all hypotheses of a fit."""
    chosen = aggregate or default
    if chosen not in possible:
        known = ", ".join(map(repr, possible))
        hint = did_you_mean(chosen, possible)
        raise InvalidInput(f"aggregate={short_repr(chosen)} is not known: choose one of {known}.{hint}")
    return chosen
