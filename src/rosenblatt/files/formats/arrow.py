"""Parquet and Arrow: tables that pyarrow reads and writes (extra `files`)."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Any

import numpy as np

from rosenblatt.errors import InvalidInput, MissingExtra
from rosenblatt.files.formats import Format
from rosenblatt.files.options import FileLayout
from rosenblatt.files.parsing import LineFault, LineFaults, Parsed, RefusedRows
from rosenblatt.files.records import FeatureRows, Output, Record, Records, as_field, as_plain, flat_table
from rosenblatt.files.sniffing import SAMPLE_LINES, Sample
from rosenblatt.files.streams import STANDARD_INPUT, Array, FileBlock, FilePath
from rosenblatt.files.tables import Preview, TableParser, as_text, joined_texts, number_of

ROWS_PER_BLOCK = 1 << 13
NUMBERS = (bool, int, float, Decimal, type(None))


def _pyarrow() -> Any:
    """Return pyarrow with the modules that are used here."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra('Parquet and Arrow files need pyarrow. Run: pip install "rosenblatt[files]"') from None
    return pyarrow


def batches(path: FilePath, format: str, rows: int = ROWS_PER_BLOCK) -> Iterator[Any]:
    """Yield the rows of a Parquet or Arrow file in record batches; an empty one if there are no rows."""
    pyarrow = _pyarrow()
    if path == STANDARD_INPUT:
        raise InvalidInput("Parquet and Arrow files cannot be read from standard input. Pass the path of a file.")
    try:
        if format == "parquet":
            with pyarrow.parquet.ParquetFile(path) as file:
                if not file.metadata.num_rows:
                    yield pyarrow.RecordBatch.from_pylist([], file.schema_arrow)
                yield from file.iter_batches(rows)
            return
        with pyarrow.memory_map(str(path)) as stored:
            try:
                reader = pyarrow.ipc.open_file(stored)
                found = (reader.get_batch(k) for k in range(reader.num_record_batches))
            except pyarrow.ArrowInvalid:
                stored.seek(0)
                reader = found = pyarrow.ipc.open_stream(stored)
            empty = True
            for batch in found:
                for begin in range(0, batch.num_rows, rows):
                    empty = False
                    yield batch.slice(begin, rows)
            if empty:
                yield pyarrow.RecordBatch.from_pylist([], reader.schema)
    except (OSError, pyarrow.ArrowException) as error:
        raise InvalidInput(f"{path} cannot be read as {format} ({error}). Pass the path of a whole file.") from None


def _is_number(kind: Any) -> bool:
    types = _pyarrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _as_numbers(column: Any) -> tuple[Array, Array]:
    """Return a column as numbers, NaN where they are missing, and the rows that are not numbers."""
    if _is_number(column.type) and not column.null_count:
        with contextlib.suppress(TypeError, ValueError):  # decimals, for example
            return np.asarray(column.to_numpy(zero_copy_only=False), np.float64), np.empty(0, np.int64)
    values = [number_of(value) if isinstance(value, str) else value for value in column.to_pylist()]
    wrong = [row for row, value in enumerate(values) if not isinstance(value, NUMBERS)]
    for row in wrong:
        values[row] = None
    numbers = np.array([np.nan if value is None else float(value) for value in values], np.float64)
    return numbers, np.array(wrong, np.int64)


def _as_texts(column: Any) -> list[bytes]:
    """Return a column as texts, empty where it is missing."""
    return [as_text(value) for value in column.to_pylist()]


def preview(sample: Sample, format: str, header: bool | str, known: Collection[str]) -> Preview:
    """Return the columns and first rows of a file."""
    batch = next(batches(sample.path, format, SAMPLE_LINES))
    names = [str(name) for name in batch.schema.names]
    if len(set(names)) < len(names):
        raise InvalidInput(f"{sample.path} has two columns with the same name: {', '.join(names)[:200]}. Rename one.")
    columns = []
    for column in batch.columns:
        if _pyarrow().types.is_boolean(column.type):
            columns.append(column.to_pylist())
        elif _is_number(column.type):
            columns.append([None if np.isnan(value) else value for value in _as_numbers(column)[0].tolist()])
        else:
            columns.append([text.decode("utf-8", "replace") or None for text in _as_texts(column)])
    rows = [list(row) for row in zip(*columns, strict=True)]
    indices = frozenset(names).intersection(_index_names(batch.schema))
    return Preview(
        sample.path, FileLayout(format, tuple(names), True), rows, list(range(1, len(rows) + 1)), indices=indices
    )


def _index_names(schema: Any) -> list[str]:
    """Return the names of the columns that pandas wrote for the index of a frame."""
    with contextlib.suppress(ValueError, LookupError, TypeError, AttributeError):  # anything may be written there
        return [name for name in schema.pandas_metadata["index_columns"] if isinstance(name, str)]
    return []


class ArrowReader:
    """Read a Parquet or Arrow file in blocks of rows. Offsets in a file are numbers of rows."""

    def __init__(self, path: FilePath, format: str) -> None:
        self.path, self.format = path, format

    def bytes_read(self) -> int:
        """Return 0: the number of bytes is unknown."""
        return 0

    def blocks(self, offset: int = 0) -> Iterator[FileBlock]:
        """Yield all blocks from an offset on."""
        begin = 0
        for batch in batches(self.path, self.format):
            end = begin + batch.num_rows
            if end > offset:
                part = batch.slice(max(offset - begin, 0))
                yield FileBlock(part, end - part.num_rows, end, False)
            begin = end


class ArrowParser(TableParser):
    """Parse Parquet and Arrow files. Lines are rows."""

    def reader(self, inputs: Any, path: FilePath, size: int) -> Any:
        """Return a reader of blocks of rows."""
        return ArrowReader(path, self.layout.format)

    def parse(self, text: Any) -> Parsed:
        """Return the rows of a record batch."""
        batch, faults = text, LineFaults(self.skip)
        lines = batch.num_rows
        refused = RefusedRows(lines, faults)
        label = self._labels(batch, refused)
        numbers = np.empty((lines, len(self.number_names)))
        for j, name in enumerate(self.number_names):
            numbers[:, j] = self._column(batch, name, refused)
        weight = None
        if self.weight in self.layout.names:
            weight = self._column(batch, self.weight, refused)
            _refuse(refused, ~((weight >= 0) & (weight < np.inf)), "the weight is missing or negative")
        _refuse(refused, np.isinf(numbers).any(axis=1), "a number is not finite")
        self.refuse_dates(lambda name: joined_texts(_as_texts(batch.column(name))), np.arange(lines), refused)
        kept = np.flatnonzero(~refused.mask)
        if kept.size < lines:
            batch = batch.take(_pyarrow().array(kept))
            label, numbers, weight = label[kept], numbers[kept], None if weight is None else weight[kept]
        pieces, missing = self.pieces_of(lambda name: joined_texts(_as_texts(batch.column(name))))
        missing += int(np.isnan(numbers).sum())
        ids = None if self.id is None else batch.column(self.id).to_pylist()
        return Parsed(label, lines, kept, faults, pieces, numbers, weight, missing, ids)

    def _column(self, batch: Any, name: Any, refused: RefusedRows) -> Array:
        column = batch.column(name)
        numbers, wrong = _as_numbers(column)
        reason = f" in column {name!r} is not a finite number. Correct it, or read the column as a category."
        refused.add(wrong, lambda row: LineFault(row, repr(column[row].as_py())[:40], reason))
        return numbers

    def _labels(self, batch: Any, refused: RefusedRows) -> Array:
        name, needed = self.label, self.labels == "required"
        if name not in self.layout.names:
            return np.full(batch.num_rows, np.nan)
        if self.reading.label_type == "text":
            found = [text.decode("utf-8", "backslashreplace") for text in _as_texts(batch.column(name))]
            texts = np.array(found, np.str_)
            _refuse(refused, (texts == "") & needed, "there is no label")
            return texts
        numbers = self._column(batch, name, refused)
        _refuse(refused, (np.isnan(numbers) & needed) | np.isinf(numbers), "there is no label")
        return numbers


def _refuse(refused: RefusedRows, rows: Any, reason: str) -> None:
    refused.add(np.flatnonzero(rows), lambda row: LineFault(row, "", f"{reason}. Correct it."))


def records(table: Records, path: Any, layout: FileLayout) -> Iterator[Record]:
    """Yield the rows of a file as plain values."""
    for batch in batches(path, layout.format):
        yield from batch.to_pylist()


def write_parquet(output: Output, rows: Records | FeatureRows) -> None:
    """Write a table; columns with anything but numbers become text."""
    pyarrow = _pyarrow()
    names, table = flat_table(rows)
    kept = [{name: as_plain(value) for name, value in record.items()} for record in table]
    columns = {}
    for name in names:
        values = [record.get(name) for record in kept]
        numbers = all(value is None or isinstance(value, int | float) for value in values)
        columns[name] = pyarrow.array(
            [None if value is None else float(value) if numbers else as_field(value) for value in values]
        )
    pyarrow.parquet.write_table(pyarrow.table(columns), output.file, row_group_size=10_000)
    output.rows = len(kept)


PARQUET = Format(
    name="parquet",
    kind="table",
    endings=(".parquet",),
    rank=70,
    magic=(b"PAR1",),
    row="columns; by pyarrow (extra `files`)",
    label="a column",
    typed=True,
    parser=ArrowParser,
    preview=preview,
    records=records,
    write=write_parquet,
)
ARROW = Format(
    name="arrow",
    kind="table",
    endings=(".arrow", ".feather"),
    rank=80,
    magic=(b"ARROW1", b"\xff\xff\xff\xff"),
    row="columns, in a file or a stream; by pyarrow (extra `files`)",
    label="a column",
    typed=True,
    parser=ArrowParser,
    preview=preview,
    records=records,
)
