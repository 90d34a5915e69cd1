"""Sums of squares by column."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given

from rosenblatt.engine.surveys import survey_csr, survey_dense
from strategies import integer_sets


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
