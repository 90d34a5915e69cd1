"""Training in the dual on a budget: a memory of fixed size, however long the stream."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled import dual as duals
from rosenblatt.dual.blocks import Crew, DualJob, Epochs, Expansion, expand, finish
from rosenblatt.learn.trainer import Run

Array = npt.NDArray[Any]

RULES = ("random", "forgetron", "projectron")
BLOCK = 256  # rows presented together; the similarities among them are all computed
DEAR_BLOCK = 8  # where each of them is dear


@dataclass(frozen=True)
class Budget:
    """How many vectors to keep, and what to do when there are more.

    Attributes
    ----------
    size : int
        Most vectors.
    rule : {"random", "forgetron", "projectron"}
    residual : float
        For the projectron: distance from the span, as a share of a row's length, below which a row is projected.
    seed : int
        For the draws.
    """

    size: int
    rule: str = "random"
    residual: float = 0.1
    seed: int = 0


@dataclass(frozen=True)
class Memory:
    """What a rule remembers besides the expansion.

    Attributes
    ----------
    rule : {"random", "forgetron", "projectron"}
        Whose memory it is: another rule would take it for something else.
    gram : array of shape (size, size) or (0, 0)
        Similarities among the vectors for the Forgetron; their inverse for the Projectron.
    born : int array of shape (size,)
        When each vector came.
    count : int array of shape (2,)
        Vectors there are; vectors there have been.
    damage, errors : arrays of shape (n_problems,)
        Damage by removals, and mistakes, for the Forgetron.
    """

    rule: str
    gram: Array
    born: Array
    count: Array
    damage: Array
    errors: Array

    @classmethod
    def empty(cls, budget: Budget, problems: int) -> Memory:
        """Give the memory of nothing."""
        side = 0 if budget.rule == "random" else budget.size
        born, count = np.zeros(budget.size, np.int64), np.zeros(2, np.int64)
        return cls(budget.rule, np.zeros((side, side)), born, count, np.zeros(problems), np.zeros(problems))

    def grow(self, change: Array) -> Memory:
        """Give the memory for more problems, each an old one, an old one with its sign changed, or a new one."""
        share = np.abs(change).astype(float)
        return replace(self, damage=share @ self.damage, errors=share @ self.errors)


class _Frugal(Epochs):
    """A run on a budget. Slots are places in the memory, which all problems share."""

    shares_vectors = True

    def __init__(self, job: DualJob, crew: Crew, budget: Budget, memory: Memory) -> None:
        super().__init__(job, crew)
        self.budget, start = budget, job.start
        self.block = DEAR_BLOCK if job.kernel.dear else BLOCK
        self.memory = deepcopy(memory)
        self.coef = np.zeros((self.trials.size, budget.size))
        self.coef[:, : start.rows.size] = start.coef
        self.member = np.zeros(budget.size, np.int64)  # numbers in the pool
        self.member[: start.rows.size] = np.arange(start.rows.size)
        state = self.memory
        self.vectors = duals.BudgetVectors(
            self.coef, self.member, state.gram, state.born, state.count, state.damage, state.errors
        )

    def learn(self, row: Array) -> None:
        """Present a block of rows one by one."""
        size = int(self.memory.count[0])
        columns = np.empty((self.budget.size, row.size), self.dtype)
        if size:
            columns[:size] = self.pool.columns(self.member[:size], row)
        scores = self.coef[:, :size] @ columns[:size].astype(np.float64)
        self.refuse_overflow(scores)
        label, importance = self.task.label[row], self.importance[row]
        K = self.pool.columns(row + self.pool.offset, row)
        row = row + self.pool.offset
        block = duals.Block(row, label, importance, K, scores)
        if self.budget.rule == "projectron":
            residual = self.budget.residual
            duals.run_projecting_block(residual, block, columns, self.problems(), self.vectors, self.progress)
        else:
            shrinks, seed = self.budget.rule == "forgetron", np.uint64(self.budget.seed)
            duals.run_evicting_block(shrinks, seed, block, columns, self.problems(), self.vectors, self.progress)

    def scores_now(self) -> Array:
        """Give the scores of all rows."""
        size = int(self.memory.count[0])
        return expand(self.job.kernel, self.pool.take(self.member[:size]), self.job.objects, self.coef[:, :size])

    def expansion(self) -> Expansion:
        """Give what is in the memory."""
        member = self.member[: int(self.memory.count[0])]
        numbers = np.concatenate([self.job.start.rows, np.arange(self.rows) + self.job.before])
        empty = Expansion.empty(self.job.objects, self.trials.size)
        coef = self.coef[:, : member.size].copy()
        return replace(empty, vectors=self.pool.take(member), rows=numbers[member], coef=coef, trials=self.trials)


def run_frugal(job: DualJob, budget: Budget, memory: Memory) -> tuple[Expansion, Run, Memory]:
    """Train on a budget; give what was learned, the record, and what the rule remembers.

    Parameters
    ----------
    job : DualJob
    budget : Budget
    memory : Memory
        Of the expansion that the job starts from.

    Returns
    -------
    Expansion
        Without a log.
    Run
    Memory
    """
    with Crew(job.kernel) as crew:
        running = _Frugal(job, crew, budget, memory)
        learned, record = finish(running)
        return learned, record, running.memory
