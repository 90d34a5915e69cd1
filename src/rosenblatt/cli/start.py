"""A start without Numba where compiled code is kept, and else without what Numba looks for and commands do not need."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Numba takes up packages that are installed: BLAS from SciPy for products of matrices, of which our loops have none,
# cffi for functions of C, and coverage. To import them takes longer than all else that it does to load compiled code.
UNNEEDED = ("scipy", "scipy.linalg", "cffi", "coverage")


class _Absent:
    """A finder for imports to which some packages seem absent, in the thread that made it."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise an error for a package that is not needed; leave all others to the next finder."""
        if name in UNNEEDED and threading.get_ident() == self.thread:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


@contextmanager
def _light() -> Iterator[None]:
    """Let packages that are not needed seem absent, and collect no garbage: imports make next to none."""
    finder, collecting = _Absent(), gc.isenabled()
    sys.meta_path.insert(0, finder)
    gc.disable()
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        gc.freeze()  # what was imported stays: no collection need look at it
        if collecting:
            gc.enable()


def start_numba() -> None:
    """Make Numba ready to load compiled code, as the first loop would."""
    with _light():
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()


def start_loops() -> None:
    """Make compiled loops ready: those that are kept for commands, or Numba."""
    import rosenblatt.files.opening  # noqa: F401
    from rosenblatt import native
    from rosenblatt.jit import preparations

    native.enable()
    preparations.append(start_numba)
    if not native.any_kept():
        start_numba()
    gc.freeze()  # what was imported stays
