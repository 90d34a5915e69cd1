"""How loops are compiled: once, for the machine at hand, and kept on disk.

`compiled` is the decorator of every compiled function. Beside Numba's own it has four properties. Where no directory
is writable, nothing is kept, with a warning. A cache that cannot be read, as one of another version may be, counts as
empty. An edit in a file of `rosenblatt.verbs` makes the loops that use the verbs compile anew; Numba itself looks at
the file of a function only. And whoever waits for more than a moment is told what for.
"""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.extending import is_jitted

# Seconds of compiling after which a line says so.
SILENT_SECONDS = 2.0
# The package whose functions are called by those of other files, and its directory.
VERBS, VERBS_DIRECTORY = "rosenblatt.verbs", Path(__file__).parent / "verbs"

NO_CACHE = (
    "No directory is writable for compiled code, so every process compiles it anew. Set NUMBA_CACHE_DIR to a directory "
    "of your own."
)


class NotCompiled(Exception):
    """The code that was asked for is neither in memory nor on disk."""


# ------------------------------------------------------------------------------------------------------ the disk cache


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """The files of a function: what cannot be read is not there."""

    def _load_index(self) -> Any:
        # Numba reads the types of the arguments before it looks whether they are those of another version of the
        # source, in which a NamedTuple may have had another name; and a file may be damaged. Reading raises anything.
        try:
            return super()._load_index()
        except Exception:
            return {}

    def load(self, key: Any) -> Any:
        try:
            return super().load(key)
        except Exception:
            return None


_thread = threading.local()  # .loads_only: whether to raise `NotCompiled` where code would have to be compiled


@contextmanager
def loading_only() -> Iterator[None]:
    """Raise `NotCompiled` inside where code would have to be compiled."""
    _thread.loads_only = True
    try:
        yield
    finally:
        _thread.loads_only = False


def _missing() -> None:
    if getattr(_thread, "loads_only", False):
        raise NotCompiled


@cache
def stamp_of(directory: Path) -> tuple[tuple[str, float, int], ...]:
    """Return name, time and size of each source file in a directory, which an edit changes."""
    found = sorted(path for path in directory.glob("*.py"))
    return tuple((path.name, path.stat().st_mtime, path.stat().st_size) for path in found)


def _speaks(function: Callable[..., Any]) -> bool:
    """Return whether a function may call verbs: its module is one of theirs, or has one of their names."""
    names = function.__globals__
    owners = [names.get("__name__"), *(getattr(value, "__module__", None) for value in names.values())]
    return any(isinstance(owner, str) and owner.startswith(VERBS) for owner in owners)


class Cache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function's code, which never fails: what it cannot load is compiled anew."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        files = self._cache_file
        files.__class__ = _Files
        if _speaks(function):
            files._source_stamp = (files._source_stamp, stamp_of(VERBS_DIRECTORY))

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the code for a signature, or None."""
        start = time.perf_counter()
        try:
            found = super().load_overload(signature, target)
        except Exception:
            found = None
        watch.load(time.perf_counter() - start)
        if found is None:
            _missing()
        return found

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep the code for a signature, where that is possible."""
        try:
            super().save_overload(signature, code)
        except OSError as error:
            _warn_once(f"Compiled code could not be kept in {self.cache_path} ({error.strerror}). {NO_CACHE}")


class NoCache(NullCache):  # type: ignore[misc]
    """A cache where nothing can be kept."""

    def load_overload(self, signature: Any, target: Any) -> None:
        """Return None: nothing was kept."""
        _missing()


@cache
def _warn_once(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def _cache_of(function: Callable[..., Any]) -> Cache | NoCache:
    try:
        return Cache(function)
    except (RuntimeError, OSError):  # "no locator available": no directory is writable
        _warn_once(NO_CACHE)
        return NoCache()


def compiled(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function when it is first called, without the interpreter's lock.

    Parameters
    ----------
    **options
        Of `numba.njit`.
    """

    def decorate(function: Any) -> Any:
        loop = njit(nogil=True, **options)(function)
        if is_jitted(loop):  # else the JIT is off
            loop._cache = _cache_of(function)
        return loop

    return decorate


# ------------------------------------------------------------------------------------------------- the time it takes


class _Watch(event.Listener):  # type: ignore[misc]
    """Add up the time that this package's functions take to compile, and say so once if it becomes long."""

    def __init__(self) -> None:
        self.seconds, self.functions, self.said = 0.0, 0, False
        self.thread = threading.local()  # compiling one function compiles those that it calls

    def on_start(self, event: event.Event) -> None:
        """Start the clock with the outermost function."""
        depth = getattr(self.thread, "depth", 0)
        self.thread.depth = depth + 1
        if depth == 0:
            self.thread.start = time.perf_counter()
            self.thread.timer = None
            if not self.said and event.data["dispatcher"].py_func.__module__.startswith("rosenblatt."):
                self.thread.timer = threading.Timer(max(0.0, SILENT_SECONDS - self.seconds), self.say)
                self.thread.timer.daemon = True
                self.thread.timer.start()

    def on_end(self, event: event.Event) -> None:
        """Stop the clock with the outermost function."""
        self.thread.depth -= 1
        if self.thread.depth == 0:
            self.seconds += time.perf_counter() - self.thread.start
            self.functions += 1
            if self.thread.timer is not None:
                self.thread.timer.cancel()

    def load(self, seconds: float) -> None:
        """Add the time that code took to load, unless a function that is being compiled needed it."""
        if not getattr(self.thread, "depth", 0):
            self.seconds += seconds

    def say(self) -> None:
        """Write one line to stderr, once per process."""
        if not self.said:
            self.said = True
            sys.stderr.write(
                "rosenblatt: compiling loops for this machine, which takes some seconds the first time "
                "(`rosenblatt warmup` does it beforehand).\n"
            )


watch = _Watch()
event.register("numba:compile", watch)


def compile_seconds() -> float:
    """Return the time that this process has spent to compile or to load code, to be left out of time limits."""
    return watch.seconds


def compiled_functions() -> int:
    """Return how many functions this process has compiled, those that they call not counted."""
    return watch.functions
