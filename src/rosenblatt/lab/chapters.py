"""The tour: five chapters, one for each lecture, as data."""

from __future__ import annotations

from typing import Any


def chapters() -> list[dict[str, Any]]:
    """Return the chapters."""
    return []
