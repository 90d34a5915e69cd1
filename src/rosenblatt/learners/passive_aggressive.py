"""Passive-aggressive learning."""

from __future__ import annotations

from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.linear_parameters import ForPassiveAggressive


class PassiveAggressive(ForPassiveAggressive, LinearClassifier):
    """Passive-aggressive: the smallest change of the weights that gives the row a margin of one.

    With the loss l = max(0, 1 - y f(x)) the weights move by tau y x, where tau = min(C, l/|x|^2) (PA-I,
    ``loss="hinge"``) or tau = l/(|x|^2 + 1/2C) (PA-II, ``loss="squared_hinge"``). PA without slack is C = inf. The
    squared length includes the one of the bias. A sample weight is a factor of the step. Of PA and PA-II, whose steps
    no C bounds, a mistake goes to a margin of the weight at most.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Bounds on losses and mistakes, of rows of weight one: `rosenblatt.bounds.passive_aggressive`,
    `passive_aggressive_1`, `passive_aggressive_2`.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz and Singer (2006), Online passive-aggressive algorithms, JMLR 7, 551-585.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressive
    >>> model = PassiveAggressive(C=float("inf")).fit([[0.0], [3.0]], [0, 1])
    >>> (model.decision_function([[3.0]]) >= 0.99).tolist()
    [True]
    """
