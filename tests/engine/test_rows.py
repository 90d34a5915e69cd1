"""Rows, dense and sparse: what a loop does with one of them."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given

from rosenblatt.data.table import as_table
from rosenblatt.engine.rows import Dense, add, dot, entries, entry, longest, row_count, square
from strategies import integer_sets


@given(integer_sets())
def test_a_loop_does_with_a_row_what_numpy_does(data):
    X, i = data[0], len(data[0]) // 2
    rows, W = Dense(X), np.arange(2.0 * X.shape[1]).reshape(2, -1)
    assert dot(rows, i, W, 1) == X[i] @ W[1]
    assert square(rows, i) == X[i] @ X[i]
    first, last = entries(rows, i)
    assert [entry(rows, i, k) for k in range(first, last)] == list(enumerate(X[i]))
    assert row_count(rows) == len(X)
    moved = W.copy()
    add(rows, i, 3.0, moved, 1)
    assert moved.tolist() == [W[0].tolist(), (W[1] + 3.0 * X[i]).tolist()]


def test_a_row_may_be_longer_in_float64():
    assert longest(Dense(np.zeros((1, 1), np.float32))) < longest(Dense(np.zeros((1, 1))))


@given(integer_sets())
def test_a_sparse_row_is_used_as_the_dense_row_with_the_same_values(data):
    X, i = data[0], len(data[0]) // 2
    rows, dense, W = as_table(sp.csr_array(X)).rows, Dense(X), np.arange(2.0 * X.shape[1]).reshape(2, -1)
    assert dot(rows, i, W, 1) == dot(dense, i, W, 1)
    assert square(rows, i) == square(dense, i)
    assert row_count(rows) == row_count(dense)
    first, last = entries(rows, i)
    assert dict(entry(rows, i, k) for k in range(first, last)) == {j: x for j, x in enumerate(X[i]) if x}
    moved, wanted = W.copy(), W.copy()
    add(rows, i, 3.0, moved, 1)
    add(dense, i, 3.0, wanted, 1)
    assert moved.tolist() == wanted.tolist()
