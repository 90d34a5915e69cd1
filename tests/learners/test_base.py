"""The scikit-learn contract, and what goes beyond it."""

import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.linear_model
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from members import FAMILY
from rosenblatt import (
    KernelPerceptron,
    MaximumMargin,
    Perceptron,
)
from rosenblatt.errors import InvalidInput

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
    "ALMA()": "a step of 1000 leaves nothing of the other rows in the unit ball, where the weights must lie",
    **dict.fromkeys(
        ("ROMMA()", "ROMMA(aggressive=True)"),
        "an update of the other classes goes to a share of 0.0001 of the way, and the weights grow with each mistake",
    ),
    "Winnow()": "costs of 1000 drive the exponents to their bound, where all features weigh the same",
    "Winnow(balanced=False)": "the data of this check is negative in places, which the estimator's tags rule out",
}


ON_TWO_MARGINS = "a row on the margins of two classes has a score of -1 for both, and rounding decides between them"
REPEATED_ROWS = "the search among repeated rows ends at another point, within a share of 1e-6 of the largest margin"


def expected_failures(estimator):
    expected = {}
    if not getattr(estimator, "batch", False):
        reason = REPEATED_ROWS if isinstance(estimator, MaximumMargin) else ORDER_MATTERS
        for storage in ("dense", "sparse"):
            expected[f"check_sample_weight_equivalence_on_{storage}_data"] = reason
    if str(estimator) in EXTREME_COSTS:
        expected["check_class_weight_classifiers"] = EXTREME_COSTS[str(estimator)]
    if not getattr(estimator, "balanced", True):
        expected["check_sparsify_coefficients"] = "its rows have negative values, in spite of the tag"
    return expected


# Checks with read-only arrays, 64-bit indices and single precision, for which every loop is compiled again. All
# learners take rows in one place, so one learner for each kind of loop stands for the others, whose checks are long.
OTHER_ARRAYS = (
    "check_readonly_memmap_input",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimators_dtypes",
)
TAKES_OTHER_ARRAYS = ("Perceptron()", "AROW()")
# Other settings of a class pass or fail these checks as the first one does; their laws have tests of their own.
FIRST = {str(model) for model in {type(model): model for model in reversed(FAMILY)}.values()}
CHECKS = parametrize_with_checks(FAMILY, expected_failed_checks=expected_failures)


def marked(pairs):
    """Yield pairs of an estimator and a check, some of them marked as long."""
    for pair in pairs:
        estimator, check = getattr(pair, "values", pair)
        failing, name = getattr(pair, "marks", ()), check.func.__name__
        other = name in OTHER_ARRAYS or check.keywords.get("readonly_memmap", False)
        # Expected failures with dense rows, for a reason that sparse rows do not change.
        other |= bool(failing) and name == "check_sample_weight_equivalence_on_sparse_data"
        if str(estimator) not in FIRST or (other and str(estimator) not in TAKES_OTHER_ARRAYS):
            yield pytest.param(estimator, check, marks=[pytest.mark.long, *failing])
        else:
            yield pair


@pytest.mark.parametrize(CHECKS.args[0], list(marked(CHECKS.args[1])), **CHECKS.kwargs)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    if isinstance(estimator, MaximumMargin) and check.func.__name__ == "check_methods_subset_invariance":
        pytest.skip(ON_TWO_MARGINS)  # on some machines
    check(estimator)


@pytest.mark.long
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


@pytest.mark.parametrize("model", [Perceptron(), KernelPerceptron(), MaximumMargin()], ids=str)
def test_integers_and_truth_values_that_may_be_missing_are_no_floats(model):
    X, large = [[0.0], [1.0], [2.0], [3.0]], [2**60, 2**60, 2**60 + 1, 2**60 + 1]
    for y in (pd.Series(large, dtype="Int64"), pd.array([False, False, True, True], dtype="boolean"), pl.Series(large)):
        classes = clone(model).fit(X, y).classes_
        assert classes.tolist() == sorted(set(y))
        assert classes.dtype.kind in "ib"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_feature_names(frame):
    X = frame({"length": [0.0, 1.0, 2.0, -1.0], "width": [1.0, 0.0, 1.0, 0.0]})
    model = Perceptron().fit(X, [0, 1, 1, 0])
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert model.predict(X).tolist() == [0, 1, 1, 0]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame({"length": [0.0], "height": [1.0]}))


def test_arrays_that_need_no_change_are_checked_like_all_others():
    X, y = IRIS
    plain = Perceptron().fit(X, y)
    for other, labels in ((X.tolist(), y), (np.asfortranarray(X), y), (X, y.tolist()), (X, y.astype(float))):
        model = Perceptron().fit(other, labels)
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        assert model.n_features_in_ == plain.n_features_in_ == 4
    named = Perceptron().fit(pd.DataFrame(X, columns=list("abcd")), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(X)
    assert not hasattr(named.fit(X, y), "feature_names_in_")
    with pytest.raises(InvalidInput, match="expecting 4 features"):
        plain.predict(X[:, :3].copy())
    for fault in (np.nan, np.inf):
        with pytest.raises(ValueError, match="row 3"):
            Perceptron().fit(np.where(np.arange(150)[:, None] == 3, fault, X), y)
    for rows, labels in ((X[:0], y[:0]), (X[:, :0], y), (X[0], y), (X, y[:-1])):
        with pytest.raises(ValueError, match=r"rows|features|sample|1D"):
            Perceptron().fit(rows, labels)


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


def interrupt(epoch):
    """End a fit as a user does, in its second epoch."""
    if epoch.number == 2:
        raise KeyboardInterrupt


INTERRUPTED = [model for model in FAMILY if type(model) is not MaximumMargin]


@pytest.mark.parametrize("model", [*INTERRUPTED, KernelPerceptron(), KernelPerceptron(budget=5)], ids=str)
def test_an_interrupted_fit_leaves_an_estimator_as_it_was(model):
    X, y = IRIS
    model = clone(model).set_params(tol=None, max_iter=3)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clone(model).set_params(callback=interrupt).fit(X, y)
    fresh = clone(model).set_params(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    model.fit(X[50:], y[50:])
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    expected = model.predict(X).tolist()
    model.set_params(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :3], y)  # other classes, other features
    assert {name: value for name, value in vars(model).items() if name.endswith("_")}.keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert model.predict(X).tolist() == expected


def test_an_interrupted_chunk_leaves_a_kernel_perceptron_as_it_was(monkeypatch):
    X, y = IRIS
    model = KernelPerceptron().partial_fit(X[:100], y[:100])
    expected, seen = model.predict(X).tolist(), model.t_

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("rosenblatt.kernels.unbounded.Blockwise._learn", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X, y)
    assert (model.predict(X).tolist(), model.t_, model.classes_.tolist()) == (expected, seen, [0, 1])
    assert model.partial_fit(X, y).classes_.tolist() == [0, 1, 2]
