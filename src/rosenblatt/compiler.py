"""Numba, and its disk cache: imported when the first function is to be compiled or loaded.

The cache differs from Numba's own in six things. Where no directory is writable, nothing is kept, with a warning. A
cache that cannot be read, as one of another version may be, counts as empty. An edit in a file of `rosenblatt.verbs`
makes the loops that use the verbs compile anew; Numba itself looks at the file of a function only. Code for loops that
call a function is kept apart from code for Python, which needs more. Several processes may write at once: what one
reads is whole. And a command keeps the code for `rosenblatt.native`, too.
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
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.extending import is_jitted
from numba.extending import overload as numba_overload

from rosenblatt.jit import VERBS, check_may_compile, kept, overloads, watch

VERBS_DIRECTORY = Path(__file__).parent / "verbs"

# Options of code that Python does not call.
INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
NO_CACHE = (
    "No directory is writable for compiled code, so every process compiles it anew. Set NUMBA_CACHE_DIR to a directory "
    "of your own."
)


# ------------------------------------------------------------------------------------------------------ the disk cache


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """The files of a function: what cannot be read is not there."""

    function: Any
    inner: bool

    def _load_index(self) -> Any:
        # Numba reads the types of the arguments before it looks whether they are those of another version of the
        # source, in which a NamedTuple may have had another name; and a file may be damaged. Reading raises anything.
        try:
            return super()._load_index()
        except Exception:
            return {}

    def load(self, key: Any) -> Any:
        try:
            data = super().load(key)
        except Exception:
            return None
        if data is not None and kept.keep is not None and not self.inner:
            kept.keep(self.function, data)
        return data

    def save(self, key: Any, data: Any) -> None:
        # Another process may read at any moment, or write for other types: each key has a file of its own, which is
        # there before it is listed. Numba would number the files, and list them first.
        number = int(hashlib.sha1(repr(key).encode(), usedforsecurity=False).hexdigest()[:15], 16)
        self._save_data(self._data_name(number), data)
        self._save_index(self._load_index() | {key: self._data_name(number)})
        if kept.keep is not None and not self.inner:
            kept.keep(self.function, data)


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

    def __init__(self, function: Callable[..., Any], inner: bool = False) -> None:
        super().__init__(function)
        name = self._impl.filename_base + ("-inner" if inner else "")
        files = self._cache_file = _Files(self._cache_path, name, self._impl.locator.get_source_stamp())
        files.function, files.inner = function, inner
        if _speaks(function):
            files._source_stamp = (files._source_stamp, stamp_of(VERBS_DIRECTORY))

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the code for a signature, or None."""
        start = time.perf_counter()
        found = self._find(signature, target)
        if found is None:
            check_may_compile()
        while found is None and kept.wait is not None and kept.wait(self._py_func):
            found = self._find(signature, target)
        watch.load(time.perf_counter() - start)
        return found

    def _find(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)
        except Exception:
            return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep the code for a signature, where that is possible."""
        try:
            super().save_overload(signature, code)
        except OSError as error:
            warn_once(f"Compiled code could not be kept in {self.cache_path} ({error.strerror}). {NO_CACHE}")


class NoCache(NullCache):  # type: ignore[misc]
    """A cache where nothing can be kept."""

    def load_overload(self, signature: Any, target: Any) -> None:
        """Return None: nothing was kept."""
        check_may_compile()


@cache
def warn_once(message: str) -> None:
    """Warn, unless that was said before."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def cache_of(function: Callable[..., Any], inner: bool = False) -> Cache | NoCache:
    """Return the cache of a function."""
    try:
        return Cache(function, inner)
    except (RuntimeError, OSError):  # "no locator available": no directory is writable
        warn_once(NO_CACHE)
        return NoCache()


# -------------------------------------------------------------------------------------------------- for rosenblatt.jit


def dispatcher_of(function: Callable[..., Any], options: dict[str, Any], inner: bool = False) -> Any:
    """Return Numba's dispatcher of a function, for Python or for loops only, which keeps its code on disk."""
    register_overloads()
    loop = njit(nogil=True, **options, **(INNER if inner else {}))(function)
    if is_jitted(loop):  # else the JIT is off
        loop._cache = cache_of(function, inner)
    return loop


def register_overloads() -> None:
    """Register with Numba what chooses the code of the verbs."""
    while overloads:
        function, options, choice = overloads.pop(0)
        numba_overload(function, **options | {"jit_options": options.get("jit_options", {}) | INNER})(choice)


class _Listener(event.Listener):  # type: ignore[misc]
    """What starts and stops the watch when compiling begins and ends."""

    def on_start(self, event: event.Event) -> None:
        watch.start(event.data["dispatcher"].py_func)

    def on_end(self, event: event.Event) -> None:
        watch.end()


event.register("numba:compile", _Listener())
