"""How much memory there is, so that what needs far more is refused before it is asked for."""

from __future__ import annotations

import os

from rosenblatt.errors import TooLarge

# Where the system does not say: what no machine has.
UNKNOWN = 1 << 48
# What every machine has, so that it need not be asked.
SURELY_THERE = 1 << 24


def physical_memory() -> int:
    """Return the bytes of memory of the machine, or those that this process may use if they are fewer."""
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        installed = UNKNOWN
    try:
        import resource

        allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    except (ImportError, ValueError, OSError):
        return installed
    return installed if allowed == resource.RLIM_INFINITY else min(installed, allowed)


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
