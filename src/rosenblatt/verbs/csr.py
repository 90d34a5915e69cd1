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


# ----------------------------------------------------------------------------------------------- pointers and vectors


# Loops over several vectors work on pointers, which have no reference counts. Of arrays Numba updates them several times
# a row where the code has branches, atomically, which takes longer than a short row.


@intrinsic
def _pointer(typing_context, array):
    """Return where the elements of an array lie, which must outlive it."""

    def emit(context, builder, signature, args):
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), emit


@intrinsic
def _prefetch(typing_context, array, k):
    """Prefetch the cache line that holds array[k]; a hint without effect on any value."""

    def emit(context, builder, signature, args):
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        hint = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, number, number, number]), "llvm.prefetch.p0"
        )
        address = builder.bitcast(builder.gep(args[0], [args[1]]), byte)
        builder.call(hint, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


class _Vectors:
    """Writes code for `width` weights of a feature that lie side by side: one LLVM value, so in registers."""

    def __init__(self, builder, context, signature, args):
        self.builder, self.context = builder, context
        self.data, self.indices, self.start, self.end, self.W, self.stride, self.p, self.other, self.place, _ = args
        kinds = signature.args
        self.kind, self.index, self.weight, self.width = kinds[0].dtype, kinds[1].dtype, kinds[4].dtype, kinds[9].literal_value
        self.other_kind = kinds[7].dtype
        self.wide = max(self.kind, self.weight, key=lambda kind: kind.bitwidth)  # the type of products and sums

    def cast(self, value, kind, wanted):
        """Return a number, or a vector of them, of another type."""
        if kind.bitwidth == wanted.bitwidth:
            return value
        to = self.context.get_value_type(wanted)
        to = ir.VectorType(to, self.width) if isinstance(value.type, ir.VectorType) else to
        return (self.builder.fpext if wanted.bitwidth > kind.bitwidth else self.builder.fptrunc)(value, to)

    def at(self, pointer, place):
        """Return the pointer to a vector that starts with an element."""
        kind = ir.VectorType(pointer.type.pointee, self.width).as_pointer()
        return self.builder.bitcast(self.builder.gep(pointer, [place]), kind)

    def load(self, pointer, place, kind):
        """Return that vector."""
        return self.builder.load(self.at(pointer, place), align=kind.bitwidth // 8)

    def store(self, value, pointer, place, kind):
        """Write that vector."""
        self.builder.store(value, self.at(pointer, place), align=kind.bitwidth // 8)

    def entry(self, k):
        """Return the value of an entry of the row, in all places of a vector; where its weights lie; and these."""
        builder, number = self.builder, ir.IntType(32)
        x = self.cast(builder.load(builder.gep(self.data, [k])), self.kind, self.wide)
        one = builder.insert_element(ir.Constant(ir.VectorType(x.type, self.width), ir.Undefined), x, number(0))
        x = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(number, self.width), [0] * self.width))
        j = self.context.cast(builder, builder.load(builder.gep(self.indices, [k])), self.index, types.intp)
        place = builder.add(builder.mul(j, self.stride), self.p)
        return x, place, self.cast(self.load(self.W, place, self.weight), self.weight, self.wide)

    def product(self, k):
        """Return the products of an entry with its weights."""
        x, _, weights = self.entry(k)
        return self.builder.fmul(x, weights)

    def dots(self):
        """Write the products of a row with vectors."""
        builder, start, end = self.builder, self.start, self.end
        whole = start.type
        total = cgutils.alloca_once_value(
            builder, ir.Constant(ir.VectorType(self.context.get_value_type(self.wide), self.width), None)
        )
        rest = builder.sub(end, builder.and_(builder.sub(end, start), whole(3)))
        with cgutils.for_range_slice(builder, start, rest, whole(4)) as (k, _):
            first, second, third, fourth = (self.product(builder.add(k, whole(n))) for n in range(4))
            added = builder.fadd(builder.fadd(first, second), builder.fadd(third, fourth))
            builder.store(builder.fadd(builder.load(total), added), total)
        with cgutils.for_range_slice(builder, rest, end, whole(1)) as (k, _):
            builder.store(builder.fadd(builder.load(total), self.product(k)), total)
        found = self.cast(builder.load(total), self.wide, self.other_kind)
        self.store(found, self.other, self.place, self.other_kind)

    def add(self):
        """Write the sum of vectors and multiples of a row."""
        builder = self.builder
        step = self.cast(self.load(self.other, self.place, self.other_kind), self.other_kind, self.weight)
        step = self.cast(step, self.weight, self.wide)
        with cgutils.for_range_slice(builder, self.start, self.end, self.start.type(1)) as (k, _):
            x, place, weights = self.entry(k)
            moved = builder.fadd(weights, builder.fmul(step, x))
            self.store(self.cast(moved, self.wide, self.weight), self.W, place, self.weight)


def _on_vectors(write):
    """Return an intrinsic for entries `start` to `end` of rows, by what writes its code."""

    def emit(context, builder, signature, args):
        write(_Vectors(builder, context, signature, args))
        return context.get_dummy_value()

    def typing(typing_context, data, indices, start, end, W, stride, p, other, place, width):
        whole = types.intp
        return types.void(data, indices, whole, whole, W, whole, whole, other, whole, width), emit

    return intrinsic(prefer_literal=True)(typing)


_dots_side = _on_vectors(_Vectors.dots)
_add_side = _on_vectors(_Vectors.add)


def _plain_prefetch(array, k):
    """Do nothing: interpreted code has no use for the hint."""


def _plain_pointer(array):
    """Return the elements of an array as they lie in memory."""
    return array.ravel("K")


def _plain_dots_side(data, indices, start, end, W, stride, p, out, place, width):
    """Compute products with W[p] and those after it, into `out` from `place` on."""
    for n in range(width):
        out[place + n] = _dot_csr(data, indices, (start, end), 0, W.reshape(-1, stride).T, p + n)


def _plain_add_side(data, indices, start, end, W, stride, p, steps, place, width):
    """Add the row, times `steps` from `place` on, to W[p] and those after it."""
    for n in range(width):
        _add_csr(data, indices, (start, end), 0, steps[place + n], W.reshape(-1, stride).T, p + n)


if DISABLE_JIT:
    _prefetch, _pointer, _dots_side, _add_side = _plain_prefetch, _plain_pointer, _plain_dots_side, _plain_add_side


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
        _prefetch(data, k)
    for k in range(start, end, indices_line):
        _prefetch(indices, k)


def _request_csr(rows, near, far):
    start, end = rows.indptr[near], rows.indptr[near + 1]
    data_line, indices_line = CACHE_LINE_BYTES // rows.data.itemsize, CACHE_LINE_BYTES // rows.indices.itemsize
    _prefetch(_pointer(rows.indptr), far)
    _request_entries(_pointer(rows.data), data_line, _pointer(rows.indices), indices_line, start, end)


@compiled(forceinline=True, fastmath=FASTMATH)
def _square_csr(data, indptr, i):
    total = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        value = np.float64(data[k])
        total += value * value
    return total


DOT[Csr] = lambda rows, i, W, p: _dot_csr(rows.data, rows.indices, rows.indptr, i, W, p)
ADD[Csr] = lambda rows, i, factor, W, p: _add_csr(rows.data, rows.indices, rows.indptr, i, factor, W, p)
REQUEST[Csr] = _request_csr
SQUARE[Csr] = lambda rows, i: _square_csr(rows.data, rows.indptr, i)
ENTRIES[Csr] = lambda rows, i: (rows.indptr[i], rows.indptr[i + 1])
ENTRY[Csr] = lambda rows, i, k: (rows.indices[k], rows.data[k])
ROW_COUNT[Csr] = lambda rows: rows.indptr.size - 1
LONGEST[Csr] = lambda rows: 1e30 if rows.data.itemsize == 4 else 1e280


# --------------------------------------------------------------------- all vectors of a feature, which lie side by side


# So many vectors at a time, then half as many, and so on. Their sums are in registers, and the widest are enough to hide
# that each entry of the row is read again.


@compiled(forceinline=True)
def _dots_by_feature(data, indices, start, end, W, stride, line, active, n_active, out):
    k, stop, p, last = np.intp(start), np.intp(end), active[0], active[n_active - 1] + 1
    if SPREAD * n_active <= last - p:
        for a in range(n_active):
            _dots_side(data, indices, k, stop, W, stride, active[a], out, active[a], 1)
        return
    if line:  # the hardware finds more than a few lines by itself
        for near in range(k, stop):
            for q in range(0, min(stride, LINES_AHEAD * line), line):
                _prefetch(W, np.intp(indices[near]) * stride + q)
    while p + 16 <= last:
        _dots_side(data, indices, k, stop, W, stride, p, out, p, 16)
        p += 16
    if p + 8 <= last:
        _dots_side(data, indices, k, stop, W, stride, p, out, p, 8)
        p += 8
    if p + 4 <= last:
        _dots_side(data, indices, k, stop, W, stride, p, out, p, 4)
        p += 4
    if p + 2 <= last:
        _dots_side(data, indices, k, stop, W, stride, p, out, p, 2)
        p += 2
    if p < last:
        _dots_side(data, indices, k, stop, W, stride, p, out, p, 1)


@compiled(forceinline=True)
def _shift_by_feature(data, indices, start, end, W, stride, active, n_active, steps):
    k, stop, first, last = np.intp(start), np.intp(end), active[0], active[n_active - 1] + 1
    moved = 0
    for p in range(first, last):
        moved += steps[p] != 0.0
    if moved == 0:
        return
    if SPREAD * moved <= last - first:
        for p in range(first, last):
            if steps[p] != 0.0:
                _add_side(data, indices, k, stop, W, stride, p, steps, p, 1)
                steps[p] = 0.0
        return
    p = first
    while p + 16 <= last:
        _add_side(data, indices, k, stop, W, stride, p, steps, p, 16)
        p += 16
    if p + 8 <= last:
        _add_side(data, indices, k, stop, W, stride, p, steps, p, 8)
        p += 8
    if p + 4 <= last:
        _add_side(data, indices, k, stop, W, stride, p, steps, p, 4)
        p += 4
    if p + 2 <= last:
        _add_side(data, indices, k, stop, W, stride, p, steps, p, 2)
        p += 2
    if p < last:
        _add_side(data, indices, k, stop, W, stride, p, steps, p, 1)
    for p in range(first, last):
        steps[p] = 0.0


def _dots(rows, i, W, active, out):
    data, indices, start, end = _pointer(rows.data), _pointer(rows.indices), rows.indptr[i], rows.indptr[i + 1]
    weights, stride, line = _pointer(W), W.shape[0], (W.size * W.itemsize > CACHED_WEIGHT_BYTES) * (CACHE_LINE_BYTES // W.itemsize)
    problems, n_active = _pointer(active), active.size
    _dots_by_feature(data, indices, start, end, weights, stride, line, problems, n_active, _pointer(out))


def _finish_shifts(rows, i, W, lag, active, steps):
    data, indices, start, end = _pointer(rows.data), _pointer(rows.indices), rows.indptr[i], rows.indptr[i + 1]
    W_, lag_, active_, n_active = _pointer(W), _pointer(lag), _pointer(active), active.size
    now, later, stride, averages = _pointer(steps[0]), _pointer(steps[1]), W.shape[0], lag.shape[1] > 0
    _shift_by_feature(data, indices, start, end, W_, stride, active_, n_active, now)
    if averages:
        _shift_by_feature(data, indices, start, end, lag_, stride, active_, n_active, later)


def _shift_later(rows, i, factor, W, p, steps):
    steps[0, p] = factor


def _score_by_feature(rows, subset, W, b, out):
    every, products = np.arange(b.size), np.empty(b.size, b.dtype)
    data, indices, indptr, weights = _pointer(rows.data), _pointer(rows.indices), _pointer(rows.indptr), _pointer(W)
    stride, line = W.shape[0], (W.size * W.itemsize > CACHED_WEIGHT_BYTES) * (CACHE_LINE_BYTES // W.itemsize)
    problems, n_problems, found = _pointer(every), b.size, _pointer(products)
    for t in range(out.shape[0]):
        i = subset[t] if subset.size else t
        _dots_by_feature(data, indices, indptr[i], indptr[i + 1], weights, stride, line, problems, n_problems, found)
        for p in range(n_problems):
            out[t, p] = products[p] + b[p]


BY_FEATURE["room_for_dots"] = lambda rows, W, b: np.empty(b.size, b.dtype)
BY_FEATURE["dots"] = _dots
BY_FEATURE["product"] = lambda rows, i, W, p, out: out[p]
BY_FEATURE["room_for_steps"] = lambda rows, W: np.zeros((2, W.shape[0]))
BY_FEATURE["shift"] = _shift_later
BY_FEATURE["finish_shifts"] = _finish_shifts
BY_FEATURE["score"] = _score_by_feature
