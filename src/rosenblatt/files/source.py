"""Files as streams: opened, unpacked, and cut into blocks of whole lines. Nothing that a file says is trusted."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import math
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase, BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from typing import Any, cast

from rosenblatt.errors import InvalidInput, MissingExtra

FilePath = str | os.PathLike[str]

READ_BYTES = 1 << 20
BLOCK_BYTES = 1 << 24
MAX_LINE_BYTES = 1 << 28
# No byte of a gzip file becomes more bytes than this.
MAX_GZIP_RATIO = 1032
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
                "Install rosenblatt[files], or unpack it."
            ) from None
        return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    return zstd.ZstdFile(file)


# By the first bytes of a file.
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
    """Turn what may go wrong while a file is read into `InvalidInput`."""
    try:
        yield
    except Exception as error:
        if isinstance(error, _unpacking_errors()) and not isinstance(error, MissingExtra):
            raise InvalidInput(
                f"{path} cannot be read to its end ({error}): it is damaged or cut short. Fetch it again."
            ) from None
        raise


def can_be_read_once(path: FilePath) -> bool:
    """Return whether a path is that of standard input, or of a pipe, such as a shell makes for <(command)."""
    if path == STANDARD_INPUT:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, TypeError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def open_raw(path: FilePath) -> BufferedIOBase:
    """Open a file as it is on the disk, or standard input for "-"."""
    if isinstance(path, str) and path == STANDARD_INPUT:
        # A copy of the descriptor: to close it closes nothing that others use.
        return cast(BufferedIOBase, open(os.dup(sys.stdin.fileno()), "rb"))
    try:
        return open(Path(path), "rb")
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{path} cannot be opened ({reason}). Pass the path of a file that can be read.") from None


class StandardInput:
    """Standard input, or a pipe in its place, which can be looked at first and then be read once."""

    def __init__(self, path: FilePath = STANDARD_INPUT) -> None:
        self._stream = open_raw(path)
        self._start = b""

    def start(self, size: int) -> bytes:
        """Return the first bytes, as far as there are so many."""
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
        # An error in another file leaves it unread.
        if "_stream" in self.__dict__:
            self.close()


class _Chained(RawIOBase):
    """Some bytes, and then a stream."""

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
    """Return the first bytes of a file after unpacking, as far as the first bytes on the disk tell them."""
    opener = packing(start)
    if opener is None:
        return start[:size]
    content, stream = bytearray(), opener(BytesIO(start))
    with contextlib.suppress(*_unpacking_errors()):  # it is cut off somewhere
        while len(content) < size and (part := stream.read(1 << 12)):
            content += part
    return bytes(content[:size])


def packing(start: bytes) -> Callable[[Any], Any] | None:
    """Return what unpacks a file that starts like this, or None if it is not packed."""
    return next((opener for magic, opener in PACKINGS.items() if start.startswith(magic)), None)


@contextmanager
def open_unpacked(path: FilePath) -> Iterator[tuple[BufferedIOBase, float]]:
    """Open a file, unpacked if its content is packed, and return the stream and the most bytes that it can hold."""
    with open_raw(path) as file, reading(path):
        status = os.fstat(file.fileno())
        held = float(status.st_size) if stat.S_ISREG(status.st_mode) else math.inf
        start = cast(Any, file).peek(MAGIC_BYTES)[:MAGIC_BYTES]
        opener = packing(start)
        if opener is None:
            yield file, held
        else:
            with opener(file) as unpacked:
                yield unpacked, held * MAX_GZIP_RATIO if start[:2] == b"\x1f\x8b" else math.inf


def read_up_to(stream: BufferedIOBase, size: int) -> bytearray:
    """Read up to `size` bytes; memory grows with what is there, not with what is asked for."""
    content = bytearray()
    while len(content) < size and (part := stream.read(min(READ_BYTES, size - len(content)))):
        content += part
    return content


def line_blocks(stream: BufferedIOBase, path: FilePath) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines in large blocks, each with the number of its first line."""
    first, rest = 1, b""
    while chunk := stream.read(BLOCK_BYTES):
        if first == 1 and not rest:
            chunk = chunk.removeprefix(BYTE_ORDER_MARK)  # the mark some editors put in front
        whole, newline, rest = (rest + chunk).rpartition(b"\n")
        if newline:
            yield first, whole + newline
            first += whole.count(b"\n") + 1
        if len(rest) > MAX_LINE_BYTES:
            raise InvalidInput(
                f"{path}, line {first} has more than {MAX_LINE_BYTES} bytes. "
                "Pass a text file with one row on each line."
            )
    yield first, rest + b"\n"
