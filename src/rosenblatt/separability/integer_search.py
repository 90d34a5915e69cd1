"""The same search on integers, for where floats cannot tell: Wolfe's nearest point algorithm, without any rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.exact.rational import pivots, primitive, solve
from rosenblatt.exact.signed_rows import SignedRows
from rosenblatt.separability.search import Clock, Framed

Array = npt.NDArray[Any]

# Share of the largest margin that may be missing.
CLOSE = Fraction(1, 10**9)


class Proof(NamedTuple):
    """What decides: a separator, or signed rows with positive integers for which their sum vanishes."""

    w: Any  # floats or integers, None where there is none
    support: list[int]
    counts: list[int]  # of the rows as `SignedRows.integers` gives them


class Nearest(NamedTuple):
    """A point of the hull, up to a positive factor, and the shares of the rows that it is a mean of."""

    point: list[int]
    support: list[int]
    shares: list[Fraction]


class Lattice:
    """Signed rows as integers, in coordinates of which a subclass knows the way back."""

    def __init__(self, rows: SignedRows) -> None:
        self.rows = rows
        self.known: dict[int, list[int]] = {}
        self.products: dict[tuple[int, int], int] = {}

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

        def lower(point: list[int], support: list[int]) -> int | None:
            w = self.back(point)
            low = ids[self.rows.signs(w)[ids] <= 0]
            return int(low[np.argmin(self.rows.heights(as_floats(w))[0][low])]) if low.size else None

        found = self._wolfe(support, [1.0] * len(support), lower, clock)
        if found is None:
            return None
        return Proof(self.back(found.point), [], []) if any(found.point) else Proof(None, found.support, [])

    def _wolfe(
        self,
        support: list[int],
        share: Sequence[float],
        lower: Callable[[list[int], list[int]], int | None],
        clock: Clock,
    ) -> Nearest | None:
        """Go from a support to the nearest point, or until no row is `lower`."""
        independent, _ = pivots([[*self.row(i), 1] for i in support])
        support = [support[a] for a in independent]
        total = sum(Fraction(share[a]) for a in independent)
        shares = [Fraction(share[a]) / total for a in independent]
        while True:
            while True:
                clock.look(solving_time(len(support)))
                goal = self._affine_shares(support)
                if goal is None:
                    return None
                if min(goal) > 0:
                    shares = goal
                    break
                theta = min(s / (s - g) for s, g in zip(shares, goal, strict=True) if g <= 0)
                shares = [s + theta * (g - s) for s, g in zip(shares, goal, strict=True)]
                kept = [a for a, s in enumerate(shares) if s > 0]
                support, shares = [support[a] for a in kept], [shares[a] for a in kept]
            point = self._combine(support, shares)
            entering = lower(point, support) if any(point) else None
            if entering is None:
                return Nearest(point, support, shares)
            support, shares = [*support, entering], [*shares, Fraction(0)]

    def _affine_shares(self, support: list[int]) -> list[Fraction] | None:
        """Give the shares of the point nearest to the origin in the affine hull of independent rows."""
        border = [0, *([1] * len(support))]
        gram = [[1, *(self._product(*sorted((i, j))) for j in support)] for i in support]
        solution = solve([border, *gram], [1, *([0] * len(support))])
        return None if solution is None else [Fraction(v, solution[1]) for v in solution[0][1:]]

    def _product(self, i: int, j: int) -> int:
        if (i, j) not in self.products:
            self.products[i, j] = sum(map(mul, self.row(i), self.row(j)))
        return self.products[i, j]

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


class Whole(Lattice):
    """The rows themselves, on one scale and with the constant `padding`: distances are the true ones.

    With padding 1 the nearest point has the largest augmented margin; the larger, the closer to the largest distance.
    """

    def __init__(self, rows: SignedRows, padding: int) -> None:
        super().__init__(rows)
        self.padding = padding
        made = [rows.integers(i) for i in range(rows.n)]
        unit = math.lcm(*(scale.denominator for _, scale in made))
        for i, (entries, scale) in enumerate(made):
            times = int(scale * unit)
            values = [times * entries.get(j, 0) for j in range(rows.width)]
            self.known[i] = [*values[:-1], padding * values[-1]]

    def back(self, u: list[int]) -> list[int]:
        """Give the weights of the signed rows."""
        return [*u[:-1], self.padding * u[-1]]

    def widest(self, support: list[int], share: Sequence[float], clock: Clock) -> Nearest | None:
        """Find the nearest point, up to CLOSE of its distance."""
        every = np.arange(self.rows.n)

        def lower(point: list[int], support: list[int]) -> int | None:
            near = self.rows.near(self.back(point), every).tolist()
            height = {i: sum(map(mul, self.row(i), point)) for i in (*near, support[0])}
            lowest = min(near, key=height.__getitem__)
            return lowest if height[lowest] < (1 - CLOSE) * height[support[0]] else None

        return self._wolfe(support, share, lower, clock)


def as_floats(w: list[int]) -> Array:
    """Round integers, divided by a power of two that makes the largest about one."""
    size = max(v.bit_length() for v in w)
    return np.array([float(Fraction(v, 1 << size)) for v in w])


def as_fractions(w: list[int]) -> tuple[Fraction, ...]:
    """Divide integers by a power of two if floats could not hold them and their squares."""
    below = 1 << max(0, max(v.bit_length() for v in w) - 500)
    return tuple(Fraction(v, below) for v in w)


def solving_time(size: int) -> float:
    """Estimate the seconds of an exact solution, which cannot be interrupted."""
    return 5e-8 * size**3
