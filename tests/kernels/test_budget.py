"""Budgets: the rules of their papers, over any stream."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import pairwise

from oracles import reference
from rosenblatt import KernelPerceptron
from rosenblatt.kernels.budget import Budget, BudgetState
from rosenblatt.kernels.rules import BUDGET_RULES
from strategies import integer_sets

IRIS = load_iris(return_X_y=True)
MODES = ("ovr", "ovo", "joint")
few = settings(max_examples=20)


@pytest.mark.parametrize("rule", ["random", "forgetron"])
@few
@given(data=integer_sets(classes=3, most_rows=30))
def test_a_budget_that_is_never_full_changes_nothing(rule, data):
    X, label = data
    options = {"kernel": "quadratic", "fit_intercept": False, "shuffle": False, "max_iter": 2, "tol": None}
    free = KernelPerceptron(aggregate="last", **options).fit(X, label)
    bound = KernelPerceptron(budget=60, budget_rule=rule, **options).fit(X, label)
    assert bound.decision_function(X).tolist() == free.decision_function(X).tolist()


@few
@given(data=integer_sets(most_rows=40, most_features=3), size=st.integers(1, 6))
def test_the_forgetron_is_that_of_the_paper(data, size):
    X, label = data
    X = X / 4
    signs = (2 * label - 1).tolist()

    def kernel(x, z):
        return float(np.exp(-np.sum((np.array(x) - np.array(z)) ** 2)))

    active, weights = reference.forgetron(X.tolist(), signs, kernel, size)
    model = KernelPerceptron(gamma=1.0, budget=size, budget_rule="forgetron", shuffle=False, max_iter=1, tol=None)
    model.fit(X, label)
    by_age = np.argsort(model.support_)
    assert model.support_[by_age].tolist() == active
    np.testing.assert_allclose(model.dual_coef_[0, by_age], weights, rtol=1e-6)


@few
@given(data=integer_sets(most_rows=20), seed=st.integers(0, 2**31 - 1))
def test_random_eviction_replaces_one_vector_by_the_mistaken_row(data, seed):
    X, label = data
    model = KernelPerceptron(kernel="quadratic", budget=4, budget_rule="random", random_state=seed)
    members = []
    for i in range(len(X)):
        signs = 2 * label[members] - 1
        mistaken = (2 * label[i] - 1) * (signs @ (1 + X[members] @ X[i]) ** 2) <= 0
        model.partial_fit(X[i : i + 1], label[i : i + 1], classes=[0, 1])
        found = model.support_.tolist()
        assert set(found) - set(members) == ({i} if mistaken else set())
        assert len(found) == min(4, len(members) + mistaken)
        assert model.dual_coef_[0].tolist() == (2 * label[found] - 1).tolist()
        members = found


def test_random_eviction_hits_every_vector():
    X, y = np.eye(300), np.arange(300) % 2
    options = {"kernel": "linear", "budget": 5, "budget_rule": "random"}
    model = KernelPerceptron(shuffle=False, max_iter=1, tol=None, **options).fit(X, y)
    order = [KernelPerceptron(**options).partial_fit(X[:n], y[:n]).support_.tolist() for n in range(5, 60)]
    replaced = [next(s for s in range(5) if a[s] != b[s]) for a, b in itertools.pairwise(order)]
    assert set(replaced) == set(range(5))
    assert model.support_.size == 5


@few
@given(integer_sets(most_rows=20, most_features=4))
def test_the_projectron_projects_onto_the_span(data):
    X, label = data
    X = X / 4
    model = KernelPerceptron(gamma=0.5, budget=5, budget_rule="projectron", residual=0.3)
    for i in range(len(X)):
        first = not hasattr(model, "support_")
        old = None if first else (model.support_.copy(), model.dual_coef_[0].copy())
        mistaken = first or (2 * label[i] - 1) * model.decision_function(X[i : i + 1])[0] <= 0
        model.partial_fit(X[i : i + 1], label[i : i + 1], classes=[0, 1])
        if first or not mistaken:
            continue
        vectors = X[old[0]]
        gram, column = pairwise.rbf_kernel(vectors, gamma=0.5), pairwise.rbf_kernel(vectors, X[i : i + 1], 0.5)[:, 0]
        share = np.linalg.solve(gram, column)
        distance = np.sqrt(max(0.0, 1 - column @ share))
        if abs(distance - 0.3) < 1e-6:
            return
        sign = 2 * label[i] - 1
        if distance > 0.3 and old[0].size < 5:
            assert model.support_.tolist() == [*old[0], i]
            np.testing.assert_allclose(model.dual_coef_[0], [*old[1], sign], atol=1e-9)
        else:
            assert model.support_.tolist() == old[0].tolist()
            np.testing.assert_allclose(model.dual_coef_[0], old[1] + sign * share, atol=1e-6)


@pytest.mark.parametrize("multiclass", MODES)
@pytest.mark.parametrize("rule", BUDGET_RULES)
def test_a_budget_holds_over_a_long_stream_and_chunks_do_not_matter(multiclass, rule):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 3))  # not integers: where scores are zero, chunks would round them differently
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    options = {"kernel": "rbf", "gamma": 0.25, "multiclass": multiclass, "budget": 20, "budget_rule": rule}
    whole, stream = KernelPerceptron(**options), KernelPerceptron(**options)
    sizes = []
    for _ in range(3):
        whole.partial_fit(X, y, classes=[0, 1, 2])
        for i in range(0, 400, 37):
            stream.partial_fit(X[i : i + 37], y[i : i + 37], classes=[0, 1, 2])
        sizes.append(len(pickle.dumps(stream)))
        assert stream.support_.size <= 20
    assert max(sizes) - min(sizes) < 200
    np.testing.assert_allclose(whole.decision_function(X), stream.decision_function(X), atol=1e-6)
    assert whole.score(X, y) > 0.5


@pytest.mark.parametrize("rule", BUDGET_RULES)
def test_problems_that_share_a_budget_end_together(rule):
    X, y = (part[:600] for part in load_digits(return_X_y=True))
    options = {"budget": 100, "budget_rule": rule}
    scores = []
    for seed in range(4):  # the last f of a full budget wavers: only the mean of several runs says anything
        model = KernelPerceptron(random_state=seed, **options).fit(X, y)
        assert len(model.run_.stops) == 10
        assert len(set(model.run_.stops)) == 1
        assert model.run_.guarantees() == ()  # the mistakes are those of ten problems
        assert set(model._expansion.trials.tolist()) == {model.run_.trials}
        brief = KernelPerceptron(random_state=seed, max_iter=1, tol=None, **options).fit(X, y)
        scores.append((model.score(X, y), brief.score(X, y)))
    ended, after_one_epoch = np.mean(scores, axis=0)
    assert ended > after_one_epoch - 0.05


@pytest.mark.parametrize("rule", BUDGET_RULES)
@pytest.mark.parametrize("multiclass", MODES)
def test_a_fit_keeps_the_best_epoch_and_goes_on_from_there(rule, multiclass):
    X, y = (part[:400] for part in load_digits(return_X_y=True))
    options = {"budget": 60, "budget_rule": rule, "multiclass": multiclass}
    model = KernelPerceptron(**options).fit(X, y)
    measured = {epoch: error for epoch, error in enumerate(model.run_.errors, 1) if error is not None}
    if measured:
        assert model.score(X, y) == pytest.approx(1 - measured[model.run_.kept])
    if measured and model.run_.stop.name != "SEPARATED":  # whose last epoch is kept
        assert measured[model.run_.kept] == min(measured.values())
    short = KernelPerceptron(max_iter=model.run_.kept, tol=None, **options).fit(X, y)
    assert model.support_.tolist() == short.support_.tolist()
    assert model.dual_coef_.tolist() == short.dual_coef_.tolist()
    for name in ("gram", "born", "count", "damage", "errors", "variance"):
        assert getattr(model._memory, name).tolist() == getattr(short._memory, name).tolist()


@pytest.mark.parametrize("rule", ["random", "projectron"])
@pytest.mark.parametrize("shuffle", [True, "random"])
def test_a_budgeted_run_has_separated_the_rows_only_if_every_problem_has(shuffle, rule):
    X, y = IRIS
    options = {"budget": 150, "budget_rule": rule, "shuffle": shuffle, "max_iter": 1000}
    model = KernelPerceptron(kernel="laplacian", gamma=5.0, **options).fit(X[::2], y[::2])
    assert model.run_.stop.name == "SEPARATED"
    assert model.run_.mistakes[-1] == 0
    assert model.score(X[::2], y[::2]) == 1.0


def test_new_classes_come_to_a_budget_too():
    X, y = IRIS
    model = KernelPerceptron(gamma=1.0, budget=30, budget_rule="forgetron")
    for part in np.array_split(np.argsort(y, kind="stable"), 5):
        model.partial_fit(X[part], y[part])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.decision_function(X).shape == (150, 3)


@pytest.mark.parametrize("rule", BUDGET_RULES)
def test_a_state_begins_empty_and_grows_by_problems(rule):
    state = BudgetState.empty(Budget(4, rule), 2)
    assert state.gram.shape == ((0, 0) if rule == "random" else (4, 4))
    assert state.count.tolist() == [0, 0]
    state.damage[:], state.errors[:] = (1, 2), (3, 4)
    grown = state.grow(np.array([[0, 1], [0, 0], [-1, 0]], np.int8))
    assert grown.damage.tolist() == [2, 0, 1]
    assert grown.errors.tolist() == [4, 0, 3]


@pytest.mark.parametrize("rule", BUDGET_RULES)
def test_a_run_leaves_the_state_it_started_from_as_it_was(rule):
    X, y = IRIS
    first = KernelPerceptron(budget=10, budget_rule=rule, gamma=1.0).partial_fit(X[::3], y[::3])
    state, copy = first._memory, pickle.dumps(first._memory)
    first.partial_fit(X[1::3], y[1::3])
    assert first._memory is not state
    assert pickle.dumps(state) == copy


def test_a_budget_proves_nothing_about_margins():
    X = np.repeat(np.linspace(-1, 1, 20)[:, None], 2, axis=0)
    y = np.tile([0, 1], 20)  # each point has both labels
    model = KernelPerceptron(budget=10, tol=0.05, max_iter=2000).fit(X, y)
    assert model.run_.stop.name == "TRAINING"
    assert model.run_.ceiling is None
    assert "hyperplane" not in model.stop_reason_


def test_an_expensive_kernel_gives_the_same_model_in_smaller_blocks():
    X, y = IRIS[0][::2], IRIS[1][::2]
    options = {"budget": 12, "budget_rule": "forgetron", "max_iter": 2, "tol": None}
    pairs = KernelPerceptron(kernel=lambda a, b: float((1 + a @ b) ** 2), **options).fit(X, y)
    blocks = KernelPerceptron(kernel="quadratic", **options).fit(X, y)
    assert pairs.support_.tolist() == blocks.support_.tolist()
    np.testing.assert_allclose(pairs.dual_coef_, blocks.dual_coef_, rtol=1e-9)
