"""Averages of many weights, those of a feature side by side; and what updates come too late to add to them."""

import numpy as np

from rosenblatt.jit import compiled

# Steps that are not zero, at most one in so many, are added one by one.
FEW_STEPS = 8


@compiled()
def add_waiting(rows, order, steps, lag, first, last, place, trial, value):
    """Add the rows in `order` (empty: all as they are stored), each times its `steps`, to the lag of problems.

    Problems `first` to `last` are meant; steps are (trials, problems), and lag is (features, problems). What is added
    to a lag comes in the order of the trials, so that no bit depends on the way.

    There is room to work in: `place` for one more than the features, `trial` and `value` for all entries.
    """
    moved = 0
    for t in range(steps.shape[0]):
        for p in range(first, last):
            moved += steps[t, p] != 0.0
    if FEW_STEPS * moved <= steps.shape[0] * (last - first):
        _add_each(rows, order, steps, lag, first, last)
    else:
        _sort_entries(rows, order, steps.shape[0], place, trial, value)
        _add_by_feature(steps, lag, np.uint64(first), np.uint64(last), place, trial, value)


@compiled()
def _add_each(rows, order, steps, lag, first, last):
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    for t in range(steps.shape[0]):
        i = order[t] if order.size else t
        for p in range(first, last):
            step = steps[t, p]
            if step != 0.0:
                for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                    lag[np.uint64(indices[k]), p] += step * data[k]


@compiled()
def _sort_entries(rows, order, trials, place, trial, value):
    """Write the trial and the value of each entry, by column; `place` then says where those of a column end."""
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    place[:] = 0
    for t in range(trials):
        i = order[t] if order.size else t
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            place[np.uint64(indices[k]) + np.uint64(1)] += 1
    for j in range(1, place.size):
        place[j] += place[j - 1]
    for t in range(trials):
        i = order[t] if order.size else t
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            entry = np.uint64(place[np.uint64(indices[k])])
            place[np.uint64(indices[k])] += 1
            trial[entry], value[entry] = t, data[k]


@compiled()
def _add_by_feature(steps, lag, first, last, place, trial, value):
    """Add up feature by feature: each lag is read and written once, and not for each of its entries."""
    entry = np.uint64(0)
    for j in range(lag.shape[0]):
        while entry < np.uint64(place[j]):
            t, x = np.uint64(trial[entry]), value[entry]
            for p in range(first, last):
                lag[j, p] += steps[t, p] * x
            entry += np.uint64(1)


@compiled()
def average_all(W, scale_sum, lag, trials, out):
    """Compute (scale_sum W - lag) / trials, into `out`; the matrices are (features, problems)."""
    for j in range(W.shape[0]):
        for p in range(W.shape[1]):
            out[j, p] = (scale_sum[p] * W[j, p] - lag[j, p]) / trials[p]


@compiled()
def sum_squares(W, scale, lag, squares):
    """Add the squares of scale W - lag to the sum of each problem; an empty lag is none."""
    if lag.shape[0] == 0:
        for j in range(W.shape[0]):
            for p in range(W.shape[1]):
                weight = scale[p] * W[j, p]
                squares[p] += weight * weight
    for j in range(lag.shape[0]):
        for p in range(W.shape[1]):
            weight = scale[p] * W[j, p] - lag[j, p]
            squares[p] += weight * weight
