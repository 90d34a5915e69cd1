"""All classes at once: the loop in which they compete."""

import numpy as np

from rosenblatt.jit import compiled
from rosenblatt.verbs.learning import (
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
    best_wrong,
    finish_shifts,
    request,
    room_for_dots,
    room_for_steps,
    shift,
)
from rosenblatt.verbs.single import is_finite_row, no_counts, one_row, outcome


@compiled()
def run_joint_epoch(learner, rows, task, order, weights, into, counts):
    """Present the rows to all classes at once: towards the true one, away from the best wrong one.

    The max-score ultraconservative update, Crammer and Singer (2003), Figure 3. The margin of a row is the
    score of its class less the best score of another.
    """
    rule, penalty, rate, averaging = learner
    jumps = order.size > 0
    trials = order.size if jumps else task.label.size
    W, b, seen, scale, scale_sum, lag, lag_b = into.W, into.b, into.t, into.scale, into.scale_sum, into.lag, into.lag_b
    every, products, steps = np.arange(b.size), room_for_dots(rows, weights.W, weights.b), room_for_steps(rows, W)
    for t in range(trials):
        i = order[t] if jumps else t
        if jumps:
            request(rows, order[min(t + ROWS_AHEAD, trials - 1)], order[min(t + 2 * ROWS_AHEAD, trials - 1)])
        c, soon = task.label[i], min(t + WEIGHTS_AHEAD, trials - 1)
        soon = order[soon] if jumps else soon
        own, best, wrong = best_wrong(rows, i, soon, c, weights.W, weights.b, weights.scale, every, products)
        margin = own - best
        eta = rate_at(rate, seen[0] + 1)
        importance = task.class_cost[c] * task.sample_weight[i] if task.sample_weight.size else task.class_cost[c]
        step, loss = respond(rule, 1, margin, rows, i, RuleInput(eta, importance, 2.0, task.bias, None))
        for k in range(weights.W.shape[0]):
            before_step(penalty, eta, W, scale, scale_sum, lag, k)
        if step != 0.0:
            for sign in (1, -1):
                k = c if sign > 0 else wrong
                factor, bias = sign * step / scale[k], sign * step * task.bias
                note_step(averaging, i, factor, bias, lag_b, seen, k)
                shift_lag(averaging, rows, i, t, scale_sum[k] * factor, lag, k, steps)
                shift(rows, i, factor, W, k, steps)
                b[k] += bias
            finish_shifts(rows, i, W, lag, every, steps)
            counts.mistakes[0] += not margin > 0.0
            counts.updates[0] += 1
            counts.loss[0] += loss
            counts.step[0] += step
        for k in range(weights.W.shape[0]):
            after_step(penalty, eta, rows, i, into, k)
            seen[k] += 1
            pass_trial(averaging, scale_sum, scale, k)


# All arrays as arguments: see `rosenblatt.verbs.single` for what Numba takes to unpack a structure.


@compiled()
def learn_joint_row(
    learner, known, label, sign, cost, class_cost, bias, W, b, t, scale, owed, paid, scale_sum, lag, lag_b, rows, c
):
    """Run `run_joint_epoch` for one trial; as `learn_row`."""
    if not is_finite_row(rows):
        return -1
    weights, counts = Weights(W, b, t, scale, owed, paid, scale_sum, lag, lag_b, t), no_counts(1)
    task, order = one_row(c, label, sign, cost, class_cost, bias, scale)
    run_joint_epoch(learner, rows, task, order, weights, weights, counts)
    return outcome(rows, counts, 1, W, b)
