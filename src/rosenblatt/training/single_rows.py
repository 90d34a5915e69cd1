"""Single rows of a stream: a compiled call learns a row, another predicts it, bound to the arrays of a state."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.rows import Task
from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.training.algorithm import Algorithm, LearnRow, Row, RowTask, ScoreRow, refuse_replaced
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import by_pairs
from rosenblatt.training.named_rows import NOT_FINITE
from rosenblatt.training.snapshots import ReplayLog

Array = npt.NDArray[Any]

OVERFLOW = (
    "The weights overflowed {dtype}. Scale the data, for example with StandardScaler, or lower the learning rate."
)
# Cost of a class up to which a perceptron's sums cannot overflow in any number of trials: the length of a valid row is
# at most the square root of the largest number.
SAFE_COST = 1e3


def cannot_overflow(algorithm: Algorithm, task: Task, eta: float) -> bool:
    """Return whether no row can make the weights overflow, so that none has to be undone."""
    if not isinstance(algorithm, FirstOrder) or not isinstance(algorithm.rule, perceptron) or algorithm.penalised:
        return False
    return bool(task.class_cost.max() * eta <= SAFE_COST)


class RowLearner:
    """Learns rows of the classes of a stream.

    Attributes
    ----------
    place : dict
        Number of each class.
    log : ReplayLog or None
        Undoes a row that makes the weights overflow. Drop it when the state has changed otherwise.
    """

    __slots__ = ("_algorithm", "_calls", "_state", "log", "place", "trial")

    def __init__(self, algorithm: Algorithm, trial: RowTask, state: Any, classes: Array) -> None:
        self.place: dict[Any, int] = {label: number for number, label in enumerate(classes.tolist())}
        self.trial = trial
        self.log: ReplayLog | None = None
        self._algorithm, self._state = algorithm, state
        self._calls: dict[bool, LearnRow] = {}  # for dense rows, and for sparse ones

    def learn(self, c: int, row: Row) -> int:
        """Learn from one row of the class number c; return its mistakes, or raise an error if nothing was learned."""
        values, columns = row
        call = self._calls.get(columns is None) or self._bind(row)
        if self.trial.safe:
            mistakes = call(c, values, columns)
        else:
            if self.log is None:
                self.log = ReplayLog(self._state)
            mistakes = self.log.learn(call, c, row)
        if mistakes < 0:
            overflow = OVERFLOW.format(dtype=self._state.W.dtype) + " Nothing was learned from this row."
            raise InvalidInput(NOT_FINITE if mistakes == -1 else overflow)
        return mistakes

    def _bind(self, row: Row) -> LearnRow:
        with refuse_replaced():
            self._algorithm.check_arrays(self._state)
        call = self._calls[row[1] is None] = self._algorithm.row_learner(self.trial, self._state, row)
        return call


class RowScorer(NamedTuple):
    """The compiled call that scores rows of one kind, dense or sparse, and the labels that it chooses from."""

    score: ScoreRow  # like `rosenblatt.engine.single.score_row`
    labels: list[Any]  # of the classes, as Python objects; empty in a regression


def bind_scorer(algorithm: Algorithm, multiclass: str, known: int, classes: Array, state: Any, row: Row) -> RowScorer:
    """Return what scores rows like this one by the known problems of a state."""
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes]
    pairs = by_pairs(multiclass) and len(labels) > 2  # a call would return the number of a pair
    score = None if pairs else algorithm.row_scorer(known, state, row)
    # A single class wins whatever the score.
    return RowScorer(score or (lambda values, columns: math.nan), 2 * labels if len(labels) == 1 else labels)
