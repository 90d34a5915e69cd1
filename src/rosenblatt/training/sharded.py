"""Training on shards: an epoch is one round or several, in which each shard learns from the common weights.

`Shards` holds the shards: threads over one table here, Dask and Spark in `rosenblatt.scaling`. A subclass must only
`combine`: call a function on each shard, and merge the results along the fixed tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.data.table import ALL_ROWS, SQUARED_LENGTHS, Table
from rosenblatt.engine.rows import Csr
from rosenblatt.errors import InvalidInput
from rosenblatt.training.algorithm import check_start, copy_state, never
from rosenblatt.training.mixing import (
    Round,
    ShardSpec,
    ShardUpdate,
    check_mixing,
    folded,
    measure_shard,
    merge,
    merge_tree,
    mix,
    mixes_for,
    train_shard,
)
from rosenblatt.training.multiclass import by_pairs
from rosenblatt.training.plan import Plan, Run
from rosenblatt.training.runner import Job, LinearRunner
from rosenblatt.training.shards import DatasetStats, Late, Shard, ShardBlock, cut, stats_of
from rosenblatt.training.stopping import MarginBound
from rosenblatt.training.trainer import EpochStats, RunClock, Trainer

Array = npt.NDArray[Any]
Work = Callable[..., Any]


class Shards:
    """Rows in shards, wherever they are. A subclass moves functions to them and results back."""

    def combine(self, work: Work, late: Late = never) -> Any:
        """Call `work` on each shard that has rows, and merge the results along the tree over their numbers.

        Parameters
        ----------
        work : callable
            Takes a `Shard`, and `late` if that can be passed on. It can be pickled, and so can its result, which has a
            method `merge`.
        late : callable
            Whether to end early.
        """
        raise NotImplementedError

    def each(self, work: Work) -> Iterator[Any]:
        """Yield the result of `work` for each shard, one after the other."""
        raise NotImplementedError

    def keep(self, numbers: Sequence[int]) -> None:
        """Drop all shards but these, which have rows."""

    def stats(self) -> DatasetStats:
        """Return the statistics of all rows; drop the shards that have none."""
        stats: DatasetStats = self.combine(stats_of)
        if not stats.n_rows:
            raise InvalidInput("There are no rows to learn from. Pass data with at least one row of a weight above 0.")
        self.keep(stats.numbers)
        return stats


class LocalShards(Shards):
    """Shards in the memory of this process, processed by one thread or several."""

    def __init__(self, shards: Iterable[Shard], threads: int = 1) -> None:
        self.shards, self.threads = list(shards), threads
        self.pool = ThreadPoolExecutor(threads)  # starts threads when they are needed; they end with the pool

    def combine(self, work: Work, late: Late = never) -> Any:
        """Call `work` on each shard; few results wait to be merged at any time."""
        if self.threads == 1:
            return merge_tree((work(shard, late) for shard in self.shards), merge)
        ended, running = False, list[Future[Any]]()
        try:
            return merge_tree(self._results(running, work, lambda: ended or late()), merge)
        finally:  # an interrupt need not wait for the shards
            ended = True
            wait(running)

    def each(self, work: Work) -> Iterator[Any]:
        """Yield the result of `work` for each shard."""
        return (work(shard) for shard in self.shards)

    def _results(self, running: list[Future[Any]], work: Work, late: Late) -> Iterator[Any]:
        waiting = iter(self.shards)
        running.extend(self.pool.submit(work, shard, late) for shard in islice(waiting, self.threads))
        while running:
            result = running[0].result()
            running.pop(0)
            running.extend(self.pool.submit(work, shard, late) for shard in islice(waiting, 1))
            yield result

    def keep(self, numbers: Sequence[int]) -> None:
        """Drop all shards but these."""
        self.shards = [shard for shard in self.shards if shard.number in numbers]


def run_shards(
    shards: Shards,
    spec: ShardSpec,
    stats: DatasetStats,
    plan: Plan,
    state: Any,
    *,
    names: tuple[Any, ...] = (),
    validation: Shards | None = None,
    clock: RunClock | None = None,
    leaves_out: bool = False,
) -> Run:
    """Train `state` in place, and return the record.

    Parameters
    ----------
    state : NamedTuple of arrays
        Of the spec's algorithm; in units of the learning rate if that only scales the weights.
    names : tuple
        Labels of the classes.
    validation : Shards or None
        Rows to measure the error on, which are not trained on.
    clock : RunClock or None
        None: starts with the run.
    leaves_out : bool
        Whether some rows are not learned from.
    """
    check_mixing(spec.algorithm, spec.mixing)
    if plan.batch:
        raise InvalidInput(
            "Batch updates need the sum over all rows, and not over those of a shard. Drop batch=True, or the shards."
        )
    runner = Sharded(shards, spec, stats, plan, state, names=names, validation=validation)
    runner.leaves_out |= leaves_out
    return Trainer(plan, runner, clock).run()


def run_in_shards(job: Job, state: Any, shards: int, mixes: int | str = "auto") -> Run:
    """Train on the rows of a table, cut into shards, on the threads of the plan; return the record."""
    task, held_out, table = job.task, job.validation, job.table
    everything = np.arange(task.sign.shape[0])  # labels are numbers already
    blocks = list(cut(table, everything, task.label, task.sample_weight, job.subset, shards))
    stats = DatasetStats(
        classes=ALL_ROWS,
        counts=ALL_ROWS,
        sizes=tuple((number, block.size) for number, block in blocks),
        names=(),
        features=table.shape[1],
        entries=table.entries,
        largest=table.largest,
        dtype=table.dtype,
        sparse=isinstance(table.rows, Csr),
        squares=0.0,
        values=0.0,
        surveyed=0,
    )
    spec = ShardSpec(
        job.algorithm,
        everything,
        task.sign,
        task.class_cost,
        job.multiclass,
        task.bias,
        table.dtype,
        job.plan.order,
        job.plan.random_state,
        mixes=mixes_for(job.algorithm, stats, mixes),
        sizes=stats.filled,
    )
    validation = None
    if held_out is not None:
        apart = ShardBlock(held_out.table, everything, held_out.label, held_out.weight, held_out.subset, False)
        validation = LocalShards([Shard(0, [apart])])
    return run_shards(
        LocalShards((Shard(number, [block]) for number, block in blocks), job.plan.n_jobs),
        spec,
        stats,
        job.plan,
        state,
        names=job.names,
        validation=validation,
        clock=job.clock,
        leaves_out=bool(job.subset.size),
    )


def table_stats(table: Table, subset: Array, shards: int) -> DatasetStats:
    """Return the statistics of the shards of a table, without their labels."""
    one_class, label = np.zeros(1, np.int64), np.zeros(table.shape[0], np.int32)
    blocks = cut(table, one_class, label, np.empty(0), subset, shards)
    stats: list[DatasetStats] = [stats_of(Shard(number, [block])) for number, block in blocks]
    return merge_tree(stats, merge)._replace(entries=table.entries)


def start_shards(spec: ShardSpec, stats: DatasetStats, init: Any, rate_scale: float) -> Any:
    """Return the state before the first round, with the initial weights (w0, b0) if there are any."""
    problems, features = spec.sign.shape[1], stats.features
    check_memory(
        float(problems) * features * spec.dtype.itemsize,
        f"The weights of {problems} problems with {features} features",
        "Use fewer features or classes, or float32.",
    )
    together = problems > 1 and not by_pairs(spec.multiclass) and stats.sparse and spec.algorithm.by_feature
    state = spec.algorithm.start(problems, features, spec.dtype, "F" if together else "C")
    if init is not None:
        W0, b0 = check_start(init, problems, features)
        state.W[:], state.b[:] = W0 / rate_scale, b0 / rate_scale
    return state


def learnable_dtype(stats: DatasetStats) -> np.dtype[Any]:
    """Return the dtype whose products of values neither overflow nor underflow; raise an error if neither fits."""
    for dtype in dict.fromkeys((stats.dtype, np.dtype(np.float64))):
        least, most = SQUARED_LENGTHS[dtype]
        if least <= stats.largest <= most or not stats.largest:
            return dtype
    raise InvalidInput(
        f"The longest row has a length of {math.sqrt(stats.largest):.3g}, whose products overflow or underflow. "
        "Scale the data, for example with StandardScaler."
    )


class Sharded(LinearRunner):
    """Runs epochs over shards."""

    def __init__(
        self,
        shards: Shards,
        spec: ShardSpec,
        stats: DatasetStats,
        plan: Plan,
        state: Any,
        *,
        names: tuple[Any, ...],
        validation: Shards | None,
    ) -> None:
        super().__init__(spec.algorithm, plan, state.b.size, spec.multiclass, spec.bias, names=names)
        self.shards, self.spec, self.validation = shards, spec, validation
        copy_state(folded(spec.algorithm, state), state)
        self.n_rows, self.n_shards, self.largest = stats.n_rows, len(stats.numbers), stats.largest
        self.validates = validation is not None
        self.leaves_out = self.validates or not spec.class_cost.all()
        self._begin(state)
        if spec.algorithm.is_sum_of_rows:  # by the steps alone: rows that are elsewhere are not searched
            self.bound = MarginBound(
                state.W, state.b, self.parts, bias=spec.bias, radius=self.radius, entries=stats.entries
            )
        # Trials of a shard so far, including those of an earlier fit that is continued.
        self.begun = state.t.copy()
        self.trials = np.zeros_like(state.t)

    def run_epoch(self, epoch: int, active: list[int], clock: RunClock) -> EpochStats:
        """Let every shard learn from its rows once, and mix the results in each round."""
        for column in self.counts:
            column[:] = 0
        problems = np.arange(self.state.b.size) if self.joint else np.array(active)
        self.algorithm.begin_epoch(epoch, problems, self.state)
        trials, complete = 0, True
        for number in range(self.spec.mixes):
            if complete and not (number and clock.late):
                update = self._mix(epoch, number, problems, clock)
                for column, more in zip(self.counts, (update.mistakes, update.updates, update.loss), strict=False):
                    column += more
                trials, complete = trials + int(update.rows), update.complete
            else:
                complete = False
        return self._stats(epoch, trials, complete)

    def _mix(self, epoch: int, number: int, problems: Array, clock: RunClock) -> ShardUpdate:
        """Run a round; return what the shards have learned in it."""
        state, rate = self.state, self.plan.rate(epoch) / self.rate_scale
        start = Round(epoch, number, state.W, state.b, self.begun + self.trials // self.n_shards, problems, rate)
        update: ShardUpdate = self.shards.combine(partial(train_shard, self.spec, start), lambda: clock.late)
        factor = mix(state, update, self.spec)
        self.trials += update.trials
        if self.bound is not None:
            # A separator of margin g gains g in each step of each shard, and so in their mean, times its factor.
            self.bound.add(factor * update.step / np.where(update.share > 0, update.share, 1.0))
        return update

    def error(self, clock: RunClock) -> float | None:
        """Return the share of wrong rows, by weight; None if out of time."""
        measure = partial(measure_shard, self.spec, self.planes)
        errors = (self.validation or self.shards).combine(measure, lambda: clock.overdue)
        return float(errors.wrong / errors.total) if errors.complete else None

    def fits(self, part: int, clock: RunClock) -> bool:
        """Return whether every row is on its side, if there is one problem and time to check."""
        if self.parts > 1 or self.joint or self.predictor or not self.algorithm.finite_updates or clock.overdue:
            return False
        errors = self.shards.combine(partial(measure_shard, self.spec, self.planes), lambda: clock.overdue)
        return bool(errors.complete and not errors.wrong)
