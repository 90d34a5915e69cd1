"""What the inspection of sparse rows finds, and that it reads nothing outside its arrays."""

import numpy as np
import pytest

from rosenblatt.engine.sparse import ENTRIES_PER_COUNT, inspect_csr


@pytest.mark.parametrize(
    ("column", "found"), [(-1, (1, -1, -1)), (3, (1, -1, 1)), (0, (-1, -1, -1)), (2, (-1, -1, 1))], ids=str
)
def test_columns_out_of_range_and_out_of_order_are_named_by_their_row(column, found):
    data, indptr = np.ones(5), np.array([0, 2, 4, 5])
    indices = np.array([0, 1, 0, 1, 2])
    indices[2] = column
    assert inspect_csr(data, indices, indptr, 3, -1.0)[1:] == found


def test_a_repeated_column_is_out_of_order():
    assert inspect_csr(np.ones(2), np.array([1, 1]), np.array([0, 2]), 3, -1.0)[1:] == (-1, -1, 0)


def test_empty_rows_are_fine():
    assert inspect_csr(np.ones(0), np.ones(0, np.int32), np.zeros(4, np.int32), 3, -1.0) == (0.0, -1, -1, -1)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("place", [1, ENTRIES_PER_COUNT - 1, ENTRIES_PER_COUNT, ENTRIES_PER_COUNT + 1, -1])
def test_a_fault_is_found_wherever_it_is(index, place):
    size = 2 * ENTRIES_PER_COUNT + 3
    data, indptr = np.ones(size), np.array([0, 0, ENTRIES_PER_COUNT + 2, size, size], index)
    indices = np.concatenate([np.arange(n) for n in np.diff(indptr)]).astype(index)
    assert inspect_csr(data, indices, indptr, size, -1.0)[1:] == (-1, -1, -1)
    row = int(np.searchsorted(indptr, place % size, "right")) - 1
    for wrong, found in ((-1, (row, -1, row)), (indices[place - 1], (-1, -1, row)), (size, (row, -1, -1))):
        damaged = indices.copy()
        damaged[place] = wrong
        outside, infinite, disorder = inspect_csr(data, damaged, indptr, size, -1.0)[1:]
        assert (outside, infinite) == found[:2]
        assert disorder in (found[2], row)
