"""Probabilities of classes from scores: sigmoids, and how to fit them to held-out rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.text import listed

Array = npt.NDArray[Any]

# Held-out scores that are used at most: a sigmoid has two parameters, and more rows hardly change them.
MAX_SCORES = 1 << 24
MAX_NEWTON_STEPS = 100


class Sigmoids(NamedTuple):
    """For each column of scores, the sigmoid 1 / (1 + exp(-(slope score + offset)))."""

    slope: tuple[float, ...]
    offset: tuple[float, ...]


def probabilities(class_scores: Array, n_classes: int, sigmoids: Sigmoids | None = None) -> Array:
    """Return the probability of each class; by default scores are logarithms of odds, as the logistic loss has them.

    Two classes share a column of scores. With more, the probability of each class against the rest is divided by their
    sum.

    Returns
    -------
    array of shape (n_rows, n_classes)
    """
    scores = class_scores.astype(np.float64)
    if sigmoids is not None:
        scores = scores * np.array(sigmoids.slope) + np.array(sigmoids.offset)
    positive = 1.0 / (1.0 + np.exp(-np.clip(scores, -700, 700)))
    if n_classes == 2:
        return np.hstack([1.0 - positive, positive])
    return np.asarray(positive / positive.sum(axis=1, keepdims=True))


def calibrate(rows: Iterable[tuple[Array, Array, Array | None]], classes: Array) -> Sigmoids:
    """Fit a sigmoid to each column of the scores of held-out rows: chunks of labels, class scores and weights."""
    labels, scores, weights, kept = [], [], [], 0
    for label, score, weight in rows:
        labels.append(label)
        scores.append(score.astype(np.float64))
        weights.append(np.ones(label.size) if weight is None else weight)
        kept += score.size
        if kept >= MAX_SCORES:
            break
    if not kept:
        raise InvalidInput("There are no held-out rows to calibrate on. Hold out more, for example by --holdout 10.")
    label, score, weight = np.concatenate(labels), np.concatenate(scores), np.concatenate(weights)
    positive = classes[1:] if classes.size == 2 else classes
    if classes.size == 2 and (missing := [name for name in classes.tolist() if not weight[label == name].any()]):
        raise InvalidInput(
            f"The held-out rows have no row of class {listed(missing)}, which calibration needs. Hold out more rows, "
            "for example by --holdout 5, or other ones by --validation FILE."
        )
    fitted = [fit_sigmoid(column, label == name, weight) for column, name in zip(score.T, positive, strict=True)]
    slope, offset = zip(*fitted, strict=True)
    return Sigmoids(slope, offset)


def fit_sigmoid(score: Array, positive: Array, weight: Array) -> tuple[float, float]:
    """Return slope and offset of the most likely sigmoid (Platt 1999), by Newton's method (Lin, Lin and Weng 2007).

    The targets are not 1 and 0, but the shares that Laplace's rule of succession gives to rows like these.
    """
    n_positive, n_negative = float(weight[positive].sum()), float(weight[~positive].sum())
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    size = float(np.abs(score).max()) or 1.0
    x = score / size
    slope, offset = 0.0, math.log((n_positive + 1) / (n_negative + 1))

    def loss(slope: float, offset: float) -> float:
        z = slope * x + offset
        return float(weight @ (np.logaddexp(0.0, z) - target * z))

    value = loss(slope, offset)
    for _ in range(MAX_NEWTON_STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(slope * x + offset, -700, 700)))
        residual, curvature = weight * (p - target), weight * p * (1.0 - p)
        gradient = np.array([residual @ x, residual.sum()])
        mixed = curvature @ x
        hessian = np.array([[curvature @ (x * x) + 1e-12, mixed], [mixed, curvature.sum() + 1e-12]])
        step = -np.linalg.solve(hessian, gradient)
        length, descent = 1.0, float(gradient @ step)
        while length > 1e-10:
            new = loss(slope + length * step[0], offset + length * step[1])
            if new < value + 1e-4 * length * descent:
                break
            length /= 2
        else:  # no step makes the loss smaller
            break
        slope, offset, value = slope + length * float(step[0]), offset + length * float(step[1]), new
    return slope / size, offset
