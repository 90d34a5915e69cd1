"""How loops are compiled: once, for the machine at hand, and kept on disk.

`compiled` is the decorator of every compiled function. Numba is imported when one is first called, and not at all if
a command finds the code on disk (`rosenblatt.native`). What Numba does differs in four things from its own ways, see
`rosenblatt.compiler`. Whoever waits for more than a moment is told what for.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from importlib import import_module
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


class _Kept:
    """What finds code that needs no Numba, and what keeps it: `rosenblatt.native.enable` sets both, for commands."""

    find: Any = None
    keep: Any = None


kept = _Kept()
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

    def __call__(self, *args: Any) -> Any:
        """Call the code for arguments of these types; compile it if there is none."""
        dispatcher = self._dispatcher
        return self._first_call(args) if dispatcher is None else dispatcher(*args)

    def _first_call(self, args: Any) -> Any:
        if kept.find is not None:
            start = time.perf_counter()
            try:
                found = kept.find(self.py_func, args)
                watch.load(time.perf_counter() - start)
                return found(args)
            except NotKept:
                pass
        return self.dispatcher(*args)

    @property
    def dispatcher(self) -> Any:
        """Numba's own object for the function."""
        if self._dispatcher is None:
            with _making:
                if self._dispatcher is None:
                    self._dispatcher = _compiler().dispatcher_of(self.py_func, self.options)
        return self._dispatcher

    @property
    def overloads(self) -> Any:
        """Code that is in memory, by types."""
        return {} if self._dispatcher is None else self._dispatcher.overloads

    @property
    def _numba_type_(self) -> Any:  # for loops that call this one
        return self.dispatcher._numba_type_

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_dispatcher":
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


def compiled_functions() -> int:
    """Return how many functions this process has compiled, those that they call not counted."""
    return watch.functions
