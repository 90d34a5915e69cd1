"""Equal rows of different classes, which no weights tell apart: found by hashing, before any search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Dense
from rosenblatt.prover.exact.clock import Clock
from rosenblatt.prover.exact.signed_rows import row_content

Array = npt.NDArray[Any]

# Values that are hashed at a time: they stay in the processor's cache.
ENTRIES_PER_BLOCK = 1 << 17
# Odd, with bits of both kinds: multiplied by it, every bit of a number reaches the upper half.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def contradiction(table: Table, label: Array, clock: Clock) -> tuple[int, int] | None:
    """Find two samples that are equal, exactly, and of different classes; None if there are none."""
    return next(contradictions(table, label, clock), None)


def contradictions(table: Table, label: Array, clock: Clock) -> Iterator[tuple[int, int]]:
    """Yield pairs of samples that are equal, exactly, and of different classes.

    Of equal samples the first is paired with the first of every other class.
    """
    hashes = _hashes(table, clock)
    order = np.argsort(hashes, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(hashes[order]) != 0))
    sides = label[order]
    mixed = np.minimum.reduceat(sides, starts) != np.maximum.reduceat(sides, starts)
    ends = np.append(starts[1:], order.size)
    for first, end in zip(starts[mixed], ends[mixed], strict=True):
        clock.check()
        seen: dict[Any, dict[int, int]] = {}
        for i in order[first:end].tolist():  # ascending
            equal = seen.setdefault(row_content(table, i), {})
            if equal and label[i] not in equal:
                yield next(iter(equal.values())), i
            equal.setdefault(int(label[i]), i)


def _hashes(table: Table, clock: Clock) -> Array:
    """Hash every row: a sum over its values that are not zero, so that the storage does not matter."""
    n, d = table.shape
    keys = np.random.default_rng(0).integers(0, 1 << 63, d, np.uint64) * np.uint64(2) + np.uint64(1)
    hashes, rows = np.empty(n, np.uint64), table.rows
    per_row = d if isinstance(rows, Dense) else max(1, rows.data.size // n)
    count = max(1, ENTRIES_PER_BLOCK // per_row)
    for start in range(0, n, count):
        clock.check()
        stop = min(start + count, n)
        if isinstance(rows, Dense):
            hashes[start:stop] = _mixed(rows.X[start:stop], keys).sum(axis=1, dtype=np.uint64)
            continue
        pointers = rows.indptr[start : stop + 1]
        stored = slice(pointers[0], pointers[-1])
        sums = np.zeros(pointers[-1] - pointers[0] + 1, np.uint64)
        np.cumsum(_mixed(rows.data[stored], keys[rows.indices[stored]]), out=sums[1:])
        hashes[start:stop] = np.diff(sums[pointers - pointers[0]])
    return hashes


def _mixed(values: Array, keys: Array) -> Array:
    """Turn values into numbers that add up to something different for different rows; zero stays zero."""
    bits = np.add(values, 0.0, dtype=np.float64).view(np.uint64) * keys  # -0.0 becomes 0.0
    bits ^= bits >> np.uint64(32)
    bits *= MULTIPLIER
    bits ^= bits >> np.uint64(29)
    return bits
