"""Every compiled function of the package: rows, verbs, rules, epochs. Arrays in, counts out.

One file on purpose: Numba's disk cache does not notice an edit in a helper that lives in another file.
Nothing here checks bounds; `rosenblatt.data` validates each array before it arrives.

A row store (`Dense`, `Csr`), a rule (`PerceptronRule`) and a penalty (`NoPenalty`, `ElasticNet`) are
NamedTuples; the body of each verb is chosen by their type when the loop is compiled, so one epoch loop serves
every combination at the speed of a loop written for it. With the JIT off the same bodies run as Python.

Short names, defined in docs/explanation/notation.md: i row, j feature, p problem (one weight vector),
c class, t trial, W weights (problems, features), b biases (problems,).
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.config import DISABLE_JIT
from numba.extending import intrinsic, overload

# Sums may be reordered and fused, which is what vectorises a dot product; NaN and infinity keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}

# Rows ahead of the one in use that are asked from memory when the order jumps.
AHEAD = 4
CACHE_LINE = 64


class Dense(NamedTuple):
    """Rows of a matrix in memory order."""

    X: np.ndarray  # (n, d), C-contiguous


class Csr(NamedTuple):
    """Rows stored by their nonzeros: row i is entries indptr[i] to indptr[i + 1]."""

    data: np.ndarray  # (nnz,)
    indices: np.ndarray  # (nnz,) columns, ascending within a row
    indptr: np.ndarray  # (n + 1,)


class PerceptronRule(NamedTuple):
    """Update by a full step when y f(x) <= margin. Rosenblatt (1958) with margin 0."""

    margin: float


class NoPenalty(NamedTuple):
    """Weights are left as they are between updates."""

    none: float = 0.0


class ElasticNet(NamedTuple):
    """Each trial shrinks the weights by `l2` and truncates them by `l1` (Tsuruoka et al. 2009, cumulative)."""

    l1: float
    l2: float


class Task(NamedTuple):
    """What each row teaches each problem.

    A row of class c is a positive (+1), a negative (-1) or no example (0) of problem p, as `sign[c, p]` says;
    one-vs-all and one-vs-one differ in this table only.
    """

    label: np.ndarray  # (n,) class of each row
    sign: np.ndarray  # (classes, problems) int8
    cost: np.ndarray  # (classes, problems) factor of the step
    stake: np.ndarray  # (classes,) what an error on a row of the class counts
    weight: np.ndarray  # (n,) factor of the step and of an error, or empty: all one
    bias: float  # square of the constant that pads each row: 1, or 0 for no bias


class Weights(NamedTuple):
    """Weight vectors: problem p scores scale[p] * W[p].x + b[p]."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    scale: np.ndarray  # (problems,) one between epochs
    owed: np.ndarray  # (problems,) truncation that every weight should have received
    paid: np.ndarray  # (problems, features) truncation it did receive; (problems, 0) without an L1 penalty


class Tally(NamedTuple):
    """What an epoch counts, per problem."""

    mistakes: np.ndarray  # trials with y f(x) <= 0
    updates: np.ndarray  # trials that changed the weights
    loss: np.ndarray  # loss summed over the trials
    step: np.ndarray  # steps summed: the weights moved by a sum of that many rows


@intrinsic
def _prefetch(typing_context, array, k):
    """Ask for the cache line that holds array[k]; a hint without effect on any value."""

    def emit(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        hint = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, number, number, number]), "llvm.prefetch.p0"
        )
        address = builder.bitcast(builder.gep(data, [args[1]]), byte)
        builder.call(hint, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


if DISABLE_JIT:

    def _prefetch(array, k):
        """Do nothing: interpreted code has no use for the hint."""


def _by_type(bodies, kind):
    """Body for a NamedTuple instance, or for Numba's type of one."""
    # numba.types.NamedTuple.instance_class is undocumented; this is the one place that relies on it.
    return bodies.get(getattr(kind, "instance_class", type(kind)))


# -------------------------------------------------------------------------------------------- rows: three verbs


# The verbs take the matrix W and the number of a weight vector, not the vector: a view would be counted in and out
# for each row, atomically, at a quarter of the time of a short row.


@njit(cache=True, nogil=True, forceinline=True, fastmath=FASTMATH)
def _dot_dense(X, i, W, p):
    total = W.dtype.type(0)
    for j in range(X.shape[1]):
        total += X[i, j] * W[p, j]
    return total


@njit(cache=True, nogil=True, forceinline=True)
def _dot_csr(data, indices, indptr, i, W, p):
    # Four independent sums hide the latency of the additions. Without fastmath: LLVM would vectorise the loop
    # with gathers, twice as slow. Unsigned numbers spare the tests for negative indices.
    zero = W.dtype.type(0)
    s0, s1, s2, s3 = zero, zero, zero, zero
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    while k + np.uint64(4) <= end:
        s0 += data[k] * W[p, np.uint64(indices[k])]
        s1 += data[k + np.uint64(1)] * W[p, np.uint64(indices[k + np.uint64(1)])]
        s2 += data[k + np.uint64(2)] * W[p, np.uint64(indices[k + np.uint64(2)])]
        s3 += data[k + np.uint64(3)] * W[p, np.uint64(indices[k + np.uint64(3)])]
        k += np.uint64(4)
    while k < end:
        s0 += data[k] * W[p, np.uint64(indices[k])]
        k += np.uint64(1)
    return (s0 + s1) + (s2 + s3)


@njit(cache=True, nogil=True, forceinline=True, fastmath=FASTMATH)
def _add_dense(X, i, factor, W, p):
    step = W.dtype.type(factor)
    for j in range(X.shape[1]):
        W[p, j] += step * X[i, j]


@njit(cache=True, nogil=True, forceinline=True)
def _add_csr(data, indices, indptr, i, factor, W, p):
    step = W.dtype.type(factor)
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    while k < end:
        W[p, np.uint64(indices[k])] += step * data[k]
        k += np.uint64(1)


@njit(cache=True, nogil=True, forceinline=True)
def _request_csr(data, indices, indptr, near, far):
    _prefetch(indptr, far)
    start, end = indptr[near], indptr[near + 1]
    for k in range(start, end, CACHE_LINE // data.itemsize):
        _prefetch(data, k)
    for k in range(start, end, CACHE_LINE // indices.itemsize):
        _prefetch(indices, k)


def _request_dense(rows, near, far):
    # The hardware finds the rest of a dense row by itself; asking for it was measured to cost more than it gave.
    pass


_DOT = {
    Dense: lambda rows, i, W, p: _dot_dense(rows.X, i, W, p),
    Csr: lambda rows, i, W, p: _dot_csr(rows.data, rows.indices, rows.indptr, i, W, p),
}
_ADD = {
    Dense: lambda rows, i, factor, W, p: _add_dense(rows.X, i, factor, W, p),
    Csr: lambda rows, i, factor, W, p: _add_csr(rows.data, rows.indices, rows.indptr, i, factor, W, p),
}
_REQUEST = {
    Dense: _request_dense,
    Csr: lambda rows, near, far: _request_csr(rows.data, rows.indices, rows.indptr, near, far),
}
_ENTRIES = {
    Dense: lambda rows, i: (0, rows.X.shape[1]),
    Csr: lambda rows, i: (rows.indptr[i], rows.indptr[i + 1]),
}
_ENTRY = {
    Dense: lambda rows, i, k: (k, rows.X[i, k]),
    Csr: lambda rows, i, k: (rows.indices[k], rows.data[k]),
}


def dot(rows, i, W, p):
    """Inner product of row i with W[p]."""
    return _by_type(_DOT, rows)(rows, i, W, p)


def add(rows, i, factor, W, p):
    """Add `factor` times row i to W[p]."""
    return _by_type(_ADD, rows)(rows, i, factor, W, p)


def request(rows, near, far):
    """Tell the memory that row `near` comes soon, and row `far` after it."""
    return _by_type(_REQUEST, rows)(rows, near, far)


def entries(rows, i):
    """First and last-plus-one position of the stored entries of row i."""
    return _by_type(_ENTRIES, rows)(rows, i)


def entry(rows, i, k):
    """Column and value of the entry of row i at position k."""
    return _by_type(_ENTRY, rows)(rows, i, k)


overload(dot)(lambda rows, i, W, p: _by_type(_DOT, rows))
overload(add)(lambda rows, i, factor, W, p: _by_type(_ADD, rows))
overload(request)(lambda rows, near, far: _by_type(_REQUEST, rows))
overload(entries)(lambda rows, i: _by_type(_ENTRIES, rows))
overload(entry)(lambda rows, i, k: _by_type(_ENTRY, rows))


# -------------------------------------------------------------------------------------------- rules: two formulas


def _step_perceptron(rule, margin):
    # Written so that a NaN margin, from an overflow, never counts as correct.
    if margin > rule.margin:
        return 0.0
    return 1.0


def _loss_perceptron(rule, margin):
    return max(0.0, rule.margin - margin)


_STEP = {PerceptronRule: _step_perceptron}
_LOSS = {PerceptronRule: _loss_perceptron}


def step_size(rule, margin):
    """How far the rule moves the weights towards a row with margin y f(x); 0 leaves them."""
    return _by_type(_STEP, rule)(rule, margin)


def loss(rule, margin):
    """Loss that the rule takes a step against."""
    return _by_type(_LOSS, rule)(rule, margin)


overload(step_size)(lambda rule, margin: _by_type(_STEP, rule))
overload(loss)(lambda rule, margin: _by_type(_LOSS, rule))


# -------------------------------------------------------------------------------- penalties: before and after a step


@njit(cache=True, nogil=True)
def _decay(factor, weights, p):
    """Multiply weight vector p by `factor` in constant time, through its scale."""
    weights.scale[p] *= factor
    if weights.scale[p] < 1e-9:
        for j in range(weights.W.shape[1]):
            weights.W[p, j] *= weights.scale[p]
        weights.scale[p] = 1.0


@njit(cache=True, nogil=True)
def _truncate(weights, p, j):
    """Pay what weight j of vector p still owes, but not past zero."""
    scale = weights.scale[p]
    before = scale * weights.W[p, j]
    after = before
    if before > 0.0:
        after = max(0.0, before - (weights.owed[p] + weights.paid[p, j]))
    elif before < 0.0:
        after = min(0.0, before + (weights.owed[p] - weights.paid[p, j]))
    weights.paid[p, j] += after - before
    weights.W[p, j] = after / scale


def _before_elastic_net(penalty, eta, weights, p):
    if penalty.l2 > 0.0:
        _decay(max(0.0, 1.0 - eta * penalty.l2), weights, p)


def _after_elastic_net(penalty, eta, rows, i, weights, p):
    if penalty.l1 > 0.0:
        weights.owed[p] += eta * penalty.l1
        # Only what the row touches: a weight that no row reads can pay later, and sparse stays sparse.
        start, end = entries(rows, i)
        for k in range(start, end):
            j, value = entry(rows, i, k)
            if value != 0.0:
                _truncate(weights, p, j)


def _before_none(penalty, eta, weights, p):
    pass


def _after_none(penalty, eta, rows, i, weights, p):
    pass


_BEFORE = {NoPenalty: _before_none, ElasticNet: _before_elastic_net}
_AFTER = {NoPenalty: _after_none, ElasticNet: _after_elastic_net}


def before_step(penalty, eta, weights, p):
    """Shrink weight vector p, once per trial."""
    return _by_type(_BEFORE, penalty)(penalty, eta, weights, p)


def after_step(penalty, eta, rows, i, weights, p):
    """Truncate the weights that row i touches, once per trial."""
    return _by_type(_AFTER, penalty)(penalty, eta, rows, i, weights, p)


overload(before_step)(lambda penalty, eta, weights, p: _by_type(_BEFORE, penalty))
overload(after_step)(lambda penalty, eta, rows, i, weights, p: _by_type(_AFTER, penalty))


@njit(cache=True, nogil=True)
def settle(weights):
    """Pay all truncation and fold the scales into the weights: between epochs W alone is the model."""
    for p in range(weights.W.shape[0]):
        for j in range(weights.paid.shape[1]):
            _truncate(weights, p, j)
        for j in range(weights.W.shape[1]):
            weights.W[p, j] *= weights.scale[p]
        weights.scale[p] = 1.0


# ------------------------------------------------------------------------------------------------------------ epochs


@njit(cache=True, nogil=True)
def run_epoch(rule, penalty, rows, task, order, eta, active, weights, into, tally):
    """Present the rows in `order` (empty: all of them as they lie) to the `active` problems.

    Scores are read from `weights` and corrections written `into`: the same arrays for the single-sample
    perceptron, a zeroed sum for the batch perceptron.
    """
    jumps = order.size > 0
    trials = order.size if jumps else task.label.size
    for t in range(trials):
        i = order[t] if jumps else t
        if jumps:
            request(rows, order[min(t + AHEAD, trials - 1)], order[min(t + 2 * AHEAD, trials - 1)])
        c = task.label[i]
        for a in range(active.size):  # not `for p in active`, which counts the array in and out for each row
            p = active[a]
            sign = task.sign[c, p]
            if sign == 0:
                continue
            margin = sign * (weights.scale[p] * dot(rows, i, weights.W, p) + weights.b[p])
            step = step_size(rule, margin)
            before_step(penalty, eta, into, p)
            if step != 0.0:
                step *= eta * task.cost[c, p]
                if task.weight.size:
                    step *= task.weight[i]
                add(rows, i, sign * step / into.scale[p], into.W, p)
                into.b[p] += sign * step * task.bias
                tally.mistakes[p] += not margin > 0.0
                tally.updates[p] += 1
                tally.loss[p] += loss(rule, margin)
                tally.step[p] += step
            after_step(penalty, eta, rows, i, into, p)


@njit(cache=True, nogil=True)
def _best_wrong(rows, i, c, weights):
    """Score of class c on row i, and the highest score of another class with that class."""
    own, best, wrong = 0.0, -np.inf, 0
    for k in range(weights.W.shape[0]):
        score = weights.scale[k] * dot(rows, i, weights.W, k) + weights.b[k]
        if k == c:
            own = score
        elif not score <= best:
            best, wrong = score, k
    return own, best, wrong


@njit(cache=True, nogil=True)
def run_joint_epoch(rule, penalty, rows, task, order, eta, weights, into, tally):
    """Present the rows to all classes at once: towards the true one, away from the best wrong one.

    The max-score ultraconservative perceptron, Crammer and Singer (2003), Figure 3. The margin of a row is the
    score of its class less the best score of another.
    """
    jumps = order.size > 0
    trials = order.size if jumps else task.label.size
    for t in range(trials):
        i = order[t] if jumps else t
        if jumps:
            request(rows, order[min(t + AHEAD, trials - 1)], order[min(t + 2 * AHEAD, trials - 1)])
        c = task.label[i]
        own, best, wrong = _best_wrong(rows, i, c, weights)
        margin = own - best
        step = step_size(rule, margin)
        for k in range(weights.W.shape[0]):
            before_step(penalty, eta, into, k)
        if step != 0.0:
            step *= eta * task.cost[c, 0]
            if task.weight.size:
                step *= task.weight[i]
            add(rows, i, step / into.scale[c], into.W, c)
            add(rows, i, -step / into.scale[wrong], into.W, wrong)
            into.b[c] += step * task.bias
            into.b[wrong] -= step * task.bias
            tally.mistakes[0] += not margin > 0.0
            tally.updates[0] += 1
            tally.loss[0] += loss(rule, margin)
            tally.step[0] += step
        for k in range(weights.W.shape[0]):
            after_step(penalty, eta, rows, i, into, k)


@njit(cache=True, nogil=True)
def misfits(rows, task, index, p, weights):
    """Count the rows with y f(x) <= 0 in problem p; `index` as the order of an epoch."""
    wrong = 0
    for t in range(index.size if index.size else task.label.size):
        i = index[t] if index.size else t
        sign = task.sign[task.label[i], p]
        if sign != 0 and not sign * (dot(rows, i, weights.W, p) + weights.b[p]) > 0.0:
            wrong += 1
    return wrong


@njit(cache=True, nogil=True)
def weigh_errors(rows, task, index, weights):
    """Weight of the rows whose class does not win, and of all rows; a tie is an error, and so is class -1.

    For one problem of two classes, or one problem per class.
    """
    wrong, total = 0.0, 0.0
    for t in range(index.size if index.size else task.label.size):
        i = index[t] if index.size else t
        c = task.label[i]
        stake = task.stake[c] if c >= 0 else 1.0
        if task.weight.size:
            stake *= task.weight[i]
        total += stake
        if c < 0:
            wrong += stake
        elif weights.b.size == 1:
            if not task.sign[c, 0] * (dot(rows, i, weights.W, 0) + weights.b[0]) > 0.0:
                wrong += stake
        else:
            own, best, _ = _best_wrong(rows, i, c, weights)
            if not own > best:
                wrong += stake
    return wrong, total


@njit(cache=True, nogil=True)
def score(rows, index, weights, out):
    """Scores of the rows of `index` (empty: all) under every problem, into out (rows, problems)."""
    for t in range(out.shape[0]):
        i = index[t] if index.size else t
        for p in range(weights.W.shape[0]):
            out[t, p] = dot(rows, i, weights.W, p) + weights.b[p]


@njit(cache=True, nogil=True)
def gather(rows, index, factor, out):
    """Copy the rows of `index`, each times its `factor`, into the zeroed matrix out."""
    for t in range(index.size):
        add(rows, index[t], factor[t], out, t)


# ------------------------------------------------------------------------------------------------------------ orders


@njit(cache=True, nogil=True)
def shuffle(order, uniform):
    """Permute `order` in place by Fisher and Yates; `uniform` holds a number in [0, 1) for each element."""
    for k in range(order.size - 1, 0, -1):
        j = min(k, int(uniform[k] * (k + 1)))  # the product may round up to k + 1
        order[k], order[j] = order[j], order[k]


@njit(cache=True, nogil=True)
def interleave(blocks, width, streams, rows, order):
    """Order the n = rows.size positions by walking `streams` blocks of `width` neighbours side by side.

    `blocks` is a permutation of the block numbers. Memory then sees a few forward streams, which it serves
    at full speed, instead of single rows at random.
    """
    n = rows.size
    t = 0
    for first in range(0, blocks.size, streams):
        last = min(first + streams, blocks.size)
        for offset in range(width):
            for k in range(first, last):
                position = blocks[k] * width + offset
                if position < n:
                    order[t] = rows[position]
                    t += 1


# -------------------------------------------------------------------------------------------------------- inspection


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def inspect_dense(X):
    """Largest squared row norm, and the first row whose norm is not finite or -1."""
    largest, fault = 0.0, -1
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            value = np.float64(X[i, j])
            total += value * value
        if not total < np.inf:
            if fault < 0:
                fault = i
        elif total > largest:
            largest = total
    return largest, fault


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def inspect_csr(data, indices, indptr, n_features):
    """Largest squared row norm, first row out of bounds, first not finite, first not ascending; -1 for none.

    `indptr` must be checked before; nothing is read outside the arrays for any `indices`.
    """
    largest, outside, infinite, disorder = 0.0, -1, -1, -1
    for i in range(indptr.size - 1):
        # Three short loops over a row in cache, each simple enough to be vectorised.
        x = data[indptr[i] : indptr[i + 1]]
        column = indices[indptr[i] : indptr[i + 1]]
        total = 0.0
        for k in range(x.size):
            value = np.float64(x[k])
            total += value * value
        if not total < np.inf:
            if infinite < 0:
                infinite = i
        elif total > largest:
            largest = total
        low, high = 0, 0
        for k in range(column.size):
            low = min(low, column[k])
            high = max(high, column[k])
        if (low < 0 or high >= n_features) and outside < 0:
            outside = i
        falls = 0
        for k in range(1, column.size):
            falls += column[k] <= column[k - 1]
        if falls > 0 and disorder < 0:
            disorder = i
    return largest, outside, infinite, disorder


# ------------------------------------------------------------------------------------------------- how large a margin


@njit(cache=True, nogil=True)
def _affine_shares(Z, support, size, shares):
    """Shares, adding up to one, of the point nearest to the origin in the affine hull of the support rows.

    Solves (1 + Z Z') u = 1 by Cholesky and scales u; Wolfe (1976), Algorithm 2.1. False if the rows are dependent.
    """
    L = np.empty((size, size))
    for a in range(size):
        for c in range(a + 1):
            L[a, c] = 1.0
            for j in range(Z.shape[1]):
                L[a, c] += Z[support[a], j] * Z[support[c], j]
            for k in range(c):
                L[a, c] -= L[a, k] * L[c, k]
            if c < a:
                L[a, c] /= L[c, c]
            elif L[a, a] <= 1e-14:
                return False
            else:
                L[a, a] = np.sqrt(L[a, a])
    total = 0.0
    for a in range(size):
        shares[a] = 1.0
        for k in range(a):
            shares[a] -= L[a, k] * shares[k]
        shares[a] /= L[a, a]
    for a in range(size - 1, -1, -1):
        for k in range(a + 1, size):
            shares[a] -= L[k, a] * shares[k]
        shares[a] /= L[a, a]
        total += shares[a]
    for a in range(size):
        shares[a] /= total
    return True


@njit(cache=True, nogil=True)
def nearest_point(Z, goal, iterations):
    """Norm of a point of the convex hull of the rows of Z, brought close to the origin.

    Wolfe (1976), Finding the nearest point in a polytope. The norm of any such point bounds the margin of every
    hyperplane through the origin that has the rows on one side. Stops at `goal` or at the nearest point.
    """
    m, width = Z.shape
    support = np.zeros(width + 2, np.int64)
    share = np.zeros(width + 2)
    target = np.zeros(width + 2)
    point = Z[:1].copy()
    share[0] = 1.0
    size = 1
    norm = np.sqrt(np.sum(point * point))
    for _ in range(iterations):
        lowest, best = np.inf, 0
        for i in range(m):
            height = _dot_dense(Z, i, point, 0)
            if height < lowest:
                lowest, best = height, i
        if norm <= goal or lowest >= norm * norm * (1.0 - 1e-9) or size == width + 2:
            break
        support[size], share[size] = best, 0.0
        size += 1
        while True:
            if not _affine_shares(Z, support, size, target):
                return norm
            theta = 1.0
            for a in range(size):
                if target[a] <= 1e-13 and share[a] > target[a]:
                    theta = min(theta, share[a] / (share[a] - target[a]))
            kept = 0
            for a in range(size):
                moved = share[a] + theta * (target[a] - share[a])
                if theta == 1.0 or moved > 1e-13:
                    support[kept], share[kept] = support[a], moved
                    kept += 1
            shrunk = kept < size
            size = kept
            if not shrunk:
                break
        point[:] = 0.0
        for a in range(size):
            _add_dense(Z, support[a], share[a], point, 0)
        norm = np.sqrt(np.sum(point * point))
    return norm
