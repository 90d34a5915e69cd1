"""The learning methods: which loop runs, on which state, and what weights the state stands for.

A state is a NamedTuple of arrays with a row for each problem, so that problems can be copied, shared among threads
and grown, whatever the method keeps of them. The first three are always W, b and t: weights, biases, trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled import epochs
from rosenblatt.compiled.epochs import (
    Average,
    BalancedWinnowRule,
    ConstantRate,
    Counts,
    ElasticNet,
    Exponents,
    GaussianWeights,
    HarmonicRate,
    Hyperplanes,
    Learner,
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
from rosenblatt.errors import InvalidInput
from rosenblatt.storage.checks import check_layout, check_record, expect
from rosenblatt.storage.values import stored

Array = npt.NDArray[Any]
Penalty = NoPenalty | Ridge | ElasticNet

NO_PENALTY = NoPenalty()
# Covariance matrices larger than that are refused.
MAX_COVARIANCE_BYTES = 1 << 32

stored("Weights", renamed={"weight": "scale_sum"})(Weights)
stored("Gaussian")(GaussianWeights)
stored("Exponents")(Exponents)
stored("Pocket")(Pocket)


class Pass(NamedTuple):
    """One presentation of rows: everything a loop needs beside the state."""

    rows: Any
    task: Task
    order: Array  # the rows to present, in their order; empty: all as they are stored
    subset: Array  # all rows of the task that are trained on; empty: every one
    active: Array  # the problems that learn
    eta: float
    counts: Counts
    joint: bool


class RowTask(NamedTuple):
    """What the next row of a stream teaches, whatever its class."""

    task: Task  # without a label
    eta: float
    joint: bool
    known: int  # problems whose mistakes count; those of the reserve class come after them


def as_hyperplanes(W: Array, b: Array) -> Hyperplanes:
    """Return weights and biases as the loops take them."""
    return Hyperplanes(W, b, np.ones(b.size))


def new_counts(parts: int) -> Counts:
    """Return counts of zero."""
    return Counts(*np.zeros((2, parts), np.int64), *np.zeros((2, parts)))


def copy_state(source: Any, target: Any = None, part: slice = slice(None)) -> Any:
    """Copy the rows of `part` of every array of a state, into `target` or into new arrays."""
    if target is None:
        return type(source)(*(array[part].copy() for array in source))
    for old, new in zip(source, target, strict=True):
        new[part] = old[part]
    return target


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
    # Class of the state, and its arrays: the type, then the shapes that are possible, for p problems and d features,
    # e = d + 1. See `rosenblatt.storage.checks.check_layout`.
    state_class: ClassVar[type]
    layout: ClassVar[Mapping[str, str]]

    # Arrays of the state that change their sign when positive and negative examples change places.
    signed: ClassVar[frozenset[str]] = frozenset({"W", "b"})

    def start(self, problems: int, features: int, dtype: npt.DTypeLike) -> Any:
        """Return the state before the first trial."""
        raise NotImplementedError

    def check_state(self, state: Any) -> None:
        """Raise a `Fault` unless the arrays of a state from a file are those that the loops may read."""
        check_record("the state", state, self.state_class)
        shaped = state.W.ndim == 2 and state.b.ndim == 1
        expect(shaped, f"the state has weights of shape {state.W.shape} and biases of shape {state.b.shape}. Fit again")
        problems, features = state.W.shape
        check_layout(state, self.layout, {"p": problems, "d": features, "e": features + 1})
        expect(np.all(state.t >= 0), "the state has seen fewer than no trials")

    def present(self, shown: Pass, state: Any, into: Any) -> None:
        """Present rows; read from `state`, write `into` (the same unless updates are batched)."""
        raise NotImplementedError

    def learn_row(self, rows: Any, c: int, trial: RowTask, state: Any) -> int:
        """Present the only row of `rows`, of class c, to all problems.

        Returns
        -------
        int
            The mistakes of the known problems; -1 if the row is not finite, and then nothing was learned; -2 if the
            weights overflowed.
        """
        if not epochs.is_finite_row(rows):
            return -1
        problems, every = state.b.size, np.empty(0, np.int32)
        counts, task = new_counts(1 if trial.joint else problems), trial.task._replace(label=np.array([c], np.int32))
        shown = Pass(rows, task, every, every, np.arange(problems), trial.eta, counts, trial.joint)
        self.present(shown, state, state)
        finite = epochs.touched_finite(rows, state.W, state.b)
        return int(counts.mistakes[: trial.known].sum()) if finite else -2

    def hyperplanes(self, state: Any) -> Hyperplanes:
        """Return the weights that the state stands for."""
        return as_hyperplanes(state.W, state.b)

    def rate_scale(self, eta: float) -> float:
        """Return the rate that the weights are in units of, so that a constant rate need not disturb exact sums."""
        return 1.0

    def penalty_value(self, planes: Hyperplanes) -> Array | float:
        """Return the penalty of each problem's weights."""
        return 0.0

    def grow(self, state: Any, change: Array) -> Any:
        """Return the state of more problems, each an old one, an old one with its sign changed, or a new one."""
        source = np.abs(change).argmax(axis=1)
        fresh = ~change.any(axis=1)
        sign = change[np.arange(change.shape[0]), source]
        grown = copy_state(self.start(change.shape[0], state.W.shape[1], state.W.dtype))
        for name, old, new in zip(state._fields, state, grown, strict=True):
            factor = sign if name in self.signed else np.ones_like(sign)
            taken = old[source] * factor.reshape(-1, *[1] * (old.ndim - 1)).astype(old.dtype)
            new[~fresh] = taken[~fresh]
        return grown

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has: a state can be continued by methods of the same kind."""
        return (type(self).__name__,)

    def merge(self, states: Sequence[Any], share: Array) -> Any:
        """Return a state that stands for several, each with its share."""
        raise InvalidInput(
            f"Mixing the states of {type(self).__name__} has no meaning that is known. Train one stream."
        )

    def widen(self, state: Any, features: int) -> Any:
        """Return the state of more features, the new ones as they are before the first trial."""
        wider = copy_state(self.start(state.b.size, features, state.W.dtype))
        for old, new in zip(state, wider, strict=True):
            new[tuple(slice(size) for size in old.shape)] = old
        return wider

    def rescale(self, state: Any, factor: float) -> None:
        """Multiply the weights by a factor, in place, as where they come to be in units of another rate."""
        for name in self.signed:
            array = getattr(state, name)
            array *= array.dtype.type(factor)


@dataclass
class FirstOrder(Method):
    """A rule that moves the weights along the row; with a penalty, a rate of its own, an average.

    Attributes
    ----------
    rule : NamedTuple
        One of the rules of `compiled.epochs`.
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
    }

    def check_state(self, state: Weights) -> None:
        """Raise a `Fault` unless a state from a file is sound."""
        super().check_state(state)
        expect(np.all(state.scale > 0), "the state has scales that are not positive")
        averaged, truncated = state.lag.shape == state.W.shape, state.paid.shape == state.W.shape
        wanted = (self.averaged, isinstance(self.penalty, ElasticNet))
        empty = state.W.shape[1] == 0
        expect(empty or (averaged, truncated) == wanted, "the state is one of other parameters. Fit again")

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
        """Return zero weights."""
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
        """Run the first-order loop, or its joint form."""
        self._present(shown, state, into, Average() if self.averaged else NoAverage())

    def _present(self, shown: Pass, state: Weights, into: Weights, averaging: Any) -> None:
        rate = ConstantRate(shown.eta) if self.rate is None else self.rate
        learner = Learner(self.rule, self.penalty, rate, averaging)
        if shown.joint:
            epochs.run_joint_epoch(learner, shown.rows, shown.task, shown.order, state, into, shown.counts)
        else:
            epochs.run_epoch(learner, shown.rows, shown.task, shown.order, shown.active, state, into, shown.counts)

    def learn_row(self, rows: Any, c: int, trial: RowTask, state: Weights) -> int:
        """Run one trial of the first-order loop, in a single compiled call."""
        rate = ConstantRate(trial.eta) if self.rate is None else self.rate
        learner = Learner(self.rule, self.penalty, rate, Average() if self.averaged else NoAverage())
        learn = epochs.learn_joint_row if trial.joint else epochs.learn_row
        return int(learn(learner, trial.known, rows, c, *trial.task[1:4], trial.task.bias, *state))

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has."""
        return "Weights", self.averaged, isinstance(self.penalty, ElasticNet)

    def merge(self, states: Sequence[Weights], share: Array) -> Weights:
        """Return the mean of the weights, and the average over the trials of all states."""
        folded = [self._folded(state) for state in states]
        W = sum(s * state.W.astype(float) for s, state in zip(share, folded, strict=True))
        b = sum(s * state.b.astype(float) for s, state in zip(share, folded, strict=True))
        problems, features = folded[0].W.shape
        merged = self.start(problems, features, folded[0].W.dtype)
        merged.W[:], merged.b[:] = W, b
        for state in folded:
            merged.t[:] += state.t
            merged.scale_sum[:] += state.scale_sum
        merged.owed[:] = sum(s * state.owed for s, state in zip(share, folded, strict=True))
        merged.paid[:] = sum(s * state.paid for s, state in zip(share, folded, strict=True))
        if self.averaged:
            # scale_sum W - lag must remain the sum of the weights over all trials.
            total = sum(state.scale_sum[:, None] * state.W - state.lag for state in folded)
            total_b = sum(state.t * state.b.astype(float) - state.lag_b for state in folded)
            merged.lag[:] = merged.scale_sum[:, None] * merged.W - total
            merged.lag_b[:] = merged.t * merged.b.astype(float) - total_b
        return merged

    def _folded(self, state: Weights) -> Weights:
        """Return the state with the scales multiplied in."""
        if not self.penalised:
            return state
        ones = np.ones_like(state.scale)
        W, scale_sum = state.W * state.scale[:, None].astype(state.W.dtype), state.scale_sum / state.scale
        return state._replace(W=W, scale_sum=scale_sum, scale=ones)

    def hyperplanes(self, state: Weights) -> Hyperplanes:
        """Apply what a penalty still asks for, and take the average if there is one."""
        if self.penalised:
            # A copy: weights pay when they are next used, wherever a stream was cut into chunks.
            state = copy_state(state)
            epochs.settle(state)
        if not self.averaged:
            return as_hyperplanes(state.W, state.b)
        trials = np.maximum(state.t, 1)
        W = (state.scale_sum[:, None] * state.W - state.lag) / trials[:, None]
        b = (state.t * state.b.astype(float) - state.lag_b) / trials
        return as_hyperplanes(W.astype(state.W.dtype), b.astype(state.b.dtype))

    def rate_scale(self, eta: float) -> float:
        """Return the rate where it only scales the weights."""
        return eta if self.finite else 1.0

    def penalty_value(self, planes: Hyperplanes) -> Array | float:
        """Return the value of the elastic net."""
        value: Array | float = 0.0
        if not isinstance(self.penalty, NoPenalty):
            value = value + 0.5 * self.penalty.l2 * (planes.W * planes.W).sum(axis=1)
        if isinstance(self.penalty, ElasticNet):
            value = value + self.penalty.l1 * np.abs(planes.W).sum(axis=1)
        return value

    def grow(self, state: Weights, change: Array) -> Weights:
        """Return the state of more problems, with the scales multiplied in."""
        grown: Weights = super().grow(self._folded(state), change)
        return grown


@dataclass
class Voted(FirstOrder):
    """The perceptron with every update written down, in the order of the trials.

    Attributes
    ----------
    log : list of tuples of arrays
        Rows, problems, factors and trials of the updates, one entry per pass.
    """

    log: list[tuple[Array, ...]] = field(default_factory=list, compare=False)

    def learn_row(self, rows: Any, c: int, trial: RowTask, state: Weights) -> int:
        """Run one trial, and keep its updates."""
        return Method.learn_row(self, rows, c, trial, state)

    def present(self, shown: Pass, state: Weights, into: Weights) -> None:
        """Run the first-order loop and keep its updates."""
        capacity = (shown.order.size or shown.task.label.size) * (2 if shown.joint else shown.active.size)
        updates = UpdateLog(
            row=np.empty(capacity, np.int32),
            problem=np.empty(capacity, np.int32),
            factor=np.empty(capacity),
            trial=np.empty(capacity, np.int64),
            size=np.zeros(1, np.int64),
        )
        self._present(shown, state, into, updates)
        self.log.append(tuple(column[: updates.size[0]].copy() for column in updates[:-1]))


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

    state_class: ClassVar[type] = GaussianWeights
    layout: ClassVar[Mapping[str, str]] = {"W": "f pd", "b": "f p", "t": "l p", "V": "d pd pee", "v": "d p"}

    def check_state(self, state: GaussianWeights) -> None:
        """Raise a `Fault` unless a state from a file is sound."""
        super().check_state(state)
        expect((state.V.ndim == 3) == self.full, "the state has a covariance of another kind. Fit again")

    def start(self, problems: int, features: int, dtype: npt.DTypeLike) -> GaussianWeights:
        """Return zero weights with unit variance."""
        size = 8 * problems * (features + 1) ** 2
        if self.full and size > MAX_COVARIANCE_BYTES:
            raise InvalidInput(
                f"covariance='full' needs {size / 2**30:.0f} GiB for {features} features and {problems} problems. Use "
                "covariance='diagonal'."
            )
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
        """Run the covariance loop, or its joint form."""
        arguments = (self.noise, shown.rows, shown.task, shown.order)
        if shown.joint:
            epochs.run_joint_gaussian_epoch(*arguments, state, shown.counts)
        else:
            epochs.run_gaussian_epoch(*arguments, shown.active, state, shown.counts)

    def learn_row(self, rows: Any, c: int, trial: RowTask, state: GaussianWeights) -> int:
        """Run one trial of the covariance loop, in a single compiled call."""
        learn = epochs.learn_joint_gaussian_row if trial.joint else epochs.learn_gaussian_row
        return int(learn(self.noise, trial.known, rows, c, *trial.task[1:4], trial.task.bias, *state))

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

    signed: ClassVar[frozenset[str]] = frozenset({"W", "b", "theta", "theta_b"})
    state_class: ClassVar[type] = Exponents
    layout: ClassVar[Mapping[str, str]] = {
        "W": "f pd",
        "b": "f p",
        "t": "l p",
        "theta": "d? pd",
        "theta_b": "d p",
    }

    def start(self, problems: int, features: int, dtype: npt.DTypeLike) -> Exponents:
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

    def present(self, shown: Pass, state: Exponents, into: Exponents) -> None:
        """Run the multiplicative loop."""
        epochs.run_multiplicative_epoch(
            self.rule, shown.rows, shown.task, shown.order, shown.active, state, shown.counts
        )

    def learn_row(self, rows: Any, c: int, trial: RowTask, state: Exponents) -> int:
        """Run one trial of the multiplicative loop, in a single compiled call."""
        learn = epochs.learn_multiplicative_row
        return int(learn(self.rule, trial.known, rows, c, *trial.task[1:4], trial.task.bias, *state))

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has, and what the exponents mean."""
        return "Exponents", self.rule, self.threshold


class PocketMethod(Method):
    """The pocket algorithm with ratchet."""

    finite = additive = True
    signed: ClassVar[frozenset[str]] = frozenset({"W", "b", "best_w", "best_b"})
    state_class: ClassVar[type] = Pocket
    layout: ClassVar[Mapping[str, str]] = {
        "W": "f pd",
        "b": "f p",
        "t": "l p",
        "best_w": "f pd",
        "best_b": "f p",
        "run": "l p",
        "best_run": "l p",
        "errors": "d? p",
    }

    def start(self, problems: int, features: int, dtype: npt.DTypeLike) -> Pocket:
        """Return zero weights, and an empty pocket."""
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
        """Run the pocket loop, and look at the weights that the pass ended with."""
        epochs.run_pocket_epoch(shown.rows, shown.task, shown.order, shown.subset, shown.active, state, shown.counts)
        for p in shown.active:
            if not shown.counts.updates[p]:
                state.run[p] = max(state.run[p], state.best_run[p] + 1)  # no error at all: whatever ran longer
            epochs.consider(shown.rows, shown.task, shown.subset, p, state)

    def hyperplanes(self, state: Pocket) -> Hyperplanes:
        """Return what is in the pocket."""
        return as_hyperplanes(state.best_w, state.best_b)


def start_state(method: Method, problems: int, features: int, dtype: Any, init: Any, rate_scale: float) -> Any:
    """Return a state with the initial weights (w0, b0), or with those of the method where `init` is None."""
    state = method.start(problems, features, dtype)
    if init is not None:
        W0, b0 = check_start(init, problems, features)
        state.W[:], state.b[:] = W0 / rate_scale, b0 / rate_scale
    return state


def check_start(init: Any, n_problems: int, n_features: int) -> tuple[Array, Array]:
    """Return an initial (w0, b0) as arrays for every problem, or raise an error that names its fault."""
    wanted = (n_problems, n_features)
    try:
        w0, b0 = (np.asarray(part, dtype=np.float64) for part in init)
        if w0.shape not in (wanted, wanted[1:]):
            raise ValueError(f"w0 has shape {w0.shape}")
        W0, b0 = np.broadcast_to(w0, wanted), np.broadcast_to(b0, wanted[:1])
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"init is not a pair (w0, b0) with w0 of shape {wanted} and b0 of shape {wanted[:1]}: {error}."
        ) from None
    if not (np.isfinite(W0).all() and np.isfinite(b0).all()):
        raise InvalidInput("init has values that are not finite. Start from finite weights.")
    return W0, b0
