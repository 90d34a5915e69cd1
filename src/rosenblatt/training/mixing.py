"""Iterative parameter mixing (McDonald, Hall and Mann 2010): the mathematics of a round, whatever runs it.

In a round each shard learns from its rows, or from the next share of them, beginning with the weights that all have.
What it has learned is a `Part`: sums, which are added up along a fixed binary tree over the numbers of the shards. The
mean of the changes, or of an average more than that (see `mix`), moves the weights that begin the next round. Nothing
depends on which process did what, or when: not on the number of threads, workers or machines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table, part_of, with_dtype
from rosenblatt.engine.epoch import Weights, settle
from rosenblatt.engine.rows import Hyperplanes, Task
from rosenblatt.engine.scores import weigh_errors
from rosenblatt.errors import InvalidInput
from rosenblatt.training.algorithm import Algorithm, EpochArgs, copy_state, never, new_counts, order_of
from rosenblatt.training.decisions import weigh_pairs
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import by_pairs, is_joint, make_task
from rosenblatt.training.order import Order
from rosenblatt.training.shards import DatasetStats, Late, Shard, ShardBlock, rows_between

Array = npt.NDArray[Any]
Merged = TypeVar("Merged")

MIXINGS = ("uniform", "mistakes")
# Entries of rows that are presented, or measured, between two looks at the clock.
ENTRIES_PER_LOOK = 1 << 23
# Most mixes of an epoch, unless more are asked for; and rows of a shard between two of them, for each weight that all
# shards together send.
MOST_MIXES, ROWS_PER_WEIGHT = 4, 1 / 8
# Rows of a shard for each feature from which on an average mixes once: more often made it no better, and some worse.
NARROW_ROWS = 256


def check_mixing(algorithm: Algorithm, mixing: str = "uniform") -> None:
    """Raise an error if the weights of several shards have no mean that is known to be of use."""
    if mixing not in MIXINGS:
        raise InvalidInput(f"mixing={mixing!r} is not known. Choose one of {', '.join(map(repr, MIXINGS))}.")
    if not isinstance(algorithm, FirstOrder) or not algorithm.linear:
        raise InvalidInput(
            f"Mixing the states of {type(algorithm).__name__} has no meaning that is known. Train it on one machine "
            "without shards."
        )


def extrapolates(algorithm: Algorithm) -> bool:
    """Return whether to mix goes further than the mean: see `mix`."""
    return isinstance(algorithm, FirstOrder) and algorithm.averaged and algorithm.finite


def mixes_for(algorithm: Algorithm, stats: DatasetStats, asked: int | str = "auto") -> int:
    """Return how often the shards mix in an epoch: as often as asked, or as pays. Where they are does not matter.

    Last weights lose nothing if they are mixed once, nor does an average if rows are many and narrow. One of wide rows
    does; the more rows a shard has for each weight that is sent, the less a mix costs beside them. Rows in several
    portions may be parsed anew for each.
    """
    if not isinstance(asked, str):  # a round without rows would change nothing
        return max(1, min(int(asked), max(size for _, size in stats.sizes)))
    if not extrapolates(algorithm) or stats.in_portions:
        return 1
    shards = len(stats.numbers)
    if stats.n_rows >= NARROW_ROWS * shards * stats.features:
        return 1
    pays = stats.n_rows / (shards**2 * max(stats.features, 1) * ROWS_PER_WEIGHT)
    return max(1, min(MOST_MIXES, int(pays)))


def shard_seed(seed: int, *numbers: int) -> int:
    """Return the seed of a round, a shard and a portion of it: the same wherever, and whenever, it is computed."""
    words = np.random.SeedSequence(seed, spawn_key=numbers).generate_state(1, np.uint64)
    return int(words[0] >> np.uint64(1))


# ---------------------------------------------------------------------------------------------------- the merge tree


def merge_tree(parts: Iterable[Merged], merge: Callable[[Merged, Merged], Merged]) -> Merged:
    """Merge neighbours by twos, level by level, in memory for a logarithm of their number.

    Parameters
    ----------
    parts : iterable
        In the order of their shards, at least one.
    merge : callable
        Of two neighbours.

    Returns
    -------
    What is left. It depends on the order and the number of the parts only.
    """
    levels: list[tuple[int, Merged]] = []  # (how many parts, merged); as the digits of a binary counter
    for part in parts:
        size, carried = 1, part
        while levels and levels[-1][0] == size:
            before, earlier = levels.pop()
            size, carried = size + before, merge(earlier, carried)
        levels.append((size, carried))
    if not levels:
        raise InvalidInput("There are no rows to learn from: no shard has any. Pass data with at least one row.")
    found = levels.pop()[1]
    while levels:
        found = merge(levels.pop()[1], found)
    return found


# -------------------------------------------------------------------------------------------------------------- rounds


@dataclass(frozen=True)
class ShardSpec:
    """What the rows of every shard teach, and how; the same in each round.

    Attributes
    ----------
    method : Method
    classes : array
        The labels of all shards, sorted.
    sign : array
        The table sign[class, problem].
    class_cost : array
        Factor of the steps for each class.
    multiclass : {"ovr", "ovo", "ovo-vote", "joint"}
    bias : float
        Square of the constant that pads each row; 0 for no bias.
    dtype : numpy.dtype
        Of the values.
    order : {"shuffled", "cyclic", "random"}
    seed : int
    mixing : {"uniform", "mistakes"}
        Whether all shards count the same, or each by its updates, which are the mistakes of the perceptron.
    mixes : int
        Rounds of an epoch.
    sizes : tuple of (int, int)
        Number and rows of each shard.
    """

    algorithm: Algorithm
    classes: Array
    sign: Array
    class_cost: Array
    multiclass: str = "ovr"
    bias: float = 1.0
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float64))
    order: str = "shuffled"
    seed: int = 0
    mixing: str = "uniform"
    mixes: int = 1
    sizes: tuple[tuple[int, int], ...] = ()

    @property
    def joint(self) -> bool:
        """Whether all classes are learned at once."""
        return is_joint(self.sign, self.multiclass)

    def share(self, shard: Shard, part: int) -> tuple[int, int]:
        """Return which rows of a shard a round presents: from which to which, in the order of the epoch."""
        rows = dict(self.sizes).get(shard.number, sys.maxsize)
        return rows * part // self.mixes, rows * (part + 1) // self.mixes

    def task(self, portion: ShardBlock) -> Task:
        """Return what each row of a portion teaches; a label that is not known is -1."""
        place = np.minimum(np.searchsorted(self.classes, portion.classes), self.classes.size - 1)
        known = np.where(self.classes[place] == portion.classes, place, -1).astype(np.int32)
        same = np.array_equal(known, np.arange(known.size))
        label = portion.label if same else known[portion.label]
        return make_task(
            label, self.sign, self.multiclass, class_cost=self.class_cost, weight=portion.weight, bias=self.bias
        )


def _rows_for(spec: ShardSpec, portion: ShardBlock, features: int) -> tuple[Table, Task]:
    """Return the rows of a portion and what they teach.

    An engine may read them again in each round, and nobody promises that they are the same: loops check no index.
    """
    if portion.table.shape[1] != features:
        raise InvalidInput(
            f"Rows have {portion.table.shape[1]} features, and had {features} when they were first read. Train on data "
            "that does not change meanwhile."
        )
    return with_dtype(portion.table, spec.dtype), spec.task(portion)


class Round(NamedTuple):
    """What every shard begins a round with.

    Attributes
    ----------
    epoch : int
        From 1.
    part : int
        Which share of an epoch's rows it presents, from 0.
    W, b : array
        The weights and biases of all problems, penalties applied.
    t : int array
        Trials of a shard so far, on average, for rates that change by trial.
    active : int array
        The problems that learn.
    rate : float
    """

    epoch: int
    part: int
    W: Array
    b: Array
    t: Array
    active: Array
    rate: float


class Part(NamedTuple):
    """What some shards have learned in a round: sums, so that to merge is to add.

    Attributes
    ----------
    change, change_b : float64 array
        Changes of the weights and biases, each times the share of its shard.
    total, total_b : float64 array
        Weights summed over the trials of the round, for averages; else empty.
    trials : int array
        Of each problem.
    share : array
        How much the shards count, for each part of the run.
    lengths : array
        Squared lengths of their changes, each times the share of its shard; those of biases as the rows are padded.
    mistakes, updates, loss : array
        Counts of the round, as in `Counts`.
    step : array
        Sums of steps, each times the share of its shard.
    rows : int
        Rows presented.
    complete : bool
        Whether every row was.
    """

    change: Array
    change_b: Array
    total: Array
    total_b: Array
    trials: Array
    share: Array
    lengths: Array
    mistakes: Array
    updates: Array
    loss: Array
    step: Array
    rows: int
    complete: bool

    def merge(self, other: Part) -> Part:
        """Return what the shards of both have learned."""
        pairs: Any = zip(self[:-1], other[:-1], strict=True)
        return Part._make([*(mine + theirs for mine, theirs in pairs), self.complete and other.complete])


def merge(first: Any, second: Any) -> Any:
    """Merge neighbours: what `merge_tree`, and the engines, call."""
    return first.merge(second)


@dataclass(frozen=True)
class Learn:
    """One round on one shard."""

    spec: ShardSpec
    round: Round

    def __call__(self, shard: Shard, late: Late = never) -> Part:
        """Return what a shard has learned from its rows; of a part of them, where it is late."""
        spec, given = self.spec, self.round
        state, counts = _start(spec.algorithm, given), new_counts(1 if spec.joint else given.b.size)
        first, last = spec.share(shard, given.part)
        rows, complete, before = 0, True, 0
        for number, portion in enumerate(shard.portions):
            span = range(max(first - before, 0), min(last - before, portion.size))
            before += portion.size
            if span and complete:
                if shard.drawn[0] != (seed := (spec.seed, given.epoch, shard.number, number)):
                    order = Order(spec.order, portion.label, portion.rows, shard_seed(*seed), portion.by_blocks)
                    shard.drawn = seed, order.draw()
                learned = self._run_epoch(portion, span, shard.drawn[1], state, counts, late)
                rows, complete = rows + learned, learned == len(span)
            if before >= last or not complete:  # what is not read need not be parsed
                break
        return _report(spec, given, state, counts, rows, complete)

    def _run_epoch(
        self, portion: ShardBlock, span: range, order: Array, state: Weights, counts: Any, late: Late
    ) -> int:
        """Present a part of a portion's order once; return how many rows were presented before it was late."""
        spec, given = self.spec, self.round
        table, task = _rows_for(spec, portion, given.W.shape[1])
        if task.label.min() < 0:
            raise InvalidInput(
                "A label appeared after the first reading. Train on data that does not change meanwhile."
            )
        cost = spec.algorithm.trial_cost(max(1, table.entries // table.shape[0]), *given.W.shape[::-1])
        size, first = max(1, ENTRIES_PER_LOOK // cost), span.start
        while first < span.stop and not (first > span.start and late()):
            last = min(first + size, span.stop)
            rows, taught, piece = table.rows, task, order[first:last]
            if not order.size:  # as they are stored: a loop over neighbours is faster than one over their numbers
                rows, taught = rows_between(table, first, last).rows, _between(task, first, last)
            shown = EpochArgs(rows, taught, piece, portion.rows, given.active, given.rate, counts, spec.joint)
            spec.algorithm.run_epoch(shown, state, state)
            first = last
        return first - span.start


def _between(task: Task, first: int, last: int) -> Task:
    """Return what some neighbouring rows teach."""
    return task._replace(label=task.label[first:last], sample_weight=task.sample_weight[first:last])


def _start(algorithm: Algorithm, given: Round) -> Weights:
    """Return the state of a shard at the start of a round: sums over the trials begin at zero."""
    problems, features = given.W.shape
    state: Weights = algorithm.start(problems, features, given.W.dtype, order_of(given.W))
    state.W[:], state.b[:], state.t[:] = given.W, given.b, given.t
    if state.lag.shape[1]:
        state.lag_b[:] = given.t * given.b.astype(float)
    return state


def _report(spec: ShardSpec, given: Round, state: Weights, counts: Any, rows: int, complete: bool) -> Part:
    trials = state.t - given.t
    state = folded(spec.algorithm, state)
    share = np.ones(counts.updates.size)
    if spec.mixing == "mistakes":  # where weights shrink between updates, a shard without any counts as well
        share = np.maximum(counts.updates, 0 if spec.algorithm.converges_when_clean else 1).astype(float)
    each = share if share.size == given.b.size else np.repeat(share, given.b.size)
    change, change_b = np.subtract(state.W, given.W, dtype=float), state.b.astype(float) - given.b
    squares = _squared_length(spec, change, change_b)
    if spec.mixing == "mistakes":
        change *= each[:, None]
    total, total_b = np.zeros(state.lag.shape, order=order_of(state.W)), np.zeros(state.b.size)
    if state.lag.shape[1]:
        total = state.scale_sum[:, None] * state.W
        total -= state.lag
        total_b = state.t * state.b.astype(float) - state.lag_b
    return Part(
        change,
        each * change_b,
        total,
        total_b,
        trials,
        share,
        share * squares,
        *(counts.mistakes, counts.updates, counts.loss),
        share * counts.step,
        rows,
        complete,
    )


def folded(algorithm: Algorithm, state: Weights) -> Weights:
    """Return a state whose weights are what they stand for, penalties applied; sums over the trials stay what they are.

    What L1 still asks for is paid, and weights owe nothing.
    """
    assert isinstance(algorithm, FirstOrder)
    if algorithm.truncated:
        state = copy_state(state)
        settle(state)
        state.owed[:], state.paid[:] = 0.0, 0.0
        return state
    return algorithm._folded(state)


def _squared_length(spec: ShardSpec, W: Array, b: Array) -> Array:
    """Return the squared length of the weights of each part of a run, the bias as the weight of a constant."""
    squares: Array = (W * W).sum(axis=1) + (b * b / spec.bias if spec.bias else 0.0)
    return squares.sum(keepdims=True) if spec.joint else squares


def mix(state: Weights, part: Part, spec: ShardSpec) -> Array:
    """Move the weights of a state by what the shards have changed, in place, and add their sums and trials.

    Last weights move by the mean of the changes d_i, as McDonald, Hall and Mann do it. The proof of their bound allows
    for c times that mean, if c |mean d|^2 <= mean |d_i|^2: then the squared length grows by c R^2 for a mistake, and
    the gain along a separator of margin g by c g. The largest such c is what Pierra (1984) extrapolates parallel
    projections by. It is 1 where all shards learned the same, and their number where what they learned is orthogonal,
    so that the sum does no harm; more is never taken. Last weights would swing more. Averages do not, and arrive
    sooner.

    Returns
    -------
    array
        The factor c of each part of the run.
    """
    share = np.where(part.share > 0, part.share, 1.0)
    factor = np.ones(share.size)
    if extrapolates(spec.algorithm):
        squares = _squared_length(spec, part.change, part.change_b)
        furthest = part.lengths * share / np.where(squares > 0, squares, np.inf)
        factor = np.clip(furthest, 1.0, max(1, len(spec.sizes)))
    share = share / factor if share.size == state.b.size else np.repeat(share / factor, state.b.size)
    averaged = bool(state.lag.shape[1])
    if averaged:  # the sum over all trials, scale_sum W - lag, from here on
        total = state.scale_sum[:, None] * state.W
        total -= state.lag
        total += part.total
        total_b = state.t * state.b.astype(float) - state.lag_b + part.total_b
    state.W[:] += part.change / share[:, None]
    state.b[:] += part.change_b / share
    state.t[:] += part.trials
    if averaged:
        state.scale_sum[:] = state.t
        np.multiply(state.scale_sum[:, None], state.W, out=state.lag)
        state.lag[:] -= total
        state.lag_b[:] = state.t * state.b.astype(float) - total_b
    return factor


# ------------------------------------------------------------------------------------------------------------- errors


class Errors(NamedTuple):
    """Weight of the rows that are wrong, and of all rows; those of shards add up."""

    wrong: float
    total: float
    complete: bool = True

    def merge(self, other: Self) -> Self:
        """Return the errors on the rows of both."""
        return type(self)(self.wrong + other.wrong, self.total + other.total, self.complete and other.complete)


@dataclass(frozen=True)
class Measure:
    """The error of some weights on one shard."""

    spec: ShardSpec
    planes: Hyperplanes

    def __call__(self, shard: Shard, late: Late = never) -> Errors:
        """Return what is wrong of the rows that are trained on."""
        found = Errors(0.0, 0.0)
        for portion in shard.portions:
            found = found.merge(self._errors(portion, late))
        return found

    def _errors(self, portion: ShardBlock, late: Late) -> Errors:
        spec, found = self.spec, Errors(0.0, 0.0)
        table, task = _rows_for(spec, portion, self.planes.W.shape[1])
        size = max(1, ENTRIES_PER_LOOK // (self.planes.b.size * max(1, table.entries // table.shape[0])))
        for first in range(0, portion.size, size):
            if late():
                return found._replace(complete=False)
            block = part_of(portion.rows, first, size, portion.size)
            if by_pairs(spec.multiclass) and self.planes.b.size > 1:
                wrong, total = weigh_pairs(table, task, block, self.planes, spec.multiclass)
            else:
                wrong, total = weigh_errors(table.rows, task, block, self.planes)
            found = found.merge(Errors(float(wrong), float(total)))
        return found
