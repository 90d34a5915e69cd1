"""Files as streams: opened, unpacked, and cut into blocks of whole lines. Nothing that a file says is trusted."""

from __future__ import annotations

import gzip
import math
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from rosenblatt.errors import InvalidInput

FilePath = str | os.PathLike[str]

READ_BYTES = 1 << 20
BLOCK_BYTES = 1 << 24
MAX_LINE_BYTES = 1 << 28
# No byte of a gzip file becomes more bytes than this.
MAX_GZIP_RATIO = 1032


@contextmanager
def open_unpacked(path: FilePath) -> Iterator[tuple[BufferedIOBase, float]]:
    """Open a file, unpacked if its content is gzip, and return the stream and the most bytes that it can hold."""
    try:
        file = open(Path(path), "rb")  # noqa: SIM115 - closed below
    except (OSError, TypeError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be opened ({error}). Pass the path of a file that can be read.") from None
    with file:
        try:
            status = os.fstat(file.fileno())
            held = float(status.st_size) if stat.S_ISREG(status.st_mode) else math.inf
            if file.peek(2)[:2] == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield unpacked, held * MAX_GZIP_RATIO
            else:
                yield file, held
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidInput(
                f"{path} cannot be read to its end ({error}): it is damaged or cut short. Fetch it again."
            ) from None


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
            chunk = chunk.removeprefix(b"\xef\xbb\xbf")  # the mark some editors put in front
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
