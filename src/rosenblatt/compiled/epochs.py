"""The loop of the lectures: rows are presented one by one, and the weights move along them. Arrays in, counts out.

A row store (`Dense`, `Csr`), a rule (`PerceptronRule` and its kin), a penalty, a rate and an average are NamedTuples.
The body of each verb in the loop (`dot`, `respond`, `add`, ...) is chosen by their type when the loop is compiled, so
one loop serves every combination at the speed of a loop written for it. The verbs are those of `rosenblatt.verbs`.

Nothing here checks bounds; `rosenblatt.data` validates each array before it arrives.
"""

import numpy as np

from rosenblatt.jit import compiled
from rosenblatt.verbs.learning import (
    ConstantRate,
    Learner,
    NoAverage,
    NoPenalty,
    RuleInput,
    Weights,
    after_step,
    before_step,
    note_step,
    pass_trial,
    rate_at,
    respond,
    shift_lag,
)
from rosenblatt.verbs.rows import (
    ROWS_AHEAD,
    WEIGHTS_AHEAD,
    Dense,
    dots,
    finish_shifts,
    product,
    request,
    room_for_dots,
    room_for_steps,
    shift,
)
from rosenblatt.verbs.single import is_finite_row, no_counts, one_row, outcome

# Arrays that a branch writes to are taken out of their structure before the loop, and the branch is written out.
# Passing a structure on in the branch makes Numba update the reference count of each of its arrays: a fifth of the
# time of a short row.


@compiled()
def run_epoch(learner, rows, task, order, active, weights, into, counts, products, steps):
    """Present the rows in `order` (empty: all of them as they are stored) to the `active` problems.

    Scores are read from `weights` and corrections written `into`: a zeroed sum for the batch perceptron, None for the
    weights themselves. To pass the same arrays twice takes a small table a tenth of its time. There is room to work
    in: `products` for a number for each problem, and two rows of `steps`, all zero, likewise. With a row more than
    trials, what they add to the lag is left there.
    """
    if into is None:
        into = weights
    rule, penalty, rate, averaging = learner
    jumps, classifies = order.size > 0, task.target.size == 0
    trials, source = order.size if jumps else task.label.size, weights.W
    W, b, seen, scale, scale_sum, lag, lag_b = into.W, into.b, into.t, into.scale, into.scale_sum, into.lag, into.lag_b
    for t in range(trials):
        i = order[t] if jumps else t
        if jumps:
            request(rows, order[min(t + ROWS_AHEAD, trials - 1)], order[min(t + 2 * ROWS_AHEAD, trials - 1)])
        c, soon = task.label[i], min(t + WEIGHTS_AHEAD, trials - 1)
        soon = order[soon] if jumps else soon  # not in the call, for which Numba would count references in two branches
        norm = dots(rows, i, soon, source, active, products)
        for a in range(active.size):  # not `for p in active`, which updates a reference count for each row
            p = active[a]
            sign = task.sign[c, p]
            if sign == 0:
                continue
            score = weights.scale[p] * product(rows, i, source, p, products) + weights.b[p]
            # A rule that steps by 1 - margin then steps by target - score.
            margin = sign * score if classifies else 1.0 + score - task.target[i]
            eta = rate_at(rate, seen[p] + 1)
            importance = task.cost[c, p] * task.sample_weight[i] if task.sample_weight.size else task.cost[c, p]
            step, loss = respond(rule, sign, margin, rows, i, RuleInput(eta, importance, 1.0, task.bias, norm))
            before_step(penalty, eta, W, scale, scale_sum, lag, p)
            if step != 0.0:
                factor, bias = sign * step / scale[p], sign * step * task.bias
                note_step(averaging, i, factor, bias, lag_b, seen, p)
                shift_lag(averaging, rows, i, t, scale_sum[p] * factor, lag, p, steps)
                shift(rows, i, factor, W, p, steps)
                b[p] += bias
                counts.mistakes[p] += classifies and not margin > 0.0
                counts.updates[p] += 1
                counts.loss[p] += loss
                counts.step[p] += step
            after_step(penalty, eta, rows, i, into, p)
            seen[p] += 1
            pass_trial(averaging, scale_sum, scale, p)
        finish_shifts(rows, i, W, lag, active, steps)


# --------------------------------------------------------------------------------------------- single rows of a stream


# With all arrays as arguments: see `rosenblatt.verbs.single` for what Numba takes to unpack a structure.


@compiled()
def learn_row(
    learner, known, label, sign, cost, class_cost, bias, W, b, t, scale, owed, paid, scale_sum, lag, lag_b, rows, c
):
    """Present the only row, of class c, to all problems: `run_epoch` for one trial.

    Returns the mistakes of the first `known` problems, -1 if the row is not finite, -2 if the weights overflowed.
    """
    if not is_finite_row(rows):
        return -1
    weights, counts = Weights(W, b, t, scale, owed, paid, scale_sum, lag, lag_b, t), no_counts(b.size)
    (task, order), active = one_row(c, label, sign, cost, class_cost, bias, scale), np.arange(b.size)
    products, steps = room_for_dots(rows, W, b), room_for_steps(rows, W)
    run_epoch(learner, rows, task, order, active, weights, weights, counts, products, steps)
    return outcome(rows, counts, known, W, b)


@compiled()
def learn_plain_row(rule, eta, known, label, sign, cost, bias, W, b, t, scale, x, c):
    """Run `learn_row` for a dense row and a rule without penalty and average, with half the arguments."""
    rows = Dense(x.reshape(1, x.size))
    if not is_finite_row(rows):
        return -1
    unused = W[:, :0]
    weights, counts = Weights(W, b, t, scale, scale, unused, scale, unused, scale, t), no_counts(b.size)
    task, order = one_row(c, label, sign, cost, scale, bias, scale)
    learner = Learner(rule, NoPenalty(0.0), ConstantRate(eta), NoAverage(0.0))
    # Dense rows use no room: any arrays of these kinds will do.
    run_epoch(learner, rows, task, order, np.arange(b.size), weights, weights, counts, b, W)
    return outcome(rows, counts, known, W, b)
