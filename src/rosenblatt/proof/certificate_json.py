"""Numbers in JSON without loss, and a reader that takes nothing but what was written so."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from typing import Any

from rosenblatt.errors import InvalidInput
from rosenblatt.proof.brackets import Bracket

# Integers of more bits are written in hexadecimal: Python refuses to read decimal strings of more than 4,300 digits.
LONG = 4096
# What no certificate comes near: the longest integer has some 66 bits for each feature.
MOST_BITS = 1 << 24


def integer_text(value: int) -> str:
    """Write an integer: in decimal, in hexadecimal if it is long."""
    return str(value) if value.bit_length() <= LONG else hex(value)


def real_text(value: float | Fraction) -> str:
    """Write a number exactly: hexadecimal float, or numerator/denominator."""
    if isinstance(value, float):
        return value.hex()
    return f"{integer_text(value.numerator)}/{integer_text(value.denominator)}"


_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*|0x[1-9a-f][0-9a-f]*)")
_FLOAT = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}|-?inf")
HASH = re.compile(r"[0-9a-f]{64}")


class Reader:
    """Values of a certificate's fields, refused unless they have exactly the form that `to_dict` gives them."""

    def __init__(self, data: dict[str, Any], within: str = "") -> None:
        self.data, self.within = data, within

    def refuse(self, name: str, need: str) -> InvalidInput:
        """Say what a field is and must be."""
        shown = repr(self.data.get(name))
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return InvalidInput(f"{self.within}{name} is {shown} in the certificate; it must be {need}. Issue it anew.")

    def choice(self, name: str, options: tuple[str, ...]) -> str:
        """Read one of some words."""
        if self.data[name] not in options:
            raise self.refuse(name, "one of " + ", ".join(options))
        return str(self.data[name])

    def text(self, name: str, pattern: re.Pattern[str] | None = None) -> str:
        """Read text, of a form if one is given."""
        value = self.data[name]
        if not isinstance(value, str) or (pattern is not None and not pattern.fullmatch(value)):
            raise self.refuse(name, "text" if pattern is None else "64 hexadecimal digits")
        return value

    def items(self, name: str, sizes: Iterable[int] | None = None) -> list[Any]:
        """Read a list, of one of these sizes if any are given."""
        value = self.data[name]
        if not isinstance(value, list) or (sizes is not None and len(value) not in sizes):
            size = "" if sizes is None else " of " + " or ".join(map(str, sizes)) + " entries"
            raise self.refuse(name, f"a list{size}")
        return value

    def numbers(self, name: str, end: int, sizes: Iterable[int] | None = None) -> tuple[int, ...]:
        """Read integers from 0 up to `end`."""
        value = self.items(name, sizes)
        if not all(type(v) is int and 0 <= v < end for v in value):
            raise self.refuse(name, f"whole numbers from 0 and below {end}")
        return tuple(value)

    def integer(self, name: str, text: Any) -> int:
        """Read one integer."""
        if isinstance(text, str) and len(text) <= MOST_BITS // 4 and _INTEGER.fullmatch(text):
            long = "0x" in text
            if long or len(text) <= LONG:
                value = int(text, 16 if long else 10)
                if integer_text(value) == text:
                    return value
        raise self.refuse(name, "written in integers: decimal strings, hexadecimal beyond 4096 bits")

    def real(self, name: str, text: Any) -> float:
        """Read one float."""
        if isinstance(text, str) and _FLOAT.fullmatch(text):
            try:
                value = float.fromhex(text)
            except OverflowError:
                value = math.nan
            if value.hex() == text:
                return value
        raise self.refuse(name, "written in floats as float.hex writes them")

    def reals(self, name: str, sizes: Iterable[int] | None = None) -> tuple[float, ...]:
        """Read finite floats."""
        values = tuple(self.real(name, text) for text in self.items(name, sizes))
        if not all(map(math.isfinite, values)):
            raise self.refuse(name, "finite")
        return values

    def vector(self, name: str, sizes: Iterable[int]) -> tuple[float, ...] | tuple[Fraction, ...]:
        """Read floats, or fractions."""
        texts = self.items(name, sizes)
        if not texts or not all(isinstance(text, str) and text.count("/") == 1 for text in texts):
            return self.reals(name)
        pairs = [[self.integer(name, part) for part in text.split("/")] for text in texts]
        if not all(below > 0 and math.gcd(above, below) == 1 for above, below in pairs):
            raise self.refuse(name, "written in fractions in lowest terms")
        return tuple(Fraction(above, below) for above, below in pairs)

    def bracket(self, name: str, samples: int, width: int) -> Bracket | None:
        """Read a bracket, or null."""
        if self.data[name] is None:
            return None
        names = {field.name for field in fields(Bracket)}
        if not isinstance(self.data[name], dict) or set(self.data[name]) != names:
            raise self.refuse(name, "null, or have the entries " + ", ".join(sorted(names)))
        inner = Reader(self.data[name], f"{name}.")
        rows = inner.numbers("rows", samples)
        weights = inner.vector("weights", (len(rows),))
        if not all(weight > 0 for weight in weights):
            raise inner.refuse("weights", "positive")
        lower, upper = (inner.real(key, inner.data[key]) for key in ("lower", "upper"))
        return Bracket(lower, upper, inner.vector("w", (0, width)), rows, weights)
