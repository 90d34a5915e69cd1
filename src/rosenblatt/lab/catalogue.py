"""The sets of points, learners, orders and feature maps that the lab offers, each with a sentence.

The learners and their parameters, with the ranges of the sliders, are those that `rosenblatt.learners` declares.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.numbers import is_real
from rosenblatt.datasets import SPAM_WORDS, circles, logical, spam, two_moons
from rosenblatt.engine.rules import passive_aggressive, perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import ALL, family
from rosenblatt.learners.adaline import least_mean_squares, normalised_least_mean_squares
from rosenblatt.learners.base import Facts
from rosenblatt.learners.parameters import Parameter
from rosenblatt.learners.passive_aggressive import smooth_passive_aggressive
from rosenblatt.learners.soft_margin import hinge, logistic, squared_hinge
from rosenblatt.storage.registry import DEFINED
from rosenblatt.text import did_you_mean, short_repr
from rosenblatt.training import stopping

Array = npt.NDArray[Any]

# Parameters that the lab sets itself, from the order, the seed and the epochs of a scene, and for its theorems.
SET_BY_LAB = ("shuffle", "random_state", "max_iter", "tol", "intercept_scaling")
MAX_POINTS = 2000
MAX_TRIALS = 20_000
LARGEST = 1e6  # coordinate or weight; larger ones cannot be drawn
MAX_PRODUCTS = 2000  # of features
DECIMALS = 2  # of generated points, as of drawn ones: an address holds both


# ----------------------------------------------------------------------------------------------------------- controls


@dataclass(frozen=True)
class Control:
    """A setting: a number within a range, a choice, or a switch.

    Attributes
    ----------
    name : str
    kind : {"float", "int", "bool", "choice"}
    default : object
        None if the learner decides.
    sentence : str
        Help text.
    low, high, step : float
        Range and step of a number.
    log : bool
        Use a logarithmic slider.
    choices : tuple
        The values of a choice.
    """

    name: str
    kind: str
    default: Any
    sentence: str
    low: float = 0.0
    high: float = 0.0
    step: float = 0.0
    log: bool = False
    choices: tuple[Any, ...] = ()

    def checked(self, value: Any) -> Any:
        """Return a value in the type of the control; raise `InvalidInput` if it is out of range or not a choice."""
        if value is None and self.default is None:
            return None
        if self.kind == "choice":
            for one in self.choices:
                if type(one) is type(value) and one == value:
                    return one
        elif self.kind == "bool":
            if isinstance(value, bool):
                return value
        elif is_real(value) and self.low <= value <= self.high:
            if self.kind == "float":
                return float(value)
            if float(value).is_integer():
                return int(value)
        hint = did_you_mean(value, self.choices)
        raise InvalidInput(f"{self.name}={short_repr(value)} is invalid. Choose {self._allowed()}.{hint}")

    def _allowed(self) -> str:
        if self.kind == "choice":
            return "one of " + ", ".join(written(one) for one in self.choices)
        if self.kind == "bool":
            return "true or false"
        number = "an integer" if self.kind == "int" else "a number"
        return f"{number} from {self.low:g} to {self.high:g}"

    def read(self, text: str) -> Any:
        """Return the value of a text from an address; raise `InvalidInput` if it is not a value of the control."""
        words = {written(one): one for one in (*self.choices, None, True, False)}
        if text in words:
            return self.checked(words[text])
        if self.kind in ("int", "float"):
            return self.checked(number_from(text, self.name))
        return self.checked(text)

    def described(self) -> dict[str, Any]:
        """Return the control as JSON values for the page."""
        plain: dict[str, Any] = {"name": self.name, "kind": self.kind, "default": self.default}
        plain["sentence"] = self.sentence
        if self.kind in ("int", "float"):
            plain |= {"min": self.low, "max": self.high, "step": self.step, "log": self.log}
        if self.choices:
            plain["choices"] = list(self.choices)
        return plain


def written(value: Any) -> str:
    """Return a value as text for an address: none, true, false, a word, or a number without loss."""
    if value is None or isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value if isinstance(value, str) else repr(value)


def number_from(text: str, name: str) -> float:
    """Return the number in a text; raise `InvalidInput` if it is not a finite number."""
    try:
        value = float(text) if len(text) <= 40 and text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput(f"{name}={short_repr(text)} is not a finite number. Write one such as 0.5.")
    return value


def one_of(name: str, value: Any, known: Iterable[str]) -> str:
    """Return a name if it is known; otherwise raise `InvalidInput` with the closest known name."""
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    hint = did_you_mean(value, names)
    raise InvalidInput(f"{name}={short_repr(value)} is not known. Choose one of {', '.join(names)}.{hint}")


# --------------------------------------------------------------------------------------------------------------- data


@dataclass(frozen=True)
class DataSet:
    """A data set of the lab.

    Attributes
    ----------
    name, title, sentence : str
    classes : int
    make : callable
        Takes the values of the controls, returns rows and labels.
    controls : tuple of Control
    columns : tuple of str
        Names of the features.
    """

    name: str
    title: str
    sentence: str
    classes: int
    make: Callable[..., tuple[Array, Array]]
    controls: tuple[Control, ...] = ()
    columns: tuple[str, ...] = ("x1", "x2")

    def described(self) -> dict[str, Any]:
        """Return the set as JSON values for the page; a set without controls with its rows, their labels last."""
        plain: dict[str, Any] = {
            "name": self.name,
            "title": self.title,
            "sentence": self.sentence,
            "classes": self.classes,
            "columns": list(self.columns),
            "controls": [control.described() for control in self.controls],
        }
        if not self.controls:
            plain["rows"] = [[*row, label] for row, label in zip(*map(np.ndarray.tolist, self.make()), strict=True)]
        return plain


def _n(default: int, low: int = 4) -> Control:
    return Control("n", "int", default, "Number of points.", low, MAX_POINTS, 1)


def _noise(default: float, high: float) -> Control:
    return Control("noise", "float", default, "Standard deviation of the noise in each coordinate.", 0.0, high, 0.01)


_MARGIN = Control(
    "margin",
    "float",
    0.1,
    "Least distance of the points from the planted line. The smaller it is, the larger the mistake bound.",
    0.0,
    1.0,
    0.01,
)
_FLIPS = Control("noise", "float", 0.0, "Share of the points with a wrong label.", 0.0, 0.5, 0.01)
_SEED = Control("data_seed", "int", 0, "Another seed draws other points.", 0, 9999, 1)


def _drawn(X: Array, y: Array, random: np.random.Generator | None = None) -> tuple[Array, Array]:
    """Return points rounded to hundredths, in random order if there is a generator."""
    order = np.arange(len(y)) if random is None else random.permutation(len(y))
    return np.round(X[order], DECIMALS) + 0.0, y[order].astype(np.int64)


def clouds(n: int, margin: float, noise: float, data_seed: int) -> tuple[Array, Array]:
    """Return two clouds on either side of a planted line, with a gap between them.

    Parameters
    ----------
    n : int
    margin : float
        Least distance of the points from the line.
    noise : float
        Share of the labels to flip.
    data_seed : int

    Returns
    -------
    X : array of shape (n, 2)
        Rounded to hundredths.
    y : int64 array of shape (n,)
        +1 or -1.
    """
    random = np.random.default_rng(data_seed)
    angle = random.uniform(0.0, 2.0 * math.pi)
    w, along = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    # Rounding moves each coordinate by up to half a hundredth.
    distance = margin + 10.0**-DECIMALS + np.abs(random.normal(0.0, 0.6, n))
    X = 0.4 * random.standard_normal(2) + np.outer(y * distance, w) + np.outer(random.normal(0.0, 0.8, n), along)
    y[random.choice(n, round(noise * n), replace=False)] *= -1
    return _drawn(X, y)


def _overlap(n: int, noise: float, data_seed: int) -> tuple[Array, Array]:
    random = np.random.default_rng(data_seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return _drawn(np.outer(y, [0.7, 0.5]) + noise * random.standard_normal((n, 2)), y)


def _moons(n: int, noise: float, data_seed: int) -> tuple[Array, Array]:
    return _drawn(*two_moons(n, noise, data_seed), np.random.default_rng(data_seed))


def _circle(n: int, noise: float, data_seed: int) -> tuple[Array, Array]:
    return _drawn(*circles(n, 0.5, noise, data_seed), np.random.default_rng(data_seed))


def _four(n: int, noise: float, data_seed: int) -> tuple[Array, Array]:
    random = np.random.default_rng(data_seed)
    centres = np.array([[-1.2, -0.8], [1.3, -0.6], [1.0, 1.2], [-0.7, 1.3]])
    y = np.arange(n) % 4
    return _drawn(centres[y] + noise * random.standard_normal((n, 2)), y)


def _three(n: int, noise: float, data_seed: int) -> tuple[Array, Array]:
    random = np.random.default_rng(data_seed)
    y = np.arange(n) % 3
    centres = np.array([[-1.4, 0.0], [0.0, 0.0], [1.4, 0.0]])
    return _drawn(centres[y] + noise * random.standard_normal((n, 2)) * [0.6, 1.0], y)


def _random_labels(n: int, data_seed: int) -> tuple[Array, Array]:
    random = np.random.default_rng(data_seed)
    X, y = random.uniform(-1.0, 1.0, (n, 2)), random.permutation(np.arange(n) % 2)
    return _drawn(X, y)


DATA: dict[str, DataSet] = {
    one.name: one
    for one in (
        DataSet(
            "or", "OR", "True unless both are 0. A line separates it, after nine updates.", 2, lambda: logical("or")
        ),
        DataSet("and", "AND", "True only if both are 1. Harder than OR: eighteen updates.", 2, lambda: logical("and")),
        DataSet(
            "xor", "XOR", "True if exactly one is 1. No line separates it, and the weights run in a cycle.", 2,
            lambda: logical("xor"),
        ),
        DataSet(
            "clouds", "Two clouds with a gap", "Two clouds on either side of a line, at a distance from it.", 2,
            clouds, (_n(60), _MARGIN, _FLIPS, _SEED),
        ),
        DataSet(
            "overlap", "Two clouds that overlap", "No line separates them, but some make few mistakes.", 2, _overlap,
            (_n(80), _noise(0.6, 2.0), _SEED),
        ),
        DataSet(
            "moons", "Two moons", "Two interlocking half circles. No line separates them.", 2, _moons,
            (_n(100), _noise(0.1, 0.5), _SEED),
        ),
        DataSet(
            "circle", "A circle inside another", "x1^2 + x2^2 separates them, but no line does.", 2, _circle,
            (_n(80), _noise(0.05, 0.4), _SEED),
        ),
        DataSet(
            "three", "Three classes in a row", "No line separates the middle class from the others.", 3,
            _three, (_n(60), _noise(0.25, 1.0), _SEED),
        ),
        DataSet("four", "Four classes", "A cloud in each corner.", 4, _four, (_n(80), _noise(0.33, 1.0), _SEED)),
        DataSet(
            "labels", "Random labels", "A kernel separates even these, but learns nothing.", 2,
            _random_labels, (_n(20), _SEED),
        ),
        DataSet(
            "spam", "Six mails", "Five words, present or not. Four updates: w = (0, 2, 0, -1, 1), b = 0.", 2, spam, (),
            SPAM_WORDS,
        ),
    )
}  # fmt: skip


def points_of(name: str, **values: Any) -> tuple[Array, Array]:
    """Return the rows and labels of a data set of the lab.

    Parameters
    ----------
    name : str
        Name of the set in the catalogue.
    **values
        Values of its controls, such as n, margin, noise and data_seed.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : int64 array of shape (n_samples,)

    Examples
    --------
    >>> from rosenblatt.lab.catalogue import points_of
    >>> X, y = points_of("clouds", n=10, margin=0.2)
    >>> X.shape, sorted(set(y.tolist()))
    ((10, 2), [-1, 1])
    """
    data = DATA[one_of("data", name, DATA)]
    known = {control.name: control for control in data.controls}
    for key in values:
        if key not in known:
            raise InvalidInput(f"The set {name!r} has no setting {key!r}. It has {', '.join(known) or 'none'}.")
    return data.make(**{key: control.checked(values.get(key, control.default)) for key, control in known.items()})


# ----------------------------------------------------------------------------------------------------------- learners


@dataclass(frozen=True)
class LearnerTraits:
    """The facts of a learner that the page needs.

    Attributes
    ----------
    name, title, lecture, rule : str
        Of the class; for people; which lecture has it; how the page explains its updates.
    modes : tuple of str
        How it learns several classes.
    params : tuple of Control
    declared : mapping from str to object
        All parameters that the estimator has, with their defaults.
    """

    name: str
    title: str
    lecture: str
    rule: str
    modes: tuple[str, ...]
    params: tuple[Control, ...]
    declared: Mapping[str, Any]

    @property
    def kernel(self) -> bool:
        """Whether it learns in the dual."""
        return self.rule == "kernel"

    @property
    def trials(self) -> bool:
        """Whether it learns trial by trial."""
        return self.rule != "maximum_margin"

    def described(self) -> dict[str, Any]:
        """Return the learner as the page reads it."""
        return {
            "name": self.name,
            "title": self.title,
            "lecture": self.lecture,
            "rule": self.rule,
            "kernel": self.kernel,
            "multiclass": True,
            "trials": self.trials,
            "start": "init" in self.declared,
            "modes": list(self.modes),
            "defaults": {name: self.declared[name] for name in SET_BY_LAB if name in self.declared},
            "params": [control.described() for control in self.params],
        }


def estimator_class(name: str) -> Any:
    """Return the class of a learner."""
    name = one_of("learner", name, learner_names())
    return DEFINED[name] if name in DEFINED else ALL[name]


def learner_names() -> tuple[str, ...]:
    """Return the names of the learners that have a title, and after them of those that the user has defined."""
    return (*(cls.__name__ for cls in family() if cls.facts.title), *DEFINED)


def learners() -> Mapping[str, LearnerTraits]:
    """Return the learners by name."""
    return {name: _traits(name, estimator_class(name)) for name in learner_names()}


@cache
def _traits(name: str, kind: Any) -> LearnerTraits:
    facts = kind.facts or Facts(0, "", "", title=name, lecture="your own", rule="own")
    # Where the modes depend on a parameter, all are offered; the estimator rejects those that do not go together.
    modes = kind.modes if isinstance(kind.modes, tuple) else kind.declared["multiclass"].words
    controls = tuple(_control(key, value, modes) for key, value in kind.declared.items() if value.lab)
    defaults = {key: value.default for key, value in kind.declared.items()}
    return LearnerTraits(name, facts.title, facts.lecture, facts.rule, tuple(modes), controls, defaults)


def _control(name: str, parameter: Parameter, modes: tuple[str, ...]) -> Control:
    """Return the control of a declared parameter."""
    default, text = parameter.default, parameter.text
    number = isinstance(default, int | float) and not parameter.words and parameter.kind != "bool"
    if parameter.range or number:
        low, high, step = parameter.range or _range_around(default)
        kind = "int" if parameter.kind.startswith("int") else "float"
        return Control(name, kind, default, text, low, high, step, parameter.log)
    if parameter.kind == "bool":
        return Control(name, "bool", default, text)
    offered = parameter.lab if isinstance(parameter.lab, tuple) else parameter.words
    return Control(name, "choice", default, text, choices=modes if name == "multiclass" else offered)


def _range_around(default: float) -> tuple[float, float, float]:
    """Return a range for a number of which only the default is known."""
    span = 10.0 * max(1.0, abs(default))
    return -span if default < 0 else 0.0, span, 1.0 if isinstance(default, int) else span / 200.0


ORDERS: dict[str, tuple[Any, str, str]] = {
    "cyclic": (False, "in order", "The rows one after the other, then again from the first."),
    "shuffled": (True, "reshuffled", "All rows in each epoch, in a new random order."),
    "random": ("random", "at random", "Each trial draws a row at random, with replacement."),
}
FEATURES: dict[str, tuple[str, str]] = {
    "none": ("x1, x2", "The coordinates as they are: the boundary is a line."),
    "quadratic": ("degree 2", "Also squares and products: the boundary is a conic section, such as an ellipse."),
    "cubic": ("degree 3", "Also all products of two and three coordinates."),
    "quartic": ("degree 4", "Also all products of two, three and four coordinates."),
    "units": ("association units", "Random units that are never trained, as in Rosenblatt's machine."),
}
DEGREES = {"none": 1, "quadratic": 2, "cubic": 3, "quartic": 4}
UNITS = Control("units", "int", 40, "Number of association units.", 1, 200, 1)
SEED = Control("seed", "int", 0, "Seed for shuffling and random units.", 0, 9999, 1)
EPOCHS = Control("epochs", "int", 100, "Maximum number of epochs.", 1, 5000, 1)


def mapped(X: Array, features: str, units: int, seed: int) -> tuple[Array, Callable[[Array], Array]]:
    """Return mapped rows, and the function that maps others in the same way."""
    if features == "none":
        return X, lambda rows: rows
    if features in DEGREES:
        products = math.comb(X.shape[1] + DEGREES[features], DEGREES[features]) - 1
        if products > MAX_PRODUCTS:
            raise InvalidInput(
                f"{X.shape[1]} features have {products} products of this degree; the lab takes {MAX_PRODUCTS}. "
                "Choose a lower degree."
            )
        return polynomial(X, DEGREES[features]), lambda rows: polynomial(rows, DEGREES[features])
    from rosenblatt.learners.association import AssociationUnits

    layer = AssociationUnits(units="step", n_units=units, random_state=seed).fit(X)
    return layer.transform(X), layer.transform


def polynomial(X: Array, degree: int) -> Array:
    """Return the columns followed by all their products of 2, 3, ... up to `degree` factors.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt.lab.catalogue import polynomial
    >>> polynomial(np.array([[2.0, 3.0]]), 2).tolist()
    [[2.0, 3.0, 4.0, 6.0, 9.0]]
    """
    return np.column_stack([np.prod(X[:, list(factors)], axis=1) for factors in _products(X.shape[1], degree)])


def _products(n_columns: int, degree: int) -> list[tuple[int, ...]]:
    """Return the columns that are multiplied for each column of `polynomial`."""
    degrees = range(1, degree + 1)
    return [factors for k in degrees for factors in combinations_with_replacement(range(n_columns), k)]


def mapped_names(columns: tuple[str, ...], features: str, units: int) -> tuple[str, ...]:
    """Return the names of the mapped columns."""
    if features == "units":
        return tuple(f"unit {j}" for j in range(1, units + 1))
    powers = (Counter(factors) for factors in _products(len(columns), DEGREES[features]))
    return tuple(" ".join(columns[j] + (f"^{k}" if k > 1 else "") for j, k in power.items()) for power in powers)


# The rules that the page has, too: see static/rules.js.
RULES: tuple[Any, ...] = (
    perceptron,
    passive_aggressive,
    smooth_passive_aggressive,
    least_mean_squares,
    normalised_least_mean_squares,
    hinge,
    squared_hinge,
    logistic,
)


def catalogue() -> dict[str, Any]:
    """Return all choices as JSON values for the page."""
    return {
        "data": [data.described() for data in DATA.values()],
        "learners": [learner.described() for learner in learners().values()],
        "orders": [{"name": key, "title": title, "sentence": text} for key, (_, title, text) in ORDERS.items()],
        "features": [
            {"name": key, "title": title, "sentence": text, "controls": [UNITS.described()] * (key == "units")}
            for key, (title, text) in FEATURES.items()
        ],
        "run": [SEED.described(), EPOCHS.described()],
        "chapters": chapters(),
        "exercises": exercises(),
        "limits": {"points": MAX_POINTS, "trials": MAX_TRIALS, "largest": LARGEST},
        "endings": endings(),
        "remedies": {rule.of.__name__: rule.of.remedy for rule in RULES},
        "version": version("rosenblatt"),
    }


def listed_in(name: str) -> list[dict[str, Any]]:
    """Return what a JSON file of this folder lists."""
    return list(json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8")))


def chapters() -> list[dict[str, Any]]:
    """Return the chapters of the tour, one for each of the five lectures, with the numbers in their sentences.

    A step gives the mistakes and the weights after its trial, the bias last, which the tests compare with what the
    engine records; with a kernel these are the coefficients of the rows. Its sentences refer to them as {mistakes} and
    {w}. With "predict", the reader is asked for a prediction first.
    """
    return [
        {"hide": [], "view": "sphere"} | one | {"steps": [_step(**step) for step in one["steps"]]}
        for one in listed_in("chapters.json")
    ]


def _step(t: int, sentences: list[str], mistakes: int, w: list[float], predict: bool = False) -> dict[str, Any]:
    weights = f"({', '.join(f'{value:g}' for value in w)})"
    return {"t": t, "sentences": [text.format(mistakes=mistakes, w=weights) for text in sentences], "predict": predict}


def exercises() -> list[dict[str, Any]]:
    """Return the exercises that check themselves, without their solutions."""
    return [{key: value for key, value in one.items() if key != "solution"} for one in listed_in("exercises.json")]


def endings() -> dict[str, Any]:
    """Return the sentences that say why a run ended, with placeholders for its figures."""
    kinds = {
        "perceptron": stopping.PERCEPTRON_WORDS,
        "batch": stopping.BATCH_WORDS,
        "loss": stopping.LOSS_WORDS,
        "kernel": stopping.UNBOUNDED_KERNEL_WORDS,
    }
    plain: dict[str, Any] = {
        name: {stop.name.lower(): text for stop, text in words.items()} for name, words in kinds.items()
    }
    return plain | {
        "at_rest": stopping.AT_REST,
        "cycle_proved": stopping.CYCLE_PROVED,
        "cycle_computed": stopping.CYCLE_COMPUTED,
    }
