"""What counts as a number in a parameter."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from rosenblatt.data.numbers import is_real, is_too_large, is_whole

WHOLE = [0, -3, 2**70, np.int8(1), np.uint64(5)]
REAL = [1.5, float("nan"), float("inf"), np.float32(1), np.float64(2), Fraction(1, 3)]
NEITHER = [True, np.True_, "1", None, 1j, Decimal(1), [1], np.array(1), np.array([1])]


@pytest.mark.parametrize("value", WHOLE, ids=repr)
def test_whole_numbers_are_real_too(value):
    assert is_whole(value)
    assert is_real(value)


@pytest.mark.parametrize("value", REAL, ids=repr)
def test_other_numbers_are_real_only(value):
    assert not is_whole(value)
    assert is_real(value)


@pytest.mark.parametrize("value", NEITHER, ids=repr)
def test_booleans_texts_and_arrays_are_no_numbers(value):
    assert not is_whole(value)
    assert not is_real(value)


@pytest.mark.parametrize("value", [10**400, -(1 << 1024)])
def test_a_whole_number_that_no_float_holds_is_not_real(value):
    assert is_whole(value)
    assert is_too_large(value)
    assert not is_real(value)
    assert not is_too_large(10**300)


def test_the_border_is_where_floats_end():
    border = 2**1024 - 2**970
    assert is_real(border - 1)
    assert float(border - 1) == np.finfo(float).max
    assert not is_real(border)
    with pytest.raises(OverflowError):
        float(border)


def test_a_fraction_that_no_float_holds_is_not_real():
    assert not is_real(Fraction(10**400, 3))
    assert is_real(Fraction(10**400, 10**399))
