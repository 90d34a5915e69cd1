"""The classes whose instances files may hold. Each is registered where it is defined."""

from __future__ import annotations

from collections.abc import Callable
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
    sparse: tuple[str, ...] = ()  # fields that may be a `SparseArray`

    @property
    def kind(self) -> str:
        """Return how it is stored: as an enumeration, as a document of its own form for JSON, or field by field."""
        if issubclass(self.cls, Enum):
            return "enumeration"
        return "document" if hasattr(self.cls, "from_dict") else "record"


BY_NAME: dict[str, Registration] = {}
BY_CLASS: dict[type, Registration] = {}
# Learners that users have defined, by name, the last of each. A file may hold a model of one, but never its code.
DEFINED: dict[str, Any] = {}


def stored(
    name: str, *, check: Callable[[Any], None] | None = None, sparse: tuple[str, ...] = ()
) -> Callable[[Class], Class]:
    """Return a decorator that registers a class under a name, so that files may hold its instances.

    The class is a NamedTuple, a dataclass or an enumeration. A class with `to_dict` and `from_dict` is stored as what
    they return and take. `check` raises a `Fault` if an invariant of the record does not hold. It is called before a
    record is written and after one was read, if the fields have the types that the class declares; other types are a
    `Fault` by themselves. A large array of mostly one value is a `SparseArray` in the fields named by `sparse`, and
    dense in all others.

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
        BY_NAME[name] = BY_CLASS[cls] = Registration(name, cls, check, sparse)
        return cls

    return register
