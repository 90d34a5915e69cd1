"""Dense rows by NumPy alone."""

import numpy as np
import pytest

from rosenblatt.data.dense import dense_values, finite_values
from rosenblatt.errors import InvalidInput


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        ([[1, 2]], np.float64),
        (np.ones((1, 2), np.float16), np.float32),
        (np.ones((1, 2), ">f8"), np.float64),
        (np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.float64),
        ([["1", "2.5"]], np.float64),
    ],
    ids=["list", "float16", "big endian", "Fortran", "text"],
)
def test_whatever_reads_as_numbers_becomes_native_rows(given, dtype):
    values = dense_values(given)
    assert values.dtype == dtype
    assert values.dtype.isnative
    assert values.flags.c_contiguous
    assert np.array_equal(values, np.asarray(given, dtype=float))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_good_values_are_not_copied(dtype):
    X = np.ones((3, 2), dtype)
    assert finite_values(X) is X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], "Expected 2D array"),
        (np.empty((0, 2)), "0 sample"),
        ([[1.0], [np.nan]], "NaN .row 1"),
        ([[1.0], [2.0], [-np.inf]], "infinity .row 2"),
        ([["a"]], "Column 0 of X has 'a', which is not a number"),
        ([[1j]], "Complex data"),
    ],
    ids=["one dimension", "no rows", "NaN", "infinity", "text", "complex"],
)
def test_bad_values_get_a_sentence(X, message):
    with pytest.raises(InvalidInput, match=message):
        finite_values(X)
