"""What could lead a compiled loop astray: indices out of range, values that are not finite."""

import numpy as np
from numba import njit

# Sums may be reordered and fused; NaN and infinity keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def inspect_dense(X):
    """Largest squared row norm, and the first row whose norm is not finite or -1."""
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


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def inspect_csr(data, indices, indptr, n_features):
    """Largest squared row norm, first row out of bounds, first not finite, first not ascending; -1 for none.

    `indptr` must be checked before; nothing is read outside the arrays for any `indices`.
    """
    largest, infinite = 0.0, -1
    for i in range(indptr.size - 1):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            value = np.float64(data[k])
            total += value * value
        if not total < np.inf:
            if infinite < 0:
                infinite = i
        elif total > largest:
            largest = total
    # All rows at once, in loops that are vectorised; row by row only if something is wrong.
    first, last = np.uint64(indptr[0]), np.uint64(indptr[indptr.size - 1])
    low = high = indices.dtype.type(0)
    for k in range(first, last):
        low = min(low, indices[k])
        high = max(high, indices[k])
    falls = 0
    for k in range(first + np.uint64(1), last):
        falls += indices[k] <= indices[k - np.uint64(1)]
    for i in range(1, indptr.size - 1):  # where a row begins, and is not empty, columns may fall
        k = np.uint64(indptr[i])
        if first < k < np.uint64(indptr[i + 1]):
            falls -= indices[k] <= indices[k - np.uint64(1)]
    if falls == 0 and low >= 0 and high < n_features:
        return largest, -1, infinite, -1
    return largest, *_first_faults(indices, indptr, n_features, infinite)


@njit(cache=True, nogil=True)
def _first_faults(indices, indptr, n_features, infinite):
    """Return the first row out of bounds, the first that is not finite as given, and the first not ascending."""
    outside, disorder = -1, -1
    for i in range(indptr.size - 1):
        for k in range(indptr[i], indptr[i + 1]):
            if outside < 0 and not 0 <= indices[k] < n_features:
                outside = i
            if disorder < 0 and k > indptr[i] and indices[k] <= indices[k - 1]:
                disorder = i
    return outside, infinite, disorder


@njit(cache=True, nogil=True)
def survey_dense(X, rows):
    """Look at the sizes of the values of some rows that are not zero.

    Returns the sum of all squares, how many they are, the column whose mean of squares is largest, that mean, and the
    median of the means of all columns that are not zero.
    """
    squares, counts = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for t in range(rows.size):
        for j in range(X.shape[1]):
            value = np.float64(X[rows[t], j])
            squares[j] += value * value
            counts[j] += value != 0.0
    columns = np.flatnonzero(counts)
    return _summary(squares[columns], counts[columns], columns)


@njit(cache=True, nogil=True)
def survey_csr(data, indices, indptr, rows, squares, counts):
    """Do the same for sparse rows, in time proportional to their entries.

    `squares` and `counts` have a zero for each column: memory that is all zeros costs nothing until it is written to.
    """
    columns, size = np.empty(64, np.int64), 0
    for t in range(rows.size):
        for k in range(indptr[rows[t]], indptr[rows[t] + 1]):
            j, value = indices[k], np.float64(data[k])
            if value != 0.0:
                if counts[j] == 0.0:
                    if size == columns.size:
                        columns = np.append(columns, columns)
                    columns[size] = j
                    size += 1
                squares[j] += value * value
                counts[j] += 1.0
    columns = columns[:size]
    return _summary(squares[columns], counts[columns], columns)


@njit(cache=True, nogil=True)
def _summary(squares, counts, columns):
    if columns.size == 0:
        return 0.0, 0.0, 0, 0.0, 0.0
    means = squares / counts
    largest = means.max()
    column = columns[means == largest].min()  # the first, in whatever order they were found
    return squares.sum(), counts.sum(), column, largest, np.median(means)
