"""Declared parameters: a field of a class has its type, its default, what it may be, and its sentence, in one place.

A class that inherits from `Declared` gets a constructor that takes its fields by keyword and only stores them, as
scikit-learn asks. Its docstring lists them at the placeholder ``{parameters}``. Type checkers and editors know the
constructor through `typing.dataclass_transform` (PEP 681).
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, TypeAlias, dataclass_transform

import numpy as np

from rosenblatt.data.numbers import is_real, is_truth, is_whole
from rosenblatt.errors import InvalidArgument, InvalidInput
from rosenblatt.text import did_you_mean, short_repr
from rosenblatt.training.multiclass import MULTICLASS
from rosenblatt.training.order import SCHEDULES, Schedule
from rosenblatt.training.plan import Epoch

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
Multiclass = Literal["ovr", "ovo", "ovo-vote", "joint"]
Penalty = Literal["l2", "l1", "elasticnet"] | None
RandomState: TypeAlias = "int | np.random.RandomState | None"  # a text: `np.random` is imported when it is named
LARGEST_SEED = 2**32 - 1  # of NumPy's RandomState


@dataclass(frozen=True)
class Parameter:
    """A parameter of an estimator.

    Attributes
    ----------
    default : object
    kind : str
        Its type, as the documentation names it.
    text : str
        What it does.
    accepts : callable
        Whether a value is possible.
    wanted : str
        What an impossible value should have been, for the error message.
    stores : callable
        Whether a file may hold a value. Whether the value has a meaning is for `fit` to say.
    words : tuple
        Values that are words, of which a misspelt one may have been meant.
    """

    default: Any
    kind: str
    text: str
    accepts: Callable[[Any], bool]
    wanted: str
    stores: Callable[[Any], bool]
    words: tuple[Any, ...] = ()

    def check(self, name: str, value: Any) -> None:
        """Raise an error if a value is not possible."""
        if not self.accepts(value):
            raise InvalidInput(f"{name}={short_repr(value)} is not {self.wanted}.{did_you_mean(value, self.words)}")

    def document(self, name: str) -> str:
        """Return the entry of the parameter in a docstring."""
        shown = '"' + self.default + '"' if isinstance(self.default, str) else self.default
        lines = textwrap.wrap(self.text, 112, break_long_words=False)
        return "\n".join([f"    {name} : {self.kind}, default {shown}", *(f"        {line}" for line in lines)])


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, Real | np.bool_)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) or _is_number(value)


def _is_compound(value: Any) -> bool:
    return isinstance(value, tuple | list | dict | np.ndarray) or _is_word(value)


def real(
    *,
    default: float | str | None,
    text: str,
    above: float | None = None,
    least: float = -np.inf,
    below: float = np.inf,
    most: float | None = None,
    wanted: str,
    optional: bool = False,
    words: tuple[str, ...] = (),
) -> Any:
    """Declare a number: above `above` or from `least` on, below `below` or up to `most`; also None, or some words."""

    def inside(value: Any) -> bool:
        enough = value >= least if above is None else value > above
        return bool(enough and (value < below if most is None else value <= most))

    def accepts(value: Any) -> bool:
        if value is None or isinstance(value, str):
            return optional if value is None else value in words
        return is_real(value) and inside(float(value))

    kind = ", ".join(["float", *(f'"{word}"' for word in words)]) + (" or None" if optional else "")
    stores = _is_word if words else _is_number
    return Parameter(default, kind, text, accepts, f"possible: it must be {wanted}", stores, words)


def integer(
    *,
    default: int | str | None,
    text: str,
    least: int,
    wanted: str,
    optional: bool = False,
    words: tuple[str, ...] = (),
) -> Any:
    """Declare a whole number from `least` on; also None, if optional, or some words."""

    def accepts(value: Any) -> bool:
        if value is None or isinstance(value, str):
            return optional if value is None else value in words
        return is_whole(value) and bool(value >= least)

    kind = ", ".join(["int", *(f'"{word}"' for word in words)]) + (" or None" if optional else "")
    stores = _is_word if words else _is_number
    return Parameter(default, kind, text, accepts, f"possible: it must be {wanted}", stores, words)


def choice(*, default: Any, text: str, choices: tuple[Any, ...]) -> Any:
    """Declare one of several values."""

    def accepts(value: Any) -> bool:
        value = bool(value) if isinstance(value, np.bool_) else value
        return any(value is one or (type(value) is type(one) and value == one) for one in choices)

    words = ", ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in choices if one is not None)
    kind = "{" + words + "}" + (" or None" if None in choices else "")
    known = ", ".join(repr(one) for one in choices)
    return Parameter(default, kind, text, accepts, f"known: choose one of {known}", _is_word, choices)


def flag(*, default: bool, text: str) -> Any:
    """Declare something that is or is not. A word such as "no" would count as true, and is refused."""
    return Parameter(default, "bool", text, is_truth, "possible: it must be True or False", _is_number)


def custom(
    *,
    default: Any,
    text: str,
    kind: str,
    accepts: Callable[[Any], bool] = lambda value: True,
    wanted: str = "",
    words: tuple[str, ...] = (),
    stores: Callable[[Any], bool] = _is_compound,
) -> Any:
    """Declare a parameter with a check of its own; without one, the class checks it where it knows the data."""
    return Parameter(default, kind, text, accepts, f"possible: it must be {wanted}", stores, words)


def seed(*, default: int | None, text: str) -> Any:
    """Declare the source of random numbers."""

    def accepts(value: Any) -> bool:
        if value is None or (is_whole(value) and 0 <= value <= LARGEST_SEED):
            return True  # before `np.random` is named, which would import it
        return value is np.random or isinstance(value, np.random.RandomState)

    def stores(value: Any) -> bool:
        return accepts(value) and value is not np.random

    wanted = f"a whole number from 0 to {LARGEST_SEED}, a numpy.random.RandomState or None"
    kind = "int, RandomState or None"
    return custom(default=default, text=text, kind=kind, accepts=accepts, wanted=wanted, stores=stores)


def margins(*, default: float, text: str) -> Any:
    """Declare a margin, or one for each of two classes."""

    def accepts(value: Any) -> bool:
        both = value if isinstance(value, tuple | list | np.ndarray) and len(value) == 2 else (value,)
        return all(is_real(one) and 0 <= one < np.inf for one in both)

    wanted = "a number from 0, or a pair of them for the positive and the negative class"
    return custom(default=default, text=text, kind="float or (float, float)", accepts=accepts, wanted=wanted)


def schedule_of(*, default: str, text: str, words: tuple[str, ...]) -> Any:
    """Declare a schedule of the learning rate: one of some words, or a function."""

    def accepts(value: Any) -> bool:
        return callable(value) or (isinstance(value, str) and value in words)

    known = ", ".join(map(repr, words))
    wanted = f"one of {known}, or a function of the epoch's number"
    return custom(
        default=default,
        text=text,
        kind="str or callable",
        accepts=accepts,
        wanted=wanted,
        words=words,
        stores=lambda value: isinstance(value, str),
    )


@dataclass_transform(
    kw_only_default=True, field_specifiers=(real, integer, choice, flag, custom, seed, margins, schedule_of)
)
class Declared:
    """A class whose constructor takes its declared fields by keyword, and only stores them."""

    declared: ClassVar[Mapping[str, Parameter]] = {}
    # Why there is no parameter `shards`, where it would be missed.
    without_shards: ClassVar[str] = ""
    # What a fit leaves on the object, for the placeholder {attributes} of the docstring.
    attributes_text: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
        for name in own:
            delattr(cls, name)
        # Its own first, then those of its bases, as the docstring shall list them.
        inherited: dict[str, Parameter] = {}
        for base in cls.__mro__[1:]:
            for name, parameter in vars(base).get("_own_parameters", {}).items():
                inherited.setdefault(name, parameter)
        cls._own_parameters = own  # type: ignore[attr-defined]
        cls.declared = own | {name: parameter for name, parameter in inherited.items() if name not in own}
        setattr(cls, "__init__", _constructor(cls))  # noqa: B010 (a type checker knows it from dataclass_transform)
        if cls.__doc__ and "{parameters}" in cls.__doc__:  # to list them takes time when a command starts
            listed = "\n".join(parameter.document(name) for name, parameter in cls.declared.items())
            cls.__doc__ = cls.__doc__.replace("    {parameters}", listed)
        if cls.__doc__:
            attributes = getattr(cls, "attributes_text", "").strip("\n")  # of a class that may come later in the order
            cls.__doc__ = cls.__doc__.replace("    {attributes}", attributes)

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

    def _check_declared(self) -> None:
        """Raise an error for the first parameter with an impossible value."""
        for name, parameter in self.declared.items():
            parameter.check(name, getattr(self, name))


def _without_name(cls: type[Declared], value: Any) -> InvalidArgument:
    """Return an error for a value without a name: the parameters that such a word belongs to, or all."""
    named = [name for name, parameter in cls.declared.items() if isinstance(value, str) and value in parameter.words]
    example = f"{cls.__name__}({named[0]}={value!r})" if named else f"{cls.__name__}(name=value)"
    return InvalidArgument(
        f"{cls.__name__} takes its parameters by name, not by position: {short_repr(value)} stands without one. "
        f"Write {example}."
    )


def _constructor(cls: type[Declared]) -> Callable[..., None]:
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


# -------------------------------------------------------------------------------- parameters that several classes have


class InEpochs(Declared):
    """Parameters of everything that is trained in epochs."""

    fit_intercept: bool = flag(default=True, text="Whether to learn a bias b.")
    max_iter: int = integer(
        default=1000, text="Most epochs, that is passes over the rows.", least=1, wanted="a whole number from 1"
    )
    tol: float | None = real(
        default=1e-3,
        text="The fit ends when the mean loss has not fallen by more than tol for `n_iter_no_change` epochs. A"
        " perceptron goes on nevertheless while some hyperplane may separate the data with a margin above"
        " tol times the radius. None: all `max_iter` epochs.",
        most=np.inf,
        wanted="a number, or None for all epochs",
        optional=True,
    )
    shuffle: bool | Literal["random"] = choice(
        default=True,
        text="Reshuffle the rows each epoch, present them as they are stored, or draw them with replacement. "
        "From 16,384 rows on blocks of 64 neighbours are reshuffled, at the speed of memory; single rows "
        "still if the labels come sorted.",
        choices=(True, False, "random"),
    )
    verbose: int = custom(
        default=0,
        text="Print a line per epoch.",
        kind="int",
        accepts=lambda value: is_truth(value) or (is_whole(value) and value >= 0),
        wanted="True, False or a whole number from 0",
        stores=_is_number,
    )
    random_state: RandomState = seed(default=0, text="For the shuffling.")
    n_iter_no_change: int = integer(
        default=5, text="Epochs without progress to wait.", least=1, wanted="a whole number from 1"
    )
    max_seconds: float | None = real(
        default=None,
        text="Most seconds to train.",
        above=0,
        wanted="a positive number or None",
        optional=True,
    )
    callback: Callable[[Epoch], Any] | None = custom(
        default=None,
        text="Called with an `Epoch` after each; a true answer ends the fit.",
        kind="callable or None",
        accepts=lambda value: value is None or callable(value),
        wanted="a function of an Epoch, or None",
        stores=lambda value: value is None,
    )


class ForClasses(Declared):
    """Parameters of classifiers that learn by rows."""

    class_weight: ClassWeight = custom(
        default=None, text="Factor of the steps for each class.", kind='dict, "balanced" or None'
    )
    multiclass: Multiclass = choice(
        default="ovr",
        text='More than two classes: one against the rest; every pair, adding up their scores ("ovo", as the lectures'
        ' do, mostly several points below the others) or with one vote each ("ovo-vote"); or all at once by correcting'
        " the true class and the best wrong one (Crammer and Singer 2003).",
        choices=MULTICLASS,
    )


class WithPadding(Declared):
    """The constant of the bias."""

    intercept_scaling: float | Literal["auto"] = real(
        default="auto",
        text="The constant c that pads each row: the bias is c times the weight of a feature that is c everywhere, and"
        ' moves by c^2 where a weight moves by its feature. "auto": 1, but in a fit of values with a root mean square v'
        " below 1/4, such as texts scaled to length one, the power of two close to v, or for two classes to half the"
        " length of a row.",
        least=1e-100,
        most=1e100,
        wanted='a number from 1e-100 to 1e100, or "auto"',
        words=("auto",),
    )


class OnThreads(Declared):
    """A number of threads."""

    n_jobs: int | None = custom(
        default=None,
        text="Threads for the problems of a multiclass task, or for shards; -1 for all processors. The result does not"
        " depend on it.",
        kind="int or None",
        accepts=lambda value: value is None or (is_whole(value) and value != 0),
        wanted="a number of threads from 1, -1 for all processors, or None for one",
        stores=lambda value: value is None or isinstance(value, Integral),
    )


class WithShards(OnThreads):
    """A number of shards."""

    shards: int = integer(
        default=1,
        text="Parts of the rows that learn by themselves, and whose weights are mixed after each epoch or more often"
        " (McDonald, Hall and Mann 2010). `n_jobs` threads work on them, also for two classes. The result depends on"
        " the number of shards, but not on that of the threads; rosenblatt.scaling gives the same on a cluster.",
        least=1,
        wanted="a whole number from 1",
    )
    mixes: int | str = integer(
        default="auto",
        text='Mixes of the shards in an epoch; each is a round on a cluster. "auto": one, or up to four for an average'
        " of wide rows where shards have many for each weight. The result depends on it.",
        least=1,
        wanted='a whole number from 1, or "auto"',
        words=("auto",),
    )


class WithValidation(Declared):
    """Parameters of early stopping."""

    early_stopping: bool = flag(
        default=False,
        text="Hold out `validation_fraction` of the rows and end when the error on them stops decreasing.",
    )
    validation_fraction: float = real(
        default=0.1, text="Share of the rows to hold out.", above=0, below=1, wanted="between 0 and 1"
    )


class WithWarmStart(Declared):
    """Whether a fit goes on from the last."""

    warm_start: bool = flag(default=False, text="Whether `fit` continues from where the last call stopped.")


class WithStart(Declared):
    """Where a fit starts."""

    init: Any = custom(default=None, text="Weights and bias to start from.", kind="(w0, b0) or None")


class WithKeep(Declared):
    """Which weights a fit returns."""

    keep: Literal["last", "best"] | None = choice(
        default=None,
        text="Return the weights of the last epoch, or those with the fewest errors at the end of an epoch, on"
        ' the held-out rows if there are any. None: what suits the method, and "last" where tol=None asks'
        " for all epochs.",
        choices=(None, "last", "best"),
    )


class WithRate(Declared):
    """A learning rate and its schedule."""

    eta0: float = real(default=1.0, text="Learning rate.", above=0, wanted="a positive number")
    schedule: str | Schedule = schedule_of(
        default="constant",
        text='Factor of the learning rate by epoch: "constant", "1/t", "1/sqrt(t)", "step" (halved every ten '
        "epochs), or a function of the epoch's number from 1.",
        words=tuple(SCHEDULES),
    )


def learning_rate(member: Any) -> float:
    """Return the learning rate that a member's parameters say; 1 if it has none."""
    return float(getattr(member, "eta0", 1.0))


class WithPenalty(Declared):
    """A penalty on the weights."""

    penalty: Penalty = choice(
        default=None, text="Shrink the weights a little in each trial.", choices=(None, "l2", "l1", "elasticnet")
    )
    alpha: float = real(default=0.0001, text="Strength of the penalty.", least=0, wanted="a number from 0")
    l1_ratio: float = real(
        default=0.15, text="Share of L1 in the elastic net.", least=0, most=1, wanted="a number from 0 to 1"
    )


class FullTraining(InEpochs, ForClasses, WithPadding, WithShards, WithValidation, WithWarmStart, WithStart, WithKeep):
    """Everything that a classifier trained in epochs may take."""
