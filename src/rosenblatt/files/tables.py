"""What tables have in common, in whatever format: kinds of columns, which one is the label, numbers scaled on line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.fields import scale_rows
from rosenblatt.data.numbers import is_whole
from rosenblatt.errors import InvalidInput
from rosenblatt.files.arguments import reject
from rosenblatt.files.features import ONE_GROUP, Piece, murmur, to_bytes
from rosenblatt.files.options import KINDS, Column, Reading
from rosenblatt.files.sniffing import WORDS_OF_TEXT

Array = npt.NDArray[Any]

LABEL_NAMES = ("label", "y", "class", "target")
NO_FEATURES = "The table has no column but the label. Pass a file with features, or another label."


def label_column(names: Sequence[str], wanted: str | int | None, labels: str) -> int | None:
    """Return the number of the column that has the labels; None if there is none."""
    if wanted is None:
        if labels == "none":
            return None
        lower = [name.strip().lower() for name in names]
        found = next((lower.index(name) for name in LABEL_NAMES if name in lower), len(names) - 1)
        return found
    number = column_number(names, wanted, "label")
    if number is None and labels != "required":
        return None
    if number is None:
        reject("label", wanted, f"the name or the position of a column, such as {names[-1]!r}")
    return number


def column_number(names: Sequence[str], wanted: str | int, argument: str) -> int | None:
    """Return the number of a column by its name or position; None if there is no such name."""
    if isinstance(wanted, str):
        return names.index(wanted) if wanted in names else None
    if not is_whole(wanted) or not -len(names) <= wanted < len(names):
        reject(argument, wanted, f"the name of a column or a position from {-len(names)} to {len(names) - 1}")
    return int(wanted) % len(names)


def decide_columns(
    reading: Reading, names: Sequence[str], kinds: Sequence[str], label: int | None, wanted: Mapping[str | int, str]
) -> Reading:
    """Return the reading with its columns: what users say of them, and what their content shows.

    Parameters
    ----------
    reading : Reading
    names, kinds : sequences of str
        Of all columns, the kinds by content.
    label : int, or None
        Number of the column of labels.
    wanted : mapping
        What users say.
    """
    kinds = list(kinds)
    for which, kind in wanted.items():
        number = column_number(names, which, "columns")
        if number is None:
            reject("columns", which, f"names of columns, such as {names[0]!r}")
        if kind not in KINDS:
            reject("columns", kind, f"one of {', '.join(KINDS)}")
        kinds[number] = kind
    if label is not None:
        kinds[label] = "label"
    if not set(kinds) & {"number", "category", "text"}:
        raise InvalidInput(NO_FEATURES)
    columns = tuple(Column(name, kind) for name, kind in zip(names, kinds, strict=True))
    features = {kind for kind in kinds if kind in ("number", "category", "text")}
    return replace(reading, columns=columns, normalise=features == {"text"})


def kind_of(values: Sequence[str | float | None]) -> str:
    """Return what a column is, by some of its values: numbers are floats, and what is missing is None."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, float) for value in known):
        return "number"
    words = sum(len(str(value).split()) for value in known)
    return "text" if words >= WORDS_OF_TEXT * len(known) else "category"


# ------------------------------------------------------------------------------------------------------------ scaling


class Scaling(NamedTuple):
    """Means and standard deviations of columns of numbers."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]


class Scaler:
    """Scale numbers on line: by means and deviations of the rows so far, or by given ones.

    Parameters
    ----------
    columns : int
        How many.
    scaling : Scaling, optional
        The given ones.
    """

    def __init__(self, columns: int, scaling: Scaling | None = None) -> None:
        self.given = scaling
        if scaling is not None and (len(scaling[0]) != columns or len(scaling[1]) != columns):
            reject("scaling", scaling, f"the means and the deviations of {columns} columns")
        self.count, self.mean, self.squares = np.zeros((3, columns))

    def scaled(self, X: Array) -> Array:
        """Return rows scaled. NaN, which stands for what is missing, becomes 0: the mean."""
        missing = np.isnan(X)
        if self.given is not None:
            mean, deviation = (np.asarray(part, np.float64) for part in self.given)
            with np.errstate(divide="ignore", invalid="ignore"):
                out = np.where(deviation > 0, (X - mean) / deviation, 0.0)
            return np.ascontiguousarray(np.where(missing, 0.0, out))
        out = np.empty_like(X)
        scale_rows(X, missing, self.count, self.mean, self.squares, out)
        return out

    def scaling(self) -> Scaling:
        """Return means and deviations of all rows so far."""
        if self.given is not None:
            return self.given
        deviation = np.sqrt(self.squares / np.maximum(self.count, 1.0))
        return Scaling(tuple(self.mean.tolist()), tuple(deviation.tolist()))


# ------------------------------------------------------------------------------------------------------------- pieces


def number_piece(name: str, values: Array) -> Piece:
    """Return the entries of a column of numbers: one for each row in which it is not missing and not zero."""
    present = np.flatnonzero(~np.isnan(values) & (values != 0.0))
    encoded = to_bytes(name)
    indptr = np.zeros(values.size + 1, np.int32)
    np.cumsum(~np.isnan(values) & (values != 0.0), out=indptr[1:])
    start = np.zeros(present.size, np.int32)
    end = np.full(present.size, len(encoded), np.int32)
    text = np.frombuffer(encoded + b"\n", np.uint8)
    return Piece(indptr, text, start, end, ONE_GROUP, (b"",), np.zeros(1, np.uint32), values[present].copy())


def category_piece(name: str, text: Array, start: Array, end: Array) -> Piece:
    """Return the entries of a column of categories, name=value: one for each row whose span is not empty."""
    present = end > start
    encoded = to_bytes(name)
    indptr = np.zeros(start.size + 1, np.int32)
    np.cumsum(present, out=indptr[1:])
    begin, stop = start[present].astype(np.int32), end[present].astype(np.int32)
    seed = np.array([murmur(encoded)], np.uint32)
    return Piece(indptr, text, begin, stop, ONE_GROUP, (encoded + b"=",), seed, np.ones(begin.size))


def joined_texts(values: Sequence[bytes]) -> tuple[Array, Array, Array]:
    """Return texts as one, with a newline after each, and where each begins and ends."""
    sizes = np.array([len(value) for value in values], np.int64)
    end = np.cumsum(sizes + 1) - 1
    return np.frombuffer(b"\n".join([*values, b""]) or b"\n", np.uint8), end - sizes, end
