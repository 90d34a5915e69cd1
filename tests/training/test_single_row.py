"""Single rows of a stream: the same as a pass over them, and nothing for a row that is not finite."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.training.algorithm import copy_state, new_counts
from rosenblatt.training.single_row import RowTask
from ways import STREAMING, trained


@pytest.mark.parametrize("algorithm", STREAMING.values(), ids=STREAMING.keys())
@pytest.mark.parametrize("row", [(np.zeros(4), None), (bytes(32), np.arange(4))], ids=["dense", "sparse"])
def test_one_row_at_a_time_is_the_pass(algorithm, row):
    _, shown = trained(algorithm)
    X, whole = shown.rows.X, algorithm.start(3, 4, np.float64)
    shown = shown._replace(rows=as_table(X if row[1] is None else sp.csr_array(X)).rows, counts=new_counts(3))
    algorithm.run_epoch(shown, whole, whole)
    state, total = algorithm.start(3, 4, np.float64), 0
    learn = algorithm.row_learner(RowTask(shown.task, 1.0, False, 3), state, row)
    for i in range(25):
        places = np.flatnonzero(X[i])
        one = (X[i].copy(), None) if row[1] is None else (X[i, places].tobytes(), places)
        total += learn(int(shown.task.label[i]), *one)
    for name, one, other in zip(state._fields, state, whole, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)
    assert total == shown.counts.mistakes.sum()


@pytest.mark.parametrize("algorithm", STREAMING.values(), ids=STREAMING.keys())
def test_a_row_that_is_not_finite_teaches_nothing(algorithm):
    state, shown = trained(algorithm)
    before = copy_state(state)
    for row in ((np.array([1.0, 1.0, np.nan, 1.0]), None), (np.array([1.0, np.inf]).tobytes(), np.array([0, 3]))):
        assert algorithm.row_learner(RowTask(shown.task, 1.0, False, 3), state, row)(0, *row) == -1
    for old, new in zip(before, state, strict=True):
        np.testing.assert_array_equal(old, new)
