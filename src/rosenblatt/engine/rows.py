"""Rows, and what a loop does with one of them: `dot`, `add`, `square`, `entries`.

Rows are a NamedTuple, `Dense` or `Csr`. The loops of the perceptron and its kin call `dot_dense` or `dot_csr` by name;
a loop for either kind calls `dot`, and the type of the rows chooses the code when it is compiled. With the JIT off the
same functions run as Python.

Nothing here checks bounds; `rosenblatt.data` validates each array before it arrives.

Short names, defined in docs/explanation/notation.md: i row, j feature, k entry, p problem (one weight vector),
c class, t trial, W weights (problems, features), b biases (problems,).
"""

from typing import NamedTuple

import numpy as np

from rosenblatt.engine.jit import compiled, overload

# Sums may be reordered and fused, which is what vectorises a dot product; NaN and infinity keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}
# For calls made once per row.
INLINED = {"forceinline": True}
# Unsigned indices spare the tests for negative ones: a tenth of an epoch, a sixth of one of short rows.
U = np.uint64


class Dense(NamedTuple):
    """Rows of a matrix in memory order."""

    X: np.ndarray  # (n, d), C-contiguous


class Csr(NamedTuple):
    """Rows stored by their nonzeros: row i is entries indptr[i] to indptr[i + 1]."""

    data: np.ndarray  # (nnz,)
    indices: np.ndarray  # (nnz,) columns, ascending within a row
    indptr: np.ndarray  # (n + 1,)


class Task(NamedTuple):
    """The labels, signs, costs and weights from which the rows teach the problems.

    A row of class c is a positive (+1), a negative (-1) or no example (0) of problem p, as `sign[c, p]` says;
    one-vs-all and one-vs-one differ in this table only. For regression, `target` holds a number for each row.
    """

    label: np.ndarray  # (n,) class of each row
    sign: np.ndarray  # (classes, problems) int8
    cost: np.ndarray  # (classes, problems) factor of the step
    class_cost: np.ndarray  # (classes,) what an error on a row of the class counts
    sample_weight: np.ndarray  # (n,) factor of the step and of an error, or empty: all one
    target: np.ndarray  # (n,) for regression, else empty
    bias: float  # square of the constant that pads each row: 1, or 0 for no bias


class Counts(NamedTuple):
    """The counts of an epoch, per problem."""

    mistakes: np.ndarray  # trials with y f(x) <= 0
    updates: np.ndarray  # trials that changed the weights
    loss: np.ndarray  # loss summed over the trials
    step: np.ndarray  # steps summed: the weights moved by a sum of that many rows


class Hyperplanes(NamedTuple):
    """Weights ready for use, averaged and with penalties applied: problem p scores W[p].x + b[p]."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)


# ----------------------------------------------------------------------------------------------------------- dense rows


@compiled(forceinline=True, fastmath=FASTMATH)
def dot_dense(X, i, W, p):
    """Return the inner product of row i with W[p]."""
    total = W.dtype.type(0)
    for j in range(X.shape[1]):
        total += X[i, j] * W[p, j]
    return total


@compiled(forceinline=True, fastmath=FASTMATH)
def add_dense(X, i, factor, W, p):
    """Add `factor` times row i to W[p]."""
    step = W.dtype.type(factor)
    for j in range(X.shape[1]):
        W[p, j] += step * X[i, j]


@compiled(forceinline=True, fastmath=FASTMATH)
def square_dense(X, i):
    """Return the squared norm of row i."""
    total = 0.0
    for j in range(X.shape[1]):
        value = np.float64(X[i, j])  # the square of a float32 may overflow
        total += value * value
    return total


# ---------------------------------------------------------------------------------------------------------- sparse rows


# Four products at a time, in a fixed order and without fastmath: LLVM would vectorise the sum with gathers, which is
# twice as slow.


@compiled(forceinline=True)
def dot_csr(data, indices, indptr, i, W, p):
    """Return the inner product of row i with W[p]."""
    total = W.dtype.type(0)
    k, end = U(indptr[U(i)]), U(indptr[U(i) + U(1)])
    while k + U(4) <= end:
        first = data[k] * W[p, U(indices[k])]
        second = data[k + U(1)] * W[p, U(indices[k + U(1)])]
        third = data[k + U(2)] * W[p, U(indices[k + U(2)])]
        fourth = data[k + U(3)] * W[p, U(indices[k + U(3)])]
        total += (first + second) + (third + fourth)
        k += U(4)
    while k < end:
        total += data[k] * W[p, U(indices[k])]
        k += U(1)
    return total


@compiled(forceinline=True)
def add_csr(data, indices, indptr, i, factor, W, p):
    """Add `factor` times row i to W[p]."""
    step = W.dtype.type(factor)
    for k in range(U(indptr[U(i)]), U(indptr[U(i) + U(1)])):
        W[p, U(indices[k])] += step * data[k]


@compiled(forceinline=True)
def square_csr(data, indptr, i):
    """Return the squared norm of row i."""
    return sum_of_squares(data, U(indptr[U(i)]), U(indptr[U(i) + U(1)]))


@compiled(forceinline=True)
def sum_of_squares(data, start, end):
    """Return the sum of squares of some entries, four at a time as in `dot_csr`: every loop has the same bits."""
    total = 0.0
    # `range` and not `while`: LLVM then sees that the loops end, and leaves them out where no rule uses the norm.
    rest = end - (end - start) % U(4)
    for k in range(start, rest, U(4)):
        first, second = np.float64(data[k]), np.float64(data[k + U(1)])
        third, fourth = np.float64(data[k + U(2)]), np.float64(data[k + U(3)])
        total += (first * first + second * second) + (third * third + fourth * fourth)
    for k in range(rest, end):
        total += np.float64(data[k]) * np.float64(data[k])
    return total


# ----------------------------------------------------------------------------------------------------- rows of any kind


def by_type(bodies, kind):
    """Return the function for a NamedTuple, or for Numba's type of one."""
    # numba.types.NamedTuple.instance_class is undocumented; this is the one place that relies on it.
    return bodies.get(getattr(kind, "instance_class", type(kind)))


DOT = {
    Dense: lambda rows, i, W, p: dot_dense(rows.X, i, W, p),
    Csr: lambda rows, i, W, p: dot_csr(rows.data, rows.indices, rows.indptr, i, W, p),
}
ADD = {
    Dense: lambda rows, i, factor, W, p: add_dense(rows.X, i, factor, W, p),
    Csr: lambda rows, i, factor, W, p: add_csr(rows.data, rows.indices, rows.indptr, i, factor, W, p),
}
SQUARE = {
    Dense: lambda rows, i: square_dense(rows.X, i),
    Csr: lambda rows, i: square_csr(rows.data, rows.indptr, i),
}
ENTRIES = {
    Dense: lambda rows, i: (0, rows.X.shape[1]),
    Csr: lambda rows, i: (rows.indptr[U(i)], rows.indptr[U(i) + U(1)]),
}
ENTRY = {
    Dense: lambda rows, i, k: (k, rows.X[i, k]),
    Csr: lambda rows, i, k: (rows.indices[k], rows.data[k]),
}
ROW_COUNT = {Dense: lambda rows: rows.X.shape[0], Csr: lambda rows: len(rows.indptr) - 1}
# As `rosenblatt.data.table.SQUARED_LENGTHS`.
LONGEST = {
    Dense: lambda rows: 1e30 if rows.X.itemsize == 4 else 1e280,
    Csr: lambda rows: 1e30 if rows.data.itemsize == 4 else 1e280,
}


def dot(rows, i, W, p):
    """Return the inner product of row i with W[p]."""
    return by_type(DOT, rows)(rows, i, W, p)


def add(rows, i, factor, W, p):
    """Add `factor` times row i to W[p]."""
    return by_type(ADD, rows)(rows, i, factor, W, p)


def square(rows, i):
    """Return the squared norm of row i."""
    return by_type(SQUARE, rows)(rows, i)


def entries(rows, i):
    """Return the first and the last-plus-one position of the stored entries of row i."""
    return by_type(ENTRIES, rows)(rows, i)


def entry(rows, i, k):
    """Return column and value of the entry of row i at position k."""
    return by_type(ENTRY, rows)(rows, i, k)


def row_count(rows):
    """Return the number of rows."""
    return by_type(ROW_COUNT, rows)(rows)


def longest(rows):
    """Return the largest squared norm of a row whose sums of products do not overflow, by the type of its values."""
    return by_type(LONGEST, rows)(rows)


overload(dot, jit_options=INLINED)(lambda rows, i, W, p: by_type(DOT, rows))
overload(add, jit_options=INLINED)(lambda rows, i, factor, W, p: by_type(ADD, rows))
overload(square, jit_options=INLINED)(lambda rows, i: by_type(SQUARE, rows))
overload(entries)(lambda rows, i: by_type(ENTRIES, rows))
overload(entry)(lambda rows, i, k: by_type(ENTRY, rows))
overload(longest)(lambda rows: by_type(LONGEST, rows))
overload(row_count)(lambda rows: by_type(ROW_COUNT, rows))


# --------------------------------------------------------------------------------------------------------- several rows


@compiled()
def shuffle(order, uniform):
    """Permute `order` in place by Fisher and Yates; `uniform` holds a number in [0, 1) for each element."""
    for k in range(order.size - 1, 0, -1):
        j = min(k, int(uniform[k] * (k + 1)))  # the product may round up to k + 1
        order[k], order[j] = order[j], order[k]


@compiled()
def interleave(blocks, width, streams, rows, order):
    """Order the n = rows.size positions by walking `streams` blocks of `width` neighbours side by side.

    `blocks` is a permutation of the block numbers. A few forward streams run at the full speed of memory, unlike
    rows in random order.
    """
    n = rows.size
    t = 0
    for first in range(0, blocks.size, streams):
        last = min(first + streams, blocks.size)
        for offset in range(width):
            for k in range(first, last):
                position = blocks[k] * width + offset
                if position < n:
                    order[t] = rows[position]
                    t += 1


@compiled()
def gather(rows, subset, factor, out):
    """Write the rows of `subset`, each times its `factor`, to out, which holds zeros."""
    for t in range(subset.size):
        add(rows, subset[t], factor[t], out, t)
