"""Weights that are the gradient of a norm at a sum of rows: the trial of the p-norm perceptron."""

from typing import NamedTuple

import numpy as np

from rosenblatt.engine.frame import TRIALS
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import add, dot, entries, entry

# Between these a sum of powers is brought up to date. Outside, all weights are computed anew, in units of about the
# norm then: the larger p, the sooner powers would overflow, or a sum of them be rounding.
_SMALLEST, _LARGEST = 2.0**-10, 2.0**10
# Up to this p the unit is a power of two: whole powers of small integers are then exact, and ties stay ties.
_EXACT = 8.0


class PNormRule(NamedTuple):
    """Perceptron steps for a sum of rows, whose link the weights are. Grove, Littlestone and Schuurmans (2001)."""

    power: float  # p, at least 2


class PNormWeights(NamedTuple):
    """Sums theta of signed rows, and the weights that they give, but for a factor: W = link(theta / unit).

    The link is sign(s) |s|^(p - 1), and power_sum the sum of |theta / unit|^p, with the bias. The factor from W to the
    weights, which the sign of a score does not need, is unit * power_sum^(2 / p - 1). A power_sum below zero says that
    W and b were put there as weights, and that theta is to be computed from them.
    """

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,)
    theta: np.ndarray  # (problems, features)
    theta_b: np.ndarray  # (problems,)
    unit: np.ndarray  # (problems,)
    power_sum: np.ndarray  # (problems,)


@compiled()
def _link(power, value, length, unit):
    """Return sign(s) |s|^(p - 1) of s = value / unit.

    The padding makes values longer by its length, and its weight, too. Written so that p = 2 changes no bit.
    """
    share = np.float64(value) / unit
    return share * abs(share / length) ** (power - 2.0) if share != 0.0 else 0.0


@compiled()
def _powers(value, weight, length, unit):
    """Return |s|^p from the link of s."""
    return abs(np.float64(value) / unit * weight) / length / length


@compiled(error_model="numpy")
def _norm(power, values, value, length, p):
    """Return the norm of a problem's values, with the padding's; 1 if all are zero, or if p = 2, which needs none."""
    largest = abs(np.float64(value[p])) / length
    for j in range(values.shape[1]):
        largest = max(largest, abs(np.float64(values[p, j])))
    if power == 2.0 or largest == 0.0:
        return 1.0
    total = (abs(np.float64(value[p])) / length / largest) ** power
    for j in range(values.shape[1]):
        total += (abs(np.float64(values[p, j])) / largest) ** power
    return largest * total ** (1.0 / power)


@compiled(error_model="numpy")
def _renew(power, state, length, p):
    """Compute all weights of a problem, in units of about the norm of theta."""
    W, b, _, theta, theta_b, unit, power_sum = state
    norm = _norm(power, theta, theta_b, length, p)
    unit[p] = norm if power > _EXACT else 2.0 ** np.round(np.log2(norm))
    b[p] = _link(power, theta_b[p], length, unit[p])
    total = _powers(theta_b[p], b[p], length, unit[p])
    for j in range(W.shape[1]):
        W[p, j] = _link(power, theta[p, j], 1.0, unit[p])
        total += _powers(theta[p, j], W[p, j], 1.0, unit[p])
    power_sum[p] = total


@compiled(error_model="numpy")
def _invert(power, state, length, p):
    """Compute the theta that weights W and b belong to: the same link, of q with 1 / p + 1 / q = 1."""
    W, b, _, theta, theta_b, _, _ = state
    dual = power / (power - 1.0)
    norm = _norm(dual, W, b, length, p)
    theta_b[p] = norm * _link(dual, b[p], length, norm)
    for j in range(W.shape[1]):
        theta[p, j] = norm * _link(dual, W[p, j], 1.0, norm)


@compiled()
def factor_of(power, unit, power_sum):
    """Return what makes W the gradient of half the squared p-norm, which is in proportion to theta."""
    return unit * power_sum ** (2.0 / power - 1.0) if power_sum > 0.0 else 1.0


@compiled(error_model="numpy")
def _move(power, rows, i, factor, bias, state, length, p):
    """Add `factor` times row i to theta, and bring the weights of its features up to date."""
    W, b, _, theta, theta_b, unit, power_sum = state
    total = power_sum[p] - _powers(theta_b[p], b[p], length, unit[p])
    start, end = entries(rows, i)
    for k in range(start, end):
        j, _ = entry(rows, i, k)
        total -= _powers(theta[p, j], W[p, j], 1.0, unit[p])
    add(rows, i, factor, theta, p)
    for k in range(start, end):
        j, value = entry(rows, i, k)
        if value != 0.0:
            W[p, j] = _link(power, theta[p, j], 1.0, unit[p])
        total += _powers(theta[p, j], W[p, j], 1.0, unit[p])
    theta_b[p] += factor * bias
    b[p] = _link(power, theta_b[p], length, unit[p])
    power_sum[p] = abs(total + _powers(theta_b[p], b[p], length, unit[p]))
    # Also if it is not a number. With p = 2 the factor is one, whatever the sum.
    if power > 2.0 and not _SMALLEST <= power_sum[p] <= _LARGEST:
        _renew(power, state, length, p)


def p_norm_trial(algorithm, rows, i, sign, importance, bias, state, p):
    """On a mistake add y x to theta."""
    power = algorithm.power
    margin = sign * (np.float64(dot(rows, i, state.W, p)) + state.b[p])
    if margin > 0.0:
        return margin, 0.0, 0.0
    loss = -margin * factor_of(power, state.unit[p], state.power_sum[p])
    length = np.sqrt(bias) if bias > 0.0 else 1.0
    if state.power_sum[p] < 0.0:
        _invert(power, state, length, p)
        _renew(power, state, length, p)
    _move(power, rows, i, sign * importance, bias, state, length, p)
    return margin, importance, loss


TRIALS[PNormRule] = p_norm_trial
