"""Svmlight: sparse rows in the format of SVMlight and LIBSVM, ``label index:value index:value ...``.

In the loops a text is an array of bytes whose last one is a newline, and no loop passes a newline.
"""

from __future__ import annotations

import os
import re
import reprlib
from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt.data.matrices import sp
from rosenblatt.engine.jit import compiled
from rosenblatt.errors import InvalidInput
from rosenblatt.files.decimals import (
    FINE,
    LONG,
    MALFORMED,
    MAX_DIGITS,
    decimal,
    note_number,
    read_pairs,
)
from rosenblatt.files.features import Piece
from rosenblatt.files.formats import Format
from rosenblatt.files.options import Opening, Reading, as_count, reject
from rosenblatt.files.parsing import LineFault, LineFaults, Parsed, Parser, count_byte, notes_room
from rosenblatt.files.records import FeatureRow, FeatureRows, Output, one_line, open_output, short_number
from rosenblatt.files.sniffing import NUMBER, Sample, most, sample_lines
from rosenblatt.files.streams import STANDARD_INPUT, Array, BlockReader, FilePath

U = np.uint64
EVERY_BIT = U(2**64 - 1)
MAX_INT32 = 2**31 - 1
BLOCK_BYTES = 1 << 24  # that `load_svmlight` reads at a time
TOO_LARGE = "a {} is too large for float64. Scale the data."
# Each line matches in one way at most, so that failing to match takes one pass over it.
LINE = re.compile(rb"\s*(?:%s(?=\s|$))?(?:\s*(?:qid:[0-9]+|[0-9]+:%s)(?=\s|$))*\s*(?:#.*)?" % (NUMBER, NUMBER))
PAIR = re.compile(rb"\s[0-9]+:" + NUMBER)


def looks_like_svmlight(lines: list[bytes]) -> bool:
    """Return whether there are pairs of index and value, and nearly all lines have nothing else."""
    return any(PAIR.search(line) for line in lines) and most(lines, LINE.fullmatch)


# --------------------------------------------------------------------------------------------------------------- loops
# Most pairs are short numbers between single spaces, and `read_pairs` reads these. It leaves all others, one at a time,
# to a careful function.


@compiled()
def _is_blank(byte):
    return byte == 32 or byte == 9 or byte == 13


@compiled()
def _ends_word(byte):
    return byte == 32 or byte == 9 or byte == 13 or byte == 10 or byte == 35


@compiled()
def _after_query(text, i):
    """Return where a word such as qid:7 at i ends, or -1."""
    for byte in (113, 105, 100, 58):
        if text[i] != byte:
            return -1
        i += 1
    begin = i
    while 48 <= text[i] <= 57:
        i += 1
    return i if i > begin and _ends_word(text[i]) else -1


@compiled()
def _read_label(text, i, optional):
    """Read the label at i: its value, the first byte after it, FINE or MALFORMED or LONG."""
    value, after, code = decimal(text, i)
    if code != MALFORMED and _ends_word(text[after]):
        return value, after, code
    if optional and (text[after] == 58 or text[i] == 113):  # the line begins with a pair or a query
        return np.nan, i, FINE
    return 0.0, i, MALFORMED


@compiled()
def _read_pair(text, i, first, width):
    """Read index:value at i: column, value, where it ends, and FINE, MALFORMED or LONG."""
    begin, index = i, 0
    while 48 <= text[i] <= 57:
        index = index * 10 + np.int64(text[i]) - 48
        i += 1
    if i == begin or text[i] != 58:
        return 0, 0.0, begin, MALFORMED
    column = index - first
    if i - begin > MAX_DIGITS or column < 0 or column >= width:
        return 0, 0.0, begin, MALFORMED
    value, i, code = decimal(text, i + 1)
    return column, value, i, code if abs(value) < np.inf and _ends_word(text[i]) else MALFORMED


@compiled()
def _read_row(text, i, first, width, k, indices, values, long_numbers):
    """Read the pairs of a line from i on, as entries from k on; LONG values are noted.

    Returns where the line ends, the number of entries, and whether all pairs are fine.
    """
    while True:
        i, k = read_pairs(text, i, U(0), EVERY_BIT, U(first), U(first + width), 1.0, True, k, indices, values)
        while _is_blank(text[i]):
            i += 1
        if text[i] == 35:
            while text[i] != 10:
                i += 1
        if text[i] == 10:
            return i, k, True
        after = _after_query(text, i)
        if after >= 0:
            i = after
            continue
        column, value, after, code = _read_pair(text, i, first, width)
        if code == MALFORMED:
            return i, k, False
        if code == LONG:
            note_number(long_numbers, k, i, after)
        indices[k], values[k] = column, value
        k += 1
        i = after


@compiled()
def read_svmlight(text, start, first, width, optional, label, line, indptr, indices, values, long_numbers):
    """Read lines until the end or the first fault.

    Returns the rows so far; where the faulty piece begins, or the end of the text; and the number of its line.

    Parameters
    ----------
    text : uint8 array
        Whole lines: the last byte is a newline.
    start : (int, int, int)
        Where to begin: a byte at the start of a line, the number of that line, and the rows read so far.
    first, width : int
        Index of the first column, and the number of columns.
    optional : bool
        Whether a label may be missing; it is NaN then.
    label, line, indptr : arrays with a place for each line, and one more
        `line` receives the number of each row's line. `indptr` must hold the entries of the rows read so far.
    indices, values : arrays with a place for each four bytes of the text
    long_numbers : int array of shape (n, 3)
        With a place for each 18 bytes of the text, and one more; the first place counts the others.
    """
    i, number, row = start
    end, k = text.size, np.int64(indptr[row])
    while i < end:
        while _is_blank(text[i]):
            i += 1
        if text[i] != 10 and text[i] != 35:
            noted = long_numbers[0, 0]
            value, after, code = _read_label(text, i, optional)
            if code == MALFORMED or abs(value) == np.inf:
                return row, i, number
            if code == LONG:
                note_number(long_numbers, -1 - row, i, after)
            i, k, fine = _read_row(text, after, first, width, k, indices, values, long_numbers)
            if not fine:
                long_numbers[0, 0] = noted
                return row, i, number
            label[row], line[row] = value, number
            row += 1
            indptr[row] = k
        while text[i] != 10:
            i += 1
        i += 1
        number += 1
    return row, end, number


# ------------------------------------------------------------------------------------------------------------- parsing


def read_rows(text: Array, first: int, width: int, optional: bool, faults: LineFaults) -> Parsed:
    """Read lines of svmlight.

    The first of `width` columns has the index `first`. Labels may be missing if `optional`.
    """
    count = count_byte(text, 10)
    label, line = np.empty(count), np.empty(count, np.int32)
    # A long number has at least 18 bytes, and a pair 4 with the space before it.
    indptr, long_numbers = np.zeros(count + 1, np.int32), notes_room(text.size // 18 + 1)
    column, value = (np.empty(text.size // 4 + 1, dtype) for dtype in (np.int32, np.float64))
    arrays = (label, line, indptr, column, value, long_numbers)
    start = (0, 0, 0)
    while True:
        rows, place, number = read_svmlight(text, start, first, width, optional, *arrays)
        if place == text.size:
            break
        content = text.tobytes()
        begin, end = content.rfind(b"\n", 0, place) + 1, content.find(b"\n", place)
        faults.add(_describe(content[begin:end], number, (first, width, optional)))
        if faults.stop:
            break
        start = (end + 1, number + 1, rows)
    size = int(indptr[rows])
    piece = Piece(indptr[: rows + 1], value=value[:size], column=column[:size])
    label, line = label[:rows], line[:rows]
    if long_numbers[0, 0]:
        kept = _read_long(text, long_numbers, piece, label)
        faults.add_rows(np.flatnonzero(~kept), lambda row: LineFault(int(line[row]), "", TOO_LARGE.format("number")))
        if not kept.all():
            return Parsed(label[kept], count, line[kept], faults, [piece.of_rows(kept)])
    return Parsed(label, count, line, faults, [piece])


def _read_long(text: Array, long_numbers: Array, piece: Piece, label: Array) -> Array:
    """Read numbers of many digits by Python's float, in place, and return the rows in which none is too large."""
    kept = np.ones(label.size, bool)
    for place, begin, end in long_numbers[1 : 1 + long_numbers[0, 0]].tolist():
        number = float(text[begin:end].tobytes().rpartition(b":")[2])
        if place >= 0:
            assert piece.value is not None
            piece.value[place] = number
            row = int(np.searchsorted(piece.indptr, place, side="right")) - 1
        else:
            row = -1 - place
            label[row] = number
        kept[row] &= np.isfinite(number)
    return kept


def decide(reading: Reading, sample: Sample, opening: Opening) -> Reading:
    """Return how to read files that begin like a sample."""
    if opening.label_type == "text":
        raise InvalidInput("label_type='text' (--label-type): labels of svmlight are numbers. Leave it out.")
    zero_based = opening.zero_based
    if zero_based == "auto":
        zero_based = any(re.search(rb"\s0:", line.partition(b"#")[0]) for line in sample_lines(sample.content))
    return replace(reading, zero_based=bool(zero_based))


class SvmlightParser(Parser):
    """Parse rows of svmlight. Index i is column i, or i - 1 if indices count from 1."""

    options = ("label_type", "zero_based", "bits", "normalise")
    what = "svmlight, whose features have numbers"

    def parse(self, text: Array) -> Parsed:
        """Return the content of a block of whole lines."""
        first = 0 if self.reading.zero_based else 1
        parsed = read_rows(text, first, self.n_features, self.labels != "required", LineFaults(self.skip))
        if self.labels == "none":
            parsed.label.fill(np.nan)
        return parsed


def load_svmlight(
    path: FilePath, *, n_features: int | None = None, zero_based: bool | str = "auto"
) -> tuple[Any, Array]:
    """Read sparse rows from a file in the format of SVMlight and LIBSVM, plain or packed (gzip, bzip2, xz, zstd).

    Each line is ``label index:value index:value ...``, with indices in any order. Values of a repeated index are
    added up. Blank lines, comments from # on, and ``qid:`` are ignored.

    Parameters
    ----------
    path : path-like
    n_features : int, optional
        Number of columns; by default the largest index decides. Pass it if two files, such as training and test
        data, must agree.
    zero_based : bool or "auto", default "auto"
        Whether indices count from 0; otherwise from 1. "auto": from 1, unless an index 0 occurs.

    Returns
    -------
    X : CSR matrix of float64, of shape (n_samples, n_features)
        Indices in order and without repetition; int32 unless there are 2^31 values or more.
    y : float64 array of shape (n_samples,)

    Raises
    ------
    InvalidInput
        If a line is anything else; several labels, NaN and infinity are refused too. The message names the line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from rosenblatt.datasets import load_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.svm")
    ...     _ = path.write_text("+1 1:0.5 3:2 # a comment" + chr(10) + "-1 2:1")
    ...     X, y = load_svmlight(path)
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1.0, -1.0])
    """
    width = None if n_features is None else as_count("n_features", n_features)
    if width is not None and width > MAX_INT32:
        reject("n_features", n_features, f"at most {MAX_INT32}")
    if not (isinstance(zero_based, bool) or (isinstance(zero_based, str) and zero_based == "auto")):
        reject("zero_based", zero_based, 'True, False or "auto"')
    found: list[tuple[Any, ...]] = []
    first = 1
    for block in BlockReader(path, BLOCK_BYTES).blocks():
        faults = LineFaults(skip=False)
        rows = read_rows(block.text, 0, MAX_INT32, False, faults)
        if faults.stop:
            fault = faults.examples[0]
            raise InvalidInput(f"{path}, line {first + fault.line}: {fault.found}{fault.reason}")
        (piece,) = rows.pieces
        found.append((rows.label, rows.line + first, piece.column, piece.value, np.diff(piece.indptr)))
        first += rows.lines
    label, line, column, value, counts = (
        (np.concatenate(parts) for parts in zip(*found, strict=True)) if found else [np.empty(0)] * 5
    )
    if not label.size:
        raise InvalidInput(f"{path} has no rows. Pass a file with lines such as: +1 3:0.5 7:1")
    base = int(column.size > 0 and column.min() > 0) if zero_based == "auto" else int(not zero_based)
    if width is None:
        if not column.size:
            raise InvalidInput(f"{path} has no index:value at all. Pass n_features to say how many columns there are.")
        width = int(column.max()) - base + 1
    return _as_matrix((value, column, counts, line), base, width, path), label


def _as_matrix(parts: tuple[Array, ...], base: int, width: int, path: FilePath) -> Any:
    """Return a CSR matrix of the rows, whose first column has the number `base`."""
    values, index, counts, lines = parts
    indptr = np.concatenate([[0], np.cumsum(counts)])
    outside = np.flatnonzero((index < base) | (index >= width + base))
    if outside.size:
        line = lines[np.searchsorted(indptr, outside[0], side="right") - 1]
        raise InvalidInput(
            f"{path}, line {line}: index {index[outside[0]]} is not among {base} to {width + base - 1}. "
            "Correct the line, or n_features and zero_based."
        )
    X = sp.csr_matrix((values, index - np.int32(base), indptr), shape=(counts.size, width))
    X.sum_duplicates()
    if not np.isfinite(X.data).all():
        row = np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(X.data))[0], side="right") - 1
        raise InvalidInput(f"{path}, line {lines[row]}: the values of a repeated index add up to infinity. Scale them.")
    return X


def _describe(line: bytes, number: int, limits: tuple[int, int, bool]) -> LineFault:
    """Return the fault of a line."""
    first, width, optional = limits
    for place, token in enumerate(re.findall(rb"[^ \t\r]+", line.partition(b"#")[0])):
        index, colon, value = token.partition(b":")
        own = place == 0 and not (optional and colon)
        if re.fullmatch(rb"qid:[0-9]+", token) and not own:
            continue
        found = reprlib.repr(token.decode("latin-1"))
        if fault := _token_fault(token, label=own):
            return LineFault(number, found, " " + fault)
        if not np.isfinite(float(value if colon else index)):
            return LineFault(number, "", TOO_LARGE.format("value" if colon else "label"))
        if colon and (len(index) > MAX_DIGITS or not first <= int(index) < first + width):
            return _outside(number, index.decode(), first, width)
    raise AssertionError("a line was refused that has no fault")


def _outside(number: int, index: str, first: int, width: int) -> LineFault:
    found = f"index {reprlib.repr(index)[1:-1]}"
    if width == MAX_INT32:
        remedy = "Number the features from 1, or hash them into fewer columns."
        return LineFault(number, "", f"{found} is not below {MAX_INT32}. {remedy}")
    wanted = int(index[-MAX_DIGITS:]) - first
    remedy = "pass zero_based=True" if wanted < 0 else f"pass bits={wanted.bit_length()}"
    if wanted >= MAX_INT32 or len(index) > MAX_DIGITS:
        remedy = "number the features from 1"
    return LineFault(number, "", f"{found} is not among {first} to {first + width - 1}. Correct the line, or {remedy}.")


def _token_fault(token: bytes, label: bool) -> str:
    """Return the fault of a token and its remedy, or an empty text."""
    index, colon, value = token.partition(b":")
    if label:
        if re.fullmatch(NUMBER, token):
            return ""
        if b"," in token:
            return "looks like several labels. Give one for each line, as a number."
        if colon:
            return "is there instead of a label. Start each line with its label, as in: +1 3:0.5 7:1"
        return "is not a label. Use finite numbers, as in: +1 3:0.5 7:1"
    if not colon:
        return "is not index:value. Write rows as in: +1 3:0.5 7:1"
    if index == b"qid":
        return "is not a query in the form qid:7. Correct or remove it."
    if not index.isdigit():
        return "has an index that is not a whole number from 0. Number the features from 1, or from 0."
    if not re.fullmatch(NUMBER, value):
        return "has a value that is not a finite number. Correct it, or leave it out if it is not known."
    return ""


# ------------------------------------------------------------------------------------------------------------- writing


def write(output: Output, rows: FeatureRows) -> None:
    """Write rows, and the names of their features to a second file."""
    source, weights = rows.source, False
    classes: dict[str, int] = {}
    place: dict[str, int] = {}  # of a name, from 1
    for row in rows:
        label = row.label_text or "0"
        if isinstance(row.label, str):
            label = str(classes.setdefault(row.label, len(classes)))
        weights |= row.weight != 1.0
        if not rows.numbered and any(name not in place for name, _ in row.features):
            place = {name: k for k, name in enumerate(source.names, 1)}
        output.write_row(label + _pairs(row, place))
    if source.reading.label_type == "text":
        output.notes.append(
            "Labels are texts, which svmlight does not hold: they were numbered in the order of appearance."
        )
    if weights:
        output.notes.append("Weights were left out: svmlight does not hold them.")
    if classes:
        output.notes.append(f"Labels: {', '.join(f'{k} is {text}' for text, k in classes.items())[:500]}.")
    path = os.fspath(output.path)
    if not rows.numbered and path != STANDARD_INPUT:
        with open_output(f"{path}.names") as beside:
            beside.file.writelines(one_line(name) + "\n" for name in source.names)
        output.notes.append(f"Names of the features are in {path}.names, one on each line, from index 1.")


def _pairs(row: FeatureRow, place: dict[str, int]) -> str:
    """Return the features of a row as text: by their numbers, or by the places of their names."""
    pairs = sorted((place[name], value) for name, value in row.features) if place else row.features
    return "".join(f" {index}:{short_number(value)}" for index, value in pairs)


SVMLIGHT = Format(
    name="svmlight",
    kind="features",
    endings=(".svm", ".svmlight", ".libsvm"),
    rank=20,
    matches=looks_like_svmlight,
    row="`+1 qid:3 1:0.5 7:2 # comment`",
    label="a number first",
    refused="indices beyond 2^bits; NaN, infinity",
    numbered=True,
    parser=SvmlightParser,
    decide=decide,
    write=write,
)
