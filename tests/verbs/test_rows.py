"""What the verbs do with dense rows."""

import numpy as np
import pytest
from hypothesis import given

from rosenblatt.engine.rows import Dense, add, best_wrong, dot, entries, entry, longest, row_count, square
from strategies import integer_sets


@given(integer_sets())
def test_a_verb_does_with_a_row_what_numpy_does(data):
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


@pytest.mark.parametrize(("c", "wanted"), [(0, (1.0, 5.0, 2)), (2, (5.0, 3.0, 1)), (1, (3.0, 5.0, 2))])
def test_the_best_wrong_class_is_the_best_of_the_others(c, wanted):
    W, b = np.array([[1.0], [2.0], [5.0]]), np.array([0.0, 1.0, 0.0])
    found = best_wrong(Dense(np.ones((1, 1))), 0, 0, c, W, b, np.ones(3), np.arange(3), b)
    assert found == wanted
