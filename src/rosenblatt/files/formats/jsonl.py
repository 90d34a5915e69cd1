"""JSON lines: an object on each line. Numbers, texts, lists of them and objects within objects are features."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.files.dates import NOT_A_DATE, date_entries
from rosenblatt.files.features import Field, Piece, to_bytes, word_pieces
from rosenblatt.files.formats import Format
from rosenblatt.files.options import DATE_KINDS, Column, FileLayout, Reading
from rosenblatt.files.parsing import LineFault, LineFaults, Parsed, fault_at
from rosenblatt.files.records import FeatureRows, Output, Record, Records, as_plain, plain_pairs
from rosenblatt.files.sniffing import SAMPLE_BYTES, SAMPLE_LINES, Sample, most
from rosenblatt.files.streams import Array
from rosenblatt.files.tables import (
    INDEX,
    Preview,
    TableParser,
    as_text,
    date_piece,
    entries_piece,
    joined_texts,
    number_of,
)

NOT_OBJECT = ' is not a JSON object of numbers and texts. Write one on each line, as in: {"label": 1, "text": "hello"}'


def as_object(line: bytes, pairs: Any = None) -> dict[str, Any]:
    """Return the object on a line, or raise ValueError. `pairs` makes a dict of its names and values."""
    content = json.loads(line, object_pairs_hook=pairs)
    if not isinstance(content, dict):
        raise ValueError("not an object")
    return content


def names_of(content: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the names of an object, also those of null; names within objects are joined by a dot."""
    for name, value in content.items():
        yield from names_of(value, f"{prefix}{name}.") if isinstance(value, dict) else (prefix + name,)


def preview(sample: Sample, format: str, header: bool | str, known: Collection[str]) -> Preview:
    """Return the names and first rows of a file; a list is the text of its parts."""
    names: dict[str, None] = {}
    always: set[str] = set()
    found: list[tuple[int, dict[str, Any]]] = []
    lines = sample.content.split(b"\n")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            own = ", ".join(name for name, _ in pairs)
            raise InvalidInput(f"{sample.path}, line {number}: a name is there twice: {own[:200]}. Rename one.")
        return dict(pairs)

    for number, line in enumerate(lines if len(sample.content) < SAMPLE_BYTES else lines[:-1], 1):
        try:
            content = as_object(line, once)
            cells = plain_pairs(content)
            found.append((number, {k: v if isinstance(v, str | bool) else float(v) for k, v in cells}))
            own = dict.fromkeys(names_of(content))
            always = own.keys() & always if names else set(own)
            names.update(own)
        except InvalidInput:
            raise
        except (ValueError, RecursionError, OverflowError):
            continue
        if len(found) == SAMPLE_LINES:
            break
    if not names:
        raise InvalidInput(f"{sample.path} has no line with a JSON object. Pass a file of them, or another format.")
    rows = [[row.get(name) for name in names] for _, row in found]
    return Preview(sample.path, FileLayout("jsonl", tuple(names), True), rows, [number for number, _ in found], always)


class JsonParser(TableParser):
    """Parse JSON lines."""

    def __init__(self, reading: Reading, labels: str, skip: bool, layout: FileLayout | None = None) -> None:
        super().__init__(reading, labels, skip, layout)
        self.kind = {column.name: column.kind for column in reading.columns}
        self.ignored = {column.name for column in reading.columns if column.kind in ("label", "weight", "skip")}

    def return_ids(self, column: str | int) -> None:
        """Return the values of a column as ids from now on; it is not a feature unless it was one in training."""
        if self.layout.names:
            super().return_ids(column)
        else:  # rows that come one by one
            self.id = str(column)
        if self.id is not None and self.id not in self.kind:
            self.ignored.add(self.id)

    def parse(self, text: Array) -> Parsed:
        """Return the rows of a block of whole lines."""
        faults, rows = LineFaults(self.skip), self._rows()
        lines = text.tobytes().split(b"\n")[:-1]
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                rows.add(as_object(line), number)
            except (ValueError, RecursionError, OverflowError) as error:
                own = isinstance(error, InvalidInput)
                found = np.frombuffer(line + b"\n", np.uint8)
                faults.add(
                    LineFault(number, "", str(error)) if own else fault_at(found, number, 0, len(line), NOT_OBJECT)
                )
                if faults.stop:
                    break
        return self._collected(rows, len(lines), faults)

    def objects(self, contents: Iterable[dict[str, Any]]) -> Parsed:
        """Return the rows of objects in memory; raise an error if one of them cannot be used."""
        rows, lines = self._rows(), 0
        for lines, content in enumerate(contents, 1):
            try:
                rows.add(content, lines - 1)
            except (ValueError, RecursionError, OverflowError) as error:
                reason = str(error) if isinstance(error, InvalidInput) else repr(content)[:60] + NOT_OBJECT
                raise InvalidInput(f"row {lines - 1}: {reason}") from None
        return self._collected(rows, lines, LineFaults(self.skip))

    def _rows(self) -> _Rows:
        return _Rows(self) if self.reading.format == JSONL.name else _Columns(self)

    def _collected(self, rows: _Rows, lines: int, faults: LineFaults) -> Parsed:
        text_labels = self.reading.label_type == "text"
        label = np.array(rows.labels, np.str_ if text_labels else np.float64)
        weight = np.array(rows.weights) if self.weight is not None else None
        pieces, numbers, missing = rows.features()
        line_numbers = np.array(rows.line, np.int32)
        ids = None if self.id is None else rows.ids
        return Parsed(label, lines, line_numbers, faults, pieces, numbers, weight, missing, ids)


class _Rows:
    """Rows that are collected from objects."""

    def __init__(self, parser: JsonParser) -> None:
        self.parser = parser
        self.labels: list[Any] = []
        self.weights: list[float] = []
        self.line: list[int] = []
        self.ids: list[Any] = []
        self.names: list[list[Any]] = []  # prefix, name and value of each entry
        # In the order of the columns, whatever the rows of this block have: the names of a dictionary depend on it.
        of_text = [name for name, kind in parser.kind.items() if kind in ("text", *DATE_KINDS)]
        self.texts: dict[str, list[bytes]] = {name: [] for name in of_text}

    def add(self, content: dict[str, Any], line: int) -> None:
        """Add a row; raise ValueError if something of it cannot be used."""
        found: list[Any] = []
        texts: dict[str, list[bytes]] = {}
        parser, label, id = self.parser, None, None
        weight = np.nan if parser.weight in parser.layout.names else 1.0
        for name, value in plain_pairs(content):
            if name == parser.id:
                id = value
            if name == parser.label:
                label = value
            elif name == parser.weight:
                weight = float(value)
            elif name not in parser.ignored:
                self._feature(name, value, found, texts)
        self.labels.append(self._label(label))
        if not 0 <= weight < np.inf:
            self.labels.pop()
            raise InvalidInput("the weight is missing or negative. Write a number from 0.")
        self.weights.append(weight)
        self.line.append(line)
        self.ids.append(id)
        self.names.append(found)
        for name, column in self.texts.items():
            column.append(b" ".join(texts.get(name, ())))

    def _feature(self, name: str, value: Any, found: list[Any], texts: dict[str, list[bytes]]) -> None:
        kind, encoded = self.parser.kind.get(name), to_bytes(name)
        if name in self.texts:
            self._text(name, value, texts)
        elif kind == "category" or (kind is None and isinstance(value, str)):
            if text := as_text(value):
                found.append((encoded, text, 1.0))
        elif (number := _number(name, value)) and not np.isnan(number):
            found.append((b"", encoded, number))

    def _text(self, name: str, value: Any, texts: dict[str, list[bytes]]) -> None:
        """Add a row's text, or its date."""
        kind, text = self.parser.kind[name], as_text(value)
        if kind in DATE_KINDS and (name in texts or date_entries(name, text, kind) is None):
            raise InvalidInput(f"{value!r} of {name!r}{NOT_A_DATE}")
        texts.setdefault(name, []).append(text)

    def _label(self, value: Any) -> Any:
        parser = self.parser
        number = parser.reading.label_type == "number"
        if value is None or (value == "" and not isinstance(value, bool)):
            if parser.label is not None and parser.labels == "required":
                raise InvalidInput(f"there is no label {parser.label!r}. Add it, or correct the line.")
            return np.nan if number else ""
        if not number:
            return as_text(value).decode("utf-8", "backslashreplace")
        try:
            found = float(value)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"the label {value!r} is not a number, as the first labels are. Correct it, or pass label_type='text'."
            ) from None
        if not np.isfinite(found):
            raise InvalidInput(f"the label {value!r} is not a finite number. Correct it.")
        return found

    def features(self) -> tuple[list[Piece], Array | None, int]:
        """Return pieces (one of names and categories, then those of texts), numbers, and how many are missing."""
        found = [self._with_fields(entries_piece(self.names), [entry for row in self.names for entry in row])]
        for name, texts in self.texts.items():
            kind, spans = self.parser.kind[name], joined_texts(texts)
            if kind == "text":
                found += word_pieces(self.parser.reading.features, *spans, name)
            else:
                found.append(date_piece(Column(name, kind), *spans))
        return found, None, 0

    def _with_fields(self, piece: Piece, entries: list[Any]) -> Piece:
        """Return the piece with the field of each entry, which crosses need."""
        crossed = {name for cross in self.parser.reading.features.cross for name in cross}
        fields = (Field(()), *(Field((name,), self.parser.kind.get(name) == "number") for name in crossed))
        number = {to_bytes(name): k for k, name in enumerate(crossed, 1)}
        return piece._replace(
            fields=fields, field=np.array([number.get(prefix or name, 0) for prefix, name, _ in entries], np.int32)
        )


class _Columns(_Rows):
    """Rows that are collected from objects with exactly the columns of files in another format."""

    def _feature(self, name: str, value: Any, found: list[Any], texts: dict[str, list[bytes]]) -> None:
        kind = self.parser.kind.get(name)
        if kind is None:
            if self.parser.layout.closed and not INDEX.fullmatch(name):
                raise InvalidInput(f"the name {name!r} is not among the columns of the files before. Rename it.")
        elif name in self.texts:
            self._text(name, value, texts)
        elif any(name == other for other, _ in found):
            raise InvalidInput(f"{name!r} is a list, and has one value in the files before. Write one value.")
        else:
            found.append((name, _number(name, value) if kind == "number" else as_text(value)))

    def features(self) -> tuple[list[Piece], Array | None, int]:
        """Return the pieces of categories and texts, numbers, and how many values are missing."""
        rows = [dict(row) for row in self.names]
        names = self.parser.number_names
        numbers = np.array([[row.get(name, np.nan) for name in names] for row in rows], np.float64)
        categories = [name for name, kind in self.parser.kind.items() if kind == "category"]
        texts = self.texts | {name: [row.get(name, b"") for row in rows] for name in categories}
        pieces, missing = self.parser.pieces_of(lambda name: joined_texts(texts[name]))
        return pieces, numbers.reshape(len(rows), len(names)), missing + int(np.isnan(numbers).sum())


def _number(name: str, value: Any) -> float:
    """Return a value as a number, NaN if it stands for a missing one; raise an error if it is neither."""
    if isinstance(value, str):
        value = number_of(value)
        if value is None:
            return np.nan
    if isinstance(value, str) or not np.isfinite(float(value)):
        reason = "is not a finite number. Correct it, leave it out, or read the column as a category."
        raise InvalidInput(f"{value!r} of {name!r} {reason}")
    return float(value)


def records(table: Records, path: Any, layout: FileLayout) -> Iterator[Record]:
    """Yield the rows of a file as plain values."""
    for number, line in table.lines(path):
        try:
            record = as_object(line)
            names = [*names_of(record), *(name for name, _ in plain_pairs(record))]
        except (ValueError, RecursionError):
            table.refuse(path, number, line, "is not a JSON object of numbers and texts. Correct the line.")
            continue
        new = [name for name in names if name not in table.kinds and not INDEX.fullmatch(name)]
        if new and table.reading.format != JSONL.name:
            table.refuse(path, number, new[0], "is not among the columns of the files before. Rename it.")
            continue
        yield record


def write(output: Output, rows: Records | FeatureRows) -> None:
    """Write an object on each line."""
    for record in rows if isinstance(rows, Records) else rows.records():
        output.write_row(json.dumps({name: as_plain(value) for name, value in record.items()}))


JSONL = Format(
    name="jsonl",
    kind="table",
    endings=(".jsonl", ".ndjson"),
    rank=10,
    matches=lambda lines: most(lines, lambda line: line.lstrip()[:1] == b"{"),
    row='`{"label": 1, "age": 33, "text": "...", "tags": ["a", "b"], "in": {"x": 2}}`',
    label="a key",
    refused="anything but an object",
    typed=True,
    ragged=True,
    parser=JsonParser,
    preview=preview,
    records=records,
    write=write,
)
