"""Time limits of a search."""

from __future__ import annotations

import math
import time

from rosenblatt.jit import compile_seconds


class OutOfTime(Exception):
    """The time limit was over, or would be before the next step ends; the message says which."""


class Clock:
    """A time limit; None means that there is none. To compile does not count."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.end = math.inf if seconds is None else time.perf_counter() + seconds - compile_seconds()

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.end - time.perf_counter() + compile_seconds()

    def check(self, needed: float = 0.0) -> None:
        """Raise OutOfTime if fewer than the needed seconds are left."""
        left = self.left
        if left < 0:
            raise OutOfTime(f"the time limit of {self.seconds} seconds was over")
        if left < needed:
            raise OutOfTime(
                f"the next step would take about {needed:.0f} seconds, and {left:.1f} of the time "
                f"limit of {self.seconds} seconds were left"
            )
