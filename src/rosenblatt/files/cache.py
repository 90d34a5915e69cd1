"""A cache of rows in a compact binary file, for the passes after the first.

The file holds arrays and JSON, and the digest of the files and options that it belongs to. It appears whole or not at
all. Its content is checked like that of any other file, so that no loop leaves an array.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.files.chunks import Chunk, Position, inspected, sliced
from rosenblatt.files.options import as_count
from rosenblatt.files.streams import Array, FilePath, in_order
from rosenblatt.storage.atomic import Beside
from rosenblatt.storage.container import pack_arrays, unpack_arrays

MAGIC = b"rosenblatt rows 1"
TAIL = struct.Struct("<QQ")  # length of the index, and the sum of its bytes
NARROW = ("u1", "u2", "i4", "f4", "f8")  # types of values, the narrowest first
WHOLE = ("u1", "u2", "i4", "i8")
# Errors that reading damaged content can raise.
FAULTS = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)


class RowCache:
    """The rows of one input, in a file of at most `most` bytes. A cache with another digest is ignored.

    `given_up` says why no cache was written; it is empty if one was.
    """

    def __init__(self, path: FilePath, most: int, digest: str, n_features: int) -> None:
        self.path, self.most, self.digest = Path(path), as_count("cache_bytes", most), digest
        self.n_features = n_features
        if self.path.exists() and not self.path.is_file():
            raise InvalidInput(f"cache={str(path)!r} is a folder, a device or a pipe. Give the name of a file.")
        self.given_up, self.bytes_read, self.size = "", 0, 0
        self._index: dict[str, Any] | None = None
        with contextlib.suppress(OSError, *FAULTS):
            self._index = self._read_index()

    @property
    def whole(self) -> bool:
        """Whether all rows are there."""
        return self._index is not None

    @property
    def count(self) -> int:
        """Number of chunks."""
        assert self._index is not None
        return len(self._index["chunks"])

    @property
    def found(self) -> dict[str, Any]:
        """Findings of the pass that wrote the rows, besides them."""
        assert self._index is not None
        return dict(self._index["found"])

    def remove(self) -> None:
        """Remove the file."""
        self._index = None
        self.path.unlink(missing_ok=True)

    # --------------------------------------------------------------------------------------------------------- writing

    def write(self, chunks: Iterator[Chunk], found: Callable[[], dict[str, Any]]) -> Iterator[Chunk]:
        """Yield the chunks, and write them; the file exists after the last one.

        If the disk is full or the cache would become too large, the chunks are yielded without it. After the last one,
        `found` returns the findings of the pass besides rows, as plain values.
        """
        self.given_up = ""
        writer: _Writer | None = None
        try:
            for chunk in chunks:
                if not self.given_up:
                    try:
                        writer = writer or _Writer(self.path, self.most, self.digest)
                        writer.add(chunk)
                    except OSError as error:
                        self.given_up = f"No cache was kept: {self.path} cannot be written ({error})."
                    except OverflowError:
                        self.given_up = f"No cache was kept: {self.path} would take more than {self.most} bytes."
                    if self.given_up and writer is not None:
                        writer.discard()
                        writer = None
                yield chunk
            if writer is not None:
                try:
                    writer.finish(found())
                    self._index = self._read_index()
                except OSError as error:
                    self.given_up = f"No cache was kept: {self.path} cannot be written ({error})."
                writer = None
        finally:
            if writer is not None:
                writer.discard()

    # --------------------------------------------------------------------------------------------------------- reading

    def _read_index(self) -> dict[str, Any]:
        with open(self.path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if file.read(len(MAGIC)) != MAGIC or size < len(MAGIC) + TAIL.size:
                raise ValueError("not a cache")
            file.seek(size - TAIL.size)
            length, total = TAIL.unpack(file.read(TAIL.size))
            if length > size - TAIL.size - len(MAGIC):
                raise ValueError("cut short")
            file.seek(size - TAIL.size - length)
            content = file.read(length)
        if sum(content) != total:
            raise ValueError("damaged")
        index = json.loads(content)
        if index["digest"] != self.digest:
            raise ValueError("of another input")
        self.size = size
        index["first"] = np.cumsum([0, *(chunk["rows"] for chunk in index["chunks"])])
        return dict(index)

    def chunk(self, number: int) -> Chunk:
        """Return a chunk by its number."""
        with open(self.path, "rb") as file:
            return self._read_chunk(file, number)

    def chunks(self, row: int = 0) -> Iterator[Chunk]:
        """Yield the chunks from a row on."""
        assert self._index is not None
        first = self._index["first"]
        begin = int(np.searchsorted(first, row, side="right")) - 1
        self.bytes_read = 0
        with open(self.path, "rb") as file:
            for number, chunk in in_order(
                range(begin, self.count), lambda number: (number, self._read_chunk(file, number)), threads=1
            ):
                self.bytes_read = self._index["chunks"][number]["end"]
                if number == begin and row > first[begin]:
                    chunk = sliced(chunk, row - int(first[begin]), chunk.label.size)
                yield chunk

    def _read_chunk(self, file: BinaryIO, number: int) -> Chunk:
        assert self._index is not None
        entry = self._index["chunks"][number]
        try:
            begin, end, rows = (int(entry[name]) for name in ("begin", "end", "rows"))
            if not 0 <= begin <= end <= self.size:
                raise ValueError("a chunk is outside of the file")
            file.seek(begin)
            content = file.read(end - begin)
            if len(content) != end - begin or _sum(content) != entry["sum"]:
                raise ValueError("a chunk was changed")
            return _decode(content, rows, self.n_features)
        except (OSError, *FAULTS) as error:
            raise InvalidInput(
                f"{self.path}, chunk {number}: the cache is damaged ({error}). Remove it; it will be written again."
            ) from None


def _sum(content: bytes) -> int:
    """Return a checksum of all bytes, eight at a time."""
    words = np.frombuffer(content, np.uint64, len(content) // 8)
    return (int(words.sum(dtype=np.uint64)) + sum(content[words.nbytes :])) % (1 << 64)


# ---------------------------------------------------------------------------------------------------------- encoding


def _narrowed(values: Array, types: tuple[str, ...]) -> Array:
    """Return the values in the first of some types that holds them exactly."""
    if not values.size:
        return values.astype(types[0])
    low, high = values.min(), values.max()
    for name in types[:-1]:
        dtype = np.dtype("<" + name)
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            if not (limits.min <= low and high <= limits.max):
                continue
        with np.errstate(over="ignore"):
            narrow = values.astype(dtype)
        if np.array_equal(narrow, values) and not _has_negative_zero(values, dtype):
            return narrow
    return values.astype("<" + types[-1])


def _has_negative_zero(values: Array, dtype: np.dtype[Any]) -> bool:
    return dtype.kind != "f" and values.dtype.kind == "f" and bool(np.signbit(values[values == 0]).any())


def _encode(chunk: Chunk) -> bytes:
    """Return a chunk as arrays, and JSON about them."""
    about: dict[str, Any] = {"after": chunk.after and list(chunk.after)}
    arrays: dict[str, Array] = {}
    rows = chunk.table.rows
    if isinstance(rows, Dense):
        arrays["X"] = _narrowed(rows.X.reshape(-1), NARROW[3:])
    else:
        arrays["count"] = _narrowed(np.diff(rows.indptr), WHOLE)
        arrays["column"] = rows.indices.astype("<u2" if chunk.table.shape[1] <= 1 << 16 else "<i4")
        if not (rows.data == 1.0).all():
            arrays["value"] = _narrowed(rows.data, NARROW)
    if chunk.label.dtype.kind == "U":
        classes, code = np.unique(chunk.label, return_inverse=True)
        about["classes"] = classes.tolist()
        arrays["label"] = _narrowed(code.reshape(-1), WHOLE)
    elif np.isnan(chunk.label).any():
        arrays["label"] = chunk.label.astype("<f8")
    else:
        arrays["label"] = _narrowed(chunk.label, ("i1", *NARROW))
    if chunk.weight is not None:
        arrays["weight"] = _narrowed(chunk.weight, NARROW)
    return pack_arrays(json.dumps(about), arrays)


def _decode(content: bytes, rows: int, n_features: int) -> Chunk:
    """Return the chunk that `_encode` wrote, checked."""
    text, arrays = unpack_arrays(content)
    about = json.loads(text)
    if any(array.ndim != 1 for array in arrays.values()):
        raise ValueError("an array has another shape")
    label: Array = arrays["label"]
    if "classes" in about:
        label = np.array([str(name) for name in about["classes"]])[label]
    else:
        label = label.astype(np.float64)
    weight = arrays["weight"].astype(np.float64) if "weight" in arrays else None
    if label.size != rows or (weight is not None and weight.size != rows):
        raise ValueError("labels and rows differ in number")
    after = None if about["after"] is None else Position(*(int(part) for part in about["after"]))
    return Chunk(_table(arrays, rows, n_features), label, weight, after)


def _table(arrays: dict[str, Array], rows: int, n_features: int) -> Table:
    if "X" in arrays:
        table, infinite = inspected(Dense(arrays["X"].astype(np.float64).reshape(rows, n_features)), n_features)
    else:
        counts = arrays["count"].astype(np.int64)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        column = np.ascontiguousarray(arrays["column"], np.int32)
        value = np.ascontiguousarray(arrays["value"], np.float64) if "value" in arrays else np.ones(column.size)
        # Each count is checked, too: the sum of huge ones may overflow to the right number.
        fits = counts.min(initial=0) >= 0 and counts.max(initial=0) <= column.size
        if counts.size != rows or not fits or not indptr[-1] == column.size == value.size < 1 << 31:
            raise ValueError("rows and entries differ in number")
        table, infinite = inspected(Csr(value, column, indptr.astype(np.int32)), n_features)
    if infinite >= 0:
        raise ValueError("a value is not finite")
    return table


class _Writer:
    """A cache that is being written."""

    def __init__(self, path: Path, most: int, digest: str) -> None:
        self.beside = Beside(path, lasting=False)
        self.file, self.discard = self.beside.file, self.beside.discard
        self.most = most
        self.index: dict[str, Any] = {"digest": digest, "chunks": []}
        self.end = self.file.write(MAGIC)

    def add(self, chunk: Chunk) -> None:
        """Write a chunk; raise OverflowError if the file would become too large."""
        content = _encode(chunk)
        begin, end = self.end, self.end + len(content)
        if end > self.most:
            raise OverflowError
        self.file.write(content)
        self.end = end
        self.index["chunks"].append({"rows": chunk.label.size, "begin": begin, "end": end, "sum": _sum(content)})

    def finish(self, found: dict[str, Any]) -> None:
        """Write the index, and move the file to its place."""
        try:
            content = json.dumps(self.index | {"found": found}).encode()
            self.file.write(content)
            self.file.write(TAIL.pack(len(content), sum(content)))
        except OSError:
            self.discard()
            raise
        self.beside.finish()
