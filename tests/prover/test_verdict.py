"""From rows to a verdict: contradictions, empty columns, several classes, all families of the fuzzer."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from attacks import fuzz_verdicts
from rosenblatt import certify, verify
from rosenblatt.data.table import as_table
from rosenblatt.errors import TooLarge
from rosenblatt.prover.exact.clock import Clock, OutOfTime
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search import verdict


def test_the_oracle_agrees_on_all_families():
    lines = []
    assert fuzz_verdicts.run(8 * len(fuzz_verdicts.FAMILIES), 0, lines.append) == 0, lines
    assert "undecided" not in lines[-2]
    for name in ("separable", "quasi-separable", "overlapping"):
        assert f"'{name}'" in lines[-2]


A = 2**60


@pytest.mark.parametrize("exact", ["binary", "decimal"])
@pytest.mark.parametrize("scale", [1, Fraction(1, 3)])
def test_integers_and_fractions_pass_through_no_floats_in_any_reading(exact, scale):
    """The third row is the midpoint of the first two: no hyperplane tells it from them."""
    X = [[A, 0], [A + 512, 2], [A + 256, 1], [0, 0], [0, 1], [0, 2], [0, 3]]
    rows, y = [[scale * a, b] for a, b in X], [0, 0, 1, 1, 1, 1, 1]
    certificate = certify(rows, y, exact=exact)
    assert certificate.verdict == "quasi-separable"
    assert certificate.boundary == (0, 1, 2)
    assert verify(certificate, rows, y)


def test_a_contradiction_in_many_empty_columns_is_decided():
    X = sp.csr_array(([1.0, 2.0, 1.0, 2.0], ([0, 0, 1, 1], [3, 7, 3, 7])), shape=(2, 20_000))
    assert certify(X, [0, 1]).verdict == "overlapping"


def test_texts_with_a_contradiction_are_quasi_separable():
    rng = np.random.default_rng(0)
    columns = np.concatenate([rng.choice(1 << 16, 30, replace=False) for _ in range(20)])
    X = sp.csr_array((np.ones(600), (np.repeat(np.arange(20), 30), columns)), shape=(20, 1 << 16))
    X = sp.csr_array(sp.vstack([X, X[:1]]))
    for classes in (2, 3):
        y = np.arange(21) % classes
        y[20] = (y[0] + 1) % classes
        certificate = certify(X, y)
        assert certificate.verdict == "quasi-separable"
        assert verify(certificate, X, y)
        assert set(certificate.extreme) == set(range(1, 20))


def test_a_contradiction_among_wide_rows_of_many_classes_is_decided():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((121, 300)), np.arange(121) % 10
    X[120], y[120] = X[0], 1
    certificate = certify(X, y)
    assert certificate.verdict == "quasi-separable"
    assert verify(certificate, X, y)


def test_a_separator_is_found_or_ruled_out():
    rows = as_table(np.array([[0.0], [1.0], [2.0]]))
    found = verdict.find_separator(SignedRows(rows, np.array([0, 0, 1]), 2), Clock(None))
    assert found is not None
    assert found[0] > 0
    assert verdict.find_separator(SignedRows(rows, np.array([0, 1, 0]), 2), Clock(None)) is None


def test_what_was_not_decided_is_said(monkeypatch):
    signed = SignedRows(as_table(np.array([[0.0], [1.0]])), np.array([0, 1]), 2)
    with pytest.raises(OutOfTime, match="time limit"):
        verdict.find_separator(signed, Clock(-1.0))
    monkeypatch.setattr(verdict, "decide", lambda signed, clock: (None, None))
    with pytest.raises(TooLarge, match="too many"):
        verdict.find_separator(signed, Clock(None))
    assert verdict.verdict_claims(signed, Clock(None))["verdict"] == "undecided"


@pytest.mark.parametrize("limit", [np.int64(3), np.float32(2.5), 3])
def test_a_time_limit_is_any_real_number(limit):
    assert certify([[0], [1]], [0, 1], time_limit=limit).verdict == "separable"
