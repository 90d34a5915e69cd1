"""Text of Vowpal Wabbit: label, importance, base and tag, then namespaces of features.

Columns and values are those that Vowpal Wabbit would have, without its constant feature: the hash of a name of digits
is its number plus the seed, that of others is MurmurHash3 of 32 bits. In the loops a text is an array of bytes whose
last one is a newline, and no loop passes a newline.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import quote, unquote

import numpy as np

from rosenblatt.engine.jit import compiled
from rosenblatt.errors import InvalidInput
from rosenblatt.files.decimals import SHORT, TENS, note_number, read_pairs
from rosenblatt.files.features import Dictionary, Field, Piece, full_names, to_bytes
from rosenblatt.files.formats import Format
from rosenblatt.files.options import MOST_BITS, NAMED_OPTIONS, Opening, Reading
from rosenblatt.files.parsing import (
    LineFault,
    LineFaults,
    Parsed,
    Parser,
    RefusedRows,
    count_byte,
    fault_at,
    notes_room,
    numbers_in,
)
from rosenblatt.files.records import FeatureRow, FeatureRows, Output, short_number
from rosenblatt.files.sniffing import NUMBER, SAMPLE_BYTES, Sample, label_type, most, sample_lines
from rosenblatt.files.streams import Array
from rosenblatt.files.tables import listed
from rosenblatt.files.tokens import murmur
from rosenblatt.text import did_you_mean

U = np.uint64
WORD = U(0xFFFFFFFF)
NO_FAULT, NO_BAR, BAD_HEAD, BAD_SPACE, BAD_FEATURE = 0, 1, 2, 3, 4
# Kinds of bytes: those that end a name, of which a colon is one, and those that end a number.
OTHER, ENDS_BOTH, ENDS_NAME = 0, 1, 2
KIND = np.zeros(256, np.uint8)
KIND[[32, 9, 10, 13, 124]] = ENDS_BOTH  # space, tab, newline, carriage return, bar
KIND[58] = ENDS_NAME
DEFAULT_SPACE, ALL_SPACES = " ", ":"  # in crosses, as in Vowpal Wabbit's -q
MOST_WORDS = 3  # before the bar: label, importance and base, without the tag
NOT_FINITE = " is not a finite number. Correct it, or leave the feature out if it is not known."
NO_WEIGHT = " is not an importance. Write a number from 0."
MISSING_LABEL = "Begin the line with a label, then a bar, and the features, as in: 1 | price:0.5 new"
REASONS = {
    NO_BAR: " has no bar. Write rows as in: 1 | price:0.5 new",
    BAD_HEAD: " is one word too many before the bar. There may be a label, an importance, a base and a tag.",
    BAD_SPACE: " is not a namespace. Write a name, and a number after a colon if there is one, as in: |text:2 word",
    BAD_FEATURE: " is not a feature. Write a name, and a number after a colon if it is not 1, as in: price:0.5",
}


def _looks_like_vw(line: bytes) -> bool:
    """Return whether a line has numbers, and a tag that may touch the bar, before a bar."""
    head, bar, _ = line.partition(b"|")
    words = head.split()
    if words and (words[-1].startswith(b"'") or not head.endswith((b" ", b"\t"))):
        words.pop()
    return bool(bar) and len(words) <= MOST_WORDS and all(re.fullmatch(NUMBER, word) for word in words)


# --------------------------------------------------------------------------------------------------------------- loops


@compiled()
def _read_name(text, i, seed):
    """Return where the name at i ends, and its hash."""
    begin, number, digits = i, U(0), True
    byte = text[U(i)]
    while KIND[U(byte)] == OTHER:
        digits &= 48 <= byte <= 57
        number = number * U(10) + U(byte - 48)
        i += 1
        byte = text[U(i)]
    return i, number + seed if digits else murmur(text, begin, i, seed & WORD)


@compiled()
def _read_short(text, i):
    """Read a short decimal at i that a space, a bar or the line ends: its value, and where it ends, or -1."""
    negative = text[U(i)] == 45
    i += negative
    begin, w, places = i, 0, 0
    digit = np.int64(text[U(i)]) - 48
    while 0 <= digit <= 9:
        w = w * 10 + digit
        i += 1
        digit = np.int64(text[U(i)]) - 48
    if digit == -2:
        i += 1
        begin += 1
        point = i
        digit = np.int64(text[U(i)]) - 48
        while 0 <= digit <= 9:
            w = w * 10 + digit
            i += 1
            digit = np.int64(text[U(i)]) - 48
        places = i - point
    if i == begin or i - begin > SHORT or KIND[U(text[U(i)])] != ENDS_BOTH:
        return 0.0, -1
    value = w / TENS[U(places)]
    return -value if negative else value, i


@compiled()
def _value_end(text, i):
    """Return where a value ends that is not a short number, and whether it is text."""
    byte, three = text[U(i)], 0
    if KIND[U(byte)] != ENDS_BOTH and KIND[U(text[U(i + 1)])] == OTHER:
        three = (np.int64(byte | 32) << 16) | (np.int64(text[U(i + 1)] | 32) << 8) | np.int64(text[U(i + 2)] | 32)
    number = 48 <= byte <= 57 or byte == 43 or byte == 45 or byte == 46 or three == 0x696E66 or three == 0x6E616E
    if number:  # or inf, or nan
        while KIND[U(text[U(i)])] != ENDS_BOTH:
            i += 1
    else:
        while text[U(i)] != 32 and text[U(i)] != 9 and text[U(i)] != 10 and text[U(i)] != 13:
            i += 1
    return i, not number


@compiled()
def _head_limits(text, i):
    """Return where the part before the bar begins, of a line that begins at i, and where the bar is, or -1."""
    bar = begin = i
    while text[U(bar)] != 124:
        if text[U(bar)] == 10:
            return i, -1
        if text[U(bar)] == 9 and begin == i:  # everything up to the first tab is ignored
            begin = bar + 1
        bar += 1
    return begin, bar


@compiled()
def _read_head(text, i, row, label, weight):
    """Read the part before the bar of a line that begins at i; return where the bar is, and the fault.

    `label` and `weight` receive where each begins and ends; the same place twice if it is missing.
    """
    i, bar = _head_limits(text, i)
    if bar < 0:
        return i, NO_BAR
    label[row, 0] = label[row, 1] = weight[row, 0] = weight[row, 1] = i
    words = 0
    while i < bar:
        if text[U(i)] == 32:
            i += 1
            continue
        begin = i
        while i < bar and text[U(i)] != 32:
            i += 1
        rest = i
        while rest < bar and text[U(rest)] == 32:
            rest += 1
        if i == bar or (rest == bar and text[U(begin)] == 39):  # the tag
            break
        if words == MOST_WORDS:
            return begin, BAD_HEAD
        if words == 0:
            label[row, 0], label[row, 1] = begin, i
        elif words == 1:
            weight[row, 0], weight[row, 1] = begin, i
        words += 1
    return bar, NO_FAULT


@compiled()
def _read_features(text, i, mask, seed, factor, k, column, value, spans, space, others):
    """Read the features of a namespace from i on, as entries from k on: where they end, entries so far, the fault.

    Zeros are left out. Numbers that are not short decimals are noted in `others`.
    """
    anonymous = U(0)
    while text[U(i)] == 32 or text[U(i)] == 9:
        if (spans.size == 0) & (48 <= text[U(i + 1)] <= 57):
            before = i
            i, k = read_pairs(text, i, seed, mask, U(0), mask + U(1), factor, False, k, column, value)
            if i > before:
                continue
        i += 1
        begin = i
        kind = KIND[U(text[U(i)])]
        if kind == ENDS_BOTH:
            continue
        i, h = _read_name(text, i, seed)
        end, number, long = i, factor, -1
        if text[U(i)] == 58:
            number, after = _read_short(text, i + 1)
            number *= factor
            if after < 0:
                after, is_text = _value_end(text, i + 1)
                if after == i + 1:
                    return begin, k, BAD_FEATURE
                if is_text:
                    h, end, number, kind = murmur(text, i + 1, after, h & WORD), after, 1.0, OTHER
                else:
                    number, long = factor, i + 1
            i = after
        if kind == ENDS_NAME:  # no name: features are numbered
            h, end = seed + anonymous, begin - 1 - np.int64(anonymous)
            anonymous += U(1)
        if number == 0.0:
            continue
        if long >= 0:
            note_number(others, k, long, i)
        column[U(k)], value[U(k)] = np.int64(h & mask), number
        if spans.size:
            spans[U(k), 0], spans[U(k), 1], spans[U(k), 2] = begin, end, space
        k += 1
    return i, k, NO_FAULT if KIND[U(text[U(i)])] == ENDS_BOTH else BAD_FEATURE


@compiled()
def _read_spaces(text, i, mask, k, column, value, spans, spaces, others):
    """Read the namespaces of a line from its first bar on: where they end, entries so far, the fault."""
    while text[U(i)] == 124:
        i += 1
        begin, seed, factor, fault = i, U(0), 1.0, NO_FAULT
        if KIND[U(text[U(i)])] == ENDS_NAME:
            return i, k, BAD_SPACE
        name_end = i
        if KIND[U(text[U(i)])] == OTHER:
            i, seed = _read_name(text, i, U(0))
            name_end = i
            if text[U(i)] == 58:
                factor, after = _read_short(text, i + 1)
                if after < 0:
                    return i + 1, k, BAD_SPACE
                i = after
        if spans.size:
            count = spaces[0, 0] + 1
            spaces[0, 0] = count
            spaces[count, 0], spaces[count, 1] = begin, name_end
        i, k, fault = _read_features(
            text, i, mask, seed, factor, k, column, value, spans, np.int64(spaces[0, 0]), others
        )
        if fault != NO_FAULT:
            return i, k, fault
    while text[U(i)] == 13:
        i += 1
    return i, k, NO_FAULT if text[U(i)] == 10 else BAD_FEATURE


@compiled()
def read_vw(text, start, mask, label, weight, line, indptr, column, value, spans, spaces, others):
    """Read lines until the end or the first fault.

    Returns the rows so far; where the faulty piece begins, or the end of the text; the number of its line; the fault.

    Parameters
    ----------
    text : uint8 array
        Whole lines: the last byte is a newline.
    start : (int, int, int)
        Where to begin: a byte at the start of a line, the number of that line, and the rows read so far.
    mask : int
        Number of columns, less one.
    label, weight : int arrays of shape (n, 2)
        Receive spans of the text; empty if they are missing.
    line, indptr : arrays with a place for each line, and one more
    column, value : arrays with a place for each two bytes of the text
    spans : int array of shape (n, 3), or (0, 3) if names are not wanted
        Receives start and end of each feature's name, and the number of its namespace in `spaces`, from 1. A feature
        without a name is numbered, from 0: number n has the end start - 1 - n.
    spaces : int array of shape (n, 2)
        Receives start and end of each namespace's name; its first place counts the others.
    others : int array of shape (n, 3)
        Receives entry, start and end of each number that is not short; its first place counts the others.
    """
    i, number, row = start
    end, k, mask = text.size, np.int64(indptr[row]), U(mask)
    while i < end:
        if text[U(i)] == 10 or (text[U(i)] == 13 and text[U(i + 1)] == 10):
            i += 1 if text[U(i)] == 10 else 2
            number += 1
            continue
        noted = others[0, 0]
        i, fault = _read_head(text, i, row, label, weight)
        if fault == NO_FAULT:
            i, k, fault = _read_spaces(text, i, mask, k, column, value, spans, spaces, others)
        if fault != NO_FAULT:
            others[0, 0] = noted
            return row, i, number, fault
        line[row] = number
        row += 1
        indptr[row] = k
        i += 1
        number += 1
    return row, end, number, NO_FAULT


# ------------------------------------------------------------------------------------------------------------- parsing


def decide(reading: Reading, sample: Sample, opening: Opening) -> Reading:
    """Return how to read files that begin like a sample."""
    heads = [re.split(rb"[ |]", line.lstrip())[0] for line in sample_lines(sample.content)]
    kind = "number" if opening.labels == "none" else label_type([h for h in heads if h[:1] != b"'"], opening.label_type)
    words = not any(b":" in line.partition(b"|")[2] for line in sample_lines(sample.content))
    return replace(reading, label_type=kind, normalise=words)


def cross_notes(reading: Reading, samples: Iterable[Sample]) -> list[str]:
    """Return notes on names in crosses that no namespace at the start of the files has.

    Raises `InvalidInput` if the files are known whole: otherwise the namespace may be rare. It is also raised for names
    that stand for one namespace twice.
    """
    if not reading.features.cross:
        return []
    samples = list(samples)
    found = {name for sample in samples for name in re.findall(rb"\|([^\s:|]*)", sample.content)}
    spaces = sorted(name.decode("utf-8", "surrogateescape") for name in found)
    known = {name for space in spaces for name in _names_in_crosses(space)}
    notes = []
    for cross in reading.features.cross:
        text = f"cross has {'*'.join(cross)!r}, and"
        for name in dict.fromkeys(cross):
            twice = [other for other in cross if other != name and name in _names_in_crosses(other)]
            if twice:
                raise InvalidInput(
                    f"{text} {name!r} stands for {twice[0]!r}, too: a letter is every namespace that begins with it, "
                    "and a colon is every namespace. Write names in full."
                )
            if name not in known:
                guess = f"{did_you_mean(name, spaces)} The namespaces are {listed(spaces)}."
                if all(len(sample.content) < SAMPLE_BYTES for sample in samples):
                    raise InvalidInput(f"{text} there is no namespace {name!r}.{guess}")
                notes.append(f"{text} the first lines have no namespace {name!r}.{guess}")
    return notes


def _names_in_crosses(space: str) -> tuple[str, ...]:
    """Return the names by which crosses mention a namespace: its own, its first letter, and a colon for all."""
    return space, space[:1] or DEFAULT_SPACE, ALL_SPACES


class VwParser(Parser):
    """Parse Vowpal Wabbit's text."""

    options = ("label_type", *NAMED_OPTIONS)
    what = "Vowpal Wabbit's text, whose features are after the bar"

    def parse(self, text: Array) -> Parsed:
        """Return the rows of a block of whole lines."""
        faults, lines = LineFaults(self.skip), count_byte(text, 10)
        label, weight = np.empty((lines + 1, 2), np.int32), np.empty((lines + 1, 2), np.int32)
        line, indptr = np.empty(lines + 1, np.int32), np.zeros(lines + 2, np.int32)
        size = text.size // 2 + 1  # a feature has two bytes at least, with the space before it
        column, value = np.empty(size, np.int32), np.empty(size)
        named, crossed = self.reading.features.dictionary, bool(self.reading.features.cross)
        spans = np.empty((size if named or crossed else 0, 3), np.int32)
        spaces = np.zeros((count_byte(text, 124) + 2 if named or crossed else 1, 2), np.int32)
        others = notes_room(text.size // 3 + 1)
        start, mask = (0, 0, 0), self.n_features - 1
        while True:
            arrays = (label, weight, line, indptr, column, value, spans, spaces, others)
            rows, place, number, fault = read_vw(text, start, mask, *arrays)
            if fault == NO_FAULT:
                break
            end = _word_end(text, place, line=fault == NO_BAR)
            faults.add(fault_at(text, number, place, end, REASONS[fault]))
            if faults.stop:
                break
            start = (_word_end(text, place, line=True) + 1, number + 1, rows)
        entries, line = int(indptr[rows]), line[:rows]
        piece = Piece(indptr[: rows + 1], value=value[:entries], column=column[:entries])
        if named or crossed:
            piece = _with_names(piece, text, spans[:entries], spaces[1 : 1 + spaces[0, 0]])
        refused = RefusedRows(rows, faults)
        self._read_values(text, others, piece, line, refused)
        labels: Array = np.full(rows, np.nan)
        if self.labels != "none":
            first, last = (np.ascontiguousarray(part) for part in label[:rows].T)
            labels = self.read_labels(text, first, last, line, refused, MISSING_LABEL)
        weights = self._weights(text, weight[:rows], line, refused)
        if refused.mask.any():
            kept = ~refused.mask
            piece, labels, weights, line = piece.of_rows(kept), labels[kept], weights[kept], line[kept]
        weighted = None if (weights == 1.0).all() else weights
        return Parsed(labels, lines, line, faults, [piece], weight=weighted, id=self._tags(text, line))

    def _tags(self, text: Array, line: Array) -> list[str | None] | None:
        """Return the tag of each row, None where it has none."""
        if not self.tags:
            return None
        heads = [row.partition(b"|")[0] for row in text.tobytes().split(b"\n")]
        return [_tag(heads[number]) for number in line.tolist()]

    def _read_values(self, text: Array, others: Array, piece: Piece, line: Array, refused: RefusedRows) -> None:
        """Read values that are not short numbers, in place."""
        entry, start, end = others[1 : 1 + others[0, 0]].T.copy()
        number, wrong = numbers_in(text, start, end)
        assert piece.value is not None
        piece.value[entry] *= number
        rows = np.searchsorted(piece.indptr, entry[wrong], side="right") - 1

        def describe(row: int) -> LineFault:
            k = int(wrong[np.flatnonzero(rows == row)[0]])
            return fault_at(text, int(line[row]), int(start[k]), int(end[k]), NOT_FINITE)

        refused.add(np.unique(rows), describe)

    def _weights(self, text: Array, spans: Array, line: Array, refused: RefusedRows) -> Array:
        start, end = (np.ascontiguousarray(part) for part in spans.T)
        weighted = np.flatnonzero(start < end)  # most files have no importance at all
        weight = np.ones(line.size)
        weight[weighted], wrong = numbers_in(text, start[weighted], end[weighted])
        wrong = np.union1d(weighted[wrong], np.flatnonzero(weight < 0))
        refused.add(wrong, lambda row: fault_at(text, int(line[row]), int(start[row]), int(end[row]), NO_WEIGHT))
        return weight


def _with_names(piece: Piece, text: Array, spans: Array, spaces: Array) -> Piece:
    """Return a piece with the names and the namespaces of its entries, as `read_vw` notes them."""
    names, first, last = _numbered(text, *spans[:, :2].T.copy())
    known = Dictionary(1 << MOST_BITS)  # a namespace has one number, however often it is written
    place = known.find(*full_names(text, *spaces.T.copy()))
    group = place[spans[:, 2] - 1]
    prefixes = tuple(to_bytes(name) + b"^" for name in known.names())
    fields = tuple(Field(_names_in_crosses(name), squares=True) for name in known.names())
    return piece._replace(text=names, start=first, end=last, prefixes=prefixes, group=group, fields=fields, field=group)


def _tag(head: bytes) -> str | None:
    """Return the tag at the end of the part before the bar: it touches the bar, or begins with a quote."""
    before, tab, after = head.partition(b"\t")  # everything up to the first tab is ignored
    head = after if tab else before
    word = head.rstrip(b" ").rpartition(b" ")[2]
    if not word or (head.endswith(b" ") and not word.startswith(b"'")):
        return None
    return word.removeprefix(b"'").decode("utf-8", "backslashreplace")


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


# ------------------------------------------------------------------------------------------------------------- writing


def write(output: Output, rows: FeatureRows) -> None:
    """Write rows; spaces, colons, bars and percent signs in names are percent-encoded."""
    for row in rows:
        output.write_row(_line(row))


def _line(row: FeatureRow) -> str:
    label = row.label_text
    if re.search(r"[\s|]", label):
        raise InvalidInput(
            f"The label {label!r} has a space or a bar, which Vowpal Wabbit's text does not hold. Rename it."
        )
    head = f"{label} {short_number(row.weight)} " if row.weight != 1.0 else f"{label} " if label else ""
    spaces: dict[str, list[str]] = {}
    for name, value in row.features:
        space, mark, feature = name.partition("^")
        if not mark or re.search(r"[\s|:]", space):
            space, feature = "", name
        encoded = re.sub(r"[\s:|%]", lambda found: quote(found[0]), feature)
        spaces.setdefault(space, []).append(encoded + ("" if value == 1.0 else f":{short_number(value)}"))
    parts = [f"|{space} {' '.join(features)}" for space, features in spaces.items()]
    return head + (" ".join(parts) or "|")


def column_of(name: str) -> str:
    """Return the name of a feature as that of a column: without the mark of the default namespace, and decoded."""
    return unquote(name.removeprefix("^"), errors="surrogateescape")


VW = Format(
    name="vw",
    kind="features",
    endings=(".vw",),
    rank=30,
    matches=lambda lines: most(lines, _looks_like_vw),
    row="`1 2.0 'tag\\|ns:0.5 price:0.23 new \\|other x`",
    label="number or word first; then importance, base (ignored), tag (ignored)",
    refused="a value that is not a number, unless it is a word",
    parser=VwParser,
    decide=decide,
    notes=cross_notes,
    write=write,
    column_of=column_of,
)
