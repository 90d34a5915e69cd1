"""The presenter of shards: an epoch is a round or several, in which each shard learns by itself from what all know.

What holds the shards is a `Shards`: threads over one table here, Dask and Spark in `rosenblatt.scaling`. All that it
must do is to `combine`: call a function on each shard, and merge what they return along the fixed tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.memory import check_memory
from rosenblatt.data.table import ALL_ROWS, SQUARED_LENGTHS, Table
from rosenblatt.engine.rows import Csr
from rosenblatt.errors import InvalidInput
from rosenblatt.training.algorithm import copy_state, never, new_counts
from rosenblatt.training.in_memory import Job
from rosenblatt.training.mixing import (
    Learn,
    Measure,
    Part,
    Round,
    ShardSpec,
    check_mixing,
    folded,
    merge,
    merge_tree,
    mix,
    mixes_for,
)
from rosenblatt.training.multiclass import by_pairs, part_names
from rosenblatt.training.plan import Plan, Run
from rosenblatt.training.reasons import LOSS, PERCEPTRON
from rosenblatt.training.shards import DatasetStats, Late, Shard, ShardBlock, census_of, cut
from rosenblatt.training.starts import check_start
from rosenblatt.training.stopping import MarginBound
from rosenblatt.training.trainer import Clock, EpochStats, LinearRunner, Trainer

Array = npt.NDArray[Any]
Work = Callable[..., Any]


class Shards:
    """Rows in shards, wherever they are. A subclass moves functions to them and results back; nothing else."""

    def combine(self, work: Work, late: Late = never) -> Any:
        """Call `work` on each shard that has rows, and merge what it returns along the tree over their numbers.

        Parameters
        ----------
        work : callable
            Of a `Shard`, and where that is possible of `late`. It can be pickled, and so can what it returns, which
            has a method `merge`.
        late : callable
            Whether to end early.
        """
        raise NotImplementedError

    def each(self, work: Work) -> Iterator[Any]:
        """Yield what `work` returns for each shard, one after the other."""
        raise NotImplementedError

    def keep(self, numbers: Sequence[int]) -> None:
        """Forget all shards but these, which have rows."""

    def stats(self) -> DatasetStats:
        """Look at all rows once; forget the shards that have none."""
        found: DatasetStats = self.combine(census_of)
        if not found.n_rows:
            raise InvalidInput("There are no rows to learn from. Pass data with at least one row of a weight above 0.")
        self.keep(found.numbers)
        return found


class OnThreads(Shards):
    """Shards in the memory of this process, worked on by one thread or several."""

    def __init__(self, shards: Iterable[Shard], threads: int = 1) -> None:
        self.shards, self.threads = list(shards), threads
        self.pool = ThreadPoolExecutor(threads)  # starts threads as they are needed; they end when nobody refers to it

    def combine(self, work: Work, late: Late = never) -> Any:
        """Call `work` on each shard; of what was not merged yet, there is little at any time."""
        if self.threads == 1:
            return merge_tree((work(shard, late) for shard in self.shards), merge)
        ended, running = False, list[Future[Any]]()
        try:
            return merge_tree(self._results(running, work, lambda: ended or late()), merge)
        finally:  # an interrupt need not wait for the shards
            ended = True
            wait(running)

    def each(self, work: Work) -> Iterator[Any]:
        """Yield what `work` returns for each shard."""
        return (work(shard) for shard in self.shards)

    def _results(self, running: list[Future[Any]], work: Work, late: Late) -> Iterator[Any]:
        waiting = iter(self.shards)
        running.extend(self.pool.submit(work, shard, late) for shard in islice(waiting, self.threads))
        while running:
            found = running[0].result()
            running.pop(0)
            running.extend(self.pool.submit(work, shard, late) for shard in islice(waiting, 1))
            yield found

    def keep(self, numbers: Sequence[int]) -> None:
        """Forget all shards but these."""
        self.shards = [shard for shard in self.shards if shard.number in numbers]


@dataclass(frozen=True)
class ShardedJob:
    """What to learn from shards, how, and until when.

    Attributes
    ----------
    shards : Shards
    lesson : Lesson
    census : Census
    plan : Plan
    names : tuple
        Labels of the classes.
    validation : Shards or None
        Rows to measure the error on, which are not trained on.
    clock : Clock or None
        None: starts with the run.
    leaves_out : bool
        Whether there are rows that nothing is learned from.
    """

    shards: Shards
    spec: ShardSpec
    stats: DatasetStats
    plan: Plan
    names: tuple[Any, ...] = ()
    validation: Shards | None = None
    clock: Clock | None = None
    leaves_out: bool = False


def run_shards(job: ShardedJob, state: Any) -> Run:
    """Train `state` in place, and return the record.

    Parameters
    ----------
    job : ShardedJob
    state : NamedTuple of arrays
        Of the lesson's method; in units of the learning rate where that only scales.
    """
    check_mixing(job.spec.algorithm, job.spec.mixing)
    if job.plan.batch:
        raise InvalidInput(
            "Batch updates need the sum over all rows, and not over those of a shard. Drop batch=True, or the shards."
        )
    return Trainer(job.plan, Sharded(job, state), job.clock).run()


def run_in_shards(job: Job, state: Any, shards: int, mixes: int | str = "auto") -> Run:
    """Train on the rows of a table, in so many shards, on the threads of the plan; return the record."""
    task, held_out = job.task, job.validation
    everything = np.arange(task.sign.shape[0])  # labels are numbers already
    portions = list(cut(job.table, everything, task.label, task.sample_weight, job.subset, shards))
    stats = _unlooked(job.table)._replace(sizes=tuple((number, portion.size) for number, portion in portions))
    spec = ShardSpec(
        job.algorithm,
        everything,
        task.sign,
        task.class_cost,
        job.multiclass,
        task.bias,
        job.table.dtype,
        job.plan.order,
        job.plan.seed,
        mixes=mixes_for(job.algorithm, stats, mixes),
        sizes=stats.filled,
    )
    validation = None
    if held_out is not None:
        apart = ShardBlock(held_out.table, everything, held_out.label, held_out.weight, held_out.subset, False)
        validation = OnThreads([Shard(0, [apart])])
    rows = OnThreads((Shard(number, [portion]) for number, portion in portions), job.plan.threads)
    known = rows, spec, stats, job.plan, job.names, validation, job.clock
    return run_shards(ShardedJob(*known, leaves_out=bool(job.subset.size)), state)


def _unlooked(table: Table) -> DatasetStats:
    """Return what is known of the rows of a table without a look at them."""
    sparse, features = isinstance(table.rows, Csr), table.shape[1]
    nothing = ALL_ROWS, ALL_ROWS, (), ()
    return DatasetStats(*nothing, features, table.entries, table.largest, table.dtype, sparse, 0.0, 0.0, 0)


def table_census(table: Table, subset: Array, shards: int) -> DatasetStats:
    """Return what a census finds of the shards of a table, but for their labels."""
    nobody, label = np.zeros(1, np.int64), np.zeros(table.shape[0], np.int32)
    portions = cut(table, nobody, label, np.empty(0), subset, shards)
    found: list[DatasetStats] = [census_of(Shard(number, [portion])) for number, portion in portions]
    return merge_tree(found, merge)._replace(entries=table.entries)


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
    """Return the type of values whose products neither overflow nor vanish; raise an error if there is none."""
    for dtype in dict.fromkeys((stats.dtype, np.dtype(np.float64))):
        least, most = SQUARED_LENGTHS[dtype]
        if least <= stats.largest <= most or not stats.largest:
            return dtype
    raise InvalidInput(
        f"The longest row has a length of {math.sqrt(stats.largest):.3g}, whose products overflow or vanish. Scale "
        "the data, for example with StandardScaler."
    )


class Sharded(LinearRunner):
    """Rows in shards. A part is one problem, or all classes of a joint task."""

    def __init__(self, job: ShardedJob, state: Any) -> None:
        self.job, self.state, self.plan, self.spec = job, state, job.plan, job.spec
        self.algorithm = algorithm = job.spec.algorithm
        copy_state(folded(algorithm, state), state)
        self.n_rows, self.shards = job.stats.n_rows, len(job.stats.numbers)
        self.multiclass, self.joint = job.spec.multiclass, job.spec.joint
        self.parts = self.counted = 1 if self.joint else state.b.size
        self.converges_when_clean, self.validates = algorithm.converges_when_clean, job.validation is not None
        self.leaves_out = job.leaves_out or self.validates or not job.spec.class_cost.all()
        self.words = PERCEPTRON if algorithm.finite else LOSS
        self.zero_loss, self.remedy = algorithm.zero_loss, algorithm.remedy
        if self.parts > 1 and job.names:
            self.names, self.noun = part_names(job.names, job.spec.multiclass)
        self.rate_scale = algorithm.rate_scale(self.plan.eta)
        self._watch()
        if algorithm.is_sum_of_rows:  # by the steps alone: rows that are elsewhere are not searched
            bias, entries = job.spec.bias, job.stats.entries
            self.bound = MarginBound(state.W, state.b, self.parts, bias=bias, radius=self.radius, entries=entries)
        # Trials of a shard so far; those of an earlier fit count, where one goes on.
        self.begun = state.t.copy()
        self.trials = np.zeros_like(state.t)

    def run_epoch(self, epoch: int, active: list[int], clock: Clock) -> EpochStats:
        """Let every shard learn from its rows once, and mix what they have learned as often as the lesson says."""
        problems = np.arange(self.state.b.size) if self.joint else np.array(active)
        self.algorithm.begin_epoch(epoch, problems, self.state)
        counts, trials, complete = new_counts(self.parts), 0, True
        for number in range(self.spec.mixes):
            if complete and not (number and clock.late):
                part = self._mix(epoch, number, problems, clock)
                for column, more in zip(counts, (part.mistakes, part.updates, part.loss), strict=False):
                    column += more
                trials, complete = trials + int(part.rows), part.complete
            else:
                complete = False
        self._derive(epoch)
        loss = [total * self.rate_scale for total in counts.loss.tolist()]
        whole = complete and self.plan.order != "random"
        return EpochStats(counts.mistakes.tolist(), counts.updates.tolist(), loss, trials, whole)

    def _mix(self, epoch: int, number: int, problems: Array, clock: Clock) -> Part:
        """Make one round; return what the shards have learned in it."""
        state, rate = self.state, self.plan.rate(epoch) / self.rate_scale
        given = Round(epoch, number, state.W, state.b, self.begun + self.trials // self.shards, problems, rate)
        part: Part = self.job.shards.combine(Learn(self.spec, given), lambda: clock.late)
        factor = mix(state, part, self.spec)
        self.trials += part.trials
        if self.bound is not None:
            # A separator of margin g gains g in each step of each shard, and so in their mean, times its factor.
            self.bound.add(factor * part.step / np.where(part.share > 0, part.share, 1.0))
        return part

    def error(self, clock: Clock) -> float | None:
        """Return the share of wrong rows, by weight; None where the clock leaves no time for all of them."""
        rows = self.job.validation or self.job.shards
        found = rows.combine(Measure(self.spec, self.planes), lambda: clock.overdue)
        return float(found.wrong / found.total) if found.complete else None

    def fits(self, part: int, clock: Clock) -> bool:
        """Return whether every row is on its side, where there is one problem and time to look."""
        if self.parts > 1 or self.joint or self.predictor or not self.algorithm.finite or clock.overdue:
            return False
        found = self.job.shards.combine(Measure(self.spec, self.planes), lambda: clock.overdue)
        return bool(found.complete and not found.wrong)

    @property
    def radius(self) -> float:
        """Largest norm of a row, the constant of the bias included."""
        return math.sqrt(self.job.stats.largest + self.spec.bias)
