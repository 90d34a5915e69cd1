"""Witnesses of a verdict, checked exactly: separators, and sums of signed rows that vanish."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.prover.exact.clock import Clock
from rosenblatt.prover.exact.rational import null_vector, primitive
from rosenblatt.prover.exact.signed_rows import SignedRows

Array = npt.NDArray[Any]

# Weights of more bits are divided by a power of two, so that floats hold them and their squares.
MAX_WEIGHT_BITS = 500


class Witness(NamedTuple):
    """What decides: a separator, or signed rows and positive integers for which their sum vanishes (Gordan 1873)."""

    w: Any  # floats or integers, None where there is no separator
    support: list[int]
    counts: list[int]  # of the rows as `SignedRows.integers` returns them


def separator(w: Any) -> Witness:
    """Return weights as a witness."""
    return Witness(w, [], [])


def separates(signed: SignedRows, w: Array) -> bool:
    """Check exactly that weights are positive on all signed rows."""
    return bool(np.isfinite(w).all() and (signed.signs(w) > 0).all())


def separates_weakly(signed: SignedRows, w: list[int]) -> bool:
    """Check exactly that integer weights are negative on no signed row, and positive on some."""
    signs = signed.signs(w)
    return bool(signs.min() >= 0 and signs.max() > 0)


def vanishing_sum(signed: SignedRows, ids: list[int], clock: Clock) -> Witness | None:
    """Prove that the hull of these rows contains the origin; None if it does not."""
    clock.check(solving_seconds(len(ids), bits=1))
    matrix = integer_matrix(signed, ids)
    clock.check(solving_seconds(len(ids), longest(matrix)))
    counts = null_vector(matrix)
    if counts is None or min(counts) < 0:
        return None
    kept = [(i, count) for i, count in zip(ids, counts, strict=True) if count]
    return Witness(None, [i for i, _ in kept], [count for _, count in kept])


def integer_matrix(signed: SignedRows, ids: list[int]) -> list[list[int]]:
    """Return rows as integers over the columns in which one of them has an entry."""
    entries = [signed.integers(i)[0] for i in ids]
    columns = sorted(set().union(*entries))
    return [[row.get(j, 0) for j in columns] for row in entries]


def counts_to_multipliers(signed: SignedRows, ids: list[int], counts: list[int]) -> list[int]:
    """Turn counts of rows as integers into multipliers of the rows themselves."""
    shares = [count / signed.scale(i) for i, count in zip(ids, counts, strict=True)]
    common = math.lcm(*(share.denominator for share in shares))
    return primitive([int(share * common) for share in shares])


def multipliers_to_counts(signed: SignedRows, ids: list[int], multipliers: list[int]) -> list[int]:
    """Turn multipliers of rows into counts of the rows as integers."""
    shares = [times * signed.scale(i) for i, times in zip(ids, multipliers, strict=True)]
    common = math.lcm(*(share.denominator for share in shares))
    return primitive([int(share * common) for share in shares])


def longest(matrix: list[list[int]]) -> int:
    """Return the bits of the largest integer."""
    return max((max(v.bit_length() for v in row) for row in matrix if row), default=0)


def solving_seconds(size: int, bits: int = 53) -> float:
    """Estimate the seconds of an exact solution, which cannot be interrupted, of so many equations of integers."""
    # The digits of the solution, times what a digit costs.
    return 2e-10 * size**3 * (bits + 6) * (1 + bits / 21)


def as_floats(w: list[int]) -> Array:
    """Round integers, divided by a power of two that makes the largest about one."""
    size = max(v.bit_length() for v in w)
    return np.array([float(Fraction(v, 1 << size)) for v in w])


def as_fractions(w: list[int]) -> tuple[Fraction, ...]:
    """Divide integers by a power of two if floats could not hold them and their squares."""
    below = 1 << max(0, max(v.bit_length() for v in w) - MAX_WEIGHT_BITS)
    return tuple(Fraction(v, below) for v in w)


def as_vector(w: Any) -> tuple[Any, ...]:
    """Return weights as a certificate holds them: floats, or fractions where they are integers."""
    return tuple(w.tolist()) if isinstance(w, np.ndarray) else as_fractions(w)
