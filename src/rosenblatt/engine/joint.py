"""Several classes that compete: the loop for joint learning."""

import numpy as np

from rosenblatt.engine.epoch import LEAST_SCALE, fold, rate_at, truncate, write_down
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import add, dot, entries, entry, square
from rosenblatt.engine.rules import leaves_mistakes, respond


@compiled(error_model="numpy")
def run_joint(rule, learner, rows, task, order, weights, into, counts):
    """Present the rows to all classes at once: towards the true one, away from the best wrong one.

    The max-score ultraconservative update, Crammer and Singer (2003), Figure 3. The margin of a row is the score of its
    class less the best score of another. Otherwise as `rosenblatt.engine.epoch.run_dense`.
    """
    W, b, seen, scale, owed, _, scale_sum, lag, lag_b, _ = into
    for t in range(order.size if order.size else task.label.size):
        i = order[t] if order.size else t
        c = task.label[i]
        norm = 2.0 * (square(rows, i) + task.bias)  # of the two vectors that move
        own, best, wrong = best_wrong(rows, i, c, weights.W, weights.b, weights.scale)
        margin = own - best
        importance = task.class_cost[c] * task.sample_weight[i] if task.sample_weight.size else task.class_cost[c]
        rate = rate_at(learner, seen[0] + 1)
        step, loss = respond(rule, margin, norm, rate, importance, 1)
        if learner.l2 > 0.0:
            for k in range(b.size):
                scale[k] *= max(0.0, 1.0 - rate * learner.l2)
                if scale[k] < LEAST_SCALE:
                    fold(W, scale, scale_sum, lag, k)
        if step != 0.0:
            for sign in (1, -1):
                k = c if sign > 0 else wrong
                factor, bias = sign * step / scale[k], sign * step * task.bias
                if learner.averaged:
                    add(rows, i, scale_sum[k] * factor, lag, k)
                    lag_b[k] += seen[k] * bias
                add(rows, i, factor, W, k)
                b[k] += bias
                if learner.log.row.size:
                    write_down(learner.log, i, k, factor, seen[k])
            counts.mistakes[0] += not margin > 0.0
            counts.updates[0] += 1
            counts.loss[0] += loss
            counts.step[0] += step
        elif leaves_mistakes(rule) and not margin > 0.0 and importance > 0.0:
            counts.mistakes[0] += 1
            counts.loss[0] += loss
        if learner.l1 > 0.0:
            start, end = entries(rows, i)
            for k in range(b.size):
                owed[k] += rate * learner.l1
                for m in range(start, end):
                    j, value = entry(rows, i, m)
                    if value != 0.0:
                        truncate(into, k, j)
        for k in range(b.size):
            seen[k] += 1
            if learner.averaged:
                scale_sum[k] += scale[k]


@compiled(forceinline=True)
def best_wrong(rows, i, c, W, b, scale):
    """Return the score of class c on row i, and the highest score of another class with that class."""
    own, best, wrong = 0.0, -np.inf, 0
    for k in range(b.size):
        score = scale[k] * dot(rows, i, W, k) + b[k]
        if k == c:
            own = score
        elif not score <= best:
            best, wrong = score, k
    return own, best, wrong
