"""Tables of Parquet and Arrow files, by pyarrow (extra `files`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput, MissingExtra
from rosenblatt.files.blocks import Block
from rosenblatt.files.features import Piece, murmur, to_bytes
from rosenblatt.files.options import Reading, described, options_of_table
from rosenblatt.files.parsing import Fault, Faults, Parsed, Parser
from rosenblatt.files.sniffing import Sample, label_type
from rosenblatt.files.source import STANDARD_INPUT, FilePath
from rosenblatt.files.tables import (
    Scaler,
    category_piece,
    decide_columns,
    joined_texts,
    kind_of,
    label_column,
    number_piece,
)

Array = npt.NDArray[Any]

ROWS_PER_BLOCK = 1 << 13
SAMPLE_ROWS = 200


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet and Arrow files are read by pyarrow. Install rosenblatt[files].") from None
    return pyarrow


def batches(path: FilePath, format: str, rows: int = ROWS_PER_BLOCK) -> Iterator[Any]:
    """Yield the rows of a Parquet or Arrow file in record batches."""
    pyarrow = _pyarrow()
    if path == STANDARD_INPUT:
        raise InvalidInput("Parquet and Arrow files cannot be read from standard input. Pass the path of a file.")
    try:
        if format == "parquet":
            with pyarrow.parquet.ParquetFile(path) as file:
                yield from file.iter_batches(rows)
            return
        with pyarrow.memory_map(str(path)) as stored:
            try:
                reader = pyarrow.ipc.open_file(stored)
                found = (reader.get_batch(k) for k in range(reader.num_record_batches))
            except pyarrow.ArrowInvalid:
                stored.seek(0)
                found = iter(pyarrow.ipc.open_stream(stored))
            for batch in found:
                for begin in range(0, batch.num_rows, rows):
                    yield batch.slice(begin, rows)
    except (OSError, pyarrow.ArrowException) as error:
        raise InvalidInput(f"{path} cannot be read as {format} ({error}). Pass the path of a whole file.") from None


def _is_number(kind: Any) -> bool:
    types = _pyarrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _as_numbers(column: Any) -> Array:
    """Return a column as numbers; NaN where it is missing."""
    values = [None if value is None else float(value) for value in column.to_pylist()] if column.null_count else None
    if values is None:
        try:
            return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
        except (TypeError, ValueError):
            values = [float(value) for value in column.to_pylist()]
    return np.array(values, np.float64)


def _as_texts(column: Any) -> list[bytes]:
    """Return a column as texts, empty where it is missing."""
    found = []
    for value in column.to_pylist():
        if isinstance(value, bytes):
            found.append(value)
        elif value is None:
            found.append(b"")
        else:
            text = repr(value) if isinstance(value, float) else str(value)
            found.append(to_bytes(text))
    return found


def decide(reading: Reading, sample: Sample, opening: Any) -> Reading:
    """Return how such a file is to be read."""
    batch = next(batches(sample.path, reading.format, SAMPLE_ROWS), None)
    if batch is None or batch.num_rows == 0:
        raise InvalidInput(f"{sample.path} has no rows. Pass a file with data.")
    names = [str(name) for name in batch.schema.names]
    kinds = []
    for k in range(len(names)):
        column = batch.column(k)
        number = _is_number(column.type)
        kinds.append("number" if number else kind_of([text.decode("utf-8", "replace") for text in _as_texts(column)]))
    label = label_column(names, opening.label, opening.labels)
    kind = "number"
    if label is not None:
        column = batch.column(label)
        kind = opening.label_type
        if kind == "auto":
            kind = "number" if _is_number(column.type) else label_type(_as_texts(column), "auto")
    return decide_columns(replace(reading, label_type=kind), names, kinds, label, opening.columns)


class ArrowReader:
    """Read Parquet or Arrow files one after another, in blocks of rows. Places in a file are numbers of rows."""

    def __init__(self, paths: Any, format: str) -> None:
        self.paths, self.format, self.read = paths, format, 0

    def bytes_read(self) -> int:
        """Return how many bytes the files have that were read to their end."""
        return self.read

    def blocks(self, file: int = 0, offset: int = 0) -> Iterator[Block]:
        """Yield all blocks from a place on."""
        for number in range(file, len(self.paths)):
            begin, skip = 0, offset if number == file else 0
            for batch in batches(self.paths[number], self.format):
                end = begin + batch.num_rows
                if end > skip:
                    part = batch.slice(max(skip - begin, 0))
                    yield Block(part, number, end - part.num_rows, end, False)
                begin = end


class ArrowParser(Parser):
    """Rows of Parquet and Arrow files. Lines are rows."""

    def __init__(self, reading: Reading, labels: str, skip: bool) -> None:
        super().__init__(reading, labels, skip)
        self.options, self.what = options_of_table(reading), described(reading)
        names = {kind: [c.name for c in reading.columns if c.kind == kind] for kind in ("number", "label", "weight")}
        self.numbers, self.label, self.weight = names["number"], names["label"], names["weight"]

    @property
    def n_features(self) -> int:
        """Number of columns of the rows."""
        return len(self.numbers) if self.reading.numeric else self.reading.features.n_columns

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, of a table of numbers."""
        return tuple(self.numbers) if self.reading.numeric else None

    def scaler(self, scaling: Any) -> Scaler | None:
        """Return what scales the numbers of the table."""
        return Scaler(len(self.numbers), scaling) if self.numbers else None

    def reader(self, inputs: Any, size: int) -> Any:
        """Return what reads the files."""
        return ArrowReader(inputs.paths, self.reading.format)

    def number_pieces(self, numbers: Array) -> list[Piece]:
        """Return the entries of the columns of numbers."""
        columns = [np.ascontiguousarray(numbers[:, j]) for j in range(len(self.numbers))]
        return [number_piece(name, column) for name, column in zip(self.numbers, columns, strict=True)]

    def parse(self, text: Any, first_of_file: bool) -> Parsed:
        """Return what a record batch says."""
        batch, faults = text, Faults(self.skip)
        lines = batch.num_rows
        missing_columns = [
            c.name for c in self.reading.columns if c.name not in batch.schema.names and c.kind != "label"
        ]
        if missing_columns:
            raise InvalidInput(f"A file has no column {missing_columns[0]!r}. Pass files of the same columns.")
        label, bad = self._labels(batch)
        numbers = np.empty((lines, len(self.numbers)))
        for j, name in enumerate(self.numbers):
            numbers[:, j] = self._column(batch, name, faults)
        weight = _as_numbers(batch.column(self.weight[0])) if self.weight else None
        if weight is not None:
            bad |= ~((weight >= 0) & (weight < np.inf))
        infinite = np.isinf(numbers).any(axis=1)
        reason = "a label, a weight or a number is missing or not finite. Correct it."
        faults.add_rows(np.flatnonzero(bad | infinite), lambda row: Fault(row, "", reason))
        kept = np.flatnonzero(~(bad | infinite))
        if kept.size < lines:
            batch = batch.take(_pyarrow().array(kept))
            label, numbers, weight = label[kept], numbers[kept], None if weight is None else weight[kept]
        return self._features(Parsed(label, lines, kept, faults, weight=weight), batch, numbers)

    def _column(self, batch: Any, name: str, faults: Faults) -> Array:
        try:
            return _as_numbers(batch.column(name))
        except (TypeError, ValueError):
            raise InvalidInput(
                f"Column {name!r} has values that are not numbers. Read it as a category, by "
                f"columns={{{name!r}: 'category'}}."
            ) from None

    def _labels(self, batch: Any) -> tuple[Array, Array]:
        """Return the labels, and which are missing or none of their type."""
        none = np.full(batch.num_rows, np.nan)
        no_fault = np.zeros(batch.num_rows, bool)
        if not self.label or self.labels == "none" or self.label[0] not in batch.schema.names:
            return none, no_fault | (self.labels == "required")
        column = batch.column(self.label[0])
        if self.reading.label_type == "text":
            texts = np.array([text.decode("utf-8", "backslashreplace") for text in _as_texts(column)], np.str_)
            return texts, (texts == "") & (self.labels == "required")
        try:
            numbers = _as_numbers(column)
        except (TypeError, ValueError):
            raise InvalidInput("A label is not a number, as the first ones are. Pass label_type='text'.") from None
        missing = np.isnan(numbers) & (self.labels == "required")
        return numbers, missing | np.isinf(numbers)

    def _features(self, parsed: Parsed, batch: Any, numbers: Array) -> Parsed:
        standardise, missing = self.reading.features.standardise, int(np.isnan(numbers).sum())
        if self.reading.numeric:
            dense = numbers if standardise else np.nan_to_num(numbers, nan=0.0)
            return parsed._replace(dense=np.ascontiguousarray(dense), missing=missing)
        pieces: list[Piece] = []
        for column in self.reading.columns:
            if column.kind not in ("category", "text"):
                continue
            values = _as_texts(batch.column(column.name))
            missing += sum(not value for value in values)
            text, start, end = joined_texts(values)
            if column.kind == "category":
                pieces.append(category_piece(column.name, text, start, end))
            else:
                encoded = to_bytes(column.name)
                pieces += self.assembler.words.pieces(text, start, end, encoded + b"=", murmur(encoded))
        if standardise:
            return parsed._replace(dense=numbers, pieces=pieces, missing=missing)
        entries, named = self.finished([*self.number_pieces(numbers), *pieces])
        return parsed._replace(entries=entries, pieces=named, missing=missing)
