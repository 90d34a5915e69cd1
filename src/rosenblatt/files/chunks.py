"""Data in chunks, and sources that can be read again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from rosenblatt.data.table import Table

Array = npt.NDArray[Any]


class Position(NamedTuple):
    """A place between two rows of a source.

    Attributes
    ----------
    row : int
        How many rows are before it.
    file, offset, line : int
        Number of the file, bytes of it before the place (after unpacking), and lines before the place.
    """

    row: int = 0
    file: int = 0
    offset: int = 0
    line: int = 0


class Chunk(NamedTuple):
    """Rows that are in memory together.

    Attributes
    ----------
    table : Table
        The validated rows.
    label : array of shape (n_rows,)
        Numbers or text; NaN or empty where a row has no label.
    weight : array of shape (n_rows,), or None
        Sample weights; None: all are one.
    after : Position, or None
        Where reading goes on after these rows.
    """

    table: Table
    label: Array
    weight: Array | None = None
    after: Position | None = None


class Source(Protocol):
    """Data that can be read again: each iteration starts anew and yields the same rows in the same order."""

    def __iter__(self) -> Iterator[Chunk]:
        """Yield the chunks from the first one on."""
        ...


class Progress(NamedTuple):
    """How far a pass has come: rows, bytes read as they are on the disk, and how many there are, where it is known."""

    rows: int
    bytes_read: int
    bytes_total: int | None


class Problems(NamedTuple):
    """What a pass met: lines skipped and the first of the reasons, missing values, and notes in words."""

    skipped: int = 0
    examples: tuple[str, ...] = ()
    missing: int = 0
    notes: tuple[str, ...] = ()
