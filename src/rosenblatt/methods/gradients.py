"""What is known of rules that follow the gradient of a loss by a learning rate."""

from __future__ import annotations

import math
from typing import Any

from rosenblatt.methods.method import Method
from rosenblatt.verbs.rules import HingeRule, LmsRule, LogisticRule, NormalisedLmsRule, SquaredHingeRule

# Loss of a score of zero, for a target of one.
ZERO_LOSSES: dict[type, float] = {
    HingeRule: 1.0,
    SquaredHingeRule: 1.0,
    LogisticRule: math.log(2.0),
    LmsRule: 0.5,
    NormalisedLmsRule: 0.5,
}


def zero_loss(rule: Any) -> float:
    """Return the loss of weights of zero; infinite where a loss may grow without harm, as there is no rate."""
    return ZERO_LOSSES.get(type(rule), Method.zero_loss)


def remedy(rule: Any) -> str:
    """Return what to do against weights that grow without end."""
    if isinstance(rule, NormalisedLmsRule):
        return "lower eta0, which is stable below 2"
    if isinstance(rule, LmsRule):
        return "lower eta0, which is stable below 2/|x|^2, scale the data, or choose normalised=True"
    if type(rule) in ZERO_LOSSES:
        return "scale the data, for example with StandardScaler, or lower the learning rate"
    return Method.remedy
