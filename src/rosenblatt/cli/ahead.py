"""A second process, which compiles what learning needs while the first compiles what reads.

Numba compiles one function after another, and a first command waits for all of them. Where no code is kept yet,
`compiling_ahead` forks a process that goes through the same training with the first lines of the file. What reads text
is interpreted there; all else is compiled, for the types that the whole file will have, and kept. The first process
compiles what reads text, and waits for the rest. It looks for a function in the cache until it is there, or until the
second process has ended, in whatever way: what is missing then, it compiles itself.

Each function is compiled in one of the two only, and its code is the same in both. The second process writes nothing
but the cache, says nothing, and ends with the first. Only Linux has it, as to fork is not safe elsewhere.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import BufferedReader, BytesIO
from typing import TYPE_CHECKING, Any

from rosenblatt import native
from rosenblatt.jit import DISABLE_JIT, NotKept, kept

if TYPE_CHECKING:
    from rosenblatt.learn.chunked import ChunkedJob

# The modules of loops that read text, which the first process compiles.
READERS = tuple(f"rosenblatt.compiled.{name}" for name in ("decimals", "fields", "tokens", "vw"))
SAMPLE_BYTES = 1 << 13  # about as many as are interpreted in a tenth of a second
POLL_SECONDS = 0.005
LONGEST_SECONDS = 60.0  # after which a second process is taken for stuck
PR_SET_PDEATHSIG = 1


@contextmanager
def compiling_ahead(job: ChunkedJob) -> Iterator[None]:
    """Let a second process compile what a training needs, while this lasts, if that saves time."""
    second = _fork(lambda: _rehearse(job)) if _is_worthwhile(job.chunks) else None
    kept.wait = second and second.wait
    try:
        yield
    finally:
        kept.wait = None
        if second is not None:
            second.end()


def _is_worthwhile(source: Any) -> bool:
    """Return whether nothing is kept yet, there is a place to keep it, and a second process can be had."""
    alone = threading.active_count() == 1  # other threads may hold locks, which nobody would release in a copy
    text = source.inputs.standard_input is None and source.reading.format not in ("parquet", "arrow")
    if DISABLE_JIT or sys.platform != "linux" or not alone or not text or len(os.sched_getaffinity(0)) < 2:
        return False
    return native.directory() is not None and not native.any_kept()


# -------------------------------------------------------------------------------------------------- the first process


class _Second:
    """The second process as the first sees it."""

    def __init__(self, pid: int) -> None:
        self.pid, self.ended = pid, False
        self.last = time.monotonic() + LONGEST_SECONDS
        self.lock = threading.Lock()

    def wait(self, function: Callable[..., Any]) -> bool:
        """Wait a moment for the code of a function; return whether to look for it again."""
        with self.lock:
            if self.ended or function.__module__ in READERS:
                return False
            self.ended = os.waitpid(self.pid, os.WNOHANG)[0] != 0
        if time.monotonic() > self.last:
            self.end()
        if not self.ended:
            time.sleep(POLL_SECONDS)
        return True

    def end(self) -> None:
        """End the process, if it has not."""
        with self.lock:
            if not self.ended:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                self.ended = True


def _fork(work: Callable[[], None]) -> _Second | None:
    """Return a copy of this process that works and ends; None if there can be none."""
    first = os.getpid()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the threads of BLAS, which see to it themselves
            pid = os.fork()
    except OSError:
        return None
    if pid:
        return _Second(pid)
    try:
        _detach(first)
        work()
    finally:  # nothing of the first process is written or closed twice, whatever happened
        os._exit(0)


# ------------------------------------------------------------------------------------------------- the second process


def _detach(first: int) -> None:
    """Read and say nothing, and end with the first process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != first:
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


class _FirstLines:
    """The first lines of files, in place of `rosenblatt.files.opening.Inputs`."""

    standard_input = None

    def __init__(self, paths: list[Any], text: bytes) -> None:
        self.paths, self.text = paths[:1], text

    def open(self, path: Any) -> BufferedReader:
        """Return a stream of the lines."""
        return BufferedReader(BytesIO(self.text))

    def status(self) -> list[Any]:
        """Return nothing that could change."""
        return []


def _first_lines(source: Any) -> Any:
    """Return a source of the first rows of another, parsed in this thread."""
    import numpy as np

    from rosenblatt.files.opening import FileSource

    sample, parser = source.inputs.sample().content, source.parsers[0]
    ends = (parser.record_end(np.frombuffer(sample[:size], np.uint8)) for size in (SAMPLE_BYTES, len(sample)))
    lines: Any = _FirstLines(source.inputs.paths, sample[: next(filter(None, ends), len(sample))])
    return FileSource(lines, [parser], replace(source.opening, threads=0, cache=None))


def _find_interpreted(function: Callable[..., Any], _: Any) -> Callable[[tuple[Any, ...]], Any]:
    """Return what calls a loop that reads text as plain Python; Numba is asked for all others."""
    from rosenblatt.patience import interpreted

    if function.__module__ not in READERS:
        raise NotKept
    plain = interpreted(function)
    return lambda args: plain(*args)


def _rehearse(job: ChunkedJob) -> None:
    """Compile and keep what a training needs, by a training with the first lines."""
    import numpy as np

    from rosenblatt.learn.chunked import learn_chunks
    from rosenblatt.patience import compiling_all

    kept.find = _find_interpreted
    lines = _first_lines(job.chunks)
    same = replace(job, chunks=lines, plan=replace(job.plan, callback=None), after_chunk=None)
    with np.errstate(all="ignore"), compiling_all():
        learn_chunks(replace(same, validation=job.validation and lines, interrupted=lambda: False))
