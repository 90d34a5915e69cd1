"""Budgets that drop a vector for each one that enters: a random one, or the oldest, after all have been shrunk.

Both have a theorem: their mistakes are bounded beside any function of a norm that grows with the budget. In practice a
vector that is dropped is missed, and each mistake may drop one; the rules of `projecting` lose less.

Short names: i, j row of a block, p problem; s, r are the vectors kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.jit import DISABLE_JIT, compiled
from rosenblatt.kernels import loops
from rosenblatt.kernels.budget import Budget, Budgeted, BudgetState
from rosenblatt.kernels.expansion import check_finite
from rosenblatt.kernels.runner import NO_SPANS, KernelJob
from rosenblatt.kernels.threads import Threads

Array = npt.NDArray[Any]


class BudgetVectors(NamedTuple):
    """The vectors that a budget keeps, and what its rule knows of them. All problems share the vectors."""

    coef: np.ndarray  # (problems, budget)
    member: np.ndarray  # (budget,) numbers of the rows
    gram: np.ndarray  # (budget, budget) similarities among the vectors for the Forgetron
    born: np.ndarray  # (budget,) how many vectors had entered before
    count: np.ndarray  # type: ignore[assignment]  # (2,) vectors in use; vectors that ever entered
    damage: np.ndarray  # (problems,) damage by removals, for the Forgetron
    errors: np.ndarray  # (problems,) mistakes, for the Forgetron


class Evicting(Budgeted):
    """Replaces a vector when the budget is full: "random" or "forgetron"."""

    def __init__(self, job: KernelJob, threads: Threads, budget: Budget, state: BudgetState) -> None:
        super().__init__(job, threads, budget)
        coef = np.zeros((self.trials.size, budget.size))
        coef[:, : self.pool.offset] = job.start.coef
        memory = (state.gram, state.born, state.count, state.damage, state.errors)
        self.vectors = BudgetVectors(coef, self.first_members(), *(array.copy() for array in memory))
        self.columns = np.empty((0, 0), self.dtype)  # similarities of the vectors with the rows of the block

    def _block(self, row: Array) -> loops.RowBlock:
        size = self.member.size
        self.columns = np.empty((self.budget.size, row.size), self.dtype)
        if size:
            self.columns[:size] = self.pool.columns(self.member, row)
        scores = self.vectors.coef[:, :size] @ self.columns[:size].astype(np.float64)
        check_finite(scores)
        number = row + self.pool.offset
        K = self.pool.columns(number, row)
        weight = self.sample_weight[row]
        return loops.RowBlock(number, self.task.label[row], weight, K, scores, np.arange(row.size), NO_SPANS)

    def _run(self, block: loops.RowBlock, problems: loops.Problems) -> None:
        shrinks, seed = self.budget.rule == "forgetron", np.uint64(self.budget.seed)
        run_evicting_block(shrinks, seed, block, self.columns, problems, self.vectors, self.progress)
        check_finite(block.scores)

    def coef(self) -> Array:
        """Return a copy of the coefficients of the vectors in use."""
        return np.array(self.vectors.coef[:, : self.member.size])

    def state(self) -> BudgetState:
        """Return what the rule needs to continue."""
        empty, own = BudgetState.empty(self.budget, self.trials.size), self.vectors
        return replace(empty, gram=own.gram, born=own.born, count=own.count, damage=own.damage, errors=own.errors)


@compiled()
def run_evicting_block(shrinks, seed, block, columns, problems, vectors, progress):
    """Present a block on a budget: when the budget is full, a mistaken row replaces one of the vectors.

    Without `shrinks`, the replaced vector is drawn at random (Cavallanti, Cesa-Bianchi and Gentile 2007). With it, it
    is the oldest, after all coefficients were multiplied by the largest factor that keeps the damage done by removals
    below 15/32 of the mistakes: the self-tuned Forgetron, Dekel, Shalev-Shwartz and Singer (2008).

    block.K (n, n) among the rows; columns (budget, n) of the vectors with the rows.
    """
    K, scores = block.K, block.scores
    coef, gram, born, count = vectors.coef, vectors.gram, vectors.born, vectors.count
    n, budget = scores.shape[1], coef.shape[1]
    step = np.empty(coef.shape[0])
    for i in block.order:
        if not loops.find_steps(i, block, problems, progress, step):
            continue
        for p in range(step.size):
            vectors.errors[p] += step[p] != 0.0
        if count[0] < budget:
            s = count[0]
            count[0] += 1
        else:
            s = born.argmin() if shrinks else _draw(seed, count[1], budget)
            for p in range(step.size):
                if coef[p, s] == 0.0:
                    continue
                if shrinks:
                    factor = _shrink(p, s, i, step[p], columns, vectors)
                    for r in range(budget):
                        coef[p, r] *= factor
                    step[p] *= factor
                    for j in range(i + 1, n):
                        scores[p, j] *= factor
                for j in range(i + 1, n):
                    scores[p, j] -= coef[p, s] * columns[s, j]
        if shrinks:
            for r in range(count[0]):
                gram[s, r] = gram[r, s] = columns[r, i]
            gram[s, s] = K[i, i]
        _enter(i, s, step, block, columns, vectors)
        born[s] = count[1]
        count[1] += 1


@compiled()
def _enter(i, s, step, block, columns, vectors):
    """Put row i into slot s with its steps as coefficients, and add its effect to the following scores."""
    K, scores, coef = block.K, block.scores, vectors.coef
    n = scores.shape[1]
    for j in range(n):
        columns[s, j] = K[i, j]
    for p in range(step.size):
        coef[p, s] = step[p]
        if step[p] != 0.0:
            for j in range(i + 1, n):
                scores[p, j] += step[p] * K[i, j]
    vectors.member[s] = block.row[i]


@compiled()
def _shrink(p, s, i, step, columns, vectors):
    """Return the factor by which to shrink problem p before vector s is removed, and add the damage.

    Removing lambda k(x_s, .) after shrinking by phi does the damage lambda^2 k(x_s, x_s) + 2 lambda - 2 lambda mu,
    with lambda = phi |coef| and mu = phi y_s f(x_s), where f already contains the new row.
    """
    coef, gram, damage = vectors.coef, vectors.gram, vectors.damage
    score = step * columns[s, i]
    for r in range(coef.shape[1]):
        score += coef[p, r] * gram[r, s]
    a = coef[p, s] * coef[p, s] * gram[s, s] - 2.0 * coef[p, s] * score
    b = 2.0 * abs(coef[p, s])
    c = damage[p] - 15.0 / 32.0 * vectors.errors[p]
    factor = 1.0
    if a + b + c > 0.0:
        factor = -c / b if a == 0.0 else (-b + np.sqrt(max(b * b - 4.0 * a * c, 0.0))) / (2.0 * a)
        factor = min(max(factor, 0.0), 1.0)
    damage[p] += factor * (a * factor + b)
    return factor


@compiled()
def _draw(seed, count, size):
    """Return a number below `size`, the same for the same seed and count: splitmix64."""
    z = np.uint64(seed) + np.uint64(count + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64(z % np.uint64(size))


if DISABLE_JIT:  # the products are meant modulo 2^64, and numpy warns of each
    _draw = np.errstate(over="ignore")(_draw)
