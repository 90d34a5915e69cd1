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

from rosenblatt.engine.jit import compiled
from rosenblatt.errors import InvalidInput
from rosenblatt.files.decimals import FINE, decimal
from rosenblatt.files.formats import Format
from rosenblatt.files.formats.text import looks_like_text
from rosenblatt.files.options import FileLayout, Reading
from rosenblatt.files.parsing import (
    MISSING,
    LineFault,
    LineFaults,
    Parsed,
    RefusedRows,
    count_byte,
    fault_at,
    numbers_in,
    stripped,
    texts_in,
)
from rosenblatt.files.records import FeatureRows, Output, Record, Records, as_field, as_value, flat_table, one_line
from rosenblatt.files.sniffing import SAMPLE_BYTES, SAMPLE_LINES, Sample, most
from rosenblatt.files.streams import BYTE_ORDER_MARK, Array, FilePath
from rosenblatt.files.tables import INDEX, LABEL_NAMES, UNNAMED, Preview, TableParser, kind_of, number_of, value_of

U = np.uint64
NEWLINE, RETURN = 10, 13
NO_FAULT, TOO_FEW, TOO_MANY, BAD_QUOTE = 0, 1, 2, 3
NO_QUOTE = -1
LONGEST_RECORD = 1 << 24  # bytes within which a quote must be closed, else it is a stray one
QUOTED = re.compile(rb'(?:^|\t)"[^\t]*"(?:\t|\r?$)')
COMMON_NAMES = {*LABEL_NAMES, "text", "id", "name", "message", "review", "weight"}
# Columns from which on a first line 0,1,2,... is a header, and rows from which on a word that does not recur is a name.
CERTAIN_NUMBERING, CERTAIN_ROWS = 5, 5


# --------------------------------------------------------------------------------------------------------------- loops
# A text is an array of bytes whose last one is a newline.


@compiled()
def _quoted_end(text, i, quote, end):
    """Return where the quote that opened before i closes, or the end, and whether doubled quotes are within."""
    doubled = False
    while i < end:
        if text[U(i)] == quote:
            if i + 1 < end and text[U(i + 1)] == quote:
                doubled = True
                i += 1
            else:
                return i, doubled
        i += 1
    return end, doubled


@compiled()
def _after_quotes(text, close, delimiter, end):
    """Return where the delimiter or newline after a closing quote is, or -1 if there is something else."""
    after = close + 1
    if after + 1 < end and text[U(after)] == RETURN and text[U(after + 1)] == NEWLINE:
        after += 1
    if after >= end or not (text[U(after)] == delimiter or text[U(after)] == NEWLINE):
        return -1
    return after


@compiled()
def _record_end(text, i, delimiter, quote, longest):
    """Return where the record that begins at i ends, and whether that is known.

    A record is damaged if a quote is not closed at the end of its field, or not within `longest` bytes of the start of
    the record. Then it is its first line alone: a stray quote costs one line, wherever a block of text ends. The end
    is unknown while more text could change it.
    """
    begin, size = i, text.size
    end = min(size, begin + longest)
    damaged = False
    while i < size:
        if text[U(i)] == quote:
            close, _ = _quoted_end(text, i + 1, quote, end)
            i = _after_quotes(text, close, delimiter, end)
            if i < 0:
                # At the end of the text, the next byte or two may change it.
                open_end = end < begin + longest and close + 2 >= end
                damaged = not open_end
                break
        else:
            while i < size and text[U(i)] != delimiter and text[U(i)] != NEWLINE:
                i += 1
            if i == size:
                break
        i += 1
        if text[U(i - 1)] == NEWLINE:
            return i, True
    i = begin
    while i < size and text[U(i)] != NEWLINE:
        i += 1
    return min(i + 1, size), damaged and i < size


@compiled()
def last_record_end(text, delimiter, quote, longest):
    """Return where the last record with a known end ends, in a text that begins with a record; 0 if there is none."""
    i, known = 0, True
    while known and i < text.size:
        end, known = _record_end(text, i, delimiter, quote, longest)
        i = end if known else i
    return i


@compiled()
def _split_record(text, i, delimiter, quote, longest, first, last, doubled):
    """Find the fields of the record at i; return where the next one begins, its lines, and the fault."""
    lines, columns, end = 1, first.size, min(text.size, i + longest)
    for field in range(columns):
        begin, twice = i, False
        if text[U(i)] == quote:
            begin += 1
            stop, twice = _quoted_end(text, begin, quote, end)
            for place in range(begin, stop):
                lines += text[U(place)] == NEWLINE
            i = _after_quotes(text, stop, delimiter, end)
            if i < 0:
                return i, lines, BAD_QUOTE
        else:
            while text[U(i)] != delimiter and text[U(i)] != NEWLINE:
                i += 1
            stop = i - (text[U(i)] == NEWLINE and i > begin and text[U(i - 1)] == RETURN)
        first[field], last[field], doubled[field] = begin, stop, twice
        i += 1
        if text[U(i - 1)] == NEWLINE:
            return i, lines, NO_FAULT if field == columns - 1 else TOO_FEW
    return i, lines, TOO_MANY


@compiled()
def split_fields(text, start, delimiter, quote, longest, first, last, doubled, line):
    """Find the fields of each record until the end or the first fault.

    Returns the rows so far; where the faulty record begins, or the end of the text; the number of its line; the fault.

    Parameters
    ----------
    text : uint8 array
        Whole records.
    start : (int, int, int)
        Where to begin: a byte at the start of a record, the number of its line, and the rows found so far.
    delimiter, quote : int
        A quote of -1: quotes have no meaning.
    longest : int
        Bytes of a record within which its quotes must be closed.
    first, last, doubled : arrays of shape (n_rows, n_columns), with a row for each line
        Receive where each field begins and ends, without quotes, and whether it has doubled quotes within.
    line : int array
        Receives the number of each row's line.
    """
    i, number, row = start
    end = text.size
    while i < end:
        if text[U(i)] == NEWLINE or (text[U(i)] == RETURN and text[U(i + 1)] == NEWLINE):
            i += 1 if text[U(i)] == NEWLINE else 2
            number += 1
            continue
        after, lines, fault = _split_record(text, i, delimiter, quote, longest, first[row], last[row], doubled[row])
        if fault != NO_FAULT:
            return row, i, number, fault
        line[row] = number
        row += 1
        number += lines
        i = after
    return row, end, number, NO_FAULT


@compiled()
def read_plain_table(text, delimiter, out):
    """Read rows of numbers between delimiters; return how many, or -1 if there is anything else.

    `out` has a row for each line. The text is whole lines.
    """
    i, row, width = 0, 0, out.shape[1]
    while i < text.size:
        for field in range(width):
            value, i, code = decimal(text, i)
            if code != FINE or not abs(value) < np.inf:
                return -1
            if field == width - 1 and text[U(i)] == 13:
                i += 1
            if text[U(i)] != (10 if field == width - 1 else delimiter):
                return -1
            out[row, field] = value
            i += 1
        row += 1
    return row


# -------------------------------------------------------------------------------------------------------- recognising


def confirm_tsv(lines: list[bytes], path: FilePath, by_name: bool) -> str:
    """Return "tsv", or "text" for labels and texts; raise an error if it is unclear what quotes between tabs mean."""
    if by_name:
        return "text" if looks_like_text(lines) else "tsv"
    quoted = next((line for line in lines if QUOTED.search(line)), None)
    if quoted is not None:
        raise InvalidInput(
            f"{path} has fields in quotes between tabs, as in {quoted[:60]!r}. Say whether the quotes belong to the "
            "fields: --format tsv, or a name that ends in .tsv; or not: csv."
        )
    return "tsv"


@contextlib.contextmanager
def long_fields() -> Iterator[None]:
    """Let the csv module read fields of any length; its limit is 131,072 characters."""
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

    Without such names: the one that cuts most records, and the first one, into the same number of fields. More fields
    are better.
    """
    best, most = ",", (0, 0.0, False, 0)
    for delimiter in ",;\t|":
        records = _records(sample, delimiter, quotes)
        widths = Counter(len(record.fields) for record in records)
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        names = {field.strip() for field in records[0].fields} if records else set()
        # Decimal commas cut all rows into equally many fields, but not the header.
        fits = bool(records) and len(records[0].fields) == width
        score = (len(names.intersection(known)), round(count / max(sum(widths.values()), 1), 1), fits, width)
        if width > 1 and score > most:
            best, most = delimiter, score
    return best


def _is_name(field: str) -> bool:
    return bool(field.strip()) and not isinstance(value_of(field), float) and len(field) <= 64


def _has_header(first: list[str], rest: list[list[str]]) -> bool | None:
    """Return whether the first record looks like names of columns; None if that is unclear."""
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


def preview(sample: Sample, format: str, header: bool | str, known: Collection[str]) -> Preview:
    """Return the columns and first rows of a file. If one of the known names is in the first line, it is a header."""
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
            f"{sample.path} has two columns with the same name: {', '.join(names)[:200]}. Rename one, or "
            "say that there is no header."
        )
    shown = [record for record in records[int(named) :] if len(record.fields) == width]
    rows = [[value_of(field) for field in record.fields] for record in shown]
    start = (records[0].end, records[0].line) if named else (0, 0)
    layout = FileLayout(format, tuple(names), named, False, delimiter, *start)
    return Preview(sample.path, layout, rows, [record.first for record in shown])


# ------------------------------------------------------------------------------------------------------------ parsing


class DelimitedParser(TableParser):
    """Parse tables in text."""

    def __init__(self, reading: Reading, labels: str, skip: bool, layout: FileLayout | None = None) -> None:
        super().__init__(reading, labels, skip, layout)
        self.delimiter = ord(self.layout.delimiter)
        self.quote = ord('"') if self.layout.format == "csv" else NO_QUOTE
        names = self.layout.names
        if not reading.named and len(names) < len(reading.columns):  # a row has everything but the label
            names = tuple(column.name for column in reading.columns if column.kind != "label")
        self.place, self.width = {name: k for k, name in enumerate(names)}, len(names)
        self.numbers = [self.place[name] for name in self.number_names]
        self.of_text = [self.place[column.name] for column in reading.columns if column.kind == "text"]

    @property
    def columns_in_file(self) -> tuple[str, ...]:
        """Names of the columns that the file has."""
        return tuple(self.place)

    def record_end(self, text: Array) -> int:
        """Return where the last whole record ends; newlines in quotes are part of a record."""
        if self.quote != NO_QUOTE and (text == self.quote).any():
            return int(last_record_end(text, self.delimiter, self.quote, LONGEST_RECORD))
        return super().record_end(text)

    def parse(self, text: Array) -> Parsed:
        """Return the rows of a block of whole records."""
        faults, lines = LineFaults(self.skip), count_byte(text, 10)
        plain = self._plain(text, lines, faults)
        if plain is not None:
            return plain
        first, last, line, doubled = self.fields(text, lines, faults)
        doubled[:, self.of_text] = 0  # words end at quotes, however many
        if doubled.any():
            text, first, last = _undoubled(text, first, last, doubled)
        refused = RefusedRows(line.size, faults)
        label: Array = np.full(line.size, np.nan)
        if self.label in self.place:
            place = self.place[self.label]
            start, end = stripped(text, first[:, place], last[:, place])
            remedy = (
                f"The column {self.label!r} is empty here: fill it in, or leave such lines out with --on-error skip."
            )
            label = self.read_labels(text, start, end, line, refused, remedy)
        numbers, missing = self._numbers(text, first, last, line, self.numbers, refused)
        weight = None
        if self.weight in self.place:
            weight = self._numbers(text, first, last, line, [self.place[self.weight]], refused)[0].reshape(-1)
            fault = "the weight is missing or negative. Write a number from 0."
            refused.add(np.flatnonzero(~(weight >= 0)), lambda row: LineFault(int(line[row]), "", fault))
        self.refuse_dates(lambda name: (text, *self._present(text, first, last, self.place[name])), line, refused)
        if refused.mask.any():
            kept = ~refused.mask
            label, numbers, line, first, last = label[kept], numbers[kept], line[kept], first[kept], last[kept]
            weight = None if weight is None else weight[kept]
        pieces, gone = self.pieces_of(lambda name: (text, *self._present(text, first, last, self.place[name])))
        ids = None
        if self.id is not None:
            column = self.place[self.id]
            ids = texts_in(text, *stripped(text, first[:, column], last[:, column])).tolist()
        return Parsed(label, lines, line, faults, pieces, numbers, weight, missing + gone, ids)

    def _plain(self, text: Array, lines: int, faults: LineFaults) -> Parsed | None:
        """Return the rows of a table of numbers without missing ones, in one pass; None if it is anything else."""
        numbers_alone = self.reading.numeric and self.reading.label_type == "number" and self.id is None
        if not numbers_alone or self.weight in self.place:
            return None
        table = np.empty((lines, self.width))
        rows = read_plain_table(text, self.delimiter, table)
        if rows < 0:
            return None
        label = table[:rows, self.place[self.label]].copy() if self.label in self.place else np.full(rows, np.nan)
        line = np.arange(rows, dtype=np.int32)
        return Parsed(label, lines, line, faults, [], np.ascontiguousarray(table[:rows, self.numbers]))

    def _present(self, text: Array, first: Array, last: Array, column: int) -> tuple[Array, Array]:
        """Return where the values of a column begin and end; one that stands for a missing value is empty."""
        start, end = stripped(text, first[:, column], last[:, column])
        short = np.flatnonzero((start < end) & (end - start <= max(map(len, MISSING))))
        firsts = np.isin(text[start[short]], np.frombuffer(b"".join(word[:1] for word in MISSING), np.uint8))
        for row in short[firsts].tolist():
            if text[start[row] : end[row]].tobytes() in MISSING:
                start[row] = end[row]
        return start, end

    def fields(self, text: Array, lines: int, faults: LineFaults) -> tuple[Array, Array, Array, Array]:
        """Return where each field begins and ends, the line of each row, and which fields have doubled quotes."""
        width = self.width
        first, last = np.empty((lines, width), np.int32), np.empty((lines, width), np.int32)
        doubled, line = np.empty((lines, width), np.uint8), np.empty(lines, np.int32)
        start, shape = (0, 0, 0), (self.delimiter, self.quote, LONGEST_RECORD)
        while True:
            rows, place, number, fault = split_fields(text, start, *shape, first, last, doubled, line)
            if fault == NO_FAULT:
                break
            end, _ = _record_end(text, place, *shape)
            faults.add(self._describe(text, place, end, number, fault))
            if faults.stop:
                break
            start = (end, number + count_byte(text[place:end], 10), rows)
        return first[:rows], last[:rows], line[:rows], doubled[:rows]

    def _describe(self, text: Array, place: int, end: int, number: int, fault: int) -> LineFault:
        width = self.width
        if fault == BAD_QUOTE:
            reason = (
                " has a quote that is not closed, or not at the end of its field. Write quotes within a field twice, "
                "and close each."
            )
        else:
            what = "fewer" if fault == TOO_FEW else "more"
            reason = f" has {what} than {width} fields, as the first line has. Correct the line."
        return fault_at(text, number, place, end - 1, reason)

    def _numbers(
        self, text: Array, first: Array, last: Array, line: Array, columns: list[int], refused: RefusedRows
    ) -> tuple[Array, int]:
        """Return the numbers of some columns, NaN where they are missing, and how many are missing."""
        start, end = first[:, columns].reshape(-1), last[:, columns].reshape(-1)
        number, wrong = numbers_in(text, start, end)
        if not wrong.size:
            return number.reshape(line.size, len(columns)), 0
        number[wrong] = np.nan
        some = wrong[start[wrong] < end[wrong]]
        faulty = []
        for place in some.tolist():
            field = text[start[place] : end[place]].tobytes().strip()
            value = number_of(field.decode("utf-8", "replace"))
            if isinstance(value, float) and np.isfinite(value):
                number[place] = value
            elif value is not None:
                faulty.append(place)
        width = len(columns)
        bad = np.array(faulty, np.int64)

        def describe(row: int) -> LineFault:
            place = int(bad[bad // width == row][0])
            where = columns[place % width]
            name = next(name for name, own in self.place.items() if own == where)
            reason = f" in column {name!r} is not a finite number. Correct it, or read the column as a category."
            return fault_at(text, int(line[row]), int(start[place]), int(end[place]), reason)

        refused.add(np.unique(bad // width), describe)
        return number.reshape(line.size, width), int(np.isnan(number).sum()) - bad.size


def _undoubled(text: Array, first: Array, last: Array, doubled: Array) -> tuple[Array, Array, Array]:
    """Return a text with the fields that have doubled quotes rewritten at its end, and where all fields are."""
    parts, size = [text.tobytes()], text.size
    first, last = first.copy(), last.copy()
    for row, column in np.argwhere(doubled).tolist():
        field = text[first[row, column] : last[row, column]].tobytes().replace(b'""', b'"')
        first[row, column], last[row, column] = size, size + len(field)
        parts.append(field + b"\n")
        size += len(field) + 1
    return np.frombuffer(b"".join(parts), np.uint8), first, last


# ----------------------------------------------------------------------------------------------- records and writing


def records(table: Records, path: Any, layout: FileLayout) -> Iterator[Record]:
    """Yield the rows of a file as plain values."""
    parser, before = DelimitedParser(table.reading, table.labels, table.skip, layout), layout.line
    for block in parser.reader(table.inputs, path, table.chunk_bytes).blocks(layout.offset):
        faults, lines = LineFaults(table.skip), count_byte(block.text, 10)
        first, last, _, doubled = parser.fields(block.text, lines, faults)
        table.skipped += faults.count
        if faults.stop:
            fault = faults.examples[0]
            raise InvalidInput(f"{path}, line {before + fault.line + 1}: {fault.found}{fault.reason}")
        content, before = block.text.tobytes(), before + lines
        for spans in zip(first.tolist(), last.tolist(), doubled.tolist(), strict=True):
            found = (
                (name, content[begin:end].replace(b'""', b'"') if twice else content[begin:end])
                for name, begin, end, twice in zip(layout.names, *spans, strict=True)
            )
            yield {name: _value(table, name, field.decode("utf-8", table.errors)) for name, field in found}


def _value(table: Records, name: str, field: str) -> str | float | int | None:
    value = as_value(field)
    if value is None or not table.is_text(name):
        return value
    return field if table.kinds.get(name) == "text" else field.strip()


def quote_notes(reading: Reading, preview: Preview) -> list[str]:
    """Return a note on fields in quotes, which are other categories and labels than those without."""
    used = {column.name for column in reading.columns if column.kind in ("category", "label")}
    places = [k for k, name in enumerate(preview.layout.names) if name in used]
    for row, line in zip(preview.rows, preview.lines, strict=True):
        for text in (value.strip() for k in places if isinstance(value := row[k], str)):
            if len(text) > 1 and text[0] == text[-1] == '"':
                return [
                    f"{preview.path}, line {line}: the quotes of {text[:40]} belong to the field, as always in TSV. If "
                    "they do not, as in what pandas writes, pass --format csv."
                ]
    return []


def write_csv(output: Output, rows: Records | FeatureRows) -> None:
    """Write a table with quotes where they are needed."""
    names, table = flat_table(rows)
    writer = csv.writer(output.file, lineterminator="\n")
    writer.writerow(names)
    for record in table:
        writer.writerow([as_field(record[name]) if name in record else "" for name in names])
        output.rows += 1


def write_tsv(output: Output, rows: Records | FeatureRows) -> None:
    """Write a table with tabs between fields."""
    names, table = flat_table(rows)
    output.file.write("\t".join(map(one_line, names)) + "\n")
    for record in table:
        output.write_row("\t".join(one_line(as_field(record[name])) if name in record else "" for name in names))


CSV = Format(
    name="csv",
    kind="table",
    endings=(".csv",),
    rank=60,
    matches=lambda lines: most(lines, lambda line: b"," in line) or most(lines, lambda line: b";" in line),
    row="fields between `,` `;` tab or bar; quotes as in RFC 4180, newlines in quotes too",
    label="a column",
    refused="another number of fields; text in a column of numbers",
    parser=DelimitedParser,
    preview=preview,
    records=records,
    write=write_csv,
)
TSV = Format(
    name="tsv",
    kind="table",
    endings=(".tsv", ".tab"),
    rank=50,
    matches=lambda lines: most(lines, lambda line: b"\t" in line),
    confirm=confirm_tsv,
    row="fields between tabs; quotes belong to the fields, with a note on fields in quotes, such as pandas writes "
    '(`format="csv"` reads those)',
    label="a column",
    refused="another number of fields; text in a column of numbers",
    parser=DelimitedParser,
    preview=preview,
    notes=quote_notes,
    records=records,
    write=write_tsv,
)
