"""Rows of a source, presented chunk by chunk: memory does not grow with the data.

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
from rosenblatt.engine.rows import Counts, Dense, Task
from rosenblatt.engine.scores import weigh_errors
from rosenblatt.errors import InvalidInput
from rosenblatt.files.chunks import Chunk, Position
from rosenblatt.storage.checks import check_array
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.algorithm import EpochArgs, copy_state, start_state
from rosenblatt.training.model import LinearModel
from rosenblatt.training.multiclass import (
    by_pairs,
    class_costs,
    coding_matrix,
    decision,
    make_task,
    regression_task,
    winners,
)
from rosenblatt.training.plan import Plan, Run, mixed
from rosenblatt.training.runner import LinearRunner
from rosenblatt.training.scores import scores, used_weights
from rosenblatt.training.stopping import Stop
from rosenblatt.training.stream import NO_CLASSES, Learned, Settings, Stream
from rosenblatt.training.trainer import EpochStats, RunClock, Trainer

Array = npt.NDArray[Any]

# Fewer rows than this say nothing about the order of the labels.
FEWEST_ROWS_IN_RUNS = 50
_INTERRUPTED = "it was interrupted in epoch {epochs}, after {trials} rows in all"


def _check_pass(opened: OpenPass) -> None:
    for name, array, kind in zip(Counts._fields, opened.counts, "lldd", strict=True):
        check_array(f"{name} of a pass", array, kind, opened.mistakes.shape[:1])
    expect(0 <= opened.trials <= opened.rows < 1 << 48, "a pass has invalid counts")
    expect(0.0 <= opened.largest < math.inf, "a pass has rows of an invalid length")


@stored("Pass", check=_check_pass)
class OpenPass(NamedTuple):
    """The first pass over rows, which further rows can continue as if they had been there from the start."""

    rows: int  # read so far, those that are not trained on included
    trials: int
    largest: float  # squared norm of a row
    # Of each part, as in `Counts`.
    mistakes: np.ndarray
    updates: np.ndarray
    loss: np.ndarray
    step: np.ndarray

    @property
    def counts(self) -> Counts:
        """The counts of each part."""
        return Counts(self.mistakes, self.updates, self.loss, self.step)


class Start(NamedTuple):
    """An earlier training that further rows continue."""

    learned: Learned
    opened: OpenPass | None  # None: this is a further run


@dataclass(frozen=True)
class FirstChunkStats:
    """The facts about the first rows of a source that training needs before it starts."""

    table: Table  # the first rows
    sizes: Survey  # of their values
    classes: Array  # the labels, sorted; empty for a regression
    counts: Array | None = None  # rows of each class, if all have been counted
    in_runs: bool = False  # whether the first rows are sorted by class, which harms learning in that order


@dataclass(frozen=True)
class ChunkedJob:
    """A fit from a source of chunks: the source, the algorithm, and the plan."""

    chunks: Any
    # Returns the settings for the `FirstChunkStats`: some depend on the sizes of the values and on the classes.
    configure: Callable[[FirstChunkStats], Settings]
    # Its order is "cyclic", or "shuffled": epochs after the first then shuffle the chunks of a cached source, and the
    # rows in each.
    plan: Plan
    classes: Array | None = None  # labels to expect; others raise an error. None: those of the rows
    regression: bool = False  # whether the labels are numbers to predict
    # (k, j): rows j, j + k, j + 2k, ... from 0 are not trained on, but measure the error.
    hold_out: tuple[int, int] | None = None
    validation: Any = None  # the same, from another source
    balanced: bool = False  # whether all labels must be counted before training
    start: Start | None = None  # the training to continue
    after_chunk: Callable[[InChunks], None] | None = None  # called with the runner after each chunk
    interrupted: Callable[[], bool] = field(default=lambda: False)  # whether to end after this chunk


class Outcome(NamedTuple):
    """The result of training from a source: the stream and the record."""

    settings: Settings
    learned: Learned
    run: Run
    in_runs: bool  # whether rows of one class come together
    opened: OpenPass | None  # the pass, if there was one only
    continued: bool  # whether it continues the pass of an earlier training
    first: FirstChunkStats

    def model(self, **more: Any) -> LinearModel:
        """Return the weights that predict."""
        W, b = used_weights(self.settings, self.learned.state)
        return LinearModel(W, b, self.learned.classes, self.settings.multiclass, **more)


class NewLabels(Exception):
    """A label that was not among those of the first rows."""


class Resumption(NamedTuple):
    """A training to continue: its labels, the rows of each, and a function that restores the trainer."""

    classes: Array
    counts: Array | None
    restore: Callable[[Trainer], None]


def learn_chunks(job: ChunkedJob, resume: Resumption | None = None) -> Outcome:
    """Train on a source, chunk by chunk.

    Labels that the first chunk does not have are unknown when training begins. If one appears, the rest of the source
    is read for its labels, and training starts over: the result does not depend on where it appeared.
    With `resume`, an earlier training continues.
    """
    if job.plan.order == "random":
        raise InvalidInput("Rows of a file cannot be drawn at random. Choose shuffle=True or False.")
    if job.plan.batch and job.plan.order == "shuffled":
        raise InvalidInput("Batch updates do not depend on the order of the rows. Drop batch, or the shuffling.")
    read: list[Chunk] = []
    rest = iter(job.chunks)
    first = _read_first(job, read, rest)
    if resume is not None:
        first = _with_labels_of(resume, job, first, read)
    try:
        return _train(job, first, chain(read, rest), resume)
    except NewLabels as label:
        if not job.chunks.again:
            for _ in rest:  # completes the cache of standard input, if there is one
                pass
        if not job.chunks.again:
            raise InvalidInput(
                f"The first rows do not have all labels: {label} comes later, and standard input cannot be read again. "
                "Announce all labels as classes, or pass a file."
            ) from None
    return _train(job, _count_labels(job, first), iter(job.chunks), None)


def _train(job: ChunkedJob, first: FirstChunkStats, chunks: Iterator[Chunk], resume: Resumption | None) -> Outcome:
    if not job.regression and first.classes.size < 2:
        # The first chunk may be of one class only.
        raise NewLabels("another label")
    settings = job.configure(first)
    if job.plan.batch and not settings.algorithm.finite_updates:
        raise InvalidInput("Batch updates are for the perceptron without a penalty. Drop batch, or the penalty.")
    with ThreadPoolExecutor(job.plan.n_jobs) as pool:
        runner = InChunks(job, first, settings, chunks, pool if job.plan.n_jobs > 1 else None)
        trainer = Trainer(job.plan, runner)
        runner.trainer = trainer
        if resume is not None:
            resume.restore(trainer)
        run = trainer.run()
    before, continues = job.start, runner.continues
    trials, mistakes = run.trials, sum(run.mistakes)
    if before is not None:
        trials += before.learned.trials - (continues.trials if continues else 0)
        mistakes += before.learned.mistakes - (int(continues.mistakes.sum()) if continues else 0)
    learned = Learned(first.classes, runner.state, trials, mistakes, ())
    return Outcome(settings, learned, run, first.in_runs, runner.open_pass(), continues is not None, first)


# --------------------------------------------------------------------------------------------------- before training


def _read_first(job: ChunkedJob, read: list[Chunk], rest: Iterator[Chunk]) -> FirstChunkStats:
    """Read the first chunks, until there are enough rows to estimate the size of the values."""
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
    known = NO_CLASSES if job.start is None else job.start.learned.classes
    if job.regression or job.balanced:  # no class is known before all are counted
        return FirstChunkStats(table, sizes, NO_CLASSES)
    if job.classes is not None:
        return FirstChunkStats(table, sizes, _with_known(np.unique(job.classes), known))
    label = np.concatenate([chunk.label for chunk in read])
    _refuse_ids(label[:SURVEYED_ROWS])
    in_runs = label.size >= FEWEST_ROWS_IN_RUNS and not mixed(as_labels(label, label.size)[1])
    return FirstChunkStats(table, sizes, _with_known(_labels(read)[0], known), in_runs=in_runs)


def _refuse_ids(label: Array) -> None:
    """Raise an error if no two of the first rows share a label."""
    if label.size >= FEWEST_ROWS_IN_RUNS and np.unique(label).size == label.size:
        raise InvalidInput(
            f"Each of the first {label.size} rows has a different label, such as {label[0].item()!r}: this looks like "
            "an id, or a number to predict. Choose the column with the classes by --label NAME, or learn numbers by "
            "--learner adaline-regressor."
        )


def _with_labels_of(resume: Resumption, job: ChunkedJob, first: FirstChunkStats, read: list[Chunk]) -> FirstChunkStats:
    """Return the statistics with the classes of a checkpoint, which must include those of the first rows."""
    classes, counts = resume.classes, resume.counts
    if job.regression:
        fits = classes.size == 0
    elif job.classes is not None:
        fits = np.array_equal(classes, first.classes)
    else:
        labels, _ = _labels(read)
        fits = (classes.dtype.kind == "U") == (labels.dtype.kind == "U") and bool(np.isin(labels, classes).all())
    if not fits or (job.balanced and counts is None):
        raise InvalidInput("The checkpoint has other labels than the rows. Remove it, and train again.")
    return replace(first, classes=classes, counts=counts)


def _with_known(labels: Array, known: Array) -> Array:
    """Return labels, and those of the training that is continued."""
    return np.union1d(labels, known) if known.size else labels


def _count_labels(job: ChunkedJob, first: FirstChunkStats) -> FirstChunkStats:
    """Return the statistics with the labels of all rows."""
    classes, counts = _labels(job.chunks)
    if job.start is not None:
        return replace(first, classes=_with_known(classes, job.start.learned.classes))
    if classes.size < 2:
        raise InvalidInput(f"All rows have the label {classes[0].item()!r}. Training needs at least two classes.")
    return replace(first, classes=classes, counts=counts, in_runs=first.in_runs or first.classes.size == 1)


def _labels(chunks: Any) -> tuple[Array, Array]:
    """Return the labels of chunks, sorted, and how many rows have each."""
    rows: dict[Any, int] = {}
    kind: Any = None
    for chunk in chunks:
        if chunk.label.size:
            labels, number = as_labels(chunk.label, chunk.label.size)
            kind = labels.dtype
            for label, count in zip(labels.tolist(), np.bincount(number).tolist(), strict=True):
                rows[label] = rows.get(label, 0) + count
    classes = np.array(sorted(rows), dtype=kind if kind is not None and kind.kind != "U" else None)
    return classes, np.array([rows[label] for label in classes.tolist()])


def survey_first(tables: Any) -> Survey:
    """Return the root mean squares of the first rows, which do not depend on the size of the chunks.

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


# ----------------------------------------------------------------------------------------------------------- the runner


class InChunks(LinearRunner):
    """Runs epochs over the chunks of a source.

    Attributes
    ----------
    epoch, trials, chunks : int
        The epoch in progress, and its trials and chunks so far.
    position : Position or None
        Position after the last chunk.
    """

    trainer: Trainer

    def __init__(
        self,
        job: ChunkedJob,
        first: FirstChunkStats,
        settings: Settings,
        chunks: Iterator[Chunk],
        pool: ThreadPoolExecutor | None,
    ) -> None:
        self.job, self.first, self.settings, self.classes = job, first, settings, first.classes
        if job.regression:
            self.sign, self.cost = np.ones((1, 1), np.int8), None
        else:
            self.sign = coding_matrix(self.classes.size, settings.multiclass)
            self.cost = class_costs(settings.class_weight, self.classes, first.counts)
        super().__init__(
            settings.algorithm,
            job.plan,
            self.sign.shape[1],
            settings.multiclass,
            settings.bias,
            regression=job.regression,
            pool=pool,
        )
        self.words = self.words | {Stop.CALLBACK: _INTERRUPTED}
        self.validates = job.hold_out is not None or job.validation is not None
        self.leaves_out = self.cost is not None and not self.cost.all()
        self.n_rows, self.largest = 0, 0.0
        # The chunks of the next epoch, if some of them have been read already, or if a training continues.
        self.next_chunks: Iterator[Chunk] | None = chunks
        self.epoch, self.trials, self.chunks = 0, 0, 0
        self.position: Any = None
        self.resumed = False
        self.rows_read = 0  # in the epoch in progress
        self.continues = self._pass_to_continue()
        if self.continues is not None:
            self.largest, self.leaves_out = self.continues.largest, self.continues.trials < self.continues.rows

    def begin(self) -> None:
        """Make the state before the first row."""
        if self.state is not None:
            return
        pairs = by_pairs(self.multiclass)
        state = start_state(self.algorithm, self.sign.shape[1], self.first.table, None, self.rate_scale, by_pairs=pairs)
        if self.job.start is None:
            self._begin(state)
            return
        learned = self._learned_before(self.job.start.learned)
        if self.continues is None:
            self._begin(copy_state(learned, state))
            return
        self._begin(state)  # returning weights are those before the pass
        copy_state(learned, state)
        self.epoch, self.trials, self.resumed = 1, self.continues.trials, True
        copy_state(self.continues.counts, self.counts)

    def _pass_to_continue(self) -> OpenPass | None:
        """Return the pass of an earlier training, if this is a single pass over rows of the same problems."""
        start, plan = self.job.start, self.plan
        if start is None or start.opened is None or plan.max_iter > 1 or plan.batch:
            return None
        alike = np.array_equal(start.learned.classes, self.classes)
        return start.opened if alike and start.opened.mistakes.size == self.parts else None

    def _learned_before(self, learned: Learned) -> Any:
        """Return the state of an earlier training, for the classes of this one; new ones start from zero."""
        known = self.sign.shape[1]
        if not self.job.regression and not np.array_equal(learned.classes, self.classes):
            stream = Stream(self.settings, learned)
            stream.meet(self.classes)
            learned = stream.learned
        return type(learned.state)(*(array[:known] for array in learned.state))  # without a reserve class

    def open_pass(self) -> OpenPass | None:
        """Return the pass that further rows can continue; None after several."""
        if self.plan.max_iter > 1 or self.plan.batch:
            return None
        before = 0 if self.continues is None else self.continues.rows
        return OpenPass(before + self.rows_read, self.trials, self.largest, *self.counts)

    def resume(self, position: Position) -> None:
        """Continue in the middle of an epoch, after a position of the source."""
        self.resumed = True
        shuffled = self.epoch > 1 and self.plan.order == "shuffled"
        if not shuffled:
            self.position = position
            self.next_chunks = self.job.chunks.read(position)

    def run_epoch(self, epoch: int, active: list[int], clock: RunClock) -> EpochStats:
        """Present the rows of a source, chunk by chunk, until they or the time are over, or the user interrupts."""
        if self.continues is not None:
            self.begin()
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
                task = self._task(chunk)
                self._present(EpochArgs(chunk.table.rows, task, order, order, problems, rate, self.counts, self.joint))
                self.trials += order.size
            self.chunks, self.position = self.chunks + 1, chunk.after
            if self.job.after_chunk is not None:
                self.job.after_chunk(self)
            if clock.late or self.job.interrupted():
                complete = False
                break
        if self.state is None:
            raise InvalidInput("There are no rows to learn from: all of them are held out, or have no weight.")
        self._add_batch()
        if self.trials and (complete or not self.n_rows):
            self.n_rows = self.trials
        return self._stats(epoch, self.trials, complete)

    # -------------------------------------------------------------------------------------------------- rows and labels

    def _ordered(self, epoch: int) -> Iterator[tuple[Chunk, Array]]:
        """Yield the chunks of an epoch, each with the rows to learn from in their order."""
        source, seed = self.job.chunks, self.plan.random_state
        if epoch > 1 and self.plan.order == "shuffled":
            if not source.cached:
                source.build_cache()
            numbers = np.random.default_rng([seed, epoch]).permutation(source.chunk_count)
            for number in numbers[self.chunks :].tolist():
                chunk = source.chunk(number)
                order = self._rows(chunk, chunk.after.row - chunk.table.shape[0])
                yield chunk, np.random.default_rng([seed, epoch, number]).permutation(order)
            return
        chunks, self.next_chunks = self.next_chunks or iter(source), None
        # A training that continues in the middle of an epoch begins with the row after the last that it learned from.
        start = self.position.row if self.chunks else 0
        before = 0 if self.continues is None else self.continues.rows
        self.rows_read = start
        for chunk in chunks:
            self.rows_read += chunk.table.shape[0]
            yield chunk, self._rows(chunk, before + start)
            start = self.rows_read

    def _rows(self, chunk: Chunk, start: int, held_out: bool = False) -> Array:
        """Return the rows of a chunk that are trained on, or those that are held out."""
        n_rows = chunk.table.shape[0]
        selected = np.ones(n_rows, bool) if chunk.weight is None else chunk.weight != 0
        if self.job.hold_out is not None:
            every, first = self.job.hold_out
            outside = (np.arange(start, start + n_rows) - first) % every == 0
            selected &= outside if held_out else ~outside
        if not held_out:
            self.leaves_out |= not bool(selected.all())
        return row_numbers(np.flatnonzero(selected))

    def _task(self, chunk: Chunk) -> Task:
        weight = np.empty(0)
        if chunk.weight is not None and chunk.weight.any():
            weight = as_weights(chunk.weight, chunk.table.shape[0])
        if self.job.regression:
            return regression_task(as_targets(chunk.label), weight, self.bias)
        return self._labelled(chunk, weight, strict=True)

    def _labelled(self, chunk: Chunk, weight: Array, *, strict: bool) -> Task:
        """Return the task of a chunk; an unknown label is -1, or an error if `strict`."""
        labels, number = as_labels(chunk.label, chunk.table.shape[0])
        place = np.minimum(np.searchsorted(self.classes, labels), self.classes.size - 1)
        known = self.classes[place] == labels
        if strict and not known.all():
            new = labels[~known][0].item()
            if self.job.classes is None:
                raise NewLabels(f"label {new!r}")
            raise InvalidInput(
                f"A row has the label {new!r}, which is not among the announced classes "
                f"{self.classes.tolist()!r:.200}. Announce it, or correct the row."
            )
        label = np.where(known, place, -1).astype(np.int32)[number]
        return make_task(label, self.sign, self.multiclass, class_cost=self.cost, weight=weight, bias=self.bias)

    # --------------------------------------------------------------------------------------------------------- measures

    def error(self, clock: RunClock) -> float | None:
        """Return the share of wrong rows, by weight, or half a regression's mean squared error; None if out of time."""
        source, held_out = self.job.chunks, self.job.hold_out is not None
        if self.job.validation is not None:
            source, held_out = self.job.validation, False
        # Sums without rounding: the error does not depend on the size of the chunks.
        wrong: list[float] = []
        total: list[float] = []
        start = 0 if self.continues is None else self.continues.rows
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
        """Return the weight of each row, and its error times that."""
        weight = np.empty(0) if chunk.weight is None else chunk.weight
        own = weight[rows] if weight.size else np.ones(rows.size)
        if self.job.regression:
            predicted = scores(chunk.table, self.planes, rows)[:, 0]
            return own, own * 0.5 * (predicted - as_targets(chunk.label)[rows]) ** 2
        task = self._labelled(chunk, weight, strict=False)
        label = task.label[rows]
        costs = np.append(task.class_cost, 1.0)[label] * own
        if not weight.size and (task.class_cost == 1.0).all() and not by_pairs(self.multiclass):
            wrong, total = weigh_errors(chunk.table.rows, task, rows, self.planes)
            return np.array([total]), np.array([wrong])
        problem_scores = scores(chunk.table, self.planes, rows)
        elected = winners(decision(problem_scores, self.classes.size, self.multiclass))
        return costs, costs * (elected != label)

    def fits(self, part: int, clock: RunClock) -> bool:
        """Return False: after an epoch that was cut short, the remaining rows are not read."""
        return False

    def weights(self) -> tuple[Any, Array]:
        """Return the weights at the learning rate, sparse where rows have used few of many columns."""
        return used_weights(self.settings, self.state)

    @property
    def mean_loss(self) -> float:
        """Mean loss of the trials of the epoch in progress, each before it was learned from."""
        return float(self.counts.loss.sum()) * self.rate_scale / max(self.trials, 1)
