"""First-order rules: the weights move along the row. The perceptron and most of its family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.epoch import LEAST_SCALE, NO_LOG, Learner, UpdateLog, Weights, run_csr, run_dense, settle
from rosenblatt.engine.joint import run_joint
from rosenblatt.engine.rows import Dense, Hyperplanes
from rosenblatt.engine.single import learn_plain_row, learn_row, score_row
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.algorithm import (
    FEW_WEIGHTS,
    Algorithm,
    EpochArgs,
    LearnRow,
    Order,
    Row,
    RowTask,
    ScoreRow,
    bind,
    bind_row_loop,
    copy_state,
    order_of,
)

Array = npt.NDArray[Any]

# Bytes of weights, or of lag, that the caches of most machines hold; and of a cache line.
CACHED_BYTES = 1 << 22
LINE_BYTES = 64

stored("Weights")(Weights)


class HarmonicRate(NamedTuple):
    """Learning rate 1 / (strength (start + t)) in trial t. Shalev-Shwartz et al. (2007) with start 0."""

    strength: float
    start: float


@dataclass
class FirstOrder(Algorithm):
    """A rule that moves the weights along the row, optionally with a penalty, its own rate, an average."""

    rule: Any  # parameters of a rule, see `rosenblatt.engine.rules`
    l1: float = 0.0  # each trial truncates the weights by this, times the learning rate
    l2: float = 0.0  # and shrinks them by this
    rate: HarmonicRate | None = None  # None: the learning rate of the plan
    averaged: bool = False  # whether the model is the average of the weights over the trials
    late: bool = False  # whether the average restarts in epochs 2, 4, 8, ...

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

    def __post_init__(self) -> None:
        """Derive the facts of an algorithm from the rule, the penalty and the average."""
        rule = self.rule.of
        self.penalised = self.l1 > 0.0 or self.l2 > 0.0  # whether the weights shrink
        self.truncated = self.l1 > 0.0  # whether they are truncated as well, so that many become zero
        self.by_feature = not self.truncated  # weights are truncated one by one
        self.finite_updates = self.is_sum_of_rows = rule.finite and not self.penalised
        self.converges_when_clean = not self.penalised
        self.derives_weights = self.averaged or self.penalised
        self.zero_loss, self.remedy = rule.zero_loss, rule.remedy
        if self.averaged:
            self.predictor = "the average"

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has."""
        return "Weights", self.averaged, self.truncated

    # ------------------------------------------------------------------------------------------------------ the state

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> Weights:
        """Return zero weights."""
        large = order == "F" and problems * features * np.dtype(dtype).itemsize > CACHED_BYTES
        zeros: Any = _aligned_zeros if large else np.zeros
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

    def check_arrays(self, state: Weights, *, finite: bool = False) -> None:
        """Raise a `Fault` unless the loops can read the arrays of a state, with an average and a truncation or none."""
        super().check_arrays(state, finite=finite)
        arrays = (state.lag.shape == state.W.shape, state.paid.shape == state.W.shape)
        fits = state.W.shape[1] == 0 or arrays == (self.averaged, self.truncated)
        expect(fits, "the state is one of other parameters. Fit again")

    def check_state(self, state: Weights) -> None:
        """Raise a `Fault` unless a state from a file is sound."""
        super().check_state(state)
        expect(np.all(state.scale > 0), "the state has scales that are not positive")
        expect(np.all((state.skipped >= 0) & (state.skipped <= state.t)), "the state skips trials that were not made")

    def grow(self, state: Weights, change: Array) -> Weights:
        """Return the state of more problems, with the scales multiplied in."""
        grown: Weights = super().grow(self._folded(state), change)
        return grown

    def settle(self, state: Weights) -> None:
        """Count assigned weights as those of one trial, which the average is then taken over."""
        if self.averaged:
            state.t[:], state.scale_sum[:] = 1, 1.0

    def _folded(self, state: Weights) -> Weights:
        """Return the state with the scales multiplied in."""
        if not self.penalised:
            return state
        # As `rosenblatt.engine.epoch.fold` does, which works in place.
        W = (state.W * state.scale[:, None]).astype(state.W.dtype, copy=False)
        lag = state.lag - state.scale_sum[:, None] * state.W if self.averaged else state.lag
        return state._replace(W=W, scale=np.ones_like(state.scale), scale_sum=np.zeros_like(state.scale_sum), lag=lag)

    def merge(self, states: Sequence[Weights], share: Array) -> Weights:
        """Return the mean of the weights, and the average over the trials of all states."""
        folded = [self._folded(state) for state in states]
        problems, features = folded[0].W.shape
        merged = self.start(problems, features, folded[0].W.dtype, order_of(folded[0].W))
        merged.W[:] = sum(s * state.W.astype(float) for s, state in zip(share, folded, strict=True))
        merged.b[:] = sum(s * state.b.astype(float) for s, state in zip(share, folded, strict=True))
        merged.owed[:] = sum(s * state.owed for s, state in zip(share, folded, strict=True))
        merged.paid[:] = sum(s * state.paid for s, state in zip(share, folded, strict=True))
        for state in folded:
            merged.t[:] += state.t
            merged.skipped[:] += state.skipped
            merged.scale_sum[:] += state.scale_sum
        if self.averaged:
            # scale_sum W - lag must remain the sum of the weights over the trials of all averages.
            total = sum(state.scale_sum[:, None] * state.W - state.lag for state in folded)
            total_b = sum(state.t * state.b.astype(float) - state.lag_b for state in folded)
            merged.lag[:] = merged.scale_sum[:, None] * merged.W - total
            merged.lag_b[:] = merged.t * merged.b.astype(float) - total_b
        return merged

    # --------------------------------------------------------------------------------------------------------- epochs

    def rate_scale(self, eta: float) -> float:
        """Return the rate if it only scales the weights."""
        return eta if self.rule.of.unit and not self.penalised else 1.0

    def begin_epoch(self, epoch: int, problems: Any, state: Weights) -> None:
        """Restart a late average in epochs that are powers of two."""
        if self.averaged and self.late and epoch & (epoch - 1) == 0 and epoch > 1:
            restart_average(state, problems)

    def run_epoch(self, args: EpochArgs, state: Weights, target: Weights) -> int:
        """Run the first-order loop, or its joint form."""
        self._run_epoch(args, state, target, self._learner(args.eta))
        return args.size

    def _learner(self, eta: float, log: UpdateLog = NO_LOG) -> Learner:
        """Return everything but the rule that moves the weights, at a learning rate."""
        strength, start = self.rate or (0.0, 0.0)
        return Learner(float(eta), strength, start, self.l2, self.l1, bool(self.averaged), log)

    def _run_epoch(self, args: EpochArgs, state: Weights, target: Weights, learner: Learner) -> None:
        rows, task = args.rows, args.task
        if order_of(state.W) == "F" and not isinstance(rows, Dense) and not self.truncated:
            _run_classes(self.rule, learner, args, state, target)
        elif args.joint:
            run_joint(self.rule, learner, rows, task, args.order, state, target, args.counts)
        else:
            loop = run_dense if isinstance(rows, Dense) else run_csr
            batch = None if target is state else target
            loop(self.rule, learner, rows, task, args.order, args.active, state, batch, args.counts)

    # ---------------------------------------------------------------------------------------------------- single rows

    def row_learner(self, trial: RowTask, state: Weights, row: Row) -> LearnRow:
        """Return a function that runs one trial in a single compiled call; a plain rule needs fewer arguments."""
        task = trial.task
        if trial.joint or self.penalised or self.rate is not None:
            steps, active = tuple(self._learner(trial.eta)[:-1]), None if trial.joint else np.arange(state.b.size)
            return bind_row_loop(learn_row, (self.rule, steps, active), trial, state[:-1], row)  # without `skipped`
        average = (state.scale_sum, state.lag, state.lag_b) if self.averaged else (None, None, None)
        fixed = (self.rule, float(trial.eta), bool(trial.safe), trial.known, task.sign, task.cost, task.bias)
        return bind(learn_plain_row, (*fixed, *state[:4], *average), 0, *row)

    def row_scorer(self, known: int, state: Weights, row: Row) -> ScoreRow | None:
        """Return a function of a row that derives the weights of the row's features."""
        if not self.derives_weights or self.truncated:
            return super().row_scorer(known, state, row)
        W, b, t, scale, _, _, scale_sum, lag, lag_b, skipped = state
        own = (None, t, scale_sum, lag, lag_b, skipped) if self.averaged else (scale, *5 * (None,))
        return bind(score_row, (known, W, b, *own), *row)

    # -------------------------------------------------------------------------------------------------------- weights

    def hyperplanes(self, state: Weights) -> Hyperplanes:
        """Apply the rest of a penalty, and take the average if there is one."""
        if self.truncated:
            # A copy: truncation is applied when a weight is next used, wherever a stream was cut into chunks.
            state = copy_state(state)
            settle(state)
        elif self.penalised and not self.averaged:  # an average, scale_sum W - lag, includes the scales
            state = self._folded(state)
        return average(state) if self.averaged else Hyperplanes(state.W, state.b)

    def penalty_of(self, state: Weights) -> Array | None:
        """Return the penalty of many weights, which take long to derive."""
        if not self.derives_weights or self.truncated or state.W.nbytes <= CACHED_BYTES:
            return None
        squares = squared_lengths(state)
        return None if squares is None else 0.5 * self.l2 * squares

    def penalty_value(self, planes: Hyperplanes) -> Array | float:
        """Return the value of the elastic net."""
        value: Array | float = 0.0
        if self.l2:
            value = value + 0.5 * self.l2 * np.einsum("pj,pj->p", planes.W, planes.W, dtype=float)
        if self.l1:
            value = value + self.l1 * np.abs(planes.W).sum(axis=1)
        return value


def _aligned_zeros(shape: tuple[int, int], dtype: npt.DTypeLike, order: Order) -> Array:
    """Return a matrix of zeros aligned to a cache line: vectors that cross two lines take longer to read."""
    kind = np.dtype(dtype)
    room = np.zeros(shape[0] * shape[1] * kind.itemsize + LINE_BYTES, np.uint8)
    first = -room.ctypes.data % LINE_BYTES
    return room[first : room.size - LINE_BYTES + first].view(kind).reshape(shape, order=order)


# ---------------------------------------------------------------------------- the average, (scale_sum W - lag) / trials


def average(state: Weights) -> Hyperplanes:
    """Return the average of the weights and biases."""
    trials = np.maximum(state.t - state.skipped, 1)
    if state.W.size > FEW_WEIGHTS and order_of(state.W) == order_of(state.lag) == "F":
        from rosenblatt.engine.classes import average_all  # imports Numba

        W = np.empty(state.W.shape, state.W.dtype, "F")
        average_all(state.W.T, state.scale_sum, state.lag.T, trials, W.T)
    else:
        W = state.scale_sum[:, None] * state.W
        W -= state.lag  # in place: there may be more weights than fit into memory twice
        W /= trials[:, None]
    b = (state.t * state.b.astype(float) - state.lag_b) / trials
    return Hyperplanes(W.astype(state.W.dtype, copy=False), b.astype(state.b.dtype))


def squared_lengths(state: Weights) -> Array | None:
    """Return the sum of squares of each problem's weights, or of their average, without writing the weights.

    None if they are not in Fortran order, or if something could overflow.
    """
    averaged = state.lag.shape[1] > 0
    if order_of(state.W) != "F" or (averaged and order_of(state.lag) != "F"):
        return None
    from rosenblatt.engine.classes import sum_squares  # imports Numba

    squares, limit = np.zeros(state.b.size), np.finfo(state.W.dtype).max
    trials = np.maximum(state.t - state.skipped, 1.0) if averaged else 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        sum_squares(state.W.T, state.scale_sum if averaged else state.scale, state.lag.T, squares)
        squares = squares / trials / trials
        largest = np.sqrt(squares) + state.t * np.abs(state.b.astype(float)) + np.abs(state.lag_b)
        return squares if (largest < limit).all() else None


def restart_average(state: Weights, problems: Any) -> None:
    """Restart the averages of some problems from the current weights, which count as those of one trial.

    An average that restarts in epochs 2, 4, 8, ... is taken over at least the later half of a run. With rates that fall
    like 1/t it is closer to the optimum than the average over all trials, whose first weights are far from the last
    (Rakhlin, Shamir and Sridharan 2012, Making gradient descent optimal for strongly convex stochastic optimization).
    """
    if isinstance(problems, list) and len(problems) == state.b.size:
        problems = slice(None)  # several times as fast
    state.skipped[problems] = np.maximum(state.t[problems] - 1, 0)
    state.scale_sum[problems] = state.scale[problems]
    state.lag[problems] = 0.0
    state.lag_b[problems] = state.skipped[problems] * state.b[problems].astype(float)


# ------------------------------------------------------------------------------------ sparse rows of several classes


def _run_classes(rule: Any, learner: Learner, args: EpochArgs, state: Weights, target: Weights) -> None:
    """Present sparse rows to weights in Fortran order, all problems of a row at once."""
    from rosenblatt.engine.classes import run_classes, run_joint_classes  # imports Numba

    rows, task, counts = args.rows, args.task, args.counts
    if args.joint:
        run_joint_classes(rule, learner, rows, task, args.order, state, target, counts)
        return
    batch = None if target is state else target
    products, steps = np.empty(state.b.size, state.b.dtype), np.zeros((2, state.b.size))
    run_classes(rule, learner, rows, task, args.order, args.active, state, batch, counts, products, steps)


def may_fold(learner: Learner, state: Weights, trials: int) -> bool:
    """Return whether some scale may become so small within so many trials that it is multiplied into all weights."""
    # A harmonic rate is largest in the first trial.
    rate = 1.0 / (learner.strength * (learner.start + state.t + 1)) if learner.strength else learner.rate
    shrunk = np.maximum(0.0, 1.0 - rate * learner.l2) ** trials
    return bool((state.scale * shrunk <= 2 * LEAST_SCALE).any())  # twice, as the loop rounds
