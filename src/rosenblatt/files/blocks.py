"""Blocks of whole lines from one file after another, and threads that work on them in order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from io import BufferedIOBase
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.files.source import (
    BYTE_ORDER_MARK,
    MAGIC_BYTES,
    MAX_LINE_BYTES,
    STANDARD_INPUT,
    FilePath,
    open_raw,
    packing,
    reading,
)

Array = npt.NDArray[Any]
Item = TypeVar("Item")
Result = TypeVar("Result")

TAIL_BYTES = 1 << 12  # that are looked through for the last newline at a time
QUEUED_PER_THREAD = 1
MOST_AT_ONCE = 1 << 24


class Block(NamedTuple):
    """Whole lines of a file.

    Attributes
    ----------
    text : uint8 array, or rows of a table that is not text
        The last byte is a newline.
    file, start, end : int
        Number of the file, and where the lines begin and end in it, after unpacking.
    last : bool
        Whether the file ends with it.
    """

    text: Any
    file: int
    start: int
    end: int
    last: bool


def last_line_end(text: Array) -> int:
    """Return where the last whole line of a text ends, or 0 if there is none."""
    end = text.size
    while end > 0:
        begin = max(end - TAIL_BYTES, 0)
        place = text[begin:end].tobytes().rfind(b"\n")
        if place >= 0:
            return begin + place + 1
        end = begin
    return 0


class BlockReader:
    """Read files one after another, in blocks of whole records.

    Parameters
    ----------
    paths : sequence of path-like
    size : int
        Bytes to read at a time.
    record_end : function
        From a text that begins with a record to the place where its last whole record ends, or 0.
    opened : function
        From a path to a stream of its bytes as they are on the disk.
    """

    def __init__(
        self,
        paths: Sequence[FilePath],
        size: int,
        record_end: Callable[[Array], int] = last_line_end,
        opened: Callable[[FilePath], BufferedIOBase] = open_raw,
    ) -> None:
        self.paths, self.size, self.record_end, self.opened = paths, size, record_end, opened
        self.finished = 0  # bytes on the disk of files that were read to their end
        self._raw: Any = None

    def bytes_read(self) -> int:
        """Return how many bytes were read so far, as they are on the disk."""
        try:
            return self.finished + (int(self._raw.tell()) if self._raw is not None else 0)
        except (OSError, ValueError):  # a pipe; or closed a moment ago by the thread that reads
            return self.finished

    def blocks(self, file: int = 0, offset: int = 0) -> Iterator[Block]:
        """Yield all blocks from a place on."""
        for number in range(file, len(self.paths)):
            path = self.paths[number]
            with ExitStack() as stack:
                stack.enter_context(reading(path))
                stream = stack.enter_context(self._open(path, stack))
                yield from self._cut(stream, number, self._skip(stream, offset if number == file else 0))
                self._close()

    def _open(self, path: FilePath, stack: ExitStack) -> Any:
        raw = stack.enter_context(self.opened(path))
        self._raw = raw if path != STANDARD_INPUT else None
        opener = packing(cast(Any, raw).peek(MAGIC_BYTES)[:MAGIC_BYTES])
        return raw if opener is None else opener(raw)

    def _close(self) -> None:
        self.finished, self._raw = self.bytes_read(), None

    def _skip(self, stream: Any, offset: int) -> int:
        """Move a stream to an offset, by reading where it cannot seek."""
        if offset:
            if stream.seekable():
                stream.seek(offset)
            else:
                rest = offset
                while rest and (part := stream.read(min(self.size, rest))):
                    rest -= len(part)
        return offset

    def _cut(self, stream: Any, file: int, offset: int) -> Iterator[Block]:
        rest = np.empty(0, np.uint8)
        while True:
            # More at once while a record goes on: otherwise small blocks would look through it over and over.
            size = max(self.size, min(rest.size, MOST_AT_ONCE))
            room = np.empty(rest.size + size + 1, np.uint8)  # one for a newline at the end
            room[: rest.size] = rest
            count = _fill(stream, memoryview(cast(Any, room))[rest.size : -1])
            text = room[: rest.size + count]
            mark = len(BYTE_ORDER_MARK) if offset == 0 and text[:3].tobytes() == BYTE_ORDER_MARK else 0
            if count < size:
                if text.size > mark:
                    if text[-1] != 10:
                        text = room[: text.size + 1]
                        text[-1] = 10
                    yield Block(text[mark:], file, offset, offset + text.size, True)
                return
            end = mark + self.record_end(text[mark:])
            if offset == 0 and not text[mark:end].tobytes().strip():
                end = 0  # the first block of a file has its first record: parsers look there for a header
            if end > mark:
                yield Block(text[mark:end], file, offset, offset + end, False)
            rest = text[end:].copy()
            offset += end
            if rest.size > MAX_LINE_BYTES:
                raise InvalidInput(
                    f"{self.paths[file]} has a line of over {MAX_LINE_BYTES} bytes, after byte {offset}. Pass a text "
                    "file with one row on each line."
                )


def _fill(stream: Any, room: memoryview) -> int:
    """Read until the room is full or the stream ends, and return the number of bytes."""
    count = 0
    while count < len(room):
        read = stream.readinto(room[count:])
        if not read:
            break
        count += read
    return count


# ----------------------------------------------------------------------------------------------------------- threads


def in_order(items: Iterable[Item], work: Callable[[Item], Result], threads: int) -> Iterator[Result]:
    """Yield work(item) for each item, in order, worked out by threads ahead of the consumer.

    One more thread takes the items from their iterable. One item for each thread, and one more, are under way at most.
    An error is raised where its result would have come. When the consumer stops, the threads end.

    Parameters
    ----------
    items : iterable
    work : function
    threads : int
        0: all happens when the consumer asks for it.
    """
    if threads == 0:
        yield from map(work, items)
        return
    under_way = threading.Semaphore(QUEUED_PER_THREAD * threads + 1)
    results: queue.SimpleQueue[Future[Result] | None] = queue.SimpleQueue()
    stopped = threading.Event()
    pool = ThreadPoolExecutor(threads, "rosenblatt-parse")

    def take() -> None:
        try:
            for item in items:
                under_way.acquire()
                if stopped.is_set():
                    return
                results.put(pool.submit(work, item))
            results.put(None)
        except BaseException as error:  # raised where the consumer is
            failed: Future[Result] = Future()
            failed.set_exception(error)
            results.put(failed)

    reader = threading.Thread(target=take, name="rosenblatt-read", daemon=True)
    reader.start()
    try:
        while (future := results.get()) is not None:
            yield future.result()
            under_way.release()
    finally:
        stopped.set()
        under_way.release()
        pool.shutdown(cancel_futures=True)
