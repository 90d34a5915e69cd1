"""The machinery: contestants take turns, the best round counts, and a figure is a ratio that knows its target."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import platform
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

PACKAGES = (
    *("rosenblatt", "numpy", "scipy", "numba", "scikit-learn"),
    *("vowpalwabbit", "liblinear-official", "river", "firthmodels", "matplotlib"),
)


# ---------------------------------------------------------------------------------------------------------- figures


@dataclass(frozen=True)
class Quantity:
    """What a figure says, from a measurement of ours and one of theirs."""

    meaning: str
    brief: str
    unit: str
    more_is_better: bool
    of: Callable[[float, float], float]


SPEED = Quantity("times as fast as the peer", "as fast", "x", True, lambda ours, theirs: theirs / ours)
COST = Quantity("time, as a multiple of the peer's", "the time", "x", False, lambda ours, theirs: ours / theirs)
BANDWIDTH = Quantity(
    "share of the read bandwidth of X.sum()", "of it", "%", True, lambda ours, theirs: 100 * ours / theirs
)
MEMORY = Quantity(
    "peak growth of memory in fit, share of X", "of it", "%", False, lambda ours, theirs: 100 * ours / theirs
)
RATE = Quantity(
    "rows per second, as a multiple of the peer's", "the rows", "x", True, lambda ours, theirs: ours / theirs
)

APART = Quantity(
    "apart from the peer's, share of it", "apart", "%", False, lambda ours, theirs: 100 * abs(ours / theirs - 1)
)


@dataclass(frozen=True)
class Figure:
    """One line of the report.

    Attributes
    ----------
    what : str
        The work measured, in a few words.
    quantity : Quantity
        How the two measurements become a value.
    ours, theirs : float
        The measurements.
    unit : str
        Their unit: "s", "GB/s", "MB", "rows/s", or what else is counted.
    peer : str
        Whom it is measured against.
    target : float or None
        The value to reach, or not to pass where less is better.
    drawn : bool
        Whether the picture shows it.
    """

    what: str
    quantity: Quantity
    ours: float
    theirs: float
    unit: str = "s"
    peer: str = "scikit-learn"
    target: float | None = None
    drawn: bool = True

    @property
    def value(self) -> float:
        """The ratio or the share."""
        return self.quantity.of(self.ours, self.theirs)

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        return self.value >= self.target if self.quantity.more_is_better else self.value <= self.target


@dataclass(frozen=True)
class Table:
    """What does not fit a ratio: accuracies, reasons, what exactly was timed."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


# ------------------------------------------------------------------------------------------------------------ timing


@dataclass(frozen=True)
class Prepared:
    """A contestant with work to do before the clock starts: `make` does it and gives what is timed."""

    make: Callable[[], Callable[[], Any]]


@dataclass
class Timed:
    """The best time of a contestant, and what its last run returned."""

    seconds: float = float("inf")
    result: Any = None


@dataclass(frozen=True)
class Bench:
    """How thoroughly to measure."""

    rounds: int = 7
    quick: bool = False

    def rows(self, full: int) -> int:
        """Give the number of rows to make: a tenth when only trying things out."""
        return full // 10 if self.quick else full

    def best(
        self, contestants: Mapping[str, Callable[[], Any] | Prepared], rounds: int | None = None
    ) -> dict[str, Timed]:
        """Run the contestants in turns and give the best time of each.

        In turns, because on a shared machine a slow minute must hit all of them; the best, because noise only adds.
        A first round, which compiles and fills caches, does not count.
        """
        timed = {name: Timed() for name in contestants}
        gc.collect()
        gc.freeze()  # what is there now need not be looked at before each run, which takes a tenth of a second
        try:
            for number in range(1 + (rounds or self.rounds)):
                for name, contestant in contestants.items():
                    run = contestant.make() if isinstance(contestant, Prepared) else contestant
                    gc.collect()
                    gc.disable()
                    start = perf_counter()
                    result = run()
                    seconds = perf_counter() - start
                    timed[name].result = result
                    if number:
                        timed[name].seconds = min(timed[name].seconds, seconds)
        finally:
            gc.enable()
            gc.unfreeze()
        return timed

    def epochs(
        self,
        fits: Mapping[str, Callable[[int], Any]],
        few: int,
        many: int,
        others: Mapping[str, Callable[[], Any]] | None = None,
    ) -> tuple[dict[str, float], dict[str, Timed]]:
        """Time an epoch of each fit: what more epochs cost, so that checks and set-up cancel out.

        Parameters
        ----------
        fits : mapping
            From a contestant's name to a function that trains for the given number of epochs and returns the model.
        few, many : int
            The epochs of the short and of the long fit.
        others : mapping, optional
            Contestants to time in the same rounds.

        Returns
        -------
        epoch : dict
            Seconds per epoch, by contestant.
        whole : dict
            The long fits and the others, by name.
        """
        contestants: dict[str, Callable[[], Any]] = dict(others or {})
        for name, fit in fits.items():
            # The defaults bind the loop's variable now, not when called.
            contestants[f"{name}, short"] = lambda fit=fit: fit(few)
            contestants[name] = lambda fit=fit: fit(many)
        whole = self.best(contestants)
        for name in fits:
            if whole[name].result.n_iter_ != many:
                raise RuntimeError(f"{name} ran {whole[name].result.n_iter_} epochs and not {many}: no time per epoch.")
        epoch = {name: (whole[name].seconds - whole[f"{name}, short"].seconds) / (many - few) for name in fits}
        if min(epoch.values()) <= 0:
            raise Skip(
                "a longer fit took no longer than a shorter one: the machine is too noisy. Try a larger --repeat."
            )
        return epoch, whole


# ------------------------------------------------------------------------------------------------------------ memory


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of a module in a new interpreter, which no earlier case has touched."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def peak_growth(work: Callable[[], Any]) -> int:
    """Give by how many bytes the resident memory of this process rises above its present level during the work."""
    _return_free_memory()
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from what is resident now
    except OSError:
        before = _highest()
    else:
        before = _status("VmRSS")
    work()
    return max(0, _highest() - before)


def _return_free_memory() -> None:
    """Let the C library return what making the data has freed: the work would take it up again unseen."""
    gc.collect()
    with suppress(OSError, AttributeError):  # only glibc has the function
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


def _highest() -> int:
    try:
        return _status("VmHWM")
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


# ------------------------------------------------------------------------------------------------------------- cases


class Skip(Exception):
    """Raised by a case that cannot be run here; the message says why, and what to do about it."""


@dataclass
class Result:
    """What came of a case."""

    name: str
    title: str
    seconds: float = 0.0
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


Yield = Figure | Table | str


@dataclass(frozen=True)
class Case:
    """A benchmark: a function that yields figures, tables and remarks; a long one is run alone, when asked for."""

    name: str
    title: str
    run: Callable[[Bench], Iterator[Yield]]
    alone: bool = False

    def result(self, bench: Bench) -> Result:
        """Run it and sort out what it yields."""
        result = Result(self.name, self.title)
        start = perf_counter()
        try:
            for item in self.run(bench):
                if isinstance(item, Figure):
                    result.figures.append(item)
                elif isinstance(item, Table):
                    result.tables.append(item)
                else:
                    result.remarks.append(item)
        except Skip as reason:
            result.remarks.append(f"Skipped: {reason}")
        result.seconds = perf_counter() - start
        return result


CASES: dict[str, Case] = {}


def case(
    title: str, *, alone: bool = False
) -> Callable[[Callable[[Bench], Iterator[Yield]]], Callable[[Bench], Iterator[Yield]]]:
    """Enter the decorated function into the list of cases, under its own name."""

    def enter(run: Callable[[Bench], Iterator[Yield]]) -> Callable[[Bench], Iterator[Yield]]:
        name = run.__name__.strip("_")
        CASES[name] = Case(name, title, run, alone)
        return run

    return enter


def machine() -> dict[str, Any]:
    """Describe the machine and the packages, without which no figure means anything."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        named = (line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line)
        model = next(named, model)
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": versions,
    }
