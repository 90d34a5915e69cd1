"""What the verbs do with sparse rows."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given

from rosenblatt.compiled.scores import score
from rosenblatt.data.table import as_table
from rosenblatt.methods.method import as_hyperplanes
from rosenblatt.engine.rows import Dense, add, dot, entries, entry, row_count, square
from strategies import integer_sets


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


def test_weights_side_by_side_give_the_same_bits():
    random = np.random.default_rng(0)
    X, W = random.normal(size=(50, 70)), random.normal(size=(11, 70))
    X[random.random(X.shape) < 0.5] = 0.0
    rows, out = as_table(sp.csr_array(X)).rows, np.empty((2, 50, 11))
    for place, order in enumerate("CF"):
        score(rows, np.empty(0, np.int32), as_hyperplanes(np.asarray(W, order=order), np.zeros(11)), out[place])
    assert out[0].tobytes() == out[1].tobytes()


def test_weights_that_are_prefetched_are_used_alike():
    random = np.random.default_rng(2)
    X, W = sp.random(40, 30_000, 0.001, "csr", random_state=random), random.normal(size=(20, 30_000))
    X = sp.csr_array(sp.diags_array(np.arange(40.0) % 5) @ X)  # some rows are empty
    X.eliminate_zeros()
    assert W.nbytes > CACHED_WEIGHT_BYTES
    for subset in (np.empty(0, np.int32), random.permutation(40)[:25].astype(np.int32)):
        out = np.empty((2, subset.size or 40, 20))
        for place, order in enumerate("CF"):
            score(as_table(X).rows, subset, as_hyperplanes(np.asarray(W, order=order), np.zeros(20)), out[place])
        assert out[0].tobytes() == out[1].tobytes()
