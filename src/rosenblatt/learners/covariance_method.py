"""Weights with their uncertainty: adaptive regularisation of weights (AROW)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.frame import run_epoch
from rosenblatt.engine.single import learn_state_row
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.gaussian_trial import (
    ArowRule,
    FullArowRule,
    GaussianWeights,
    learn_joint_arow_row,
    run_joint_arow,
)
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.algorithm import Algorithm, EpochArgs, LearnRow, Order, Row, RowTask, bind_row_loop

Array = npt.NDArray[Any]

# Covariance matrices larger than that are refused.
MAX_COVARIANCE_BYTES = 1 << 32

stored("GaussianWeights")(GaussianWeights)


@dataclass
class Arow(Algorithm):
    """Adaptive regularisation of weights: a variance for each weight, or a full covariance.

    Attributes
    ----------
    noise : float
        r of the paper: the larger, the smaller the steps.
    full : bool
    """

    noise: float
    full: bool = False

    state_class: ClassVar[type] = GaussianWeights
    layout: ClassVar[Mapping[str, str]] = {"W": "f pd", "b": "f p", "t": "l p", "V": "d pd pee", "v": "d p"}

    @property
    def by_feature(self) -> bool:  # type: ignore[override]
        """Whether the loops look at all problems of a feature at once: with a diagonal covariance."""
        return not self.full

    @property
    def local_updates(self) -> bool:  # type: ignore[override]
        """Whether an update changes the weights of the row's own features only: not with a full covariance."""
        return not self.full

    def check_state(self, state: GaussianWeights) -> None:
        """Raise a `Fault` unless a state from a file is sound."""
        super().check_state(state)
        expect((state.V.ndim == 3) == self.full, "the state has a covariance of another kind. Fit again")

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> GaussianWeights:
        """Return zero weights with unit variance."""
        size = 8 * problems * (features + 1) ** 2
        if self.full and size > MAX_COVARIANCE_BYTES:
            raise InvalidInput(
                f"covariance='full' needs {size / 2**30:.0f} GiB for {features} features and {problems} problems. Use "
                "covariance='diagonal'."
            )
        V = np.ones((problems, features), order=order)
        if self.full:
            V = np.broadcast_to(np.eye(features + 1), (problems, features + 1, features + 1)).copy()
        return GaussianWeights(
            W=np.zeros((problems, features), dtype, order),
            b=np.zeros(problems, dtype),
            t=np.zeros(problems, np.int64),
            V=V,
            v=np.ones(problems),
        )

    def trial_cost(self, entries: int, features: int, problems: int) -> int:
        """Return about how many numbers a trial reads: with a full covariance, all of it."""
        return problems * (3 * (features + 1) ** 2 if self.full else 2 * entries)

    @property
    def rule(self) -> ArowRule | FullArowRule:
        """The parameters, as the loops take them."""
        return FullArowRule(self.noise) if self.full else ArowRule(self.noise)

    def run_epoch(self, shown: EpochArgs, state: GaussianWeights, into: GaussianWeights) -> int:
        """Run the epoch, or its joint form."""
        arguments = (self.rule, shown.rows, shown.task, shown.order)
        if shown.joint:
            run_joint_arow(*arguments, state, shown.counts)
        else:
            run_epoch(*arguments, shown.active, state, shown.counts)
        return shown.size

    def row_learner(self, trial: RowTask, state: GaussianWeights, row: Row) -> LearnRow:
        """Return a function that runs one trial, in a single compiled call."""
        loop = learn_joint_arow_row if trial.joint else learn_state_row
        return bind_row_loop(loop, (self.rule,), trial, (state,), row)

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
