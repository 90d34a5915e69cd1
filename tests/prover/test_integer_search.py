"""Wolfe's algorithm on integers against floats and fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import exact_lp
from rosenblatt.data.table import as_table
from rosenblatt.prover.exact.clock import Deadline, OutOfTime
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.coordinates import standardised
from rosenblatt.prover.search.integer_search import PaddedSearch, StandardisedSearch, SubspaceSearch
from rosenblatt.prover.search.witness import vanishing_sum
from strategies import integer_sets


@given(integer_sets(most_rows=9, most_features=3), st.sampled_from([1.0, 2.0**-40, 2.0**70]))
def test_a_separator_or_a_support_is_found(data, scale):
    X, label = data
    signed = SignedRows(as_table(X * scale + 3 * scale), label, 2)
    witness = StandardisedSearch(signed, standardised(signed)).find_witness([0], np.arange(signed.n), Deadline(None))
    if exact_lp.verdict(X.tolist(), label.tolist()) == "separable":
        assert (signed.signs(witness.w) > 0).all()
    else:
        assert witness.w is None
        assert vanishing_sum(signed, witness.support, Deadline(None)) is not None


def test_a_subspace_has_the_margins_of_its_basis():
    X, label = np.array([[1.0, 5.0], [-1.0, 7.0]]), np.array([1, 0])
    signed = SignedRows(as_table(X), label, 2)
    search = SubspaceSearch(signed, [[1, 0, 0]])
    assert search.row(0) == [1]
    assert search.to_weights([7]) == [1, 0, 0]
    assert search.find_witness([0], np.arange(2), Deadline(None)).w == [1, 0, 0]


def test_the_largest_margin_of_or_is_exact():
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)
    signed = SignedRows(as_table(corners), np.array([0, 1, 1, 1]), 2)
    found = PaddedSearch(signed, 1).largest_margin([0, 1, 2], [1.0, 1.0, 1.0], Deadline(None))
    assert found.point == [2, 2, -1]
    assert dict(zip(found.support, found.shares, strict=True)) == {
        0: Fraction(5, 9),
        1: Fraction(2, 9),
        2: Fraction(2, 9),
    }
    with pytest.raises(OutOfTime):
        PaddedSearch(signed, 1).largest_margin([0], [1.0], Deadline(-1.0))
