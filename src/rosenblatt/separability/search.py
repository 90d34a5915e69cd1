"""The point nearest to the origin in the convex hull of signed rows, sought with floats.

It is the normal of the hyperplane with the largest margin, or the origin itself, and then nothing separates. The rows
are seen in coordinates that suit floats, a `View`; a working set of them grows until it tells about all.
"""

from __future__ import annotations

import math
import time
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp

from rosenblatt.compiled import nearest as activeset
from rosenblatt.compiled.epochs import (
    ConstantRate,
    Counts,
    Csr,
    Dense,
    NoAverage,
    NoPenalty,
    PassiveAggressiveRule,
    Task,
    Weights,
    run_joint_epoch,
)
from rosenblatt.compiled.nearest import LIMIT, NEAREST, ORIGIN
from rosenblatt.compiled.shuffles import shuffle
from rosenblatt.exact.signed_rows import SignedRows

Array = npt.NDArray[Any]

# Width from which rows are turned into the space that they span, and how many of them that is done for.
WIDE, MOST = 1500, 6000
# Rows of a sample, which tells where the others are.
SAMPLE = 4096
# Rows that a search takes in at a time, as a multiple of their length, and epochs of coordinate descent before it.
MORE, EPOCHS = 10, 3
# The bias is a weight on a constant; so large that its share of the length of w does not count.
PADDING = 100.0
BLOCK = 4096
# The same two for wide rows.
EXTRA, LONG = 500, 1000


def is_wide(rows: SignedRows) -> bool:
    """Tell whether rows are so much longer than they are many that their own span is the better place."""
    return rows.width > WIDE and 2 * rows.n < 3 * rows.width


class OutOfTime(Exception):
    """The time limit was over."""


class Clock:
    """A time limit."""

    def __init__(self, seconds: float | None) -> None:
        self.end = math.inf if seconds is None else time.perf_counter() + seconds

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.end - time.perf_counter()

    def look(self, needed: float = 0.0) -> None:
        """Refuse to go on if fewer than the needed seconds are left."""
        if self.left < needed:
            raise OutOfTime


# ------------------------------------------------------------------------------------------- views: rows to search in


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

    def heights(self, u: Array) -> Array:
        """Give the product of every row with u."""

    def back(self, u: Array) -> Array:
        """Give the weights of the signed rows that have these heights, up to a positive factor for each row."""


class Framed:
    """Signed rows in coordinates where floats see well: moved and scaled, each row of length one if so wished.

    Separability does not depend on any of this (it is affinely invariant); the margin does.
    """

    def __init__(self, rows: SignedRows, centre: Array, inverse: Array, padding: float, unit: bool) -> None:
        self.rows, self.centre, self.inverse, self.padding = rows, centre, inverse, padding
        self.n, self.width, self.unit = rows.n, rows.width, unit

    @cached_property
    def lengths(self) -> Array:
        """What the rows are divided by."""
        return np.sqrt(self.squares()) if self.unit else np.ones(1)

    def squares(self) -> Array:
        """Give the squared length that every row has before it is made one."""
        if self.inverse.ndim == 2:
            blocks = (np.arange(first, min(first + BLOCK, self.n)) for first in range(0, self.n, BLOCK))
            return np.concatenate([np.square(self._into(self.rows.gather(ids))).sum(axis=1) for ids in blocks])
        squares = np.empty(self.rows.samples)
        table = self.rows.table.rows
        if isinstance(table, Dense):
            activeset.squares_dense(table.X, self.centre, self.inverse, squares)
        else:
            activeset.squares_csr(table.data, table.indices, table.indptr, self.inverse, squares)
        if self.rows.classes == 2:
            return squares
        # A rival has a block of its own, unless it or the sample's class is the one whose weights are zero.
        row, rival = self.rows.split(np.arange(self.n))
        signed: Array = squares[row] * np.where((rival == 0) | (self.rows.label[row] == 0), 1.0, 2.0)
        return signed

    def _into(self, Z: Array) -> Array:
        blocks = Z.reshape(len(Z), -1, self.rows.features + 1)
        moved = blocks[:, :, :-1] - blocks[:, :, -1:] * self.centre
        blocks[:, :, :-1] = moved * self.inverse if self.inverse.ndim == 1 else moved @ self.inverse
        blocks[:, :, -1] *= self.padding
        return Z

    def gather(self, ids: Array) -> Array:
        """Copy some rows."""
        lengths = self.lengths[ids, None] if self.lengths.size > 1 else self.lengths
        return np.divide(self._into(self.rows.gather(ids)), lengths)

    def heights(self, u: Array) -> Array:
        """Give the product of every row with u."""
        w = self.back(u)
        # Of tidy weights, because those are what comes of a search, and then their heights are known.
        heights: Array = np.ldexp(self.rows.heights(tidy(w))[0], math.frexp(np.abs(w).max())[1]) / self.lengths
        return heights

    def back(self, u: Array) -> Array:
        """Give the weights of the signed rows."""
        blocks = u.reshape(-1, self.rows.features + 1).copy()
        weights = blocks[:, :-1]
        weights = weights * self.inverse if self.inverse.ndim == 1 else weights @ self.inverse.T
        blocks[:, -1] = blocks[:, -1] * self.padding - (weights * self.centre).sum(axis=1)
        blocks[:, :-1] = weights
        return blocks.ravel()


class Stored:
    """Rows that are an array."""

    def __init__(self, Z: Array) -> None:
        self.Z = Z
        self.n, self.width = Z.shape

    def gather(self, ids: Array) -> Array:
        """Copy some rows."""
        rows: Array = self.Z[ids]
        return rows

    def heights(self, u: Array) -> Array:
        """Give the product of every row with u."""
        heights: Array = self.Z @ u
        return heights

    def back(self, u: Array) -> Array:
        """Give the weights of the signed rows."""
        return u


class Rotated(Stored):
    """Some signed rows, longer than they are many, in the space that they span: a pivoted Cholesky factor."""

    def __init__(self, rows: SignedRows, ids: Array, padding: float = 1.0, unit: bool = True) -> None:
        self.rows, self.ids, self.padding = rows, ids, padding
        G = _gram(rows, ids, padding)
        squares = np.diag(G)
        self.scale = 1.0 / np.sqrt(squares if unit else np.full(ids.size, squares.max()))
        G *= self.scale
        G *= self.scale[:, None]
        L, order, rank, _ = scipy.linalg.lapack.dpstrf(G, lower=1, overwrite_a=1)
        self.basis, self.triangle = order[:rank] - 1, np.tril(L[:rank, :rank])
        Z = np.empty((ids.size, rank))
        Z[order - 1] = np.tril(L[:, :rank])
        super().__init__(Z)

    def back(self, u: Array) -> Array:
        """Give the weights of the signed rows: a combination of those that the others are made of."""
        shares = scipy.linalg.solve_triangular(self.triangle, u, lower=True, trans=1) * self.scale[self.basis]
        return _combine(self.rows, self.ids[self.basis], shares, self.padding)


class Projected(Stored):
    """The rows of a view that do not vanish on a subspace, in coordinates of that subspace, of length one."""

    def __init__(self, view: View, basis: Array, ids: Array, Z: Array) -> None:
        size = np.sqrt(np.einsum("ij,ij->i", Z, Z))
        kept = np.flatnonzero(size > 1e-9)
        super().__init__(Z[kept] / size[kept, None])
        self.view, self.basis, self.ids = view, basis, ids[kept]

    @classmethod
    def vanishing_on(cls, view: View, ids: Array, rank: int) -> Self:
        """Go to the subspace of a view on which some of its rows vanish, which are of that rank."""
        basis = _complement(view.gather(ids), rank)
        Z = np.empty((view.n, basis.shape[1]))
        for first in range(0, view.n, BLOCK):
            Z[first : first + BLOCK] = view.gather(np.arange(first, min(first + BLOCK, view.n))) @ basis
        return cls(view, basis, np.arange(view.n), Z)

    def vanishing(self, ids: Array, rank: int) -> Projected:
        """Go on to the subspace on which more of the rows vanish, which have that rank here."""
        inside = _complement(self.Z[np.searchsorted(self.ids, ids)], rank)
        return Projected(self.view, self.basis @ inside, self.ids, self.Z @ inside)

    def back(self, u: Array) -> Array:
        """Give the weights of the signed rows."""
        return self.view.back(self.basis @ u)


def _complement(Z: Array, rank: int) -> Array:
    """Give an orthonormal basis of what is orthogonal to rows of that rank."""
    basis: Array = scipy.linalg.qr(Z.T, pivoting=True)[0][:, rank:]
    return basis


def standardised(rows: SignedRows) -> Framed:
    """Standardise the features; those of sparse data are scaled, not moved."""
    table = rows.table.rows
    if isinstance(table, Csr):
        largest = np.zeros(rows.features)
        np.maximum.at(largest, table.indices, np.abs(table.data))
        return Framed(rows, np.zeros(rows.features), reciprocal(largest), 1.0, unit=True)
    sample = table.X[:: -(-rows.samples // SAMPLE)].astype(float)
    return Framed(rows, sample.mean(axis=0), reciprocal(sample.std(axis=0)), 1.0, unit=True)


def whitened(rows: SignedRows) -> Framed:
    """Turn the features into uncorrelated ones, by the QR factors of a sample."""
    sample = np.arange(0, rows.samples, -(-rows.samples // SAMPLE)) * (rows.classes - 1)
    Z = rows.gather(sample)
    bias = Z.reshape(len(Z), -1, rows.features + 1)
    own = np.argmax(np.abs(bias[:, :, -1]), axis=1)
    X = bias[np.arange(len(Z)), own] * bias[np.arange(len(Z)), own, -1:]
    centre, scale = X[:, :-1].mean(axis=0), reciprocal(X[:, :-1].std(axis=0))
    R = scipy.linalg.qr((X[:, :-1] - centre) * scale, mode="r")[0][: X.shape[1] - 1]
    if R.shape[0] < R.shape[1] or np.abs(np.diag(R)).min() <= 1e-14 * np.abs(R).max():
        return Framed(rows, centre, scale, 1.0, unit=True)
    inverse = scipy.linalg.solve_triangular(R, np.eye(len(R))) * math.sqrt(len(Z))
    return Framed(rows, centre, scale[:, None] * inverse, 1.0, unit=True)


def sample(rows: SignedRows) -> Array:
    """Choose rows of both classes alike that tell about the others; all, if they are not many more."""
    size = max(SAMPLE, 16 * rows.width)
    if rows.n <= 4 * size:
        return np.arange(rows.n)
    sides = [np.flatnonzero(rows.label == c) for c in (0, 1)]
    return np.concatenate([side[:: max(1, 2 * side.size // size)] for side in sides])


def tidy(w: Array) -> Array:
    """Scale by a power of two, so that the largest weight is about 1."""
    largest = np.abs(w).max()
    return np.ldexp(w, -math.frexp(largest)[1]) if 0 < largest < np.inf else w


def reciprocal(scale: Array) -> Array:
    """Give what scales to about one; what is zero everywhere stays so."""
    return 1.0 / np.where(scale > 0, np.clip(scale, 1e-290, None), 1.0)


def _gram(rows: SignedRows, ids: Array, padding: float) -> Array:
    """Give the products of signed rows with one another, the constant being `padding`."""
    G = np.zeros((ids.size, ids.size))
    columns = rows.touched(ids)
    for first in range(0, columns.size, BLOCK):
        Z = rows.gather(ids, columns[first : first + BLOCK])
        G += Z @ Z.T
    if padding != 1.0:
        bias = rows.gather(ids, np.arange(rows.features, rows.width, rows.features + 1))
        G += (padding**2 - 1) * bias @ bias.T
    return G


def _combine(rows: SignedRows, ids: Array, shares: Array, padding: float = 1.0) -> Array:
    """Add up signed rows times their shares, the constant being `padding` squared."""
    w = np.zeros(rows.width)
    for first in range(0, ids.size, BLOCK):
        part = ids[first : first + BLOCK]
        columns = rows.touched(part)
        w[columns] += shares[first : first + BLOCK] @ rows.gather(part, columns)
    w[rows.features :: rows.features + 1] *= padding**2
    return w


# ------------------------------------------------------------------------------------------------------------- search


class WorkingSet:
    """The rows that a search looks at, and the support that it has come to."""

    def __init__(self, view: View, first: Array) -> None:
        width = view.width
        self.view = view
        self.A = np.empty((0, width))
        self.ids = np.empty(0, np.int64)
        self.member = np.zeros(view.n, bool)
        self.place, self.share, self.k = np.zeros(width + 2, np.int64), np.zeros(width + 2), 0
        self.factors = np.zeros((width + 2, width + 1)), np.zeros((width + 2, width + 2)), np.zeros(width + 2)
        self.r = np.zeros(width + 1)
        self.r[-1] = 1.0
        self.add(first)

    @property
    def support(self) -> Array:
        """Rows whose hull holds the nearest point."""
        return self.ids[self.place[: self.k]]

    @property
    def shares(self) -> Array:
        """Their shares of it."""
        return self.share[: self.k]

    @property
    def point(self) -> Array:
        """The nearest point so far, times the sum of the shares."""
        return -self.r[:-1]

    def add(self, ids: Array) -> None:
        """Take in more rows."""
        size = self.ids.size
        if size + ids.size > len(self.A):
            grown = np.empty((2 * size + ids.size, self.A.shape[1]))
            grown[:size] = self.A[:size]
            self.A = grown
        self.A[size : size + ids.size] = self.view.gather(ids)
        self.ids = np.append(self.ids, ids)
        self.member[ids] = True

    def start(self, place: Array, share: Array) -> None:
        """Begin from rows and shares that are known from elsewhere, as far as they are independent."""
        if not place.size:
            return
        columns = np.vstack([self.A[place].T, np.ones(place.size)])
        Q, R, order = scipy.linalg.qr(columns, mode="economic", pivoting=True)
        size = np.abs(np.diag(R))
        k = int(np.count_nonzero(size > 1e-8 * size[0]))
        Q, order = Q[:, :k], order[:k]
        self.k, self.place[:k], self.share[:k] = k, place[order], share[order]
        self.factors[0][:k], self.factors[1][:k, :k], self.factors[2][:k] = Q.T, R[:k, :k].T, Q[-1]
        self.r -= Q @ Q[-1]

    def search(self, iterations: int, *, widest: bool, zero: float = 1e-12) -> int:
        """Go on towards the nearest point, or to the first separator; tell how it ended."""
        given = (self.A, self.ids.size, self.place, self.share, self.k, *self.factors, self.r)
        self.k, end, _ = activeset.nearest_point(*given, 1e-10, zero, iterations, not widest)
        return int(end)

    def extend(self, heights: Array) -> bool:
        """If any row lies lower than the support, take in those that lie lowest; tell whether there was one."""
        heights = np.where(self.member, np.inf, heights)
        if not (heights < self.r[-1] * (1 - 1e-9)).any():  # nor where they overflowed, which would never end
            return False
        low = lowest(heights, self.view.width)
        self.add(low[heights[low] < np.inf])
        return True


def nearest(view: View, first: Array, clock: Clock, *, widest: bool, zero: float = 1e-12) -> tuple[int, WorkingSet]:
    """Search for the nearest point of all rows, or for any separator; ORIGIN says that the point is the origin."""
    working = WorkingSet(view, first)
    return go_on(working, clock, widest=widest, zero=zero), working


def go_on(working: WorkingSet, clock: Clock, *, widest: bool, zero: float = 1e-12) -> int:
    """Go on with a search until nothing is left to take in."""
    while True:
        before = np.linalg.norm(working.r)
        end = working.search(100 if working.view.width > 300 else 1000, widest=widest, zero=zero)
        if end == ORIGIN:
            return ORIGIN
        if end == LIMIT and np.linalg.norm(working.r) >= before:
            return NEAREST  # rounding keeps it where it is
        clock.look()
        heights = working.view.heights(working.point)
        if (not widest and working.k and heights.min() > 0) or (end != LIMIT and not working.extend(heights)):
            return NEAREST


def probe(Z: Array, iterations: int) -> tuple[float, Array, bool]:
    """Look for a short point in the hull of rows, within limits.

    Returns
    -------
    norm : float
        Of the point: no weights of length one have a larger margin.
    support : int array
        The rows that it is a mean of.
    origin : bool
        Whether it seems to be the origin.
    """
    working = WorkingSet(Stored(Z), np.arange(len(Z)))
    end = working.search(iterations, widest=True)
    total = float(working.shares.sum())
    return float(np.linalg.norm(working.point)) / total if total else np.inf, working.support, end == ORIGIN


def lowest(heights: Array, width: int) -> Array:
    """Choose rows to take in: those that lie lowest, some of which no longer will when the others are in."""
    size = min(heights.size, max(MORE * width, 200))
    return np.arange(heights.size) if size == heights.size else np.argpartition(heights, size - 1)[:size]


def descend(view: Framed, epochs: int, *, tied: Array | None = None, on: bool = False) -> tuple[Array, Array]:
    """Pass over two classes by dual coordinate descent; give u and the multipliers.

    Parameters
    ----------
    view : Framed
    epochs : int
    tied : int array or None
        Rows whose height is to be zero, as it is on a support that rules a separator out.
    on : bool
        Whether to go on, towards the largest margin, when the other rows are on their side.
    """
    rows, table = view.rows, view.rows.table.rows
    u, alpha = np.zeros(view.width), np.zeros(view.n)
    square = view.lengths**2 if view.unit else view.squares()
    sign, ties = 2.0 * rows.label - 1.0, np.zeros(rows.n, bool)
    if tied is not None:
        ties[tied] = True
    rng = np.random.default_rng(0)
    for _ in range(epochs):
        given = (square, ties, rng.permutation(rows.n), u, alpha)
        if isinstance(table, Dense):
            wrong = activeset.descend_dense(table.X, sign, view.centre, view.inverse, *given)
        else:
            wrong = activeset.descend_csr(table.data, table.indices, table.indptr, sign, view.inverse, *given)
        if not on and wrong < rows.n // 100 + 1 and view.heights(u)[~ties].min() > 0:
            break
    return u, alpha


def advance(rows: SignedRows, epochs: int) -> Array:
    """Pass over several classes by passive-aggressive updates of the own and the highest other score; give weights."""
    classes, features, dtype = rows.classes, rows.features, rows.table.dtype
    zeros, none = np.zeros(classes), np.empty(0)
    weights = Weights(
        W=np.zeros((classes, features), dtype),
        b=np.zeros(classes, dtype),
        t=np.zeros(classes, np.int64),
        scale=np.ones(classes),
        owed=zeros,
        paid=np.zeros((classes, 0)),
        scale_sum=zeros.copy(),
        lag=np.zeros((classes, 0)),
        lag_b=zeros.copy(),
    )
    sign = (2 * np.eye(classes, dtype=np.int8) - 1).astype(np.int8)
    task = Task(rows.label.astype(np.int32), sign, np.ones(sign.shape), np.ones(classes), none, none, 1.0)
    method = PassiveAggressiveRule(np.inf), NoPenalty(), ConstantRate(1.0), NoAverage()
    # The type of row numbers that training uses too, so that the epoch is compiled once for both.
    order = np.arange(rows.samples, dtype=np.int32 if rows.samples <= np.iinfo(np.int32).max else np.int64)
    random = np.random.default_rng(0)
    for _ in range(epochs):
        shuffle(order, random.random(order.size))
        counts = Counts(*np.zeros((2, 1), np.int64), *np.zeros((2, 1)))
        run_joint_epoch(*method, rows.table.rows, task, order, weights, weights, counts)
        if counts.mistakes[0] == 0:
            break
    W: Array = np.column_stack([weights.W, weights.b]).astype(float)
    return np.ravel(W[1:] - W[0])


# ---------------------------------------------------------------------------------------------------- largest margins


class Widest(NamedTuple):
    """Weights of largest margin, and signed rows whose weighted sum shows that none is larger."""

    w: Array
    ids: Array
    weights: Array


def widest(rows: SignedRows, clock: Clock, *, augmented: bool, w: Array | None = None) -> Widest:
    """Find the separator of two classes with the largest margin.

    Parameters
    ----------
    rows : SignedRows
    clock : Clock
    augmented : bool
        Whether the bias counts in the length of the weights, as in the perceptron's mistake bound; otherwise the
        margin is the distance of the rows from the hyperplane.
    w : array of shape (width,), optional
        A separator, if there is one at hand: the rows that lie lowest above it are looked at first.
    """
    if is_wide(rows):
        return _widest_wide(rows, clock, augmented=augmented)
    index = sample(rows)
    part = rows if index.size == rows.n else rows.take(index)
    centre, spread, padding = _frame(part, augmented)
    radius = max(spread, padding)
    view = Framed(rows, centre, np.full(rows.features, 1.0 / radius), padding / radius, unit=False)
    support, shares = index[:0], np.empty(0)
    if w is None and part is rows:
        easy = standardised(rows)
        w = tidy(easy.back(descend(easy, EPOCHS)[0]))
    elif w is None:
        # Above the best weights for m of n rows only about width n / m lie lower than those do (Clarkson 1995).
        best = widest(part, clock, augmented=augmented)
        w, support, shares = best.w, index[best.ids], best.weights
    low = lowest(rows.heights(w)[0], rows.width)
    working = WorkingSet(view, np.concatenate([support, np.setdiff1d(low, support)]))
    working.start(np.arange(support.size), shares)
    go_on(working, clock, widest=True)
    w = tidy(view.back(working.point))
    return Widest(w if augmented else centred(rows, w), working.support, working.shares)


def _frame(rows: SignedRows, augmented: bool) -> tuple[Array, float, float]:
    """Give the centre of the rows, how far they are from it, and the constant that the bias is a weight on."""
    if augmented:
        return np.zeros(rows.features), math.sqrt(rows.table.largest + 1.0), 1.0
    table, step = rows.table.rows, -(-rows.n // SAMPLE)
    if isinstance(table, Dense):
        X = table.X[::step].astype(float)
        centre = X.mean(axis=0)
        squares = ((X - centre) ** 2).sum(axis=1)
    else:  # not moved: that would fill it
        whole = sp.csr_array((table.data, table.indices, table.indptr), shape=(rows.n, rows.features))
        few = whole[::step].astype(float)
        centre = few.mean(axis=0)
        squares = few.multiply(few).sum(axis=1) - 2.0 * (few @ centre) + centre @ centre
    spread = math.sqrt(max(float(squares.max()), 0.0))
    return centre, spread or 1.0, PADDING * (spread or 1.0)


def centred(rows: SignedRows, w: Array) -> Array:
    """Move the hyperplane half-way between the closest rows of two classes."""
    sign = 2.0 * rows.label - 1.0
    heights = rows.heights(w)[0] * sign
    w = w.copy()
    w[-1] -= (heights[sign > 0].min() + heights[sign < 0].max()) / 2
    return w


def _widest_wide(rows: SignedRows, clock: Clock, *, augmented: bool) -> Widest:
    """Do the same for rows that are longer than they are many, from those that coordinate descent leans on."""
    _, spread, padding = _frame(rows, augmented)
    view = Framed(rows, np.zeros(rows.features), np.full(rows.features, 1.0 / spread), 1.0, unit=False)
    _, alpha = descend(view, LONG, on=True)
    ids = np.flatnonzero(alpha)
    share = alpha[ids] / alpha.sum()
    while True:
        clock.look()
        rotated = Rotated(rows, ids, padding, unit=False)
        working = WorkingSet(rotated, np.arange(rotated.n))
        working.start(np.flatnonzero(share), share[share > 0])
        go_on(working, clock, widest=True)
        w, support = rotated.back(working.point), ids[working.support]
        heights = rows.heights(w)[0]
        low = np.setdiff1d(np.flatnonzero(heights < heights[support].min() * (1 - 1e-7)), ids)
        if not low.size or ids.size >= MOST:
            return Widest(tidy(w) if augmented else centred(rows, tidy(w)), support, working.shares)
        ids = np.union1d(support, low[np.argsort(heights[low])[:EXTRA]])
        share = np.zeros(ids.size)
        share[np.searchsorted(ids, support)] = working.shares
