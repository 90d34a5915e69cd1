"""Winnow: promotions, demotions, thresholds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import family
from rosenblatt import Winnow
from rosenblatt.bounds import winnow1
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.winnow import Multiplicative, WinnowRule
from rosenblatt.training.algorithm import EpochArgs, new_counts
from rosenblatt.training.multiclass import coding_matrix, make_task
from strategies import integer_sets

THREE = {"shuffle": False, "max_iter": 3, "tol": None}


@given(data=integer_sets(), factor=st.sampled_from([2.0, 4.0]))  # whose powers are exact
def test_the_balanced_form_is_the_oracle(data, factor):
    X, label = data
    model = Winnow(factor=factor, **THREE).fit(X, label)
    rows = np.c_[X, np.ones(len(X))]
    run = family.balanced_winnow(rows, (2 * label - 1).tolist(), [range(len(X))] * model.n_iter_, alpha=factor)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), run.w, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_a_disjunction_is_learned_within_littlestones_bound(seed):
    rng = np.random.default_rng(seed)
    n, k = 64, 3
    X = (rng.random((300, n)) < 0.1).astype(float)
    y = X[:, :k].any(axis=1).astype(int)
    model = Winnow(balanced=False, factor=2.0, threshold=n / 2, eliminate=True, max_iter=50, tol=None).fit(X, y)
    assert sum(model.run_.mistakes) <= winnow1(k, n, 2.0, n / 2)
    assert model.score(X, y) == 1.0
    irrelevant = model.coef_[0, k:]
    assert (irrelevant < model.coef_[0, :k].min()).all()


def test_a_demotion_eliminates_for_good():
    model = Winnow(balanced=False, eliminate=True, threshold=0.5, **THREE).fit([[1.0, 1.0], [0.0, 1.0]], [0, 1])
    assert model.coef_.tolist() == [[0.0, 0.0]]


def test_the_threshold_is_half_the_features_by_default():
    X = np.abs(np.random.default_rng(0).standard_normal((20, 6)))
    assert Winnow(balanced=False).fit(X, np.arange(20) % 2).intercept_.tolist() == [-3.0]
    assert Winnow(balanced=False, threshold=2.0).fit(X, np.arange(20) % 2).intercept_.tolist() == [-2.0]


def test_new_classes_must_be_announced_where_there_is_a_threshold():
    X = np.abs(np.random.default_rng(0).standard_normal((6, 2)))
    model = Winnow(balanced=False).partial_fit(X, [0, 1, 0, 1, 0, 1])
    with pytest.raises(InvalidInput, match=r"new classes \[2\] cannot appear mid-stream here: announce them"):
        model.partial_fit(X[:1], [2])
    assert model.classes_.tolist() == [0, 1]
    announced = Winnow(balanced=False).partial_fit(X, [0, 1, 0, 1, 0, 1], classes=[0, 1, 2]).partial_fit(X[:1], [2])
    assert announced.classes_.tolist() == [0, 1, 2]


def test_weights_stay_finite_on_data_that_nothing_fits():
    X, y = np.full((4, 1), 50.0), [0, 1, 0, 1]
    for balanced in (True, False):
        model = Winnow(balanced=balanced, factor=9.0, max_iter=200, tol=None).fit(X, y)
        assert np.isfinite(model.coef_).all()


def test_negative_features_need_the_balanced_form():
    with pytest.raises(InvalidInput, match=r"Negative values in data passed to Winnow: X goes down to -1"):
        Winnow(balanced=False).fit([[-1.0], [1.0]], [0, 1])


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_a_stream_goes_on_with_as_many_problems_as_its_form_has(first, learn):
    """The balanced form has a reserve class, Littlestone's has none: a loop must not look for it."""
    X, y = np.random.default_rng(0).integers(0, 3, (24, 4)).astype(float), np.arange(24) % 3
    model = getattr(Winnow(balanced=first), learn)(X, y).set_params(balanced=not first)
    for row, label in zip(X[:5], y[:5], strict=True):
        model.learn_one(row, int(label))
    assert model._stream.state.b.size == (3 if first else 4)  # three classes, and the reserve class
    assert model.partial_fit(X, y).predict(X).shape == (24,)


def after(algorithm, X, label):
    """Return the state after one pass over two classes."""
    sign, every = coding_matrix(2, "ovr"), np.empty(0, np.int32)
    task = make_task(np.array(label, np.int32), sign, "ovr", weight=np.empty(0), bias=0.0)
    state = algorithm.start(1, len(X[0]), np.float64)
    rows = as_table(np.array(X, float)).rows
    algorithm.run_epoch(EpochArgs(rows, task, every, every, np.arange(1), 1.0, new_counts(1), False), state, state)
    return state


def test_a_promotion_multiplies_the_weights_of_the_features_that_are_there():
    state = after(Multiplicative(WinnowRule(2.0, False), 3.0), [[1, 0, 1]], [1])
    assert state.W.tolist() == [[2.0, 1.0, 2.0]]


@pytest.mark.parametrize(("eliminate", "weight"), [(False, 0.5), (True, 0.0)])
def test_a_demotion_divides_or_eliminates(eliminate, weight):
    state = after(Multiplicative(WinnowRule(2.0, eliminate), 0.5), [[1, 0, 1]], [0])
    assert state.W.tolist() == [[weight, 1.0, weight]]


def test_balanced_weights_take_either_sign():
    rule = WinnowRule(2.0, balanced=True)
    assert after(Multiplicative(rule), [[1, -1]], [1]).W.tolist() == [[1.5, -1.5]]
    assert after(Multiplicative(rule), [[1, -1]], [0]).W.tolist() == [[-1.5, 1.5]]


def test_states_of_other_rules_are_of_another_kind():
    rules = WinnowRule(2.0, False), WinnowRule(2.0, True), WinnowRule(2.0, balanced=True)
    assert len({Multiplicative(rule, threshold).kind for rule in rules for threshold in (1.0, 2.0)}) == 6


@pytest.mark.parametrize(
    ("rule", "threshold", "label", "wanted"),
    [
        (WinnowRule(2.0, False), 9.0, 1, [2.0, 1.0, 4.0]),
        (WinnowRule(2.0, False), 0.5, 0, [0.5, 1.0, 0.25]),
        (WinnowRule(2.0, True), 0.5, 0, [0.0, 1.0, 0.0]),
        (WinnowRule(2.0, balanced=True), 0.0, 1, [1.5, 0.0, 3.75]),
    ],
    ids=["promotion", "demotion", "elimination", "balanced"],
)
def test_a_mistake_multiplies_the_weights_of_the_features_of_the_row(rule, threshold, label, wanted):
    algorithm, every = Multiplicative(rule, threshold), np.empty(0, np.int32)
    state = algorithm.start(1, 3, np.float64)
    task = make_task(np.array([label], np.int32), coding_matrix(2, "ovr"), "ovr", weight=np.empty(0), bias=0.0)
    rows, counts = as_table([[1.0, 0.0, 2.0]]).rows, new_counts(1)
    algorithm.run_epoch(EpochArgs(rows, task, every, every, np.arange(1), 1.0, counts, False), state, state)
    assert state.W[0].tolist() == wanted
    assert counts.mistakes.tolist() == [1]
