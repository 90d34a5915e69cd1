"""What could lead a compiled loop over sparse rows astray: indices out of range, values that are not finite."""

import numpy as np

from rosenblatt.engine.jit import compiled

# Sums may be reordered and fused; NaN and infinity keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}
ENTRIES_PER_COUNT = 1 << 16


@compiled(fastmath=FASTMATH)
def inspect_csr(data, indices, indptr, n_features, enough):
    """Largest squared row norm, first row out of bounds, first not finite, first not ascending; -1 for none.

    Instead of the largest norm, the sum of all may be returned if it is at most `enough`. `indptr` must be checked
    before; nothing is read outside the arrays for any `indices`.
    """
    # All rows at once, in loops that are vectorised, of unsigned numbers; row by row only where that must be.
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
        few = zero  # as wide as an index, so that as many are compared at once as are counted
        for k in range(start, min(start + np.uint64(ENTRIES_PER_COUNT), last)):
            low = min(low, indices[k])
            high = max(high, indices[k])
            few += one if indices[k] <= indices[k - np.uint64(1)] else zero
        falls += few
    for i in range(1, indptr.size - 1):  # where a row begins, and is not empty, columns may fall
        k = np.uint64(indptr[i])
        if first < k < np.uint64(indptr[i + 1]):
            falls -= indices[k] <= indices[k - np.uint64(1)]
    if falls == 0 and low >= 0 and high < n_features:
        return largest, -1, infinite, -1
    return largest, *_first_faults(indices, indptr, n_features, infinite)


@compiled(fastmath=FASTMATH)
def _largest_norm(data, indptr):
    """Return the largest squared row norm, and the first row that is not finite."""
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
    """Return the first row out of bounds, the first that is not finite as given, and the first not ascending."""
    outside, disorder = -1, -1
    for i in range(indptr.size - 1):
        for k in range(indptr[i], indptr[i + 1]):
            if outside < 0 and not 0 <= indices[k] < n_features:
                outside = i
            if disorder < 0 and k > indptr[i] and indices[k] <= indices[k - 1]:
                disorder = i
    return outside, infinite, disorder
