"""Columns of frames, texts and objects."""

import numpy as np
import pandas as pd
import pytest

from rosenblatt.data.texts import check_frame, read_values
from rosenblatt.errors import InvalidInput


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
