"""A journal of rows that were learned since a model was written: each is on disk before its answer is given.

The file is text. Each line begins with the CRC-32 of the rest, in eight hexadecimal digits:

    crc model DIGEST              the first line: the SHA-256 of the model file that the rows follow
    crc row NUMBER FIRST CONTENT  a row: its number, and that of the first row that reached the disk with it
    crc wrote DIGEST              the model that has all rows above; written before that model replaces the old one

After a crash the model file is either the one of the first line, and the rows are to be learned again, or the one of
the last line, and has them. Lines that were not complete on disk belong to rows without an answer, and are removed.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rosenblatt.errors import InvalidInput
from rosenblatt.storage.atomic import OPEN_FILES_STAY, lock, replace_file

MODEL = re.compile(rb"model ([0-9a-f]{64})")
ROW = re.compile(rb"row ([0-9]+) ([0-9]+) (.*)", re.DOTALL)
START = re.compile(rb"[0-9a-f]{8} (?:row|wrote) ")
WROTE = re.compile(rb"wrote ([0-9a-f]{64})")


def _line(content: bytes) -> bytes:
    return b"%08x %s\n" % (zlib.crc32(content), content)


def _content(line: bytes) -> bytes | None:
    """Return a line without its sum; None if it is damaged."""
    content = line[9:]
    return content if line[:9] == b"%08x " % zlib.crc32(content) else None


class Recovered(NamedTuple):
    """The sound part of a journal."""

    model: str  # digest of the model that the rows follow
    rows: list[bytes]
    wrote: str | None  # digest of the model that has the rows
    size: int  # bytes


def recover(content: bytes, path: Any) -> Recovered:
    """Return the sound part of a journal, without what was not complete on disk; raise an error if it is damaged."""
    *whole, rest = content.split(b"\n")  # behind the last newline there is nothing, or a part of a line
    contents = [_content(line) for line in whole]
    header = MODEL.fullmatch(contents[0] or b"") if contents else None
    if header is None:
        raise InvalidInput(f"{path} is not a journal of rosenblatt, or its first line is damaged. Name another file.")
    rows: list[bytes] = []
    wrote, size = None, len(whole[0]) + 1
    for number, (line, own) in enumerate(zip(whole[1:], contents[1:], strict=True), 1):
        row = ROW.fullmatch(own) if own is not None else None
        note = WROTE.fullmatch(own) if own is not None else None
        if row is not None and int(row[1]) == len(rows):
            rows.append(row[3])
            wrote = None
        elif note is not None:
            wrote = note[1].decode()
        else:
            tail = [*_sound_parts(line), *(part for part in contents[number + 1 :] if part is not None)]
            _check_tail([*tail, *_sound_parts(rest)], len(rows), number + 1, path)
            break
        size += len(line) + 1
    return Recovered(header[1].decode(), rows, wrote, size)


def _sound_parts(line: bytes) -> list[bytes]:
    """Return the sound lines within a damaged one, whose newlines were damaged."""
    parts = (_content(line[found.start() :]) for found in START.finditer(line, 1))
    return [part for part in parts if part is not None]


def _check_tail(rest: list[bytes], lost: int, line: int, path: Any) -> None:
    """Raise an error unless row number `lost` reached the disk together with the last rows, which had no answer."""
    for content in rest:
        row = ROW.fullmatch(content)
        if row is None or int(row[2]) > lost:
            raise InvalidInput(
                f"{path}, line {line}: the journal is damaged there, and sound rows follow. Rows that were answered "
                "would be lost. Restore the file from a copy, or remove it to continue from the model alone."
            )


class Journal:
    """An open journal. One process at a time can have it.

    Parameters
    ----------
    path : path of the file, which is made if it does not exist
    model : str
        Digest of the model file as it is now.

    Attributes
    ----------
    rows : list of bytes
        Rows that the model does not have yet, from the file.
    size : int
        Bytes of the file.
    """

    def __init__(self, path: Any, model: str) -> None:
        self.path = Path(os.path.realpath(path))
        if not self.path.exists() or not self.path.stat().st_size:
            replace_file(self.path, [_line(b"model " + model.encode())])
        self._open()
        try:
            self._recover(model)
        except BaseException:
            self.close()
            raise

    def _recover(self, model: str) -> None:
        found = recover(self._read(), self.path)
        if model not in (found.model, found.wrote):
            raise InvalidInput(
                f"{self.path} has rows that follow another state of the model. Restore that model file, or remove the "
                "journal to continue without these rows."
            )
        self.rows: list[bytes] = []
        if found.model == model:
            self.rows, self._count, self.size = found.rows, len(found.rows), found.size
            os.ftruncate(self._file, found.size)
        else:
            self.restart(model)

    def _open(self) -> None:
        """Open and lock the file, and not one that was replaced in the meantime."""
        while True:
            flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
            self._file = os.open(self.path, flags)
            try:
                lock(self._file)
            except BlockingIOError:
                os.close(self._file)
                raise InvalidInput(f"{self.path} is in use by another process. End it, or name another file.") from None
            except OSError:  # no locks on this file system
                return
            if os.fstat(self._file).st_ino == os.stat(self.path).st_ino:
                return
            os.close(self._file)

    def _read(self) -> bytes:
        with open(os.dup(self._file), "rb") as file:
            file.seek(0)
            return file.read()

    def append(self, rows: Sequence[bytes]) -> None:
        """Write rows, lines without their newline, and wait until they are on disk."""
        first = self._count
        self._write(_line(b"row %d %d %s" % (first + k, first, row)) for k, row in enumerate(rows))
        self._count += len(rows)

    def note_model(self, digest: str) -> None:
        """Write that the model with this digest has all rows, before it replaces the one that has not."""
        self._write([_line(b"wrote " + digest.encode())])

    def _write(self, lines: Any) -> None:
        content = b"".join(lines)
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self.size)  # what was refused must not come back
            raise
        self.size += len(content)

    def restart(self, model: str) -> None:
        """Drop all rows: the model with this digest has them."""
        header = _line(b"model " + model.encode())
        if OPEN_FILES_STAY:  # and there are no locks
            os.close(self._file)
            try:
                replace_file(self.path, [header])
            finally:
                self._open()
        else:  # the lock is held until another file is in the place of this one
            replace_file(self.path, [header])
            os.close(self._file)
            self._open()
        self._count, self.size = 0, len(header)

    def close(self) -> None:
        """Close the file, and let other processes have it."""
        os.close(self._file)
