"""The learning methods: which kernel runs, on which state, and what model the state stands for.

A state is a NamedTuple of arrays with a row for each problem, so that problems can be copied, shared among threads
and grown, whatever the method keeps of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled import epochs as kernels
from rosenblatt.compiled.epochs import (
    Average,
    BalancedWinnowRule,
    ConstantRate,
    Counts,
    ElasticNet,
    Exponents,
    GaussianWeights,
    HarmonicRate,
    Model,
    NoAverage,
    NoPenalty,
    PerceptronRule,
    Pocket,
    Ridge,
    Task,
    UpdateLog,
    Weights,
    WinnowRule,
)
from rosenblatt.learn.model import as_model, copy_state

Array = npt.NDArray[Any]
Penalty = NoPenalty | Ridge | ElasticNet

NO_PENALTY = NoPenalty()

# What changes its sign when positive and negative examples change places.
_SIGNED = frozenset({"W", "b", "lag", "lag_b", "paid", "theta", "theta_b", "best_w", "best_b"})


class Pass(NamedTuple):
    """One presentation of rows: everything a kernel needs beside the state."""

    rows: Any
    task: Task
    order: Array
    trained: Array  # all rows of the task that are trained on; empty: every one
    active: Array
    eta: float
    counts: Counts
    joint: bool


class Method:
    """What training needs to know of a way to learn.

    Attributes
    ----------
    finite : bool
        Whether separable data ends the updates after finitely many, so that it is worth waiting.
    rests : bool
        Whether an epoch without an update leaves everything as it was, so that more of them would too.
    additive : bool
        Whether the weights are their start plus a sum of steps times signed rows, so that the steps bound the margin.
    """

    finite: ClassVar[bool] = False
    rests: ClassVar[bool] = True
    additive: ClassVar[bool] = False

    def start(self, problems: int, features: int, dtype: npt.DTypeLike) -> Any:
        """Give the state before the first trial."""
        raise NotImplementedError

    def present(self, shown: Pass, state: Any, into: Any) -> None:
        """Present rows; read from `state`, write `into` (the same unless updates are batched)."""
        raise NotImplementedError

    def model(self, state: Any) -> Model:
        """Give the weights that the state stands for."""
        return as_model(state.W, state.b)

    def unit(self, eta: float) -> float:
        """Rate that the weights are in units of, so that a constant rate need not disturb exact sums."""
        return 1.0

    def penalty_value(self, model: Model) -> Array | float:
        """Give the penalty of each problem's weights."""
        return 0.0

    def grow(self, state: Any, change: Array) -> Any:
        """Give the state of more problems, each an old one, an old one with its sign changed, or a new one."""
        source = np.abs(change).argmax(axis=1)
        fresh = ~change.any(axis=1)
        sign = change[np.arange(change.shape[0]), source]
        grown = copy_state(self.start(change.shape[0], state.W.shape[1], state.W.dtype))
        for name, old, new in zip(state._fields, state, grown, strict=True):
            factor = sign if name in _SIGNED else np.ones_like(sign)
            taken = old[source] * factor.reshape(-1, *[1] * (old.ndim - 1)).astype(old.dtype)
            new[~fresh] = taken[~fresh]
        return grown


@dataclass
class FirstOrder(Method):
    """A rule that moves the weights along the row; with a penalty, a rate of its own, an average.

    Attributes
    ----------
    rule : NamedTuple
        One of the rules of the kernels.
    penalty : NoPenalty, Ridge or ElasticNet
    rate : HarmonicRate or None
        None: the learning rate of the plan.
    averaged : bool
        Whether the model is the average of the weights over all trials.
    """

    rule: Any
    penalty: Penalty = NO_PENALTY
    rate: HarmonicRate | None = None
    averaged: bool = False

    @property
    def finite(self) -> bool:  # type: ignore[override]
        """Whether separable data ends the updates."""
        return isinstance(self.rule, PerceptronRule) and not self.penalised

    @property
    def rests(self) -> bool:  # type: ignore[override]
        """Whether nothing shrinks between updates."""
        return not self.penalised

    @property
    def additive(self) -> bool:  # type: ignore[override]
        """Whether the weights are a sum of rows."""
        return self.finite

    @property
    def penalised(self) -> bool:
        """Whether the weights shrink."""
        return not isinstance(self.penalty, NoPenalty)

    def start(self, problems: int, features: int, dtype: npt.DTypeLike) -> Weights:
        """Give zero weights."""
        truncated = isinstance(self.penalty, ElasticNet)
        return Weights(
            W=np.zeros((problems, features), dtype),
            b=np.zeros(problems, dtype),
            t=np.zeros(problems, np.int64),
            scale=np.ones(problems),
            owed=np.zeros(problems),
            paid=np.zeros((problems, features if truncated else 0)),
            scale_sum=np.zeros(problems),
            lag=np.zeros((problems, features if self.averaged else 0)),
            lag_b=np.zeros(problems),
        )

    def present(self, shown: Pass, state: Weights, into: Weights) -> None:
        """Run the first-order kernel, or its joint form."""
        self._present(shown, state, into, Average() if self.averaged else NoAverage())

    def _present(self, shown: Pass, state: Weights, into: Weights, averaging: Any) -> None:
        rate = ConstantRate(shown.eta) if self.rate is None else self.rate
        given = (self.rule, self.penalty, rate, averaging, shown.rows, shown.task, shown.order)
        if shown.joint:
            kernels.run_joint_epoch(*given, state, into, shown.counts)
        else:
            kernels.run_epoch(*given, shown.active, state, into, shown.counts)

    def model(self, state: Weights) -> Model:
        """Pay what a penalty still asks for, and take the average if there is one."""
        if self.penalised:
            # A copy: weights pay when they are next used, wherever a stream was cut into chunks.
            state = copy_state(state)
            kernels.settle(state)
        if not self.averaged:
            return as_model(state.W, state.b)
        trials = np.maximum(state.t, 1)
        W = (state.scale_sum[:, None] * state.W - state.lag) / trials[:, None]
        b = (state.t * state.b.astype(float) - state.lag_b) / trials
        return as_model(W.astype(state.W.dtype), b.astype(state.b.dtype))

    def unit(self, eta: float) -> float:
        """Rate that only scales the weights."""
        return eta if self.finite else 1.0

    def penalty_value(self, model: Model) -> Array | float:
        """Give the value of the elastic net."""
        value: Array | float = 0.0
        if not isinstance(self.penalty, NoPenalty):
            value = value + 0.5 * self.penalty.l2 * (model.W * model.W).sum(axis=1)
        if isinstance(self.penalty, ElasticNet):
            value = value + self.penalty.l1 * np.abs(model.W).sum(axis=1)
        return value

    def grow(self, state: Weights, change: Array) -> Weights:
        """Give the state of more problems, with the scales multiplied in."""
        if self.penalised:
            state = state._replace(
                W=state.W * state.scale[:, None],
                scale_sum=state.scale_sum / state.scale,
                scale=np.ones_like(state.scale),
            )
        grown: Weights = super().grow(state, change)
        return grown


@dataclass
class Voted(FirstOrder):
    """The perceptron with every update written down, in the order of the trials.

    Attributes
    ----------
    ballots : list of tuples of arrays
        Rows, problems, factors and trials of the updates, one entry per shown.
    """

    ballots: list[tuple[Array, ...]] = field(default_factory=list)

    def present(self, shown: Pass, state: Weights, into: Weights) -> None:
        """Run the first-order kernel and keep its ballot."""
        capacity = (shown.order.size or shown.task.label.size) * (2 if shown.joint else shown.active.size)
        ballot = UpdateLog(
            row=np.empty(capacity, np.int32),
            problem=np.empty(capacity, np.int32),
            factor=np.empty(capacity),
            trial=np.empty(capacity, np.int64),
            size=np.zeros(1, np.int64),
        )
        self._present(shown, state, into, ballot)
        self.ballots.append(tuple(column[: ballot.size[0]].copy() for column in ballot[:-1]))


@dataclass
class Arow(Method):
    """Adaptive regularisation of weights: a variance for each weight, or a full covariance.

    Attributes
    ----------
    noise : float
        r of the paper: the larger, the smaller the steps.
    full : bool
    """

    noise: float
    full: bool = False

    def start(self, problems: int, features: int, dtype: npt.DTypeLike) -> GaussianWeights:
        """Give zero weights with unit variance."""
        V = np.ones((problems, features))
        if self.full:
            V = np.broadcast_to(np.eye(features + 1), (problems, features + 1, features + 1)).copy()
        return GaussianWeights(
            W=np.zeros((problems, features), dtype),
            b=np.zeros(problems, dtype),
            t=np.zeros(problems, np.int64),
            V=V,
            v=np.ones(problems),
        )

    def present(self, shown: Pass, state: GaussianWeights, into: GaussianWeights) -> None:
        """Run the covariance kernel, or its joint form."""
        given = (self.noise, shown.rows, shown.task, shown.order)
        if shown.joint:
            kernels.run_joint_gaussian_epoch(*given, state, shown.counts)
        else:
            kernels.run_gaussian_epoch(*given, shown.active, state, shown.counts)


@dataclass
class Multiplicative(Method):
    """The Winnow family.

    Attributes
    ----------
    rule : WinnowRule or BalancedWinnowRule
    threshold : float
        What the weights are held against; not for the balanced rule.
    """

    rule: WinnowRule | BalancedWinnowRule
    threshold: float = 0.0

    def start(self, problems: int, features: int, dtype: npt.DTypeLike) -> Exponents:
        """Give exponents of zero."""
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

    def present(self, shown: Pass, state: Exponents, into: Exponents) -> None:
        """Run the multiplicative kernel."""
        kernels.run_multiplicative_epoch(
            self.rule, shown.rows, shown.task, shown.order, shown.active, state, shown.counts
        )


class PocketMethod(Method):
    """The pocket algorithm with ratchet."""

    finite = additive = True

    def start(self, problems: int, features: int, dtype: npt.DTypeLike) -> Pocket:
        """Give zero weights, and an empty pocket."""
        return Pocket(
            W=np.zeros((problems, features), dtype),
            b=np.zeros(problems, dtype),
            t=np.zeros(problems, np.int64),
            best_w=np.zeros((problems, features), dtype),
            best_b=np.zeros(problems, dtype),
            run=np.zeros(problems, np.int64),
            best_run=np.full(problems, -1),
            errors=np.full(problems, np.inf),
        )

    def present(self, shown: Pass, state: Pocket, into: Pocket) -> None:
        """Run the pocket kernel, and look at the weights that the epoch ended with."""
        kernels.run_pocket_epoch(shown.rows, shown.task, shown.order, shown.trained, shown.active, state, shown.counts)
        for p in shown.active:
            if not shown.counts.updates[p]:
                state.run[p] = max(state.run[p], state.best_run[p] + 1)  # no error at all: whatever ran longer
            kernels.consider(shown.rows, shown.task, shown.trained, p, state)

    def model(self, state: Pocket) -> Model:
        """Give what is in the pocket."""
        return as_model(state.best_w, state.best_b)
