"""ALMA: the oracle's weights, Gentile's bound, and nearly the widest margin."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles import family
from oracles.cases import separable
from rosenblatt import ALMA, MaximumMargin
from rosenblatt.bounds import alma2, alma2_margin
from rosenblatt.errors import InvalidInput
from strategies import integer_sets

THREE = {"shuffle": False, "max_iter": 3, "tol": None}


def pad(X):
    return np.c_[X, np.ones(len(X))]


def clear(run, alpha):
    """Whether no margin is so close to what is wanted that rounding decides on the correction."""
    made = np.zeros(len(run.margins))
    made[run.trials] = 1
    k = 1 + np.cumsum(made) - made
    return (np.abs(np.array(run.margins) - (1 - alpha) * np.sqrt(8 / k) / alpha) > 1e-9).all()


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@given(data=integer_sets(), alpha=st.sampled_from([0.2, 0.5, 0.9]))
def test_the_weights_and_the_mistakes_are_those_of_the_oracle(sparse, data, alpha):
    X, label = data
    run = family.alma2(pad(X), (2 * label - 1).tolist(), [range(len(X))] * 3, alpha=alpha)
    assume(clear(run, alpha))
    model = ALMA(approximation=alpha, intercept_scaling=1.0, **THREE).fit(sp.csr_array(X) if sparse else X, label)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), run.w, rtol=1e-9, atol=1e-9)
    assert model.run_.updates == sum(run.updates)
    if (np.abs(run.margins[1:]) > 1e-9).all():  # else rounding decides what is a mistake
        assert list(model.run_.mistakes) == run.mistakes[: model.n_iter_]


@given(separable(most_rows=12, most_features=3), st.sampled_from([0.3, 0.5, 1.0]))
def test_corrections_and_final_margin_keep_gentiles_bounds(case, alpha):
    unit = case.rows / np.linalg.norm(case.rows, axis=1)[:, None]
    margin = (case.labels * (unit @ case.u)).min() / np.linalg.norm(case.u)
    assume(len(set(case.labels.tolist())) == 2)
    model = ALMA(approximation=alpha, fit_intercept=False, tol=None, max_iter=200).fit(case.rows, case.labels)
    assert model.run_.updates <= alma2(margin, alpha)
    w = model.coef_[0]
    assert np.linalg.norm(w) <= 1 + 1e-9
    if "without" in model.stop_reason_:
        assert (case.labels * (unit @ w)).min() / np.linalg.norm(w) >= alma2_margin(margin, alpha) * (1 - 1e-9)


def test_the_margin_comes_close_to_the_widest():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    X = X[np.abs(X @ [1.0, -1.0, 0.5]) > 0.3]
    X = np.r_[X, -X] / np.linalg.norm(np.r_[X, X], axis=1)[:, None]  # symmetric: the best hyperplane has no bias
    y = (X @ [1.0, -1.0, 0.5] > 0).astype(int)
    sign, widest = 2 * y - 1, MaximumMargin().fit(X, y).margin_[0]
    for approximation in (0.9, 0.5, 0.1):
        model = ALMA(approximation=approximation, fit_intercept=False, tol=None, max_iter=5000).fit(X, y)
        reached = (sign * (X @ model.coef_[0])).min() / np.linalg.norm(model.coef_[0])
        assert (1 - approximation) * widest <= reached <= widest * (1 + 1e-6)


@given(integer_sets(), st.sampled_from([0.5, 3.0]))
def test_the_length_of_a_row_does_not_matter_without_a_bias(data, factor):
    X, label = data
    one, other = (ALMA(fit_intercept=False, **THREE).fit(rows, label) for rows in (X, factor * X))
    run = family.alma2(X, (2 * label - 1).tolist(), [range(len(X))] * 3, alpha=0.5)
    assume(clear(run, 0.5))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9, atol=1e-9)


def test_a_weight_is_a_factor_of_the_step():
    X, y = np.array([[3.0, 4.0], [-1.0, 0.0]]), [1, 0]
    model = ALMA(fit_intercept=False, shuffle=False, max_iter=1, tol=None)
    model.fit(X, y, sample_weight=[0.5, 0.25])
    w = np.sqrt(2) * 0.5 * np.array([0.6, 0.8])
    w = w - np.sqrt(2 / 2) * 0.25 * np.array([-1.0, 0.0])
    np.testing.assert_allclose(model.coef_[0], w / max(1.0, np.linalg.norm(w)), rtol=1e-12)


def test_a_row_of_zeros_without_a_bias_is_a_mistake_for_ever():
    model = ALMA(fit_intercept=False, max_iter=4, tol=None).fit([[0.0], [1.0], [-1.0]], [1, 1, 0])
    assert model.run_.mistakes[-1] == 1
    assert "without" not in model.stop_reason_


def test_small_scales_are_multiplied_in_and_change_nothing():
    rng = np.random.default_rng(0)
    X, label = rng.standard_normal((400, 3)).astype(np.float32), rng.integers(0, 2, 400)
    model = ALMA(approximation=0.05, shuffle=False, max_iter=5, tol=None, intercept_scaling=1.0).fit(X, label)
    run = family.alma2(pad(X.astype(float)), (2 * label - 1).tolist(), [range(400)] * 5, alpha=0.05)
    assert model.coef_.dtype == np.float32
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), run.w, atol=1e-4)


def test_weights_that_are_assigned_are_gone_on_from():
    X, y = np.eye(3), [0, 1, 1]
    model = ALMA(fit_intercept=False).partial_fit(X, y)
    model.coef_ = [[3.0, 0.0, 4.0]]  # outside the ball
    model.partial_fit(X[:1], [0])  # y w.x = -3, a correction by sqrt(2), back to the ball
    moved = np.array([3.0 - np.sqrt(2), 0.0, 4.0])
    np.testing.assert_allclose(model.coef_[0], moved / np.linalg.norm(moved), rtol=1e-12)


@pytest.mark.parametrize("approximation", [0.0, 1.5, np.nan])
def test_a_share_outside_its_range_is_refused(approximation):
    with pytest.raises(InvalidInput, match="a number above 0 and up to 1"):
        ALMA(approximation=approximation).fit([[0.0], [1.0]], [0, 1])


def test_classes_that_compete_have_no_projection():
    with pytest.raises(InvalidInput, match="does not exist for ALMA: choose one of 'ovr', 'ovo', 'ovo-vote'"):
        ALMA(multiclass="joint").fit(np.eye(3), [0, 1, 2])
