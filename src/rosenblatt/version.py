"""The version of the package that is installed."""

from __future__ import annotations

import os
import sys
from functools import cache

NAME = "rosenblatt"


def _on_path() -> str | None:
    """Return the version in the name of the folder that pip writes; None if something else comes first."""
    for place in sys.path:
        try:
            found = [name for name in os.listdir(place or ".") if name.startswith(NAME) and name.endswith("-info")]
        except OSError:
            continue
        if found:
            head, _, tail = found[0].partition("-")
            return tail.removesuffix(".dist-info") if (len(found), head) == (1, NAME) else None
    return None


@cache
def package_version() -> str:
    """Return the version. `importlib.metadata` would say the same, and take as long to import as a model to write."""
    found = _on_path()
    if found is None or "-" in found:
        from importlib.metadata import version

        return version(NAME)
    return found
