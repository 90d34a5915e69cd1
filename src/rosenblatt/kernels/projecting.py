"""Budgets whose vectors stay: what a row adds to f is projected onto the span of the first rows that needed an update.

In the span, f is a linear function. With the Cholesky factor L of the similarities among the vectors, L L' = K, a row
has the features phi(x) = L^-1 (k(x_1, x), ..., k(x_m, x)): the coordinates of its projection in an orthonormal basis,
which is Nystroem's map (Williams and Seeger 2001; online, Lu, Hoi, Wang, Zhao and Liu 2016). A row that needs an update
becomes a vector while there is room, if its distance from the span is above a share of its length. The weights of the
features, w = coef L, learn by one of two rules:

* "projectron": w += y phi(x) while y f(x) <= margin: Orabona, Keshet and Caputo (2009). The average of f is one more
  expansion in the same vectors. With room for every vector and residual=0 it is the kernel perceptron, with its bound;
  on a full budget it is the perceptron on phi(x), whose bound has the margin of a function in the span.
* "arow": with a variance for each weight, the diagonal matrix S, and v = phi' S phi: while m = y f(x) < 1,
  w += (1 - m) / (v + r) y S phi and 1 / S += phi^2 / r, after Crammer, Kulesza and Dredze (2009), Figure 1. A diagonal
  depends on the basis, so that no bound is known for it. With 200 vectors and more it was within a point of the best of
  the rules that were tried, after one epoch and after five: passive-aggressive, AdaGrad, least squares, and AROW with
  the whole covariance.

Short names: i, j row of a block, p problem; r is one of the m features.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from rosenblatt.engine.jit import compiled
from rosenblatt.kernels import loops
from rosenblatt.kernels.budget import Budget, Budgeted, BudgetState
from rosenblatt.kernels.expansion import check_finite
from rosenblatt.kernels.runner import NO_SPANS, KernelJob
from rosenblatt.kernels.threads import Threads, pieces
from rosenblatt.training.stopping import LOSS_WORDS

Array = npt.NDArray[Any]

ROWS_PER_SHARE = 64  # rows that a thread computes the features of at a time
# r of AROW, for features of unit length. Against 1 it was better by 0.5 to 1.5 points on MNIST and digits after one
# epoch, with 50 to 1,000 vectors, and within half a point on a9a.
NOISE = 0.1


class Span(NamedTuple):
    """The vectors, and weights for the features that they span. All problems share the vectors."""

    weights: np.ndarray  # (problems, budget)
    lag: np.ndarray  # (problems, budget) steps times the trials before them, whose average lacks them
    variance: np.ndarray  # (problems, budget) for AROW; else (problems, 0)
    factor: np.ndarray  # (budget, budget) L: lower triangular
    member: np.ndarray  # (budget,) numbers of the rows
    count: np.ndarray  # type: ignore[assignment]  # (2,) vectors in use, twice


class Projecting(Budgeted):
    """Learns in the span of its vectors: "projectron" or "arow"."""

    averages = True

    def __init__(self, job: KernelJob, threads: Threads, budget: Budget, state: BudgetState) -> None:
        confident = budget.rule == "arow"
        super().__init__(replace(job, margin=1.0) if confident else job, threads, budget)
        self.noise = NOISE if confident else 0.0
        if confident:
            self.words = LOSS_WORDS
        size, start = self.pool.offset, job.start
        weights, lag = np.zeros((2, self.trials.size, budget.size))
        # Once the vectors are settled nothing changes it, and a single row of a stream need not copy it.
        settled = size == budget.size and state.gram.flags.writeable  # loops are compiled for arrays that are
        factor = state.gram if settled else state.gram.copy()
        if size:
            weights[:, :size], lag[:, :size] = start.coef @ factor[:size, :size], state.lag @ factor[:size, :size]
        self.vectors = Span(weights, lag, state.variance.copy(), factor, self.first_members(), state.count.copy())
        self.features = np.empty((0, budget.size))  # of the rows of the block
        # Once the vectors are settled, the features of all rows are kept for later epochs, if there is room.
        keeps = job.plan.max_iter > 1 and not job.streams and 8.0 * self.n_objects * budget.size <= job.cache_bytes
        self.kept = np.empty((self.n_objects if keeps else 0, budget.size))
        self.is_kept = np.zeros(self.n_objects, bool)

    @property
    def full(self) -> bool:
        """Whether the vectors are settled."""
        return bool(self.vectors.count[0] == self.budget.size)

    def _block(self, row: Array) -> loops.RowBlock:
        number = row + self.pool.offset
        self.features = self._keep(row)[row] if self.full and self.kept.size else self._features_of(row)
        # Similarities among the rows are needed while rows may become vectors.
        K = np.empty((0, 0), self.dtype) if self.full else self.pool.columns(number, row)
        check_finite(K)
        scores, weight = np.zeros((self.trials.size, row.size)), self.sample_weight[row]
        return loops.RowBlock(number, self.task.label[row], weight, K, scores, np.arange(row.size), NO_SPANS)

    def _keep(self, row: Array) -> Array:
        """Return the kept features of all rows, after those of some have been computed if they are missing."""
        missing = row[~self.is_kept[row]]
        if missing.size:
            self.kept[missing], self.is_kept[missing] = self._features_of(missing), True
        return self.kept

    def _features_of(self, row: Array) -> Array:
        """Return the features of rows, with zeros where vectors are still to come."""
        size, features = self.member.size, np.zeros((row.size, self.budget.size))

        def work(share: Array) -> None:
            columns = self.pool.columns(self.member, row[share])
            factor = self.vectors.factor[:size, :size]
            features[share, :size] = solve_triangular(factor, columns, lower=True, check_finite=False).T

        if size:
            self.threads.share(work, pieces(row.size, ROWS_PER_SHARE))
        check_finite(features)
        return features

    def scores(self) -> Array:
        """Return the current scores of all objects."""
        if not (self.full and self.kept.size):
            return super().scores()
        return np.asarray(self.vectors.weights @ self._keep(np.arange(self.n_objects)).T)

    def _run(self, block: loops.RowBlock, problems: loops.Problems) -> None:
        run_projecting_block(
            self.noise, self.budget.residual, block, self.features, problems, self.vectors, self.progress
        )
        check_finite(block.scores)

    def _in_vectors(self, weights: Array) -> Array:
        """Return the coefficients of the vectors that stand for weights of the features."""
        size = self.member.size
        factor = self.vectors.factor[:size, :size]
        return np.ascontiguousarray(solve_triangular(factor, weights[:, :size].T, lower=True, trans="T").T)

    def coef(self) -> Array:
        """Return the coefficients of the vectors in use."""
        return self._in_vectors(self.vectors.weights)

    def lag(self) -> Array:
        """Return the lag of the average, by vectors."""
        return self._in_vectors(self.vectors.lag)

    def snapshot(self) -> list[Array]:
        """Return a copy of the span and of its weights, with the trials that these had."""
        return [*super().snapshot(), self.trials.copy()]

    def restore(self, snapshot: list[Array]) -> None:
        """Go back to a snapshot. The trials since then are counted, but are none of its average."""
        *arrays, trials = snapshot
        super().restore(arrays)
        self.vectors.lag[...] *= (self.trials / np.maximum(trials, 1))[:, None]

    def state(self) -> BudgetState:
        """Return what the rule needs to continue."""
        empty, span = BudgetState.empty(self.budget, self.trials.size), self.vectors
        return replace(empty, gram=span.factor, variance=span.variance, count=span.count, lag=self.lag())


# --------------------------------------------------------------------------------------- compiled loops without bounds


@compiled()
def run_projecting_block(noise, residual, block, features, problems, span, progress):
    """Present a block: a row that needs an update becomes a vector or is projected, and the weights take a step.

    A `noise` above zero is that of AROW; zero stands for the perceptron. features (n, budget) of the rows; block.K
    (n, n) among the rows while there is room, else empty; block.scores receives the scores before each trial.
    """
    scores, weights, budget = block.scores, span.weights, span.weights.shape[1]
    step = np.empty(weights.shape[0])
    for i in block.order:
        m = span.count[0]
        for p in range(step.size):
            score = 0.0
            for r in range(m):
                score += weights[p, r] * features[i, r]
            scores[p, i] = score
        if not loops.find_steps(i, block, problems, progress, step):
            continue
        if m < budget:
            _enter(i, residual, block, features, span)
        if noise > 0.0:
            _draw_closer(noise, i, step, scores, problems.joint, features, span, progress)
        else:
            for p in range(step.size):
                if step[p] != 0.0:
                    for r in range(span.count[0]):
                        change = step[p] * features[i, r]
                        weights[p, r] += change
                        span.lag[p, r] += change * (progress.trials[p] - 1)


@compiled()
def _enter(i, residual, block, features, span):
    """Make row i a vector if it is far from the span, and add its feature to the rows that follow."""
    K, m = block.K, span.count[0]
    left = K[i, i] + 0.0  # squared distance from the span, in float64
    for r in range(m):
        left -= features[i, r] * features[i, r]
    # A distance below the second bound is rounding, and what is divided by it would be noise.
    if not left > max(residual * residual, 1e-10) * K[i, i]:
        return
    for r in range(m):
        span.factor[m, r] = features[i, r]
    span.factor[m, m] = np.sqrt(left)
    for j in range(i, features.shape[0]):
        rest = K[i, j] + 0.0
        for r in range(m):
            rest -= features[i, r] * features[j, r]
        features[j, m] = rest / span.factor[m, m]
    for p in range(span.variance.shape[0]):
        for r in range(m, min(m + 1, span.variance.shape[1])):
            span.variance[p, r] = 1.0 / K[i, i]  # whatever the unit of the kernel
    span.member[m] = block.row[i]
    span.count[0] += 1
    span.count[1] += 1


@compiled()
def _draw_closer(noise, i, step, scores, joint, features, span, progress):
    """Take the step of AROW for row i in each problem whose step is not zero, or in the two classes of a joint task."""
    variance, m = span.variance, span.count[0]
    lead, spread = 0.0, 0.0  # of a joint task
    for p in range(step.size):
        if step[p] == 0.0:
            continue
        sign, importance = np.sign(step[p]), abs(step[p])
        if joint:
            if spread == 0.0:
                for q in range(step.size):
                    if step[q] != 0.0:
                        lead += np.sign(step[q]) * scores[q, i]
                        for r in range(m):
                            spread += variance[q, r] * features[i, r] * features[i, r]
            left, total = 1.0 - lead, spread
        else:
            left, total = 1.0 - sign * scores[p, i], 0.0
            for r in range(m):
                total += variance[p, r] * features[i, r] * features[i, r]
        rate = sign * left / (total + noise / importance)
        for r in range(m):
            x = features[i, r]
            change = rate * variance[p, r] * x
            span.weights[p, r] += change
            span.lag[p, r] += change * (progress.trials[p] - 1)
            variance[p, r] /= 1.0 + variance[p, r] * x * x * importance / noise
