"""Weights that are the gradient of a norm at a sum of rows: the p-norm perceptron."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.frame import run_epoch
from rosenblatt.engine.rows import Hyperplanes
from rosenblatt.engine.single import learn_state_row
from rosenblatt.learners.p_norm_trial import PNormRule, PNormWeights, factor_of
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.algorithm import (
    Algorithm,
    EpochArgs,
    LearnRow,
    Order,
    Row,
    RowTask,
    as_hyperplanes,
    bind_row_loop,
)

stored("PNormWeights")(PNormWeights)


@dataclass
class PNorm(Algorithm):
    """The perceptron's steps for a sum of rows, whose link the weights are.

    Attributes
    ----------
    power : float
        p, at least 2.
    """

    power: float

    derives_weights: ClassVar[bool] = True
    local_updates: ClassVar[bool] = False
    signed: ClassVar[frozenset[str]] = frozenset({"W", "b", "theta", "theta_b"})
    state_class: ClassVar[type] = PNormWeights
    layout: ClassVar[Mapping[str, str]] = {
        "W": "f pd",
        "b": "f p",
        "t": "l p",
        "theta": "f pd",
        "theta_b": "f p",
        "unit": "d p",
        "power_sum": "d p",
    }

    def check_state(self, state: PNormWeights) -> None:
        """Raise a `Fault` unless a state from a file is sound."""
        super().check_state(state)
        expect(np.all(state.unit > 0), "the state has units that are not positive")

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> PNormWeights:
        """Return zero weights; the loop computes their theta, as somebody may put others in their place."""
        return PNormWeights(
            W=np.zeros((problems, features), dtype, order),
            b=np.zeros(problems, dtype),
            t=np.zeros(problems, np.int64),
            theta=np.zeros((problems, features), dtype, order),
            theta_b=np.zeros(problems, dtype),
            unit=np.ones(problems),
            power_sum=np.full(problems, -1.0),
        )

    def run_epoch(self, shown: EpochArgs, state: PNormWeights, into: PNormWeights) -> int:
        """Run the epoch."""
        run_epoch(PNormRule(self.power), shown.rows, shown.task, shown.order, shown.active, state, shown.counts)
        return shown.size

    def row_learner(self, trial: RowTask, state: PNormWeights, row: Row) -> LearnRow:
        """Return a function that runs one trial, in a single compiled call."""
        return bind_row_loop(learn_state_row, (PNormRule(self.power),), trial, (state,), row)

    def hyperplanes(self, state: PNormWeights) -> Hyperplanes:
        """Return the gradients themselves: the scores of several classes are held against each other."""
        pairs = zip(state.unit.tolist(), state.power_sum.tolist(), strict=True)
        factor = np.array([factor_of(self.power, unit, total) for unit, total in pairs])
        W, b, dtype = state.W * factor[:, None], state.b * factor, state.W.dtype
        return as_hyperplanes(W.astype(dtype, copy=False), b.astype(dtype, copy=False))

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has, and which link the weights are of theta."""
        return "PNormWeights", self.power
