"""Verdicts: equal rows, separators, facial reduction, and the oracle on all families."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from attacks import fuzz_verdicts
from margins_by_hand import brackets, planted_margin
from oracles import exact_lp
from rosenblatt import certify, verify
from rosenblatt.data.table import as_table
from rosenblatt.errors import TooLarge
from rosenblatt.prover.exact.clock import Deadline, OutOfTime
from rosenblatt.prover.exact.numbers import exact_table
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search import verdict
from rosenblatt.prover.search.verdict import decide, inseparable_claims, reduce
from rosenblatt.prover.search.witness import Witness, counts_to_multipliers


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


@pytest.mark.parametrize("classes", [2, pytest.param(3, marks=pytest.mark.long)])
def test_texts_with_a_contradiction_are_quasi_separable(classes):
    rng = np.random.default_rng(0)
    columns = np.concatenate([rng.choice(1 << 16, 30, replace=False) for _ in range(20)])
    X = sp.csr_array((np.ones(600), (np.repeat(np.arange(20), 30), columns)), shape=(20, 1 << 16))
    X = sp.csr_array(sp.vstack([X, X[:1]]))
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
    found = verdict.find_separator(SignedRows(rows, np.array([0, 0, 1]), 2), Deadline(None))
    assert found is not None
    assert found[0] > 0
    assert verdict.find_separator(SignedRows(rows, np.array([0, 1, 0]), 2), Deadline(None)) is None


def test_what_was_not_decided_is_said(monkeypatch):
    signed = SignedRows(as_table(np.array([[0.0], [1.0]])), np.array([0, 1]), 2)
    with pytest.raises(OutOfTime, match="time limit"):
        verdict.find_separator(signed, Deadline(-1.0))
    monkeypatch.setattr(verdict, "decide", lambda signed, clock: (None, None))
    with pytest.raises(TooLarge, match="too many"):
        verdict.find_separator(signed, Deadline(None))
    assert verdict.verdict_claims(signed, Deadline(None))["verdict"] == "undecided"


@pytest.mark.parametrize("limit", [np.int64(3), np.float32(2.5), 3])
def test_a_time_limit_is_any_real_number(limit):
    assert certify([[0], [1]], [0, 1], time_limit=limit).verdict == "separable"


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
        witness, _ = decide(signed, Deadline(None))
        if label[-1]:
            assert (signed.signs(witness.w) > 0).all()
            assert not witness.support
        else:
            assert witness.w is None
            assert not (np.array(witness.counts) @ signed.gather(witness.support)).any()


def contradiction(X, label):
    return verdict.contradiction(exact_table(X), np.array(label), Deadline(None))


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
    monkeypatch.setattr(verdict, "_hashes", lambda table, clock: np.zeros(table.shape[0], np.uint64))
    assert contradiction(np.array([[1.0], [2.0], [3.0]]), [0, 1, 0]) is None
    assert contradiction(np.array([[1.0], [2.0], [1.0]]), [0, 1, 1]) == (0, 2)


def test_hashing_looks_at_the_clock():
    with pytest.raises(OutOfTime):
        verdict.contradiction(exact_table(np.eye(3)), np.arange(3), Deadline(-1.0))


def test_equal_rows_of_several_classes_are_paired_with_the_first():
    X = np.array([[1.0], [2.0], [1.0], [1.0], [2.0], [3.0], [1.0]])
    pairs = verdict.contradictions(exact_table(X), np.array([0, 1, 2, 1, 0, 2, 1]), Deadline(None))
    assert sorted(pairs) == [(0, 2), (0, 3), (1, 4)]


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
    found = reduce(signed, Witness(None, [0, 1], [1, 1]), Deadline(None))
    assert found.verdict == "overlapping"
    assert sorted(found.witness.support) == [0, 1, 2, 3, 4, 5]
    multipliers = counts_to_multipliers(signed, found.witness.support, found.witness.counts)
    assert min(multipliers) > 0
    assert not (np.array(multipliers) @ signed.gather(found.witness.support)).any()
    claims = inseparable_claims(signed, Witness(None, [1, 0], [1, 1]), Deadline(None))
    assert claims["support"] == (0, 1, 2, 3, 4, 5)


def test_a_weak_separator_ends_the_reduction():
    X, y = np.array([[0.0], [0.0], [3.0], [-2.0]]), np.array([0, 1, 1, 0])
    signed = SignedRows(as_table(X), y, 2)
    found = reduce(signed, Witness(None, [0, 1], [1, 1]), Deadline(None))
    assert found.verdict == "quasi-separable"
    assert signed.signs(found.weak).tolist() == [0, 0, 1, 1]
    with pytest.raises(OutOfTime):
        reduce(signed, Witness(None, [0, 1], [1, 1]), Deadline(-1.0))


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
