"""Checkpoints: a training that was killed continues from the last one, and ends with the same model, bit for bit."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.files.chunks import Position
from rosenblatt.storage.atomic import target_of
from rosenblatt.storage.checks import check_array, check_classes, entries
from rosenblatt.storage.container import Content, read, write
from rosenblatt.storage.registry import expect, stored
from rosenblatt.training.algorithm import copy_state
from rosenblatt.training.chunked import InChunks, Resumption
from rosenblatt.training.stopping import Stop
from rosenblatt.training.trainer import Trainer

Array = npt.NDArray[Any]

# Upper bound on the counts of a checkpoint: larger ones might overflow when continued.
MOST = 1 << 48


def _are_counts(*values: int, least: int = 0) -> bool:
    return all(least <= value < MOST for value in values)


def _are_figures(values: Iterable[float]) -> bool:
    """Return whether values can be compared: infinity can, NaN cannot."""
    return not any(math.isnan(value) for value in values)


def _check_of_trainer(seen: OfTrainer) -> None:
    expect(_are_counts(*seen.mistakes, seen.updates, seen.trials), "it has invalid counts")
    expect(len(seen.losses) == len(seen.mistakes), "its losses are not those of its epochs")
    expect(len(seen.errors) in (0, len(seen.mistakes)), "its errors are not those of its epochs")
    figures = (*seen.losses, *(e for e in seen.errors if e is not None), seen.fewest, seen.fewest_mistakes)
    expect(_are_figures(figures), "it has a figure that is not a number")
    expect(0 <= seen.kept <= len(seen.mistakes), f"it keeps the weights of epoch {seen.kept}, which does not exist")


@stored("Checkpoint.trainer", check=_check_of_trainer)
class OfTrainer(NamedTuple):
    """The progress of a `Trainer`: its attributes of these names."""

    fewest: float
    kept: int
    fewest_mistakes: float
    candidate: bool
    mistakes: list[int]
    losses: list[float]
    errors: list[float | None]
    updates: int
    trials: int


def _check_of_rules(seen: OfRules) -> None:
    expect(seen.cycle is None or _are_counts(seen.cycle, least=1), f"it has a cycle of {seen.cycle} epochs")
    expect(_are_counts(*seen.cycle_ends, *seen.cycle_ends.values()), "it has invalid ends of cycles")
    expect(_are_figures(seen.lowest) and _are_counts(*seen.stale), "it has an impossible progress")


@stored("Checkpoint.rules", check=_check_of_rules)
class OfRules(NamedTuple):
    """The progress of the `StoppingRules`: their attributes of these names."""

    active: list[int]
    stops: dict[int, Stop]
    cycle_ends: dict[int, int]
    cycle: int | None
    lowest: list[float]
    stale: list[int]


def _check_of_runner(seen: OfRunner) -> None:
    expect(_are_counts(seen.epoch, seen.chunks, least=1), "it is not in the middle of an epoch")
    expect(_are_counts(seen.trials, seen.n_rows), "it has invalid counts")
    first = seen.epoch == 1
    expect((seen.n_rows == 0) == first and seen.trials >= first, "its rows are not those of its epochs")
    expect(0.0 <= seen.largest < math.inf, f"it has rows of the squared length {seen.largest}")


@stored("Checkpoint.runner", check=_check_of_runner)
class OfRunner(NamedTuple):
    """The progress of a runner: its attributes of these names."""

    epoch: int
    trials: int
    chunks: int
    n_rows: int
    largest: float


def _check_position(position: Position) -> None:
    row, file, offset, line = position
    # Inside a block of a file only the row is known.
    expect(_are_counts(row, least=1) and _are_counts(file + 1, offset, line), "it continues at an invalid position")


stored("Position", check=_check_position)(Position)


class Checkpoint:
    """A file with the progress of a training.

    Parameters
    ----------
    every : float
        Seconds between two checkpoints.
    identity : str
        Identifies the training: input, options, version. Another training does not continue from this file.
    """

    def __init__(self, path: str | os.PathLike[str], every: float, identity: str) -> None:
        self.path, self.every, self.identity = Path(target_of(path)), every, identity
        self.last = time.monotonic()

    def after_chunk(self, runner: InChunks) -> None:
        """Write a checkpoint if one is due."""
        if time.monotonic() - self.last >= self.every:
            self.write(runner)

    def write(self, runner: InChunks) -> None:
        """Write the progress of a training, in place of the earlier checkpoint."""
        try:
            if runner.state is not None:
                write(self.path, _take(runner, self.identity))
        finally:
            self.last = time.monotonic()

    def remove(self) -> None:
        """Remove the file: the training is over."""
        with suppress(FileNotFoundError):
            self.path.unlink()

    def resume(self) -> Resumption | None:
        """Return the last checkpoint; None if there is no file."""
        try:
            content = read(self.path)
        except FileNotFoundError:
            return None
        except InvalidInput as fault:
            raise InvalidInput(f"{self.path} is not a checkpoint: {fault}. Remove it, and train again.") from None
        if content.get("class") != "Checkpoint" or content.get("identity") != self.identity:
            raise InvalidInput(
                f"{self.path} is the checkpoint of another training: the files, the options or the version differ. "
                "Train with those, or remove it and train again."
            )
        with self._named():
            entries(content, ("class", "identity", "parameters", "attributes"))
            classes, counts = _labels(content)
        return Resumption(classes, counts, lambda trainer: self._restore(trainer, content))

    def _restore(self, trainer: Trainer, content: Content) -> None:
        with self._named():
            _restore(trainer, content)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Add the name of the file to a fault in its content."""
        try:
            yield
        except InvalidInput as fault:
            raise InvalidInput(
                f"{self.path} cannot be resumed: {str(fault).rstrip('.')}. Remove it, and train again."
            ) from None


def _fields(kind: Any, owner: Any) -> Any:
    """Return a record of the owner's attributes."""
    return kind(*(getattr(owner, name) for name in kind._fields))


def _take(runner: InChunks, identity: str) -> Content:
    trainer, cycle = runner.trainer, runner.cycle
    position = runner.position
    progress = {
        "trainer": _fields(OfTrainer, trainer),
        "rules": _fields(OfRules, trainer.rules),
        "runner": _fields(OfRunner, runner),
        "position": None if position is None else Position(*map(int, position)),
        "cycle": None if cycle is None else [cycle.power, cycle.length],
    }
    arrays = {
        "classes": runner.classes,
        "label_counts": runner.first.counts,
        "state": runner.state,
        "batch_sum": runner.batch_sum,
        "counts": list(runner.counts),
        "best": trainer.best,
        "mark": None if cycle is None else list(cycle.mark),
    }
    return {"class": "Checkpoint", "identity": identity, "parameters": progress, "attributes": arrays}


# The content of a checkpoint beside its class and its identity.
PROGRESS = ("trainer", "rules", "runner", "position", "cycle")
ARRAYS = ("classes", "label_counts", "state", "batch_sum", "counts", "best", "mark")


def _labels(content: Content) -> tuple[Array, Array | None]:
    """Return the classes, empty for a regression, and the rows of each if they were counted."""
    classes, counts, *_ = entries(content["attributes"], ARRAYS)
    if not isinstance(classes, np.ndarray) or classes.size:
        check_classes(classes)
    if counts is not None:
        check_array("the counts of the classes", counts, "l", classes.shape)
        expect(_are_counts(*counts.tolist(), least=1), "a class has fewer than one row")
    return classes, counts


def _restore(trainer: Trainer, content: Content) -> None:
    """Restore the progress of a trainer that has not begun, after checking all of it."""
    runner: Any = trainer.runner
    of_trainer, of_rules, of_runner, position, cycle = entries(content["parameters"], PROGRESS)
    _, _, state, total, counts, best, mark = entries(content["attributes"], ARRAYS)
    runner.begin()
    _check_progress(trainer, of_trainer, of_rules, of_runner, position)
    _copy(runner.algorithm, state, runner.state)
    expect((total is None) == (runner.batch_sum is None), "its updates are in a batch and these are not, or vice versa")
    if total is not None:
        _copy(runner.algorithm, total, runner.batch_sum)
    _copy_arrays("counts", counts, runner.counts)
    expect(best is None or trainer.plan.keep == "best", "it has the best weights, which this plan does not keep")
    expect(best is None or len(of_trainer.errors) == len(of_trainer.mistakes) > 0, "its best weights have no error")
    if best is not None:
        trainer.best = runner.snapshot()
        _copy(runner.algorithm, best, trainer.best)
    _restore_cycle(runner.cycle, cycle, mark)
    for owner, record in ((trainer, of_trainer), (trainer.rules, of_rules), (runner, of_runner)):
        for name, value in record._asdict().items():
            setattr(owner, name, value)
    runner.resume(position)


def _check_progress(trainer: Trainer, of_trainer: Any, of_rules: Any, of_runner: Any, position: Any) -> None:
    """Raise a `Fault` unless the progress of a checkpoint is one of this training."""
    kinds = type(of_trainer), type(of_rules), type(of_runner)
    expect(kinds == (OfTrainer, OfRules, OfRunner), "it does not say how far it is")
    expect(type(position) is Position, "it does not say where to continue")
    parts, active = set(range(trainer.runner.parts)), of_rules.active
    expect(active and active == sorted(parts.intersection(active)), f"its problems {active!r:.60} are not these")
    expect(of_rules.stops.keys() == parts.difference(active), "the problems that have ended are not the others")
    expect(of_rules.cycle_ends.keys() <= parts, "a problem cycles that does not exist")
    expect(len(of_rules.lowest) == len(of_rules.stale) == len(parts), "its progress is not that of these problems")
    epoch = of_runner.epoch
    fits = epoch == len(of_trainer.mistakes) + 1 and epoch <= trainer.plan.max_iter
    expect(fits, f"it is in epoch {epoch}, after {len(of_trainer.mistakes)} of {trainer.plan.max_iter}")
    measured = trainer.runner.validates or trainer.plan.keep == "best"
    expect(len(of_trainer.errors) == (epoch - 1 if measured else 0), "its errors are not those of its epochs")


def _restore_cycle(cycle: Any, lengths: Any, mark: Any) -> None:
    if cycle is None:
        expect(lengths is None and mark is None, "it looks for a cycle, which this training does not")
        return
    whole = isinstance(lengths, list) and len(lengths) == 2 and all(type(length) is int for length in lengths)
    expect(whole and 1 <= lengths[1] <= lengths[0] < MOST, "it has an invalid cycle")
    cycle.power, cycle.length = lengths
    expect(mark is not None, "its cycle has no weights to compare with")
    _copy_arrays("mark", mark, cycle.mark)


def _copy_arrays(name: str, stored: Any, arrays: Any) -> None:
    """Copy arrays from a file into some of the same types and shapes."""
    fits = isinstance(stored, list) and len(stored) == len(arrays)
    expect(
        fits
        and all(isinstance(old, np.ndarray) for old in stored)
        and all(old.shape == new.shape and old.dtype == new.dtype for old, new in zip(stored, arrays, strict=True)),
        f"its {name} do not fit",
    )
    expect(all(np.isfinite(old).all() for old in stored), f"its {name} have values that are not finite")
    for old, new in zip(stored, arrays, strict=True):
        new[...] = old


def _copy(algorithm: Any, stored: Any, state: Any) -> None:
    """Copy a state from a file into one that has its layout in memory."""
    algorithm.check_state(stored)
    fits = all(old.shape == new.shape and old.dtype == new.dtype for old, new in zip(stored, state, strict=True))
    expect(fits, "its weights do not fit")
    copy_state(stored, state)
