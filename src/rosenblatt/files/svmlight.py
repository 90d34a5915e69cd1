"""Sparse rows in the format of SVMlight and LIBSVM."""

from __future__ import annotations

import re
import reprlib
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.sparse import sp
from rosenblatt.errors import InvalidInput
from rosenblatt.files import features
from rosenblatt.files.arguments import as_count, reject
from rosenblatt.files.decimals import MAX_DIGITS, NO_FAULT, read_svmlight
from rosenblatt.files.entries import normalise_rows
from rosenblatt.files.features import Entries
from rosenblatt.files.options import Reading
from rosenblatt.files.parsing import Fault, Faults, Parsed, Parser, count_byte, noted
from rosenblatt.files.sniffing import Sample, sample_lines
from rosenblatt.files.source import FilePath, line_blocks, open_unpacked

Array = npt.NDArray[Any]

MAX_INT32 = 2**31 - 1
BYTES_PER_PAIR = 4  # at least, with the space before it
BYTES_PER_LONG_NUMBER = 18

TOO_LARGE = "a {} is too large for float64. Scale the data."
NUMBER = rb"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"


class Rows(NamedTuple):
    """What a text says: labels, sparse rows, the number of each row's line from 0, and whether columns rise."""

    label: Array
    line: Array
    indptr: Array
    column: Array
    value: Array
    lines: int
    rising: bool


def read_rows(text: Array, first: int, width: int, optional: bool, faults: Faults) -> Rows:
    """Read lines of svmlight.

    Parameters
    ----------
    text : uint8 array
        Whole lines.
    first, width : int
        Index of the first column, number of columns.
    optional : bool
        Whether labels may be missing.
    faults : Faults
        Receives what is wrong.
    """
    count = count_byte(text, 10)
    label, line = np.empty(count), np.empty(count, np.int32)
    indptr, long_numbers = np.zeros(count + 1, np.int32), noted(text.size // BYTES_PER_LONG_NUMBER + 1)
    column, value = (np.empty(text.size // BYTES_PER_PAIR + 1, dtype) for dtype in (np.int32, np.float64))
    arrays = (label, line, indptr, column, value, long_numbers)
    start, rising = (0, 0, 0), True
    while True:
        rows, place, number, fault, rises = read_svmlight(text, start, first, width, optional, *arrays)
        rising &= rises
        if fault == NO_FAULT:
            break
        begin, end = _line_around(text, place)
        faults.add(_describe(text[begin:end].tobytes(), number, (first, width, optional)))
        if faults.stop:
            break
        start = (end + 1, number + 1, rows)
    size = int(indptr[rows])
    found = Rows(label[:rows], line[:rows], indptr[: rows + 1], column[:size], value[:size], count, rising)
    if long_numbers[0, 0]:
        infinite = _read_long(text, long_numbers, found)
        faults.add_rows(infinite, lambda row: Fault(int(line[row]), "", TOO_LARGE.format("number")))
        found = _without(found, infinite) if infinite.size else found
    return found


def _line_around(text: Array, place: int) -> tuple[int, int]:
    content = text.tobytes()
    return content.rfind(b"\n", 0, place) + 1, content.find(b"\n", place)


def _read_long(text: Array, long_numbers: Array, found: Rows) -> Array:
    """Read numbers of many digits by Python's float, and return the rows in which one is too large."""
    infinite = set()
    for place, begin, end in long_numbers[1 : 1 + long_numbers[0, 0]].tolist():
        number = float(text[begin:end].tobytes().partition(b":")[2] if place >= 0 else text[begin:end].tobytes())
        if place >= 0:
            found.value[place] = number
            row = int(np.searchsorted(found.indptr, place, side="right")) - 1
        else:
            row = -1 - place
            found.label[row] = number
        if not np.isfinite(number):
            infinite.add(row)
    return np.array(sorted(infinite), np.int64)


def _without(rows: Rows, refused: Array) -> Rows:
    """Return all rows but some."""
    kept = np.ones(rows.label.size, bool)
    kept[refused] = False
    counts = np.diff(rows.indptr)
    entries = np.repeat(kept, counts)
    indptr = np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.int32)
    return Rows(
        rows.label[kept], rows.line[kept], indptr, rows.column[entries], rows.value[entries], rows.lines, rows.rising
    )


def added_up(rows: Rows, bits: int) -> Entries:
    """Return rows with columns in order, values of repeated ones added up."""
    entries = Entries(rows.indptr, rows.column, rows.value)
    return entries if rows.rising else features.added_up(entries, bits)


def decide(reading: Reading, sample: Sample, opening: Any) -> Reading:
    """Return how such a file is to be read."""
    if opening.label_type == "text":
        raise InvalidInput("label_type='text' (--label-type): labels of svmlight are numbers. Leave it out.")
    zero_based = opening.zero_based
    if zero_based == "auto":
        zero_based = any(re.search(rb"\s0:", line.partition(b"#")[0]) for line in sample_lines(sample.content))
    return replace(reading, zero_based=zero_based)


class SvmlightParser(Parser):
    """Rows of svmlight. Index i is column i, or i - 1 if indices count from 1."""

    options = ("label_type", "zero_based", "bits", "normalise")
    what = "svmlight, whose features have numbers"

    def parse(self, text: Array) -> Parsed:
        """Return what a block of whole lines says."""
        faults = Faults(self.skip)
        first = 0 if self.reading.zero_based else 1
        rows = read_rows(text, first, self.n_features, self.labels != "required", faults)
        entries = added_up(rows, self.reading.features.bits)
        if self.reading.normalise:
            normalise_rows(entries.indptr, entries.value)
        label = np.full(rows.label.size, np.nan) if self.labels == "none" else rows.label
        return Parsed(label, rows.lines, rows.line, faults, entries)


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
        Number of columns; by default as many as the largest index needs. Give it where two files, such as training
        and test data, must agree.
    zero_based : bool or "auto", default "auto"
        Whether indices count from 0; otherwise from 1. "auto": from 1, unless an index 0 occurs.

    Returns
    -------
    X : CSR matrix of float64, of shape (n_samples, n_features)
        Indices in order, none repeated, int32 unless there are 2^31 values or more.
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
    width = None if n_features is None else _as_width(n_features)
    if not (isinstance(zero_based, bool) or (isinstance(zero_based, str) and zero_based == "auto")):
        reject("zero_based", zero_based, 'True, False or "auto"')
    with open_unpacked(path) as (stream, _):
        blocks = [_read(block, first, path) for first, block in line_blocks(stream, path)]
    label, line, column, value = (np.concatenate(parts) for parts in list(zip(*blocks, strict=True))[:4])
    counts = np.concatenate([block[4] for block in blocks])
    if not label.size:
        raise InvalidInput(f"{path} has no rows. Pass a file with lines such as: +1 3:0.5 7:1")
    base = _base(column, zero_based)
    if width is None:
        if not column.size:
            raise InvalidInput(f"{path} has no index:value at all. Pass n_features to say how many columns there are.")
        width = int(column.max()) - base + 1
    return _as_matrix((value, column, counts, line), base, width, path), label


def _read(block: bytes, first: int, path: FilePath) -> tuple[Array, ...]:
    faults = Faults(skip=False)
    rows = read_rows(np.frombuffer(block, np.uint8), 0, MAX_INT32, False, faults)
    if faults.stop:
        fault = faults.examples[0]
        raise InvalidInput(f"{path}, line {first + fault.line}: {fault.found}{fault.reason}")
    return rows.label, rows.line + first, rows.column, rows.value, np.diff(rows.indptr)


def _as_width(n_features: Any) -> int:
    width = as_count("n_features", n_features)
    if width > MAX_INT32:
        reject("n_features", n_features, f"at most {MAX_INT32}")
    return width


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


def _base(index: Array, zero_based: bool | str) -> int:
    """Return the number of the first column."""
    if zero_based == "auto":
        return int(index.size > 0 and index.min() > 0)
    return 0 if zero_based else 1


def _describe(line: bytes, number: int, limits: tuple[int, int, bool]) -> Fault:
    """Return what is wrong in a line, with the number of that line."""
    first, width, optional = limits
    for place, token in enumerate(re.findall(rb"[^ \t\r]+", line.partition(b"#")[0])):
        index, colon, value = token.partition(b":")
        own = place == 0 and not (optional and colon)
        if re.fullmatch(rb"qid:[0-9]+", token) and not own:
            continue
        found = reprlib.repr(token.decode("latin-1"))
        if fault := _token_fault(token, label=own):
            return Fault(number, found, " " + fault)
        if not np.isfinite(float(value if colon else index)):
            return Fault(number, "", TOO_LARGE.format("value" if colon else "label"))
        if colon and (len(index) > MAX_DIGITS or not first <= int(index) < first + width):
            return _outside(number, index.decode(), first, width)
    raise AssertionError("a line was refused that has no fault")


def _outside(number: int, index: str, first: int, width: int) -> Fault:
    found = f"index {reprlib.repr(index)[1:-1]}"
    if width == MAX_INT32:
        remedy = "Number the features anew, or hash them into fewer columns."
        return Fault(number, "", f"{found} is not below {MAX_INT32}. {remedy}")
    wanted = int(index[-MAX_DIGITS:]) - first
    remedy = "pass zero_based=True" if wanted < 0 else f"pass bits={wanted.bit_length()}"
    if wanted >= MAX_INT32 or len(index) > MAX_DIGITS:
        remedy = "number the features anew"
    return Fault(number, "", f"{found} is not among {first} to {first + width - 1}. Correct the line, or {remedy}.")


def _token_fault(token: bytes, label: bool) -> str:
    """Return what is wrong with a token and what to do, or an empty text."""
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
