"""Checks before a loop reads rows without bounds checks, and the sizes of their values."""

import numpy as np

from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import FASTMATH

ENTRIES_PER_COUNT = 1 << 16


@compiled(fastmath=FASTMATH)
def inspect_dense(X):
    """Return the largest squared row norm, and the first row whose norm is not finite (-1 if all are)."""
    largest, fault = 0.0, -1
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            value = np.float64(X[i, j])
            total += value * value
        if not total < np.inf:
            if fault < 0:
                fault = i
        elif total > largest:
            largest = total
    return largest, fault


@compiled(fastmath=FASTMATH)
def inspect_csr(data, indices, indptr, n_features, enough):
    """Return the largest squared row norm and three row numbers, -1 if there is no such row.

    The rows are the first with an index out of bounds, the first that is not finite, and the first whose indices do not
    ascend. If the sum of all squared norms is at most `enough`, that sum is returned instead of the largest. `indptr`
    must have been checked; nothing is read outside the arrays, whatever `indices` holds.
    """
    # Vectorised loops over all rows at once; row by row only if they find a fault.
    first, last = np.uint64(indptr[0]), np.uint64(indptr[indptr.size - 1])
    largest, infinite = 0.0, np.int64(-1)
    if enough >= 0.0:
        for k in range(first, last):
            value = np.float64(data[k])
            largest += value * value
    if not largest <= enough:
        largest, infinite = _largest_norm(data, indptr)
    zero, one = indices.dtype.type(0), indices.dtype.type(1)
    low = high = indices[first] if first < last else zero
    falls = 0
    for start in range(first + np.uint64(1), last, np.uint64(ENTRIES_PER_COUNT)):
        few = zero  # as wide as an index: one vector compares and counts
        for k in range(start, min(start + np.uint64(ENTRIES_PER_COUNT), last)):
            low = min(low, indices[k])
            high = max(high, indices[k])
            few += one if indices[k] <= indices[k - np.uint64(1)] else zero
        falls += few
    for i in range(1, indptr.size - 1):  # the first index of a row may be below the last of the row before
        k = np.uint64(indptr[i])
        if first < k < np.uint64(indptr[i + 1]):
            falls -= indices[k] <= indices[k - np.uint64(1)]
    if falls == 0 and low >= 0 and high < n_features:
        return largest, -1, infinite, -1
    return largest, *_first_faults(indices, indptr, n_features, infinite)


@compiled(fastmath=FASTMATH)
def _largest_norm(data, indptr):
    """Return the largest squared row norm, and the first row that is not finite (-1 if all are)."""
    largest, infinite = 0.0, np.int64(-1)
    for i in range(indptr.size - 1):
        total = 0.0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            value = np.float64(data[k])
            total += value * value
        if not total < np.inf:
            if infinite < 0:
                infinite = i
        elif total > largest:
            largest = total
    return largest, infinite


@compiled()
def _first_faults(indices, indptr, n_features, infinite):
    """Return the first row out of bounds, `infinite` as it was passed, and the first row not in ascending order."""
    outside, disorder = -1, -1
    for i in range(indptr.size - 1):
        for k in range(indptr[i], indptr[i + 1]):
            if outside < 0 and not 0 <= indices[k] < n_features:
                outside = i
            if disorder < 0 and k > indptr[i] and indices[k] <= indices[k - 1]:
                disorder = i
    return outside, infinite, disorder


@compiled()
def survey_dense(X, rows, squares, counts):
    """Add up the squares and the number of nonzero values of some rows, for each column."""
    for t in range(rows.size):
        for j in range(X.shape[1]):
            value = np.float64(X[rows[t], j])
            squares[j] += value * value
            counts[j] += value != 0.0


@compiled()
def survey_csr(data, indices, indptr, rows, squares, counts, columns):
    """Add up the same for sparse rows, in time proportional to their entries; return how many columns have values.

    `squares` and `counts` start at zero for every column, which costs nothing: pages of zeros are allocated when they
    are first written to. The columns that have values are written to `columns`, which has room for every entry.
    """
    size = 0
    for t in range(rows.size):
        for k in range(indptr[rows[t]], indptr[rows[t] + 1]):
            j, value = indices[k], np.float64(data[k])
            if value != 0.0:
                if counts[j] == 0.0:
                    columns[size] = j
                    size += 1
                squares[j] += value * value
                counts[j] += 1.0
    return size
