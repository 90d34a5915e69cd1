"""Monomials without rounding, and proofs in the space of polynomial kernels."""

from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.preprocessing import PolynomialFeatures

from rosenblatt import certify, verify
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.exact.monomials import monomials


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
