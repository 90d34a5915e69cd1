"""The same search on integers, for where floats cannot tell: Wolfe's nearest point algorithm, without any rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.nearest import Clock, Framed
from rosenblatt.rational import pivots, primitive, solve
from rosenblatt.signed import SignedRows

Array = npt.NDArray[Any]


class Proof(NamedTuple):
    """What decides: a separator, or signed rows with positive integers for which their sum vanishes."""

    w: Any  # floats or integers, None where there is none
    support: list[int]
    counts: list[int]  # of the rows as `SignedRows.integers` gives them


class Lattice:
    """Signed rows as integers, in coordinates of which a subclass knows the way back."""

    def __init__(self, rows: SignedRows) -> None:
        self.rows = rows
        self.known: dict[int, list[int]] = {}

    def _row(self, entries: dict[int, int]) -> list[int]:
        raise NotImplementedError

    def back(self, u: list[int]) -> list[int]:
        """Give the weights of the signed rows."""
        raise NotImplementedError

    def row(self, i: int) -> list[int]:
        """Give a row, divided by its common factor."""
        if i not in self.known:
            self.known[i] = primitive(self._row(self.rows.integers(i)[0]))
        return self.known[i]

    def nearest(self, support: list[int], ids: Array, clock: Clock) -> Proof | None:
        """Run Wolfe's nearest point algorithm on rows `ids` from a support: it ends, with weights or with a support.

        The counts of the support are left to be found. None if a system without a solution shows an earlier fault.
        """
        independent, _ = pivots([[*self.row(i), 1] for i in support])
        support = [support[a] for a in independent]
        share = [Fraction(1, len(support))] * len(support)
        while True:
            while True:
                clock.look(solving_time(len(support)))
                goal = self._affine_shares(support)
                if goal is None:
                    return None
                if min(goal) > 0:
                    share = goal
                    break
                theta = min(s / (s - g) for s, g in zip(share, goal, strict=True) if g <= 0)
                share = [s + theta * (g - s) for s, g in zip(share, goal, strict=True)]
                kept = [a for a, s in enumerate(share) if s > 0]
                support, share = [support[a] for a in kept], [share[a] for a in kept]
            point = self._combine(support, share)
            if not any(point):
                return Proof(None, support, [])
            w = self.back(point)
            low = ids[self.rows.signs(w)[ids] <= 0]
            if not low.size:
                return Proof(w, [], [])
            lowest = low[np.argmin(self.rows.heights(as_floats(w))[0][low])]
            support, share = [*support, int(lowest)], [*share, Fraction(0)]

    def _affine_shares(self, support: list[int]) -> list[Fraction] | None:
        """Give the shares of the point nearest to the origin in the affine hull of independent rows."""
        Z = [self.row(i) for i in support]
        border = [0, *([1] * len(Z))]
        gram = [[1, *(sum(map(mul, a, b)) for b in Z)] for a in Z]
        solution = solve([border, *gram], [1, *([0] * len(Z))])
        return None if solution is None else [Fraction(v, solution[1]) for v in solution[0][1:]]

    def _combine(self, support: list[int], share: list[Fraction]) -> list[int]:
        """Add up rows times their shares, without the denominator."""
        common = math.lcm(*(s.denominator for s in share))
        whole = [int(s * common) for s in share]
        return primitive([sum(map(mul, whole, column)) for column in zip(*map(self.row, support), strict=True)])


class Grid(Lattice):
    """Coordinates near those of a frame: centred on and scaled by round numbers."""

    def __init__(self, rows: SignedRows, view: Framed) -> None:
        super().__init__(rows)
        self.size = rows.features + 1
        power = np.frexp(1.0 / view.inverse)[1].tolist()
        self.top = max(0, *power)
        self.shift = [self.top - q for q in power]
        self.centre = [round(Fraction(c) / Fraction(2) ** q) for c, q in zip(view.centre.tolist(), power, strict=True)]

    def _row(self, entries: dict[int, int]) -> list[int]:
        values = [0] * self.rows.width
        for first in range(0, self.rows.width, self.size):
            bias = entries.get(first + self.size - 1, 0) << self.top
            if bias:
                for j, (shift, centre) in enumerate(zip(self.shift, self.centre, strict=True)):
                    values[first + j] = (entries.get(first + j, 0) << shift) - bias * centre
                values[first + self.size - 1] = bias
        return values

    def back(self, u: list[int]) -> list[int]:
        """Give the weights of the signed rows."""
        w = []
        for first in range(0, self.rows.width, self.size):
            *weights, bias = u[first : first + self.size]
            w += [v << shift for v, shift in zip(weights, self.shift, strict=True)]
            w.append((bias - sum(map(mul, self.centre, weights))) << self.top)
        return primitive(w)


class Face(Lattice):
    """Coordinates of a subspace, by a basis of it."""

    def __init__(self, rows: SignedRows, basis: list[list[int]]) -> None:
        super().__init__(rows)
        self.basis = basis

    def _row(self, entries: dict[int, int]) -> list[int]:
        return [sum(v * direction[j] for j, v in entries.items()) for direction in self.basis]

    def back(self, u: list[int]) -> list[int]:
        """Give the weights of the signed rows."""
        return primitive([sum(map(mul, u, column)) for column in zip(*self.basis, strict=True)])


def as_floats(w: list[int]) -> Array:
    """Round integers, divided by a power of two that makes the largest about one."""
    size = max(v.bit_length() for v in w)
    return np.array([float(Fraction(v, 1 << size)) for v in w])


def solving_time(size: int) -> float:
    """Estimate the seconds of an exact solution, which cannot be interrupted."""
    return 5e-8 * size**3
