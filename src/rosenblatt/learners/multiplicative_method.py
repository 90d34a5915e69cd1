"""Weights that are multiplied: the Winnow family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.frame import run_epoch
from rosenblatt.engine.single import learn_state_row
from rosenblatt.learners.multiplicative_trial import BalancedWinnowRule, Exponents, WinnowRule
from rosenblatt.storage.registry import stored
from rosenblatt.training.algorithm import Algorithm, EpochArgs, LearnRow, Order, Row, RowTask, bind_row_loop

stored("Exponents")(Exponents)


@dataclass
class Multiplicative(Algorithm):
    """The Winnow family.

    Attributes
    ----------
    rule : WinnowRule or BalancedWinnowRule
    threshold : float
        What the weights are held against; not for the balanced rule.
    """

    rule: WinnowRule | BalancedWinnowRule
    threshold: float = 0.0

    signed: ClassVar[frozenset[str]] = frozenset({"W", "b", "theta", "theta_b"})
    state_class: ClassVar[type] = Exponents
    layout: ClassVar[Mapping[str, str]] = {
        "W": "f pd",
        "b": "f p",
        "t": "l p",
        "theta": "d? pd",
        "theta_b": "d p",
    }

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> Exponents:
        """Return exponents of zero."""
        W = np.zeros((problems, features), dtype)
        if isinstance(self.rule, WinnowRule):
            W += 1.0
        return Exponents(
            W=W,
            b=np.full(problems, -self.threshold, dtype),
            t=np.zeros(problems, np.int64),
            theta=np.zeros((problems, features)),
            theta_b=np.zeros(problems),
        )

    def run_epoch(self, shown: EpochArgs, state: Exponents, into: Exponents) -> int:
        """Run the epoch."""
        run_epoch(self.rule, shown.rows, shown.task, shown.order, shown.active, state, shown.counts)
        return shown.size

    def row_learner(self, trial: RowTask, state: Exponents, row: Row) -> LearnRow:
        """Return a function that runs one trial, in a single compiled call."""
        return bind_row_loop(learn_state_row, (self.rule,), trial, (state,), row)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has, and what the exponents mean."""
        return "Exponents", self.rule, self.threshold
