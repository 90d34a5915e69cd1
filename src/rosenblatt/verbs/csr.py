"""Sparse rows: the bodies of the verbs for rows stored by their nonzeros."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rosenblatt.jit import DISABLE_JIT, compiled
from rosenblatt.verbs.rows import (
    ADD,
    BY_FEATURE,
    DOT,
    ENTRIES,
    ENTRY,
    FASTMATH,
    LONGEST,
    REQUEST,
    ROW_COUNT,
    SQUARE,
    Csr,
)

CACHE_LINE_BYTES = 64
# Lines of weights that are prefetched for each entry of a sparse row, before the row is multiplied. Weights of fewer
# bytes are in the caches of most machines, where asking for them takes a quarter of an epoch.
LINES_AHEAD = 4
CACHED_WEIGHT_BYTES = 1 << 24

# Weight vectors of a sparse row's features lie side by side where there are several. All of them are multiplied at once
# unless the active problems are fewer than one in so many.
SPREAD = 8
# Fewer vectors than that share a cache line, and are faster multiplied one by one.
FEW_VECTORS = 8


@intrinsic
def _prefetch(typing_context, array, k):
    """Prefetch the cache line that holds array[k]; a hint without effect on any value."""

    def emit(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        hint = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, number, number, number]), "llvm.prefetch.p0"
        )
        address = builder.bitcast(builder.gep(data, [args[1]]), byte)
        builder.call(hint, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


def _plain_prefetch(array, k):
    """Do nothing: interpreted code has no use for the hint."""


if DISABLE_JIT:
    _prefetch = _plain_prefetch


# --------------------------------------------------------------------------------------------------------- one vector


# Sums over the entries of a sparse row are made four products at a time, in a fixed order, without fastmath: LLVM would
# vectorise the loop over one vector with gathers, twice as slow. The loop over all vectors of a feature adds up in the
# same order, so that the layout of the weights does not change a bit. Unsigned numbers spare the tests for negative
# indices.


@compiled(forceinline=True)
def _dot_csr(data, indices, indptr, i, W, p):
    total = W.dtype.type(0)
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    while k + np.uint64(4) <= end:
        first = data[k] * W[p, np.uint64(indices[k])]
        second = data[k + np.uint64(1)] * W[p, np.uint64(indices[k + np.uint64(1)])]
        third = data[k + np.uint64(2)] * W[p, np.uint64(indices[k + np.uint64(2)])]
        fourth = data[k + np.uint64(3)] * W[p, np.uint64(indices[k + np.uint64(3)])]
        total += (first + second) + (third + fourth)
        k += np.uint64(4)
    while k < end:
        total += data[k] * W[p, np.uint64(indices[k])]
        k += np.uint64(1)
    return total


@compiled(forceinline=True)
def _add_csr(data, indices, indptr, i, factor, W, p):
    step = W.dtype.type(factor)
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    while k < end:
        W[p, np.uint64(indices[k])] += step * data[k]
        k += np.uint64(1)


@compiled(forceinline=True)
def _request_csr(data, indices, indptr, near, far):
    _prefetch(indptr, far)
    start, end = indptr[near], indptr[near + 1]
    for k in range(start, end, CACHE_LINE_BYTES // data.itemsize):
        _prefetch(data, k)
    for k in range(start, end, CACHE_LINE_BYTES // indices.itemsize):
        _prefetch(indices, k)


@compiled(forceinline=True, fastmath=FASTMATH)
def _square_csr(data, indptr, i):
    total = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        value = np.float64(data[k])
        total += value * value
    return total


DOT[Csr] = lambda rows, i, W, p: _dot_csr(rows.data, rows.indices, rows.indptr, i, W, p)
ADD[Csr] = lambda rows, i, factor, W, p: _add_csr(rows.data, rows.indices, rows.indptr, i, factor, W, p)
REQUEST[Csr] = lambda rows, near, far: _request_csr(rows.data, rows.indices, rows.indptr, near, far)
SQUARE[Csr] = lambda rows, i: _square_csr(rows.data, rows.indptr, i)
ENTRIES[Csr] = lambda rows, i: (rows.indptr[i], rows.indptr[i + 1])
ENTRY[Csr] = lambda rows, i, k: (rows.indices[k], rows.data[k])
ROW_COUNT[Csr] = lambda rows: rows.indptr.size - 1
LONGEST[Csr] = lambda rows: 1e30 if rows.data.itemsize == 4 else 1e280


# --------------------------------------------------------------------- all vectors of a feature, which lie side by side


@compiled(forceinline=True)
def _request_weights(W, j):
    """Prefetch the weights of feature j, which lie side by side; the hardware finds more than a few lines by itself."""
    line = CACHE_LINE_BYTES // W.itemsize
    for p in range(0, min(W.shape[0], LINES_AHEAD * line), line):
        _prefetch(W, j * W.shape[0] + p)


@compiled(forceinline=True)
def _dots_by_feature(data, indices, indptr, i, W, active, out):
    first, last = np.uint64(active[0]), np.uint64(active[active.size - 1] + 1)
    if last - first < FEW_VECTORS:
        for p in range(first, last):
            out[p] = _dot_csr(data, indices, indptr, i, W, p)
        return
    if SPREAD * active.size <= last - first:
        for a in range(active.size):
            out[active[a]] = _dot_csr(data, indices, indptr, i, W, np.uint64(active[a]))
        return
    for p in range(first, last):
        out[p] = 0.0
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    if W.size * W.itemsize > CACHED_WEIGHT_BYTES:
        for near in range(k, end):
            _request_weights(W, indices[near])
    while k + np.uint64(4) <= end:
        x0, x1, x2, x3 = data[k], data[k + np.uint64(1)], data[k + np.uint64(2)], data[k + np.uint64(3)]
        j0, j1 = np.uint64(indices[k]), np.uint64(indices[k + np.uint64(1)])
        j2, j3 = np.uint64(indices[k + np.uint64(2)]), np.uint64(indices[k + np.uint64(3)])
        for p in range(first, last):
            out[p] += (x0 * W[p, j0] + x1 * W[p, j1]) + (x2 * W[p, j2] + x3 * W[p, j3])
        k += np.uint64(4)
    while k < end:
        x0, j0 = data[k], np.uint64(indices[k])
        for p in range(first, last):
            out[p] += x0 * W[p, j0]
        k += np.uint64(1)


@compiled(forceinline=True)
def _shift_by_feature(data, indices, indptr, i, W, active, steps, which):
    first, last = np.uint64(active[0]), np.uint64(active[active.size - 1] + 1)
    moved = 0
    for p in range(first, last):
        moved += steps[which, p] != 0.0
    if moved == 0:
        return
    if SPREAD * moved <= last - first:
        for p in range(first, last):
            if steps[which, p] != 0.0:
                _add_csr(data, indices, indptr, i, steps[which, p], W, p)
                steps[which, p] = 0.0
        return
    k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    while k < end:
        x, j = data[k], np.uint64(indices[k])
        for p in range(first, last):
            W[p, j] += W.dtype.type(steps[which, p]) * x
        k += np.uint64(1)
    for p in range(first, last):
        steps[which, p] = 0.0


@compiled(forceinline=True)
def _finish_by_feature(data, indices, indptr, i, W, lag, active, steps):
    _shift_by_feature(data, indices, indptr, i, W, active, steps, 0)
    if lag.shape[1]:
        _shift_by_feature(data, indices, indptr, i, lag, active, steps, 1)


def _shift_later(rows, i, factor, W, p, steps):
    steps[0, p] = factor


@compiled()
def _score_by_feature(data, indices, indptr, subset, W, b, out):
    # Arrays, not structures: to take an array out of one for each row costs more than a short row.
    every, products = np.arange(b.size), np.empty(b.size, b.dtype)
    for t in range(out.shape[0]):
        i = subset[t] if subset.size else t
        _dots_by_feature(data, indices, indptr, i, W, every, products)
        for p in range(b.size):
            out[t, p] = products[p] + b[p]


BY_FEATURE["room_for_dots"] = lambda rows, W, b: np.empty(b.size, b.dtype)
BY_FEATURE["dots"] = lambda rows, i, W, active, out: _dots_by_feature(
    rows.data, rows.indices, rows.indptr, i, W, active, out
)
BY_FEATURE["product"] = lambda rows, i, W, p, out: out[p]
BY_FEATURE["room_for_steps"] = lambda rows, W: np.zeros((2, W.shape[0]))
BY_FEATURE["shift"] = _shift_later
BY_FEATURE["finish_shifts"] = lambda rows, i, W, lag, active, steps: _finish_by_feature(
    rows.data, rows.indices, rows.indptr, i, W, lag, active, steps
)
BY_FEATURE["score"] = lambda rows, subset, W, b, out: _score_by_feature(
    rows.data, rows.indices, rows.indptr, subset, W, b, out
)
