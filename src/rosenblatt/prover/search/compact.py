"""Signed rows as a search likes them: without empty columns, and moved and scaled where floats would lose their digits.

None of this changes whether rows are separable, or which sums of signed rows vanish: w.x + b = w'.x' + b' with
x' = factor (x - centre). Weights go back without rounding.
"""

from __future__ import annotations

import math
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table, as_table
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.prover.exact.rational import as_integers, primitive
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.witness import Witness, counts_to_multipliers, multipliers_to_counts

Array = npt.NDArray[Any]

# Share of the columns of dense rows that must be empty to be worth a copy of the others.
EMPTY_SHARE = 0.25
# Entries up to which sparse rows are made dense, so that they can be moved.
DENSE_MAX_ENTRIES = 1 << 14
# Columns are moved if they are farther from zero than this many times their spread.
FAR_FROM_ZERO = 1 << 16
# Rows that are looked at first, to see whether columns are empty or far from zero.
SAMPLE_ROWS = 512
# Factors of a column have at most so many bits.
FACTOR_BITS = 64


class CompactRows:
    """Signed rows in coordinates that suit a search, and the way back.

    Parameters
    ----------
    signed : SignedRows
    moved, scaled : bool
        Whether columns may be moved, which changes the lengths of rows; and multiplied, which changes distances too.
    columns : sorted int array, optional
        The features to keep, as they are. By default those that are not empty.

    Attributes
    ----------
    signed : SignedRows
        The same samples and classes: the signed rows have the same numbers.
    same : bool
        Whether nothing was changed.
    """

    def __init__(
        self, signed: SignedRows, *, moved: bool = True, scaled: bool = True, columns: Array | None = None
    ) -> None:
        self.width, self.features = signed.width, signed.features
        table = signed.table
        self.columns = _used(table) if columns is None else columns
        moved = moved and columns is None
        if self.columns.size < self.features:
            table = _restricted(table, self.columns)
        if moved:
            table = _dense(table)
        self.centre: list[Any] = [0] * self.columns.size
        self.factor = [1] * self.columns.size
        if not moved or not isinstance(table.rows, Dense):
            pass
        elif table.exact is not None:
            table = self._move_exactly(table, scaled)
        elif not signed.decimal and table.dtype == np.float64:
            table = self._move_floats(table)
        self.moved = any(self.centre) or max(self.factor) > 1
        self.same = table is signed.table
        self.signed = signed
        if not self.same:
            self.signed = SignedRows(table, signed.label, signed.classes, decimal=signed.decimal)

    def to_weights(self, w: Any) -> Any:
        """Return the weights of the original rows, up to a positive factor: integers where rows were moved."""
        size, features = len(self.columns) + 1, self.features + 1
        if self.same:
            return w
        if isinstance(w, np.ndarray) and not self.moved:
            placed = np.zeros((self.width // features, features))
            placed[:, np.append(self.columns, self.features)] = w.reshape(-1, size)
            return placed.ravel()
        integers = as_integers(w)[0] if isinstance(w, np.ndarray) else list(w)
        common = math.lcm(*(Fraction(c).denominator for c in self.centre))
        centre = [int(c * common) for c in self.centre]
        out = [0] * self.width
        for block in range(self.width // features):
            *weights, bias = integers[block * size : (block + 1) * size]
            scaled = list(map(mul, weights, self.factor))
            for j, value in zip(self.columns.tolist(), scaled, strict=True):
                out[block * features + j] = value * common
            out[(block + 1) * features - 1] = bias * common - sum(map(mul, scaled, centre))
        return primitive(out)

    def from_weights(self, vector: Any) -> Array:
        """Return weights of the original rows as weights here, rounded, up to a positive factor."""
        features = self.features + 1
        if not self.moved:
            blocks = np.asarray(vector, np.float64).reshape(-1, features)
            return np.asarray(blocks[:, np.append(self.columns, self.features)].ravel())
        weights = []
        for first in range(0, self.width, features):
            block = [Fraction(vector[first + j]) for j in self.columns.tolist()]
            weights += [w / factor for w, factor in zip(block, self.factor, strict=True)]
            weights.append(Fraction(vector[first + self.features]) + sum(map(mul, block, self.centre)))
        largest = max(map(abs, weights)) or Fraction(1)
        return np.array([float(w / largest) for w in weights])

    def to_witness(self, signed: SignedRows, witness: Witness) -> Witness:
        """Return a support of these rows as one of the original rows, which may have other factors as integers."""
        multipliers = counts_to_multipliers(self.signed, witness.support, witness.counts)
        return Witness(None, witness.support, multipliers_to_counts(signed, witness.support, multipliers))

    def from_witness(self, signed: SignedRows, witness: Witness) -> Witness:
        """Return a support of the original rows as one of these rows."""
        multipliers = counts_to_multipliers(signed, witness.support, witness.counts)
        return Witness(None, witness.support, multipliers_to_counts(self.signed, witness.support, multipliers))

    def _move_exactly(self, table: Table, scaled: bool) -> Table:
        """Subtract the median of each column and clear denominators, as far as that is possible."""
        exact = np.asarray(table.exact)
        moved = np.empty(exact.shape, object)
        for j, rounded in enumerate(table.values.T):
            column = exact[:, j].astype(object)
            self.centre[j] = column[np.argsort(rounded, kind="stable")[column.size // 2]]
            moved[:, j] = column - self.centre[j]
            common = math.lcm(*{v.denominator for v in moved[:, j].tolist()})
            if scaled and common.bit_length() <= FACTOR_BITS:
                self.factor[j] = common
                moved[:, j] = [int(v * common) for v in moved[:, j].tolist()]
        rounded = moved.astype(np.float64)
        same = all(a == b for a, b in zip(rounded.ravel().tolist(), moved.ravel().tolist(), strict=True))
        inner = as_table(rounded)
        return inner if same else inner.with_exact(moved)

    def _move_floats(self, table: Table) -> Table:
        """Subtract a value from each column that is far from zero, where the differences are exact."""
        X = table.values
        if not _far(X[:: -(-len(X) // SAMPLE_ROWS)]).size:
            return table
        far = _far(X)
        if not far.size:
            return table
        centre = np.zeros(self.columns.size)
        centre[far] = X[len(X) // 2, far]
        moved = X - centre
        # Knuth's error of a difference: zero where nothing was rounded.
        virtual = moved - X
        exact = ((X - (moved - virtual)) - (centre + virtual) == 0).all(axis=0)
        moved[:, ~exact] = X[:, ~exact]
        self.centre = [Fraction(c) if held else 0 for c, held in zip(centre.tolist(), exact.tolist(), strict=True)]
        return as_table(moved) if any(self.centre) else table


def _far(X: Array) -> Array:
    """Return the columns that are much farther from zero than they are wide."""
    lowest, highest = X.min(axis=0), X.max(axis=0)
    nearest, spread = np.minimum(np.abs(lowest), np.abs(highest)), highest - lowest
    return np.flatnonzero((np.sign(lowest) == np.sign(highest)) & (spread > 0) & (nearest > FAR_FROM_ZERO * spread))


def _used(table: Table) -> Array:
    """Return the columns with an entry that is not zero; all columns, where it is not worth it to leave some out."""
    rows, features = table.rows, table.shape[1]
    if isinstance(rows, Dense):
        most = (1 - EMPTY_SHARE) * features
        used = np.flatnonzero(rows.X[:: -(-len(rows.X) // SAMPLE_ROWS)].any(axis=0))
        if used.size <= most:
            used = np.flatnonzero(rows.X.any(axis=0))
        return used if 0 < used.size <= most else np.arange(features)
    used = np.flatnonzero(np.bincount(rows.indices[rows.data != 0], minlength=features))
    return used if used.size else np.zeros(1, np.int64)


def _restricted(table: Table, columns: Array) -> Table:
    """Copy some of the columns, without zeros where rows are sparse."""
    rows, exact = table.rows, table.exact
    if isinstance(rows, Dense):
        values = np.ascontiguousarray(rows.X[:, columns])
        part = None if exact is None else exact[:, columns]
        return Table(Dense(values), values.shape, table.dtype, table.largest, part)
    shape = table.shape[0], columns.size
    data, indptr = rows.data, rows.indptr
    kept = data != 0
    if columns.size < table.shape[1]:
        wanted = np.zeros(table.shape[1], bool)
        wanted[columns] = True
        kept &= wanted[rows.indices]
    entry = slice(None) if kept.all() else np.flatnonzero(kept)
    if not isinstance(entry, slice):
        row = np.repeat(np.arange(shape[0]), np.diff(indptr))[entry]
        indptr = np.append(0, np.cumsum(np.bincount(row, minlength=shape[0]))).astype(indptr.dtype)
    indices = np.searchsorted(columns, rows.indices[entry]).astype(rows.indices.dtype)
    part = None if exact is None else exact[entry]
    return Table(Csr(data[entry], indices, indptr), shape, table.dtype, table.largest, part)


def _dense(table: Table) -> Table:
    """Return few sparse rows as dense ones, which can be moved."""
    rows, (n, d) = table.rows, table.shape
    if isinstance(rows, Dense) or n * d > DENSE_MAX_ENTRIES:
        return table
    place = np.repeat(np.arange(n), np.diff(rows.indptr)), rows.indices
    X = np.zeros((n, d), table.dtype)
    X[place] = rows.data
    exact = None
    if table.exact is not None:
        exact = np.zeros((n, d), object)
        exact[place] = table.exact
    return Table(Dense(X), (n, d), table.dtype, table.largest, exact)
