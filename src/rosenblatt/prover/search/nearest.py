"""Compiled search for the point nearest to the origin in the convex hull of signed rows.

If that point is the origin, no hyperplane separates (Gordan); otherwise it is the normal of the one with the largest
margin. `nearest_point` finds it with an active set, `descend_dense` and `descend_csr` prepare by coordinate descent.

A search over few rows takes milliseconds, and seconds to compile. Its sums are made in order (`Ordered`), so that it
gives the same bits interpreted and compiled, and it is interpreted at first. Sums over many rows are made in any order
(`Fast`): the number of rows and columns alone decides. Code is written with loops over numbers, not over arrays, which
take Numba ten times as long to compile.

Stored rows are the NamedTuples Dense and Csr of `rosenblatt.engine.rows`, read by their fields.
"""

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.engine.jit import compiled, jitable, overload
from rosenblatt.engine.rows import INLINED, by_type

FASTMATH = {"reassoc", "contract", "nsz"}

# How a search over a working set ended.
LIMIT, ORIGIN, NEAREST, APART = 0, 1, 2, 3

# A column counts as dependent if its part outside the span of the others is a smaller share of its length than this.
DEPENDENT_SHARE = 1e-14
# Candidates that a step looks at, at least. It looks at all rows when none of these improves the point.
LISTED_ROWS = 64
# Rounding error of a margin of zero, as a share of the lengths.
MARGIN_ROUNDING = 4e-16
# A row whose margin is below the support's by a smaller share than this does not improve the point.
IMPROVEMENT_SHARE = 1e-10
# Entries of the rows up to which sums are made in order.
ORDERED_ENTRIES = 2000
# Operations of an interpreted search for each entry of its rows, and those that take as long as compiling the search:
# a first `certify` of OR takes 1.6 s of CPU so, and 5.9 s if it compiles the search.
OPERATIONS_PER_ENTRY, OPERATIONS_TO_COMPILE = 30, 2_000_000


class Frame(NamedTuple):
    """Coordinates of coordinate descent: rows are ((x - centre) * inverse, 1). Sparse rows are not moved."""

    centre: np.ndarray  # (features,)
    inverse: np.ndarray  # (features,)


class ActiveSet(NamedTuple):
    """The support of a search and its factors. The first k of each are in use; all arrays are updated."""

    support: np.ndarray  # (width + 2,) rows
    share: np.ndarray  # (width + 2,) of the nearest point
    Q: np.ndarray  # (width + 2, width + 1) orthogonal factor, column after column
    R: np.ndarray  # (width + 2, width + 2) triangular factor, column after column
    c: np.ndarray  # (width + 2,) the target seen through Q
    r: np.ndarray  # (width + 1,) residual


class Candidates(NamedTuple):
    """What a search knows of each row of its working set."""

    within: np.ndarray  # whether it is in the support
    barred: np.ndarray  # whether it was found to depend on the support
    gain: np.ndarray  # its product with the residual
    scratch: np.ndarray  # the gains in another order
    listed: np.ndarray  # numbers of the rows that a step looks at first


@compiled(fastmath=FASTMATH)
def descend_dense(rows, sign, frame, square, tied, order, w, alpha):
    """Pass once over the rows in `order`, solving for one multiplier at a time; return how many are on the wrong side.

    Minimises |w|^2 / 2 with y f(x) >= 1, or f(x) = 0 where rows are tied, in the dual (Hsieh et al. 2008), over the
    rows of the frame.
    """
    X, centre, inverse = rows.X, frame.centre, frame.inverse
    d = X.shape[1]
    wrong = 0
    for t in range(order.size):
        i = order[t]
        score = w[d]
        for j in range(d):
            score += (X[i, j] - centre[j]) * inverse[j] * w[j]
        shortfall = 1.0 - sign[i] * score
        wrong += shortfall >= 1.0
        if tied[i] or shortfall > 0.0 or alpha[i] > 0.0:
            step = max(shortfall / square[i], -alpha[i])
            if tied[i]:
                step = (shortfall - 1.0) / square[i]
            if step != 0.0:
                alpha[i] += step
                step *= sign[i]
                for j in range(d):
                    w[j] += step * (X[i, j] - centre[j]) * inverse[j]
                w[d] += step
    return wrong


@compiled(fastmath=FASTMATH)
def descend_csr(rows, sign, frame, square, tied, order, w, alpha):
    """`descend_dense` for rows stored by their nonzeros, which are scaled but not moved."""
    data, indices, indptr, inverse = rows.data, rows.indices, rows.indptr, frame.inverse
    d = w.size - 1
    wrong = 0
    for t in range(order.size):
        i = order[t]
        score = w[d]
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            score += data[k] * inverse[j] * w[j]
        shortfall = 1.0 - sign[i] * score
        wrong += shortfall >= 1.0
        if tied[i] or shortfall > 0.0 or alpha[i] > 0.0:
            step = max(shortfall / square[i], -alpha[i])
            if tied[i]:
                step = (shortfall - 1.0) / square[i]
            if step != 0.0:
                alpha[i] += step
                step *= sign[i]
                for k in range(indptr[i], indptr[i + 1]):
                    j = indices[k]
                    w[j] += step * data[k] * inverse[j]
                w[d] += step
    return wrong


@compiled(fastmath=FASTMATH)
def squares_dense(rows, frame, square):
    """Write |((x - centre) * inverse, 1)|^2 of every row."""
    X, centre, inverse = rows.X, frame.centre, frame.inverse
    for i in range(X.shape[0]):
        total = 1.0
        for j in range(X.shape[1]):
            value = (X[i, j] - centre[j]) * inverse[j]
            total += value * value
        square[i] = total


@compiled(fastmath=FASTMATH)
def squares_csr(rows, frame, square):
    """`squares_dense` for rows stored by their nonzeros, which are scaled but not moved."""
    data, indices, indptr, inverse = rows.data, rows.indices, rows.indptr, frame.inverse
    for i in range(square.size):
        total = 1.0
        for k in range(indptr[i], indptr[i + 1]):
            value = data[k] * inverse[indices[k]]
            total += value * value
        square[i] = total


# Products with BLAS would start its threads for matrices that fit a cache; these loops are as fast as memory.


class Ordered(NamedTuple):
    """Sums are made from the first product to the last."""

    none: float = 0.0


class Fast(NamedTuple):
    """Sums are made in any order."""

    none: float = 0.0


@jitable
def _dot_ordered(A, i, v):
    total = 0.0
    for j in range(v.size):
        total += A[i, j] * v[j]
    return total


@compiled(forceinline=True, fastmath=FASTMATH)
def _dot_fast(A, i, v):
    total = 0.0
    for j in range(v.size):
        total += A[i, j] * v[j]
    return total


_DOT = {Ordered: lambda sums, A, i, v: _dot_ordered(A, i, v), Fast: lambda sums, A, i, v: _dot_fast(A, i, v)}


def dot(sums, A, i, v):
    """Return the product of row i of A with v."""
    return by_type(_DOT, sums)(sums, A, i, v)


overload(dot, jit_options=INLINED)(lambda sums, A, i, v: by_type(_DOT, sums))


@jitable
def _times(sums, A, k, v, out):
    """Write the products of the first k rows of A with v."""
    for i in range(k):
        out[i] = dot(sums, A, i, v)


@jitable
def _subtract(A, k, shares, v):
    """Subtract the first k rows of A, each times its share, from v."""
    for i in range(k):
        share = shares[i]
        for j in range(v.size):
            v[j] -= share * A[i, j]


@jitable
def _norm(sums, v):
    return np.sqrt(dot(sums, v.reshape(1, v.size), 0, v))


@jitable
def _append(sums, Q, R, k, column, inside):
    """Append a column to the factors, orthogonalised twice; return the share of it that lies outside the span."""
    rest = Q[k]
    for j in range(rest.size):
        rest[j] = column[j]
    for i in range(k + 1):
        R[k, i] = 0.0
    for _ in range(2):
        _times(sums, Q, k, rest, inside)
        _subtract(Q, k, inside, rest)
        for i in range(k):
            R[k, i] += inside[i]
    length, total = _norm(sums, rest), _norm(sums, column)
    if length <= DEPENDENT_SHARE * total:
        return 0.0
    R[k, k] = length
    for j in range(rest.size):
        rest[j] /= length
    return length / total


@jitable
def _length(x, y):
    """Return the length of (x, y), by arithmetic that is the same everywhere, unlike that of `hypot`."""
    large, small = max(abs(x), abs(y)), min(abs(x), abs(y))
    return large * np.sqrt(1.0 + (small / large) * (small / large)) if large > 0.0 else 0.0


@jitable
def _remove(Q, R, c, k, at):
    """Remove column `at` of k from the factors by Givens rotations; the last row of Q is left outside the span."""
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

    Return the size of the support and the largest component that dropping a row returned to the residual.
    """
    support, share, Q, R, c, r = active.support, active.share, active.Q, active.R, active.c, active.r
    returned = 0.0
    kept = 0  # passes in a row that dropped no row: rounding may cost one, overflow would cost all
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
            if goal[a] <= 0.0 and share[a] <= max(1e-14 * abs(goal[a]), 1e-300):
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
def _price(sums, A, r, candidates, count):
    """Return the largest gain among the listed rows outside the support, and the row's number; -1 if there is none."""
    inner = r[: A.shape[1]]
    listed, within, barred = candidates.listed, candidates.within, candidates.barred
    best, entering = -np.inf, -1
    for q in range(count):
        i = listed[q]
        if not within[i] and not barred[i]:
            gain = dot(sums, A, i, inner)
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
def _list(sums, A, size, r, candidates, most):
    """List the `most` rows of largest gain outside the support, and ties; return their number and the highest gain."""
    gain, listed, within, barred = candidates.gain, candidates.listed, candidates.within, candidates.barred
    _times(sums, A, size, r[: A.shape[1]], gain)
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
def _choose(sums, A, size, r, candidates, count, enough, any_separator):
    """Choose the row to enter the support; return it (-1: none), the length of the list, and how the search ends.

    Most steps look at a short list only; the search ends when all rows were looked at.
    """
    best, entering = _price(sums, A, r, candidates, count)
    if entering < 0 or best <= enough or (any_separator and best < 0.0):
        count, highest = _list(sums, A, size, r, candidates, max(A.shape[1], LISTED_ROWS))
        if any_separator and highest < 0.0:
            return -1, count, APART
        best, entering = _price(sums, A, r, candidates, count)
        if entering < 0 or best <= enough:
            return -1, count, NEAREST
    return entering, count, LIMIT


@jitable
def _enter(sums, A, entering, active, k, column, drift):
    """Take a row into the support; return the share of it outside the span, 0 if it depends on the support."""
    Q, c, r = active.Q, active.c, active.r
    width = A.shape[1]
    for j in range(width):
        column[j] = A[entering, j]
    column[width] = 1.0
    outside = _append(sums, Q, active.R, k, column, drift)
    _times(sums, Q[k:], 1, r, drift)
    along = drift[0]
    if outside == 0.0 or along <= 0.0:
        return 0.0
    c[k] = along
    active.support[k], active.share[k] = entering, 0.0
    for j in range(r.size):
        r[j] -= along * Q[k, j]
    _times(sums, Q, k + 1, r, drift)
    _subtract(Q, k + 1, drift, r)
    for i in range(k + 1):
        c[i] += drift[i]
    return outside


@jitable
def _search(sums, A, size, active, k, zero, iterations, any_separator):
    """Do what `nearest_point` says."""
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
        norm = _norm(sums, r)
        enough = (IMPROVEMENT_SHARE - 1.0) * r[width] + MARGIN_ROUNDING * norm
        entering, count, end = _choose(sums, A, size, r, candidates, count, enough, any_separator and k > 0)
        if entering < 0:
            return k, end, iteration
        if k > width:
            return k, ORIGIN, iteration
        outside = _enter(sums, A, entering, active, k, column, drift)
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
        # What rounding leaves of a residual grows with how close to dependent the new column was.
        least = max(zero, 0.03 * zero * np.sqrt(width + 1.0) / outside) * max(norm, returned)
        if _norm(sums, r) <= least or (full and k == width + 1):
            return k, ORIGIN, iteration + 1
    return k, LIMIT, iterations


_search_compiled = compiled()(_search)
_interpreted = np.zeros(1)  # operations of interpreted searches so far


def nearest_point(A: Any, size: int, active: Any, k: int, zero: float, iterations: int, any_separator: bool) -> Any:
    """Continue the search over the first `size` rows of A; return the size of the support, the end and the iterations.

    Solves min |A' share|^2 + (sum of shares - 1)^2 over shares >= 0: non-negative least squares (Lawson and Hanson
    1974) on rows lengthened by a one. The rows of the support stay independent, so there are at most width + 1 of
    them. The residual is (-A' share, 1 - sum of shares). It is updated and never recomputed, because it may shrink
    by many orders of magnitude while only its direction counts.

    Parameters
    ----------
    A : array (capacity, width)
    size : int
    active : ActiveSet
        The support so far; updated.
    k : int
        Its size.
    zero : float
        Share of its size to which the residual must drop within one step to count as zero.
    iterations : int
    any_separator : bool
        Stop at the first separator instead of the nearest point.
    """
    entries = size * A.shape[1]
    few = entries <= ORDERED_ENTRIES
    search = _search_compiled
    if few and _interpreted[0] < OPERATIONS_TO_COMPILE:
        _interpreted[0] += OPERATIONS_PER_ENTRY * entries
        search = _search
    with np.errstate(all="ignore"):  # compiled code does not warn
        return search(Ordered() if few else Fast(), A, size, active, k, zero, iterations, any_separator)
