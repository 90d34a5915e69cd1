"""Monomials and ordinal models: the rows are exact, and the verdicts those of the definitions."""

from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.preprocessing import PolynomialFeatures

from oracles import exact_lp
from rosenblatt import certify, verify
from rosenblatt.errors import InvalidInput
from rosenblatt.prover import against_thresholds, monomials


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_integers_give_the_features_of_scikit_learn(n, d, degree, seed):
    X = np.random.default_rng(seed).integers(-9, 10, (n, d))
    expected = PolynomialFeatures(degree, include_bias=False).fit_transform(X)
    assert monomials(X, degree).tolist() == expected.tolist()
    assert monomials(sp.csr_array(X.astype(float)), degree).tolist() == expected.tolist()


@given(st.lists(st.floats(-1e6, 1e6).map(lambda v: round(v, 2)), min_size=2, max_size=3), st.booleans())
def test_products_are_exact_or_refused(row, decimal):
    value = (lambda v: Fraction(repr(float(v)))) if decimal else Fraction
    expected = [prod(map(value, powers)) for k in (1, 2) for powers in combinations_with_replacement(row, k)]
    try:
        made = monomials([row], 2, decimal=decimal)[0]
    except InvalidInput:
        assert any(value(float(v)) != v for v in expected)
    else:
        assert [value(v) for v in made.tolist()] == expected


def test_what_a_quadratic_kernel_can_and_a_line_cannot_separate():
    X, y = np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), [0, 1, 1, 0]
    assert certify(X, y).verdict == "overlapping"
    Z = monomials(X)
    certificate = certify(Z, y)
    assert certificate.verdict == "separable"
    assert verify(certificate, Z, y)


def test_irises_in_tenths_of_second_degree():
    X, t = load_iris(return_X_y=True)
    X, y = X[t > 0], t[t > 0]
    with pytest.raises(InvalidInput, match="does not fit a float"):
        monomials(X)
    Z = monomials(X, decimal=True)
    certificate = certify(Z, y, exact="decimal")
    assert verify(certificate, Z, y)
    # Ten times the values are integers, whose monomials are exact in binary too: a linear map of the others.
    assert certify(monomials(np.round(10 * X)), y).verdict == certificate.verdict


@pytest.mark.parametrize(
    ("X", "degree"), [([[1.0]], 0), ([[1.0]], 1.5), (np.ones((2, 900)), 4), ([[1e200]], 2), ([[1e-200]], 2)]
)
def test_refusals(X, degree):
    with pytest.raises(InvalidInput):
        monomials(X, degree)


def by_definition(X, rank, classes):
    """The verdict by linear programs in the weights and all thresholds: t below the class <= w.x <= t above it."""
    Z = []
    for x, k in zip(X, rank, strict=True):
        for t, sign in ((k - 1, 1), (k, -1)):
            if 0 <= t < classes - 1:
                Z.append([sign * v for v in x] + [-sign * (s == t) for s in range(classes - 1)])
    if exact_lp.feasible(Z, [1] * len(Z)):
        return "separable"
    total = [sum(column) for column in zip(*Z, strict=True)]
    return "quasi-separable" if exact_lp.feasible([*Z, total], [0] * len(Z) + [1]) else "overlapping"


def test_the_verdict_is_that_of_the_models_inequalities():
    rng, seen = np.random.default_rng(0), set()
    for k in range(60):
        n, d, classes = int(rng.integers(3, 9)), int(rng.integers(1, 3)), int(rng.integers(2, 5))
        X = rng.integers(-2, 3, (n, d))
        y = np.digitize(X @ rng.integers(-1, 2, d) + (k % 3 == 0) * rng.integers(0, 2, n), np.arange(classes - 1))
        y = np.unique(y, return_inverse=True)[1]
        if not y.max():
            continue
        truth = by_definition(X.tolist(), y.tolist(), int(y.max()) + 1)
        for data in (X, sp.csr_array(X)):
            rows, above = against_thresholds(data, y)
            found = certify(rows, above, margin=False)
            assert found.verdict == truth, (X.tolist(), y.tolist())
            assert verify(found, rows, above)
        seen.add(truth)
    assert seen == {"separable", "quasi-separable", "overlapping"}


def test_two_classes_are_left_as_they_are():
    rows, above = against_thresholds([[1.5], [2.5], [0.5]], ["a", "b", "a"])
    assert rows.tolist() == [[1.5], [2.5], [0.5]]
    assert above.tolist() == [False, True, False]


def test_names_and_large_integers_are_kept():
    frame = pd.DataFrame({"dose": [1, 2, 3]})
    rows, _ = against_thresholds(frame, ["low", "high", "mid"], order=["low", "mid", "high"])
    assert list(rows.columns) == ["dose", "threshold mid|high"]
    rows, _ = against_thresholds(np.array([[2**60 + 1], [2**60], [3]]), [0, 1, 2])
    assert rows[0, 0] == 2**60 + 1


@pytest.mark.parametrize("order", [["a"], ["a", "b", "c"], ["a", "a"], ["b"]])
def test_an_order_that_does_not_name_the_classes_is_refused(order):
    with pytest.raises(InvalidInput, match="does not list the classes"):
        against_thresholds([[1], [2]], ["a", "b"], order=order)
