"""Weights with their uncertainty: the loops of AROW."""

from typing import NamedTuple

import numpy as np

from rosenblatt.jit import compiled, overload
from rosenblatt.verbs.rows import (
    BY_FEATURE,
    FASTMATH,
    INLINED,
    ROWS_AHEAD,
    WEIGHTS_AHEAD,
    Csr,
    Dense,
    by_layout,
    by_type,
    dot,
    dots,
    entries,
    entry,
    product,
    request,
    room_for_dots,
)
from rosenblatt.verbs.single import is_finite_row, no_counts, one_row, outcome


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
        own, best, wrong, soon = 0.0, -np.inf, 0, min(t + WEIGHTS_AHEAD, trials - 1)
        soon = order[soon] if jumps else soon
        dots(rows, i, soon, state.W, every, products)
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
    return by_type(_PULL, rows)(rows, i, alpha, beta, W, V, p)


overload(pull_entries)(lambda rows, i, alpha, beta, W, V, p: by_type(_PULL, rows))


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
        return by_type(_ESTIMATE, rows)
    return lambda rows, i, W, V, p: (dot(rows, i, W, p), 0.0)


def _choose_pull(rows, i, how, W, b, V, v, p):
    if V.ndim == 2:
        return lambda rows, i, how, W, b, V, v, p: _pull_diagonal(rows, i, how, W, b, V, v, p)
    return lambda rows, i, how, W, b, V, v, p: _pull_full(rows, i, how, W, b, V, p)


BY_FEATURE["estimates"] = lambda rows, i, W, V, active, products, variances: _estimates_by_feature(
    rows.data, rows.indices, rows.indptr, i, W, V, active, products, variances
)
BY_FEATURE["estimated"] = lambda rows, i, W, V, p, products, variances: (products[p], variances[p])
_choose_estimates = by_layout("estimates", lambda rows, i, W, V, active, products, variances: None)
_choose_estimated = by_layout("estimated", lambda rows, i, W, V, p, products, variances: estimate(rows, i, W, V, p))


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


# --------------------------------------------------------------------------------------------- single rows of a stream


# All arrays as arguments: see `rosenblatt.verbs.single` for what Numba takes to unpack a structure.


@compiled()
def learn_gaussian_row(noise, known, label, sign, cost, class_cost, bias, W, b, t, V, v, rows, c):
    """Run `run_gaussian_epoch` for one trial; as `learn_row`."""
    if not is_finite_row(rows):
        return -1
    state, counts = GaussianWeights(W, b, t, V, v), no_counts(b.size)
    (task, order), active = one_row(c, label, sign, cost, class_cost, bias, v), np.arange(b.size)
    run_gaussian_epoch(noise, rows, task, order, active, state, counts)
    return outcome(rows, counts, known, W, b)


@compiled()
def learn_joint_gaussian_row(noise, known, label, sign, cost, class_cost, bias, W, b, t, V, v, rows, c):
    """Run `run_joint_gaussian_epoch` for one trial; as `learn_row`."""
    if not is_finite_row(rows):
        return -1
    state, counts = GaussianWeights(W, b, t, V, v), no_counts(1)
    task, order = one_row(c, label, sign, cost, class_cost, bias, v)
    run_joint_gaussian_epoch(noise, rows, task, order, state, counts)
    return outcome(rows, counts, 1, W, b)
