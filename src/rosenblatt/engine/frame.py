"""The epoch of algorithms that keep more than a sum of rows, and single rows of a stream for all algorithms.

`run_epoch` presents the rows; what an algorithm does with one of them is its own: a function in `TRIALS`, chosen by the
type of its parameters, which are a NamedTuple.
"""

from rosenblatt.engine.jit import compiled, overload
from rosenblatt.engine.rows import U, by_type

# The trial of each algorithm, by the class of its parameters.
TRIALS: dict[type, object] = {}


def run_trial(algorithm, rows, i, sign, importance, bias, state, p):
    """Let problem p learn from row i, with y = sign; return margin, step and loss. A step of 0 changed nothing."""
    return by_type(TRIALS, algorithm)(algorithm, rows, i, sign, importance, bias, state, p)


overload(run_trial, jit_options={"forceinline": True, "error_model": "numpy"})(
    lambda algorithm, rows, i, sign, importance, bias, state, p: by_type(TRIALS, algorithm)
)


@compiled(error_model="numpy")
def run_epoch(algorithm, rows, task, order, active, state, counts):
    """Present the rows in `order` (empty: all of them as they are stored) to the `active` problems."""
    for t in range(order.size if order.size else task.label.size):
        i = U(order[t] if order.size else t)
        c = U(task.label[i])
        for a in range(active.size):
            p = U(active[a])
            sign = task.sign[c, p]
            if sign == 0:
                continue
            state.t[p] += 1
            importance = task.cost[c, p] * task.sample_weight[i] if task.sample_weight.size else task.cost[c, p]
            if importance == 0.0:
                continue
            margin, step, loss = run_trial(algorithm, rows, i, sign, importance, task.bias, state, p)
            counts.loss[p] += loss
            # A mistake that no step can mend counts as an update: the run has not come to rest.
            if step != 0.0 or not margin > 0.0:
                counts.mistakes[p] += not margin > 0.0
                counts.updates[p] += 1
                counts.step[p] += step
