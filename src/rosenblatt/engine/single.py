"""Single rows of a stream: one trial of each kind of loop, or the scores of one row, in a single compiled call.

A row is its values and their columns. The values of a dense row are an array, and its columns None; those of a sparse
row are the bytes of an array, and the columns ascend. Calls do not look at the types of arguments, see
`rosenblatt.training.algorithm.bind`, but at sizes: a row that is wider than the weights is refused.

The state comes array by array: Numba unpacks nine arrays in a fifth of the time of a NamedTuple of them, and the trial
itself takes less than a microsecond with a hundred features.
"""

import numpy as np

from rosenblatt.engine.epoch import NO_LOG, Learner, Weights, run_csr, run_dense
from rosenblatt.engine.frame import run_epoch
from rosenblatt.engine.jit import compiled, overload
from rosenblatt.engine.joint import run_joint
from rosenblatt.engine.rows import (
    INLINED,
    Counts,
    Csr,
    Dense,
    Task,
    add,
    by_type,
    dot,
    entries,
    entry,
    longest,
    row_count,
    square,
)
from rosenblatt.engine.rules import leaves_mistakes, respond

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

AS_ROWS = {
    True: lambda values, columns, W: Dense(values.reshape(1, values.size)),
    False: lambda values, columns, W: Csr(np.frombuffer(values, W.dtype).copy(), columns, np.array([0, columns.size])),
}
VIEW_ROWS = AS_ROWS | {
    False: lambda values, columns, W: Csr(np.frombuffer(values, W.dtype), columns, (0, columns.size))  # type: ignore[arg-type]
}


def as_rows(values, columns, W):
    """Return a single row as a chunk of one row, of the same types, for the loops over rows."""
    return AS_ROWS[columns is None](values, columns, W)


def view_rows(values, columns, W):
    """Return the same without the two allocations, which take a tenth of the time of a call for a short row."""
    return VIEW_ROWS[columns is None](values, columns, W)


overload(as_rows, jit_options=INLINED)(lambda values, columns, W: AS_ROWS[columns.name == "none"])
overload(view_rows, jit_options=INLINED)(lambda values, columns, W: VIEW_ROWS[columns.name == "none"])

# ------------------------------------------------------------------------------------------------------------- learning


@compiled()
def learn_row(
    rule,
    steps,
    active,
    known,
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
    c,
    values,
    columns,
):
    """Present a row of class c to all problems: `run_dense` or `run_csr` for one trial; `steps` are a `Learner`'s.

    `active` has the numbers of all problems, or is None if they learn jointly: then only `run_joint` is compiled.
    Returns the mistakes of the first `known` problems, -1 if the row is not finite, -2 if the weights overflowed.
    """
    rows = as_rows(values, columns, W)
    if not is_sound(rows, W):
        return -1
    weights = Weights(W, b, t, scale, owed, paid, scale_sum, lag, lag_b, t)
    counts = no_counts(1 if active is None else b.size)
    learner = Learner(steps[0], steps[1], steps[2], steps[3], steps[4], steps[5], NO_LOG)
    task, order = one_row(c, sign, cost, class_cost, bias)
    if active is None:
        run_joint(rule, learner, rows, task, order, weights, weights, counts)
    else:
        run_rows(rule, learner, rows, task, order, active, weights, counts)
    return outcome(rows, counts, known, W, b)


@compiled(error_model="numpy")
def learn_plain_row(
    rule, rate, safe, known, sign, cost, bias, W, b, seen, scale, scale_sum, lag, lag_b, c, values, columns
):
    """Run `learn_row` for a rule without a penalty, written out: that takes a third of the time.

    Without an average, `scale_sum`, `lag` and `lag_b` are None, and what is about them is not compiled. `safe`: the
    weights cannot overflow.
    """
    rows, mistakes = view_rows(values, columns, W), 0
    norm = square(rows, 0) if fits(rows, W) else np.nan
    if not norm <= longest(rows):
        return -1
    norm += bias
    for p in range(b.size):
        y = sign[c, p]
        if y == 0:
            continue
        margin = y * (scale[p] * dot(rows, 0, W, p) + b[p])
        step, _ = respond(rule, margin, norm, rate, cost[c, p], y)
        if step != 0.0:
            factor, shift = y * step / scale[p], y * step * bias
            if scale_sum is not None:
                add(rows, 0, scale_sum[p] * factor, lag, p)
                lag_b[p] += seen[p] * shift
            add(rows, 0, factor, W, p)
            b[p] += shift
        if step != 0.0 or (leaves_mistakes(rule) and cost[c, p] > 0.0):
            mistakes += p < known and not margin > 0.0
        seen[p] += 1
        if scale_sum is not None:
            scale_sum[p] += scale[p]
    return mistakes if safe or touched_finite(rows, W, b) else -2


@compiled()
def learn_state_row(algorithm, known, sign, cost, class_cost, bias, state, c, values, columns):
    """Run `rosenblatt.engine.frame.run_epoch` for one trial; as `learn_row`."""
    rows = as_rows(values, columns, state.W)
    if not is_sound(rows, state.W):
        return -1
    counts = no_counts(state.b.size)
    task, order = one_row(c, sign, cost, class_cost, bias)
    run_epoch(algorithm, rows, task, order, np.arange(state.b.size), state, counts)
    return outcome(rows, counts, known, state.W, state.b)


# ----------------------------------------------------------------------------------------------------------- predicting


@compiled(error_model="numpy")
def score_row(known, W, b, scale, t, scale_sum, lag, lag_b, skipped, values, columns):
    """Return the score of the only problem; of several, the number of the one with the highest score.

    NaN if the row is not finite. With an average, its score: (scale_sum W - lag).x over the trials, as in `Weights`.
    What a score does not need is None: `scale` with an average, and all after it without one.
    """
    rows = view_rows(values, columns, W)
    if not (fits(rows, W) and square(rows, 0) <= longest(rows)):
        return np.nan
    best, chosen = -np.inf, 0
    for p in range(known):
        score = np.float64(dot(rows, 0, W, p))
        if lag is not None:
            total = scale_sum[p] * score - dot(rows, 0, lag, p) + (t[p] * np.float64(b[p]) - lag_b[p])
            score = total / max(t[p] - skipped[p], 1)
        elif scale is not None:
            score = scale[p] * score + b[p]
        else:
            score += b[p]
        if score > best:
            best, chosen = score, p
    return best if known == 1 else np.float64(chosen)


# ------------------------------------------------------------------------------------------------------ what they share

FITS = {
    Dense: lambda rows, W: rows.X.shape[1] == W.shape[1],
    Csr: lambda rows, W: (
        rows.data.size == rows.indices.size
        and (rows.data.size == 0 or 0 <= rows.indices[0] <= rows.indices[-1] < W.shape[1])
    ),
}


def fits(rows, W):
    """Return whether the columns of the only row are columns of the weights."""
    return by_type(FITS, rows)(rows, W)


overload(fits, jit_options=INLINED)(lambda rows, W: by_type(FITS, rows))


@compiled(forceinline=True)
def one_row(c, sign, cost, class_cost, bias):
    """Return the task of a single row of class c, and an empty order."""
    label, empty = np.empty(1, np.int32), class_cost[:0]
    label[0] = c
    return Task(label, sign, cost, class_cost, empty, empty, bias), label[:0]


@compiled()
def no_counts(parts):
    """Return counts of zero."""
    whole, real = np.zeros((2, parts), np.int64), np.zeros((2, parts))
    return Counts(whole[0], whole[1], real[0], real[1])


@compiled(forceinline=True)
def is_sound(rows, W):
    """Return whether the row is no wider than the weights, and small enough that its dot products stay finite."""
    return fits(rows, W) and square(rows, 0) <= longest(rows)


@compiled(forceinline=True)
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
