"""Rows as plain Python values, before they become features, and the files that conversions write them to."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

from rosenblatt.engine.rows import Csr
from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.options import DATE_KINDS, FileLayout, Reading
from rosenblatt.files.streams import BYTE_ORDER_MARK, STANDARD_INPUT, FilePath, can_be_read_once, open_unpacked
from rosenblatt.files.tables import INDEX, as_text, value_of
from rosenblatt.storage.atomic import Beside

LABEL_COLUMN, WEIGHT_COLUMN, TEXT_COLUMN = "label", "weight", "text"
MOST_COLUMNS = 20_000  # of a table that is written
MAX_DEPTH = 16  # of objects within objects

Record = dict[str, Any]


class Records:
    """Rows of the files of a source, tables or raw text, as dicts of numbers and texts; missing values are left out.

    `typed`: they become values of a typed format, which holds UTF-8 only. Several files must be UTF-8, too.
    """

    def __init__(self, source: Any, typed: bool = False) -> None:
        self.errors = "strict" if typed or len(source.inputs.paths) > 1 else "surrogateescape"
        self.reading: Reading = source.reading
        self.format = formats.ALL[self.reading.format]
        self.inputs, self.layouts = source.inputs, [parser.layout for parser in source.parsers]
        self.skip, self.labels = source.opening.on_error == "skip", source.opening.labels
        self.kinds = {column.name: column.kind for column in self.reading.columns}
        if self.format.kind == "text":
            own = {LABEL_COLUMN: "label"} if self.labels != "none" else {}
            self.kinds = own | {TEXT_COLUMN: "text"}
        self.skipped, self.chunk_bytes = 0, source.opening.chunk_bytes

    @property
    def label(self) -> str | None:
        """Name of the column with the labels."""
        return next((name for name, kind in self.kinds.items() if kind == "label"), None)

    @property
    def texts(self) -> list[str]:
        """Names of the columns of text."""
        return [name for name, kind in self.kinds.items() if kind == "text"]

    def names(self) -> list[str]:
        """Return the names of all columns. If rows have names of their own, this reads all of them."""
        if not self.format.ragged:
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

    def _records(self, path: Any, layout: FileLayout) -> Iterator[Record]:
        own, others = formats.ALL[layout.format], (formats.ALL[other.format] for other in self.layouts)
        as_texts = own.typed and not all(other.typed for other in others)  # a text in one file is a text in all
        assert own.records is not None
        for record in own.records(self, path, layout):
            if as_texts:
                texts = {name for name, value in record.items() if value is not None and self.is_text(name)}
                record |= {name: as_text(record[name]).decode("utf-8", "surrogateescape") for name in texts}
            yield {name: value for name, value in record.items() if self._is_kept(name, value)}

    def _is_kept(self, name: str, value: Any) -> bool:
        return value is not None and self.kinds.get(name) != "skip" and not INDEX.fullmatch(name)

    def is_text(self, name: str) -> bool:
        """Return whether a column has texts, even if they look like numbers."""
        kind = self.kinds.get(name)
        return kind in ("category", "text", *DATE_KINDS) or (kind == "label" and self.reading.label_type == "text")

    def lines(self, path: Any) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a file that are not empty, and their numbers from 1."""
        with open_unpacked(path) as (stream, _):
            for number, line in enumerate(cast(Any, stream), 1):
                text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
                if text.strip():
                    yield number, text.rstrip(b"\r\n")

    def refuse(self, path: Any, line: int, found: Any, reason: str) -> None:
        """Count a line as skipped, or raise `InvalidInput`."""
        self.skipped += 1
        if not self.skip:
            raise InvalidInput(f"{path}, line {line}: {str(found)[:60]!r} {reason}")


class FeatureRow(NamedTuple):
    """Label, weight, and features with their values."""

    label: float | str | None
    weight: float
    features: list[tuple[str, float]]

    @property
    def label_text(self) -> str:
        """The label as text; empty if it is missing."""
        if self.label is None:
            return ""
        return short_number(self.label) if isinstance(self.label, float) else self.label


class FeatureRows:
    """Rows of a source with the names of their features."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.column_of = formats.ALL[source.reading.format].column_of

    @property
    def numbered(self) -> bool:
        """Whether features have numbers instead of names."""
        return formats.ALL[self.source.reading.format].numbered

    def __iter__(self) -> Iterator[FeatureRow]:
        first = 0 if self.source.reading.zero_based else 1
        names: tuple[str, ...] = ()
        for chunk in self.source:
            rows = chunk.table.rows
            assert isinstance(rows, Csr)
            if not self.numbered:
                names = self.source.names or ()
            labels, indptr = chunk.label.tolist(), rows.indptr.tolist()
            columns, values = rows.indices.tolist(), rows.data.tolist()
            for i, label in enumerate(labels):
                entries = range(indptr[i], indptr[i + 1])
                found = [(str(columns[k] + first) if self.numbered else names[columns[k]], values[k]) for k in entries]
                missing = label == "" or label != label
                weight = 1.0 if chunk.weight is None else float(chunk.weight[i])
                yield FeatureRow(None if missing else label, weight, found)

    def records(self) -> Iterator[Record]:
        """Yield the rows as dicts."""
        for row in self:
            record: Record = {} if row.label is None else {LABEL_COLUMN: row.label}
            if row.weight != 1.0:
                record[WEIGHT_COLUMN] = row.weight
            yield record | {self.column_of(name): value for name, value in row.features}

    def names(self) -> list[str]:
        """Return the names of all columns, numbers in order before other names. This reads all rows."""
        names: dict[str, None] = {}
        weights = False
        for row in self:
            names.update(dict.fromkeys(self.column_of(feature) for feature, _ in row.features))
            weights |= row.weight != 1.0
        return [LABEL_COLUMN, *([WEIGHT_COLUMN] if weights else []), *sorted(names, key=_numbers_first)]


def _numbers_first(name: str) -> tuple[int, str]:
    return (int(name), "") if re.fullmatch("[0-9]{1,18}", name) else (1 << 62, name)


def flat_table(rows: Records | FeatureRows) -> tuple[list[str], Iterable[Record]]:
    """Return the names of all columns, and the rows with plain values; raise `InvalidInput` if there are too many."""
    names = rows.names()
    if len(names) > MOST_COLUMNS:
        sparse = formats.names(lambda one: one.write and (one.kind == "features" or one.ragged))
        raise InvalidInput(
            f"A table of {len(names)} columns is too wide (at most {MOST_COLUMNS}). Convert to "
            f"{formats.listed(sparse)}."
        )
    return names, map(flat, rows) if isinstance(rows, Records) else rows.records()


# -------------------------------------------------------------------------------------------------------------- values


def as_value(text: str) -> str | float | int | None:
    """Return a field of a table as a number or as text; None if it is missing."""
    text = text.strip()
    return int(text) if re.fullmatch(r"[-+]?[0-9]{1,15}", text) else value_of(text)


def as_field(value: Any) -> str:
    """Return a value as a field of a table in text."""
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def as_plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    return value if value is None or isinstance(value, str | int | float | bool | list | dict) else str(value)


def one_line(text: str) -> str:
    """Return a text without tabs and newlines."""
    return re.sub(r"[\t\r\n]", " ", text)


def short_number(value: float) -> str:
    """Return the shortest text that is read back as a number."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def flat(record: Record) -> dict[str, Any]:
    """Return a record of plain values: names of objects within are joined by dots, and lists become text."""
    found: dict[str, Any] = {}
    for name, value in plain_pairs(record):
        found[name] = f"{found[name]} {value}" if name in found else value
    return found


def plain_pairs(content: Record, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the names and plain values of an object; names within objects are joined by a dot, null is left out."""
    if depth > MAX_DEPTH:
        raise ValueError("too deep")
    for name, value in content.items():
        if isinstance(value, dict):
            yield from plain_pairs(value, f"{prefix}{name}.", depth + 1)
        elif isinstance(value, list):
            if not all(isinstance(part, str | int | float | bool) for part in value):
                raise ValueError("a list of lists")
            yield from ((prefix + name, str(part)) for part in value)
        elif value is not None:
            yield prefix + name, value


# -------------------------------------------------------------------------------------------------------------- output


@dataclass
class Output:
    """A file that rows are written to; of bytes for formats that are not text. `notes` describe what was written."""

    file: Any
    path: FilePath
    rows: int = 0
    notes: list[str] = field(default_factory=list)

    def write_row(self, text: str) -> None:
        """Write a row as a line of text."""
        self.file.write(text + "\n")
        self.rows += 1


@contextlib.contextmanager
def open_output(path: FilePath, binary: bool = False) -> Iterator[Output]:
    """Open a file that appears when it is whole; a device or a pipe is opened as it is, "-" is standard output."""
    if isinstance(path, str) and path == STANDARD_INPUT:
        yield Output(sys.stdout.buffer if binary else sys.stdout, path)
        sys.stdout.flush()  # here, where a reader that has gone is expected
        return
    settings: dict[str, Any] = {} if binary else {"encoding": "utf-8", "errors": "surrogateescape", "newline": ""}
    if can_be_read_once(path):
        with open(path, "wb" if binary else "w", **settings) as file:
            yield Output(file, path)
        return
    try:
        with Beside(Path(os.path.realpath(path)), lasting=False) as raw:
            if binary:
                yield Output(raw, path)
            else:
                text = io.TextIOWrapper(raw, **settings)
                yield Output(text, path)
                text.detach()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written ({error}). Free some space, or pass another path.") from None
