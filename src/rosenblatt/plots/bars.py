"""Plots of a fitted model: its margins, its largest weights, its confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.evaluation import confusion
from rosenblatt.markup.charts import margin_bins
from rosenblatt.markup.palette import UPDATE
from rosenblatt.plots.axes import COLOURS, GREY, INK, Axes, Style, add_legend, add_text, named, quiet_axes
from rosenblatt.report.models import fitted, linear_parts, margins
from rosenblatt.text import short_repr

Array = npt.NDArray[Any]

# Classes up to which a confusion matrix shows its numbers.
MAX_CLASSES_WITH_NUMBERS = 20


def plot_margins(model: Any, X: Any, y: Any, ax: Axes | None = None, *, bins: int = 30, style: Style = "paper") -> Axes:
    """Draw a histogram of the margins of rows: mistakes have margins of zero or less.

    For two classes, the margin of a row is y f(x), divided by |w| if the model is linear; for more, the score of its
    class minus the best other score.

    Parameters
    ----------
    model : fitted classifier
        Has `decision_function`; or what `train` returns.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None
    bins : int
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron
    >>> from rosenblatt.datasets import logical
    >>> from rosenblatt.plots import plot_margins
    >>> X, y = logical("or")
    >>> ax = plot_margins(AveragedPerceptron().fit(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['right (4)', 'mistakes (0)']
    """
    counts, edges = margin_bins(margins(model, X, y), bins)
    starts, width = edges[:-1], edges[1] - edges[0]
    right, wrong = np.where(starts < 0, 0, counts), np.where(starts < 0, counts, 0)
    ax = quiet_axes(ax, style)
    ax.bar(starts, right, width, align="edge", color=COLOURS[0], label=f"right ({right.sum()})")
    hatched = {"color": UPDATE, "hatch": "//", "edgecolor": "white", "linewidth": 0}
    ax.bar(starts, wrong, width, align="edge", label=f"mistakes ({wrong.sum()})", **hatched)
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
        By default those of the model.
    label : object, optional
        The class whose weights to draw, if the model has a weight vector for each class; by default the first.
    top : int
        Number of features to draw.
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.datasets import SPAM_WORDS, spam
    >>> from rosenblatt.plots import plot_largest_weights
    >>> ax = plot_largest_weights(Perceptron(shuffle=False).fit(*spam()), feature_names=SPAM_WORDS, top=3)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['nigeria', 'of', 'viagra']
    """
    coef, _, classes = linear_parts(model)
    model = fitted(model)
    default = (model.feature_names or None) if hasattr(model, "W") else getattr(model, "feature_names_in_", None)
    names = named(feature_names, default, coef.shape[1], "features")
    places = np.flatnonzero(classes == label) if label is not None and len(coef) > 1 else np.array([0])
    if not places.size or places[0] >= len(coef):
        raise InvalidInput(
            f"label={label!r} is not a class with a weight vector. Pass one of {short_repr(classes.tolist())}."
        )
    w = coef[places[0]]
    largest = np.argsort(-np.abs(w), kind="stable")[: max(1, top)][::-1]
    ax = quiet_axes(ax, style)
    colours = [COLOURS[1] if w[j] > 0 else COLOURS[0] for j in largest]
    ax.barh(np.arange(largest.size), w[largest], color=colours)
    ax.set_yticks(np.arange(largest.size), [names[j] for j in largest])
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set(xlabel=f"weight (positive: {_side(classes, int(places[0]), len(coef))})")
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
    """Draw the confusion matrix: rows of each class by predicted class.

    Parameters
    ----------
    model : fitted classifier
        Or what `train` returns.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None
    class_names : sequence of str, optional
        One for each class in y or in the predictions, in sorted order.
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.datasets import spam
    >>> from rosenblatt.plots import plot_confusion
    >>> X, y = spam()
    >>> ax = plot_confusion(Perceptron(shuffle=False).fit(X, y), X, y, class_names=["mail", "spam"])
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['mail', 'spam']
    """
    predictor = fitted(model)
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
