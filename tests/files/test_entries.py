"""Entries are sorted by column, counted and added up as by plain Python."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rosenblatt.files import entries
from rosenblatt.files.entries import bit_count, lowest_bit


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
    rooms = np.empty(5000, np.int32), np.empty(5000 + entries.PLACES, np.int64), np.empty(64)
    size = entries.count_columns(indptr, column, value, 18, False, False, False, *rooms)
    assert (column[:size].tolist(), value[:size].tolist()) == (columns.tolist(), counts.tolist())


def counted(rows, how, bits):
    """Return what both ways to count make of rows."""
    found = []
    for marked in (False, True):
        indptr = np.cumsum([0, *map(len, rows)]).astype(np.int32)
        column = np.array([c for row in rows for c in row], np.int32)
        value, longest = np.empty(column.size), max(map(len, rows))
        if marked:
            marks = np.zeros(entries.GROUPS + entries.MARKS, np.uint64), np.empty(entries.MARKS + 4, np.uint64)
            rooms = *marks, np.zeros(1 << bits, np.uint16), np.empty(64)
            size = entries.count_marked(indptr, column, value, *how, *rooms)
            assert not rooms[0].any()
            assert not rooms[2].any()
        else:
            rooms = np.empty(longest, np.int32), np.empty(longest + entries.PLACES, np.int64), np.empty(64)
            size = entries.count_columns(indptr, column, value, bits, *how, *rooms)
        found.append((indptr.tolist(), column[:size].tolist(), value[:size].tobytes()))
    return found


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(st.one_of(st.integers(0, 100), st.integers(0, 2**18 - 1)), max_size=300), min_size=1, max_size=5),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_columns_that_are_marked_are_counted_as_those_that_are_sorted_to_the_last_bit(rows, how):
    sorted_ones, marked = counted(rows, how, 18)
    assert sorted_ones == marked


@pytest.mark.parametrize("bits", [1, 5, 6, 7, 12, 13, 18])
def test_counts_of_few_columns_and_of_all_columns_are_the_same_when_marked(bits):
    random = np.random.default_rng(bits)
    rows = [random.integers(0, 1 << bits, 5000).tolist(), [], np.arange(1 << bits).tolist()[:60000], [0] * 1000]
    for how in ((True, False, True), (False, False, True), (False, True, False)):
        sorted_ones, marked = counted(rows, how, bits)
        assert sorted_ones == marked


@given(st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 63).map(lambda place: 1 << place)))
@example(0)
@example(2**64 - 1)
def test_bits_are_those_of_the_binary_digits(number):
    digits = f"{number:064b}"
    assert bit_count(np.uint64(number)) == digits.count("1")
    assert lowest_bit(np.uint64(number)) == (63 - digits.rindex("1") if number else 64)
