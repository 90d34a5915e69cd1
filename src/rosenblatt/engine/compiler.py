"""Numba and its disk cache, imported when the first function is compiled or loaded.

The cache is Numba's own with four changes. An edit in any file that a loop may call makes its code stale: Numba checks
the file of the function alone, and would keep the old code of the functions it calls. Several processes may write at
the same time: a reader sees complete files, for the types that it asked for. Loops with a user's rule are not cached:
the cache would find them by the name of the rule, whose body may have changed. And a cache that cannot be read or
written costs a warning at most.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.extending import is_jitted
from numba.extending import overload as numba_overload

from rosenblatt.engine.jit import overloads, timer

SOURCE = Path(__file__).parents[1]
# The rooms whose code a loop of a room may call. The loops of the engine call the trials of the learners.
ROOMS = {"files": ("files",), "prover": ("prover", "engine"), "kernels": ("kernels", "engine")}
ENGINE = ("engine", "learners")
NO_CACHE = (
    "No directory is writable for compiled code, so every process compiles it again. Set NUMBA_CACHE_DIR to a "
    "directory of your own."
)


@cache
def room_stamp(room: str) -> tuple[tuple[str, float, int], ...]:
    """Return name, time and size of every source file that the loops of a room may depend on."""
    found = sorted(path for name in ROOMS.get(room, ENGINE) for path in (SOURCE / name).rglob("*.py"))
    return tuple((str(path.relative_to(SOURCE)), path.stat().st_mtime, path.stat().st_size) for path in found)


def _type_name(one: Any) -> str:
    """Return the name of a type, with the modules of the classes in it."""
    parts = getattr(one, "types", None)
    if parts is None:
        return repr(one)
    cls = getattr(one, "instance_class", tuple)
    return f"{cls.__module__}.{cls.__qualname__}({', '.join(map(_type_name, parts))})"


def _digest(key: Any) -> str:
    """Return a hash of a key: to unpickle its types would import every learner whose rule has been compiled."""
    signature, *rest = key
    types = [_type_name(one) for one in getattr(signature, "args", signature)]
    return hashlib.sha1(repr((types, rest)).encode(), usedforsecurity=False).hexdigest()


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """The cache files of a function: an index from hashes of types to files of code. Unreadable files are ignored."""

    def _load_index(self) -> Any:
        # Any exception is possible: the file may be damaged.
        try:
            return super()._load_index()
        except Exception:
            return {}

    def load(self, key: Any) -> Any:
        try:
            return super().load(_digest(key))
        except Exception:
            return None

    def save(self, key: Any, data: Any) -> None:
        # Another process may read at any moment, or write for other types. Each key has a file of its own, written
        # before it is listed; Numba would number the files, and list them first.
        digest = _digest(key)
        name = self._data_name(int(digest[:15], 16))
        self._save_data(name, data)
        self._save_index(self._load_index() | {digest: name})


def is_cacheable(signature: Any) -> bool:
    """Return whether code for a signature may be cached: not if one of its types is a user's rule."""
    types = getattr(signature, "args", signature)
    return all(getattr(getattr(one, "instance_class", None), "kept", True) for one in types)


class CodeCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function's code, which never fails: code that cannot be loaded is compiled again."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        room = function.__module__.partition(".")[2].partition(".")[0]
        stamp = self._impl.locator.get_source_stamp(), room_stamp(room)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the code for a signature, or None."""
        if not is_cacheable(signature):
            return None
        start = time.perf_counter()
        try:
            return super().load_overload(signature, target)
        except Exception:
            return None
        finally:
            timer.add_loading(time.perf_counter() - start)

    def save_overload(self, signature: Any, code: Any) -> None:
        """Write the code for a signature, if the disk allows it."""
        if not is_cacheable(signature):
            return
        try:
            super().save_overload(signature, code)
        except OSError as error:
            warn_once(f"Compiled code could not be kept in {self.cache_path} ({error.strerror}). {NO_CACHE}")


@cache
def warn_once(message: str) -> None:
    """Warn, once per message."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def dispatcher_of(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return Numba's dispatcher of a function, with a disk cache if a directory is writable."""
    register_overloads()
    loop = njit(nogil=True, **options | {"cache": False})(function)  # `CodeCache` replaces Numba's cache
    if is_jitted(loop) and options.get("cache", True):  # not jitted: the JIT is off
        try:
            loop._cache = CodeCache(function)
        except (RuntimeError, OSError):  # "no locator available": no directory is writable
            warn_once(NO_CACHE)
    return loop


def register_overloads() -> None:
    """Register with Numba the overloads declared so far."""
    while overloads:
        function, options, choice = overloads.pop(0)
        numba_overload(function, **options)(choice)


class _Listener(event.Listener):  # type: ignore[misc]
    """Starts and stops the timer with each compilation."""

    def on_start(self, event: event.Event) -> None:
        timer.start(event.data["dispatcher"].py_func, cached=is_cacheable(event.data["args"]))

    def on_end(self, event: event.Event) -> None:
        timer.end()


event.register("numba:compile", _Listener())
