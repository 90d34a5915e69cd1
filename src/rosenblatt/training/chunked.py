"""Rows of a source, presented chunk by chunk: training in memory that does not grow with the data.

The weights are the same as those of the rows in one table, bit for bit, whatever the size of the chunks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels, as_targets, as_weights
from rosenblatt.data.survey import SURVEYED_ROWS, Survey
from rosenblatt.data.table import Table, row_numbers
from rosenblatt.engine.rows import Dense, Task
from rosenblatt.engine.scores import weigh_errors
from rosenblatt.errors import InvalidInput
from rosenblatt.files.chunks import Chunk, Position
from rosenblatt.training.algorithm import EpochArgs, new_counts, order_of, start_state
from rosenblatt.training.costs import class_costs
from rosenblatt.training.decisions import decision, winners
from rosenblatt.training.model import LinearModel
from rosenblatt.training.multiclass import by_pairs, code, is_joint, make_task
from rosenblatt.training.order import mixed
from rosenblatt.training.plan import Plan, Run
from rosenblatt.training.reasons import BATCH, LOSS, PERCEPTRON, REGRESSION, Words
from rosenblatt.training.regression import regression_task
from rosenblatt.training.scores import scores
from rosenblatt.training.stopping import Stop
from rosenblatt.training.stream import NO_CLASSES, Learned, Settings
from rosenblatt.training.trainer import Clock, EpochStats, LinearRunner, Trainer

Array = npt.NDArray[Any]

# So few rows say nothing about the order of the labels.
FEWEST_ROWS_IN_RUNS = 50
# What an end means for a source of chunks.
_INTERRUPTED = "it was interrupted in epoch {epochs}, after {trials} rows in all"


@dataclass(frozen=True)
class Look:
    """What must be known before the first row is learned.

    Attributes
    ----------
    table : Table
        The first rows.
    sizes : Survey
        Of them.
    classes : array
        The labels, sorted; empty for a regression.
    counts : int array or None
        Rows of each class, where all have been counted.
    in_runs : bool
        Whether rows of one class come together at the start, which learning in that order suffers from.
    """

    table: Table
    sizes: Survey
    classes: Array
    counts: Array | None = None
    in_runs: bool = False


@dataclass(frozen=True)
class ChunkedJob:
    """What to learn from a source, how, and until when.

    Attributes
    ----------
    chunks : Source
    configure : callable
        From a `Look` to the settings of the stream: some depend on the sizes of the values and on the classes.
    plan : Plan
        Its order is "cyclic", or "shuffled": epochs after the first then shuffle the chunks of a cached source, and the
        rows in each.
    classes : array or None
        Labels to expect; None: those that there are. Others than these are refused.
    regression : bool
        Whether the labels are numbers to predict.
    hold_out : (int, int) or None
        (k, j): rows j, j + k, j + 2k, ... from 0 are not trained on, but measure the error.
    validation : Source or None
        The same, as rows of their own.
    balanced : bool
        Whether all labels must be counted before training.
    after_chunk : callable or None
        Called with the presenter after each chunk.
    interrupted : callable
        Whether to end after this chunk.
    """

    chunks: Any
    configure: Callable[[Look], Settings]
    plan: Plan
    classes: Array | None = None
    regression: bool = False
    hold_out: tuple[int, int] | None = None
    validation: Any = None
    balanced: bool = False
    after_chunk: Callable[[InChunks], None] | None = None
    interrupted: Callable[[], bool] = field(default=lambda: False)


class Outcome(NamedTuple):
    """What was learned from a source, and how."""

    settings: Settings
    learned: Learned
    run: Run
    in_runs: bool  # whether rows of one class come together

    def model(self, **more: Any) -> LinearModel:
        """Return the weights that predict."""
        planes = self.settings.algorithm.hyperplanes(self.learned.state)
        rate = planes.W.dtype.type(self.settings.rate_scale)
        W = np.ascontiguousarray(planes.W * rate)
        return LinearModel(W, planes.b * rate, self.learned.classes, self.settings.multiclass, **more)


class NewLabels(Exception):
    """Labels that the rows looked at before did not have."""


class Resumption(NamedTuple):
    """Where a training goes on: its labels, how many rows have each, and what brings a trainer there."""

    classes: Array
    counts: Array | None
    put: Callable[[Trainer], None]


def learn_chunks(job: ChunkedJob, resume: Resumption | None = None) -> Outcome:
    """Train on a source, chunk by chunk.

    Labels that the first chunk does not have are not known when training begins. Where some appear, the rest of the
    source is read for its labels, and training begins anew: nothing depends on where they came.

    Parameters
    ----------
    job : ChunkedJob
    resume : Resumption, optional
        Where to go on.

    Returns
    -------
    Outcome

    Raises
    ------
    InvalidInput
        If there is nothing to tell apart, a row has a label that was not announced, or the weights overflow.
    """
    if job.plan.order == "random":
        raise InvalidInput("Rows of a file cannot be drawn at random. Choose shuffle=True or False.")
    if job.plan.batch and job.plan.order == "shuffled":
        raise InvalidInput("Batch updates do not depend on the order of the rows. Drop batch, or the shuffling.")
    read: list[Chunk] = []
    rest = iter(job.chunks)
    look = _look(job, read, rest)
    if resume is not None:
        look = _resumed(job, look, read, resume)
    try:
        return _train(job, look, chain(read, rest), resume)
    except NewLabels as found:
        if not job.chunks.again:
            raise InvalidInput(
                f"The first rows do not have all labels: {found} comes later, and standard input cannot be read again. "
                "Announce all labels as classes, or pass a file."
            ) from None
    look = _look_at_all(job, look)
    return _train(job, look, iter(job.chunks), None)


def _resumed(job: ChunkedJob, look: Look, read: list[Chunk], resume: Resumption) -> Look:
    """Return a look at the first rows with the classes of a checkpoint, which must have theirs."""
    classes, counts = resume.classes, resume.counts
    if job.regression:
        fits = classes.size == 0
    elif job.classes is not None:
        fits = np.array_equal(classes, look.classes)
    else:
        found, _ = _labels(read)
        fits = (classes.dtype.kind == "U") == (found.dtype.kind == "U") and bool(np.isin(found, classes).all())
    if not fits or (job.balanced and counts is None):
        raise InvalidInput("The checkpoint has other labels than the rows. Remove it, and train anew.")
    return replace(look, classes=classes, counts=counts)


def _train(job: ChunkedJob, look: Look, first: Iterator[Chunk], resume: Resumption | None) -> Outcome:
    if not job.regression and look.classes.size < 2:
        # The first chunk may be of one class only.
        raise NewLabels("another label")
    settings = job.configure(look)
    if job.plan.batch and not settings.algorithm.finite:
        raise InvalidInput("Batch updates are for the perceptron without a penalty. Drop batch, or the penalty.")
    with ThreadPoolExecutor(job.plan.threads) as pool:
        runner = InChunks(job, look, settings, first, pool if job.plan.threads > 1 else None)
        trainer = Trainer(job.plan, runner)
        runner.trainer = trainer
        if resume is not None:
            resume.put(trainer)
        run = trainer.run()
    learned = Learned(look.classes, runner.state, run.trials, sum(run.mistakes), ())
    return Outcome(settings, learned, run, look.in_runs)


# --------------------------------------------------------------------------------------------------- before training


def _look(job: ChunkedJob, read: list[Chunk], rest: Iterator[Chunk]) -> Look:
    """Read the first chunks, until there are rows enough to tell how large their values are."""
    rows = 0
    for chunk in rest:
        if chunk.table.shape[0]:
            read.append(chunk)
            rows += chunk.table.shape[0]
        if rows >= SURVEYED_ROWS:
            break
    if not read:
        raise InvalidInput("There are no rows to learn from. Pass files with at least one row.")
    sizes = survey_first(chunk.table for chunk in read)
    table = read[0].table
    if job.regression:
        return Look(table, sizes, NO_CLASSES)
    if job.balanced:
        return Look(table, sizes, NO_CLASSES)  # no class is known before all are counted
    if job.classes is not None:
        return Look(table, sizes, np.unique(job.classes))
    return Look(table, sizes, _labels(read)[0], in_runs=_in_runs(read))


def _in_runs(chunks: list[Chunk]) -> bool:
    """Return whether neighbours share a label more often than rows at random would."""
    label = np.concatenate([chunk.label for chunk in chunks])
    return label.size >= FEWEST_ROWS_IN_RUNS and not mixed(as_labels(label, label.size)[1])


def _look_at_all(job: ChunkedJob, look: Look) -> Look:
    """Read all labels."""
    classes, counts = _labels(job.chunks)
    if classes.size < 2:
        raise InvalidInput(f"All rows have the label {classes[0].item()!r}. Learning to tell apart needs at least two.")
    return replace(look, classes=classes, counts=counts, in_runs=look.in_runs or look.classes.size == 1)


def _labels(chunks: Any) -> tuple[Array, Array]:
    """Return the labels of chunks, sorted, and how many rows have each."""
    found: dict[Any, int] = {}
    kind: Any = None
    for chunk in chunks:
        if chunk.label.size:
            labels, number = as_labels(chunk.label, chunk.label.size)
            kind = labels.dtype
            for label, count in zip(labels.tolist(), np.bincount(number).tolist(), strict=True):
                found[label] = found.get(label, 0) + count
    classes = np.array(sorted(found), dtype=kind if kind is not None and kind.kind != "U" else None)
    return classes, np.array([found[label] for label in classes.tolist()])


def survey_first(tables: Any) -> Survey:
    """Return the root mean squares of the first rows: the same wherever the chunks were cut.

    Parameters
    ----------
    tables : iterable of Table

    Returns
    -------
    Survey
        Without the largest column.
    """
    squares: list[float] = []
    rows = 0
    for table in tables:
        take = min(SURVEYED_ROWS - rows, table.shape[0])
        dense = isinstance(table.rows, Dense)
        values = table.rows.X[:take].reshape(-1) if dense else table.rows.data[: table.rows.indptr[take]]
        squares.extend((values[values != 0].astype(float) ** 2).tolist())
        rows += take
    # The exact sum, rounded once: it does not depend on the order of the additions.
    total = math.fsum(squares)
    return Survey(math.sqrt(total / max(rows, 1)), math.sqrt(total / max(len(squares), 1)), 0, 0.0, 0.0)


def _add(partials: list[float], values: Array) -> None:
    """Add values to an exact sum, which is kept as floats that do not overlap (Shewchuk 1997)."""
    for x in values.tolist():
        kept = []
        for y in partials:
            large, small = (x, y) if abs(x) >= abs(y) else (y, x)
            x = large + small
            rest = small - (x - large)
            if rest:
                kept.append(rest)
        partials[:] = [*kept, x]


# -------------------------------------------------------------------------------------------------------- presentation


def _words(job: ChunkedJob, settings: Settings) -> Words:
    if job.regression:
        words = REGRESSION
    elif not settings.algorithm.finite:
        words = LOSS
    else:
        words = BATCH if job.plan.batch else PERCEPTRON
    return words | {Stop.CALLBACK: _INTERRUPTED}


class InChunks(LinearRunner):
    """Rows of a source. A part is one problem, or all classes of a joint task."""

    trainer: Trainer

    def __init__(
        self, job: ChunkedJob, look: Look, settings: Settings, first: Iterator[Chunk], pool: ThreadPoolExecutor | None
    ) -> None:
        self.job, self.look, self.settings, self.pool = job, look, settings, pool
        self.algorithm, self.plan, self.classes = settings.algorithm, job.plan, look.classes
        # The chunks of the next epoch, where some of them have been read already, or where a run goes on.
        self.next_chunks: Iterator[Chunk] | None = first
        self.sign = np.ones((1, 1), np.int8) if job.regression else code(self.classes.size, settings.multiclass)
        self.cost = None if job.regression else self._costs()
        self.multiclass = settings.multiclass
        self.joint = not job.regression and is_joint(self.sign, settings.multiclass)
        self.state: Any = None
        self.sum: Any = None  # of the updates of a batch so far
        self.parts = self.counted = 1 if self.joint else self.sign.shape[1]
        self.converges_when_clean, self.validates = (
            self.algorithm.converges_when_clean,
            job.hold_out is not None or job.validation is not None,
        )
        self.words, self.remedy = _words(job, settings), self.algorithm.remedy
        self.zero_loss = self.algorithm.zero_loss
        self.rate_scale = self.algorithm.rate_scale(self.plan.eta)
        self.counts = new_counts(self.parts)
        self.n_rows, self.largest = 0, 0.0
        # Of the epoch in progress: its number, trials and chunks so far; and the position after the last chunk.
        self.epoch, self.trials, self.chunks = 0, 0, 0
        self.position: Any = None
        self.resumed = False
        self.leaves_out = self.cost is not None and not self.cost.all()

    def _costs(self) -> Array:
        return class_costs(self.settings.class_weight, self.classes, self.look.counts)

    def begin(self) -> None:
        """Make the state before the first row."""
        if self.state is None:
            pairs, problems = by_pairs(self.settings.multiclass), self.sign.shape[1]
            self.state = start_state(self.algorithm, problems, self.look.table, None, self.rate_scale, by_pairs=pairs)
            if self.plan.batch:
                W = self.state.W
                self.sum = self.algorithm.start(problems, W.shape[1], W.dtype, order_of(W))
            self._watch()

    def go_on(self, position: Position) -> None:
        """Go on in the middle of an epoch, after a position of the source."""
        self.resumed = True
        shuffled = self.epoch > 1 and self.plan.order == "shuffled"
        if not shuffled:
            self.position = position
            self.next_chunks = self.job.chunks.read(position)

    def run_epoch(self, epoch: int, active: list[int], clock: Clock) -> EpochStats:
        """Present the rows of a source, chunk by chunk, until they, the time or the patience of a user end."""
        if not self.resumed:
            self.epoch, self.trials, self.chunks = epoch, 0, 0
            for column in self.counts:
                column[:] = 0
            self.algorithm.begin_epoch(epoch, slice(None) if self.joint else active, self.state)
        self.resumed = False
        rate, problems = self.plan.rate(epoch) / self.rate_scale, np.array(active)
        complete = True
        for chunk, order in self._ordered(epoch):
            self.largest = max(self.largest, chunk.table.largest)
            if order.size:
                self.begin()
                self._learn(chunk, order, problems, rate)
            self.chunks, self.position = self.chunks + 1, chunk.after
            if self.job.after_chunk is not None:
                self.job.after_chunk(self)
            if clock.late or self.job.interrupted():
                complete = False
                break
        return self._shown(epoch, complete)

    def _learn(self, chunk: Chunk, order: Array, problems: Array, rate: float) -> None:
        task = self._task(chunk)
        into = self.sum if self.plan.batch else self.state
        table = chunk.table

        def work(share: Array) -> None:
            shown = EpochArgs(table.rows, task, order, order, share, rate, self.counts, self.joint)
            self.algorithm.run_epoch(shown, self.state, into)

        if self.pool is None or self.joint or problems.size == 1:
            work(problems)
        else:
            list(self.pool.map(work, np.array_split(problems, min(self.plan.threads, problems.size))))
        self.trials += order.size

    def _shown(self, epoch: int, complete: bool) -> EpochStats:
        if self.state is None:
            raise InvalidInput("There are no rows to learn from: all of them are held out, or have no weight.")
        if self.plan.batch:
            for total, part in ((self.state.W, self.sum.W), (self.state.b, self.sum.b)):
                total += part
                part[:] = 0
        self._derive(epoch)
        if self.trials and (complete or not self.n_rows):
            self.n_rows = self.trials
        mistakes, updates, loss = (column.tolist() for column in self.counts[:3])
        if self.plan.batch:
            updates = [min(count, 1) for count in updates]
        if self.rate_scale != 1.0:
            loss = [total * self.rate_scale for total in loss]
        return EpochStats(mistakes, updates, loss, self.trials, complete)

    # -------------------------------------------------------------------------------------------------- rows and labels

    def _ordered(self, epoch: int) -> Iterator[tuple[Chunk, Array]]:
        """Yield the chunks of an epoch, each with the rows to learn from in their order."""
        source = self.job.chunks
        if epoch > 1 and self.plan.order == "shuffled":
            if not source.cached:
                source.build_cache()
            numbers = np.random.default_rng([self.plan.seed, epoch]).permutation(source.chunk_count)
            for number in numbers[self.chunks :].tolist():
                chunk = source.chunk(number)
                order = self._rows(chunk, chunk.after.row - chunk.table.shape[0])
                yield chunk, np.random.default_rng([self.plan.seed, epoch, number]).permutation(order)
            return
        chunks, self.next_chunks = self.next_chunks or iter(source), None
        # A run that goes on in the middle of an epoch begins with the row after the last that it learned from.
        start = self.position.row if self.chunks else 0
        for chunk in chunks:
            yield chunk, self._rows(chunk, start)
            start += chunk.table.shape[0]

    def _rows(self, chunk: Chunk, start: int, held_out: bool = False) -> Array:
        """Return the rows of a chunk that are trained on, or those that are held out."""
        n_rows = chunk.table.shape[0]
        wanted = np.ones(n_rows, bool) if chunk.weight is None else chunk.weight != 0
        if self.job.hold_out is not None:
            every, first = self.job.hold_out
            outside = (np.arange(start, start + n_rows) - first) % every == 0
            wanted &= outside if held_out else ~outside
        if not held_out:
            self.leaves_out |= not bool(wanted.all())
        return row_numbers(np.flatnonzero(wanted))

    def _task(self, chunk: Chunk) -> Task:
        n_rows = chunk.table.shape[0]
        weight = np.empty(0)
        if chunk.weight is not None and chunk.weight.any():
            weight = as_weights(chunk.weight, n_rows)
        if self.job.regression:
            return regression_task(as_targets(chunk.label), weight, self.settings.bias)
        return self._labelled(chunk, weight, strict=True)

    def _labelled(self, chunk: Chunk, weight: Array, *, strict: bool) -> Task:
        """Return the task of a chunk; a label that training does not know is -1, or an error if that is `strict`."""
        found, number = as_labels(chunk.label, chunk.table.shape[0])
        place = np.minimum(np.searchsorted(self.classes, found), self.classes.size - 1)
        known = self.classes[place] == found
        if strict and not known.all():
            new = found[~known][0].item()
            if self.job.classes is None:
                raise NewLabels(f"label {new!r}")
            raise InvalidInput(
                f"A row has the label {new!r}, which is none of the announced classes {self.classes.tolist()!r:.200}. "
                "Announce it, or correct the row."
            )
        label = np.where(known, place, -1).astype(np.int32)[number]
        return make_task(
            label, self.sign, self.settings.multiclass, class_cost=self.cost, weight=weight, bias=self.settings.bias
        )

    # --------------------------------------------------------------------------------------------------------- measures

    def error(self, clock: Clock) -> float | None:
        """Return the share of wrong rows, by weight; of a regression, the mean of half the squared errors.

        None where the clock leaves no time for all of them.
        """
        source, held_out = self.job.chunks, self.job.hold_out is not None
        if self.job.validation is not None:
            source, held_out = self.job.validation, False
        # Sums without rounding, so that the error does not depend on where the chunks were cut.
        wrong: list[float] = []
        total: list[float] = []
        start = 0
        for chunk in source:
            if clock.overdue:
                return None
            validates = self.job.validation is not None
            rows = self._rows(chunk, start, held_out) if not validates else row_numbers(np.arange(chunk.label.size))
            start += chunk.table.shape[0]
            if rows.size:
                costs, errors = self._errors(chunk, rows)
                _add(wrong, errors)
                _add(total, costs)
        if not math.fsum(total):
            raise InvalidInput("There are no held-out rows to measure the error on. Hold out more, or none.")
        return math.fsum(wrong) / math.fsum(total)

    def _errors(self, chunk: Chunk, rows: Array) -> tuple[Array, Array]:
        """Return what each row counts, and what of it is wrong."""
        weight = np.empty(0) if chunk.weight is None else chunk.weight
        own = weight[rows] if weight.size else np.ones(rows.size)
        if self.job.regression:
            found = scores(chunk.table, self.planes, rows)[:, 0]
            return own, own * 0.5 * (found - as_targets(chunk.label)[rows]) ** 2
        task = self._labelled(chunk, weight, strict=False)
        label = task.label[rows]
        costs = np.append(task.class_cost, 1.0)[label] * own
        if not weight.size and (task.class_cost == 1.0).all() and not by_pairs(self.settings.multiclass):
            wrong, total = weigh_errors(chunk.table.rows, task, rows, self.planes)
            return np.array([total]), np.array([wrong])
        found = scores(chunk.table, self.planes, rows)
        elected = winners(decision(found, self.classes.size, self.settings.multiclass))
        return costs, costs * (elected != label)

    def fits(self, part: int, clock: Clock) -> bool:
        """Return False: this is asked only after an epoch that was cut short, of rows that nobody has looked at."""
        return False

    @property
    def radius(self) -> float:
        """Largest norm of a row so far, the constant of the bias included."""
        return math.sqrt(self.largest + self.settings.bias)

    @property
    def mean_loss(self) -> float:
        """Mean loss of the trials of the epoch in progress, each met before it was learned from."""
        return float(self.counts.loss.sum()) * self.rate_scale / max(self.trials, 1)
