"""Dense rows by NumPy alone: arrays, frames, text and names of columns."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rosenblatt.data.matrices import check_frame, column_names, dense_values, read_values
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


def test_texts_and_objects_that_are_numbers_are_read():
    assert read_values(np.array([["1.5", "2"]])).tolist() == [[1.5, 2.0]]
    assert read_values(np.array([[1, True]], object)).tolist() == [[1.0, 1.0]]


def test_the_first_value_that_is_no_number_is_named_with_its_column():
    with pytest.raises(InvalidInput, match="Column 1 of X has 'red'"):
        read_values(np.array([["1", "2"], ["3", "red"]]))


def test_a_column_of_a_frame_is_named_by_its_name():
    check_frame(pd.DataFrame({"a": [1, 2], "b": ["3", "4"]}))
    with pytest.raises(InvalidInput, match="The column 'b' of X has 'red'"):
        check_frame(pd.DataFrame({"a": [1, 2], "b": ["3", "red"]}))
    with pytest.raises(InvalidInput, match=r"The column 'c' of X .* dates"):
        check_frame(pd.DataFrame({"c": pd.to_datetime(["2024-01-01"])}))


def test_frames_and_design_matrices_have_names():
    assert column_names(pd.DataFrame({"a": [1], "b": [2]})) == ("a", "b")
    assert column_names(pl.DataFrame({"a": [1], "b": [2]})) == ("a", "b")
    patsy = SimpleNamespace(design_info=SimpleNamespace(column_names=["Intercept", "age"]))
    assert column_names(patsy) == ("Intercept", "age")


def test_numbers_are_no_names():
    assert column_names(pd.DataFrame([[1, 2]])) == ()
    assert column_names(np.ones((1, 2))) == ()
    assert column_names([[1, 2]]) == ()
