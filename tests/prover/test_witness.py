"""Witnesses hold exactly or are not given."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from rosenblatt.data.table import as_table
from rosenblatt.prover.exact.clock import Deadline, OutOfTime
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.witness import (
    as_floats,
    as_fractions,
    as_vector,
    counts_to_multipliers,
    integer_matrix,
    multipliers_to_counts,
    separates,
    vanishing_sum,
)
from strategies import integer_sets

XOR = SignedRows(as_table(np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)), np.array([0, 1, 1, 0]), 2)
OR = SignedRows(as_table(np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)), np.array([0, 1, 1, 1]), 2)


def test_separators_are_checked_exactly():
    assert separates(OR, np.array([2.0, 2.0, -1.0]))
    assert not separates(OR, np.array([1.0, 1.0, 0.0]))  # zero on the first corner
    assert not separates(OR, np.array([1.0, 1.0, np.nan]))


def test_a_sum_vanishes_with_positive_counts_or_there_is_none():
    witness = vanishing_sum(XOR, [0, 1, 2, 3], Deadline(None))
    assert (witness.w, witness.support, witness.counts) == (None, [0, 1, 2, 3], [1, 1, 1, 1])
    assert vanishing_sum(XOR, [0, 1, 2], Deadline(None)) is None
    assert vanishing_sum(OR, [0, 1, 2, 3], Deadline(None)) is None  # the rows depend, with a negative count
    with pytest.raises(OutOfTime):
        vanishing_sum(XOR, [0, 1, 2, 3], Deadline(-1.0))


@given(integer_sets(most_rows=8))
def test_counts_and_multipliers_are_of_the_same_sum(data):
    X, label = data
    signed = SignedRows(as_table(X / 6), label, 2)
    ids = list(range(signed.n))
    multipliers = [i + 1 for i in ids]
    counts = multipliers_to_counts(signed, ids, multipliers)
    assert counts_to_multipliers(signed, ids, counts) == multipliers
    sums = [
        sum(c * row.get(j, 0) for c, row in zip(counts, (signed.integers(i)[0] for i in ids), strict=True))
        for j in range(signed.width)
    ]
    exact = [sum(m * Fraction(v) for m, v in zip(multipliers, column, strict=True)) for column in signed.gather(ids).T]
    # One positive factor for all columns.
    assert all(a * d == b * c for a, b in zip(sums, exact, strict=True) for c, d in zip(sums, exact, strict=True))


def test_matrices_have_the_columns_that_occur():
    sparse = SignedRows(as_table(np.array([[0, 0, 0.5], [0, 3, 0]])), np.array([0, 1]), 2)
    assert integer_matrix(sparse, [0, 1]) == [[0, -1, -2], [3, 0, 1]]


def test_integers_of_any_length_become_floats_or_fractions():
    w = [3**2000, -(3**1999), 0]
    assert np.allclose(as_floats(w)[1] / as_floats(w)[0], -1 / 3)
    assert 0.5 <= as_floats(w)[0] <= 1.0
    fractions = as_fractions(w)
    assert fractions[0] == -3 * fractions[1]
    assert abs(fractions[0]) < 2**501
    assert as_vector([1, -2]) == (Fraction(1), Fraction(-2))
    assert as_vector(np.array([0.5, 2.0])) == (0.5, 2.0)
