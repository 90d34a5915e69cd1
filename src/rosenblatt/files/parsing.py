"""The result of parsing, which is the same for every format: rows, labels, weights, and the faults of lines."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from bisect import insort
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.files.decimals import FINE, LONG, MALFORMED, read_numbers
from rosenblatt.files.features import Dictionary, Piece, assemble
from rosenblatt.files.options import FileLayout, Reading
from rosenblatt.files.streams import Array, BlockReader, FilePath, last_line_end

EXAMPLES = 5  # how many skipped lines to report
SHORT_LABEL = 64  # bytes of labels that are compared as one array
PART_BYTES = 1 << 16  # of a text, in which a byte is counted at once
BLANKS = np.array([32, 9, 13], np.uint8)
NOT_A_NUMBER = " is not a number, as the first labels are. Correct it, or pass label_type='text'."
MISSING = frozenset([b"", b"NA", b"N/A", b"NaN", b"nan", b"null", b"NULL", b"None", b"?"])


class LineFault(NamedTuple):
    """A line that cannot be used: its number in the block, from 0, the offending piece, and what is wrong with it."""

    line: int
    found: str
    reason: str


def fault_at(text: Array, line: int, start: int, end: int, reason: str) -> LineFault:
    """Return a fault whose piece is a span of the text."""
    return LineFault(line, reprlib.repr(text[start:end].tobytes().decode("utf-8", "replace")), reason)


class LineFaults:
    """The faults of a block: only the first one, or all where they are skipped. `examples` are the first by line."""

    def __init__(self, skip: bool) -> None:
        self.skip, self.count = skip, 0
        self.examples: list[LineFault] = []

    @property
    def stop(self) -> bool:
        """Whether there is a fault, and it is not to be skipped."""
        return self.count > 0 and not self.skip

    def add(self, fault: LineFault) -> None:
        """Note a fault."""
        self.count += 1
        insort(self.examples, fault)
        del self.examples[EXAMPLES:]

    def add_rows(self, rows: Array, describe: Callable[[int], LineFault]) -> None:
        """Note the faults of some rows; `describe` says what is wrong with one."""
        for row in rows[: EXAMPLES if self.skip else 1]:
            self.add(describe(int(row)))
        self.count += max(0, rows.size - EXAMPLES) if self.skip else 0


class RefusedRows:
    """Rows of a block that cannot be used, as a mask. Only the first fault of each is noted."""

    def __init__(self, count: int, faults: LineFaults) -> None:
        self.faults, self.mask = faults, np.zeros(count, bool)

    def add(self, rows: Array, describe: Callable[[int], LineFault]) -> None:
        """Refuse some rows, by their numbers; `describe` returns the fault of one."""
        new = rows[~self.mask[rows]]
        self.faults.add_rows(new, describe)
        self.mask[new] = True


class Parsed(NamedTuple):
    """The content of a block. `Parser.rows` makes rows of it, in order if they depend on those before."""

    label: Array
    lines: int  # in the block
    line: Array  # the number of each row's line, from 0
    faults: LineFaults
    pieces: list[Piece]  # all features but the columns of numbers of a table
    numbers: Array | None = None  # (n_rows, n_columns) these columns, with NaN where a number is missing
    weight: Array | None = None
    missing: int = 0  # number of missing values
    id: list[Any] | None = None  # of each row: its tag, or the value of a column, if asked for
    named: Any = None  # NamedRows, if asked for


class Parser(ABC):
    """Turn blocks of text into rows. Parsers keep nothing of a block, so that several threads may use one.

    By default the layout is that of the file for which the reading was decided.

    Attributes
    ----------
    options : collection of str
        Options of reading that apply to such a file: any other would change nothing.
    what : str
        A description of such a file, for messages.
    id : str or None
        Name of the column whose values `Parsed` has as ids.
    tags : bool
        Whether `Parsed` has the tags of Vowpal Wabbit's text as ids.
    """

    options: Collection[str]
    what: str
    id: str | None = None
    tags = False

    def __init__(self, reading: Reading, labels: str, skip: bool, layout: FileLayout | None = None) -> None:
        self.reading, self.labels, self.skip = reading, labels, skip
        self.layout = layout or reading.layout

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.reading.features.n_columns

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, where the file has them."""
        return None

    def return_ids(self, column: str | int) -> None:
        """Return the values of a column as ids from now on."""
        tags = " Tags are ids without it." if self.layout.format == "vw" else ""
        raise InvalidInput(f"id={column!r} (--id) is for tables, and this is {self.what}. Leave it out.{tags}")

    def record_end(self, text: Array) -> int:
        """Return where the last whole record of a text ends, or 0."""
        return last_line_end(text)

    def reader(self, inputs: Any, path: FilePath, size: int) -> BlockReader:
        """Return a reader of blocks of about `size` bytes."""
        return BlockReader(path, size, self.record_end, inputs.open)

    def scaler(self, scaling: Any) -> Any:
        """Return the scaler of a table; None if it has no numbers."""
        return None

    @abstractmethod
    def parse(self, text: Array) -> Parsed:
        """Return the content of a block of whole lines."""

    def rows(self, parsed: Parsed, scaler: Any = None, dictionary: Dictionary | None = None) -> Dense | Csr:
        """Return the rows of a block. A scaler and a dictionary have to see the blocks in order."""
        return assemble(parsed.pieces, self.reading.features, self.reading.normalise, dictionary)

    def read_labels(
        self, text: Array, start: Array, end: Array, line: Array, refused: RefusedRows, remedy: str
    ) -> Array:
        """Return the label in the span of each row; refuse rows without one, with a remedy, or of the wrong type."""
        empty, needed = start == end, self.labels == "required"
        if self.reading.label_type == "text":
            label, wrong = texts_in(text, start, end), np.flatnonzero(empty & needed)
        else:
            label, wrong = numbers_in(text, start, end)
            label[empty] = np.nan
            wrong = wrong if needed else wrong[~empty[wrong]]

        def describe(row: int) -> LineFault:
            if empty[row]:
                return LineFault(int(line[row]), "", f"there is no label. {remedy}")
            return fault_at(text, int(line[row]), int(start[row]), int(end[row]), NOT_A_NUMBER)

        refused.add(wrong, describe)
        return label


def notes_room(places: int) -> Array:
    """Return room for notes of three numbers each. The first place counts the others, most of which stay unused."""
    room = np.empty((places + 1, 3), np.int32)
    room[0] = 0
    return room


# ------------------------------------------------------------------------------------------------------------- labels


def numbers_in(text: Array, start: Array, end: Array) -> tuple[Array, Array]:
    """Return the numbers in some spans, and which spans are not finite float64 numbers."""
    number, fault = np.empty(start.size), np.empty(start.size, np.uint8)
    if read_numbers(text, start, end, number, fault):
        long = np.flatnonzero(fault == LONG)
        number[long] = [float(text[i:j].tobytes()) for i, j in zip(start[long], end[long], strict=True)]
        fault[long] = FINE
    wrong = (fault == MALFORMED) | ~np.isfinite(number)
    return number, np.flatnonzero(wrong)


def texts_in(text: Array, start: Array, end: Array) -> Array:
    """Return spans as an array of text."""
    size = end - start
    longest = int(size.max(initial=0))
    if not start.size or longest == 0:
        return np.zeros(start.size, "<U1")
    if longest > SHORT_LABEL:
        spans = zip(start.tolist(), end.tolist(), strict=True)
        return np.array([text[i:j].tobytes().decode("utf-8", "backslashreplace") for i, j in spans])
    places = start[:, None] + np.arange(longest)
    letters = np.where(np.arange(longest) < size[:, None], text[np.minimum(places, text.size - 1)], 0).astype(np.uint8)
    packed = np.ascontiguousarray(letters).view(f"S{longest}").reshape(-1)
    unique, place = np.unique(packed, return_inverse=True)
    names = np.array([name.decode("utf-8", "backslashreplace") for name in unique.tolist()])
    return names[place.reshape(-1)]


def count_byte(text: Array, byte: int) -> int:
    """Return how often a byte is in a text: part by part, which avoids an array as large as the text."""
    parts = range(0, text.size, PART_BYTES)
    return sum(int(np.count_nonzero(text[begin : begin + PART_BYTES] == byte)) for begin in parts)


def is_utf8(text: Any) -> bool | None:
    """Return whether a text is UTF-8; None if it is ASCII, or not text."""
    if not isinstance(text, np.ndarray) or text.max(initial=0) < 128:
        return None
    try:
        text.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def stripped(text: Array, start: Array, end: Array) -> tuple[Array, Array]:
    """Return spans without spaces, tabs and carriage returns at either end."""
    start, end = start.copy(), end.copy()
    for _ in range(SHORT_LABEL):
        inside = start < end
        left = inside & np.isin(text[np.where(inside, start, 0)], BLANKS)
        right = inside & ~left & np.isin(text[np.where(inside, end - 1, 0)], BLANKS)
        if not left.any() and not right.any():
            break
        start += left
        end -= right
    return start, end
