"""The pocket loop can be cut anywhere."""

import numpy as np

from rosenblatt.data.table import as_table
from rosenblatt.learners.pocket import PocketAlgorithm, PocketRoom, run_pocket_epoch
from rosenblatt.training.algorithm import new_counts
from rosenblatt.training.multiclass import code, make_task


def test_a_loop_that_is_cut_into_pieces_learns_the_same():
    random = np.random.default_rng(0)
    X, label = random.integers(-4, 5, (40, 3)).astype(float), random.integers(0, 3, 40).astype(np.int32)
    task = make_task(label, code(3, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    rows, every, found = as_table(X).rows, np.empty(0, np.int32), []
    for most in (1, 7, 10**6):
        state, counts = PocketAlgorithm().start(3, 3, np.float64), new_counts(3)
        state.settled[:] = 1
        room, calls = PocketRoom(np.zeros(3, np.int64), np.zeros(1), np.empty((1, 0))), 1
        while not run_pocket_epoch(rows, task, every, every, np.arange(3), state, counts, room, most):
            calls += 1
        assert (calls == 1) == (most > 10**3)
        found.append([array.tolist() for array in (*state, *counts)])
    assert found[0] == found[1] == found[2]
