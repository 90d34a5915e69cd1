"""What the inspection of rows finds, and that it reads nothing outside its arrays."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.engine.inspection import inspect_dense
from rosenblatt.engine.sparse import inspect_csr
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
