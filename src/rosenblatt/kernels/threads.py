"""Threads that share the rows of a block, each with its own matrix products."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from rosenblatt.prover.exact.clock import OutOfTime

if TYPE_CHECKING:
    from rosenblatt.training.trainer import RunClock

Array = npt.NDArray[Any]


class Threads:
    """The number of threads that BLAS may use, while BLAS itself is limited to one.

    The products are too small for a BLAS with several threads, which wait for one another in each product: on a busy
    machine that took four times as long. The shares are fixed, so the result does not depend on the number of threads.

    If `alone`, one thread does all the work and BLAS stays as it is: a user's function need not be safe for threads.
    """

    def __init__(self, alone: bool) -> None:
        self.alone = alone
        self.count = 1
        self.executor: ThreadPoolExecutor | None = None

    def __enter__(self) -> Threads:
        if not self.alone:
            blas = _blas()
            self.count = min([os.cpu_count() or 1, *(library["num_threads"] for library in blas.info())])
            self.limit = blas.limit(limits=1)
        return self

    def __exit__(self, *_: object) -> None:
        if not self.alone:
            self.limit.restore_original_limits()
        if self.executor is not None:
            self.executor.shutdown()

    def share(self, work: Callable[[Any], None], parts: Iterable[Any], clock: RunClock | None = None) -> None:
        """Call `work` for each part, and return when all are done; raise OutOfTime if a clock says so before."""
        parts = list(parts)
        if clock is not None:
            work = partial(_work_in_time, work, clock)
        if self.count == 1 or len(parts) < 2:
            for part in parts:
                work(part)
            return
        if self.executor is None:
            self.executor = ThreadPoolExecutor(self.count)
        list(self.executor.map(work, parts))


def _work_in_time(work: Callable[[Any], None], clock: RunClock, part: Any) -> None:
    if clock.late:
        raise OutOfTime
    work(part)


@cache
def _blas() -> Any:
    """Return the controller of the BLAS libraries, cached as finding them takes a millisecond."""
    return ThreadpoolController().select(user_api="blas")


def pieces(size: int, length: int) -> Iterator[Array]:
    """Yield the numbers below `size` in ascending pieces of at most `length`."""
    for start in range(0, size, length):
        yield np.arange(start, min(start + length, size))
