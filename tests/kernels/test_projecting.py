"""Budgets that project, against plain Python that factors the similarities anew in each trial."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics.pairwise import rbf_kernel

from rosenblatt import KernelPerceptron
from rosenblatt.kernels.projecting import NOISE
from strategies import integer_sets

RULES = ("arow", "projectron")
IRIS = load_iris(return_X_y=True)
DIGITS = load_digits(return_X_y=True)
few = settings(max_examples=20)


class Unclear(Exception):
    """Rounding decides."""


def clear(value, bound):
    if abs(value - bound) < 1e-7:
        raise Unclear
    return value > bound


def steps_of(label, score, mode, margin):
    """Return problem, sign and margin of each update that a row needs."""
    if mode == "joint":
        wrong = max((c for c in range(score.size) if c != label), key=lambda c: score[c])
        lead = score[label] - score[wrong]
        return [] if clear(lead, margin) else [(label, 1, lead), (wrong, -1, lead)]
    signs = [1 if c == label else -1 for c in range(score.size)] if score.size > 1 else [2 * label - 1]
    return [(p, sign, sign * score[p]) for p, sign in enumerate(signs) if not clear(sign * score[p], margin)]


def oracle(rule, K, label, weight, problems, *, mode, budget, residual, margin):
    """Return the vectors, the coefficients of the last f, and the sum of the coefficients after each trial."""
    member, W, V = [], np.zeros((problems, 0)), np.ones((problems, 0))
    summed = np.zeros((problems, len(label)))
    for i in range(len(label)):
        L = np.linalg.cholesky(K[np.ix_(member, member)])
        x = np.linalg.solve(L, K[member, i])
        due = steps_of(label[i], W @ x, mode, 1.0 if rule == "arow" else margin)
        if due:
            left = K[i, i] - x @ x
            if len(member) < budget and clear(left / K[i, i], residual**2):
                member, x = [*member, i], np.append(x, np.sqrt(left))
                W, V = np.pad(W, ((0, 0), (0, 1))), np.pad(V, ((0, 0), (0, 1)), constant_values=1 / K[i, i])
            if rule == "projectron":
                for p, sign, _ in due:
                    W[p] += sign * weight[i] * x
            else:
                groups = [due] if mode == "joint" else [[one] for one in due]
                for group in groups:
                    spread = sum(V[p] @ x**2 for p, _, _ in group)
                    for p, sign, m in group:
                        W[p] += sign * (1 - m) / (spread + NOISE / weight[i]) * V[p] * x
                        V[p] = 1 / (1 / V[p] + weight[i] * x**2 / NOISE)
        L = np.linalg.cholesky(K[np.ix_(member, member)])
        coef = np.linalg.solve(L.T, W.T).T
        summed[:, member] += coef
    return member, coef, summed[:, member]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("mode", ["ovr", "joint"])
@few
@given(
    data=integer_sets(classes=3, most_rows=30),
    budget=st.integers(1, 8),
    margin=st.sampled_from([0.0, 0.5]),
    classes=st.sampled_from([2, 3]),
    chunk=st.integers(1, 31),
)
def test_a_stream_learns_what_plain_python_does(rule, mode, data, budget, margin, classes, chunk):
    rng = np.random.default_rng(0)
    X, label = data
    X, label = X / 2 + rng.random(X.shape) / 10, label % classes
    weight = rng.integers(1, 4, len(X)).astype(float)
    problems, margin = 1 if classes == 2 else 3, 0.0 if rule == "arow" else margin
    mode = mode if classes == 3 else "ovr"
    options = {"budget": budget, "residual": 0.2, "margin": margin}
    try:
        member, coef, summed = oracle(rule, rbf_kernel(X, gamma=0.3), label, weight, problems, mode=mode, **options)
    except Unclear:
        return
    model = KernelPerceptron(gamma=0.3, budget_rule=rule, multiclass=mode, **options)
    for start in range(0, len(X), chunk):
        part = slice(start, start + chunk)
        model.partial_fit(X[part], label[part], classes=range(classes), sample_weight=weight[part])
    assert model.support_.tolist() == member
    np.testing.assert_allclose(model.dual_coef_, coef, rtol=1e-6, atol=1e-6)
    K = rbf_kernel(X[member], X, gamma=0.3)
    for aggregate, wanted in (("last", coef @ K), ("average", summed @ K / len(X))):
        found = model.decision_function(X, aggregate).reshape(len(X), -1)
        np.testing.assert_allclose(found, wanted.T, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_the_unit_of_the_kernel_does_not_matter_to_arow_nor_to_signs(rule, multiclass):
    one, four = (
        KernelPerceptron(
            kernel=lambda A, B, unit=unit: unit * rbf_kernel(A, B, 0.5),
            budget=12,
            budget_rule=rule,
            multiclass=multiclass,
            max_iter=3,
            tol=None,
        ).fit(*IRIS)
        for unit in (1.0, 4.0)  # powers of two: the same roundings
    )
    assert one.support_.tolist() == four.support_.tolist()
    scale = 1.0 if rule == "arow" else 4.0
    assert four.decision_function(IRIS[0]).tolist() == (scale * one.decision_function(IRIS[0])).tolist()


@pytest.mark.parametrize("margin", [0.0, 1.0])
@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_with_room_for_every_row_the_projectron_is_the_kernel_perceptron(multiclass, margin):
    # Distances of pixels are whole numbers, and rounding would break the ties of a row that is as near to both classes.
    X, y = DIGITS[0][:120] + np.random.default_rng(0).random((120, 64)), DIGITS[1][:120]
    options = {"kernel": "laplacian", "gamma": 0.01, "multiclass": multiclass, "margin": margin}
    options |= {"max_iter": 2, "tol": None}
    free = KernelPerceptron(**options).fit(X, y)
    bound = KernelPerceptron(budget=120, budget_rule="projectron", residual=0.0, **options).fit(X, y)
    assert bound.run_.mistakes == free.run_.mistakes
    for aggregate in ("last", "average"):
        found, wanted = (one.decision_function(X, aggregate) for one in (bound, free))
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_the_average_of_a_fit_ends_with_the_epoch_that_is_kept(rule):
    X, y = DIGITS[0][:400], DIGITS[1][:400]
    options = {"budget": 40, "budget_rule": rule}
    model = KernelPerceptron(**options).fit(X, y)
    short = KernelPerceptron(max_iter=model.run_.kept, tol=None, **options).fit(X, y)
    found, wanted = (one.decision_function(X, "average") for one in (model, short))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_features_that_are_kept_between_epochs_change_nothing(rule):
    X, y = DIGITS[0][:400], DIGITS[1][:400]
    kept, anew = (KernelPerceptron(budget=40, budget_rule=rule, cache_size=size).fit(X, y) for size in (1000, 0))
    assert kept.run_.mistakes == anew.run_.mistakes
    assert kept.run_.errors == anew.run_.errors
    np.testing.assert_allclose(kept.dual_coef_, anew.dual_coef_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_a_budget_that_is_full_keeps_its_vectors(rule):
    X, y = DIGITS
    model = KernelPerceptron(budget=30, budget_rule=rule).partial_fit(X[:600], y[:600])
    before = model.support_.tolist()
    assert len(before) == 30
    assert model.partial_fit(X[600:], y[600:]).support_.tolist() == before


def test_a_class_that_appears_late_starts_with_the_variance_of_the_vectors():
    X, y = IRIS
    model = KernelPerceptron(kernel="quadratic", budget=10).partial_fit(X[:100], y[:100])
    vectors = model.support_vectors_
    model.partial_fit(X[:1], [2], sample_weight=[1e-300])  # which moves next to nothing
    found = model._memory.variance[2, : len(vectors)]
    np.testing.assert_allclose(found, 1 / (1 + (vectors * vectors).sum(axis=1)) ** 2, rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"budget_rule": "projectron", "aggregate": "average"}])
def test_a_budget_of_a_sixth_of_the_rows_is_as_good_as_all(options):
    order = np.random.default_rng(0).permutation(len(DIGITS[1]))
    X, y = DIGITS[0][order], DIGITS[1][order]
    whole = KernelPerceptron().fit(X[:1200], y[:1200]).score(X[1200:], y[1200:])
    small = KernelPerceptron(budget=200, **options)
    assert small.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]) > whole - 0.03
    assert (
        KernelPerceptron(budget=200, **options).partial_fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]) > whole - 0.03
    )


@pytest.mark.parametrize("rule", RULES)
def test_similarities_that_overflow_are_refused(rule):
    model = KernelPerceptron(kernel="poly", degree=9, budget=3, budget_rule=rule)
    with pytest.raises(ValueError, match="overflow"):
        model.fit(1e10 * np.ones((4, 3), np.float32), [0, 1, 0, 1])


@pytest.mark.parametrize("rule", ["random", "forgetron"])
def test_a_rule_that_drops_vectors_has_no_average(rule):
    with pytest.raises(ValueError, match="aggregate='last', or 'average' with budget_rule="):
        KernelPerceptron(budget=9, budget_rule=rule, aggregate="average").fit(*IRIS)
    with pytest.raises(ValueError, match="aggregate='average'"):
        KernelPerceptron(budget=9, budget_rule=rule).fit(*IRIS).predict(IRIS[0], "average")
