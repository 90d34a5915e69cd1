"""ALMA: correction k adds sqrt(2 / k) y x, and w is projected on the unit ball (Gentile 2001)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rosenblatt.learners import shared
from rosenblatt.learners.base import Facts
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import real
from rosenblatt.learners.projection import Projected, register_projection
from rosenblatt.training.algorithm import Algorithm


class AlmaRule(NamedTuple):
    """Correction k on y w.x <= wanted / sqrt(k) adds sqrt(2 / k) y x, x of unit norm; then norm(w) <= 1.

    Gentile (2001). With `wanted` = (1 - alpha) sqrt(8) / alpha: ALMA with p = 2, B = sqrt(8) / alpha and C = sqrt(2).
    """

    wanted: float


def _alma(rule, trial):
    if not trial.row_norm > 0.0:
        return 1.0, 0.0, trial.norm, 0.0
    length, root = np.sqrt(trial.row_norm), np.sqrt(trial.corrections + 1.0)
    margin, wanted = trial.margin / length, rule.wanted / root
    if margin > wanted:
        return 1.0, 0.0, trial.norm, 0.0
    step = np.sqrt(2.0) / root * trial.importance
    norm = max(0.0, trial.norm + 2.0 * step * margin + step * step)
    shrink = 1.0 / np.sqrt(max(1.0, norm))
    return shrink, shrink * step / length, min(1.0, norm), wanted - margin


register_projection(AlmaRule, _alma)


class ALMA(LinearClassifier):
    """Approximate maximal margin algorithm (ALMA with p = 2): nearly the widest margin, row by row.

    Rows are taken at unit norm, with their padding. Correction k is made on y w.x <= (1 - a) B / sqrt(k), with the
    approximation a and B = sqrt(8) / a: w += sqrt(2 / k) y x, and a w outside the unit ball is projected on it.
    A sample weight is a factor of the step.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Separable rows with margin g at unit norm take at most 2 (2 / a - 1)^2 / g^2 corrections, whatever the order
    (`rosenblatt.bounds.alma2`); an epoch without one ends with a margin of at least (1 - a) g (`alma2_margin`).

    References
    ----------
    Gentile (2001), A new approximate maximal margin classification algorithm, Journal of Machine Learning Research 2,
    213-242.

    Examples
    --------
    >>> from rosenblatt import ALMA
    >>> ALMA().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).predict([[0.2, 1.0]]).tolist()
    [0]
    """

    approximation: float = real(
        default=0.5,
        text="Share of the largest margin that may be lost, alpha of the paper: the smaller, the more corrections.",
        above=0,
        most=1,
        wanted="a number above 0 and up to 1",
        range=(0.05, 0.95, 0.05),
    )
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
    n_jobs: int | None = shared.N_JOBS
    early_stopping: bool = shared.EARLY_STOPPING
    validation_fraction: float = shared.VALIDATION_FRACTION
    warm_start: bool = shared.WARM_START
    keep: shared.Keep = shared.KEEP

    facts = Facts(
        published=2001,
        does="nearly the widest margin, in the unit ball (Gentile's, p = 2)",
        when="a wide margin from a stream, or from noisy rows",
        command="alma",
        title="ALMA",
        rule="projected",
    )
    without_shards = f"Weights whose corrections are counted {shared.NO_MEAN}"

    # No bound and no projection is known for classes that compete.
    modes = ("ovr", "ovo", "ovo-vote")
    default_keep = "last"

    def _algorithm(self) -> Algorithm:
        share = float(self.approximation)
        return Projected(AlmaRule((1.0 - share) * math.sqrt(8.0) / share))
