"""Proven bounds on mistakes, losses, margins and risks: one function each, from numbers to a number.

The docstring of a bound has its formula, its assumptions, the step of the proof that gives the constant, and its
source. Rows are rows as the algorithm sees them: with a bias, radius and margin are those of the padded rows (x, 1). A
margin may be that of any separator, not only of the best one: a smaller margin gives a weaker bound. Ties are mistakes.
"""

from rosenblatt.bounds.generalisation import average_risk, leave_one_out, leave_one_out_vote, voted_risk
from rosenblatt.bounds.perceptron import (
    agnostic,
    freund_schapire,
    from_start,
    margin_perceptron,
    margin_perceptron_margin,
    multiclass,
    novikoff,
    parameter_mixing,
)
from rosenblatt.bounds.relatives import (
    alma2,
    alma2_margin,
    arow,
    p_norm,
    passive_aggressive,
    passive_aggressive_1,
    passive_aggressive_2,
    romma,
    winnow1,
    winnow2,
)

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
