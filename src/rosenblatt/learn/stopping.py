"""Why a run ends, and the observers that find out: patience, a loss that grows, a margin too small."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Task
from rosenblatt.storage.registry import stored

if TYPE_CHECKING:
    from rosenblatt.proof.certificate import Certificate

Array = npt.NDArray[Any]
Names = tuple[Any, ...]

# Work of an epoch beside its rows, in entries of rows: some forty microseconds.
ENTRIES_PER_EPOCH = 4e4
# Work that a stalled part may do in the hope that it is separable, in entries of rows; or as much as it had done.
FREE_WAIT_ENTRIES = 5e5
# The same of a part that is on its way: in the later half of its epochs it has few updates for a row, or less than a
# share of those in the quarter before.
LONG_WAIT_ENTRIES = 3e6
FEW_UPDATES, STEADY_FALL = 0.1, 0.8
# And where there are no more rows than twice the weights: most of their labellings are separable (Cover 1965).
LIKELY_WAIT_ENTRIES = 1e7
# Epochs whose sums of steps are kept to see that: of longer runs every second one, every fourth, ...
MAX_KEPT_EPOCHS = 128
TINY = 1e-300  # to divide by instead of zero, where nothing is asked for
# Weights of which the squares are summed at once.
WEIGHTS_PER_BLOCK = 1 << 14
# A mean loss so many times that of zero weights, for as long as patience lasts, is one that diverges.
DIVERGENCE = 10.0


@stored("Stop")
class Stop(Enum):
    """Why a run ended; the value is the reason in short."""

    SEPARATED = "every row is on its side: an epoch passed without an update"
    EPOCHS = "the last allowed epoch was over, with mistakes still being made"
    SECONDS = "the allowed time was over"
    TRAINING = "the training error stopped changing"
    VALIDATION = "the validation error stopped decreasing"
    INSEPARABLE = "proven not separable: no hyperplane has every row on its side"
    CYCLE = "the weights came back to where they had been: from here the run repeats itself for ever"
    DIVERGED = "the mean loss grew far above that of zero weights"
    CALLBACK = "the callback asked for it"
    CHUNK = "the chunk of the stream was over"

    @classmethod
    def _missing_(cls, value: object) -> Stop | None:
        """Return the end of this name: what is pickled must not depend on the sentences."""
        return cls.__members__.get(str(value))

    def __reduce__(self) -> tuple[Any, ...]:  # for skops, which asks for it and calls the class
        return type(self), (self.name,)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return self.__reduce__()


# What a run reports when its problems ended differently: the end that asks most of the user.
PRECEDENCE = (
    Stop.DIVERGED,
    Stop.CALLBACK,
    Stop.SECONDS,
    Stop.EPOCHS,
    Stop.VALIDATION,
    Stop.TRAINING,
    Stop.INSEPARABLE,
    Stop.CYCLE,
    Stop.SEPARATED,
    Stop.CHUNK,
)


class Patience:
    """Count the epochs in which a figure did not fall by more than `tol` below its lowest value so far."""

    def __init__(self, parts: int, tol: float, patience: int) -> None:
        self.tol, self.patience = tol, patience
        self.lowest = [math.inf] * parts
        self.stale = [0] * parts

    def stalled(self, figures: list[float]) -> list[bool]:
        """Add the figure of each part; return which parts have gone `patience` epochs without progress."""
        for part, figure in enumerate(figures):
            self.stale[part] = self.stale[part] + 1 if figure > self.lowest[part] - self.tol else 0
            self.lowest[part] = min(self.lowest[part], figure)
        return [stale >= self.patience for stale in self.stale]


class Divergence:
    """Count the epochs in a row whose figure is far above that of zero weights and not the lowest so far."""

    def __init__(self, parts: int, zero_loss: float, patience: int) -> None:
        self.limit, self.patience = DIVERGENCE * zero_loss, patience
        self.lowest = [math.inf] * parts
        self.high = [0] * parts

    def found(self, figures: list[float]) -> list[bool]:
        """Add the figure of each part; return which parts diverge: for `patience` epochs, or beyond all numbers."""
        for part, figure in enumerate(figures):
            grows = figure > self.limit and figure >= self.lowest[part]
            self.high[part] = self.high[part] + 1 if grows else 0
            self.lowest[part] = min(self.lowest[part], figure)
        return [
            high >= self.patience or not math.isfinite(figure) for high, figure in zip(self.high, figures, strict=True)
        ]


class Ceiling:
    """Upper bounds on the margin of any hyperplane that separates the rows, down to the proof that there is none.

    A separator of unit norm with margin g gains at least g in each update, so that g <= |w - w0| / (sum of the
    steps): the run's own mistakes prove how large a margin can be. Where that is not sharp enough, a point of
    the convex hull of the signed rows that lies close to the origin says the same of the rows that it is made of;
    and if it is the origin itself, exactly, nothing separates.

    Attributes
    ----------
    certificate : Certificate or None
        On two classes that were proved not to be separable.
    """

    def __init__(self, table: Table, task: Task, subset: Array, W: Array, b: Array, parts: int, names: Names) -> None:
        self.table, self.task, self.subset, self.W, self.b = table, task, subset, W, b
        # Nearly every run starts at zero, which need not be stored.
        self.origin = (W.astype(float), b.astype(float)) if b.any() or W.any() else None
        self.joint = parts == 1 and b.size > 1
        # One problem, all rows, a bias: the question that a certificate answers. The size of the bias does not matter.
        self.names = names if b.size == 1 and not subset.size and task.bias > 0.0 else ()
        self.certificate: Certificate | None = None
        self.steps = np.zeros(parts)  # summed over the run
        self.history, self.stride = [self.steps.copy()], 1  # the same after every so many epochs
        self.epochs = 0
        self.lowest = np.full(parts, np.inf)
        self.next_search = np.zeros(parts, np.int64)
        self.radius = float(np.sqrt(table.largest + task.bias))
        self.stalled: dict[int, int] = {}  # epoch in which each part first had made no progress

    def add(self, step: Array) -> None:
        """Add the steps of an epoch, summed for each part."""
        self.steps += step
        self.epochs += 1
        if self.epochs % self.stride == 0:
            self.history.append(self.steps.copy())
        if len(self.history) > MAX_KEPT_EPOCHS:
            self.history, self.stride = self.history[::2], 2 * self.stride

    def end(self, part: int, level: float, epoch: int, seconds: float = math.inf) -> Stop | None:
        """Return whether a stalled part should end, as far as `observe` knows.

        One that nothing separates, or nothing with a margin above `level`; and one that has waited long enough for
        a separation that may never come: as long as it had learned before it stalled. `seconds` are left for it.
        """
        since = self.stalled.setdefault(part, epoch)
        stop = self.judge(level, part, epoch, seconds)
        return Stop.TRAINING if stop is None and epoch - since >= max(since, self._free_epochs(part)) else stop

    def _free_epochs(self, part: int) -> float:
        """Return how long a part may wait whatever it had done before: longer where its updates are or become few."""
        now = len(self.history) - 1
        quarter, half, end = (self.history[epoch][part] for epoch in (now // 4, now // 2, now))
        earlier, later = (half - quarter) / max(1, now // 2 - now // 4), (end - half) / max(1, now - now // 2)
        rows = self.subset.size or self.table.shape[0]
        few = later <= FEW_UPDATES * self.stride * rows or later < STEADY_FALL * earlier
        entries = LONG_WAIT_ENTRIES if few else FREE_WAIT_ENTRIES
        entries = LIKELY_WAIT_ENTRIES if rows <= 2 * (self.table.shape[1] + 1) else entries
        return entries / (self.table.entries + ENTRIES_PER_EPOCH)

    def judge(self, level: float, part: int, epoch: int, seconds: float = math.inf) -> Stop | None:
        """Return whether to give up on a part: nothing separates it, or nothing with a margin above `level`."""
        if not self.joint and epoch >= self.next_search[part] and (self.names or self.lowest[part] > level):
            self.next_search[part] = 3 * epoch
            self._search(part, epoch, seconds)
        if self.certificate is not None:
            return Stop.INSEPARABLE
        return Stop.TRAINING if self.lowest[part] <= level else None

    def observe(self) -> list[float]:
        """Look at where the weights are now; return the lowest bound of each part."""
        b = self.b if self.origin is None else self.b - self.origin[1]
        squares = np.square(b, dtype=float) / (self.task.bias or 1.0)
        if self.origin is None:
            squares += np.einsum("pj,pj->p", self.W, self.W, dtype=float)
        else:
            size = max(1, WEIGHTS_PER_BLOCK // self.b.size)
            for start in range(0, self.W.shape[1], size):  # block by block, without a second copy of the weights
                W = self.W[:, start : start + size] - self.origin[0][:, start : start + size]
                squares += np.einsum("pj,pj->p", W, W)
        lengths = np.sqrt(squares.sum(keepdims=True) if self.joint else squares)
        np.minimum(self.lowest, lengths / np.maximum(self.steps, TINY), out=self.lowest, where=self.steps > 0)
        bounds: list[float] = self.lowest.tolist()
        return bounds

    def _search(self, part: int, epoch: int, seconds: float) -> None:
        """Search for a short point in the hull of the rows that are hardest for the weights, and for a proof."""
        # Imported here, because most runs end without it: training then loads neither the search nor the proofs.
        from rosenblatt.separability.judge import Problem, judge

        sign = self.task.sign[self.task.label, part]
        # A share of the work that the run has done, counted and not timed: the result must not depend on a clock.
        work = epoch * (self.table.entries + ENTRIES_PER_EPOCH)
        W, b = np.ascontiguousarray(self.W[part]), float(self.b[part])
        problem = Problem(self.table, sign, self.subset, self.task.bias, self.names)
        found = judge(problem, W, b, work, seconds)
        self.lowest[part] = min(self.lowest[part], found.ceiling)
        self.certificate = found.certificate
