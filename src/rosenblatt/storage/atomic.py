"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from rosenblatt.errors import InvalidInput

try:
    import fcntl
except ImportError:  # on Windows, where abandoned files stay
    fcntl = None  # type: ignore[assignment]

# On Windows an open file can be neither renamed nor replaced.
OPEN_FILES_STAY = os.name == "nt"

ABANDONED = re.compile(r"\.rosenblatt-[0-9a-f]{32}\.tmp")


def lock(descriptor: int) -> None:
    """Lock an open file; raise an OSError if another process has the lock, or if there are no locks."""
    if fcntl is None:
        raise OSError(errno.ENOSYS, "no locks")
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Beside:
    """A temporary file beside a target, which replaces the target when it is whole.

    The new file gets the permissions of the old one, and is never readable for others meanwhile. The writer holds a
    lock on it. A temporary file without a lock was abandoned by a process that was killed; the next writer in this
    folder removes it. A file that is `lasting` is flushed to disk before it replaces the target.
    """

    def __init__(self, target: Path, *, lasting: bool = True) -> None:
        self.target, self.lasting = target, lasting
        _remove_abandoned(target.parent)
        self._old = _status(target)
        mode = 0o666 if self._old is None else stat.S_IMODE(self._old.st_mode) & 0o777
        self._path, descriptor = _open_beside(target.parent, mode)
        self.file = open(descriptor, "wb")  # noqa: SIM115

    def finish(self) -> None:
        """Replace the target by the file."""
        try:
            self.file.flush()
            if self._old is not None:
                _copy_permissions(self._old, self.file.fileno(), self._path)
            if self.lasting:
                os.fsync(self.file.fileno())
            if OPEN_FILES_STAY:
                self.file.close()
            os.replace(self._path, self.target)
        except BaseException:
            self.discard()
            raise
        self.file.close()  # and release its lock, now that the file cannot be taken for an abandoned one
        if self.lasting:
            flush_folder(self.target.parent)

    def discard(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self.file.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def __enter__(self) -> BinaryIO:
        return self.file

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is None:
            self.finish()
        else:
            self.discard()


def flush_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk, where folders can be flushed."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def replace_file(target: Path, parts: Iterable[Any]) -> None:
    """Write bytes to a file that replaces the target when it is whole."""
    with Beside(target) as file:
        write_to(file, parts)


def check_writable(path: Path) -> None:
    """Raise an OSError if the folder of a path is not writable."""
    beside, descriptor = _open_beside(path.parent, 0o600)
    beside.unlink(missing_ok=True)
    os.close(descriptor)


def _status(target: Path) -> os.stat_result | None:
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None


def _open_beside(folder: Path, mode: int) -> tuple[Path, int]:
    """Create a file in a folder and lock it, with the permissions of the mode that the umask allows."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    while True:
        beside = folder / f".rosenblatt-{secrets.token_hex(16)}.tmp"
        descriptor = os.open(beside, flags, mode | stat.S_IWUSR)
        try:
            lock(descriptor)
            if os.fstat(descriptor).st_nlink:
                return beside, descriptor
        except BlockingIOError:
            pass
        except OSError:  # no locks on this file system, so that no file is taken for an abandoned one
            return beside, descriptor
        os.close(descriptor)  # another process took it for an abandoned one before it was locked


def _copy_permissions(old: os.stat_result, descriptor: int, beside: Path) -> None:
    """Set on the new file the owner, the group and the permissions of the old one."""
    mode = stat.S_IMODE(old.st_mode)
    if hasattr(os, "fchown"):
        for owner, group in ((old.st_uid, -1), (-1, old.st_gid)):
            with suppress(PermissionError):
                os.fchown(descriptor, owner, group)
        if os.fstat(descriptor).st_gid != old.st_gid:  # the permissions of the old group are not for another one
            mode &= ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3
    os.chmod(beside, mode)


def _remove_abandoned(folder: Path) -> None:
    """Remove the temporary files in a folder that no process holds a lock on."""
    with suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.path for entry in entries if ABANDONED.fullmatch(entry.name)]:
            with suppress(OSError):
                descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
                try:
                    lock(descriptor)
                    os.unlink(name)
                finally:
                    os.close(descriptor)


def write_to(file: Any, parts: Iterable[Any]) -> None:
    """Write bytes to a file object."""
    for part in parts:
        try:
            file.write(part)
        except TypeError as error:
            raise InvalidInput(f"{file!r:.60} does not take bytes ({error}). Open the file in binary mode.") from None


def target_of(target: Any) -> Any:
    """Return where to write: a `Path` with links followed, or a file object; raise an error for anything else."""
    if hasattr(target, "write"):
        return target
    if not isinstance(target, str | bytes | os.PathLike):
        raise InvalidInput(f"{target!r:.60} is neither a path nor a file object. Give the name of a file.")
    path = Path(os.path.realpath(os.fsdecode(target)))
    status = _status(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        if stat.S_ISDIR(status.st_mode):
            raise InvalidInput(f"{path} is a directory. Give the name of a file in it.")
        raise InvalidInput(
            f"{path} is a device, a pipe or a socket, which a file would replace. Give the name of a file, or pass an "
            "open file object."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such directory to save in", str(path.parent))
    return path


def source_of(source: Any) -> tuple[str, Any]:
    """Return the name of a path, bytes or file object for messages, and the path of a regular file or bytes to read."""
    if isinstance(source, bytes | bytearray | memoryview):
        return "This model", bytes(source)
    if hasattr(source, "read"):
        content = source.read()
        if not isinstance(content, bytes | bytearray | memoryview):
            raise InvalidInput(f"{source!r:.60} gives text and not bytes. Open the file in binary mode.")
        return str(getattr(source, "name", "This model")), bytes(content)
    if not isinstance(source, str | os.PathLike):
        raise InvalidInput(f"{source!r:.60} is not a path, bytes or a file object. Give a model file.")
    shown = os.fspath(source)
    mode = os.stat(shown).st_mode
    if not stat.S_ISREG(mode):
        raise InvalidInput(f"{shown} is {'a directory' if stat.S_ISDIR(mode) else 'not a file'}. Give a model file.")
    return str(shown), shown
