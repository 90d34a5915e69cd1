"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any


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
