"""Open files, unpack them, and cut them into blocks of whole lines; threads work on blocks in order.

Nothing that a file says is trusted.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import math
import os
import queue
import stat
import sys
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from io import BufferedIOBase, BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput, MissingExtra

Array = npt.NDArray[Any]
FilePath = str | os.PathLike[str]
Item = TypeVar("Item")
Result = TypeVar("Result")

READ_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 28
STANDARD_INPUT = "-"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def _open_zstd(file: Any) -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]  # Python 3.14
    except ImportError:
        try:
            import zstandard  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            raise MissingExtra(
                "This file is packed with zstd, and no package that unpacks it is installed. "
                'Run: pip install "rosenblatt[files]", or unpack it.'
            ) from None
        return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    return zstd.ZstdFile(file)


# How to unpack a file, by its first bytes.
PACKINGS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": _open_zstd,
}
MAGIC_BYTES = max(map(len, PACKINGS))


def _unpacking_errors() -> tuple[type[BaseException], ...]:
    zstandard = sys.modules.get("zstandard")
    own = (zstandard.ZstdError,) if zstandard else ()
    zstd = sys.modules.get("compression.zstd")
    return (OSError, EOFError, zlib.error, lzma.LZMAError, *own, *((zstd.ZstdError,) if zstd else ()))


@contextmanager
def reading(path: FilePath) -> Iterator[None]:
    """Raise `InvalidInput` for any error while a file is read and unpacked."""
    try:
        yield
    except Exception as error:
        if isinstance(error, _unpacking_errors()) and not isinstance(error, MissingExtra):
            raise InvalidInput(
                f"{path} cannot be read to its end ({error}): it is damaged or cut short. Fetch it again."
            ) from None
        raise


def can_be_read_once(path: FilePath) -> bool:
    """Return whether a path is standard input or a pipe, such as a shell makes for <(command)."""
    if path == STANDARD_INPUT:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, TypeError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def open_raw(path: FilePath) -> BufferedIOBase:
    """Open a file without unpacking it; "-" is standard input."""
    if isinstance(path, str) and path == STANDARD_INPUT:
        # A copy of the descriptor, because the stream will be closed.
        return cast(BufferedIOBase, open(os.dup(sys.stdin.fileno()), "rb"))
    try:
        return open(Path(path), "rb")
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{path} cannot be opened ({reason}). Pass the path of a file that can be read.") from None


class StandardInput:
    """Standard input or a pipe: its start can be inspected before all of it is read once."""

    def __init__(self, path: FilePath = STANDARD_INPUT) -> None:
        self._stream = open_raw(path)
        self._start = b""

    def start(self, size: int) -> bytes:
        """Return the first bytes; fewer if the stream is shorter."""
        if len(self._start) < size:
            self._start += read_up_to(self._stream, size - len(self._start))
        return self._start

    def open(self) -> BufferedIOBase:
        """Return the stream, the first bytes included."""
        if self._stream.closed:
            raise InvalidInput(
                "Standard input can be read only once. Keep a cache for further passes, or pass the path of a file."
            )
        return cast(BufferedIOBase, BufferedReader(_Chained(self._start, self._stream), READ_BYTES))

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def __del__(self) -> None:
        # An error in another file can leave it unread.
        if "_stream" in self.__dict__:
            self.close()


class _Chained(RawIOBase):
    """A stream after some bytes that were read from it."""

    def __init__(self, start: bytes, rest: BufferedIOBase) -> None:
        self._start, self._rest = memoryview(start), rest

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        if not len(self._start):
            return self._rest.readinto(room)
        size = min(len(room), len(self._start))
        room[:size] = self._start[:size]
        self._start = self._start[size:]
        return size

    def close(self) -> None:
        self._rest.close()
        super().close()


def unpacked_start(start: bytes, size: int) -> bytes:
    """Return the first bytes of a file after unpacking, given its first bytes on disk."""
    opener = packing(start)
    if opener is None:
        return start[:size]
    content, stream = bytearray(), opener(BytesIO(start))
    with contextlib.suppress(*_unpacking_errors()):  # the start is cut off somewhere
        while len(content) < size and (part := stream.read(1 << 12)):
            content += part
    return bytes(content[:size])


def packing(start: bytes) -> Callable[[Any], Any] | None:
    """Return the function that unpacks a file with these first bytes, or None if it is not packed."""
    return next((opener for magic, opener in PACKINGS.items() if start.startswith(magic)), None)


@contextmanager
def open_unpacked(path: FilePath) -> Iterator[tuple[BufferedIOBase, float]]:
    """Open a file, unpacking it if necessary; return the stream and the maximum of bytes that it can hold."""
    with open_raw(path) as file, reading(path):
        status = os.fstat(file.fileno())
        held = float(status.st_size) if stat.S_ISREG(status.st_mode) else math.inf
        start = cast(Any, file).peek(MAGIC_BYTES)[:MAGIC_BYTES]
        opener = packing(start)
        if opener is None:
            yield file, held
        else:
            with opener(file) as unpacked:
                # A byte of a gzip file can become 1032.
                yield unpacked, held * 1032 if start[:2] == b"\x1f\x8b" else math.inf


def read_up_to(stream: BufferedIOBase, size: int) -> bytearray:
    """Read up to `size` bytes; memory grows with the content, not with `size`."""
    content = bytearray()
    while len(content) < size and (part := stream.read(min(READ_BYTES, size - len(content)))):
        content += part
    return content


# ------------------------------------------------------------------------------------------------------------ blocks


class FileBlock(NamedTuple):
    """Whole lines of a file."""

    text: Any  # bytes in an array, the last one a newline; or a record batch of pyarrow
    start: int  # where the lines begin and end in the file, after unpacking
    end: int
    last: bool  # whether the file is known to end with it; unknown if it ends where a block was full


def last_line_end(text: Array) -> int:
    """Return where the last whole line of a text ends, or 0."""
    end = text.size
    while end > 0:
        begin = max(end - (1 << 12), 0)
        place = text[begin:end].tobytes().rfind(b"\n")
        if place >= 0:
            return begin + place + 1
        end = begin
    return 0


class BlockReader:
    """Read a file in blocks of whole records, of about `size` bytes.

    `record_end` returns where the last whole record ends in a text that begins with a record, or 0. `open_path` opens
    the file without unpacking it.
    """

    def __init__(
        self,
        path: FilePath,
        size: int,
        record_end: Callable[[Array], int] = last_line_end,
        open_path: Callable[[FilePath], BufferedIOBase] = open_raw,
    ) -> None:
        self.path, self.size, self.record_end, self.open_path = path, size, record_end, open_path
        self._bytes_read = 0
        self._raw: Any = None

    def bytes_read(self) -> int:
        """Return how many bytes of the file on disk were read so far."""
        if (raw := self._raw) is not None:
            with contextlib.suppress(OSError, ValueError):  # a pipe; or closed a moment ago by the thread that reads
                self._bytes_read = int(raw.tell())
        return self._bytes_read

    def blocks(self, offset: int = 0) -> Iterator[FileBlock]:
        """Yield all blocks from an offset on."""
        with reading(self.path), self.open_path(self.path) as raw:
            self._raw = raw if self.path != STANDARD_INPUT else None
            opener = packing(cast(Any, raw).peek(MAGIC_BYTES)[:MAGIC_BYTES])
            with raw if opener is None else opener(raw) as stream:
                yield from self._cut(stream, self._skip(stream, offset))
                self.bytes_read()
                self._raw = None

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

    def _cut(self, stream: Any, offset: int) -> Iterator[FileBlock]:
        rest = np.empty(0, np.uint8)
        while True:
            # More at a time within a long record: small blocks would search it for its end again and again.
            size = max(self.size, min(rest.size, 1 << 24))
            room = np.empty(rest.size + size + 1, np.uint8)  # with space for a final newline
            room[: rest.size] = rest
            count = _fill(stream, memoryview(cast(Any, room))[rest.size : -1])
            text = room[: rest.size + count]
            mark = len(BYTE_ORDER_MARK) if offset == 0 and text[:3].tobytes() == BYTE_ORDER_MARK else 0
            if count < size:
                if text.size > mark:
                    if text[-1] != 10:
                        text = room[: text.size + 1]
                        text[-1] = 10
                    yield FileBlock(text[mark:], offset, offset + text.size, True)
                return
            end = mark + self.record_end(text[mark:])
            if offset == 0 and not text[mark:end].tobytes().strip():
                end = 0  # parsers look for a header in the first block, which must have the first record
            if end > mark:
                yield FileBlock(text[mark:end], offset, offset + end, False)
            rest = text[end:].copy()
            offset += end
            if rest.size > MAX_LINE_BYTES:
                raise InvalidInput(
                    f"{self.path} has a line of over {MAX_LINE_BYTES} bytes, after byte {offset}. Pass a text "
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
    """Yield work(item) for each item, in order, computed by threads ahead of the consumer.

    Another thread reads the items. At most `threads` + 1 items are in progress. An error is raised in place of its
    result. When the consumer stops, the threads end. Without threads, each result is computed when it is requested.
    """
    if threads == 0:
        yield from map(work, items)
        return
    under_way = threading.Semaphore(threads + 1)
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
        except BaseException as error:  # raised in the thread of the consumer
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
