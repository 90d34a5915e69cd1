"""Certificates as JSON: numbers without loss, and a reader that accepts only the form in which they are written.

`parse` reads the text of a file, `write` and `read` convert the fields of a certificate, `seal_of` hashes them.
docs/reference/certificates.md describes the format.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from fractions import Fraction
from typing import Any, NamedTuple

from rosenblatt.errors import InvalidInput
from rosenblatt.prover.certificates.brackets import Bracket

FORMAT, VERSION = "rosenblatt-certificate", 1
VERDICTS = ("separable", "quasi-separable", "overlapping", "undecided")
LAYOUTS = ("dense", "sparse")
ARITHMETICS = ("binary", "decimal")
WRITTEN_ARITHMETICS = (*ARITHMETICS, "rational")
# Kinds of maximum-likelihood estimates of a coefficient.
FINITE, POSITIVE, NEGATIVE, INFINITE, UNIDENTIFIED = ESTIMATES = ("finite", "+inf", "-inf", "+/-inf", "not identified")

# Integers of more bits are written in hexadecimal: Python refuses to read decimal strings of more than 4,300 digits.
DECIMAL_MAX_BITS = 4096
# Limits of an integer's bits, alone and per column. No certificate comes near them: the longest integers have some 66
# bits per column, and 2,200 if sizes differ extremely.
MAX_INTEGER_BITS, MAX_INTEGER_BITS_PER_COLUMN = 1 << 16, 4400
# Products of bits that checking all fractions for lowest terms may take: some ten seconds.
MAX_EFFORT = 1 << 43


def integer_text(value: int) -> str:
    """Return an integer as text: decimal, or hexadecimal if it is long."""
    return str(value) if value.bit_length() <= DECIMAL_MAX_BITS else hex(value)


def real_text(value: float | Fraction) -> str:
    """Return a number as exact text: a hexadecimal float, or numerator/denominator."""
    if isinstance(value, float):
        return value.hex()
    return f"{integer_text(value.numerator)}/{integer_text(value.denominator)}"


_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*|0x[1-9a-f][0-9a-f]*)")
_FLOAT = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}|-?inf")
HASH = re.compile(r"[0-9a-f]{64}")


class Combination(NamedTuple):
    """Signed rows and positive integers; the sum of the products is the claim."""

    support: tuple[int, ...]
    rivals: tuple[int, ...]
    multipliers: tuple[int, ...]


class Sizes(NamedTuple):
    """Sizes that the fields of a certificate must agree with."""

    samples: int
    features: int
    classes: int
    width: int


RESPONSES = ("labels", "counts", "shares", "pairs", "ordered")


def seal_of(body: dict[str, Any]) -> str:
    """Hash all fields but the seal, in canonical JSON."""
    rest = {key: value for key, value in body.items() if key != "seal"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


# ----------------------------------------------------------------------------------------------------------- writing


_REALS = {"radius", "vector", "point", "directions", "lower", "upper", "w", "weights"}
_INTEGERS = {"multipliers", "mistake_bound"}


def write(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a certificate as JSON holds them exactly, with the name and version of the format."""
    return {"format": FORMAT, "version": VERSION} | {name: _write(name, value) for name, value in values.items()}


def _write(name: str, value: Any) -> Any:
    if isinstance(value, Bracket | Combination):
        parts = value._asdict() if isinstance(value, Combination) else vars(value)
        return {key: _write(key, part) for key, part in parts.items()}
    if isinstance(value, tuple):
        return [_write(name, item) for item in value]
    if value is None or isinstance(value, list):
        return value
    return real_text(value) if name in _REALS else integer_text(value) if name in _INTEGERS else value


# ----------------------------------------------------------------------------------------------------------- reading


def parse(text: bytes) -> Any:
    """Read JSON in UTF-8, without repeated keys; raise ValueError if it is something else."""
    return json.loads(text.decode("utf-8"), object_pairs_hook=_without_repetition, parse_constant=_refuse)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = next(key for k, (key, _) in enumerate(pairs) if key in dict(pairs[:k]))
        raise ValueError(f"the key {repeated!r:.60} is repeated")
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


class Reader:
    """Reader of the fields of a certificate. Each must have exactly the form in which `write` writes it."""

    def __init__(self, data: dict[str, Any], within: str = "", width: int = 0) -> None:
        self.data, self.within, self.width = data, within, width
        self.effort = 0

    def fault(self, name: str, need: str) -> InvalidInput:
        """Return the error for a field that is not as it must be."""
        shown = repr(self.data.get(name))
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return InvalidInput(
            f"{self.within}{name} is {shown} in the certificate; it must be {need}. Issue the certificate again."
        )

    def choice(self, name: str, options: tuple[str, ...]) -> str:
        """Read one of some strings."""
        if not isinstance(self.data[name], str) or self.data[name] not in options:
            raise self.fault(name, "one of " + ", ".join(options))
        return str(self.data[name])

    def flag(self, name: str) -> bool:
        """Read true or false."""
        if not isinstance(self.data[name], bool):
            raise self.fault(name, "true or false")
        return bool(self.data[name])

    def labels(self, name: str, first: int = 0) -> list[Any]:
        """Read labels of one kind, from position `first`."""
        found = self.items(name)[first:]
        if not any(all(map(is_kind, found)) for is_kind in _KINDS_OF_LABELS):
            raise self.fault(name, "labels: all text, all numbers, or false and true")
        return found

    def text(self, name: str, pattern: re.Pattern[str] | None = None) -> str:
        """Read a string that matches the pattern, if there is one."""
        value = self.data[name]
        if not isinstance(value, str) or (pattern is not None and not pattern.fullmatch(value)):
            raise self.fault(name, "text" if pattern is None else "64 hexadecimal digits")
        return value

    def items(self, name: str, sizes: Iterable[int] | None = None) -> list[Any]:
        """Read a list that has one of the sizes, if sizes are given."""
        value = self.data[name]
        if not isinstance(value, list) or (sizes is not None and len(value) not in sizes):
            size = "" if sizes is None else " of " + " or ".join(map(str, sizes)) + " entries"
            raise self.fault(name, f"a list{size}")
        return value

    def numbers(self, name: str, end: int, sizes: Iterable[int] | None = None) -> tuple[int, ...]:
        """Read integers from 0 up to `end`."""
        value = self.items(name, sizes)
        if not all(type(v) is int and 0 <= v < end for v in value):
            raise self.fault(name, f"whole numbers from 0 and below {end}")
        return tuple(value)

    def integer(self, name: str, text: Any) -> int:
        """Read one integer."""
        digits = (MAX_INTEGER_BITS + MAX_INTEGER_BITS_PER_COLUMN * self.width) // 4
        if isinstance(text, str) and len(text) > digits:
            raise self.fault(name, f"written in at most {digits} digits for {self.width} columns")
        if isinstance(text, str) and _INTEGER.fullmatch(text):
            hexadecimal = "0x" in text
            if hexadecimal or len(text) <= DECIMAL_MAX_BITS:
                value = int(text, 16 if hexadecimal else 10)
                if integer_text(value) == text:
                    return value
        raise self.fault(name, "written in integers: decimal strings, hexadecimal beyond 4096 bits")

    def real(self, name: str, text: Any) -> float:
        """Read one float."""
        if isinstance(text, str) and _FLOAT.fullmatch(text):
            try:
                value = float.fromhex(text)
            except OverflowError:
                value = math.nan
            if value.hex() == text:
                return value
        raise self.fault(name, "written in floats as float.hex writes them")

    def reals(self, name: str, sizes: Iterable[int] | None = None) -> tuple[float, ...]:
        """Read finite floats."""
        values = tuple(self.real(name, text) for text in self.items(name, sizes))
        if not all(map(math.isfinite, values)):
            raise self.fault(name, "finite")
        return values

    def vector(self, name: str, sizes: Iterable[int]) -> tuple[float, ...] | tuple[Fraction, ...]:
        """Read floats, or fractions."""
        texts = self.items(name, sizes)
        if not texts or not all(isinstance(text, str) and text.count("/") == 1 for text in texts):
            return self.reals(name)
        pairs = [[self.integer(name, part) for part in text.split("/")] for text in texts]
        self.effort += sum(above.bit_length() * below.bit_length() for above, below in pairs)
        if self.effort > MAX_EFFORT:
            raise self.fault(name, "shorter: checking fractions of this length takes too long")
        if not all(below > 0 and math.gcd(above, below) == 1 for above, below in pairs):
            raise self.fault(name, "written in fractions in lowest terms")
        return tuple(Fraction(above, below) for above, below in pairs)

    def bracket(self, name: str, samples: int, width: int) -> Bracket | None:
        """Read a bracket, or null."""
        if self.data[name] is None:
            return None
        names = {field.name for field in fields(Bracket)}
        if not isinstance(self.data[name], dict) or set(self.data[name]) != names:
            raise self.fault(name, "null, or an object with the entries " + ", ".join(sorted(names)))
        inner = Reader(self.data[name], f"{name}.", self.width)
        rows = inner.numbers("rows", samples)
        weights = inner.vector("weights", (len(rows),))
        if not all(weight > 0 for weight in weights):
            raise inner.fault("weights", "positive")
        lower, upper = (inner.real(key, inner.data[key]) for key in ("lower", "upper"))
        if math.copysign(1.0, lower) < 0 or math.copysign(1.0, upper) < 0:
            raise self.fault(name, "without negative numbers")
        return Bracket(lower, upper, inner.vector("w", (0, width)), rows, weights)

    def combination(self, sizes: Sizes) -> Combination:
        """Read signed rows and positive integers."""
        support = self.numbers("support", sizes.samples)
        count = (len(support),)
        multipliers = tuple(self.integer("multipliers", v) for v in self.items("multipliers", count))
        if not all(v > 0 for v in multipliers):
            raise self.fault("multipliers", "positive")
        return Combination(support, self.numbers("rivals", sizes.classes, count), multipliers)


def read(data: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Read the fields of a certificate from the result of `write`.

    Raises
    ------
    InvalidInput
        If one of the names is missing, or a field is unknown or malformed.
    """
    data = _checked(data, {"format", "version", *names})
    reader = Reader(data)
    sizes = _read_sizes(reader)
    reader.width = sizes.width
    return {
        "verdict": reader.choice("verdict", VERDICTS),
        "arithmetic": reader.choice("arithmetic", WRITTEN_ARITHMETICS),
        "shape": (sizes.samples, sizes.features),
        "classes": tuple(data["classes"]),
        "layout": reader.choice("layout", LAYOUTS),
        "digest": reader.text("digest", HASH),
        "vector": None if data["vector"] is None else reader.vector("vector", (sizes.width,)),
        "boundary": _read_boundary(reader, sizes),
        "point": reader.reals("point", (0, sizes.features)),
        "margin": reader.bracket("margin", sizes.samples, sizes.width),
        "augmented": reader.bracket("augmented", sizes.samples, sizes.width),
        "reason": reader.text("reason"),
        "seal": reader.text("seal", HASH),
        **reader.combination(sizes)._asdict(),
        **_read_radius(reader),
        **_read_estimates(reader, sizes),
        "names": _read_names(reader, sizes),
        "intercept": reader.flag("intercept"),
        "response": reader.choice("response", RESPONSES),
        "levels": tuple(reader.labels("levels")),
        "rows": _read_rows(reader, sizes),
    }


def _checked(data: Any, names: set[str]) -> dict[str, Any]:
    """Return the fields; raise InvalidInput if they are not those of a certificate of this version."""
    found: dict[str, Any] = data if isinstance(data, dict) and data.get("format") == FORMAT else {}
    if "version" in found and (type(found["version"]) is not int or found["version"] != VERSION):
        raise Reader(found).fault("version", str(VERSION))
    if set(found) != names:
        shown = sorted(map(str, data))[:8] if isinstance(data, dict) else type(data).__name__
        raise InvalidInput(
            f"{shown} is not a certificate: it must have the fields {', '.join(sorted(names))}. "
            "Pass a file written by Certificate.save."
        )
    return found


_KINDS_OF_LABELS: tuple[Callable[[Any], bool], ...] = (
    lambda label: isinstance(label, str),
    lambda label: isinstance(label, bool),
    lambda label: type(label) is int or (isinstance(label, float) and math.isfinite(label)),
)


def _read_sizes(reader: Reader) -> Sizes:
    samples, features = reader.numbers("shape", 1 << 62, (2,))
    if min(samples, features) < 1:
        raise reader.fault("shape", "two positive numbers")
    classes = reader.items("classes")
    named = reader.labels("classes", len(classes) == 2 and classes[0] is None)
    if len(classes) < 2:
        raise reader.fault("classes", "two or more labels")
    if not all(a < b for a, b in itertools.pairwise(named)):
        raise reader.fault("classes", "sorted, without repetitions")
    return Sizes(samples, features, len(classes), (len(classes) - 1) * (features + 1))


def _read_boundary(reader: Reader, sizes: Sizes) -> tuple[int, ...]:
    boundary = reader.numbers("boundary", sizes.samples)
    if any(j <= i for i, j in itertools.pairwise(boundary)):
        raise reader.fault("boundary", "ascending")
    return boundary


def _read_estimates(reader: Reader, sizes: Sizes) -> dict[str, Any]:
    """Read the claims on coefficients and their witnesses."""
    estimates = reader.items("estimates", (0, sizes.width))
    if not all(isinstance(text, str) and text in ESTIMATES for text in estimates):
        raise reader.fault("estimates", "made of " + ", ".join(ESTIMATES))
    combinations: list[Combination | None] = []
    for entry in reader.items("combinations", (len(estimates),)):
        if entry is not None and (not isinstance(entry, dict) or set(entry) != set(Combination._fields)):
            need = "null, or an object with the entries " + ", ".join(Combination._fields)
            raise reader.fault("combinations", need)
        combinations.append(None if entry is None else Reader(entry, "combinations.", sizes.width).combination(sizes))
    directions = []
    for entry in reader.items("directions"):
        inner = Reader({"directions": entry}, "", sizes.width)
        directions.append(inner.vector("directions", (sizes.width,)))
        reader.effort += inner.effort
        if reader.effort > MAX_EFFORT:
            raise reader.fault("directions", "shorter: checking fractions of this length takes too long")
    return {"estimates": tuple(estimates), "combinations": tuple(combinations), "directions": tuple(directions)}


def _read_names(reader: Reader, sizes: Sizes) -> tuple[str, ...]:
    names = reader.items("names", (0, sizes.features))
    if not all(isinstance(name, str) for name in names):
        raise reader.fault("names", "text")
    return tuple(names)


def _read_rows(reader: Reader, sizes: Sizes) -> tuple[int, ...]:
    rows = reader.numbers("rows", 1 << 62, (0, sizes.samples))
    if any(j < i for i, j in itertools.pairwise(rows)):
        raise reader.fault("rows", "ascending")
    return rows


def _read_radius(reader: Reader) -> dict[str, Any]:
    text = reader.data["mistake_bound"]
    bound = None if text is None else reader.integer("mistake_bound", text)
    radius = reader.real("radius", reader.data["radius"])
    least = 1 if reader.data["intercept"] else 0
    if not least <= radius < math.inf or (bound is not None and bound < 0):
        raise reader.fault("radius", f"at least {least} and finite, and the mistake bound not negative")
    return {"radius": radius, "mistake_bound": bound}
