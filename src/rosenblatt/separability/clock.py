"""Time limits of a search."""

from __future__ import annotations

import math
import time

from rosenblatt.jit import compile_seconds


class OutOfTime(Exception):
    """The time limit was over."""


class Clock:
    """A time limit; None means that there is none. To compile does not count."""

    def __init__(self, seconds: float | None) -> None:
        self.end = math.inf if seconds is None else time.perf_counter() + seconds - compile_seconds()

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.end - time.perf_counter() + compile_seconds()

    def check(self, needed: float = 0.0) -> None:
        """Raise OutOfTime if fewer than the needed seconds are left."""
        if self.left < needed:
            raise OutOfTime
