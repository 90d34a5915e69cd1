"""Data in chunks, and sources that can be read again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from rosenblatt.data.table import Table, as_table
from rosenblatt.files.source import FilePath
from rosenblatt.files.svmlight import iterate_svmlight

Array = npt.NDArray[Any]


class Chunk(NamedTuple):
    """Rows that are in memory together.

    Attributes
    ----------
    table : Table
        The validated rows.
    label : array of shape (n_rows,)
    weight : array of shape (n_rows,), or None
        Sample weights; None: all are one.
    """

    table: Table
    label: Array
    weight: Array | None = None


class Source(Protocol):
    """Data that can be read again: each iteration starts anew and yields the same chunks in the same order."""

    def __iter__(self) -> Iterator[Chunk]:
        """Yield the chunks from the first one on."""
        ...


class SvmlightSource:
    """The rows of a svmlight file, read from the disk anew by each iteration.

    Parameters
    ----------
    path : path-like
    n_features : int
    zero_based : bool, default False
        Whether indices count from 0; otherwise from 1.
    """

    def __init__(self, path: FilePath, *, n_features: int, zero_based: bool = False) -> None:
        self.path, self.n_features, self.zero_based = path, n_features, zero_based

    def __iter__(self) -> Iterator[Chunk]:
        blocks = iterate_svmlight(self.path, n_features=self.n_features, zero_based=self.zero_based)
        return (Chunk(as_table(X), y) for X, y in blocks)
