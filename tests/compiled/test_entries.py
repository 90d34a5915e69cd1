"""Entries are sorted by column, counted and added up as by plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.compiled import entries


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.integers(-1, 600), max_size=120), min_size=1, max_size=5), st.integers(0, 2**32))
def test_entries_are_sorted_and_added_up_in_order(rows, seed):
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    column = np.array([c for row in rows for c in row], np.int32)
    value = np.random.default_rng(seed).standard_normal(column.size)
    expected = []
    for i, row in enumerate(rows):
        found = {}
        for c, v in zip(row, value[indptr[i] : indptr[i + 1]].tolist(), strict=True):
            if c >= 0:
                found[c] = found[c] + v if c in found else v
        expected.append(sorted(found.items()))
    size = entries.add_columns(indptr, column, value, 10, np.empty(120), np.empty(240 + entries.PLACES, np.int64))
    assert size == indptr[-1]
    for i, row in enumerate(expected):
        span = slice(indptr[i], indptr[i + 1])
        assert list(zip(column[span].tolist(), value[span].tolist(), strict=True)) == row


@pytest.mark.parametrize("shape", ["hashes", "one bucket", "rising", "falling"])
def test_long_rows_are_sorted_whatever_their_columns(shape):
    random = np.random.default_rng(0)
    keys = {
        "hashes": random.integers(0, 1 << 18, 5000),
        "one bucket": random.integers(0, 64, 5000),
        "rising": np.arange(5000),
        "falling": np.arange(5000)[::-1],
    }[shape].astype(np.int32)
    indptr, value = np.array([0, 5000], np.int32), np.ones(5000)
    columns, counts = np.unique(keys, return_counts=True)
    column = keys.copy()
    size = entries.add_columns(indptr, column, value, 18, np.empty(5000), np.empty(10000 + entries.PLACES, np.int64))
    assert (column[:size].tolist(), value[:size].tolist()) == (columns.tolist(), counts.tolist())
    indptr, column = np.array([0, 5000], np.int32), keys.copy()
    rooms = np.empty(5000, np.int32), np.empty(5000 + entries.PLACES, np.int64), np.empty(63)
    size = entries.count_columns(indptr, column, value, 18, False, False, False, *rooms)
    assert (column[:size].tolist(), value[:size].tolist()) == (columns.tolist(), counts.tolist())
