"""Vectors of weights that lie side by side, as LLVM has them: by `pointers`, and nothing here checks bounds."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rosenblatt.jit import DISABLE_JIT


@intrinsic
def prefetch(typing_context, array, k):
    """Prefetch the cache line that holds array[k]; a hint without effect on any value."""

    def emit(context, builder, signature, args):
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        hint = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, number, number, number]), "llvm.prefetch.p0"
        )
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


def _plain_prefetch(array, k):
    """Do nothing: interpreted code has no use for the hint."""


def _plain_dot_vectors(data, indices, start, end, W, stride, p, out, width):
    """Compute the inner products of a row with W[p] and those after it, into out[p] and so on."""
    for q in range(p, p + width):
        products = [data[k] * W[indices[k] * stride + q] for k in range(start, end)]
        rest, total = len(products) % 4, np.result_type(data, W).type(0)
        for n in range(0, len(products) - rest, 4):
            total += (products[n] + products[n + 1]) + (products[n + 2] + products[n + 3])
        for one in products[len(products) - rest :]:
            total += one
        out[q] = total


def _plain_add_to_vectors(data, indices, start, end, W, stride, p, steps, width):
    """Add a row to W[p] and those after it, times steps[p] and so on."""
    for q in range(p, p + width):
        for k in range(start, end):
            W[indices[k] * stride + q] += W.dtype.type(steps[q]) * data[k]


if DISABLE_JIT:
    prefetch, dot_vectors, add_to_vectors = _plain_prefetch, _plain_dot_vectors, _plain_add_to_vectors
