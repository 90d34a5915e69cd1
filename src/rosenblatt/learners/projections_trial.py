"""Weights that are projected after each step: the trial of ALMA and ROMMA."""

from typing import NamedTuple

import numpy as np

from rosenblatt.engine.frame import TRIALS
from rosenblatt.engine.jit import compiled, overload
from rosenblatt.engine.rows import add, by_type, dot, square

# Between these a scale is not multiplied into the weights, which takes as long as there are features.
_SMALLEST, _LARGEST = 1e-9, 1e9
# Squared sine of the angle below which two vectors count as parallel.
_PARALLEL = 1e-12
# Growth of a squared norm from which it is computed anew: its rounding error grows as it does, or faster.
_GROWTH = 1.01
# Squared norm from which weights are scaled down by a factor: afterwards, too, a margin of one is rounding to them.
_LONG, _SHORTER = 1e60, 1e-12


class ProjectedWeights(NamedTuple):
    """Weight vectors with their norm: problem p scores scale[p] * W[p].x + b[p]."""

    W: np.ndarray  # (problems, features)
    b: np.ndarray  # (problems,)
    t: np.ndarray  # (problems,)
    scale: np.ndarray  # (problems,)
    norm: np.ndarray  # (problems,) squared norm of weights and bias; negative: not known
    corrections: np.ndarray  # (problems,) updates so far


class ProjectionInput(NamedTuple):
    """What a rule needs to know of a trial."""

    margin: float  # y f(x)
    row_norm: float  # squared norm of the row, padded
    norm: float  # squared norm of the weights, with that of the padding
    corrections: int
    importance: float  # weight of the row times the cost of its class


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


PROJECTIONS = {AlmaRule: _alma, RommaRule: _romma}


def project(rule, trial):
    """Return factors c and d: the weights become c w + d y x, and stay if d is 0; their squared norm then; the loss."""
    return by_type(PROJECTIONS, rule)(rule, trial)


overload(project)(lambda rule, trial: by_type(PROJECTIONS, rule))


@compiled()
def _squared_norm(W, b, scale, bias, p):
    total = 0.0
    for j in range(W.shape[1]):
        weight = scale[p] * np.float64(W[p, j])
        total += weight * weight
    return total + np.float64(b[p]) * b[p] / bias if bias > 0.0 else total


@compiled()
def _fold(W, scale, p):
    for j in range(W.shape[1]):
        W[p, j] *= scale[p]
    scale[p] = 1.0


def projected_trial(algorithm, rows, i, sign, importance, bias, state, p):
    """Let w become c w + d y x, as the rule says."""
    W, b, _, scale, norm, corrections = state
    margin = sign * (scale[p] * dot(rows, i, W, p) + b[p])
    if norm[p] < 0.0:
        norm[p] = _squared_norm(W, b, scale, bias, p)
    trial = ProjectionInput(margin, square(rows, i) + bias, norm[p], corrections[p], importance)
    keep, step, reached, loss = project(algorithm, trial)
    if step != 0.0:
        scale[p] *= keep
        if not _SMALLEST < scale[p] < _LARGEST:
            _fold(W, scale, p)
        add(rows, i, sign * step / scale[p], W, p)
        b[p] = keep * b[p] + sign * step * bias
        norm[p] = reached
        corrections[p] += 1
    return margin, step, loss


TRIALS |= {AlmaRule: projected_trial, RommaRule: projected_trial}
