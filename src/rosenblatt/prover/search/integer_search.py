"""The nearest point on integers: Wolfe's algorithm (1976) without rounding, for rows that floats do not decide."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.exact.rational import pivots, primitive, solve, solving_seconds
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search import limits
from rosenblatt.prover.search.coordinates import AffineView
from rosenblatt.prover.search.witness import Witness, as_floats, longest, separator

Array = npt.NDArray[Any]


class HullPoint(NamedTuple):
    """A point of the hull, up to a positive factor, as a weighted mean of rows."""

    point: list[int]
    support: list[int]
    shares: list[Fraction]


class IntegerSearch:
    """Wolfe's algorithm on signed rows as integers, in the coordinates that a subclass chooses."""

    def __init__(self, signed: SignedRows) -> None:
        self.signed = signed
        self.rows: dict[int, list[int]] = {}
        self.products: dict[tuple[int, int], int] = {}

    def _coordinates(self, entries: dict[int, int]) -> list[int]:
        raise NotImplementedError

    def to_weights(self, u: list[int]) -> list[int]:
        """Return the weights of the signed rows that have the margins of u, up to a positive factor for each row."""
        raise NotImplementedError

    def row(self, i: int) -> list[int]:
        """Return a row in the coordinates of this search, divided by its common factor."""
        if i not in self.rows:
            self.rows[i] = primitive(self._coordinates(self.signed.integers(i)[0]))
        return self.rows[i]

    def find_witness(self, support: list[int], ids: Array, deadline: Deadline) -> Witness | None:
        """Search the rows `ids`, starting from a support, for a separator or for a support that rules one out.

        The counts of that support are not computed. None if a system that should have a solution has none.
        """

        def lower(point: list[int], support: list[int]) -> int | None:
            w = self.to_weights(point)
            low = ids[self.signed.signs(w)[ids] <= 0]
            return int(low[np.argmin(self.signed.margins(as_floats(w))[0][low])]) if low.size else None

        found = self._nearest_point(support, [1.0] * len(support), lower, deadline)
        if found is None:
            return None
        return separator(self.to_weights(found.point)) if any(found.point) else Witness(None, found.support, [])

    def _nearest_point(
        self,
        support: list[int],
        share: Sequence[float],
        lower: Callable[[list[int], list[int]], int | None],
        deadline: Deadline,
    ) -> HullPoint | None:
        """Move from a support to the nearest point, until `lower` finds no row that enters."""
        independent, _ = pivots([[*self.row(i), 1] for i in support])
        support = [support[a] for a in independent]
        total = sum(Fraction(share[a]) for a in independent)
        shares = [Fraction(share[a]) / total for a in independent]
        while True:
            found = self._minimise(support, shares, deadline)
            if found is None:
                return None
            entering = lower(found.point, found.support) if any(found.point) else None
            if entering is None:
                return found
            support, shares = [*found.support, entering], [*found.shares, Fraction(0)]

    def _minimise(self, support: list[int], shares: list[Fraction], deadline: Deadline) -> HullPoint | None:
        """Find the nearest point of the hull of a support by Wolfe's minor cycle, until no share is negative."""
        while True:
            # The shares of the nearest point in the affine hull solve the products of the rows, bordered by ones.
            gram = [[1, *(self._product(*sorted((i, j))) for j in support)] for i in support]
            gram.insert(0, [0, *([1] * len(support))])
            deadline.check(solving_seconds(len(support), longest(gram)))
            solution = solve(gram, [1, *([0] * len(support))])
            if solution is None:
                return None
            goal = [Fraction(v, solution[1]) for v in solution[0][1:]]
            if min(goal) > 0:
                return HullPoint(self._combine(support, goal), support, goal)
            theta = min(s / (s - g) for s, g in zip(shares, goal, strict=True) if g <= 0)
            shares = [s + theta * (g - s) for s, g in zip(shares, goal, strict=True)]
            kept = [a for a, s in enumerate(shares) if s > 0]
            support, shares = [support[a] for a in kept], [shares[a] for a in kept]

    def _product(self, i: int, j: int) -> int:
        if (i, j) not in self.products:
            self.products[i, j] = sum(map(mul, self.row(i), self.row(j)))
        return self.products[i, j]

    def _combine(self, support: list[int], share: list[Fraction]) -> list[int]:
        """Add up rows times their shares, without the denominator."""
        common = math.lcm(*(s.denominator for s in share))
        factors = [int(s * common) for s in share]
        return primitive([sum(map(mul, factors, column)) for column in zip(*map(self.row, support), strict=True)])


class StandardisedSearch(IntegerSearch):
    """A search in coordinates near those of a view, centred and scaled by round numbers."""

    def __init__(self, signed: SignedRows, view: AffineView) -> None:
        super().__init__(signed)
        self.size = signed.features + 1
        power = np.frexp(1.0 / view.inverse)[1].tolist()
        self.top = max(0, *power)
        self.shift = [self.top - q for q in power]
        self.centre = [round(Fraction(c) / Fraction(2) ** q) for c, q in zip(view.centre.tolist(), power, strict=True)]

    def _coordinates(self, entries: dict[int, int]) -> list[int]:
        values = [0] * self.signed.width
        for first in range(0, self.signed.width, self.size):
            bias = entries.get(first + self.size - 1, 0) << self.top
            if bias or not self.signed.constant:  # a block without a constant is one of another class
                for j, (shift, centre) in enumerate(zip(self.shift, self.centre, strict=True)):
                    values[first + j] = (entries.get(first + j, 0) << shift) - bias * centre
                values[first + self.size - 1] = bias
        return values

    def to_weights(self, u: list[int]) -> list[int]:
        """Return the weights of the signed rows."""
        w = []
        for first in range(0, self.signed.width, self.size):
            *weights, bias = u[first : first + self.size]
            w += [v << shift for v, shift in zip(weights, self.shift, strict=True)]
            w.append((bias - sum(map(mul, self.centre, weights))) << self.top)
        return primitive(w)


class SubspaceSearch(IntegerSearch):
    """A search in the coordinates of a basis of a subspace."""

    def __init__(self, signed: SignedRows, basis: list[list[int]]) -> None:
        super().__init__(signed)
        self.basis = basis

    def _coordinates(self, entries: dict[int, int]) -> list[int]:
        return [sum(v * direction[j] for j, v in entries.items()) for direction in self.basis]

    def to_weights(self, u: list[int]) -> list[int]:
        """Return the weights of the signed rows."""
        return primitive([sum(map(mul, u, column)) for column in zip(*self.basis, strict=True)])


class PaddedSearch(IntegerSearch):
    """A search on the rows themselves, on one scale and with the constant `padding`: distances are the true ones.

    With padding 1 the nearest point has the largest augmented margin. The larger the padding, the closer its margin is
    to the largest distance.
    """

    def __init__(self, signed: SignedRows, padding: int) -> None:
        super().__init__(signed)
        self.padding = padding
        integers = [signed.integers(i) for i in range(signed.n)]
        common = math.lcm(*(scale.denominator for _, scale in integers))
        for i, (entries, scale) in enumerate(integers):
            times = int(scale * common)
            values = [times * entries.get(j, 0) for j in range(signed.width)]
            self.rows[i] = [*values[:-1], padding * values[-1]]

    def to_weights(self, u: list[int]) -> list[int]:
        """Return the weights of the signed rows."""
        return [*u[:-1], self.padding * u[-1]]

    def largest_margin(self, support: list[int], share: Sequence[float], deadline: Deadline) -> HullPoint | None:
        """Find the nearest point, up to INTEGER_MARGIN_GAP of its distance."""
        every = np.arange(self.signed.n)

        def lower(point: list[int], support: list[int]) -> int | None:
            near = self.signed.lowest_candidates(self.to_weights(point), every).tolist()
            margin = {i: sum(map(mul, self.row(i), point)) for i in (*near, support[0])}
            lowest = min(near, key=margin.__getitem__)
            return lowest if margin[lowest] < (1 - limits.INTEGER_MARGIN_GAP) * margin[support[0]] else None

        return self._nearest_point(support, share, lower, deadline)
