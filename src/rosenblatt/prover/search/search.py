"""The point nearest to the origin in the convex hull of signed rows, searched for with floats.

It is the normal of the hyperplane with the largest margin; or the origin itself, and then nothing separates. A working
set of the rows of a `View` grows until no other row improves the point. Two cheaper passes prepare it: coordinate
descent on two classes, passive-aggressive updates on more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

from rosenblatt.engine.epoch import Learner, Weights
from rosenblatt.engine.joint import run_joint
from rosenblatt.engine.reorder import shuffle
from rosenblatt.engine.rows import Counts, Dense, Task
from rosenblatt.prover.exact.clock import Clock
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search import nearest as compiled
from rosenblatt.prover.search.nearest import LIMIT, NEAREST, ORIGIN, ActiveSet
from rosenblatt.prover.search.views import AffineView, RowSpaceView, View

Array = npt.NDArray[Any]

# Rows that a working set takes in at a time: so many for each column, and at least so many; fewer if they are long.
ADDED_ROWS_PER_COLUMN, MIN_ADDED_ROWS, ADDED_ENTRIES = 10, 200, 1 << 24
# Epochs of coordinate descent before a search.
DESCENT_EPOCHS = 3
# Iterations of a search between two looks at all rows and at the clock; fewer where an iteration is slow, as its number
# of products tells.
ITERATIONS, MIN_ITERATIONS, PRODUCTS = 1000, 10, 3e8
# Looks at all rows after which a search gives up, for each that it would need if every row entered once.
MAX_ROUNDS = 50
# Share of its size to which the residual must drop within one step to count as zero.
ZERO_SHARE = 1e-12
# A row is independent of others if more than this share of it lies outside their span.
INDEPENDENT_SHARE = 1e-8
SURELY_INDEPENDENT_SHARE = 1e-4
# Epochs after which coordinate descent towards the largest margin sees whether it is there; and the margin, where that
# of the support is one, beyond which a row without a multiplier is left out until then.
EPOCHS_PER_LOOK, FAR_MARGIN = 10, 1.1
# Rows enter a working set if their margin is below the support's by more than this share.
MARGIN_GAP = 1e-9


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
        """Their shares of it."""
        shares: Array = self.active.share[: self.k]
        return shares

    @property
    def residual(self) -> Array:
        """The nearest point so far times the sum of the shares, negative; and what the shares lack of a sum of one."""
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
        """Begin from rows of the working set and their shares (a warm start), as far as they are independent."""
        if not place.size:
            return
        columns = np.vstack([self.A[place].T, np.ones(place.size)])
        order: Array = np.arange(place.size)
        Q, R = scipy.linalg.qr(columns, mode="economic", check_finite=False)
        size = np.abs(np.diag(R))
        if place.size > len(columns) or size.min() <= SURELY_INDEPENDENT_SHARE * size.max():
            # Much slower, but tells which are.
            Q, R, order = scipy.linalg.qr(columns, mode="economic", pivoting=True)
            size = np.abs(np.diag(R))
        k = int(np.count_nonzero(size > INDEPENDENT_SHARE * size[0]))
        Q, order = Q[:, :k], order[:k]
        active = self.active
        self.k, active.support[:k], active.share[:k] = k, place[order], share[order]
        active.Q[:k], active.R[:k, :k], active.c[:k] = Q.T, R[:k, :k].T, Q[-1]
        active.r[:] -= Q @ Q[-1]

    def start_with_basis(self, view: RowSpaceView, share: Array) -> None:
        """Begin from the rows of the view's basis, all of them in the working set, and their shares.

        Their matrix L is triangular, and so the factors of (L, 1) take no more time than to write them down (Gill,
        Golub, Murray and Saunders 1974), with p the solution of L p = 1, and t the sums of one and the squares of p.
        """
        L, k = view.triangle, view.basis.size
        p = scipy.linalg.solve_triangular(L, np.ones(k), lower=True)
        t = 1.0 + np.cumsum(p * p)
        before = np.append(1.0, t[:-1])
        factor, ratio = p / np.sqrt(t * before), np.sqrt(t / before)
        active = self.active
        self.k, active.support[:k], active.share[:k] = k, view.basis, share[view.basis]
        for i in range(k):  # triangles, row by row: their other halves would be most of the time
            active.Q[i, :i] = -factor[i] * p[:i]
            active.R[i, : i + 1] = L[i, : i + 1] * ratio[: i + 1]
            active.R[i, :i] += np.cumsum((L[i, 1 : i + 1] * p[1 : i + 1])[::-1])[::-1] * factor[:i]
        np.fill_diagonal(active.Q[:k, :k], 1.0 / ratio)
        active.Q[:k, k], active.c[:k] = factor, factor
        active.r[:k], active.r[k] = -p / t[-1], 1.0 / t[-1]

    def search(self, iterations: int, *, to_optimum: bool, zero: float = ZERO_SHARE) -> int:
        """Continue towards the nearest point, or to the first separator; return how the search ended."""
        self.k, end, _ = compiled.nearest_point(
            self.A, self.ids.size, self.active, self.k, zero, iterations, not to_optimum
        )
        return int(end)

    def extend(self, margins: Array) -> bool:
        """If any row has a lower margin than the support, take in the lowest; return whether there was one."""
        margins = np.where(self.member, np.inf, margins)
        if not (margins < self.residual[-1] * (1 - MARGIN_GAP)).any():  # nor where they overflowed: no end otherwise
            return False
        low = lowest_rows(margins, self.view.width)
        self.add(low[margins[low] < np.inf])
        return True


def find_nearest_point(
    view: View, first: Array, clock: Clock, *, to_optimum: bool, zero: float = ZERO_SHARE
) -> tuple[int, WorkingSet]:
    """Search for the nearest point of all rows, or for any separator; ORIGIN means that the point is the origin."""
    working = WorkingSet(view, first)
    return continue_search(working, clock, to_optimum=to_optimum, zero=zero), working


def continue_search(working: WorkingSet, clock: Clock, *, to_optimum: bool, zero: float = ZERO_SHARE) -> int:
    """Continue a search until no row is left to take in; return how it ended."""
    width = working.view.width
    iterations = min(ITERATIONS, max(MIN_ITERATIONS, int(PRODUCTS / (width * (working.ids.size + 6 * width) + 1))))
    most = MAX_ROUNDS * (1 + (working.view.width + working.view.n) // iterations)
    for _ in range(most):
        before = np.linalg.norm(working.residual)
        end = working.search(iterations, to_optimum=to_optimum, zero=zero)
        if end == ORIGIN:
            return ORIGIN
        if end == LIMIT and np.linalg.norm(working.residual) >= before:
            return NEAREST  # rounding stops all progress
        clock.check()
        margins = working.view.margins(working.point)
        if (not to_optimum and working.k and margins.min() > 0) or (end != LIMIT and not working.extend(margins)):
            return NEAREST
    return NEAREST  # rounding keeps it from an end


def lowest_rows(margins: Array, width: int) -> Array:
    """Choose rows to take in: those of lowest margin. Some no longer have it when the others are in."""
    most = max(ADDED_ENTRIES // (width + 1), 2 * width)
    size = min(margins.size, max(min(ADDED_ROWS_PER_COLUMN * width, most), MIN_ADDED_ROWS))
    return np.arange(margins.size) if size == margins.size else np.argpartition(margins, size - 1)[:size]


def coordinate_descent(
    view: AffineView, epochs: int, clock: Clock, *, tied: Array | None = None, reached: float | None = None
) -> tuple[Array, Array]:
    """Pass over two classes by dual coordinate descent; return the weights in the view and the multipliers.

    Parameters
    ----------
    view : AffineView
    epochs : int
    clock : Clock
    tied : int array or None
        Rows whose margin is to be zero, as it is on a support that rules a separator out.
    reached : float or None
        Continue, towards the largest margin, when the other rows are on their side, and until the margin is below it
        by at most this share. None: do not.
    """
    signed, rows = view.signed, view.signed.table.rows
    u, alpha = np.zeros(view.width), np.zeros(view.n)
    square = view.lengths**2 if view.normalise else view.squares()
    sign, ties = 2.0 * signed.label - 1.0, np.zeros(signed.n, bool)
    if tied is not None:
        ties[tied] = True
    descend = compiled.descend_dense if isinstance(rows, Dense) else compiled.descend_csr
    random, order = np.random.default_rng(0), np.arange(signed.n)
    for epoch in range(epochs):
        clock.check()
        wrong = descend(rows, sign, view.frame, square, ties, random.permutation(order), u, alpha)
        if reached is None and wrong < signed.n // 100 + 1 and view.margins(u)[~ties].min() > 0:
            break
        if reached is not None and epoch % EPOCHS_PER_LOOK == EPOCHS_PER_LOOK - 1:
            margins = view.margins(u)
            if gap(margins, u, alpha) < reached:
                break
            order = np.flatnonzero((alpha > 0) | (margins < FAR_MARGIN))
    return u, alpha


def gap(margins: Array, u: Array, alpha: Array) -> float:
    """Return the share by which the least margin of u is below the bound that multipliers prove, both in floats."""
    length, total = float(np.linalg.norm(u)), float(alpha.sum())
    if not (length > 0 and total > 0):
        return np.inf
    return 1.0 - float(margins.min()) * total / length**2


def joint_epochs(signed: SignedRows, rule: NamedTuple, epochs: int, clock: Clock) -> Array:
    """Pass over several classes until all are right, updating own and highest other score; return the weights.

    Parameters
    ----------
    signed : SignedRows
    rule : passive_aggressive or perceptron
        The first needs fewer epochs where classes are far apart, the second where they are close.
    epochs : int
        The most that are passed.
    clock : Clock
    """
    classes, features, dtype = signed.classes, signed.features, signed.table.dtype
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
        skipped=np.zeros(classes, np.int64),
    )
    sign = (2 * np.eye(classes, dtype=np.int8) - 1).astype(np.int8)
    task = Task(signed.label.astype(np.int32), sign, np.ones(sign.shape), np.ones(classes), none, none, 1.0)
    # The type of row numbers that training uses too, so that the epoch is compiled once for both.
    order = np.arange(signed.samples, dtype=np.int32 if signed.samples <= np.iinfo(np.int32).max else np.int64)
    random = np.random.default_rng(0)
    for _ in range(epochs):
        clock.check()
        shuffle(order, random.random(order.size))
        counts = Counts(*np.zeros((2, 1), np.int64), *np.zeros((2, 1)))
        run_joint(rule, Learner(1.0), signed.table.rows, task, order, weights, weights, counts)
        if counts.mistakes[0] == 0:
            break
    W: Array = np.column_stack([weights.W, weights.b]).astype(float)
    return np.ravel(W[1:] - W[0])
