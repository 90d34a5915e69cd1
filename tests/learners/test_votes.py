"""Ballots are counted as a sum over vectors, written out, counts them."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.learners.voted_perceptron import cast_ballots, cast_sparse_ballots


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_dense_rows_have_the_ballots_of_each_vector(dtype):
    rng = np.random.default_rng(0)
    X = (rng.integers(-2, 3, (30, 11)) * (rng.random((30, 11)) < 0.6)).astype(dtype)
    V, bias = rng.integers(-2, 3, (7, 11)).astype(dtype), rng.integers(-2, 3, 7).astype(float)
    survived = rng.integers(1, 9, 7).astype(float)
    expected = [sum(s if w @ x + b > 0 else -s for w, b, s in zip(V, bias, survived, strict=True)) for x in X]
    dense, sparse, rows = np.full(30, 5.0), np.full(30, 5.0), sp.csr_array(X)
    cast_ballots(X @ V.T, bias, survived, dense)
    cast_sparse_ballots(rows.data, rows.indices, rows.indptr, np.ascontiguousarray(V.T), bias, survived, sparse)
    assert (dense - 5).tolist() == (sparse - 5).tolist() == expected
