"""Firth's estimates against the published ones, a slow oracle, and the laws that they obey."""

from decimal import Decimal
from functools import partial
from math import erfc, sqrt

import numpy as np
import pytest
from scipy.sparse import csr_array

from oracles.penalised import likelihood, maximum, scores
from oracles.published import (
    CASE,
    ENDOMETRIAL_DESIGN,
    GRADE,
    LOGISTF_ENDOMETRIAL,
    LOGISTF_SEX2,
    SEX2_DESIGN,
    WOMEN,
)
from rosenblatt.errors import InvalidInput
from rosenblatt.regression import firth

NAMES = ("constant", "NV", "PI", "EH")
CHI_SQUARE_95 = 3.841458820694124


def random_design(seed, n=30, k=3):
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n), rng.standard_normal((n, k))])
    return design, rng.random(n) < 0.4


def separated(seed, *, quasi=False):
    """Classes on either side of a hyperplane; with `quasi` some rows of both on it."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 60)), int(rng.integers(1, 4))
    features = rng.standard_normal((n, k))
    score = features @ rng.standard_normal(k)
    if quasi:
        features[:4], score[:4] = features[4], score[4]
    y = score > score[4]
    if quasi:
        y[:4] = [True, False, True, False]
    return np.column_stack([np.ones(n), features]), y


@pytest.fixture(scope="module")
def endometrial():
    return firth(ENDOMETRIAL_DESIGN, GRADE, names=NAMES)


@pytest.fixture(scope="module")
def penalised():
    return partial(likelihood, ENDOMETRIAL_DESIGN, GRADE)


def assert_same(first, second, atol=1e-8):
    for name in ("estimates", "standard_errors", "lower", "upper", "p_values"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-8, atol=atol, err_msg=name)


def test_the_published_estimates_of_endometrial_cancer(endometrial):
    for name, published in LOGISTF_ENDOMETRIAL.items():
        np.testing.assert_allclose(getattr(endometrial, name), published, rtol=0, atol=2e-6, err_msg=name)


def test_the_published_estimates_of_urinary_infections():
    fit = firth(SEX2_DESIGN, CASE, sample_weight=WOMEN)
    for name, published in LOGISTF_SEX2.items():
        np.testing.assert_allclose(getattr(fit, name), published, rtol=1e-6, atol=2e-6, err_msg=name)


def test_the_scores_vanish_at_the_estimates(endometrial, penalised):
    exact, value = maximum(penalised, endometrial.estimates)
    assert max(map(abs, scores(penalised, exact))) < Decimal("1e-12")
    np.testing.assert_allclose(endometrial.estimates, np.array(exact, dtype=float), rtol=0, atol=1e-10)
    assert max(map(abs, scores(penalised, endometrial.estimates))) < Decimal("1e-10")
    assert endometrial.log_likelihood == pytest.approx(float(value), abs=1e-12)


@pytest.mark.parametrize(("end", "column"), [("upper", 1), ("lower", 3)])
def test_at_the_ends_of_an_interval_the_profile_has_fallen_by_half_the_quantile(endometrial, penalised, column, end):
    fixed = {column: getattr(endometrial, end)[column]}
    _, value = maximum(penalised, endometrial.estimates, fixed)
    assert 2 * (endometrial.log_likelihood - float(value)) == pytest.approx(CHI_SQUARE_95, abs=1e-8)


def test_the_p_value_is_that_of_the_likelihood_ratio(endometrial, penalised):
    _, value = maximum(penalised, endometrial.estimates, {2: 0})
    ratio = 2 * (endometrial.log_likelihood - float(value))
    # The square of a standard normal variable exceeds it with this probability.
    assert endometrial.p_values[2] == pytest.approx(erfc(sqrt(ratio / 2)), abs=1e-10)


def test_standard_errors_are_the_inverse_of_the_information(endometrial):
    design = np.array(ENDOMETRIAL_DESIGN)
    p = 1 / (1 + np.exp(-design @ endometrial.estimates))
    covariance = np.linalg.inv(design.T @ (design * (p * (1 - p))[:, None]))
    np.testing.assert_allclose(endometrial.standard_errors, np.sqrt(np.diag(covariance)), rtol=1e-9)


def test_a_table_of_four_cells_has_its_odds_ratio_with_half_a_row_added_to_each():
    # The saturated model of two groups: Firth's estimates are the logits with 1/2 added to each cell.
    fit = firth([[1, 0], [1, 1]], [[7, 3], [5, 0]])
    logit = [np.log(7.5 / 3.5), np.log(5.5 / 0.5)]
    np.testing.assert_allclose(fit.estimates, [logit[0], logit[1] - logit[0]], rtol=1e-12)


def test_counts_of_one_group_have_half_an_event_added():
    fit = firth([[1.0], [1.0], [1.0]], [0, 0, 0], family="poisson")
    np.testing.assert_allclose(fit.estimates, [np.log(0.5 / 3)], rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_counts_agree_with_the_oracle(seed):
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(12), rng.integers(0, 3, 12), np.arange(12) < 3])
    counts = np.where(design[:, 2] > 0, 0, rng.poisson(3, 12))  # no events in the group: its estimate diverges
    fit = firth(design, counts, family="poisson")
    exact, _ = maximum(partial(likelihood, design.tolist(), counts.tolist(), family="poisson"), fit.estimates)
    np.testing.assert_allclose(fit.estimates, np.array(exact, dtype=float), rtol=0, atol=1e-10)
    assert np.isfinite([fit.lower, fit.upper, fit.p_values]).all()


@pytest.mark.parametrize("scale", [1e-6, 1e3, 1e9])
def test_units_of_a_column_change_its_coefficient_only(endometrial, scale):
    units = np.array([1.0, 1.0, scale, 1.0])
    fit = firth(np.array(ENDOMETRIAL_DESIGN) * units, GRADE)
    for name in ("estimates", "standard_errors", "lower", "upper"):
        np.testing.assert_allclose(getattr(fit, name) * units, getattr(endometrial, name), rtol=1e-9, err_msg=name)
    np.testing.assert_allclose(fit.p_values, endometrial.p_values, rtol=1e-8)


def test_another_zero_of_a_column_changes_the_intercept_only(endometrial):
    design = np.array(ENDOMETRIAL_DESIGN)
    design[:, 2] = 32 + 1.8 * design[:, 2]
    fit = firth(design, GRADE)
    np.testing.assert_allclose(fit.estimates[1:], endometrial.estimates[1:] / [1, 1.8, 1], rtol=1e-10)
    np.testing.assert_allclose(fit.upper[1:], endometrial.upper[1:] / [1, 1.8, 1], rtol=1e-9)
    np.testing.assert_allclose(fit.p_values[1:], endometrial.p_values[1:], rtol=1e-8)


def test_the_order_of_rows_makes_no_difference(endometrial):
    order = np.random.default_rng(0).permutation(len(GRADE))
    assert_same(firth(np.array(ENDOMETRIAL_DESIGN)[order], np.array(GRADE)[order]), endometrial)


def test_weights_groups_and_repeated_rows_are_the_same():
    design, y = random_design(3)
    count = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = firth(design, y, sample_weight=count)
    assert_same(weighted, firth(np.repeat(design, count, axis=0), np.repeat(y, count)))
    assert_same(weighted, firth(design, np.column_stack([count * y, count * ~y])))


def test_an_offset_adds_to_the_predictor():
    design, y = random_design(4)
    plain, shifted = firth(design, y), firth(design, y, offset=2.5 * design[:, 1])
    np.testing.assert_allclose(shifted.estimates, plain.estimates - [0, 2.5, 0, 0], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(shifted.upper, plain.upper - [0, 2.5, 0, 0], rtol=1e-8, atol=1e-8)


def test_swapping_the_classes_changes_signs():
    design, y = separated(5)
    one, other = firth(design, y), firth(design, ~y)
    np.testing.assert_allclose(one.estimates, -other.estimates, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.lower, -other.upper, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("quasi", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_separated_data_has_finite_estimates_inside_finite_intervals(seed, quasi):
    design, y = separated(seed, quasi=quasi)
    fit = firth(design, y)
    assert fit.converged
    assert not fit.note
    assert (fit.lower < fit.estimates).all()
    assert (fit.estimates < fit.upper).all()
    assert np.isfinite([fit.lower, fit.upper]).all()
    # The likelihood ratio test and the interval agree on zero.
    np.testing.assert_array_equal(fit.p_values < 0.05, (fit.lower > 0) | (fit.upper < 0))


def test_a_single_class_has_finite_estimates():
    fit = firth(np.column_stack([np.ones(5), np.arange(5)]), np.ones(5))
    assert np.isfinite([fit.estimates, fit.lower, fit.upper]).all()


def test_a_higher_level_gives_wider_intervals():
    design, y = random_design(6)
    narrow, wide = firth(design, y, level=0.9), firth(design, y, level=0.99)
    assert (wide.lower < narrow.lower).all()
    assert (narrow.upper < wide.upper).all()


def test_a_dependent_column_is_named_and_the_others_are_as_without_it():
    design, y = random_design(7)
    wider = np.column_stack([design[:, :3], design[:, 1] - 2 * design[:, 2], design[:, 3]])
    fit, without = firth(wider, y, names=list("abcde")), firth(design, y)
    assert "'d'" in fit.note
    assert np.isnan([fit.estimates[3], fit.lower[3], fit.upper[3], fit.p_values[3]]).all()
    np.testing.assert_allclose(np.delete(fit.estimates, 3), without.estimates, rtol=1e-10)


def test_columns_of_zeros_alone_identify_nothing():
    fit = firth([[0.0], [0.0]], [0, 1])
    assert "'x0'" in fit.note
    assert np.isnan(fit.estimates).all()


def test_an_extreme_row_is_no_obstacle():
    design, y = random_design(8)
    design[0, 1] = 1e7
    fit = firth(design, y)
    assert fit.converged
    assert np.isfinite([fit.estimates, fit.lower, fit.upper]).all()


def test_tables_show_every_coefficient(endometrial):
    frame = endometrial.to_frame()
    assert list(frame["coefficient"]) == list(NAMES)
    assert list(frame["0.95 upper"]) == endometrial.upper.tolist()
    assert str(endometrial).splitlines()[2].split() == ["NV", "2.92927", "1.55076", "0.609724", "7.85463", "0.00912367"]


@pytest.mark.parametrize(
    ("design", "y", "options", "fault"),
    [
        ([[1.0, np.nan]], [1], {}, "NaN"),
        ([[1.0], [2.0]], [0, 2], {}, "value 2"),
        ([[1.0], [2.0]], [0, 1, 1], {}, r"shape \(3,\)"),
        ([[1.0], [2.0]], ["no", "yes"], {}, "cannot be read as numbers"),
        ([[1.0], [2.0]], [0, np.nan], {}, "missing"),
        ([[1.0], [2.0]], [[1, -1], [0, 1]], {}, "value -1"),
        ([[1.0], [2.0]], [[0, 0], [0, 0]], {}, "no successes"),
        ([[1.0], [2.0]], [-1, 1], {"family": "poisson"}, "value -1"),
        ([[1.0], [2.0]], [0, 1], {"family": "probit"}, "'probit'"),
        ([[1.0], [2.0]], [0, 1], {"sample_weight": [1, -1]}, "negative"),
        ([[1.0], [2.0]], [0, 1], {"offset": [1]}, "offset has shape"),
        ([[1.0], [2.0]], [0, 1], {"names": ["a", "b"]}, "2 names for 1 columns"),
        ([[1.0], [2.0]], [0, 1], {"level": 95}, "level=95"),
    ],
)
def test_faulty_arguments_are_refused_with_the_value_and_a_remedy(design, y, options, fault):
    with pytest.raises(InvalidInput, match=fault) as error:
        firth(design, y, **options)
    assert any(verb in str(error.value) for verb in ("Pass", "Leave out", "Correct", "Remove", "Choose"))


def test_a_sparse_design_is_refused():
    with pytest.raises(InvalidInput, match="toarray"):
        firth(csr_array(np.eye(2)), [0, 1])
