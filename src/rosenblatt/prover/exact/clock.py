"""Time limits of searches and proofs.

A search gets its deadline as an argument. Exact arithmetic far below it calls `check_time`, which looks at the deadline
in force: a long elimination, lifting or verification ends soon after it, and no function in between has to pass it on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextvars import ContextVar, Token
from typing import Self, TypeVar

from rosenblatt.engine.jit import compile_seconds

T = TypeVar("T")

TIME_LIMIT = 60.0  # seconds that a proof may take by default


class OutOfTime(Exception):
    """The time limit is over, or would be before the next step ends; the message says which."""


class Deadline:
    """A time limit from now on, without the time that compiling takes; None: no limit.

    Within ``with deadline:`` it is the one in force, which `check_time` looks at.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.end = math.inf if seconds is None else time.perf_counter() + float(seconds) - compile_seconds()
        self._tokens: list[Token[Deadline | None]] = []

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
        self._tokens.append(_in_force.set(self))
        return self

    def __exit__(self, *exception: object) -> None:
        _in_force.reset(self._tokens.pop())


_in_force: ContextVar[Deadline | None] = ContextVar("in_force", default=None)


def check_time() -> None:
    """Raise OutOfTime if a deadline is in force and over."""
    deadline = _in_force.get()
    if deadline is not None:
        deadline.check()


def timed(items: Iterable[T]) -> Iterator[T]:
    """Yield items while there is time."""
    for item in items:
        check_time()
        yield item
