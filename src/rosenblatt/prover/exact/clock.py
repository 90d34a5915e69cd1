"""Time limits of searches and proofs.

A search is handed its clock. Exact arithmetic far below it asks `check_time`, which looks at the clock that is running:
long elimination, lifting or verification ends soon after its time, and nothing in between has to pass the clock on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextvars import ContextVar, Token
from typing import Self, TypeVar

from rosenblatt.engine.jit import compile_seconds

T = TypeVar("T")

# Seconds that a proof may take unless told otherwise: nobody should have to wonder whether it will ever end.
TIME_LIMIT = 60.0
# Products of compiled code between two looks at the clock: a fraction of a second.
PRODUCTS_PER_LOOK = 1 << 27


class OutOfTime(Exception):
    """The time limit was over, or would be before the next step ends; the message says which."""


class Clock:
    """A time limit; None means that there is none. To compile does not count.

    Within ``with clock:`` it is the one that `check_time` looks at.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.end = math.inf if seconds is None else time.perf_counter() + float(seconds) - compile_seconds()
        self._tokens: list[Token[Clock | None]] = []

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.end - time.perf_counter() + compile_seconds()

    def check(self, needed: float = 0.0) -> None:
        """Raise OutOfTime if fewer than the needed seconds are left."""
        left = self.left
        if left < 0:
            raise OutOfTime(f"the time limit of {self.seconds:g} seconds was over")
        if left < needed:
            raise OutOfTime(
                f"the next step would take about {needed:.2g} seconds, and {left:.2g} of the time "
                f"limit of {self.seconds:g} seconds were left"
            )

    def __enter__(self) -> Self:
        self._tokens.append(_running.set(self))
        return self

    def __exit__(self, *exception: object) -> None:
        _running.reset(self._tokens.pop())


_running: ContextVar[Clock | None] = ContextVar("running", default=None)


def check_time() -> None:
    """Raise OutOfTime if the time of the running clock is over; without one there is always time."""
    clock = _running.get()
    if clock is not None:
        clock.check()


def timed(items: Iterable[T]) -> Iterator[T]:
    """Yield items while there is time."""
    for item in items:
        check_time()
        yield item
