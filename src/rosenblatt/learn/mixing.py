"""Iterative parameter mixing (McDonald, Hall and Mann 2010): the mathematics of a round, whatever runs it.

In a round each shard learns from its rows once, beginning with the weights that all share. What it has learned is a
`Part`: sums, which are added up along a fixed binary tree over the numbers of the shards. The mean of the weights
begins the next round. Nothing depends on which process did what, or when: not on the number of threads, workers or
machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.errors import weigh_errors
from rosenblatt.data.labels import as_labels, used_rows
from rosenblatt.data.survey import SURVEYED_ROWS, ColumnSizes, Survey, column_sizes, survey
from rosenblatt.data.table import ALL_ROWS, Table, part_of, row_numbers, with_dtype
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.decisions import decision, winners
from rosenblatt.learn.multiclass import by_pairs, is_joint, make_task
from rosenblatt.learn.order import Order, in_blocks
from rosenblatt.learn.reserve import check_kind
from rosenblatt.methods.first_order import FirstOrder
from rosenblatt.methods.method import Method, Pass, copy_state, never, new_counts, order_of
from rosenblatt.methods.scores import scores
from rosenblatt.methods.voted import Voted
from rosenblatt.verbs.learning import Weights
from rosenblatt.verbs.penalties import ElasticNet, settle
from rosenblatt.verbs.rows import Csr, Hyperplanes, Task

Array = npt.NDArray[Any]
Late = Callable[[], bool]
Merged = TypeVar("Merged")

MIXINGS = ("uniform", "mistakes")
# Entries of rows that are presented, or measured, between two looks at the clock.
ENTRIES_PER_LOOK = 1 << 23


def check_mixing(method: Method, mixing: str = "uniform") -> None:
    """Raise an error if the weights of several shards have no mean that is known to be of use."""
    if mixing not in MIXINGS:
        raise InvalidInput(f"mixing={mixing!r} is not known. Choose one of {', '.join(map(repr, MIXINGS))}.")
    if not isinstance(method, FirstOrder) or isinstance(method, Voted):
        raise InvalidInput(
            f"Mixing the states of {type(method).__name__} has no meaning that is known. Train it on one machine "
            "without shards."
        )


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


# ------------------------------------------------------------------------------------------------------------- shards


class Portion(NamedTuple):
    """Rows of a shard that are in memory together.

    Attributes
    ----------
    table : Table
    classes : array
        The labels of these rows, sorted.
    label : int32 array
        The number of each row's label among them.
    weight : array
        Sample weights; empty: all are one.
    rows : int array
        The rows to train on; empty: all.
    by_blocks : bool
        Whether neighbours stay together when they are shuffled: see `Order`.
    """

    table: Table
    classes: Array
    label: Array
    weight: Array
    rows: Array
    by_blocks: bool

    @property
    def size(self) -> int:
        """How many rows are trained on."""
        return int(self.rows.size or self.table.shape[0])


def make_portion(table: Table, y: Any, weight: Array) -> Portion | None:
    """Return rows and labels as a portion of a shard; None if no row has a weight above zero.

    Parameters
    ----------
    table : Table
    y : array-like of shape (n_rows,)
    weight : array of shape (n_rows,), or empty
    """
    if weight.size and not weight.any():
        return None
    classes, label = as_labels(y, table.shape[0])
    rows = used_rows(weight)
    return Portion(table, classes, label, weight, rows, in_blocks(label, rows))


@dataclass
class Shard:
    """Some of the rows, and the number that they are known by.

    Attributes
    ----------
    number : int
        From 0. It decides the order of merging and the random orders, never where or when the shard is worked on.
    portions : iterable of Portion
        Read anew in each round.
    names : tuple of str
        Names of the features, where they have any.
    """

    number: int
    portions: Iterable[Portion]
    names: tuple[str, ...] = ()


class Census(NamedTuple):
    """What must be known of the rows of all shards before the first round; the censuses of shards add up."""

    classes: Array
    counts: Array  # rows of each class, those without weight too
    sizes: tuple[tuple[int, int], ...]  # number of each shard, and its rows to train on
    names: tuple[str, ...]  # of the features
    features: int
    entries: int
    largest: float
    dtype: np.dtype[Any]
    sparse: bool
    squares: float  # of a look at some rows: the sum of their squared values, how many are not zero, how many rows
    values: float
    surveyed: int
    columns: ColumnSizes | None = None  # of the same look

    @property
    def n_rows(self) -> int:
        """Rows of all shards to train on."""
        return sum(size for _, size in self.sizes)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The shards that have rows."""
        return tuple(number for number, size in self.sizes if size)

    def survey(self) -> Survey:
        """Return how large the values are."""
        length = (self.squares / max(self.surveyed, 1)) ** 0.5
        return Survey(length, (self.squares / max(self.values, 1.0)) ** 0.5, 0, 0.0, 0.0, self.columns)

    def merge(self, other: Self) -> Self:
        """Return the census of the rows of both."""
        if not self.n_rows or not other.n_rows:
            full = self if self.n_rows else other
            return full._replace(sizes=self.sizes + other.sizes)
        if (self.features, self.names) != (other.features, other.names):
            raise InvalidInput(
                f"Some rows have {self.features} features, others {other.features}, or they have other names. Pass "
                "partitions of the same columns."
            )
        check_kind(self.classes, other.classes)
        classes = np.unique(np.concatenate([self.classes, other.classes]))
        counts = np.zeros(classes.size, np.int64)
        for part in (self, other):
            counts[np.searchsorted(classes, part.classes)] += part.counts
        return self._replace(
            classes=classes,
            counts=counts,
            sizes=self.sizes + other.sizes,
            entries=self.entries + other.entries,
            largest=max(self.largest, other.largest),
            dtype=np.result_type(self.dtype, other.dtype),
            sparse=self.sparse and other.sparse,
            squares=self.squares + other.squares,
            values=self.values + other.values,
            surveyed=self.surveyed + other.surveyed,
            columns=self.columns and other.columns and self.columns.merge(other.columns),
        )


def census_of(shard: Shard, late: Late = never) -> Census:
    """Return what must be known of the rows of a shard."""
    found = (_census_of(shard, portion) for portion in shard.portions)
    nothing = Census(ALL_ROWS, ALL_ROWS, ((shard.number, 0),), (), 0, 0, 0.0, np.dtype(float), True, 0.0, 0.0, 0)
    total: Census | None = None
    for census in found:
        total = census if total is None else total.merge(census)
    if total is None:
        return nothing
    return total._replace(sizes=((shard.number, total.n_rows),))


def _census_of(shard: Shard, portion: Portion) -> Census:
    table, sizes = portion.table, survey(portion.table, portion.rows)
    looked = len(range(0, portion.size, -(-portion.size // SURVEYED_ROWS)))
    squares = sizes.row_length**2 * looked
    return Census(
        classes=portion.classes,
        counts=np.bincount(portion.label, minlength=portion.classes.size),
        sizes=((shard.number, portion.size),),
        names=shard.names,
        features=table.shape[1],
        entries=table.entries,
        largest=table.largest,
        dtype=table.dtype,
        sparse=isinstance(table.rows, Csr),
        squares=squares,
        values=squares / sizes.value**2 if sizes.value else 0.0,
        surveyed=looked,
        columns=column_sizes(table, portion.rows, SURVEYED_ROWS),
    )


# -------------------------------------------------------------------------------------------------------------- rounds


@dataclass(frozen=True)
class Lesson:
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
    """

    method: Method
    classes: Array
    sign: Array
    class_cost: Array
    multiclass: str = "ovr"
    bias: float = 1.0
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float64))
    order: str = "shuffled"
    seed: int = 0
    mixing: str = "uniform"

    @property
    def joint(self) -> bool:
        """Whether all classes are learned at once."""
        return is_joint(self.sign, self.multiclass)

    def task(self, portion: Portion) -> Task:
        """Return what each row of a portion teaches; a label that is not known is -1."""
        place = np.minimum(np.searchsorted(self.classes, portion.classes), self.classes.size - 1)
        known = np.where(self.classes[place] == portion.classes, place, -1).astype(np.int32)
        same = np.array_equal(known, np.arange(known.size))
        label = portion.label if same else known[portion.label]
        return make_task(
            label, self.sign, self.multiclass, class_cost=self.class_cost, weight=portion.weight, bias=self.bias
        )


def _rows_for(lesson: Lesson, portion: Portion, features: int) -> tuple[Table, Task]:
    """Return the rows of a portion and what they teach.

    An engine may read them again in each round, and nobody promises that they are the same: loops check no index.
    """
    if portion.table.shape[1] != features:
        raise InvalidInput(
            f"Rows have {portion.table.shape[1]} features, and had {features} when they were first read. Train on data "
            "that does not change meanwhile."
        )
    return with_dtype(portion.table, lesson.dtype), lesson.task(portion)


class Round(NamedTuple):
    """What every shard begins a round with.

    Attributes
    ----------
    number : int
        From 1.
    W, b : array
        The weights and biases of all problems, penalties applied.
    t : int array
        Trials of a shard so far, on average, for rates that change by trial.
    active : int array
        The problems that learn.
    rate : float
    """

    number: int
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

    lesson: Lesson
    round: Round

    def __call__(self, shard: Shard, late: Late = never) -> Part:
        """Return what a shard has learned from its rows; of a part of them, where it is late."""
        lesson, given = self.lesson, self.round
        state, counts = _start(lesson.method, given), new_counts(1 if lesson.joint else given.b.size)
        rows, complete = 0, True
        for number, portion in enumerate(shard.portions):
            if complete:
                seed = shard_seed(lesson.seed, given.number, shard.number, number)
                learned = _present(self, portion, seed, state, counts, late)
                rows, complete = rows + learned, learned == portion.size
        return _report(lesson, given, state, counts, rows, complete)


def _present(work: Learn, portion: Portion, seed: int, state: Weights, counts: Any, late: Late) -> int:
    """Present the rows of a portion once; return how many were presented before it was late."""
    lesson, given = work.lesson, work.round
    table, task = _rows_for(lesson, portion, given.W.shape[1])
    if task.label.min() < 0:
        raise InvalidInput("A label appeared after the first reading. Train on data that does not change meanwhile.")
    order = Order(lesson.order, task.label, portion.rows, seed, portion.by_blocks).draw()
    cost = lesson.method.trial_cost(max(1, table.entries // table.shape[0]), *given.W.shape[::-1])
    size, first = max(1, ENTRIES_PER_LOOK // cost), 0
    while first < portion.size and not (first and late()):
        piece = part_of(order, first, size, portion.size)
        shown = Pass(table.rows, task, piece, portion.rows, given.active, given.rate, counts, lesson.joint)
        lesson.method.present(shown, state, state)
        first += min(size, portion.size - first)
    return first


def _start(method: Method, given: Round) -> Weights:
    """Return the state of a shard at the start of a round: sums over the trials begin at zero."""
    problems, features = given.W.shape
    state: Weights = method.start(problems, features, given.W.dtype, order_of(given.W))
    state.W[:], state.b[:], state.t[:] = given.W, given.b, given.t
    if state.lag.shape[1]:
        state.lag_b[:] = given.t * given.b.astype(float)
    return state


def _report(lesson: Lesson, given: Round, state: Weights, counts: Any, rows: int, complete: bool) -> Part:
    trials = state.t - given.t
    state = folded(lesson.method, state)
    share = np.ones(counts.updates.size)
    if lesson.mixing == "mistakes":  # where weights shrink between updates, a shard without any counts as well
        share = np.maximum(counts.updates, 0 if lesson.method.rests else 1).astype(float)
    each = share if share.size == given.b.size else np.repeat(share, given.b.size)
    change = state.W.astype(float)
    change -= given.W
    change *= each[:, None]
    total, total_b = np.zeros(state.lag.shape, order=order_of(state.W)), np.zeros(state.b.size)
    if state.lag.shape[1]:
        total = state.scale_sum[:, None] * state.W
        total -= state.lag
        total_b = state.t * state.b.astype(float) - state.lag_b
    return Part(
        change,
        each * (state.b.astype(float) - given.b),
        total,
        total_b,
        trials,
        share,
        *(counts.mistakes, counts.updates, counts.loss),
        share * counts.step,
        rows,
        complete,
    )


def folded(method: Method, state: Weights) -> Weights:
    """Return a state whose weights are what they stand for, penalties applied; sums over the trials stay what they are.

    What L1 still asks for is paid, and weights owe nothing.
    """
    assert isinstance(method, FirstOrder)
    if isinstance(method.penalty, ElasticNet):
        state = copy_state(state)
        settle(state)
        state.owed[:], state.paid[:] = 0.0, 0.0
        return state
    return method._folded(state)


def mix(state: Weights, part: Part) -> None:
    """Move the weights of a state by the mean of the shards' changes, in place, and add their sums and trials."""
    share = part.share if part.share.size == state.b.size else np.repeat(part.share, state.b.size)
    share = np.where(share > 0, share, 1.0)
    averaged = bool(state.lag.shape[1])
    if averaged:  # the sum over all trials, scale_sum W - lag, from here on
        total = state.scale_sum[:, None] * state.W - state.lag + part.total
        total_b = state.t * state.b.astype(float) - state.lag_b + part.total_b
    state.W[:] = state.W + part.change / share[:, None]
    state.b[:] = state.b + part.change_b / share
    state.t[:] += part.trials
    if averaged:
        state.scale_sum[:] = state.t
        state.lag[:] = state.scale_sum[:, None] * state.W - total
        state.lag_b[:] = state.t * state.b.astype(float) - total_b


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

    lesson: Lesson
    planes: Hyperplanes

    def __call__(self, shard: Shard, late: Late = never) -> Errors:
        """Return what is wrong of the rows that are trained on."""
        found = Errors(0.0, 0.0)
        for portion in shard.portions:
            found = found.merge(self._errors(portion, late))
        return found

    def _errors(self, portion: Portion, late: Late) -> Errors:
        lesson, found = self.lesson, Errors(0.0, 0.0)
        table, task = _rows_for(lesson, portion, self.planes.W.shape[1])
        size = max(1, ENTRIES_PER_LOOK // (self.planes.b.size * max(1, table.entries // table.shape[0])))
        for first in range(0, portion.size, size):
            if late():
                return found._replace(complete=False)
            block = part_of(portion.rows, first, size, portion.size)
            if by_pairs(lesson.multiclass) and self.planes.b.size > 1:
                found = found.merge(self._weigh_pairs(table, task, block))
            else:
                wrong, total = weigh_errors(table.rows, task, block, self.planes)
                found = found.merge(Errors(float(wrong), float(total)))
        return found

    def _weigh_pairs(self, table: Table, task: Task, block: Array) -> Errors:
        subset = block if block.size else row_numbers(np.arange(table.shape[0]))
        label = task.label[subset]
        cost = np.append(task.class_cost, 1.0)[label]
        cost = cost * (task.sample_weight[subset] if task.sample_weight.size else 1.0)
        found = scores(table, self.planes, subset)
        elected = winners(decision(found, self.lesson.classes.size, self.lesson.multiclass))
        return Errors(float(cost[elected != label].sum()), float(cost.sum()))


# ------------------------------------------------------------------------------------------------- shards of one table


def rows_of_shards(n_rows: int, subset: Array, shards: int) -> Iterator[tuple[int, Array]]:
    """Yield the number and the rows of each shard that has any: neighbours, as even as can be."""
    rows = subset if subset.size else row_numbers(np.arange(n_rows))
    # More shards than rows: those behind the rows are empty, however many they are.
    yield from enumerate(np.array_split(rows, max(1, min(shards, rows.size))))
