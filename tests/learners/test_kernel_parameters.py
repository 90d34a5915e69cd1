"""Parameters of the perceptron in the dual."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_classification, make_gaussian_quantiles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rosenblatt import KernelPerceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.kernel_perceptron import AGGREGATES

KERNELS = {
    "linear": lambda X: X @ X.T,
    "quadratic": lambda X: (1 + X @ X.T) ** 2,
    "rbf": lambda X: np.exp(-0.2 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)),
    "laplacian": lambda X: np.exp(-0.2 * np.abs(X[:, None, :] - X[None, :, :]).sum(axis=2)),
}
X = np.random.default_rng(0).standard_normal((60, 2))
Y = (X[:, 0] * X[:, 1] > 0.2).astype(int)


def noisy(classes=2):
    X, y = make_classification(300, 6, n_informative=4, n_classes=classes, flip_y=0.3, random_state=0)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_bias_is_a_one_in_the_kernel(fit_intercept):
    options = {"gamma": 1.0, "max_iter": 5, "tol": None}
    model = KernelPerceptron(fit_intercept=fit_intercept, **options).fit(X, Y)
    gram = np.exp(-((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)) + fit_intercept
    same = KernelPerceptron(kernel="precomputed", **options).fit(gram, Y)
    assert model.alpha_.tolist() == same.alpha_.tolist()
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(gram), rtol=1e-9)


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_a_chosen_aggregate_is_what_predictions_go_by(aggregate):
    model = KernelPerceptron(aggregate=aggregate).fit(X, Y)
    assert model.decision_function(X).tolist() == model.decision_function(X, aggregate).tolist()


@pytest.mark.parametrize("rows", [10, 60, 300])
@pytest.mark.parametrize("kernel", ["linear", "quadratic", "rbf", "laplacian"])
@pytest.mark.parametrize("tol", [1e-3, None])
def test_the_defaults_are_the_kernel_perceptron_of_the_lectures_whatever_the_data(kernel, rows, tol):
    X, y = noisy()
    X, y = X[:rows], y[:rows]
    model = KernelPerceptron(kernel=kernel, gamma=0.2, shuffle=False, max_iter=8, tol=tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    gram = KERNELS[kernel](X)
    alpha, signs = np.zeros(rows), 2 * y - 1
    for _ in range(model.n_iter_):
        for i in range(rows):
            alpha[i] += signs[i] * (gram[i] @ (alpha * signs)) <= 0
    found = np.zeros(rows)
    found[model.support_] = model.alpha_[0]
    assert found.tolist() == alpha.tolist()
    assert model.run_.updates == sum(model.run_.mistakes) == alpha.sum()
    np.testing.assert_allclose(model.decision_function(X), gram @ (alpha * signs), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"kernel": "quadratic"}, {"budget": 50}])
def test_several_classes_are_learned_one_against_the_rest(options):
    model = KernelPerceptron(max_iter=3, tol=None, **options).fit(*noisy(4))
    assert model.dual_coef_.shape[0] == 4


def test_a_stream_has_the_margin_but_no_limit():
    X, y = noisy()
    stream = KernelPerceptron(gamma=0.2).partial_fit(X, y)
    assert stream.run_.updates == stream.mistakes_
    assert KernelPerceptron(gamma=0.2, margin=1.0).partial_fit(X, y).run_.updates > stream.mistakes_


def test_where_it_does_not_converge_the_remedy_for_noise_is_named():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match="use margin=4, max_updates=8"):
        KernelPerceptron(max_iter=2).fit(X, y)
    assert "margin=4 and max_updates=8 may help" in KernelPerceptron().fit(X, y).stop_reason_
    with pytest.warns(ConvergenceWarning) as seen:
        KernelPerceptron(max_iter=2, margin=4, max_updates=8).fit(X, y)
    assert not any("noisy" in str(one.message) for one in seen)


@pytest.mark.parametrize("options", [{"margin": 1.0}, {"max_updates": 3}])
def test_a_budget_has_neither_margin_nor_limit(options):
    with pytest.raises(InvalidInput, match="have no meaning on a budget"):
        KernelPerceptron(budget=9, **options).fit(X, Y)
    assert KernelPerceptron(budget=9).fit(X, Y).support_.size <= 9


# Sets on which the perceptron of the lectures, or one class against all others, falls short of it.
HARD = {
    "noise": make_classification(400, 10, n_informative=5, flip_y=0.4, random_state=3),
    "few": make_classification(130, 8, n_informative=3, flip_y=0.3, random_state=1),
    "rings": make_gaussian_quantiles(n_samples=400, n_features=4, n_classes=3, random_state=1),
    "moons": make_moons(400, noise=0.4, random_state=1),
    "blobs": make_blobs(400, centers=5, cluster_std=3.0, random_state=1),
}


@pytest.mark.parametrize("name", HARD)
def test_a_soft_margin_by_pairs_is_close_to_a_support_vector_machine(name):
    ours, theirs = (
        cross_val_score(
            make_pipeline(StandardScaler(), model), *HARD[name], cv=ShuffleSplit(12, test_size=0.25, random_state=0)
        ).mean()
        for model in (KernelPerceptron(margin=4, max_updates=8, multiclass="ovo-vote"), SVC())
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
        assert name in KernelPerceptron.declared
        with pytest.raises(InvalidInput, match=name):
            KernelPerceptron(**{name: value}).fit(X, Y)
