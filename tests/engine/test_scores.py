"""Scores are those of a matrix product, and errors are counted as NumPy counts them; a tie is an error."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from rosenblatt.data.table import ALL_ROWS, as_table
from rosenblatt.engine.rows import Hyperplanes
from rosenblatt.engine.scores import all_finite, misfits, score, weigh_errors
from rosenblatt.training.multiclass import coding_matrix, make_task
from strategies import integer_sets


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("order", ["C", "F"])
@given(data=integer_sets())
def test_the_scores_of_some_rows_or_all_are_products(kind, order, data):
    X = data[0]
    W = np.asarray(np.arange(9.0 * X.shape[1]).reshape(9, -1) % 5, order=order)
    b = np.arange(9.0)
    for subset in (np.empty(0, np.int32), np.array([len(X) - 1, 0, 0], np.int32)):
        some = X[subset] if subset.size else X
        out = np.empty((len(some), 9))
        score(as_table(kind(X)).rows, subset, Hyperplanes(W, b), out)
        np.testing.assert_array_equal(out, some @ W.T + b)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("classes", [2, 3])
@given(data=integer_sets(classes=3))
def test_rows_whose_class_does_not_win_are_errors_and_so_are_ties(kind, classes, data):
    X, label = data[0], np.minimum(data[1], classes - 1).astype(np.int32)
    sign = coding_matrix(classes, "ovr")
    weight = np.arange(1.0, len(X) + 1)
    task = make_task(label, sign, "ovr", weight=weight, bias=1.0)
    W = np.round(np.linspace(-1, 1, sign.shape[1] * X.shape[1])).reshape(sign.shape[1], -1)
    planes, scores = Hyperplanes(W, np.zeros(len(W))), X @ W.T
    if classes == 2:
        wrong = ~((2 * label - 1) * scores[:, 0] > 0)
    else:
        own = scores[np.arange(len(X)), label]
        scores[np.arange(len(X)), label] = -np.inf
        wrong = ~(own > scores.max(axis=1))
    rows = as_table(kind(X)).rows
    assert weigh_errors(rows, task, ALL_ROWS, planes) == (weight[wrong].sum(), weight.sum())
    if classes == 2:
        assert misfits(rows, task, ALL_ROWS, 0, planes) == wrong.sum()


@pytest.mark.parametrize("fault", [np.nan, np.inf, -np.inf])
def test_one_weight_that_is_not_finite_is_found(fault):
    W, b = np.zeros((3, 5)), np.zeros(3)
    assert all_finite(W, b)
    W[2, 4] = fault
    assert not all_finite(W, b)
    assert not all_finite(np.zeros((3, 5)), np.array([0.0, fault, 0.0]))
