"""Iterative parameter mixing (McDonald, Hall and Mann 2010): the mathematics of a round, whatever runs it.

In a round each shard learns from its rows, or from the next share of them, starting from the common weights. The
result is a `ShardUpdate`: sums, which are added up along a fixed binary tree over the numbers of the shards. The
weights of the next round move by the mean of the changes, or by more for an average (see `mix`). The result does not
depend on the number of threads, workers or machines, nor on their timing.
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
from rosenblatt.errors import InvalidInput
from rosenblatt.training.algorithm import Algorithm, EpochArgs, copy_state, never, new_counts, order_of
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import is_joint, make_task, weigh_rows
from rosenblatt.training.plan import Order
from rosenblatt.training.shards import DatasetStats, Late, Shard, ShardBlock, rows_between

Array = npt.NDArray[Any]
Merged = TypeVar("Merged")

MIXINGS = ("uniform", "mistakes")
# Entries of rows between two checks of the clock.
ENTRIES_PER_CHECK = 1 << 23
# Maximum of mixes in an epoch with mixes="auto"; and rows of a shard between two of them, for each weight that all
# shards together send.
MAX_MIXES, ROWS_PER_WEIGHT = 4, 1 / 8
# With so many rows per shard and feature an average mixes once: mixing more often made it no better, and some worse.
NARROW_ROWS = 256


def check_mixing(algorithm: Algorithm, mixing: str = "uniform") -> None:
    """Raise an error unless the algorithm's states have a useful mean."""
    if mixing not in MIXINGS:
        raise InvalidInput(f"mixing={mixing!r} is not known. Choose one of {', '.join(map(repr, MIXINGS))}.")
    if not isinstance(algorithm, FirstOrder) or not algorithm.linear:
        raise InvalidInput(
            f"No meaningful mean of states of {type(algorithm).__name__} is known. Train it on one machine without "
            "shards."
        )


def extrapolates(algorithm: Algorithm) -> bool:
    """Return whether mixing goes further than the mean: see `mix`."""
    return isinstance(algorithm, FirstOrder) and algorithm.averaged and algorithm.finite_updates


def mixes_for(algorithm: Algorithm, stats: DatasetStats, asked: int | str = "auto") -> int:
    """Return how often the shards mix in an epoch: `asked`, or with "auto" as often as is worthwhile.

    Last weights lose nothing if they are mixed once, nor does an average of many narrow rows. An average of wide rows
    does: the more rows a shard has for each weight that is sent, the lower is the relative cost of a mix. Rows in
    several blocks may be parsed again for each mix.
    """
    if not isinstance(asked, str):  # a round without rows would change nothing
        return max(1, min(int(asked), max(size for _, size in stats.sizes)))
    if not extrapolates(algorithm) or stats.in_several_blocks:
        return 1
    shards = len(stats.numbers)
    if stats.n_rows >= NARROW_ROWS * shards * stats.features:
        return 1
    pays = stats.n_rows / (shards**2 * max(stats.features, 1) * ROWS_PER_WEIGHT)
    return max(1, min(MAX_MIXES, int(pays)))


def shard_seed(seed: int, *numbers: int) -> int:
    """Return the seed of an epoch, a shard and one of its blocks."""
    words = np.random.SeedSequence(seed, spawn_key=numbers).generate_state(1, np.uint64)
    return int(words[0] >> np.uint64(1))


# ---------------------------------------------------------------------------------------------------- the merge tree


def merge_tree(parts: Iterable[Merged], merge: Callable[[Merged, Merged], Merged]) -> Merged:
    """Merge neighbours by twos, level by level, in memory for a logarithm of their number.

    The result depends only on the number of the parts and on their order, which is that of the shards.
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
    merged = levels.pop()[1]
    while levels:
        merged = merge(levels.pop()[1], merged)
    return merged


# -------------------------------------------------------------------------------------------------------------- rounds


@dataclass(frozen=True)
class ShardSpec:
    """How every shard learns, in all rounds."""

    algorithm: Algorithm
    classes: Array  # the labels of all shards, sorted
    sign: Array  # the coding matrix sign[class, problem]
    class_cost: Array  # factor of the steps for each class
    multiclass: str = "ovr"  # one of "ovr", "ovo", "ovo-vote", "joint"
    bias: float = 1.0  # square of the constant that pads each row; 0 for no bias
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float64))  # of the values
    order: str = "shuffled"  # one of "shuffled", "cyclic", "random"
    seed: int = 0
    # "uniform": all shards have the same weight; "mistakes": each that of its updates, which are the mistakes of a
    # perceptron.
    mixing: str = "uniform"
    mixes: int = 1  # rounds of an epoch
    sizes: tuple[tuple[int, int], ...] = ()  # number and rows of each shard

    @property
    def joint(self) -> bool:
        """Whether all classes are learned at once."""
        return is_joint(self.sign, self.multiclass)

    def share(self, shard: Shard, part: int) -> tuple[int, int]:
        """Return the first and the last + 1 of the rows of a shard that a round presents, in the order of the epoch."""
        rows = dict(self.sizes).get(shard.number, sys.maxsize)
        return rows * part // self.mixes, rows * (part + 1) // self.mixes

    def task(self, block: ShardBlock) -> Task:
        """Return the task of a block; an unknown label is -1."""
        place = np.minimum(np.searchsorted(self.classes, block.classes), self.classes.size - 1)
        known = np.where(self.classes[place] == block.classes, place, -1).astype(np.int32)
        same = np.array_equal(known, np.arange(known.size))
        label = block.label if same else known[block.label]
        return make_task(
            label, self.sign, self.multiclass, class_cost=self.class_cost, weight=block.weight, bias=self.bias
        )


def _rows_for(spec: ShardSpec, block: ShardBlock, features: int) -> tuple[Table, Task]:
    """Return the rows of a block and their task.

    They may be read again in each round, and may have changed meanwhile: the loops check no index.
    """
    if block.table.shape[1] != features:
        raise InvalidInput(
            f"Rows have {block.table.shape[1]} features, and had {features} when they were first read. Train on data "
            "that does not change meanwhile."
        )
    return with_dtype(block.table, spec.dtype), spec.task(block)


class Round(NamedTuple):
    """The start of a round, the same for every shard."""

    epoch: int  # from 1
    part: int  # number of the round within the epoch, from 0
    W: Array  # the weights and biases of all problems, penalties applied
    b: Array
    t: Array  # mean trials of a shard so far, for rates that change by trial
    active: Array  # the problems that learn
    rate: float


class ShardUpdate(NamedTuple):
    """The sums of what some shards learned in a round; merging adds them."""

    change: Array  # changes of the weights and biases, each times the share of its shard
    change_b: Array
    total: Array  # weights summed over the trials of the round, for averages; else empty
    total_b: Array
    trials: Array  # of each problem
    share: Array  # sum of the shards' weights, for each part of the run
    # Squared lengths of their changes, each times the share of its shard; those of biases as the rows are padded.
    lengths: Array
    mistakes: Array  # counts of the round, as in `Counts`
    updates: Array
    loss: Array
    step: Array  # sums of steps, each times the share of its shard
    rows: int  # rows presented
    complete: bool  # whether all rows were presented

    def merge(self, other: ShardUpdate) -> ShardUpdate:
        """Return the update of the shards of both."""
        pairs: Any = zip(self[:-1], other[:-1], strict=True)
        return ShardUpdate._make([*(mine + theirs for mine, theirs in pairs), self.complete and other.complete])


def merge(first: Any, second: Any) -> Any:
    """Merge neighbours in the tree."""
    return first.merge(second)


def train_shard(spec: ShardSpec, start: Round, shard: Shard, late: Late = never) -> ShardUpdate:
    """Return what a shard has learned from its rows in a round, or from some of them if it is late."""
    state, counts = _start(spec.algorithm, start), new_counts(1 if spec.joint else start.b.size)
    first, last = spec.share(shard, start.part)
    rows, complete, before = 0, True, 0
    for number, block in enumerate(shard.blocks):
        span = range(max(first - before, 0), min(last - before, block.size))
        before += block.size
        if span and complete:
            if shard.drawn[0] != (seed := (spec.seed, start.epoch, shard.number, number)):
                order = Order(spec.order, block.label, block.rows, shard_seed(*seed), block.by_blocks)
                shard.drawn = seed, order.draw()
            learned = _train_block(spec, start, block, span, shard.drawn[1], state, counts, late)
            rows, complete = rows + learned, learned == len(span)
        if before >= last or not complete:  # the remaining blocks need not be parsed
            break
    return _update(spec, start, state, counts, rows, complete)


def _train_block(
    spec: ShardSpec,
    start: Round,
    block: ShardBlock,
    span: range,
    order: Array,
    state: Weights,
    counts: Any,
    late: Late,
) -> int:
    """Present a part of a block's order once; return how many rows were presented before it was late."""
    table, task = _rows_for(spec, block, start.W.shape[1])
    if task.label.min() < 0:
        raise InvalidInput("A label appeared after the first reading. Train on data that does not change meanwhile.")
    cost = spec.algorithm.trial_cost(max(1, table.entries // table.shape[0]), *start.W.shape[::-1])
    size, first = max(1, ENTRIES_PER_CHECK // cost), span.start
    while first < span.stop and not (first > span.start and late()):
        last = min(first + size, span.stop)
        rows, part, piece = table.rows, task, order[first:last]
        if not order.size:  # as they are stored: a loop over neighbours is faster than one over their numbers
            rows, part = rows_between(table, first, last).rows, _between(task, first, last)
        args = EpochArgs(rows, part, piece, block.rows, start.active, start.rate, counts, spec.joint)
        spec.algorithm.run_epoch(args, state, state)
        first = last
    return first - span.start


def _between(task: Task, first: int, last: int) -> Task:
    """Return the task of neighbouring rows."""
    return task._replace(label=task.label[first:last], sample_weight=task.sample_weight[first:last])


def _start(algorithm: Algorithm, start: Round) -> Weights:
    """Return the state of a shard at the start of a round: sums over the trials begin at zero."""
    problems, features = start.W.shape
    state: Weights = algorithm.start(problems, features, start.W.dtype, order_of(start.W))
    state.W[:], state.b[:], state.t[:] = start.W, start.b, start.t
    if state.lag.shape[1]:
        state.lag_b[:] = start.t * start.b.astype(float)
    return state


def _update(spec: ShardSpec, start: Round, state: Weights, counts: Any, rows: int, complete: bool) -> ShardUpdate:
    trials = state.t - start.t
    state = folded(spec.algorithm, state)
    share = np.ones(counts.updates.size)
    if spec.mixing == "mistakes":  # if weights shrink between updates, a shard without any counts, too
        share = np.maximum(counts.updates, 0 if spec.algorithm.converges_when_clean else 1).astype(float)
    each = share if share.size == start.b.size else np.repeat(share, start.b.size)
    change, change_b = np.subtract(state.W, start.W, dtype=float), state.b.astype(float) - start.b
    squares = _squared_length(spec, change, change_b)
    if spec.mixing == "mistakes":
        change *= each[:, None]
    total, total_b = np.zeros(state.lag.shape, order=order_of(state.W)), np.zeros(state.b.size)
    if state.lag.shape[1]:
        total = state.scale_sum[:, None] * state.W
        total -= state.lag
        total_b = state.t * state.b.astype(float) - state.lag_b
    return ShardUpdate(
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
    """Return a state with all penalties applied to its weights; its sums over the trials are unchanged."""
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


def mix(state: Weights, part: ShardUpdate, spec: ShardSpec) -> Array:
    """Move the weights of a state by what the shards have changed, in place, and add their sums and trials.

    Last weights move by the mean of the changes d_i (McDonald, Hall and Mann). The proof of their bound also holds for
    c times that mean, if c |mean d|^2 <= mean |d_i|^2: then the squared length grows by c R^2 for a mistake, and the
    gain along a separator of margin g by c g. The largest such c is the factor by which Pierra (1984) extrapolates
    parallel projections. It is 1 if all shards learned the same, and the number of shards if their changes are
    orthogonal: then the sum does no harm. It is never larger. Last weights would oscillate more. Averages do not, and
    converge sooner.

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


class ShardErrors(NamedTuple):
    """Weight of the rows that are wrong, and of all rows; those of shards add up."""

    wrong: float
    total: float
    complete: bool = True

    def merge(self, other: Self) -> Self:
        """Return the errors on the rows of both."""
        return type(self)(self.wrong + other.wrong, self.total + other.total, self.complete and other.complete)


def measure_shard(spec: ShardSpec, planes: Hyperplanes, shard: Shard, late: Late = never) -> ShardErrors:
    """Return the errors of some weights on the rows of a shard that are trained on."""
    errors = ShardErrors(0.0, 0.0)
    for block in shard.blocks:
        errors = errors.merge(_measure_block(spec, planes, block, late))
    return errors


def _measure_block(spec: ShardSpec, planes: Hyperplanes, block: ShardBlock, late: Late) -> ShardErrors:
    errors = ShardErrors(0.0, 0.0)
    table, task = _rows_for(spec, block, planes.W.shape[1])
    size = max(1, ENTRIES_PER_CHECK // (planes.b.size * max(1, table.entries // table.shape[0])))
    for first in range(0, block.size, size):
        if late():
            return errors._replace(complete=False)
        rows = part_of(block.rows, first, size, block.size)
        errors = errors.merge(ShardErrors(*weigh_rows(table, task, rows, planes, spec.multiclass)))
    return errors
