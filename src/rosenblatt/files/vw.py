"""Text of Vowpal Wabbit: columns and values are those that Vowpal Wabbit would have, without its constant feature."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.files import vw_lines as vw
from rosenblatt.files.features import Piece
from rosenblatt.files.options import NAMED_OPTIONS, Reading
from rosenblatt.files.parsing import (
    Fault,
    Faults,
    Parsed,
    Parser,
    count_byte,
    fault_at,
    noted,
    numbers_in,
)
from rosenblatt.files.sniffing import Sample, label_type, sample_lines
from rosenblatt.files.text import label_fault, read_labels

Array = npt.NDArray[Any]

BYTES_PER_FEATURE = 2  # at least, with the space before it
BYTES_PER_OTHER = 3  # of a feature whose value is not a short number
NOT_FINITE = " is not a finite number. Correct it, or leave the feature out if it is not known."
NO_WEIGHT = " is not an importance. Write a number from 0."
NO_SEED = np.zeros(1, np.uint32)
REASONS = {
    vw.NO_BAR: " has no bar. Write rows as in: 1 | price:0.5 new",
    vw.BAD_HEAD: " is one word too many before the bar. There may be a label, an importance, a base and a tag.",
    vw.BAD_SPACE: " is not a namespace. Write a name, and a number after a colon if there is one, as in: |text:2 word",
    vw.BAD_FEATURE: " is not a feature. Write a name, and a number after a colon if it is not 1, as in: price:0.5",
}


def decide(reading: Reading, sample: Sample, opening: Any) -> Reading:
    """Return how such a file is to be read."""
    heads = [re.split(rb"[ |]", line.lstrip())[0] for line in sample_lines(sample.content)]
    kind = "number" if opening.labels == "none" else label_type([h for h in heads if h[:1] != b"'"], opening.label_type)
    return replace(reading, label_type=kind)


class VwParser(Parser):
    """Rows of Vowpal Wabbit's text."""

    options = ("label_type", *NAMED_OPTIONS)
    what = "Vowpal Wabbit's text, whose features are what is after the bar"

    def parse(self, text: Array) -> Parsed:
        """Return what a block of whole lines says."""
        faults, lines = Faults(self.skip), count_byte(text, 10)
        label, weight = np.empty((lines + 1, 2), np.int32), np.empty((lines + 1, 2), np.int32)
        line, indptr = np.empty(lines + 1, np.int32), np.zeros(lines + 2, np.int32)
        size = text.size // BYTES_PER_FEATURE + 1
        column, value = np.empty(size, np.int32), np.empty(size)
        named = self.reading.features.dictionary
        spans = np.empty((size if named else 0, 3), np.int32)
        spaces = np.zeros((count_byte(text, 124) + 2 if named else 1, 2), np.int32)
        others = noted(text.size // BYTES_PER_OTHER + 1)
        start, mask = (0, 0, 0), self.n_features - 1
        while True:
            arrays = (label, weight, line, indptr, column, value, spans, spaces, others)
            rows, place, number, fault = vw.read_vw(text, start, mask, *arrays)
            if fault == vw.NO_FAULT:
                break
            end = _word_end(text, place, line=fault == vw.NO_BAR)
            faults.add(fault_at(text, number, place, end, REASONS[fault]))
            if faults.stop:
                break
            start = (_word_end(text, place, line=True) + 1, number + 1, rows)
        entries = int(indptr[rows])
        first, last, group = spans[:entries].T.copy()
        columns = None if named else column[:entries]
        prefixes = _prefixes(text, spaces) if named else ()
        names, first, last = _numbered(text, first, last) if named else (text, first, last)
        piece = Piece(indptr[: rows + 1], names, first, last, group, prefixes, NO_SEED, value[:entries], columns)
        refused = self._other_values(text, others, piece, line, faults)
        return self._rows(text, (label[:rows], weight[:rows]), line[:rows], piece, (lines, refused, faults))

    def _other_values(self, text: Array, others: Array, piece: Piece, line: Array, faults: Faults) -> Array:
        """Read values that are not short numbers, in place; return the rows in which one is none."""
        entry, start, end = others[1 : 1 + others[0, 0]].T.copy()
        number, wrong = numbers_in(text, start, end)
        assert piece.value is not None
        piece.value[entry] *= number
        rows = np.searchsorted(piece.indptr, entry[wrong], side="right") - 1

        def describe(row: int) -> Fault:
            k = int(wrong[np.flatnonzero(rows == row)[0]])
            return fault_at(text, int(line[row]), int(start[k]), int(end[k]), NOT_FINITE)

        refused = np.unique(rows)
        faults.add_rows(refused, describe)
        return refused

    def _rows(self, text: Array, heads: tuple[Array, Array], line: Array, piece: Piece, rest: Any) -> Parsed:
        """Return the rows whose label, weight and values can be used."""
        lines, refused, faults = rest
        label: Array = np.full(line.size, np.nan)
        bad = [refused]
        if self.labels != "none":
            start, end = (np.ascontiguousarray(part) for part in heads[0].T)
            label, wrong = read_labels(text, start, end, self.reading.label_type, self.labels == "optional")
            wrong = np.setdiff1d(wrong, refused)
            then = "Begin the line with a label, then a bar, and the features, as in: 1 | price:0.5 new"
            faults.add_rows(wrong, lambda row: label_fault(text, int(line[row]), int(start[row]), int(end[row]), then))
            bad.append(wrong)
        begin, stop = (np.ascontiguousarray(part) for part in heads[1].T)
        weighted = np.flatnonzero(begin < stop)  # most files have no importance at all
        weight = np.ones(line.size)
        weight[weighted], wrong = numbers_in(text, begin[weighted], stop[weighted])
        wrong = np.union1d(weighted[wrong], np.flatnonzero(weight < 0))
        wrong = np.setdiff1d(wrong, np.concatenate(bad))
        faults.add_rows(wrong, lambda row: fault_at(text, int(line[row]), int(begin[row]), int(stop[row]), NO_WEIGHT))
        out = np.concatenate([*bad, wrong]).astype(np.int64)
        kept = np.ones(line.size, bool)
        kept[out] = False
        if out.size:
            piece, label, weight, line = without_rows(piece, kept), label[kept], weight[kept], line[kept]
        entries, pieces = self.finished([piece])
        weights = None if (weight == 1.0).all() else weight
        return Parsed(label, lines, line, faults, entries, pieces=pieces, weight=weights)


def without_rows(piece: Piece, kept: Array) -> Piece:
    """Return a piece with some of its rows only."""
    counts = np.diff(piece.indptr)
    entries = np.repeat(kept, counts)
    indptr = np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.int32)

    def part(values: Array | None) -> Array | None:
        return values[entries] if values is not None and values.size == entries.size else values

    start, end, group = part(piece.start), part(piece.end), part(piece.group)
    assert start is not None
    assert end is not None
    assert group is not None
    value, column = part(piece.value), part(piece.column)
    return piece._replace(indptr=indptr, start=start, end=end, group=group, value=value, column=column)


def _word_end(text: Array, place: int, line: bool) -> int:
    """Return where the word, or the line, at a place ends."""
    content = text[place:].tobytes()
    found = re.search(rb"\n" if line else rb"[ \t\r\n]", content)
    return place + (found.start() if found else len(content))


def _numbered(text: Array, start: Array, end: Array) -> tuple[Array, Array, Array]:
    """Return a text with numbers at its end, and spans in which features without a name have their number for one."""
    unnamed = np.flatnonzero(end < start)
    if not unnamed.size:
        return text, start, end
    names = [str(number).encode() for number in (start - 1 - end)[unnamed].tolist()]
    start[unnamed] = text.size + np.cumsum([0, *map(len, names[:-1])])
    end[unnamed] = start[unnamed] + [*map(len, names)]
    return np.concatenate([text, np.frombuffer(b"".join([*names, b"\n"]), np.uint8)]), start, end


def _prefixes(text: Array, spaces: Array) -> tuple[bytes, ...]:
    """Return the prefix of the names of each namespace."""
    spans = spaces[1 : 1 + spaces[0, 0]].tolist()
    return (b"", *(text[begin:end].tobytes() + b"^" for begin, end in spans))
