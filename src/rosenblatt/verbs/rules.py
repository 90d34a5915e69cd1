"""The rules beside the perceptron's: from the margin of a row to the step and the loss."""

from typing import NamedTuple

import numpy as np

from rosenblatt.jit import compiled
from rosenblatt.verbs.learning import RULES
from rosenblatt.verbs.rows import square


@compiled(forceinline=True)
def _norm(rows, i, known):
    if known is None:
        return square(rows, i)
    return known


@compiled(forceinline=True)
def norm(rows, i, trial):
    """Squared norm of row i, padded by the constant of the bias; computed once where all problems share it."""
    return _norm(rows, i, trial.norm) + trial.bias


@compiled(forceinline=True)
def reach(loss, importance):
    """Change of the margin that a row of some weight asks for, where the loss is what one of weight one asks for.

    The weight is a factor of it. Of a mistake, to a margin of the weight and no further: steps that overshoot what rows
    of the other class ask for by a factor would grow without end.
    """
    if importance <= 1.0 or loss <= 1.0:
        return importance * loss
    return loss + (importance - 1.0)


class PassiveAggressiveRule(NamedTuple):
    """Step min(C, (1 - m) / |x|^2) when m = y f(x) < 1. Crammer et al. (2006), PA-I; PA with C infinite.

    The weight of a row is a factor of the step, as in scikit-learn. As a factor of C alone, as the weighted hinge loss
    has it, it would do nothing wherever a step is shorter than C, as most are.
    """

    C: float


def _passive_aggressive(rule, sign, margin, rows, i, trial):
    if margin >= 1.0:
        return 0.0, 0.0
    length = trial.vectors * norm(rows, i, trial)
    loss = 1.0 - margin
    # C bounds a step, also a heavy one. Where there is none, what the row asks for is bounded.
    wanted = reach(loss, trial.importance) if np.isinf(rule.C) else trial.importance * loss
    return min(rule.C * trial.importance, wanted / length) if length > 0.0 else 0.0, loss


class SmoothPassiveAggressiveRule(NamedTuple):
    """Step (1 - m) / (|x|^2 + 1 / 2C) when m = y f(x) < 1. Crammer et al. (2006), PA-II."""

    C: float


def _smooth_passive_aggressive(rule, sign, margin, rows, i, trial):
    if margin >= 1.0:
        return 0.0, 0.0
    length = trial.vectors * norm(rows, i, trial)
    loss = 1.0 - margin
    return reach(loss, trial.importance) / (length + 0.5 / rule.C), loss * loss


class HingeRule(NamedTuple):
    """Step 1 when m < 1, a subgradient step against max(0, 1 - m); if bounded, not beyond a margin of one.

    That is what many small steps come to. A longer one, which a large rate or a long row would ask for, overshoots.
    Karampatziakis and Langford (2011), Online importance weight aware updates. The weight of a row is a factor of the
    rate and of the bound: within the bound alone it would do nothing as long as rates are large.
    """

    bounded: bool = True


def _hinge(rule, sign, margin, rows, i, trial):
    if margin >= 1.0:
        return 0.0, 0.0
    loss, rate = 1.0 - margin, trial.eta * trial.importance
    if not rule.bounded:
        return rate, loss
    length = trial.vectors * norm(rows, i, trial)
    return min(rate, reach(loss, trial.importance) / length) if length > 0.0 else rate, loss


class SquaredHingeRule(NamedTuple):
    """Step 2 (1 - m) when m < 1, a gradient step against max(0, 1 - m)^2; but not beyond a margin of one.

    A longer step, which a large rate or a long row would ask for, overshoots the minimum: errors would grow.
    """

    none: float = 0.0


def _squared_hinge(rule, sign, margin, rows, i, trial):
    if margin >= 1.0:
        return 0.0, 0.0
    loss, rate = 1.0 - margin, 2.0 * trial.eta * trial.importance
    length = trial.vectors * norm(rows, i, trial)
    # Where the rate is not what bounds the step, it is what the row asks for over its squared length.
    wanted = reach(loss, trial.importance)
    return loss * rate * (wanted / max(wanted, loss * rate * length)), loss * loss


class LogisticRule(NamedTuple):
    """Step 1 / (1 + e^m), a gradient step against log(1 + e^-m); if bounded, as far as many small steps go.

    The weight of a row is a factor of the step, within the bound as for the hinge.
    """

    bounded: bool = True


# Change of the margin up to which one step is as good as many.
TINY_STEP = 0.01
# The same up to which a fraction stands in for `_flow`: it is less than a hundredth off.
SHORT_STEP = 1.0


@compiled()
def _flow(margin, growth, path):
    """Return the margin z after many small steps, whose rates add up to the path: z + e^z = m + e^m + path.

    By Lambert's function, approximated as in Karampatziakis and Langford (2011); `growth` is e^m.
    """
    x = margin + growth + path
    w = 0.86 * x + 0.01 if x >= 1.0 else np.exp(0.8 * x - 0.65)
    r = x - np.log(w) - w if x >= 1.0 else 0.2 * x + 0.65 - w
    t = 1.0 + w
    u = 2.0 * t * (t + 2.0 * r / 3.0)
    return x - w * (1.0 + r / t * (u - r) / (u - 2.0 * r))


def _logistic(rule, sign, margin, rows, i, trial):
    # The gradient is g = top / total. To divide once is what keeps the next row waiting least.
    small = np.exp(-abs(margin))
    top, total = small if margin > 0.0 else 1.0, 1.0 + small
    rate, weight, loss = trial.eta, trial.importance, np.log1p(small) + max(0.0, -margin)
    if not rule.bounded:
        return weight * rate * top / total, loss
    length = trial.vectors * norm(rows, i, trial)
    path = rate * length * top
    if path <= TINY_STEP * total:
        return weight * rate * top / total, loss
    if path > SHORT_STEP * total:
        moved = _flow(margin, (total - top) / top, rate * length) - margin
        return min(weight * rate * top / total, reach(max(0.0, moved), weight) / length), loss
    # With d = g rate length the flow moves the margin by d (6 + (1 - 3g) d) / (6 + (4 - 6g) d), but for terms in d^4.
    six, moved = 6.0 * total * total, weight * rate * top
    return moved * (six + (total - 3.0 * top) * path) / (total * (six + (4.0 * total - 6.0 * top) * path)), loss


@compiled()
def _repeat(share, times):
    """Share of an error that is gone after so many steps which each take the given share of what is left."""
    if times == 1.0:
        return share
    return 1.0 - (1.0 - share) ** times if share < 1.0 else min(times, 1.0)


class LmsRule(NamedTuple):
    """Step 1 - m, always: a gradient step against (1 - m)^2 / 2. Widrow and Hoff (1960)."""

    none: float = 0.0


def _lms(rule, sign, margin, rows, i, trial):
    error = 1.0 - margin
    if trial.importance == 1.0:
        return trial.eta * error, 0.5 * error * error
    length = norm(rows, i, trial)
    step = _repeat(trial.eta * length, trial.importance) * error / length if length > 0.0 else 0.0
    return step, 0.5 * error * error


class NormalisedLmsRule(NamedTuple):
    """Step (1 - m) / |x|^2, always: to the nearest weights without an error on the row.

    With a floor below |x|^2, short rows count less, as in the mean of all squared errors.
    """

    floor: float = 0.0


def _normalised_lms(rule, sign, margin, rows, i, trial):
    error = 1.0 - margin
    length = norm(rows, i, trial)
    if length == 0.0:
        return 0.0, 0.5 * error * error
    divisor = max(length, rule.floor)
    if trial.importance == 1.0:
        return trial.eta * error / divisor, 0.5 * error * error
    return _repeat(trial.eta * (length / divisor), trial.importance) * error / length, 0.5 * error * error


RULES |= {
    PassiveAggressiveRule: _passive_aggressive,
    SmoothPassiveAggressiveRule: _smooth_passive_aggressive,
    HingeRule: _hinge,
    SquaredHingeRule: _squared_hinge,
    LogisticRule: _logistic,
    LmsRule: _lms,
    NormalisedLmsRule: _normalised_lms,
}
