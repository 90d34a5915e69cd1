"""Rows that are dicts: sorted by column, of known names or of new ones, finite."""

import copy
import pickle
from collections import OrderedDict
from types import MappingProxyType

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.training.named_rows import NamedColumns, is_dict

COLUMNS = {"a": 0, "b": 1, "c": 2}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entries_are_in_the_order_of_the_columns(dtype):
    values, indices = NamedColumns(COLUMNS).row({"c": 3, "a": True, "b": 2.5}, np.dtype(dtype))
    assert (np.frombuffer(values, dtype).tolist(), indices.tolist()) == ([1.0, 2.5, 3.0], [0, 1, 2])
    assert indices.dtype == np.int64
    row = NamedColumns(COLUMNS).table({"c": 3, "a": True, "b": 2.5}).rows
    assert (row.data.tolist(), row.indices.tolist(), row.indptr.tolist()) == ([1.0, 2.5, 3.0], [0, 1, 2], [0, 3])
    assert (row.data.dtype, row.indices.dtype, row.indptr.dtype) == (np.float64, np.int64, np.int64)


def test_a_row_may_be_empty_or_long():
    assert NamedColumns(COLUMNS).table({}).rows.indptr.tolist() == [0, 0]
    many = {str(i): i for i in range(5000)}
    assert NamedColumns(many).table(dict.fromkeys(reversed(many), 1.0)).rows.indices.tolist() == list(range(5000))


def test_an_unknown_name_has_no_row_and_can_be_left_out_or_added():
    columns, x = NamedColumns(COLUMNS), {"b": 1.0, "new": 2.0}
    assert columns.row(x, np.dtype(float)) is None
    assert columns.known_part(x) == {"b": 1.0}
    assert columns.table(x).rows.data.tolist() == [1.0]
    columns.add(x)
    assert columns == COLUMNS | {"new": 3}


def test_values_are_finite_numbers():
    columns = NamedColumns(COLUMNS)
    for use in (columns.table, columns.add, lambda x: columns.row(x, np.dtype(float))):
        with pytest.raises(InvalidInput, match="not a number"):
            use({"a": "text"})
    for value in (np.nan, np.inf, 1e200):
        for use in (columns.table, columns.add):
            with pytest.raises(InvalidInput, match="NaN, infinity or values whose square overflows"):
                use({"new": value, "a": value})
    assert columns == COLUMNS
    assert columns.table({"a": 3.0, "b": 4.0}).largest == 25.0


def test_a_stream_begins_with_a_name():
    with pytest.raises(InvalidInput, match="Begin with a row that has some"):
        NamedColumns().add({})


def test_columns_are_copied_without_the_layout_of_the_last_row():
    columns = NamedColumns(COLUMNS)
    columns.row({"a": 1.0}, np.dtype(float))
    assert columns.layout is not None
    for other in (pickle.loads(pickle.dumps(columns)), copy.deepcopy(columns)):
        assert (type(other), other, other.layout) == (NamedColumns, COLUMNS, None)


def test_any_mapping_is_a_dict():
    assert all(map(is_dict, ({}, OrderedDict(), MappingProxyType({}))))
    assert not any(map(is_dict, ([], np.zeros(2), "text")))
