"""Columns on which all others depend, against elimination in fractions."""

import numpy as np
import pytest

from rosenblatt.prover.exact import ranks
from rosenblatt.prover.exact.ranks import spanning_columns
from rosenblatt.prover.exact.rational import _eliminate


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
    monkeypatch.setattr(ranks, "array_pivots", lambda values: hidden)
    assert spanning_columns(A) is None


def test_a_proof_that_would_take_hours_is_not_begun(monkeypatch):
    A = np.outer([1, 2, 3], [1, 2])
    assert spanning_columns(A) == [0]
    monkeypatch.setattr(ranks, "MAX_PRODUCTS", 1)
    assert spanning_columns(A) is None


def test_equal_rows_count_once(monkeypatch):
    monkeypatch.setattr(ranks, "MAX_PRODUCTS", 1)  # so that only the number of rows can be the proof
    A = np.array([[1, 2, 3], [4, 5, 7], [1, 2, 3], [4, 5, 7]])
    assert spanning_columns(A) == [0, 1]
    assert spanning_columns(A.astype(object)) == [0, 1]
