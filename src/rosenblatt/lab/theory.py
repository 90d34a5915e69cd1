"""Radius, margin, mistake bound and separator for the charts of the lab; and certificates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.bounds import from_start
from rosenblatt.lab.scene import Scene
from rosenblatt.prover.designs import read_design
from rosenblatt.prover.search.certify import certify

Array = npt.NDArray[Any]

# Seconds for the margin, which a run waits for; and for a proof that the user asks for.
MARGIN_SECONDS, PROOF_SECONDS = 1.0, 20.0
# The parameters of a perceptron that the mistake bound assumes.
PLAIN = {"penalty": None, "schedule": "constant", "batch": False, "margin": 0.0, "fit_intercept": True}


@dataclass(frozen=True)
class MistakeBound:
    """The mistake bound of the rows (x, 1) of a run, and the numbers that it depends on.

    Attributes
    ----------
    radius : float
        R, the length of the longest row.
    margin : float or None
        gamma, the largest margin of a unit separator; None if there is none, or it was not found in time.
    bound : int or None
        The most mistakes that a run from this start can make; None for rules other than the perceptron's.
    separator : array or None
        w*, of unit length, the bias last.
    """

    radius: float
    margin: float | None = None
    bound: int | None = None
    separator: Array | None = None

    @property
    def separator_list(self) -> list[float] | None:
        """The separator as a list."""
        return None if self.separator is None else [float(value) for value in self.separator]


def follows_theorem(scene: Scene) -> bool:
    """Return whether the mistake bound holds for the rule of the scene."""
    params = dict(scene.params)
    return scene.traits.rule in ("perceptron", "pocket") and all(
        params.get(name, plain) == plain for name, plain in PLAIN.items()
    )


def rate(scene: Scene) -> float | None:
    """Return the learning rate; None if the rule has none."""
    if "eta0" not in scene.traits.declared:
        return 1.0 if scene.traits.rule in ("perceptron", "pocket", "kernel") else None
    default = next(control.default for control in scene.traits.params if control.name == "eta0")
    return float(dict(scene.params).get("eta0", default))


def mistake_bound(scene: Scene, Z: Array, y: Array) -> MistakeBound:
    """Return the mistake bound of the rows; with a kernel or several classes, only their radius.

    Parameters
    ----------
    scene : Scene
    Z : array of shape (n_samples, n_features)
        The mapped rows.
    y : array of shape (n_samples,)
    """
    radius = math.sqrt(float((Z**2).sum(axis=1).max()) + 1.0)
    if scene.traits.kernel or np.unique(y).size != 2:
        return MistakeBound(radius)
    certificate = certify(Z, y, time_limit=MARGIN_SECONDS)
    best = certificate.augmented
    if certificate.verdict != "separable" or best is None or not math.isfinite(best.lower) or best.lower <= 0:
        return MistakeBound(certificate.radius)
    separator = np.array(best.w, np.float64)
    separator /= np.linalg.norm(separator)
    bound = certificate.mistake_bound
    if scene.start is not None:
        start = np.array(scene.start) / (rate(scene) or 1.0)
        bound = math.floor(from_start(start, separator, certificate.radius, best.lower))
    return MistakeBound(certificate.radius, best.lower, bound if follows_theorem(scene) else None, separator)


# ------------------------------------------------------------------------------------------------------- certificates


def proof_of(scene: Scene, subject: tuple[Any, Array, Array] | None = None) -> dict[str, Any]:
    """Return the certificate of the points of a scene with the rows that it is about, as JSON values for the page.

    Coordinates are read as decimals: 0.1 is a tenth.

    Parameters
    ----------
    scene : Scene
    subject : (estimator, X, y), optional
        Its rows and labels are used instead.
    """
    if subject is None:
        X, y = scene.rows()
        Z = scene.mapped(X)[0]
    else:
        _, Z, y = subject
    certificate = certify(Z, y, exact="decimal", time_limit=PROOF_SECONDS)
    return {
        "file": certificate.to_dict(),
        "rows": Z.tolist(),
        "labels": read_design(Z, y, decimal=True).signed.label.tolist(),
        "plane": Z.shape[1] == 2 and scene.features == "none",
    }
