"""The registry of records that files may name: what may be stored is declared beside the state that it describes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from rosenblatt.errors import InvalidInput

Class = TypeVar("Class", bound=type)


class Fault(InvalidInput):
    """A value that cannot be stored, or file content that failed a check.

    The message has no final period: the caller adds which model or file it is about.
    """


def expect(condition: Any, fault: str) -> None:
    """Raise a `Fault` unless the condition holds."""
    if not condition:
        raise Fault(fault)


class Registration(NamedTuple):
    """A class that files may name."""

    name: str
    cls: Any
    check: Callable[[Any], None] | None
    renamed: Mapping[str, str | None]

    @property
    def is_document(self) -> bool:
        """Whether the class has a form of its own for JSON."""
        return hasattr(self.cls, "from_dict")

    @property
    def fields(self) -> dict[str, bool]:
        """The names of the fields, and whether each must be in a file."""
        if dataclasses.is_dataclass(self.cls):
            missing = dataclasses.MISSING
            return {
                field.name: field.default is missing and field.default_factory is missing
                for field in dataclasses.fields(self.cls)
                if field.init
            }
        return {name: name not in self.cls._field_defaults for name in self.cls._fields}

    def approve(self, record: Any) -> Any:
        """Return the record if its invariants hold; else raise a `Fault`."""
        if self.check is not None:
            if is_record(self):  # so that a check may rely on the types of the fields
                # Imported here: whoever only declares what may be stored needs no checks.
                from rosenblatt.storage.checks import check_record

                check_record(f"a {self.name}", record, self.cls)
            self.check(record)
        return record


BY_NAME: dict[str, Registration] = {}
BY_CLASS: dict[type, Registration] = {}


def stored(
    name: str, *, check: Callable[[Any], None] | None = None, renamed: Mapping[str, str | None] | None = None
) -> Callable[[Class], Class]:
    """Register a class, so that files may hold its instances.

    Parameters
    ----------
    name : str
        What files call it. Files outlive the code: it stays when the class is renamed.
    check : callable, optional
        Raises a `Fault` if an invariant of the record does not hold. It is called before a record is written and after
        one was read, if the fields have the types that the class declares; other types are a `Fault` by themselves.
    renamed : mapping, optional
        From the names of fields in files of format version 1 to their names today; None: the field is no more.

    Returns
    -------
    callable
        A decorator for a NamedTuple, a dataclass or an enumeration. A class with `to_dict` and `from_dict` is stored as
        what they return and take.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> @stored("doctest.Interval")
    ... class Interval(NamedTuple):
    ...     low: float
    ...     high: float
    """

    def register(cls: Class) -> Class:
        known = BY_NAME.get(name)
        if known is not None and known.cls.__qualname__ != cls.__qualname__:
            raise ValueError(f"Files call {known.cls.__qualname__} {name!r} already. Choose another name.")
        BY_NAME[name] = BY_CLASS[cls] = Registration(name, cls, check, dict(renamed or {}))
        return cls

    return register


def registered(name: str, suits: Callable[[Registration], bool], kind: str) -> Registration:
    """Return the class of a name in a file; raise a `Fault` if there is none that suits."""
    found = BY_NAME.get(name)
    if found is None or not suits(found):
        raise Fault(f"there is no {kind} {name!r:.60}")
    return found


def is_enum(entry: Registration) -> bool:
    """Return whether a class is an enumeration."""
    return issubclass(entry.cls, Enum)


def is_record(entry: Registration) -> bool:
    """Return whether a class is stored field by field."""
    return not is_enum(entry) and not entry.is_document
