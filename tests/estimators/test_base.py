"""The scikit-learn contract, and what goes beyond it."""

import inspect
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.linear_model
from hypothesis import given
from sklearn.base import clone
from sklearn.datasets import load_iris, load_svmlight_file
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from members import FAMILY
from oracles import reference
from rosenblatt import (
    MaximumMargin,
    Perceptron,
)
from rosenblatt.errors import InvalidInput
from strategies import integer_sets

IRIS = load_iris(return_X_y=True)

ORDER_MATTERS = (
    "an online learner sees a row of weight two once, with a step of two; the row twice is two trials, of which "
    "the second may be no mistake (scikit-learn expects its own Perceptron to fail this check too)"
)
EXTREME_COSTS = {
    "Perceptron(batch=True)": (
        "with costs of 1000 against 0.0001 one update per epoch swings from side to side, and has not settled when "
        "its errors stop falling"
    ),
    "AveragedPerceptron()": "the average counts the trials in which the costs had not yet turned the scale",
    "PassiveAggressive()": "a step goes to a margin of one and no further, however large the cost of a row",
    "Winnow()": "costs of 1000 drive the exponents to their bound, where all features weigh the same",
    "Winnow(balanced=False)": "the data of this check is negative in places, which the estimator's tags rule out",
}


def expected_failures(estimator):
    expected = {}
    if not getattr(estimator, "batch", False) and not isinstance(estimator, MaximumMargin):
        for storage in ("dense", "sparse"):
            expected[f"check_sample_weight_equivalence_on_{storage}_data"] = ORDER_MATTERS
    if str(estimator) in EXTREME_COSTS:
        expected["check_class_weight_classifiers"] = EXTREME_COSTS[str(estimator)]
    return expected


@parametrize_with_checks(FAMILY, expected_failed_checks=expected_failures)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


def test_scikit_learns_own_tests_pass_with_our_perceptron():
    here = str(Path(__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": here}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "swap_perceptron", "-p", "no:cacheprovider"]
    target = Path(inspect.getfile(sklearn.linear_model)).parent / "tests" / "test_perceptron.py"
    result = subprocess.run(
        [*command, "-c", os.devnull, str(target)], capture_output=True, text=True, env=environment, check=False
    )
    assert result.returncode == 0, result.stdout
    assert "6 passed" in result.stdout


@given(integer_sets(classes=4, most_rows=20))
def test_one_vs_one_elects_by_the_sum_of_signed_scores(data):
    X, label = data
    model = Perceptron(multiclass="ovo", shuffle=False, max_iter=3, tol=None).fit(X, label)
    vectors = reference.one_vs_one(X.tolist(), label.tolist(), 4, [range(len(X))] * 3)
    assert model.predict(X).tolist() == [reference.elect_one_vs_one(vectors, 4, x) for x in X.tolist()]


@pytest.mark.parametrize(
    "y",
    [[0, 1, 1, 0], [-1, 1, 1, -1], ["no", "yes", "yes", "no"], [False, True, True, False], [2.0, 7.0, 7.0, 2.0]],
    ids=str,
)
def test_labels_of_any_type_come_back(y):
    X = [[0.0], [1.0], [2.0], [-1.0]]
    model = Perceptron().fit(X, y)
    assert model.predict(X).tolist() == y
    assert model.classes_.tolist() == sorted(set(y))
    assert model.decision_function([[9.0]])[0] > 0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_feature_names(frame):
    X = frame({"length": [0.0, 1.0, 2.0, -1.0], "width": [1.0, 0.0, 1.0, 0.0]})
    model = Perceptron().fit(X, [0, 1, 1, 0])
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert model.predict(X).tolist() == [0, 1, 1, 0]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame({"length": [0.0], "height": [1.0]}))


def test_distance_is_to_the_hyperplane():
    model = Perceptron(init=([3.0, 4.0], -5.0), max_iter=1, tol=None).fit([[9.0, 9.0], [0.0, 0.0]], [1, 0])
    assert model.coef_.tolist() == [[3, 4]]
    np.testing.assert_allclose(model.distance([[3.0, 4.0], [0.0, 0.0]]), [20 / 5, -5 / 5])
    three = Perceptron().fit(*IRIS)
    assert three.distance(IRIS[0]).shape == (150, 3)
    with pytest.raises(InvalidInput, match="zero"):
        Perceptron(max_iter=1, tol=None, shuffle=False).fit([[0.0], [0.0]], [0, 1]).distance([[1.0]])


@pytest.mark.parametrize("seed", range(40))
def test_defaults_separate_what_is_separable(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 21))
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((300, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    height = X @ u + 0.1 / np.sqrt(d)
    y = np.where(height > 0, 1, -1)
    X += (np.maximum(0.02 - np.abs(height), 0) * y)[:, None] * u  # no row nearer than 0.02 to the plane
    X[:20] -= (height[:20] - 0.02 * y[:20])[:, None] * u * (np.abs(height[:20]) > 0.02)[:, None]  # many at it
    model = Perceptron().fit(X, y)
    assert model.score(X, y) == 1
    assert "without an update" in model.stop_reason_


def test_defaults_tell_the_truth_on_a9a(real_data):
    X, y = load_svmlight_file(real_data / "a9a" / "a9a", n_features=123)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    model = Perceptron().fit(X, y)
    theirs = sklearn.linear_model.Perceptron().fit(X, y)
    assert model.stop_reason_.startswith("the training error stopped changing")
    assert model.run_.ceiling <= 1e-3 * model.run_.radius
    assert model.score(X, y) >= theirs.score(X, y)


def test_a_fit_that_ends_short_warns_with_the_remedy():
    X, y = IRIS
    with pytest.warns(ConvergenceWarning, match="larger max_iter"):
        Perceptron(max_iter=2).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="shuffle=True"):
        Perceptron(shuffle=False).fit([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Perceptron(max_iter=2, tol=None).fit(X, y)


def test_early_stopping_holds_rows_out_and_keeps_the_best():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 4))
    y = np.where(X[:, 0] + rng.standard_normal(500) > 0, "a", "b")
    model = Perceptron(early_stopping=True, validation_fraction=0.2).fit(X, y)
    assert model.run_.stop.name == "VALIDATION"
    assert model.run_.trials == 400 * model.n_iter_
    assert model.run_.errors[model.run_.kept - 1] == min(model.run_.errors)


def test_warm_start_goes_on_where_it_stopped():
    X, y = np.round(10 * IRIS[0]), IRIS[1]
    options = {"shuffle": False, "tol": None, "eta0": 0.1}
    whole = Perceptron(max_iter=6, **options).fit(X, y)
    half = Perceptron(max_iter=3, warm_start=True, **options).fit(X, y).fit(X, y)
    assert half.coef_.tolist() == whole.coef_.tolist()
    moved = Perceptron(max_iter=3, warm_start=True, **options).fit(X, y)
    moved.coef_ = np.zeros_like(moved.coef_)
    moved.intercept_ = np.zeros_like(moved.intercept_)
    assert moved.fit(X, y).coef_.tolist() == Perceptron(max_iter=3, **options).fit(X, y).coef_.tolist()
    with pytest.raises(InvalidInput, match="warm_start"):
        half.fit(X, y + 5)


def test_rows_of_weight_zero_are_left_out():
    X, y = IRIS
    weight = (np.arange(150) % 3 > 0).astype(float)
    options = {"shuffle": False, "max_iter": 4, "tol": None}
    with_zeros = Perceptron(**options).fit(X, y, sample_weight=weight)
    without = Perceptron(**options).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(with_zeros.coef_, without.coef_)


def test_n_jobs_changes_nothing():
    for multiclass in ("ovr", "ovo", "joint"):
        one, two = (Perceptron(multiclass=multiclass, n_jobs=jobs).fit(*IRIS) for jobs in (None, 2))
        assert one.coef_.tolist() == two.coef_.tolist()


def test_it_works_where_scikit_learn_works():
    X, y = IRIS
    pipeline = make_pipeline(StandardScaler(), Perceptron())
    assert cross_val_score(pipeline, X, y).mean() > 0.8
    search = GridSearchCV(Perceptron(), {"multiclass": ["ovr", "ovo", "joint"], "penalty": [None, "l2"]}).fit(X, y)
    assert search.best_score_ > 0.7
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    assert copy.predict(X).tolist() == search.predict(X).tolist()
    copy.partial_fit(X, y)
    assert clone(copy).get_params() == copy.get_params()
    with pytest.raises(NotFittedError):
        Perceptron().predict(X)


def test_verbose_prints_a_line_per_epoch(capsys):
    Perceptron(verbose=1, max_iter=3, tol=None).fit(*IRIS)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("epoch 1: ")
    assert "mistakes" in lines[0]
