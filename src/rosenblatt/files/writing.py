"""Write rows in any format, and convert files from one format to another.

Tables and raw text keep their columns. Svmlight and Vowpal Wabbit's text hold features, so that a table becomes
features for them: numbers, categories as name=value, words with their counts; and features become a table of numbers.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from rosenblatt.engine.rows import Csr
from rosenblatt.errors import InvalidInput, MissingExtra
from rosenblatt.files.arguments import reject
from rosenblatt.files.opening import FileSource, make_parser, open_source
from rosenblatt.files.options import MOST_BITS, TYPED, WORD_OPTIONS
from rosenblatt.files.records import LABEL_COLUMN, TABLES, Record, Records, flat
from rosenblatt.files.sniffing import format_by_name
from rosenblatt.files.source import STANDARD_INPUT, FilePath, can_be_read_once, open_raw
from rosenblatt.storage.atomic import Beside

WRITTEN = ("svmlight", "vw", "csv", "tsv", "jsonl", "text", "parquet")
NAME_BITS = 24
MOST_TABLE_COLUMNS = 20_000
MOST_REPEATS = 1000
ROWS_PER_GROUP = 10_000
WEIGHT_COLUMN = "weight"
# Options of features that conversions have decided: names and counts are written as they are.
UNUSED = ("bits", "dictionary", "counts", "normalise", "standardise")
UNSAFE = re.compile(r"[\s:|%]")  # in names of Vowpal Wabbit


class Written(NamedTuple):
    """What a conversion did: rows written, lines skipped, and notes in words."""

    rows: int
    skipped: int
    notes: tuple[str, ...] = ()


class Row(NamedTuple):
    """A row of features: label, weight, and names with values."""

    label: float | str | None
    weight: float
    features: list[tuple[str, float]]


def convert(
    paths: FilePath | Sequence[FilePath], target: FilePath, *, to: str | None = None, **options: Any
) -> Written:
    """Convert files to another format; the target appears whole or not at all.

    Parameters
    ----------
    paths : path-like, or sequence of them
        "-" is standard input, which is kept in a temporary file meanwhile: names of columns are known only at its end.
    target : path-like
        "-" is standard output.
    to : str, optional
        "svmlight", "vw", "csv", "tsv", "jsonl", "text" or "parquet"; by default what the target's name says.
    **options
        How to read the files: as of `open_source`.

    Returns
    -------
    Written

    Raises
    ------
    InvalidInput
        If a file cannot be read, or the target's format cannot hold what is in it.
    """
    name = to or format_by_name(target)
    if name not in WRITTEN:
        reject("to", to or os.fspath(target), f"one of {', '.join(WRITTEN)}, or a target whose name says which")
    notes: list[str] = []
    with (
        _kept(paths) as files,
        _open(files, options, name) as source,
        _target(target, binary=name == "parquet") as file,
    ):
        if source.reading.format in TABLES and name in TABLES:
            records = Records(source, typed=name in TYPED)
            rows = _write_table(file, name, records)
            return Written(rows, records.skipped, source.problems.notes)
        if name in ("svmlight", "vw"):
            rows = _write_features(file, name, source, target, notes)
        else:
            rows = _write_feature_table(file, name, source)
    return Written(rows, source.problems.skipped, (*notes, *source.problems.notes))


@contextlib.contextmanager
def _kept(paths: FilePath | Sequence[FilePath]) -> Iterator[list[FilePath]]:
    """Return the paths, with that of a temporary file for standard input and for each pipe."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not any(map(can_be_read_once, given)):
        yield given
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = [Path(folder) / f"pipe-{k}" if can_be_read_once(path) else path for k, path in enumerate(given)]
        for path, file in zip(given, kept, strict=True):
            if file is not path:
                with open_raw(path) as stream, open(file, "wb") as copy:
                    shutil.copyfileobj(stream, copy)
        yield kept


def _open(paths: FilePath | Sequence[FilePath], options: dict[str, Any], to: str) -> FileSource:
    source = open_source(paths, **{"labels": "optional"} | options)
    for name in source.opening.given():
        if name in UNUSED or (name in WORD_OPTIONS and to not in ("svmlight", "vw")):
            raise InvalidInput(
                f"{name} would change nothing: tables and texts keep their columns, and only svmlight and vw, whose "
                "features are words with their counts, need words. Leave it out."
            )
    numbered = source.reading.format == "svmlight"
    plain: dict[str, Any] = {
        "bits": MOST_BITS if numbered else NAME_BITS,
        "dictionary": not numbered,
        "counts": "count",
    }
    reading = replace(source.reading, features=replace(source.reading.features, **plain), normalise=False)
    parsers = [make_parser(reading, source.opening, parser.layout) for parser in source.parsers]
    return FileSource(source.inputs, parsers, source.opening, source.problems.notes)


@contextlib.contextmanager
def _target(target: FilePath, binary: bool) -> Iterator[Any]:
    """Open a file that takes its place when it is whole; a device or a pipe as it is."""
    if isinstance(target, str) and target == STANDARD_INPUT:
        yield sys.stdout.buffer if binary else sys.stdout
        return
    kind: dict[str, Any] = {} if binary else {"encoding": "utf-8", "errors": "surrogateescape", "newline": ""}
    if can_be_read_once(target):
        with open(target, "wb" if binary else "w", **kind) as file:
            yield file
        return
    try:
        with Beside(Path(os.path.realpath(target)), lasting=False) as raw:
            if binary:
                yield raw
            else:
                text = io.TextIOWrapper(raw, **kind)
                yield text
                text.detach()
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written ({error}). Free some space, or pass another path.") from None


# ------------------------------------------------------------------------------------------------------------- tables


def _write_table(file: Any, name: str, records: Records) -> int:
    """Write records as a table, and return how many."""
    if name == "jsonl":
        return _write_json(file, records)
    if name == "text":
        return _write_text(file, records)
    return _write_columns(file, name, records.names(), (flat(record) for record in records))


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    return value if value is None or isinstance(value, str | int | float | bool | list | dict) else str(value)


def _write_json(file: Any, records: Iterable[Record]) -> int:
    count = 0
    for record in records:
        file.write(json.dumps({name: _plain(value) for name, value in record.items()}) + "\n")
        count += 1
    return count


def _field(value: Any) -> str:
    """Return a value as a field of a table in text."""
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def _line_of(text: str) -> str:
    return re.sub(r"[\t\r\n]", " ", text)


def _write_text(file: Any, records: Records) -> int:
    texts, label = records.texts, records.label
    others = [name for name in records.names() if name not in (*texts, label)]
    if not texts or others:
        found_instead = f"the columns {', '.join(others)[:100]}" if texts else "no columns of text"
        raise InvalidInput(
            f"Raw text holds a label and a text; there are {found_instead}. "
            "Skip other columns, or convert to csv or jsonl."
        )
    count = 0
    for record in records:
        found = flat(record)
        text = _line_of(" ".join(str(found[name]) for name in texts if name in found))
        file.write(f"{_line_of(_field(found.get(label, '')))}\t{text}\n" if label else text + "\n")
        count += 1
    return count


def _write_columns(file: Any, name: str, names: list[str], rows: Iterable[Record]) -> int:
    """Write rows of named columns as csv, tsv or parquet."""
    if len(names) > MOST_TABLE_COLUMNS:
        raise InvalidInput(
            f"A table of {len(names)} columns is too wide (at most {MOST_TABLE_COLUMNS}). Convert to svmlight, vw or "
            "jsonl."
        )
    if name == "parquet":
        return _write_parquet(file, names, rows)
    count = 0
    if name == "csv":
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for record in rows:
            writer.writerow([_field(record[name]) if name in record else "" for name in names])
            count += 1
        return count
    file.write("\t".join(map(_line_of, names)) + "\n")
    for record in rows:
        file.write("\t".join(_line_of(_field(record[name])) if name in record else "" for name in names) + "\n")
        count += 1
    return count


def _write_parquet(file: Any, names: list[str], rows: Iterable[Record]) -> int:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet files are written by pyarrow. Install rosenblatt[files].") from None
    kept = [{name: _plain(value) for name, value in record.items()} for record in rows]
    columns = {}
    for name in names:
        values = [record.get(name) for record in kept]
        numbers = all(value is None or isinstance(value, int | float) for value in values)
        columns[name] = pyarrow.array(
            [None if value is None else float(value) if numbers else _field(value) for value in values]
        )
    pyarrow.parquet.write_table(pyarrow.table(columns), file, row_group_size=ROWS_PER_GROUP)
    return len(kept)


# ----------------------------------------------------------------------------------------------------------- features


def feature_rows(source: FileSource) -> Iterator[Row]:
    """Yield the rows of a source with the names of their features."""
    numbered = source.reading.format == "svmlight"
    first = 0 if source.reading.zero_based else 1
    names: tuple[str, ...] = ()
    for chunk in source:
        rows = chunk.table.rows
        assert isinstance(rows, Csr)
        if not numbered:
            names = source.names or ()
        labels, indptr = chunk.label.tolist(), rows.indptr.tolist()
        columns, values = rows.indices.tolist(), rows.data.tolist()
        for i, label in enumerate(labels):
            entries = range(indptr[i], indptr[i + 1])
            found = [(str(columns[k] + first) if numbered else names[columns[k]], values[k]) for k in entries]
            missing = label == "" or label != label
            weight = 1.0 if chunk.weight is None else float(chunk.weight[i])
            yield Row(None if missing else label, weight, found)


def _number(value: float) -> str:
    """Return a number as short as it can be read back."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _label_of(row: Row) -> str:
    if row.label is None:
        return ""
    return _number(row.label) if isinstance(row.label, float) else row.label


def _write_features(file: Any, name: str, source: FileSource, target: FilePath, notes: list[str]) -> int:
    if source.reading.label_type == "text" and name == "svmlight":
        classes: dict[str, int] = {}
        notes.append("Labels are texts, which svmlight does not hold: they were numbered in the order of appearance.")
    else:
        classes = {}
    numbered, count, weights = source.reading.format == "svmlight", 0, False
    for row in feature_rows(source):
        if name == "vw":
            file.write(_vw_line(row, numbered))
        else:
            label = _label_of(row) or "0"
            if isinstance(row.label, str):
                label = str(classes.setdefault(row.label, len(classes)))
            weights |= row.weight != 1.0
            file.write(label + _svmlight_pairs(row, numbered, source) + "\n")
        count += 1
    if name == "svmlight":
        if weights:
            notes.append("Weights were left out: svmlight does not hold them.")
        if classes:
            notes.append(f"Labels: {', '.join(f'{k} is {text}' for text, k in classes.items())[:500]}.")
        if not numbered and isinstance(target, str | os.PathLike) and os.fspath(target) != STANDARD_INPUT:
            _write_names(Path(target), source.names or ())
            notes.append(f"Names of the features are in {os.fspath(target)}.names, one on each line, from index 1.")
    return count


def _write_names(target: Path, names: Sequence[str]) -> None:
    with _target(target.with_name(target.name + ".names"), binary=False) as file:
        file.writelines(_line_of(name) + "\n" for name in names)


def _svmlight_pairs(row: Row, numbered: bool, source: FileSource) -> str:
    if numbered:
        return "".join(f" {name}:{_number(value)}" for name, value in row.features)
    place = _places(source)
    pairs = sorted((place[name], value) for name, value in row.features)
    return "".join(f" {index}:{_number(value)}" for index, value in pairs)


def _places(source: FileSource) -> dict[str, int]:
    """Return the index of each name so far, from 1; kept with the source."""
    names = source.names or ()
    known: dict[str, int] = source.__dict__.setdefault("_name_places", {})
    for place in range(len(known), len(names)):
        known[names[place]] = place + 1
    return known


def _vw_line(row: Row, numbered: bool) -> str:
    label = _label_of(row)
    if re.search(r"[\s|]", label):
        raise InvalidInput(
            f"The label {label!r} has a space or a bar, which Vowpal Wabbit's text does not hold. Rename it."
        )
    head = f"{label} {_number(row.weight)} " if row.weight != 1.0 else f"{label} " if label else ""
    spaces: dict[str, list[str]] = {}
    for name, value in row.features:
        space, mark, feature = name.partition("^")
        own, feature = (space, feature) if mark and _is_space(space) else ("", name)
        spaces.setdefault(own, []).append(
            UNSAFE.sub(lambda found: quote(found[0]), feature) + ("" if value == 1.0 else f":{_number(value)}")
        )
    parts = [f"|{space} {' '.join(features)}" for space, features in spaces.items()]
    return head + (" ".join(parts) or "|") + "\n"


def _is_space(name: str) -> bool:
    return not re.search(r"[\s|:]", name)


def _write_feature_table(file: Any, name: str, source: FileSource) -> int:
    """Write features as a table of numbers, or as words."""
    plain = _plain_name if source.reading.format == "vw" else str
    if name == "text":
        count = 0
        for row in feature_rows(source):
            file.write(f"{_label_of(row)}\t{_words(row, plain)}\n")
            count += 1
        return count
    names: dict[str, None] = {}
    weights = False
    if name != "jsonl":
        for row in feature_rows(source):
            names.update(dict.fromkeys(plain(feature) for feature, _ in row.features))
            weights |= row.weight != 1.0
    taken = [LABEL_COLUMN, *([WEIGHT_COLUMN] if weights else [])]
    records = (_record(row, plain) for row in feature_rows(source))
    if name == "jsonl":
        return _write_json(file, records)
    return _write_columns(file, name, [*taken, *sorted(names, key=_in_order)], records)


def _in_order(name: str) -> tuple[int, str]:
    return (int(name), "") if re.fullmatch("[0-9]{1,18}", name) else (1 << 62, name)


def _plain_name(name: str) -> str:
    """Return the name of a feature of Vowpal Wabbit as a column: without the mark of the default namespace."""
    return unquote(name.removeprefix("^"), errors="surrogateescape")


def _record(row: Row, plain: Any) -> Record:
    record: Record = {} if row.label is None else {LABEL_COLUMN: row.label}
    if row.weight != 1.0:
        record[WEIGHT_COLUMN] = row.weight
    return record | {plain(name): value for name, value in row.features}


def _words(row: Row, plain: Any) -> str:
    words = []
    for name, value in row.features:
        word = plain(name)
        if not re.fullmatch(r"\w+", word) or value != int(value) or not 0 < value <= MOST_REPEATS:
            raise InvalidInput(
                f"The feature {word!r} with the value {_number(value)} is not a word with a count, and raw text holds "
                "nothing else. "
                "Convert to csv, jsonl, vw or svmlight."
            )
        words += [word] * int(value)
    return " ".join(words)
