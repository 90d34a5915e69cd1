"""JSON lines: an object on each line. Numbers, texts, lists of them and objects within objects are features."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.files.features import ONE_GROUP, Piece, murmur, to_bytes
from rosenblatt.files.options import Reading, described, options_of_table
from rosenblatt.files.parsing import Fault, Faults, Parsed, Parser, fault_at
from rosenblatt.files.sniffing import Sample, label_type, sample_lines
from rosenblatt.files.tables import decide_columns, joined_texts, kind_of, label_column

Array = npt.NDArray[Any]

MAX_DEPTH = 16
NOT_OBJECT = ' is not a JSON object of numbers and texts. Write one on each line, as in: {"label": 1, "text": "hello"}'


def plain_pairs(content: dict[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
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


def as_object(line: bytes) -> dict[str, Any]:
    """Return the object on a line; raise ValueError if there is none."""
    content = json.loads(line)
    if not isinstance(content, dict):
        raise ValueError("not an object")
    return content


def _label_text(value: Any) -> str:
    """Return a label as text: whole numbers without a point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else str(value)


def decide(reading: Reading, sample: Sample, opening: Any) -> Reading:
    """Return how such a file is to be read."""
    values: dict[str, list[Any]] = {}
    for line in sample_lines(sample.content):
        try:
            for name, value in plain_pairs(as_object(line)):
                values.setdefault(name, []).append(float(value) if not isinstance(value, str) else value)
        except (ValueError, RecursionError, OverflowError):
            continue
    if not values:
        raise InvalidInput(f"{sample.path} has no line with a JSON object. Pass a file of them, or another format.")
    names = list(values)
    label = label_column(names, opening.label, opening.labels)
    kind = "number"
    if label is not None:
        labels = [to_bytes(_label_text(value)) for value in values[names[label]]]
        kind = label_type(labels, opening.label_type)
    kinds = [kind_of(values[name]) for name in names]
    return decide_columns(replace(reading, label_type=kind), names, kinds, label, opening.columns)


class JsonParser(Parser):
    """Rows of JSON lines."""

    def __init__(self, reading: Reading, labels: str, skip: bool) -> None:
        super().__init__(reading, labels, skip)
        self.options, self.what = options_of_table(reading), described(reading)
        self.kind = {column.name: column.kind for column in reading.columns}
        kinds = {column.kind: column.name for column in reading.columns}
        self.label, self.weight = kinds.get("label") if labels != "none" else None, kinds.get("weight")
        self.ignored = {column.name for column in reading.columns if column.kind in ("label", "weight", "skip")}

    def parse(self, text: Array, first_of_file: bool) -> Parsed:
        """Return what a block of whole lines says."""
        faults = Faults(self.skip)
        rows = _Rows(self)
        lines = text.tobytes().split(b"\n")[:-1]
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                rows.add(as_object(line), number)
            except (ValueError, RecursionError, OverflowError) as error:
                own = isinstance(error, InvalidInput)
                found = np.frombuffer(line + b"\n", np.uint8)
                faults.add(Fault(number, "", str(error)) if own else fault_at(found, number, 0, len(line), NOT_OBJECT))
                if faults.stop:
                    break
        text_labels = self.reading.label_type == "text"
        label = np.array(rows.labels, np.str_ if text_labels else np.float64)
        weight = np.array(rows.weights) if self.weight is not None else None
        entries, pieces = self.finished(rows.pieces())
        line_numbers = np.array(rows.line, np.int32)
        return Parsed(label, len(lines), line_numbers, faults, entries, pieces=pieces, weight=weight)


class _Rows:
    """Rows that are collected from objects."""

    def __init__(self, parser: JsonParser) -> None:
        self.parser = parser
        self.labels: list[Any] = []
        self.weights: list[float] = []
        self.line: list[int] = []
        self.names: list[list[tuple[bytes, bytes, float]]] = []  # prefix, name and value of each entry
        # In the order of the columns, whatever the rows of this block have: the names of a dictionary depend on it.
        self.texts: dict[str, list[bytes]] = {name: [] for name, kind in parser.kind.items() if kind == "text"}

    def add(self, content: dict[str, Any], line: int) -> None:
        """Add a row; raise ValueError if something of it cannot be used."""
        found: list[tuple[bytes, bytes, float]] = []
        texts: dict[str, list[str]] = {}
        parser, label, weight = self.parser, None, 1.0
        for name, value in plain_pairs(content):
            if name == parser.label:
                label = value
            elif name == parser.weight:
                weight = float(value)
            elif name not in parser.ignored:
                self._feature(name, value, found, texts)
        self.labels.append(self._label(label))
        if not 0 <= weight < np.inf:
            self.labels.pop()
            raise InvalidInput(f"the weight {weight} is not a number from 0. Correct it.")
        self.weights.append(weight)
        self.line.append(line)
        self.names.append(found)
        for name, column in self.texts.items():
            column.append(to_bytes(" ".join(texts.get(name, ()))))

    def _feature(self, name: str, value: Any, found: list[Any], texts: dict[str, list[str]]) -> None:
        encoded = to_bytes(name)
        if isinstance(value, str):
            if self.parser.kind.get(name) == "text":
                texts.setdefault(name, []).append(value)
            elif value:
                found.append((encoded, to_bytes(value), 1.0))
        else:
            number = float(value)
            if not np.isfinite(number):
                raise InvalidInput(f"{value!r} of {name!r} is not a finite number. Correct it, or leave it out.")
            if self.parser.kind.get(name) == "category":
                found.append((encoded, _label_text(value).encode(), 1.0))
            elif number:
                found.append((b"", encoded, number))

    def _label(self, value: Any) -> Any:
        parser = self.parser
        number = parser.reading.label_type == "number"
        if value is None or (value == "" and not isinstance(value, bool)):
            if parser.label is not None and parser.labels == "required":
                raise InvalidInput(f"there is no label {parser.label!r}. Add it, or correct the line.")
            return np.nan if number else ""
        if not number:
            return _label_text(value)
        try:
            found = float(value)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"the label {value!r} is not a number, as the first labels are. Correct it, or pass label_type='text'."
            ) from None
        if not np.isfinite(found):
            raise InvalidInput(f"the label {value!r} is not a finite number. Correct it.")
        return found

    def pieces(self) -> list[Piece]:
        """Return the entries of all rows: names and categories together, then each column of text."""
        flat = [entry for row in self.names for entry in row]
        text = np.frombuffer(b"".join(name for _, name, _ in flat) + b"\n", np.uint8)
        ends = np.cumsum([0, *(len(name) for _, name, _ in flat)]).astype(np.int32)
        prefixes = {b"": 0}
        group = np.array([prefixes.setdefault(prefix, len(prefixes)) for prefix, _, _ in flat], np.int32)
        seeds = np.array([murmur(prefix) if prefix else 0 for prefix in prefixes], np.uint32)
        indptr = np.cumsum([0, *(len(row) for row in self.names)]).astype(np.int32)
        names = tuple(prefix + b"=" if prefix else b"" for prefix in prefixes)
        value = np.array([value for _, _, value in flat], np.float64)
        seed = seeds[group] if flat else np.zeros(1, np.uint32)
        found = [Piece(indptr, text, ends[:-1], ends[1:], group if flat else ONE_GROUP, names, seed, value)]
        for name, column in self.texts.items():
            encoded = to_bytes(name)
            found += self.parser.assembler.words.pieces(*joined_texts(column), encoded + b"=", murmur(encoded))
        return found
