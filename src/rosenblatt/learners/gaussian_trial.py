"""Weights with their uncertainty: the trials of AROW."""

from typing import NamedTuple

import numpy as np

from rosenblatt.engine.frame import TRIALS
from rosenblatt.engine.jit import compiled, overload
from rosenblatt.engine.joint import best_wrong
from rosenblatt.engine.rows import FASTMATH, INLINED, Csr, Dense, U, by_type, dot, entries, entry
from rosenblatt.engine.single import as_rows, is_sound, no_counts, one_row, outcome


class GaussianWeights(NamedTuple):
    """Weights with their uncertainty: a variance for each weight, or a covariance matrix with the bias last."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,)
    V: np.ndarray  # (problems, features), or (problems, features + 1, features + 1)
    v: np.ndarray  # (problems,) variance of the bias, next to diagonal V


class ArowRule(NamedTuple):
    """Adaptive regularisation of weights, with a variance for each weight."""

    noise: float  # r of the paper


class FullArowRule(NamedTuple):
    """The same with the whole covariance matrix."""

    noise: float


# When m = y f(x) < 1: with v = x'Vx and beta = 1 / (v + noise), w += (1 - m) beta y V x and V -= beta V x x'V, of which
# a diagonal V keeps the diagonal. Crammer, Kulesza and Dredze (2009), Figure 1. An example that counts k times has a
# k-th of the noise.


def arow_trial(algorithm, rows, i, sign, importance, bias, state, p):
    """Draw vector p towards row i along its variances, and shrink those."""
    W, b, _, V, v = state
    score, variance = estimate(rows, i, W, V, p)
    margin = sign * (score + b[p])
    if margin >= 1.0:
        return margin, 0.0, 0.0
    beta = 1.0 / (variance + v[p] * bias + algorithm.noise / importance)
    alpha = (1.0 - margin) * sign * beta
    pull(rows, i, alpha, beta, W, V, p)
    b[p] += alpha * v[p] * bias
    v[p] -= beta * v[p] * v[p] * bias
    return margin, importance, 1.0 - margin


def full_arow_trial(algorithm, rows, i, sign, importance, bias, state, p):
    """Draw vector p towards row i along its covariance, and shrink that."""
    margin = sign * (dot(rows, i, state.W, p) + state.b[p])
    if margin >= 1.0:
        return margin, 0.0, 0.0
    _pull_full(rows, i, (1.0 - margin) * sign, algorithm.noise / importance, bias, state.W, state.b, state.V, p)
    return margin, importance, 1.0 - margin


TRIALS |= {ArowRule: arow_trial, FullArowRule: full_arow_trial}


@compiled(error_model="numpy")
def run_joint_arow(algorithm, rows, task, order, state, counts):
    """AROW for all classes at once: towards the true one, away from the best wrong one, by a diagonal V.

    With the margin of `rosenblatt.engine.joint.run_joint`. Variances follow the diagonal of the precision,
    1/V += x^2 / noise, which measured better here than the diagonal of the covariance (MNIST, one pass: 92.3
    against 91.2 % at noise 1).
    """
    W, b, seen, V, v = state
    ones = np.ones(b.size)
    for t in range(order.size if order.size else task.label.size):
        i = order[t] if order.size else t
        c = task.label[i]
        own, best, wrong = best_wrong(rows, i, c, W, b, ones)
        for k in range(b.size):
            seen[k] += 1
        margin = own - best
        importance = task.class_cost[c] * task.sample_weight[i] if task.sample_weight.size else task.class_cost[c]
        if margin >= 1.0 or importance == 0.0:
            continue
        r = algorithm.noise / importance
        start, end = entries(rows, i)
        variance = (v[c] + v[wrong]) * task.bias
        for m in range(start, end):
            j, value = entry(rows, i, m)
            variance += (V[c, j] + V[wrong, j]) * value * value
        alpha = (1.0 - margin) / (variance + r)
        for m in range(start, end):
            j, value = entry(rows, i, m)
            W[c, j] += alpha * V[c, j] * value
            W[wrong, j] -= alpha * V[wrong, j] * value
            V[c, j] /= 1.0 + V[c, j] * value * value / r
            V[wrong, j] /= 1.0 + V[wrong, j] * value * value / r
        b[c] += alpha * v[c] * task.bias
        b[wrong] -= alpha * v[wrong] * task.bias
        v[c] /= 1.0 + v[c] * task.bias / r
        v[wrong] /= 1.0 + v[wrong] * task.bias / r
        counts.mistakes[0] += not margin > 0.0
        counts.updates[0] += 1
        counts.loss[0] += 1.0 - margin
        counts.step[0] += importance


@compiled()
def learn_joint_arow_row(algorithm, known, sign, cost, class_cost, bias, state, c, values, columns):
    """Run `run_joint_arow` for one trial; as `rosenblatt.engine.single.learn_row`."""
    rows = as_rows(values, columns, state.W)
    if not is_sound(rows, state.W):
        return -1
    counts = no_counts(1)
    task, order = one_row(c, sign, cost, class_cost, bias)
    run_joint_arow(algorithm, rows, task, order, state, counts)
    return outcome(rows, counts, 1, state.W, state.b)


# A diagonal V gives the variance of a score in the pass that adds up the score: most rows need both.


@compiled(forceinline=True, fastmath=FASTMATH)
def _estimate_dense(X, i, W, V, p):
    score, variance = W.dtype.type(0), 0.0
    for j in range(X.shape[1]):
        score += X[i, j] * W[p, j]
        variance += V[p, j] * (X[i, j] * X[i, j])
    return score, variance


@compiled(forceinline=True)
def _estimate_csr(data, indices, indptr, i, W, V, p):
    score, variance = W.dtype.type(0), 0.0  # in the order of `dot_csr`
    k, end = U(indptr[U(i)]), U(indptr[U(i) + U(1)])
    while k + U(4) <= end:
        x0, x1, x2, x3 = data[k], data[k + U(1)], data[k + U(2)], data[k + U(3)]
        j0, j1 = U(indices[k]), U(indices[k + U(1)])
        j2, j3 = U(indices[k + U(2)]), U(indices[k + U(3)])
        score += (x0 * W[p, j0] + x1 * W[p, j1]) + (x2 * W[p, j2] + x3 * W[p, j3])
        near = V[p, j0] * (x0 * x0) + V[p, j1] * (x1 * x1)
        variance += near + (V[p, j2] * (x2 * x2) + V[p, j3] * (x3 * x3))
        k += U(4)
    while k < end:
        x0, j0 = data[k], U(indices[k])
        score += x0 * W[p, j0]
        variance += V[p, j0] * (x0 * x0)
        k += U(1)
    return score, variance


@compiled(forceinline=True, fastmath=FASTMATH)
def _pull_dense(X, i, alpha, beta, W, V, p):
    for j in range(X.shape[1]):
        gain = V[p, j] * X[i, j]
        W[p, j] += alpha * gain
        V[p, j] -= beta * gain * gain


@compiled(forceinline=True)
def _pull_csr(data, indices, indptr, i, alpha, beta, W, V, p):
    for k in range(U(indptr[U(i)]), U(indptr[U(i) + U(1)])):
        j = U(indices[k])
        gain = V[p, j] * data[k]
        W[p, j] += alpha * gain
        V[p, j] -= beta * gain * gain


_ESTIMATE = {
    Dense: lambda rows, i, W, V, p: _estimate_dense(rows.X, i, W, V, p),
    Csr: lambda rows, i, W, V, p: _estimate_csr(rows.data, rows.indices, rows.indptr, i, W, V, p),
}
_PULL = {
    Dense: lambda rows, i, alpha, beta, W, V, p: _pull_dense(rows.X, i, alpha, beta, W, V, p),
    Csr: lambda rows, i, alpha, beta, W, V, p: _pull_csr(rows.data, rows.indices, rows.indptr, i, alpha, beta, W, V, p),
}


def pull(rows, i, alpha, beta, W, V, p):
    """Add alpha V x, for row x, to W[p], and take the diagonal of beta V x x'V from V[p]."""
    return by_type(_PULL, rows)(rows, i, alpha, beta, W, V, p)


overload(pull, jit_options=INLINED)(lambda rows, i, alpha, beta, W, V, p: by_type(_PULL, rows))


def estimate(rows, i, W, V, p):
    """Return the inner product of row i with W[p], and its variance under a diagonal V[p]."""
    return by_type(_ESTIMATE, rows)(rows, i, W, V, p)


overload(estimate, jit_options=INLINED)(lambda rows, i, W, V, p: by_type(_ESTIMATE, rows))


@compiled(error_model="numpy")
def _pull_full(rows, i, error, noise, bias, W, b, V, p):
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
