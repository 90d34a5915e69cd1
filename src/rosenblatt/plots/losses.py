"""Losses along a line in weight space: misclassified rows, which have steps, and the perceptron's loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.plots.axes import COLOURS, DASHES, GREY, Style, add_legend, quiet_pair
from rosenblatt.report.models import linear_parts
from rosenblatt.training.record import Trial

Array = npt.NDArray[Any]

# Jumps up to which each has a dot.
MAX_JUMPS_WITH_DOTS = 60


def plot_losses(X: Any, y: Any, start: Any, end: Any, axes: Any = None, *, style: Style = "paper") -> Any:
    """Draw losses along a line in weight space: the number of misclassified rows, which has steps, and its stand-in.

    At every point of the line from `start` to `end` and a little beyond, the rows with y f(x) <= 0 are counted, and
    the perceptron's loss max(0, -y f(x)) is added up. The first is constant between jumps: it has no slope that would
    say where to go. The second is convex, and its slope is the update.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes.
    start, end : (w, b), fitted linear classifier, Run or Trial
        The weights at 0 and at 1.
    axes : pair of matplotlib.axes.Axes or None
    style : {"paper", "talk"}
        Of a new figure; for a projector "talk".

    Returns
    -------
    list of two matplotlib.axes.Axes
        Of the misclassified rows, and of the loss below.
    """
    table = as_table(X)
    classes, label = as_labels(y, table.shape[0])
    if classes.size != 2:
        raise InvalidInput(f"y has {classes.size} classes; these losses are of two. Pass rows of two classes.")
    rows = table.matrix()
    sign = 2 * label - 1
    first, last = (sign * (rows @ w + b) for w, b in (_weights(end_, table.shape[1]) for end_ in (start, end)))
    if np.array_equal(first, last):
        raise InvalidInput("start and end give every row the same score: there is no line between them. Pass others.")
    jumps, counts, at_jumps = step_counts(first, last, -0.25, 1.25)
    upper, lower = quiet_pair(axes, style, width=5.4, height=5.0, stacked=True)
    upper.stairs(counts, [-0.25, *jumps, 1.25], color=COLOURS[0], linewidth=1.8, baseline=None, label="misclassified")
    if jumps.size <= MAX_JUMPS_WITH_DOTS:
        upper.plot(jumps, at_jumps, "o", color=COLOURS[0], markersize=3.5, label="at a jump: a tie is a mistake")
    place = np.array([-0.25, *jumps, 1.25])
    loss = np.maximum(0, -(first[None] + place[:, None] * (last - first)[None])).sum(axis=1)
    lower.plot(place, loss, color=COLOURS[1], linewidth=1.8, label="perceptron loss")
    for ax in (upper, lower):
        for end_of_line in (0, 1):
            ax.axvline(end_of_line, color=GREY, linewidth=1.0, linestyle=DASHES, zorder=1)
        ax.margins(y=0.12)
        add_legend(ax)
    upper.set(ylabel="rows", xlim=(-0.25, 1.25))
    upper.yaxis.get_major_locator().set_params(integer=True)
    lower.set(ylabel=r"sum of $\max(0, -y f(x))$", xlabel="place on the line from start (0) to end (1)")
    return [upper, lower]


def step_counts(first: Array, last: Array, low: float, high: float) -> tuple[Array, Array, Array]:
    """Count misclassified rows along a line, exactly.

    Parameters
    ----------
    first, last : arrays of shape (n_samples,)
        y f(x) of each row at 0 and at 1.
    low, high : float
        The stretch of the line.

    Returns
    -------
    jumps : array of shape (n_jumps,)
        Where a row has y f(x) = 0, in order, inside the stretch.
    counts : int array of shape (n_jumps + 1,)
        Rows with y f(x) <= 0 between the jumps.
    at_jumps : int array of shape (n_jumps,)
        The same at each jump, where the row in question is a tie, and counts.
    """
    slope = last - first
    moving = slope != 0
    zero = -first[moving] / slope[moving]
    jumps = np.unique(zero[(zero > low) & (zero < high)])
    edges = np.array([low, *jumps, high])
    middles = (edges[1:] + edges[:-1]) / 2
    counts = (first[None] + middles[:, None] * slope[None] <= 0).sum(axis=1)
    still = int((first[~moving] <= 0).sum())
    # A row that is no tie there is wrong before its own zero if its margin grows, else after it.
    wrong = (slope[moving] > 0)[None] == (jumps[:, None] < zero[None])
    at_jumps = still + (wrong | (jumps[:, None] == zero[None])).sum(axis=1)
    return jumps, counts, at_jumps


def _weights(end: Any, n_features: int) -> tuple[Array, float]:
    """Return weights and bias from whatever has them."""
    if isinstance(end, Trial):
        end = (end.w, end.b)
    if isinstance(end, tuple | list) and len(end) == 2:
        w, b = np.asarray(end[0], np.float64), float(np.asarray(end[1], np.float64).reshape(()))
    else:
        coef, intercept, _ = linear_parts(end)
        w, b = coef[0] if len(coef) == 1 else coef.ravel(), float(intercept[0])
    if w.shape != (n_features,):
        raise InvalidInput(f"The weights have shape {w.shape}, and X has {n_features} features. Pass one for each.")
    return w, b
