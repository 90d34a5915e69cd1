"""Rows of tables as plain Python values, for conversions: what is in each column, before anything becomes a feature."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from rosenblatt.errors import InvalidInput
from rosenblatt.files.arrow import batches
from rosenblatt.files.delimited import DelimitedParser
from rosenblatt.files.features import to_bytes
from rosenblatt.files.jsonl import as_object, names_of, plain_pairs
from rosenblatt.files.options import TYPED, Layout, Reading
from rosenblatt.files.parsing import MISSING, Faults, count_byte
from rosenblatt.files.sniffing import NUMBER
from rosenblatt.files.source import BYTE_ORDER_MARK, open_unpacked
from rosenblatt.files.tables import INDEX, as_text

TABLES = ("csv", "tsv", "jsonl", "text", "parquet", "arrow")
TEXT_COLUMN, LABEL_COLUMN = "text", "label"

Record = dict[str, Any]


class Records:
    """Rows of the files of a source, as dicts of numbers and texts; what is missing is not there.

    Parameters
    ----------
    source : FileSource
        Of a table, or of raw text.
    typed : bool
        Whether they become values of a format with types, which holds nothing but UTF-8. So must several files be.
    """

    def __init__(self, source: Any, typed: bool = False) -> None:
        self.errors = "strict" if typed or len(source.inputs.paths) > 1 else "surrogateescape"
        self.reading: Reading = source.reading
        self.inputs, self.layouts = source.inputs, [parser.layout for parser in source.parsers]
        self.skip, self.labels = source.opening.on_error == "skip", source.opening.labels
        self.kinds = {column.name: column.kind for column in self.reading.columns}
        self.skipped, self.chunk_bytes = 0, source.opening.chunk_bytes

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
            return [name for name, kind in self.kinds.items() if kind != "skip"]
        found: dict[str, None] = {}
        for record in self:
            found.update(dict.fromkeys(flat(record)))
        self.skipped = 0
        return list(found)

    def __iter__(self) -> Iterator[Record]:
        for path, layout in zip(self.inputs.paths, self.layouts, strict=True):
            try:
                yield from self._records(path, layout)
            except UnicodeDecodeError:
                raise InvalidInput(
                    f"{path} is not UTF-8. Convert it first, for example by iconv -f LATIN1 -t UTF-8 {path}."
                ) from None

    def _records(self, path: Any, layout: Layout) -> Iterator[Record]:
        rows = {"jsonl": self._json, "text": self._text, "csv": self._fields, "tsv": self._fields}
        untyped = any(other.format not in TYPED for other in self.layouts)  # what is text there is text everywhere
        for record in rows.get(layout.format, self._batches)(path, layout):
            if untyped and layout.format in TYPED:
                texts = {name for name, value in record.items() if value is not None and self._is_text(name)}
                record |= {name: as_text(record[name]).decode("utf-8", "surrogateescape") for name in texts}
            yield {name: value for name, value in record.items() if self._is_kept(name, value)}

    def _is_kept(self, name: str, value: Any) -> bool:
        return value is not None and self.kinds.get(name) != "skip" and not INDEX.fullmatch(name)

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

    def _text(self, path: Any, layout: Layout) -> Iterator[Record]:
        for number, line in self._lines(path):
            text = line.decode("utf-8", self.errors)
            label, tab, rest = text.partition("\t")
            if self.labels == "none":
                yield {TEXT_COLUMN: text}
            elif not tab:
                self._refuse(path, number, text, "has no tab between label and text. Correct the line.")
            else:
                yield {LABEL_COLUMN: as_value(label), TEXT_COLUMN: rest}

    def _json(self, path: Any, layout: Layout) -> Iterator[Record]:
        for number, line in self._lines(path):
            try:
                record = as_object(line)
            except (ValueError, RecursionError):
                self._refuse(path, number, line, "is not a JSON object. Correct the line.")
                continue
            new = [name for name in names_of(record) if name not in self.kinds and not INDEX.fullmatch(name)]
            if new and self.reading.format != "jsonl":
                self._refuse(path, number, new[0], "is not among the columns of the files before. Rename it.")
                continue
            yield record

    def _fields(self, path: Any, layout: Layout) -> Iterator[Record]:
        parser, before = DelimitedParser(self.reading, self.labels, self.skip, layout), layout.line
        for block in parser.reader(self.inputs, path, self.chunk_bytes).blocks(0, layout.offset):
            faults, lines = Faults(self.skip), count_byte(block.text, 10)
            first, last, _, doubled = parser.fields(block.text, lines, faults)
            self.skipped += faults.count
            if faults.stop:
                fault = faults.examples[0]
                raise InvalidInput(f"{path}, line {before + fault.line + 1}: {fault.found}{fault.reason}")
            content, before = block.text.tobytes(), before + lines
            for spans in zip(first.tolist(), last.tolist(), doubled.tolist(), strict=True):
                found = (
                    (name, content[begin:end].replace(b'""', b'"') if twice else content[begin:end])
                    for name, begin, end, twice in zip(layout.names, *spans, strict=True)
                )
                yield {name: self._value(name, field.decode("utf-8", self.errors)) for name, field in found}

    def _value(self, name: str, field: str) -> str | float | int | None:
        value = as_value(field)
        if value is None or not self._is_text(name):
            return value
        return field if self.kinds.get(name) == "text" else field.strip()

    def _is_text(self, name: str) -> bool:
        """Return whether a column has texts, even if they look like numbers."""
        kind = self.kinds.get(name)
        return kind in ("category", "text") or (kind == "label" and self.reading.label_type == "text")

    def _batches(self, path: Any, layout: Layout) -> Iterator[Record]:
        for batch in batches(path, layout.format):
            yield from batch.to_pylist()


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
