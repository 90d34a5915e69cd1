"""Bits are counted and found as in the binary digits of a number."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt.files.bits import bit_count, lowest_bit


@given(st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 63).map(lambda place: 1 << place)))
@example(0)
@example(2**64 - 1)
def test_bits_are_those_of_the_binary_digits(number):
    digits = f"{number:064b}"
    assert bit_count(np.uint64(number)) == digits.count("1")
    assert lowest_bit(np.uint64(number)) == (63 - digits.rindex("1") if number else 64)
