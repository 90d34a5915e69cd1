"""Rows whose columns each have a learning rate of their own: the bodies of the verbs for them.

The weights move by the row with each value multiplied by the rate of its column, and a length is measured with these
rates. It is the same as to learn from columns multiplied by the roots of their rates; but the rows are not copied, and
the weights are those of the rows as they are. Rates are powers of two, and round nothing.
"""

from typing import NamedTuple

import numpy as np

from rosenblatt.jit import compiled
from rosenblatt.verbs import csr  # noqa: F401  the bodies for sparse rows
from rosenblatt.verbs.rows import (
    ADD,
    DOT,
    ENTRIES,
    ENTRY,
    FASTMATH,
    LONGEST,
    REQUEST,
    ROW_COUNT,
    SQUARE,
    Csr,
    Dense,
)


class RatedDense(NamedTuple):
    """Rows of a matrix in memory order, with the rate of each column."""

    X: np.ndarray  # (n, d), C-contiguous
    column_rate: np.ndarray  # (d,)


class RatedCsr(NamedTuple):
    """Rows stored by their nonzeros, with the rate of each column."""

    data: np.ndarray  # (nnz,)
    indices: np.ndarray  # (nnz,) columns, ascending within a row
    indptr: np.ndarray  # (n + 1,)
    column_rate: np.ndarray  # (d,)


@compiled(forceinline=True, fastmath=FASTMATH)
def _add_dense(X, rate, i, factor, W, p):
    step = W.dtype.type(factor)
    for j in range(X.shape[1]):
        W[p, j] += step * (rate[j] * X[i, j])


@compiled(fastmath=FASTMATH)
def _square_dense(X, rate, i):
    total = 0.0
    for j in range(X.shape[1]):
        value = np.float64(X[i, j])
        total += rate[j] * value * value
    return total


@compiled(forceinline=True)
def _add_csr(data, indices, indptr, rate, i, factor, W, p):
    step = W.dtype.type(factor)
    for k in range(indptr[i], indptr[i + 1]):
        W[p, indices[k]] += step * (rate[indices[k]] * data[k])


@compiled(fastmath=FASTMATH)
def _square_csr(data, indices, indptr, rate, i):
    total = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        value = np.float64(data[k])
        total += rate[indices[k]] * value * value
    return total


for _bodies in (DOT, REQUEST, ENTRIES, ENTRY, ROW_COUNT, LONGEST):
    _bodies[RatedDense], _bodies[RatedCsr] = _bodies[Dense], _bodies[Csr]
ADD[RatedDense] = lambda rows, i, factor, W, p: _add_dense(rows.X, rows.column_rate, i, factor, W, p)
ADD[RatedCsr] = lambda rows, i, factor, W, p: _add_csr(
    rows.data, rows.indices, rows.indptr, rows.column_rate, i, factor, W, p
)
SQUARE[RatedDense] = lambda rows, i: _square_dense(rows.X, rows.column_rate, i)
SQUARE[RatedCsr] = lambda rows, i: _square_csr(rows.data, rows.indices, rows.indptr, rows.column_rate, i)
