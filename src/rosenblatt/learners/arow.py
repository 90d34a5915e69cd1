"""AROW: w += beta (1 - m) y V x and V -= beta V x x'V when the margin m is below 1 (Crammer et al. 2009)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.survey import Survey
from rosenblatt.engine.frame import TRIALS
from rosenblatt.engine.jit import compiled, overload
from rosenblatt.engine.joint import best_wrong
from rosenblatt.engine.rows import FASTMATH, INLINED, Csr, Dense, U, by_type, dot, entries, entry
from rosenblatt.engine.single import as_rows, is_sound, no_counts, one_row, outcome
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import shared
from rosenblatt.learners.base import Facts
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import choice, real
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.algorithm import (
    Algorithm,
    Doubles,
    EpochArgs,
    Integers,
    LearnRow,
    Matrix,
    Order,
    Row,
    RowTask,
    TrialAlgorithm,
    Vector,
    bind_row_loop,
    layout_of,
)
from rosenblatt.training.multiclass import MULTICLASS

# Larger covariance matrices are rejected.
MAX_COVARIANCE_BYTES = 1 << 32
# Features up to which the square of their number costs little.
FEW_FEATURES = 40


@stored("GaussianWeights")
class GaussianWeights(NamedTuple):
    """Weights with their uncertainty: a variance for each weight, or a covariance matrix with the bias last."""

    W: Matrix
    b: Vector
    t: Integers
    V: Annotated[np.ndarray, "d pd pee"]  # (problems, features), or (problems, features + 1, features + 1)
    v: Doubles  # variance of the bias, next to diagonal V


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


@dataclass
class Arow(TrialAlgorithm):
    """Adaptive regularisation of weights: a variance for each weight, or a full covariance."""

    noise: float  # r of the paper: the larger, the smaller the steps
    full: bool = False

    state_class: ClassVar[type] = GaussianWeights
    layout: ClassVar[Mapping[str, str]] = layout_of(GaussianWeights)

    def __post_init__(self) -> None:
        """Note that a full covariance couples the features."""
        self.by_feature = self.local_updates = not self.full

    def check_arrays(self, state: GaussianWeights, *, finite: bool = False) -> None:
        """Raise a `Fault` unless the loops can read the arrays of a state, with its kind of covariance."""
        super().check_arrays(state, finite=finite)
        expect((state.V.ndim == 3) == self.full, "the state has a covariance of another kind. Fit again")

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> GaussianWeights:
        """Return zero weights with unit variance."""
        size = 8 * problems * (features + 1) ** 2
        if self.full and size > MAX_COVARIANCE_BYTES:
            raise InvalidInput(
                f"covariance='full' needs {size / 2**30:.0f} GiB for {features} features and {problems} problems. Use "
                "covariance='diagonal'."
            )
        state: GaussianWeights = super().start(problems, features, dtype, order)
        state.V[:], state.v[:] = 1.0, 1.0
        return state._replace(V=np.tile(np.eye(features + 1), (problems, 1, 1))) if self.full else state

    def trial_cost(self, entries: int, features: int, problems: int) -> int:
        """Return about how many numbers a trial reads: with a full covariance, all of it."""
        return problems * (3 * (features + 1) ** 2 if self.full else 2 * entries)

    @property
    def rule(self) -> ArowRule | FullArowRule:
        """The parameters, as the loops take them."""
        return FullArowRule(self.noise) if self.full else ArowRule(self.noise)

    def run_epoch(self, args: EpochArgs, state: GaussianWeights, target: GaussianWeights) -> int:
        """Run the epoch, or its joint form."""
        if not args.joint:
            return super().run_epoch(args, state, target)
        run_joint_arow(self.rule, args.rows, args.task, args.order, state, args.counts)
        return args.size

    def row_learner(self, trial: RowTask, state: GaussianWeights, row: Row) -> LearnRow:
        """Return a function that runs one trial, in a single compiled call."""
        if not trial.joint:
            return super().row_learner(trial, state, row)
        return bind_row_loop(learn_joint_arow_row, (self.rule,), trial, (state,), row)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has."""
        return "GaussianWeights", self.full

    def widen(self, state: GaussianWeights, features: int) -> GaussianWeights:
        """Return the state of more features; the bias keeps the last place in a full covariance."""
        wider: GaussianWeights = super().widen(state, features)
        if self.full:
            old, new = state.V.shape[1] - 1, features
            wider.V[:, old, :], wider.V[:, :, old] = 0.0, 0.0
            wider.V[:, old, old] = 1.0
            wider.V[:, new, :old], wider.V[:, :old, new] = state.V[:, old, :old], state.V[:, :old, old]
            wider.V[:, new, new] = state.V[:, old, old]
        return wider


class AROW(LinearClassifier):
    """Adaptive regularisation of weights: small steps where a feature is known well, large ones where it is rare.

    Keeps a Gaussian over the weights. When m = y f(x) < 1, with v = x'Vx and beta = 1/(v + r):
    w += (1 - m) beta y V x and V -= beta V x x'V. Strong on noisy and sparse data.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    covariance_ : str
        "diagonal" or "full", as the last fit chose; streams have none.

    Notes
    -----
    Mistakes with the full matrix: `rosenblatt.bounds.arow`.

    References
    ----------
    Crammer, Kulesza and Dredze (2009), Adaptive regularization of weight vectors, NIPS 22.

    Examples
    --------
    >>> from rosenblatt import AROW
    >>> AROW().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).predict([[0.2, 1.0]]).tolist()
    [0]
    """

    r: float = real(
        default=1.0,
        text="Regularisation strength; larger values take smaller steps.",
        above=0,
        range=(0.01, 100.0, 0.01),
        log=True,
    )
    covariance: Literal["auto", "diagonal", "full"] = choice(
        default="auto",
        text="A variance for each weight, or the whole matrix, for up to some thousand features. With 'auto' a fit of"
        f" up to {FEW_FEATURES} features takes the matrix; streams, and all classes at once, have variances.",
        choices=("auto", "diagonal", "full"),
    )
    fit_intercept: bool = shared.FIT_INTERCEPT
    max_iter: int = shared.MAX_ITER
    tol: float | None = shared.TOL
    shuffle: shared.Shuffle = shared.SHUFFLE
    verbose: int = shared.VERBOSE
    random_state: shared.RandomState = shared.RANDOM_STATE
    n_iter_no_change: int = shared.N_ITER_NO_CHANGE
    max_seconds: float | None = shared.MAX_SECONDS
    callback: shared.Callback = shared.CALLBACK
    class_weight: shared.ClassWeight = shared.CLASS_WEIGHT
    multiclass: shared.Multiclass = shared.MULTICLASS
    intercept_scaling: shared.Padding = shared.INTERCEPT_SCALING
    n_jobs: int | None = shared.N_JOBS
    early_stopping: bool = shared.EARLY_STOPPING
    validation_fraction: float = shared.VALIDATION_FRACTION
    warm_start: bool = shared.WARM_START
    keep: shared.Keep = shared.KEEP

    facts = Facts(
        published=2009,
        does="the covariance of the weights, or of many weights the variances",
        when="noisy and sparse features of mixed frequency",
        command="arow",
        title="AROW",
        rule="arow",
    )
    without_shards = f"Covariances of several shards {shared.NO_MEAN}"
    scale_sensitive = False
    at_times = (*LinearClassifier.at_times, "covariance_")

    @property
    def modes(self) -> tuple[str, ...]:
        """Modes there are: all classes at once share no covariance matrix."""
        return MULTICLASS[:-1] if self.covariance == "full" else MULTICLASS

    def _covariance(self) -> str:
        """Return the kind of covariance: the given one, or the one that a fit has chosen."""
        return self.covariance if self.covariance != "auto" else str(self.__dict__.get("covariance_", "diagonal"))

    def _adapt(self, sizes: Survey, n_classes: int, *, warm: bool) -> None:
        super()._adapt(sizes, n_classes, warm=warm)
        few = self.n_features_in_ <= FEW_FEATURES and self.multiclass != "joint"
        chooses = self.covariance == "auto" and not warm
        self.covariance_ = ("full" if few else "diagonal") if chooses else self._covariance()

    def _algorithm(self) -> Algorithm:
        return Arow(float(self.r), self._covariance() == "full")
