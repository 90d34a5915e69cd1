"""Exact linear algebra on signed rows: the span of a support, and the columns that depend on columns before them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.rows import Csr
from rosenblatt.prover.exact.clock import timed
from rosenblatt.prover.exact.modular import (
    LIMB_BITS,
    as_array,
    as_limbs,
    congruent,
    invert_modulo,
    reduce_limbs,
    residues,
    small_primes,
)
from rosenblatt.prover.exact.rational import MAX_UNKNOWNS, array_pivots, null_space, pivots, placed
from rosenblatt.prover.exact.signed_rows import SignedRows, row_content

Array = npt.NDArray[Any]

# Columns beyond which leaving out dependent ones saves time, and entries of rows up to which that is done.
MANY_COLUMNS, MAX_ENTRIES = 200, 1 << 22
# Products of a row with a direction up to which they are computed one by one, and not for all signed rows at once.
MAX_SINGLE_PRODUCTS = 1 << 17
# Rows up to which those equal to a row of the support are left out first.
MAX_COMPARED_ROWS = 1 << 12
# Products of floats that the proof of a rank may take: some seconds.
MAX_PRODUCTS = 10**11


def null_basis(signed: SignedRows, ids: Sequence[int], columns: Sequence[int]) -> list[list[int]]:
    """Compute a basis of the vectors on some columns that vanish on some signed rows, as integers."""
    entries = [signed.integers(i)[0] for i in ids]
    return null_space([[row.get(j, 0) for j in columns] for row in entries], len(columns))


def spans(signed: SignedRows, support: Sequence[int], others: Array) -> bool:
    """Check that some signed rows lie in the span of a support, which is among them.

    A rank computed modulo a prime is never too large, so full rank is a proof. Otherwise the rows must vanish on every
    vector that vanishes on the support, in the columns that the rows touch. If these are many, those that depend on
    others in all rows are left out: the entries of a row there follow from its other entries.
    """
    columns = signed.touched(others)
    entries = [signed.integers(i)[0] for i in support]
    # This is tried before the rows are compared one by one, which takes longer.
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
        by_column = [dict(zip(numbers, vector, strict=True)) for vector in basis]
        return not any(sum(v * vector.get(j, 0) for j, v in row.items()) for row in rows for vector in by_column)
    vectors = (placed(signed.width, dict(zip(numbers, vector, strict=True))) for vector in basis)
    return not any(signed.signs(vector)[left].any() for vector in vectors)


def _have_full_rank(rows: Sequence[dict[int, int]], columns: Array) -> bool:
    numbers = columns.tolist()
    return len(pivots([[row.get(j, 0) for j in numbers] for row in rows])[0]) == len(numbers)


def independent_columns(signed: SignedRows, ids: Array, columns: Array) -> Array:
    """Leave out columns that provably depend on others of the same class in all samples of some signed rows."""
    samples = np.unique(signed.split(ids)[0])
    size = signed.features + 1
    features = np.unique(columns % size)
    matrix = sample_integers(signed, samples, features)
    found = None if matrix is None else spanning_columns(matrix)
    return columns if found is None else columns[np.isin(columns % size, features[found])]


def sample_integers(signed: SignedRows, samples: Array, features: Array) -> Array | None:
    """Return columns of padded samples as integers, each row up to a positive factor; None if there are too many."""
    if samples.size * features.size > MAX_ENTRIES:
        return None
    table, inner = signed.table, features[features < signed.features]
    if table.exact is None:
        part = table.matrix()[samples][:, inner]
        X = np.asarray(part.toarray() if isinstance(table.rows, Csr) else part, np.float64)
        if (np.abs(X) < 1 << 53).all() and (np.rint(X) == X).all():
            return np.column_stack([X, np.full(samples.size, signed.constant)]).astype(np.int64)[:, : features.size]
    numbers = features.tolist()
    return as_array([[row.get(j, 0) for j in numbers] for row in (padded(signed, int(i)) for i in timed(samples))])


def _unlike(signed: SignedRows, support: Sequence[int], ids: Array) -> Array:
    """Leave out rows that equal a row of a support, or its opposite: equal samples and the same two classes."""
    if ids.size > MAX_COMPARED_ROWS:
        return ids

    def key(i: int) -> Any:
        row, rival = (int(part) for part in signed.split(i))
        return row_content(signed.table, row), frozenset((int(signed.label[row]), rival))

    known = {key(i) for i in support}
    return ids[[key(int(i)) not in known for i in ids]]


def dependencies(signed: SignedRows) -> dict[int, list[int]]:
    """Find the features that are linear combinations of the constant and of the features before them.

    Return for each of them integers u, one for each feature and the constant last, with u . (x, 1) = 0 on all rows: not
    zero at the feature itself, but zero at the other features found and at all later features. The features that are
    not found are independent. Without an intercept the constant is found too: it is zero.
    """
    size = signed.features + 1
    order = [size - 1, *range(size - 1)]
    chosen = np.unique(np.linspace(0, signed.samples - 1, min(signed.samples, 2 * size)).astype(int)).tolist()
    while True:
        matrix = [[row.get(j, 0) for j in order] for row in (padded(signed, i) for i in timed(chosen))]
        found = [placed(size, dict(zip(order, vector, strict=True))) for vector in null_space(matrix, size)]
        # Against class 0 a signed row has one block, so equal blocks of weights give the product with each sample.
        signs = (signed.signs(vector * (signed.classes - 1)) for vector in found)
        outside = [np.flatnonzero(sign)[0] // (signed.classes - 1) for sign in signs if sign.any()]
        if not outside:
            return {max((j for j in range(size - 1) if vector[j]), default=size - 1): vector for vector in found}
        independent = pivots(matrix)[0]
        chosen = sorted({*(chosen[a] for a in independent), *map(int, outside)})


def padded(signed: SignedRows, sample: int) -> dict[int, int]:
    """Return a padded sample as integers by column, up to a factor of either sign."""
    own = int(signed.label[sample])
    block = max(own, 1) - 1
    entries = signed.integers(int(signed.number(sample, 0 if own else 1)))[0]
    return {j - block * (signed.features + 1): v for j, v in entries.items()}


def without(vector: Sequence[Any], dependent: dict[int, list[int]], size: int) -> list[Any]:
    """Return rational weights with the same margins, but zero at the dependent features."""
    weights = list(vector)
    for first in range(0, len(weights), size):
        for j, relation in dependent.items():
            share = weights[first + j] / relation[j]
            for k in range(size):
                weights[first + k] -= share * relation[k]
    return weights


# --------------------------------------------------------------------------------------------------- proof of ranks


def spanning_columns(A: Array) -> list[int] | None:
    """Find independent columns of an integer matrix on which all others depend, and prove that they do.

    A minor that is nonsingular modulo a prime is nonsingular, so a rank modulo a prime is never too large. That it is
    not too small either follows from many primes: a minor that is 0 modulo each of them, and smaller than their
    product, is 0. The columns are those that do not depend on columns to their left; None if the proof would take too
    long.

    Examples
    --------
    >>> spanning_columns(np.array([[0, 1, 2, 1], [0, 2, 4, 1], [0, 3, 6, 1]]))
    [1, 3]
    """
    A = _distinct(A)
    rows, columns = array_pivots(A)
    rank = len(rows)
    if rank in A.shape or not A.any():  # the rank cannot be larger
        return columns
    # Hadamard: a minor of one more row and column is at most the product of the lengths of its rows.
    sizes = [(rank + 1) * int(size) ** 2 for size in np.abs(A).max(axis=1)]
    bits = (sum(sizes[i].bit_length() for i in rows) + max(sizes).bit_length()) // 2 + 1
    primes = bits // (LIMB_BITS - 1) + 1
    if rank > MAX_UNKNOWNS or primes * A.size * rank > MAX_PRODUCTS:
        return None
    limbs, product = as_limbs(A), 1
    for p in small_primes():
        depends = _depend_modulo(limbs, rows, columns, p)
        if depends is False:
            return None  # both primes of `array_pivots` hid a part of the rank, which has negligible probability
        product *= p if depends else 1
        if product.bit_length() > bits:
            return columns
    raise AssertionError("there are more primes than can divide a determinant")


def _depend_modulo(limbs: Array, rows: list[int], columns: list[int], p: int) -> bool | None:
    """Return whether a matrix has the same rank as a minor of it modulo a prime; None if that minor is singular there.

    All sums are of at most MAX_UNKNOWNS products of residues, hence exact in floats in any order.
    """
    A = np.empty(limbs.shape[1:])
    reduce_limbs(limbs, float(p), A)
    inverse = np.ascontiguousarray(A[np.ix_(rows, columns)])
    if not invert_modulo(inverse, p):
        return None
    shares = residues(inverse @ A[rows], p)
    return bool(congruent(A[:, columns] @ shares, A, float(p)))


def _distinct(A: Array) -> Array:
    """Leave out rows that are equal to earlier rows."""
    keys = A.tolist() if A.dtype == object else [row.tobytes() for row in np.ascontiguousarray(A)]
    first: dict[Any, int] = {}
    for i, key in enumerate(keys):
        first.setdefault(tuple(key) if isinstance(key, list) else key, i)
    return A[list(first.values())]
