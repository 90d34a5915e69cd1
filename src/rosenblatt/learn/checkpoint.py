"""Checkpoints: a training that was killed goes on from the last one, and ends with the same model, bit for bit."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from rosenblatt.errors import InvalidInput
from rosenblatt.learn.chunked import InChunks, Resumption
from rosenblatt.learn.trainer import Trainer
from rosenblatt.methods.method import copy_state
from rosenblatt.storage.atomic import target_of
from rosenblatt.storage.container import Content, read, write
from rosenblatt.storage.registry import expect

# What a trainer and its observers remember, beside the weights.
TRAINER_FIELDS = (
    *("active", "stops", "cycle_ends", "cycle", "fewest", "kept", "fewest_mistakes", "looked"),
    *("mistakes", "losses", "errors", "updates", "trials"),
)
PRESENTER_FIELDS = ("epoch", "trials", "chunks", "n_rows", "largest")


class Checkpoint:
    """A file that holds where a training is.

    Parameters
    ----------
    path : path-like
    every : float
        Seconds between two checkpoints.
    identity : str
        Says which training it is: input, options, version. Another training does not go on from this file.
    """

    def __init__(self, path: str | os.PathLike[str], every: float, identity: str) -> None:
        self.path, self.every, self.identity = Path(target_of(path)), every, identity
        self.last = time.monotonic()

    def after_chunk(self, presenter: InChunks) -> None:
        """Write a checkpoint if it is time for one."""
        if time.monotonic() - self.last >= self.every:
            self.write(presenter)

    def write(self, presenter: InChunks) -> None:
        """Write where a training is, into the place of the checkpoint before."""
        try:
            if presenter.state is not None:
                write(self.path, _take(presenter, self.identity))
        finally:
            self.last = time.monotonic()

    def remove(self) -> None:
        """Remove the file: the training is over."""
        with suppress(FileNotFoundError):
            self.path.unlink()

    def resume(self) -> Resumption | None:
        """Return where the last checkpoint was; None if there is none."""
        try:
            content = read(self.path)
        except FileNotFoundError:
            return None
        except InvalidInput as fault:
            raise InvalidInput(f"{self.path} is no checkpoint: {fault}. Remove it, and train anew.") from None
        if content.get("class") != "Checkpoint" or content.get("identity") != self.identity:
            raise InvalidInput(
                f"{self.path} is the checkpoint of another training: the files, the options or the version differ. "
                "Train with those, or remove it and train anew."
            )
        arrays: Any = content["attributes"]
        return Resumption(arrays["classes"], arrays["label_counts"], lambda trainer: self._put(trainer, content))

    def _put(self, trainer: Trainer, content: Content) -> None:
        try:
            _put(trainer, content)
        except InvalidInput as fault:
            raise InvalidInput(f"{self.path} cannot be resumed: {str(fault).rstrip('.')}.") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(f"{self.path} cannot be resumed ({error}). Remove it, and train anew.") from None


def _take(presenter: InChunks, identity: str) -> Content:
    trainer = presenter.trainer
    cycle, position = presenter.cycle, presenter.position
    progress = {
        "trainer": {name: getattr(trainer, name) for name in TRAINER_FIELDS},
        "patience": None if trainer.patience is None else [trainer.patience.lowest, trainer.patience.stale],
        "divergence": [trainer.divergence.lowest, trainer.divergence.high],
        "presenter": {name: getattr(presenter, name) for name in PRESENTER_FIELDS},
        "position": None if position is None else [int(value) for value in position],
        "cycle": None if cycle is None else [cycle.power, cycle.length],
    }
    arrays = {
        "classes": presenter.classes,
        "label_counts": presenter.look.counts,
        "state": presenter.state,
        "sum": presenter.sum,
        "counts": list(presenter.counts),
        "best": trainer.best,
        "mark": None if cycle is None or cycle.mark is None else list(cycle.mark),
    }
    return {"class": "Checkpoint", "identity": identity, "parameters": progress, "attributes": arrays}


def _put(trainer: Trainer, content: Content) -> None:
    """Bring a trainer, which has not begun, to where another one was."""
    presenter: Any = trainer.presenter
    progress: Any = content["parameters"]
    arrays: Any = content["attributes"]
    presenter.begin()
    _copy(presenter.method, arrays["state"], presenter.state)
    if presenter.sum is not None:
        _copy(presenter.method, arrays["sum"], presenter.sum)
    for new, old in zip(presenter.counts, arrays["counts"], strict=True):
        expect(old.shape == new.shape and old.dtype == new.dtype, "its counts do not fit")
        new[:] = old
    for name, value in progress["trainer"].items():
        setattr(trainer, name, value)
    for name, value in progress["presenter"].items():
        setattr(presenter, name, value)
    if trainer.patience is not None:
        trainer.patience.lowest, trainer.patience.stale = progress["patience"]
    trainer.divergence.lowest, trainer.divergence.high = progress["divergence"]
    if arrays["best"] is not None:
        trainer.best = presenter.snapshot()
        _copy(presenter.method, arrays["best"], trainer.best)
    if presenter.cycle is not None:
        presenter.cycle.power, presenter.cycle.length = progress["cycle"]
        if arrays["mark"] is not None:
            presenter.cycle.set_mark()
            for new, old in zip(presenter.cycle.mark, arrays["mark"], strict=True):
                new[:] = old
    presenter.go_on(progress["position"])


def _copy(method: Any, stored: Any, state: Any) -> None:
    """Copy a state from a file into one that has its layout in memory."""
    method.check_state(stored)
    fits = all(old.shape == new.shape and old.dtype == new.dtype for old, new in zip(stored, state, strict=True))
    expect(fits, "its weights do not fit")
    copy_state(stored, state)
