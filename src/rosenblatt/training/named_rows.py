"""Rows that are dicts from the names of features to numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import itemgetter
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.dense import unmasked
from rosenblatt.engine.rows import Csr
from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]

Columns = dict[str, int]
NOT_FINITE = "x contains NaN, infinity or values whose square overflows. Remove such rows or scale them."


@cache
def _ends(size: int) -> Array:
    """Return where a single row of so many entries begins and ends; nobody writes to it."""
    return np.array([0, size], np.int64)


def is_dict(x: Any) -> bool:
    """Return whether a row is a dict, or another mapping."""
    return type(x) is dict or isinstance(x, Mapping)


def row_names(x: Any) -> tuple[str, ...]:
    """Return the names in a row of a data frame (a pandas Series); none if they are not all texts."""
    names = tuple(x.index) if hasattr(x, "to_dict") and hasattr(x, "index") else ()
    return names if all(isinstance(name, str) for name in names) else ()


class Layout(NamedTuple):
    """Where the names of a row are: the next row mostly has the same, and then needs no look at each.

    The entries are sorted, so that sums are added up in the order of the columns, as in a matrix.
    """

    columns: Columns  # that this is about
    size: int  # how many names
    values: Callable[[Mapping[str, float]], Iterable[float]]  # of a row; a `KeyError` if it lacks a name
    pack: Callable[..., bytes]  # from these values to their bytes, in the dtype of the weights
    indices: Array  # columns of these values, ascending


def layout_of(columns: Columns, names: Iterable[str], dtype: np.dtype[Any]) -> Layout:
    """Return where names are; raise a `KeyError` for one that has no column."""
    found = sorted([(columns[name], name) for name in names])
    ordered = [name for _, name in found]
    # A getter of one name returns no tuple.
    values = itemgetter(*ordered) if len(ordered) > 1 else lambda x: [x[name] for name in ordered]
    pack = Struct(f"{len(found)}{dtype.char}").pack
    return Layout(columns, len(found), values, pack, np.array([column for column, _ in found], np.int64))


def read_values(layout: Layout, x: Mapping[str, float], dtype: np.dtype[Any]) -> Array:
    """Return the values of a row; unlike `Layout.pack`, read texts that are numbers."""
    try:
        return np.fromiter(layout.values(x), dtype, layout.size)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"x has a value that is not a number ({error}). Turn text into numbers first.") from None


def named_row(columns: Columns, x: Mapping[str, float], dtype: np.dtype[Any]) -> Csr:
    """Return a row whose names all have columns; raise a `KeyError` for one that has none."""
    layout = layout_of(columns, x, dtype)
    data, indices = read_values(layout, x, dtype), layout.indices
    return Csr(data, indices, _ends(data.size) if data.size < 4096 else np.array([0, data.size], np.int64))


def known_part(columns: Columns, x: Mapping[str, float]) -> dict[str, float]:
    """Return the entries whose names have columns, as the others count as zero."""
    return {name: value for name, value in x.items() if name in columns}


def add_names(columns: Columns, x: Mapping[str, float]) -> None:
    """Add a column for each new name, in the order of the row: columns must not depend on the hashes of names."""
    if not x and not columns:
        raise InvalidInput("x has no features, and there were none before. Begin with a row that has some.")
    for name in x:
        columns.setdefault(name, len(columns))


def check_finite(row: Csr) -> float:
    """Return the squared length of a row; raise an error if that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        length = float(row.data @ row.data)
    if not length < np.inf:
        raise InvalidInput(NOT_FINITE)
    return length


def as_row(x: Any) -> Array:
    """Return a row as an array of numbers."""
    try:
        return np.asarray(unmasked(x), dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"x cannot be read as numbers ({error}). Pass one row of numbers, or a dict.") from None
