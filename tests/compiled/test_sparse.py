"""What the inspection of sparse rows finds, and that it reads nothing outside its arrays."""

import numpy as np
import pytest

from rosenblatt.compiled.sparse import inspect_csr


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
