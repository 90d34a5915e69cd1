"""Compare the memory that a computation needs with the memory of the machine, before allocating it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from rosenblatt.errors import TooLarge

# If the system does not say: more than any machine has.
UNKNOWN = 1 << 48
# Every machine has this much: no need to ask the system.
SURELY_THERE = 1 << 24
# Limits of the control group of a process, such as a container: Linux cgroups, versions 2 and 1.
GROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def physical_memory() -> int:
    """Return the bytes of memory that this process may use, at most those of the machine."""
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        installed = UNKNOWN
    limits = [installed]
    for path in GROUP_LIMITS:
        with suppress(OSError, ValueError):  # no such file, or the word "max"
            limits.append(int(path.read_text()))
    with suppress(ImportError, AttributeError, ValueError, OSError):  # not every system limits this, or anything
        import resource

        allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
        if allowed != resource.RLIM_INFINITY:
            limits.append(allowed)
    return min(limits)


def check_memory(needed: float, what: str, remedy: str) -> None:
    """Raise an error if a computation needs more memory than there is.

    Parameters
    ----------
    needed : float
        Bytes.
    what : str
        Subject of the message: the thing that needs them, with its size.
    remedy : str
        What to do instead.
    """
    if needed > SURELY_THERE and needed > (there := physical_memory()):
        size = f"{needed / 1e9:.3g} GB of memory, of" if needed < UNKNOWN else "far more memory than there is,"
        raise TooLarge(f"{what} would take {size} {there / 1e9:.3g} GB. {remedy}")
