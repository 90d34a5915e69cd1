"""Sparse rows of several classes: the weights of a feature lie side by side, and all of them are used at once.

`run_classes` is `run_csr`, and `run_joint_classes` is `run_joint`, for weights in Fortran order. Each entry of a row
then touches as few cache lines as can be: worth a factor of 2 to 7 from some ten classes on. Everything that this takes
is in this file and used by no other loop: pointers, which have no reference counts, vectors of weights as LLVM has
them, and prefetching. The sums are made in the order of `dot_csr`, so that the layout of the weights changes no bit.

Nothing here checks bounds; `rosenblatt.data` validates each array before it arrives.
"""

import numpy as np

from rosenblatt.engine.epoch import LEAST_SCALE, fold, rate_at, write_down
from rosenblatt.engine.jit import DISABLE_JIT, compiled
from rosenblatt.engine.rows import U, sum_of_squares
from rosenblatt.engine.rules import leaves_mistakes, respond

# Rows ahead of the one in use whose weights are prefetched.
ROWS_AHEAD = 2
CACHE_LINE_BYTES = 64
# Lines of weights that are prefetched for each entry of a row, while earlier rows are multiplied. Weights of fewer
# bytes are in the caches of most machines, where asking for them takes a quarter of an epoch.
LINES_AHEAD = 16
CACHED_WEIGHT_BYTES = 1 << 22
# All weight vectors are multiplied at once unless the active problems are fewer than one in so many.
SPREAD = 8


# -------------------------------------------------------------------------------------------------- the epoch loops


@compiled(error_model="numpy")
def run_classes(rule, learner, rows, task, order, active, weights, into, counts, products, steps):
    """Present sparse rows to the `active` problems, as `run_csr` does, all problems of a row at once.

    `products` has room for a number for each problem, and `steps`, all zero, for two: of its weights and of its lag.
    """
    if into is None:
        into = weights
    source = weights.W
    W, b, seen, scale, _, _, scale_sum, lag, lag_b, _ = into
    trials = order.size if order.size else rows.indptr.size - 1
    for t in range(trials):
        i = order[t] if order.size else t
        soon = min(t + ROWS_AHEAD, trials - 1)
        soon = order[soon] if order.size else soon
        c = task.label[i]
        norm = dot_all(rows, i, soon, source, active, products) + task.bias
        for a in range(active.size):
            p = active[a]
            sign = task.sign[c, p]
            if sign == 0:
                continue
            score = weights.scale[p] * products[p] + weights.b[p]
            margin = 1.0 + score - task.target[i] if task.target.size else sign * score
            importance = task.cost[c, p] * task.sample_weight[i] if task.sample_weight.size else task.cost[c, p]
            rate = rate_at(learner, seen[p] + 1)
            step, loss = respond(rule, margin, norm, rate, importance, sign)
            if learner.l2 > 0.0:
                scale[p] *= max(0.0, 1.0 - rate * learner.l2)
                if scale[p] < LEAST_SCALE:
                    fold(W, scale, scale_sum, lag, p)
            if step != 0.0:
                factor, bias = sign * step / scale[p], sign * step * task.bias
                steps[0, p] = factor
                if learner.averaged:
                    steps[1, p] = scale_sum[p] * factor
                    lag_b[p] += seen[p] * bias
                b[p] += bias
                if learner.log.row.size:
                    write_down(learner.log, i, p, factor, seen[p])
                counts.mistakes[p] += not margin > 0.0 and not task.target.size
                counts.updates[p] += 1
                counts.loss[p] += loss
                counts.step[p] += step
            elif leaves_mistakes(rule) and not margin > 0.0 and importance > 0.0 and not task.target.size:
                counts.mistakes[p] += 1
                counts.loss[p] += loss
            seen[p] += 1
            if learner.averaged:
                scale_sum[p] += scale[p]
        add_all(rows, i, W, lag, active, steps)


@compiled(error_model="numpy")
def run_joint_classes(rule, learner, rows, task, order, weights, into, counts):
    """Present sparse rows to all classes at once, as `run_joint` does."""
    source = weights.W
    W, b, seen, scale, _, _, scale_sum, lag, lag_b, _ = into
    trials = order.size if order.size else rows.indptr.size - 1
    every, products, steps = np.arange(b.size), np.empty(b.size, b.dtype), np.zeros((2, b.size))
    for t in range(trials):
        i = order[t] if order.size else t
        soon = min(t + ROWS_AHEAD, trials - 1)
        soon = order[soon] if order.size else soon
        c = task.label[i]
        norm = 2.0 * (dot_all(rows, i, soon, source, every, products) + task.bias)
        own, best, wrong = 0.0, -np.inf, 0
        for k in range(b.size):
            score = weights.scale[k] * products[k] + weights.b[k]
            if k == c:
                own = score
            elif not score <= best:
                best, wrong = score, k
        margin = own - best
        rate = rate_at(learner, seen[0] + 1)
        importance = task.class_cost[c] * task.sample_weight[i] if task.sample_weight.size else task.class_cost[c]
        step, loss = respond(rule, margin, norm, rate, importance, 1)
        if learner.l2 > 0.0:
            for k in range(b.size):
                scale[k] *= max(0.0, 1.0 - rate * learner.l2)
                if scale[k] < LEAST_SCALE:
                    fold(W, scale, scale_sum, lag, k)
        if step != 0.0:
            for sign in (1, -1):
                k = c if sign > 0 else wrong
                factor, bias = sign * step / scale[k], sign * step * task.bias
                steps[0, k] = factor
                if learner.averaged:
                    steps[1, k] = scale_sum[k] * factor
                    lag_b[k] += seen[k] * bias
                b[k] += bias
                if learner.log.row.size:
                    write_down(learner.log, i, k, factor, seen[k])
            add_all(rows, i, W, lag, every, steps)
            counts.mistakes[0] += not margin > 0.0
            counts.updates[0] += 1
            counts.loss[0] += loss
            counts.step[0] += step
        elif leaves_mistakes(rule) and not margin > 0.0 and importance > 0.0:
            counts.mistakes[0] += 1
            counts.loss[0] += loss
        for k in range(b.size):
            seen[k] += 1
            if learner.averaged:
                scale_sum[k] += scale[k]


@compiled()
def score_classes(rows, subset, W, b, out):
    """Compute the scores of the rows of `subset` (empty: all), into out (rows, problems)."""
    products, every = np.empty(b.size, b.dtype), np.arange(b.size)
    n_rows = out.shape[0]
    for t in range(n_rows):
        i = subset[t] if subset.size else t
        soon = min(t + ROWS_AHEAD, n_rows - 1)
        soon = subset[soon] if subset.size else soon
        dot_all(rows, i, soon, W, every, products)
        for p in range(b.size):
            out[t, p] = products[p] + b[p]


# ----------------------------------------------------------------------------------------- all vectors of a row at once


@compiled(forceinline=True)
def dot_all(rows, i, soon, W, active, out):
    """Compute the products of row i with the active vectors; prefetch for row `soon`; return its squared norm."""
    k, end = np.intp(rows.indptr[i]), np.intp(rows.indptr[i + 1])
    data, indices, stride, n_active = pointer(rows.data), pointer(rows.indices), W.shape[0], active.size
    indptr, weights, problems = pointer(rows.indptr), pointer(W), pointer(active)
    line = (W.size * W.itemsize > CACHED_WEIGHT_BYTES) * (CACHE_LINE_BYTES // W.itemsize)
    _request_weights(indices, indptr, soon, weights, stride, line, problems[0], problems[n_active - 1] + 1)
    _dot_active(data, indices, k, end, weights, stride, problems, n_active, pointer(out))
    return sum_of_squares(data, U(k), U(end))  # never computed if the rule does not ask for it


@compiled(forceinline=True)
def add_all(rows, i, W, lag, active, steps):
    """Add row i to the active vectors, times the step of each, and to their lag; then no step waits."""
    k, end = np.intp(rows.indptr[i]), np.intp(rows.indptr[i + 1])
    data, indices, problems = pointer(rows.data), pointer(rows.indices), pointer(active)
    weights, lags, now, later = pointer(W), pointer(lag), pointer(steps[0]), pointer(steps[1])
    stride, n_active = W.shape[0], active.size
    _add_active(data, indices, k, end, weights, stride, problems, n_active, now)
    if lag.shape[1] > 0:
        _add_active(data, indices, k, end, lags, stride, problems, n_active, later)


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


# -------------------------------------------------------------------------------------------- averages of many weights


@compiled()
def average_all(W, scale_sum, lag, trials, out):
    """Compute (scale_sum W - lag) / trials, into `out`; the matrices are (features, problems)."""
    for j in range(W.shape[0]):
        for p in range(W.shape[1]):
            out[j, p] = (scale_sum[p] * W[j, p] - lag[j, p]) / trials[p]


@compiled()
def sum_squares(W, scale, lag, squares):
    """Add the squares of scale W - lag to the sum of each problem; an empty lag counts as zero."""
    if lag.shape[0] == 0:
        for j in range(W.shape[0]):
            for p in range(W.shape[1]):
                weight = scale[p] * W[j, p]
                squares[p] += weight * weight
    for j in range(lag.shape[0]):
        for p in range(W.shape[1]):
            weight = scale[p] * W[j, p] - lag[j, p]
            squares[p] += weight * weight


# ------------------------------------------------------------------------------------------ pointers, vectors, prefetch


def pointer(array):
    """Return the elements of an array as they lie in memory; compiled, their address.

    Numba counts references to arrays several times a row where the code has branches, atomically, which takes longer
    than a short row. An array must outlive its pointer.
    """
    return array.ravel("K")


def prefetch(array, k):
    """Prefetch the cache line that holds array[k]; a hint without effect on any value."""


def dot_vectors(data, indices, start, end, W, stride, p, out, width):
    """Compute the inner products of a row with W[p] and those after it, into out[p] and so on."""
    for q in range(p, p + width):
        products = [data[k] * W[indices[k] * stride + q] for k in range(start, end)]
        rest, total = len(products) % 4, np.result_type(data, W).type(0)
        for n in range(0, len(products) - rest, 4):
            total += (products[n] + products[n + 1]) + (products[n + 2] + products[n + 3])
        for one in products[len(products) - rest :]:
            total += one
        out[q] = total


def add_to_vectors(data, indices, start, end, W, stride, p, steps, width):
    """Add a row to W[p] and those after it, times steps[p] and so on."""
    for q in range(p, p + width):
        for k in range(start, end):
            W[indices[k] * stride + q] += W.dtype.type(steps[q]) * data[k]


if not DISABLE_JIT:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def pointer(typing_context, array):
        """Return the address of an array's elements."""

        def emit(context, builder, signature, args):
            return context.make_array(signature.args[0])(context, builder, args[0]).data

        return types.CPointer(array.dtype)(array), emit

    @intrinsic
    def prefetch(typing_context, array, k):
        """Prefetch the cache line that holds array[k]."""

        def emit(context, builder, signature, args):
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            address = builder.bitcast(builder.gep(args[0], [args[1]]), byte)
            builder.call(hint, [address, number(0), number(2), number(1)])
            return context.get_dummy_value()

        return types.void(array, types.intp), emit

    class _Vectors:  # pragma: no cover
        """Writes code for `width` weights of a feature that lie side by side: one LLVM value, so in registers."""

        def __init__(self, builder, context, signature, args):
            self.builder, self.context = builder, context
            self.data, self.indices, self.start, self.end, self.W, self.stride, self.p, self.other, _ = args
            kinds = signature.args
            self.kind, self.index, self.weight, self.other_kind = (kinds[n].dtype for n in (0, 1, 4, 7))
            self.width = kinds[8].literal_value
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
            self.store(found, self.other, self.p, self.other_kind)

        def add(self):
            """Write the sum of vectors and multiples of a row."""
            builder = self.builder
            step = self.cast(self.load(self.other, self.p, self.other_kind), self.other_kind, self.weight)
            step = self.cast(step, self.weight, self.wide)
            with cgutils.for_range_slice(builder, self.start, self.end, self.start.type(1)) as (k, _):
                x, place, weights = self.entry(k)
                moved = builder.fadd(weights, builder.fmul(step, x))
                self.store(self.cast(moved, self.wide, self.weight), self.W, place, self.weight)

    def _on_vectors(write):  # pragma: no cover
        """Return an intrinsic for a row, which is entries `start` to `end`, by what writes its code."""

        def emit(context, builder, signature, args):
            write(_Vectors(builder, context, signature, args))
            return context.get_dummy_value()

        def typing(typing_context, data, indices, start, end, W, stride, p, other, width):
            whole = types.intp
            return types.void(data, indices, whole, whole, W, whole, whole, other, width), emit

        return intrinsic(prefer_literal=True)(typing)

    dot_vectors = _on_vectors(_Vectors.dots)
    add_to_vectors = _on_vectors(_Vectors.add)
