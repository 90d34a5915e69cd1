"""Sparse rows in the format of SVMlight and LIBSVM."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.errors import InvalidInput
from rosenblatt.files.arguments import as_count, reject
from rosenblatt.files.source import FilePath, line_blocks, open_unpacked

Array = npt.NDArray[Any]

MAX_INT32 = 2**31 - 1

NUMBER = rb"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
COMMENT = re.compile(rb"#[^\n]*")
QUERY = re.compile(rb"(?<=[ \t])qid:[0-9]+(?=[ \t\r\n])")
# A space before something that is neither a number, nor index:number, nor space, nor the end. Without nested
# repetitions the search needs no memory, however long the line.
FAULT = re.compile(rb"[ \t\r\n](?!(?:[0-9]+:)?" + NUMBER + rb"[ \t\r\n]|[ \t\r\n]|\Z)")
NO_LABEL = re.compile(rb"\n[ \t\r]*[0-9]+:")


def load_svmlight(
    path: FilePath, *, n_features: int | None = None, zero_based: bool | str = "auto"
) -> tuple[Any, Array]:
    """Read sparse rows from a file in the format of SVMlight and LIBSVM, plain or gzip.

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
        blocks = [_parse(block, first, path) for first, block in line_blocks(stream, path)]
    rows = _Rows(*map(np.concatenate, zip(*blocks, strict=True)))
    if not rows.y.size:
        raise InvalidInput(f"{path} has no rows. Pass a file with lines such as: +1 3:0.5 7:1")
    base = _base(rows.feature, zero_based)
    if width is None:
        if not rows.feature.size:
            raise InvalidInput(f"{path} has no index:value at all. Pass n_features to say how many columns there are.")
        width = int(rows.feature.max()) - base + 1
    return _as_matrix(rows, base, width, path), rows.y


def iterate_svmlight(path: FilePath, *, n_features: int, zero_based: bool = False) -> Iterator[tuple[Any, Array]]:
    """Yield the rows of a file in blocks, for files larger than memory.

    Parameters
    ----------
    path : path-like
    n_features : int
        Number of columns, which no block can know for the whole file.
    zero_based : bool, default False
        Whether indices count from 0; otherwise from 1.

    Yields
    ------
    X, y : as `load_svmlight` returns them, at least one row each
    """
    width = _as_width(n_features)
    with open_unpacked(path) as (stream, _):
        for first, block in line_blocks(stream, path):
            rows = _parse(block, first, path)
            if rows.y.size:
                yield _as_matrix(rows, 0 if zero_based else 1, width, path), rows.y


def _as_width(n_features: Any) -> int:
    width = as_count("n_features", n_features)
    if width > MAX_INT32:
        reject("n_features", n_features, f"at most {MAX_INT32}")
    return width


def _as_matrix(rows: _Rows, base: int, width: int, path: FilePath) -> Any:
    """Return a CSR matrix of the rows, whose first column has the number `base`."""
    y, values, index, counts, lines = rows
    indptr = np.concatenate([[0], np.cumsum(counts)])
    outside = np.flatnonzero((index < base) | (index >= width + base))
    if outside.size:
        line = lines[np.searchsorted(indptr, outside[0], side="right") - 1]
        raise InvalidInput(
            f"{path}, line {line}: index {index[outside[0]]} is not among {base} to {width + base - 1}. "
            "Correct the line, or n_features and zero_based."
        )
    X = sp.csr_matrix((values, index - np.int32(base), indptr), shape=(y.size, width))
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


class _Rows(NamedTuple):
    """What a block of lines says; `counts[i]` of the pairs `feature`, `values` belong to row i, on line `lines[i]`."""

    y: Array
    values: Array
    feature: Array
    counts: Array
    lines: Array


def _parse(block: bytes, first: int, path: FilePath) -> _Rows:
    text = b"\n" + block
    if b"#" in text:
        text = COMMENT.sub(b"", text)
    if b"qid:" in text:
        text = QUERY.sub(b"", text)
    if fault := FAULT.search(text):
        raise _fault(text, fault.end(), first, path)
    code = np.frombuffer(text, np.uint8)
    printed = code > 32
    starts = np.flatnonzero(code[:-1] == 10) + 1  # of lines
    begins = printed & ~np.concatenate([[False], printed[:-1]])
    tokens = np.add.reduceat(begins, starts, dtype=np.int64)
    pairs = np.add.reduceat(code == 58, starts, dtype=np.int64)
    # All that is printed is a number or a pair by now. A line of pairs and one number, where no pair comes first,
    # is a label and its row.
    filled = tokens > 0
    wrong = np.flatnonzero(filled & (tokens != pairs + 1))
    where = int(starts[wrong[0]]) if wrong.size else len(text)
    if early := NO_LABEL.search(text, 0, where):
        where = early.end()
    if where < len(text):
        raise _fault(text, where, first, path)
    counts = pairs[filled]
    # fromstring makes up a number where there is none.
    numbers = np.fromstring(text.replace(b":", b" "), sep=" ") if counts.size else np.empty(0)
    heads = np.arange(counts.size) + 2 * (np.cumsum(counts) - counts)
    y, features = numbers[heads], np.delete(numbers, heads)
    index, values = features[::2], features[1::2]
    lines = np.flatnonzero(filled) + first
    _check_numbers(y, values, index, counts, lines, path)
    return _Rows(y, np.ascontiguousarray(values), index.astype(np.int32), counts, lines)


def _check_numbers(y: Array, values: Array, index: Array, counts: Array, lines: Array, path: FilePath) -> None:
    """Raise `InvalidInput` for what has the form of a number but is too large to be one."""
    owner = np.repeat(lines, counts)
    for numbers, own, what in ((y, lines, "label"), (values, owner, "value")):
        infinite = np.flatnonzero(~np.isfinite(numbers))
        if infinite.size:
            raise InvalidInput(f"{path}, line {own[infinite[0]]}: a {what} is too large for float64. Scale the data.")
    huge = np.flatnonzero(index >= MAX_INT32)
    if huge.size:
        raise InvalidInput(
            f"{path}, line {owner[huge[0]]}: index {index[huge[0]]:.0f} is not below {MAX_INT32}. "
            "Number the features anew, or hash them into fewer columns."
        )


def _fault(text: bytes, position: int, first: int, path: FilePath) -> InvalidInput:
    """Return what is wrong in the line at a position of a text that has one newline too many in front."""
    start, end = text.rfind(b"\n", 0, position) + 1, text.find(b"\n", position)
    line = first - 1 + text.count(b"\n", 0, position)
    for place, token in enumerate(re.finditer(rb"[^ \t\r]+", text[start:end])):
        if fault := _token_fault(token[0], label=place == 0):
            found = reprlib.repr(token[0].decode("latin-1"))
            return InvalidInput(f"{path}, line {line}: {found} {fault}")
    raise AssertionError("a line was refused that has no fault")


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
