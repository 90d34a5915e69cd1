"""Every trial of a run in the dual, from its log."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import reference
from rosenblatt import KernelPerceptron, Perceptron, record
from rosenblatt.errors import InvalidInput
from rosenblatt.kernels import replay as module
from strategies import integer_sets


@given(integer_sets(classes=3), st.sampled_from(["ovr", "ovo", "joint"]), st.sampled_from([True, False, "random"]))
@settings(max_examples=40)
def test_the_linear_kernel_has_the_trials_of_the_perceptron(data, multiclass, shuffle):
    X, label = data
    options = {"multiclass": multiclass, "shuffle": shuffle, "max_iter": 4, "tol": None, "random_state": 3}
    dual = record(KernelPerceptron(kernel="linear", fit_intercept=True, **options), X, label)
    primal = record(Perceptron(**options), X, label)
    count = min(dual.row.size, primal.row.size)  # the perceptron also ends when it cycles
    for name in ("row", "epoch", "label", "mistakes", "updates"):
        assert getattr(dual, name)[:count].tolist() == getattr(primal, name)[:count].tolist(), name
    np.testing.assert_allclose(dual.score[:count], primal.score[:count], atol=1e-9)
    np.testing.assert_allclose(dual.loss[:count], primal.loss[:count], atol=1e-9)
    vectors = dual.estimator.support_vectors_
    for t in range(count):
        np.testing.assert_allclose(dual.W[dual.at[t]] @ vectors, primal.W[primal.at[t]], atol=1e-9)


@given(integer_sets(most_rows=12), st.integers(1, 3))
def test_the_counts_are_those_of_the_lectures(data, epochs):
    X, label = data

    def kernel(x, z):
        return (1 + sum(a * b for a, b in zip(x, z, strict=True))) ** 2

    recording = record(
        KernelPerceptron(kernel="quadratic", fit_intercept=False, shuffle=False, max_iter=epochs, tol=None), X, label
    )
    signs = (2 * label - 1).tolist()
    orders = [range(len(X))] * recording.run.epochs
    alpha = np.asarray(reference.kernel_perceptron(X.tolist(), signs, kernel, orders)[0])
    expected = np.bincount(recording.row[recording.updates > 0], minlength=len(X))
    assert expected.tolist() == alpha.tolist()


@given(integer_sets(classes=3))
@settings(max_examples=30)
def test_each_score_is_that_of_the_coefficients_before_the_trial(data):
    X, label = data
    recording = record(KernelPerceptron(kernel="quadratic", fit_intercept=False, max_iter=3, tol=None), X, label)
    K = (1 + recording.estimator.support_vectors_ @ X.T) ** 2
    before = np.r_[0, recording.at[:-1]]
    for t, row in enumerate(recording.row):
        np.testing.assert_allclose(recording.score[t], recording.W[before[t]] @ K[:, row], atol=1e-9)
    assert recording.W[0].any() == 0
    np.testing.assert_array_equal(recording.W[recording.at[-1]], recording.estimator.dual_coef_)


def test_rows_of_weight_zero_are_not_presented():
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    recording = record(KernelPerceptron(max_iter=2, tol=None), X, y, sample_weight=[1, 0, 2, 0, 1, 1, 1, 1])
    assert sorted(set(recording.row.tolist())) == [0, 2, 4, 5, 6, 7]


def test_a_warm_start_and_a_long_run_are_refused(monkeypatch):
    X, y = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]]), [0, 1, 1, 0]
    model = KernelPerceptron(kernel="quadratic", warm_start=True, max_iter=2, tol=None).fit(X, y)
    with pytest.raises(InvalidInput, match="warm start has no record"):
        record(model, X, y)
    monkeypatch.setattr(module, "MAX_TRIALS", 7)
    with pytest.raises(InvalidInput, match="holds 7 trials; this run has 8"):
        record(KernelPerceptron(kernel="quadratic", max_iter=2, tol=None), X, y)
