"""The scene: everything that decides what the lab shows. All input of the lab is checked here."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.lab.catalogue import (
    DATA,
    EPOCHS,
    FEATURES,
    LARGEST,
    MAX_POINTS,
    MAX_TRIALS,
    ORDERS,
    SEED,
    UNITS,
    Control,
    LearnerTraits,
    estimator_class,
    learner_names,
    learners,
    mapped,
    mapped_names,
    number_from,
    one_of,
    points_of,
    written,
)
from rosenblatt.text import did_you_mean, short_repr

Array = npt.NDArray[Any]

MAX_COLUMNS = 50
MAX_CLASSES = 4
MAX_RACERS = 3
MAX_QUERY_CHARACTERS = 1_000_000
LETTERS = "abcd"  # of the classes, in an address
MOST_READABLE = 8  # points that an address has as text; more are packed
MOST_DECIMALS = 6
# For smaller values, estimators choose another constant for the bias than the 1 of the theorems.
SMALL_VALUES = 0.5
PARAMETER = "param."
_POINT = re.compile(r"([-+0-9.eE]+(?:,[-+0-9.eE]+)*)([a-d])")

Params = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Racer:
    """Another learner on the same points, in a race."""

    learner: str
    params: Params = ()
    order: str = "cyclic"

    def as_dict(self) -> dict[str, Any]:
        """Return the racer as JSON values for the page."""
        return {"learner": self.learner, "params": dict(self.params), "order": self.order}


@dataclass(frozen=True)
class Scene:
    """A scene of the lab: points, a learner, and its settings.

    Create one with `from_dict` or `from_query`, which check every value.

    Attributes
    ----------
    data : str
        A set of the catalogue, or "points" for those in `points`.
    controls : tuple of (name, value)
        Settings of the set that differ from the defaults.
    points : tuple of tuples
        Points with their class number last.
    learner : str
    params : tuple of (name, value)
        Parameters of the learner that differ from the defaults.
    features : str
        The feature map of a linear learner.
    units : int
        Number of association units, if they are the feature map.
    order : str
    seed, epochs : int
    start : tuple of float or None
        Weights to start from, the bias last.
    race : tuple of Racer
    """

    data: str = "or"
    controls: Params = ()
    points: tuple[tuple[float, ...], ...] = ()
    learner: str = "Perceptron"
    params: Params = ()
    features: str = "none"
    units: int = UNITS.default
    order: str = "cyclic"
    seed: int = SEED.default
    epochs: int = EPOCHS.default
    start: tuple[float, ...] | None = None
    race: tuple[Racer, ...] = field(default=())

    # ------------------------------------------------------------------------------------------------- in and out

    @classmethod
    def from_dict(cls, given: Any) -> Scene:
        """Return the scene of a dictionary from a page or a user; unknown keys are ignored.

        Raises
        ------
        InvalidInput
            For the first invalid value.
        """
        if not isinstance(given, Mapping):
            raise InvalidInput(f"{short_repr(given)} is not a scene. Pass an object with data and learner.")
        data = one_of("data", given.get("data", "or"), (*DATA, "points"))
        own = data == "points"
        race = given.get("race") or ()
        if not isinstance(race, list | tuple) or len(race) > MAX_RACERS:
            raise InvalidInput(f"race={short_repr(race)} is not a list of at most {MAX_RACERS} learners. Pass one.")
        learner, params = _learner(given)
        return cls(
            data=data,
            controls=() if own else _changed({c.name: c for c in DATA[data].controls}, given),
            points=_points(given.get("points")) if own else (),
            learner=learner,
            params=params,
            features=_features(given.get("features", "none"), learner),
            units=UNITS.checked(given.get("units", UNITS.default)),
            order=one_of("order", given.get("order", "cyclic"), ORDERS),
            seed=SEED.checked(given.get("seed", SEED.default)),
            epochs=EPOCHS.checked(given.get("epochs", EPOCHS.default)),
            start=_start(given.get("start"), learner),
            race=tuple(_racer(one) for one in race),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the scene as JSON values for the page; `from_dict` reads them."""
        plain: dict[str, Any] = {"data": self.data, **dict(self.controls)}
        if self.data == "points":
            plain["points"] = [list(point) for point in self.points]
        plain |= {"learner": self.learner, "params": dict(self.params), "features": self.features}
        if self.units != UNITS.default:
            plain["units"] = self.units
        plain |= {"order": self.order, "seed": self.seed, "epochs": self.epochs}
        plain["start"] = None if self.start is None else list(self.start)
        if self.race:
            plain["race"] = [racer.as_dict() for racer in self.race]
        return plain

    @classmethod
    def from_query(cls, text: str) -> Scene:
        """Return the scene of the fragment of an address; keys of the view are ignored."""
        pairs = _pairs(text)
        given: dict[str, Any] = {key: pairs[key] for key in ("data", "learner", "features", "order") if key in pairs}
        data = DATA.get(given.get("data", "or"))
        readers = {c.name: c for c in (*(data.controls if data else ()), UNITS, SEED, EPOCHS)}
        given |= {name: control.read(pairs[name]) for name, control in readers.items() if name in pairs}
        learner = one_of("learner", given.get("learner", "Perceptron"), learner_names())
        params = {key.removeprefix(PARAMETER): text for key, text in pairs.items() if key.startswith(PARAMETER)}
        given["params"] = _read_params(learner, params)
        return cls.from_dict(given | _read_lists(pairs))

    def to_query(self) -> str:
        """Return the scene as the fragment of an address; `from_query` reads it."""
        pairs = [("data", self.data), *((name, written(value)) for name, value in self.controls)]
        if self.points:
            pairs.append(_written_points(self.points))
        pairs += [("learner", self.learner), *((PARAMETER + name, written(value)) for name, value in self.params)]
        for name in ("features", "units", "order", "seed", "epochs"):
            value = getattr(self, name)
            if value != _DEFAULTS[name] or name == "order":
                pairs.append((name, written(value)))
        if self.start is not None:
            pairs.append(("start", ",".join(map(written, self.start))))
        if self.race:
            pairs.append(("race", ";".join(_written_racer(racer) for racer in self.race)))
        return urlencode(pairs, safe=",;:")

    # ------------------------------------------------------------------------------------------------ data and learner

    def rows(self) -> tuple[Array, Array]:
        """Return the points and their labels; raise `InvalidInput` if there are fewer than two classes."""
        if self.data != "points":
            return points_of(self.data, **dict(self.controls))
        table = np.array(self.points, dtype=np.float64)
        if len({point[-1] for point in self.points}) < 2:
            raise InvalidInput("All points are of one class. Draw at least one point of another class.")
        return np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.int64)

    def columns(self) -> tuple[str, ...]:
        """Return the names of the coordinates of the points."""
        if self.data != "points":
            return DATA[self.data].columns
        return tuple(f"x{j}" for j in range(1, len(self.points[0])))

    def learned_columns(self) -> tuple[str, ...]:
        """Return the names of the features, one for each weight."""
        return mapped_names(self.columns(), self.features, self.units)

    def mapped(self, X: Array) -> tuple[Array, Any]:
        """Return the mapped rows, and the function that maps others in the same way."""
        return mapped(X, self.features, self.units, self.seed)

    def arguments(self, Z: Array, n_classes: int) -> dict[str, Any]:
        """Return the parameters of the estimator that differ from its defaults.

        Parameters
        ----------
        Z : array of shape (n_samples, n_features)
            The mapped rows.
        n_classes : int
        """
        kind, declared = estimator_class(self.learner), self.traits.declared
        if n_classes > 2 and dict(self.params).get("multiclass", "ovr") not in self.traits.modes:
            raise InvalidInput(
                f"{self.learner} cannot learn all classes jointly. Choose multiclass={', '.join(self.traits.modes)}."
            )
        if self.start is not None and (n_classes > 2 or len(self.start) != Z.shape[1] + 1):
            raise InvalidInput(
                f"A start of {len(self.start)} numbers does not fit {Z.shape[1]} weights and a bias of two classes."
            )
        params = dict(self.params)
        if "shuffle" in declared:
            params |= {"shuffle": ORDERS[self.order][0], "random_state": self.seed, "max_iter": self.limit(len(Z))}
            params["tol"] = None  # by the lectures' rules: no update, weights that return, or the last epoch
        if "intercept_scaling" in declared and 0 < np.mean(Z[Z != 0] ** 2) < SMALL_VALUES**2:
            params["intercept_scaling"] = 1.0
        params = {control.name: control.default for control in self.traits.params if control.name == "eta0"} | params
        if self.start is not None:
            params["init"] = (list(self.start[:-1]), self.start[-1])
        return {name: value for name, value in params.items() if value != kind.declared[name].default}

    def limit(self, n: int) -> int:
        """Return the number of epochs of n rows, limited by the trials that a page can show."""
        return min(self.epochs, max(1, MAX_TRIALS // n))

    @property
    def traits(self) -> LearnerTraits:
        """The learner's entry in the catalogue."""
        return learners()[self.learner]


_DEFAULTS = {one.name: one.default for one in fields(Scene)}


# ------------------------------------------------------------------------------------------------------------- checks


def _changed(known: Mapping[str, Control], given: Mapping[str, Any]) -> Params:
    """Return the values that differ from the defaults, each checked."""
    pairs = ((name, control.checked(given[name])) for name, control in known.items() if given.get(name) is not None)
    return tuple((name, value) for name, value in pairs if value != known[name].default)


def _learner(given: Mapping[str, Any]) -> tuple[str, Params]:
    name = one_of("learner", given.get("learner", "Perceptron"), learner_names())
    params = given.get("params") or {}
    if not isinstance(params, Mapping):
        raise InvalidInput(f"params={short_repr(params)} is not an object. Pass one with a value for each name.")
    known = {control.name: control for control in learners()[name].params}
    _check_names(name, params, known)
    checked = {key: control.checked(params[key]) for key, control in known.items() if key in params}
    return name, tuple((key, value) for key, value in checked.items() if value != known[key].default)


def _check_names(learner: str, params: Mapping[str, Any], known: Mapping[str, Control]) -> None:
    for name in params:
        if name not in known:
            hint = did_you_mean(name, known) or f" It has {', '.join(known)}."
            raise InvalidInput(f"{learner} has no parameter {short_repr(name)} in the lab.{hint}")


def _pairs(text: Any) -> dict[str, str]:
    """Return the key=value pairs of an address."""
    if not isinstance(text, str) or len(text) > MAX_QUERY_CHARACTERS:
        raise InvalidInput("The address is too long, or not text. Save the points in a file instead.")
    try:
        return dict(parse_qsl(text.lstrip("#?"), keep_blank_values=True, max_num_fields=100, errors="replace"))
    except ValueError:
        raise InvalidInput("The address has more than 100 fields. Copy it from the lab again.") from None


def _read_lists(pairs: Mapping[str, str]) -> dict[str, Any]:
    """Return the points, the start and the race of an address."""
    lists: dict[str, Any] = {}
    if "q" in pairs:
        lists["points"] = unpacked(pairs["q"])
    elif "p" in pairs:
        lists["points"] = [_read_point(part) for part in pairs["p"].split(";") if part]
    if "start" in pairs:
        lists["start"] = [number_from(part, "start") for part in pairs["start"].split(",")]
    if pairs.get("race"):
        lists["race"] = [_read_racer(part) for part in pairs["race"].split(";")]
    return lists


def _read_params(learner: str, texts: Mapping[str, str]) -> dict[str, Any]:
    known = {control.name: control for control in learners()[learner].params}
    _check_names(learner, texts, known)
    return {name: known[name].read(text) for name, text in texts.items()}


def _racer(given: Any) -> Racer:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{short_repr(given)} is not a racer. Pass an object with learner, params and order.")
    learner, params = _learner(given)
    return Racer(learner, params, one_of("order", given.get("order", "cyclic"), ORDERS))


def _read_racer(text: str) -> dict[str, Any]:
    """Return the racer of a text: its learner, its order and its parameters, separated by colons."""
    learner, *rest = text.split(":")
    learner = one_of("learner", learner, learner_names())
    order = rest.pop(0) if rest and "=" not in rest[0] else "cyclic"
    pairs = dict(part.partition("=")[::2] for part in rest)
    return {"learner": learner, "order": order, "params": _read_params(learner, pairs)}


def _written_racer(racer: Racer) -> str:
    return ":".join([racer.learner, racer.order, *(f"{name}={written(value)}" for name, value in racer.params)])


def _features(value: Any, learner: str) -> str:
    chosen = one_of("features", value, FEATURES)
    if chosen != "none" and learners()[learner].kernel:
        raise InvalidInput(f"features={chosen!r} are for linear learners; {learner} has a kernel. Choose 'none'.")
    return chosen


def _is_number(value: Any) -> bool:
    real = isinstance(value, int | float) and not isinstance(value, bool)
    return real and abs(value) <= LARGEST and math.isfinite(value)


def _start(value: Any, learner: str) -> tuple[float, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not 2 <= len(value) <= 1000 or not all(map(_is_number, value)):
        raise InvalidInput(
            f"start={short_repr(value)} is not a list of weights and a bias. Pass numbers of at most {LARGEST:g}."
        )
    if "init" not in learners()[learner].declared:
        raise InvalidInput(f"{learner} cannot start from other weights. Drop the start, or choose another learner.")
    start = tuple(float(part) + 0.0 for part in value)
    return start if any(start) else None  # zero is the default


def _points(value: Any) -> tuple[tuple[float, ...], ...]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MAX_POINTS:
        raise InvalidInput(f"points={short_repr(value)} is not a list of points. Pass 1 to {MAX_POINTS} points.")
    return tuple(_point(point, value[0]) for point in value)


def _point(value: Any, first: Any) -> tuple[float, ...]:
    sound = isinstance(value, list | tuple) and 2 <= len(value) <= MAX_COLUMNS + 1 and all(map(_is_number, value))
    if not sound:
        raise InvalidInput(
            f"{short_repr(value)} is not a point. Pass its coordinates, at most {LARGEST:g}, and its class."
        )
    if len(value) != len(first):
        raise InvalidInput(
            f"{short_repr(value)} and {short_repr(first)} have different numbers of coordinates. Pass the same for all."
        )
    if value[-1] not in range(MAX_CLASSES):
        raise InvalidInput(
            f"{short_repr(value)} has the class {short_repr(value[-1])}. Pass a class from 0 to {MAX_CLASSES - 1}."
        )
    return (*(float(part) + 0.0 for part in value[:-1]), int(value[-1]))


def _written_points(points: Sequence[Sequence[float]]) -> tuple[str, str]:
    """Return the key and the value of points in an address: a few as text, more of them packed."""
    short = packed(points) if len(points) > MOST_READABLE else None
    if short is not None:
        return "q", short
    return "p", ";".join(",".join(map(written, point[:-1])) + LETTERS[int(point[-1])] for point in points)


def packed(points: Sequence[Sequence[float]]) -> str | None:
    """Return points in Base64, as `packPoints` of static/address.js does; None if six decimals do not suffice.

    The numbers are those of the decimals and of the coordinates of a point; then for each coordinate the difference to
    the point before it, of the first coordinate together with the class. Each is stored in as few bytes as it needs.
    """
    coordinates = [point[:-1] for point in points]
    factors = [10**k for k in range(MOST_DECIMALS + 1)]
    fits = (all(round(v * f) / f == v for point in coordinates for v in point) for f in factors)
    decimals = next((k for k, exact in enumerate(fits) if exact), None)
    if decimals is None:
        return None
    width = len(coordinates[0])
    numbers, before = [decimals, width], [0] * width
    for point in points:
        whole = [round(value * factors[decimals]) for value in point[:-1]]
        changes = [now - then for now, then in zip(whole, before, strict=True)]
        first, *rest = [-2 * change - 1 if change < 0 else 2 * change for change in changes]
        numbers += [4 * first + int(point[-1]), *rest]
        before = whole
    content = bytearray()
    for number in numbers:
        while number >= 128:
            content.append(number % 128 + 128)
            number //= 128
        content.append(number)
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def unpacked(text: str) -> list[list[float]]:
    """Return the points of a text from `packed`; raise `InvalidInput` if it is not one."""
    fault = InvalidInput(f"q={short_repr(text)} in the address does not hold points. Copy the link from the lab again.")
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise fault from None
    numbers, value, factor = [], 0, 1
    for byte in content:
        value += factor * (byte % 128)
        factor *= 128
        if byte < 128:
            numbers.append(value)
            value, factor = 0, 1
    decimals, width, *changes = [*numbers, 0, 0]
    changes = changes[:-2]
    if decimals > MOST_DECIMALS or not 1 <= width <= MAX_COLUMNS or len(changes) % width or factor > 1:
        raise fault
    points, before = [], [0] * width
    for start in range(0, len(changes), width):
        first, *rest = changes[start : start + width]
        unsigned = [first // 4, *rest]
        before = [v + (-(u + 1) // 2 if u % 2 else u // 2) for v, u in zip(before, unsigned, strict=True)]
        points.append([*(value / 10**decimals for value in before), first % 4])
    return points


def _read_point(text: str) -> list[float]:
    found = _POINT.fullmatch(text)
    if found is None:
        raise InvalidInput(
            f"{short_repr(text)} in the address is not a point. Write it as 0.25,1.5a, with a class from a to d."
        )
    return [*(number_from(part, "p") for part in found[1].split(",")), LETTERS.index(found[2])]
