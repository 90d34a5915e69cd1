"""Chunks of rows, and sources of chunks that can be read again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from rosenblatt.data.table import Table
from rosenblatt.engine.inspection import inspect_csr, inspect_dense
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.files.streams import Array


class Position(NamedTuple):
    """A place between two rows of a source."""

    row: int = 0  # rows before it
    file: int = 0  # number of the file
    offset: int = 0  # bytes of the file before it, after unpacking
    line: int = 0  # lines of the file before it


class Chunk(NamedTuple):
    """Rows that are in memory together."""

    table: Table
    label: Array  # (n_rows,) numbers or text; NaN or empty where a row has no label
    weight: Array | None = None  # (n_rows,) sample weights; None: all are one
    after: Position | None = None  # the place after these rows, where reading can continue
    id: list[Any] | None = None  # of each row, if the source was asked for them
    named: Any = None  # NamedRows, if the source was asked for them


class Source(Protocol):
    """Data that can be read again: each iteration yields the same rows in the same order."""

    def __iter__(self) -> Iterator[Chunk]:
        """Yield the chunks from the first one on."""
        ...


class ReadProgress(NamedTuple):
    """Progress of a pass: rows, bytes on disk that were read, and how many there are, or None if that is unknown."""

    rows: int
    bytes_read: int
    bytes_total: int | None


class ReadProblems(NamedTuple):
    """Problems of a pass: skipped lines, examples of them, missing values, and notes."""

    skipped: int = 0
    examples: tuple[str, ...] = ()
    missing: int = 0
    notes: tuple[str, ...] = ()


def inspected(rows: Dense | Csr, n_features: int) -> tuple[Table, int]:
    """Return rows as a table, and the first row whose squares overflow, or -1; raise ValueError for damaged rows."""
    if isinstance(rows, Dense):
        largest, infinite = inspect_dense(rows.X)
        count = rows.X.shape[0]
    else:
        largest, outside, infinite, disorder = inspect_csr(rows.data, rows.indices, rows.indptr, n_features, -1.0)
        count = rows.indptr.size - 1
        if outside >= 0 or disorder >= 0:
            raise ValueError("an entry is outside of the table, or out of order")
    return Table(rows, (count, n_features), np.dtype(np.float64), largest), infinite


# --------------------------------------------------------------------------------------------- cutting and joining


def sliced(chunk: Chunk, begin: int, end: int) -> Chunk:
    """Return some rows of a chunk, without copying."""
    table, part = chunk.table, slice(begin, end)
    if isinstance(table.rows, Dense):
        rows: Dense | Csr = Dense(table.rows.X[part])
    else:
        data, indices, indptr = table.rows
        entries = slice(indptr[begin], indptr[end])
        rows = Csr(data[entries], indices[entries], indptr[begin : end + 1] - indptr[begin])
    shape = (end - begin, table.shape[1])
    after = chunk.after
    if after is not None and end < chunk.label.size:  # within a block, a place is known by its row only
        after = Position(after.row - chunk.label.size + end, -1)
    weight = None if chunk.weight is None else chunk.weight[part]
    id = None if chunk.id is None else chunk.id[part]
    return Chunk(Table(rows, shape, table.dtype, table.largest), chunk.label[part], weight, after, id)


def from_row(chunks: Iterator[Chunk], row: int) -> Iterator[Chunk]:
    """Yield chunks, from a row on."""
    seen = 0
    for chunk in chunks:
        size = chunk.label.size
        if seen + size > row:
            yield chunk if seen >= row else sliced(chunk, row - seen, size)
        seen += size


def _joined_rows(parts: list[Any]) -> Dense | Csr:
    """Return the rows of several tables as those of one."""
    if isinstance(parts[0], Dense):
        return Dense(np.concatenate([part.X for part in parts]))
    pointers = [np.asarray(part.indptr, np.int64) for part in parts]
    ends = np.cumsum([0, *(pointer[-1] for pointer in pointers)])
    indptr = np.concatenate([[0], *(pointer[1:] + end for pointer, end in zip(pointers, ends, strict=False))])
    dtype = np.int32 if indptr[-1] <= np.iinfo(np.int32).max else np.int64
    indices, data = (np.concatenate([getattr(part, name) for part in parts]) for name in ("indices", "data"))
    return Csr(data, indices, indptr.astype(dtype))


def joined(parts: list[Chunk]) -> Chunk:
    """Return one chunk with the rows of several."""
    if len(parts) == 1:
        return parts[0]
    tables = [part.table for part in parts]
    sizes = [part.label.size for part in parts]
    rows = _joined_rows([table.rows for table in tables])
    weight = None
    if any(part.weight is not None for part in parts):
        weights = [
            np.ones(size) if part.weight is None else part.weight for part, size in zip(parts, sizes, strict=True)
        ]
        weight = np.concatenate(weights)
    table = Table(rows, (sum(sizes), tables[0].shape[1]), tables[0].dtype, max(table.largest for table in tables))
    id = None if parts[0].id is None else [one for part in parts for one in part.id or ()]
    return Chunk(table, np.concatenate([part.label for part in parts]), weight, parts[-1].after, id)


def recut(chunks: Iterator[Chunk], size: int) -> Iterator[Chunk]:
    """Yield chunks of `size` rows; the last one may have fewer."""
    parts: list[Chunk] = []
    count = 0
    for chunk in chunks:
        parts.append(chunk)
        count += chunk.label.size
        if count < size:
            continue
        whole = joined(parts)
        cuts = range(0, count + 1, size)
        for begin, end in pairwise(cuts):
            yield sliced(whole, begin, end)
        rest = cuts[-1]
        parts = [sliced(whole, rest, count)] if rest < count else []
        count -= rest
    if parts:
        yield joined(parts)
