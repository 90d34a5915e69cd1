"""A return of the weights: the sign that a run repeats itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Features at which weights are compared before all of them are.
FEW_FEATURES = 256


class Cycle:
    """Brent's search for a return of the weights, at the ends of epochs, in constant memory."""

    def __init__(self, W: Array, b: Array) -> None:
        self.W, self.b = W, b
        self.mark = W.copy(order="K"), b.copy()
        self.power = self.length = 1

    def returned(self, part: slice) -> bool:
        """Return whether that part of the weights is where it was `length` epochs ago."""
        W, b = self.mark
        now, then = self.W[part], W[part]
        few = ..., slice(None, None, max(1, W.shape[-1] // FEW_FEATURES))  # which nearly always differ, if any do
        return (
            np.array_equal(self.b[part], b[part]) and np.array_equal(now[few], then[few]) and np.array_equal(now, then)
        )

    def back(self, parts: list[int], joint: bool) -> dict[int, int]:
        """Return the parts whose weights are back, and after how many epochs; go on to the next epoch."""
        length = self.length
        found = {part: length for part in parts if self.returned(slice(None) if joint else slice(part, part + 1))}
        self.advance()
        return found

    def advance(self) -> None:
        """Go on to the next epoch."""
        if self.length == self.power:
            self.mark[0][...], self.mark[1][...] = self.W, self.b  # in place: one copy at a time
            self.power, self.length = 2 * self.power, 0
        self.length += 1
