"""From names and words to columns: hashes or a dictionary, counts, rows of unit length.

The rules are in docs/reference/features.md. A piece has the entries of each row of a chunk that come from one column:
spans of a text, which are their names. Names become columns by hashing, which needs nothing but the piece, or by a
dictionary, which must see the names in the order of the rows.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple
from unicodedata import category

import numpy as np

from rosenblatt.engine.rows import Csr
from rosenblatt.errors import InvalidInput
from rosenblatt.files import tokens
from rosenblatt.files.entries import (
    GROUPS,
    MARKED_BITS,
    MARKED_ENTRIES,
    MARKS,
    PLACES,
    add_columns,
    append_entries,
    count_columns,
    count_marked,
    normalise_rows,
)
from rosenblatt.files.options import FeatureOptions
from rosenblatt.files.streams import Array

LETTERS = b"0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
LETTER_SEED = b"letters"
LETTER_MARK = b"~"  # in names; words do not have it


class Piece(NamedTuple):
    """Entries of some rows that come from one column: row i has those from indptr[i] to indptr[i + 1].

    Their columns are known, or follow from their names: prefixes[group[k]] + text[start[k]:end[k]] is that of entry k.
    The hash of a name is that of its span with a seed, which stands for the prefix. `group` and `seed` have one number
    for all entries, or one for each. Entries without values are words, whose counts become values as the options say.
    """

    indptr: Array
    text: Any = None
    start: Any = None
    end: Any = None
    prefixes: tuple[bytes, ...] = (b"",)
    group: Array = np.zeros(1, np.int32)
    seed: Array = np.zeros(1, np.uint32)
    value: Array | None = None
    column: Array | None = None

    def of_rows(self, kept: Array) -> Piece:
        """Return the piece with the rows of a mask only."""
        counts = np.diff(self.indptr)
        entries = np.repeat(kept, counts)
        indptr = np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.int32)
        parts = {name: getattr(self, name) for name in ("start", "end", "group", "value", "column")}
        own = {name: part[entries] for name, part in parts.items() if part is not None and part.size == entries.size}
        return self._replace(indptr=indptr, **own)


class Collisions(NamedTuple):
    """Estimated number of features, and of those that share a column with another."""

    features: float
    collided: float


def to_bytes(text: str) -> bytes:
    """Return text as UTF-8. Surrogates of `surrogateescape` become the original bytes; other surrogates pass."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def murmur(name: bytes, seed: int = 0) -> int:
    """Return the 32 bits of MurmurHash3 of some bytes."""
    text = np.frombuffer(name + b"\n", np.uint8)
    # The same types as in `_hashed`: the loop is compiled once.
    column = np.empty(1, np.int32)
    spans = np.zeros(1, np.int32), np.array([len(name)], np.int32)
    tokens.hash_spans(text, *spans, np.array([seed], np.uint32), 0xFFFFFFFF, column)
    return int(column.view(np.uint32)[0])


def estimate_collisions(used: int, n_columns: int) -> Collisions:
    """Estimate from the number of columns in use how many features were hashed into them.

    n features leave a share exp(-n / m) of m columns empty, and each of the n is alone with probability exp(-n / m).
    Both numbers are infinite if no column is free.
    """
    if used >= n_columns:
        return Collisions(math.inf, math.inf)
    features = -n_columns * math.log1p(-used / n_columns)
    return Collisions(features, features * -math.expm1(-features / n_columns))


# ------------------------------------------------------------------------------------------------------------- words


@cache
def _narrow(lowercase: bool) -> Array:
    table = np.zeros(256, np.uint8)
    for letter in LETTERS:
        table[letter] = ord(chr(letter).lower()) if lowercase else letter
    table[128:] = tokens.WIDE
    return table


@cache
def _wide(lowercase: bool) -> Array:
    """Return, by code point, the code point of each character in a word; 0 if it is not part of words."""
    points = np.arange(0x323B0, dtype=np.uint32)  # later ones are symbols or unassigned, and not part of a word
    points[0x130] = ord("I")  # in lower case it is two characters, of which the first is used
    letters = points.tobytes().decode("utf-32-le", "surrogatepass")
    inside = np.strings.isalnum(points.view("U1"))
    others = np.flatnonzero(~inside).tolist()
    inside[others] = [category(letters[point])[0] == "M" for point in others]
    if lowercase:
        points = np.frombuffer(letters.lower().encode("utf-32-le", "surrogatepass"), np.uint32).copy()
        points[points == 0x3C2] = 0x3C3  # a final sigma is a sigma
    else:
        points[0x130] = 0x130
    return np.where(inside, points, np.uint32(0))


def _tables(text: Array, lowercase: bool) -> tuple[Array, Array]:
    return _narrow(lowercase), _wide(lowercase) if text.max(initial=0) > 127 else np.empty(0, np.uint32)


def word_pieces(
    options: FeatureOptions, text: Array, start: Array, end: Array, prefix: bytes = b"", seed: int = 0
) -> list[Piece]:
    """Return the n-grams of the words in each span: one piece for words and one for characters.

    The byte after each span must exist, and not be part of a word: space, comma, newline, ...
    """
    if not options.dictionary and options.words == (1, 1) and options.letters is None:
        return [_hashed_words(options, text, start, end, seed)]
    size = int((end - start).sum())
    out = np.empty(2 * size + 2 * start.size + 8, np.uint8)
    word_start = np.empty(size // 2 + start.size + 1, np.int32)
    word_end, first_word = np.empty_like(word_start), np.empty(start.size + 1, np.int32)
    tables = _tables(text, options.lowercase)
    used = tokens.split_words(text, start, end, *tables, out, word_start, word_end, first_word)
    out, words = out[: used + 8], (word_start, word_end, first_word)
    found = []
    if options.words is not None:
        begin, stop, indptr = _grams_room(int(first_word[-1]), options.words, start.size)
        count = tokens.word_grams(*words, *options.words, begin, stop, indptr)
        seeds = np.array([seed], np.uint32)
        found.append(Piece(indptr, out, begin[:count], stop[:count], (prefix,), seed=seeds))
    if options.letters is not None:
        begin, stop, indptr = _grams_room(used + 1, options.letters, start.size)
        count = tokens.letter_grams(out, *words, *options.letters, begin, stop, indptr)
        seeds = np.array([murmur(LETTER_SEED, seed)], np.uint32)
        found.append(Piece(indptr, out, begin[:count], stop[:count], (prefix + LETTER_MARK,), seed=seeds))
    return found


def _grams_room(starts: int, lengths: tuple[int, int], rows: int) -> tuple[Array, Array, Array]:
    """Return arrays for the spans of n-grams of some lengths from each of some places, and for those of each row."""
    room = starts * (lengths[1] - lengths[0] + 1)
    return np.empty(room, np.int32), np.empty(room, np.int32), np.empty(rows + 1, np.int32)


def _hashed_words(options: FeatureOptions, text: Array, start: Array, end: Array, seed: int) -> Piece:
    column = np.empty(int((end - start).sum()) // 2 + start.size + 1, np.int32)
    indptr = np.empty(start.size + 1, np.int32)
    longest = int((end - start).max(initial=0))
    how = *_tables(text, options.lowercase), options.lowercase, seed, options.n_columns - 1
    works = (np.empty(tokens.WORK, dtype) for dtype in (np.uint64, np.uint64, np.uint8))
    scratch, letters = np.empty(2 * longest + 8, np.uint8), np.empty(longest + tokens.AT_ONCE, np.uint8)
    count = tokens.hash_words(text, start, end, *how, column, indptr, scratch, letters, *works)
    return Piece(indptr, column=column[:count])


# -------------------------------------------------------------------------------------------------------- dictionary

FIRST_NAMES, FIRST_BYTES = 1 << 10, 1 << 16


class Dictionary:
    """Names and their columns, in the order of appearance.

    Names beyond the maximum `most` have no column. If names are passed, no other is added, unless `frozen` is False.
    """

    def __init__(self, most: int, names: tuple[str, ...] | None = None, *, frozen: bool = True) -> None:
        self.most, self.frozen, self.left_out = most, False, 0
        self._count = 0
        self._slots = np.full(2 * FIRST_NAMES, -1, np.int32)
        self._names = np.empty(FIRST_BYTES, np.uint8)
        self._end = np.zeros(FIRST_NAMES + 1, np.int64)
        if names is not None:
            encoded = [to_bytes(name) for name in names]
            ends = np.concatenate([[0], np.cumsum([len(name) for name in encoded])]).astype(np.int64)
            self.find(np.frombuffer(b"".join(encoded) + b"\n", np.uint8), ends)
            if len(self) < len(names):
                raise InvalidInput("names has one name twice. Pass the names that a source had.")
            self.frozen = frozen

    def __len__(self) -> int:
        return self._count

    def names(self) -> tuple[str, ...]:
        """Return all names, by column; bytes that are not UTF-8 are decoded by `surrogateescape`."""
        content, ends = self._names[: self._end[len(self)]].tobytes(), self._end.tolist()
        spans = pairwise(ends[: len(self) + 1])
        return tuple(content[begin:end].decode("utf-8", "surrogateescape") for begin, end in spans)

    def find(self, text: Array, name_end: Array) -> Array:
        """Return the column of each name, after adding new ones; -1 for names without a column.

        The names are one after another in `text`; `name_end` has where each ends, after a zero.
        """
        column = np.empty(name_end.size - 1, np.int32)
        start = 0
        while True:
            room = len(self) if self.frozen else min(self.most, self._end.size - 1)
            state = np.array([len(self), room, start])
            arrays = (self._slots, self._names, self._end)
            whole = tokens.find_names(text, name_end, *arrays, state, column)
            self._count = int(state[0])
            if not whole:
                start = int(state[2])
                self._names = np.concatenate([self._names, np.empty(self._names.size + text.size, np.uint8)])
            elif len(self) == room < self.most and not self.frozen:  # full: some names may have no place
                start = 0
                self._grow()
            else:
                self.left_out += 0 if self.frozen else int((column < 0).sum())
                return column

    def _grow(self) -> None:
        count, room = len(self), 2 * (self._end.size - 1)
        names, ends = self._names.copy(), self._end[: count + 1].copy()
        self._end, self._slots = np.zeros(room + 1, np.int64), np.full(2 * room, -1, np.int32)
        arrays = (self._slots, self._names, self._end)
        tokens.find_names(names, ends, *arrays, np.array([0, room, 0]), np.empty(count, np.int32))


# -------------------------------------------------------------------------------------------------------------- rows


def assemble(
    pieces: list[Piece], options: FeatureOptions, normalise: bool, dictionary: Dictionary | None = None
) -> Csr:
    """Return the sparse rows of pieces; names are hashed, or have the columns of a dictionary."""
    if dictionary is None:
        pieces = _hashed(pieces, options.n_columns - 1)
    elif pieces[0].column is None:
        pieces = _named(pieces, dictionary)
    if len(pieces) == 1 and pieces[0].value is None:
        return _counted(pieces[0], options, normalise)
    parts = [_counted(piece, options) for piece in pieces]
    rows = _added_up(parts[0] if len(parts) == 1 else _merged(parts), options.bits)
    if normalise:
        normalise_rows(rows.indptr, rows.data)
    return rows


def _hashed(pieces: list[Piece], mask: int) -> list[Piece]:
    """Return the pieces with hashed columns."""
    done = []
    for piece in pieces:
        column = piece.column
        if column is None:
            column = np.empty(piece.start.size, np.int32)
            text = piece.text.view()
            text.flags.writeable = False
            tokens.hash_spans(text, piece.start, piece.end, piece.seed, mask, column)
        done.append(piece._replace(column=column))
    return done


def _named(pieces: list[Piece], dictionary: Dictionary) -> list[Piece]:
    """Return the pieces with the columns of a dictionary, which sees the names in the order of the rows."""
    n_rows = pieces[0].indptr.size - 1
    full = [_joined(piece.text, piece.start, piece.end, piece.group, piece.prefixes) for piece in pieces]
    if len(pieces) == 1:
        return [pieces[0]._replace(column=dictionary.find(*full[0]))]
    rows = np.concatenate([np.repeat(np.arange(n_rows), np.diff(piece.indptr)) for piece in pieces])
    shift = np.cumsum([0, *(text.size for text, _ in full)])
    text = np.concatenate([text for text, _ in full])
    start = np.concatenate([ends[:-1] + by for (_, ends), by in zip(full, shift[:-1], strict=True)])
    end = np.concatenate([ends[1:] + by for (_, ends), by in zip(full, shift[:-1], strict=True)])
    order = np.argsort(rows, kind="stable")
    column = np.empty(rows.size, np.int32)
    column[order] = dictionary.find(*_joined(text, start[order], end[order], np.zeros(1, np.int32), (b"",)))
    parts = np.split(column, np.cumsum([piece.start.size for piece in pieces])[:-1])
    return [piece._replace(column=part) for piece, part in zip(pieces, parts, strict=True)]


def _counted(piece: Piece, options: FeatureOptions, normalise: bool = False) -> Csr:
    """Return the rows of a piece that has columns: as they are if it has values, else in order, with counts."""
    indptr, column = piece.indptr, piece.column
    assert column is not None
    if piece.value is not None:
        return Csr(piece.value, column, indptr)
    known = column >= 0 if options.dictionary else None
    if known is not None and not known.all():
        column, indptr = column[known], np.concatenate([[0], np.cumsum(known)])[indptr].astype(indptr.dtype)
    value, indptr = np.empty(column.size), indptr.copy()
    longest = int(np.diff(indptr).max(initial=0))
    bits, how = options.bits, (options.counts == "log", options.counts == "binary", normalise)
    if bits <= MARKED_BITS and longest <= MARKED_ENTRIES:
        marks, places = np.zeros(GROUPS + MARKS, np.uint64), np.empty(MARKS + 4, np.uint64)
        rooms = marks, places, np.zeros(1 << bits, np.uint16), np.empty(64)
        size = count_marked(indptr, column, value, *how, *rooms)
    else:
        spare, room = np.empty(longest, column.dtype), np.empty(longest + PLACES, np.int64)
        size = count_columns(indptr, column, value, bits, *how, spare, room, np.empty(64))
    return Csr(value[:size], column[:size], indptr)


def _added_up(rows: Csr, bits: int) -> Csr:
    """Return rows with columns of at most `bits` bits in order, adding up the values of repeated ones."""
    indptr = rows.indptr.copy()
    longest = int(np.diff(indptr).max(initial=0))
    rooms = np.empty(longest, rows.data.dtype), np.empty(2 * longest + PLACES, np.int64)
    size = add_columns(indptr, rows.indices, rows.data, bits, *rooms)
    return Csr(rows.data[:size], rows.indices[:size], indptr)


def _joined(text: Array, start: Array, end: Array, group: Array, prefixes: tuple[bytes, ...]) -> tuple[Array, Array]:
    """Return the prefix and the text of each span, one after another, and where each ends, after a zero."""
    lengths = np.array([len(prefix) for prefix in prefixes])
    prefix_end = np.concatenate([[0], np.cumsum(lengths)])
    size = int((end.astype(np.int64) - start).sum() + np.broadcast_to(lengths[group], start.size).sum())
    out, out_end = np.empty(size + 8, np.uint8), np.zeros(start.size + 1, np.int64)
    joined = np.frombuffer(b"".join(prefixes) + b"\n", np.uint8)
    tokens.join_names(text, start, end, group, joined, prefix_end, out, out_end)
    return out, out_end


def _merged(parts: list[Csr]) -> Csr:
    """Return rows with the entries of all parts."""
    total = sum(np.diff(part.indptr) for part in parts)
    indptr = np.concatenate([[0], np.cumsum(total)]).astype(np.int32)
    place = indptr[:-1].copy()
    column, value = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    for part in parts:
        append_entries(place, part.indptr, part.indices, part.data, column, value)
    return Csr(value, column, indptr)


def check_names(names: Any, options: FeatureOptions) -> tuple[str, ...]:
    """Return the names of a dictionary as a tuple; raise `InvalidInput` if they cannot be one."""
    found = tuple(names)
    if not options.dictionary:
        raise InvalidInput("names were passed, but features are hashed. Pass features with dictionary=True.")
    if len(found) > options.n_columns or not all(isinstance(name, str) for name in found):
        raise InvalidInput(f"names has {len(found)} entries; it must be at most {options.n_columns} texts.")
    return found
