"""Check values before they are written to a file, and after they were read from one.

Compiled loops do not check bounds: the arrays of a forged file must not reach them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from numbers import Integral, Real
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from rosenblatt.storage.registry import expect

Array = npt.NDArray[Any]

BLOCK_ENTRIES = 1 << 20  # of an array, that are examined at once
_DTYPES = {"f": ("f4", "f8"), "d": ("f8",), "i": ("i4", "i8"), "l": ("i8",)}


def is_integer(value: Any, least: int = 0, most: int = 1 << 48) -> bool:
    """Return whether a value is a Python integer in a range."""
    return type(value) is int and least <= value <= most


NO_LABELS = "classes_ are not labels that files hold. Fit with numbers or texts, such as str(label)"


def is_label(value: Any) -> bool:
    """Return whether a value may be a class, or the key of a dict."""
    return isinstance(value, bool | int | float | str | np.generic) and bool(value == value)


def is_of(value: Any, hint: Any) -> bool:
    """Return whether a value is of the type that an annotation declares.

    A number of NumPy's counts as an `int` or a `float`, and an integer as a `float`; a boolean as neither.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    # The type of a PEP 695 alias, such as NDArray since NumPy 2.5, is its value.
    alias = hint if origin is None else origin
    if hasattr(alias, "__value__"):
        return is_of(value, alias.__value__)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(is_of(value, choice) for choice in arguments)
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in arguments)
    if origin is tuple:
        return type(value) is tuple and _are_of(value, arguments)
    if origin is list:
        return type(value) is list and all(is_of(entry, arguments[0]) for entry in value)
    if origin is dict:
        key, entry = arguments
        return type(value) is dict and all(is_of(k, key) and is_of(v, entry) for k, v in value.items())
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool | np.bool_)
    return type(value) is (origin or hint)


def _are_of(values: tuple[Any, ...], hints: tuple[Any, ...]) -> bool:
    if len(hints) == 2 and hints[1] is Ellipsis:
        return all(is_of(value, hints[0]) for value in values)
    return len(values) == len(hints) and all(map(is_of, values, hints))


def entries(node: Any, names: Iterable[str]) -> list[Any]:
    """Return the entries of a dict in the order of the names; raise a `Fault` if it has other names."""
    names = list(names)
    expect(isinstance(node, dict) and node.keys() == set(names), f"an entry has other names than {', '.join(names)}")
    return [node[name] for name in names]


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def check_record(name: str, record: Any, kind: type) -> None:
    """Raise a `Fault` unless the record is of a class, and its fields of the types that the class declares."""
    expect(type(record) is kind, f"{name} is not a {kind.__name__}")
    for field, hint in _hints(kind).items():
        expect(is_of(getattr(record, field), hint), f"{name}.{field} is not of type {hint}")


def check_array(name: str, array: Any, types: str, *shapes: tuple[int, ...], finite: bool = True) -> None:
    """Raise a `Fault` unless a value is an array of one of the types and shapes, with finite numbers.

    `types` is "f" for float32 or float64, "d" for float64, "i" for int32 or int64, "l" for int64. If not `finite`, NaN
    and infinity are allowed.
    """
    expect(isinstance(array, np.ndarray), f"{name} is not an array")
    expect(array.dtype.str[1:] in _DTYPES[types], f"{name} has dtype {array.dtype}, which does not belong there")
    wanted = " or ".join(map(str, shapes))
    expect(array.shape in shapes, f"{name} has shape {array.shape}, where {wanted} belongs. Fit again")
    if finite:
        expect(is_finite(array), f"{name} has values that are not finite. Fit again")


def is_finite(array: Array) -> bool:
    """Return whether all values are finite; block by block, to take no memory beside an array of gigabytes."""
    flat = array.ravel(order="K")
    return all(
        bool(np.isfinite(flat[first : first + BLOCK_ENTRIES]).all()) for first in range(0, flat.size, BLOCK_ENTRIES)
    )


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of an array; () for anything else."""
    return value.shape if isinstance(value, np.ndarray) else ()


def check_layout(
    record: Any, layouts: Mapping[str, str], sizes: Mapping[str, int], name: str = "the state", *, finite: bool = True
) -> None:
    """Raise a `Fault` unless every array of a record has the type and the shape that its layout says.

    A layout is a type, as for `check_array`, and the shapes that are possible, a letter or digit for each side; `sizes`
    has those of letters. `"d pd p0"` is float64 of shape (p, d) or (p, 0). After the type, `?` allows values that are
    not finite; without `finite`, no values are read. All arrays of type `f` must have the same dtype.
    """
    dtypes = set()
    for field, layout in layouts.items():
        types, *shapes = layout.split()
        array = getattr(record, field)
        wanted = [tuple(int(side) if side.isdigit() else sizes[side] for side in shape) for shape in shapes]
        check_array(f"{field} of {name}", array, types[0], *wanted, finite=finite and "?" not in types)
        if types[0] == "f":
            dtypes.add(array.dtype)
    expect(len(dtypes) <= 1, f"{name} mixes float32 with float64")


def check_rows(name: str, rows: Any, count: int, features: int) -> None:
    """Raise a `Fault` unless a value is a finite array or a CSR matrix of so many rows and features."""
    if not (hasattr(rows, "tocsr") and type(rows).__name__ in ("csr_matrix", "csr_array")):
        check_array(name, rows, "f", (count, features))
    expect(rows.shape == (count, features), f"{name} have another size")


def check_classes(classes: Any) -> None:
    """Raise a `Fault` unless a value is a sorted array of different labels, at least one."""
    fits = isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.size and classes.dtype.kind in "biufUO"
    expect(fits, NO_LABELS)
    expect(all(is_label(label) for label in classes.tolist()), NO_LABELS)
    try:
        rising = bool(np.all(classes[1:] > classes[:-1]))
    except TypeError:
        rising = False
    expect(rising, "classes_ are not sorted")
