"""Which coefficients of a logistic regression diverge, against linear programs from the definition."""

import numpy as np
import pytest
import scipy.sparse as sp

from attacks import fuzz_estimates
from oracles import exact_lp, recession
from rosenblatt import certify, verify
from rosenblatt.prover.search import limits
from rosenblatt.prover.search.estimates import SignSearch

XOR_LIKE = np.array([[0, 1], [0, 1], [0, 0], [1, 0], [0, 0]], float)


def design(rng, k):
    """Designs of regressions: factors, interactions, counts, dependent columns, outliers, offsets."""
    classes = 2 if k % 3 else 3
    n, d = int(rng.integers(3, 10 if classes == 2 else 7)), int(rng.integers(1, 4 if classes == 2 else 3))
    kind = k % 7
    X = rng.integers(-2, 3, (n, d)).astype(float)
    if kind == 1:
        factor, count = rng.integers(0, 3, n), rng.integers(0, 3, n)
        X = np.c_[factor == 1, factor == 2, count, (factor == 1) * count][:, : d + 1].astype(float)
    elif kind == 2:
        X = np.eye(d + 1)[rng.integers(0, d + 1, n)]  # every level of a factor beside the intercept
    elif kind == 3:
        X[:, -1] = 2 * X[:, 0] - 3
    elif kind == 4:
        X[rng.integers(n)] *= 1e12
    elif kind == 5:
        X = X * 10.0 ** rng.integers(-6, 7, d) + 1e8 * rng.integers(0, 2, d)
    label = rng.integers(0, classes, n)
    if k % 2:
        label = np.digitize(X @ rng.integers(-2, 3, X.shape[1]), np.sort(rng.integers(-2, 3, classes - 1)))
    label[rng.integers(n)] = rng.integers(classes)
    return X, np.unique(label, return_inverse=True)[1]


def compare(X, label):
    """Check a set, dense and sparse, against the oracles; return the verdict and the estimates."""
    rows, labels = X.tolist(), label.tolist()
    truth = (exact_lp.verdict(rows, labels), recession.extreme(rows, labels), recession.estimates(rows, labels))
    for data in (X, sp.csr_array(X)):
        certificate = certify(data, label, margin=False, coefficients=True)
        assert (certificate.verdict, certificate.extreme, certificate.estimates) == truth, (rows, labels)
        assert verify(certificate, data, label)
    return truth


def test_the_oracle_agrees_on_designs_of_regressions():
    rng = np.random.default_rng(0)
    seen, verdicts = set(), set()
    for k in range(120):
        X, label = design(rng, k)
        if label.max():
            verdict, _, found = compare(X, label)
            seen |= set(found)
            verdicts.add(verdict)
    assert seen == {"finite", "+inf", "-inf", "+/-inf", "not identified"}
    assert verdicts == {"separable", "quasi-separable", "overlapping"}


def test_the_oracle_agrees_on_every_family():
    lines = []
    _, differences, _ = fuzz_estimates.run(4 * len(fuzz_estimates.FAMILIES), 0, report=lines.append)
    assert differences == 0, lines


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (XOR_LIKE, [1, 0, 0, 0, 1]),
        ([[1e14], [1.0], [1.0]], [0, 1, 0]),
        ([[2, 0], [2, 1], [1, 2], [2, 1]], [0, 0, 1, 2]),
        ([[0, 1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0], [0, 1, 1, 0, 1]], [0, 1, 0, 1]),
    ],
)
def test_designs_that_were_once_wrong(X, y):
    compare(np.array(X, float), np.array(y))


def test_integers_decide_where_floats_are_not_asked(monkeypatch):
    monkeypatch.setattr(SignSearch, "_decide_by_floats", lambda *_: False)
    rng = np.random.default_rng(5)
    for k in range(40):
        X, label = design(rng, k)
        if label.max():
            compare(X, label)


def test_signs_follow_the_names_of_the_classes():
    X = np.array([[1.0, 0], [2, 0], [3, 0], [4, 0], [2, 1], [3, 1]])
    y = np.array([0, 1, 0, 1, 1, 1])
    assert certify(X, y).estimates == ("finite", "+inf", "finite")
    assert certify(X, 1 - y).estimates == ("finite", "-inf", "finite")
    assert certify(X * [1, -1], y).estimates == ("finite", "-inf", "finite")


def test_estimates_are_left_out_where_nobody_asked(monkeypatch):
    X = np.array([[0.0], [1.0], [2.0]])
    assert certify(X, [0, 0, 1], coefficients=False).estimates == ()
    monkeypatch.setattr(limits, "FREE_ENTRIES", 2)
    assert certify(X, [0, 0, 1]).estimates == ()
    assert certify(X, [0, 0, 1], coefficients=True).estimates == ("+inf", "-inf")


def test_one_class_alone_drives_the_intercept():
    assert certify([[0.0], [0.0]], [1, 1]).estimates == ("not identified", "+inf")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_what_a_dependent_column_is_made_of_is_said_exactly(form):
    X = np.array([[1.0, 0, 0, 5, 0], [2, 1, 0, 5, 3], [3, 1, 0, 5, 4], [4, 0, 0, 5, 3], [5, 1, 0, 5, 6]])
    X[:, 4] = 1.5 * X[:, 0] - X[:, 1] / 4 + 2
    found = certify(form(X), [0, 1, 0, 1, 1])
    assert "Dependent columns: x2 = 0; x3 = 5; x4 = 3/2 x0 - 1/4 x1 + 2." in str(found.coefficients)
    assert "x4 = 3/2 x0 - 1/4 x1 + 2" in str(found)
    assert "x4 = 3/2 x0" in found.coefficients._repr_html_()
    assert verify(found, X, [0, 1, 0, 1, 1])


def test_long_factors_are_not_written_out():
    X = np.array([[1.0, 3.0], [2.0, 0.0], [0.5, 7.0], [0.25, 1.0]])
    X = np.c_[X, X[:, 0] * 123457 + X[:, 1]]
    assert "x2 depends on x0, x1." in str(certify(X, [0, 1, 0, 1]).coefficients)


def test_nothing_is_said_of_dependence_where_there_is_none():
    assert "Dependent" not in str(certify([[0.0], [1.0], [2.0]], [0, 1, 0]).coefficients)
