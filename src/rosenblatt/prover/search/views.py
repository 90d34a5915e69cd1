"""Signed rows in coordinates that suit floats: standardised, whitened, in their row space, in a subspace.

Separability does not depend on the coordinates (it is affinely invariant), but rounding errors do.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.linalg

from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.prover.exact.clock import Clock
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search import nearest as compiled

Array = npt.NDArray[Any]

# From so many features on, rows are turned into the space that they span, and for how many rows that is done.
ROW_SPACE_MIN_FEATURES, ROW_SPACE_MAX_ROWS = 1500, 6000
# Rows of a sample from which centre and scale are estimated, or which are searched first.
SAMPLE_ROWS = 4096
# Rows or columns that are copied at a time.
ROWS_PER_BLOCK = COLUMNS_PER_BLOCK = 4096
# Share of entries, in the columns that have some, above which products of sparse rows are computed as of dense ones.
SPARSE_SHARE = 0.05
# Diagonal of a triangular factor, as a share of its largest entry, below which it counts as singular.
SINGULAR_SHARE = 1e-14
# Length below which a row of length one, projected, counts as zero.
VANISHING_LENGTH = 1e-9
# Scales below this are raised to it, so that their reciprocals are finite.
SMALLEST_SCALE = 1e-290


class View(Protocol):
    """Signed rows in some coordinates, and the way back."""

    @property
    def n(self) -> int:
        """Number of rows."""

    @property
    def width(self) -> int:
        """Length of a row."""

    def gather(self, ids: Array) -> Array:
        """Copy some rows."""

    def margins(self, u: Array) -> Array:
        """Compute the product of every row with u."""

    def to_weights(self, u: Array) -> Array:
        """Return the weights of the signed rows that have these margins, up to a positive factor for each row."""


class AffineView:
    """Signed rows with their features moved and scaled, or transformed by a matrix; each of length one if wished.

    Parameters
    ----------
    signed : SignedRows
    centre : array of shape (features,)
        What is subtracted from each row.
    inverse : array of shape (features,) or (features, features)
        What each row is then multiplied by.
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
        """What the rows are divided by."""
        return np.sqrt(self.squares()) if self.normalise else np.ones(1)

    @property
    def frame(self) -> compiled.Frame:
        """Centre and scale as the compiled loops read them."""
        return compiled.Frame(self.centre, self.inverse)

    def squares(self) -> Array:
        """Compute the squared length that every row has before it is normalised."""
        if self.inverse.ndim == 2:
            blocks = (
                np.arange(first, min(first + ROWS_PER_BLOCK, self.n)) for first in range(0, self.n, ROWS_PER_BLOCK)
            )
            return np.concatenate([np.square(self._transform(self.signed.gather(ids))).sum(axis=1) for ids in blocks])
        squares = np.empty(self.signed.samples)
        rows = self.signed.table.rows
        square_rows = compiled.squares_dense if isinstance(rows, Dense) else compiled.squares_csr
        square_rows(rows, self.frame, squares)
        if self.signed.classes == 2:
            return squares
        # A rival has a block of its own, unless it or the sample's class is the one whose weights are zero.
        row, rival = self.signed.split(np.arange(self.n))
        joint: Array = squares[row] * np.where((rival == 0) | (self.signed.label[row] == 0), 1.0, 2.0)
        return joint

    def _transform(self, Z: Array) -> Array:
        blocks = Z.reshape(len(Z), -1, self.signed.features + 1)
        moved = blocks[:, :, :-1] - blocks[:, :, -1:] * self.centre
        blocks[:, :, :-1] = moved * self.inverse if self.inverse.ndim == 1 else moved @ self.inverse
        blocks[:, :, -1] *= self.padding
        return Z

    def gather(self, ids: Array) -> Array:
        """Copy some rows."""
        lengths = self.lengths[ids, None] if self.lengths.size > 1 else self.lengths
        return np.divide(self._transform(self.signed.gather(ids)), lengths)

    def margins(self, u: Array) -> Array:
        """Compute the product of every row with u."""
        w = self.to_weights(u)
        # Scale the weights by a power of two first. A search ends with weights of that scale, so their margins are
        # then found in the cache.
        margins: Array = np.ldexp(self.signed.margins(rescale(w))[0], math.frexp(np.abs(w).max())[1]) / self.lengths
        return margins

    def to_weights(self, u: Array) -> Array:
        """Return the weights of the signed rows."""
        blocks = u.reshape(-1, self.signed.features + 1).copy()
        weights = blocks[:, :-1]
        weights = weights * self.inverse if self.inverse.ndim == 1 else weights @ self.inverse.T
        blocks[:, -1] = blocks[:, -1] * self.padding - (weights * self.centre).sum(axis=1)
        blocks[:, :-1] = weights
        return blocks.ravel()


class MatrixView:
    """Rows that are an array."""

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


class RowSpaceView(MatrixView):
    """Wide signed rows in the space that they span: the rows of a pivoted Cholesky factor of their Gram matrix."""

    def __init__(self, signed: SignedRows, ids: Array, padding: float = 1.0, *, normalise: bool = True) -> None:
        self.signed, self.ids, self.padding = signed, ids, padding
        G = _gram(signed, ids, padding)
        squares = np.diag(G)
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
        kept = np.flatnonzero(size > VANISHING_LENGTH)
        super().__init__(Z[kept] / size[kept, None])
        self.view, self.basis, self.ids = view, basis, ids[kept]

    @classmethod
    def vanishing_on(cls, view: View, ids: Array, rank: int, clock: Clock) -> Self:
        """Go to the subspace of a view on which some of its rows, of that rank, vanish."""
        clock.check(factoring_seconds(view.width))
        basis = _complement(view.gather(ids), rank)
        Z = np.empty((view.n, basis.shape[1]))
        for first in range(0, view.n, ROWS_PER_BLOCK):
            clock.check()
            block = np.arange(first, min(first + ROWS_PER_BLOCK, view.n))
            Z[first : first + ROWS_PER_BLOCK] = view.gather(block) @ basis
        return cls(view, basis, np.arange(view.n), Z)

    def vanishing(self, ids: Array, rank: int) -> SubspaceView:
        """Go on to the subspace on which more of the rows, of that rank here, vanish."""
        inside = _complement(self.Z[np.searchsorted(self.ids, ids)], rank)
        return SubspaceView(self.view, self.basis @ inside, self.ids, self.Z @ inside)

    def to_weights(self, u: Array) -> Array:
        """Return the weights of the signed rows."""
        return self.view.to_weights(self.basis @ u)


def factoring_seconds(size: int) -> float:
    """Estimate the seconds to turn so many rows into the space that they span, which cannot be interrupted."""
    return 2e-11 * size**3


def is_wide(signed: SignedRows) -> bool:
    """Return whether there are so many more features than rows that the search should run in the row space."""
    return signed.width > ROW_SPACE_MIN_FEATURES and 2 * signed.n < 3 * signed.width


def standardised(signed: SignedRows) -> AffineView:
    """Standardise the features; those of sparse data are scaled, not moved."""
    rows = signed.table.rows
    if isinstance(rows, Csr):
        largest = np.zeros(signed.features)
        np.maximum.at(largest, rows.indices, np.abs(rows.data))
        return AffineView(signed, np.zeros(signed.features), reciprocal(largest), 1.0, normalise=True)
    X = rows.X[:: -(-signed.samples // SAMPLE_ROWS)].astype(float)
    return AffineView(signed, X.mean(axis=0), reciprocal(X.std(axis=0)), 1.0, normalise=True)


def whitened(signed: SignedRows) -> AffineView:
    """Transform the features into uncorrelated ones, by the QR factors of a sample."""
    ids = np.arange(0, signed.samples, -(-signed.samples // SAMPLE_ROWS)) * (signed.classes - 1)
    Z = signed.gather(ids)
    blocks = Z.reshape(len(Z), -1, signed.features + 1)
    own = np.argmax(np.abs(blocks[:, :, -1]), axis=1)
    X = blocks[np.arange(len(Z)), own] * blocks[np.arange(len(Z)), own, -1:]
    centre, scale = X[:, :-1].mean(axis=0), reciprocal(X[:, :-1].std(axis=0))
    R = scipy.linalg.qr((X[:, :-1] - centre) * scale, mode="r")[0][: X.shape[1] - 1]
    if R.shape[0] < R.shape[1] or np.abs(np.diag(R)).min() <= SINGULAR_SHARE * np.abs(R).max():
        return AffineView(signed, centre, scale, 1.0, normalise=True)
    inverse = scipy.linalg.solve_triangular(R, np.eye(len(R))) * math.sqrt(len(Z))
    return AffineView(signed, centre, scale[:, None] * inverse, 1.0, normalise=True)


def sample_rows(signed: SignedRows) -> Array:
    """Choose rows of both classes alike as a sample; all rows, if they are not many more."""
    size = max(SAMPLE_ROWS, 16 * signed.width)
    if signed.n <= 4 * size:
        return np.arange(signed.n)
    sides = [np.flatnonzero(signed.label == c) for c in (0, 1)]
    return np.concatenate([side[:: max(1, 2 * side.size // size)] for side in sides])


def rescale(w: Array) -> Array:
    """Scale by a power of two, so that the largest weight is about 1."""
    largest = np.abs(w).max()
    return np.ldexp(w, -math.frexp(largest)[1]) if 0 < largest < np.inf else w


def reciprocal(scale: Array) -> Array:
    """Return what scales to about one; what is zero everywhere stays so."""
    return 1.0 / np.where(scale > 0, np.clip(scale, SMALLEST_SCALE, None), 1.0)


def _complement(Z: Array, rank: int) -> Array:
    """Compute an orthonormal basis of what is orthogonal to rows of that rank."""
    basis: Array = scipy.linalg.qr(Z.T, pivoting=True)[0][:, rank:]
    return basis


def _gram(signed: SignedRows, ids: Array, padding: float) -> Array:
    """Compute the products of signed rows with one another, the constant being `padding`.

    A product of two is that of their samples times that of their classes' codes.
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
        if part.nnz <= SPARSE_SHARE * samples.size * max(columns.size, 1):
            return np.asarray((part @ part.T).toarray())
        blocks = (
            part[:, columns[first : first + COLUMNS_PER_BLOCK]].toarray()
            for first in range(0, columns.size, COLUMNS_PER_BLOCK)
        )
    else:
        blocks = (
            rows.X[samples, first : first + COLUMNS_PER_BLOCK].astype(float)
            for first in range(0, features, COLUMNS_PER_BLOCK)
        )
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
    for first in range(0, samples.size, ROWS_PER_BLOCK):
        part = slice(first, first + ROWS_PER_BLOCK)
        w[:, :-1] += (matrix[samples[part]].astype(float).T @ factors[part]).T
    w[:, -1] = factors.sum(axis=0) * padding**2
    return w.ravel()
