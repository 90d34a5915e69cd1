"""How well a model predicts rows before it learns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

WINDOW = 1_000  # rows of the windowed error
BLOCKS = 200  # most points of the curve
LARGEST = 1e100  # an error, so that sums of them are numbers, which JSON has


class Record(Struct):
    """The prequential error: the share of wrong classes, or the mean absolute error of a regression.

    Attributes
    ----------
    rows : int
        Rows learned, those without a prediction included.
    predicted : int
        Rows that were predicted before they were learned.
    errors : float
        Sum of their errors.
    window : list of float
        The errors of the last rows.
    blocks : list of float
        Mean errors of consecutive rows, `size` of each; the last rows are in `begun`, a count and a sum.
    since, last : float
        When the first and the last row were learned, in seconds since 1970; 0 before.
    dropped : int
        Rows that were kept for a label, and made room for others.
    """

    rows: int = 0
    predicted: int = 0
    errors: float = 0.0
    window: list[float] = []
    blocks: list[float] = []
    size: int = 16
    begun: tuple[int, float] = (0, 0.0)
    since: float = 0.0
    last: float = 0.0
    dropped: int = 0

    def add(self, predictions: Sequence[Any], labels: Sequence[Any], time: float, regression: bool) -> float | None:
        """Add rows; return their mean error, or None if none of them was predicted."""
        self.since, self.last = self.since or time, time
        self.rows += len(labels)
        found = [
            abs(float(guess) - float(label)) if regression else float(guess != label)
            for guess, label in zip(predictions, labels, strict=True)
            if guess is not None
        ]
        found = [error if error < LARGEST else LARGEST for error in found]  # NaN, too
        for error in found:
            self._count(error)
        self.window = (self.window + found)[-WINDOW:]
        return sum(found) / len(found) if found else None

    def _count(self, error: float) -> None:
        self.predicted += 1
        self.errors += error
        count, total = self.begun[0] + 1, self.begun[1] + error
        if count == self.size:
            self.blocks.append(total / count)
            count, total = 0, 0.0
            if len(self.blocks) == BLOCKS:  # half as many, each of twice as many rows
                self.blocks = [(a + b) / 2 for a, b in zip(self.blocks[::2], self.blocks[1::2], strict=True)]
                self.size *= 2
        self.begun = count, total

    @property
    def error(self) -> float | None:
        """The mean error of all rows."""
        return self.errors / self.predicted if self.predicted else None

    @property
    def windowed(self) -> float | None:
        """The mean error of the last rows."""
        return sum(self.window) / len(self.window) if self.window else None
