"""Passive-aggressive learning: the least change that reaches the margin, or an error of at most epsilon."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

from oracles import family
from rosenblatt import PassiveAggressive, PassiveAggressiveRegressor, bounds
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


# --------------------------------------------------------------------------------------------------------- of numbers

OF_NUMBERS = [("epsilon_insensitive", math.inf), ("epsilon_insensitive", 0.3), ("squared_epsilon_insensitive", 0.3)]
TARGETS = st.lists(
    st.tuples(st.lists(st.integers(-3, 3), min_size=2, max_size=2), st.integers(-5, 5)), min_size=1, max_size=12
)


def oracle(rows, targets, *, C, loss, epsilon, weights=None, w=None):
    """One pass of PA, PA-I or PA-II for numbers; returns the weights and the losses."""
    w, losses = np.zeros(rows.shape[1]) if w is None else w, []
    for x, y, weight in zip(rows, targets, np.ones(len(rows)) if weights is None else weights, strict=True):
        error = y - w @ x
        lost = max(0.0, abs(error) - epsilon)
        losses.append(lost)
        if lost and weight and x @ x:
            slack = 1 / (2 * C * weight) if loss == "squared_epsilon_insensitive" else 0.0
            most = C * weight if loss == "epsilon_insensitive" else math.inf
            w = w + min(most, lost / (x @ x + slack)) * math.copysign(1.0, error) * x
    return w, losses


def arrays(data):
    return np.array([x for x, _ in data], float), np.array([y for _, y in data], float)


@pytest.mark.parametrize(("loss", "C"), OF_NUMBERS)
@given(data=TARGETS, weighted=st.booleans())
def test_a_pass_is_the_oracle_in_fits_and_streams_dense_and_sparse(loss, C, data, weighted):
    X, y = arrays(data)
    weight = np.arange(len(y)) % 3 * 0.75 if weighted and len(y) > 1 else None
    w, losses = oracle(pad(X), y, C=C, loss=loss, epsilon=0.5, weights=weight)
    options = {"C": C, "loss": loss, "epsilon": 0.5}
    once = PassiveAggressiveRegressor(shuffle=False, max_iter=1, tol=None, **options).fit(X, y, weight)
    np.testing.assert_allclose(np.append(once.coef_, once.intercept_), w, rtol=1e-9, atol=1e-9)
    stream = PassiveAggressiveRegressor(**options).partial_fit(csr_array(X), y, weight)
    np.testing.assert_allclose(np.append(stream.coef_, stream.intercept_), w, rtol=1e-9, atol=1e-9)
    if weight is None:
        squares = np.square(losses) if loss.startswith("squared") else np.array(losses)
        assert stream.run_.losses[0] == pytest.approx(squares.mean())
        row_by_row = PassiveAggressiveRegressor(**options)
        for x, target in zip(X, y, strict=True):
            row_by_row.learn_one(x, target)
        np.testing.assert_array_equal(row_by_row.coef_, PassiveAggressiveRegressor(**options).partial_fit(X, y).coef_)


@pytest.mark.parametrize(("loss", "C"), OF_NUMBERS[:2])
@given(data=TARGETS, seed=st.integers(0, 5))
def test_a_weight_of_k_is_k_rows_in_a_row(loss, C, data, seed):
    X, y = arrays(data)
    times = np.random.default_rng(seed).integers(1, 4, len(y))
    model = PassiveAggressiveRegressor(C=C, loss=loss)
    weighted = model.partial_fit(X, y, times).coef_
    again = PassiveAggressiveRegressor(C=C, loss=loss).partial_fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(again.coef_, weighted, atol=1e-9)


@given(data=TARGETS, u=st.lists(st.integers(-2, 2), min_size=3, max_size=3), C=st.sampled_from([1 / 64, 0.1, 1.0]))
def test_losses_stay_within_the_bounds_against_any_weights(data, u, C):
    X, y = arrays(data)
    rows, u = pad(X), np.array(u, float)
    radius, norm = np.linalg.norm(rows, axis=1).max(), np.linalg.norm(u)
    for targets in (y, rows @ u):  # of any kind, and such that u has no loss
        lost = np.maximum(0.0, np.abs(targets - rows @ u) - 0.5)
        run = {"epsilon": 0.5, "C": C}
        squares = np.square(oracle(rows, targets, loss="squared_epsilon_insensitive", **run)[1]).sum()
        assert squares <= bounds.passive_aggressive_2(radius, norm, (lost**2).sum(), C) * (1 + 1e-9) + 1e-9
        losses = np.array(oracle(rows, targets, loss="epsilon_insensitive", **run)[1])
        energy = np.minimum(C * losses, losses**2 / radius**2).sum()  # of the proof for PA-I
        assert energy <= (norm**2 + 2 * C * lost.sum()) * (1 + 1e-9) + 1e-9
        if not lost.any() and norm > 0:
            losses = oracle(rows, targets, loss="epsilon_insensitive", epsilon=0.5, C=math.inf)[1]
            assert np.square(losses).sum() <= bounds.passive_aggressive(radius, min(1 / norm, radius)) * (1 + 1e-9)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_it_takes_the_place_of_scikit_learns(loss):
    theirs = pytest.importorskip("sklearn.linear_model")
    if not hasattr(theirs, "PassiveAggressiveRegressor"):
        pytest.skip("this scikit-learn has none")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.1 * rng.standard_normal(60)
    options = {"C": 0.2, "epsilon": 0.05, "loss": loss, "shuffle": False, "max_iter": 3, "tol": None}
    options["fit_intercept"] = False  # of the bias, scikit-learn leaves the squared length out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        other = theirs.PassiveAggressiveRegressor(**options).fit(X, y)
    ours = PassiveAggressiveRegressor(**options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-9)


def test_a_fit_ends_when_every_error_is_small_enough_and_says_so():
    X = np.random.default_rng(0).standard_normal((50, 3))
    model = PassiveAggressiveRegressor(C=math.inf, epsilon=0.2, tol=None).fit(X, X @ [1.0, 2.0, 3.0] - 2.0)
    assert np.abs(model.predict(X) - (X @ [1.0, 2.0, 3.0] - 2.0)).max() <= 0.2 + 1e-12
    assert model.run_.stop is Stop.SEPARATED
    assert model.stop_reason_.startswith("every row has no loss: an epoch passed without an update")


def test_the_average_is_the_mean_of_the_weights():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    plain, seen = PassiveAggressiveRegressor(), []
    for x, target in zip(X, y, strict=True):
        plain.partial_fit(x[None], [target])
        seen.append(plain.coef_)
    np.testing.assert_allclose(PassiveAggressiveRegressor(average=True).partial_fit(X, y).coef_, np.mean(seen, axis=0))
