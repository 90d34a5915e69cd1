"""A model on disk: snapshots, and a journal of what changed since each.

The folder of a model has

    settings.json   as it was created
    snapshot-N      the model file after change N; for a model created from a file, snapshot-0 is that file
    journal-N       the changes since: first a line of the state after change N, then a line for each change

A journal begins with the digest of its snapshot, and of the settings if there is none. A snapshot counts once its
journal has the state; the newest one that counts, and its journal, are the model. See `rosenblatt.storage.journal`.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from rosenblatt.errors import InvalidInput
from rosenblatt.serving.learner import ServedLearner, digest, opened
from rosenblatt.serving.model import ServedModel, State, decoded_change, decoded_state, encoded
from rosenblatt.serving.problems import Problem
from rosenblatt.serving.requests import NewModel
from rosenblatt.storage.atomic import flush_folder, replace_file
from rosenblatt.storage.journal import Journal

KEPT = 5  # snapshots to return to
JOURNAL = re.compile(r"journal-(\d+)")
SETTINGS = "settings.json"


class StoredSnapshot(NamedTuple):
    """A snapshot as the API lists it."""

    seq: int
    time: float
    bytes: int


class Store:
    """The folder of one model, and its open journal.

    Attributes
    ----------
    folder : Path
    first : int
        Number of the snapshot that the open journal follows.
    journal : Journal
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal: Journal
        self.first = 0

    @classmethod
    def create(cls, folder: Path, settings: NewModel | None, file: bytes | None) -> Store:
        """Make the folder of a new model, whole or not at all."""
        beside = folder.parent / f".new-{folder.name}"
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(mode=0o700)
        content = msgspec.json.encode({"created": time.time(), "settings": settings})
        replace_file(beside / SETTINGS, [content])
        if file is not None:
            replace_file(beside / "snapshot-0", [file])
        journal = Journal(beside / "journal-0", digest(content if file is None else file))
        journal.append([encoded(State(settings=settings))])
        journal.close()
        os.rename(beside, folder)
        flush_folder(folder.parent)
        return cls(folder)

    def open(self) -> ServedModel:
        """Return the model as it was when its last change was acknowledged."""
        numbers = sorted(int(found[1]) for name in os.listdir(self.folder) if (found := JOURNAL.fullmatch(name)))
        for seq in reversed(numbers):
            journal = Journal(self.folder / f"journal-{seq}", self._digest(seq))
            if journal.rows:
                break
            journal.close()  # the process ended before this snapshot was complete: the one before it has a journal
            self._remove(seq)
        else:
            raise InvalidInput(f"{self.folder} has no journal. Restore it from a copy, or move the folder away.")
        for name in os.listdir(self.folder):
            if name.startswith("snapshot-") and not (self.folder / f"journal-{name[9:]}").exists():
                os.unlink(self.folder / name)
        self.journal, self.first = journal, seq
        state, *changes = journal.rows
        journal.rows = []
        model = ServedModel(decoded_state(state), self.learner(seq), self.learner)
        for number, line in enumerate(changes, 3):
            try:
                model.apply(decoded_change(line))
            except (Problem, InvalidInput, msgspec.MsgspecError) as error:
                journal.close()
                raise InvalidInput(
                    f"{journal.path}, line {number}: the change cannot be made again ({error}). Restore the folder "
                    "from a copy, or start the version of rosenblatt that wrote it."
                ) from None
        return model

    def _digest(self, seq: int) -> str:
        path = self._snapshot(seq)
        return digest((path if path.exists() else self.folder / SETTINGS).read_bytes())

    def _snapshot(self, seq: int) -> Path:
        return self.folder / f"snapshot-{seq}"

    def learner(self, seq: int) -> ServedLearner | None:
        """Return the learner of a snapshot; None if it is the beginning of a model that was created from settings."""
        path = self._snapshot(seq)
        if path.exists():
            return opened(path.read_bytes())
        if seq == 0 and (self.folder / "journal-0").exists():
            return None
        raise Problem("no-snapshot", f"There is no snapshot {seq}. There are {[one.seq for one in self.snapshots()]}.")

    def append(self, lines: Sequence[bytes]) -> None:
        """Write changes, and wait until they are on disk."""
        self.journal.append(lines)

    def snapshot(self, state: State, file: bytes) -> None:
        """Write a snapshot, and go on with a new journal; remove the oldest snapshots."""
        path = self.folder / f"journal-{state.seq}"
        replace_file(self._snapshot(state.seq), [file])
        journal = Journal(path, digest(file))
        try:
            journal.append([encoded(state)])
        except OSError:
            journal.close()
            self._remove(state.seq)
            raise
        self.journal.close()
        self.journal, self.first = journal, state.seq
        for old in self.snapshots()[:-KEPT]:
            self._remove(old.seq)

    def snapshots(self) -> list[StoredSnapshot]:
        """Return the snapshots, the oldest first."""
        found = []
        for name in os.listdir(self.folder):
            if match := JOURNAL.fullmatch(name):
                path = self._snapshot(int(match[1]))
                with suppress(FileNotFoundError):  # the oldest is being removed
                    status = os.stat(path if match[1] != "0" or path.exists() else self.folder / SETTINGS)
                    found.append(StoredSnapshot(int(match[1]), status.st_mtime, status.st_size))
        return sorted(found)

    def created(self) -> float:
        """Return when the model was created."""
        return float(msgspec.json.decode((self.folder / SETTINGS).read_bytes())["created"])

    def _remove(self, seq: int) -> None:
        for name in (f"journal-{seq}", f"snapshot-{seq}"):
            with suppress(OSError):
                (self.folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()

    def delete(self) -> None:
        """Remove the model."""
        gone = self.folder.parent / f".deleted-{self.folder.name}"
        shutil.rmtree(gone, ignore_errors=True)
        os.rename(self.folder, gone)
        flush_folder(self.folder.parent)
        shutil.rmtree(gone, ignore_errors=True)


def check_name(name: str) -> Any:
    """Raise a `Problem` unless a name can be that of a model, and of a folder everywhere."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", name):
        raise Problem(
            "invalid-row",
            f"{name!r:.80} is no name of a model. Take up to 64 of a-z, 0-9, - and _, the first not - or _.",
        )
