"""Spans and dependent columns, exactly."""

import numpy as np
import scipy.sparse as sp

from oracles import recession
from rosenblatt.data.table import as_table
from rosenblatt.prover.certificates import spans as module
from rosenblatt.prover.certificates.spans import dependencies, null_basis, spans, without
from rosenblatt.prover.exact.signed_rows import SignedRows


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
