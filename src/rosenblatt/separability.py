"""Is the data linearly separable? Search with floats, then prove what was found in exact arithmetic.

The point nearest to the origin in the convex hull of the signed rows is a separator or, if it is the origin, the proof
that there is none (Gordan 1873). What the search says is believed only after an exact check, so that rounding may cost
time but never a wrong verdict; where floats cannot tell, the same search runs on integers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import combinations
from operator import mul
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.linalg

from rosenblatt import _activeset as activeset
from rosenblatt._activeset import LIMIT, NEAREST, ORIGIN
from rosenblatt._kernels import Csr, Dense, PassiveAggressiveRule, Tally, Task
from rosenblatt.certificates import ARITHMETICS, Bracket, Certificate, augmented_bracket, issue, margin_bracket, prepare
from rosenblatt.errors import InvalidInput
from rosenblatt.methods import FirstOrder, Sweep
from rosenblatt.model import EVERY_ROW, code
from rosenblatt.order import Order
from rosenblatt.rational import as_integers, lift, null_space, null_vector, pivots, primitive, solve
from rosenblatt.signed import SignedRows

Array = npt.NDArray[Any]

# Width from which rows are turned into the space that they span, and how many of them that is done for.
WIDE, MOST = 1500, 6000
# Rows of the sample that a frame is fitted to.
SAMPLE = 4096
# The bias is a weight on a constant; so large that its share of the length of w does not count.
PADDING = 100.0
# Epochs of coordinate descent before the search.
EPOCHS, LONG = 3, 100
BLOCK = 4096
# Rows that a wide search takes in at a time.
EXTRA = 500


def certify(
    X: Any, y: Any, *, margin: bool = True, exact: str = "binary", time_limit: float | None = None
) -> Certificate:
    """Decide whether classes can be told apart by hyperplanes, and prove it.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes; or more, which are then told apart jointly: by one weight vector each, the own score being higher
        than every other.
    margin : bool
        Whether to look for the largest margin too, where two classes are separable. It is bracketed between two proved
        numbers, as is the number of mistakes that a perceptron can make.
    exact : {"binary", "decimal"}
        What a value means: the float itself, or the shortest decimal that rounds to it (0.1 is then one tenth).
    time_limit : float or None
        Seconds after which the verdict is "undecided".

    Returns
    -------
    Certificate
        Whose claims hold in exact arithmetic: `verify` and the stand-alone checker confirm them without trusting it.

    Notes
    -----
    Without a time limit the verdict is "undecided" only for more than 6,000 rows of more than 1,500 features that are
    not separable, where some tie between them is too large for the exact solver.

    References
    ----------
    Gordan (1873), Mathematische Annalen 6; Albert and Anderson (1984), Biometrika 71, for the three verdicts; Lawson
    and Hanson (1974) and Wolfe (1976) for the search.

    Examples
    --------
    >>> from rosenblatt import certify
    >>> certificate = certify([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0])
    >>> certificate.verdict, certificate.support, certificate.multipliers
    ('overlapping', (0, 1, 2, 3), (1, 1, 1, 1))
    """
    _check_options(exact, time_limit)
    rows, classes = prepare(X, y, decimal=exact == "decimal")
    return _certify(rows, classes, margin, time_limit)


def certify_pairs(
    X: Any, y: Any, *, margin: bool = True, exact: str = "binary", time_limit: float | None = None
) -> dict[tuple[Any, Any], Certificate]:
    """Certify every pair of classes by itself.

    Parameters
    ----------
    X, y, margin, exact
        As for `certify`.
    time_limit : float or None
        Seconds for each pair.

    Returns
    -------
    dict
        For each pair of labels, in sorted order, a certificate on the rows of these two.
    """
    _check_options(exact, time_limit)
    rows, classes = prepare(X, y, decimal=exact == "decimal")
    found = {}
    for a, b in combinations(range(rows.classes), 2):
        index = np.flatnonzero((rows.label == a) | (rows.label == b))
        pair = SignedRows(rows.table.take(index), rows.label[index] == b, 2, decimal=rows.decimal)
        found[classes[a], classes[b]] = _certify(pair, (classes[a], classes[b]), margin, time_limit)
    return found


def _check_options(exact: str, time_limit: float | None) -> None:
    if exact not in ARITHMETICS:
        raise InvalidInput(f"exact={exact!r} is not known. Choose one of {', '.join(ARITHMETICS)}.")
    if time_limit is not None and not time_limit > 0:
        raise InvalidInput(f"time_limit={time_limit!r} is not a positive number of seconds.")


def _certify(rows: SignedRows, classes: tuple[Any, ...], margin: bool, time_limit: float | None) -> Certificate:
    clock = Clock(time_limit)
    # Values that leave the range of floats lead a search astray, not a proof.
    with np.errstate(all="ignore"):
        try:
            claims = _claims(rows, clock)
        except OutOfTime:
            claims = {"verdict": "undecided", "reason": f"the time limit of {time_limit} seconds was over"}
        if margin and claims["verdict"] == "separable" and rows.classes == 2:
            with suppress(OutOfTime):  # the verdict stands without them
                claims |= _margins(rows, np.array(claims["vector"], float), clock)
    return issue(rows, classes, **claims)


def _claims(rows: SignedRows, clock: Clock) -> dict[str, Any]:
    """Find what a certificate claims: the verdict and its witnesses."""
    if (rows.label == 1).all() and rows.classes == 2:
        return {"verdict": "separable", "vector": (0.0,) * rows.features + (1.0,)}
    proof, view = decide(rows, clock)
    if proof is None:
        return {"verdict": "undecided", "reason": "the rows are too many and too long for the search"}
    if proof.w is not None:
        present = _present(rows)
        return {"verdict": "separable", "vector": _vector(proof.w), "diverging": tuple(present.tolist())}
    found = reduce(rows, view, proof, clock)
    if found.verdict == "undecided":
        return {"verdict": "undecided", "reason": "no hyperplane separates, but whether one separates weakly is open"}
    order = np.argsort(found.proof.support)
    row, rival = rows.split(np.array(found.proof.support)[order])
    multipliers = _multipliers(rows, found.proof)
    return {
        "verdict": found.verdict,
        "support": tuple(row.tolist()),
        "rivals": tuple(rival.tolist()),
        "multipliers": tuple(multipliers[t] for t in order),
        "vector": None if found.weak is None else _vector(found.weak),
        "null_basis": tuple(tuple(direction) for direction in found.null_basis),
        "diverging": found.diverging,
    }


def _present(rows: SignedRows) -> Array:
    """Tell which weights belong to a feature that is not zero everywhere, or are a bias."""
    table = rows.table.rows
    if isinstance(table, Dense):
        used = np.append(table.X.any(axis=0), True)
    else:
        used = np.append(np.bincount(table.indices[table.data != 0], minlength=rows.features) > 0, True)
    return np.tile(used, rows.classes - 1)


def _vector(w: Any) -> tuple[Any, ...]:
    return tuple(w.tolist()) if isinstance(w, np.ndarray) else tuple(Fraction(v) for v in w)


def _multipliers(rows: SignedRows, proof: Proof) -> list[int]:
    """Turn counts of rows made whole into multipliers of the rows themselves."""
    shares = [count / rows.integers(i)[1] for i, count in zip(proof.support, proof.counts, strict=True)]
    common = math.lcm(*(share.denominator for share in shares))
    return primitive([int(share * common) for share in shares])


def _margins(rows: SignedRows, w: Array, clock: Clock) -> dict[str, Any]:
    """Bracket the largest margin, as a distance and as the mistake bound has it."""
    claims: dict[str, Any] = {}
    if rows.label.min() == 0:
        best = widest(rows, w, clock, augmented=False)
        claims["margin"] = margin_bracket(rows, best.w, best.ids.tolist(), best.weights.tolist())
        if claims["margin"].lower > 0:
            claims["vector"] = _vector(best.w)
    best = widest(rows, w, clock, augmented=True)
    claims["augmented"] = augmented_bracket(rows, best.w, best.ids.tolist(), best.weights.tolist())
    return claims


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


class Proof(NamedTuple):
    """What decides: a separator, or signed rows with positive integers for which their sum vanishes."""

    w: Any  # floats or integers, None where there is none
    support: list[int]
    counts: list[int]  # of the rows as `SignedRows.integers` gives them


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
        self.n, self.width = rows.n, rows.width
        self.lengths = np.sqrt(self.squares()) if unit else np.ones(1)

    def squares(self) -> Array:
        """Give the squared length that every row has before it is made one."""
        squares = np.empty(self.rows.samples)
        table = self.rows.table.rows
        if self.inverse.ndim == 2:
            for first in range(0, self.rows.n, BLOCK):
                Z = self._into(self.rows.gather(np.arange(first, min(first + BLOCK, self.rows.n))))
                squares[first : first + BLOCK] = np.einsum("ij,ij->i", Z, Z)
        elif isinstance(table, Dense):
            activeset.squares_dense(table.X, self.centre, self.inverse, squares)
        else:
            activeset.squares_csr(table.data, table.indices, table.indptr, self.inverse, squares)
        if self.rows.classes == 2:
            return squares
        # A rival has a block of its own, unless it or the sample's class is the one whose weights are zero.
        row, rival = self.rows.split(np.arange(self.rows.n))
        return squares[row] * np.where((rival == 0) | (self.rows.label[row] == 0), 1.0, 2.0)

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
        heights: Array = self.rows.heights(self.back(u))[0] / self.lengths
        return heights

    def back(self, u: Array) -> Array:
        """Give the weights of the signed rows."""
        blocks = u.reshape(-1, self.rows.features + 1).copy()
        weights = blocks[:, :-1]
        weights = weights * self.inverse if self.inverse.ndim == 1 else weights @ self.inverse.T
        blocks[:, -1] = blocks[:, -1] * self.padding - weights @ self.centre
        blocks[:, :-1] = weights
        return blocks.ravel()


class Rotated:
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
        self.Z = np.empty((ids.size, rank))
        self.Z[order - 1] = np.tril(L[:, :rank])
        self.n, self.width = self.Z.shape

    def gather(self, ids: Array) -> Array:
        """Copy some rows."""
        rows: Array = self.Z[ids]
        return rows

    def heights(self, u: Array) -> Array:
        """Give the product of every row with u."""
        heights: Array = self.Z @ u
        return heights

    def back(self, u: Array) -> Array:
        """Give the weights of the signed rows: a combination of those that the others are made of."""
        shares = scipy.linalg.solve_triangular(self.triangle, u, lower=True, trans=1) * self.scale[self.basis]
        return _combine(self.rows, self.ids[self.basis], shares, self.padding)


class Projected:
    """The rows of a view that do not vanish on a subspace, in coordinates of that subspace, of length one."""

    def __init__(self, view: View, basis: Array) -> None:
        Z = np.empty((view.n, basis.shape[1]))
        for first in range(0, view.n, BLOCK):
            Z[first : first + BLOCK] = view.gather(np.arange(first, min(first + BLOCK, view.n))) @ basis
        self._keep(view, basis, np.arange(view.n), Z)

    def _keep(self, view: View, basis: Array, ids: Array, Z: Array) -> None:
        size = np.sqrt(np.einsum("ij,ij->i", Z, Z))
        kept = np.flatnonzero(size > 1e-9)
        self.view, self.basis, self.ids = view, basis, ids[kept]
        self.Z = Z[kept] / size[kept, None]
        self.n, self.width = self.Z.shape

    def vanishing(self, ids: Array, rank: int) -> Projected:
        """Go on to the subspace on which some of the rows vanish too, which are of that rank."""
        inside = _complement(self.Z[np.searchsorted(self.ids, ids)], rank)
        smaller = Projected.__new__(Projected)
        smaller._keep(self.view, self.basis @ inside, self.ids, self.Z @ inside)
        return smaller

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
        return self.view.back(self.basis @ u)


def _complement(Z: Array, rank: int) -> Array:
    """Give an orthonormal basis of what is orthogonal to rows of that rank."""
    basis: Array = scipy.linalg.qr(Z.T, pivoting=True)[0][:, rank:]
    return basis


def _standard(rows: SignedRows) -> Framed:
    """Standardise the features; those of sparse data are scaled, not moved."""
    table = rows.table.rows
    if isinstance(table, Csr):
        largest = np.zeros(rows.features)
        np.maximum.at(largest, table.indices, np.abs(table.data))
        return Framed(rows, np.zeros(rows.features), _reciprocal(largest), 1.0, unit=True)
    sample = table.X[:: -(-rows.samples // SAMPLE)].astype(float)
    return Framed(rows, sample.mean(axis=0), _reciprocal(sample.std(axis=0)), 1.0, unit=True)


def _whitened(rows: SignedRows) -> Framed:
    """Turn the features into uncorrelated ones, by the QR factors of a sample."""
    sample = np.arange(0, rows.samples, -(-rows.samples // SAMPLE)) * (rows.classes - 1)
    Z = rows.gather(sample)
    bias = Z.reshape(len(Z), -1, rows.features + 1)
    own = np.argmax(np.abs(bias[:, :, -1]), axis=1)
    X = bias[np.arange(len(Z)), own] * bias[np.arange(len(Z)), own, -1:]
    centre, scale = X[:, :-1].mean(axis=0), _reciprocal(X[:, :-1].std(axis=0))
    R = scipy.linalg.qr((X[:, :-1] - centre) * scale, mode="r")[0][: X.shape[1] - 1]
    if R.shape[0] < R.shape[1] or np.abs(np.diag(R)).min() <= 1e-14 * np.abs(R).max():
        return Framed(rows, centre, scale, 1.0, unit=True)
    inverse = scipy.linalg.solve_triangular(R, np.eye(len(R))) * math.sqrt(len(Z))
    return Framed(rows, centre, scale[:, None] * inverse, 1.0, unit=True)


def tidy(w: Array) -> Array:
    """Scale by a power of two, so that the largest weight is about 1."""
    largest = np.abs(w).max()
    return np.ldexp(w, -math.frexp(largest)[1]) if 0 < largest < np.inf else w


def _reciprocal(scale: Array) -> Array:
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


# ------------------------------------------------------------------------------------------------- search with floats


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
        columns = np.vstack([self.A[place].T, np.ones(place.size)])
        Q, R, order = scipy.linalg.qr(columns, mode="economic", pivoting=True)
        size = np.abs(np.diag(R))
        k = int(np.count_nonzero(size > 1e-8 * size[0]))
        Q, order = Q[:, :k], order[:k]
        self.k, self.place[:k], self.share[:k] = k, place[order], share[order]
        self.factors[0][:k], self.factors[1][:k, :k], self.factors[2][:k] = Q.T, R[:k, :k], Q[-1]
        self.r -= Q @ Q[-1]

    def search(self, widest: bool, tol: float, zero: float) -> int:
        """Go on towards the nearest point, or to the first separator; tell how it ended."""
        iterations = 100 if self.A.shape[1] > 300 else 1000
        given = (self.A, self.ids.size, self.place, self.share, self.k, *self.factors, self.r)
        self.k, end, _ = activeset.nearest_point(*given, tol, zero, iterations, not widest)
        return int(end)

    def extend(self, heights: Array) -> bool:
        """Take in rows that lie lower than the support; tell whether there were any."""
        low = np.flatnonzero((heights < self.r[-1] * (1 - 1e-9)) & ~self.member)
        most = max(self.view.width, 50)
        if low.size > most:
            low = low[np.argpartition(heights[low], most - 1)[:most]]
        if low.size:
            self.add(low)
        return bool(low.size)


def nearest(view: View, first: Array, clock: Clock, *, widest: bool, zero: float = 1e-12) -> tuple[int, WorkingSet]:
    """Search for the nearest point of all rows, or for any separator; ORIGIN says that the point is the origin."""
    working = WorkingSet(view, first)
    return _continue(working, clock, widest=widest, zero=zero), working


def _continue(working: WorkingSet, clock: Clock, *, widest: bool, zero: float = 1e-12) -> int:
    """Go on with a search until nothing is left to take in."""
    while True:
        before = np.linalg.norm(working.r)
        end = working.search(widest, 1e-10, zero)
        if end == ORIGIN:
            return ORIGIN
        if end == LIMIT and np.linalg.norm(working.r) >= before:
            return NEAREST  # rounding keeps it where it is
        clock.look()
        heights = working.view.heights(working.point)
        if (not widest and working.k and heights.min() > 0) or (end != LIMIT and not working.extend(heights)):
            return NEAREST


def _lowest(heights: Array, width: int) -> Array:
    """Choose the rows to begin with: those that lie lowest."""
    size = min(heights.size, max(6 * width, 200))
    return np.arange(heights.size) if size == heights.size else np.argpartition(heights, size - 1)[:size]


def _descend(view: Framed, epochs: int, *, on: bool = False) -> tuple[Array, Array, bool]:
    """Pass over two classes by dual coordinate descent; give u, the multipliers, and whether it seems to separate.

    It ends when it separates unless told to go `on`, towards the largest margin.
    """
    rows, table = view.rows, view.rows.table.rows
    u, alpha, square = np.zeros(view.width), np.zeros(view.n), view.squares()
    sign = 2.0 * rows.label - 1.0
    rng = np.random.default_rng(0)
    for _ in range(epochs):
        order = rng.permutation(rows.n)
        if isinstance(table, Dense):
            wrong = activeset.descend_dense(table.X, sign, view.centre, view.inverse, square, order, u, alpha)
        else:
            given = (table.data, table.indices, table.indptr, sign, view.inverse)
            wrong = activeset.descend_csr(*given, square, order, u, alpha)
        if not on and (wrong == 0 or (wrong < rows.n // 100 and view.heights(u).min() > 0)):
            return u, alpha, True
    return u, alpha, False


def _advance(rows: SignedRows, epochs: int) -> Array:
    """Pass over several classes by passive-aggressive updates of the own and the highest other score; give weights."""
    method = FirstOrder(PassiveAggressiveRule(np.inf))
    state = method.start(rows.classes, rows.features, rows.table.dtype)
    sign = code(rows.classes, "joint")
    label, none = rows.label.astype(np.int32), np.empty(0)
    task = Task(label, sign, np.ones(sign.shape), np.ones(rows.classes), none, none, 1.0)
    order = Order("shuffled", label, EVERY_ROW, 0)
    for _ in range(epochs):
        tally = Tally(*np.zeros((2, 1), np.int64), *np.zeros((2, 1)))
        sweep = Sweep(rows.table.rows, task, order.draw(), EVERY_ROW, np.arange(1), 1.0, tally, joint=True)
        method.sweep(sweep, state, state)
        if tally.mistakes[0] == 0:
            break
    W: Array = np.column_stack([state.W, state.b]).astype(float)
    return np.ravel(W[1:] - W[0])


# ------------------------------------------------------------------------------------------------------- exact proofs


def _matrix(rows: SignedRows, ids: list[int]) -> tuple[list[list[int]], list[int]]:
    """Give rows as integers over the columns in which one of them has an entry."""
    entries = [rows.integers(i)[0] for i in ids]
    columns = sorted(set().union(*entries))
    return [[row.get(j, 0) for j in columns] for row in entries], columns


def _separates(rows: SignedRows, w: Array) -> bool:
    return bool(np.isfinite(w).all() and (rows.signs(w) > 0).all())


def _vanishing(rows: SignedRows, ids: list[int], clock: Clock) -> Proof | None:
    """Prove that the hull of the support holds the origin, if it does."""
    clock.look(_solving_time(len(ids)))
    counts = null_vector(_matrix(rows, ids)[0])
    if counts is None or min(counts) < 0:
        return None
    kept = [(i, count) for i, count in zip(ids, counts, strict=True) if count]
    return Proof(None, [i for i, _ in kept], [count for _, count in kept])


def _solving_time(size: int) -> float:
    """Estimate the seconds of an exact solution, which cannot be interrupted."""
    return 5e-8 * size**3


# The frames to search in, one after the other: whether to go on to the nearest point, and what counts as zero.
ATTEMPTS = ((None, False, 1e-12), (None, True, 1e-12), (_whitened, True, 1e-12), (None, True, 0.0))


def decide(rows: SignedRows, clock: Clock) -> tuple[Proof | None, View]:
    """Find a separator or multipliers that rule one out, and where; None if the search gave up."""
    view = _standard(rows)
    wide = rows.width > WIDE and 2 * rows.n < 3 * rows.width
    alpha = np.ones(rows.n)
    if rows.classes == 2:
        u, alpha, _ = _descend(view, LONG if wide else EPOCHS)
        w = tidy(view.back(u))
    else:
        w = tidy(_advance(rows, LONG))
    heights = rows.heights(w)[0]
    if heights.min() > 0 and _separates(rows, w):
        return Proof(w, [], []), view
    if wide:
        return _decide_wide(rows, alpha, clock)
    first = _lowest(heights / view.lengths, view.width)
    for make, widest, zero in ATTEMPTS:
        tried = view if make is None else make(rows)
        end, working = nearest(tried, first, clock, widest=widest, zero=zero)
        proof = _checked(rows, tried, end, working, clock)
        if proof is not None:
            return proof, view
    support = [int(i) for i in working.support] or [0]
    exact = Grid(rows, view).nearest(support, np.arange(rows.n), clock)
    return _vanishing(rows, exact.support, clock) if exact and exact.support else exact, view


def _checked(rows: SignedRows, view: View, end: int, working: WorkingSet, clock: Clock) -> Proof | None:
    """Turn what a search found into a proof, if it holds exactly."""
    if end == ORIGIN:
        support = view.ids[working.support] if isinstance(view, Rotated) else working.support
        return _vanishing(rows, [int(i) for i in support], clock)
    w = tidy(view.back(working.point))
    return Proof(w, [], []) if _separates(rows, w) else None


def _decide_wide(rows: SignedRows, alpha: Array, clock: Clock) -> tuple[Proof | None, View]:
    """Decide for rows that are longer than they are many, from those that coordinate descent leans on."""
    ids = np.flatnonzero(alpha > 0)
    if ids.size > MOST:
        ids = np.sort(ids[np.argpartition(-alpha[ids], MOST - 1)[:MOST]])
    while True:
        clock.look()
        view = Rotated(rows, ids)
        end, working = nearest(view, np.arange(view.n), clock, widest=False)
        proof = _checked(rows, view, end, working, clock)
        if proof is not None:
            whole = proof.w is None and ids.size < rows.n <= MOST  # what follows needs all rows in one space
            return proof, Rotated(rows, np.arange(rows.n)) if whole else view
        heights = rows.heights(view.back(working.point))[0]
        low = np.setdiff1d(np.flatnonzero(heights <= 0), ids)
        if end == ORIGIN or not low.size or ids.size >= MOST:
            return None, view
        ids = np.union1d(ids, low[np.argsort(heights[low])[:EXTRA]])


class Lattice:
    """Signed rows as integers, in coordinates of which a subclass knows the way back."""

    def __init__(self, rows: SignedRows) -> None:
        self.rows = rows
        self.known: dict[int, list[int]] = {}

    def _row(self, entries: dict[int, int]) -> list[int]:
        raise NotImplementedError

    def back(self, u: list[int]) -> list[int]:
        """Give the weights of the signed rows."""
        raise NotImplementedError

    def row(self, i: int) -> list[int]:
        """Give a row, divided by its common factor."""
        if i not in self.known:
            self.known[i] = primitive(self._row(self.rows.integers(i)[0]))
        return self.known[i]

    def nearest(self, support: list[int], ids: Array, clock: Clock) -> Proof | None:
        """Run Wolfe's nearest point algorithm on rows `ids` from a support: it ends, with weights or with a support.

        The counts of the support are left to be found. None if a system without a solution shows an earlier fault.
        """
        independent, _ = pivots([[*self.row(i), 1] for i in support])
        support = [support[a] for a in independent]
        share = [Fraction(1, len(support))] * len(support)
        while True:
            while True:
                clock.look(_solving_time(len(support)))
                goal = self._affine_shares(support)
                if goal is None:
                    return None
                if min(goal) > 0:
                    share = goal
                    break
                theta = min(s / (s - g) for s, g in zip(share, goal, strict=True) if g <= 0)
                share = [s + theta * (g - s) for s, g in zip(share, goal, strict=True)]
                kept = [a for a, s in enumerate(share) if s > 0]
                support, share = [support[a] for a in kept], [share[a] for a in kept]
            point = self._combine(support, share)
            if not any(point):
                return Proof(None, support, [])
            w = self.back(point)
            low = ids[self.rows.signs(w)[ids] <= 0]
            if not low.size:
                return Proof(w, [], [])
            lowest = low[np.argmin(self.rows.heights(_as_floats(w))[0][low])]
            support, share = [*support, int(lowest)], [*share, Fraction(0)]

    def _affine_shares(self, support: list[int]) -> list[Fraction] | None:
        """Give the shares of the point nearest to the origin in the affine hull of independent rows."""
        Z = [self.row(i) for i in support]
        border = [0, *([1] * len(Z))]
        gram = [[1, *(sum(map(mul, a, b)) for b in Z)] for a in Z]
        solution = solve([border, *gram], [1, *([0] * len(Z))])
        return None if solution is None else [Fraction(v, solution[1]) for v in solution[0][1:]]

    def _combine(self, support: list[int], share: list[Fraction]) -> list[int]:
        """Add up rows times their shares, without the denominator."""
        common = math.lcm(*(s.denominator for s in share))
        whole = [int(s * common) for s in share]
        return primitive([sum(map(mul, whole, column)) for column in zip(*map(self.row, support), strict=True)])


class Grid(Lattice):
    """Coordinates near those of a frame: centred on and scaled by round numbers."""

    def __init__(self, rows: SignedRows, view: Framed) -> None:
        super().__init__(rows)
        self.size = rows.features + 1
        power = np.frexp(1.0 / view.inverse)[1].tolist()
        self.top = max(0, *power)
        self.shift = [self.top - q for q in power]
        self.centre = [round(Fraction(c) / Fraction(2) ** q) for c, q in zip(view.centre.tolist(), power, strict=True)]

    def _row(self, entries: dict[int, int]) -> list[int]:
        values = [0] * self.rows.width
        for first in range(0, self.rows.width, self.size):
            bias = entries.get(first + self.size - 1, 0) << self.top
            if bias:
                for j, (shift, centre) in enumerate(zip(self.shift, self.centre, strict=True)):
                    values[first + j] = (entries.get(first + j, 0) << shift) - bias * centre
                values[first + self.size - 1] = bias
        return values

    def back(self, u: list[int]) -> list[int]:
        """Give the weights of the signed rows."""
        w = []
        for first in range(0, self.rows.width, self.size):
            *weights, bias = u[first : first + self.size]
            w += [v << shift for v, shift in zip(weights, self.shift, strict=True)]
            w.append((bias - sum(map(mul, self.centre, weights))) << self.top)
        return primitive(w)


class Face(Lattice):
    """Coordinates of a subspace, by a basis of it."""

    def __init__(self, rows: SignedRows, basis: list[list[int]]) -> None:
        super().__init__(rows)
        self.basis = basis

    def _row(self, entries: dict[int, int]) -> list[int]:
        return [sum(v * direction[j] for j, v in entries.items()) for direction in self.basis]

    def back(self, u: list[int]) -> list[int]:
        """Give the weights of the signed rows."""
        return primitive([sum(map(mul, u, column)) for column in zip(*self.basis, strict=True)])


def _as_floats(w: list[int]) -> Array:
    size = max(v.bit_length() for v in w)
    return np.array([float(Fraction(v, 1 << size)) for v in w])


# ------------------------------------------------------------------------------------------------ between the verdicts


class Reduction(NamedTuple):
    """What keeps rows from being separated.

    Attributes
    ----------
    verdict : str
    proof : Proof
        Support and counts.
    weak : list of int or None
        A weak separator.
    null_basis : list of list of int
        Directions in which all rows vanish.
    diverging : tuple of bool
        Coefficients that some weak separator changes; empty if unknown.
    """

    verdict: str
    proof: Proof
    weak: list[int] | None = None
    null_basis: Sequence[list[int]] = ()
    diverging: tuple[bool, ...] = ()


def reduce(rows: SignedRows, view: View, proof: Proof, clock: Clock) -> Reduction:
    """Tell quasi-separable from overlapping rows (Albert and Anderson 1984) by exact facial reduction.

    Every w with Z w >= 0 vanishes on the support, so on all rows in its span. What is left of the others on the
    vectors that vanish there is a smaller problem of the same kind: a separator of it is the weak separator of all
    rows, multipliers of it enlarge the support. Each round enlarges its span.
    """
    rest: Projected | None = None
    support, before = proof.support, 0
    while True:
        clock.look()
        whole = _whole(rows, proof.support)
        rank = len(pivots(whole)[0])
        if rank == rows.width:
            return Reduction("overlapping", proof, diverging=(False,) * rows.width)
        if rest is None:
            rest = Projected(view, _complement(view.gather(np.array(support)), rank))
        else:
            rest = rest.vanishing(np.array(support), rank - before)
        if not rest.n:
            basis = null_space(whole, rows.width)
            return Reduction("overlapping", proof, null_basis=basis, diverging=(False,) * rows.width)
        step = _reduced(rows, proof, rest, clock) or _reduced_exactly(rows, proof, whole, clock)
        if step is None:
            return Reduction("undecided", proof)
        if step.w is not None:
            return Reduction("quasi-separable", proof, step.w, diverging=_diverging(rest))
        support, before, proof = step.support[len(proof.support) :], rank, step


def _reduced(rows: SignedRows, proof: Proof, rest: Projected, clock: Clock) -> Proof | None:
    """Find a weak separator or a larger support with floats; None if neither holds exactly."""
    first = _lowest(rest.heights(rest.Z.mean(axis=0)), rest.width)
    for widest in (False, True):
        end, working = nearest(rest, first, clock, widest=widest)
        if end == ORIGIN:
            step = _enlarged(rows, proof, [int(i) for i in rest.ids[working.support]], clock)
        else:
            weak = _lifted(rows, proof, rest.back(working.point), clock)
            step = Proof(weak, [], []) if weak and _separates_weakly(rows, weak) else None
        if step is not None:
            return step
    return None


def _reduced_exactly(rows: SignedRows, proof: Proof, whole: list[list[int]], clock: Clock) -> Proof | None:
    """Do the same on integers."""
    basis = null_space(whole, rows.width)
    rng = np.random.default_rng(0)
    # A row that vanishes on a combination at random of the basis vanishes on all of it, or spoils the check below.
    anywhere = Face(rows, basis).back(rng.integers(1, 1 << 60, len(basis)).tolist())
    ids = np.flatnonzero(rows.signs(anywhere))
    if not ids.size:
        return None
    step = Face(rows, basis).nearest([int(ids[0])], ids, clock)
    if step is None or step.w is None:
        return step and _enlarged(rows, proof, step.support, clock)
    return step if _separates_weakly(rows, step.w) else None


def _separates_weakly(rows: SignedRows, w: list[int]) -> bool:
    signs = rows.signs(w)
    return bool(signs.min() >= 0 and signs.max() > 0)


def _diverging(rest: Projected) -> tuple[bool, ...]:
    """Tell which weights differ from zero in directions that vanish on the support and not on all other rows."""
    view = rest.view
    if not isinstance(view, Framed):
        return ()
    values, vectors = np.linalg.eigh(rest.Z.T @ rest.Z)
    inside = (rest.basis @ vectors[:, values > 1e-12 * values[-1]]).T
    changes = np.abs(inside) > 1e-9
    for change, u in zip(changes, inside, strict=True):
        blocks, weights = u.reshape(-1, view.rows.features + 1), view.back(u).reshape(-1, view.rows.features + 1)
        size = np.abs(blocks[:, -1]) + np.abs(weights[:, :-1]) @ np.abs(view.centre)
        change[view.rows.features :: view.rows.features + 1] = np.abs(weights[:, -1]) > 1e-9 * size
    return tuple(changes.any(axis=0).tolist())


def _whole(rows: SignedRows, ids: list[int]) -> list[list[int]]:
    """Give rows as integers over all columns."""
    entries = [rows.integers(i)[0] for i in ids]
    return [[row.get(j, 0) for j in range(rows.width)] for row in entries]


def _enlarged(rows: SignedRows, proof: Proof, added: list[int], clock: Clock) -> Proof | None:
    """Join rows whose remainders vanish together to a support, with positive counts for all."""
    # From independent rows of the support, the dependence to be found is the only one.
    independent = pivots(_matrix(rows, proof.support)[0])[0]
    clock.look(_solving_time(len(independent) + len(added)))
    vector = null_vector(_matrix(rows, [*(proof.support[a] for a in independent), *added])[0])
    if vector is None:
        return None
    split = len(independent)
    sign = 1 if sum(vector[split:]) > 0 else -1
    old, new = [0] * len(proof.support), [sign * v for v in vector[split:]]
    for a, v in zip(independent, vector, strict=False):
        old[a] = sign * v
    if min(new) < 0:
        return None
    times = 1 + max(0, *(-(v // c) for v, c in zip(old, proof.counts, strict=True)))
    counts = [v + times * c for v, c in zip(old, proof.counts, strict=True)]
    kept = [(i, v) for i, v in zip(added, new, strict=True) if v]
    support = [*proof.support, *(i for i, _ in kept)]
    return Proof(None, support, primitive([*counts, *(v for _, v in kept)]))


def _lifted(rows: SignedRows, proof: Proof, w: Array, clock: Clock) -> list[int] | None:
    """Give integers near w, up to a factor, that vanish exactly on the support."""
    clock.look(_solving_time(len(proof.support)))
    Z = rows.gather(np.array(proof.support))
    # The columns that a pivoted factorisation takes first are well conditioned: they follow from the others.
    sizes = np.abs(Z).max(axis=0)
    order = scipy.linalg.qr(Z * _reciprocal(sizes), mode="r", pivoting=True)[1].tolist()
    whole = [[row[j] for j in order] for row in _whole(rows, proof.support)]
    bound = set(pivots(whole)[1])
    free = [a for a in range(rows.width) if a not in bound]
    values, _ = as_integers(tidy(w)[[order[a] for a in free]])
    vector = lift(whole, dict(zip(free, values, strict=True)), rows.width)
    if vector is None:
        return None
    out = [0] * rows.width
    for a, j in enumerate(order):
        out[j] = vector[a]
    return primitive(out)


# ---------------------------------------------------------------------------------------------------- largest margins


class Widest(NamedTuple):
    """Weights of largest margin, and signed rows whose weighted sum shows that none is larger."""

    w: Array
    ids: Array
    weights: Array


def widest(rows: SignedRows, w: Array, clock: Clock, *, augmented: bool) -> Widest:
    """Find the separator of two classes with the largest margin, from any separator w.

    Parameters
    ----------
    rows : SignedRows
    w : array of shape (width,)
        Where to look first: at the rows that lie lowest.
    clock : Clock
    augmented : bool
        Whether the bias counts in the length of the weights, as in the perceptron's mistake bound; otherwise the
        margin is the distance of the rows from the hyperplane.
    """
    features = rows.features
    if augmented:
        centre, padding = np.zeros(features), 1.0
        radius = spread = math.sqrt(rows.table.largest + 1.0)
    else:
        sample = np.arange(0, rows.n, -(-rows.n // SAMPLE))
        X = rows.gather(sample, np.arange(features)) * (2.0 * rows.label[sample, None] - 1.0)
        centre = X.mean(axis=0)
        spread = math.sqrt(float(((X - centre) ** 2).sum(axis=1).max())) or 1.0
        radius = padding = PADDING * spread
    heights = rows.heights(w)[0]
    if rows.width > WIDE and 2 * rows.n < 3 * rows.width:
        return _widest_wide(rows, spread, padding, clock)
    view = Framed(rows, centre, np.full(features, 1.0 / radius), padding / radius, unit=False)
    _, working = nearest(view, _lowest(heights, rows.width), clock, widest=True)
    return Widest(tidy(view.back(working.point)), working.support, working.shares)


def _widest_wide(rows: SignedRows, spread: float, padding: float, clock: Clock) -> Widest:
    """Do the same for rows that are longer than they are many, from those that coordinate descent leans on."""
    _, alpha, _ = _descend(
        Framed(rows, np.zeros(rows.features), np.full(rows.features, 1 / spread), 1.0, False), 1000, on=True
    )
    ids = np.flatnonzero(alpha)
    share = alpha[ids] / alpha.sum()
    while True:
        clock.look()
        view = Rotated(rows, ids, padding, unit=False)
        working = WorkingSet(view, np.arange(view.n))
        working.start(np.flatnonzero(share), share[share > 0])
        _continue(working, clock, widest=True)
        w, support = view.back(working.point), ids[working.support]
        heights = rows.heights(w)[0]
        low = np.setdiff1d(np.flatnonzero(heights < heights[support].min() * (1 - 1e-7)), ids)
        if not low.size or ids.size >= MOST:
            return Widest(tidy(w), support, working.shares)
        ids = np.union1d(support, low[np.argsort(heights[low])[:EXTRA]])
        share = np.zeros(ids.size)
        share[np.searchsorted(ids, support)] = working.shares


class Hyperplane(NamedTuple):
    """A hyperplane between two classes, scaled so that the closest rows have y f(x) = 1."""

    w: Array
    b: float
    margin: Bracket
    support: Array


def widest_margin(rows: SignedRows, clock: Clock) -> Hyperplane | None:
    """Give the hyperplane with the largest distance from the rows of two classes; None if they cannot be separated."""
    with np.errstate(all="ignore"):
        proof, _ = decide(rows, clock)
        if proof is None or proof.w is None:
            return None
        start = proof.w if isinstance(proof.w, np.ndarray) else _as_floats(proof.w)
        best = widest(rows, start, clock, augmented=False)
    bracket = margin_bracket(rows, best.w, best.ids.tolist(), best.weights.tolist())
    w = best.w.copy()
    w[-1] = 0.0
    heights = rows.heights(w)[0] * (2.0 * rows.label - 1.0)
    low, high = heights[rows.label == 1].min(), heights[rows.label == 0].max()
    scale = 2.0 / (low - high)
    return Hyperplane(scale * w[:-1], float(1.0 - scale * low), bracket, np.sort(best.ids))
