"""Tables of any real numbers without rounding: integers of any size, Fractions, Decimals, long doubles, floats.

float64 holds most data exactly. If it does not, the table has the rounded values, which guide a search, and the exact
values, which decide.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.matrices import as_csr, sp, unmasked
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.text import short_repr

Array = npt.NDArray[Any]

CATEGORIES = 'Pass a data frame with formula="y ~ column" for categories, or one-hot encode them.'

# float64 holds all integers up to this size.
LARGEST_SAFE_INTEGER = 1 << 53


def exact_table(X: Any, *, decimal: bool = False) -> Table:
    """Validate X and return its rows, with their exact values if float64 would round one of them.

    With `decimal` a float is the shortest decimal that rounds to it in its own precision, so that 0.1 is one tenth.

    Raises
    ------
    InvalidInput
        If X is not a finite real matrix, or has text or a number outside the range of float64.

    Examples
    --------
    >>> exact_table([[2**53 + 1, 0.5]]).exact.tolist()
    [[9007199254740993, Fraction(1, 2)]]
    >>> exact_table([[3, 0.5]]).exact is None
    True
    """
    if sp.issparse(X):
        return _sparse_table(as_csr(X), decimal)
    columns = _frame_columns(X)
    if columns is None:
        return _joined(*_read(_array(X, decimal), decimal))
    parts = [_read(column, decimal) for column in columns]
    if all(exact is None for _, exact in parts):
        return as_table(np.column_stack([rounded for rounded, _ in parts]) if decimal else X)
    whole = [rounded if exact is None else exact for rounded, exact in parts]
    return _joined(*_read(np.column_stack([column.astype(object) for column in whole]), decimal))


def some_rows(table: Table, index: Array, *, decimal: bool = False) -> Table:
    """Copy some rows as `exact_table` would read them alone: without exact values if float64 holds these rows."""
    part = table.take(index)
    if part.exact is None or _read_objects(part.exact.astype(object), decimal)[1] is not None:
        return part
    return replace(part, exact=None)


def _joined(rounded: Any, exact: Array | None) -> Table:
    table = as_table(rounded)
    return table if exact is None else table.with_exact(exact)


def _sparse_table(X: Any, decimal: bool) -> Table:
    if X.dtype.kind == "f" and X.dtype.itemsize in (4, 8) and not (decimal and X.dtype.itemsize == 4):
        return as_table(X)
    try:
        matrix = X.copy()
    except ValueError as error:  # scipy does not support the type of the values
        raise InvalidInput(f"X is a sparse matrix of dtype {X.dtype} ({error}). Pass an array.") from None
    as_table(sp.csr_array((np.ones(matrix.data.size), matrix.indices, matrix.indptr), shape=matrix.shape))
    matrix.sum_duplicates()
    rounded, exact = _read(matrix.data, decimal)
    return _joined(sp.csr_array((rounded, matrix.indices, matrix.indptr), shape=matrix.shape), exact)


def _frame_columns(X: Any) -> list[Array] | None:
    """Return the columns of a pandas or polars frame, each with its own dtype; None for anything else."""
    if hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:
        return [np.asarray(X.iloc[:, j]) for j in range(X.shape[1])] or None
    if hasattr(X, "get_columns"):
        return [np.asarray(column) for column in X.get_columns()] or None
    return None


def _array(X: Any, decimal: bool) -> Array:
    """Return X as an array; of objects if NumPy would round a list of mixed numbers, or lose their precisions."""
    try:
        values = np.asarray(unmasked(X))
    except ValueError as error:
        raise InvalidInput(f"X cannot be read as a table of numbers: {error}. Pass rows of one length.") from None
    if hasattr(X, "dtype") or values.dtype.kind != "f":
        return values
    if values.ndim != 2:
        return values  # rejected later
    large = (np.abs(values) >= LARGEST_SAFE_INTEGER).any()
    known = float if values.dtype == np.float64 else values.dtype.type
    mixed = decimal and any(not isinstance(v, known) for row in X for v in row)
    return np.array([list(row) for row in X], object) if large or mixed else values


def _read(values: Array, decimal: bool) -> tuple[Array, Array | None]:
    """Return values for `as_table`, and the exact values if these are rounded."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind in "US":
        raise _text(str(values.ravel()[0]) if values.size else "")
    if kind in "iu":
        large = values[(values > LARGEST_SAFE_INTEGER) | (values < -LARGEST_SAFE_INTEGER)]
        rounded = values.astype(np.float64)
        held = all(_shown(float(v), decimal) == v for v in large.tolist())
        return rounded, None if held else values
    if kind == "f" and decimal and size < 8:
        return values.astype(str).astype(np.float64), None
    if kind == "O" or (kind == "f" and size > 8):
        return _read_objects(values, decimal)
    return values, None


def _read_objects(values: Array, decimal: bool) -> tuple[Array, Array | None]:
    exact, rounded = np.empty(values.shape, object), np.empty(values.shape)
    same = True
    for place, value in enumerate(values.ravel().tolist() if values.dtype == object else values.ravel()):
        number = _rational(value, decimal, place // values.shape[-1] if values.ndim == 2 else place)
        exact.flat[place] = number
        rounded.flat[place] = near = _nearest(number)
        same = same and _shown(near, decimal) == number
    return rounded, None if same else exact


def _shown(value: float, decimal: bool) -> Fraction:
    """Return the number that a float stands for."""
    return Fraction(repr(value)) if decimal else Fraction(value)


def _nearest(number: int | Fraction) -> float:
    """Return the nearest float; raise an error if that is infinite, or zero for another number."""
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if value in (math.inf, -math.inf) or (value == 0) != (number == 0):
        size = "large" if value else "small"
        raise InvalidInput(f"X has a number too {size} for float64, which the search needs. Scale its column.")
    return value


def _rational(value: Any, decimal: bool, row: int) -> int | Fraction:
    """Return a number as an integer or a Fraction."""
    if isinstance(value, str | bytes):
        raise _text(value)
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, float | np.floating | Decimal):
        raise InvalidInput(
            f"X has {value!r} in row {row}, of type {type(value).__name__}, which cannot be read as an exact number. "
            "Pass integers, floats, Fractions or Decimals."
        )
    if not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "infinity"
        raise InvalidInput(f"Input X contains {name} (row {row}). Remove such rows or fill them in.")
    if isinstance(value, Decimal):
        if value and abs(value.adjusted()) >= 300:  # before a Fraction of it, which may have any number of digits
            _nearest(Fraction(10) ** max(-400, min(400, value.adjusted())))
        return Fraction(value)
    return Fraction(str(value)) if decimal else Fraction(*value.as_integer_ratio())


def _text(value: Any) -> InvalidInput:
    try:
        float(value)
    except ValueError:
        return InvalidInput(f"X has text, as {short_repr(value)}, where numbers belong. {CATEGORIES}")
    return InvalidInput(
        f"X has text, as {value!r}, where numbers belong: it could mean a float or a decimal. Convert it to floats "
        "with astype(float), or to decimal.Decimal to keep every digit."
    )
