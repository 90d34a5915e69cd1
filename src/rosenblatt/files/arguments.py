"""Checks of arguments: value, fault and remedy."""

from __future__ import annotations

import operator
from typing import Any, NoReturn

from rosenblatt.errors import InvalidInput
from rosenblatt.text import short_repr


def reject(name: str, value: Any, wanted: str) -> NoReturn:
    """Raise `InvalidInput` with the name, the value and what it must be."""
    raise InvalidInput(f"{name}={short_repr(value)} is not possible: it must be {wanted}.")


def as_count(name: str, value: Any, least: int = 1) -> int:
    """Return an argument that must be an integer from `least` on."""
    wanted = f"a whole number from {least}"
    try:
        number = operator.index(value)
    except TypeError:
        reject(name, value, wanted)
    if isinstance(value, bool) or number < least:
        reject(name, value, wanted)
    return number
