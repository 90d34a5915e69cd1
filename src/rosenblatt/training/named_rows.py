"""Single rows of a stream: dicts from the names of features to numbers, and arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.matrices import sp, unmasked
from rosenblatt.data.table import Table, as_table
from rosenblatt.engine.rows import Csr
from rosenblatt.errors import InvalidInput
from rosenblatt.text import listed

Array = npt.NDArray[Any]

NOT_A_NUMBER = "x has a value that is not a number ({}). Turn text into numbers first."
DOUBLE = np.dtype(np.float64)
NOT_FINITE = "x contains NaN, infinity or values whose square overflows. Remove such rows or scale them."


class RowLayout(NamedTuple):
    """Where the names of a row are. The next row usually has the same names, and can reuse it.

    The entries are sorted, so that sums are added up in the order of the columns, as in a matrix.
    """

    size: int  # number of names
    values: Callable[[Mapping[str, float]], Iterable[float]]  # of a row; a `KeyError` if it lacks a name
    pack: Callable[..., bytes]  # from these values to their bytes, in the dtype of the weights
    indices: Array  # columns of these values, ascending


def _layout_of(columns: Mapping[str, int], names: Iterable[str], dtype: np.dtype[Any]) -> RowLayout:
    """Return the layout of names; raise a `KeyError` for one that has no column."""
    pairs = sorted([(columns[name], name) for name in names])
    if pairs and not 0 <= pairs[0][0] <= pairs[-1][0] < len(columns):
        raise InvalidInput(
            f"The columns of the stream were replaced: {pairs[0][0]} and {pairs[-1][0]} are not both of the "
            f"{len(columns)} that there are. Fit again."
        )
    ordered = [name for _, name in pairs]
    # An itemgetter of one name returns no tuple.
    values = itemgetter(*ordered) if len(ordered) > 1 else lambda x: [x[name] for name in ordered]
    pack = Struct(f"{len(pairs)}{dtype.char}").pack
    return RowLayout(len(pairs), values, pack, np.array([column for column, _ in pairs], np.int64))


def _read_values(layout: RowLayout, x: Mapping[str, float], dtype: np.dtype[Any]) -> Array:
    """Return the values of a row; unlike `RowLayout.pack`, convert texts that are numbers."""
    try:
        return np.fromiter(layout.values(x), dtype, layout.size)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(NOT_A_NUMBER.format(error)) from None


@cache
def _ends(size: int) -> Array:
    """Return the row pointer of a single row with this many entries; it must not be written to."""
    return np.array([0, size], np.int64)


def _as_table(columns: Mapping[str, int], x: Mapping[str, float]) -> Table:
    """Return a row whose names all have columns as a table."""
    layout = _layout_of(columns, x, DOUBLE)
    data = _read_values(layout, x, DOUBLE)
    with np.errstate(over="ignore", invalid="ignore"):
        length = float(data @ data)
    if not length < np.inf:
        raise InvalidInput(NOT_FINITE)
    row = Csr(data, layout.indices, _ends(data.size) if data.size < 4096 else np.array([0, data.size], np.int64))
    return Table(row, (1, max(len(columns), 1)), DOUBLE, length)


class NamedColumns(dict[str, int]):
    """The column of each name, for a stream of dicts.

    Attributes
    ----------
    layout : RowLayout or None
        Of the last row.
    """

    __slots__ = ("layout",)

    def __init__(self, columns: Any = ()) -> None:
        super().__init__(columns)
        self.layout: RowLayout | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedColumns, (dict(self),)

    def add(self, x: Mapping[str, float]) -> None:
        """Add a column for each new name, in the order of the row: columns must not depend on the hashes of names."""
        _as_table({name: place for place, name in enumerate(x)}, x)  # an invalid row must not leave its names
        if not x and not self:
            raise InvalidInput("x has no features, and there were none before. Begin with a row that has some.")
        for name in x:
            self.setdefault(name, len(self))

    def known_part(self, x: Mapping[str, float]) -> dict[str, float]:
        """Return the entries whose names have columns; the others count as zero."""
        return {name: value for name, value in x.items() if name in self}

    def row(self, x: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[bytes, Array] | None:
        """Return the bytes of a row's values and their columns, and keep the layout; None if a name has no column."""
        try:
            layout = _layout_of(self, x, dtype)
        except KeyError:
            return None
        self.layout = layout
        return _read_values(layout, x, dtype).tobytes(), layout.indices

    def table(self, x: Mapping[str, float]) -> Table:
        """Return a row as a table; names without a column count as zero."""
        return _as_table(self, self.known_part(x))


def is_dict(x: Any) -> bool:
    """Return whether a row is a dict, or another mapping."""
    return type(x) is dict or isinstance(x, Mapping)


def row_names(x: Any) -> tuple[str, ...]:
    """Return the names in a row of a data frame (a pandas Series); none if they are not all texts."""
    names = tuple(x.index) if hasattr(x, "to_dict") and hasattr(x, "index") else ()
    return names if all(isinstance(name, str) for name in names) else ()


def by_names(x: Mapping[str, float], names: Sequence[str]) -> Array:
    """Return a dict as an array of the values of these names; a name that it lacks counts as zero."""
    unknown = x.keys() - set(names)
    if unknown:
        raise InvalidInput(
            f"x has features that the model does not have: {listed(sorted(map(str, unknown)))}. Leave them out; new "
            "features are for linear learners whose streams began with a dict."
        )
    try:
        return np.array([x.get(name, 0.0) for name in names], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(NOT_A_NUMBER.format(error)) from None


def array_table(x: Any, features: int | None) -> Table:
    """Return a row without names as a table; raise an error unless it has this many features, if that is known."""
    row: Any = x
    if not sp.issparse(x):
        try:
            row = np.asarray(unmasked(x), dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInput(f"x cannot be read as numbers ({error}). Pass one row of numbers, or a dict.") from None
    single = row.ndim == 1 or (sp.issparse(x) and row.shape[0] == 1)
    if not single or features not in (None, row.shape[-1]):
        expected = "" if features is None else f"; the model has {features} features"
        raise InvalidInput(f"x has shape {row.shape}{expected}. Pass one row: an array of shape (n_features,).")
    return as_table(row if row.ndim == 2 else row.reshape(1, -1))
