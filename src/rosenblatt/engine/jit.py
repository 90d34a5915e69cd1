"""How loops are compiled: by Numba, when they are first called, once for each machine.

`compiled` is the decorator of every compiled function, `overload` chooses code by the types of the arguments. Numba is
imported with the first call, so that importing this package costs next to nothing. Machine code is cached on disk, see
`rosenblatt.engine.compiler`. A line on stderr says so if compiling takes longer than a moment.

`NUMBA_DISABLE_JIT=1` runs every loop as plain Python, for debuggers and coverage.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from functools import cached_property, update_wrapper
from importlib import import_module
from typing import Any

# Seconds of compiling after which a line says so.
SILENT_SECONDS = 2.0
DISABLE_JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


_importing = threading.RLock()


def _compiler() -> Any:
    """Return the module that imports Numba."""
    return import_module("rosenblatt.engine.compiler")


class Loop:
    """A compiled function; its attributes are those of Numba's dispatcher."""

    def __init__(self, py_func: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, py_func)
        self.py_func, self.options = py_func, options

    def __call__(self, *args: Any) -> Any:
        """Call the machine code for arguments of these types; compile it if there is none."""
        return self.dispatcher(*args)

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's own object for the function."""
        with _importing:
            return _compiler().dispatcher_of(self.py_func, self.options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)


def compiled(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function with options of `numba.njit` when it is first called.

    With ``cache=False`` the machine code is not kept on disk.
    """
    return lambda function: function if DISABLE_JIT else Loop(function, options)


overloads: list[tuple[Any, dict[str, Any], Any]] = []  # that Numba does not know yet


def overload(function: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator for what chooses the code of a function by types: `numba.extending.overload`, lazily."""

    def decorate(choice: Any) -> Any:
        overloads.append((function, options, choice))
        if "rosenblatt.engine.compiler" in sys.modules:
            _compiler().register_overloads()
        return choice

    return decorate


def jitable(function: Any) -> Any:
    """Let compiled code call a Python function, which stays one for other callers: `numba.extending.register_jitable`.

    The code of small work need not be compiled then, see `rosenblatt.prover.search.nearest`.
    """
    overload(function, strict=False)(lambda *args: function)
    return function


# ------------------------------------------------------------------------------------------------- the time it takes


class _Watch:
    """Add up the time that this package's functions take to compile, and say so once if it becomes long."""

    def __init__(self) -> None:
        self.seconds, self.said = 0.0, False
        self.thread = threading.local()  # compiling one function compiles those that it calls

    def start(self, function: Any, *, kept: bool = True) -> None:
        """Start the clock with the outermost function; its code is kept on disk, or is not."""
        depth = getattr(self.thread, "depth", 0)
        self.thread.depth = depth + 1
        if depth == 0:
            self.thread.start = time.perf_counter()
            self.thread.timer = None
            if not self.said and function.__module__.startswith("rosenblatt."):
                self.thread.timer = threading.Timer(max(0.0, SILENT_SECONDS - self.seconds), self.say, [kept])
                self.thread.timer.daemon = True
                self.thread.timer.start()

    def end(self) -> None:
        """Stop the clock with the outermost function."""
        depth = getattr(self.thread, "depth", 0)
        if depth == 0:  # what ends now began before Numba was told to tell us
            return
        self.thread.depth = depth - 1
        if depth == 1:
            self.seconds += time.perf_counter() - self.thread.start
            if self.thread.timer is not None:
                self.thread.timer.cancel()

    def load(self, seconds: float) -> None:
        """Add the time that code took to load, unless a function that is being compiled needed it."""
        if not getattr(self.thread, "depth", 0):
            self.seconds += seconds

    def say(self, kept: bool) -> None:
        """Write one line to stderr, once per process."""
        if not self.said:
            self.said = True
            later = "; the next time they are loaded from disk" * kept
            sys.stderr.write(f"rosenblatt: compiling loops for this machine{later}.\n")


watch = _Watch()


def compile_seconds() -> float:
    """Return the time that this process has spent compiling or loading code, to be left out of time limits."""
    return watch.seconds
