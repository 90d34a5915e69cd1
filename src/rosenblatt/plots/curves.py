"""Curves of runs: errors by epoch, and mistakes against their bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.numbers import is_real
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.plan import Run
from rosenblatt.learn.record import Trial
from rosenblatt.plots.axes import (
    COLOURS,
    DASHES,
    GREY,
    MAX_EPOCHS_WITH_DOTS,
    Axes,
    add_legend,
    add_text,
    as_trials,
    check_kind,
    quiet_axes,
)
from rosenblatt.words import shown

Array = npt.NDArray[Any]


def plot_errors(run: Run, ax: Axes | None = None) -> Axes:
    """Draw the learning curve: mistakes in each epoch, and the error at its end where that was measured.

    Both are shares of the rows. The stopping point and the epoch whose weights were kept are marked.

    Parameters
    ----------
    run : Run
        For example ``model.run_``.
    ax : matplotlib.axes.Axes or None

    Returns
    -------
    matplotlib.axes.Axes
    """
    check_kind(run, Run, "run", "model.run_, or what rosenblatt.train returns")
    ax = quiet_axes(ax)
    curve = np.asarray(run.mistakes) / -(-run.trials // run.epochs)
    _curve(ax, np.arange(1, run.epochs + 1), curve, COLOURS[4], "mistakes during the epoch")
    kept, height = run.kept, float(curve[run.kept - 1])
    measured = [(epoch, error) for epoch, error in enumerate(run.errors, 1) if error is not None]
    if measured:
        epochs, curve = (np.array(column) for column in zip(*measured, strict=True))
        _curve(ax, epochs, curve, COLOURS[0], "error at its end")
        height = dict(measured).get(kept, height)
    ax.axvline(run.epochs, color=GREY, linewidth=1.0, linestyle=DASHES, zorder=1)
    ax.plot(kept, height, "o", color=COLOURS[1], markersize=6, clip_on=False, zorder=5)
    side, up = (-1 if kept > run.epochs / 2 else 1), (1 if height < curve.max() / 2 else -1)
    text = f"kept: epoch {kept}" if kept != run.epochs else f"stopped and kept: epoch {kept}"
    add_text(ax, (kept, height), text, (8 * side, 11 * up), ha="right" if side < 0 else "left")
    if kept != run.epochs:
        at = {"xycoords": ("data", "axes fraction"), "rotation": 90, "va": "top", "bbox": None, "color": GREY}
        add_text(ax, (run.epochs, 0.98), f"stopped: epoch {run.epochs}", (7, 0), **at)
    ax.set(xlabel="epoch", ylabel="share of the rows", ylim=(0, None), xlim=(0.5, 1.04 * run.epochs + 0.5))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    add_legend(ax)
    return ax


def plot_mistakes(
    *records: Run | Iterable[Trial],
    bound: float | Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mistakes that runs add up, against the most that the theorem allows.

    Parameters
    ----------
    *records : Run or iterable of Trial
        One or several runs, to compare; a run is followed by epochs, trials one by one.
    bound : float, sequence of float or None
        The bound (R/margin)^2, the same for all or one for each record; drawn as a dashed line.
    labels : sequence of str or None
        What to call each record.
    ax : matplotlib.axes.Axes or None

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If there is no record, or not one bound and label for each.
    """
    curves = [_cumulative(record) for record in records]
    shared = np.ndim(bound) == 0  # type: ignore[arg-type]
    bounds, names = _for_each(len(curves), bound, labels)
    ax = quiet_axes(ax)
    for k, (presented, total) in enumerate(curves):
        colour = COLOURS[k % len(COLOURS)]
        ax.plot(presented, total, color=colour, linewidth=1.6, drawstyle="steps-post", label=names[k])
        ax.plot(presented[-1], total[-1], "o", color=colour, markersize=4, clip_on=False)
    for k, height in enumerate(bounds[:1] if shared else bounds):
        if height is not None:
            look = {"color": GREY if shared else COLOURS[k % len(COLOURS)]}
            ax.axhline(height, linewidth=1.0, linestyle=DASHES, zorder=1, **look)
            at = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "bottom", "bbox": None}
            add_text(ax, (1, height), f"at most {height:,.0f}", (0, 2), **at, **look)
    _scale(ax, [int(total[-1]) for _, total in curves], [float(height) for height in bounds if height is not None])
    ax.set(xlabel="rows presented", ylabel="mistakes so far", xlim=(0, None))
    add_legend(ax)
    return ax


def _for_each(n_records: int, bound: Any, labels: Any) -> tuple[list[Any], list[str]]:
    """Return a bound and a label for each record, or raise an error."""
    bounds = [bound] * n_records if np.ndim(bound) == 0 else list(bound)
    for height in bounds:
        if height is not None and not (is_real(height) and 0 <= height < np.inf):
            raise InvalidInput(f"bound={shown(height)} is not a number of mistakes. Pass a number from 0, or None.")
    if labels is not None and not isinstance(labels, list | tuple):
        raise InvalidInput(f"labels={shown(labels)} is not a list. Pass one text for each record.")
    names = ["mistakes made"] * n_records if labels is None else [str(label) for label in labels]
    if not n_records or not n_records == len(bounds) == len(names):
        raise InvalidInput(
            f"There are {n_records} records, {len(bounds)} bounds and {len(names)} labels. Pass at least one record, "
            "and one bound and one label for each."
        )
    return bounds, names


def _curve(ax: Axes, epochs: Array, values: Array, colour: str, label: str) -> None:
    """Draw a figure of some epochs: by dots, or where they are many faintly, with a running mean."""
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
    """Return numbers of rows presented, and the mistakes made by then."""
    if isinstance(record, Run):
        return np.linspace(0, record.trials, record.epochs + 1), np.array([0, *np.cumsum(record.mistakes)])
    trials = as_trials(record)
    if not trials:
        raise InvalidInput("A record has no trials: there is nothing to draw. Trace at least one epoch.")
    return np.array([0, *(trial.t for trial in trials)]), np.array([0, *(trial.mistakes for trial in trials)])


def _scale(ax: Axes, made: list[int], bounds: list[float]) -> None:
    """Count on a logarithmic scale where a plain one would press the curves to the floor."""
    highest = max([*made, *bounds, 1])
    if highest > 8 * max(1, min(made)):
        ax.set(yscale="log", ylim=(0.8, 3 * highest))
    else:
        ax.set(ylim=(0, 1.15 * highest))
