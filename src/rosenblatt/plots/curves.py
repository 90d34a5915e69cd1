"""Plots of runs: errors by epoch and by training size, weights by trial, mistakes against their bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.numbers import is_real
from rosenblatt.errors import InvalidInput
from rosenblatt.evaluation import accuracy
from rosenblatt.markup.palette import AXES, UPDATE
from rosenblatt.plots.axes import (
    COLOURS,
    DASHES,
    GREY,
    INK,
    MAX_EPOCHS_WITH_DOTS,
    Axes,
    Style,
    add_legend,
    as_trials,
    check_kind,
    named,
    quiet_axes,
)
from rosenblatt.text import short_repr
from rosenblatt.training.plan import Run
from rosenblatt.training.record import Recording, Trial

Array = npt.NDArray[Any]


def plot_errors(
    run: Run, ax: Axes | None = None, *, training: Sequence[float] | None = None, style: Style = "paper"
) -> Axes:
    """Draw the errors of a run by epoch: mistakes during each epoch, and the error at its end if it was measured.

    All are shares of the rows. The last epoch and the epoch whose weights were kept are marked.

    Parameters
    ----------
    run : Run
        For example ``model.run_``.
    ax : matplotlib.axes.Axes or None
    training : sequence of float, optional
        The error on the training rows at the end of each epoch, drawn instead of the mistakes, next to a validation
        error. A callback can compute it.
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from rosenblatt import train
    >>> from rosenblatt.datasets import logical
    >>> from rosenblatt.plots import plot_errors
    >>> run = train(*logical("or"), order="cyclic")
    >>> ax = plot_errors(run)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['mistakes during the epoch', 'stopped and kept: epoch 6']
    """
    check_kind(run, Run, "run", "model.run_, or what rosenblatt.train returns")
    ax = quiet_axes(ax, style)
    first, name = np.asarray(run.mistakes) / -(-run.trials // run.epochs), "mistakes during the epoch"
    if training is not None:
        first, name = np.asarray(training, np.float64), "training error"
        if first.shape != (run.epochs,):
            fault = f"training has shape {first.shape}, but the run has {run.epochs} epochs."
            raise InvalidInput(f"{fault} Pass one error for each epoch.")
    _curve(ax, np.arange(1, run.epochs + 1), first, COLOURS[0] if training is not None else COLOURS[6], name)
    kept, height = run.kept, float(first[run.kept - 1])
    measured = [(epoch, error) for epoch, error in enumerate(run.errors, 1) if error is not None]
    if measured:
        epochs, curve = (np.array(column) for column in zip(*measured, strict=True))
        name, colour = ("error at its end", COLOURS[0]) if training is None else ("validation error", COLOURS[1])
        _curve(ax, epochs, curve, colour, name)
        height = dict(measured).get(kept, height)
    when = f"kept: epoch {kept}" if kept != run.epochs else f"stopped and kept: epoch {kept}"
    ax.plot(kept, height, "o", color=UPDATE, markersize=6, clip_on=False, zorder=5, label=when)
    end = ax.axvline(run.epochs, color=GREY, linewidth=1.0, linestyle=DASHES, zorder=1)
    if kept != run.epochs:
        end.set_label(f"stopped: epoch {run.epochs}")
    ax.set(xlabel="epoch", ylabel="share of the rows", ylim=(0, None), xlim=(0.5, 1.04 * run.epochs + 0.5))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    add_legend(ax)
    return ax


def plot_learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    sizes: Sequence[int] | None = None,
    ax: Axes | None = None,
    *,
    style: Style = "paper",
) -> Axes:
    """Draw the error on training rows and on test rows against the number of training rows.

    Parameters
    ----------
    estimator : classifier
        Copies of it are fitted; the estimator itself is not changed.
    X, X_test : arrays or sparse matrices of shape (n_samples, n_features)
        In random order.
    y, y_test : array-like of shape (n_samples,)
    sizes : sequence of int, optional
        Numbers of training rows, taken from the beginning of X; by default eight in a geometric progression.
    ax : matplotlib.axes.Axes or None
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron
    >>> from rosenblatt.datasets import noisy
    >>> from rosenblatt.plots import plot_learning_curve
    >>> X, y = noisy(400, 5, flip=0.1, seed=0)
    >>> ax = plot_learning_curve(AveragedPerceptron(), X[:200], y[:200], X[200:], y[200:], [20, 60, 200])
    >>> ax.lines[0].get_xdata().tolist()
    [20, 60, 200]
    """
    n, truth = len(y), np.asarray(y)
    first = int(np.unique(truth, return_index=True)[1].max()) + 1  # rows until every class has appeared
    steps = np.unique(np.geomspace(min(max(first, 10), n), n, 8).astype(int)) if sizes is None else np.asarray(sizes)
    if steps.dtype.kind not in "iu" or steps.min(initial=1) < 1 or steps.max(initial=0) > n or not steps.size:
        raise InvalidInput(
            f"sizes={short_repr(sizes)} has values that are not row counts. Pass integers from 1 to {n}."
        )
    errors = []
    for size in steps.tolist():
        fitted = deepcopy(estimator).fit(X[:size], truth[:size])
        errors.append(
            [1 - accuracy(truth[:size], fitted.predict(X[:size])), 1 - accuracy(y_test, fitted.predict(X_test))]
        )
    ax = quiet_axes(ax, style)
    for k, (name, curve) in enumerate(zip(("training rows", "new rows"), np.array(errors).T, strict=True)):
        ax.plot(
            steps, curve, "o-", color=COLOURS[k], linewidth=1.6, markersize=4, label=f"error on {name}", clip_on=False
        )
    ax.set(xscale="log", xlabel="rows to learn from", ylabel="share of the rows", ylim=(0, None))
    ax.xaxis.get_major_locator().set_params(subs=(1, 2, 5) if steps.max() < 100 * steps.min() else (1,))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_minor_formatter("")
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    add_legend(ax)
    return ax


def plot_weights(
    trials: Recording | Iterable[Trial],
    ax: Axes | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    top: int = 8,
    style: Style = "paper",
) -> Axes:
    """Draw the weights over time, trial by trial.

    Parameters
    ----------
    trials : Recording, or iterable of Trial
        From a run on two classes.
    ax : matplotlib.axes.Axes or None
    feature_names : sequence of str, optional
        By default those of the recorded estimator.
    top : int
        Number of features with a colour and a name, by their largest weight; the others are grey.
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from rosenblatt import Perceptron, record
    >>> from rosenblatt.datasets import SPAM_WORDS, spam
    >>> from rosenblatt.plots import plot_weights
    >>> ax = plot_weights(record(Perceptron(shuffle=False), *spam()), feature_names=SPAM_WORDS)
    >>> ax.get_legend().get_texts()[0].get_text()
    'viagra'
    """
    followed = as_trials(trials)
    if not followed or np.ndim(followed[0].w) != 1:
        raise InvalidInput(
            "The trials are of several problems, or there are none. Trace at least one epoch of two classes."
        )
    t = np.array([trial.t for trial in followed])
    values = np.array([[*trial.w, trial.b] for trial in followed])
    n_features = values.shape[1] - 1
    default = getattr(getattr(trials, "estimator", None), "feature_names_in_", None)
    names = [f"$w_{{{j}}}$" for j in range(1, n_features + 1)]
    if feature_names is not None or default is not None:
        names = named(feature_names, default, n_features, "features")
    ax = quiet_axes(ax, style)
    order = np.argsort(-np.abs(values[:, :-1]).max(axis=0), kind="stable")
    for place, j in enumerate(order.tolist()):
        look: dict[str, Any] = {"color": AXES, "linewidth": 0.6, "alpha": 0.6, "zorder": 1.5}
        if place < top:
            dashes = "-" if place < len(COLOURS) else DASHES
            look = {"color": COLOURS[place % len(COLOURS)], "linewidth": 1.6, "label": names[j], "linestyle": dashes}
        ax.plot(t, values[:, j], drawstyle="steps-post", **look)
    if values[:, -1].any():
        ax.plot(t, values[:, -1], color=INK, linewidth=1.4, linestyle=DASHES, drawstyle="steps-post", label="bias $b$")
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    ax.set(xlabel="trial", ylabel="weight", xlim=(t[0], max(t[-1], t[0] + 1)))
    ax.xaxis.get_major_locator().set_params(integer=True)
    add_legend(ax)
    return ax


def plot_mistakes(
    *records: Run | Iterable[Trial],
    bound: float | Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
    style: Style = "paper",
) -> Axes:
    """Draw the mistakes of runs as they add up, and the mistake bound.

    Parameters
    ----------
    *records : Run or iterable of Trial
        One or several runs to compare: a `Run` by epochs, trials one by one.
    bound : float, sequence of float or None
        The bound (R/margin)^2, the same for all records or one for each; drawn as a dashed line.
    labels : sequence of str or None
        Name of each record.
    ax : matplotlib.axes.Axes or None
    style : {"paper", "talk"}
        Style of a new figure; "talk" is for a projector.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If there are no records, or not one bound and label for each.

    Examples
    --------
    >>> from rosenblatt import certify, train
    >>> from rosenblatt.datasets import separable
    >>> from rosenblatt.plots import plot_mistakes
    >>> tasks = [separable(100, 5, margin) for margin in (0.3, 0.1)]
    >>> bounds = [certify(X, y).mistake_bound for X, y in tasks]
    >>> ax = plot_mistakes(*(train(X, y) for X, y in tasks), bound=bounds, labels=["margin 0.3", "margin 0.1"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['margin 0.3', 'at most 29', 'margin 0.1', 'at most 220']
    """
    curves = [_cumulative(record) for record in records]
    shared = np.ndim(bound) == 0  # type: ignore[arg-type]
    bounds, names = _for_each(len(curves), bound, labels)
    ax = quiet_axes(ax, style)
    for k, (presented, total) in enumerate(curves):
        colour = COLOURS[k % len(COLOURS)]
        ax.plot(presented, total, color=colour, linewidth=1.6, drawstyle="steps-post", label=names[k])
        ax.plot(presented[-1], total[-1], "o", color=colour, markersize=4, clip_on=False)
        if bounds[k] is not None and (k == 0 or not shared):
            look = {"color": GREY if shared else colour, "label": f"at most {bounds[k]:,.0f}"}
            ax.axhline(bounds[k], linewidth=1.0, linestyle=DASHES, zorder=1, **look)
    _scale(ax, [int(total[-1]) for _, total in curves], [float(height) for height in bounds if height is not None])
    ax.set(xlabel="rows presented", ylabel="mistakes so far")
    ends = [float(presented[-1]) for presented, _ in curves]
    if max(ends) > 10 * min(ends):  # on a linear scale, the short runs would be a speck
        ax.set(xscale="log", xlim=(min(float(presented[1]) for presented, _ in curves) / 2, 1.3 * max(ends)))
    else:
        ax.set(xlim=(0, None))
    add_legend(ax)
    return ax


def _for_each(n_records: int, bound: Any, labels: Any) -> tuple[list[Any], list[str]]:
    """Return a bound and a label for each record; raise `InvalidInput` if the numbers differ."""
    bounds = [bound] * n_records if np.ndim(bound) == 0 else list(bound)
    for height in bounds:
        if height is not None and not (is_real(height) and 0 <= height < np.inf):
            raise InvalidInput(
                f"bound={short_repr(height)} is not a number of mistakes. Pass a nonnegative number, or None."
            )
    if labels is not None and not isinstance(labels, list | tuple):
        raise InvalidInput(f"labels={short_repr(labels)} is not a list. Pass a list with one string for each record.")
    names = ["mistakes made"] * n_records if labels is None else [str(label) for label in labels]
    if not n_records or not n_records == len(bounds) == len(names):
        raise InvalidInput(
            f"There are {n_records} records, {len(bounds)} bounds and {len(names)} labels. Pass at least one record, "
            "and one bound and one label for each."
        )
    return bounds, names


def _curve(ax: Axes, epochs: Array, values: Array, colour: str, label: str) -> None:
    """Draw values by epoch, with dots; if there are many epochs, faintly and with a running mean."""
    if values.size <= MAX_EPOCHS_WITH_DOTS:
        ax.plot(epochs, values, "o-", color=colour, linewidth=1.5, markersize=3.5, label=label)
        return
    ax.plot(epochs, values, color=colour, linewidth=0.6, alpha=0.3)
    width = values.size // 20
    sums = np.concatenate([[0.0], np.cumsum(values)])
    place = np.arange(values.size)
    low, high = np.maximum(place - width // 2, 0), np.minimum(place + 1 + width // 2, values.size)
    ax.plot(epochs, (sums[high] - sums[low]) / (high - low), color=colour, linewidth=1.8, label=f"{label} (smoothed)")


def _cumulative(record: Run | Iterable[Trial]) -> tuple[Array, Array]:
    """Return row counts over time, and the mistakes made by then."""
    if isinstance(record, Run):
        return np.linspace(0, record.trials, record.epochs + 1), np.array([0, *np.cumsum(record.mistakes)])
    trials = as_trials(record)
    if not trials:
        raise InvalidInput("A record has no trials, so there is nothing to draw. Trace at least one epoch.")
    return np.array([0, *(trial.t for trial in trials)]), np.array([0, *(trial.mistakes for trial in trials)])


def _scale(ax: Axes, made: list[int], bounds: list[float]) -> None:
    """Use a logarithmic scale if the curves would be flat on a linear one."""
    highest = max([*made, *bounds, 1])
    if highest > 8 * max(1, min(made)):
        ax.set(yscale="log", ylim=(0.8, 3 * highest))
    else:
        ax.set(ylim=(0, 1.15 * highest))
