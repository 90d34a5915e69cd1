"""Tables in any format: names and kinds of columns, which one is the label, online scaling.

The first file names the columns, and the first rows of all files decide what they are. Every file then has its own
layout: its columns are found by their names, in any order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np

from rosenblatt.data.numbers import is_whole
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.dates import DATE, NOT_A_DATE, Entry, date_entries, date_kind
from rosenblatt.files.features import Dictionary, Field, Piece, murmur, to_bytes, word_pieces
from rosenblatt.files.options import (
    DATE_KINDS,
    FEATURE_KINDS,
    KINDS,
    NAMED_OPTIONS,
    WORD_OPTIONS,
    Column,
    FileLayout,
    Opening,
    Reading,
    reject,
)
from rosenblatt.files.parsing import MISSING, Parsed, Parser, RefusedRows, fault_at
from rosenblatt.files.sniffing import NUMBER, SAMPLE_LINES
from rosenblatt.files.streams import Array, FilePath
from rosenblatt.text import count, did_you_mean

Spans = tuple[Array, Array, Array]  # a text, and where the value of each row begins and ends in it
Value = str | float | bool | None  # of a cell; bool in typed formats only; None: missing

LABEL_NAMES = ("label", "y", "class", "target")
# Names that pandas gives to columns without a name, and to the index of a frame in Parquet.
UNNAMED = "Unnamed: {}"
INDEX = re.compile(r"Unnamed: 0(\.[0-9]+)*|__index_level_[0-9]+__")
MOSTLY_NUMBERS = 0.8  # share of numbers in a column from which on a word is a mistake
MOST_NAMES_SHOWN = 20
WORDS_OF_TEXT = 3  # on average, from which on a column is text
# Decimal commas, marks between thousands, currencies, per cent, minus signs that are not hyphens, quotes in TSV.
MARKED = re.compile(
    r"""(["']?)[-+\u2212]?[$€£¥]?[ \u00a0]?[-+\u2212]?"""
    r"""(?:[0-9]+(?:[.,][0-9]+)?|[0-9]{1,3}(?:[.,' _\u2019\u00a0\u202f][0-9]{3})+(?:[.,][0-9]+)?)"""
    r"""[ \u00a0]?[$€£¥%]?\1"""
)
# Those that are read: a currency, per cent, commas between thousands. Decimal commas are not.
AMOUNT = re.compile(
    r"""([-+\u2212]?[$€£¥]?|[$€£¥][-+\u2212])[ \u00a0]?([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(\.[0-9]+)?[ \u00a0]?[$€£¥%]?"""
)
FEWEST_ROWS_OF_IDS = 50  # rows with another value each from which on a column looks like an id
ID_NAME = re.compile(r"(?i:.*[_ .-])?(?i:id|uuid|guid|index|key|row)|.*[a-z](?:Id|ID)")
_is_number = re.compile(NUMBER).fullmatch


class Preview(NamedTuple):
    """Columns and first rows of a table."""

    path: FilePath
    layout: FileLayout
    rows: list[list[Value]]  # the first rows, with a value for each name
    lines: list[int]  # the line of each row, from 1
    always: AbstractSet[str] = frozenset()  # names that all rows of JSON have, even if the value is missing
    indices: AbstractSet[str] = frozenset()  # columns of Parquet and Arrow that were the index of a frame


def value_of(field: str) -> Value:
    """Return a field of text as a number or as text; None if it is missing."""
    encoded = to_bytes(field.strip())
    if encoded in MISSING:
        return None
    return float(encoded) if _is_number(encoded) else field


def number_of(field: str) -> Value:
    """Return a field as `value_of` does, with amounts such as "$1,000.50", "5%" and "1,234" as numbers."""
    value = value_of(field)
    parts = AMOUNT.fullmatch(field.strip()) if isinstance(value, str) else None
    if parts is None:
        return value
    sign = -1.0 if set("-\u2212").intersection(parts[1]) else 1.0
    return sign * float(parts[2].replace(",", "") + (parts[3] or ""))


def as_text(value: Any) -> bytes:
    """Return a value of a typed format as in a CSV file; empty if it is missing."""
    if value is None:
        return b""
    text = value if isinstance(value, bytes) else to_bytes(repr(value) if isinstance(value, float) else str(value))
    return text.strip(b" \t\r")


def listed(names: Sequence[str]) -> str:
    """Return names for a message; only the first if there are many."""
    more = f", and {len(names) - MOST_NAMES_SHOWN} more" if len(names) > MOST_NAMES_SHOWN else ""
    return ", ".join(name[:60] or "''" for name in names[:MOST_NAMES_SHOWN]) + more


# ----------------------------------------------------------------------------------------------------------- deciding


def label_column(names: Sequence[str], wanted: str | int | None, labels: str, others: Sequence[str] = ()) -> int | None:
    """Return the number of the column with the labels, or None. By default it is not one of `others`."""
    if wanted is None:
        if labels == "none":
            return None
        lower = [name.strip().lower() for name in names]
        last = max((k for k, name in enumerate(names) if name not in others), default=len(names) - 1)
        return next((lower.index(name) for name in LABEL_NAMES if name in lower), last)
    number = column_number(names, wanted, "label")
    if number is None and labels != "required":
        return None
    if number is None:
        reject("label", wanted, f"the name or the position of a column; the columns are {listed(names)}")
    return number


def column_number(names: Sequence[str], wanted: str | int, argument: str) -> int | None:
    """Return the number of a column by its name or position; None if the name does not exist."""
    if isinstance(wanted, str):
        return names.index(wanted) if wanted in names else None
    if not is_whole(wanted) or not -len(names) <= wanted < len(names):
        reject(argument, wanted, f"the name of a column or a position from {-len(names)} to {len(names) - 1}")
    if str(wanted) in names and names.index(str(wanted)) != wanted:
        own = names.index(str(wanted)) - len(names)
        reject(argument, wanted, f"one column: it is the name of one and the position of another; {own} is the first")
    return int(wanted) % len(names)


def decide(reading: Reading, previews: Sequence[Preview], opening: Opening) -> tuple[Reading, list[str]]:
    """Return how to read tables, and notes: from the options, and from the first rows of the files.

    `reading` has the format and the options. The first preview has the names.
    """
    first, skips = previews[0], opening.on_error == "skip"
    names = first.layout.names
    later = {name for preview in previews[1:] for name in preview.layout.names if name not in names}
    left_out = tuple(Column(name, "skip") for name in later if opening.columns.get(name) == "skip")
    wanted = {which: kind for which, kind in opening.columns.items() if Column(str(which), kind) not in left_out}
    said = {column_number(names, which, "columns") for which in wanted}
    cells = _first_cells(names, previews)
    empty = _trailing(names, [[value for value, _ in cells[name]] for name in names])
    unused = [name for k, name in enumerate(names) if INDEX.fullmatch(name) or k >= empty]
    label = label_column(names, opening.label, opening.labels, unused)
    hint = "" if first.layout.named else " If the first line has the names of the columns, pass --header yes."
    kinds: list[str] = []
    notes: dict[str, list[str]] = {}
    for which in [which for which, kind in wanted.items() if kind == "date"]:
        place = column_number(names, which, "columns")
        if place is not None:  # else it is rejected below
            wanted[which] = date_kind(names[place], (value for value, _ in cells[names[place]]))
    for number, name in enumerate(names):
        if number in said or number == label or name in unused:
            kinds.append("skip" if name in unused else "number")
        else:
            kind, notes[name] = _kind(name, cells[name], skips, hint, decimal_commas=first.layout.delimiter == ";")
            kinds.append(kind)
    if opening.learns:
        free = [number not in said and number != label for number in range(len(names))]
        notes |= _leave_out_ids(names, kinds, free, cells)
    label_type = "number" if label is None else str(opening.label_type)
    if label is not None and label_type == "auto":
        label_type = _label_type(names[label], cells[names[label]], skips, hint)
    reading = replace(reading, delimiter=first.layout.delimiter, label_type=label_type)
    if not formats.ALL[reading.format].typed:
        reading = replace(reading, header=first.layout.named)
    reading = decide_columns(reading, names, kinds, label, wanted)
    known = {column.name: column.kind for column in reading.columns}
    check_crosses(reading.features.cross, known, lists=formats.ALL[reading.format].ragged)
    every = [note for own in notes.values() for note in own]
    return replace(reading, columns=reading.columns + left_out), every


Cells = Sequence[tuple[Value, str]]  # values of a column, and where each is


def _first_cells(names: Sequence[str], previews: Sequence[Preview]) -> Mapping[str, Cells]:
    """Return the first values of each column, of one file after another."""
    cells: dict[str, list[tuple[Value, str]]] = {name: [] for name in names}
    for preview in previews:
        place = {name: k for k, name in enumerate(preview.layout.names)}
        room = SAMPLE_LINES - max(map(len, cells.values()))
        for row, line in islice(zip(preview.rows, preview.lines, strict=True), max(room, 0)):
            for name in names:
                cells[name].append((row[place[name]] if name in place else None, f"{preview.path}, line {line}"))
    return cells


def _trailing(names: Sequence[str], columns: Sequence[Sequence[Value]]) -> int:
    """Return the first of the empty columns that commas at the end of each line make, or the number of columns."""
    end = len(names)
    while end and names[end - 1] in (UNNAMED.format(end - 1), str(end - 1)) and set(columns[end - 1]) <= {None}:
        end -= 1
    return end


def _leave_out_ids(
    names: Sequence[str], kinds: list[str], free: Sequence[bool], cells: Mapping[str, Cells]
) -> dict[str, list[str]]:
    """Make columns that look like an id "skip", unless no feature would be left; return notes on them by name.

    A model would learn each row by its id, which no other row has.
    """
    found = [k for k, name in enumerate(names) if free[k] and _looks_like_id(name, kinds[k], cells[name])]
    if not any(kind in FEATURE_KINDS for k, kind in enumerate(kinds) if free[k] and k not in found):
        return {}
    notes = {}
    for name, k in ((names[k], k) for k in found):
        path = cells[name][0][1].rpartition(", line ")[0]
        dates = all(value is None or DATE.fullmatch(str(value).strip()) for value, _ in cells[name])
        remedy = f"split the dates by --date {name}" if dates else f"pass --columns {name}={kinds[k]}"
        kinds[k] = "skip"
        notes[name] = [
            f"{path}: column {name!r} has another value in each row, as an id has: it is left out. To use it, {remedy}."
        ]
    return notes


def _looks_like_id(name: str, kind: str, cells: Cells) -> bool:
    """Return whether a column has another category in each row, or whole numbers that are called ids or count rows."""
    values = [value for value, _ in cells if value is not None]
    if kind not in ("number", "category") or len(values) < FEWEST_ROWS_OF_IDS or len(set(values)) < len(values):
        return False
    if kind == "category":
        return True
    numbers = [value for value in values if isinstance(value, float) and value.is_integer()]
    counts = all(after - before == 1.0 for before, after in pairwise(numbers))
    return len(numbers) == len(values) and (counts or ID_NAME.fullmatch(name.strip()) is not None)


def _kind(name: str, cells: Cells, skips: bool, hint: str, *, decimal_commas: bool) -> tuple[str, list[str]]:
    """Return the kind of a column, and notes on it. `decimal_commas`: a comma may be a decimal one."""
    read = [(_number_or_text(value), where) for value, where in cells]
    known = [(value, where) for value, where in read if value is not None]
    numbers = bool(known) and all(isinstance(value, float) for value, _ in known)
    if numbers and all(isinstance(value, str | None) for value, _ in cells):  # they have a type
        return "category", [
            f"{known[0][1]}: column {name!r} has numbers that are written as texts; it is read as a category. To read "
            f"numbers, say so: --columns {name}=number."
        ]
    texts = [value.strip() for value, _ in known if isinstance(value, str)]
    remedy = f"columns={{{name!r}: 'category'}}, --columns {name}=category"
    if texts and all(map(AMOUNT.fullmatch, texts)) and not (decimal_commas and any("," in text for text in texts)):
        where = next(where for value, where in known if isinstance(value, str))
        return "number", [f"{where}: {texts[0]!r} in column {name!r} is read as the number {number_of(texts[0]):.15g}."]
    if texts and all(map(MARKED.fullmatch, texts)):
        quotes = " Quotes belong to the fields of TSV: pass --format csv if they do not." if texts[0][0] == '"' else ""
        raise InvalidInput(
            f"Column {name!r} has numbers with commas or other marks, as in {texts[0][:40]!r}. Write digits and a "
            f"decimal point alone, or call it a category: {remedy}.{quotes}"
        )
    kind = kind_of([value for value, _ in known])
    share = 1.0 - len(texts) / max(len(known), 1)
    if kind == "number":
        return kind, []
    where = next(where for value, where in known if isinstance(value, str))
    found = f"{where}: {texts[0][:40]!r} in column {name!r}"
    if not share and all(map(DATE.fullmatch, texts)):
        return kind, [_about_dates(name, known)]
    if share < 0.5:
        other = _file_without_words(known)
        return kind, [f"{found} is not a number, as all in {other} are. The column is read as a {kind}."] * bool(other)
    if share < MOSTLY_NUMBERS:
        return kind, [f"{found} is not a number, as most are. The column is read as a {kind}."]
    if skips:
        return "number", []
    raise InvalidInput(
        f"{found} is not a number, as nearly all are. Correct it, leave it empty if it is missing, or call the column "
        f"a category: {remedy}.{hint}"
    )


def _number_or_text(value: Value) -> Value:
    return value_of(value) if isinstance(value, str) else None if value is None else float(value)


def _by_file(cells: Cells) -> dict[str, list[Value]]:
    """Return the known values of each file."""
    found: dict[str, list[Value]] = {}
    for value, where in cells:
        if value is not None:
            found.setdefault(where.rpartition(", line ")[0], []).append(value)
    return found


def _file_without_words(cells: Cells) -> str:
    """Return a file that has only numbers, if another has only words; else an empty text."""
    kinds = {path: {isinstance(value, str) for value in values} for path, values in _by_file(cells).items()}
    return next((path for path, kind in kinds.items() if kind == {False}), "") if {True} in kinds.values() else ""


def _about_dates(name: str, cells: Cells) -> str:
    """Return a note on a column of dates; raise an error if files write them in two ways."""
    first: dict[bool, tuple[str, str]] = {}
    for value, where in cells:
        text = str(value).strip()
        first.setdefault(":" in text, (text, where))
    if len(first) == 2:
        (date, where), (time, other) = first[False], first[True]
        raise InvalidInput(
            f"Column {name!r} has dates in two ways, which would be different categories: {date!r} in {where}, and "
            f"{time!r} in {other}. Split them by --date {name}, write them alike, or leave the column out by --columns "
            f"{name}=skip."
        )
    return (
        f"{cells[0][1]}: column {name!r} has dates; it is read as a category, each date for itself. To split them into "
        f"year, month, day, weekday and hour, pass --date {name}; to leave the column out, --columns {name}=skip."
    )


def _label_type(name: str, cells: Cells, skips: bool, hint: str) -> str:
    """Return whether labels are numbers or text."""
    known = [(value, where) for value, where in cells if value is not None]
    words = [(value, where) for value, where in known if isinstance(value, str) and not _is_number(as_text(value))]
    if not words:
        return "number"
    truth = {value for value, _ in words} <= {"True", "False"}  # which formats with types have as such
    numbers = _file_without_words([(_number_or_text(v), w) for v, w in known if not (truth and isinstance(v, bool))])
    if numbers:
        value, where = words[0]
        raise InvalidInput(
            f"{where}: {str(value)[:40]!r} in column {name!r}, which has the labels, is not a number, as those in "
            f"{numbers} are. Write the labels of all files alike, or pass --label-type text.{hint}"
        )
    if 1.0 - len(words) / len(known) < MOSTLY_NUMBERS:
        return "text"
    if skips:
        return "number"
    value, where = words[0]
    raise InvalidInput(
        f"{where}: {str(value)[:40]!r} in column {name!r}, which has the labels, is not a number, as nearly all are. "
        f"Correct it, or pass --label-type text.{hint}"
    )


def decide_columns(
    reading: Reading, names: Sequence[str], kinds: Sequence[str], label: int | None, wanted: Mapping[str | int, str]
) -> Reading:
    """Return the reading with its columns, of the kinds that their content shows unless users want another."""
    kinds = list(kinds)
    for which, kind in wanted.items():
        number = column_number(names, which, "columns")
        if number is None:
            reject("columns", which, f"the name of a column; they are {listed(names)}")
        if kind not in KINDS:
            reject("columns", kind, f"one of {', '.join(KINDS)}")
        kinds[number] = kind
    weights = [name for name, kind in zip(names, kinds, strict=True) if kind == "weight"]
    if len(weights) > 1:
        raise InvalidInput(f"columns has several weights, {listed(weights)}, and a row has one. Choose one of them.")
    if label is not None:
        if kinds[label] == "weight":
            raise InvalidInput(f"{names[label]!r} is the label and cannot be the weight, too. Choose another column.")
        kinds[label] = "label"
    if not set(kinds).intersection(FEATURE_KINDS):
        raise InvalidInput(
            f"The table has no column but the label; its columns are {listed(names)}. Pass a file with features, or "
            "another label; if the first line has no names of columns, remove it."
        )
    columns = tuple(Column(name, kind) for name, kind in zip(names, kinds, strict=True))
    features = {kind for kind in kinds if kind in FEATURE_KINDS}
    return replace(reading, columns=columns, normalise=features == {"text"})


def check_crosses(crosses: Sequence[tuple[str, ...]], kinds: Mapping[str, str], lists: bool = False) -> None:
    """Raise `InvalidInput` for a cross that a table of these columns does not have.

    `lists`: a category may have several values, which make pairs.
    """
    for cross in crosses:
        text = "*".join(cross)
        for name in cross:
            kind = kinds.get(name)
            if kind is None:
                raise InvalidInput(
                    f"cross has {text!r}, and there is no column {name!r}.{did_you_mean(name, kinds)} The columns are "
                    f"{listed(list(kinds))}."
                )
            if kind not in FEATURE_KINDS:
                what = {"skip": "left out", "label": "the label", "weight": "the weight"}[kind]
                raise InvalidInput(f"cross has {text!r}, and column {name!r} is {what}. Cross columns of features.")
            if kind == "category" and cross.count(name) > 1 and not lists:
                raise InvalidInput(
                    f"cross has {text!r}, and a row has one value of the category {name!r}, which makes no pair. Cross "
                    f"it with another column; or, if it has several words, pass --columns {name}=text."
                )


def kind_of(values: Sequence[str | float | None]) -> str:
    """Return the kind of a column, by some of its values: floats, texts, and None if they are missing."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, float) for value in known):
        return "number"
    words = sum(len(str(value).split()) for value in known)
    return "text" if words >= WORDS_OF_TEXT * len(known) else "category"


# ----------------------------------------------------------------------------------------------- one file among others


def needed_names(reading: Reading, labels: str, alike: bool) -> list[str]:
    """Return the names of the columns that a file must have.

    `alike`: the reading was decided for this file. Files that are read later may lack weights, and labels unless they
    are required.
    """
    without = {"skip"} if alike else {"skip", "weight"}
    if labels == "none" or (labels == "optional" and not alike):
        without |= {"label"}
    return [column.name for column in reading.columns if column.kind not in without]


def check_columns(
    reading: Reading, preview: Preview, labels: str, first: Preview | None, id: str | int | None = None
) -> list[str]:
    """Return notes on the columns of a file; raise an error that lists those that do not fit a reading.

    `first` is the preview of the file that named the columns; None if a model did. The column `id` need not be known.
    """
    names, columns = preview.layout.names, [column.name for column in reading.columns]
    whose = "the model" if first is None else first.path
    if reading.named != preview.layout.named:
        _refuse_names(reading, preview, whose)
    if not reading.named:
        fewer = len(columns) - 1 if labels != "required" and first is None else len(columns)
        if len(names) not in (len(columns), fewer):
            raise InvalidInput(
                f"{preview.path}, line 1: there are {len(names)} fields, and {whose} has {len(columns)} columns. "
                "Correct the file, or write names above the columns of all files."
            )
        return []
    missing = [name for name in needed_names(reading, labels, first is not None) if name not in names]
    new = [name for name in names if name not in columns and name != id and not _is_left_out(name, preview)]
    if preview.layout.format == reading.format and formats.ALL[reading.format].ragged:  # rows need not have every name
        if first is None:
            return [f"{preview.path}: the names {listed(new)} are not known to the model."] if new else []
        missing = [name for name in missing if name in first.always]
        new = [name for name in new if name in preview.always]
    if missing or (new and first is not None):
        lacks = f" has no column {listed(missing)}, which {whose} has." if missing else ""
        adds = f" has columns that {whose} does not have: {listed(new)}." if new and first is not None else ""
        both = f"{lacks} It{adds}" if lacks and adds else lacks or adds
        both += _spelling(missing, new if first is not None else names)
        remedy = "Rename or add columns" if missing else f"Leave them out by --columns {new[0]}=skip, or rename them"
        raise InvalidInput(
            f"{preview.path}{both} Its columns, in line {preview.layout.line or 1}, are {listed(names)}. {remedy}: all "
            "files must have the same columns, in any order."
        )
    return [f"{preview.path}: the columns {listed(new)} are not known to the model, and are left out."] if new else []


def _spelling(missing: Sequence[str], others: Sequence[str]) -> str:
    """Return why names that look alike differ, if that is known."""
    if any("\ud800" <= letter <= "\udfff" for name in (*missing, *others) for letter in name):
        return " Not all of these names are UTF-8: save the files as such."
    alike = {normalize("NFC", name) for name in missing} & {normalize("NFC", name) for name in others}
    if alike:
        return f" {listed(sorted(alike))} has other code points there (Unicode's NFC and NFD): write either form."
    return ""


def index_notes(reading: Reading, previews: Sequence[Preview]) -> list[str]:
    """Return notes on the index of a frame in files that pandas wrote: it is left out, or used."""
    used = {column.name for column in reading.columns if column.kind != "skip"}
    features = used - {column.name for column in reading.columns if column.kind == "label"}
    kept = [(preview.path, name) for preview in previews for name in sorted(preview.indices & features)]
    notes = [
        f"{path}: column {name!r} was the index of a frame, and is used. To leave it out, pass --columns {name}=skip."
        for path, name in kept[:1]
    ]
    found = [
        (preview.path, name, number)
        for preview in previews
        for number, name in enumerate(preview.layout.names)
        if INDEX.fullmatch(name) and name not in used
    ]
    if not found:
        return notes
    path, name, number = found[0]
    called = "has no name" if name == UNNAMED.format(number) else f"is called {name!r}"
    more = f" {count(len(found) - 1, 'more file')} likewise." if len(found) > 1 else ""
    return [
        *notes,
        f"{path}: column {number} {called}, as pandas writes the index of a frame: it is left out.{more} To use it, "
        f"say what it is: --columns {number}=number. To write none, pass index=False to pandas.",
    ]


def _is_left_out(name: str, preview: Preview) -> bool:
    """Return whether a column is an index, or empty."""
    names = preview.layout.names
    columns = list(zip(*preview.rows, strict=True)) or [()] * len(names)
    return bool(INDEX.fullmatch(name)) or name in names[_trailing(names, columns) :]


def _refuse_names(reading: Reading, preview: Preview, whose: Any) -> None:
    if reading.named:
        start = ", ".join(str(value) for value in preview.rows[0])[:80] if preview.rows else "nothing"
        names = listed([column.name for column in reading.columns])
        raise InvalidInput(
            f"{preview.path}, line 1: the file has no column names, but {whose} has ({names}); it begins with "
            f"{start!r}. Write the names on its first line."
        )
    raise InvalidInput(
        f"{preview.path}, line 1: the file has column names ({listed(preview.layout.names)}), but {whose} has none. "
        "Write names on the first line of all files; or on none, and pass --header no."
    )


class TableParser(Parser):
    """Parse tables; a base class for all formats."""

    def __init__(self, reading: Reading, labels: str, skip: bool, layout: FileLayout | None = None) -> None:
        super().__init__(reading, labels, skip, layout)
        kinds = {column.kind: column.name for column in reading.columns}
        # The names of these columns, if they are wanted; a file need not have them.
        self.label, self.weight = kinds.get("label") if labels != "none" else None, kinds.get("weight")
        plural = {"number": "numbers", "category": "categories", "text": "text"} | dict.fromkeys(DATE_KINDS, "dates")
        found = [plural[kind] for kind in plural if kind in kinds]
        self.what = f"{reading.format} with columns of {' and of '.join(found)}"
        own = formats.ALL[reading.format]
        self.options = {"label", "label_type", "columns", "dictionary", "cross"}
        self.options |= {"header"} if not own.typed else set()
        self.options |= {"standardise"} if "number" in kinds and not own.ragged else set()
        self.options |= set(WORD_OPTIONS) if "text" in kinds else set()
        self.options |= set(NAMED_OPTIONS) if not reading.numeric else set()

    @property
    def columns_in_file(self) -> tuple[str, ...]:
        """Names of the columns that the file has."""
        return self.layout.names

    def return_ids(self, column: str | int) -> None:
        """Return the values of a column as ids from now on."""
        number = column_number(self.columns_in_file, column, "id")
        if number is None:
            reject("id", column, f"the name or the position of a column; they are {listed(self.columns_in_file)}")
        self.id = self.columns_in_file[number]

    @property
    def number_names(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        return tuple(column.name for column in self.reading.columns if column.kind == "number")

    @property
    def n_features(self) -> int:
        """Number of columns of the rows."""
        return len(self.number_names) if self.reading.numeric else self.reading.features.n_columns

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, of a table of numbers."""
        return self.number_names if self.reading.numeric else None

    def scaler(self, scaling: Any) -> Scaler | None:
        """Return the scaler of the columns of numbers."""
        return Scaler(len(self.number_names), scaling) if self.number_names else None

    def rows(self, parsed: Parsed, scaler: Scaler | None = None, dictionary: Dictionary | None = None) -> Dense | Csr:
        """Return the rows of a block: dense ones of a table of numbers, in which a missing number is 0."""
        numbers = parsed.numbers
        if numbers is None:
            return super().rows(parsed, scaler, dictionary)
        if scaler is not None:
            numbers = scaler.scaled(numbers)
        elif self.reading.numeric and parsed.missing:
            numbers = np.nan_to_num(numbers, nan=0.0)
        if self.reading.numeric:
            return Dense(np.ascontiguousarray(numbers))
        columns = zip(self.number_names, numbers.T, strict=True)
        own = [number_piece(name, np.ascontiguousarray(column)) for name, column in columns]
        return super().rows(parsed._replace(pieces=[*own, *parsed.pieces]), scaler, dictionary)

    def pieces_of(self, spans: Callable[[str], Spans]) -> tuple[list[Piece], int]:
        """Return the entries of all columns of categories, texts and dates, and how many values are missing.

        `spans` returns, by the name of a column, a text, and where the value of each row begins and ends in it. Missing
        values are empty.
        """
        pieces: list[Piece] = []
        missing = 0
        for column in self.reading.columns:
            if column.kind in ("category", "text", *DATE_KINDS):
                text, start, end = spans(column.name)
                missing += int((start == end).sum())
                if column.kind == "category":
                    pieces.append(category_piece(column.name, text, start, end))
                elif column.kind in DATE_KINDS:
                    pieces.append(date_piece(column, text, start, end))
                else:
                    pieces += word_pieces(self.reading.features, text, start, end, column.name)
        return pieces, missing

    def refuse_dates(self, spans: Callable[[str], Spans], line: Array, refused: RefusedRows) -> None:
        """Refuse rows with a value that is not a date in a column of dates; `spans` as in `pieces_of`."""
        for column in self.reading.columns:
            if column.kind in DATE_KINDS:
                _refuse_dates(column, spans(column.name), line, refused)


def _refuse_dates(column: Column, spans: Spans, line: Array, refused: RefusedRows) -> None:
    text, start, end = spans
    wrong = [row for row, date in enumerate(_dates_in(column, *spans)) if date is None]
    reason = f" in column {column.name!r}{NOT_A_DATE}"
    refused.add(
        np.array(wrong, np.int64),
        lambda row: fault_at(text, int(line[row]), int(start[row]), int(end[row]), reason),
    )


# ------------------------------------------------------------------------------------------------------------ scaling


@compiled()
def scale_rows(X, missing, count, mean, squares, out):
    """Centre and scale each row by the rows up to it (Welford 1962); missing values become 0.

    `count`, `mean` and `squares` (the sum of squared deviations) are the state of each column, changed in place.
    """
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if missing[i, j]:
                out[i, j] = 0.0
                continue
            count[j] += 1.0
            delta = X[i, j] - mean[j]
            mean[j] += delta / count[j]
            squares[j] += delta * (X[i, j] - mean[j])
            deviation = np.sqrt(squares[j] / count[j])
            if not deviation < np.inf:  # else the column would be zero from here on; the row is refused for its size
                out[i, j] = np.inf
            else:
                out[i, j] = (X[i, j] - mean[j]) / deviation if deviation > 0.0 else 0.0


class Scaling(NamedTuple):
    """Means and standard deviations of columns of numbers."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]


class Moments(NamedTuple):
    """Count, mean and sum of squared deviations of each column of numbers: a scaling that further rows change."""

    counts: tuple[float, ...]
    mean: tuple[float, ...]
    squares: tuple[float, ...]

    def scaling(self) -> Scaling:
        """Return means and deviations of all rows so far."""
        deviation = np.sqrt(np.array(self.squares) / np.maximum(self.counts, 1.0))
        return Scaling(self.mean, tuple(deviation.tolist()))


class Scaler:
    """Scale numbers online, by means and deviations of the rows so far; or by a given `Scaling`, which stays.

    Parameters
    ----------
    columns : int
    scaling : Scaling, Moments or None
        `Moments` are those of the rows before the first.
    """

    def __init__(self, columns: int, scaling: Scaling | Moments | None = None) -> None:
        if scaling is not None and any(len(part) != columns for part in scaling):
            reject("scaling", scaling, f"the means and the deviations of {columns} columns")
        goes_on = isinstance(scaling, Moments)
        self.given = None if goes_on else scaling
        self.count, self.mean, self.squares = np.array(scaling, np.float64) if goes_on else np.zeros((3, columns))

    def scaled(self, X: Array) -> Array:
        """Return scaled rows. NaN stands for a missing value and becomes 0, the mean."""
        missing = np.isnan(X)
        if self.given is not None:
            mean, deviation = (np.asarray(part, np.float64) for part in self.given)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                out = np.where(deviation > 0, (X - mean) / deviation, 0.0)
            return np.ascontiguousarray(np.where(missing, 0.0, out))
        out = np.empty_like(X)
        scale_rows(X, missing, self.count, self.mean, self.squares, out)
        return out

    def moments(self) -> Moments:
        """Return the moments of all rows so far."""
        return Moments(*(tuple(part.tolist()) for part in (self.count, self.mean, self.squares)))


# ------------------------------------------------------------------------------------------------------------- pieces


def number_piece(name: str, values: Array) -> Piece:
    """Return the entries of a column of numbers: one for each row with a number other than zero."""
    present = np.flatnonzero(~np.isnan(values) & (values != 0.0))
    encoded = to_bytes(name)
    indptr = np.zeros(values.size + 1, np.int32)
    np.cumsum(~np.isnan(values) & (values != 0.0), out=indptr[1:])
    start = np.zeros(present.size, np.int32)
    end = np.full(present.size, len(encoded), np.int32)
    fields = (Field((name,), squares=True),)
    return Piece(indptr, np.frombuffer(encoded + b"\n", np.uint8), start, end, value=values[present], fields=fields)


def category_piece(name: str, text: Array, start: Array, end: Array) -> Piece:
    """Return the entries of a column of categories, name=value: one for each row whose span is not empty."""
    present = end > start
    encoded = to_bytes(name)
    indptr = np.zeros(start.size + 1, np.int32)
    np.cumsum(present, out=indptr[1:])
    begin, stop = start[present].astype(np.int32), end[present].astype(np.int32)
    seed = np.array([murmur(encoded)], np.uint32)
    value, fields = np.ones(begin.size), (Field((name,)),)
    return Piece(indptr, text, begin, stop, (encoded + b"=",), seed=seed, value=value, fields=fields)


def entries_piece(rows: Sequence[Sequence[Entry]]) -> Piece:
    """Return the entries of rows: name=value of categories, names of numbers."""
    flat = [entry for row in rows for entry in row]
    text = np.frombuffer(b"".join(name for _, name, _ in flat) + b"\n", np.uint8)
    ends = np.cumsum([0, *(len(name) for _, name, _ in flat)]).astype(np.int32)
    prefixes = {b"": 0}
    group = np.array([prefixes.setdefault(prefix, len(prefixes)) for prefix, _, _ in flat], np.int32)
    seeds = np.array([murmur(prefix) if prefix else 0 for prefix in prefixes], np.uint32)
    indptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int32)
    names = tuple(prefix + b"=" if prefix else b"" for prefix in prefixes)
    value = np.array([value for _, _, value in flat], np.float64)
    return Piece(indptr, text, ends[:-1], ends[1:], names, group, seeds[group], value)


def date_piece(column: Column, text: Array, start: Array, end: Array) -> Piece:
    """Return the entries of a column of dates."""
    rows = [date or () for date in _dates_in(column, text, start, end)]
    return entries_piece(rows)._replace(fields=(Field((column.name,)),))


def _dates_in(column: Column, text: Array, start: Array, end: Array) -> list[tuple[Entry, ...] | None]:
    """Return the entries of the date in each span; None if it is not a date."""
    content = text.tobytes()
    spans = zip(start.tolist(), end.tolist(), strict=True)
    return [date_entries(column.name, content[begin:stop], column.kind) for begin, stop in spans]


def joined_texts(values: Sequence[bytes]) -> tuple[Array, Array, Array]:
    """Return texts joined by newlines, and where each begins and ends."""
    sizes = np.array([len(value) for value in values], np.int64)
    end = np.cumsum(sizes + 1) - 1
    return np.frombuffer(b"\n".join([*values, b""]) or b"\n", np.uint8), end - sizes, end
