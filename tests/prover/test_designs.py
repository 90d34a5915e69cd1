"""Designs: every way to pass a model gives the samples of its definition, and proofs hold for it and nothing else."""

import csv
import json
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from certificates_by_hand import CHECKER
from rosenblatt import certify, verify
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.designs import read_design

FRAME = pd.DataFrame(
    {
        "ill": ["no", "no", "yes", "yes", None, "yes"],
        "age": [1.0, 2.0, 3.0, 4.0, 5.0, np.nan],
        "region": ["a", "a", "b", "b", "a", "b"],
    }
)


def samples(design):
    """Each sample as its padded row and class."""
    signed = design.signed
    rows = signed.table.matrix()
    rows = rows.toarray() if sp.issparse(rows) else rows
    return [(*map(float, x), signed.constant, int(c)) for x, c in zip(rows, signed.label, strict=True)]


# ------------------------------------------------------------------------------------------------------- the samples


def test_a_count_pulls_down_and_a_positive_one_up_too():
    design = read_design([[5], [6]], [0, 3], family="poisson")
    assert samples(design) == [(5, 1, 0), (6, 1, 0), (6, 1, 1)]
    assert design.rows == (0, 1, 1)


@pytest.mark.parametrize("y", [[[0, 2], [3, 1], [4, 0], [0, 0]], [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0], [0.0, 0.0]]])
def test_successes_pull_up_and_failures_down(y):
    design = read_design([[1], [2], [3], [4]], y, family="binomial")
    assert samples(design) == [(1, 1, 0), (2, 1, 0), (2, 1, 1), (3, 1, 1)]
    assert design.rows == (0, 1, 1, 2)


def test_shares_are_successes_and_failures():
    pairs = read_design([[1], [2], [3]], [[0, 2], [3, 1], [4, 0]], family="binomial")
    shares = read_design([[1], [2], [3]], [0.0, 0.75, 1.0], family="binomial")
    assert samples(pairs) == samples(shares)


def test_all_counts_zero_are_of_class_zero():
    assert read_design([[5]], [0], family="poisson").classes == (0, 1)
    assert certify([[5], [6]], [0, 0], family="poisson", coefficients=True).verdict == "separable"


def test_without_an_intercept_the_constant_is_zero():
    assert samples(read_design([[5], [6]], [0, 1], fit_intercept=False)) == [(5, 0, 0), (6, 0, 1)]


def test_an_ordered_categorical_keeps_its_order():
    y = pd.Categorical(["mid", "low", "high"], ["low", "mid", "high"], ordered=True)
    design = read_design([[1], [2], [3]], y, family="ordinal")
    assert design.levels == ("low", "mid", "high")
    assert samples(design) == [(1, 0, 1, 1), (1, 1, 1, 0), (2, 0, 1, 0), (3, 1, 1, 1)]


# ------------------------------------------------------------------------------------------------------------- proofs


def brute_force(rows, labels, family, intercept):
    """Whether some direction of small integers raises the likelihood for ever, by the models' definitions."""
    found = False
    for w in product(range(-3, 4), repeat=len(rows[0]) + intercept):
        scores = [sum(a * b for a, b in zip(w, [*x, 1], strict=False)) for x in rows]
        if family == "poisson":
            holds = all(s <= 0 if y == 0 else s == 0 for s, y in zip(scores, labels, strict=True))
        else:
            holds = all(s >= 0 if y else s <= 0 for s, y in zip(scores, labels, strict=True))
        found |= holds and any(scores)
    return found


@pytest.mark.parametrize("family", ["binomial", "poisson"])
@pytest.mark.parametrize("intercept", [True, False])
def test_estimates_exist_unless_a_direction_raises_the_likelihood_for_ever(family, intercept):
    rng = np.random.default_rng(5)
    verdicts = set()
    for _ in range(150):
        X = rng.integers(-1, 2, (rng.integers(2, 7), 2))
        y = rng.integers(0, 3 if family == "poisson" else 2, len(X))
        if family == "binomial" and len(set(y.tolist())) == 1:
            continue
        certificate = certify(X, y, family=family, fit_intercept=intercept)
        verdicts.add(certificate.verdict)
        # Small integer rows have a direction of small integers if they have one.
        assert (certificate.verdict != "overlapping") == brute_force(X.tolist(), y.tolist(), family, intercept)
        assert verify(certificate, X, y)
    assert verdicts == {"separable", "quasi-separable", "overlapping"}


def checked(certificate, rows, folder):
    document, data = folder / "certificate.json", folder / "data.csv"
    certificate.save(document)
    with data.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    run = subprocess.run([sys.executable, CHECKER, document, data], capture_output=True, text=True, check=False)
    return run.stdout.strip() or run.stderr.strip()


def accepted(certificate, X, y):
    try:
        return verify(certificate, X, y)
    except InvalidInput:  # the responses are not those of the forged model
        return False


CASES = [
    ("binomial", False, [[1, 2], [2, 1], [3, 5]], [0, 1, 1]),
    ("binomial", False, [[1, 2], [-1, -2], [0, 0]], [0, 1, 1]),
    ("binomial", True, [[1], [2], [3]], [[0, 3], [2, 1], [1, 0]]),
    ("binomial", True, [[1], [2], [3]], [0, 0.5, 1]),
    ("poisson", True, [[1, 0], [2, 0], [3, 1], [4, 1]], [0, 0, 2, 3]),
    ("poisson", False, [[1, 0], [2, 0], [3, 1], [4, 1]], [0, 0, 2, 3]),
    ("ordinal", True, [[1], [2], [3], [2]], ["a", "b", "c", "b"]),
    ("multinomial", False, [[1, 0], [0, 1], [-1, -1], [1, 1]], ["a", "b", "c", "a"]),
]


@pytest.mark.parametrize(("family", "intercept", "X", "y"), CASES)
def test_verify_and_the_checker_accept_each_model_and_no_other_response(family, intercept, X, y, tmp_path):
    certificate = certify(X, y, family=family, fit_intercept=intercept, coefficients=True)
    assert verify(certificate, X, y)
    assert not verify(certificate, X, y[::-1])
    lines = [[*x, *(np.ravel(v).tolist())] for x, v in zip(X, y, strict=True)]
    assert checked(certificate, lines, tmp_path) == f"holds: {certificate.verdict}"
    for name, value in (("intercept", not certificate.intercept), ("response", "counts"), ("rows", [0, 0, 0])):
        document = certificate.to_dict()
        if document[name] != value:
            forged = type(certificate).from_dict(document | {name: value}) if name != "rows" else None
            assert forged is None or not accepted(forged, X, y)


def test_a_row_of_zeros_without_an_intercept_is_on_no_side():
    assert certify([[0], [1]], [0, 1], fit_intercept=False).verdict == "quasi-separable"
    assert certify([[0], [0]], [0, 1], fit_intercept=False).verdict == "overlapping"
    assert certify([[1], [2], [3], [4]], [0, 0, 1, 1], fit_intercept=False).verdict == "overlapping"


# ------------------------------------------------------------------------------------------------ ways to pass a model


def test_a_formula_leaves_out_rows_with_missing_values_and_says_so():
    certificate = certify(FRAME, formula="ill ~ age + region")
    assert "2 rows with a missing value were left out" in str(certificate)
    assert certificate.rows == (0, 1, 2, 3)
    assert verify(certificate, FRAME, formula="ill ~ age + region")
    with pytest.raises(InvalidInput, match="rows: 4 and 5"):
        certify(FRAME, formula="ill ~ age + region", missing="raise")


def test_missing_rows_are_named_or_dropped():
    with pytest.raises(InvalidInput, match=r'2 rows: 4 and 5.*missing="drop"'):
        certify(FRAME[["age"]], FRAME["ill"])
    assert certify(FRAME[["age"]], FRAME["ill"], missing="drop").rows == (0, 1, 2, 3)


@pytest.mark.parametrize("formula", ["ill ~ 0 + age", "ill ~ age - 1"])
def test_a_formula_without_an_intercept_is_a_model_without_one(formula):
    assert not certify(FRAME, formula=formula).intercept


def test_cbind_has_successes_and_failures():
    frame = pd.DataFrame({"dead": [0, 2, 5], "alive": [5, 3, 0], "dose": [1, 2, 3]})
    by_formula = certify(frame, formula="cbind(dead, alive) ~ dose", family="binomial")
    assert by_formula.digest == certify(frame[["dose"]], frame[["dead", "alive"]], family="binomial").digest


def test_rows_of_weight_zero_are_left_out():
    X, y = [[1], [2], [3], [4]], [0, 1, 0, 1]
    assert certify(X, y, sample_weight=[1, 0, 2, 1]).verdict == "separable"
    assert certify(X, y, sample_weight=[1, 1, 2, 1]).verdict == "overlapping"


def test_a_pipeline_is_certified_on_what_its_classifier_sees():
    linear_model, preprocessing, pipeline = (
        pytest.importorskip(f"sklearn.{name}") for name in ("linear_model", "preprocessing", "pipeline")
    )
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = [1, 0, 0, 1]
    steps = preprocessing.PolynomialFeatures(2, include_bias=False), linear_model.LogisticRegression()
    squares = pipeline.make_pipeline(*steps).fit(X, y)
    assert certify(X, y).verdict == "overlapping"
    certificate = certify(X, y, model=squares)
    assert certificate.verdict == "separable"
    assert certificate.names == ("x0", "x0^2")
    assert verify(certificate, X, y, model=squares)
    with pytest.raises(InvalidInput, match="model="):
        certify(squares)


@pytest.mark.parametrize(
    ("y", "family", "message"),
    [
        ([0, 1, 2], "binomial", "multinomial"),
        ([0.5, 2.5, 1], "binomial", "shares"),
        ([-1, 0, 1], "poisson", "counts"),
        (["a", "b", "c"], "poisson", "counts"),
        ([[1, 0], [0, 1], [-1, 1]], "binomial", "successes and failures"),
        ([[0, 0], [0, 0], [0, 0]], "binomial", "a trial"),
        ([0, 1, 1], "gamma", "gamma"),
    ],
)
def test_responses_that_are_not_of_the_family_are_refused(y, family, message):
    with pytest.raises(InvalidInput, match=message):
        certify([[1], [2], [3]], y, family=family)


def test_exact_numbers_stay_exact_in_every_model():
    X = [[Fraction(1, 3)], [Fraction(2, 3)], [10**30 + 1]]
    certificate = certify(X, [0, 2, 1], family="poisson", fit_intercept=False)
    assert certificate.arithmetic == "rational"
    assert verify(certificate, X, [0, 2, 1])
    assert json.dumps(certificate.to_dict())


def test_columns_that_depend_up_to_rounding_are_named_beside_the_verdict():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, 30).astype(float)
    frame = pd.DataFrame({"age": age, "z": 0.1 * age + 0.1, "w": 2 * age + 1})
    y = age > 40
    certificate = certify(frame, y)
    assert "Up to rounding, 'z' depends on earlier columns; read exactly, it does not." in certificate.reason
    assert "Dependent columns: w = " in str(certificate.coefficients)
    assert verify(certificate, frame, y)


def test_the_decimal_reading_is_mentioned_if_it_changes_the_verdict():
    frame = pd.DataFrame({"a": [0.1, 0.2, 0.3, 0.4, 0.7], "b": [0.3, 0.6, 0.9, 1.2, 2.1]})
    certificate = certify(frame, [0, 1, 0, 1, 0])
    decimal = certify(frame, [0, 1, 0, 1, 0], exact="decimal")
    assert (certificate.verdict, decimal.verdict) == ("separable", "overlapping")
    assert 'Read as decimals (exact="decimal") the verdict is overlap.' in certificate.reason
    assert "decimals" not in decimal.reason


def test_cells_that_are_arrays_are_refused_in_words():
    cells = np.empty((2, 1), object)
    cells[0, 0], cells[1, 0] = np.zeros(2), 1
    with pytest.raises(InvalidInput):
        certify(cells, [0, 1])


@pytest.mark.parametrize("kernel", ["quadratic", "poly", "rbf"])
@pytest.mark.parametrize(
    "option",
    [{"family": "poisson"}, {"fit_intercept": False}, {"missing": "drop"}, {"sample_weight": [1, 0, 1]}],
)
def test_a_kernel_takes_no_options_of_a_regression(kernel, option):
    with pytest.raises(InvalidInput, match="the options of a regression"):
        certify([[0], [1], [2]], [0, 1, 0], kernel=kernel, **option)


def test_two_columns_of_responses_name_their_family():
    with pytest.raises(InvalidInput, match='family="binomial"'):
        certify([[1], [2]], [[1, 2], [3, 4]])


def test_a_dict_without_columns_is_refused():
    pytest.importorskip("formulaic")
    with pytest.raises(InvalidInput):
        certify({}, formula="y ~ x")
