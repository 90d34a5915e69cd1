"""Exact linear algebra on signed rows: what a support spans, and which columns depend on the columns before them."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.rows import Csr
from rosenblatt.prover.exact.clock import timed
from rosenblatt.prover.exact.lifting import as_array
from rosenblatt.prover.exact.ranks import spanning_columns
from rosenblatt.prover.exact.rational import null_space, pivots
from rosenblatt.prover.exact.signed_rows import SignedRows, row_content

Array = npt.NDArray[Any]

# Products of a row with a direction that are computed one by one; where there are more, all rows are asked at once.
MAX_SINGLE_PRODUCTS = 1 << 17
# Columns beyond which it is worth finding out whether some depend on others; entries of rows up to which it is done.
MANY_COLUMNS, MAX_ENTRIES = 200, 1 << 22
# Rows that are compared with those of the support.
MAX_COMPARED_ROWS = 1 << 12


def null_basis(signed: SignedRows, ids: Sequence[int], columns: Sequence[int]) -> list[list[int]]:
    """Compute a basis of the vectors on some columns that vanish on some signed rows, as integers."""
    entries = [signed.integers(i)[0] for i in ids]
    return null_space([[row.get(j, 0) for j in columns] for row in entries], len(columns))


def spans(signed: SignedRows, support: Sequence[int], others: Array) -> bool:
    """Check that some signed rows lie in the span of a support, which is among them.

    A rank that was computed modulo a prime is never too large, so that a full one is a proof. Otherwise the rows must
    vanish on every vector that vanishes on the support, of those columns that the rows touch. Of many columns, those
    that depend on others in all of the rows are left out: a row there follows from what it is elsewhere.
    """
    columns = signed.touched(others)
    entries = [signed.integers(i)[0] for i in support]
    # Before the rows are compared one by one, which takes longer.
    if len(support) >= columns.size and _have_full_rank(entries, columns):
        return True
    left = _unlike(signed, support, np.setdiff1d(others, np.array(support)))
    if not left.size:
        return True
    if columns.size > max(MANY_COLUMNS, len(support)):
        columns = independent_columns(signed, others, columns)
        if _have_full_rank(entries, columns):
            return True
    numbers = columns.tolist()
    matrix = [[row.get(j, 0) for j in numbers] for row in entries]
    basis = null_space(matrix, len(numbers))
    if left.size * len(basis) <= MAX_SINGLE_PRODUCTS:
        rows = [signed.integers(int(i))[0] for i in left]
        vectors = [dict(zip(numbers, vector, strict=True)) for vector in basis]
        return not any(sum(v * vector.get(j, 0) for j, v in row.items()) for row in rows for vector in vectors)
    return not any(signed.signs(_placed(signed.width, numbers, vector))[left].any() for vector in basis)


def _have_full_rank(rows: Sequence[dict[int, int]], columns: Array) -> bool:
    numbers = columns.tolist()
    return len(pivots([[row.get(j, 0) for j in numbers] for row in rows])[0]) == len(numbers)


def independent_columns(signed: SignedRows, ids: Array, columns: Array) -> Array:
    """Leave out columns that depend, as is proved, on columns of the same class in all samples of some signed rows."""
    samples = np.unique(signed.split(ids)[0])
    size = signed.features + 1
    features = np.unique(columns % size)
    matrix = sample_integers(signed, samples, features)
    found = None if matrix is None else spanning_columns(matrix)
    return columns if found is None else columns[np.isin(columns % size, features[found])]


def sample_integers(signed: SignedRows, samples: Array, features: Array) -> Array | None:
    """Return (x, 1) of samples as integers, each up to a positive factor, or None if they are too many.

    Parameters
    ----------
    signed : SignedRows
    samples : int array
    features : int array
        The columns of (x, 1) that are kept.
    """
    if samples.size * features.size > MAX_ENTRIES:
        return None
    table, inner = signed.table, features[features < signed.features]
    if table.exact is None:
        part = table.matrix()[samples][:, inner]
        X = np.asarray(part.toarray() if isinstance(table.rows, Csr) else part, np.float64)
        if (np.abs(X) < 1 << 53).all() and (np.rint(X) == X).all():
            return np.column_stack([X, np.ones(samples.size)]).astype(np.int64)[:, : features.size]
    numbers = features.tolist()
    return as_array([[row.get(j, 0) for j in numbers] for row in (padded(signed, int(i)) for i in timed(samples))])


def _unlike(signed: SignedRows, support: Sequence[int], ids: Array) -> Array:
    """Leave out rows that equal one of a support, or its opposite: equal samples, and the same two classes."""
    if ids.size > MAX_COMPARED_ROWS:
        return ids

    def key(i: int) -> Any:
        row, rival = (int(part) for part in signed.split(i))
        return row_content(signed.table, row), frozenset((int(signed.label[row]), rival))

    known = {key(i) for i in support}
    return ids[[key(int(i)) not in known for i in ids]]


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
        matrix = [[row.get(j, 0) for j in order] for row in (padded(signed, i) for i in timed(chosen))]
        found = [_placed(size, order, vector) for vector in null_space(matrix, size)]
        # Beside class 0 a signed row has one block, so that equal blocks give the product of each sample with one.
        signs = (signed.signs(vector * (signed.classes - 1)) for vector in found)
        outside = [np.flatnonzero(sign)[0] // (signed.classes - 1) for sign in signs if sign.any()]
        if not outside:
            return {max(j for j in range(size - 1) if vector[j]): vector for vector in found}
        independent = pivots(matrix)[0]
        chosen = sorted({*(chosen[a] for a in independent), *map(int, outside)})


def padded(signed: SignedRows, sample: int) -> dict[int, int]:
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
