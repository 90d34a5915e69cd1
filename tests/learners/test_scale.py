"""Columns of very different size, and rows of extreme size: what is said of them, and that nothing lies."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from rosenblatt import (
    AROW,
    Adaline,
    AveragedPerceptron,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    PocketPerceptron,
    SoftMargin,
    VotedPerceptron,
    Winnow,
)
from rosenblatt.data.survey import Survey
from rosenblatt.errors import InvalidInput, ScaleWarning
from rosenblatt.learners.rows import OUTWEIGHS, warn_of_scale

FEW = {"max_iter": 3, "tol": None}


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("model", [Perceptron, AveragedPerceptron, VotedPerceptron, PocketPerceptron, Adaline])
def test_a_column_that_outweighs_the_others_is_named(model, kind):
    X, y = load_wine(return_X_y=True)
    with pytest.warns(
        ScaleWarning, match=r"Column 12 \(root mean square 8.1e\+02\) outweighs .* StandardScaler"
    ) as seen:
        model(**FEW).fit(kind(X), y)
    assert sum(issubclass(one.category, ScaleWarning) for one in seen) == 1
    assert seen[0].filename == __file__


def test_the_name_of_the_column_is_told_where_there_is_one():
    X, y = load_wine(return_X_y=True, as_frame=True)
    with pytest.warns(ScaleWarning, match="Column 'proline' "):
        PassiveAggressive(**FEW).fit(X, y)


def quiet(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        model.fit(X, y)


@pytest.mark.parametrize("load", [load_digits, load_iris])
def test_ordinary_data_is_not_warned_of(load):
    quiet(Perceptron(**FEW), *load(return_X_y=True))


def test_scaled_data_is_not_warned_of():
    X, y = load_breast_cancer(return_X_y=True)
    quiet(SoftMargin(**FEW), StandardScaler().fit_transform(X), y)


def test_rare_columns_of_ordinary_values_are_not_warned_of():
    X = sp.csr_array(np.eye(500) + np.outer(np.ones(500), np.eye(500)[0]))
    quiet(Perceptron(**FEW), X, np.arange(500) % 2)


@pytest.mark.parametrize("model", [AROW(**FEW), Winnow(**FEW), KernelPerceptron(**FEW)], ids=str)
def test_who_does_not_mind_does_not_warn(model):
    quiet(model, *load_breast_cancer(return_X_y=True))


def test_a_stream_is_not_warned_of_chunk_by_chunk():
    X, y = load_wine(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Perceptron().partial_fit(X, y).partial_fit(X, y)


def test_the_limit():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_scale(Survey(1.0, 1.0, 0, OUTWEIGHS, 1.0), None, 1)
        warn_of_scale(Survey(0.0, 0.0, 0, 0.0, 0.0), None, 1)
    with pytest.warns(ScaleWarning, match="'b'"):
        warn_of_scale(Survey(1.0, 1.0, 1, 1.01 * OUTWEIGHS, 1.0), pd.Index(["a", "b"]), 1)


# ------------------------------------------------------------------------------------------------ rows of extreme size


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("size", [1e-25, 1e20, 1e25])
@pytest.mark.parametrize("model", [Perceptron(), AveragedPerceptron(), PassiveAggressive(C=np.inf)], ids=str)
def test_float32_rows_of_any_size_are_learned_and_the_reason_is_true(model, size, kind):
    X, y = load_breast_cancer(return_X_y=True)
    X = (size * StandardScaler().fit_transform(X)).astype(np.float32)
    model.fit(kind(X), y)
    right = model.score(kind(X), y)
    assert right > 0.95
    assert ("every row is on its side" in model.stop_reason_) <= (right == 1)


@pytest.mark.parametrize("size", [1e-308, 1e-150, 1e150])
@pytest.mark.parametrize("model", [Perceptron(), KernelPerceptron(kernel="linear")], ids=str)
def test_rows_that_no_float_can_multiply_are_refused(model, size):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidInput, match="Scale the data"):
        model.fit(size * X, y)
    if hasattr(model, "partial_fit"):
        with pytest.raises(InvalidInput, match="Scale the data"):
            model.partial_fit(size * X, y)


def test_a_stream_of_float32_refuses_rows_that_it_cannot_multiply():
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    model = Perceptron().partial_fit(X, y)
    before = model.coef_
    for learn in (
        lambda: model.partial_fit(np.float32(1e25) * X, y),
        lambda: model.learn_one(np.float32(1e25) * X[0], 0),
        lambda: model.learn_one(sp.csr_array(np.float32(1e25) * X[:1]), 0),
    ):
        with pytest.raises(InvalidInput, match=r"[Ss]cale"):
            learn()
    assert model.coef_.tolist() == before.tolist()
    assert np.isfinite(model.decision_function(np.float32(1e37) * X)).all()
