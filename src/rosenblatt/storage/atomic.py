"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rosenblatt.errors import InvalidInput

try:
    import fcntl
except ImportError:  # as on Windows, where files that were left behind stay
    fcntl = None  # type: ignore[assignment]


def _lock(descriptor: int) -> None:
    """Lock an open file, or raise an OSError if another has the lock, or there are no locks here."""
    if fcntl is None:
        raise OSError(errno.ENOSYS, "no locks")
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def replace_file(target: Path, parts: Iterable[Any]) -> None:
    """Write a file beside the target, flush it to the disk, then rename it to the target.

    A file that was there before stays as it was until the new one is complete, and hands its permissions on. Meanwhile
    nobody can read the new one who could not read the old one. Who writes holds a lock on the file beside the target:
    one without a lock was left behind by a process that was killed, and is removed.

    Parameters
    ----------
    target : Path
    parts : iterable of bytes-like
        What to write, in this order.
    """
    _remove_left_behind(target)
    old = _status(target)
    beside, descriptor = _open_beside(target, 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o777)
    try:
        with open(descriptor, "wb") as file:
            write_to(file, parts)
            file.flush()
            if old is not None:
                _hand_on(old, file.fileno(), beside)
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):  # where directories can be opened, the new name must reach the disk too
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _status(target: Path) -> os.stat_result | None:
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None


def _prefix(target: Path) -> str:
    """Return how the names of all files begin that are written beside a target; short, however long its own name is."""
    return f".rosenblatt-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"


def _open_beside(target: Path, mode: int) -> tuple[Path, int]:
    """Create a file beside the target and lock it; no permission of it goes beyond the mode, nor beyond the umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    while True:
        beside = target.parent / f"{_prefix(target)}{secrets.token_hex(8)}.tmp"
        descriptor = os.open(beside, flags, mode | stat.S_IWUSR)
        try:
            _lock(descriptor)
            if os.fstat(descriptor).st_nlink:
                return beside, descriptor
        except BlockingIOError:
            pass
        except OSError:  # no locks on this file system: then nobody takes it for one that was left behind
            return beside, descriptor
        os.close(descriptor)  # another process was quicker to take it for one that was left behind


def _hand_on(old: os.stat_result, descriptor: int, beside: Path) -> None:
    """Set on the new file the owner, the group and the permissions of the old one."""
    mode = stat.S_IMODE(old.st_mode)
    if hasattr(os, "fchown"):
        for owner, group in ((old.st_uid, -1), (-1, old.st_gid)):
            with suppress(PermissionError):
                os.fchown(descriptor, owner, group)
        if os.fstat(descriptor).st_gid != old.st_gid:  # what the old group might do is not for another group
            mode &= ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3
    os.chmod(beside, mode)


def _remove_left_behind(target: Path) -> None:
    """Remove what processes that were killed have left beside the target: what no process holds a lock on."""
    prefix = _prefix(target)
    with suppress(OSError), os.scandir(target.parent) as entries:
        names = [entry.path for entry in entries if entry.name.startswith(prefix) and entry.name.endswith(".tmp")]
        for name in names:
            with suppress(OSError):
                descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
                try:
                    _lock(descriptor)
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
    """Return where to write: a `Path` with links followed, or a file object; raise an error if that is no place for it.

    Parameters
    ----------
    target : str, path-like or file object
    """
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
    """Return what to call a source, and what to read: a path of a regular file, or bytes.

    Parameters
    ----------
    source : str, path-like, bytes-like or file object
    """
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
