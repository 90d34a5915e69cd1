"""Declared parameters: a field of a learner has its type, default, constraint, text and slider in one place."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Any

import numpy as np

from rosenblatt.data.numbers import is_real, is_truth, is_whole
from rosenblatt.errors import InvalidInput
from rosenblatt.text import did_you_mean, short_repr

LARGEST_SEED = 2**32 - 1  # of NumPy's RandomState


@cache  # of a parameter that many learners share
def _wrapped(text: str) -> str:
    return "\n".join(f"    {line}" for line in textwrap.wrap(text, 112, break_long_words=False))


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
        Whether a value is allowed.
    wanted : str
        What is wrong with an invalid value, and what to pass instead, for the error message.
    stores : callable
        Whether a file may hold a value; `fit` checks whether the value is allowed.
    words : tuple
        Values that are words, of which a misspelt one may have been meant.
    range : (low, high, step), optional
        Of its slider in the lab; by default around the default.
    log : bool
        Whether the slider is logarithmic.
    lab : bool or tuple
        Whether the lab shows it, or the values that it offers there.
    """

    default: Any
    kind: str
    text: str
    accepts: Callable[[Any], bool]
    wanted: str
    stores: Callable[[Any], bool]
    words: tuple[Any, ...] = ()
    range: tuple[float, float, float] | None = None
    log: bool = False
    lab: bool | tuple[Any, ...] = True

    def check(self, name: str, value: Any) -> None:
        """Raise an error if a value is not allowed."""
        if not self.accepts(value):
            raise InvalidInput(f"{name}={short_repr(value)} is {self.wanted}.{did_you_mean(value, self.words)}")

    def document(self, name: str) -> str:
        """Return the entry of the parameter in a docstring."""
        shown = '"' + self.default + '"' if isinstance(self.default, str) else self.default
        return f"{name} : {self.kind}, default {shown}\n{_wrapped(self.text)}"


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, Real | np.bool_)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) or _is_number(value)


def _is_compound(value: Any) -> bool:
    return isinstance(value, tuple | list | dict | np.ndarray) or _is_word(value)


def _number(
    kind: str, inside: Callable[[Any], bool], wanted: str, optional: bool, words: tuple[str, ...], **field: Any
) -> Any:
    def accepts(value: Any) -> bool:
        if value is None or isinstance(value, str):
            return optional if value is None else value in words
        return inside(value)

    kind = ", ".join([kind, *(f'"{word}"' for word in words)]) + (" or None" if optional else "")
    stores = _is_word if words else _is_number
    return custom(kind=kind, accepts=accepts, wanted=wanted, stores=stores, words=words, **field)


def real(
    *,
    default: float | str | None,
    text: str,
    above: float | None = None,
    least: float = -np.inf,
    below: float = np.inf,
    most: float | None = None,
    wanted: str = "",
    optional: bool = False,
    words: tuple[str, ...] = (),
    **lab: Any,
) -> Any:
    """Declare a number: above `above` or from `least` on, below `below` or up to `most`; also None, or some words.

    For any number but NaN pass `most=np.inf`. By default the error message describes the lower bound, and `most` if
    there is one.
    """
    if above is None and most is None and (least, below) == (-np.inf, np.inf):
        raise TypeError("a number needs a constraint: pass above=, least=, below= or most=")

    def inside(value: Any) -> bool:
        if not is_real(value):
            return False
        number = float(value)
        enough = number >= least if above is None else number > above
        return enough and (number < below if most is None else number <= most)

    if not wanted:
        bound = f"above {above}" if above is not None else f"from {least}" + (f" to {most}" if most else "")
        others = [*(f'"{word}"' for word in words), *["None"] * optional]
        wanted = "a positive number" if above == 0 else f"a number {bound}"
        wanted = " or ".join([", ".join([wanted, *others[:-1]]), *others[-1:]])
    return _number("float", inside, wanted, optional, words, default=default, text=text, **lab)


def integer(
    *,
    default: int | str | None,
    text: str,
    least: int,
    wanted: str = "",
    optional: bool = False,
    words: tuple[str, ...] = (),
    **lab: Any,
) -> Any:
    """Declare a whole number from `least` on; also None, if optional, or some words."""

    def inside(value: Any) -> bool:
        return is_whole(value) and bool(value >= least)

    others = [*(f'"{word}"' for word in words), *["None"] * optional]
    wanted = wanted or ", or ".join([f"a whole number from {least}", *others])
    return _number("int", inside, wanted, optional, words, default=default, text=text, **lab)


def choice(*, default: Any, text: str, choices: tuple[Any, ...], **lab: Any) -> Any:
    """Declare one of several values."""

    def accepts(value: Any) -> bool:
        value = bool(value) if isinstance(value, np.bool_) else value
        return any(value is one or (type(value) is type(one) and value == one) for one in choices)

    words = ", ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in choices if one is not None)
    kind = "{" + words + "}" + (" or None" if None in choices else "")
    known = ", ".join(repr(one) for one in choices)
    return Parameter(default, kind, text, accepts, f"not known: choose one of {known}", _is_word, choices, **lab)


def flag(*, default: bool, text: str, **lab: Any) -> Any:
    """Declare True or False. A word such as "no" would count as true, and is rejected."""
    return Parameter(default, "bool", text, is_truth, "invalid: it must be True or False", _is_number, **lab)


def custom(
    *,
    default: Any,
    text: str,
    kind: str,
    accepts: Callable[[Any], bool] = lambda value: True,
    wanted: str = "",
    words: tuple[str, ...] = (),
    stores: Callable[[Any], bool] = _is_compound,
    **lab: Any,
) -> Any:
    """Declare a parameter with its own check. Without one, the class must check it, once it has seen the data."""
    return Parameter(default, kind, text, accepts, f"invalid: it must be {wanted}", stores, words, **lab)


def seed(*, default: int | None, text: str, **lab: Any) -> Any:
    """Declare the source of random numbers."""

    def accepts(value: Any) -> bool:
        if value is None or (is_whole(value) and 0 <= value <= LARGEST_SEED):
            return True  # before `np.random` is named, which would import it
        return value is np.random or isinstance(value, np.random.RandomState)

    def stores(value: Any) -> bool:
        return accepts(value) and value is not np.random

    wanted = f"a whole number from 0 to {LARGEST_SEED}, a numpy.random.RandomState or None"
    kind = "int, RandomState or None"
    return custom(default=default, text=text, kind=kind, accepts=accepts, wanted=wanted, stores=stores, **lab)


def margins(*, default: float, text: str, **lab: Any) -> Any:
    """Declare a margin, or one for each of two classes."""

    def accepts(value: Any) -> bool:
        both = value if isinstance(value, tuple | list | np.ndarray) and len(value) == 2 else (value,)
        return all(is_real(one) and 0 <= one < np.inf for one in both)

    wanted = "a number from 0, or a pair of them for the positive and the negative class"
    return custom(default=default, text=text, kind="float or (float, float)", accepts=accepts, wanted=wanted, **lab)


def schedule_of(*, default: str, text: str, words: tuple[str, ...], **lab: Any) -> Any:
    """Declare a schedule of the learning rate: one of some words, or a function."""

    def accepts(value: Any) -> bool:
        return callable(value) or (isinstance(value, str) and value in words)

    return custom(
        default=default,
        text=text,
        kind="str or callable",
        accepts=accepts,
        wanted=f"one of {', '.join(map(repr, words))}, or a function of the epoch's number",
        words=words,
        stores=lambda value: isinstance(value, str),
        **lab,
    )
