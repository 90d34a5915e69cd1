"""Weights that are projected after each step: ALMA and ROMMA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.frame import run_epoch
from rosenblatt.engine.rows import Hyperplanes
from rosenblatt.engine.single import learn_state_row, score_row
from rosenblatt.learners.projections_trial import AlmaRule, ProjectedWeights, RommaRule
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.algorithm import (
    Algorithm,
    EpochArgs,
    LearnRow,
    Order,
    Row,
    RowTask,
    ScoreRow,
    as_hyperplanes,
    bind,
    bind_row_loop,
)

stored("ProjectedWeights")(ProjectedWeights)


@dataclass
class Projected(Algorithm):
    """A rule that shrinks or stretches the weights and moves them along the row.

    Attributes
    ----------
    rule : AlmaRule or RommaRule
    """

    rule: AlmaRule | RommaRule

    derives_weights: ClassVar[bool] = True
    local_updates: ClassVar[bool] = False
    state_class: ClassVar[type] = ProjectedWeights
    layout: ClassVar[Mapping[str, str]] = {
        "W": "f pd",
        "b": "f p",
        "t": "l p",
        "scale": "d p",
        "norm": "d p",
        "corrections": "l p",
    }

    def check_state(self, state: ProjectedWeights) -> None:
        """Raise a `Fault` unless a state from a file is sound."""
        super().check_state(state)
        expect(np.all(state.scale > 0), "the state has scales that are not positive")
        expect(np.all(state.corrections >= 0), "the state has had fewer than no corrections")

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> ProjectedWeights:
        """Return zero weights; the loop computes their norm, as somebody may put others in their place."""
        return ProjectedWeights(
            W=np.zeros((problems, features), dtype, order),
            b=np.zeros(problems, dtype),
            t=np.zeros(problems, np.int64),
            scale=np.ones(problems),
            norm=np.full(problems, -1.0),
            corrections=np.zeros(problems, np.int64),
        )

    def run_epoch(self, shown: EpochArgs, state: ProjectedWeights, into: ProjectedWeights) -> int:
        """Run the epoch."""
        run_epoch(self.rule, shown.rows, shown.task, shown.order, shown.active, state, shown.counts)
        return shown.size

    def row_learner(self, trial: RowTask, state: ProjectedWeights, row: Row) -> LearnRow:
        """Return a function that runs one trial, in a single compiled call."""
        return bind_row_loop(learn_state_row, (self.rule,), trial, (state,), row)

    def row_scorer(self, known: int, state: ProjectedWeights, row: Row) -> ScoreRow:
        """Return a function of a row that multiplies the scales in."""
        return bind(score_row, (known, state.W, state.b, state.scale, *5 * (None,)), *row)

    def hyperplanes(self, state: ProjectedWeights) -> Hyperplanes:
        """Return the weights with their scales multiplied in."""
        return as_hyperplanes((state.W * state.scale[:, None]).astype(state.W.dtype, copy=False), state.b)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has, and what its corrections count."""
        return "ProjectedWeights", type(self.rule).__name__
