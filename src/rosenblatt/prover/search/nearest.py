"""The point nearest to the origin in the convex hull of signed rows, with floats.

It is the normal of the hyperplane with the largest margin; or the origin itself, and then no hyperplane separates
(Gordan 1873). A `WorkingSet` of the rows of a `View` grows until no other row improves the point; within it a compiled
loop, `nearest_point`, solves for the shares of the rows with an active set.

A search over few rows takes milliseconds, and seconds to compile, so at first it runs as plain Python. It adds up in
order, which gives the same bits interpreted and compiled. A search over many rows adds up in any order, which is
faster. The number of rows and columns alone decides. The loops are written over numbers, not over arrays, which take
Numba ten times as long to compile, and without BLAS, which would start its threads for matrices that fit a cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

from rosenblatt.engine.jit import compiled, jitable
from rosenblatt.engine.rows import FASTMATH
from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.search import limits
from rosenblatt.prover.search.coordinates import RowSpaceView, View

Array = npt.NDArray[Any]

# How a search over a working set ended.
LIMIT, ORIGIN, NEAREST, APART = 0, 1, 2, 3


class ActiveSet(NamedTuple):
    """The support of a search and its factors. The first k of each are in use; all arrays are updated."""

    support: np.ndarray  # (width + 2,) rows
    share: np.ndarray  # (width + 2,) of the nearest point
    Q: np.ndarray  # (width + 2, width + 1) orthogonal factor, column after column
    R: np.ndarray  # (width + 2, width + 2) triangular factor, column after column
    c: np.ndarray  # (width + 2,) the target seen through Q
    r: np.ndarray  # (width + 1,) residual


class WorkingSet:
    """The rows that a search looks at, and the support that it has reached."""

    def __init__(self, view: View, first: Array) -> None:
        size = view.width + 2
        self.view = view
        self.A = np.empty((0, view.width))
        self.ids = np.empty(0, np.int64)
        self.member = np.zeros(view.n, bool)
        self.k = 0
        self.active = ActiveSet(
            support=np.zeros(size, np.int64),
            share=np.zeros(size),
            Q=np.zeros((size, view.width + 1)),
            R=np.zeros((size, size)),
            c=np.zeros(size),
            r=np.zeros(view.width + 1),
        )
        self.active.r[-1] = 1.0
        self.add(first)

    @property
    def support(self) -> Array:
        """Rows whose hull contains the nearest point."""
        support: Array = self.ids[self.active.support[: self.k]]
        return support

    @property
    def shares(self) -> Array:
        """Shares of the nearest point that the rows of the support have."""
        shares: Array = self.active.share[: self.k]
        return shares

    @property
    def residual(self) -> Array:
        """Minus the nearest point so far times the sum of the shares; last, one minus that sum."""
        residual: Array = self.active.r
        return residual

    @property
    def point(self) -> Array:
        """The nearest point so far, times the sum of the shares."""
        return -self.residual[:-1]

    def add(self, ids: Array) -> None:
        """Take in more rows."""
        size = self.ids.size
        if not size:
            self.A, self.ids = np.array(self.view.gather(ids), float, order="C"), np.array(ids, np.int64)
            self.member[ids] = True
            return
        if size + ids.size > len(self.A):
            grown = np.empty((2 * size + ids.size, self.A.shape[1]))
            grown[:size] = self.A[:size]
            self.A = grown
        self.A[size : size + ids.size] = self.view.gather(ids)
        self.ids = np.append(self.ids, ids)
        self.member[ids] = True

    def start(self, place: Array, share: Array) -> None:
        """Start from the independent ones among some rows of the working set, and their shares (a warm start)."""
        if not place.size:
            return
        columns = np.vstack([self.A[place].T, np.ones(place.size)])
        order: Array = np.arange(place.size)
        Q, R = scipy.linalg.qr(columns, mode="economic", check_finite=False)
        size = np.abs(np.diag(R))
        if place.size > len(columns) or size.min() <= limits.SURELY_INDEPENDENT_SHARE * size.max():
            # Pivoting is much slower, but shows which rows are independent.
            Q, R, order = scipy.linalg.qr(columns, mode="economic", pivoting=True)
            size = np.abs(np.diag(R))
        k = int(np.count_nonzero(size > limits.INDEPENDENT_SHARE * size[0]))
        Q, order = Q[:, :k], order[:k]
        active = self.active
        self.k, active.support[:k], active.share[:k] = k, place[order], share[order]
        active.Q[:k], active.R[:k, :k], active.c[:k] = Q.T, R[:k, :k].T, Q[-1]
        active.r[:] -= Q @ Q[-1]

    def start_with_basis(self, view: RowSpaceView, share: Array) -> None:
        """Start from the rows of the view's basis, all of them in the working set, and their shares.

        Their matrix L is triangular, so the factors of (L, 1) have a closed form (Gill, Golub, Murray and Saunders
        1974), with p the solution of L p = 1 and t the cumulative sums of one and the squares of p.
        """
        L, k = view.triangle, view.basis.size
        p = scipy.linalg.solve_triangular(L, np.ones(k), lower=True)
        t = 1.0 + np.cumsum(p * p)
        before = np.append(1.0, t[:-1])
        factor, ratio = p / np.sqrt(t * before), np.sqrt(t / before)
        active = self.active
        self.k, active.support[:k], active.share[:k] = k, view.basis, share[view.basis]
        for i in range(k):  # row by row, to skip the zero halves of the triangles
            active.Q[i, :i] = -factor[i] * p[:i]
            active.R[i, : i + 1] = L[i, : i + 1] * ratio[: i + 1]
            active.R[i, :i] += np.cumsum((L[i, 1 : i + 1] * p[1 : i + 1])[::-1])[::-1] * factor[:i]
        np.fill_diagonal(active.Q[:k, :k], 1.0 / ratio)
        active.Q[:k, k], active.c[:k] = factor, factor
        active.r[:k], active.r[k] = -p / t[-1], 1.0 / t[-1]

    def search(self, iterations: int, *, to_optimum: bool, zero: float = limits.ZERO_SHARE) -> int:
        """Continue towards the nearest point, or to the first separator; return how the search ended."""
        self.k, end, _ = nearest_point(self.A, self.ids.size, self.active, self.k, zero, iterations, not to_optimum)
        return int(end)

    def extend(self, margins: Array) -> bool:
        """Take in the rows of lowest margin if any is below the support's; return whether there was one."""
        margins = np.where(self.member, np.inf, margins)
        if not (
            margins < self.residual[-1] * (1 - limits.MARGIN_GAP)
        ).any():  # false for NaN: overflow must not loop forever
            return False
        low = lowest_rows(margins, self.view.width)
        self.add(low[margins[low] < np.inf])
        return True


def find_nearest_point(
    view: View, first: Array, deadline: Deadline, *, to_optimum: bool, zero: float = limits.ZERO_SHARE
) -> tuple[int, WorkingSet]:
    """Search all rows for the nearest point, or for any separator; return how the search ended, and its working set."""
    working = WorkingSet(view, first)
    return continue_search(working, deadline, to_optimum=to_optimum, zero=zero), working


def continue_search(
    working: WorkingSet, deadline: Deadline, *, to_optimum: bool, zero: float = limits.ZERO_SHARE
) -> int:
    """Continue a search until no other row improves the point; return ORIGIN if it is the origin, else NEAREST."""
    width = working.view.width
    iterations = min(
        limits.ITERATIONS,
        max(limits.MIN_ITERATIONS, int(limits.PRODUCTS / (width * (working.ids.size + 6 * width) + 1))),
    )
    most = limits.MAX_ROUNDS * (1 + (working.view.width + working.view.n) // iterations)
    for _ in range(most):
        before = np.linalg.norm(working.residual)
        end = working.search(iterations, to_optimum=to_optimum, zero=zero)
        if end == ORIGIN:
            return ORIGIN
        if end == LIMIT and np.linalg.norm(working.residual) >= before:
            return NEAREST  # rounding prevents further progress
        deadline.check()
        margins = working.view.margins(working.point)
        if (not to_optimum and working.k and margins.min() > 0) or (end != LIMIT and not working.extend(margins)):
            return NEAREST
    return NEAREST  # rounding keeps it from converging


def lowest_rows(margins: Array, width: int) -> Array:
    """Return the rows with the lowest margins: one batch for the working set."""
    most = max(limits.ADDED_ENTRIES // (width + 1), 2 * width)
    size = min(margins.size, max(min(limits.ADDED_ROWS_PER_COLUMN * width, most), limits.MIN_ADDED_ROWS))
    return np.arange(margins.size) if size == margins.size else np.argpartition(margins, size - 1)[:size]


# ----------------------------------------------------------------------------------------------------- compiled loops


class Candidates(NamedTuple):
    """State of each row of a working set during a search."""

    within: np.ndarray  # whether it is in the support
    barred: np.ndarray  # whether it was found to depend on the support
    gain: np.ndarray  # its product with the residual
    scratch: np.ndarray  # space to select the largest gains in
    listed: np.ndarray  # numbers of the rows that an iteration looks at first


@jitable
def _dot(ordered, A, i, v):
    """Return the product of row i of A with v, added up from the first term to the last or in any order."""
    if not ordered:
        return _dot_any_order(A, i, v)
    total = 0.0
    for j in range(v.size):
        total += A[i, j] * v[j]
    return total


@compiled(forceinline=True, fastmath=FASTMATH)
def _dot_any_order(A, i, v):
    total = 0.0
    for j in range(v.size):
        total += A[i, j] * v[j]
    return total


@jitable
def _times(ordered, A, k, v, out):
    """Write the products of the first k rows of A with v."""
    for i in range(k):
        out[i] = _dot(ordered, A, i, v)


@jitable
def _subtract(A, k, shares, v):
    """Subtract the first k rows of A, each times its share, from v."""
    for i in range(k):
        share = shares[i]
        for j in range(v.size):
            v[j] -= share * A[i, j]


@jitable
def _norm(ordered, v):
    return np.sqrt(_dot(ordered, v.reshape(1, v.size), 0, v))


@jitable
def _append(ordered, Q, R, k, column, inside):
    """Append a column to the factors, orthogonalised twice; return the share of it that lies outside the span."""
    rest = Q[k]
    for j in range(rest.size):
        rest[j] = column[j]
    for i in range(k + 1):
        R[k, i] = 0.0
    for _ in range(2):
        _times(ordered, Q, k, rest, inside)
        _subtract(Q, k, inside, rest)
        for i in range(k):
            R[k, i] += inside[i]
    length, total = _norm(ordered, rest), _norm(ordered, column)
    if length <= limits.DEPENDENT_SHARE * total:
        return 0.0
    R[k, k] = length
    for j in range(rest.size):
        rest[j] /= length
    return length / total


@jitable
def _length(x, y):
    """Return the length of (x, y) with the same bits on every platform, unlike `hypot`."""
    large, small = max(abs(x), abs(y)), min(abs(x), abs(y))
    return large * np.sqrt(1.0 + (small / large) * (small / large)) if large > 0.0 else 0.0


@jitable
def _remove(Q, R, c, k, at):
    """Remove column `at` of k from the factors by Givens rotations; the last row of Q then lies outside the span."""
    for j in range(at, k - 1):
        for i in range(j + 2):
            R[j, i] = R[j + 1, i]
    for j in range(at, k - 1):
        length = _length(R[j, j], R[j, j + 1])
        if length == 0.0:
            continue
        cosine, sine = R[j, j] / length, R[j, j + 1] / length
        R[j, j], R[j, j + 1] = length, 0.0
        for t in range(j + 1, k - 1):
            u, v = R[t, j], R[t, j + 1]
            R[t, j], R[t, j + 1] = cosine * u + sine * v, cosine * v - sine * u
        for t in range(Q.shape[1]):
            u, v = Q[j, t], Q[j + 1, t]
            Q[j, t], Q[j + 1, t] = cosine * u + sine * v, cosine * v - sine * u
        c[j], c[j + 1] = cosine * c[j] + sine * c[j + 1], cosine * c[j + 1] - sine * c[j]


@jitable
def _back_substitute(R, k, c, out):
    for i in range(k):
        out[i] = c[i]
    for i in range(k - 1, -1, -1):
        out[i] /= R[i, i]
        for j in range(i):
            out[j] -= R[i, j] * out[i]


@jitable
def _walk(active, k, goal):
    """Move the shares to those of the least squares solution, dropping rows whose share would become negative.

    Return the size of the support, and the largest component that dropping a row gave back to the residual.
    """
    support, share, Q, R, c, r = active.support, active.share, active.Q, active.R, active.c, active.r
    returned = 0.0
    kept = 0  # passes in a row that dropped no row: rounding may cause one, overflow would cause them forever
    while k > 0 and kept < 4:
        before = k
        _back_substitute(R, k, c, goal)
        theta = 2.0
        for a in range(k):
            if goal[a] <= 0.0:
                down = share[a] - goal[a]
                theta = min(theta, share[a] / down if down > 0.0 else 0.0)
        if theta > 1.0:
            for a in range(k):
                share[a] = goal[a]
            break
        for a in range(k):
            share[a] += theta * (goal[a] - share[a])
        for a in range(k - 1, -1, -1):
            if goal[a] <= 0.0 and share[a] <= max(1e-14 * abs(goal[a]), 1e-300):  # zero but for rounding
                _remove(Q, R, c, k, a)
                k -= 1
                for j in range(r.size):
                    r[j] += c[k] * Q[k, j]
                returned = max(returned, abs(c[k]))
                for t in range(a, k):
                    support[t], share[t], goal[t] = support[t + 1], share[t + 1], goal[t + 1]
        kept = kept + 1 if k == before else 0
    return k, returned


@jitable
def _price(ordered, A, r, candidates, count):
    """Return the largest gain among the listed rows outside the support, and the row's number; -1 if there is none."""
    inner = r[: A.shape[1]]
    listed, within, barred = candidates.listed, candidates.within, candidates.barred
    best, entering = -np.inf, -1
    for q in range(count):
        i = listed[q]
        if not within[i] and not barred[i]:
            gain = _dot(ordered, A, i, inner)
            if gain > best:
                best, entering = gain, i
    return best, entering


@jitable
def _cut(gain, size, most, scratch):
    """Return the `most`-th largest of the first `size` gains, by Hoare's selection."""
    for i in range(size):
        scratch[i] = gain[i]
    low, high, wanted = 0, size - 1, size - most
    while low < high:
        pivot = scratch[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while scratch[i] < pivot:
                i += 1
            while pivot < scratch[j]:
                j -= 1
            if i <= j:
                scratch[i], scratch[j] = scratch[j], scratch[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            break
    return scratch[wanted]


@jitable
def _list(ordered, A, size, r, candidates, most):
    """List the `most` rows of largest gain outside the support, and ties; return their number and the highest gain."""
    gain, listed, within, barred = candidates.gain, candidates.listed, candidates.within, candidates.barred
    _times(ordered, A, size, r[: A.shape[1]], gain)
    highest = -np.inf
    for i in range(size):
        highest = max(highest, gain[i])
        if within[i] or barred[i]:
            gain[i] = -np.inf
    cut = _cut(gain, size, most, candidates.scratch) if most < size else -np.inf
    count = 0
    for i in range(size):
        if gain[i] >= cut and gain[i] > -np.inf:
            listed[count] = i
            count += 1
    return count, highest


@jitable
def _choose(ordered, A, size, r, candidates, count, enough, any_separator):
    """Choose the row to enter the support; return it (-1: none), the length of the list, and how the search ends.

    Most iterations look at a short list only; before the search ends, all rows are looked at.
    """
    best, entering = _price(ordered, A, r, candidates, count)
    if entering < 0 or best <= enough or (any_separator and best < 0.0):
        count, highest = _list(ordered, A, size, r, candidates, max(A.shape[1], limits.LISTED_ROWS))
        if any_separator and highest < 0.0:
            return -1, count, APART
        best, entering = _price(ordered, A, r, candidates, count)
        if entering < 0 or best <= enough:
            return -1, count, NEAREST
    return entering, count, LIMIT


@jitable
def _enter(ordered, A, entering, active, k, column, drift):
    """Take a row into the support; return the share of it outside the span, or 0 if it depends on the support."""
    Q, c, r = active.Q, active.c, active.r
    width = A.shape[1]
    for j in range(width):
        column[j] = A[entering, j]
    column[width] = 1.0
    outside = _append(ordered, Q, active.R, k, column, drift)
    _times(ordered, Q[k:], 1, r, drift)
    along = drift[0]
    if outside == 0.0 or along <= 0.0:
        return 0.0
    c[k] = along
    active.support[k], active.share[k] = entering, 0.0
    for j in range(r.size):
        r[j] -= along * Q[k, j]
    _times(ordered, Q, k + 1, r, drift)
    _subtract(Q, k + 1, drift, r)
    for i in range(k + 1):
        c[i] += drift[i]
    return outside


@jitable
def _search(ordered, A, size, active, k, zero, iterations, any_separator):
    """Run `nearest_point`, interpreted or compiled."""
    width = A.shape[1]
    support, r = active.support, active.r
    within, barred = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    candidates = Candidates(within, barred, np.empty(size), np.empty(size), np.empty(size, np.int64))
    count, any_barred = np.int64(0), False
    column = np.empty(width + 1)
    goal, drift = np.empty(width + 2), np.empty(width + 2)
    k, _ = _walk(active, k, goal)
    for iteration in range(iterations):
        within[:] = False
        for a in range(k):
            within[support[a]] = True
        norm = _norm(ordered, r)
        enough = (limits.IMPROVEMENT_SHARE - 1.0) * r[width] + limits.MARGIN_ROUNDING * norm
        entering, count, end = _choose(ordered, A, size, r, candidates, count, enough, any_separator and k > 0)
        if entering < 0:
            return k, end, iteration
        if k > width:
            return k, ORIGIN, iteration
        outside = _enter(ordered, A, entering, active, k, column, drift)
        if outside == 0.0:
            barred[entering] = any_barred = True
            continue
        full = k == width
        k, returned = _walk(active, k + 1, goal)
        # A row that enters with a share of zero and leaves at once was within rounding of the span.
        if k == 0 or support[k - 1] != entering:
            barred[entering] = any_barred = True
        elif any_barred:
            barred[:] = False
            any_barred = False
        # The rounding error of a residual grows as the new column comes close to depending on the others.
        least = max(zero, 0.03 * zero * np.sqrt(width + 1.0) / outside) * max(norm, returned)
        if _norm(ordered, r) <= least or (full and k == width + 1):
            return k, ORIGIN, iteration + 1
    return k, LIMIT, iterations


_search_compiled = compiled()(_search)
_interpreted = np.zeros(1)  # operations that interpreted searches have taken in this process


def nearest_point(A: Any, size: int, active: Any, k: int, zero: float, iterations: int, any_separator: bool) -> Any:
    """Continue the search over the first `size` rows of A; return the size of the support, the end and the iterations.

    Solves min |A' share|^2 + (sum of shares - 1)^2 over shares >= 0: non-negative least squares (Lawson and Hanson
    1974) on rows lengthened by a one. The rows of the support stay independent, so there are at most width + 1 of
    them. The residual is (-A' share, 1 - sum of shares). It is updated and never recomputed, because it may shrink
    by many orders of magnitude while only its direction matters. It counts as zero if it drops to the share `zero` of
    its size within one step. With `any_separator` the search ends at the first separator instead of the nearest point.
    """
    entries = size * A.shape[1]
    few = entries <= limits.ORDERED_ENTRIES
    search = _search_compiled
    if few and _interpreted[0] < limits.OPERATIONS_TO_COMPILE:
        _interpreted[0] += limits.OPERATIONS_PER_ENTRY * entries
        search = _search
    with np.errstate(all="ignore"):  # compiled code does not warn
        return search(few, A, size, active, k, zero, iterations, any_separator)
