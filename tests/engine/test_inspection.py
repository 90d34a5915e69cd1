"""What the inspection of rows finds, that it reads nothing outside its arrays, and sums of squares by column."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.engine.inspection import ENTRIES_PER_COUNT, inspect_csr, inspect_dense, survey_csr, survey_dense
from strategies import integer_sets


@given(integer_sets(), st.sampled_from([np.float32, np.float64]))
def test_the_largest_norm_and_no_fault_are_found_in_good_rows(data, dtype):
    X = data[0].astype(dtype)
    matrix = sp.csr_array(X)
    largest = (X * X).sum(1).max()
    assert inspect_dense(X) == (largest, -1)
    assert inspect_csr(matrix.data, matrix.indices, matrix.indptr, X.shape[1], -1.0) == (largest, -1, -1, -1)


@pytest.mark.parametrize("fault", [np.nan, np.inf, -np.inf, 1e200])
def test_the_first_row_that_is_not_finite_is_named(fault):
    X = np.ones((6, 3))
    X[2, 1] = X[4, 0] = fault
    X[5] = 7.0
    matrix = sp.csr_array(X)
    with np.errstate(over="ignore"):
        assert inspect_dense(X) == (147.0, 2)
        assert inspect_csr(matrix.data, matrix.indices, matrix.indptr, 3, -1.0) == (147.0, -1, 2, -1)


@pytest.mark.parametrize("fault", [np.nan, np.inf, 1e200])
def test_where_a_bound_of_the_norm_is_enough_faults_are_found_all_the_same(fault):
    X = np.ones((6, 3))
    parts = sp.csr_array(X)
    assert inspect_csr(parts.data, parts.indices, parts.indptr, 3, 18.0) == (18.0, -1, -1, -1)
    assert inspect_csr(parts.data, parts.indices, parts.indptr, 3, 17.0) == (3.0, -1, -1, -1)
    assert inspect_csr(parts.data, parts.indices, parts.indptr, 2, 18.0)[1] == 0
    X[2, 1] = fault
    parts = sp.csr_array(X)
    with np.errstate(over="ignore"):
        assert inspect_csr(parts.data, parts.indices, parts.indptr, 3, 1e280) == (3.0, -1, 2, -1)


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


@given(integer_sets())
def test_squares_and_values_are_counted_column_by_column(data):
    X, rows = data[0], np.arange(0, len(data[0]), 2)
    squares, counts = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    survey_dense(X, rows, squares, counts)
    np.testing.assert_array_equal(squares, (X[rows] ** 2).sum(axis=0))
    np.testing.assert_array_equal(counts, (X[rows] != 0).sum(axis=0))
    matrix, columns = sp.csr_array(X), np.zeros(X.size, np.int64)
    same, also = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    size = survey_csr(matrix.data, matrix.indices, matrix.indptr, rows, same, also, columns)
    assert (same.tolist(), also.tolist()) == (squares.tolist(), counts.tolist())
    assert sorted(columns[:size].tolist()) == np.flatnonzero(counts).tolist()
