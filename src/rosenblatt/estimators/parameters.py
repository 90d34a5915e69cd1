"""Declared parameters: a field of a class has its type, its default, what it may be, and its sentence, in one place.

A class that inherits from `Declared` gets a constructor that takes its fields by keyword and only stores them, as
scikit-learn asks. Its docstring lists them at the placeholder ``{parameters}``. Type checkers and editors know the
constructor through `typing.dataclass_transform` (PEP 681).
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, dataclass_transform

import numpy as np

from rosenblatt.data.numbers import is_real, is_whole
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.multiclass import MULTICLASS
from rosenblatt.learn.order import Schedule
from rosenblatt.learn.plan import Epoch

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
Multiclass = Literal["ovr", "ovo", "ovo-vote", "joint"]
Penalty = Literal["l2", "l1", "elasticnet"] | None
RandomState = int | np.random.RandomState | None


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
    absent : object
        What it is in a file from before there was this parameter; None if all files have it.
    """

    default: Any
    kind: str
    text: str
    accepts: Callable[[Any], bool]
    wanted: str
    stores: Callable[[Any], bool]
    absent: Any = None

    def check(self, name: str, value: Any) -> None:
        """Raise an error if a value is not possible."""
        if not self.accepts(value):
            raise InvalidInput(f"{name}={value!r} is not {self.wanted}.")

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
    absent: float | None = None,
) -> Any:
    """Declare a number: above `above` or from `least` on, below `below` or up to `most`; also None, or some words."""

    def inside(value: Any) -> bool:
        enough = value >= least if above is None else value > above
        return bool(enough and (value < below if most is None else value <= most))

    def accepts(value: Any) -> bool:
        if value is None or isinstance(value, str):
            return optional if value is None else value in words
        return is_real(value) and inside(value)

    kind = ", ".join(["float", *(f'"{word}"' for word in words)]) + (" or None" if optional else "")
    stores = _is_word if words else _is_number
    return Parameter(default, kind, text, accepts, f"possible: it must be {wanted}", stores, absent)


def integer(*, default: int | None, text: str, least: int, wanted: str, optional: bool = False) -> Any:
    """Declare a whole number from `least` on; or None, if optional."""

    def accepts(value: Any) -> bool:
        if value is None:
            return optional
        return is_whole(value) and bool(value >= least)

    kind = "int or None" if optional else "int"
    return Parameter(default, kind, text, accepts, f"possible: it must be {wanted}", _is_number)


def choice(*, default: Any, text: str, choices: tuple[Any, ...]) -> Any:
    """Declare one of several values."""

    def accepts(value: Any) -> bool:
        return any(value is one or (type(value) is type(one) and value == one) for one in choices)

    words = ", ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in choices if one is not None)
    kind = "{" + words + "}" + (" or None" if None in choices else "")
    listed = ", ".join(repr(one) for one in choices)
    return Parameter(default, kind, text, accepts, f"known: choose one of {listed}", _is_word)


def flag(*, default: bool, text: str, absent: bool | None = None) -> Any:
    """Declare something that is or is not; any truth value does, as in scikit-learn."""
    return Parameter(default, "bool", text, lambda value: True, "", _is_number, absent)


def custom(*, default: Any, text: str, kind: str, stores: Callable[[Any], bool] = _is_compound) -> Any:
    """Declare a parameter that the class checks itself."""
    return Parameter(default, kind, text, lambda value: True, "", stores)


@dataclass_transform(kw_only_default=True, field_specifiers=(real, integer, choice, flag, custom))
class Declared:
    """A class whose constructor takes its declared fields by keyword, and only stores them."""

    declared: ClassVar[Mapping[str, Parameter]] = {}
    # What a fit leaves on the object, for the placeholder {attributes} of the docstring.
    attributes_text: ClassVar[str] = ""

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
        if cls.__doc__:
            listed = "\n".join(parameter.document(name) for name, parameter in cls.declared.items())
            text = cls.__doc__.replace("    {parameters}", listed)
            cls.__doc__ = text.replace("    {attributes}", cls.attributes_text.strip("\n"))

    def _check_declared(self) -> None:
        """Raise an error for the first parameter with an impossible value."""
        for name, parameter in self.declared.items():
            parameter.check(name, getattr(self, name))


def _constructor(cls: type[Declared]) -> Callable[..., None]:
    parameters = cls.declared

    def __init__(self: Any, *positional: Any, **chosen: Any) -> None:  # noqa: N807
        if positional:
            name = next(iter(parameters), "name")
            raise TypeError(
                f"{cls.__name__} takes its parameters by name, such as {cls.__name__}({name}=...), not by position: "
                f"{positional[0]!r:.60} stands without one."
            )
        unknown = sorted(chosen.keys() - parameters.keys())
        if unknown:
            raise TypeError(f"{cls.__name__} has no parameter {', '.join(unknown)}. It has {', '.join(parameters)}.")
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
    verbose: int = custom(default=0, text="Print a line per epoch.", kind="int", stores=_is_number)
    random_state: RandomState = custom(
        default=0,
        text="For the shuffling.",
        kind="int, RandomState or None",
        stores=lambda value: (
            value is None
            or isinstance(value, np.random.RandomState)
            or (isinstance(value, Integral) and 0 <= int(value) < 1 << 32)
        ),
    )
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
        ' moves by c^2 where a weight moves by its feature. "auto": 1, unless the values that are not zero have a root'
        " mean square v below 1/4, as in texts scaled to length one, which a bias that moves by 1 would outweigh. Then"
        " c is the power of two close to v, or for two classes to half the length of a row. A stream, which cannot"
        " look ahead, takes 1, or goes on with what a fit has chosen.",
        least=1e-100,
        most=1e100,
        wanted='a number from 1e-100 to 1e100, or "auto"',
        words=("auto",),
        absent=1.0,
    )


class OnThreads(Declared):
    """A number of threads."""

    n_jobs: int | None = custom(
        default=None,
        text="Threads for the problems of a multiclass task; -1 for all processors. The result does not depend on it.",
        kind="int or None",
        stores=lambda value: value is None or isinstance(value, Integral),
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
    schedule: str | Schedule = custom(
        default="constant",
        text='Factor of the learning rate by epoch: "constant", "1/t", "1/sqrt(t)", "step" (halved every ten '
        "epochs), or a function of the epoch's number from 1.",
        kind="str or callable",
        stores=lambda value: isinstance(value, str),
    )


class WithPenalty(Declared):
    """A penalty on the weights."""

    penalty: Penalty = choice(
        default=None, text="Shrink the weights a little in each trial.", choices=(None, "l2", "l1", "elasticnet")
    )
    alpha: float = real(default=0.0001, text="Strength of the penalty.", least=0, wanted="a number from 0")
    l1_ratio: float = real(
        default=0.15, text="Share of L1 in the elastic net.", least=0, most=1, wanted="a number from 0 to 1"
    )


class FullTraining(InEpochs, ForClasses, WithPadding, OnThreads, WithValidation, WithWarmStart, WithStart, WithKeep):
    """Everything that a classifier trained in epochs may take."""
