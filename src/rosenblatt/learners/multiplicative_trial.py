"""Weights that are multiplied: the trial of the Winnow family."""

from typing import NamedTuple

import numpy as np

from rosenblatt.engine.frame import TRIALS
from rosenblatt.engine.jit import overload
from rosenblatt.engine.rows import by_type, dot, entries, entry

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


def winnow_trial(algorithm, rows, i, sign, importance, bias, state, p):
    """On a mistake multiply the weight of each feature of the row by factor^(y x)."""
    margin = sign * (dot(rows, i, state.W, p) + state.b[p])
    if margin > 0.0:
        return margin, 0.0, 0.0
    start, end = entries(rows, i)
    for k in range(start, end):
        j, value = entry(rows, i, k)
        if value != 0.0:
            state.theta[p, j] = move(algorithm, state.theta[p, j], sign * importance * value)
            state.W[p, j] = link(algorithm, state.theta[p, j])
    if bias > 0.0:
        state.theta_b[p] += sign * importance
        state.b[p] = link(algorithm, state.theta_b[p])
    return margin, importance, max(0.0, -margin)


TRIALS |= {WinnowRule: winnow_trial, BalancedWinnowRule: winnow_trial}
