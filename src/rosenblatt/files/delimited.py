"""Tables in text: CSV with quotes (RFC 4180), and TSV without.

Numbers are read as they are. A table of numbers alone gives dense rows, one column for each; any other gives
sparse rows of hashed (or named) columns. A missing number is 0, and a missing category or text has no entry.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.files import fields
from rosenblatt.files.decimals import read_plain_table
from rosenblatt.files.features import Piece
from rosenblatt.files.options import Layout, Reading
from rosenblatt.files.parsing import MISSING, Fault, Faults, Parsed, count_byte, fault_at, numbers_in, stripped
from rosenblatt.files.sniffing import NUMBER, SAMPLE_BYTES, SAMPLE_LINES, Sample
from rosenblatt.files.source import BYTE_ORDER_MARK
from rosenblatt.files.tables import INDEX, LABEL_NAMES, UNNAMED, Look, TableParser, category_piece, kind_of, value_of
from rosenblatt.files.text import label_fault, read_labels

Array = npt.NDArray[Any]

QUOTE, NO_QUOTE = ord('"'), -1
DELIMITERS = ",;\t|"
LONGEST_NAME = 64
LONGEST_RECORD = 1 << 24  # bytes within which a quote must be closed, or it is taken for a stray one
_is_number = re.compile(NUMBER).fullmatch
COMMON_NAMES = {*LABEL_NAMES, "text", "id", "name", "message", "review", "weight"}
# Columns from which on a first line 0,1,2,... is no row, and rows from which on a word that does not return is a name.
CERTAIN_NUMBERING, CERTAIN_ROWS = 5, 5


# ------------------------------------------------------------------------------------------------------------ looking


@contextlib.contextmanager
def long_fields() -> Iterator[None]:
    """Let the csv module read fields of any length: a text may have more than the 131,072 characters of its limit."""
    limit = csv.field_size_limit((1 << 31) - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


class _Record(NamedTuple):
    """The fields of a record, its first line, and the bytes and lines up to its end."""

    fields: list[str]
    first: int
    end: int
    line: int


def _records(sample: bytes, delimiter: str, quotes: bool) -> list[_Record]:
    """Return the first records of a sample that are whole."""
    end, line = 0, 0

    def lines() -> Iterator[str]:
        nonlocal end, line
        for text in BytesIO(sample):
            text = text.removeprefix(BYTE_ORDER_MARK) if end == 0 else text
            end, line = end + len(text) + (len(BYTE_ORDER_MARK) if end == 0 and marked else 0), line + 1
            yield text.decode("utf-8", "surrogateescape").replace("\r\n", "\n").replace("\r", " ")

    marked = sample.startswith(BYTE_ORDER_MARK)
    quoting: Any = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    found: list[_Record] = []
    with long_fields(), contextlib.suppress(csv.Error):
        before = 0
        for record in csv.reader(lines(), delimiter=delimiter, quoting=quoting):
            if record:
                found.append(_Record(record, before + 1, end, line))
            before = line
            if len(found) > SAMPLE_LINES:
                break
    whole = len(found) > SAMPLE_LINES or len(sample) < SAMPLE_BYTES or sample.endswith(b"\n")
    return found if whole or len(found) == 1 else found[:-1]


def _delimiter(sample: bytes, quotes: bool, known: Collection[str]) -> str:
    """Return the delimiter that finds most known names in the first record.

    If it says nothing: the one that cuts most records into the same number of fields, the first one too, the more the
    better.
    """
    best, most = ",", (0, 0.0, False, 0)
    for delimiter in DELIMITERS:
        records = _records(sample, delimiter, quotes)
        widths = Counter(len(record.fields) for record in records)
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        names = {field.strip() for field in records[0].fields} if records else set()
        # Decimal commas cut rows alike, but not the names above them.
        fits = bool(records) and len(records[0].fields) == width
        score = (len(names.intersection(known)), round(count / max(sum(widths.values()), 1), 1), fits, width)
        if width > 1 and score > most:
            best, most = delimiter, score
    return best


def _is_name(field: str) -> bool:
    return bool(field.strip()) and not isinstance(value_of(field), float) and len(field) <= LONGEST_NAME


def _has_header(first: list[str], rest: list[list[str]]) -> bool | None:
    """Return whether the first record looks like names of columns; None if it may be either."""
    names = [field.strip() for field in first]
    unique = len(set(names)) == len(names)
    if unique and any(name.lower() in COMMON_NAMES or INDEX.fullmatch(name) for name in names):
        return True
    columns = list(zip(*(record for record in rest if len(record) == len(first)), strict=True))
    kinds = [kind_of([value_of(field) for field in column]) for column in columns]
    words = [k for k, name in enumerate(names) if _is_name(name)]
    numbers = [name for k, name in enumerate(names) if k not in words and name]
    recurs = any(columns and first[k] in columns[k] for k in words)
    indexed = bool(columns) and not names[0] and _is_count(columns[0])
    if not numbers:
        if words and any(columns and kinds[k] == "number" for k in words):
            return True
        return unique and bool(columns) and not recurs and (indexed or len(words) == len(names))
    if set(numbers) != {str(k) for k in range(len(numbers))} or not columns:  # as pandas numbers columns
        return False
    if indexed:
        return not recurs
    places = [k for k, name in enumerate(names) if name in numbers]
    fractions = all("." in field for k in places for field in columns[k])
    if words:
        return False if recurs else True if fractions or len(rest) >= CERTAIN_ROWS else None
    if numbers != [str(k) for k in range(len(numbers))]:
        return False
    if len(numbers) >= CERTAIN_NUMBERING or set(kinds) != {"number"}:
        return True
    return None if len(numbers) > 2 or fractions else False


def _is_count(column: tuple[str, ...]) -> bool:
    """Return whether a column has different whole numbers, as an index has."""
    return all(field.strip().isdigit() for field in column) and len(set(column)) == len(column)


def look(sample: Sample, format: str, header: bool | str, known: Collection[str]) -> Look:
    """Return what the start of a file shows.

    Parameters
    ----------
    sample : Sample
    format : {"csv", "tsv"}
    header : bool or "auto"
    known : collection of str
        Names of which one in the first line proves that it is a header.
    """
    quotes = format == "csv"
    delimiter = "\t" if format == "tsv" else _delimiter(sample.content, quotes, known)
    records = _records(sample.content, delimiter, quotes)
    if not records:
        raise InvalidInput(f"{sample.path} has no rows. Pass a file with data.")
    first, rest = [field.strip() for field in records[0].fields], [record.fields for record in records[1:]]
    named: bool | None = bool(header)
    if header == "auto":
        named = True if set(first).intersection(known) else _has_header(records[0].fields, rest)
    if named is None:
        raise InvalidInput(
            f"{sample.path}, line {records[0].first}: {delimiter.join(first)[:80]!r} may be names of columns, or a "
            "row. Pass --header yes or --header no (header=True or False)."
        )
    names = first if named else [""] * len(first)
    width = len(names)
    names = [name or (UNNAMED.format(k) if named else str(k)) for k, name in enumerate(names)]
    if len(set(names)) < width:
        raise InvalidInput(
            f"{sample.path} has two columns of one name: {', '.join(names)[:200]}. Rename one, or "
            "say that there is no header."
        )
    shown = [record for record in records[int(named) :] if len(record.fields) == width]
    rows = [[value_of(field) for field in record.fields] for record in shown]
    start = (records[0].end, records[0].line) if named else (0, 0)
    layout = Layout(format, tuple(names), named, False, delimiter, *start)
    return Look(sample.path, layout, rows, [record.first for record in shown])


# ------------------------------------------------------------------------------------------------------------ parsing


class DelimitedParser(TableParser):
    """Rows of tables in text."""

    def __init__(self, reading: Reading, labels: str, skip: bool, layout: Layout | None = None) -> None:
        super().__init__(reading, labels, skip, layout)
        self.delimiter = ord(self.layout.delimiter)
        self.quote = QUOTE if self.layout.format == "csv" else NO_QUOTE
        names = self.layout.names
        if not reading.named and len(names) < len(reading.columns):  # a row has everything but the label
            names = tuple(column.name for column in reading.columns if column.kind != "label")
        self.place, self.width = {name: k for k, name in enumerate(names)}, len(names)
        self.numbers = [self.place[name] for name in self.number_names]
        self.of_text = [self.place[column.name] for column in reading.columns if column.kind == "text"]
        found = {column.kind: self.place.get(column.name) for column in reading.columns}
        self.label = found.get("label") if labels != "none" else None
        self.weight = found.get("weight")

    def record_end(self, text: Array) -> int:
        """Return where the last whole record ends: newlines in quotes end none."""
        if self.quote != NO_QUOTE and (text == self.quote).any():
            return int(fields.last_record_end(text, self.delimiter, self.quote, LONGEST_RECORD))
        return super().record_end(text)

    def parse(self, text: Array) -> Parsed:
        """Return what a block of whole records says."""
        faults, lines = Faults(self.skip), count_byte(text, 10)
        plain = self._plain(text, lines, faults)
        if plain is not None:
            return plain
        first, last, line, doubled = self.fields(text, lines, faults)
        doubled[:, self.of_text] = 0  # words end at quotes, however many
        if doubled.any():
            text, first, last = _undoubled(text, first, last, doubled)
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

    def _plain(self, text: Array, lines: int, faults: Faults) -> Parsed | None:
        """Return the rows of a table of numbers, none of them missing, in one pass; None if it is anything else."""
        if not self.reading.numeric or self.reading.label_type != "number" or self.weight is not None:
            return None
        table = np.empty((lines, self.width))
        rows = read_plain_table(text, self.delimiter, table)
        if rows < 0:
            return None
        label = np.full(rows, np.nan) if self.label is None else table[:rows, self.label].copy()
        line = np.arange(rows, dtype=np.int32)
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

    def fields(self, text: Array, lines: int, faults: Faults) -> tuple[Array, Array, Array, Array]:
        """Return where each field begins and ends, the line of each row, and which fields have quotes twice."""
        width = self.width
        first, last = np.empty((lines, width), np.int32), np.empty((lines, width), np.int32)
        doubled, line = np.empty((lines, width), np.uint8), np.empty(lines, np.int32)
        start, shape = (0, 0, 0), (self.delimiter, self.quote, LONGEST_RECORD)
        while True:
            rows, place, number, fault = fields.split_fields(text, start, *shape, first, last, doubled, line)
            if fault == fields.NO_FAULT:
                break
            end, _ = fields.record_end(text, place, *shape)
            faults.add(self._describe(text, place, end, number, fault))
            if faults.stop:
                break
            start = (end, number + count_byte(text[place:end], 10), rows)
        return first[:rows], last[:rows], line[:rows], doubled[:rows]

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


def _undoubled(text: Array, first: Array, last: Array, doubled: Array) -> tuple[Array, Array, Array]:
    """Return a text with the fields that have quotes twice written again at its end, and where the fields are."""
    parts, size = [text.tobytes()], text.size
    first, last = first.copy(), last.copy()
    for row, column in np.argwhere(doubled).tolist():
        field = text[first[row, column] : last[row, column]].tobytes().replace(b'""', b'"')
        first[row, column], last[row, column] = size, size + len(field)
        parts.append(field + b"\n")
        size += len(field) + 1
    return np.frombuffer(b"".join(parts), np.uint8), first, last
