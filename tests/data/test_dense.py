"""Dense rows by NumPy alone."""

import numpy as np
import pytest

from rosenblatt.data.dense import dense_values


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
