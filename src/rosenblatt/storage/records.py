"""Registered classes: how each is stored, its fields, and whether a record of it is sound."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from enum import Enum
from typing import Any

from rosenblatt.storage.checks import check_record
from rosenblatt.storage.registry import BY_NAME, Fault, Registration


def registered(name: str, suits: Callable[[Registration], bool], kind: str) -> Registration:
    """Return the class of a name in a file; raise a `Fault` if there is none that suits."""
    found = BY_NAME.get(name)
    if found is None or not suits(found):
        raise Fault(f"there is no {kind} {name!r:.60}")
    return found


def is_document(entry: Registration) -> bool:
    """Return whether a class has a form of its own for JSON."""
    return hasattr(entry.cls, "from_dict")


def is_enum(entry: Registration) -> bool:
    """Return whether a class is an enumeration."""
    return issubclass(entry.cls, Enum)


def is_record(entry: Registration) -> bool:
    """Return whether a class is stored field by field."""
    return not is_enum(entry) and not is_document(entry)


def fields_of(entry: Registration) -> tuple[str, ...]:
    """Return the names of the fields."""
    if dataclasses.is_dataclass(entry.cls):
        return tuple(field.name for field in dataclasses.fields(entry.cls) if field.init)
    names: tuple[str, ...] = entry.cls._fields
    return names


def approve(entry: Registration, record: Any) -> Any:
    """Return the record if its invariants hold; else raise a `Fault`."""
    if entry.check is not None:
        if is_record(entry):  # so that a check may rely on the types of the fields
            check_record(f"a {entry.name}", record, entry.cls)
        entry.check(record)
    return record
