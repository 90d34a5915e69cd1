"""Parameters of the perceptron in the dual: what None stands for."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_classification, make_gaussian_quantiles, make_moons
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rosenblatt import KernelPerceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.kernel_parameters import (
    AGGREGATES,
    LEAST_SOFT_ROWS,
    SEPARATING,
    SOFT_MARGIN,
    SOFT_MOST_UPDATES,
    ForKernels,
)

X = np.random.default_rng(0).standard_normal((60, 2))
Y = (X[:, 0] * X[:, 1] > 0.2).astype(int)


def noisy(classes=2):
    X, y = make_classification(300, 6, n_informative=4, n_classes=classes, flip_y=0.3, random_state=0)
    return StandardScaler().fit_transform(X), y


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


@pytest.mark.parametrize("kernel", SEPARATING)
def test_none_is_a_soft_margin_where_any_rows_are_separable(kernel):
    data = noisy()
    model = KernelPerceptron(kernel=kernel).fit(*data)
    chosen = KernelPerceptron(kernel=kernel, margin=SOFT_MARGIN, max_updates=SOFT_MOST_UPDATES).fit(*data)
    assert model.dual_coef_.tolist() == chosen.dual_coef_.tolist()
    assert model.alpha_.max() == SOFT_MOST_UPDATES


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({"kernel": "quadratic"}, 300),
        ({"kernel": lambda A, B: np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))}, 300),
        ({"tol": None, "max_iter": 8}, 300),
        ({}, LEAST_SOFT_ROWS - 1),
    ],
)
def test_elsewhere_none_is_the_perceptron_of_the_lectures(options, rows):
    X, y = noisy()
    X, y = X[:rows], y[:rows]
    model = KernelPerceptron(**options).fit(X, y)
    plain = KernelPerceptron(margin=0, max_updates=np.inf, **options).fit(X, y)
    assert model.dual_coef_.tolist() == plain.dual_coef_.tolist()
    assert model.run_.mistakes == plain.run_.mistakes
    assert model.run_.updates == sum(model.run_.mistakes)


def test_a_stream_has_neither_margin_nor_limit_unless_asked():
    X, y = noisy()
    stream = KernelPerceptron(gamma=0.2).partial_fit(X, y)
    assert stream.run_.updates == stream.mistakes_
    assert KernelPerceptron(gamma=0.2, margin=1.0).partial_fit(X, y).run_.updates > stream.mistakes_


@pytest.mark.parametrize(
    ("options", "mode"),
    [({}, "ovo-vote"), ({"kernel": "quadratic"}, "ovr"), ({"budget": 50}, "ovr"), ({"multiclass": "joint"}, "joint")],
)
def test_none_learns_several_classes_by_pairs_where_any_rows_are_separable(options, mode):
    data = noisy(4)
    model = KernelPerceptron(max_iter=5, tol=None, **options).fit(*data)
    chosen = KernelPerceptron(max_iter=5, tol=None, **options | {"multiclass": mode}).fit(*data)
    assert model.multiclass_ == mode
    assert model.dual_coef_.tolist() == chosen.dual_coef_.tolist()


@pytest.mark.parametrize("options", [{"margin": 1.0}, {"max_updates": 3}])
def test_a_budget_has_neither_margin_nor_limit(options):
    with pytest.raises(InvalidInput, match="have no meaning on a budget"):
        KernelPerceptron(budget=9, **options).fit(X, Y)
    assert KernelPerceptron(budget=9, margin=0.0, max_updates=np.inf).fit(X, Y).support_.size <= 9


# Sets on which the perceptron of the lectures, or one class against all others, falls short of it.
HARD = {
    "noise": make_classification(400, 10, n_informative=5, flip_y=0.4, random_state=3),
    "few": make_classification(130, 8, n_informative=3, flip_y=0.3, random_state=1),
    "rings": make_gaussian_quantiles(n_samples=400, n_features=4, n_classes=3, random_state=1),
    "moons": make_moons(400, noise=0.4, random_state=1),
    "blobs": make_blobs(400, centers=5, cluster_std=3.0, random_state=1),
}


@pytest.mark.parametrize("name", HARD)
def test_the_defaults_are_close_to_those_of_a_support_vector_machine(name):
    ours, theirs = (
        cross_val_score(
            make_pipeline(StandardScaler(), model), *HARD[name], cv=ShuffleSplit(12, test_size=0.25, random_state=0)
        ).mean()
        for model in (KernelPerceptron(), SVC())
    )
    assert ours > theirs - 0.02


def test_impossible_choices_are_refused_by_name():
    for name, value in (
        ("aggregate", "mean"),
        ("tol", "small"),
        ("margin", -1.0),
        ("max_updates", 0),
        ("multiclass", "all"),
    ):
        assert name in ForKernels.declared
        with pytest.raises(InvalidInput, match=name):
            KernelPerceptron(**{name: value}).fit(X, Y)
