"""Witnesses of a verdict, checked exactly: separators, and sums of signed rows that vanish."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.exact.rational import null_vector, primitive, solving_seconds
from rosenblatt.prover.exact.signed_rows import SignedRows

Array = npt.NDArray[Any]


class Witness(NamedTuple):
    """A separator; or signed rows whose sum, times positive integers, is zero and rules one out (Gordan 1873)."""

    w: Any  # floats or integers; None if there is no separator
    support: list[int]
    counts: list[int]  # multiples of the rows as `SignedRows.integers` returns them


def separator(w: Any) -> Witness:
    """Return weights as a witness."""
    return Witness(w, [], [])


def separates(signed: SignedRows, w: Array) -> bool:
    """Check exactly that weights are positive on all signed rows."""
    return bool(np.isfinite(w).all() and (signed.signs(w) > 0).all())


def vanishing_sum(signed: SignedRows, ids: list[int], deadline: Deadline) -> Witness | None:
    """Return counts for which these rows sum to zero, as a witness; None if not all can be positive."""
    deadline.check(solving_seconds(len(ids), bits=1))  # before their integers are computed
    matrix = integer_matrix(signed, ids)
    deadline.check(solving_seconds(len(ids), longest(matrix)))
    counts = null_vector(matrix)
    if counts is None or min(counts) < 0:
        return None
    kept = [(i, count) for i, count in zip(ids, counts, strict=True) if count]
    return Witness(None, [i for i, _ in kept], [count for _, count in kept])


def integer_matrix(signed: SignedRows, ids: list[int]) -> list[list[int]]:
    """Return rows as integers, in the columns that are not zero in all of them."""
    entries = [signed.integers(i)[0] for i in ids]
    columns = sorted(set().union(*entries))
    return [[row.get(j, 0) for j in columns] for row in entries]


def counts_to_multipliers(signed: SignedRows, ids: list[int], counts: list[int]) -> list[int]:
    """Convert multiples of the integer rows into multipliers of the rows themselves."""
    return _proportional([count / signed.scale(i) for i, count in zip(ids, counts, strict=True)])


def multipliers_to_counts(signed: SignedRows, ids: list[int], multipliers: list[int]) -> list[int]:
    """Convert multipliers of the rows into multiples of the integer rows."""
    return _proportional([times * signed.scale(i) for i, times in zip(ids, multipliers, strict=True)])


def recounted(witness: Witness, before: SignedRows, after: SignedRows) -> Witness:
    """Return a support with counts for other coordinates of the same rows, whose integers may have other factors."""
    multipliers = counts_to_multipliers(before, witness.support, witness.counts)
    return Witness(None, witness.support, multipliers_to_counts(after, witness.support, multipliers))


def _proportional(shares: list[Fraction]) -> list[int]:
    common = math.lcm(*(share.denominator for share in shares))
    return primitive([int(share * common) for share in shares])


def longest(matrix: list[list[int]]) -> int:
    """Return the bit length of the largest integer."""
    return max((max(v.bit_length() for v in row) for row in matrix if row), default=0)


def as_floats(w: list[int]) -> Array:
    """Return integers as floats, divided by a power of two that makes the largest about one."""
    size = max(v.bit_length() for v in w)
    return np.array([float(Fraction(v, 1 << size)) for v in w])


def as_fractions(w: list[int]) -> tuple[Fraction, ...]:
    """Return integers as Fractions, divided by a power of two if floats could not hold them and their squares."""
    below = 1 << max(0, max(v.bit_length() for v in w) - 500)
    return tuple(Fraction(v, below) for v in w)


def as_vector(w: Any) -> tuple[Any, ...]:
    """Return weights as a certificate holds them: floats as they are, integers as Fractions."""
    return tuple(w.tolist()) if isinstance(w, np.ndarray) else as_fractions(w)
