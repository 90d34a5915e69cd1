"""The order of the rows in each epoch, and the learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.numbers import is_real, is_whole
from rosenblatt.data.table import row_numbers
from rosenblatt.engine.reorder import interleave, shuffle
from rosenblatt.errors import InvalidInput
from rosenblatt.text import short_repr

Array = npt.NDArray[Any]
Schedule = Callable[[int], float]

# From so many rows on, blocks of neighbours are shuffled. The number of rows decides, not their size in bytes:
# a dense matrix and its sparse copy must give the same orders.
MIN_ROWS_FOR_BLOCKS = 1 << 14
ROWS_PER_BLOCK = 64
BLOCKS_AT_ONCE = 4


def constant(epoch: int) -> float:
    """Return the factor 1."""
    return 1.0


def inverse(epoch: int) -> float:
    """Return the factor 1/t in epoch t."""
    return 1.0 / epoch


def inverse_sqrt(epoch: int) -> float:
    """Return the factor 1/sqrt(t) in epoch t."""
    return float(epoch**-0.5)


def step_decay(factor: float = 0.5, every: int = 10) -> Schedule:
    """Return a schedule that multiplies the rate by `factor` after each `every` epochs."""
    if not is_real(factor) or not is_whole(every) or not 0.0 < factor <= 1.0 or every < 1:
        raise InvalidInput(
            f"factor={short_repr(factor)} or every={short_repr(every)} is invalid: pass a factor above 0 and at "
            "most 1, and a whole number of epochs from 1."
        )
    return lambda epoch: float(factor ** ((epoch - 1) // every))


SCHEDULES: dict[str, Schedule] = {
    "constant": constant,
    "1/t": inverse,
    "1/sqrt(t)": inverse_sqrt,
    "step": step_decay(),
}
ORDERS = ("cyclic", "shuffled", "random")


class Order:
    """Orders of presentation, one per epoch.

    Shuffling single rows of a matrix that does not fit the cache makes memory the bottleneck, at a third of the speed.
    If the labels are mixed already, blocks of neighbours are shuffled instead, and read a few at a time. If they are
    sorted, single rows are shuffled, as runs of one class would harm learning.
    """

    def __init__(self, kind: str, label: Array, subset: Array, seed: int, by_blocks: bool | None = None) -> None:
        self.kind = kind
        self.random = np.random.default_rng(seed)
        self.rows = subset if subset.size or kind == "cyclic" else row_numbers(np.arange(label.size))
        self.width = 1
        if kind == "shuffled":
            if in_blocks(label, subset) if by_blocks is None else by_blocks:
                self.width = ROWS_PER_BLOCK
                self.blocks = row_numbers(np.arange(-(-self.rows.size // ROWS_PER_BLOCK)))
            self.order = self.rows.copy()

    def draw(self) -> Array:
        """Return the next epoch's order; empty means all rows as they are stored."""
        if self.kind == "cyclic":
            return self.rows
        if self.kind == "random":
            return self.rows[self.random.integers(0, self.rows.size, self.rows.size)]
        shuffled = self.blocks if self.width > 1 else self.order
        shuffle(shuffled, self.random.random(shuffled.size))
        if self.width > 1:
            interleave(self.blocks, self.width, BLOCKS_AT_ONCE, self.rows, self.order)
        return self.order


def in_blocks(label: Array, subset: Array) -> bool:
    """Return whether blocks of neighbours are shuffled: of many rows, whose labels arrive mixed."""
    many = (subset.size or label.size) >= MIN_ROWS_FOR_BLOCKS
    return many and mixed(label[subset] if subset.size else label)


def mixed(label: Array) -> bool:
    """Return whether neighbours share a class hardly more often than rows at random do."""
    share = np.bincount(label) / label.size
    alone = float(share @ share)
    together = float(np.mean(label[1:] == label[:-1]))
    return together - alone <= 0.1 * (1.0 - alone)
