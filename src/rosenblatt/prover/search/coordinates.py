"""Signed rows in coordinates that suit floats, and the way back.

Separability does not depend on the coordinates (it is affinely invariant), but rounding errors do.

* A `View` changes coordinates in floats, for a search: standardised, in the row space, in a subspace.
* `CompactRows` changes them exactly, before a search: without empty columns, and with columns moved and scaled where
  floats would lose their digits. Whether rows are separable stays the same, and so does which sums of signed rows
  vanish: w.x + b = w'.x' + b' with x' = factor (x - centre). Weights go back without rounding.
* `narrowed` leaves out columns of wide rows that depend on others. Weights there are weights of all columns, zero on
  those left out; a sum of rows that vanishes there vanishes on the columns that depend on them. Which columns do is
  found modulo primes, so results are checked again on all columns (`widened`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.linalg

from rosenblatt.data.table import Table, as_table
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import FASTMATH, Csr, Dense, entries, entry
from rosenblatt.prover.certificates.brackets import combine
from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.exact.rational import MAX_UNKNOWNS, array_pivots, as_integers, primitive
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.exact.spans import sample_integers
from rosenblatt.prover.search import limits
from rosenblatt.prover.search.witness import Witness, counts_to_multipliers, recounted

Array = npt.NDArray[Any]

BLOCK = 4096  # rows or columns that are copied at a time


class AffineView:
    """Signed rows with their features moved and scaled; optionally of length one.

    Parameters
    ----------
    signed : SignedRows
    centre : array of shape (features,)
        Subtracted from each row.
    inverse : array of shape (features,)
        Each row is then multiplied by it.
    padding : float
        The constant that the bias is a weight on.
    normalise : bool
        Whether to divide each row by its length.
    """

    def __init__(self, signed: SignedRows, centre: Array, inverse: Array, padding: float, *, normalise: bool) -> None:
        self.signed, self.centre, self.inverse, self.padding = signed, centre, inverse, padding
        self.n, self.width, self.normalise = signed.n, signed.width, normalise

    @cached_property
    def lengths(self) -> Array:
        """Lengths that the rows are divided by; a single 1 if they are not normalised."""
        if not self.normalise:
            return np.ones(1)
        squares = self.squares()
        return np.sqrt(np.where(squares > 0, squares, 1.0))  # without an intercept a row may be zero

    def squares(self) -> Array:
        """Compute the squared length of every row before normalisation."""
        squares = np.empty(self.signed.samples)
        write_squares(self.signed.table.rows, self.centre, self.inverse, float(self.signed.constant), squares)
        if self.signed.classes == 2:
            return squares
        # A rival has a block of its own, unless it or the sample's class is the one whose weights are zero.
        row, rival = self.signed.split(np.arange(self.n))
        joint: Array = squares[row] * np.where((rival == 0) | (self.signed.label[row] == 0), 1.0, 2.0)
        return joint

    def gather(self, ids: Array) -> Array:
        """Copy some rows."""
        Z = self.signed.gather(ids)
        blocks = Z.reshape(len(Z), -1, self.signed.features + 1)
        blocks[:, :, :-1] = (blocks[:, :, :-1] - blocks[:, :, -1:] * self.centre) * self.inverse
        blocks[:, :, -1] *= self.padding
        return np.divide(Z, self.lengths[ids, None] if self.lengths.size > 1 else self.lengths)

    def margins(self, u: Array) -> Array:
        """Compute the product of every row with u."""
        w = self.to_weights(u)
        # A search ends with weights scaled by this power of two, whose margins are then in the cache.
        margins: Array = np.ldexp(self.signed.margins(rescale(w))[0], math.frexp(np.abs(w).max())[1]) / self.lengths
        return margins

    def to_weights(self, u: Array) -> Array:
        """Return the weights of the signed rows."""
        blocks = u.reshape(-1, self.signed.features + 1).copy()
        blocks[:, :-1] *= self.inverse
        blocks[:, -1] = blocks[:, -1] * self.padding - (blocks[:, :-1] * self.centre).sum(axis=1)
        weights: Array = self.signed.without_constant(blocks.ravel())
        return weights


class MatrixView:
    """Rows given as an array."""

    def __init__(self, Z: Array) -> None:
        self.Z = Z
        self.n, self.width = Z.shape

    def gather(self, ids: Array) -> Array:
        """Copy some rows."""
        rows: Array = self.Z[ids]
        return rows

    def margins(self, u: Array) -> Array:
        """Compute the product of every row with u."""
        margins: Array = self.Z @ u
        return margins

    def to_weights(self, u: Array) -> Array:
        """Return the weights of the signed rows."""
        return u


View = AffineView | MatrixView


class RowSpaceView(MatrixView):
    """Wide signed rows in the space that they span: the rows of a pivoted Cholesky factor of their Gram matrix."""

    def __init__(self, signed: SignedRows, ids: Array, padding: float = 1.0, *, normalise: bool = True) -> None:
        self.signed, self.ids, self.padding = signed, ids, padding * signed.constant
        G = _gram(signed, ids, self.padding)
        squares = np.where(np.diag(G) > 0, np.diag(G), 1.0)
        self.scale = 1.0 / np.sqrt(squares if normalise else np.full(ids.size, squares.max()))
        G *= self.scale
        G *= self.scale[:, None]
        L, order, rank, _ = scipy.linalg.lapack.dpstrf(G.T, lower=1, overwrite_a=1)
        self.basis, self.triangle = order[:rank] - 1, np.tril(L[:rank, :rank])
        Z = np.empty((ids.size, rank))
        Z[order - 1] = np.tril(L[:, :rank])
        super().__init__(Z)

    def to_weights(self, u: Array) -> Array:
        """Return the weights of the signed rows: a combination of the rows of the basis."""
        shares = scipy.linalg.solve_triangular(self.triangle, u, lower=True, trans=1) * self.scale[self.basis]
        return _combine(self.signed, self.ids[self.basis], shares, self.padding)


class SubspaceView(MatrixView):
    """The rows of a view that do not vanish on a subspace, in coordinates of that subspace, of length one."""

    def __init__(self, view: View, basis: Array, ids: Array, Z: Array) -> None:
        size = np.sqrt(np.einsum("ij,ij->i", Z, Z))
        kept = np.flatnonzero(size > limits.VANISHING_LENGTH)
        super().__init__(Z[kept] / size[kept, None])
        self.view, self.basis, self.ids = view, basis, ids[kept]

    @classmethod
    def vanishing_on(cls, view: View, ids: Array, rank: int, deadline: Deadline) -> Self:
        """Restrict a view to the subspace on which some of its rows, of that rank, vanish."""
        deadline.check(factoring_seconds(view.width))
        basis = _complement(view.gather(ids), rank)
        Z = np.empty((view.n, basis.shape[1]))
        for first in range(0, view.n, BLOCK):
            deadline.check()
            block = np.arange(first, min(first + BLOCK, view.n))
            Z[first : first + BLOCK] = view.gather(block) @ basis
        return cls(view, basis, np.arange(view.n), Z)

    def vanishing(self, ids: Array, rank: int) -> SubspaceView:
        """Restrict this view further, to the subspace on which more of its rows, of that rank here, vanish."""
        inside = _complement(self.Z[np.searchsorted(self.ids, ids)], rank)
        return SubspaceView(self.view, self.basis @ inside, self.ids, self.Z @ inside)

    def to_weights(self, u: Array) -> Array:
        """Return the weights of the signed rows."""
        return self.view.to_weights(self.basis @ u)


def factoring_seconds(size: int) -> float:
    """Estimate the seconds to factor the products of so many rows with one another."""
    return limits.FACTORING_SECONDS * size**3


def is_wide(signed: SignedRows) -> bool:
    """Return whether rows are so wide, and so few, that the search should run in the space that they span."""
    return signed.width > limits.ROW_SPACE_MIN_FEATURES and 2 * signed.n < 3 * signed.width


def standardised(signed: SignedRows) -> AffineView:
    """Return the rows with standardised features; those of sparse data, or without an intercept, are not moved."""
    rows = signed.table.rows
    if isinstance(rows, Csr):
        largest = np.zeros(signed.features)
        np.maximum.at(largest, rows.indices, np.abs(rows.data))
        return AffineView(signed, np.zeros(signed.features), reciprocal(largest), 1.0, normalise=True)
    X = rows.X[:: -(-signed.samples // limits.SAMPLE_ROWS)].astype(float)
    if not signed.constant:
        return AffineView(
            signed, np.zeros(signed.features), reciprocal(np.sqrt((X * X).mean(axis=0))), 1.0, normalise=True
        )
    return AffineView(signed, X.mean(axis=0), reciprocal(X.std(axis=0)), 1.0, normalise=True)


def sample_rows(signed: SignedRows) -> Array:
    """Return the numbers of a sample with as many rows of either class; all rows, if they are not many more."""
    size = max(limits.SAMPLE_ROWS, 16 * signed.width)
    if signed.n <= 4 * size:
        return np.arange(signed.n)
    sides = [np.flatnonzero(signed.label == c) for c in (0, 1)]
    return np.concatenate([side[:: max(1, 2 * side.size // size)] for side in sides])


def rescale(w: Array) -> Array:
    """Scale weights by a power of two that makes the largest about 1."""
    largest = np.abs(w).max()
    return np.ldexp(w, -math.frexp(largest)[1]) if 0 < largest < np.inf else w


def reciprocal(scale: Array) -> Array:
    """Return factors that scale columns to about one; a column that is zero stays zero."""
    # Scales are raised to 1e-290 so that their reciprocals are finite.
    return 1.0 / np.where(scale > 0, np.clip(scale, 1e-290, None), 1.0)


def _complement(Z: Array, rank: int) -> Array:
    """Compute an orthonormal basis of the vectors orthogonal to rows of that rank."""
    basis: Array = scipy.linalg.qr(Z.T, pivoting=True)[0][:, rank:]
    return basis


def _gram(signed: SignedRows, ids: Array, padding: float) -> Array:
    """Compute the products of signed rows with one another, the constant being `padding`.

    The product of two rows is that of their samples times that of the codes of their classes.
    """
    row, rival = signed.split(ids)
    samples, place = np.unique(row, return_inverse=True)
    products = _sample_products(signed.table, samples)
    products += padding**2
    codes = _codes(signed, row, rival)
    if samples.size < ids.size:
        products = products[np.ix_(place, place)]
    elif not np.array_equal(place, np.arange(place.size)):
        products = products[place][:, place]
    products *= codes @ codes.T
    return products


def _codes(signed: SignedRows, row: Array, rival: Array) -> Array:
    """Return e_y - e_r of signed rows, without class 0."""
    classes = np.arange(1, signed.classes)
    codes: Array = (signed.label[row][:, None] == classes).astype(float) - (rival[:, None] == classes)
    return codes


def _sample_products(table: Table, samples: Array) -> Array:
    """Compute the products of samples with one another: sparse ones entry by entry, unless they are nearly dense."""
    rows, features = table.rows, table.shape[1]
    if isinstance(rows, Csr):
        part = table.matrix()[samples].astype(float)
        columns = np.unique(part.indices)
        if part.nnz <= limits.SPARSE_SHARE * samples.size * max(columns.size, 1):
            return np.asarray((part @ part.T).toarray())
        blocks = (part[:, columns[first : first + BLOCK]].toarray() for first in range(0, columns.size, BLOCK))
    else:
        blocks = (rows.X[samples, first : first + BLOCK].astype(float) for first in range(0, features, BLOCK))
    products = np.zeros((samples.size, samples.size))
    for block in blocks:
        products += block @ block.T
    return products


def _combine(signed: SignedRows, ids: Array, shares: Array, padding: float) -> Array:
    """Add up signed rows times their shares, the constant being `padding` squared."""
    row, rival = signed.split(ids)
    samples, place = np.unique(row, return_inverse=True)
    factors = np.zeros((samples.size, signed.classes - 1))
    np.add.at(factors, place, shares[:, None] * _codes(signed, row, rival))
    w = np.zeros((signed.classes - 1, signed.features + 1))
    matrix = signed.table.matrix()
    for first in range(0, samples.size, BLOCK):
        part = slice(first, first + BLOCK)
        w[:, :-1] += (matrix[samples[part]].astype(float).T @ factors[part]).T
    w[:, -1] = factors.sum(axis=0) * padding**2
    return w.ravel()


@compiled(fastmath=FASTMATH)
def write_squares(rows, centre, inverse, constant, square):
    """Write |((x - centre) * inverse, constant)|^2 of every row. The centre of sparse rows must be zero."""
    for i in range(square.size):
        total = constant * constant
        start, end = entries(rows, i)
        for k in range(start, end):
            j, x = entry(rows, i, k)
            value = (x - centre[j]) * inverse[j]
            total += value * value
        square[i] = total


# ---------------------------------------------------------------------------------------------------- compact rows


class CompactRows:
    """Signed rows in exact coordinates that suit a search, and the way back.

    Parameters
    ----------
    signed : SignedRows
    moved, scaled : bool
        Whether columns may be moved, which changes the lengths of rows, and scaled, which changes distances too.
    columns : sorted int array, optional
        The features to keep, unchanged. By default those that are not empty.

    Attributes
    ----------
    signed : SignedRows
        The rows in these coordinates. Samples, classes and the numbers of signed rows stay the same.
    same : bool
        Whether nothing was changed.
    """

    def __init__(
        self, signed: SignedRows, *, moved: bool = True, scaled: bool = True, columns: Array | None = None
    ) -> None:
        self.width, self.features = signed.width, signed.features
        table = signed.table
        self.columns = _used(table) if columns is None else columns
        moved = moved and columns is None and bool(signed.constant)
        if self.columns.size < self.features:
            table = _restricted(table, self.columns)
        if moved:
            table = _dense(table)
        self.centre: list[Any] = [0] * self.columns.size
        self.factor = [1] * self.columns.size
        if moved and isinstance(table.rows, Dense):
            if table.exact is not None:
                table = self._move_exactly(table, scaled)
            elif not signed.decimal and table.dtype == np.float64:
                table = self._move_floats(table)
        self.moved = any(self.centre) or max(self.factor) > 1
        self.same = table is signed.table
        self.signed = signed
        if not self.same:
            self.signed = signed.with_samples(table, signed.label)

    def to_weights(self, w: Any) -> Any:
        """Return the weights of the original rows, up to a positive factor; as integers if rows were moved."""
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
        """Return weights of the original rows in these coordinates, rounded, up to a positive factor."""
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

    def _move_exactly(self, table: Table, scaled: bool) -> Table:
        """Subtract the median of each column, and clear denominators that are not too long."""
        exact = np.asarray(table.exact)
        moved = np.empty(exact.shape, object)
        for j, rounded in enumerate(table.values.T):
            column = exact[:, j].astype(object)
            self.centre[j] = column[np.argsort(rounded, kind="stable")[column.size // 2]]
            moved[:, j] = column - self.centre[j]
            common = math.lcm(*{v.denominator for v in moved[:, j].tolist()})
            if scaled and common.bit_length() <= 64:  # longer factors would only move the digits elsewhere
                self.factor[j] = common
                moved[:, j] = [int(v * common) for v in moved[:, j].tolist()]
        rounded = moved.astype(np.float64)
        same = all(a == b for a, b in zip(rounded.ravel().tolist(), moved.ravel().tolist(), strict=True))
        inner = as_table(rounded)
        return inner if same else inner.with_exact(moved)

    def _move_floats(self, table: Table) -> Table:
        """Subtract a value from each column that is far from zero, where the differences are exact."""
        X = table.values
        if not _far(_some_rows(X)).size:
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


def _some_rows(X: Array) -> Array:
    """Return about 512 rows, which mostly suffice to see that no column is empty or far from zero."""
    return X[:: -(-len(X) // 512)]


def _far(X: Array) -> Array:
    """Return the columns that are much farther from zero than they are wide."""
    lowest, highest = X.min(axis=0), X.max(axis=0)
    nearest, spread = np.minimum(np.abs(lowest), np.abs(highest)), highest - lowest
    return np.flatnonzero(
        (np.sign(lowest) == np.sign(highest)) & (spread > 0) & (nearest > limits.FAR_FROM_ZERO * spread)
    )


def _used(table: Table) -> Array:
    """Return the columns that are not empty; all columns if leaving some out is not worth a copy."""
    rows, features = table.rows, table.shape[1]
    if isinstance(rows, Dense):
        most = (1 - limits.EMPTY_SHARE) * features
        used = np.flatnonzero(_some_rows(rows.X).any(axis=0))
        if used.size <= most:
            used = np.flatnonzero(rows.X.any(axis=0))
        return used if 0 < used.size <= most else np.arange(features)
    used = np.flatnonzero(np.bincount(rows.indices[rows.data != 0], minlength=features))
    return used if used.size else np.zeros(1, np.int64)


def _restricted(table: Table, columns: Array) -> Table:
    """Copy some of the columns; sparse rows lose their stored zeros."""
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
    """Return a small sparse table as a dense one, whose columns can be moved."""
    rows, (n, d) = table.rows, table.shape
    if isinstance(rows, Dense) or n * d > limits.DENSE_MAX_ENTRIES:
        return table
    place = np.repeat(np.arange(n), np.diff(rows.indptr)), rows.indices
    X = np.zeros((n, d), table.dtype)
    X[place] = rows.data
    exact = None
    if table.exact is not None:
        exact = np.zeros((n, d), object)
        exact[place] = table.exact
    return Table(Dense(X), (n, d), table.dtype, table.largest, exact)


# ---------------------------------------------------------------------------------------------------- narrow rows


def is_long(signed: SignedRows) -> bool:
    """Return whether rows are searched in the space that they span: wide rows, and rows too long for exact systems."""
    return is_wide(signed) or signed.width > MAX_UNKNOWNS


def narrowed(signed: SignedRows, deadline: Deadline) -> CompactRows | None:
    """Leave out columns of long rows that depend on others; None if there are none, or if that would take too long."""
    if not is_long(signed):
        return None
    samples = np.arange(0, signed.samples, -(-signed.samples // (limits.SAMPLES_PER_FEATURE * (signed.features + 1))))
    matrix = sample_integers(signed, samples, np.arange(signed.features + 1))
    if matrix is None or limits.ELIMINATION_SECONDS * matrix.size * min(matrix.shape) > deadline.left:
        return None
    # Neighbouring columns are often alike; columns in random order are better conditioned.
    order = np.random.default_rng(0).permutation(signed.features)
    columns = array_pivots(matrix[:, [signed.features, *order]])[1]
    kept = np.sort(order[[j - 1 for j in columns if j]])
    return CompactRows(signed, columns=kept) if kept.size < signed.features else None


def widened(signed: SignedRows, rows: CompactRows, witness: Witness | None) -> Witness | None:
    """Return a witness of rows without some columns as one on all columns; None if it does not hold there."""
    if witness is None:
        return None
    if witness.w is not None:
        return witness._replace(w=rows.to_weights(witness.w))
    multipliers = counts_to_multipliers(rows.signed, witness.support, witness.counts)
    vanishes = not combine(signed, witness.support, multipliers)[0]
    return recounted(witness, rows.signed, signed) if vanishes else None
