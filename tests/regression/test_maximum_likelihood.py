"""Maximum-likelihood estimates, alone and in the limit of separated data."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from oracles.penalised import likelihood, maximum
from oracles.published import ENDOMETRIAL_DESIGN, GLM_ENDOMETRIAL, GRADE
from rosenblatt import certify
from rosenblatt.errors import InvalidInput
from rosenblatt.regression import maximum_likelihood


def test_the_published_limit_of_endometrial_cancer():
    certificate = certify([row[1:] for row in ENDOMETRIAL_DESIGN], GRADE)
    fit = maximum_likelihood(ENDOMETRIAL_DESIGN, GRADE, separated=certificate.extreme)
    estimates, errors, deviance = GLM_ENDOMETRIAL
    np.testing.assert_allclose(np.delete(fit.estimates, 1), estimates, rtol=0, atol=5e-6)
    np.testing.assert_allclose(np.delete(fit.standard_errors, 1), errors, rtol=0, atol=5e-6)
    assert np.isnan([fit.estimates[1], fit.standard_errors[1]]).all()
    assert -2 * fit.log_likelihood == pytest.approx(deviance, abs=5e-4)


def test_without_the_separated_rows_a_fit_of_separated_data_does_not_converge_and_says_so():
    fit = maximum_likelihood(ENDOMETRIAL_DESIGN, GRADE)
    assert not fit.converged
    assert "did not converge" in fit.note
    assert np.isnan(fit.estimates).all()


@pytest.mark.parametrize("family", ["binomial", "poisson"])
@pytest.mark.parametrize("seed", range(2))
def test_estimates_agree_with_the_oracle(seed, family):
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(20), rng.standard_normal((20, 2))])
    y = (rng.random(20) < 0.5).astype(int) if family == "binomial" else rng.poisson(2, 20)
    weights = rng.integers(1, 4, 20)
    fit = maximum_likelihood(design, y, family=family, sample_weight=weights)
    assert fit.converged
    plain = partial(likelihood, design.tolist(), y.tolist(), family=family, weights=weights.tolist(), penalty=False)
    exact, _ = maximum(plain, fit.estimates)
    np.testing.assert_allclose(fit.estimates, np.array(exact, dtype=float), rtol=0, atol=1e-11)
    p = 1 / (1 + np.exp(-design @ fit.estimates))
    variance = weights * (p * (1 - p) if family == "binomial" else np.exp(design @ fit.estimates))
    covariance = np.linalg.inv(design.T @ (design * variance[:, None]))
    np.testing.assert_allclose(fit.standard_errors, np.sqrt(np.diag(covariance)), rtol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_as_separated_coefficients_grow_the_others_and_the_likelihood_tend_to_the_limit(seed):
    # All who were treated were cured. With their coefficient fixed far out, the others are near the limit.
    rng = np.random.default_rng(seed)
    treated = np.arange(30) % 3 == 0
    design = np.column_stack([np.ones(30), rng.standard_normal(30), treated])
    y = (rng.random(30) < 0.5) | treated
    limit = maximum_likelihood(design, y, separated=np.flatnonzero(treated))
    far = maximum_likelihood(design[:, :2], y, offset=40.0 * treated)
    np.testing.assert_allclose(limit.estimates[:2], far.estimates, rtol=1e-9)
    np.testing.assert_allclose(limit.standard_errors[:2], far.standard_errors, rtol=1e-9)
    assert limit.log_likelihood == pytest.approx(far.log_likelihood, rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_what_the_limit_identifies_are_the_finite_estimates_of_the_certificate(seed):
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 3, (int(rng.integers(6, 16)), 3)).astype(float)
    y = rng.random(len(features)) < 0.5
    y[0], y[1] = True, False
    certificate = certify(pd.DataFrame(features, columns=list("abc")), y)
    *estimates, intercept = certificate.estimates
    separated = range(len(y)) if certificate.verdict == "separable" else certificate.extreme
    fit = maximum_likelihood(np.column_stack([np.ones(len(y)), features]), y, separated=separated)
    assert fit.converged
    np.testing.assert_array_equal(np.isfinite(fit.estimates), [kind == "finite" for kind in (intercept, *estimates)])


def test_counts_of_a_group_without_events_tend_to_zero():
    # The primer on separation of ppmlhdfe: x is positive only where y is 0, so its coefficient is -inf.
    design, counts = [[1, 1], [1, 1], [1, 0], [1, 0], [1, 0], [1, 0]], [0, 0, 0, 1, 2, 3]
    fit = maximum_likelihood(design, counts, separated=[0, 1], family="poisson")
    np.testing.assert_allclose(fit.estimates[0], np.log(6 / 4), rtol=1e-12)
    np.testing.assert_allclose(fit.standard_errors[0], 1 / np.sqrt(6), rtol=1e-12)
    assert np.isnan(fit.estimates[1])
    assert "'x1'" in fit.note


def test_an_exposure_is_an_offset():
    exposure, counts = np.array([1.0, 10.0, 100.0]), [1, 9, 110]
    fit = maximum_likelihood(np.ones((3, 1)), counts, family="poisson", offset=np.log(exposure))
    np.testing.assert_allclose(fit.estimates, np.log(120 / 111), rtol=1e-12)


def test_groups_are_the_rows_they_count():
    design = np.array([[1, 0.0], [1, 1.0], [1, 3.0]])
    grouped = maximum_likelihood(design, [[3, 2], [1, 4], [6, 1]])
    y = np.repeat([1, 0, 1, 0, 1, 0], [3, 2, 1, 4, 6, 1])
    single = maximum_likelihood(np.repeat(design, [5, 5, 7], axis=0), y)
    np.testing.assert_allclose(grouped.estimates, single.estimates, rtol=1e-10)
    np.testing.assert_allclose(grouped.log_likelihood, single.log_likelihood, rtol=1e-12)


def test_complete_separation_leaves_no_estimate():
    fit = maximum_likelihood([[1, 0], [1, 1]], [0, 1], separated=[0, 1], names=["one", "dose"])
    assert np.isnan(fit.estimates).all()
    assert fit.log_likelihood == 0
    assert "'one' and 'dose'" in fit.note


def test_a_column_that_depends_on_others_is_told_from_one_that_is_infinite():
    design = [[1, 0, 0, 0], [1, 1, 2, 0], [1, 2, 4, 0], [1, 3, 6, 0], [1, 1, 2, 1]]
    fit = maximum_likelihood(design, [0, 1, 0, 1, 1], separated=[4], names=["one", "dose", "double", "treated"])
    assert np.isfinite(fit.estimates[:2]).all()
    assert "columns before it: 'double'" in fit.note
    assert "identify 'treated'" in fit.note


def test_columns_that_only_separated_rows_tell_apart_have_no_estimate():
    # Without row 4, a and b are one column. Neither has an estimate of its own; the constant does.
    design = [[1, 0, 0], [1, 1, 1], [1, 2, 2], [1, 3, 3], [1, 0, 5]]
    fit = maximum_likelihood(design, [0, 1, 0, 1, 1], separated=[4], names=["one", "a", "b"])
    assert np.isfinite(fit.estimates).tolist() == [True, False, False]


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_make_no_difference(scale):
    units, design = np.array([1, 1, scale, 1]), np.array(ENDOMETRIAL_DESIGN)
    separated = np.flatnonzero(design[:, 1])
    fit = maximum_likelihood(design * units, GRADE, separated=separated)
    plain = maximum_likelihood(design, GRADE, separated=separated)
    np.testing.assert_allclose(fit.estimates * units, plain.estimates, rtol=1e-10)


@pytest.mark.parametrize("rows", [[2], [-1]])
def test_separated_rows_that_do_not_exist_are_refused(rows):
    with pytest.raises(InvalidInput, match=r"Certificate\.extreme"):
        maximum_likelihood([[1.0], [1.0]], [0, 1], separated=rows)
