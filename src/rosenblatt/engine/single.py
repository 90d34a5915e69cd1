"""Single rows of a stream: one trial of each kind of loop, in a single compiled call.

The state comes array by array: Numba unpacks nine arrays in a fifth of the time of a NamedTuple of them, and the trial
itself takes less than a microsecond with a hundred features.
"""

import numpy as np

from rosenblatt.engine.epoch import NO_LOG, Learner, Weights, run_csr, run_dense
from rosenblatt.engine.frame import run_epoch
from rosenblatt.engine.joint import run_joint
from rosenblatt.engine.rows import Counts, Csr, Dense, Task, by_type, entries, entry, longest, row_count, square
from rosenblatt.jit import compiled, overload

RUN = {
    Dense: lambda rule, learner, rows, task, order, active, weights, counts: run_dense(
        rule, learner, rows, task, order, active, weights, None, counts
    ),
    Csr: lambda rule, learner, rows, task, order, active, weights, counts: run_csr(
        rule, learner, rows, task, order, active, weights, None, counts
    ),
}


def run_rows(rule, learner, rows, task, order, active, weights, counts):
    """Run the loop for rows of this kind."""
    return by_type(RUN, rows)(rule, learner, rows, task, order, active, weights, counts)


overload(run_rows)(lambda rule, learner, rows, task, order, active, weights, counts: by_type(RUN, rows))


@compiled()
def learn_row(
    rule,
    learner,
    known,
    label,
    sign,
    cost,
    class_cost,
    bias,
    W,
    b,
    t,
    scale,
    owed,
    paid,
    scale_sum,
    lag,
    lag_b,
    rows,
    c,
):
    """Present the only row, of class c, to all problems: `run_dense` or `run_csr` for one trial.

    Returns the mistakes of the first `known` problems, -1 if the row is not finite, -2 if the weights overflowed.
    """
    if not is_finite_row(rows):
        return -1
    weights, counts = Weights(W, b, t, scale, owed, paid, scale_sum, lag, lag_b, t), no_counts(b.size)
    task, order = one_row(c, label, sign, cost, class_cost, bias, scale)
    run_rows(rule, learner, rows, task, order, np.arange(b.size), weights, counts)
    return outcome(rows, counts, known, W, b)


@compiled()
def learn_plain_row(rule, rate, known, label, sign, cost, bias, W, b, t, scale, x, c):
    """Run `learn_row` for a dense row and a rule without penalty and average, with half the arguments."""
    rows = Dense(x.reshape(1, x.size))
    if not is_finite_row(rows):
        return -1
    unused = W[:, :0]
    weights, counts = Weights(W, b, t, scale, scale, unused, scale, unused, scale, t), no_counts(b.size)
    task, order = one_row(c, label, sign, cost, scale, bias, scale)
    learner = Learner(rate, 0.0, 0.0, 0.0, 0.0, False, NO_LOG)
    run_dense(rule, learner, rows, task, order, np.arange(b.size), weights, None, counts)
    return outcome(rows, counts, known, W, b)


@compiled()
def learn_joint_row(
    rule,
    learner,
    known,
    label,
    sign,
    cost,
    class_cost,
    bias,
    W,
    b,
    t,
    scale,
    owed,
    paid,
    scale_sum,
    lag,
    lag_b,
    rows,
    c,
):
    """Run `run_joint` for one trial; as `learn_row`."""
    if not is_finite_row(rows):
        return -1
    weights, counts = Weights(W, b, t, scale, owed, paid, scale_sum, lag, lag_b, t), no_counts(1)
    task, order = one_row(c, label, sign, cost, class_cost, bias, scale)
    run_joint(rule, learner, rows, task, order, weights, weights, counts)
    return outcome(rows, counts, 1, W, b)


@compiled()
def learn_state_row(algorithm, known, label, sign, cost, class_cost, bias, state, rows, c):
    """Run `rosenblatt.engine.frame.run_epoch` for one trial; as `learn_row`."""
    if not is_finite_row(rows):
        return -1
    counts, empty = no_counts(state.b.size), np.empty(0)
    task, order = one_row(c, label, sign, cost, class_cost, bias, empty)
    run_epoch(algorithm, rows, task, order, np.arange(state.b.size), state, counts)
    return outcome(rows, counts, known, state.W, state.b)


# ------------------------------------------------------------------------------------------------------ what they share


@compiled(forceinline=True)
def one_row(c, label, sign, cost, class_cost, bias, empty):
    """Return the task of a single row of class c, and an empty order; their empty arrays are parts of given ones."""
    label[0] = c
    return Task(label, sign, cost, class_cost, empty[:0], empty[:0], bias), label[:0]


@compiled()
def no_counts(parts):
    """Return counts of zero."""
    whole, real = np.zeros((2, parts), np.int64), np.zeros((2, parts))
    return Counts(whole[0], whole[1], real[0], real[1])


@compiled()
def is_finite_row(rows):
    """Return whether the only row is finite, and so short that sums of its products will be."""
    return square(rows, 0) <= longest(rows)


@compiled()
def touched_finite(rows, W, b):
    """Return whether the weights are finite that belong to entries of the rows, and all biases."""
    n = row_count(rows)
    for p in range(W.shape[0]):
        if not abs(b[p]) < np.inf:
            return False
        for i in range(n):
            start, end = entries(rows, i)
            for k in range(start, end):
                j, _ = entry(rows, i, k)
                if not abs(W[p, j]) < np.inf:
                    return False
    return True


@compiled()
def outcome(rows, counts, known, W, b):
    """Return the mistakes of the known problems, or -2 if a weight is not finite."""
    return counts.mistakes[:known].sum() if touched_finite(rows, W, b) else -2
