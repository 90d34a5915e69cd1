"""Why a run ends, and the observers that find out: patience, a return of the weights, a margin too small."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.epochs import Csr, Task
from rosenblatt.data.table import Table

if TYPE_CHECKING:
    from rosenblatt.proof.certificate import Certificate

Array = npt.NDArray[Any]
Names = tuple[Any, ...]

# Work of an epoch beside its rows, in entries of rows: a few microseconds.
EPOCH = 1e4


class Stop(Enum):
    """Why a run ended; the value is the sentence that a report begins with."""

    SEPARATED = "every row is on its side: an epoch passed without an update"
    EPOCHS = "the last allowed epoch was over, with mistakes still being made"
    SECONDS = "the allowed time was over"
    TRAINING = "the training error stopped changing"
    VALIDATION = "the validation error stopped decreasing"
    INSEPARABLE = "proven not separable: no hyperplane has every row on its side"
    CYCLE = "the weights came back to where they had been: from here the run repeats itself for ever"
    CALLBACK = "the callback asked for it"


# What a run reports when its problems ended differently: the end that asks most of the user.
PRECEDENCE = (
    Stop.CALLBACK,
    Stop.SECONDS,
    Stop.EPOCHS,
    Stop.VALIDATION,
    Stop.TRAINING,
    Stop.INSEPARABLE,
    Stop.CYCLE,
    Stop.SEPARATED,
)


class Patience:
    """Count the epochs in which a figure did not fall by more than `tol` below its lowest value so far."""

    def __init__(self, units: int, tol: float, patience: int) -> None:
        self.tol, self.patience = tol, patience
        self.lowest = [math.inf] * units
        self.stale = [0] * units

    def lost(self, figures: list[float]) -> list[bool]:
        """Take in the figure of each unit; tell which units have gone `patience` epochs without progress."""
        for unit, figure in enumerate(figures):
            self.stale[unit] = self.stale[unit] + 1 if figure > self.lowest[unit] - self.tol else 0
            self.lowest[unit] = min(self.lowest[unit], figure)
        return [stale >= self.patience for stale in self.stale]


class Cycle:
    """Brent's search for a return of the weights, at the ends of epochs, in constant memory."""

    def __init__(self, W: Array, b: Array) -> None:
        self.W, self.b = W, b
        self.mark = W.copy(), b.copy()
        self.power = self.length = 1

    def returned(self, part: slice) -> bool:
        """Tell whether that part of the weights stands where it stood `length` epochs ago."""
        W, b = self.mark
        return np.array_equal(self.b[part], b[part]) and np.array_equal(self.W[part], W[part])

    def advance(self) -> None:
        """Go on to the next epoch."""
        if self.length == self.power:
            self.mark = self.W.copy(), self.b.copy()
            self.power, self.length = 2 * self.power, 0
        self.length += 1


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

    def __init__(self, table: Table, task: Task, index: Array, W: Array, b: Array, units: int, names: Names) -> None:
        self.table, self.task, self.index, self.W, self.b = table, task, index, W, b
        self.origin = W.astype(float), b.astype(float)
        self.joint = units == 1 and b.size > 1
        # One problem, all rows, the usual bias: the question that a certificate answers.
        self.names = names if b.size == 1 and not index.size and task.bias == 1.0 else ()
        self.certificate: Certificate | None = None
        self.steps = np.zeros(units)
        self.lowest = np.full(units, np.inf)
        self.next_search = np.zeros(units, np.int64)
        self.radius = float(np.sqrt(table.largest + task.bias))
        self.entries = table.rows.data.size if isinstance(table.rows, Csr) else table.rows.X.size

    def judge(self, level: float, unit: int, epoch: int) -> Stop | None:
        """Tell whether to give up on a unit: nothing separates it, or nothing with a margin above `level`."""
        self.observe()
        if not self.joint and epoch >= self.next_search[unit] and (self.names or self.lowest[unit] > level):
            self.next_search[unit] = 2 * epoch
            self._search(unit, epoch)
        if self.certificate is not None:
            return Stop.INSEPARABLE
        return Stop.TRAINING if self.lowest[unit] <= level else None

    def observe(self) -> float:
        """Take in where the weights are now; give the lowest bound of all units."""
        W, b = self.W - self.origin[0], self.b - self.origin[1]
        squares = np.einsum("pj,pj->p", W, W) + b * b / (self.task.bias or 1.0)
        lengths = np.sqrt(squares.sum(keepdims=True) if self.joint else squares)
        moved = self.steps > 0
        self.lowest[moved] = np.minimum(self.lowest[moved], lengths[moved] / self.steps[moved])
        return float(self.lowest.min())

    def _search(self, unit: int, epoch: int) -> None:
        """Search for a short point in the hull of the rows that are hardest for the weights, and for a proof."""
        # Imported here, because most runs end without it: training then loads neither the search nor the proofs.
        from rosenblatt.separability.judge import judge

        sign = self.task.sign[self.task.label, unit]
        work = epoch * (self.entries + EPOCH)
        W, b = self.W[unit], float(self.b[unit])
        found = judge(self.table, sign, self.index, W, b, self.task.bias, work, self.names)
        self.lowest[unit] = min(self.lowest[unit], found.ceiling)
        self.certificate = found.certificate
