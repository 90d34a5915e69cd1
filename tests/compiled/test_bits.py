"""Bits of bytes are the same compiled as in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.compiled import bits
from rosenblatt.jit import compiled


@compiled()
def _between(text, i, low, high):
    return bits.bits_between(text, i, low, high)


@compiled()
def _eight(text, i):
    return bits.eight_bytes(text, i)


@compiled()
def _lowest(number):
    return bits.lowest_bit(number)


@compiled()
def _places(number):
    return bits.lowest_bit(number), bits.highest_bit(number), bits.bit_count(number)


TEXT = np.random.default_rng(0).integers(0, 256, 200).astype(np.uint8)


@pytest.mark.parametrize("i", [0, 1, 63, 64, 136])
@pytest.mark.parametrize(("low", "high"), [(48, 57), (9, 10), (0, 255), (128, 255), (95, 95), (0, 0)])
def test_a_bit_says_whether_a_byte_is_between_two_others(i, low, high):
    expected = sum((low <= byte <= high) << k for k, byte in enumerate(TEXT[i : i + 64].tolist()))
    assert bits.bits_between(TEXT, i, low, high) == expected
    assert _between(TEXT, i, low, high) == expected


@pytest.mark.parametrize("i", [0, 3, 192])
def test_eight_bytes_are_a_number_with_the_first_one_lowest(i):
    expected = sum(byte << 8 * k for k, byte in enumerate(TEXT[i : i + 8].tolist()))
    assert bits.eight_bytes(TEXT, i) == expected
    assert _eight(TEXT, i) == expected


@given(st.integers(1, 2**64 - 1))
def test_places_and_number_of_bits_are_those_of_the_binary_digits(number):
    digits = f"{number:b}"
    expected = (len(digits) - 1 - digits.rindex("1"), len(digits) - 1, digits.count("1"))
    value = np.uint64(number)
    assert (bits.lowest_bit(value), bits.highest_bit(value), bits.bit_count(value)) == expected
    assert _places(value) == expected


def test_zero_has_no_lowest_bit():
    assert bits.lowest_bit(np.uint64(0)) == _lowest(np.uint64(0)) == bits.AT_ONCE
