"""Training in the dual on a budget: a fixed number of vectors, however long the stream.

The vectors are shared: a trial computes one row of similarities for all problems, which end together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.kernels import loops
from rosenblatt.kernels.expansion import Expansion, expand
from rosenblatt.kernels.runner import KernelJob, KernelRunner
from rosenblatt.kernels.threads import Threads
from rosenblatt.storage.checks import check_array
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.multiclass import decision, winners
from rosenblatt.training.trainer import RunClock

Array = npt.NDArray[Any]

PROJECTING = ("arow", "projectron")  # rules that project rows onto vectors which stay; the others drop vectors
ROWS_PER_BLOCK = 256  # rows that are presented together, with all similarities among them while vectors may enter
EXPENSIVE_ROWS_PER_BLOCK = 8  # the same if a similarity is so slow that none may be wasted


@dataclass(frozen=True)
class Budget:
    """How many vectors to keep, and how to learn with them."""

    size: int
    rule: str = "arow"  # a key of `rosenblatt.kernels.rules.BUDGET_RULES`
    # For those that project: distance from the span, as a share of a row's length, below which a row is projected.
    residual: float = 0.1
    seed: int = 0  # of the random draws


@stored("BudgetState")
@dataclass(frozen=True)
class BudgetState:
    """The memory of a budget rule, beside the expansion, with which a stream continues."""

    rule: str  # the rule that wrote it: another would misread the arrays
    # (size, size) similarities among the vectors for the Forgetron; their Cholesky factor if rows are projected
    gram: Array
    born: Array  # (size,) how many vectors had entered before each; empty if none is dropped
    count: Array  # (2,) vectors in use; vectors that ever entered
    damage: Array  # (n_problems,) damage by removals, for the Forgetron
    errors: Array  # (n_problems,) mistakes, for the Forgetron
    # (n_problems, n_vectors) steps times the trials before them, if rows are projected; else (n_problems, 0)
    lag: Array
    variance: Array  # (n_problems, size) of the weights for AROW; else (n_problems, 0)

    @classmethod
    def empty(cls, budget: Budget, problems: int) -> BudgetState:
        """Return the state before the first vector."""
        side = 0 if budget.rule == "random" else budget.size
        # A run works on a copy, and a fit keeps another of its best epoch. A block has similarities with every vector.
        needed = 8 * budget.size * (3 * (side + 3 * problems + 1) + ROWS_PER_BLOCK)
        check_memory(needed, f"A budget of {budget.size!r:.60} vectors", "Choose a smaller budget.")
        born = np.zeros(0 if budget.rule in PROJECTING else budget.size, np.int64)
        count = np.zeros(2, np.int64)
        variance = np.zeros((problems, budget.size if budget.rule == "arow" else 0))
        damage, errors = np.zeros((2, problems))
        lag = np.zeros((problems, 0))
        return cls(budget.rule, np.zeros((side, side)), born, count, damage, errors, lag, variance)

    @property
    def size(self) -> int:
        """The budget: places for vectors."""
        return int(max(np.size(self.born), *np.shape(self.gram)))

    def check(self, size: int, rule: str, learned: Expansion) -> None:
        """Raise a `Fault` unless what was read from a file fits a budget and an expansion."""
        expect(self.rule == rule, f"the memory is one of the rule {self.rule!r}")
        side, problems, count = 0 if rule == "random" else size, learned.trials.size, learned.rows.size
        check_array("gram of the memory", self.gram, "d", (side, side))
        check_array("born of the memory", self.born, "l", (0 if rule in PROJECTING else size,))
        check_array("count of the memory", self.count, "l", (2,))
        check_array("damage of the memory", self.damage, "d", (problems,))
        check_array("errors of the memory", self.errors, "d", (problems,))
        check_array("lag of the memory", self.lag, "d", (problems, learned.rows.size if rule in PROJECTING else 0))
        check_array("variance of the memory", self.variance, "d", (problems, size if rule == "arow" else 0))
        there, ever = self.count.tolist()
        expect(there == count <= min(size, ever) and ever < 1 << 62, f"the memory counts {there} of {count} vectors")
        expect(np.all((self.born >= 0) & (self.born < max(ever, 1))), "the memory has vectors of the future")
        if rule in PROJECTING:
            expect(np.all(np.diagonal(self.gram)[:count] > 0.0), "the factor of the memory is singular")
            expect(np.all(self.variance >= 0.0), "the memory has variances below zero")
        expect(not learned.log.slot.size, "the memory has a log, where a budget keeps none")

    def grow(self, change: Array) -> BudgetState:
        """Return the state for more problems; `change` as in `Expansion.grow`."""
        share = np.abs(change).astype(float)
        variance = share @ self.variance
        if variance.size:  # a new problem knows nothing yet
            size = int(self.count[0])
            variance[~change.any(axis=1), :size] = 1.0 / np.square(self.gram[:size]).sum(axis=1)
        damage, errors, lag = share @ self.damage, share @ self.errors, change.astype(float) @ self.lag
        return replace(self, damage=damage, errors=errors, lag=lag, variance=variance)


def continues(state: BudgetState | None, budget: Budget | None) -> bool:
    """Return whether a state is of a run on this budget; without a budget there is none."""
    if state is None or budget is None:
        return state is None and budget is None
    return state.rule == budget.rule and state.size == budget.size


AfterTrial = Callable[["Budgeted", loops.RowBlock, int], None]


class Budgeted(KernelRunner):
    """Trains on a budget. Slots are the places for vectors, which all problems share."""

    shares_vectors = True
    averages = False  # whether the average of f over the trials is known
    after_trial: AfterTrial | None = None
    vectors: Any  # of the rule: a NamedTuple of arrays, which the loops change

    def __init__(self, job: KernelJob, threads: Threads, budget: Budget) -> None:
        super().__init__(job, threads)
        self.budget = budget
        self.rows_per_block = EXPENSIVE_ROWS_PER_BLOCK if job.kernel.expensive else ROWS_PER_BLOCK

    # ------------------------------------------------------------------------------------------------- for subclasses

    def _block(self, row: Array) -> loops.RowBlock:
        """Return a block of rows, with the similarities that its trials need."""
        raise NotImplementedError

    def _run(self, block: loops.RowBlock, problems: loops.Problems) -> None:
        """Present the rows of a block one by one."""
        raise NotImplementedError

    def state(self) -> BudgetState:
        """Return what the rule needs to continue."""
        raise NotImplementedError

    def first_members(self) -> Array:
        """Return the numbers in the pool of the vectors at the start, with a slot for each of the budget."""
        member = np.zeros(self.budget.size, np.int64)
        member[: self.pool.offset] = np.arange(self.pool.offset)
        return member

    # ---------------------------------------------------------------------------------------------------- for all rules

    @property
    def member(self) -> Array:
        """Numbers in the pool of the vectors in use."""
        return np.asarray(self.vectors.member[: int(self.vectors.count[0])])

    def _learn(self, row: Array, problems: loops.Problems) -> None:
        """Present a block of rows one by one."""
        block = self._block(row)
        if self.after_trial is None:
            self._run(block, problems)
            return
        for i in range(row.size):
            self._run(block._replace(order=np.array([i])), problems)
            self.after_trial(self, block, i)

    def error(self, clock: RunClock) -> float | None:
        """Return the share of wrong rows, by weight; None if out of time."""
        if clock.overdue:
            return None
        task, scores = self.task, self.scores()[:, self.subset]
        elected = winners(decision(scores.T, task.sign.shape[0], self.job.multiclass))
        return float(np.average(elected != task.label[self.subset], weights=self.sample_weight[self.subset]))

    def snapshot(self) -> list[Array]:
        """Return a copy of the vectors, and of what the rule knows of them."""
        return [array.copy() for array in self.vectors]

    def restore(self, snapshot: list[Array]) -> None:
        """Go back to the vectors of a snapshot."""
        for array, earlier in zip(self.vectors, snapshot, strict=True):
            array[...] = earlier

    def scores(self) -> Array:
        """Return the current scores of all objects."""
        return expand(self.job.kernel, self.pool.take(self.member), self.job.objects, self.coef())

    def expansion(self) -> Expansion:
        """Return the vectors in use with their coefficients."""
        job, member = self.job, self.member
        numbers = np.concatenate([job.start.rows, np.arange(self.n_objects) + job.n_before])
        labels = np.concatenate([job.start.label, job.task.label])
        return replace(
            Expansion.empty(job.objects, self.trials.size),
            vectors=self.pool.take(member),
            rows=numbers[member],
            coef=self.coef(),
            trials=self.trials.copy(),
            label=labels[member],
        )
