"""Plots of proofs: certificates in the plane, and the mistake bound of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.markup.geometry import hull
from rosenblatt.plots.axes import (
    COLOURS,
    DASHES,
    GREY,
    INK,
    MAX_EPOCHS_WITH_DOTS,
    SKY,
    Axes,
    Style,
    add_legend,
    check_kind,
    draw_classes,
    draw_line,
    draw_rings,
    frame_points,
    named,
    plane_points,
    quiet_axes,
)
from rosenblatt.prover.certificates.certificate import Certificate

if TYPE_CHECKING:
    from rosenblatt.report.theory import Theory  # loads scikit-learn

Array = npt.NDArray[Any]


def plot_certificate(
    certificate: Certificate,
    X: Any,
    y: Any,
    ax: Axes | None = None,
    *,
    class_names: Sequence[str] | None = None,
    style: Style = "paper",
) -> Axes:
    """Draw the proof in a certificate on two classes in the plane.

    If the classes are separable, that is the separator (the widest one if the certificate has it), the empty band, and
    the rows on its edges. Otherwise it is the hulls of the classes, the rows that prove that they meet, and the common
    point; quasi-separable data have a weak separator too, with the rows on it ringed.

    Parameters
    ----------
    certificate : Certificate
        For data with two features and at most two classes.
    X : array-like or sparse matrix of shape (n_samples, 2)
        The data of the certificate; `rosenblatt.verify` checks that they are.
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None
    class_names : sequence of str, optional
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the data are not two-dimensional, have another shape than the certificate says, or more than two classes.

    Examples
    --------
    >>> from rosenblatt import certify
    >>> from rosenblatt.datasets import logical
    >>> from rosenblatt.plots import plot_certificate
    >>> X, y = logical("xor")
    >>> ax = plot_certificate(certify(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['common point', 'class -1', 'class 1']
    """
    check_kind(certificate, Certificate, "certificate", "what rosenblatt.certify returns")
    points, classes, label = plane_points(X, y)
    if certificate.shape != points.shape or classes.size > 2 or len(certificate.classes) > 2:
        raise InvalidInput(
            f"The certificate is for data of shape {certificate.shape} with {len(certificate.classes)} classes, but X "
            f"has shape {points.shape} with {classes.size}. Pass the certified data, with two features and two classes."
        )
    ax = quiet_axes(ax, style)
    frame_points(ax, points)
    if certificate.verdict == "separable" and classes.size == 2:
        best = certificate.vector if certificate.margin is None else certificate.margin.w
        vector = np.array(best, np.float64)
        _band(ax, vector[:2], vector[2], points, label)
    elif certificate.support:
        support = np.array(certificate.support)
        for k in range(2):
            _tint(ax, hull(points[label == k]), COLOURS[k], 0.1, linewidth=0.8, linestyle=DASHES)
            _tint(ax, hull(points[support[label[support] == k]]), COLOURS[k], 0.0, linewidth=1.6)
        common = np.array(certificate.point or points[support].mean(axis=0))
        ax.scatter(
            *common, marker="*", s=130, color=INK, edgecolors="white", linewidths=0.6, zorder=6, label="common point"
        )
        if certificate.vector is not None:
            vector = np.array(certificate.vector, np.float64)
            if vector[:2].any():
                draw_line(ax, vector[:2], vector[2], color=INK, linewidth=1.6, zorder=3)
            draw_rings(ax, points[list(certificate.boundary)], INK)
    draw_classes(ax, points, classes, label, class_names)
    names = named(None, getattr(X, "columns", None), 2, "features")
    ax.set(xlabel=names[0], ylabel=names[1])
    add_legend(ax)
    return ax


def plot_theory(theory: Theory, ax: Axes | None = None, *, style: Style = "paper") -> Axes:
    """Draw Novikoff's proof for a run: two quantities between two curves, which cross at the mistake bound.

    Each mistake adds at least the margin to <w, w*>, and at most R^2 to |w|^2. Since <w, w*> is at most |w|, the line
    M gamma below and the curve sqrt(M) R above leave no room beyond their crossing: the mistake bound. If the data are
    not separable, only |w| and its upper bound are drawn.

    Parameters
    ----------
    theory : Theory
        From `rosenblatt.theory`.
    ax : matplotlib.axes.Axes or None
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the run made no mistakes.

    Examples
    --------
    >>> from rosenblatt import Perceptron, theory
    >>> from rosenblatt.datasets import logical
    >>> from rosenblatt.plots import plot_theory
    >>> ax = plot_theory(theory(*logical("or"), Perceptron(shuffle=False)))
    >>> ax.get_legend().get_texts()[-1].get_text()
    'at most 27 mistakes'
    """
    # Imported here: it loads scikit-learn, which no other plot needs.
    from rosenblatt.report.theory import Theory

    check_kind(theory, Theory, "theory", "what rosenblatt.theory returns")
    if not theory.mistakes:
        raise InvalidInput("The run made no mistakes, so there is nothing to draw. Start it from zero.")
    ax = quiet_axes(ax, style)
    end = max(theory.bound or 0, theory.mistakes)
    far = end > 8 * theory.mistakes
    reach = np.geomspace(1, 2 * end, 400) if far else np.linspace(0, 1.1 * end, 400)
    cap = np.sqrt(theory.cap[0] + reach * theory.radius**2)
    ax.plot(reach, cap, color=COLOURS[1], linewidth=1.0, linestyle=DASHES, label=r"at most $\sqrt{M}\,R$")
    dots = {"marker": "o", "markersize": 3.5} if theory.updates.size <= MAX_EPOCHS_WITH_DOTS else {}
    ax.plot(theory.updates, np.sqrt(theory.square), color=COLOURS[1], linewidth=1.6, label=r"$|w|$", **dots)
    if theory.margin is not None:
        ax.plot(
            theory.updates, theory.alignment, color=COLOURS[0], linewidth=1.6, label=r"$\langle w, w^*\rangle$", **dots
        )
        floor = theory.floor[0] + reach * theory.margin.lower
        ax.plot(reach, floor, color=COLOURS[0], linewidth=1.0, linestyle=DASHES, label=r"at least $M\,\gamma$")
        ax.fill_between(reach, floor, cap, where=floor <= cap, color=SKY, alpha=0.1, linewidth=0, zorder=0)
        cross = (end, float(np.sqrt(theory.cap[0] + end * theory.radius**2)))
        text = f"at most {theory.bound:,} mistake{'' if theory.bound == 1 else 's'}"
        ax.plot(*cross, "o", color=INK, markersize=4, zorder=5, label=text)
    if far:
        heights = np.concatenate([np.sqrt(theory.square), theory.alignment])
        low = min(float(heights[heights > 0].min()), theory.radius)
        ax.set(xscale="log", yscale="log", xlim=(1, 2 * end), ylim=(low / 2, 4 * float(cap[-1])))
    else:
        ax.set(xlim=(0, 1.1 * end), ylim=(min(0.0, *theory.alignment.tolist(), 0.0), 1.15 * float(cap[-1])))
    ax.set(xlabel="mistakes $M$", ylabel="length")
    add_legend(ax)
    return ax


def _band(ax: Axes, w: Array, b: float, points: Array, label: Array) -> None:
    """Draw a separator in the middle of the empty band between the classes, and ring the rows on its edges."""
    scores = points @ w + b
    sides = [scores[label == 0].max(), scores[label == 1].min()]
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    reach = np.abs(np.array([ax.get_xlim(), ax.get_ylim()])).max() * 4
    feet = [(score - b) * w / (w @ w) for score in sides]
    strip = np.array(
        [feet[0] - reach * along, feet[0] + reach * along, feet[1] + reach * along, feet[1] - reach * along]
    )
    ax.fill(strip[:, 0], strip[:, 1], color=SKY, alpha=0.15, linewidth=0, zorder=0)
    for score in sides:
        draw_line(ax, w, b - score, color=GREY, linewidth=1.0, linestyle=DASHES, zorder=2)
    draw_line(ax, w, b - sum(sides) / 2, color=INK, linewidth=1.6, zorder=3)
    near = [np.abs(scores - score) <= 1e-6 * (sides[1] - sides[0]) for score in sides]
    draw_rings(ax, points[near[0] | near[1]], INK)


def _tint(ax: Axes, corners: Array, colour: str, alpha: float, **look: Any) -> None:
    """Fill a polygon and draw its outline; two corners make a segment."""
    outline = np.vstack([corners, corners[:1]])
    ax.fill(corners[:, 0], corners[:, 1], color=colour, alpha=alpha, linewidth=0, zorder=1)
    ax.plot(outline[:, 0], outline[:, 1], color=colour, zorder=2, **look)
