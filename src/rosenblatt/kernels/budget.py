"""Training in the dual on a budget: a fixed number of vectors, however long the stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.kernels import loops
from rosenblatt.kernels.expansion import Expansion, expand
from rosenblatt.kernels.runner import NO_SPANS, KernelJob, KernelRunner, run_job
from rosenblatt.kernels.threads import Threads
from rosenblatt.storage.checks import check_array
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.multiclass import decision, winners
from rosenblatt.training.plan import Run
from rosenblatt.training.trainer import RunClock

Array = npt.NDArray[Any]

BUDGET_RULES = ("random", "forgetron", "projectron")
ROWS_PER_BLOCK = 256  # rows that are presented together; all similarities among them are computed
EXPENSIVE_ROWS_PER_BLOCK = 8  # the same if a similarity is so slow that none may be wasted


@dataclass(frozen=True)
class Budget:
    """How many vectors to keep, and which to remove when there are more."""

    size: int
    rule: str = "random"  # one of BUDGET_RULES
    # For the Projectron: distance from the span, as a share of a row's length, below which a row is projected.
    residual: float = 0.1
    seed: int = 0  # of the random draws


@stored("BudgetState")
@dataclass(frozen=True)
class BudgetState:
    """The memory of a budget rule, beside the expansion, with which a stream continues."""

    rule: str  # the rule that wrote it: another would misread the arrays
    gram: Array  # (size, size) similarities among the vectors for the Forgetron, their inverse for the Projectron
    born: Array  # (size,) how many vectors had entered before each
    count: Array  # (2,) vectors in use; vectors that ever entered
    damage: Array  # (n_problems,) damage by removals, for the Forgetron
    errors: Array  # (n_problems,) mistakes, for the Forgetron

    @classmethod
    def empty(cls, budget: Budget, problems: int) -> BudgetState:
        """Return the state before the first vector."""
        side = 0 if budget.rule == "random" else budget.size
        needed = 8 * (budget.size + side * side)
        check_memory(needed, f"A budget of {budget.size!r:.60} vectors", "Choose a smaller budget.")
        born, count = np.zeros(budget.size, np.int64), np.zeros(2, np.int64)
        return cls(budget.rule, np.zeros((side, side)), born, count, np.zeros(problems), np.zeros(problems))

    def check(self, size: int, rule: str, learned: Expansion) -> None:
        """Raise a `Fault` unless what was read from a file fits a budget and an expansion."""
        expect(self.rule == rule, f"the memory is one of the rule {self.rule!r}")
        side, problems, count = 0 if rule == "random" else size, learned.trials.size, learned.rows.size
        check_array("gram of the memory", self.gram, "d", (side, side))
        check_array("born of the memory", self.born, "l", (size,))
        check_array("count of the memory", self.count, "l", (2,))
        check_array("damage of the memory", self.damage, "d", (problems,))
        check_array("errors of the memory", self.errors, "d", (problems,))
        there, ever = self.count.tolist()
        expect(there == count <= min(size, ever) and ever < 1 << 62, f"the memory counts {there} of {count} vectors")
        expect(np.all((self.born >= 0) & (self.born < max(ever, 1))), "the memory has vectors of the future")
        expect(not learned.log.slot.size, "the memory has a log, where a budget keeps none")

    def grow(self, change: Array) -> BudgetState:
        """Return the state for more problems; `change` as in `Expansion.grow`."""
        share = np.abs(change).astype(float)
        return replace(self, damage=share @ self.damage, errors=share @ self.errors)


def continues(state: BudgetState | None, budget: Budget | None) -> bool:
    """Return whether a state is of a run on this budget; without a budget there is none."""
    if state is None or budget is None:
        return state is None and budget is None
    return state.rule == budget.rule and state.born.size == budget.size


def run_budgeted(
    job: KernelJob, budget: Budget, state: BudgetState | None = None, after_trial: AfterTrial | None = None
) -> tuple[Expansion, Run, BudgetState]:
    """Train on a budget; return what was learned, the record, and what the rule needs to continue.

    Without a state, it is that of a run that starts from nothing.
    `after_trial` is called with the runner, the block and the place of the row in it. It changes nothing: the trials
    are those of a run without it, to the last bit.
    """
    with Threads(alone=job.kernel.user_defined) as threads:
        runner = Budgeted(job, threads, budget, state or BudgetState.empty(budget, job.start.trials.size))
        runner.after_trial = after_trial
        record = run_job(job, runner)
        # The problems end together; the record has an end for each of them.
        stops = record.stops * (1 if runner.joint else runner.trials.size)
        return runner.expansion(), replace(record, stops=stops), BudgetState(budget.rule, *runner.vectors[2:])


AfterTrial = Callable[["Budgeted", loops.RowBlock, int], None]


class Budgeted(KernelRunner):
    """Trains on a budget. Slots are the places for vectors, which all problems share."""

    shares_vectors = True
    after_trial: AfterTrial | None = None

    def __init__(self, job: KernelJob, threads: Threads, budget: Budget, state: BudgetState) -> None:
        super().__init__(job, threads)
        self.budget = budget
        self.rows_per_block = EXPENSIVE_ROWS_PER_BLOCK if job.kernel.expensive else ROWS_PER_BLOCK
        coef = np.zeros((self.trials.size, budget.size))
        member = np.zeros(budget.size, np.int64)  # numbers in the pool
        memory = (state.gram, state.born, state.count, state.damage, state.errors)
        self.vectors = loops.BudgetVectors(coef, member, *(array.copy() for array in memory))
        size = job.start.rows.size
        coef[:, :size] = job.start.coef
        member[:size] = np.arange(size)

    @property
    def member(self) -> Array:
        """Numbers in the pool of the vectors in use."""
        return self.vectors.member[: int(self.vectors.count[0])]

    def _learn(self, row: Array, problems: loops.Problems) -> None:
        """Present a block of rows one by one."""
        size = self.member.size
        columns = np.empty((self.budget.size, row.size), self.dtype)
        if size:
            columns[:size] = self.pool.columns(self.member, row)
        scores = self.vectors.coef[:, :size] @ columns[:size].astype(np.float64)
        self._check_finite(scores)
        number = row + self.pool.offset
        K = self.pool.columns(number, row)
        block = loops.RowBlock(
            number, self.task.label[row], self.sample_weight[row], K, scores, np.arange(row.size), NO_SPANS
        )
        if self.after_trial is None:
            self._run(block, columns, problems)
            return
        for i in range(row.size):
            self._run(block._replace(order=np.array([i])), columns, problems)
            self.after_trial(self, block, i)

    def _run(self, block: loops.RowBlock, columns: Array, problems: loops.Problems) -> None:
        if self.budget.rule == "projectron":
            residual = self.budget.residual
            loops.run_projecting_block(residual, block, columns, problems, self.vectors, self.progress)
        else:
            shrinks, seed = self.budget.rule == "forgetron", np.uint64(self.budget.seed)
            loops.run_evicting_block(shrinks, seed, block, columns, problems, self.vectors, self.progress)

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

    def coef(self) -> Array:
        """Return a copy of the coefficients of the vectors in use."""
        return self.vectors.coef[:, : self.member.size].copy()

    def expansion(self) -> Expansion:
        """Return the vectors in use with their coefficients."""
        numbers = np.concatenate([self.job.start.rows, np.arange(self.n_objects) + self.job.n_before])
        empty, vectors = Expansion.empty(self.job.objects, self.trials.size), self.pool.take(self.member)
        return replace(empty, vectors=vectors, rows=numbers[self.member], coef=self.coef(), trials=self.trials)
