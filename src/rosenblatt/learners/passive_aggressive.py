"""Passive-aggressive learning: w += tau y x, the smallest step to a margin of one (Crammer et al. 2006)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from rosenblatt.engine.rules import passive_aggressive, reach, rule
from rosenblatt.learners import shared
from rosenblatt.learners.base import Facts
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import choice, real
from rosenblatt.training.algorithm import Algorithm
from rosenblatt.training.first_order import FirstOrder


@rule
def smooth_passive_aggressive(margin, norm, rate, importance, C=1.0):
    """Step (1 - m) / (|x|^2 + 1 / 2C) when m = y f(x) < 1. Crammer et al. (2006), PA-II."""
    if margin >= 1.0:
        return 0.0, 0.0
    loss = 1.0 - margin
    return reach(loss, importance) / (norm + 0.5 / C), loss * loss


class PassiveAggressive(LinearClassifier):
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

    C: float = real(
        default=1.0,
        text="Largest step (PA-I), or how little slack costs (PA-II); may be infinite.",
        above=0,
        most=np.inf,
        wanted="a positive number, infinity included",
        range=(0.01, 100.0, 0.01),
        log=True,
    )
    loss: Literal["hinge", "squared_hinge"] = choice(
        default="hinge", text="PA-I or PA-II.", choices=("hinge", "squared_hinge")
    )
    average: bool = shared.AVERAGE
    fit_intercept: bool = shared.FIT_INTERCEPT
    max_iter: int = shared.MAX_ITER
    tol: float | None = shared.TOL
    shuffle: shared.Shuffle = shared.SHUFFLE
    verbose: int = shared.VERBOSE
    random_state: shared.RandomState = shared.RANDOM_STATE
    n_iter_no_change: int = shared.N_ITER_NO_CHANGE
    max_seconds: float | None = shared.MAX_SECONDS
    callback: shared.Callback = shared.CALLBACK
    class_weight: shared.ClassWeight = shared.CLASS_WEIGHT
    multiclass: shared.Multiclass = shared.MULTICLASS
    intercept_scaling: shared.Padding = shared.INTERCEPT_SCALING
    shards: int = shared.SHARDS
    mixes: int | str = shared.MIXES
    n_jobs: int | None = shared.N_JOBS
    early_stopping: bool = shared.EARLY_STOPPING
    validation_fraction: float = shared.VALIDATION_FRACTION
    warm_start: bool = shared.WARM_START
    init: Any = shared.INIT
    keep: shared.Keep = shared.KEEP

    facts = Facts(
        published=2006,
        does="the smallest change that gives a margin of one (PA, PA-I, PA-II)",
        when="streams and text; a replacement for the class that scikit-learn 1.10 removes",
        command="passive-aggressive",
        title="Passive-aggressive",
        rule="passive_aggressive",
    )

    def _algorithm(self) -> Algorithm:
        kind = passive_aggressive if self.loss == "hinge" else smooth_passive_aggressive
        return FirstOrder(kind(C=float(self.C)), averaged=bool(self.average))
