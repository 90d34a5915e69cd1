"""Sparse rows: the bodies of the verbs for rows stored by their nonzeros."""

import numpy as np

from rosenblatt.jit import compiled
from rosenblatt.verbs.pointers import pointer
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
    WEIGHTS_AHEAD,
    Csr,
)
from rosenblatt.verbs.vectors import add_to_vectors, dot_vectors, prefetch

CACHE_LINE_BYTES = 64
# Lines of weights that are prefetched for each entry of a sparse row, while earlier rows are multiplied. Weights of
# fewer bytes are in the caches of most machines, where asking for them takes a quarter of an epoch.
LINES_AHEAD = 16
CACHED_WEIGHT_BYTES = 1 << 22

# Weight vectors of a sparse row's features lie side by side where there are several. All of them are multiplied at once
# unless the active problems are fewer than one in so many.
SPREAD = 8


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
def _request_entries(data, data_line, indices, indices_line, start, end):
    for k in range(start, end, data_line):
        prefetch(data, k)
    for k in range(start, end, indices_line):
        prefetch(indices, k)


def _request_csr(rows, near, far):
    start, end = rows.indptr[near], rows.indptr[near + 1]
    data_line, indices_line = CACHE_LINE_BYTES // rows.data.itemsize, CACHE_LINE_BYTES // rows.indices.itemsize
    prefetch(pointer(rows.indptr), far)
    _request_entries(pointer(rows.data), data_line, pointer(rows.indices), indices_line, start, end)


@compiled(forceinline=True, fastmath=FASTMATH)
def _square_entries(data, start, end):
    total = 0.0
    for k in range(start, end):
        value = np.float64(data[k])
        total += value * value
    return total


@compiled(forceinline=True)
def _square_csr(data, indptr, i):
    return _square_entries(pointer(data), indptr[i], indptr[i + 1])


DOT[Csr] = lambda rows, i, W, p: _dot_csr(rows.data, rows.indices, rows.indptr, i, W, p)
ADD[Csr] = lambda rows, i, factor, W, p: _add_csr(rows.data, rows.indices, rows.indptr, i, factor, W, p)
REQUEST[Csr] = _request_csr
SQUARE[Csr] = lambda rows, i: _square_csr(rows.data, rows.indptr, i)
ENTRIES[Csr] = lambda rows, i: (rows.indptr[i], rows.indptr[i + 1])
ENTRY[Csr] = lambda rows, i, k: (rows.indices[k], rows.data[k])
ROW_COUNT[Csr] = lambda rows: rows.indptr.size - 1
LONGEST[Csr] = lambda rows: 1e30 if rows.data.itemsize == 4 else 1e280


# --------------------------------------------------------------------- all vectors of a feature, which lie side by side


# Sixteen vectors at a time, then half as many, and so on. Their sums are in registers, and sixteen are enough to hide
# that each entry of the row is read again.


@compiled(forceinline=True)
def _request_weights(indices, indptr, i, W, stride, line, p, last):
    """Prefetch weights from p to `last` of row i's features, of which a cache line has `line`; not if that is 0."""
    if line:
        for k in range(indptr[i], indptr[i + 1]):
            for q in range(p, min(last, p + LINES_AHEAD * line), line):
                prefetch(W, np.intp(indices[k]) * stride + q)


@compiled(forceinline=True)
def _dot_all(data, indices, k, end, W, stride, p, last, out):
    """Compute the inner products of a row, entries k to `end`, with the vectors from p to `last`."""
    while p + 16 <= last:
        dot_vectors(data, indices, k, end, W, stride, p, out, 16)
        p += 16
    if p + 8 <= last:
        dot_vectors(data, indices, k, end, W, stride, p, out, 8)
        p += 8
    if p + 4 <= last:
        dot_vectors(data, indices, k, end, W, stride, p, out, 4)
        p += 4
    if p + 2 <= last:
        dot_vectors(data, indices, k, end, W, stride, p, out, 2)
        p += 2
    if p < last:
        dot_vectors(data, indices, k, end, W, stride, p, out, 1)


@compiled(forceinline=True)
def _dot_active(data, indices, k, end, W, stride, active, n_active, out):
    p, last = active[0], active[n_active - 1] + 1
    if SPREAD * n_active > last - p:
        _dot_all(data, indices, k, end, W, stride, p, last, out)
    else:
        for a in range(n_active):
            dot_vectors(data, indices, k, end, W, stride, active[a], out, 1)


@compiled(forceinline=True)
def _add_active(data, indices, k, end, W, stride, active, n_active, steps):
    """Add a row to the vectors from the first to the last active one, times the step of each; then no step waits."""
    p, last = active[0], active[n_active - 1] + 1
    moved = 0
    for q in range(p, last):
        moved += steps[q] != 0.0
    if moved == 0:
        return
    if SPREAD * moved <= last - p:
        for q in range(p, last):
            if steps[q] != 0.0:
                add_to_vectors(data, indices, k, end, W, stride, q, steps, 1)
                steps[q] = 0.0
        return
    while p + 16 <= last:
        add_to_vectors(data, indices, k, end, W, stride, p, steps, 16)
        p += 16
    if p + 8 <= last:
        add_to_vectors(data, indices, k, end, W, stride, p, steps, 8)
        p += 8
    if p + 4 <= last:
        add_to_vectors(data, indices, k, end, W, stride, p, steps, 4)
        p += 4
    if p + 2 <= last:
        add_to_vectors(data, indices, k, end, W, stride, p, steps, 2)
        p += 2
    if p < last:
        add_to_vectors(data, indices, k, end, W, stride, p, steps, 1)
    for q in range(active[0], last):
        steps[q] = 0.0


def _dots(rows, i, soon, W, active, out):
    k, end = np.intp(rows.indptr[i]), np.intp(rows.indptr[i + 1])
    data, indices, stride, n_active = pointer(rows.data), pointer(rows.indices), W.shape[0], active.size
    indptr, weights, problems = pointer(rows.indptr), pointer(W), pointer(active)
    line = (W.size * W.itemsize > CACHED_WEIGHT_BYTES) * (CACHE_LINE_BYTES // W.itemsize)
    _request_weights(indices, indptr, soon, weights, stride, line, problems[0], problems[n_active - 1] + 1)
    _dot_active(data, indices, k, end, weights, stride, problems, n_active, pointer(out))
    return _square_entries(data, k, end)  # once for all problems; never computed if the rule does not ask for it


def _finish_shifts(rows, i, W, lag, active, steps):
    k, end = np.intp(rows.indptr[i]), np.intp(rows.indptr[i + 1])
    data, indices, problems = pointer(rows.data), pointer(rows.indices), pointer(active)
    weights, lags, now, later = pointer(W), pointer(lag), pointer(steps[0]), pointer(steps[1])
    stride, n_active, averages = W.shape[0], active.size, (lag.shape[1] > 0) & (steps.shape[0] == 2)
    _add_active(data, indices, k, end, weights, stride, problems, n_active, now)
    if averages:
        _add_active(data, indices, k, end, lags, stride, problems, n_active, later)


def _shift_later(rows, i, factor, W, p, steps):
    steps[0, p] = factor


def _score_by_feature(rows, subset, W, b, out):
    data, indices, weights = pointer(rows.data), pointer(rows.indices), pointer(W)
    stride, problems, products = W.shape[0], b.size, np.empty(b.size, b.dtype)
    line = (W.size * W.itemsize > CACHED_WEIGHT_BYTES) * (CACHE_LINE_BYTES // W.itemsize)
    n_rows, indptr = out.shape[0], pointer(rows.indptr)
    found = pointer(products)  # which outlives the loop, since it is read there
    for t in range(n_rows):
        i = subset[t] if subset.size else t
        soon = min(t + WEIGHTS_AHEAD, n_rows - 1)
        soon = subset[soon] if subset.size else soon
        _request_weights(indices, indptr, soon, weights, stride, line, 0, problems)
        k, end = np.intp(rows.indptr[i]), np.intp(rows.indptr[i + 1])
        _dot_all(data, indices, k, end, weights, stride, 0, problems, found)
        for p in range(problems):
            out[t, p] = products[p] + b[p]


BY_FEATURE["room_for_dots"] = lambda rows, W, b: np.empty(b.size, b.dtype)
BY_FEATURE["dots"] = _dots
BY_FEATURE["product"] = lambda rows, i, W, p, out: out[p]
BY_FEATURE["room_for_steps"] = lambda rows, W: np.zeros((2, W.shape[0]))
BY_FEATURE["shift"] = _shift_later
BY_FEATURE["finish_shifts"] = _finish_shifts
BY_FEATURE["score"] = _score_by_feature
