"""Arrays that are mostly one value, kept as the entries that differ from it, row by row.

Hashed rows touch few of their columns: weights are mostly 0, and the variances of AROW mostly 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from rosenblatt.data.memory import SURELY_THERE, check_memory
from rosenblatt.storage.checks import BLOCK_ENTRIES
from rosenblatt.storage.registry import Fault, expect

Array = npt.NDArray[Any]

# Bytes that the header of a file needs for the parts of a sparse array.
HEADER_BYTES = 512
# Entries of an array in which the most frequent value is looked for.
SAMPLED_ENTRIES = 1 << 12
# Entries apart, modulo the size of the array, that those are: a prime, and so no multiple of a width.
SAMPLE_STEP = 2_654_435_761


class SparseArray(NDArrayOperatorsMixin):
    """An array that is mostly `fill`, to read: it acts like a NumPy array, and is made dense only where it must.

    Its rows are those of the array reshaped to two dimensions, of which the last keeps its size. Row i has `data` in
    the columns `indices`, both from indptr[i] to indptr[i + 1], columns ascending, and `fill` in all others. Shape,
    type, rows `array[i]` and columns `array[:, [3, 5]]` cost little; anything else makes the array dense, once.
    """

    def __init__(self, shape: Sequence[int], fill: float, data: Array, indices: Array, indptr: Array) -> None:
        self.shape = tuple(shape)
        self.fill, self.data, self.indices, self.indptr = data.dtype.type(fill), data, indices, indptr

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the dense array."""
        return self.size * self.dtype.itemsize

    @cached_property
    def dense(self) -> Array:
        """The whole array, to read."""
        check_memory(self.nbytes, f"An array of shape {self.shape}", "Pass sparse rows, and read some of its columns.")
        array = self.toarray()
        array.flags.writeable = False
        return array

    def toarray(self) -> Array:
        """Return the whole array. Where the fill is zero, pages of memory without an entry are never touched."""
        # By its bits: -0.0 is not what np.zeros returns.
        array = np.full(self.shape, self.fill) if any(self.fill.tobytes()) else np.zeros(self.shape, self.dtype)
        first = np.arange(self.indptr.size - 1) * self.shape[-1]
        array.reshape(-1)[np.repeat(first, np.diff(self.indptr)) + self.indices] = self.data
        return array

    @cached_property
    def columns(self) -> Array:
        """Columns with an entry in some row, sorted."""
        return np.unique(self.indices)

    @cached_property
    def block(self) -> Array:
        """The `columns`, (rows, columns.size + 1), and last the value of all other columns."""
        block = np.full((self.indptr.size - 1, self.columns.size + 1), self.fill, order="F")
        row = np.repeat(np.arange(block.shape[0]), np.diff(self.indptr))
        block[row, np.searchsorted(self.columns, self.indices)] = self.data
        return block

    @cached_property
    def _place(self) -> Array:
        place = np.full(self.shape[-1], self.columns.size, np.int32)
        place[self.columns] = np.arange(self.columns.size)
        return place

    def places(self, columns: Array) -> Array:
        """Return where columns of the array are in `block`, as integers of the same type."""
        if 4 * self.shape[-1] <= SURELY_THERE:
            return self._place[columns].astype(columns.dtype, copy=False)
        found = np.searchsorted(self.columns, columns.astype(self.columns.dtype, copy=False))
        found[np.append(self.columns, -1)[found] != columns] = self.columns.size
        return found.astype(columns.dtype, copy=False)

    def check(self) -> None:
        """Raise a `Fault` unless the parts, which come from a file, are those of an array."""
        *others, width = self.shape
        parts = self.data, self.indices, self.indptr
        sound = all(part.ndim == 1 for part in parts) and self.data.dtype.kind in "iuf"
        sound = sound and self.indices.dtype.str[1:] in ("i4", "i8") and self.indptr.dtype == np.int64
        expect(sound, "a sparse array has parts of another type")
        starts, count = self.indptr, self.indices.size
        expect(starts.size == math.prod(others) + 1, f"a sparse array of shape {self.shape} has other rows")
        rising = starts[0] == 0 and bool(np.all(starts[1:] >= starts[:-1]))
        expect(rising and starts[-1] == count == self.data.size, "the rows of a sparse array do not fit its entries")
        inside = not count or bool(self.indices.min() >= 0 and self.indices.max() < width)
        expect(inside, f"a sparse array has columns outside [0, {width})")
        descents = np.flatnonzero(self.indices[1:] <= self.indices[:-1]) + 1
        expect(np.isin(descents, starts).all(), "the columns of a sparse array are not sorted")

    # ----------------------------------------------------------------------------------------------- as a NumPy array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.dense, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = (part.dense if isinstance(part, SparseArray) else part for part in inputs)
        return getattr(ufunc, method)(*plain, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.dense, name)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if "dense" not in vars(self) and self.ndim == 2:
            if isinstance(key, int | np.integer) and 0 <= key < len(self):
                entries = slice(self.indptr[key], self.indptr[key + 1])
                starts = np.array([0, entries.stop - entries.start])
                return SparseArray(
                    self.shape[1:], self.fill, self.data[entries], self.indices[entries], starts
                ).toarray()
            if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], slice) and key[0] == slice(None):
                columns = np.asarray(key[1])
                if columns.dtype.kind in "iu" and np.all((columns >= 0) & (columns < self.shape[1])):
                    return self.block[:, self.places(columns)]
        return self.dense[key]

    def __repr__(self) -> str:
        """Return the kind and the shape, and how many entries are stored."""
        return f"SparseArray(shape={self.shape}, fill={self.fill}, {self.data.size} entries)"


def compress(array: Array) -> SparseArray | None:
    """Return an array without its most frequent value if that takes fewer bytes of a file; else None."""
    if array.ndim == 0 or array.nbytes <= HEADER_BYTES or array.dtype.kind not in "iuf":
        return None
    rows = array.reshape(-1, array.shape[-1])
    by_column = rows.flags.f_contiguous and not rows.flags.c_contiguous
    flat = rows.reshape(-1, order="F" if by_column else "C")
    bits = flat.view(f"u{flat.itemsize}")  # compared as bits: -0.0 is not 0.0
    fill, share = _most_frequent(bits)
    index = np.dtype(np.int32 if rows.shape[1] <= 1 << 31 else np.int64)
    bytes_per_entry, overhead = flat.itemsize + index.itemsize, 8 * (rows.shape[0] + 1) + HEADER_BYTES
    # Half of the least share that saves anything: what was sampled may differ from the whole.
    if not np.isfinite(fill.view(flat.dtype)) or share < (1 - flat.itemsize / bytes_per_entry) / 2:
        return None
    found, count = [], 0
    for first in range(0, bits.size, BLOCK_ENTRIES):
        found.append(np.flatnonzero(bits[first : first + BLOCK_ENTRIES] != fill) + first)
        count += found[-1].size
        if count * bytes_per_entry + overhead >= array.nbytes:
            return None
    place = np.concatenate(found)
    row, column = np.divmod(place, rows.shape[1])
    if by_column:
        column, row = np.divmod(place, rows.shape[0])
        order = np.argsort(row.astype(np.min_scalar_type(rows.shape[0])), kind="stable")
        place, row, column = place[order], row[order], column[order]
    starts = _starts(row, rows.shape[0])
    return SparseArray(array.shape, fill.view(flat.dtype), flat[place], column.astype(index), starts)


def from_columns(block: Array, columns: Array, width: int) -> SparseArray | None:
    """Return a matrix from some of its columns, sorted, and last in `block` one that is like all the others.

    None if that one has several values, or if nothing is saved.
    """
    bits = block.view(f"u{block.itemsize}")
    fill = bits[0, -1]
    if np.any(bits[:, -1] != fill):
        return None
    row, place = np.nonzero(bits[:, :-1] != fill)
    data, indices, starts = block[row, place], columns[place], _starts(row, block.shape[0])
    sparse = SparseArray((block.shape[0], width), block[0, -1], data, indices, starts)
    return sparse if data.nbytes + indices.nbytes + starts.nbytes < sparse.nbytes else None


def _starts(row: Array, n_rows: int) -> Array:
    """Return where each row starts among entries of sorted rows, and the end of the last."""
    return np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_rows))], dtype=np.int64)


def _most_frequent(bits: Array) -> tuple[Any, float]:
    """Return the most frequent value of a sample, and its share."""
    places = np.arange(min(bits.size, SAMPLED_ENTRIES), dtype=np.uint64) * np.uint64(SAMPLE_STEP)
    values, counts = np.unique(bits[places % np.uint64(bits.size)], return_counts=True)
    best = counts.argmax()
    return values[best], counts[best] / counts.sum()


def from_parts(shape: Any, fill: Any, data: Array, indices: Array, indptr: Array) -> SparseArray:
    """Return the array of parts that come from a file; raise a `Fault` if they are not sound."""
    sides = isinstance(shape, list) and 1 <= len(shape) <= 8 and all(type(side) is int and side >= 0 for side in shape)
    # As for a tensor: an address, of 48 bits, could reach every entry.
    expect(sides and math.prod(max(side, 1) for side in shape) < 1 << 48, f"a sparse array has no shape: {shape!r:.60}")
    kind = {"f": float, "i": int, "u": int}.get(data.dtype.kind)
    expect(type(fill) is kind, f"a sparse array of {data.dtype} has the fill {fill!r:.60}")
    try:
        with np.errstate(all="ignore"):
            exact = data.dtype.type(fill)
    except OverflowError:
        raise Fault(f"{fill!r:.60} is not of type {data.dtype}") from None
    expect(exact.item() == fill and np.isfinite(exact), f"{fill!r:.60} is not of type {data.dtype}")
    array = SparseArray(shape, exact, data, indices, indptr)
    array.check()
    return array
