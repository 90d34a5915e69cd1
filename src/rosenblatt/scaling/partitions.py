"""Make shards from blocks of arrays and frames, and from files that each worker reads itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_weights
from rosenblatt.data.matrices import column_names, sp
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.files.chunks import Chunk, joined
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import Column, Reading
from rosenblatt.files.source import FileSource
from rosenblatt.files.streams import can_be_read_once
from rosenblatt.files.tables import listed
from rosenblatt.training.shards import Shard, ShardBlock, make_block

Array = npt.NDArray[Any]

# Size of the chunks that are parsed; the order of shuffled rows depends on it.
CHUNK_BYTES = 1 << 22
# The rows of files are held in memory up to this share of it.
HELD_SHARE = 0.4


def shard_of_block(number: int, X: Any, y: Any, weight: Any = None) -> Shard:
    """Return a block of an array, a sparse matrix or a data frame, with its labels, as a shard.

    Labels and weights have a value for each row; for a data frame they may be names of columns.
    """
    if hasattr(X, "columns"):
        X, y, weight = _from_frame(X, y, weight)
    names = column_names(X)
    if not X.shape[0]:
        return Shard(number, [], names)
    table = as_table(X if sp.issparse(X) or hasattr(X, "columns") else np.asarray(X))
    values = np.asarray(weight, float) if weight is not None else np.empty(0)
    checked = as_weights(values, table.shape[0]) if values.size and values.any() else values
    block = make_block(table, np.asarray(y), checked)
    return Shard(number, [] if block is None else [block], names)


def _from_frame(frame: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Split the columns of labels and weights off a data frame, if they are named."""
    taken = [name for name in (y, weight) if isinstance(name, str)]
    missing = [name for name in taken if name not in frame.columns]
    if missing:
        raise InvalidInput(f"There is no column {missing[0]!r}. The columns are {', '.join(map(str, frame.columns))}.")
    y, weight = (frame[name] if isinstance(name, str) else name for name in (y, weight))
    return frame.drop(columns=taken), y, weight


# --------------------------------------------------------------------------------------------------------------- files


@dataclass
class FileRows:
    """Rows of some files, which are parsed again in each iteration."""

    paths: list[str]
    # Arguments of `open_source` from `resolve_files`: every worker reads and hashes in the same way.
    options: dict[str, Any] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)  # number of rows of each file that was read

    def __iter__(self) -> Iterator[ShardBlock]:
        for chunk in self.chunks():
            weight = np.empty(0) if chunk.weight is None else np.asarray(chunk.weight, float)
            block = make_block(chunk.table, chunk.label, weight)
            if block is not None:
                yield block

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows in chunks, and count them by file."""
        source = self.source()
        yield from source
        self.counted.update(source.rows_by_file())

    def source(self) -> FileSource:
        """Open the files."""
        return open_source(self.paths, **self.options)


def shard_of_files(number: int, rows: FileRows, names: tuple[str, ...], hold: bool) -> Shard:
    """Return files as a shard that holds its rows in memory, or else reads them again in each round."""
    return Shard(number, list(rows) if hold else rows, names)


def shards_of_rows(rows: FileRows, names: tuple[str, ...], shards: int) -> list[Shard]:
    """Return the rows of files as shards of consecutive rows, all in memory."""
    whole = joined(list(rows.chunks()))
    X, weight = whole.table.matrix(), whole.weight
    parts = np.array_split(np.arange(whole.label.size), shards)
    blocks = [
        shard_of_block(number, X[part], whole.label[part], None if weight is None else weight[part])
        for number, part in enumerate(parts)
    ]
    return [Shard(shard.number, shard.blocks, names) for shard in blocks]


def resolve_files(
    paths: Any, options: dict[str, Any]
) -> tuple[list[str], dict[str, Any], tuple[str, ...], tuple[str, ...]]:
    """Decide from the first lines how to read files, for workers that each see only some of them.

    Returns all files, with patterns expanded; arguments of `open_source` for each of them; the names of the columns,
    empty if they are hashed; and remarks for the user. Raises InvalidInput if the features of a row depend on the rows
    of other files.
    """
    if any(map(can_be_read_once, [paths] if isinstance(paths, str) else list(paths))):
        raise InvalidInput("Standard input and pipes cannot be read by several workers. Pass paths of files.")
    source = open_source(paths, **options)
    if source.stateful:
        raise InvalidInput(
            "A dictionary of names and scaling depend on all earlier rows, which a worker does not see. Hash the "
            "names, or pass names= and scaling= of an earlier reading."
        )
    fixed = {"chunk_bytes": CHUNK_BYTES, "threads": 1} | options | {"reading": source.reading}
    for name in ("label", "label_type", "header", "columns", "zero_based", "features"):
        fixed.pop(name, None)
    fixed["utf8"] = source.starts_in_utf8()  # a worker sees its own files only
    whole = [os.path.abspath(path) for path in source.inputs.paths]
    return whole, fixed, source.names or (), source.problems.notes


def with_columns(options: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return options under which the columns of numeric tables come in the order of a model, which must have them."""
    reading: Reading = options["reading"]
    if not reading.numeric:
        return options
    columns = {column.name: column for column in reading.columns if column.kind != "skip"}
    missing = [name for name in names if name not in columns]
    new = [name for name, column in columns.items() if column.kind == "number" and name not in names]
    if missing or new:
        lacks, adds = listed(missing) or "nothing", listed(new) or "nothing"
        raise InvalidInput(f"The files do not have the columns of the model. Missing: {lacks}. New: {adds}.")
    own = [Column(name, "number") for name in names]
    others = [column for column in reading.columns if column.name not in names]
    return options | {"reading": replace(reading, columns=(*own, *others))}


def parsed_bytes(paths: Sequence[str]) -> int:
    """Return an estimate of the memory that the rows of files take: 3 times their size, 15 times if compressed."""
    packed = (".gz", ".bz2", ".xz", ".zst", ".parquet")
    return sum(os.path.getsize(path) * (15 if path.endswith(packed) else 3) for path in paths)


def in_groups(items: Sequence[Any], groups: int) -> list[list[Any]]:
    """Split items into groups of consecutive ones, as even as possible."""
    return [[items[i] for i in part] for part in np.array_split(np.arange(len(items)), groups)]
