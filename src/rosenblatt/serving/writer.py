"""One task for each model makes its changes, one after the other, and answers when they are on disk.

Changes that wait are a group: they are made one by one, reach the journal together, and are answered together.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from rosenblatt.errors import InvalidInput, RosenblattError
from rosenblatt.serving.model import Change, Rollback, ServedModel, decoded_change, encoded
from rosenblatt.serving.problems import Problem
from rosenblatt.serving.store import Store

MAX_QUEUED = 1_000  # changes that wait
MANY_ROWS = 64  # so many are learned and predicted in a thread
# A snapshot is due after so many changes or bytes of the journal, or after so many seconds with a change.
SNAPSHOT_CHANGES, SNAPSHOT_BYTES, SNAPSHOT_SECONDS = 10_000, 1 << 26, 600.0
log = logging.getLogger("rosenblatt.serving")


class Request(NamedTuple):
    """A change that waits, and the future of its answer."""

    change: Change | None  # None: a snapshot
    answer: asyncio.Future[dict[str, Any]]


class Writer:
    """Owns a model: makes its changes, and lets others read it.

    Parameters
    ----------
    store : Store
        Of a model that is not open yet.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.model: ServedModel = store.open()
        self.queue: asyncio.Queue[Request | None] = asyncio.Queue(MAX_QUEUED)
        self.turn = asyncio.Lock()  # held while the model is changed or read in a thread
        self.used: set[tuple[Any, ...]] = set()  # kinds of work whose loops are compiled
        self.changes, self.snapshot_time = 0, time.monotonic()
        self.stopping = False
        self.task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to take changes."""
        self.task = asyncio.create_task(self._run())

    async def use(self, work: Callable[[ServedModel], Any], kind: str, rows: int) -> Any:
        """Return the result of work on the model; in a thread if it may take long, as compiling does."""
        learner = self.model.learner  # the first row, and the third class, take other loops
        kinds = kind, learner is None, 0 if learner is None else min(len(learner.classes), 3)
        async with self.turn:
            if rows < MANY_ROWS and kinds in self.used:
                return work(self.model)
            result = await asyncio.get_running_loop().run_in_executor(None, work, self.model)
            self.used.add(kinds)
            return result

    async def change(self, change: Change | None) -> dict[str, Any]:
        """Return the answer to a change once it is on disk; None asks for a snapshot."""
        if self.stopping:
            raise Problem("stopping", "The service is stopping. Try again after a moment.")
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        try:
            self.queue.put_nowait(Request(change, answer))
        except asyncio.QueueFull:
            raise Problem("busy", f"{MAX_QUEUED} changes of this model wait. Try again after a moment.") from None
        return await answer

    async def _run(self) -> None:
        while (first := await self.queue.get()) is not None:
            group, stop = [first], False
            while not self.queue.empty() and len(group) < MAX_QUEUED:
                request = self.queue.get_nowait()
                if request is None:
                    stop = True
                    break
                group.append(request)
            await self._answer(group)
            if stop:
                break

    async def _answer(self, group: Sequence[Request]) -> None:
        """Make the changes of a group, write them, and answer."""
        done: list[tuple[asyncio.Future[dict[str, Any]], Any]] = []
        lines: list[bytes] = []
        try:
            for request in group:
                if request.change is not None:
                    done.append((request.answer, await self._made(request.change, lines)))
            if lines:
                await asyncio.get_running_loop().run_in_executor(None, self.store.append, lines)
                self.changes += len(lines)
        except OSError as error:
            log.error("%s cannot be written: %s", self.store.folder, error)
            await self._recover()
            done = [(one.answer, Problem("disk", f"The change is not on disk ({error.strerror}).")) for one in group]
        except Exception:
            log.exception("A change of %s failed.", self.store.folder)
            await self._recover()
            done = [(one.answer, Problem("failed", "The service failed. Its log says more.")) for one in group]
        else:
            wanted = [request.answer for request in group if request.change is None]
            if wanted or self._is_due() or any(isinstance(request.change, Rollback) for request in group):
                written = await self._snapshot()
                done += [(answer, written) for answer in wanted]
        for answer, result in done:
            if answer.done():  # the client has gone
                continue
            if isinstance(result, Problem):
                answer.set_exception(result)
            else:
                answer.set_result(result)

    async def _made(self, change: Change, lines: list[bytes]) -> dict[str, Any] | Problem:
        """Make a change, and add its line of the journal; return the answer, or why it was refused."""
        line = encoded(change)
        again = self.model.repeats(change)
        try:
            # As the journal has it: what is learned now is what a restart learns.
            read = decoded_change(line)
            rows = 0 if isinstance(change, Rollback) else len(change.rows)
            answer: dict[str, Any] = await self.use(lambda model: model.apply(read), type(change).__name__, rows)
        except Problem as problem:
            return problem
        except RosenblattError as error:
            return Problem("invalid-row", str(error))
        if not again:
            lines.append(line)
        return answer

    def _is_due(self) -> bool:
        late = time.monotonic() - self.snapshot_time > SNAPSHOT_SECONDS
        many = self.changes >= SNAPSHOT_CHANGES or self.store.journal.size > SNAPSHOT_BYTES
        return self.changes > 0 and (many or late)

    async def _snapshot(self) -> dict[str, Any] | Problem:
        """Write a snapshot, unless nothing has changed or nothing is learned; return the answer to a request for one.

        Without it the journal has everything: changes are not refused because their snapshot cannot be written.
        """
        model, store = self.model, self.store
        if model.learner is not None and model.state.seq != store.first:
            try:
                file = await self.use(lambda model: model.known.save(), "save", MANY_ROWS)
                await asyncio.get_running_loop().run_in_executor(None, store.snapshot, model.state, file)
            except OSError as error:
                log.error("%s has no new snapshot: %s", store.folder, error)
                return Problem("disk", f"The snapshot is not on disk ({error.strerror}).")
            except Exception:
                log.exception("A snapshot of %s failed.", store.folder)
                return Problem("failed", "The service failed. Its log says more.")
            self.changes, self.snapshot_time = 0, time.monotonic()
        return {"snapshot": store.first}

    async def _recover(self) -> None:
        """Return to what is on disk."""
        async with self.turn:
            with suppress(OSError):
                self.store.close()
            try:
                self.model = await asyncio.get_running_loop().run_in_executor(None, self.store.open)
            except (OSError, InvalidInput) as error:
                log.error("%s cannot be read again, and takes no more changes: %s", self.store.folder, error)
                self.stopping = True

    async def stop(self) -> None:
        """Make the changes that wait, write a snapshot, and close the journal."""
        broken, self.stopping = self.stopping, True
        if self.task is not None:
            await self.queue.put(None)
            await self.task
        if broken:  # what could not be read again stays as it is on disk
            return
        await self._snapshot()
        with suppress(OSError):
            self.store.close()
