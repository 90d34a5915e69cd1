"""ROMMA: the shortest w that meets the bounds of the row and of the w before (Li and Long 2002)."""

from __future__ import annotations

from typing import NamedTuple

from rosenblatt.learners import shared
from rosenblatt.learners.base import Facts
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import flag
from rosenblatt.learners.projection import Projected, register_projection
from rosenblatt.training.algorithm import Algorithm

# Squared sine of the angle below which two vectors count as parallel.
_PARALLEL = 1e-12
# Growth of a squared norm from which it is computed again: its rounding error grows as it does, or faster.
_GROWTH = 1.01
# Squared norm from which weights are scaled down by a factor: afterwards, too, a margin of one is rounding to them.
_LONG, _SHORTER = 1e60, 1e-12


class RommaRule(NamedTuple):
    """Least w with y w.x >= 1 and w.v >= v.v for the w before, v; on y f(x) <= 0, or < 1 if aggressive.

    Li and Long (2002). Where no w meets both, as separable rows never cause, nothing changes.
    """

    aggressive: bool


def _romma(rule, trial):
    margin, square, norm = trial.margin, trial.row_norm, trial.norm
    if margin >= 1.0 if rule.aggressive else margin > 0.0:
        return 1.0, 0.0, norm, 0.0
    both = square * norm
    apart = both - margin * margin
    if square > 0.0 and both <= margin:  # y w.x = 1 alone gives the least w; so it is from zero weights
        keep, step = 0.0, 1.0 / square
    elif apart > _PARALLEL * both:
        keep, step = (both - margin) / apart, norm * (1.0 - margin) / apart
    else:
        return 1.0, 0.0, norm, 1.0 - margin
    # As w.v = v.v and y w.x = 1, which adds no terms of different signs, as the squared norm of a sum would.
    reached = keep * norm + step
    weight = trial.importance
    if weight != 1.0:  # a factor of the change, beyond both bounds if it is above one
        keep, step = 1.0 - weight + weight * keep, weight * step
        reached = norm + weight * weight * abs(reached - norm)
    if reached > _LONG:
        return _SHORTER * keep, _SHORTER * step, -1.0, 1.0 - margin
    return keep, step, -1.0 if weight != 1.0 or reached > _GROWTH * norm else reached, 1.0 - margin


register_projection(RommaRule, _romma)


class ROMMA(LinearClassifier):
    """Relaxed online maximum margin algorithm: on a mistake, the shortest weights that the last two bounds allow.

    On y f(x) <= 0, or y f(x) < 1 if aggressive, w becomes the vector of least norm with y w.x >= 1 and
    w.v >= v.v, where v is the w before: half-spaces that hold the maximum margin, too. A sample weight is a factor of
    the change: below one a share of the way to these bounds, above one beyond them.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    At most (R / g)^2 mistakes on separable rows of weight one, as the perceptron; the aggressive form also has squared
    hinge losses that add up to no more: `rosenblatt.bounds.romma`. On rows that nothing separates the weights grow with
    each mistake. Beyond a norm of 1e30, where the one in y w.x >= 1 is rounding, they are scaled down.

    References
    ----------
    Li and Long (2002), The relaxed online maximum margin algorithm, Machine Learning 46, 361-387.

    Examples
    --------
    >>> from rosenblatt import ROMMA
    >>> ROMMA().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).predict([[0.2, 1.0]]).tolist()
    [0]
    """

    aggressive: bool = flag(default=False, text="Whether to update on y f(x) < 1, and not on mistakes alone.")
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
        published=2002,
        does="the shortest weights that the last two bounds allow; aggressive or not",
        when="separable rows, few updates",
        command="romma",
        title="ROMMA",
        rule="projected",
    )
    without_shards = f"Weights that each meet a bound of their own {shared.NO_MEAN}"

    # No bound and no projection is known for classes that compete.
    modes = ("ovr", "ovo", "ovo-vote")

    def _algorithm(self) -> Algorithm:
        return Projected(RommaRule(bool(self.aggressive)))
