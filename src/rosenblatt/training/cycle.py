"""A return of the weights: the sign that a run repeats itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Cycle:
    """Brent's search for a return of the weights, at the ends of epochs, in constant memory."""

    def __init__(self, W: Array, b: Array) -> None:
        self.W, self.b = np.atleast_2d(W), np.atleast_1d(b)
        self.mark = self.W.copy(order="K"), self.b.copy()  # the weights that a return is a return to
        self.power, self.length = 1, 1

    def back(self, parts: list[int], joint: bool) -> dict[int, int]:
        """Return the parts whose weights are back, and after how many epochs; go on to the next epoch."""
        same = self.returned()
        found = parts if joint and same.all() else [] if joint else [part for part in parts if same[part]]
        length = self.length
        self.advance()
        return dict.fromkeys(found, length)

    def returned(self) -> Array:
        """Return for each problem whether its weights are where they were `length` epochs ago."""
        W, b = self.mark
        same = np.asarray(self.b == b)
        first, size = 0, 1
        # All problems at once, as they lie in memory, until each differs somewhere: as a rule within a few features.
        while same.any() and first < W.shape[1]:
            block = slice(first, first + size)
            same &= (self.W[:, block] == W[:, block]).all(axis=1)
            first, size = first + size, 4 * size
        return same

    def advance(self) -> None:
        """Go on to the next epoch."""
        if self.length == self.power:
            self.mark[0][...], self.mark[1][...] = self.W, self.b  # in place: one copy at a time
            self.power, self.length = 2 * self.power, 0
        self.length += 1
