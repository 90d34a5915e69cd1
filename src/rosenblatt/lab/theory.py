"""Radius, margin, mistake bound and separator for the charts of the lab; and certificates to draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.bounds import from_start
from rosenblatt.lab.scene import Scene
from rosenblatt.markup.geometry import hull
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.prover.certificates.describe import shares
from rosenblatt.prover.search.certify import certify
from rosenblatt.text import between, count, rounded_up

Array = npt.NDArray[Any]

# Seconds for the margin, which a run waits for; and for a proof that the user asks for.
MARGIN_SECONDS, PROOF_SECONDS = 1.0, 20.0
SHOWN_ROWS = 12  # in a line of a proof
DIGITS = 4  # of the weights in it
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


def drawn_certificate(scene: Scene, subject: tuple[Any, Array, Array] | None = None) -> dict[str, Any]:
    """Return the proof that the points of a scene are separable, or that they are not, as JSON values for the page.

    Coordinates are read as decimals: 0.1 is a tenth. Rows are numbered from 1.

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
    plane = Z.shape[1] == 2 and scene.features == "none"
    drawn: dict[str, Any] = {
        "verdict": certificate.verdict.replace("-", "_"),
        "sentence": _sentence(certificate),
        "lines": _numbered(certificate, "line" if plane else "hyperplane"),
        "hyperplane": None,
        "band": None,
        "supports": [],
        "margins": [],
        "common_point": None,
        "common_exact": None,
        "weights": [],
        "hulls": [],
        "bound": certificate.mistake_bound,
        "json": certificate.to_dict(),
    }
    if len(certificate.classes) == 2:
        drawn |= _with_separator(certificate, Z, y) | _with_meeting(certificate, Z)
        if plane:
            drawn["hulls"] = [hull(Z[y == label]).tolist() for label in certificate.classes]
    return drawn


def _sentence(certificate: Certificate) -> str:
    verdict, several = certificate.verdict, len(certificate.classes) > 2
    if verdict == "separable":
        return "One weight vector per class separates them." if several else "A hyperplane separates the classes."
    if verdict == "undecided":
        return f"Undecided. {certificate.reason}"
    if several:
        none = "No weight vectors separate the classes."
        weak = (
            " They are quasi-separable: with some, no point has a higher score for another class, but some have a tie."
        )
    else:
        none = "No hyperplane separates the classes: their hulls meet."
        weak = " They are quasi-separable: some hyperplane has no points on the wrong side, but some points on it."
    return none + weak * (verdict == "quasi-separable")


def _numbered(certificate: Certificate, separator: str) -> list[str]:
    """Return the proof as lines of text, with rows and classes numbered from 1 as on the page."""
    lines = _support_lines(certificate, separator)
    if certificate.vector is not None and len(certificate.classes) == 2:
        *w, b = _rounded(certificate.vector)
        lines.append(f"w = ({', '.join(w)}), b = {b}, rounded.")
    elif certificate.verdict == "separable":
        lines.append("Every point has the highest score for its own class.")
    if certificate.boundary:
        where = "Points on it: " if len(certificate.classes) == 2 else "Points with a tie: "
        lines.append(where + ", ".join(f"x{i + 1}" for i in certificate.boundary[:SHOWN_ROWS]) + ".")
    return lines + _margin_lines(certificate)


def _rounded(values: Any) -> list[str]:
    """Return numbers with the decimals that the largest has with `DIGITS` digits: what is zero up to rounding is 0."""
    numbers = [float(value) for value in values]
    largest = max(map(abs, numbers))
    decimals = DIGITS - 1 - math.floor(math.log10(largest)) if largest > 0 else 0
    return [f"{round(number, decimals) + 0.0:.10g}" for number in numbers]


def _support_lines(certificate: Certificate, separator: str) -> list[str]:
    """Return why the hulls meet: the point that they share, or differences that cancel."""
    if not certificate.support:
        return []
    if len(certificate.classes) == 2:
        sides = sorted((shares(certificate, rival) for rival in (0, 1)), key=len)
        first, second = (
            " + ".join(f"{'' if share == 1 else f'{share} '}x{i + 1}" for i, share in side) for side in sides
        )
        if len(sides[1]) == 1:
            return [f"{first} and {second} are the same point in different classes, so no {separator} separates them."]
        mean = f"{first} is a weighted mean of points of the other class"
        if len(sides[0]) > 1:
            mean = "a weighted mean of points of each class"
        return [f"{first} = {second}: {mean}, so no {separator} separates them."]
    total = sum(certificate.multipliers)
    names = _class_names(certificate)
    terms = zip(certificate.support, certificate.rivals, certificate.multipliers, strict=True)
    cancelling = [f"{Fraction(m, total)} (x{i + 1} against class {names[r]})" for i, r, m in terms]
    more = ", ..." * (len(cancelling) > SHOWN_ROWS)
    return [f"These differences cancel: {', '.join(cancelling[:SHOWN_ROWS])}{more}"]


def _class_names(certificate: Certificate) -> list[str]:
    """Return the classes as the page names them: by their labels, or from 1 where these are numbers from 0."""
    classes = certificate.classes
    numbered = list(classes) == list(range(len(classes)))
    return [str(k + 1 if numbered else label) for k, label in enumerate(classes)]


def _margin_lines(certificate: Certificate) -> list[str]:
    """Return the proven bounds of the margins, and the mistake bound that follows."""
    texts = {
        "margin": "The largest margin of a separating hyperplane is {}.",
        "augmented": f"gamma, the same for the rows (x, 1), is {{}}; R = {rounded_up(certificate.radius)}.",
    }
    lines = []
    for name, text in texts.items():
        bracket = getattr(certificate, name)
        if bracket is not None and math.isfinite(bracket.upper):
            lines.append(text.format(between(bracket.lower, bracket.upper)))
    if certificate.mistake_bound is not None:
        lines.append(
            f"So a perceptron makes at most (R/gamma)^2 = {count(certificate.mistake_bound, 'mistake')}, in any order."
        )
    return lines


def _with_separator(certificate: Certificate, Z: Array, y: Array) -> dict[str, Any]:
    """Return the separator with half the width of its band and the rows on its edges; or a weak separator."""
    if certificate.vector is None:
        return {}
    widest = certificate.margin if certificate.verdict == "separable" else None
    w = np.array([float(value) for value in (certificate.vector if widest is None else widest.w)])
    length = float(np.linalg.norm(w[:-1]))
    if certificate.verdict != "separable" or not length:
        return {"hyperplane": w.tolist(), "supports": [i + 1 for i in certificate.boundary]}
    positive = y == certificate.classes[1]
    scores = Z @ w[:-1] + w[-1]
    low, high = float(scores[~positive].max()), float(scores[positive].min())
    # Move it to the middle of the empty band: the search for the largest margin ends close to it.
    w[-1] -= (low + high) / 2
    near = np.where(positive, scores - high, low - scores) <= 1e-6 * (high - low)
    supports = (np.flatnonzero(near) + 1).tolist()
    distances = np.where(positive, 1.0, -1.0) * (Z @ w[:-1] + w[-1]) / length
    band = (high - low) / (2 * length)
    return {"hyperplane": w.tolist(), "band": band, "supports": supports, "margins": distances.tolist()}


def _with_meeting(certificate: Certificate, Z: Array) -> dict[str, Any]:
    """Return the common point of the hulls, and the rows that it is a mean of."""
    if not certificate.support:
        return {}
    sides = {rival: shares(certificate, rival) for rival in (0, 1)}
    exact = [sum(share * Fraction(repr(float(Z[i, j]))) for i, share in sides[0]) for j in range(Z.shape[1])]
    weights = [[i + 1, str(share), 1 - rival] for rival in (0, 1) for i, share in sides[rival]]
    return {
        "common_point": [float(value) for value in exact],
        "common_exact": [str(value) for value in exact],
        "weights": weights,
        "supports": sorted(entry[0] for entry in weights),
    }
