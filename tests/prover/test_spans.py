"""Spans and dependent columns, exactly."""

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import recession
from rosenblatt.data.table import as_table
from rosenblatt.prover.exact import spans as module
from rosenblatt.prover.exact.rational import _eliminate
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.exact.spans import dependencies, null_basis, spanning_columns, spans, without


def rows_of(X, label, classes=2):
    return SignedRows(as_table(X), np.array(label), classes)


def test_a_row_that_leaves_the_span_by_the_last_bit_is_noticed(monkeypatch):
    X = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [3.0, np.nextafter(3.0, 4)]])
    for data in (X, sp.csr_array(X)):
        signed = rows_of(data, [0, 1, 0, 1])
        assert spans(signed, [0, 1], np.array([0, 1, 2]))
        assert not spans(signed, [0, 1], np.array([0, 1, 3]))
        with monkeypatch.context() as patch:  # the other way to multiply
            patch.setattr(module, "MAX_SINGLE_PRODUCTS", 0)
            assert spans(signed, [0, 1], np.array([0, 1, 2]))
            assert not spans(signed, [0, 1], np.array([0, 1, 3]))


def test_columns_that_no_row_touches_do_not_count():
    X = sp.csr_array(([1.0, 1.0, 5.0], ([0, 1, 2], [3, 3, 7])), shape=(3, 100_000))
    signed = rows_of(X, [0, 1, 1])
    assert spans(signed, [0, 1], np.array([0, 1]))
    assert not spans(signed, [0, 1], np.array([0, 1, 2]))


def test_dependent_columns_are_those_of_an_elimination_from_the_left():
    rng = np.random.default_rng(1)
    for k in range(150):
        n, d, classes = int(rng.integers(2, 30)), int(rng.integers(1, 6)), 2 + k % 2
        X = rng.integers(-1, 2, (n, d)).astype(float)
        if k % 3 == 0:
            X[:, -1] = X[:, 0] * 2 - 1
        signed = rows_of(sp.csr_array(X) if k % 2 else X, [i % classes for i in range(n)], classes)
        found = dependencies(signed)
        assert set(found) == recession.dependent(X.tolist())
        for j, relation in found.items():
            assert not (np.c_[X, np.ones(n)] @ np.array(relation, float)).any()
            assert relation[j]
            assert not any(relation[j + 1 : -1])


def test_weights_without_dependent_columns_have_the_same_margins():
    X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 9.0], [0.0, 7.0, 7.0], [1.0, 1.0, 2.0]])
    found = dependencies(rows_of(X, [0, 1, 0, 1]))
    w = without([1, 2, 3, 4], found, 4)
    assert w[2] == 0
    assert (np.c_[X, np.ones(4)] @ np.array(w, float)).tolist() == (np.c_[X, np.ones(4)] @ [1, 2, 3, 4]).tolist()


def test_a_null_basis_vanishes_on_its_rows():
    X = np.array([[1.0, 2.0], [0.5, 0.25]])
    [vector] = null_basis(rows_of(X, [0, 1]), [0, 1], [0, 1, 2])
    assert not (np.c_[X, np.ones(2)] @ np.array(vector, float)).any()


@pytest.mark.parametrize("bits", [2, 20, 53, 80])
@pytest.mark.parametrize(("m", "n", "rank"), [(20, 15, 4), (9, 30, 9), (40, 20, 19), (16, 16, 1), (30, 14, 14)])
def test_the_columns_are_those_of_an_exact_elimination(bits, m, n, rank):
    rng = np.random.default_rng(m)
    left = rng.integers(-3, 4, (m, rank)).astype(object)
    right = (rng.integers(-(1 << min(bits, 50)), 1 << min(bits, 50), (rank, n))).astype(object) << max(0, bits - 50)
    A = left @ right
    A = A.astype(np.int64) if bits < 50 else A
    assert spanning_columns(A) == _eliminate(A.tolist(), n)[3]


def test_no_column_is_needed_where_all_are_zero():
    assert spanning_columns(np.zeros((3, 2), np.int64)) == []


def test_a_rank_that_the_first_primes_hide_is_not_taken_for_proved(monkeypatch):
    A = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 3]])  # of rank 3
    hidden = ([0, 1], [0, 1])
    monkeypatch.setattr(module, "array_pivots", lambda values: hidden)
    assert spanning_columns(A) is None


def test_a_proof_that_would_take_hours_is_not_begun(monkeypatch):
    A = np.outer([1, 2, 3], [1, 2])
    assert spanning_columns(A) == [0]
    monkeypatch.setattr(module, "MAX_PRODUCTS", 1)
    assert spanning_columns(A) is None


def test_equal_rows_count_once(monkeypatch):
    monkeypatch.setattr(module, "MAX_PRODUCTS", 1)  # so that only the number of rows can be the proof
    A = np.array([[1, 2, 3], [4, 5, 7], [1, 2, 3], [4, 5, 7]])
    assert spanning_columns(A) == [0, 1]
    assert spanning_columns(A.astype(object)) == [0, 1]
