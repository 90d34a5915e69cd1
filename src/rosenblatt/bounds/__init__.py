"""Proven bounds on mistakes, losses, margins and risks: one function each, from numbers to a number.

A function states the formula, what it assumes, the step of the proof that gives the constant, and where it was
published. Rows mean rows as the algorithm sees them: with a bias, radius and margin are those of the padded rows
(x, 1). A margin is that of any separator, not only of the best one: a smaller margin makes a weaker bound. Ties are
mistakes.
"""

from rosenblatt.bounds.generalisation import average_risk, leave_one_out, leave_one_out_vote, voted_risk
from rosenblatt.bounds.margins import (
    margin_perceptron,
    margin_perceptron_margin,
    passive_aggressive,
    passive_aggressive_1,
    passive_aggressive_2,
)
from rosenblatt.bounds.perceptron import agnostic, freund_schapire, from_start, multiclass, novikoff, parameter_mixing
from rosenblatt.bounds.relatives import alma2, alma2_margin, p_norm, romma
from rosenblatt.bounds.second_order import arow
from rosenblatt.bounds.winnow import winnow1, winnow2

__all__ = [
    "agnostic",
    "alma2",
    "alma2_margin",
    "arow",
    "average_risk",
    "freund_schapire",
    "from_start",
    "leave_one_out",
    "leave_one_out_vote",
    "margin_perceptron",
    "margin_perceptron_margin",
    "multiclass",
    "novikoff",
    "p_norm",
    "parameter_mixing",
    "passive_aggressive",
    "passive_aggressive_1",
    "passive_aggressive_2",
    "romma",
    "voted_risk",
    "winnow1",
    "winnow2",
]
