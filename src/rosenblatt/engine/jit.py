"""Compile loops with Numba when they are first called, once per machine.

`compiled` is the decorator of every compiled function; `overload` chooses code by the types of the arguments. Numba is
imported with the first call, which keeps `import rosenblatt` cheap. Machine code is cached on disk, see
`rosenblatt.engine.compiler`. A notice on stderr appears if compiling takes longer than two seconds.

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

# Seconds of compiling before the notice on stderr.
SILENT_SECONDS = 2.0
DISABLE_JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


_importing = threading.RLock()


def _compiler() -> Any:
    """Return the module that imports Numba."""
    return import_module("rosenblatt.engine.compiler")


class Loop:
    """A compiled function, with the attributes of Numba's dispatcher."""

    def __init__(self, py_func: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, py_func)
        self.py_func, self.options = py_func, options

    def __call__(self, *args: Any) -> Any:
        """Call the machine code for the types of the arguments, compiling or loading it first if necessary."""
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


overloads: list[tuple[Any, dict[str, Any], Any]] = []  # not yet registered with Numba


def overload(function: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator for a function that chooses code by type: `numba.extending.overload`, lazily."""

    def decorate(choice: Any) -> Any:
        overloads.append((function, options, choice))
        if "rosenblatt.engine.compiler" in sys.modules:
            _compiler().register_overloads()
        return choice

    return decorate


def jitable(function: Any) -> Any:
    """Let compiled code call a function that Python calls as well: `numba.extending.register_jitable`, lazily.

    Small problems can then be solved without compiling anything, see `rosenblatt.prover.search.nearest`.
    """
    overload(function, strict=False)(lambda *args: function)
    return function


# --------------------------------------------------------------------------------------------------- compilation time


class CompileTimer:
    """Add up the time spent compiling, and print a notice once if it grows long."""

    def __init__(self) -> None:
        self.seconds, self.announced = 0.0, False
        self.thread = threading.local()  # compilations nest: a function compiles those that it calls

    def start(self, function: Any, *, cached: bool = True) -> None:
        """Start the clock if this is the outermost compilation; `cached` is whether its code will be kept on disk."""
        depth = getattr(self.thread, "depth", 0)
        self.thread.depth = depth + 1
        if depth == 0:
            self.thread.start = time.perf_counter()
            self.thread.timer = None
            if not self.announced and function.__module__.startswith("rosenblatt."):
                self.thread.timer = threading.Timer(max(0.0, SILENT_SECONDS - self.seconds), self.announce, [cached])
                self.thread.timer.daemon = True
                self.thread.timer.start()

    def end(self) -> None:
        """Stop the clock if this was the outermost compilation."""
        depth = getattr(self.thread, "depth", 0)
        if depth == 0:  # it started before Numba's events reached this timer
            return
        self.thread.depth = depth - 1
        if depth == 1:
            self.seconds += time.perf_counter() - self.thread.start
            if self.thread.timer is not None:
                self.thread.timer.cancel()

    def add_loading(self, seconds: float) -> None:
        """Add the time that loading code from disk took; inside a compilation it is counted already."""
        if not getattr(self.thread, "depth", 0):
            self.seconds += seconds

    def announce(self, cached: bool) -> None:
        """Print the notice, once per process."""
        if not self.announced:
            self.announced = True
            later = "; the next run loads them from disk" * cached
            sys.stderr.write(f"rosenblatt: compiling loops for this machine{later}.\n")


timer = CompileTimer()


def compile_seconds() -> float:
    """Return the time that this process has spent compiling and loading code. Time limits leave it out."""
    return timer.seconds
