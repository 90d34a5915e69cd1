"""Weights that are multiplied: the loop of the Winnow family."""

from typing import NamedTuple

import numpy as np

from rosenblatt.jit import compiled, overload
from rosenblatt.verbs.rows import by_type, dot, entries, entry
from rosenblatt.verbs.single import is_finite_row, no_counts, one_row, outcome

# Exponents may grow without end on data that no weights fit; the weights stay finite.
_HIGHEST = 300.0


class Exponents(NamedTuple):
    """Weights that are powers: W = link(theta), updated through theta."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,)
    theta: np.ndarray  # (problems, features)
    theta_b: np.ndarray  # (problems,)


class WinnowRule(NamedTuple):
    """Weights factor^theta against a threshold; a demotion divides, or eliminates. Littlestone (1988)."""

    factor: float
    eliminate: bool


def _link_winnow(rule, theta):
    return rule.factor ** min(theta, _HIGHEST / np.log(rule.factor))


class BalancedWinnowRule(NamedTuple):
    """Weights factor^theta - factor^-theta, for features of either sign. Littlestone (1989), Balanced."""

    factor: float


def _link_balanced(rule, theta):
    bound = _HIGHEST / np.log(rule.factor)
    theta = max(-bound, min(theta, bound))
    return rule.factor**theta - rule.factor**-theta


_LINK = {WinnowRule: _link_winnow, BalancedWinnowRule: _link_balanced}
_MOVE = {
    # Elimination: factor to the power of minus infinity is zero, for good.
    WinnowRule: lambda rule, theta, change: -np.inf if rule.eliminate and change < 0.0 else theta + change,
    BalancedWinnowRule: lambda rule, theta, change: theta + change,
}


def link(rule, theta):
    """Weight that belongs to an exponent."""
    return by_type(_LINK, rule)(rule, theta)


def move(rule, theta, change):
    """Exponent after a promotion or a demotion."""
    return by_type(_MOVE, rule)(rule, theta, change)


overload(link)(lambda rule, theta: by_type(_LINK, rule))
overload(move)(lambda rule, theta, change: by_type(_MOVE, rule))


@compiled()
def run_multiplicative_epoch(rule, rows, task, order, active, state, counts):
    """Winnow: on a mistake multiply the weight of each feature of the row by factor^(y x)."""
    trials = order.size if order.size else task.label.size
    for t in range(trials):
        i = order[t] if order.size else t
        c = task.label[i]
        for a in range(active.size):
            p = active[a]
            sign = task.sign[c, p]
            if sign == 0:
                continue
            margin = sign * (dot(rows, i, state.W, p) + state.b[p])
            state.t[p] += 1
            if margin > 0.0:
                continue
            step = task.cost[c, p]
            if task.sample_weight.size:
                step *= task.sample_weight[i]
            start, end = entries(rows, i)
            for k in range(start, end):
                j, value = entry(rows, i, k)
                if value != 0.0:
                    state.theta[p, j] = move(rule, state.theta[p, j], sign * step * value)
                    state.W[p, j] = link(rule, state.theta[p, j])
            if task.bias > 0.0:
                state.theta_b[p] += sign * step
                state.b[p] = link(rule, state.theta_b[p])
            counts.mistakes[p] += 1
            counts.updates[p] += 1
            counts.loss[p] += max(0.0, -margin)
            counts.step[p] += step


# All arrays as arguments: see `rosenblatt.verbs.single` for what Numba takes to unpack a structure.


@compiled()
def learn_multiplicative_row(rule, known, label, sign, cost, class_cost, bias, W, b, t, theta, theta_b, rows, c):
    """Run `run_multiplicative_epoch` for one trial; as `learn_row`."""
    if not is_finite_row(rows):
        return -1
    state, counts = Exponents(W, b, t, theta, theta_b), no_counts(b.size)
    (task, order), active = one_row(c, label, sign, cost, class_cost, bias, theta_b), np.arange(b.size)
    run_multiplicative_epoch(rule, rows, task, order, active, state, counts)
    return outcome(rows, counts, known, W, b)
