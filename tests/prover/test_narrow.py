"""Columns that depend on others are left out of wide rows, and the results hold on all columns."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import certify, verify
from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.exact.numbers import exact_table
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search import coordinates, verdict
from rosenblatt.prover.search.coordinates import CompactRows, narrowed, widened
from rosenblatt.prover.search.witness import Witness, separator


def low_rank(rng, n, d, rank):
    """Integers of that rank."""
    return (rng.integers(-3, 4, (n, rank)) @ rng.integers(-3, 4, (rank, d))).astype(float)


STORES = [np.asarray, sp.csr_array, lambda X: X / 8, lambda X: X.astype(int).astype(object)]


@pytest.mark.parametrize(
    ("classes", "n", "d", "store"), [*((2, 90, 1600, s) for s in STORES), (12, 600, 410, np.asarray)]
)
def test_low_rank_data_of_many_columns_are_decided(classes, n, d, store):
    rng = np.random.default_rng(classes)
    X, y = store(low_rank(rng, n, d, 3)), rng.integers(0, classes, n)
    certificate = certify(X, y, coefficients=False)
    assert certificate.verdict == "overlapping"
    assert verify(certificate, X, y)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_wide_data_of_contradictions_are_decided(store):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 1700))
    X, y = np.vstack([X, X]), np.repeat([0, 1], 12)
    certificate = certify(store(X), y, coefficients=False)
    assert certificate.verdict == "overlapping"
    assert verify(certificate, X, y)
    X[-1] += 1.0
    certificate = certify(store(X), y, coefficients=False)
    assert certificate.verdict == "quasi-separable"
    assert certificate.extreme == (11, 23)
    assert verify(certificate, X, y)


def test_a_dependent_column_that_a_row_breaks_is_kept():
    rng = np.random.default_rng(1)
    X = low_rank(rng, 60, 1600, 3)
    X[7, 1000] += 1
    signed = SignedRows(exact_table(X), np.arange(60) % 2, 2)
    rows = narrowed(signed, Deadline(None))
    assert rows.columns.size == 4
    assert np.linalg.matrix_rank(np.c_[X[:, rows.columns], np.ones(60)]) == np.linalg.matrix_rank(np.c_[X, np.ones(60)])


def test_rows_that_are_not_long_or_of_full_rank_stay_as_they_are(monkeypatch):
    rng = np.random.default_rng(2)
    assert narrowed(SignedRows(exact_table(low_rank(rng, 50, 20, 3)), np.arange(50) % 2, 2), Deadline(None)) is None
    monkeypatch.setattr(coordinates, "is_long", lambda signed: True)
    full = SignedRows(exact_table(rng.integers(-9, 10, (50, 20))), np.arange(50) % 2, 2)
    assert narrowed(full, Deadline(None)) is None
    low = SignedRows(exact_table(low_rank(rng, 50, 20, 3)), np.arange(50) % 2, 2)
    assert narrowed(low, Deadline(None)).columns.size == 3
    assert narrowed(low, Deadline(0.0)) is None  # no time for it


def test_a_witness_counts_only_if_it_holds_on_all_columns():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    signed = SignedRows(exact_table(X), np.array([0, 1, 1]), 2)
    rows = CompactRows(signed, columns=np.array([0]))
    assert widened(signed, rows, None) is None
    assert widened(signed, rows, Witness(None, [0, 1], [1, 1])) == Witness(None, [0, 1], [1, 1])
    assert widened(signed, rows, Witness(None, [0, 2], [1, 1])) is None  # equal in the first column only
    assert widened(signed, rows, separator(np.array([5.0, 6.0]))).w.tolist() == [5, 0, 6]


def test_a_verdict_counts_only_if_it_holds_on_all_columns(monkeypatch):
    monkeypatch.setattr(verdict, "is_long", lambda signed: True)
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    signed = SignedRows(exact_table(X), np.array([0, 1, 0, 1, 1]), 2)
    rows = CompactRows(signed, columns=np.array([0]))  # though the second does not depend on it
    witness = Witness(None, [0, 1], [1, 1])
    assert verdict._reduced_at_once(signed, witness, Deadline(None), rows) is None
    assert verdict.reduce(signed, witness, Deadline(None), rows).verdict == "quasi-separable"
