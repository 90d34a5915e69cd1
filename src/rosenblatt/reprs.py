"""Records in few lines, for reprs that fit a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from rosenblatt.text import SHOWN_ITEMS, rounded_down, rounded_up, short_repr

LINE_CHARACTERS = 100
# Fields that are bounds: rounded so that they stay true.
BOUNDS = {"lower": rounded_down, "upper": rounded_up, "ceiling": rounded_up, "radius": rounded_up}


def brief(record: Any, leading: Sequence[str] = ()) -> str:
    """Return the fields of a dataclass that hold something, each in few characters: a repr of a few lines.

    Parameters
    ----------
    record : dataclass
    leading : sequence of str
        Fields to begin with.

    Returns
    -------
    str
    """
    names = dict.fromkeys([*leading, *(field.name for field in fields(record))])
    values = ((name, getattr(record, name)) for name in names)
    items = [f"{name}={_rounded(name, value)}" for name, value in values if not _is_empty(value)]
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


def _rounded(name: str, value: Any) -> str:
    if name in BOUNDS and isinstance(value, float):
        return BOUNDS[name](value)
    if isinstance(value, tuple) and value and all(type(one) is float for one in value):
        value = tuple(float(f"{one:.6g}") for one in value[: SHOWN_ITEMS + 1]) + value[SHOWN_ITEMS + 1 :]
    return f"{value:.6g}" if isinstance(value, float) else short_repr(value)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | tuple | list | dict) and not value)
