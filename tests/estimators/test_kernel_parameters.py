"""Parameters of the perceptron in the dual: what None stands for."""

import numpy as np
import pytest

from rosenblatt import KernelPerceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.kernel_parameters import AGGREGATES, ForKernels

X = np.random.default_rng(0).standard_normal((60, 2))
Y = (X[:, 0] * X[:, 1] > 0.2).astype(int)


@pytest.mark.parametrize(("fit_intercept", "constant"), [(None, 0.5), (True, 1.0), (False, 0.0)])
def test_without_a_budget_the_average_predicts_and_a_bias_is_a_constant_in_the_kernel(fit_intercept, constant):
    options = {"gamma": 1.0, "max_iter": 5, "tol": None}
    model = KernelPerceptron(fit_intercept=fit_intercept, **options).fit(X, Y)
    gram = np.exp(-((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)) + constant
    same = KernelPerceptron(kernel="precomputed", fit_intercept=False, aggregate="average", **options).fit(gram, Y)
    assert model.alpha_.tolist() == same.alpha_.tolist()
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(gram), rtol=1e-9)


def test_none_means_the_last_f_and_no_bias_on_a_budget():
    model, same = (KernelPerceptron(budget=9, **options).fit(X, Y) for options in ({}, {"fit_intercept": False}))
    assert model.decision_function(X).tolist() == same.decision_function(X, "last").tolist()
    biased = KernelPerceptron(budget=9, fit_intercept=True).fit(X, Y)
    assert model.decision_function(X).tolist() != biased.decision_function(X).tolist()


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_a_chosen_aggregate_is_what_predictions_go_by(aggregate):
    model = KernelPerceptron(aggregate=aggregate).fit(X, Y)
    assert model.decision_function(X).tolist() == model.decision_function(X, aggregate).tolist()


def test_impossible_choices_are_refused_by_name():
    for name, value in (("aggregate", "mean"), ("tol", "small")):
        assert name in ForKernels.declared
        with pytest.raises(InvalidInput, match=name):
            KernelPerceptron(**{name: value}).fit(X, Y)
