"""Weights that are scaled and moved along the row in one step: the loop that ALMA and ROMMA share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.frame import TRIALS
from rosenblatt.engine.jit import compiled, overload
from rosenblatt.engine.rows import Hyperplanes, add, by_type, dot, square
from rosenblatt.engine.single import score_row
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.algorithm import (
    Doubles,
    Integers,
    Matrix,
    Order,
    Row,
    ScoreRow,
    TrialAlgorithm,
    Vector,
    bind,
    layout_of,
)

# Between these a scale is not multiplied into the weights, which takes time for each feature.
_SMALLEST, _LARGEST = 1e-9, 1e9


@stored("ProjectedWeights")
class ProjectedWeights(NamedTuple):
    """Weight vectors with their norm: problem p scores scale[p] * W[p].x + b[p]."""

    W: Matrix
    b: Vector
    t: Integers
    scale: Doubles
    norm: Doubles  # squared norm of weights and bias; negative: not known
    corrections: Integers  # updates so far


class ProjectionInput(NamedTuple):
    """The input of a rule: the quantities of one trial."""

    margin: float  # y f(x)
    row_norm: float  # squared norm of the row, padded
    norm: float  # squared norm of the weights, with that of the padding
    corrections: int
    importance: float  # weight of the row times the cost of its class


# The function of each rule, by the class of its parameters.
PROJECTIONS: dict[type, object] = {}


def project(rule, trial):
    """Return factors c and d: the weights become c w + d y x, and stay if d is 0; their squared norm then; the loss."""
    return by_type(PROJECTIONS, rule)(rule, trial)


overload(project)(lambda rule, trial: by_type(PROJECTIONS, rule))


@compiled()
def _squared_norm(W, b, scale, bias, p):
    total = 0.0
    for j in range(W.shape[1]):
        weight = scale[p] * np.float64(W[p, j])
        total += weight * weight
    return total + np.float64(b[p]) * b[p] / bias if bias > 0.0 else total


@compiled()
def _fold(W, scale, p):
    for j in range(W.shape[1]):
        W[p, j] *= scale[p]
    scale[p] = 1.0


def projected_trial(algorithm, rows, i, sign, importance, bias, state, p):
    """Let w become c w + d y x, as the rule says."""
    W, b, _, scale, norm, corrections = state
    margin = sign * (scale[p] * dot(rows, i, W, p) + b[p])
    if norm[p] < 0.0:
        norm[p] = _squared_norm(W, b, scale, bias, p)
    trial = ProjectionInput(margin, square(rows, i) + bias, norm[p], corrections[p], importance)
    keep, step, reached, loss = project(algorithm, trial)
    if step != 0.0:
        scale[p] *= keep
        if not _SMALLEST < scale[p] < _LARGEST:
            _fold(W, scale, p)
        add(rows, i, sign * step / scale[p], W, p)
        b[p] = keep * b[p] + sign * step * bias
        norm[p] = reached
        corrections[p] += 1
    return margin, step, loss


def register_projection(rule: type, function: Any) -> None:
    """Let the loop call a function for a rule, chosen by the class of its parameters."""
    PROJECTIONS[rule] = function
    TRIALS[rule] = projected_trial


@dataclass
class Projected(TrialAlgorithm):
    """A rule that shrinks or stretches the weights and moves them along the row."""

    rule: Any  # parameters of a rule in `PROJECTIONS`

    derives_weights, local_updates = True, False
    state_class: ClassVar[type] = ProjectedWeights
    layout: ClassVar[Mapping[str, str]] = layout_of(ProjectedWeights)

    def check_state(self, state: ProjectedWeights) -> None:
        """Raise a `Fault` unless a state from a file is sound."""
        super().check_state(state)
        expect(np.all(state.scale > 0), "the state has scales that are not positive")
        expect(np.all(state.corrections >= 0), "the state has had fewer than no corrections")

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> ProjectedWeights:
        """Return zero weights; the loop computes their norm, as a caller may replace them."""
        state: ProjectedWeights = super().start(problems, features, dtype, order)
        state.scale[:], state.norm[:] = 1.0, -1.0
        return state

    def row_scorer(self, known: int, state: ProjectedWeights, row: Row) -> ScoreRow:
        """Return a function of a row that multiplies the scales in."""
        return bind(score_row, (known, state.W, state.b, state.scale, *5 * (None,)), *row)

    def hyperplanes(self, state: ProjectedWeights) -> Hyperplanes:
        """Return the weights with their scales multiplied in."""
        return Hyperplanes((state.W * state.scale[:, None]).astype(state.W.dtype, copy=False), state.b)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has, and what its corrections count."""
        return "ProjectedWeights", type(self.rule).__name__
