"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rosenblatt.errors import InvalidInput


def replace_file(target: Path, parts: Iterable[Any]) -> None:
    """Write a file beside the target, flush it to the disk, then rename it to the target.

    A file that was there before stays as it was until the new one is complete, and hands its permissions on.

    Parameters
    ----------
    target : Path
    parts : iterable of bytes-like
        What to write, in this order.
    """
    beside = target.parent / f".rosenblatt-{secrets.token_hex(8)}.tmp"
    try:
        with open(beside, "xb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(beside, stat.S_IMODE(os.stat(target).st_mode))
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


def target_of(path: str | os.PathLike[str]) -> Path:
    """Return where a file is to be written; raise an error if that is a directory, or in none."""
    target = Path(os.path.realpath(os.fspath(path)))
    if target.is_dir():
        raise InvalidInput(f"{target} is a directory. Give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such directory to save in", str(target.parent))
    return target


def source_of(path: str | os.PathLike[str]) -> str:
    """Return the path of a file to read; raise an error if it is not a regular file."""
    shown = os.fspath(path)
    mode = os.stat(shown).st_mode
    if not stat.S_ISREG(mode):
        raise InvalidInput(f"{shown} is {'a directory' if stat.S_ISDIR(mode) else 'not a file'}. Give a model file.")
    return shown
