"""Exact measures of signed rows: radius, common point, brackets of margins, and the mistake bound."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.exact.clock import timed
from rosenblatt.prover.exact.rational import as_integers
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.text import brief

Array = npt.NDArray[Any]
Real = float | Fraction

# A claimed radius may exceed the exact one by a factor of 1 + 10**-9; this is the factor of its square.
RADIUS_SLACK = (1 + Fraction(1, 10**9)) ** 2
# A claimed lower bound is reduced by this share, so that a computation in another order of summation confirms it.
ROUNDING_GUARD = 2.0**-46
# Entries that are squared or added up at a time: they stay in the processor's cache.
ENTRIES_PER_BLOCK = 1 << 18


@dataclass(frozen=True)
class Bracket:
    """Bounds of a margin, with the witnesses that prove them.

    Attributes
    ----------
    lower, upper : float
        The largest margin is between them, exactly. Infinite if there is only one class.
    w : tuple of float or Fraction
        A separator, its bias last, with a margin of at least `lower`; Fractions if floats do not suffice.
    rows : tuple of int
        Samples with a weighted mean so close to the other side that no margin exceeds `upper`.
    weights : tuple of float or Fraction
        Their positive weights.
    """

    lower: float
    upper: float
    w: tuple[Real, ...] = ()
    rows: tuple[int, ...] = ()
    weights: tuple[Real, ...] = ()

    def __repr__(self) -> str:
        """Return the bounds, and the first numbers of long witnesses."""
        return brief(self)


def root_below(square: Fraction) -> float:
    """Return the largest float whose square does not exceed a nonnegative rational."""
    if square == 0:
        return 0.0
    # 128 bits of the square give 64 of the root, more than a float holds.
    shift = (129 - square.numerator.bit_length() + square.denominator.bit_length()) // 2
    scaled = square * Fraction(4) ** shift
    try:
        value = math.ldexp(float(math.isqrt(scaled.numerator // scaled.denominator)), -shift)
    except OverflowError:
        value = sys.float_info.max
    while Fraction(value) ** 2 > square:
        value = math.nextafter(value, 0.0)
    above = math.nextafter(value, math.inf)
    return above if above < math.inf and Fraction(above) ** 2 <= square else value


def root_above(square: Fraction) -> float:
    """Return the least float whose square is at least a nonnegative rational, infinity if there is none."""
    below = root_below(square)
    return below if Fraction(below) ** 2 == square else math.nextafter(below, math.inf)


def combine(signed: SignedRows, ids: Iterable[int], factors: Iterable[int]) -> tuple[dict[int, int], Fraction]:
    """Return the exact sum of signed rows times integers: nonzero entries as integers by column, and their scale."""
    pairs = list(zip(ids, factors, strict=True))
    if isinstance(signed.table.rows, Dense) and signed.table.exact is None:
        count = max(1, ENTRIES_PER_BLOCK // (signed.features + 1))
        parts = [_combine_dense(signed, pairs[first : first + count]) for first in timed(range(0, len(pairs), count))]
    else:
        terms = [(*signed.integers(k), factor) for k, factor in pairs]
        parts = [({j: factor * v for j, v in entries.items()}, scale) for entries, scale, factor in terms]
    common = Fraction(1, math.lcm(*(scale.denominator for _, scale in parts)))
    sums: dict[int, int] = {}
    for part, scale in timed(parts):
        times = int(scale / common)
        for j, value in part.items():
            sums[j] = sums.get(j, 0) + times * value
    return {j: value for j, value in sums.items() if value}, common


def _combine_dense(signed: SignedRows, pairs: list[tuple[int, int]]) -> tuple[dict[int, int], Fraction]:
    """Add up dense rows class by class with one common scale, which is much faster than a scale per row."""
    row, rival = signed.split(np.array([k for k, _ in pairs]))
    samples, place = np.unique(row, return_inverse=True)
    size = signed.features + 1
    padded = np.full((samples.size, size), float(signed.constant))
    padded[:, :-1] = signed.table.values[samples]
    integers, scale = as_integers(padded.ravel(), signed.decimal)
    times: list[dict[int, int]] = [{} for _ in range(signed.classes)]
    for t, own, other, (_, factor) in zip(
        place.tolist(), signed.label[row].tolist(), rival.tolist(), pairs, strict=True
    ):
        times[own][t] = times[own].get(t, 0) + factor
        times[other][t] = times[other].get(t, 0) - factor
    sums: dict[int, int] = {}
    for block, chosen in enumerate(times[1:]):
        columns = timed(zip(*(integers[t * size : (t + 1) * size] for t in chosen), strict=True))
        factors = list(chosen.values())
        sums.update((block * size + j, sum(map(mul, factors, column))) for j, column in enumerate(columns))
    return sums, scale


def common_point(signed: SignedRows, support: Sequence[int], multipliers: Sequence[int]) -> tuple[float, ...]:
    """Compute the point of the support in which the hulls of two classes meet, each coordinate rounded once."""
    own = [t for t, i in enumerate(support) if signed.label[i] == 1]
    factors = [multipliers[t] for t in own]
    sums, scale = combine(signed, [support[t] for t in own], factors)
    return tuple(float(sums.get(j, 0) * scale / sum(factors)) for j in range(signed.features))


def _squares(table: Table) -> Array:
    """Compute the squared norms of the rows in floats."""
    n, d = table.shape
    rows = table.rows
    if isinstance(rows, Csr):
        row = np.repeat(np.arange(n), np.diff(rows.indptr))
        return np.bincount(row, np.square(rows.data, dtype=np.float64), n).astype(np.float64)  # integers if empty
    out, count = np.empty(n), max(1, ENTRIES_PER_BLOCK // d)
    for start in range(0, n, count):
        block = rows.X[start : start + count].astype(np.float64, copy=False)
        out[start : start + count] = np.einsum("ij,ij->i", block, block)
    return out


def _longest(signed: SignedRows) -> tuple[Array, Fraction]:
    """Return the samples that may be the longest when padded, and a bound of the square of their length."""
    with np.errstate(under="ignore"):
        squares = _squares(signed.table)
    # Squares and sums are rounded, in any order. A decimal is within one more EPS of its float, twice in a square. The
    # last term is for squares that underflow.
    error = (signed.terms + 8) * 1.01 * 2.0**-53
    bound = Fraction(squares.max()) * (1 + Fraction(error)) + Fraction(signed.terms, 2**1000) + signed.constant
    return np.flatnonzero(squares >= squares.max() * (1 - 4 * error) - 2.0**-500), bound


def _square(signed: SignedRows, row: int) -> Fraction:
    """Compute the squared length of a padded sample, exactly."""
    rival = 1 if signed.label[row] == 0 else 0  # against class 0 a signed row has one block
    entries, scale = signed.integers(int(signed.number(row, rival)))
    return sum(v * v for v in entries.values()) * scale**2


def outer_radius(signed: SignedRows) -> float:
    """Compute the largest length of a padded sample, rounded up."""
    near, bound = _longest(signed)
    if near.size <= 64:  # exact lengths of more rows would take longer than the bound is worth
        return root_above(max(_square(signed, i) for i in near.tolist()))
    return root_above(bound) * (1 + 2.0**-40)  # above the bound that any other order of summation gives


def radius_holds(radius: float, signed: SignedRows) -> bool:
    """Check that no padded sample is longer than a radius, and that the longest comes close to it."""
    near, bound = _longest(signed)
    square = Fraction(radius) ** 2
    least = _square(signed, int(near[0]))
    if bound <= square <= least * RADIUS_SLACK:
        return True
    exact = max(_square(signed, i) for i in near.tolist())
    return exact <= square <= exact * RADIUS_SLACK


def mistake_bound(radius: float, margin: float) -> int | None:
    """Compute floor((radius / margin)^2) of floats, exactly (Novikoff 1962); None without a positive margin."""
    if not (0 < margin < math.inf and radius < math.inf):
        return None
    return math.floor((Fraction(radius) / Fraction(margin)) ** 2)


def margin_bracket(
    signed: SignedRows, w: Any, rows: Sequence[int], weights: Sequence[Real], *, augmented: bool = False
) -> Bracket:
    """Bound a margin of two classes by witnesses, as `margin_bounds` does, with room for another order of summation."""
    lower, upper = margin_bounds(signed, w, rows, weights, augmented=augmented)
    if lower == math.inf:
        return Bracket(lower, upper)
    lower *= 1 - math.copysign(ROUNDING_GUARD, lower)
    rows, weights = _witnesses(signed, rows, weights)
    return Bracket(lower, upper, tuple(w.tolist() if isinstance(w, np.ndarray) else w), tuple(rows), tuple(weights))


def direction(vector: Sequence[Any] | Array) -> Array | list[int]:
    """Return weights that are floats unchanged, others as integers in the same direction."""
    if all(isinstance(v, float | np.floating) for v in vector):
        return np.asarray(vector, np.float64)
    exact = [Fraction(v) for v in vector]
    common = math.lcm(*(v.denominator for v in exact))
    return [int(v * common) for v in exact]


def margin_bounds(
    signed: SignedRows, w: Any, rows: Any, weights: Any, *, augmented: bool = False
) -> tuple[float, float]:
    """Compute the bounds of a margin of two classes that witnesses prove, rounded outwards.

    The geometric margin is half the distance of the two hulls. The augmented one is the largest min z.w / |w| with the
    bias as part of w: the distance of the hull of the signed rows from the origin.

    Parameters
    ----------
    w : float array of shape (n_features + 1,), or as many Fractions
        A separator, its bias last. The closer it is to the best, the larger is the lower bound.
    rows : ints
        Samples; none, or some of both classes if the margin is geometric.
    weights : positive floats or Fractions
        Their weights. The means with these weights give the upper bound.
    """
    rows, weights = _witnesses(signed, rows, weights)
    sides = [np.flatnonzero(signed.label == c) for c in (0, 1)]
    w, factors = direction(w), _proportional_integers(weights)
    if augmented:
        lower = quotient(signed.lowest_margin(w, np.arange(signed.n)), w)
    elif sides[0].size and sides[1].size:
        lower = quotient((signed.lowest_margin(w, sides[0]) + signed.lowest_margin(w, sides[1])) / 2, w[:-1])
    else:
        return math.inf, math.inf
    if not rows:
        return lower, math.inf
    if not augmented:
        return lower, root_above(_hull_distance(signed, rows, factors) / 4)
    sums, scale = combine(signed, rows, factors)
    return lower, root_above(sum(v * v for v in timed(sums.values())) * scale**2 / Fraction(sum(factors)) ** 2)


def _witnesses(signed: SignedRows, rows: Any, weights: Any) -> tuple[list[int], list[Real]]:
    """Check that there are two classes and that each row has a positive weight."""
    if signed.classes != 2:
        raise InvalidInput(f"there are {signed.classes} classes; margins are defined for 2. Pass them pair by pair.")
    rows = np.asarray(rows, np.int64).tolist()
    weights = [weight if isinstance(weight, Fraction) else float(weight) for weight in weights]
    if len(rows) != len(weights) or not all(0 < weight < math.inf for weight in weights):
        raise InvalidInput(f"{len(rows)} rows have weights {weights[:6]}. Pass a positive weight for each row.")
    return rows, weights


def quotient(margin: Fraction, w: Array | list[int]) -> float:
    """Divide a margin by |w|, rounded down."""
    integers, scale = as_integers(w) if isinstance(w, np.ndarray) else (w, Fraction(1))
    square = sum(v * v for v in integers if v) * scale**2
    if square == 0:
        raise InvalidInput("w is zero except for the bias, so it has no direction. Pass a separator.")
    if margin < 0:
        return -root_above(margin**2 / square)
    return root_below(margin**2 / square)


def _proportional_integers(weights: Iterable[Real]) -> list[int]:
    """Multiply positive numbers by the least factor that makes all of them integers."""
    ratios = [weight.as_integer_ratio() for weight in weights]
    common = math.lcm(*(bottom for _, bottom in ratios))
    return [top * (common // bottom) for top, bottom in ratios]


def _hull_distance(signed: SignedRows, rows: list[int], factors: list[int]) -> Fraction:
    """Compute the squared distance of the weighted means of the two classes."""
    totals, sums, scales = [], [], []
    for c in (0, 1):
        own = [t for t, i in enumerate(rows) if signed.label[i] == c]
        if not own:
            raise InvalidInput(f"rows has no row of class {c}. Pass rows of both classes, or none.")
        total, scale = combine(signed, [rows[t] for t in own], [factors[t] for t in own])
        sums.append(total)
        scales.append(scale)
        totals.append(sum(factors[t] for t in own))
    # Rows of class 0 are -(x, 1): the signed means add up to the difference. The bias cancels.
    common = Fraction(1, math.lcm(scales[0].denominator, scales[1].denominator))
    times = [int(scales[c] / common) * totals[1 - c] for c in (0, 1)]
    columns = timed(set(sums[0]) | set(sums[1]))
    difference = (sums[0].get(j, 0) * times[0] + sums[1].get(j, 0) * times[1] for j in columns)
    return sum(v * v for v in difference) * common**2 / Fraction(totals[0] * totals[1]) ** 2
