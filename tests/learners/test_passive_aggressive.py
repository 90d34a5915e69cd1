"""Passive-aggressive learning: the least change that reaches the margin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from oracles import family
from rosenblatt import PassiveAggressive
from rosenblatt.training.stopping import Stop
from strategies import integer_sets

ONE = {"shuffle": False, "max_iter": 1, "tol": None}
VARIANTS = [("hinge", np.inf, "PA"), ("hinge", 0.3, "PA-I"), ("squared_hinge", 0.3, "PA-II")]


def pad(X):
    return np.c_[X, np.ones(len(X))]


@pytest.mark.parametrize(("loss", "C", "variant"), VARIANTS)
@given(data=integer_sets())
def test_each_variant_is_the_oracle(loss, C, variant, data):
    X, label = data
    model = PassiveAggressive(loss=loss, C=C, **ONE).fit(X, label)
    run = family.passive_aggressive(pad(X), (2 * label - 1).tolist(), [range(len(X))], C=C, variant=variant)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), run.w, rtol=1e-9, atol=1e-9)
    assert sum(model.run_.mistakes) == sum(run.mistakes)


@given(data=integer_sets(), C=st.sampled_from([0.01, 0.5, np.inf]))
def test_a_step_is_no_longer_than_it_may_be(data, C):
    X, label = data
    model = PassiveAggressive(C=C)
    before = np.zeros(X.shape[1] + 1)
    for x, y in zip(X, label.tolist(), strict=True):
        model.partial_fit(x[None], [y], classes=[0, 1])
        after = np.append(model.coef_, model.intercept_)
        moved, length = after - before, x @ x + 1
        tau = (moved @ np.append(x, 1.0)) / length * (2 * y - 1)
        assert -1e-12 <= tau <= C + 1e-12
        np.testing.assert_allclose(moved, tau * (2 * y - 1) * np.append(x, 1.0), atol=1e-9)
        if np.isinf(C):
            assert (2 * y - 1) * (after @ np.append(x, 1.0)) >= 1 - 1e-9
        before = after


def test_the_average_predicts_and_the_steps_are_the_same():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), rng.integers(0, 2, 50)
    plain, average = (PassiveAggressive(average=average, **ONE).fit(X, y) for average in (False, True))
    assert average.run_.mistakes == plain.run_.mistakes
    iterates, model = [], PassiveAggressive()
    for x, label in zip(X, y.tolist(), strict=True):
        model.partial_fit(x[None], [label], classes=[0, 1])
        iterates.append(model.coef_[0].copy())
    np.testing.assert_allclose(average.coef_[0], np.mean(iterates, axis=0), atol=1e-10)


@pytest.mark.parametrize("rows", [np.asarray, csr_matrix])
def test_a_row_of_zeros_that_cannot_have_a_margin_is_a_mistake_and_not_separated(rows):
    model = PassiveAggressive(C=np.inf, fit_intercept=False, shuffle=False).fit(rows([[0.0], [1.0], [-2.0]]), [1, 1, 0])
    assert model.run_.mistakes[-1] == 1
    assert model.run_.stop is not Stop.SEPARATED


@pytest.mark.parametrize("unit", [True, False])
def test_the_first_row_of_a_stream_decides_the_padding_whatever_the_chunks(unit):
    X = np.random.default_rng(0).normal(size=(30, 5))
    X, y = X / np.linalg.norm(X, axis=1, keepdims=True) * (1 if unit else 3), np.arange(30) % 2
    whole = PassiveAggressive().partial_fit(X, y)
    assert whole.intercept_scaling_ == (0.25 if unit else 1.0)
    parts = PassiveAggressive().partial_fit(X[:7], y[:7]).partial_fit(X[7:], y[7:])
    sparse = PassiveAggressive().partial_fit(csr_matrix(X), y)
    rows, dicts = PassiveAggressive(), PassiveAggressive()
    for x, label in zip(X, y, strict=True):
        rows.learn_one(x, label)
        dicts.learn_one({f"x{j}": value for j, value in enumerate(x.tolist())}, label)
    for other in (parts, rows):
        np.testing.assert_array_equal(other.coef_, whole.coef_)
        np.testing.assert_array_equal(other.intercept_, whole.intercept_)
    for other in (sparse, dicts):
        assert other.intercept_scaling_ == whole.intercept_scaling_
        np.testing.assert_allclose(other.coef_, whole.coef_, atol=1e-12)


def test_a_row_of_one_category_does_not_count_as_scaled_to_length_one():
    assert PassiveAggressive().partial_fit([[0.0, 1.0, 0.0]], ["a"]).intercept_scaling_ == 1.0
