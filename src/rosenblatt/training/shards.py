"""Shards: some of the rows each, and statistics of all rows, which are needed before the first round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels, used_rows
from rosenblatt.data.survey import SURVEYED_ROWS, Survey, survey
from rosenblatt.data.table import ALL_ROWS, Table, row_numbers
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.training.algorithm import never
from rosenblatt.training.multiclass import check_kind
from rosenblatt.training.plan import in_blocks

Array = npt.NDArray[Any]
Late = Callable[[], bool]


class ShardBlock(NamedTuple):
    """Rows of a shard that are in memory together."""

    table: Table
    classes: Array  # the labels of these rows, sorted
    label: Array  # the number of each row's label among them
    weight: Array  # sample weights; empty: all are one
    rows: Array  # the rows to train on; empty: all
    by_blocks: bool  # whether blocks of neighbours are shuffled rather than single rows: see `Order`

    @property
    def size(self) -> int:
        """Number of rows that are trained on."""
        return int(self.rows.size or self.table.shape[0])


def make_block(table: Table, y: Any, weight: Array) -> ShardBlock | None:
    """Return rows and labels as a block of a shard; None if no row has a weight above zero."""
    if weight.size and not weight.any():
        return None
    classes, label = as_labels(y, table.shape[0])
    rows = used_rows(weight)
    return ShardBlock(table, classes, label, weight, rows, in_blocks(label, rows))


@dataclass
class Shard:
    """Some of the rows, and their number."""

    # From 0. It decides the order of merging and the random orders; where and when the shard is processed does not.
    number: int
    blocks: Iterable[ShardBlock]  # read again in each round
    names: tuple[str, ...] = ()  # names of the features; empty if they have none
    # A seed, and the order that was last drawn with it: the rounds of an epoch share it.
    drawn: tuple[tuple[int, ...], Array] = field(default=((), ALL_ROWS), repr=False)


class DatasetStats(NamedTuple):
    """Statistics of rows, which are needed before the first round; those of shards are merged."""

    classes: Array
    counts: Array  # rows of each class, those without weight too
    sizes: tuple[tuple[int, int], ...]  # number of each shard, and its rows to train on
    names: tuple[str, ...]  # of the features
    features: int
    entries: int
    largest: float
    dtype: np.dtype[Any]
    sparse: bool
    squares: float  # sum of the squared values of the surveyed rows
    values: float  # how many of their values are not zero
    surveyed: int  # number of surveyed rows
    in_several_blocks: bool = False  # whether the rows of a shard are in memory one block at a time

    @property
    def n_rows(self) -> int:
        """Rows of all shards to train on."""
        return sum(size for _, size in self.sizes)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the shards that have rows."""
        return tuple(number for number, _ in self.filled)

    @property
    def filled(self) -> tuple[tuple[int, int], ...]:
        """The numbers and sizes of the shards that have rows."""
        return tuple(one for one in self.sizes if one[1])

    def survey(self) -> Survey:
        """Return the size of the values."""
        length = (self.squares / max(self.surveyed, 1)) ** 0.5
        return Survey(length, (self.squares / max(self.values, 1.0)) ** 0.5, 0, 0.0, 0.0)

    def merge(self, other: Self) -> Self:
        """Return the statistics of the rows of both."""
        if not self.n_rows or not other.n_rows:
            full = self if self.n_rows else other
            return full._replace(sizes=self.sizes + other.sizes)
        if (self.features, self.names) != (other.features, other.names):
            raise InvalidInput(
                f"Some rows have {self.features} features, others {other.features}, or they have other names. Pass "
                "partitions of the same columns."
            )
        check_kind(self.classes, other.classes)
        classes = np.unique(np.concatenate([self.classes, other.classes]))
        counts = np.zeros(classes.size, np.int64)
        for part in (self, other):
            counts[np.searchsorted(classes, part.classes)] += part.counts
        return self._replace(
            classes=classes,
            counts=counts,
            sizes=self.sizes + other.sizes,
            entries=self.entries + other.entries,
            largest=max(self.largest, other.largest),
            dtype=np.result_type(self.dtype, other.dtype),
            sparse=self.sparse and other.sparse,
            squares=self.squares + other.squares,
            values=self.values + other.values,
            surveyed=self.surveyed + other.surveyed,
            in_several_blocks=self.in_several_blocks or other.in_several_blocks,
        )


def stats_of(shard: Shard, late: Late = never) -> DatasetStats:
    """Return the statistics of the rows of a shard."""
    total: DatasetStats | None = None
    for block in shard.blocks:
        stats = _stats_of(shard, block)
        total = stats if total is None else total.merge(stats)
    if total is None:
        empty = ALL_ROWS, ALL_ROWS, ((shard.number, 0),), ()
        return DatasetStats(*empty, 0, 0, 0.0, np.dtype(float), True, 0.0, 0.0, 0)
    return total._replace(sizes=((shard.number, total.n_rows),), in_several_blocks=len(total.sizes) > 1)


def _stats_of(shard: Shard, block: ShardBlock) -> DatasetStats:
    table, sizes = block.table, survey(block.table, block.rows)
    surveyed = len(range(0, block.size, -(-block.size // SURVEYED_ROWS)))
    squares = sizes.row_length**2 * surveyed
    return DatasetStats(
        classes=block.classes,
        counts=np.bincount(block.label, minlength=block.classes.size),
        sizes=((shard.number, block.size),),
        names=shard.names,
        features=table.shape[1],
        entries=table.entries,
        largest=table.largest,
        dtype=table.dtype,
        sparse=isinstance(table.rows, Csr),
        squares=squares,
        values=squares / sizes.value**2 if sizes.value else 0.0,
        surveyed=surveyed,
    )


def cut(
    table: Table, classes: Array, label: Array, weight: Array, subset: Array, shards: int
) -> Iterator[tuple[int, ShardBlock]]:
    """Yield the number and the rows of each non-empty shard of a table: neighbours, in equal numbers.

    Values are not copied.
    The arguments are those of all rows, as in a `ShardBlock`.
    """
    for number, span in spans_of_shards(subset.size or table.shape[0], shards):
        rows = subset[span.start : span.stop]
        first, last = (int(rows.min()), int(rows.max()) + 1) if rows.size else (span.start, span.stop)
        part, own = rows_between(table, first, last), label[first:last]
        rows = row_numbers(rows - first) if rows.size else ALL_ROWS
        yield number, ShardBlock(part, classes, own, weight[first:last], rows, in_blocks(own, rows))


def rows_between(table: Table, first: int, last: int) -> Table:
    """Return neighbouring rows of a table, without a copy of their values."""
    rows: Dense | Csr
    if isinstance(table.rows, Dense):
        rows = Dense(table.rows.X[first:last])
    else:
        data, indices, indptr = table.rows
        start, end = indptr[first], indptr[last]
        begun = indptr[first : last + 1] - start
        begun.flags.writeable = indptr.flags.writeable  # loops are compiled for either
        rows = Csr(data[start:end], indices[start:end], begun)
    return Table(rows, (last - first, table.shape[1]), table.dtype, table.largest)


def spans_of_shards(n_rows: int, shards: int) -> Iterator[tuple[int, range]]:
    """Yield the number and the rows of each non-empty shard: neighbours, in equal numbers."""
    count, last = max(1, min(shards, n_rows)), 0
    for number in range(count):
        first, last = last, last + n_rows // count + (number < n_rows % count)
        yield number, range(first, last)
