"""Single rows of a stream: what every loop over one row needs."""

import numpy as np

from rosenblatt.jit import compiled
from rosenblatt.verbs.rows import Counts, Task, entries, entry, longest, row_count, square

# The state comes array by array: Numba unpacks nine arrays in 0.6 us and a NamedTuple of nine arrays in 2.9 us, and the
# trial itself takes less than 1 us with a hundred features.


@compiled(forceinline=True)
def one_row(c, label, sign, cost, class_cost, bias, empty):
    """Return the task of a single row of class c, and an empty order; their empty arrays are parts of given ones."""
    label[0] = c
    return Task(label, sign, cost, class_cost, empty[:0], empty[:0], bias), label[:0]


@compiled()
def no_counts(parts):
    """Return counts of zero."""
    whole, real = np.zeros((2, parts), np.int64), np.zeros((2, parts))
    return Counts(whole[0], whole[1], real[0], real[1])


@compiled()
def is_finite_row(rows):
    """Whether the only row is finite, and so short that sums of its products will be."""
    return square(rows, 0) <= longest(rows)


@compiled()
def touched_finite(rows, W, b):
    """Whether the weights are finite that belong to entries of the rows, and all biases."""
    n = row_count(rows)
    for p in range(W.shape[0]):
        if not abs(b[p]) < np.inf:
            return False
        for i in range(n):
            start, end = entries(rows, i)
            for k in range(start, end):
                j, _ = entry(rows, i, k)
                if not abs(W[p, j]) < np.inf:
                    return False
    return True


@compiled()
def outcome(rows, counts, known, W, b):
    """Return the mistakes of the known problems, or -2 if a weight is not finite."""
    return counts.mistakes[:known].sum() if touched_finite(rows, W, b) else -2
