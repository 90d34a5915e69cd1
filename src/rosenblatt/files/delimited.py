"""Tables in text: CSV with quotes (RFC 4180), and TSV without.

Numbers are read as they are. A table of numbers alone gives dense rows, one column for each; any other gives
sparse rows of hashed (or named) columns. A missing number is 0, and a missing category or text has no entry.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from operator import contains
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled import fields
from rosenblatt.compiled.decimals import read_plain_table
from rosenblatt.errors import InvalidInput
from rosenblatt.files.features import Piece, murmur, to_bytes
from rosenblatt.files.options import Reading, described, options_of_table
from rosenblatt.files.parsing import MISSING, Fault, Faults, Parsed, Parser, count_byte, fault_at, numbers_in, stripped
from rosenblatt.files.sniffing import NUMBER, SAMPLE_LINES, Sample, label_type
from rosenblatt.files.tables import (
    LABEL_NAMES,
    Scaler,
    category_piece,
    column_number,
    decide_columns,
    kind_of,
    label_column,
    number_piece,
)
from rosenblatt.files.text import label_fault, read_labels

Array = npt.NDArray[Any]

QUOTE, NO_QUOTE = ord('"'), -1
DELIMITERS = ",;\t|"
LONGEST_NAME = 64
MOST_HEADER_BYTES = 1 << 16
LONGEST_RECORD = 1 << 24  # bytes within which a quote must be closed, or it is taken for a stray one
_is_number = re.compile(NUMBER).fullmatch
# Decimal commas, and commas between thousands.
COMMAS = re.compile(r"[-+]?(?:[0-9]+,[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?)", re.ASCII)
COMMON_NAMES = {*LABEL_NAMES, "text", "id", "name", "message", "review", "weight"}


# ----------------------------------------------------------------------------------------------------------- deciding


@contextlib.contextmanager
def long_fields() -> Iterator[None]:
    """Let the csv module read fields of any length: a text may have more than the 131,072 characters of its limit."""
    limit = csv.field_size_limit((1 << 31) - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _records(sample: bytes, delimiter: str, quotes: bool) -> list[list[str]]:
    """Return the first records of a sample that are whole."""
    text = sample.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    quoting: Any = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
    found: list[list[str]] = []
    with long_fields(), contextlib.suppress(csv.Error):
        for record in reader:
            if record:
                found.append(record)
            if len(found) > SAMPLE_LINES:
                break
    whole = len(found) > SAMPLE_LINES or text.endswith(("\n", "\r"))
    return found if whole or len(found) == 1 else found[:-1]


def _delimiter(sample: bytes) -> str:
    """Return the delimiter that cuts most records of a sample into the same number of fields, the more the better."""
    best, most = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        widths = Counter(len(record) for record in _records(sample, delimiter, True))
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        score = (round(count / max(sum(widths.values()), 1), 1), width)
        if width > 1 and score > most:
            best, most = delimiter, score
    return best


def _value(field: str) -> str | float | None:
    """Return a field as a number or text, or None if it is missing."""
    encoded = to_bytes(field.strip())
    if encoded in MISSING:
        return None
    return float(encoded) if _is_number(encoded) else field


def _is_name(field: str) -> bool:
    return bool(field.strip()) and not isinstance(_value(field), float) and len(field) <= LONGEST_NAME


def _has_header(records: list[list[str]]) -> bool:
    """Return whether the first record looks like names of columns."""
    first, rest = records[0], records[1:]
    unique = len(set(first)) == len(first)
    if unique and any(field.strip().lower() in COMMON_NAMES for field in first):
        return True
    if not all(map(_is_name, first)):
        return False
    columns = list(zip(*(record for record in rest if len(record) == len(first)), strict=True))
    kinds = [kind_of([_value(field) for field in column]) for column in columns]
    if "number" in kinds:
        return True
    return unique and bool(columns) and not any(map(contains, columns, first))


def _check_decimals(names: list[str], values: list[Any], label: int | None, said: Any) -> None:
    """Raise an error if the numbers of a column have commas for points: as categories they would mean nothing."""
    known = {column_number(names, which, "columns") for which in said} | {label}
    for number, (name, column) in enumerate(zip(names, values, strict=True)):
        texts = [value.strip() for value in column if isinstance(value, str)]
        if number not in known and texts and all(map(COMMAS.fullmatch, texts)):
            raise InvalidInput(
                f"Column {name!r} has numbers with commas, as in {texts[0][:40]!r}. Write decimal points, without "
                f"other marks, or call it a category: columns={{{name!r}: 'category'}}, --columns {name}=category."
            )


def decide(reading: Reading, sample: Sample, opening: Any) -> Reading:
    """Return how such a file is to be read."""
    delimiter = "\t" if reading.format == "tsv" else _delimiter(sample.content)
    records = _records(sample.content, delimiter, reading.format == "csv")
    if not records:
        raise InvalidInput(f"{sample.path} has no rows. Pass a file with data.")
    header = _has_header(records) if opening.header == "auto" else opening.header
    names = [field.strip() for field in records[0]] if header else [str(k) for k in range(len(records[0]))]
    if len(set(names)) < len(names):
        raise InvalidInput(
            f"{sample.path} has two columns of one name: {', '.join(names)[:200]}. Rename one, or "
            "say that there is no header."
        )
    rows = [record for record in records[int(header) :] if len(record) == len(names)]
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    values = [[_value(field) for field in column] for column in columns]
    kinds = list(map(kind_of, values))
    label = label_column(names, opening.label, opening.labels)
    _check_decimals(names, values, label, opening.columns)
    kind = "number"
    if label is not None:
        kind = label_type([to_bytes(field) for field in columns[label]], opening.label_type)
    reading = replace(reading, delimiter=delimiter, header=header, label_type=kind)
    return decide_columns(reading, names, kinds, label, opening.columns)


# ------------------------------------------------------------------------------------------------------------ parsing


class DelimitedParser(Parser):
    """Rows of tables in text."""

    def __init__(self, reading: Reading, labels: str, skip: bool) -> None:
        super().__init__(reading, labels, skip)
        self.options, self.what = options_of_table(reading), described(reading)
        self.delimiter = ord(reading.delimiter)
        self.quote = QUOTE if reading.format == "csv" else NO_QUOTE
        self.kinds = [column.kind for column in reading.columns]
        self._place({column.name: k for k, column in enumerate(reading.columns)}, len(reading.columns))

    def _place(self, place: dict[str, int], width: int) -> None:
        """Note where each column is in the file, and how many there are."""
        self.place, self.width = place, width
        self.numbers = [place[column.name] for column in self.reading.columns if column.kind == "number"]
        found = {column.kind: place.get(column.name) for column in self.reading.columns}
        self.label = found.get("label") if self.labels != "none" else None
        self.weight = found.get("weight")

    def adapt(self, sample: Sample) -> None:
        """Find the columns in a file whose columns are not those of the file that was read first.

        With a header they may come in any order, and others may be there. Only the label may be missing, where none is
        needed.
        """
        records = _records(sample.content, self.reading.delimiter, self.quote != NO_QUOTE)
        fields = [field.strip() for field in records[0]] if records else []
        label = next((column.name for column in self.reading.columns if column.kind == "label"), None)
        unlabelled = label if self.labels != "required" else None  # the column that may be missing
        if self.reading.header:
            self._place_by_name(fields, unlabelled, sample.path)
        elif unlabelled is not None and len(fields) == len(self.reading.columns) - 1:
            others = [column.name for column in self.reading.columns if column.name != label]
            self._place({name: k for k, name in enumerate(others)}, len(others))

    def _place_by_name(self, names: list[str], unlabelled: str | None, path: Any) -> None:
        """Note where each column is in a file with these names."""
        needed = [column.name for column in self.reading.columns if column.kind not in ("skip", "weight")]
        missing = [name for name in needed if name not in names and name != unlabelled]
        if missing:
            raise InvalidInput(f"{path} has no column {missing[0]!r}. Its columns are {', '.join(names)[:200]}.")
        known = {column.name for column in self.reading.columns}
        self._place({name: k for k, name in enumerate(names) if name in known}, len(names))

    @property
    def n_features(self) -> int:
        """Number of columns of the rows."""
        return len(self.numbers) if self.reading.numeric else self.reading.features.n_columns

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, of a table of numbers."""
        if not self.reading.numeric:
            return None
        return self._number_names

    def scaler(self, scaling: Any) -> Scaler | None:
        """Return what scales the numbers of the table."""
        return Scaler(len(self.numbers), scaling) if self.numbers else None

    def record_end(self, text: Array) -> int:
        """Return where the last whole record ends: newlines in quotes end none."""
        if self.quote != NO_QUOTE and (text == self.quote).any():
            return int(fields.last_record_end(text, self.delimiter, self.quote, LONGEST_RECORD))
        return super().record_end(text)

    def parse(self, text: Array, first_of_file: bool) -> Parsed:
        """Return what a block of whole records says."""
        faults, lines = Faults(self.skip), count_byte(text, 10)
        plain = self._plain(text, lines, first_of_file, faults)
        if plain is not None:
            return plain
        first, last, line = self._fields(text, lines, first_of_file, faults)
        refused = np.zeros(line.size, bool)

        def refuse(rows: Array, describe: Any) -> None:
            new = rows[~refused[rows]]
            faults.add_rows(new, lambda row: describe(int(row)))
            refused[new] = True

        label: Array = np.full(line.size, np.nan)
        if self.label is not None:
            start, end = stripped(text, first[:, self.label], last[:, self.label])
            label, wrong = read_labels(text, start, end, self.reading.label_type, self.labels == "optional")
            name = next(name for name, own in self.place.items() if own == self.label)
            then = f"The column {name!r} is empty here: fill it in, or leave such lines out with --on-error skip."
            refuse(wrong, lambda row: label_fault(text, int(line[row]), int(start[row]), int(end[row]), then))
        numbers, missing = self._numbers(text, first, last, line, self.numbers, refuse)
        weight = None
        if self.weight is not None:
            weight = self._numbers(text, first, last, line, [self.weight], refuse)[0].reshape(-1)
            bad = np.flatnonzero(~(weight >= 0))
            refuse(
                bad, lambda row: Fault(int(line[row]), "", "the weight is missing or negative. Write a number from 0.")
            )
        kept = ~refused
        if refused.any():
            label, numbers, line, first, last = label[kept], numbers[kept], line[kept], first[kept], last[kept]
            weight = None if weight is None else weight[kept]
        parsed = Parsed(label, lines, line, faults, weight=weight)
        return self._features(parsed, text, first, last, numbers, missing)

    def _plain(self, text: Array, lines: int, first_of_file: bool, faults: Faults) -> Parsed | None:
        """Return the rows of a table of numbers, none of them missing, in one pass; None if it is anything else."""
        if not self.reading.numeric or self.reading.label_type != "number" or self.weight is not None:
            return None
        head = 0
        if first_of_file and self.reading.header:
            head = text[:MOST_HEADER_BYTES].tobytes().find(b"\n") + 1
            if head == 0:
                return None
        table = np.empty((lines, self.width))
        rows = read_plain_table(text[head:], self.delimiter, table)
        if rows < 0:
            return None
        label = np.full(rows, np.nan) if self.label is None else table[:rows, self.label].copy()
        line = np.arange(rows, dtype=np.int32) + bool(head)
        return Parsed(label, lines, line, faults, dense=np.ascontiguousarray(table[:rows, self.numbers]))

    def _features(self, parsed: Parsed, text: Array, first: Array, last: Array, numbers: Array, missing: int) -> Parsed:
        """Return the rows with their features: dense, or sparse, or to be finished where the rows before are known."""
        standardise = self.reading.features.standardise
        if self.reading.numeric:
            dense = numbers if standardise else np.nan_to_num(numbers, copy=False, nan=0.0)
            return parsed._replace(dense=np.ascontiguousarray(dense), missing=missing)
        pieces: list[Piece] = []
        for column in self.reading.columns:
            if column.kind not in ("category", "text"):
                continue
            k = self.place[column.name]
            start, end = stripped(text, first[:, k], last[:, k])
            gone = self._missing(text, start, end)
            missing += int(gone.sum())
            start = np.where(gone, end, start)
            if column.kind == "category":
                pieces.append(category_piece(column.name, text, start, end))
            else:
                pieces += self.word_pieces(column.name, text, start, end)
        if standardise:
            return parsed._replace(dense=numbers, pieces=pieces, missing=missing)
        pieces = [*self.number_pieces(numbers), *pieces]
        entries, named = self.finished(pieces)
        return parsed._replace(entries=entries, pieces=named, missing=missing)

    def word_pieces(self, name: str, text: Array, start: Array, end: Array) -> list[Piece]:
        """Return the entries of a column of text: name=word."""
        encoded = to_bytes(name)
        return self.assembler.words.pieces(text, start, end, encoded + b"=", murmur(encoded))

    def number_pieces(self, numbers: Array) -> list[Piece]:
        """Return the entries of the columns of numbers."""
        columns = enumerate(self._number_names)
        return [number_piece(name, np.ascontiguousarray(numbers[:, j])) for j, name in columns]

    @property
    def _number_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.reading.columns if column.kind == "number")

    def _fields(self, text: Array, lines: int, first_of_file: bool, faults: Faults) -> tuple[Array, Array, Array]:
        """Return where each field begins and ends, and the line of each row."""
        width = self.width
        first, last = np.empty((lines, width), np.int32), np.empty((lines, width), np.int32)
        doubled, line = np.empty((lines, width), np.uint8), np.empty(lines, np.int32)
        start = self._after_header(text) if first_of_file and self.reading.header else (0, 0, 0)
        shape = (self.delimiter, self.quote, LONGEST_RECORD)
        while True:
            rows, place, number, fault = fields.split_fields(text, start, *shape, first, last, doubled, line)
            if fault == fields.NO_FAULT:
                break
            end, _ = fields.record_end(text, place, *shape)
            faults.add(self._describe(text, place, end, number, fault))
            if faults.stop:
                break
            start = (end, number + count_byte(text[place:end], 10), rows)
        return first[:rows], last[:rows], line[:rows]

    def _after_header(self, text: Array) -> tuple[int, int, int]:
        """Return where the first record ends that is not empty, the number of the next line, and no rows."""
        place = next((k for k, byte in enumerate(text) if byte not in (10, 13)), text.size)
        end, _ = fields.record_end(text, place, self.delimiter, self.quote, LONGEST_RECORD)
        return end, count_byte(text[:end], 10), 0

    def _describe(self, text: Array, place: int, end: int, number: int, fault: int) -> Fault:
        width = self.width
        if fault == fields.BAD_QUOTE:
            reason = (
                " has a quote that is not closed, or not at the end of its field. Write quotes within a field twice, "
                "and close each."
            )
        else:
            what = "fewer" if fault == fields.TOO_FEW else "more"
            reason = f" has {what} than {width} fields, as the first line has. Correct the line."
        return fault_at(text, number, place, end - 1, reason)

    def _numbers(
        self, text: Array, first: Array, last: Array, line: Array, columns: list[int], refuse: Any
    ) -> tuple[Array, int]:
        """Return the numbers of some columns; NaN for those that are missing, and how many these are."""
        start, end = first[:, columns].reshape(-1), last[:, columns].reshape(-1)
        number, wrong = numbers_in(text, start, end)
        if not wrong.size:
            return number.reshape(line.size, len(columns)), 0
        number[wrong] = np.nan
        some = wrong[start[wrong] < end[wrong]]
        faulty = []
        for place in some.tolist():
            field = text[start[place] : end[place]].tobytes().strip()
            if _is_number(field) and np.isfinite(float(field)):
                number[place] = float(field)
            elif field not in MISSING:
                faulty.append(place)
        width = len(columns)
        bad = np.array(faulty, np.int64)

        def describe(row: int) -> Fault:
            place = int(bad[bad // width == row][0])
            where = columns[place % width]
            name = next(name for name, own in self.place.items() if own == where)
            reason = f" in column {name!r} is not a finite number. Correct it, or read the column as a category."
            return fault_at(text, int(line[row]), int(start[place]), int(end[place]), reason)

        refuse(np.unique(bad // width), describe)
        return number.reshape(line.size, width), int(np.isnan(number).sum()) - bad.size

    def _missing(self, text: Array, start: Array, end: Array) -> Array:
        """Return which spans say that a value is missing."""
        gone: Array = start == end
        short = np.flatnonzero(~gone & (end - start <= max(map(len, MISSING))))
        firsts = np.isin(text[start[short]], np.frombuffer(b"".join(word[:1] for word in MISSING), np.uint8))
        for row in short[firsts].tolist():
            gone[row] = text[start[row] : end[row]].tobytes() in MISSING
        return gone
