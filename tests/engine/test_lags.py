"""Averages of many weights, and what updates come too late to add to them."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.engine.classes import FEW_STEPS, add_waiting, average_all, sum_squares

NONE = np.empty(0, np.int32)


def sparse_rows(random, dtype=np.float64, index=np.int32):
    """Return sparse rows, some of them empty, with values that sums depend on the order of; column 3 is full."""
    X = random.normal(size=(40, 15)) * (random.random((40, 15)) < 0.3)
    X[:, 3] = random.normal(size=40)
    X[::7] = 0.0
    rows = as_table(sp.csr_array(X.astype(dtype))).rows
    return rows._replace(indices=rows.indices.astype(index), indptr=rows.indptr.astype(index))


def one_by_one(rows, order, steps, lag, first, last):
    """Add each row, times its steps, entry by entry."""
    for t, i in enumerate(order):
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            for p in range(first, last):
                if steps[t, p] != 0.0:
                    lag[rows.indices[k], p] += steps[t, p] * rows.data[k]


@pytest.mark.parametrize("share", [1.0, 0.5, 0.5 / FEW_STEPS, 0.0])
@pytest.mark.parametrize(("dtype", "index"), [(np.float64, np.int32), (np.float32, np.int64)])
@pytest.mark.parametrize("order", ["stored", "mixed", "with repeats"])
@pytest.mark.parametrize("problems", [(0, 7), (2, 5)])
def test_steps_that_waited_are_added_as_if_one_by_one(share, dtype, index, order, problems):
    random = np.random.default_rng(0)
    rows = sparse_rows(random, dtype, index)
    orders = {"stored": NONE, "mixed": random.permutation(40)[:31], "with repeats": random.integers(0, 40, 55)}
    order = orders[order].astype(np.int32)
    trials = order if order.size else np.arange(40)
    steps = random.normal(size=(trials.size, 7)) * (random.random((trials.size, 7)) < share)
    found = random.normal(size=(15, 7))
    wanted, entries = found.copy(), rows.data.size * 2
    one_by_one(rows, trials, steps, wanted, *problems)
    rooms = np.empty(16, index), np.empty(entries, np.int32), np.empty(entries, dtype)
    add_waiting(rows, order, steps, found, *problems, *rooms)
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_averages_and_their_squares_are_those_of_numpy(dtype):
    random = np.random.default_rng(1)
    W, lag, sums = random.normal(size=(30, 5)).astype(dtype), random.normal(size=(30, 5)), random.normal(size=5)
    trials, found, squares = np.arange(1, 6), np.empty((30, 5), dtype), np.zeros(5)
    average_all(W, sums, lag, trials, found)
    assert found.tobytes() == ((sums * W - lag) / trials).astype(dtype).tobytes()
    sum_squares(W, sums, lag, squares)
    assert squares == pytest.approx(((sums * W - lag) ** 2).sum(axis=0))
    squares[:] = 0.0
    sum_squares(W, sums, lag[:0], squares)
    assert squares == pytest.approx(((sums * W) ** 2).sum(axis=0))
