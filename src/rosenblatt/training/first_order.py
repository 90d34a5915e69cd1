"""First-order rules: the weights move along the row. The perceptron and most of its family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.epoch import NO_LOG, Learner, UpdateLog, Weights, run_csr, run_dense, settle
from rosenblatt.engine.joint import run_joint
from rosenblatt.engine.rows import Dense, Hyperplanes
from rosenblatt.engine.single import learn_joint_row, learn_plain_row, learn_row, score_row
from rosenblatt.storage.registry import stored
from rosenblatt.training.algorithm import Algorithm, EpochArgs, Order, as_hyperplanes, copy_state, order_of

if TYPE_CHECKING:
    from rosenblatt.training.single_row import LearnRow, Row, RowTask, ScoreRow

Array = npt.NDArray[Any]

# Weights, or lag, that the caches of most machines hold.
CACHED_BYTES = 1 << 22

stored("Weights")(Weights)


class Penalty(NamedTuple):
    """Each trial shrinks the weights by `l2` and truncates them by `l1`, times the learning rate."""

    l1: float = 0.0
    l2: float = 0.0


class HarmonicRate(NamedTuple):
    """Learning rate 1 / (strength (start + t)) in trial t. Shalev-Shwartz et al. (2007) with start 0."""

    strength: float
    start: float


NO_PENALTY = Penalty()


@dataclass
class FirstOrder(Algorithm):
    """A rule that moves the weights along the row; with a penalty, a rate of its own, an average.

    Attributes
    ----------
    rule : NamedTuple
        Parameters of a rule, see `rosenblatt.engine.rules`.
    penalty : Penalty
    rate : HarmonicRate or None
        None: the learning rate of the plan.
    averaged : bool
        Whether the model is the average of the weights over the trials.
    late : bool
        Whether the average begins anew in epochs 2, 4, 8, ...
    """

    rule: Any
    penalty: Penalty = NO_PENALTY
    rate: HarmonicRate | None = None
    averaged: bool = False
    late: bool = False

    signed: ClassVar[frozenset[str]] = frozenset({"W", "b", "lag", "lag_b", "paid"})
    state_class: ClassVar[type] = Weights
    layout: ClassVar[Mapping[str, str]] = {
        "W": "f pd",
        "b": "f p",
        "t": "l p",
        "scale": "d p",
        "owed": "d p",
        "paid": "d pd p0",
        "scale_sum": "d p",
        "lag": "d pd p0",
        "lag_b": "d p",
        "skipped": "l p",
    }

    def check_state(self, state: Weights) -> None:
        """Raise a `Fault` unless a state from a file is sound."""
        from rosenblatt.training.averaging import check_parts

        super().check_state(state)
        check_parts(self, state)

    @property
    def by_feature(self) -> bool:  # type: ignore[override]
        """Whether the loops look at all problems of a feature at once: not where weights are truncated one by one."""
        return not self.truncated

    @property
    def finite(self) -> bool:  # type: ignore[override]
        """Whether separable data ends the updates."""
        return self.rule.of.finite and not self.penalised

    @property
    def converges_when_clean(self) -> bool:  # type: ignore[override]
        """Whether nothing shrinks between updates."""
        return not self.penalised

    @property
    def is_sum_of_rows(self) -> bool:  # type: ignore[override]
        """Whether the weights are a sum of rows."""
        return self.finite

    @property
    def derived(self) -> bool:  # type: ignore[override]
        """Whether the weights must be computed: averaged, or with a penalty applied."""
        return self.averaged or self.penalised

    @property
    def predictor(self) -> str:  # type: ignore[override]
        """What predicts, where it is not the last weights."""
        return "the average" * self.averaged

    @property
    def zero_loss(self) -> float:  # type: ignore[override]
        """Loss of weights of zero, for rules that follow a gradient by a learning rate."""
        loss: float = self.rule.of.zero_loss
        return loss

    @property
    def remedy(self) -> str:  # type: ignore[override]
        """What to do against weights that grow without end."""
        remedy: str = self.rule.of.remedy
        return remedy

    @property
    def penalised(self) -> bool:
        """Whether the weights shrink."""
        return self.penalty != NO_PENALTY

    @property
    def truncated(self) -> bool:
        """Whether they are truncated, too, so that many become zero."""
        return self.penalty.l1 > 0.0

    def _learner(self, eta: float, log: UpdateLog = NO_LOG) -> Learner:
        """Return how the weights move beside the rule, at a learning rate."""
        strength, start = self.rate or (0.0, 0.0)
        return Learner(float(eta), strength, start, self.penalty.l2, self.penalty.l1, bool(self.averaged), log)

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> Weights:
        """Return zero weights."""
        zeros: Callable[..., Array] = np.zeros
        if order == "F" and problems * features * np.dtype(dtype).itemsize > CACHED_BYTES:
            from rosenblatt.training.starts import zeros
        return Weights(
            W=zeros((problems, features), dtype, order),
            b=np.zeros(problems, dtype),
            t=np.zeros(problems, np.int64),
            scale=np.ones(problems),
            owed=np.zeros(problems),
            paid=np.zeros((problems, features if self.truncated else 0), order=order),
            scale_sum=np.zeros(problems),
            lag=zeros((problems, features if self.averaged else 0), float, order),
            lag_b=np.zeros(problems),
            skipped=np.zeros(problems, np.int64),
        )

    def begin_epoch(self, epoch: int, problems: Any, state: Weights) -> None:
        """Begin a late average anew where the number of the epoch is a power of two."""
        if self.averaged and self.late and epoch & (epoch - 1) == 0 and epoch > 1:
            from rosenblatt.training.averaging import begin_anew

            begin_anew(state, problems)

    def run_epoch(self, shown: EpochArgs, state: Weights, into: Weights) -> int:
        """Run the first-order loop, or its joint form."""
        self._run_epoch(shown, state, into, self._learner(shown.eta))
        return shown.size

    def _run_epoch(self, shown: EpochArgs, state: Weights, into: Weights, learner: Learner) -> None:
        rows, task = shown.rows, shown.task
        if order_of(state.W) == "F" and not isinstance(rows, Dense) and not self.truncated:
            from rosenblatt.training.classes import run_many_classes  # which imports Numba

            run_many_classes(self.rule, learner, shown, state, into)
        elif shown.joint:
            run_joint(self.rule, learner, rows, task, shown.order, state, into, shown.counts)
        else:
            target = None if into is state else into
            loop = run_dense if isinstance(rows, Dense) else run_csr
            loop(self.rule, learner, rows, task, shown.order, shown.active, state, target, shown.counts)

    def row_learner(self, trial: RowTask, state: Weights, row: Row) -> LearnRow:
        """Return a function that runs one trial in a single compiled call; a plain rule needs fewer arguments."""
        from rosenblatt.training.single_row import bind, bind_row_loop

        task = trial.task
        if trial.joint or self.penalised or self.rate is not None:
            loop, steps = learn_joint_row if trial.joint else learn_row, tuple(self._learner(trial.eta)[:-1])
            return bind_row_loop(loop, (self.rule, steps), trial, state[:-1], row)  # no loop reads what is skipped
        average = (state.scale_sum, state.lag, state.lag_b) if self.averaged else (None, None, None)
        fixed = (self.rule, float(trial.eta), bool(trial.safe), trial.known, task.sign, task.cost, task.bias)
        return bind(learn_plain_row, (*fixed, *state[:4], *average), 0, *row)

    def row_scorer(self, known: int, state: Weights, row: Row) -> ScoreRow | None:
        """Return a function of a row that derives the weights that it touches."""
        if not self.derived or self.truncated:
            return super().row_scorer(known, state, row)
        from rosenblatt.training.single_row import bind

        W, b, t, scale, _, _, scale_sum, lag, lag_b, skipped = state
        own = (None, t, scale_sum, lag, lag_b, skipped) if self.averaged else (scale, *5 * (None,))
        return bind(score_row, (known, W, b, *own), *row)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has."""
        return "Weights", self.averaged, self.truncated

    def merge(self, states: Sequence[Weights], share: Array) -> Weights:
        """Return the mean of the weights, and the average over the trials of all states."""
        from rosenblatt.training.averaging import merge

        return merge(self, [self._folded(state) for state in states], share)

    def _folded(self, state: Weights) -> Weights:
        """Return the state with the scales multiplied in."""
        if not self.penalised:
            return state
        ones = np.ones_like(state.scale)
        W = (state.W * state.scale[:, None]).astype(state.W.dtype, copy=False)
        return state._replace(W=W, scale_sum=state.scale_sum / state.scale, scale=ones)

    def hyperplanes(self, state: Weights) -> Hyperplanes:
        """Apply what a penalty still asks for, and take the average if there is one."""
        if self.truncated:
            # A copy: weights pay when they are next used, wherever a stream was cut into chunks.
            state = copy_state(state)
            settle(state)
        elif self.penalised and not self.averaged:  # of an average, scale_sum W - lag has the scales in it
            state = self._folded(state)
        if not self.averaged:
            return as_hyperplanes(state.W, state.b)
        from rosenblatt.training.averaging import average

        return average(state)

    def settle(self, state: Weights) -> None:
        """Count assigned weights as those of one trial, so that the average has something to be one of."""
        if self.averaged:
            state.t[:], state.scale_sum[:] = 1, 1.0

    def rate_scale(self, eta: float) -> float:
        """Return the rate where it only scales the weights."""
        return eta if self.rule.of.unit and not self.penalised else 1.0

    def penalty_of(self, state: Weights) -> Array | None:
        """Return the penalty of many weights, which take long to derive."""
        if not self.derived or self.truncated or state.W.nbytes <= CACHED_BYTES:
            return None
        from rosenblatt.training.averaging import squared_lengths

        squares = squared_lengths(state)
        return None if squares is None else 0.5 * self.penalty.l2 * squares

    def penalty_value(self, planes: Hyperplanes) -> Array | float:
        """Return the value of the elastic net."""
        value: Array | float = 0.0
        if self.penalty.l2:
            value = value + 0.5 * self.penalty.l2 * np.einsum("pj,pj->p", planes.W, planes.W, dtype=float)
        if self.penalty.l1:
            value = value + self.penalty.l1 * np.abs(planes.W).sum(axis=1)
        return value

    def grow(self, state: Weights, change: Array) -> Weights:
        """Return the state of more problems, with the scales multiplied in."""
        grown: Weights = super().grow(self._folded(state), change)
        return grown
