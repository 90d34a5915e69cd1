"""Which words, categories, numbers and crosses a hashed column stands for: in one row, and at the start of files.

A hash cannot be turned back into a name, so rows are parsed as for a dictionary, whose pieces have names.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.features import FNV_PRIME, Dictionary, Piece, full_names, hashed, named, to_bytes
from rosenblatt.files.options import MOST_BITS, Reading, reject
from rosenblatt.files.parsing import Parsed, Parser
from rosenblatt.files.streams import Array
from rosenblatt.files.tables import joined_texts, number_piece

MEETING = "|"  # between names that share a column
# Names are looked for in the first rows: so many bytes at a time, until there were so many entries for each name.
BLOCK_BYTES = 1 << 18
ENTRIES_PER_NAME = 16


def is_hashed(reading: Reading) -> bool:
    """Return whether features have names, which are hashed."""
    return not (reading.numeric or reading.features.dictionary or formats.ALL[reading.format].numbered)


def with_names(parser: Parser) -> Parser:
    """Return a parser of the same rows whose pieces have names, if these are hashed."""
    if not is_hashed(parser.reading):
        return parser
    other = copy.copy(parser)
    other.reading = replace(parser.reading, features=replace(parser.reading.features, dictionary=True))
    return other


def column_name(reading: Reading, column: int) -> str:
    """Return what to call a column whose name is not known; those of svmlight by their number in the file."""
    numbered = formats.ALL[reading.format].numbered
    return f"column {column + 1 if numbered and not reading.zero_based else column}"


def known_names(origin: Mapping[str, Any]) -> Callable[[int], str]:
    """Return a function that maps a model's columns to their names, where the model has kept them."""
    reading = Reading.from_json(origin["reading"])
    kept = KeptNames.from_json(origin["names"]).by_column() if "names" in origin else {}
    return lambda column: kept.get(column) or column_name(reading, column)


class NamedRows:
    """Parsed rows with the names of their features, and numbers as they are in the file.

    Parameters
    ----------
    parser : Parser
    parsed : Parsed
        From the parser `with_names`.
    names : tuple of str
        Those of a dictionary.
    """

    def __init__(self, parser: Parser, parsed: Parsed, names: tuple[str, ...] | None = None) -> None:
        self.reading, self.numbers = parser.reading, parsed.numbers
        self.names = names if self.reading.features.dictionary else parser.names
        numbers: tuple[str, ...] = getattr(parser, "number_names", ())
        self.place = {name: place for place, name in enumerate(numbers)}
        self.pieces: list[Piece] = []
        if is_hashed(self.reading):
            raw = () if self.numbers is None else self.numbers.T
            own = [_present(name, column) for name, column in zip(numbers, raw, strict=False)]
            pieces = hashed([*own, *parsed.pieces], self.reading.features.n_columns - 1)
            # Copies: the columns of the pieces are put in order in place when rows are made of them.
            self.pieces = [piece._replace(column=np.array(piece.column)) for piece in pieces]

    @cached_property
    def _entries(self) -> list[_Entries]:
        return [_Entries(piece) for piece in self.pieces]

    def describe(self, row: int, column: Array, value: Array) -> tuple[list[str], list[float]]:
        """Return the names of some columns in a row, and their values as they are in the file."""
        if self.names is not None:
            names = [self.names[k] for k in column.tolist()]
        else:
            known = self.row(row) if self.pieces else {}
            names = [known.get(k) or column_name(self.reading, k) for k in column.tolist()]
        shown = value.tolist()
        if self.numbers is not None:
            for k, name in enumerate(names):
                if name in self.place:
                    shown[k] = float(self.numbers[row, self.place[name]])
        return names, shown

    def row(self, row: int) -> dict[int, str]:
        """Return the names of a row by hashed column; those that share one are joined by a bar."""
        found = _by_column(pair for entries in self._entries for pair in entries.of(row))
        if self.reading.features.cross:
            crosses = _by_column(self.crosses(row))
            found |= {k: MEETING.join(filter(None, (found.get(k), name))) for k, name in crosses.items()}
        return found

    def crosses(self, row: int) -> Iterator[tuple[int, str]]:
        """Yield the column and the name of each cross in a row, as `features.assemble` makes them."""
        mask = self.reading.features.n_columns - 1
        for cross in self.reading.features.cross:
            parts = {field: self._part(field, row) for field in cross}
            left: list[tuple[int, tuple[str, ...], int]]
            left = [(column, (name,), place) for place, (column, name) in enumerate(parts[cross[0]][0])]
            for before, field in pairwise(cross):
                right, squares = parts[field]
                left = [
                    ((column * FNV_PRIME ^ other) & mask, (*names, name), place)
                    for column, names, last in left
                    for place, (other, name) in enumerate(right)
                    if field != before or place > last or (squares and place == last)
                ]
            for column, names, _ in left:
                yield column, "*".join(_ordered(cross, names))

    def _part(self, field: str, row: int) -> tuple[list[tuple[int, str]], bool]:
        """Return the columns and names in a row that a name in a cross stands for, and whether they are squared."""
        pairs = (pair for entries in self._entries for pair in entries.of(row, field))
        fields = [one for piece in self.pieces for one in piece.fields if field in one.names]
        return sorted(_by_column(pairs).items()), any(one.squares for one in fields)


def _ordered(cross: tuple[str, ...], names: tuple[str, ...]) -> Iterator[str]:
    """Yield the names of a cross; those of one field by name, as a dictionary has them."""
    for _, group in groupby(zip(cross, names, strict=True), key=lambda pair: pair[0]):
        yield from sorted(name for _, name in group)


def _present(name: str, numbers: Array) -> Piece:
    """Return the entries of a column of numbers, zeros included: scaled, these may be something else."""
    return number_piece(name, np.where(np.isnan(numbers), np.nan, 1.0))


def _by_column(pairs: Iterable[tuple[int, str]]) -> dict[int, str]:
    found: dict[int, dict[str, None]] = {}
    for column, name in pairs:
        found.setdefault(column, {})[name] = None
    return {column: MEETING.join(names) for column, names in found.items()}


class _Entries:
    """The entries of a piece as Python's values."""

    def __init__(self, piece: Piece) -> None:
        text, ends = full_names(piece.text, piece.start, piece.end, piece.group, piece.prefixes)
        self.text, self.ends = text.tobytes(), ends.tolist()
        self.indptr, self.fields = piece.indptr.tolist(), piece.fields
        assert piece.column is not None
        self.column = piece.column.tolist()
        self.field = np.broadcast_to(piece.field, len(self.column))

    def of(self, row: int, field: str | None = None) -> Iterator[tuple[int, str]]:
        """Yield the column and the name of each entry of a row; only of one field, if it is given."""
        for k in range(self.indptr[row], self.indptr[row + 1]):
            if field is None or field in self.fields[self.field[k]].names:
                name = self.text[self.ends[k] : self.ends[k + 1]]
                yield self.column[k], name.decode("utf-8", "surrogateescape")


# ----------------------------------------------------------------------------------------------------------- of files


class KeptNames(NamedTuple):
    """Names from the first rows of files, each with its hashed column, and how many entries were looked at."""

    name: tuple[str, ...] = ()
    column: tuple[int, ...] = ()
    entries: int = 0

    def by_column(self) -> dict[int, str]:
        """Return the names of each column."""
        return _by_column(zip(self.column, self.name, strict=True))

    def to_json(self) -> dict[str, Any]:
        """Return the names as plain values, which JSON can hold."""
        return {"name": list(self.name), "column": list(self.column), "entries": self.entries}

    @classmethod
    def from_json(cls, content: Any) -> KeptNames:
        """Return the names that were written by `to_json`; raise `InvalidInput` for anything else."""
        if not isinstance(content, dict) or content.keys() != set(cls._fields):
            raise InvalidInput(
                f"Names have {', '.join(cls._fields)}, got {content!r:.200}. Pass what `to_json` returned."
            )
        name, column, entries = (content[field] for field in cls._fields)
        lists = isinstance(name, list) and isinstance(column, list) and len(name) == len(column)
        if not lists or not all(type(one) is str for one in name) or len({*name}) < len(name):
            reject("name", name, "different texts, one for each column")
        if not all(type(one) is int and 0 <= one < 1 << MOST_BITS for one in column):
            reject("column", column, "numbers of columns")
        if type(entries) is not int or entries < 0:
            reject("entries", entries, "a whole number from 0")
        return cls(tuple(name), tuple(column), entries)


NO_NAMES = KeptNames()


def first_names(blocks: Iterable[tuple[Parser, Any]], most: int, before: KeptNames = NO_NAMES) -> KeptNames:
    """Return the first `most` names in blocks of files, after those of files before; it ends early if few are new."""
    table = NameTable(most, before)
    for parser, block in blocks:
        if len(table.dictionary) >= most or table.entries >= ENTRIES_PER_NAME * most:
            break
        table.add(NamedRows(parser, with_names(parser).parse(block)))
    return table.names()


class NameTable:
    """The first names in some rows, each with its hashed column and how often it was there."""

    def __init__(self, most: int, before: KeptNames = NO_NAMES) -> None:
        self.dictionary = Dictionary(most, before.name)
        self.dictionary.frozen = False
        self.column, self.count, self.entries = np.zeros(most, np.int64), np.zeros(most, np.int64), before.entries
        self.column[: len(before.column)] = before.column

    def add(self, rows: NamedRows) -> None:
        """Add the names of some rows."""
        for own, piece in zip(named(rows.pieces, self.dictionary), rows.pieces, strict=True):
            self._note(own.column, piece.column)
        if rows.reading.features.cross:
            found = [pair for row in range(rows.pieces[0].indptr.size - 1) for pair in rows.crosses(row)]
            text, start, end = joined_texts([to_bytes(name) for _, name in found])
            column = np.array([column for column, _ in found], np.int64)
            self._note(self.dictionary.find(*full_names(text, start, end)), column)

    def _note(self, number: Any, column: Any) -> None:
        """Note the columns of names, which have numbers; -1 if there are too many."""
        known = number >= 0
        self.column[number[known]] = column[known]
        self.count += np.bincount(number[known], minlength=self.count.size)
        self.entries += number.size

    def names(self) -> KeptNames:
        """Return all names, in the order of appearance."""
        names = self.dictionary.names()
        return KeptNames(names, tuple(self.column[: len(names)].tolist()), self.entries)

    def commonest(self, most: int = 3) -> dict[int, str]:
        """Return the names of each column, at most so many, the commonest first."""
        names, column = self.dictionary.names(), self.column.tolist()
        order = np.argsort(-self.count[: len(names)], kind="stable").tolist()
        found: dict[int, list[str]] = {}
        for k in order:
            found.setdefault(column[k], []).append(names[k])
        return {column: MEETING.join(own[:most]) for column, own in found.items()}
