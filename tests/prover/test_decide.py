"""Verdicts on many rows, on wide rows, and on rows that floats cannot decide."""

import numpy as np
import pytest
import scipy.sparse as sp

from margins_by_hand import brackets, planted_margin
from rosenblatt import certify, verify
from rosenblatt.data.table import as_table
from rosenblatt.prover.exact.clock import Clock
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search.decide import decide


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150])
def test_many_rows_of_any_size_are_decided(store, scale):
    X, y = planted_margin(20_000, 4, 2.0**-3)
    for label, expected in ((y, "separable"), (np.where(np.arange(y.size) < 9, -y, y), "overlapping")):
        certificate = certify(store(X * scale), label)
        assert certificate.verdict == expected
        assert verify(certificate, X * scale, label)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_wide_rows_are_decided(store):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3000)) * (rng.random((30, 3000)) < 0.05)
    y = np.arange(30) % 2
    certificate = certify(store(X), y)
    assert certificate.verdict == "separable"
    assert verify(certificate, X, y)
    assert brackets(certificate.margin)
    # A row with both labels keeps a separator at zero there; all others are independent, so that it needs nothing else.
    X = np.vstack([X, X[3:4]])
    y = np.append(y, 1 - y[3])
    certificate = certify(store(X), y)
    assert certificate.verdict == "quasi-separable"
    assert (certificate.support, certificate.multipliers) == ((3, 30), (1, 1))
    assert certificate.boundary == (3, 30)
    assert verify(certificate, X, y)


def test_a_decision_is_a_separator_or_a_support_never_both():
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)
    for label in ([0, 1, 1, 1], [0, 1, 1, 0]):
        signed = SignedRows(as_table(corners), np.array(label), 2)
        witness, _ = decide(signed, Clock(None))
        if label[-1]:
            assert (signed.signs(witness.w) > 0).all()
            assert not witness.support
        else:
            assert witness.w is None
            assert not (np.array(witness.counts) @ signed.gather(witness.support)).any()
