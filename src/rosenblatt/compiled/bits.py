"""Bytes of text, many at a time: a bit for each of 64, or eight as one number.

With the JIT off the functions run as they stand here; compiled, each is one or two instructions. None of them checks
bounds: the bytes must be there.
"""

import numpy as np

from rosenblatt.engine.rows import INLINED
from rosenblatt.jit import overload

AT_ONCE = 64  # bytes that have a bit each
U = np.uint64


def lowest_bit(bits):
    """Return the place of the lowest bit of a number, or 64 if it is zero."""
    return U((int(bits) & -int(bits)).bit_length() - 1) if bits else U(AT_ONCE)


def highest_bit(bits):
    """Return the place of the highest bit of a number that is not zero."""
    return U(int(bits).bit_length() - 1)


def bit_count(bits):
    """Return how many bits of a number are set."""
    return U(int(bits).bit_count())


def bits_between(text, i, low, high):
    """Return a number with a bit for each of the 64 bytes of a text from i on: whether it is in [low, high]."""
    part = text[int(i) : int(i) + AT_ONCE]
    return U(int.from_bytes(np.packbits((part >= low) & (part <= high), bitorder="little").tobytes(), "little"))


def eight_bytes(text, i):
    """Return the eight bytes of a text from i on as one number, the first of them lowest."""
    return U(int.from_bytes(text[int(i) : int(i) + 8].tobytes(), "little"))


# What Numba is to compile, and what is not covered with the JIT off. It is imported here, since this is called when it
# is in use anyway.


def _lowest_bit(bits):  # pragma: no cover
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def count(context, bits):
        return types.uint64(types.uint64), lambda context, builder, signature, values: builder.cttz(
            values[0], cgutils.false_bit
        )

    return lambda bits: count(bits)


def _highest_bit(bits):  # pragma: no cover
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def count(context, bits):
        return types.uint64(types.uint64), lambda context, builder, signature, values: builder.ctlz(
            values[0], cgutils.true_bit
        )

    return lambda bits: U(63) - count(bits)


def _bit_count(bits):  # pragma: no cover
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def count(context, bits):
        return types.uint64(types.uint64), lambda context, builder, signature, values: builder.ctpop(values[0])

    return lambda bits: count(bits)


def _address(context, builder, signature, values):  # pragma: no cover
    """Return where byte i of a text is."""
    data = context.make_array(signature.args[0])(context, builder, values[0]).data
    return builder.gep(data, [values[1]])


def _bits_between(text, i, low, high):  # pragma: no cover
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def compare(context, text, i, low, high):
        def generate(context, builder, signature, values):
            vector = ir.VectorType(ir.IntType(8), AT_ONCE)
            place = builder.bitcast(_address(context, builder, signature, values), vector.as_pointer())
            part = builder.load(place, align=1)
            one = [builder.insert_element(vector(ir.Undefined), value, ir.IntType(32)(0)) for value in values[2:]]
            everywhere = ir.Constant(ir.VectorType(ir.IntType(32), AT_ONCE), [0] * AT_ONCE)
            lows, highs = (builder.shuffle_vector(value, vector(ir.Undefined), everywhere) for value in one)
            inside = builder.icmp_unsigned("<=", builder.sub(part, lows), builder.sub(highs, lows))
            return builder.bitcast(inside, ir.IntType(AT_ONCE))

        return types.uint64(text, types.uint64, types.uint8, types.uint8), generate

    return lambda text, i, low, high: compare(text, U(i), np.uint8(low), np.uint8(high))


def _eight_bytes(text, i):  # pragma: no cover
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def load(context, text, i):
        def generate(context, builder, signature, values):
            place = builder.bitcast(_address(context, builder, signature, values), ir.IntType(64).as_pointer())
            return builder.load(place, align=1)

        return types.uint64(text, types.uint64), generate

    return lambda text, i: load(text, U(i))


overload(lowest_bit, jit_options=INLINED)(_lowest_bit)
overload(highest_bit, jit_options=INLINED)(_highest_bit)
overload(bit_count, jit_options=INLINED)(_bit_count)
overload(bits_between, jit_options=INLINED)(_bits_between)
overload(eight_bytes, jit_options=INLINED)(_eight_bytes)
