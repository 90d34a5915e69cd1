"""Passive-aggressive learning: the smallest step to a margin of one, or to an error of epsilon (Crammer 2006)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from rosenblatt.engine.rules import passive_aggressive, reach, rule
from rosenblatt.learners import shared
from rosenblatt.learners.base import Facts
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.linear_regressor import LinearRegressor
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


@rule
def epsilon_insensitive(margin, norm, rate, importance, C=1.0, epsilon=0.1):
    """Step min(C, l / |x|^2) along the error e = 1 - m, with the loss l = |e| - epsilon. Crammer et al. (2006), PA-I.

    The weight of a row is a factor of C, so that a whole number stands for as many rows: a second one finds its loss
    gone, or as much of C left. As a factor of the step it would go past the target, and further each time.
    """
    error = 1.0 - margin
    loss = abs(error) - epsilon
    if loss <= 0.0 or importance == 0.0:
        return 0.0, 0.0
    return (np.copysign(min(C * importance, loss / norm), error) if norm > 0.0 else 0.0), loss


@rule
def squared_epsilon_insensitive(margin, norm, rate, importance, C=1.0, epsilon=0.1):
    """Step l / (|x|^2 + 1 / 2C) along the error e = 1 - m, with the loss l = |e| - epsilon. Crammer et al., PA-II."""
    error = 1.0 - margin
    loss = abs(error) - epsilon
    if loss <= 0.0 or importance == 0.0:
        return 0.0, 0.0
    return (np.copysign(loss / (norm + 0.5 / (C * importance)), error) if norm > 0.0 else 0.0), loss * loss


class PassiveAggressiveRegressor(LinearRegressor):
    """Passive-aggressive regression: the smallest change of the weights after which the error is at most epsilon.

    With the loss l = max(0, |y - f(x)| - epsilon) the weights move by tau sign(y - f(x)) x, where tau = min(C, l/|x|^2)
    (PA-I, ``loss="epsilon_insensitive"``) or tau = l/(|x|^2 + 1/2C) (PA-II, ``loss="squared_epsilon_insensitive"``). PA
    without slack is C = inf. The squared length includes the one of the bias. A sample weight is a factor of C.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    PassiveAggressive : The same for classes.

    Notes
    -----
    `rosenblatt.bounds.passive_aggressive` and `passive_aggressive_2` bound the sum of l^2 over the trials, as they do
    for classes: by (R U)^2 for PA, if weights of length U have no loss on any row, and by (R^2 + 1/2C) (U^2 + 2C L2)
    for PA-II, where L2 is the sum of the squared losses of any weights of length U. A step of PA-I is at most C: for
    targets in the thousands, scale them or raise C.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz and Singer (2006), Online passive-aggressive algorithms, JMLR 7, 551-585.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressiveRegressor
    >>> model = PassiveAggressiveRegressor(epsilon=0.01, C=float("inf")).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(1).tolist()
    [7.0]
    """

    C: float = real(
        default=1.0,
        text="Largest step (PA-I), or how little slack costs (PA-II); may be infinite.",
        above=0,
        most=np.inf,
        wanted="a positive number, infinity included",
    )
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = choice(
        default="epsilon_insensitive",
        text="PA-I or PA-II.",
        choices=("epsilon_insensitive", "squared_epsilon_insensitive"),
    )
    epsilon: float = real(default=0.1, text="Errors up to this are no loss.", least=0)
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
    warm_start: bool = shared.WARM_START

    facts = Facts(
        published=2006,
        does="the smallest change after which the error is at most epsilon (PA, PA-I, PA-II)",
        when="numbers as targets, in streams; a replacement for the class that scikit-learn 1.10 removes",
        command="passive-aggressive-regressor",
    )

    def _algorithm(self) -> Algorithm:
        rule = epsilon_insensitive if self.loss == "epsilon_insensitive" else squared_epsilon_insensitive
        return FirstOrder(rule(C=float(self.C), epsilon=float(self.epsilon)), averaged=bool(self.average))
