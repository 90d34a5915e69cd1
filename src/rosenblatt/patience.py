"""Compiled functions that are interpreted where that costs less.

Compiling takes seconds, the work on a small table microseconds. `interpreted` returns a compiled function as plain
Python: the same source, with every compiled function that it calls replaced likewise. `patient` chooses between the
two, for functions whose result is the same to the last bit either way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from types import CellType, FunctionType
from typing import Any

import numpy as np

from rosenblatt.jit import DISABLE_JIT, VERBS, NotCompiled, is_compiled, loading_only, watch

# Operations of interpreted code that take about as long as to compile a small function.
PATIENCE_OPERATIONS = 200_000


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
        if is_compiled(value):
            value = value.py_func
        if isinstance(value, dict) and any(
            isinstance(body, FunctionType) or is_compiled(body) for body in value.values()
        ):
            return _Bodies(value, self.plain)
        if not isinstance(value, FunctionType):
            return value
        if value.__globals__ is not self.original:
            module = value.__globals__.get("__name__", "")
            return _twin(value.__globals__).plain(value) if module.startswith(VERBS) else value
        if value not in self.made:
            closure = tuple(CellType() for _ in value.__closure__ or ())
            made = FunctionType(value.__code__, self.names, value.__name__, value.__defaults__, closure)
            self.made[value] = made
            for cell, old in zip(closure, value.__closure__ or (), strict=True):
                cell.cell_contents = self.plain(old.cell_contents)
        return self.made[value]


_twins: dict[str, _Twin] = {}


def _twin(names: dict[str, Any]) -> _Twin:
    twin = _twins.get(names["__name__"])
    if twin is None:
        twin = _twins[names["__name__"]] = _Twin(names)
    return twin


def interpreted(loop: Any) -> Callable[..., Any]:
    """Return a compiled function as plain Python, and with it every function that it calls.

    Where the module has a function `_plain_name`, it stands in for the compiled function `name` or `_name`.
    """
    function = loop.py_func if is_compiled(loop) else loop
    plain: Callable[..., Any] = _twin(function.__globals__).names[function.__name__]
    return plain


_eager = threading.local()  # .on: whether patience is suspended


@contextmanager
def compiling_all() -> Iterator[None]:
    """Compile whatever is called inside, however small the work; and without a word on stderr."""
    before, watch.said, _eager.on = watch.said, True, True
    try:
        yield
    finally:
        watch.said, _eager.on = before, False


def is_eager() -> bool:
    """Return whether to compile whatever is called."""
    return getattr(_eager, "on", False)


class Patient:
    """A compiled function that is interpreted until that has cost as much as to compile it.

    Nothing is compiled for a few small tables. Code that is in memory is used at once, and so is code on disk, unless
    to load it takes as long as many calls. Only for functions whose result is the same to the last bit either way:
    sums of integers, sums in a fixed order.

    Parameters
    ----------
    loop : compiled function
    work : callable
        Of the same arguments: about how many operations a call takes.
    most : float
        Operations that take as long as to compile it.
    before_disk : float
        Operations that take as long as to load it.
    """

    def __init__(
        self, loop: Any, work: Callable[..., float], most: float = PATIENCE_OPERATIONS, before_disk: float = 0.0
    ) -> None:
        self.loop, self.work = loop, work
        self.left = 0.0 if DISABLE_JIT else float(most)
        self.disk_from = self.left - before_disk  # operations left when the disk is asked
        self.on_disk = True  # whether it has not been looked for in vain
        update_wrapper(self, loop)

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        if self.left <= 0.0 or self.loop.overloads or is_eager():
            return self.loop(*args)
        if self.on_disk and self.left <= self.disk_from:
            try:
                with loading_only():
                    return self.loop(*args)
            except NotCompiled:
                self.on_disk = False
        self.left -= self.work(*args)
        if self.left <= 0.0:
            return self.loop(*args)
        with np.errstate(all="ignore"):
            return interpreted(self.loop)(*args)


def patient(work: Callable[..., float], **limits: float) -> Callable[[Any], Any]:
    """Return a decorator that makes a compiled function `Patient`; no compiled function may call it then."""
    return lambda loop: Patient(loop, work, **limits)
