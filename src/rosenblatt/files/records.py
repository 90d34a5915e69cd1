"""Rows of tables as plain Python values, for conversions: what is in each column, before anything becomes a feature."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any, cast

from rosenblatt.errors import InvalidInput
from rosenblatt.files.arrow import batches
from rosenblatt.files.delimited import long_fields
from rosenblatt.files.features import to_bytes
from rosenblatt.files.jsonl import as_object, plain_pairs
from rosenblatt.files.options import Reading
from rosenblatt.files.parsing import MISSING
from rosenblatt.files.sniffing import NUMBER
from rosenblatt.files.source import BYTE_ORDER_MARK, open_unpacked

TABLES = ("csv", "tsv", "jsonl", "text", "parquet", "arrow")
TEXT_COLUMN, LABEL_COLUMN = "text", "label"

Record = dict[str, Any]


class Records:
    """Rows of the files of a source, as dicts of numbers and texts; what is missing is not there.

    Parameters
    ----------
    source : FileSource
        Of a table, or of raw text.
    """

    def __init__(self, source: Any) -> None:
        self.reading: Reading = source.reading
        self.inputs, self.skip, self.labels = source.inputs, source.parser.skip, source.parser.labels
        self.skipped = 0

    @property
    def label(self) -> str | None:
        """Name of the column that has the labels."""
        if self.reading.format == "text":
            return LABEL_COLUMN if self.labels != "none" else None
        return next((column.name for column in self.reading.columns if column.kind == "label"), None)

    @property
    def texts(self) -> list[str]:
        """Names of the columns of text."""
        if self.reading.format == "text":
            return [TEXT_COLUMN]
        return [column.name for column in self.reading.columns if column.kind == "text"]

    def names(self) -> list[str]:
        """Return the names of all columns; those of JSON need a look at all rows."""
        if self.reading.format == "text":
            return [LABEL_COLUMN, TEXT_COLUMN] if self.labels != "none" else [TEXT_COLUMN]
        if self.reading.format != "jsonl":
            return [column.name for column in self.reading.columns]
        found: dict[str, None] = {}
        for record in self:
            found.update(dict.fromkeys(flat(record)))
        self.skipped = 0
        return list(found)

    def __iter__(self) -> Iterator[Record]:
        rows = {"jsonl": self._json, "text": self._text, "csv": self._fields, "tsv": self._fields}
        for path in self.inputs.paths:
            yield from rows.get(self.reading.format, self._batches)(path)

    def _lines(self, path: Any) -> Iterator[tuple[int, bytes]]:
        with open_unpacked(path) as (stream, _):
            for number, line in enumerate(cast(Any, stream), 1):
                text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
                if text.strip():
                    yield number, text.rstrip(b"\r\n")

    def _refuse(self, path: Any, line: int, found: Any, reason: str) -> None:
        self.skipped += 1
        if not self.skip:
            raise InvalidInput(f"{path}, line {line}: {str(found)[:60]!r} {reason}")

    def _text(self, path: Any) -> Iterator[Record]:
        for number, line in self._lines(path):
            text = line.decode("utf-8", "surrogateescape")
            label, tab, rest = text.partition("\t")
            if self.labels == "none":
                yield {TEXT_COLUMN: text}
            elif not tab:
                self._refuse(path, number, text, "has no tab between label and text. Correct the line.")
            else:
                yield {LABEL_COLUMN: as_value(label), TEXT_COLUMN: rest}

    def _json(self, path: Any) -> Iterator[Record]:
        for number, line in self._lines(path):
            try:
                record = as_object(line)
            except (ValueError, RecursionError):
                self._refuse(path, number, line, "is not a JSON object. Correct the line.")
                continue
            yield record

    def _fields(self, path: Any) -> Iterator[Record]:
        quoting: Any = csv.QUOTE_MINIMAL if self.reading.format == "csv" else csv.QUOTE_NONE
        columns = self.reading.columns
        with open_unpacked(path) as (stream, _), long_fields():
            text = io.TextIOWrapper(cast(Any, stream), "utf-8", "surrogateescape", newline="")
            rows = csv.reader(text, delimiter=self.reading.delimiter, quoting=quoting)
            try:
                for number, fields in enumerate(rows):
                    if not fields or (number == 0 and self.reading.header):
                        continue
                    if len(fields) != len(columns):
                        self._refuse(path, rows.line_num, fields, f"has not {len(columns)} fields. Correct the line.")
                        continue
                    pairs = zip(columns, fields, strict=True)
                    found = ((c.name, field if c.kind == "text" else as_value(field)) for c, field in pairs)
                    yield {name: value for name, value in found if value is not None}
            except csv.Error as error:
                raise InvalidInput(f"{path}, line {rows.line_num}: {error}. Correct the line.") from None
            finally:
                text.detach()

    def _batches(self, path: Any) -> Iterator[Record]:
        for batch in batches(path, self.reading.format):
            for row in batch.to_pylist():
                yield {name: value for name, value in row.items() if value is not None}


def as_value(field: str) -> str | float | int | None:
    """Return a field of a table as a number or as text; None if it is missing."""
    text = field.strip()
    if to_bytes(text) in MISSING:
        return None
    if re.fullmatch(r"[-+]?[0-9]{1,15}", text):
        return int(text)
    return float(text) if re.fullmatch(NUMBER.decode(), text) else text


def flat(record: Record) -> dict[str, Any]:
    """Return a record of plain values: names of objects within are joined by dots, and lists become text."""
    found: dict[str, Any] = {}
    for name, value in plain_pairs(record):
        found[name] = f"{found[name]} {value}" if name in found else value
    return found
