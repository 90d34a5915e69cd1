"""A start of Numba without what it looks for and the commands do not need."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Numba takes up packages that are installed: BLAS from SciPy for products of matrices, of which our loops have none,
# cffi for functions of C, and coverage. To import them takes longer than all else that it does to load compiled code.
UNNEEDED = ("scipy", "scipy.linalg", "cffi", "coverage")


@contextmanager
def _light() -> Iterator[None]:
    """Let packages that are not needed seem absent, and collect no garbage: imports make next to none."""
    absent = [name for name in UNNEEDED if name not in sys.modules]
    collecting = gc.isenabled()
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    gc.disable()
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
        gc.freeze()  # what was imported stays: no collection need look at it
        if collecting:
            gc.enable()


def import_numba() -> None:
    """Import Numba, unless that is done."""
    if "numba" not in sys.modules:
        with _light():
            import numba  # noqa: F401


def start_numba() -> None:
    """Make Numba ready to load compiled code, as the first loop would."""
    with _light():
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
