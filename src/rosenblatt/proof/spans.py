"""Exact linear algebra on signed rows: what a support spans, and which columns depend on the columns before them."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.exact.rational import null_space, pivots
from rosenblatt.exact.signed_rows import SignedRows

Array = npt.NDArray[Any]

# Products of a row with a direction that are computed one by one; where there are more, all rows are asked at once.
MAX_SINGLE_PRODUCTS = 1 << 17
# Rows that are compared with those of the support.
MAX_COMPARED_ROWS = 1 << 12


def null_basis(signed: SignedRows, ids: Sequence[int], columns: Sequence[int]) -> list[list[int]]:
    """Compute a basis of the vectors on some columns that vanish on some signed rows, as integers."""
    entries = [signed.integers(i)[0] for i in ids]
    return null_space([[row.get(j, 0) for j in columns] for row in entries], len(columns))


def spans(signed: SignedRows, support: Sequence[int], others: Array) -> bool:
    """Check that some signed rows lie in the span of a support, which is among them.

    A rank that was computed modulo a prime is never too large, so that a full one is a proof. Otherwise the rows must
    vanish on every vector that vanishes on the support, of those columns that the rows touch.
    """
    columns = signed.touched(others).tolist()
    entries = [signed.integers(i)[0] for i in support]
    matrix = [[row.get(j, 0) for j in columns] for row in entries]
    if len(pivots(matrix)[0]) == len(columns):
        return True
    left = _unlike(signed, entries, np.setdiff1d(others, np.array(support)))
    if not left.size:
        return True
    basis = null_space(matrix, len(columns))
    if left.size * len(basis) <= MAX_SINGLE_PRODUCTS:
        rows = [signed.integers(int(i))[0] for i in left]
        vectors = [dict(zip(columns, vector, strict=True)) for vector in basis]
        return not any(sum(v * vector[j] for j, v in row.items()) for row in rows for vector in vectors)
    return not any(signed.signs(_placed(signed.width, columns, vector))[left].any() for vector in basis)


def _unlike(signed: SignedRows, entries: list[dict[int, int]], ids: Array) -> Array:
    """Leave out rows that equal one of some others, or its opposite."""
    if ids.size > MAX_COMPARED_ROWS:
        return ids
    known = {frozenset((j, sign * v) for j, v in row.items()) for row in entries for sign in (1, -1)}
    return ids[[frozenset(signed.integers(int(i))[0].items()) not in known for i in ids]]


def _placed(width: int, columns: Sequence[int], values: Sequence[int]) -> list[int]:
    vector = [0] * width
    for j, value in zip(columns, values, strict=True):
        vector[j] = value
    return vector


def dependencies(signed: SignedRows) -> dict[int, list[int]]:
    """Find the features that are linear combinations of the constant and of the features before them.

    Returns
    -------
    dict
        For each such feature integers u, one for each feature and last for the constant, with u . (x, 1) = 0 on all
        rows: not zero at the feature, zero at the other features of this dictionary and at all features after it. The
        features that are not in it are independent.
    """
    size = signed.features + 1
    order = [size - 1, *range(size - 1)]
    chosen = np.unique(np.linspace(0, signed.samples - 1, min(signed.samples, 2 * size)).astype(int)).tolist()
    while True:
        matrix = [[row.get(j, 0) for j in order] for row in (_padded(signed, i) for i in chosen)]
        found = [_placed(size, order, vector) for vector in null_space(matrix, size)]
        # Beside class 0 a signed row has one block, so that equal blocks give the product of each sample with one.
        signs = (signed.signs(vector * (signed.classes - 1)) for vector in found)
        outside = [np.flatnonzero(sign)[0] // (signed.classes - 1) for sign in signs if sign.any()]
        if not outside:
            return {max(j for j in range(size - 1) if vector[j]): vector for vector in found}
        independent = pivots(matrix)[0]
        chosen = sorted({*(chosen[a] for a in independent), *map(int, outside)})


def _padded(signed: SignedRows, sample: int) -> dict[int, int]:
    """Return (x, 1) of a sample as integers by column, up to a factor."""
    own = int(signed.label[sample])
    block = max(own, 1) - 1
    entries = signed.integers(int(signed.number(sample, 0 if own else 1)))[0]
    return {j - block * (signed.features + 1): v for j, v in entries.items()}


def without(vector: Sequence[Any], dependent: dict[int, list[int]], size: int) -> list[Any]:
    """Return rational weights with the same margins that are zero at the dependent features, as a list of Fractions."""
    weights = list(vector)
    for first in range(0, len(weights), size):
        for j, relation in dependent.items():
            share = weights[first + j] / relation[j]
            for k in range(size):
                weights[first + k] -= share * relation[k]
    return weights


def product(left: Sequence[Any], right: Sequence[Any]) -> Any:
    """Return the sum of the products of two vectors."""
    return sum(map(mul, left, right))
