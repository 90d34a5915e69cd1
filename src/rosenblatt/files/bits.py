"""Bits of numbers of 64 bits, counted and found by arithmetic that LLVM knows and turns into one instruction."""

import numpy as np

from rosenblatt.engine.jit import compiled

U = np.uint64
_ones, _twos, _fours = U(0x5555555555555555), U(0x3333333333333333), U(0x0F0F0F0F0F0F0F0F)  # every other 1, 2, 4 bits
_bytes = U(0x0101010101010101)


@compiled()
def bit_count(bits):
    """Return how many bits of a number are set."""
    bits = bits - (bits >> U(1) & _ones)
    bits = (bits & _twos) + (bits >> U(2) & _twos)
    return (bits + (bits >> U(4)) & _fours) * _bytes >> U(56)


@compiled()
def lowest_bit(bits):
    """Return the place of the lowest bit of a number, or 64 if it is zero."""
    return bit_count(~bits & bits - U(1))
