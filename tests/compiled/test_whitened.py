"""Directions of rows, and a single row as an epoch of one."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.compiled.whitened import Whitening, direct_all
from rosenblatt.data.table import as_table
from rosenblatt.learn.multiclass import code, make_task
from rosenblatt.methods.method import Pass, new_counts
from rosenblatt.methods.single_row import RowTask
from rosenblatt.methods.whitened import Whitened
from rosenblatt.verbs.rules import NormalisedLmsRule

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((20, 4)) + 3.0
X[RANDOM.random(X.shape) < 0.3] = 0.0
CENTRE = X.mean(axis=0)
MATRIX = np.linalg.inv(np.cov(X.T))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("constant", [1.0, 0.0])
def test_a_direction_is_the_whitened_row_what_is_left_for_the_bias_and_the_length(kind, constant):
    centre, out = CENTRE * constant, np.empty((20, 6))
    direct_all(as_table(kind(X)).rows, Whitening(MATRIX, centre, -(centre @ MATRIX), constant), out)
    wanted = (X - centre) @ MATRIX
    np.testing.assert_allclose(out[:, :4], wanted, atol=1e-12)
    np.testing.assert_allclose(out[:, 4], constant - wanted @ centre, atol=1e-12)
    np.testing.assert_allclose(out[:, 5], np.sum((X - centre) * wanted, axis=1) + constant, atol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("averaged", [False, True])
def test_single_rows_are_learned_as_in_an_epoch(kind, averaged):
    method = Whitened(NormalisedLmsRule(2.0), averaged=averaged, whitening=np.vstack([MATRIX, CENTRE]))
    label = (np.arange(20) % 3).astype(np.int32)
    task, none = make_task(label, code(3, "ovr"), "ovr", weight=np.empty(0), bias=1.0), np.empty(0, np.int32)
    whole, single = (method.start(3, 4, np.float64) for _ in range(2))
    counts = new_counts(3)
    method.present(Pass(as_table(kind(X)).rows, task, none, none, np.arange(3), 0.1, counts, joint=False), whole, whole)
    mistakes = 0
    learn = method.row_learner(RowTask(task, 0.1, joint=False, known=3), single, as_table(kind(X[:1])).rows)
    for i in range(20):
        mistakes += learn(as_table(kind(X[i : i + 1])).rows, int(label[i]))
    assert mistakes == counts.mistakes.sum() > 0
    for one, other in zip(whole, single, strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_and_weights_that_are_not_finite_are_told():
    method = Whitened(NormalisedLmsRule(2.0), whitening=np.vstack([MATRIX, CENTRE]))
    task = make_task(np.zeros(1, np.int32), code(2, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    state, rows = method.start(1, 4, np.float64), as_table(X[:1].copy()).rows
    learn = method.row_learner(RowTask(task, 0.1, joint=False, known=1), state, rows)
    state.W[0, 2] = np.inf
    assert learn(rows, 0) == -2
    rows.X[0, 0] = np.nan
    assert learn(rows, 0) == -1
