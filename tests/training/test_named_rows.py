"""Rows that are dicts: sorted by column, of known names or of new ones, finite."""

from collections import OrderedDict
from types import MappingProxyType

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.training.named_rows import add_names, check_finite, is_dict, known_part, named_row

COLUMNS = {"a": 0, "b": 1, "c": 2}
DOUBLE = np.dtype(np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entries_are_in_the_order_of_the_columns(dtype):
    row = named_row(COLUMNS, {"c": 3, "a": True, "b": 2.5}, np.dtype(dtype))
    assert (row.data.tolist(), row.indices.tolist(), row.indptr.tolist()) == ([1.0, 2.5, 3.0], [0, 1, 2], [0, 3])
    assert (row.data.dtype, row.indices.dtype, row.indptr.dtype) == (dtype, np.int64, np.int64)


def test_a_row_may_be_empty_or_long():
    assert named_row(COLUMNS, {}, DOUBLE).indptr.tolist() == [0, 0]
    many = {str(i): i for i in range(5000)}
    assert named_row(many, dict.fromkeys(reversed(many), 1.0), DOUBLE).indices.tolist() == list(range(5000))


def test_an_unknown_name_is_a_key_error_and_can_be_left_out_or_added():
    x = {"b": 1.0, "new": 2.0}
    with pytest.raises(KeyError):
        named_row(COLUMNS, x, DOUBLE)
    assert known_part(COLUMNS, x) == {"b": 1.0}
    columns = dict(COLUMNS)
    add_names(columns, x)
    assert columns == COLUMNS | {"new": 3}


def test_values_are_finite_numbers():
    with pytest.raises(InvalidInput, match="not a number"):
        named_row(COLUMNS, {"a": "text"}, DOUBLE)
    for value in (np.nan, np.inf, 1e200):
        with pytest.raises(InvalidInput, match="NaN, infinity or values whose square overflows"):
            check_finite(named_row(COLUMNS, {"a": value}, DOUBLE))
    assert check_finite(named_row(COLUMNS, {"a": 3.0, "b": 4.0}, DOUBLE)) == 25.0


def test_a_stream_begins_with_a_name():
    with pytest.raises(InvalidInput, match="Begin with a row that has some"):
        add_names({}, {})


def test_any_mapping_is_a_dict():
    assert all(map(is_dict, ({}, OrderedDict(), MappingProxyType({}))))
    assert not any(map(is_dict, ([], np.zeros(2), "text")))
