"""Passive-aggressive learning."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rosenblatt.compiled.epochs import PassiveAggressiveRule, SmoothPassiveAggressiveRule
from rosenblatt.estimators.linear import LinearClassifier
from rosenblatt.estimators.parameters import FullTraining, choice, flag, real
from rosenblatt.methods.first_order import FirstOrder
from rosenblatt.methods.method import Method


class PassiveAggressive(FullTraining, LinearClassifier):
    """Passive-aggressive: the smallest change of the weights that gives the row a margin of one.

    With the loss l = max(0, 1 - y f(x)) the weights move by tau y x, where tau = min(C, l/|x|^2) (PA-I,
    ``loss="hinge"``) or tau = l/(|x|^2 + 1/2C) (PA-II, ``loss="squared_hinge"``). PA without slack is C = inf. The
    squared length includes the one of the bias.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Bounds on losses and mistakes: `rosenblatt.bounds.passive_aggressive`, `passive_aggressive_1`,
    `passive_aggressive_2`.

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

    C: float = real(
        default=1.0,
        text="Largest step (PA-I), or how little slack costs (PA-II); may be infinite.",
        above=0,
        most=np.inf,
        wanted="a positive number, infinity included",
    )
    loss: Literal["hinge", "squared_hinge"] = choice(
        default="hinge", text="PA-I or PA-II.", choices=("hinge", "squared_hinge")
    )
    average: bool = flag(default=False, text="Whether the model is the average of the weights over all trials.")

    def _method(self) -> Method:
        kind = PassiveAggressiveRule if self.loss == "hinge" else SmoothPassiveAggressiveRule
        return FirstOrder(kind(float(self.C)), averaged=bool(self.average))
