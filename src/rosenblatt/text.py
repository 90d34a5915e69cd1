"""Format values and names for messages and reprs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from difflib import get_close_matches
from enum import Enum
from itertools import islice
from typing import Any

SHOWN_CHARACTERS = 80  # of a value
SHOWN_ITEMS = 6  # of a collection
LINE_CHARACTERS = 100  # of a repr


def short_repr(value: Any) -> str:
    """Return the repr of a value on one line of at most 80 characters; arrays and long collections are shortened.

    Examples
    --------
    >>> short_repr("l2"), short_repr(range(3)), short_repr(tuple(range(1000)))
    ("'l2'", 'range(0, 3)', '(0, 1, 2, 3, 4, 5, ... 994 more)')
    """
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        plain = type(value).__name__ == "ndarray"
        if not plain or value.size > SHOWN_ITEMS:
            return f"{'array' if plain else type(value).__name__} of shape {shape}"
    if isinstance(value, Enum):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}(...)"
    if type(value) in (tuple, list, set, frozenset, dict) and value:
        return _shown_items(value)
    if isinstance(value, str) and len(value) > SHOWN_CHARACTERS:
        value = f"{value[: SHOWN_CHARACTERS - 6]} ..."
    return _cut(repr(value) if isinstance(value, str) else re.sub(r" at 0x\w+", "", " ".join(repr(value).split())))


def _shown_items(values: Any) -> str:
    """Return the first items of a collection, and the number of the others."""
    left, right = "()" if isinstance(values, tuple) else "[]" if isinstance(values, list) else "{}"
    few = islice(values.items() if isinstance(values, Mapping) else values, SHOWN_ITEMS)
    items = [
        f"{short_repr(one[0])}: {short_repr(one[1])}" if isinstance(values, Mapping) else short_repr(one) for one in few
    ]
    while len(items) > 1 and sum(map(len, items)) > SHOWN_CHARACTERS:
        items.pop()
    more = len(values) - len(items)
    items = [_cut(item) for item in items] + [f"... {more} more"] * (more > 0)
    comma = "," if type(values) is tuple and len(values) == 1 else ""
    return f"{left}{', '.join(items)}{comma}{right}"


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 4]} ..."


def listed(names: Iterable[Any]) -> str:
    """Return names as a list for a sentence: the first few, and the number of the others.

    Examples
    --------
    >>> listed("ab"), listed(range(10))
    ("'a' and 'b'", '0, 1, 2, 3, 4, 5 and 4 more')
    """
    every = [short_repr(name) for name in names]
    if len(every) > SHOWN_ITEMS + 1:
        every = [*every[:SHOWN_ITEMS], f"{len(every) - SHOWN_ITEMS} more"]
    return " and ".join([", ".join(every[:-1]), every[-1]] if len(every) > 1 else every)


def did_you_mean(name: Any, names: Iterable[Any]) -> str:
    """Return a question that suggests the correct spelling of a name; empty if no name is similar.

    Examples
    --------
    >>> did_you_mean("maxiter", ["max_iter", "tol"])
    " Did you mean 'max_iter'?"
    """
    if not isinstance(name, str):
        return ""
    words = {word.lower(): word for word in names if isinstance(word, str)}
    close = get_close_matches(name.lower(), words, n=1, cutoff=0.6)
    return f" Did you mean {words[close[0]]!r}?" if close else ""


def count(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    Examples
    --------
    >>> count(1, "epoch"), count(2, "epoch"), count(3, "class", "classes")
    ('1 epoch', '2 epochs', '3 classes')
    """
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


def in_columns(rows: Sequence[Sequence[str]], left: Container[int] = ()) -> str:
    """Return a table of cells as lines of text; the columns numbered in `left` are aligned left, the others right.

    Examples
    --------
    >>> print(in_columns([["row", "score"], ["x10", "2"]], left=[0]))
    row  score
    x10      2
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [str.ljust if column in left else str.rjust for column in range(len(widths))]
    return "\n".join(
        "  ".join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)).rstrip()
        for row in rows
    )


def rounded_up(value: float, digits: int = 6) -> str:
    """Return the exact value of a number rounded up to at most 15 significant digits, as "g" writes it.

    Examples
    --------
    >>> rounded_up(5.085e-05, 1), rounded_up(2.0), rounded_up(2 / 3, 3), rounded_up(10**12 + 1, 3)
    ('6e-05', '2', '0.667', '1.01e+12')
    """
    return _rounded(value, digits, ROUND_CEILING)


def rounded_down(value: float, digits: int = 6) -> str:
    """Return a number rounded down to some significant digits, for lower bounds.

    Examples
    --------
    >>> rounded_down(5.985e-05, 1), rounded_down(2.0), rounded_down(2 / 3, 3)
    ('5e-05', '2', '0.666')
    """
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, direction: str) -> str:
    short = Context(prec=digits, rounding=direction).create_decimal(Decimal(value))
    if not short.is_finite():
        return f"{float(value):g}"
    text = f"{float(short):.{digits}g}"
    # Beyond the range or the precision of floats, write the decimal itself.
    return text if Decimal(text) == short else f"{short.normalize():e}"


def between(lower: float, upper: float, digits: int = 9) -> str:
    """Return the bounds of a number in words; a single number if they agree to some significant digits.

    Examples
    --------
    >>> between(0.1, 0.1 + 1e-15), between(1 / 3, 2 / 3, 3), between(1.5, 1.5)
    ('0.1', 'between 0.333 and 0.667', '1.5')
    """
    low, high = f"{lower:.{digits}g}", f"{upper:.{digits}g}"
    return low if low == high else f"between {rounded_down(lower, digits)} and {rounded_up(upper, digits)}"


# ------------------------------------------------------------------------------------------------------------ reprs

# Fields that are bounds, and the direction in which rounding keeps them valid.
BOUNDS = {"lower": rounded_down, "upper": rounded_up, "ceiling": rounded_up, "radius": rounded_up}


def brief(record: Any, leading: Sequence[str] = ()) -> str:
    """Return a short repr of a dataclass: the fields that are not empty, each abbreviated, some of them `leading`."""
    names = dict.fromkeys([*leading, *(field.name for field in fields(record) if field.repr)])
    values = ((name, getattr(record, name)) for name in names)
    items = [f"{name}={_field_repr(name, value)}" for name, value in values if not _is_empty(value)]
    line = f"{type(record).__name__}({', '.join(items)})"
    if len(line) <= LINE_CHARACTERS:
        return line
    lines, filled = [], ""
    for item in items:
        if filled and len(filled) + len(item) + 6 > LINE_CHARACTERS:
            lines.append(filled)
            filled = ""
        filled += f"{item}, "
    body = "\n".join(part.rstrip() for part in [*lines, filled])
    return f"{type(record).__name__}(\n{textwrap.indent(body, '    ')}\n)"


def _field_repr(name: str, value: Any) -> str:
    if name in BOUNDS and isinstance(value, float):
        return BOUNDS[name](value)
    if isinstance(value, tuple) and value and all(type(one) is float for one in value):
        value = tuple(float(f"{one:.6g}") for one in value[: SHOWN_ITEMS + 1]) + value[SHOWN_ITEMS + 1 :]
    return f"{value:.6g}" if isinstance(value, float) else short_repr(value)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | tuple | list | dict) and not value)
