"""What a loop does with the margin of a row: the verbs of rules, rates, penalties and averages.

A rule, a penalty, a rate and an average are NamedTuples, and the type of each chooses the body of its verbs. Here are
the perceptron's rule and whatever does nothing; `rules`, `penalties` and `averages` have the others.
"""

from typing import NamedTuple

import numpy as np

from rosenblatt.jit import overload
from rosenblatt.verbs.rows import INLINED, by_type


class Weights(NamedTuple):
    """Weight vectors: problem p scores scale[p] * W[p].x + b[p]. Every array has a row for each problem."""

    W: np.ndarray  # (problems, features); Fortran order where sparse rows have several problems
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,) trials seen
    scale: np.ndarray  # (problems,)
    owed: np.ndarray  # (problems,) truncation that every weight should have received
    paid: np.ndarray  # (problems, features) truncation it did receive; (problems, 0) without an L1 penalty
    # For the average, which is (scale_sum W - lag) / (t - skipped), and (t b - lag_b) / (t - skipped) for the bias:
    scale_sum: np.ndarray  # (problems,) scales summed over its trials
    lag: np.ndarray  # (problems, features) what updates came too late to add; (problems, 0) without an average
    lag_b: np.ndarray  # (problems,)
    skipped: np.ndarray  # (problems,) trials before those of the average


class RuleInput(NamedTuple):
    """What a rule needs to know of a trial beside the row."""

    eta: float  # learning rate
    importance: float  # weight of the row times the cost of its class
    vectors: float  # how many weight vectors move
    bias: float  # square of the constant that pads each row
    norm: float | None = None  # squared norm of the row, if all problems share it


class PerceptronRule(NamedTuple):
    """Step 1 when y f(x) <= margin, with a margin for each class: Rosenblatt (1958) at 0, Li et al. (2002) uneven."""

    positive: float
    negative: float


def _perceptron(rule, sign, margin, rows, i, trial):
    # Written so that a NaN margin, from an overflow, never counts as correct.
    wanted = rule.positive if sign > 0 else rule.negative
    if margin > wanted:
        return 0.0, 0.0
    return trial.eta * trial.importance, wanted - margin


class NoPenalty(NamedTuple):
    """Weights are left as they are between updates."""

    none: float = 0.0


class ConstantRate(NamedTuple):
    """Learning rate that stays for an epoch."""

    eta: float


class NoAverage(NamedTuple):
    """Nothing is remembered of earlier weights."""

    none: float = 0.0


class Learner(NamedTuple):
    """How a first-order method learns from a row. Each part is a NamedTuple whose type chooses the code."""

    rule: tuple
    penalty: tuple
    rate: tuple
    averaging: tuple


# ---------------------------------------------------------------------------------- rules: one formula, step and loss


RULES = {PerceptronRule: _perceptron}


def respond(rule, sign, margin, rows, i, trial):
    """How far a rule moves the weights towards row i with margin y f(x), 0 to leave them; and its loss there."""
    return by_type(RULES, rule)(rule, sign, margin, rows, i, trial)


overload(respond, jit_options=INLINED)(lambda rule, sign, margin, rows, i, trial: by_type(RULES, rule))


# ------------------------------------------------------------------------------------------ rate: the learning rate


RATE = {ConstantRate: lambda rate, t: rate.eta}


def rate_at(rate, t):
    """Learning rate of a problem's trial t, from 1."""
    return by_type(RATE, rate)(rate, t)


overload(rate_at)(lambda rate, t: by_type(RATE, rate))


# -------------------------------------------------------------------------------- penalties: before and after a step


def _before_none(penalty, eta, W, scale, scale_sum, lag, p):
    pass


def after_none(penalty, eta, rows, i, weights, p):
    """Leave the weights as they are."""


BEFORE = {NoPenalty: _before_none}
AFTER = {NoPenalty: after_none}


def before_step(penalty, eta, W, scale, scale_sum, lag, p):
    """Shrink weight vector p, once per trial."""
    return by_type(BEFORE, penalty)(penalty, eta, W, scale, scale_sum, lag, p)


def after_step(penalty, eta, rows, i, weights, p):
    """Truncate the weights that row i touches, once per trial."""
    return by_type(AFTER, penalty)(penalty, eta, rows, i, weights, p)


overload(before_step, jit_options=INLINED)(lambda penalty, eta, W, scale, scale_sum, lag, p: by_type(BEFORE, penalty))
overload(after_step)(lambda penalty, eta, rows, i, weights, p: by_type(AFTER, penalty))


# --------------------------------------------------------------------------------- averaging: what is kept of the past


# The verbs take arrays, not the structure that holds them, whose reference counts cost more than a short row.


def _note_none(averaging, i, factor, bias, lag_b, t, p):
    pass


def pass_none(averaging, scale_sum, scale, p):
    """Remember nothing."""


def lag_never(averaging, rows, i, t, factor, lag, p, steps):
    """Make up for nothing."""


NOTE = {NoAverage: _note_none}
PASS = {NoAverage: pass_none}
LAG = {NoAverage: lambda rows, lag: lag_never}


def note_step(averaging, i, factor, bias, lag_b, t, p):
    """Remember that vector p is moved by `factor` times row i, and its bias by `bias`."""
    return by_type(NOTE, averaging)(averaging, i, factor, bias, lag_b, t, p)


def pass_trial(averaging, scale_sum, scale, p):
    """Remember that vector p has lived through a trial."""
    return by_type(PASS, averaging)(averaging, scale_sum, scale, p)


def shift_lag(averaging, rows, i, t, factor, lag, p, steps):
    """Add `factor` times row i, in trial t, to what an average must make up for, at once or with other updates."""
    return by_type(LAG, averaging)(rows, lag)(averaging, rows, i, t, factor, lag, p, steps)


overload(note_step, jit_options=INLINED)(lambda averaging, i, factor, bias, lag_b, t, p: by_type(NOTE, averaging))
overload(pass_trial, jit_options=INLINED)(lambda averaging, scale_sum, scale, p: by_type(PASS, averaging))


overload(shift_lag, jit_options=INLINED)(
    lambda averaging, rows, i, t, factor, lag, p, steps: by_type(LAG, averaging)(rows, lag)
)
