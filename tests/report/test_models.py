"""Pictures take every classifier, and draw what it predicts."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import KernelPerceptron, Perceptron, VotedPerceptron, train
from rosenblatt.datasets import noisy, two_moons
from rosenblatt.errors import InvalidInput
from rosenblatt.report.models import as_classifier, linear_parts, margins

MOONS = two_moons(80, noise=0.1)
MODELS = {
    "linear": Perceptron(),
    "kernel": KernelPerceptron(kernel="rbf", gamma=2.0),
    "voted": VotedPerceptron(max_iter=3),
    "pipeline": make_pipeline(StandardScaler(), Perceptron()),
    "without scores": KNeighborsClassifier(3),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_highest_score_is_that_of_the_predicted_class(name):
    X, y = MOONS
    model = MODELS[name].fit(X, y)
    seen = as_classifier(model, X, y)
    grid = np.random.default_rng(0).uniform(-2, 3, (500, 2))
    elected = seen.classes[seen.scores(grid).argmax(axis=1)]
    assert np.mean(elected == model.predict(grid)) >= 0.995


def test_a_model_is_linear_only_if_it_predicts_by_its_hyperplane():
    X, y = MOONS
    grid = np.random.default_rng(0).uniform(-2, 3, (500, 2))
    assert as_classifier(Perceptron().fit(X, y), X, y).is_linear(grid)
    assert not as_classifier(KernelPerceptron(kernel="rbf").fit(X, y), X, y).is_linear(grid)


def test_the_run_of_train_predicts_as_its_model():
    X, y = noisy(50, 2, flip=0.1)
    run = train(X, y)
    seen = as_classifier(run, X, y)
    assert np.array_equal(seen.classes[seen.predict(X)], run.model.predict(X))


def test_names_come_from_the_data_frame():
    X, y = MOONS
    frame = pd.DataFrame(X, columns=["width", "height"])
    assert as_classifier(Perceptron().fit(frame, y), frame, y).names == ["width", "height"]


def test_margins_of_two_classes_are_distances_and_negative_for_mistakes():
    X, y = noisy(60, 2, flip=0.2)
    model = Perceptron().fit(X, y)
    found = margins(model, X, y)
    assert np.array_equal(found > 0, (model.predict(X) == y) & (model.decision_function(X) != 0))
    assert np.allclose(np.abs(found), np.abs(X @ model.coef_[0] + model.intercept_[0]) / np.linalg.norm(model.coef_))


def test_margins_of_several_classes_are_leads_over_the_best_other():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
    model = Perceptron(max_iter=3).fit(X, y)
    scores = model.decision_function(X)
    wanted = [scores[i, y[i]] - np.delete(scores[i], y[i]).max() for i in range(30)]
    assert np.allclose(margins(model, X, y), wanted)


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: as_classifier(object(), *MOONS), "no predict"),
        (lambda: as_classifier(make_pipeline(StandardScaler(), Perceptron().fit(*MOONS)), *MOONS), "not fitted"),
        (lambda: as_classifier(Perceptron().fit(*MOONS).run_, *MOONS), "Pass the estimator"),
        (lambda: linear_parts(KernelPerceptron().fit(*MOONS)), "not a linear classifier"),
        (lambda: margins(KNeighborsClassifier().fit(*MOONS), *MOONS), "gives no scores"),
    ],
)
def test_what_is_no_classifier_is_refused_with_its_fault(call, fault):
    with pytest.raises(InvalidInput, match=fault):
        call()


def test_rows_without_names_are_drawn_for_a_model_that_was_fitted_on_names():
    X, y = MOONS
    model = KernelPerceptron(kernel="rbf").fit(pd.DataFrame(X, columns=["a", "b"]), y)
    seen = as_classifier(model, X, y)  # a warning would be an error here
    assert np.array_equal(seen.classes[seen.predict(X)], model.predict(pd.DataFrame(X, columns=["a", "b"])))
