"""Storage of a run in the dual: its objects, cached similarities, arrays that grow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.kernels.kernels import Objects, Similarity, are_neighbours, join, take

Array = npt.NDArray[Any]

COLUMNS_PER_CHUNK = 256  # columns of the cache allocated together
FIRST_CAPACITY = 256  # initial capacity of a growing array


class ObjectPool:
    """The objects of a run, numbered consecutively: the vectors it starts with, then its rows."""

    def __init__(self, kernel: Similarity, first: Objects, rows: Objects, cache_bytes: float) -> None:
        self.kernel, self.first, self.rows = kernel, first, rows
        self.offset = int(first.shape[0])
        size = self.offset + rows.shape[0]
        # A function of pairs is never called twice for the same pair, if the cache has room for all of them.
        remembers = kernel.expensive and 8.0 * size * size <= cache_bytes
        self.known = np.full((size, size), np.nan) if remembers else None

    def take(self, number: Array) -> Objects:
        """Return objects by their numbers."""
        if self.offset == 0:
            return take(self.rows, number)
        old = number < self.offset
        parted = join(take(self.first, number[old]), take(self.rows, number[~old] - self.offset))
        place = np.argsort(np.argsort(~old, kind="stable"))
        return take(parted, place)

    def columns(self, number: Array, row: Array) -> Array:
        """Return the similarities of objects, by their numbers, with rows, in shape (objects, rows)."""
        if self.known is None:
            return self.kernel.columns(self.take(number), take(self.rows, row))
        row = row + self.offset
        for i in number:
            missing = row[np.isnan(self.known[i, row])]
            if missing.size:
                found = self.kernel.columns(self.take(np.array([i])), self.take(missing))[0]
                self.known[i, missing] = self.known[missing, i] = found
        return np.asarray(self.known[np.ix_(number, row)])


class ColumnCache:
    """Columns of similarities with all rows, of the first vectors up to the capacity, which bytes limit."""

    def __init__(self, n_rows: int, dtype: npt.DTypeLike, cache_bytes: float) -> None:
        self.n_rows, self.dtype = n_rows, np.dtype(dtype)
        self.capacity = int(cache_bytes // (n_rows * self.dtype.itemsize))
        self.chunks: list[Array] = []

    def open(self, slots: int) -> None:
        """Allocate room for this many vectors, up to the capacity."""
        while len(self.chunks) * COLUMNS_PER_CHUNK < min(slots, self.capacity):
            width = min(COLUMNS_PER_CHUNK, self.capacity - len(self.chunks) * COLUMNS_PER_CHUNK)
            self.chunks.append(np.empty((width, self.n_rows), self.dtype))

    def write(self, slot: Array, row: Array, K: Array) -> None:
        """Keep the similarities of some vectors with some rows; vectors beyond the capacity are left out."""
        for number in np.unique(slot[slot < self.capacity] // COLUMNS_PER_CHUNK):
            here = np.flatnonzero((slot // COLUMNS_PER_CHUNK == number) & (slot < self.capacity))
            column = slot[here] - number * COLUMNS_PER_CHUNK
            if are_neighbours(row) and are_neighbours(column) and are_neighbours(here):
                part = K[here[0] : here[-1] + 1]
                self.chunks[number][column[0] : column[-1] + 1, row[0] : row[-1] + 1] = part
            else:
                self.chunks[number][np.ix_(column, row)] = K[here]

    def read(self, slot: Array, row: Array) -> Iterator[tuple[Array, Array]]:
        """Yield places within `slot`, and the kept similarities of those vectors with the rows."""
        near = are_neighbours(row)
        for number in np.unique(slot // COLUMNS_PER_CHUNK):
            here = np.flatnonzero(slot // COLUMNS_PER_CHUNK == number)
            column = slot[here] - number * COLUMNS_PER_CHUNK
            chunk = self.chunks[number]
            yield here, chunk[column, row[0] : row[-1] + 1] if near else chunk[np.ix_(column, row)]


class GrowingArray:
    """An array that grows at its end. `size` entries are in use."""

    def __init__(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        self.array, self.size = np.empty((FIRST_CAPACITY, *shape), dtype), 0

    def push(self, values: Array) -> None:
        """Append values."""
        needed = self.size + len(values)
        if needed > len(self.array):
            grown = np.empty((max(needed, 2 * len(self.array)), *self.array.shape[1:]), self.array.dtype)
            grown[: self.size] = self.array[: self.size]
            self.array = grown
        self.array[self.size : needed] = values
        self.size = needed

    def view(self, start: int = 0) -> Array:
        """Return the values from `start` on, without a copy."""
        return self.array[start : self.size]
