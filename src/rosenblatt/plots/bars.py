"""Pictures of a fitted model: how its margins are distributed, its largest weights, what it confuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.evaluation import confusion
from rosenblatt.markup.palette import UPDATE
from rosenblatt.plots.axes import COLOURS, GREY, INK, Axes, Style, add_legend, add_text, named, quiet_axes
from rosenblatt.report.models import linear_parts, margins
from rosenblatt.training.plan import Run

Array = npt.NDArray[Any]

# Classes up to which a table of confusions shows its numbers.
MAX_CLASSES_WITH_NUMBERS = 20


def plot_margins(model: Any, X: Any, y: Any, ax: Axes | None = None, *, bins: int = 30, style: Style = "paper") -> Axes:
    """Draw how the margins of rows are distributed: mistakes are at zero and to the left of it.

    Of two classes, the margin of a row is y f(x), divided by |w| if the model is linear; of more, the score of its own
    class less the best other.

    Parameters
    ----------
    model : fitted classifier
        With `decision_function`, or what `train` returns.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None
    bins : int
    style : {"paper", "talk"}
        Of a new figure; for a projector "talk".

    Returns
    -------
    matplotlib.axes.Axes
    """
    found = margins(model, X, y)
    low, high = min(float(found.min()), 0.0), max(float(found.max()), 0.0)
    if low == high:
        low, high = -0.5, 0.5
    width = (high - low) / bins
    # Zero is the end of a bin, so that no bar holds both mistakes and others.
    first, last = int(np.floor(low / width - 1e-9)), int(np.ceil(high / width + 1e-9))
    edges = np.arange(first, last + 1) * width
    wrong = found <= 0
    ax = quiet_axes(ax, style)
    right, _ = np.histogram(found[~wrong], edges)
    # A margin of zero is a mistake: its bar ends at zero.
    mistaken, _ = np.histogram(np.minimum(found[wrong], -width / 2), edges)
    ax.bar(edges[:-1], right, width, align="edge", color=COLOURS[0], label=f"right ({int((~wrong).sum())})")
    ax.bar(
        edges[:-1],
        mistaken,
        width,
        align="edge",
        color=UPDATE,
        hatch="//",
        edgecolor="white",
        linewidth=0,
        label=f"mistakes ({int(wrong.sum())})",
    )
    ax.axvline(0, color=INK, linewidth=1.2)
    ax.set(xlabel="margin of the row", ylabel="rows")
    ax.yaxis.get_major_locator().set_params(integer=True)
    add_legend(ax)
    return ax


def plot_largest_weights(
    model: Any,
    ax: Axes | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    label: Any = None,
    top: int = 15,
    style: Style = "paper",
) -> Axes:
    """Draw the largest weights of a linear model, with the names of their features.

    Parameters
    ----------
    model : fitted linear classifier
    ax : matplotlib.axes.Axes or None
    feature_names : sequence of str, optional
        By default those that the model knows.
    label : object, optional
        The class whose weights to draw, where the model has a weight vector for each; the first by default.
    top : int
        How many features, by the size of their weights.
    style : {"paper", "talk"}
        Of a new figure; for a projector "talk".

    Returns
    -------
    matplotlib.axes.Axes
    """
    coef, _, classes = linear_parts(model)
    known = getattr(model, "feature_names_in_", None)
    if isinstance(model, Run) or hasattr(model, "W"):
        known = getattr(model.model if isinstance(model, Run) else model, "feature_names", None) or None
    names = named(feature_names, known, coef.shape[1], "features")
    places = np.flatnonzero(classes == label) if label is not None and len(coef) > 1 else np.array([0])
    if not places.size or places[0] >= len(coef):
        raise InvalidInput(f"label={label!r} is none of the classes that have a weight vector. Pass one of them.")
    w = coef[places[0]]
    chosen = np.argsort(-np.abs(w), kind="stable")[: max(1, top)][::-1]
    ax = quiet_axes(ax, style)
    colours = [COLOURS[1] if w[j] > 0 else COLOURS[0] for j in chosen]
    ax.barh(np.arange(chosen.size), w[chosen], color=colours)
    ax.set_yticks(np.arange(chosen.size), [names[j] for j in chosen])
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set(xlabel=f"weight (above zero: {_side(classes, int(places[0]), len(coef))})")
    return ax


def _side(classes: Array, k: int, n_problems: int) -> str:
    if n_problems == 1:
        return f"class {classes[-1]}"
    return f"class {classes[k]}" if n_problems == classes.size else "first class of the pair"


def plot_confusion(
    model: Any,
    X: Any,
    y: Any,
    ax: Axes | None = None,
    *,
    class_names: Sequence[str] | None = None,
    style: Style = "paper",
) -> Axes:
    """Draw how many rows of each class are taken for each class.

    Parameters
    ----------
    model : fitted classifier
        Or what `train` returns.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None
    class_names : sequence of str, optional
        One for each class that is in y or predicted, in sorted order.
    style : {"paper", "talk"}
        Of a new figure; for a projector "talk".

    Returns
    -------
    matplotlib.axes.Axes
    """
    predictor = model.model if isinstance(model, Run) else model
    if not hasattr(predictor, "predict"):
        raise InvalidInput(f"{type(model).__name__} has no predict. Pass a fitted classifier, or what train returns.")
    classes, counts = confusion(y, predictor.predict(X))
    names = named(
        class_names,
        [f"{name:g}" if isinstance(name, float) else name for name in classes.tolist()],
        classes.size,
        "classes",
    )
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax = quiet_axes(ax, style)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1.25)
    place = np.arange(classes.size)
    longest = max(map(len, names))
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if longest * classes.size > 40 else {}
    ax.set_xticks(place, names, **turned)
    ax.set_yticks(place, names)
    ax.set(xlabel="predicted", ylabel="true class")
    if classes.size <= MAX_CLASSES_WITH_NUMBERS:
        for i in range(classes.size):
            for j in range(classes.size):
                if counts[i, j]:
                    colour = "white" if shares[i, j] > 0.6 else INK if i == j else UPDATE
                    add_text(ax, (j, i), f"{counts[i, j]:,}", color=colour, bbox=None)
    ax.spines[["left", "bottom"]].set_visible(False)
    return ax
