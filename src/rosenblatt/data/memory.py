"""How much memory there is, so that what needs far more is refused before it is asked for."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from rosenblatt.errors import TooLarge

# Where the system does not say: what no machine has.
UNKNOWN = 1 << 48
# What every machine has, so that it need not be asked.
SURELY_THERE = 1 << 24
# What the control group of a process, as of a container, may use: of Linux, versions 2 and 1.
GROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def physical_memory() -> int:
    """Return the bytes of memory of the machine, or those that this process may use if they are fewer."""
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        installed = UNKNOWN
    limits = [installed, *_group_limits()]
    with suppress(ImportError, ValueError, OSError):
        import resource

        allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
        if allowed != resource.RLIM_INFINITY:
            limits.append(allowed)
    return min(limits)


def _group_limits() -> list[int]:
    """Return the limits of the control group, where there are any."""
    found = []
    for path in GROUP_LIMITS:
        with suppress(OSError, ValueError):  # there is none, or it says "max"
            found.append(int(path.read_text()))
    return found


def check_memory(needed: float, what: str, remedy: str) -> None:
    """Raise an error if something needs more memory than there is.

    Parameters
    ----------
    needed : float
        Bytes.
    what : str
        What needs them, with its size.
    remedy : str
        A sentence: what to do instead.
    """
    if needed > SURELY_THERE and needed > (there := physical_memory()):
        size = f"{needed / 1e9:.3g} GB of memory, of" if needed < UNKNOWN else "far more memory than there is,"
        raise TooLarge(f"{what} would take {size} {there / 1e9:.3g} GB. {remedy}")
