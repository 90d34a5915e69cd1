"""How loops are compiled: once, for the machine at hand, kept on disk; and interpreted where that costs less.

`compiled` is the decorator of every compiled function. Beside Numba's own it has three properties. Where no directory
is writable, nothing is kept, with a warning. A cache that cannot be read, as one of another version may be, counts as
empty. And whoever waits for more than a moment is told what for.

Compiling takes seconds, the work on a small table microseconds. `interpreted` returns a compiled function as plain
Python: the same source, with every compiled function that it calls replaced likewise. `patient` chooses between the
two, for functions whose result is the same to the last bit either way.
"""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from types import CellType, FunctionType
from typing import Any

import numpy as np
from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.config import DISABLE_JIT
from numba.extending import is_jitted

# Seconds of compiling after which a line says so.
SILENT_SECONDS = 2.0
# Operations of interpreted code that take about as long as to compile a small function.
PATIENCE_OPERATIONS = 200_000

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


def _missing() -> None:
    if getattr(_thread, "loads_only", False):
        raise NotCompiled


class Cache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function's code, which never fails: what it cannot load is compiled anew."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        files = self._cache_file
        files.__class__ = _Files

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the code for a signature, or None."""
        start = time.perf_counter()
        try:
            found = super().load_overload(signature, target)
        except Exception:
            found = None
        _watch.load(time.perf_counter() - start)
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


_watch = _Watch()
event.register("numba:compile", _watch)


def compile_seconds() -> float:
    """Return the time that this process has spent to compile or to load code, to be left out of time limits."""
    return _watch.seconds


def compiled_functions() -> int:
    """Return how many functions this process has compiled, those that they call not counted."""
    return _watch.functions


# ------------------------------------------------------------------------------------------------------ plain Python


class _Bodies(dict[Any, Any]):
    """A table of bodies by type, each as plain Python; what is added to the original later is found, too."""

    def __init__(self, bodies: dict[Any, Any], plain: Callable[[Any], Any]) -> None:
        super().__init__()
        self.bodies, self.plain = bodies, plain

    def get(self, key: Any, default: Any = None) -> Any:
        return self.plain(self.bodies.get(key, default))


class _Twin:
    """The functions of a module as plain Python, made from their code and from globals of their own."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.original, self.names = names, dict(names)
        self.made: dict[Any, Any] = {}
        # Not the builtins: they are a dict too, to which a notebook adds functions.
        self.names.update((name, self.plain(value)) for name, value in names.items() if name != "__builtins__")
        # What NumPy does faster than a loop of Python's.
        for name, value in names.items():
            if name.startswith("_plain_"):
                own = name.removeprefix("_plain")
                self.names[own if own in names else own[1:]] = self.plain(value)

    def plain(self, value: Any) -> Any:
        """Return a function of the module as plain Python; anything else as it is."""
        if isinstance(value, Patient):
            value = value.loop
        if is_jitted(value):
            value = value.py_func
        if isinstance(value, dict) and any(
            isinstance(body, FunctionType) or is_jitted(body) for body in value.values()
        ):
            return _Bodies(value, self.plain)
        if not isinstance(value, FunctionType) or value.__globals__ is not self.original:
            return value
        if value not in self.made:
            closure = tuple(CellType() for _ in value.__closure__ or ())
            made = FunctionType(value.__code__, self.names, value.__name__, value.__defaults__, closure)
            self.made[value] = made
            for cell, old in zip(closure, value.__closure__ or (), strict=True):
                cell.cell_contents = self.plain(old.cell_contents)
        return self.made[value]


_twins: dict[str, _Twin] = {}


def interpreted(loop: Any) -> Callable[..., Any]:
    """Return a compiled function as plain Python, and with it every function that it calls.

    Where the module has a function `_plain_name`, it stands in for the compiled function `name` or `_name`.
    """
    function = loop.py_func if is_jitted(loop) else loop
    names = function.__globals__
    twin = _twins.get(names["__name__"])
    if twin is None:
        twin = _twins[names["__name__"]] = _Twin(names)
    plain: Callable[..., Any] = twin.names[function.__name__]
    return plain


_eager = threading.local()  # .on: whether patience is suspended


@contextmanager
def compiling_all() -> Iterator[None]:
    """Compile whatever is called inside, however small the work; and without a word on stderr."""
    before, _watch.said, _eager.on = _watch.said, True, True
    try:
        yield
    finally:
        _watch.said, _eager.on = before, False


def is_eager() -> bool:
    """Return whether to compile whatever is called."""
    return getattr(_eager, "on", False)


class Patient:
    """A compiled function that is interpreted until that has cost as much as to compile it.

    Nothing is compiled for a few small tables. Code that is in memory or on disk is used at once. Only for functions
    whose result is the same to the last bit either way: sums of integers, sums in a fixed order.

    Parameters
    ----------
    loop : compiled function
    work : callable
        Of the same arguments: about how many operations a call takes.
    """

    def __init__(self, loop: Any, work: Callable[..., float]) -> None:
        self.loop, self.work = loop, work
        self.left = 0.0 if DISABLE_JIT else float(PATIENCE_OPERATIONS)
        self.on_disk = True  # whether it has not been looked for in vain
        update_wrapper(self, loop)

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        if self.left <= 0.0 or self.loop.overloads or is_eager():
            return self.loop(*args)
        if self.on_disk:
            try:
                _thread.loads_only = True
                return self.loop(*args)
            except NotCompiled:
                self.on_disk = False
            finally:
                _thread.loads_only = False
        self.left -= self.work(*args)
        if self.left <= 0.0:
            return self.loop(*args)
        with np.errstate(all="ignore"):
            return interpreted(self.loop)(*args)


def patient(work: Callable[..., float]) -> Callable[[Any], Any]:
    """Return a decorator that makes a compiled function `Patient`; no compiled function may call it then."""
    return lambda loop: Patient(loop, work)
