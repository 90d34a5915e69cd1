"""How loops are compiled: once, for the machine at hand, and kept on disk.

`compiled` is the decorator of every compiled function. Numba is imported when one is first called, and not at all if
a command finds the code on disk (`rosenblatt.native`). What Numba does differs in some things from its own ways, see
`rosenblatt.compiler`. Whoever waits for more than a moment is told what for.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import update_wrapper
from importlib import import_module
from types import SimpleNamespace
from typing import Any

# Seconds of compiling after which a line says so.
SILENT_SECONDS = 2.0
# The package whose functions are called by those of other files.
VERBS = "rosenblatt.verbs"
DISABLE_JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


class NotCompiled(Exception):
    """The code that was asked for is neither in memory nor on disk."""


class NotKept(Exception):
    """There is no code on disk that could be called without Numba."""


# What finds code that needs no Numba, what keeps it (`rosenblatt.native`), and what waits for code that another process
# compiles (`rosenblatt.cli.ahead`): set by commands.
kept = SimpleNamespace(find=None, keep=None, wait=None)
_thread = threading.local()  # .loads_only: whether to raise `NotCompiled` where code would have to be compiled


@contextmanager
def loading_only() -> Iterator[None]:
    """Raise `NotCompiled` inside where code would have to be compiled."""
    _thread.loads_only = True
    try:
        yield
    finally:
        _thread.loads_only = False


def check_may_compile() -> None:
    """Raise `NotCompiled` if nothing is to be compiled now."""
    if getattr(_thread, "loads_only", False):
        raise NotCompiled


# -------------------------------------------------------------------------------------------------- loops and verbs


preparations: list[Callable[[], None]] = []  # called before Numba is imported


def _compiler() -> Any:
    """Return the module that knows Numba."""
    while preparations:
        preparations.pop()()
    return import_module("rosenblatt.compiler")


_making = threading.RLock()  # to import Numba, and to make a dispatcher


class Loop:
    """A compiled function. Its attributes are those of Numba's dispatcher, which is made when it is needed."""

    def __init__(self, py_func: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, py_func)
        self.py_func, self.options = py_func, options
        self._dispatcher: Any = None
        self._inner: Any = None  # for loops that call this one: without what Python would call, a fifth of the work

    def __call__(self, *args: Any) -> Any:
        """Call the code for arguments of these types; compile it if there is none."""
        dispatcher = self._dispatcher
        return self._first_call(args) if dispatcher is None else dispatcher(*args)

    def _first_call(self, args: Any) -> Any:
        if kept.find is not None:
            start = time.perf_counter()
            with suppress(NotKept):
                found = kept.find(self.py_func, args)
                watch.load(time.perf_counter() - start)
                return found(args)
        return self.dispatcher(*args)

    @property
    def dispatcher(self) -> Any:
        """Numba's own object for the function."""
        with _making:
            if self._dispatcher is None:
                self._dispatcher = _compiler().dispatcher_of(self.py_func, self.options)
        return self._dispatcher

    @property
    def overloads(self) -> Any:
        """Code that is in memory, by types."""
        return {} if self._dispatcher is None else self._dispatcher.overloads

    @property
    def _numba_type_(self) -> Any:
        with _making:
            if self._inner is None:
                self._inner = _compiler().dispatcher_of(self.py_func, self.options, inner=True)
        return self._inner._numba_type_

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_dispatcher", "_inner"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)


def is_compiled(value: Any) -> bool:
    """Return whether a value is a compiled function."""
    return isinstance(value, Loop)


def compiled(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function, by options of `numba.njit`, when it is first called."""
    return lambda function: function if DISABLE_JIT else Loop(function, options)


overloads: list[tuple[Any, dict[str, Any], Any]] = []  # that Numba does not know yet


def overload(function: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator for what chooses the code of a function by types: `numba.extending.overload`, in its time."""

    def decorate(choice: Any) -> Any:
        overloads.append((function, options, choice))
        if "rosenblatt.compiler" in sys.modules:
            _compiler().register_overloads()
        return choice

    return decorate


# ------------------------------------------------------------------------------------------------- the time it takes


class _Watch:
    """Add up the time that this package's functions take to compile, and say so once if it becomes long."""

    def __init__(self) -> None:
        self.seconds, self.functions, self.said = 0.0, 0, False
        self.thread = threading.local()  # compiling one function compiles those that it calls

    def start(self, function: Any) -> None:
        """Start the clock with the outermost function."""
        depth = getattr(self.thread, "depth", 0)
        self.thread.depth = depth + 1
        if depth == 0:
            self.thread.start = time.perf_counter()
            self.thread.timer = None
            if not self.said and function.__module__.startswith("rosenblatt."):
                self.thread.timer = threading.Timer(max(0.0, SILENT_SECONDS - self.seconds), self.say)
                self.thread.timer.daemon = True
                self.thread.timer.start()

    def end(self) -> None:
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


def compile_seconds() -> float:
    """Return the time that this process has spent to compile or to load code, to be left out of time limits."""
    return watch.seconds
