"""Which coefficients of a logistic regression without a penalty have finite estimates, and the signs of the others.

The likelihood increases without end along every weak separator, and along no other direction. A coefficient is finite
if it is zero in all weak separators, which is linear algebra on the support. It diverges to +inf if it is negative in
none: then it is a sum of signed rows with positive factors (Farkas 1902), and these rows are the witness. If it has
both signs among the weak separators, two of them are the witness.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from rosenblatt.errors import TooLarge
from rosenblatt.prover.certificates.brackets import direction
from rosenblatt.prover.certificates.certificate_json import (
    FINITE,
    INFINITE,
    NEGATIVE,
    POSITIVE,
    UNIDENTIFIED,
    Combination,
)
from rosenblatt.prover.certificates.describe import describe_relations
from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.exact.rational import MAX_UNKNOWNS, in_cone, null_vector, pivots, primitive, solving_seconds
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.exact.spans import dependencies, null_basis, without
from rosenblatt.prover.search import limits
from rosenblatt.prover.search.witness import as_floats, counts_to_multipliers, multipliers_to_counts

Array = npt.NDArray[Any]


def worthwhile(signed: SignedRows, named: bool) -> bool:
    """Return whether the estimates take so little time that they are determined by default."""
    entries = signed.n * signed.width
    if signed.features >= signed.samples:
        return entries <= limits.FREE_WIDE_ENTRIES
    return (
        entries <= (limits.FREE_NAMED_ENTRIES if named else limits.FREE_ENTRIES)
        and entries * signed.width <= limits.FREE_PRODUCTS
    )


def estimate_claims(
    signed: SignedRows, claims: dict[str, Any], names: Sequence[str], deadline: Deadline
) -> dict[str, Any]:
    """Return the fields of a certificate on the coefficients of a logistic regression.

    `claims` has the verdict and its witnesses; a `vector` is positive outside the span of the support. Features without
    names are x0, x1, ...
    """
    if claims["verdict"] == "undecided":
        return {}
    if signed.features >= MAX_UNKNOWNS:
        raise TooLarge(
            f"there are {signed.features} features, and exact systems may have at most {MAX_UNKNOWNS} unknowns"
        )
    dependent = dependencies(signed)
    size = signed.features + 1
    kept = [j for j in range(signed.width) if j % size not in dependent]
    estimates = [UNIDENTIFIED] * signed.width
    for j in kept:
        estimates[j] = FINITE
    combinations: list[Combination | None] = [None] * signed.width
    directions: list[list[int]] = []
    if claims["verdict"] != "overlapping":
        inside = direction(without([Fraction(v) for v in claims["vector"]], dependent, size))
        search = SignSearch(signed, claims, kept, list(inside), deadline)
        for j in search.diverging:
            estimates[j], combinations[j] = search.decide(j)
        if INFINITE in estimates:
            directions = search.directions
    found = {"estimates": tuple(estimates), "combinations": tuple(combinations), "directions": directions}
    relations = {j: relation for j, relation in dependent.items() if j < signed.features}
    if not relations:
        return found
    note = describe_relations(relations, names or [f"x{j}" for j in range(signed.features)])
    return found | {"reason": f"{claims.get('reason', '')} {note}".lstrip()}


class SignSearch:
    """The search for the signs of diverging coefficients, among the vectors that vanish on the support.

    `kept` are the weights whose columns do not depend on others; the other weights are zero. `inside` is a weak
    separator that is zero only on rows on which all weak separators are.

    Attributes
    ----------
    diverging : list of int
        Weights that some weak separator has.
    directions : list of lists of int
        Weak separators found so far.
    """

    def __init__(
        self, signed: SignedRows, claims: dict[str, Any], kept: list[int], inside: list[int], deadline: Deadline
    ) -> None:
        self.signed, self.kept, self.inside, self.deadline = signed, kept, inside, deadline
        self.support, self.counts, self.independent = [], [], []
        deadline.check(solving_seconds(len(kept)))
        if claims.get("support"):
            pairs = zip(claims["support"], claims["rivals"], strict=True)
            self.support = [int(signed.number(i, r)) for i, r in pairs]
            self.counts = multipliers_to_counts(signed, self.support, list(claims["multipliers"]))
            self.independent = pivots([self._row(i) for i in self.support])[0]
            self.basis = null_basis(signed, self.support, kept)
        else:
            self.basis = self._centred_units()
        self.rows = np.flatnonzero(signed.signs(inside))
        self.diverging = [j for a, j in enumerate(kept) if any(vector[a] for vector in self.basis)]
        self.directions = [inside]
        self._coordinates: dict[int, list[int]] = {}
        self._floats, self._scales = self._scaled_rows()
        self._likely: list[int] = []

    def decide(self, j: int) -> tuple[str, Combination | None]:
        """Return the estimate of a diverging coefficient, and the rows that prove its sign if it has one."""
        self.deadline.check()
        seen = {(w[j] > 0) - (w[j] < 0) for w in self.directions}
        if {-1, 1} <= seen:
            return INFINITE, None
        sign = (self.inside[j] > 0) - (self.inside[j] < 0)
        if sign == 0:
            self._find_both_signs(j)
            return INFINITE, None
        found = self._decide_by_floats(j, sign) or self._decide_exactly(j, sign)
        return found if isinstance(found, tuple) else (INFINITE, None)

    def _centred_units(self) -> list[list[int]]:
        """Return a basis of all vectors: biases, and weights with a bias that is zero at the mean of their feature.

        Without an intercept these are the weights alone.
        """
        if not self.signed.constant:
            return np.eye(len(self.kept), dtype=int).tolist()
        size = self.signed.features + 1
        sample = self.signed.gather(np.arange(0, self.signed.n, -(-self.signed.n // 256)))  # some 256 rows
        blocks = sample.reshape(-1, size)
        X = blocks[blocks[:, -1] != 0] * blocks[blocks[:, -1] != 0, -1:]
        middle, spread = X.mean(axis=0), X.max(axis=0) - X.min(axis=0)
        place = {j: a for a, j in enumerate(self.kept)}
        basis = []
        for j in self.kept:
            vector = [0] * len(self.kept)
            feature = j % size
            # Means are rounded to a power of two about the spread, which keeps the integers short.
            unit = Fraction(2) ** math.frexp(spread[feature])[1] if 0 < spread[feature] < np.inf else Fraction(1)
            known = feature < size - 1 and np.isfinite(middle[feature])
            centre = round(Fraction(middle[feature]) / unit) * unit if known else Fraction(0)
            vector[place[j]] = centre.denominator
            vector[place[j - feature + size - 1]] -= centre.numerator
            basis.append(vector)
        return basis

    def _row(self, i: int) -> list[int]:
        entries = self.signed.integers(i)[0]
        return [entries.get(j, 0) for j in self.kept]

    def _coordinate(self, i: int) -> list[int]:
        """Return a row in the coordinates of the basis."""
        if i not in self._coordinates:
            self.deadline.check()
            row = self._row(i)
            self._coordinates[i] = [sum(map(mul, row, vector)) for vector in self.basis]
        return self._coordinates[i]

    def _to_weights(self, u: Sequence[int]) -> list[int]:
        weights = [0] * self.signed.width
        for a, j in enumerate(self.kept):
            weights[j] = sum(c * vector[a] for c, vector in zip(u, self.basis, strict=True) if c)
        return primitive(weights)

    def _scaled_rows(self) -> tuple[Array, Array]:
        """Return the rows in the coordinates of the basis as floats of length one, and the scales of the columns."""
        powers = [max((abs(v).bit_length() for v in vector), default=0) for vector in self.basis]
        columns = np.array([as_floats([*vector, 1 << p])[:-1] for vector, p in zip(self.basis, powers, strict=True)])
        self._powers = powers
        Z = self.signed.gather(self.rows, np.array(self.kept)) @ columns.T
        scales = np.abs(Z).max(axis=0, initial=0.0)
        scales = np.where(scales > 0, scales, 1.0)
        Z = Z / scales
        length = np.sqrt(np.einsum("ij,ij->i", Z, Z))
        return Z / np.where(length > 0, length, 1.0)[:, None], scales

    def _find_both_signs(self, j: int) -> None:
        """Find weak separators with both signs at weight j near `inside`, which is zero there."""
        vector = next(vector for vector in self.basis if vector[self.kept.index(j)])
        step = [0] * self.signed.width
        for k, value in zip(self.kept, vector, strict=True):
            step[k] = value
        times = 1
        while True:
            self.deadline.check()
            sides = [[times * a + sign * b for a, b in zip(self.inside, step, strict=True)] for sign in (1, -1)]
            if all((self.signed.signs(side) >= 0).all() for side in sides):
                self.directions += map(primitive, sides)
                return
            times *= 16

    def _decide_by_floats(self, j: int, sign: int) -> tuple[str, Combination | None] | bool:
        """Decide with floats whether weight j is in the cone of the rows, checked exactly; False if floats fail.

        True if a direction with the other sign was found.
        """
        Z, scales, powers = self._floats, self._scales, self._powers
        a = self.kept.index(j)
        target = sign * np.array([float(Fraction(v[a], 1 << p)) for v, p in zip(self.basis, powers, strict=True)])
        target /= scales
        length = np.linalg.norm(target)
        if not np.isfinite(Z).all() or not 0 < length < np.inf:
            return False
        try:
            shares, distance = nnls(Z.T, target / length)
        except RuntimeError:  # too many iterations
            return False
        self._likely = self.rows[shares > 0].tolist()
        if distance <= limits.ROUNDED_DISTANCE:
            return self._combined(self._likely, j, sign) or False
        u = (Z.T @ shares - target / length) / scales
        if not np.isfinite(u).all():
            return False
        return self._reached([Fraction(v) / (1 << p) for v, p in zip(u.tolist(), powers, strict=True)], j, sign)

    def _reached(self, u: list[Fraction], j: int, sign: int) -> bool:
        """Move a direction with the other sign at weight j inside the cone; return whether it is a weak separator."""
        common = math.lcm(*(v.denominator for v in u))
        w = self._to_weights([int(v * common) for v in u])
        if not any(w):
            return False
        size = max(map(abs, self.inside)) // max(1, *map(abs, w)) + 1
        for bits in (1, 4, 10, 20, 30):  # by which it outweighs the strict direction that is added to it
            moved = [(size * a << bits) + b for a, b in zip(w, self.inside, strict=True)]
            if sign * moved[j] < 0 and (self.signed.signs(moved) >= 0).all():
                self.directions.append(primitive(moved))
                return True
        return False

    def _decide_exactly(self, j: int, sign: int) -> tuple[str, Combination | None] | bool:
        """Decide on integers, adding rows to a working set until no row contradicts; True as in `_decide_by_floats`."""
        target = [sign * vector[self.kept.index(j)] for vector in self.basis]  # weight j in these coordinates
        margins = self.signed.margins(as_floats(self.inside))[0][self.rows]
        working = self._likely or self.rows[np.argsort(margins, kind="stable")[: len(self.basis)]].tolist()
        while True:
            self.deadline.check()
            members, normal = in_cone([self._coordinate(i) for i in working], target)
            if normal is None:
                found = self._combined([working[t] for t in members], j, sign)
                assert found is not None, "the simplex method returns a combination that holds"
                return found
            w = self._to_weights(normal)
            signs = self.signed.signs(w)
            below = np.flatnonzero(signs < 0)
            if not below.size:
                self.directions.append(w)
                return True
            margins = self.signed.margins(as_floats(w))[0][below]
            working = working + below[np.argsort(margins, kind="stable")[: len(self.basis)]].tolist()

    def _combined(self, members: list[int], j: int, sign: int) -> tuple[str, Combination | None] | None:
        """Write weight j as a sum of signed rows with positive factors; None if it is not one."""
        self.deadline.check(solving_seconds(len(self.independent) + len(members)))
        unit = [-sign * int(k == j) for k in self.kept]
        spanning = [self.support[a] for a in self.independent]
        vector = null_vector([*map(self._row, spanning), *map(self._row, members), unit])
        if vector is None or not vector[-1]:
            return None
        vector = [v if vector[-1] > 0 else -v for v in vector]
        new = vector[len(spanning) : -1]
        if min(new, default=0) < 0:
            return None
        old = dict(zip(self.independent, vector, strict=False))
        times = max([0, *(-(v // self.counts[a]) for a, v in old.items())])
        counts = [old.get(a, 0) + times * count for a, count in enumerate(self.counts)]
        terms = [(i, v) for i, v in zip([*self.support, *members], [*counts, *new], strict=True) if v]
        ids = [i for i, _ in terms]
        row, rival = self.signed.split(np.array(ids))
        multipliers = counts_to_multipliers(self.signed, ids, [v for _, v in terms])
        combination = Combination(tuple(row.tolist()), tuple(rival.tolist()), tuple(multipliers))
        return (POSITIVE if sign > 0 else NEGATIVE), combination
