"""The loops that learn: rows, rules, epochs. Arrays in, counts out.

One file on purpose: Numba's disk cache does not notice an edit in a helper that lives in another file.
Nothing here checks bounds; `rosenblatt.data` validates each array before it arrives.

Read the first two pages: the rows, the perceptron's rule, and `run_epoch`, the loop of the lectures. A row store
(`Dense`, `Csr`), a rule (`PerceptronRule` and its kin), a penalty, a rate and an average are NamedTuples. The body of
each verb in the loop (`dot`, `respond`, `add`, ...) is chosen by their type when the loop is compiled, so one loop
serves every combination at the speed of a loop written for it. With the JIT off the same bodies run as Python.

After that: the structures, the verbs and their bodies by subject, then the other loops (`run_joint_epoch`, AROW,
Winnow, the pocket), single rows of a stream, errors and scores.

Short names, defined in docs/explanation/notation.md: i row, j feature, p problem (one weight vector),
c class, t trial, W weights (problems, features), b biases (problems,).
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.config import DISABLE_JIT
from numba.extending import intrinsic, overload

from rosenblatt.jit import compiled, patient

# Sums may be reordered and fused, which is what vectorises a dot product; NaN and infinity keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}

# Used for calls made once per row. If LLVM does not inline such a call, Numba updates the reference count of every
# array argument with atomic instructions.
INLINED = {"forceinline": True}

# Rows ahead of the one in use that are prefetched when the order jumps.
ROWS_AHEAD = 4
CACHE_LINE_BYTES = 64
# Lines of weights that are prefetched for each entry of a sparse row, before the row is multiplied. Weights of fewer
# bytes are in the caches of most machines, where asking for them takes a quarter of an epoch.
LINES_AHEAD = 4
CACHED_WEIGHT_BYTES = 1 << 24

# Weight vectors of a sparse row's features lie side by side where there are several. All of them are multiplied at once
# unless the active problems are fewer than one in so many.
SPREAD = 8
# Fewer vectors than that share a cache line, and are faster multiplied one by one.
FEW_VECTORS = 8


class Dense(NamedTuple):
    """Rows of a matrix in memory order."""

    X: np.ndarray  # (n, d), C-contiguous


class Csr(NamedTuple):
    """Rows stored by their nonzeros: row i is entries indptr[i] to indptr[i + 1]."""

    data: np.ndarray  # (nnz,)
    indices: np.ndarray  # (nnz,) columns, ascending within a row
    indptr: np.ndarray  # (n + 1,)


class Task(NamedTuple):
    """What each row teaches each problem.

    A row of class c is a positive (+1), a negative (-1) or no example (0) of problem p, as `sign[c, p]` says;
    one-vs-all and one-vs-one differ in this table only. For regression, `target` holds a number for each row.
    """

    label: np.ndarray  # (n,) class of each row
    sign: np.ndarray  # (classes, problems) int8
    cost: np.ndarray  # (classes, problems) factor of the step
    class_cost: np.ndarray  # (classes,) what an error on a row of the class counts
    sample_weight: np.ndarray  # (n,) factor of the step and of an error, or empty: all one
    target: np.ndarray  # (n,) for regression, else empty
    bias: float  # square of the constant that pads each row: 1, or 0 for no bias


class Weights(NamedTuple):
    """Weight vectors: problem p scores scale[p] * W[p].x + b[p]. Every array has a row for each problem."""

    W: np.ndarray  # (problems, features); Fortran order where sparse rows have several problems
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,) trials seen
    scale: np.ndarray  # (problems,)
    owed: np.ndarray  # (problems,) truncation that every weight should have received
    paid: np.ndarray  # (problems, features) truncation it did receive; (problems, 0) without an L1 penalty
    # For the average over the trials, which is (scale_sum W - lag) / t, and (t b - lag_b) / t for the bias:
    scale_sum: np.ndarray  # (problems,) scales summed over the trials
    lag: np.ndarray  # (problems, features) what updates came too late to add; (problems, 0) without an average
    lag_b: np.ndarray  # (problems,)


class Counts(NamedTuple):
    """What an epoch counts, per problem."""

    mistakes: np.ndarray  # trials with y f(x) <= 0
    updates: np.ndarray  # trials that changed the weights
    loss: np.ndarray  # loss summed over the trials
    step: np.ndarray  # steps summed: the weights moved by a sum of that many rows


class RuleInput(NamedTuple):
    """What a rule needs to know of a trial beside the row."""

    eta: float  # learning rate
    importance: float  # weight of the row times the cost of its class
    vectors: float  # how many weight vectors move
    bias: float  # square of the constant that pads each row


class PerceptronRule(NamedTuple):
    """Step 1 when y f(x) <= margin, with a margin for each class: Rosenblatt (1958) at 0, Li et al. (2002) uneven."""

    positive: float
    negative: float


def _perceptron(rule, sign, margin, rows, i, trial):
    # Written so that a NaN margin, from an overflow, never counts as correct.
    wanted = rule.positive if sign > 0 else rule.negative
    if margin > wanted:
        return 0.0, 0.0
    return trial.eta * trial.importance, wanted - margin


class Learner(NamedTuple):
    """How a first-order method learns from a row. Each part is a NamedTuple whose type chooses the code."""

    rule: tuple
    penalty: tuple
    rate: tuple
    averaging: tuple


# Arrays that a branch writes to are taken out of their structure before the loop, and the branch is written out.
# Passing a structure on in the branch makes Numba update the reference count of each of its arrays: a fifth of the
# time of a short row.


@compiled()
def run_epoch(learner, rows, task, order, active, weights, into, counts):
    """Present the rows in `order` (empty: all of them as they are stored) to the `active` problems.

    Scores are read from `weights` and corrections written `into`: the same arrays for the single-sample
    perceptron, a zeroed sum for the batch perceptron.
    """
    rule, penalty, rate, averaging = learner
    jumps, classifies = order.size > 0, task.target.size == 0
    trials = order.size if jumps else task.label.size
    W, b, seen, scale, scale_sum, lag, lag_b = into.W, into.b, into.t, into.scale, into.scale_sum, into.lag, into.lag_b
    products, steps = room_for_dots(rows, weights.W, weights.b), room_for_steps(rows, W)
    for t in range(trials):
        i = order[t] if jumps else t
        if jumps:
            request(rows, order[min(t + ROWS_AHEAD, trials - 1)], order[min(t + 2 * ROWS_AHEAD, trials - 1)])
        c = task.label[i]
        dots(rows, i, weights.W, active, products)
        for a in range(active.size):  # not `for p in active`, which updates a reference count for each row
            p = active[a]
            sign = task.sign[c, p]
            if sign == 0:
                continue
            score = weights.scale[p] * product(rows, i, weights.W, p, products) + weights.b[p]
            # A rule that steps by 1 - margin then steps by target - score.
            margin = sign * score if classifies else 1.0 + score - task.target[i]
            eta = rate_at(rate, seen[p] + 1)
            importance = task.cost[c, p] * task.sample_weight[i] if task.sample_weight.size else task.cost[c, p]
            step, loss = respond(rule, sign, margin, rows, i, RuleInput(eta, importance, 1.0, task.bias))
            before_step(penalty, eta, W, scale, scale_sum, lag, p)
            if step != 0.0:
                factor, bias = sign * step / scale[p], sign * step * task.bias
                note_step(averaging, i, factor, bias, lag_b, seen, p)
                shift_lag(averaging, rows, i, scale_sum[p] * factor, lag, p, steps)
                shift(rows, i, factor, W, p, steps)
                b[p] += bias
                counts.mistakes[p] += classifies and not margin > 0.0
                counts.updates[p] += 1
                counts.loss[p] += loss
                counts.step[p] += step
            after_step(penalty, eta, rows, i, into, p)
            seen[p] += 1
            pass_trial(averaging, scale_sum, scale, p)
        finish_shifts(rows, i, W, lag, active, steps)


# -------------------------------------------------------------------------------------------------------- structures


class PassiveAggressiveRule(NamedTuple):
    """Step min(C, (1 - m) / |x|^2) when m = y f(x) < 1. Crammer et al. (2006), PA-I; PA with C infinite."""

    C: float


class SmoothPassiveAggressiveRule(NamedTuple):
    """Step (1 - m) / (|x|^2 + 1 / 2C) when m = y f(x) < 1. Crammer et al. (2006), PA-II."""

    C: float


class HingeRule(NamedTuple):
    """Step 1 when m < 1: a subgradient step against max(0, 1 - m)."""

    none: float = 0.0


class SquaredHingeRule(NamedTuple):
    """Step 2 (1 - m) when m < 1, a gradient step against max(0, 1 - m)^2; but not beyond a margin of one.

    A longer step, which a large rate or a long row would ask for, overshoots the minimum: errors would grow.
    """

    none: float = 0.0


class LogisticRule(NamedTuple):
    """Step 1 / (1 + e^m): a gradient step against log(1 + e^-m)."""

    none: float = 0.0


class LmsRule(NamedTuple):
    """Step 1 - m, always: a gradient step against (1 - m)^2 / 2. Widrow and Hoff (1960)."""

    none: float = 0.0


class NormalisedLmsRule(NamedTuple):
    """Step (1 - m) / |x|^2, always: to the nearest weights without an error on the row.

    With a floor below |x|^2, short rows count less, as in the mean of all squared errors.
    """

    floor: float = 0.0


class NoPenalty(NamedTuple):
    """Weights are left as they are between updates."""

    none: float = 0.0


class Ridge(NamedTuple):
    """Each trial shrinks the weights by `l2`."""

    l2: float


class ElasticNet(NamedTuple):
    """Each trial shrinks the weights by `l2` and truncates them by `l1` (Tsuruoka et al. 2009, cumulative)."""

    l1: float
    l2: float


class ConstantRate(NamedTuple):
    """Learning rate that stays for an epoch."""

    eta: float


class HarmonicRate(NamedTuple):
    """Learning rate 1 / (strength (start + t)) in trial t. Shalev-Shwartz et al. (2007) with start 0."""

    strength: float
    start: float


class NoAverage(NamedTuple):
    """Nothing is remembered of earlier weights."""

    none: float = 0.0


class Average(NamedTuple):
    """The average of the weights after each trial can be told at any time, and training goes on undisturbed."""

    none: float = 0.0


class UpdateLog(NamedTuple):
    """Every update is written down: which row, which problem, by how much, in which trial."""

    row: np.ndarray  # (capacity,)
    problem: np.ndarray  # (capacity,)
    factor: np.ndarray  # (capacity,)
    trial: np.ndarray  # (capacity,) trials that the problem had seen before
    size: np.ndarray  # (1,) updates written so far; the caller provides room for every trial it asks for


class Hyperplanes(NamedTuple):
    """Weights ready for use: problem p scores W[p].x + b[p]."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    scale: np.ndarray  # (problems,) ones


class GaussianWeights(NamedTuple):
    """Weights with their uncertainty: a variance for each weight, or a covariance matrix with the bias last."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,)
    V: np.ndarray  # (problems, features), or (problems, features + 1, features + 1)
    v: np.ndarray  # (problems,) variance of the bias, next to diagonal V


class PullInput(NamedTuple):
    """What AROW needs to know of a trial beside the row."""

    error: float  # 1 - margin, with the sign of the row
    noise: float  # r of the paper, over the importance of the row
    variance: float  # of the score, under a diagonal covariance
    bias: float  # square of the constant that pads each row


class Exponents(NamedTuple):
    """Weights that are powers: W = link(theta), updated through theta."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,)
    theta: np.ndarray  # (problems, features)
    theta_b: np.ndarray  # (problems,)


class Pocket(NamedTuple):
    """The weights of the perceptron, and the best ones found so far in the pocket."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,)
    best_w: np.ndarray  # (problems, features)
    best_b: np.ndarray  # (problems,)
    run: np.ndarray  # (problems,) correct trials in a row of W
    best_run: np.ndarray  # (problems,) and of the pocket
    errors: np.ndarray  # (problems,) training errors of the pocket


class WinnowRule(NamedTuple):
    """Weights factor^theta against a threshold; a demotion divides, or eliminates. Littlestone (1988)."""

    factor: float
    eliminate: bool


class BalancedWinnowRule(NamedTuple):
    """Weights factor^theta - factor^-theta, for features of either sign. Littlestone (1989), Balanced."""

    factor: float


# ---------------------------------------------------------------------------------------------- choosing code by type


@intrinsic
def _prefetch(typing_context, array, k):
    """Prefetch the cache line that holds array[k]; a hint without effect on any value."""

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


def _plain_prefetch(array, k):
    """Do nothing: interpreted code has no use for the hint."""


if DISABLE_JIT:
    _prefetch = _plain_prefetch


def _by_type(bodies, kind):
    """Body for a NamedTuple instance, or for Numba's type of one."""
    # numba.types.NamedTuple.instance_class is undocumented; this is the one place that relies on it.
    return bodies.get(getattr(kind, "instance_class", type(kind)))


# -------------------------------------------------------------------------------------------- rows: three verbs


# The verbs take the matrix W and the number of a weight vector, not the vector: Numba would count references to a view
# for each row, atomically, at a quarter of the time of a short row.


@compiled(forceinline=True, fastmath=FASTMATH)
def _dot_dense(X, i, W, p):
    total = W.dtype.type(0)
    for j in range(X.shape[1]):
        total += X[i, j] * W[p, j]
    return total


# Sums over the entries of a sparse row are made four products at a time, in a fixed order, without fastmath: LLVM would
# vectorise the loop over one vector with gathers, twice as slow. The loop over all vectors of a feature adds up in the
# same order, so that the layout of the weights does not change a bit. Unsigned numbers spare the tests for negative
# indices.


@compiled(forceinline=True)
def _dot_csr(data, indices, indptr, i, W, p):
    total = W.dtype.type(0)
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    while k + np.uint64(4) <= end:
        first = data[k] * W[p, np.uint64(indices[k])]
        second = data[k + np.uint64(1)] * W[p, np.uint64(indices[k + np.uint64(1)])]
        third = data[k + np.uint64(2)] * W[p, np.uint64(indices[k + np.uint64(2)])]
        fourth = data[k + np.uint64(3)] * W[p, np.uint64(indices[k + np.uint64(3)])]
        total += (first + second) + (third + fourth)
        k += np.uint64(4)
    while k < end:
        total += data[k] * W[p, np.uint64(indices[k])]
        k += np.uint64(1)
    return total


@compiled(forceinline=True)
def _request_weights(W, j):
    """Prefetch the weights of feature j, which lie side by side; the hardware finds more than a few lines by itself."""
    line = CACHE_LINE_BYTES // W.itemsize
    for p in range(0, min(W.shape[0], LINES_AHEAD * line), line):
        _prefetch(W, j * W.shape[0] + p)


@compiled(forceinline=True)
def _dots_by_feature(data, indices, indptr, i, W, active, out):
    first, last = np.uint64(active[0]), np.uint64(active[active.size - 1] + 1)
    if last - first < FEW_VECTORS:
        for p in range(first, last):
            out[p] = _dot_csr(data, indices, indptr, i, W, p)
        return
    if SPREAD * active.size <= last - first:
        for a in range(active.size):
            out[active[a]] = _dot_csr(data, indices, indptr, i, W, np.uint64(active[a]))
        return
    for p in range(first, last):
        out[p] = 0.0
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    if W.size * W.itemsize > CACHED_WEIGHT_BYTES:
        for near in range(k, end):
            _request_weights(W, indices[near])
    while k + np.uint64(4) <= end:
        x0, x1, x2, x3 = data[k], data[k + np.uint64(1)], data[k + np.uint64(2)], data[k + np.uint64(3)]
        j0, j1 = np.uint64(indices[k]), np.uint64(indices[k + np.uint64(1)])
        j2, j3 = np.uint64(indices[k + np.uint64(2)]), np.uint64(indices[k + np.uint64(3)])
        for p in range(first, last):
            out[p] += (x0 * W[p, j0] + x1 * W[p, j1]) + (x2 * W[p, j2] + x3 * W[p, j3])
        k += np.uint64(4)
    while k < end:
        x0, j0 = data[k], np.uint64(indices[k])
        for p in range(first, last):
            out[p] += x0 * W[p, j0]
        k += np.uint64(1)


@compiled(forceinline=True, fastmath=FASTMATH)
def _add_dense(X, i, factor, W, p):
    step = W.dtype.type(factor)
    for j in range(X.shape[1]):
        W[p, j] += step * X[i, j]


@compiled(forceinline=True)
def _add_csr(data, indices, indptr, i, factor, W, p):
    step = W.dtype.type(factor)
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    while k < end:
        W[p, np.uint64(indices[k])] += step * data[k]
        k += np.uint64(1)


@compiled(forceinline=True)
def _request_csr(data, indices, indptr, near, far):
    _prefetch(indptr, far)
    start, end = indptr[near], indptr[near + 1]
    for k in range(start, end, CACHE_LINE_BYTES // data.itemsize):
        _prefetch(data, k)
    for k in range(start, end, CACHE_LINE_BYTES // indices.itemsize):
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


def _dots_later(rows, i, W, active, out):
    # Each product is computed when it is asked for.
    pass


def _no_room(rows, W, b):
    return b


_REQUEST = {
    Dense: _request_dense,
    Csr: lambda rows, near, far: _request_csr(rows.data, rows.indices, rows.indptr, near, far),
}


@compiled(fastmath=FASTMATH)
def _square_dense(X, i):
    total = 0.0
    for j in range(X.shape[1]):
        value = np.float64(X[i, j])  # the square of a float32 may overflow
        total += value * value
    return total


@compiled(fastmath=FASTMATH)
def _square_csr(data, indptr, i):
    total = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        value = np.float64(data[k])
        total += value * value
    return total


_SQUARE = {
    Dense: lambda rows, i: _square_dense(rows.X, i),
    Csr: lambda rows, i: _square_csr(rows.data, rows.indptr, i),
}
_ENTRIES = {
    Dense: lambda rows, i: (0, rows.X.shape[1]),
    Csr: lambda rows, i: (rows.indptr[i], rows.indptr[i + 1]),
}
_ROW_COUNT = {
    Dense: lambda rows: rows.X.shape[0],
    Csr: lambda rows: rows.indptr.size - 1,
}
_LONGEST = {  # as `rosenblatt.data.table.SQUARED_LENGTHS`
    Dense: lambda rows: 1e30 if rows.X.itemsize == 4 else 1e280,
    Csr: lambda rows: 1e30 if rows.data.itemsize == 4 else 1e280,
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


def _choose_by_layout(by_feature, else_):
    """Return a choice of code: one for sparse rows with the weights of a feature side by side, one for all else."""

    def choose(rows, W):
        layout = W.layout if hasattr(W, "layout") else "CF"[W.flags.f_contiguous and not W.flags.c_contiguous]
        return by_feature if layout == "F" and getattr(rows, "instance_class", type(rows)) is Csr else else_

    return choose


_choose_room = _choose_by_layout(lambda rows, W, b: np.empty(b.size, b.dtype), _no_room)
_choose_dots = _choose_by_layout(
    lambda rows, i, W, active, out: _dots_by_feature(rows.data, rows.indices, rows.indptr, i, W, active, out),
    _dots_later,
)
_choose_product = _choose_by_layout(lambda rows, i, W, p, out: out[p], lambda rows, i, W, p, out: dot(rows, i, W, p))


# Where all products of a row are computed at once, all its updates are made at once, too: they wait in `steps`, a row
# for the weights and a row for the lag of their average.


@compiled(forceinline=True)
def _shift_by_feature(data, indices, indptr, i, W, active, steps, which):
    first, last = np.uint64(active[0]), np.uint64(active[active.size - 1] + 1)
    moved = 0
    for p in range(first, last):
        moved += steps[which, p] != 0.0
    if moved == 0:
        return
    if SPREAD * moved <= last - first:
        for p in range(first, last):
            if steps[which, p] != 0.0:
                _add_csr(data, indices, indptr, i, steps[which, p], W, p)
                steps[which, p] = 0.0
        return
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    while k < end:
        x, j = data[k], np.uint64(indices[k])
        for p in range(first, last):
            W[p, j] += W.dtype.type(steps[which, p]) * x
        k += np.uint64(1)
    for p in range(first, last):
        steps[which, p] = 0.0


@compiled(forceinline=True)
def _finish_by_feature(data, indices, indptr, i, W, lag, active, steps):
    _shift_by_feature(data, indices, indptr, i, W, active, steps, 0)
    if lag.shape[1]:
        _shift_by_feature(data, indices, indptr, i, lag, active, steps, 1)


def _shift_later(rows, i, factor, W, p, steps):
    steps[0, p] = factor


def _shift_now(rows, i, factor, W, p, steps):
    add(rows, i, factor, W, p)


def _lag_later(averaging, rows, i, factor, lag, p, steps):
    steps[1, p] = factor


def _lag_now(averaging, rows, i, factor, lag, p, steps):
    add(rows, i, factor, lag, p)


def _lag_never(averaging, rows, i, factor, lag, p, steps):
    pass


_choose_steps = _choose_by_layout(lambda rows, W: np.zeros((2, W.shape[0])), lambda rows, W: W)
_choose_shift = _choose_by_layout(_shift_later, _shift_now)
_choose_lag = _choose_by_layout(_lag_later, _lag_now)
_choose_finish = _choose_by_layout(
    lambda rows, i, W, lag, active, steps: _finish_by_feature(
        rows.data, rows.indices, rows.indptr, i, W, lag, active, steps
    ),
    lambda rows, i, W, lag, active, steps: None,
)


def _choose_shift_lag(averaging, rows, lag):
    averages = getattr(averaging, "instance_class", type(averaging)) is Average
    return _choose_lag(rows, lag) if averages else _lag_never


def room_for_steps(rows, W):
    """Return an array for the updates of a row, where they wait for each other."""
    return _choose_steps(rows, W)(rows, W)


def shift(rows, i, factor, W, p, steps):
    """Add `factor` times row i to W[p], at once or with the other updates of the row."""
    return _choose_shift(rows, W)(rows, i, factor, W, p, steps)


def shift_lag(averaging, rows, i, factor, lag, p, steps):
    """Do the same with what an average must make up for."""
    return _choose_shift_lag(averaging, rows, lag)(averaging, rows, i, factor, lag, p, steps)


def finish_shifts(rows, i, W, lag, active, steps):
    """Make the updates of row i that wait."""
    return _choose_finish(rows, W)(rows, i, W, lag, active, steps)


def room_for_dots(rows, W, b):
    """Return an array for `dots`."""
    return _choose_room(rows, W)(rows, W, b)


def dots(rows, i, W, active, out):
    """Compute the inner products of row i with the active vectors, if they are faster to compute all at once."""
    return _choose_dots(rows, W)(rows, i, W, active, out)


def product(rows, i, W, p, out):
    """Return the inner product of row i with W[p], after `dots`."""
    return _choose_product(rows, W)(rows, i, W, p, out)


def request(rows, near, far):
    """Prefetch row `near`, which comes soon, and what leads to row `far`, which comes after it."""
    return _by_type(_REQUEST, rows)(rows, near, far)


def square(rows, i):
    """Squared norm of row i."""
    return _by_type(_SQUARE, rows)(rows, i)


def entries(rows, i):
    """First and last-plus-one position of the stored entries of row i."""
    return _by_type(_ENTRIES, rows)(rows, i)


def row_count(rows):
    """Return the number of rows."""
    return _by_type(_ROW_COUNT, rows)(rows)


def longest(rows):
    """Return the largest squared norm of a row whose sums of products do not overflow, by the type of its values."""
    return _by_type(_LONGEST, rows)(rows)


def entry(rows, i, k):
    """Column and value of the entry of row i at position k."""
    return _by_type(_ENTRY, rows)(rows, i, k)


overload(dot, jit_options=INLINED)(lambda rows, i, W, p: _by_type(_DOT, rows))
overload(add, jit_options=INLINED)(lambda rows, i, factor, W, p: _by_type(_ADD, rows))
overload(room_for_steps)(lambda rows, W: _choose_steps(rows, W))
overload(shift, jit_options=INLINED)(lambda rows, i, factor, W, p, steps: _choose_shift(rows, W))
overload(shift_lag, jit_options=INLINED)(
    lambda averaging, rows, i, factor, lag, p, steps: _choose_shift_lag(averaging, rows, lag)
)
overload(finish_shifts, jit_options=INLINED)(lambda rows, i, W, lag, active, steps: _choose_finish(rows, W))
overload(room_for_dots)(lambda rows, W, b: _choose_room(rows, W))
overload(dots, jit_options=INLINED)(lambda rows, i, W, active, out: _choose_dots(rows, W))
overload(product, jit_options=INLINED)(lambda rows, i, W, p, out: _choose_product(rows, W))
overload(request, jit_options=INLINED)(lambda rows, near, far: _by_type(_REQUEST, rows))
overload(square)(lambda rows, i: _by_type(_SQUARE, rows))
overload(entries)(lambda rows, i: _by_type(_ENTRIES, rows))
overload(entry)(lambda rows, i, k: _by_type(_ENTRY, rows))
overload(longest)(lambda rows: _by_type(_LONGEST, rows))
overload(row_count)(lambda rows: _by_type(_ROW_COUNT, rows))


# ---------------------------------------------------------------------------------- rules: one formula, step and loss


def _passive_aggressive(rule, sign, margin, rows, i, trial):
    if margin >= 1.0:
        return 0.0, 0.0
    length = trial.vectors * (square(rows, i) + trial.bias)
    loss = 1.0 - margin
    return min(rule.C * trial.importance, loss / length) if length > 0.0 else 0.0, loss


def _smooth_passive_aggressive(rule, sign, margin, rows, i, trial):
    if margin >= 1.0:
        return 0.0, 0.0
    length = trial.vectors * (square(rows, i) + trial.bias)
    loss = 1.0 - margin
    return loss / (length + 0.5 / (rule.C * trial.importance)), loss * loss


def _hinge(rule, sign, margin, rows, i, trial):
    if margin >= 1.0:
        return 0.0, 0.0
    return trial.eta * trial.importance, 1.0 - margin


def _squared_hinge(rule, sign, margin, rows, i, trial):
    if margin >= 1.0:
        return 0.0, 0.0
    loss, rate = 1.0 - margin, 2.0 * trial.eta * trial.importance
    length = trial.vectors * (square(rows, i) + trial.bias)
    return loss * rate / max(1.0, rate * length), loss * loss


def _logistic(rule, sign, margin, rows, i, trial):
    small = np.exp(-abs(margin))
    share = small / (1.0 + small) if margin > 0.0 else 1.0 / (1.0 + small)
    return trial.eta * trial.importance * share, np.log1p(small) + max(0.0, -margin)


@compiled()
def _repeat(share, times):
    """Share of an error that is gone after so many steps which each take the given share of what is left."""
    if times == 1.0:
        return share
    return 1.0 - (1.0 - share) ** times if share < 1.0 else 1.0


def _lms(rule, sign, margin, rows, i, trial):
    error = 1.0 - margin
    if trial.importance == 1.0:
        return trial.eta * error, 0.5 * error * error
    length = square(rows, i) + trial.bias
    step = _repeat(trial.eta * length, trial.importance) * error / length if length > 0.0 else 0.0
    return step, 0.5 * error * error


def _normalised_lms(rule, sign, margin, rows, i, trial):
    error = 1.0 - margin
    length = square(rows, i) + trial.bias
    if length == 0.0:
        return 0.0, 0.5 * error * error
    divisor = max(length, rule.floor)
    if trial.importance == 1.0:
        return trial.eta * error / divisor, 0.5 * error * error
    return _repeat(trial.eta * (length / divisor), trial.importance) * error / length, 0.5 * error * error


RULES = {
    PerceptronRule: _perceptron,
    PassiveAggressiveRule: _passive_aggressive,
    SmoothPassiveAggressiveRule: _smooth_passive_aggressive,
    HingeRule: _hinge,
    SquaredHingeRule: _squared_hinge,
    LogisticRule: _logistic,
    LmsRule: _lms,
    NormalisedLmsRule: _normalised_lms,
}


def respond(rule, sign, margin, rows, i, trial):
    """How far a rule moves the weights towards row i with margin y f(x), 0 to leave them; and its loss there."""
    return _by_type(RULES, rule)(rule, sign, margin, rows, i, trial)


overload(respond)(lambda rule, sign, margin, rows, i, trial: _by_type(RULES, rule))


# ------------------------------------------------------------------------------------------ rate: the learning rate

_RATE = {
    ConstantRate: lambda rate, t: rate.eta,
    HarmonicRate: lambda rate, t: 1.0 / (rate.strength * (rate.start + t)),
}


def rate_at(rate, t):
    """Learning rate of a problem's trial t, from 1."""
    return _by_type(_RATE, rate)(rate, t)


overload(rate_at)(lambda rate, t: _by_type(_RATE, rate))


# -------------------------------------------------------------------------------- penalties: before and after a step


@compiled()
def _fold(W, scale, scale_sum, lag, p):
    """Multiply the scale of vector p into it; the sum over the trials, scale_sum W - lag, stays what it is."""
    if scale[p] > 0.0:
        scale_sum[p] /= scale[p]
    else:
        for j in range(lag.shape[1]):
            lag[p, j] -= scale_sum[p] * W[p, j]
        scale_sum[p] = 0.0
    for j in range(W.shape[1]):
        W[p, j] *= scale[p]
    scale[p] = 1.0


@compiled(forceinline=True)
def _truncate(weights, p, j):
    """Pay what weight j of vector p still owes, but not past zero."""
    scale = weights.scale[p]
    before = scale * weights.W[p, j]
    after = before
    if before > 0.0:
        after = max(0.0, before - (weights.owed[p] + weights.paid[p, j]))
    elif before < 0.0:
        after = min(0.0, before + (weights.owed[p] - weights.paid[p, j]))
    if after != before:
        weights.paid[p, j] += after - before
        if weights.lag.shape[1]:
            weights.lag[p, j] += weights.scale_sum[p] * (after - before) / scale
        weights.W[p, j] = after / scale


def _before_shrink(penalty, eta, W, scale, scale_sum, lag, p):
    # In constant time, through the scale, which is folded in before it gets too small.
    scale[p] *= max(0.0, 1.0 - eta * penalty.l2)
    if scale[p] < 1e-9:
        _fold(W, scale, scale_sum, lag, p)


def _after_elastic_net(penalty, eta, rows, i, weights, p):
    if penalty.l1 > 0.0:
        weights.owed[p] += eta * penalty.l1
        # Only what the row touches: a weight that no row reads can pay later, and sparse stays sparse.
        start, end = entries(rows, i)
        for k in range(start, end):
            j, value = entry(rows, i, k)
            if value != 0.0:
                _truncate(weights, p, j)


def _before_none(penalty, eta, W, scale, scale_sum, lag, p):
    pass


def _after_none(penalty, eta, rows, i, weights, p):
    pass


_BEFORE = {NoPenalty: _before_none, Ridge: _before_shrink, ElasticNet: _before_shrink}
_AFTER = {NoPenalty: _after_none, Ridge: _after_none, ElasticNet: _after_elastic_net}


def before_step(penalty, eta, W, scale, scale_sum, lag, p):
    """Shrink weight vector p, once per trial."""
    return _by_type(_BEFORE, penalty)(penalty, eta, W, scale, scale_sum, lag, p)


def after_step(penalty, eta, rows, i, weights, p):
    """Truncate the weights that row i touches, once per trial."""
    return _by_type(_AFTER, penalty)(penalty, eta, rows, i, weights, p)


overload(before_step, jit_options=INLINED)(lambda penalty, eta, W, scale, scale_sum, lag, p: _by_type(_BEFORE, penalty))
overload(after_step)(lambda penalty, eta, rows, i, weights, p: _by_type(_AFTER, penalty))


@compiled()
def settle(weights):
    """Pay all truncation and fold the scales into the weights, so that W alone is the model."""
    for p in range(weights.W.shape[0]):
        for j in range(weights.paid.shape[1]):
            _truncate(weights, p, j)
        _fold(weights.W, weights.scale, weights.scale_sum, weights.lag, p)


# --------------------------------------------------------------------------------- averaging: what is kept of the past


# The verbs take arrays, not the structure that holds them, whose reference counts cost more than a short row.


def _note_none(averaging, i, factor, bias, lag_b, t, p):
    pass


def _note_mean(averaging, i, factor, bias, lag_b, t, p):
    # An update after t trials is missing from t of the vectors that the average adds up; `shift_lag` does the weights.
    lag_b[p] += t[p] * bias


def _note_log(averaging, i, factor, bias, lag_b, t, p):
    k = averaging.size[0]
    averaging.row[k] = i
    averaging.problem[k] = p
    averaging.factor[k] = factor
    averaging.trial[k] = t[p]
    averaging.size[0] = k + 1


def _pass_none(averaging, scale_sum, scale, p):
    pass


def _pass_mean(averaging, scale_sum, scale, p):
    scale_sum[p] += scale[p]


_NOTE = {NoAverage: _note_none, Average: _note_mean, UpdateLog: _note_log}
_PASS = {NoAverage: _pass_none, Average: _pass_mean, UpdateLog: _pass_none}


def note_step(averaging, i, factor, bias, lag_b, t, p):
    """Remember that vector p is moved by `factor` times row i, and its bias by `bias`."""
    return _by_type(_NOTE, averaging)(averaging, i, factor, bias, lag_b, t, p)


def pass_trial(averaging, scale_sum, scale, p):
    """Remember that vector p has lived through a trial."""
    return _by_type(_PASS, averaging)(averaging, scale_sum, scale, p)


overload(note_step, jit_options=INLINED)(lambda averaging, i, factor, bias, lag_b, t, p: _by_type(_NOTE, averaging))
overload(pass_trial, jit_options=INLINED)(lambda averaging, scale_sum, scale, p: _by_type(_PASS, averaging))


# ------------------------------------------------------------------------------------------------------------ epochs


@compiled(forceinline=True)
def _best_wrong(rows, i, c, W, b, scale, every, products):
    """Score of class c on row i, and the highest score of another class with that class."""
    own, best, wrong = 0.0, -np.inf, 0
    dots(rows, i, W, every, products)
    for k in range(W.shape[0]):
        score = scale[k] * product(rows, i, W, k, products) + b[k]
        if k == c:
            own = score
        elif not score <= best:
            best, wrong = score, k
    return own, best, wrong


@compiled()
def run_joint_epoch(learner, rows, task, order, weights, into, counts):
    """Present the rows to all classes at once: towards the true one, away from the best wrong one.

    The max-score ultraconservative update, Crammer and Singer (2003), Figure 3. The margin of a row is the
    score of its class less the best score of another.
    """
    rule, penalty, rate, averaging = learner
    jumps = order.size > 0
    trials = order.size if jumps else task.label.size
    W, b, seen, scale, scale_sum, lag, lag_b = into.W, into.b, into.t, into.scale, into.scale_sum, into.lag, into.lag_b
    every, products, steps = np.arange(b.size), room_for_dots(rows, weights.W, weights.b), room_for_steps(rows, W)
    for t in range(trials):
        i = order[t] if jumps else t
        if jumps:
            request(rows, order[min(t + ROWS_AHEAD, trials - 1)], order[min(t + 2 * ROWS_AHEAD, trials - 1)])
        c = task.label[i]
        own, best, wrong = _best_wrong(rows, i, c, weights.W, weights.b, weights.scale, every, products)
        margin = own - best
        eta = rate_at(rate, seen[0] + 1)
        importance = task.class_cost[c] * task.sample_weight[i] if task.sample_weight.size else task.class_cost[c]
        step, loss = respond(rule, 1, margin, rows, i, RuleInput(eta, importance, 2.0, task.bias))
        for k in range(weights.W.shape[0]):
            before_step(penalty, eta, W, scale, scale_sum, lag, k)
        if step != 0.0:
            for sign in (1, -1):
                k = c if sign > 0 else wrong
                factor, bias = sign * step / scale[k], sign * step * task.bias
                note_step(averaging, i, factor, bias, lag_b, seen, k)
                shift_lag(averaging, rows, i, scale_sum[k] * factor, lag, k, steps)
                shift(rows, i, factor, W, k, steps)
                b[k] += bias
            finish_shifts(rows, i, W, lag, every, steps)
            counts.mistakes[0] += not margin > 0.0
            counts.updates[0] += 1
            counts.loss[0] += loss
            counts.step[0] += step
        for k in range(weights.W.shape[0]):
            after_step(penalty, eta, rows, i, into, k)
            seen[k] += 1
            pass_trial(averaging, scale_sum, scale, k)


@compiled(error_model="numpy")
def run_gaussian_epoch(noise, rows, task, order, active, state, counts):
    """Adaptive regularisation of weights (AROW), Crammer, Kulesza and Dredze (2009), Figure 1.

    When m = y f(x) < 1: with v = x'Vx and beta = 1 / (v + noise), w += (1 - m) beta y V x and V -= beta V x x'V,
    of which a diagonal V keeps the diagonal. An example that counts k times has a k-th of the noise.
    """
    jumps = order.size > 0
    trials = order.size if jumps else task.label.size
    products, variances = room_for_dots(rows, state.W, state.b), room_for_dots(rows, state.W, state.v)
    for t in range(trials):
        i = order[t] if jumps else t
        if jumps:
            request(rows, order[min(t + ROWS_AHEAD, trials - 1)], order[min(t + 2 * ROWS_AHEAD, trials - 1)])
        c = task.label[i]
        estimates(rows, i, state.W, state.V, active, products, variances)
        for a in range(active.size):
            p = active[a]
            sign = task.sign[c, p]
            if sign == 0:
                continue
            score, variance = estimated(rows, i, state.W, state.V, p, products, variances)
            margin = sign * (score + state.b[p])
            state.t[p] += 1
            if not margin >= 1.0:
                importance = task.cost[c, p] * task.sample_weight[i] if task.sample_weight.size else task.cost[c, p]
                how = PullInput((1.0 - margin) * sign, noise / importance, variance, task.bias)
                pull(rows, i, how, state.W, state.b, state.V, state.v, p)
                counts.mistakes[p] += not margin > 0.0
                counts.updates[p] += 1
                counts.loss[p] += 1.0 - margin
                counts.step[p] += importance


@compiled(error_model="numpy")
def run_joint_gaussian_epoch(noise, rows, task, order, state, counts):
    """AROW for all classes at once: towards the true one, away from the best wrong one, by a diagonal V.

    As `run_gaussian_epoch` with the margin of `run_joint_epoch`. Variances follow the diagonal of the precision,
    1/V += x^2 / noise, which measured better here than the diagonal of the covariance (MNIST, one pass: 92.3
    against 91.2 % at noise 1).
    """
    jumps = order.size > 0
    trials = order.size if jumps else task.label.size
    every, products = np.arange(state.b.size), room_for_dots(rows, state.W, state.b)
    for t in range(trials):
        i = order[t] if jumps else t
        if jumps:
            request(rows, order[min(t + ROWS_AHEAD, trials - 1)], order[min(t + 2 * ROWS_AHEAD, trials - 1)])
        c = task.label[i]
        own, best, wrong = 0.0, -np.inf, 0
        dots(rows, i, state.W, every, products)
        for k in range(state.W.shape[0]):
            score = product(rows, i, state.W, k, products) + state.b[k]
            state.t[k] += 1
            if k == c:
                own = score
            elif not score <= best:
                best, wrong = score, k
        margin = own - best
        if margin >= 1.0:
            continue
        importance = task.class_cost[c] * task.sample_weight[i] if task.sample_weight.size else task.class_cost[c]
        r = noise / importance
        start, end = entries(rows, i)
        variance = (state.v[c] + state.v[wrong]) * task.bias
        for m in range(start, end):
            j, value = entry(rows, i, m)
            variance += (state.V[c, j] + state.V[wrong, j]) * value * value
        alpha = (1.0 - margin) / (variance + r)
        for m in range(start, end):
            j, value = entry(rows, i, m)
            state.W[c, j] += alpha * state.V[c, j] * value
            state.W[wrong, j] -= alpha * state.V[wrong, j] * value
            state.V[c, j] /= 1.0 + state.V[c, j] * value * value / r
            state.V[wrong, j] /= 1.0 + state.V[wrong, j] * value * value / r
        state.b[c] += alpha * state.v[c] * task.bias
        state.b[wrong] -= alpha * state.v[wrong] * task.bias
        state.v[c] /= 1.0 + state.v[c] * task.bias / r
        state.v[wrong] /= 1.0 + state.v[wrong] * task.bias / r
        counts.mistakes[0] += not margin > 0.0
        counts.updates[0] += 1
        counts.loss[0] += 1.0 - margin
        counts.step[0] += importance


# A diagonal V gives the variance of a score in the pass that adds up the score: most rows need both.
# Division is NumPy's, which does not raise: for a way out of the update Numba would count references for each row.


@compiled(forceinline=True, fastmath=FASTMATH)
def _estimate_dense(X, i, W, V, p):
    score, variance = W.dtype.type(0), 0.0
    for j in range(X.shape[1]):
        score += X[i, j] * W[p, j]
        variance += V[p, j] * (X[i, j] * X[i, j])
    return score, variance


@compiled(forceinline=True)
def _estimate_csr(data, indices, indptr, i, W, V, p):
    score, variance = W.dtype.type(0), 0.0  # in the order of `_dot_csr`
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    while k + np.uint64(4) <= end:
        x0, x1, x2, x3 = data[k], data[k + np.uint64(1)], data[k + np.uint64(2)], data[k + np.uint64(3)]
        j0, j1 = np.uint64(indices[k]), np.uint64(indices[k + np.uint64(1)])
        j2, j3 = np.uint64(indices[k + np.uint64(2)]), np.uint64(indices[k + np.uint64(3)])
        score += (x0 * W[p, j0] + x1 * W[p, j1]) + (x2 * W[p, j2] + x3 * W[p, j3])
        near = V[p, j0] * (x0 * x0) + V[p, j1] * (x1 * x1)
        variance += near + (V[p, j2] * (x2 * x2) + V[p, j3] * (x3 * x3))
        k += np.uint64(4)
    while k < end:  # not `if`, in which Numba would release the arrays for each row
        x0, j0 = data[k], np.uint64(indices[k])
        score += x0 * W[p, j0]
        variance += V[p, j0] * (x0 * x0)
        k += np.uint64(1)
    return score, variance


@compiled(forceinline=True)
def _estimates_by_feature(data, indices, indptr, i, W, V, active, products, variances):
    first, last = np.uint64(active[0]), np.uint64(active[active.size - 1] + 1)
    for p in range(first, last):
        products[p], variances[p] = 0.0, 0.0
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    while k + np.uint64(4) <= end:
        x0, x1, x2, x3 = data[k], data[k + np.uint64(1)], data[k + np.uint64(2)], data[k + np.uint64(3)]
        j0, j1 = np.uint64(indices[k]), np.uint64(indices[k + np.uint64(1)])
        j2, j3 = np.uint64(indices[k + np.uint64(2)]), np.uint64(indices[k + np.uint64(3)])
        for p in range(first, last):
            products[p] += (x0 * W[p, j0] + x1 * W[p, j1]) + (x2 * W[p, j2] + x3 * W[p, j3])
        for p in range(first, last):
            near = V[p, j0] * (x0 * x0) + V[p, j1] * (x1 * x1)
            variances[p] += near + (V[p, j2] * (x2 * x2) + V[p, j3] * (x3 * x3))
        k += np.uint64(4)
    while k < end:
        x0, j0 = data[k], np.uint64(indices[k])
        for p in range(first, last):
            products[p] += x0 * W[p, j0]
            variances[p] += V[p, j0] * (x0 * x0)
        k += np.uint64(1)


@compiled(forceinline=True, fastmath=FASTMATH)
def _pull_dense(X, i, alpha, beta, W, V, p):
    for j in range(X.shape[1]):
        gain = V[p, j] * X[i, j]
        W[p, j] += alpha * gain
        V[p, j] -= beta * gain * gain


@compiled(forceinline=True)
def _pull_csr(data, indices, indptr, i, alpha, beta, W, V, p):
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    while k < end:
        j = np.uint64(indices[k])
        gain = V[p, j] * data[k]
        W[p, j] += alpha * gain
        V[p, j] -= beta * gain * gain
        k += np.uint64(1)


_ESTIMATE = {
    Dense: lambda rows, i, W, V, p: _estimate_dense(rows.X, i, W, V, p),
    Csr: lambda rows, i, W, V, p: _estimate_csr(rows.data, rows.indices, rows.indptr, i, W, V, p),
}
_PULL = {
    Dense: lambda rows, i, alpha, beta, W, V, p: _pull_dense(rows.X, i, alpha, beta, W, V, p),
    Csr: lambda rows, i, alpha, beta, W, V, p: _pull_csr(rows.data, rows.indices, rows.indptr, i, alpha, beta, W, V, p),
}


def pull_entries(rows, i, alpha, beta, W, V, p):
    """Add alpha V x, for row x, to W[p], and take the diagonal of beta V x x'V from V[p]."""
    return _by_type(_PULL, rows)(rows, i, alpha, beta, W, V, p)


overload(pull_entries)(lambda rows, i, alpha, beta, W, V, p: _by_type(_PULL, rows))


@compiled(forceinline=True, error_model="numpy")
def _pull_diagonal(rows, i, how, W, b, V, v, p):
    beta = 1.0 / (how.variance + v[p] * how.bias + how.noise)
    alpha = how.error * beta
    pull_entries(rows, i, alpha, beta, W, V, p)
    b[p] += alpha * v[p] * how.bias
    v[p] -= beta * v[p] * v[p] * how.bias


@compiled()
def _pull_full(rows, i, how, W, b, V, p):
    error, noise, bias = how.error, how.noise, how.bias
    start, end = entries(rows, i)
    width = V.shape[1]
    padding = np.sqrt(bias)
    gain = np.empty(width)
    for m in range(width):
        gain[m] = V[p, m, width - 1] * padding
    for k in range(start, end):
        j, value = entry(rows, i, k)
        for m in range(width):
            gain[m] += V[p, m, j] * value
    variance = gain[width - 1] * padding
    for k in range(start, end):
        j, value = entry(rows, i, k)
        variance += gain[j] * value
    beta = 1.0 / (variance + noise)
    for m in range(width - 1):
        W[p, m] += error * beta * gain[m]
    b[p] += error * beta * gain[width - 1] * padding
    for m in range(width):
        for n in range(width):
            V[p, m, n] -= beta * gain[m] * gain[n]


def _choose_estimate(rows, i, W, V, p):
    if V.ndim == 2:
        return _by_type(_ESTIMATE, rows)
    return lambda rows, i, W, V, p: (dot(rows, i, W, p), 0.0)


def _choose_pull(rows, i, how, W, b, V, v, p):
    if V.ndim == 2:
        return lambda rows, i, how, W, b, V, v, p: _pull_diagonal(rows, i, how, W, b, V, v, p)
    return lambda rows, i, how, W, b, V, v, p: _pull_full(rows, i, how, W, b, V, p)


_choose_estimates = _choose_by_layout(
    lambda rows, i, W, V, active, products, variances: _estimates_by_feature(
        rows.data, rows.indices, rows.indptr, i, W, V, active, products, variances
    ),
    lambda rows, i, W, V, active, products, variances: None,
)
_choose_estimated = _choose_by_layout(
    lambda rows, i, W, V, p, products, variances: (products[p], variances[p]),
    lambda rows, i, W, V, p, products, variances: estimate(rows, i, W, V, p),
)


def estimates(rows, i, W, V, active, products, variances):
    """Compute the inner products of row i with the active vectors and their variances, if all at once is faster."""
    return _choose_estimates(rows, W)(rows, i, W, V, active, products, variances)


def estimated(rows, i, W, V, p, products, variances):
    """Return the inner product of row i with W[p], and its variance, after `estimates`."""
    return _choose_estimated(rows, W)(rows, i, W, V, p, products, variances)


def estimate(rows, i, W, V, p):
    """Inner product of row i with W[p], and its variance under a diagonal V[p]; a full one tells it when it pulls."""
    return _choose_estimate(rows, i, W, V, p)(rows, i, W, V, p)


def pull(rows, i, how, W, b, V, v, p):
    """Draw vector p towards row i along its uncertainty, and shrink that."""
    return _choose_pull(rows, i, how, W, b, V, v, p)(rows, i, how, W, b, V, v, p)


overload(estimate, jit_options=INLINED)(_choose_estimate)
overload(estimates, jit_options=INLINED)(lambda rows, i, W, V, active, products, variances: _choose_estimates(rows, W))
overload(estimated, jit_options=INLINED)(lambda rows, i, W, V, p, products, variances: _choose_estimated(rows, W))
overload(pull, jit_options=INLINED)(_choose_pull)


# Exponents may grow without end on data that no weights fit; the weights stay finite.
_HIGHEST = 300.0


def _link_winnow(rule, theta):
    return rule.factor ** min(theta, _HIGHEST / np.log(rule.factor))


def _link_balanced(rule, theta):
    bound = _HIGHEST / np.log(rule.factor)
    theta = max(-bound, min(theta, bound))
    return rule.factor**theta - rule.factor**-theta


_LINK = {WinnowRule: _link_winnow, BalancedWinnowRule: _link_balanced}
_MOVE = {
    # Elimination: factor to the power of minus infinity is zero, for good.
    WinnowRule: lambda rule, theta, change: -np.inf if rule.eliminate and change < 0.0 else theta + change,
    BalancedWinnowRule: lambda rule, theta, change: theta + change,
}


def link(rule, theta):
    """Weight that belongs to an exponent."""
    return _by_type(_LINK, rule)(rule, theta)


def move(rule, theta, change):
    """Exponent after a promotion or a demotion."""
    return _by_type(_MOVE, rule)(rule, theta, change)


overload(link)(lambda rule, theta: _by_type(_LINK, rule))
overload(move)(lambda rule, theta, change: _by_type(_MOVE, rule))


@compiled()
def run_multiplicative_epoch(rule, rows, task, order, active, state, counts):
    """Winnow: on a mistake multiply the weight of each feature of the row by factor^(y x)."""
    trials = order.size if order.size else task.label.size
    for t in range(trials):
        i = order[t] if order.size else t
        c = task.label[i]
        for a in range(active.size):
            p = active[a]
            sign = task.sign[c, p]
            if sign == 0:
                continue
            margin = sign * (dot(rows, i, state.W, p) + state.b[p])
            state.t[p] += 1
            if margin > 0.0:
                continue
            step = task.cost[c, p]
            if task.sample_weight.size:
                step *= task.sample_weight[i]
            start, end = entries(rows, i)
            for k in range(start, end):
                j, value = entry(rows, i, k)
                if value != 0.0:
                    state.theta[p, j] = move(rule, state.theta[p, j], sign * step * value)
                    state.W[p, j] = link(rule, state.theta[p, j])
            if task.bias > 0.0:
                state.theta_b[p] += sign * step
                state.b[p] = link(rule, state.theta_b[p])
            counts.mistakes[p] += 1
            counts.updates[p] += 1
            counts.loss[p] += max(0.0, -margin)
            counts.step[p] += step


@compiled()
def run_pocket_epoch(rows, task, order, subset, active, state, counts, place, errors, most):
    """Run the perceptron with the best weights in the pocket, and a ratchet. Gallant (1990).

    Weights that were right more often in a row than those in the pocket take their place, if they also make fewer
    errors on all rows. They are looked at when their run ends.

    To look at all rows takes as long as an epoch. The loop ends after `most` rows, of trials and looks together, and
    goes on when it is called again: `place` holds the trial, the place of the problem among the active ones, and the
    row of a look, all 0 at first; `errors` what the look has counted. Returns whether all trials are over.
    """
    trials = order.size if order.size else task.label.size
    left = most
    while place[0] < trials:
        i = order[place[0]] if order.size else place[0]
        c = task.label[i]
        while place[1] < active.size:
            p = active[place[1]]
            sign = task.sign[c, p]
            if sign == 0:
                place[1] += 1
                continue
            margin = sign * (dot(rows, i, state.W, p) + state.b[p])
            left -= 1
            if margin > 0.0:
                state.t[p] += 1
                state.run[p] += 1
                place[1] += 1
                continue
            left -= consider(rows, task, subset, p, state, place, errors, left)
            if place[2] > 0:
                return False
            state.t[p] += 1
            place[1] += 1
            step = task.cost[c, p]
            if task.sample_weight.size:
                step *= task.sample_weight[i]
            add(rows, i, sign * step, state.W, p)
            state.b[p] += sign * step * task.bias
            state.run[p] = 0
            counts.mistakes[p] += 1
            counts.updates[p] += 1
            counts.loss[p] += max(0.0, -margin)
            counts.step[p] += step
        place[0] += 1
        place[1] = 0
        if left <= 0:
            return place[0] == trials
    return True


@compiled()
def consider(rows, task, subset, p, state, place, errors, most):
    """Put the weights of problem p into the pocket if they belong there; return how many rows that took.

    At most `most` rows at a time, one at least: place[2] is the row to go on with, or 0 when all is done.
    """
    if state.run[p] <= state.best_run[p]:
        return 0
    first, size = place[2], subset.size if subset.size else task.label.size
    last = min(size, first + max(most, 1))
    wrong = errors[0] if first > 0 else 0.0
    place[2] = 0
    for t in range(first, last):
        i = subset[t] if subset.size else t
        c = task.label[i]
        sign = task.sign[c, p]
        if sign != 0 and not sign * (dot(rows, i, state.W, p) + state.b[p]) > 0.0:
            wrong += task.cost[c, p] * (task.sample_weight[i] if task.sample_weight.size else 1.0)
            if wrong >= state.errors[p]:
                return t - first
    if last < size:
        place[2], errors[0] = last, wrong
        return last - first
    state.errors[p] = wrong
    state.best_run[p] = state.run[p]
    state.best_b[p] = state.b[p]
    for j in range(state.W.shape[1]):
        state.best_w[p, j] = state.W[p, j]
    return last - first


# --------------------------------------------------------------------------------------------- single rows of a stream


# The state comes array by array: Numba unpacks nine arrays in 0.6 us and a NamedTuple of nine arrays in 2.9 us, and the
# trial itself takes less than 1 us with a hundred features.


@compiled(forceinline=True)
def _one_row(c, label, sign, cost, class_cost, bias, empty):
    """Return the task of a single row of class c, and an empty order; their empty arrays are parts of given ones."""
    label[0] = c
    return Task(label, sign, cost, class_cost, empty[:0], empty[:0], bias), label[:0]


@compiled()
def _no_counts(parts):
    whole, real = np.zeros((2, parts), np.int64), np.zeros((2, parts))
    return Counts(whole[0], whole[1], real[0], real[1])


@compiled()
def is_finite_row(rows):
    """Whether the only row is finite, and so short that sums of its products will be."""
    return square(rows, 0) <= longest(rows)


@compiled()
def touched_finite(rows, W, b):
    """Whether the weights are finite that belong to entries of the rows, and all biases."""
    n = row_count(rows)
    for p in range(W.shape[0]):
        if not abs(b[p]) < np.inf:
            return False
        for i in range(n):
            start, end = entries(rows, i)
            for k in range(start, end):
                j, _ = entry(rows, i, k)
                if not abs(W[p, j]) < np.inf:
                    return False
    return True


@compiled()
def _outcome(rows, counts, known, W, b):
    """Return the mistakes of the known problems, or -2 if a weight is not finite."""
    return counts.mistakes[:known].sum() if touched_finite(rows, W, b) else -2


@compiled()
def learn_row(
    learner, known, label, sign, cost, class_cost, bias, W, b, t, scale, owed, paid, scale_sum, lag, lag_b, rows, c
):
    """Present the only row, of class c, to all problems: `run_epoch` for one trial.

    Returns the mistakes of the first `known` problems, -1 if the row is not finite, -2 if the weights overflowed.
    """
    if not is_finite_row(rows):
        return -1
    weights, counts = Weights(W, b, t, scale, owed, paid, scale_sum, lag, lag_b), _no_counts(b.size)
    (task, order), active = _one_row(c, label, sign, cost, class_cost, bias, scale), np.arange(b.size)
    run_epoch(learner, rows, task, order, active, weights, weights, counts)
    return _outcome(rows, counts, known, W, b)


@compiled()
def learn_plain_row(rule, eta, known, label, sign, cost, bias, W, b, t, scale, x, c):
    """Run `learn_row` for a dense row and a rule without penalty and average, with half the arguments."""
    rows = Dense(x.reshape(1, x.size))
    if not is_finite_row(rows):
        return -1
    unused = W[:, :0]
    weights, counts = Weights(W, b, t, scale, scale, unused, scale, unused, scale), _no_counts(b.size)
    task, order = _one_row(c, label, sign, cost, scale, bias, scale)
    learner = Learner(rule, NoPenalty(0.0), ConstantRate(eta), NoAverage(0.0))
    run_epoch(learner, rows, task, order, np.arange(b.size), weights, weights, counts)
    return _outcome(rows, counts, known, W, b)


@compiled()
def learn_joint_row(
    learner, known, label, sign, cost, class_cost, bias, W, b, t, scale, owed, paid, scale_sum, lag, lag_b, rows, c
):
    """Run `run_joint_epoch` for one trial; as `learn_row`."""
    if not is_finite_row(rows):
        return -1
    weights, counts = Weights(W, b, t, scale, owed, paid, scale_sum, lag, lag_b), _no_counts(1)
    task, order = _one_row(c, label, sign, cost, class_cost, bias, scale)
    run_joint_epoch(learner, rows, task, order, weights, weights, counts)
    return _outcome(rows, counts, 1, W, b)


@compiled()
def learn_gaussian_row(noise, known, label, sign, cost, class_cost, bias, W, b, t, V, v, rows, c):
    """Run `run_gaussian_epoch` for one trial; as `learn_row`."""
    if not is_finite_row(rows):
        return -1
    state, counts = GaussianWeights(W, b, t, V, v), _no_counts(b.size)
    (task, order), active = _one_row(c, label, sign, cost, class_cost, bias, v), np.arange(b.size)
    run_gaussian_epoch(noise, rows, task, order, active, state, counts)
    return _outcome(rows, counts, known, W, b)


@compiled()
def learn_joint_gaussian_row(noise, known, label, sign, cost, class_cost, bias, W, b, t, V, v, rows, c):
    """Run `run_joint_gaussian_epoch` for one trial; as `learn_row`."""
    if not is_finite_row(rows):
        return -1
    state, counts = GaussianWeights(W, b, t, V, v), _no_counts(1)
    task, order = _one_row(c, label, sign, cost, class_cost, bias, v)
    run_joint_gaussian_epoch(noise, rows, task, order, state, counts)
    return _outcome(rows, counts, 1, W, b)


@compiled()
def learn_multiplicative_row(rule, known, label, sign, cost, class_cost, bias, W, b, t, theta, theta_b, rows, c):
    """Run `run_multiplicative_epoch` for one trial; as `learn_row`."""
    if not is_finite_row(rows):
        return -1
    state, counts = Exponents(W, b, t, theta, theta_b), _no_counts(b.size)
    (task, order), active = _one_row(c, label, sign, cost, class_cost, bias, theta_b), np.arange(b.size)
    run_multiplicative_epoch(rule, rows, task, order, active, state, counts)
    return _outcome(rows, counts, known, W, b)


# ------------------------------------------------------------------------------------------------------------ errors


@compiled()
def misfits(rows, task, subset, p, planes):
    """Count the rows with y f(x) <= 0 in problem p; `subset` as the order of an epoch."""
    wrong = 0
    for t in range(subset.size if subset.size else task.label.size):
        i = subset[t] if subset.size else t
        sign = task.sign[task.label[i], p]
        if sign != 0 and not sign * (dot(rows, i, planes.W, p) + planes.b[p]) > 0.0:
            wrong += 1
    return wrong


@compiled()
def all_finite(W, b):
    """Whether every weight and every bias is finite; W may be transposed, to be read as it lies in memory."""
    faults = 0  # counted, not returned at: the loop has no way out and is vectorised
    for p in range(b.size):
        faults += not abs(b[p]) < np.inf
    for p in range(W.shape[0]):
        for j in range(W.shape[1]):
            faults += not abs(W[p, j]) < np.inf
    return faults == 0


# Two functions for one problem of two classes and for one problem per class: to compile both takes a second.


@compiled()
def _weigh_signs(rows, task, subset, planes):
    wrong, total = 0.0, 0.0
    for t in range(subset.size if subset.size else task.label.size):
        i = subset[t] if subset.size else t
        c = task.label[i]
        cost = task.class_cost[c] if c >= 0 else 1.0
        if task.sample_weight.size:
            cost *= task.sample_weight[i]
        total += cost
        if c < 0 or not task.sign[c, 0] * (dot(rows, i, planes.W, 0) + planes.b[0]) > 0.0:
            wrong += cost
    return wrong, total


@compiled()
def _weigh_winners(rows, task, subset, planes):
    wrong, total = 0.0, 0.0
    every, products = np.arange(planes.b.size), room_for_dots(rows, planes.W, planes.b)
    for t in range(subset.size if subset.size else task.label.size):
        i = subset[t] if subset.size else t
        c = task.label[i]
        cost = task.class_cost[c] if c >= 0 else 1.0
        if task.sample_weight.size:
            cost *= task.sample_weight[i]
        total += cost
        if c < 0:
            wrong += cost
        else:
            own, best, _ = _best_wrong(rows, i, c, planes.W, planes.b, planes.scale, every, products)
            if not own > best:
                wrong += cost
    return wrong, total


def weigh_errors(rows: Any, task: Any, subset: Any, planes: Any) -> Any:
    """Weight of the rows whose class does not win, and of all rows; a tie is an error, and so is class -1.

    For one problem of two classes, or one problem per class.
    """
    return (_weigh_signs if planes.b.size == 1 else _weigh_winners)(rows, task, subset, planes)


@compiled()
def _score_by_feature(data, indices, indptr, subset, W, b, out):
    # Arrays, not structures: to take an array out of one for each row costs more than a short row.
    every, products = np.arange(b.size), np.empty(b.size, b.dtype)
    for t in range(out.shape[0]):
        i = subset[t] if subset.size else t
        _dots_by_feature(data, indices, indptr, i, W, every, products)
        for p in range(b.size):
            out[t, p] = products[p] + b[p]


def _score_one_by_one(rows, subset, W, b, out):
    for t in range(out.shape[0]):
        i = subset[t] if subset.size else t
        for p in range(b.size):
            out[t, p] = dot(rows, i, W, p) + b[p]


_choose_score = _choose_by_layout(
    lambda rows, subset, W, b, out: _score_by_feature(rows.data, rows.indices, rows.indptr, subset, W, b, out),
    _score_one_by_one,
)


def score_all(rows, subset, W, b, out):
    """Compute the scores of rows, into out (rows, problems)."""
    return _choose_score(rows, W)(rows, subset, W, b, out)


overload(score_all)(lambda rows, subset, W, b, out: _choose_score(rows, W))


@compiled()
def score(rows, subset, planes, out):
    """Scores of the rows of `subset` (empty: all) under every problem, into out (rows, problems)."""
    score_all(rows, subset, planes.W, planes.b, out)


@patient(lambda rows, subset, factor, out: 10 * out.size)
@compiled()
def gather(rows, subset, factor, out):
    """Copy the rows of `subset`, each times its `factor`, into the zeroed matrix out."""
    for t in range(subset.size):
        add(rows, subset[t], factor[t], out, t)


def _plain_gather(rows, subset, factor, out):
    if isinstance(rows, Dense):
        out[:, : rows.X.shape[1]] += factor[:, None].astype(out.dtype) * rows.X[subset]
        return
    for t, i in enumerate(subset.tolist()):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        out[t, rows.indices[part]] += out.dtype.type(factor[t]) * rows.data[part]
