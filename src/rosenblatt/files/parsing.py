"""What every format is turned into: rows, labels, weights, and the faults of lines."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from bisect import insort
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.files.blocks import BlockReader, last_line_end
from rosenblatt.files.decimals import FINE, LONG, MALFORMED, read_numbers
from rosenblatt.files.features import Assembler, Entries, Piece
from rosenblatt.files.options import Layout, Reading
from rosenblatt.files.source import FilePath

Array = npt.NDArray[Any]

EXAMPLES = 5  # faults that are told, of those that are skipped
# Labels of at most so many bytes are compared as one array.
SHORT_LABEL = 64
PART_BYTES = 1 << 16  # of a text, that are counted at once
MISSING = frozenset([b"", b"NA", b"N/A", b"NaN", b"nan", b"null", b"NULL", b"None", b"?"])


class Fault(NamedTuple):
    """A line that cannot be used: its number in the block, from 0, the offending piece, and what is wrong with it."""

    line: int
    found: str
    reason: str


def fault_at(text: Array, line: int, start: int, end: int, reason: str) -> Fault:
    """Return a fault whose piece is a span of the text."""
    return Fault(line, reprlib.repr(text[start:end].tobytes().decode("utf-8", "replace")), reason)


class Faults:
    """The faults of a block: only the first one, or all where they are skipped.

    Attributes
    ----------
    count : int
    examples : list of Fault
        The first by line, whatever was noticed first.
    stop : bool
        Whether reading ends with the first fault.
    """

    def __init__(self, skip: bool) -> None:
        self.skip, self.count = skip, 0
        self.examples: list[Fault] = []

    @property
    def stop(self) -> bool:
        """Whether there is a fault, and it is not to be skipped."""
        return self.count > 0 and not self.skip

    def add(self, fault: Fault) -> None:
        """Note a fault."""
        self.count += 1
        insort(self.examples, fault)
        del self.examples[EXAMPLES:]

    def add_rows(self, rows: Array, describe: Callable[[int], Fault]) -> None:
        """Note the faults of some rows; `describe` says what is wrong with one."""
        for row in rows[: EXAMPLES if self.skip else 1]:
            self.add(describe(int(row)))
        self.count += max(0, rows.size - EXAMPLES) if self.skip else 0


class Parsed(NamedTuple):
    """What a block says.

    Attributes
    ----------
    label : array
    lines : int
        Lines in the block.
    line : int array
        Number of each row's line, from 0.
    entries : Entries, or None
        Sparse rows; None if they are dense, or if a dictionary must look at the pieces first.
    dense : array, or None
    pieces : list of Piece
    weight : array, or None
    faults : Faults
    missing : int
        Missing values.
    """

    label: Array
    lines: int
    line: Array
    faults: Faults
    entries: Entries | None = None
    dense: Array | None = None
    pieces: list[Piece] | None = None
    weight: Array | None = None
    missing: int = 0


class Parser(ABC):
    """Turn blocks of text into rows. Parsers keep nothing of a block, so that several threads may use one.

    Parameters
    ----------
    reading : Reading
    labels : {"required", "optional", "none"}
    skip : bool
        Whether faulty lines are skipped.
    layout : Layout, optional
        Of the file; by default that of the file for which the reading was decided.

    Attributes
    ----------
    options : collection of str
        Options of reading that such a file takes: any other would change nothing.
    what : str
        What such a file is, in words.
    """

    options: Collection[str]
    what: str

    def __init__(self, reading: Reading, labels: str, skip: bool, layout: Layout | None = None) -> None:
        self.reading, self.labels, self.skip = reading, labels, skip
        self.layout = layout or reading.layout
        self.assembler = Assembler(reading.features, reading.normalise)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.reading.features.n_columns

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, where the file has them."""
        return None

    def record_end(self, text: Array) -> int:
        """Return where the last whole record of a text ends, or 0."""
        return last_line_end(text)

    def reader(self, inputs: Any, path: FilePath, size: int) -> BlockReader:
        """Return what reads a file in blocks of about so many bytes."""
        return BlockReader([path], size, self.record_end, inputs.open)

    def scaler(self, scaling: Any) -> Any:
        """Return what scales the numbers of a table; None where there are none."""
        return None

    @abstractmethod
    def parse(self, text: Array) -> Parsed:
        """Return what a block of whole lines says."""

    def number_pieces(self, numbers: Array) -> list[Piece]:
        """Return the entries of columns of numbers, of tables."""
        raise NotImplementedError

    def finished(self, pieces: list[Piece]) -> tuple[Entries | None, list[Piece] | None]:
        """Return the rows, or the pieces where a dictionary must look at them first."""
        if self.reading.features.dictionary:
            return None, pieces
        return self.assembler.rows(self.assembler.hashed(pieces)), None


# -------------------------------------------------------------------------------------------------------------- notes


def noted(places: int) -> Array:
    """Return room for notes of three numbers; the first place counts the others, of which most are never touched."""
    room = np.empty((places + 1, 3), np.int32)
    room[0] = 0
    return room


# ------------------------------------------------------------------------------------------------------------- labels


def python_floats(text: Array, start: Array, end: Array) -> Array:
    """Return the numbers in some spans by Python's own float."""
    return np.array([float(text[i:j].tobytes()) for i, j in zip(start.tolist(), end.tolist(), strict=True)])


def numbers_in(text: Array, start: Array, end: Array) -> tuple[Array, Array]:
    """Return the numbers in some spans, and where there is none. What is too large for a float64 is none."""
    number, fault = np.empty(start.size), np.empty(start.size, np.uint8)
    if read_numbers(text, start, end, number, fault):
        long = np.flatnonzero(fault == LONG)
        number[long] = python_floats(text, start[long], end[long])
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
    # A number that no byte is, in front, would keep bytes that are zero; labels with such end before them.
    packed = np.ascontiguousarray(letters).view(f"S{longest}").reshape(-1)
    unique, place = np.unique(packed, return_inverse=True)
    names = np.array([name.decode("utf-8", "backslashreplace") for name in unique.tolist()])
    return names[place.reshape(-1)]


def count_byte(text: Array, byte: int) -> int:
    """Return how often a byte is in a text: part by part, as an array as large as the text would be slower to get."""
    parts = range(0, text.size, PART_BYTES)
    return sum(int(np.count_nonzero(text[begin : begin + PART_BYTES] == byte)) for begin in parts)


def is_utf8(text: Any) -> bool | None:
    """Return whether a text is UTF-8; None if it is ASCII, or no text."""
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


BLANKS = np.array([32, 9, 13], np.uint8)
