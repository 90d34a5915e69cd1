"""Equal rows of different classes are found by their hashes, and only equal ones are."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.prover.exact.clock import Clock, OutOfTime
from rosenblatt.prover.exact.numbers import exact_table
from rosenblatt.prover.search import equal_rows


def contradiction(X, label):
    return equal_rows.contradiction(exact_table(X), np.array(label), Clock(None))


@pytest.mark.parametrize("store", [np.array, sp.csr_array, lambda X: np.array(X, np.float32)])
def test_equal_rows_of_different_classes_are_found(store):
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, d = int(rng.integers(2, 30)), int(rng.integers(1, 4))
        X, label = rng.integers(0, 3, (n, d)).astype(float), rng.integers(0, 3, n)
        found = contradiction(store(X), label)
        pairs = [(i, j) for j in range(n) for i in range(j) if (X[i] == X[j]).all() and label[i] != label[j]]
        assert (found is None) == (not pairs)
        assert found is None or found in pairs


def test_zeros_have_no_sign_and_need_not_be_stored():
    assert contradiction(np.array([[0.0, 1.0], [-0.0, 1.0]]), [0, 1]) == (0, 1)
    stored = sp.csr_array(([0.0, 1.0, -0.0, 1.0], [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    assert contradiction(stored, [0, 1]) == (0, 1)
    missing = sp.csr_array(([0.0, 1.0, 1.0], [0, 1, 1], [0, 2, 3]), shape=(2, 2))
    assert contradiction(missing, [0, 1]) == (0, 1)


def test_rows_that_only_floats_take_for_equal_are_different():
    assert contradiction(np.array([[2**53], [2**53 + 1]]), [0, 1]) is None
    assert contradiction([[Fraction(1, 3)], [Fraction(2, 6)]], [0, 1]) == (0, 1)


def test_a_collision_of_hashes_is_no_contradiction(monkeypatch):
    monkeypatch.setattr(equal_rows, "_hashes", lambda table, clock: np.zeros(table.shape[0], np.uint64))
    assert contradiction(np.array([[1.0], [2.0], [3.0]]), [0, 1, 0]) is None
    assert contradiction(np.array([[1.0], [2.0], [1.0]]), [0, 1, 1]) == (0, 2)


def test_hashing_looks_at_the_clock():
    with pytest.raises(OutOfTime):
        equal_rows.contradiction(exact_table(np.eye(3)), np.arange(3), Clock(-1.0))


def test_equal_rows_of_several_classes_are_paired_with_the_first():
    X = np.array([[1.0], [2.0], [1.0], [1.0], [2.0], [3.0], [1.0]])
    pairs = equal_rows.contradictions(exact_table(X), np.array([0, 1, 2, 1, 0, 2, 1]), Clock(None))
    assert sorted(pairs) == [(0, 2), (0, 3), (1, 4)]
