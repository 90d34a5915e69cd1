"""The perceptron whose updates are written down."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.learners.voted_perceptron import CopiedUpdates
from ways import METHODS, trained


def test_the_updates_add_up_to_the_weights():
    algorithm = METHODS["voted"]
    algorithm.log.clear()
    state, _ = trained(algorithm)
    rows, problem, factor, trial = algorithm.log.take()
    W = np.zeros_like(state.W)
    np.add.at(W, problem, factor[:, None] * rows)
    np.testing.assert_allclose(W, state.W)
    assert (np.diff(trial[problem == 0]) > 0).all()
    assert algorithm.log.size == 0


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rows_are_copied(kind):
    from rosenblatt.data.table import as_table
    from rosenblatt.engine.epoch import UpdateLog

    X, log = np.eye(3), CopiedUpdates()
    updates = UpdateLog(np.array([2, 0, 9]), np.zeros(3, int), np.ones(3), np.arange(3), np.array([2]))
    rows = as_table(kind(X)).rows
    log.add(rows, updates, 3)
    log.add(rows, updates, 3)
    X[:] = 7.0
    kept, problem, _, _ = log.take()
    kept = kept.toarray() if sp.issparse(kept) else kept
    assert kept.tolist() == np.eye(3)[[2, 0, 2, 0]].tolist()
    assert problem.size == 4
