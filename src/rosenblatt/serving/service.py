"""All models of a folder, in one process."""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import suppress
from pathlib import Path

from rosenblatt.errors import InvalidInput
from rosenblatt.serving.learner import check, opened
from rosenblatt.serving.problems import Problem
from rosenblatt.serving.requests import NewModel
from rosenblatt.serving.store import Store, check_name
from rosenblatt.serving.writer import Writer
from rosenblatt.storage.atomic import lock
from rosenblatt.text import count

MAX_MODELS = 1_000
ENDING = ".model"


class Service:
    """The models of a folder, each with its writer.

    A file NAME.model in the folder becomes the model NAME, unless there is one.

    Attributes
    ----------
    writers : dict
        The writer of each model, by its name.
    notes : list of str
        What an operator should know of the start.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.writers: dict[str, Writer] = {}
        self.notes: list[str] = []
        self.making: set[str] = set()
        self._lock = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            lock(self._lock)
        except BlockingIOError:
            os.close(self._lock)
            raise InvalidInput(f"{self.folder} is served by another process. End it, or name another folder.") from None
        except OSError:  # no locks on this file system
            pass
        self._read()

    def _read(self) -> None:
        """Open every model; raise an error that names what is damaged."""
        for left in (*self.folder.glob(".new-*"), *self.folder.glob(".deleted-*")):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        paths = sorted(self.folder.iterdir())
        for path in paths:
            if path.is_dir() and not path.name.startswith("."):
                self._open(path)
        for path in paths:
            if path.suffix == ENDING and path.is_file():
                self._take(path)

    def _open(self, folder: Path) -> None:
        try:
            check_name(folder.name)
            self.writers[folder.name] = Writer(Store(folder))
        except Problem as problem:
            raise InvalidInput(f"{folder} is no folder of a model: {problem.detail}") from None

    def _take(self, path: Path) -> None:
        """Make a model of a model file."""
        name = path.name.removesuffix(ENDING)
        if name in self.writers:
            self.notes.append(f"{path.name} is not read: the model {name} is there, and may have learned since.")
            return
        try:
            check_name(name)
            content = path.read_bytes()
            opened(content)
        except Problem as problem:
            raise InvalidInput(f"{path} cannot be served: {problem.detail}") from None
        self.writers[name] = Writer(Store.create(self.folder / name, None, content))
        self.notes.append(f"{path.name} is now the model {name}.")

    def start(self) -> None:
        """Begin to take changes."""
        for writer in self.writers.values():
            writer.start()

    def writer(self, name: str) -> Writer:
        """Return the writer of a model, or raise a `Problem`."""
        found = self.writers.get(name)
        if found is None:
            raise Problem("no-model", f"There is no model {name!r:.80}. Create it with PUT.")
        return found

    async def create(self, name: str, settings: NewModel | None, file: bytes | None) -> Writer:
        """Create a model from settings, or from a model file."""
        check_name(name)
        if name in self.writers or name in self.making:
            raise Problem("model-exists", f"There is a model {name!r}. DELETE it first, or take another name.")
        if len(self.writers) + len(self.making) >= MAX_MODELS:
            raise Problem("too-many", f"The service has {count(MAX_MODELS, 'model')}, as many as it takes.")
        self.making.add(name)
        try:
            await asyncio.get_running_loop().run_in_executor(None, self._make, name, settings, file)
            writer = Writer(Store(self.folder / name))
        except OSError as error:
            raise Problem("disk", f"The model cannot be written ({error.strerror}).") from None
        finally:
            self.making.discard(name)
        writer.start()
        self.writers[name] = writer
        return writer

    def _make(self, name: str, settings: NewModel | None, file: bytes | None) -> None:
        try:
            if file is not None:
                opened(file)
            elif settings is not None:
                check(settings)
        except InvalidInput as error:
            raise Problem("invalid-row", str(error)) from None
        Store.create(self.folder / name, settings, file)

    async def delete(self, name: str) -> None:
        """Delete a model with its snapshots."""
        writer = self.writer(name)
        del self.writers[name]
        self.making.add(name)
        try:
            await writer.stop()
            await asyncio.get_running_loop().run_in_executor(None, writer.store.delete)
        finally:
            self.making.discard(name)

    async def stop(self) -> None:
        """Make the changes that wait, write a snapshot of each model, and let other processes have the folder."""
        for writer in self.writers.values():
            await writer.stop()
        with suppress(OSError):
            os.close(self._lock)
