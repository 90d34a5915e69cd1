"""Time limits of a search."""

from __future__ import annotations

import math
import time


class OutOfTime(Exception):
    """The time limit was over."""


class Clock:
    """A time limit; None means that there is none."""

    def __init__(self, seconds: float | None) -> None:
        self.end = math.inf if seconds is None else time.perf_counter() + seconds

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.end - time.perf_counter()

    def check(self, needed: float = 0.0) -> None:
        """Raise OutOfTime if fewer than the needed seconds are left."""
        if self.left < needed:
            raise OutOfTime
