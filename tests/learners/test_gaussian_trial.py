"""AROW's loops, by hand."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.learners.arow import Arow
from rosenblatt.training.algorithm import EpochArgs, new_counts
from rosenblatt.training.multiclass import code, make_task
from ways import trained


@pytest.mark.parametrize("full", [False, True], ids=["diagonal", "full"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_one_trial_is_the_formula_of_the_paper(full, kind):
    x, r = np.array([2.0, 0.0, -1.0]), 0.5
    algorithm, every = Arow(r, full), np.empty(0, np.int32)
    state, label = algorithm.start(1, 3, np.float64), np.array([1], np.int32)
    task = make_task(label, code(2, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    shown = EpochArgs(as_table(kind(x[None])).rows, task, every, every, np.arange(1), 1.0, new_counts(1), False)
    algorithm.run_epoch(shown, state, state)
    z = np.append(x, 1.0)
    beta = 1.0 / (z @ z + r)
    np.testing.assert_allclose(np.append(state.W, state.b), beta * z)
    V = np.eye(4) - beta * np.outer(z, z)
    if full:
        np.testing.assert_allclose(state.V[0], V)
    else:
        np.testing.assert_allclose(np.append(state.V, state.v), np.diag(V))


def test_variances_only_shrink():
    state, _ = trained(Arow(1.0))
    assert (state.V <= 1.0).all()
    assert (state.V > 0.0).all()
    assert (state.V < 1.0).any()
