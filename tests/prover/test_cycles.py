"""The perceptron as a judge: its cycles against the other engine, its counts against integers."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import certify, certify_cycle, verify
from rosenblatt.errors import InvalidInput
from strategies import integer_sets

SQUARE = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)


def test_xor_comes_back_after_one_epoch():
    certificate = certify_cycle(SQUARE, [-1, 1, 1, -1], epochs=1)
    assert certificate.verdict == "overlapping"
    assert (certificate.support, certificate.multipliers) == ((0, 1, 2, 3), (1, 1, 1, 1))
    assert verify(certificate, SQUARE, [-1, 1, 1, -1])


@pytest.mark.parametrize(("y", "weights"), [([-1, 1, 1, 1], (2, 2, -1)), ([-1, -1, -1, 1], (2, 3, -4))])
def test_separated_rows_get_the_weights_of_the_lectures(y, weights):
    certificate = certify_cycle(SQUARE, y)
    assert (certificate.verdict, certificate.vector) == ("separable", weights)
    assert verify(certificate, SQUARE, y)


@given(integer_sets(most_rows=8, most_features=3))
@settings(max_examples=150)
def test_cycles_agree_with_the_other_engine(question):
    X, label = question
    certificate = certify_cycle(X, label, epochs=200_000)
    assert certificate.verdict == certify(X, label, margin=False).verdict
    assert verify(certificate, X, label)
    sign = 2 * label.astype(int) - 1
    signed = np.column_stack([X.astype(int), np.ones(len(X), int)]) * sign[:, None]
    if certificate.verdict == "separable":
        assert all(signed @ np.array(certificate.vector) > 0)
    else:
        total = sum(m * signed[i] for i, m in zip(certificate.support, certificate.multipliers, strict=True))
        assert not total.any()


@given(integer_sets(most_rows=6, most_features=2), st.sampled_from([0.25, 8.0, 0.1]))
@settings(max_examples=60)
def test_columns_may_be_scaled(question, unit):
    X, label = question
    exact = "decimal" if unit == 0.1 else "binary"
    scaled = X * unit if unit != 0.1 else X / 10
    scaled[:, 0] += 3
    for data in (scaled, sp.csr_array(scaled)):
        certificate = certify_cycle(data, label, exact=exact)
        assert certificate.arithmetic == exact
        assert certificate.verdict == certify(data, label, exact=exact, margin=False).verdict
        assert verify(certificate, data, label)


def test_all_updates_of_a_cycle_are_counted():
    rng = np.random.default_rng(3)
    X, y = rng.integers(-3, 4, (20, 4)), rng.integers(0, 2, 20)
    certificate = certify_cycle(X, y)
    assert certificate.verdict == "overlapping"
    # From any weights of the cycle the same updates lead back to them; here from those after many epochs.
    signed = np.column_stack([X, np.ones(20, int)]) * (2 * y - 1)[:, None]
    w, seen = np.zeros(5, int), []
    for _ in range(20_000):
        for z in signed:
            if z @ w <= 0:
                w = w + z
    start, counts = w, np.zeros(20, int)
    while not seen or not np.array_equal(w, start):
        for i, z in enumerate(signed):
            if z @ w <= 0:
                w = w + z
                counts[i] += 1
        seen.append(w)
    expected = {int(i): int(counts[i]) for i in np.flatnonzero(counts)}
    assert dict(zip(certificate.support, certificate.multipliers, strict=True)) == expected


def test_one_class_is_separable():
    assert certify_cycle(SQUARE, [7] * 4).verdict == "separable"


def test_limits_leave_the_question_open():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-1000, 1001, (60, 8)), rng.integers(0, 2, 60)
    few = certify_cycle(X, y, epochs=50)
    assert few.verdict == "undecided"
    assert "50 epochs" in few.reason
    assert not verify(few, X, y)
    assert certify_cycle(X, y, epochs=10**9, time_limit=0.05).verdict == "undecided"


def test_sums_never_leave_64_bits():
    # After one epoch w = (2**30, 1): in the next, three rows could lead to products beyond 2**62.
    X = np.array([[2**30], [2**30 - 1], [-5]])
    certificate = certify_cycle(X, [1, 1, 0])
    assert certificate.verdict == "undecided"
    assert "In 1 epoch the" in certificate.reason
    assert "64 bits" in certificate.reason
    assert certify_cycle(X // 4, [1, 1, 0]).verdict == "separable"
    many = np.full((3000, 200), 2**30)
    many[::2, 0] = 0
    with pytest.raises(InvalidInput, match="64 bits"):
        certify_cycle(np.tile(many, (5, 1)), np.arange(15_000) % 3 == 0)


@pytest.mark.parametrize(
    ("X", "options", "said"),
    [
        ([[0.1], [0.25]], {}, "certify"),
        ([[2.0**40], [1.0]], {}, "certify"),
        ([[0.1], [0.25]], {"exact": "ternary"}, "binary"),
        ([[1], [2]], {"epochs": 0}, "epochs"),
        ([[1], [2]], {"epochs": 2.5}, "epochs"),
        ([[1], [2]], {"time_limit": 0.0}, "time_limit"),
        ([[1], [2]], {"time_limit": "1"}, "time_limit"),
    ],
)
def test_what_it_cannot_do_is_refused(X, options, said):
    with pytest.raises(InvalidInput, match=said):
        certify_cycle(X, [0, 1], **options)


def test_more_classes_are_refused():
    with pytest.raises(InvalidInput, match="certify_pairs"):
        certify_cycle([[0], [1], [2]], [0, 1, 2])


def test_an_iris_against_the_others_comes_back():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    tenths = np.round(10 * X)
    assert certify_cycle(tenths, y == 1, epochs=262_267).verdict == "undecided"
    certificate = certify_cycle(tenths, y == 1, epochs=262_268)
    assert certificate.verdict == "overlapping"
    assert verify(certificate, tenths, y == 1)
    sums = [Fraction(0)] * 5
    for i, m in zip(certificate.support, certificate.multipliers, strict=True):
        for j, v in enumerate([*tenths[i], 1]):
            sums[j] += m * (1 if y[i] == 1 else -1) * Fraction(v)
    assert not any(sums)


@pytest.mark.parametrize("tiny", [5e-324, 1e-300, Fraction(1, 3**300)])
def test_columns_that_no_small_factor_makes_whole_are_refused(tiny):
    with pytest.raises(InvalidInput, match=r"the largest would be \d"):
        certify_cycle([[tiny, 1], [1, 0]], [0, 1])
