"""Facial reduction: what diverges in a logistic model, and rows that hardly leave the span of the others."""

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import exact_lp
from rosenblatt import certify, verify
from rosenblatt.data.table import as_table
from rosenblatt.prover.exact.clock import Clock, OutOfTime
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.reduction import inseparable_claims, reduce
from rosenblatt.prover.search.views import standardised
from rosenblatt.prover.search.witness import Witness, counts_to_multipliers


def test_a_logistic_model_is_told_what_diverges():
    # Where the first feature is 5 the second does not tell the classes apart, elsewhere the first does: the weak
    # separators are the multiples of x1 - 5.
    X = np.array([[5, 0], [5, 1], [5, 2], [7, 1], [9, -3], [2, 4], [4, 1]], float)
    y = np.array([0, 1, 0, 1, 1, 0, 0])
    for data in (X, sp.csr_array(X)):
        certificate = certify(data, y)
        assert certificate.verdict == "quasi-separable"
        w, b = certificate.separator
        assert w[0] > 0
        assert (w[1], b) == (0, -5 * w[0])
        assert (certificate.support, certificate.multipliers) == ((0, 1, 2), (1, 2, 1))
        assert certificate.boundary == (0, 1, 2)
        assert certificate.extreme == (3, 4, 5, 6)
        assert certificate.diverging == (True, False, True)
    # Without the offset the bias stays finite.
    assert certify(X - [5, 0], y).diverging == (True, False, False)
    # Everything diverges if the classes are apart, nothing if they overlap; a column of zeros never does.
    padded = np.c_[X, np.zeros(7)]
    assert certify(padded, X[:, 0] > 4.5).diverging == (True, True, False, True)
    assert certify(padded, y).diverging == (True, False, False, True)
    assert certify(padded[:3], y[:3]).diverging == (False,) * 4


@pytest.mark.parametrize("exponent", [-20, -33, -36, -40, -45])
@pytest.mark.parametrize("label", [1, -1])
def test_a_row_that_hardly_leaves_the_span_of_the_others_counts(exponent, label):
    # All but the last row lie on a line, where the classes overlap; the last is off it by less than floats make out.
    t = np.array([-2.0, -1, 0, 1, 2, 3])
    X = np.vstack([np.c_[t, t], [1.0, 1.0 + 2.0**exponent]])
    y = np.array([1, -1, 1, -1, 1, -1, label])
    certificate = certify(X, y)
    assert certificate.verdict == "quasi-separable"
    assert verify(certificate, X, y)
    assert set(certificate.extreme) == {6}
    # A mirrored row of the same class puts an end to it.
    X, y = np.vstack([X, [1.0, 1.0 - 2.0**exponent]]), np.append(y, label)
    certificate = certify(X, y)
    assert certificate.verdict == "overlapping"
    assert verify(certificate, X, y)


def test_a_support_grows_until_it_spans_everything():
    # Two equal points begin; the corners of XOR around them are added.
    X, y = np.array([[0.5, 0.5], [0.5, 0.5], [0, 0], [1, 0], [0, 1], [1, 1]]), np.array([0, 1, 0, 1, 1, 0])
    signed = SignedRows(as_table(X), y, 2)
    found = reduce(signed, standardised(signed), Witness(None, [0, 1], [1, 1]), Clock(None))
    assert found.verdict == "overlapping"
    assert sorted(found.witness.support) == [0, 1, 2, 3, 4, 5]
    multipliers = counts_to_multipliers(signed, found.witness.support, found.witness.counts)
    assert min(multipliers) > 0
    assert not (np.array(multipliers) @ signed.gather(found.witness.support)).any()
    claims = inseparable_claims(signed, standardised(signed), Witness(None, [1, 0], [1, 1]), Clock(None))
    assert claims["support"] == (0, 1, 2, 3, 4, 5)


def test_a_weak_separator_ends_the_reduction():
    X, y = np.array([[0.0], [0.0], [3.0], [-2.0]]), np.array([0, 1, 1, 0])
    signed = SignedRows(as_table(X), y, 2)
    found = reduce(signed, standardised(signed), Witness(None, [0, 1], [1, 1]), Clock(None))
    assert found.verdict == "quasi-separable"
    assert signed.signs(found.weak).tolist() == [0, 0, 1, 1]
    with pytest.raises(OutOfTime):
        reduce(signed, standardised(signed), Witness(None, [0, 1], [1, 1]), Clock(-1.0))


ENDLESS = [
    # rows at 1e9 whose remainders are rounding errors
    (
        [
            [1000, 1000000001, 1000001],
            [1000, 1030000000, 4000000],
            [1000, 1000000001, 1000001],
            [1000, 1000000000, 1000001],
            [1002, 1000000002, 1000002],
            [1000, 1000000001, 1000000],
            [1001, 1000000001, 1000000],
        ],
        [1, 1, 0, 1, 0, 1, 0],
    ),
    (
        [[100000001, 1e12], [1e8, 1e12 + 2], [100000002, 1e12 + 2], [100000001, 1e12 + 2], [1e8, 1e12 + 2]],
        [0, 0, 0, 1, 1],
    ),
    # one outlying row, three classes
    (
        [[v] for v in (2, 0, 0, 1, 1, 1, 0, 2, 2, 1, 1, 1, 0, 0, 2e12)],
        [0, 0, 1, 2, 0, 2, 1, 0, 0, 1, 1, 0, 1, 0, 0],
    ),
]


@pytest.mark.parametrize("stored", [np.array, sp.csr_array])
@pytest.mark.parametrize("case", range(len(ENDLESS)))
def test_a_support_is_never_enlarged_by_rows_in_its_span(case, stored):
    X, y = ENDLESS[case]
    certificate = certify(stored(np.array(X, float)), y, time_limit=60)
    assert certificate.verdict == exact_lp.verdict(X, y)
    assert verify(certificate, X, y)
