"""Figures of the lectures: boundaries, runs, learning curves, mistakes against their bound.

Every function draws on the axes it is given, or on a new figure, and returns the axes; ``ax.figure.savefig`` writes
the picture. Without matplotlib it raises `MissingExtra`. pyplot and its global state are never touched, so that
servers and threads may draw. The colours are those of Okabe and Ito, which colour-blind readers can tell apart;
classes differ by marker as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import as_labels, as_table
from rosenblatt.errors import InvalidInput, MissingExtra
from rosenblatt.learn.model import code, decision
from rosenblatt.learn.trace import Trial
from rosenblatt.learn.trainer import Run
from rosenblatt.proof.certificate import Certificate

if TYPE_CHECKING:
    from rosenblatt.report.theory import Theory  # loads scikit-learn

Array = npt.NDArray[Any]
Axes = Any  # matplotlib.axes.Axes, which need not be installed

# Okabe and Ito (2008), Color universal design; neighbours chosen far apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK, GREY, SKY = "#222222", "#767676", "#56B4E9"
DASHES = (0, (4, 3))
# Points along each side of the grid that regions are found on.
GRID = 301
# Epochs up to which each is shown by a dot; above, a running mean over a share of them guides the eye.
FEW = 40


def new_figure(width: float = 5.0, height: float = 4.2) -> Any:
    """Give an empty matplotlib figure that belongs to no global state.

    Parameters
    ----------
    width, height : float
        In inches.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        fault = "matplotlib is not installed, and pictures need it."
        raise MissingExtra(f'{fault} Run: pip install "rosenblatt[plots]"') from None
    return Figure(figsize=(width, height), dpi=144, layout="constrained")


def _axes(ax: Axes | None) -> Axes:
    """Give quiet axes: the ones given, or those of a new figure."""
    ax = new_figure().subplots() if ax is None else ax
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(colors=GREY, labelcolor=INK, labelsize=8)
    ax.xaxis.label.set(size=9, color=INK)
    ax.yaxis.label.set(size=9, color=INK)
    return ax


def _legend(ax: Axes) -> None:
    """Explain the marks above the axes, where nothing is hidden."""
    look = {"frameon": False, "fontsize": 8, "labelcolor": INK, "handletextpad": 0.4, "columnspacing": 1.2}
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0.2, **look)


def _text(ax: Axes, at: Any, text: str, offset: Any = (0, 0), **look: Any) -> None:
    """Write beside a point, `offset` in points of print away from it."""
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    look = {"color": INK, "bbox": box, "ha": "center", "va": "center"} | look
    ax.annotate(text, xy=tuple(at), xytext=tuple(offset), textcoords="offset points", fontsize=8, zorder=6, **look)


def _plane(X: Any, y: Any) -> tuple[Array, Array, Array]:
    """Give the points (n, 2), the classes and the class number of each point."""
    table = as_table(X.toarray() if hasattr(X, "toarray") else X)
    points = np.asarray(table.rows[0], np.float64)
    if points.shape[1] != 2:
        raise InvalidInput(f"X has {points.shape[1]} features; a picture of the plane needs 2. Train on two columns.")
    return points, *as_labels(y, points.shape[0])


def _frame(ax: Axes, points: Array) -> None:
    """Show the points with a border, at the same scale in both directions, so that right angles look right."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high - low).max()) or 1.0
    half = np.maximum((high - low) / 2, 0.35 * extent) + 0.12 * extent
    middle = (low + high) / 2
    ax.set(xlim=(middle[0] - half[0], middle[0] + half[0]), ylim=(middle[1] - half[1], middle[1] + half[1]))
    ax.set_aspect("equal", adjustable="box")


def _scatter(ax: Axes, points: Array, classes: Array, label: Array) -> None:
    for k, name in enumerate(classes.tolist()):
        own = points[label == k]
        told = f"class {name:g}" if isinstance(name, float) else f"class {name}"
        look = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)], "label": told}
        ax.scatter(own[:, 0], own[:, 1], s=26, edgecolors="white", linewidths=0.6, zorder=4, **look)


def _ring(ax: Axes, points: Array, colour: str) -> None:
    ax.scatter(points[:, 0], points[:, 1], s=85, facecolors="none", edgecolors=colour, linewidths=1.0, zorder=5)


def _line(ax: Axes, w: Array, b: float, **look: Any) -> None:
    """Draw the hyperplane w.x + b = 0 across the axes."""
    foot = -b * w / (w @ w)
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    ax.axline(tuple(foot), xy2=tuple(foot + along), **look)


def _within(ax: Axes, point: Array, size: float) -> bool:
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    rim = 0.08 * size
    return bool(left + rim < point[0] < right - rim and low + rim < point[1] < high - rim)


def _distance(points: Array, start: Array, end: Array) -> float:
    """Give the distance of the closest point from a segment."""
    way = end - start
    share = np.clip((points - start) @ way / (way @ way), 0, 1)
    return float(np.linalg.norm(points - start - share[:, None] * way, axis=1).min())


def _normal(ax: Axes, w: Array, b: float, points: Array) -> None:
    """Draw the normal at a place of the hyperplane where it is in nobody's way."""
    limits = np.array([ax.get_xlim(), ax.get_ylim()])
    middle, size = limits.mean(axis=1), float(np.diff(limits).min())
    unit = w / np.linalg.norm(w)
    along = np.array([-unit[1], unit[0]])
    foot = middle - (middle @ w + b) / np.linalg.norm(w) * unit
    segments = [(at, at + 0.15 * size * unit) for at in foot + np.linspace(-0.4, 0.4, 17)[:, None] * size * along]
    inside = [pair for pair in segments if _within(ax, pair[0], size) and _within(ax, pair[1], size)]
    if inside:
        start, tip = max(inside, key=lambda pair: _distance(points, *pair))
        arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=tuple(tip), xytext=tuple(start), arrowprops=arrow, zorder=5)
        _text(ax, tip, "$w$", 9 * unit)


def _closest(ax: Axes, w: Array, b: float, points: Array) -> None:
    """Draw the distance of the point closest to the hyperplane."""
    unit = w / np.linalg.norm(w)
    signed = (points @ w + b) / np.linalg.norm(w)
    nearest = int(np.abs(signed).argmin())
    point = points[nearest]
    foot = point - signed[nearest] * unit
    ax.plot([point[0], foot[0]], [point[1], foot[1]], color=INK, linewidth=1.2, linestyle=(0, (2, 1.5)), zorder=3)
    _ring(ax, points[[nearest]], INK)
    _text(ax, point, f"{abs(signed[nearest]):.3g}", (20 if signed[nearest] >= 0 else -20) * unit)


def _linear(model: Any) -> tuple[Array, Array, Array]:
    """Give the weights, biases and classes of a fitted linear model."""
    missing = [name for name in ("coef_", "intercept_", "classes_") if not hasattr(model, name)]
    if missing:
        raise InvalidInput(
            f"{type(model).__name__} has no {missing[0]}: it is not fitted, or not linear. Fit it first."
        )
    coef = np.atleast_2d(np.asarray(model.coef_, np.float64))
    if coef.shape[1] != 2:
        raise InvalidInput(f"The model has {coef.shape[1]} features; a picture of the plane needs 2. Fit it on two.")
    return coef, np.broadcast_to(np.asarray(model.intercept_, np.float64), coef.shape[0]), np.asarray(model.classes_)


def _regions(ax: Axes, coef: Array, intercept: Array, n_classes: int, multiclass: str) -> None:
    """Tint the plane by the class that is elected, with thin borders in between."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    x, y = np.meshgrid(np.linspace(left, right, GRID), np.linspace(low, high, GRID))
    grid = np.column_stack([x.ravel(), y.ravel()])
    scores = decision(grid @ coef.T + intercept, code(n_classes, multiclass), multiclass)
    if n_classes == 2:
        scores = np.hstack([-scores, scores])
    for k in range(n_classes):
        lead = (scores[:, k] - np.delete(scores, k, axis=1).max(axis=1)).reshape(x.shape)
        if lead.max() > 0:
            ax.contourf(x, y, lead, levels=[0, lead.max()], colors=[COLOURS[k % len(COLOURS)]], alpha=0.13, zorder=0)
            if n_classes > 2 and lead.min() < 0:
                ax.contour(x, y, lead, levels=[0], colors=[INK], linewidths=1.0, zorder=1)


def plot_boundary(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw what a linear classifier makes of the plane.

    Two classes: the hyperplane w.x + b = 0, its normal w, and the distance of the row closest to it. More classes:
    the region of each, as the model's own rule of decision (`multiclass`) gives it.

    Parameters
    ----------
    model : fitted linear classifier
        Anything with coef_, intercept_ and classes_, of two features.
    X : array-like or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the data or the model is not two-dimensional, or the weights are zero.
    """
    coef, intercept, known = _linear(model)
    points, classes, label = _plane(X, y)
    if known.size == 2 and not coef[0].any():
        raise InvalidInput("The weight vector is zero: it has no hyperplane to draw. Train on more rows.")
    # Classes that the model does not know come last, in colours of their own.
    named = np.concatenate([known, classes[~np.isin(classes, known)]])
    place = np.array([np.flatnonzero(named == name)[0] for name in classes])
    ax = _axes(ax)
    _frame(ax, points)
    _regions(ax, coef, intercept, known.size, getattr(model, "multiclass", "ovr"))
    if known.size == 2:
        w, b = coef[0], float(intercept[0])
        _line(ax, w, b, color=INK, linewidth=1.6, zorder=3)
        _normal(ax, w, b, points)
        _closest(ax, w, b, points)
    _scatter(ax, points, named, place[label])
    names = getattr(model, "feature_names_in_", ("$x_1$", "$x_2$"))
    ax.set(xlabel=names[0], ylabel=names[1])
    _legend(ax)
    return ax


def _hull(points: Array) -> Array:
    """Give the corners of the convex hull of points in the plane, in order (Andrew's monotone chain)."""
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered
    sides: list[list[Array]] = []
    for run in (ordered, ordered[::-1]):
        side: list[Array] = []
        for point in run:
            while len(side) > 1 and np.linalg.det([side[-1] - side[-2], point - side[-1]]) <= 0:
                side.pop()
            side.append(point)
        sides.append(side[:-1])
    return np.array(sides[0] + sides[1])


def _tint(ax: Axes, corners: Array, colour: str, alpha: float, **look: Any) -> None:
    """Fill a polygon and draw its outline; a segment where there are two corners."""
    outline = np.vstack([corners, corners[:1]])
    ax.fill(corners[:, 0], corners[:, 1], color=colour, alpha=alpha, linewidth=0, zorder=1)
    ax.plot(outline[:, 0], outline[:, 1], color=colour, zorder=2, **look)


def _band(ax: Axes, w: Array, b: float, points: Array, label: Array) -> None:
    """Draw a separator with the empty band between the classes, and ring the rows that hold it."""
    heights = points @ w + b
    sides = [heights[label == 0].max(), heights[label == 1].min()]
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    reach = np.abs(np.array([ax.get_xlim(), ax.get_ylim()])).max() * 4
    feet = [(height - b) * w / (w @ w) for height in sides]
    strip = np.array(
        [feet[0] - reach * along, feet[0] + reach * along, feet[1] + reach * along, feet[1] - reach * along]
    )
    ax.fill(strip[:, 0], strip[:, 1], color=SKY, alpha=0.15, linewidth=0, zorder=0)
    for height in sides:
        _line(ax, w, b - height, color=GREY, linewidth=1.0, linestyle=DASHES, zorder=2)
    _line(ax, w, b - sum(sides) / 2, color=INK, linewidth=1.6, zorder=3)
    near = [np.abs(heights - height) <= 1e-6 * (sides[1] - sides[0]) for height in sides]
    _ring(ax, points[near[0] | near[1]], INK)


def plot_certificate(certificate: Certificate, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the proof that a certificate on two classes in the plane holds.

    Separable: the separator, or the widest one if the certificate knows it, with the empty band and the rows at its
    rim. Otherwise the hulls of the classes, the rows that prove that they meet, and the common point;
    quasi-separable: also the weak separator, with the rows on it ringed.

    Parameters
    ----------
    certificate : Certificate
        Of data with two features and at most two classes.
    X : array-like or sparse matrix of shape (n_samples, 2)
        The data that it was issued for; `rosenblatt.proof.verify.verify` says whether it was.
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the data are not two-dimensional, are of another shape, or have more than two classes.
    """
    points, classes, label = _plane(X, y)
    if certificate.shape != points.shape or classes.size > 2 or len(certificate.classes) > 2:
        raise InvalidInput(
            f"The certificate is on data of shape {certificate.shape} with {len(certificate.classes)} classes, and X "
            f"has shape {points.shape} with {classes.size}. Pass its data, of two features and two classes."
        )
    ax = _axes(ax)
    _frame(ax, points)
    if certificate.verdict == "separable" and classes.size == 2:
        best = certificate.vector if certificate.margin is None else certificate.margin.w
        vector = np.array(best, np.float64)
        _band(ax, vector[:2], vector[2], points, label)
    elif certificate.support:
        support = np.array(certificate.support)
        for k in range(2):
            _tint(ax, _hull(points[label == k]), COLOURS[k], 0.1, linewidth=0.8, linestyle=DASHES)
            _tint(ax, _hull(points[support[label[support] == k]]), COLOURS[k], 0.0, linewidth=1.6)
        common = np.array(certificate.point or points[support].mean(axis=0))
        ax.scatter(
            *common, marker="*", s=130, color=INK, edgecolors="white", linewidths=0.6, zorder=6, label="common point"
        )
        if certificate.vector is not None:
            vector = np.array(certificate.vector, np.float64)
            if vector[:2].any():
                _line(ax, vector[:2], vector[2], color=INK, linewidth=1.6, zorder=3)
            _ring(ax, points[list(certificate.boundary)], INK)
    _scatter(ax, points, classes, label)
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
    _legend(ax)
    return ax


def plot_trace(trials: Iterable[Trial], X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw a run on 2-D data update by update: the hyperplane after each, fading in, the last one strong.

    A ring marks the rows that caused an update.

    Parameters
    ----------
    trials : iterable of Trial
        From `rosenblatt.trace`, on the same rows.
    X : array-like or sparse matrix of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
    ax : matplotlib.axes.Axes or None

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the data is not two-dimensional, or no update gave a hyperplane.
    """
    points, classes, label = _plane(X, y)
    updates = [trial for trial in trials if trial.mistake]
    drawn = [trial for trial in updates if np.any(trial.w)]
    if not drawn:
        raise InvalidInput("No update among the trials gives a hyperplane: there is nothing to draw. Trace more rows.")
    ax = _axes(ax)
    _frame(ax, points)
    for k, trial in enumerate(drawn[:-1], start=1):
        age = k / len(drawn)
        _line(ax, trial.w, trial.b, color=SKY, linewidth=0.7 + 0.6 * age, alpha=0.2 + 0.7 * age**2, zorder=1)
    last = drawn[-1]
    _line(ax, last.w, last.b, color=INK, linewidth=1.8, zorder=2, label=f"after update {last.mistakes}, the last")
    _normal(ax, last.w, last.b, points)
    _ring(ax, points[np.unique([trial.row for trial in updates])], GREY)
    _scatter(ax, points, classes, label)
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
    _legend(ax)
    return ax


def _curve(ax: Axes, values: Array, colour: str, label: str) -> None:
    """Draw a figure of each epoch: by dots, or where they are many faintly, with a running mean."""
    epochs = np.arange(1, values.size + 1)
    if values.size <= FEW:
        ax.plot(epochs, values, "o-", color=colour, linewidth=1.5, markersize=3.5, label=label)
        return
    ax.plot(epochs, values, color=colour, linewidth=0.6, alpha=0.3)
    width = values.size // 20
    sums = np.concatenate([[0.0], np.cumsum(values)])
    low, high = np.maximum(epochs - 1 - width // 2, 0), np.minimum(epochs + width // 2, values.size)
    ax.plot(epochs, (sums[high] - sums[low]) / (high - low), color=colour, linewidth=1.8, label=f"{label} (smoothed)")


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
    ax = _axes(ax)
    curve = np.asarray(run.mistakes) / -(-run.trials // run.epochs)
    _curve(ax, curve, COLOURS[4], "mistakes during the epoch")
    if run.errors:
        curve = np.asarray(run.errors)
        _curve(ax, curve, COLOURS[0], "error at its end")
    kept, height = run.kept, float(curve[run.kept - 1])
    ax.axvline(run.epochs, color=GREY, linewidth=1.0, linestyle=DASHES, zorder=1)
    ax.plot(kept, height, "o", color=COLOURS[1], markersize=6, clip_on=False, zorder=5)
    side, up = (-1 if kept > run.epochs / 2 else 1), (1 if height < curve.max() / 2 else -1)
    told = f"kept: epoch {kept}" if kept != run.epochs else f"stopped and kept: epoch {kept}"
    _text(ax, (kept, height), told, (8 * side, 11 * up), ha="right" if side < 0 else "left")
    if kept != run.epochs:
        at = {"xycoords": ("data", "axes fraction"), "rotation": 90, "va": "top", "bbox": None, "color": GREY}
        _text(ax, (run.epochs, 0.98), f"stopped: epoch {run.epochs}", (7, 0), **at)
    ax.set(xlabel="epoch", ylabel="share of the rows", ylim=(0, None), xlim=(0.5, 1.04 * run.epochs + 0.5))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    _legend(ax)
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
    bounds: list[Any] = [bound] * len(curves) if shared else list(bound)  # type: ignore[arg-type]
    names = ["mistakes made"] * len(curves) if labels is None else list(labels)
    if not curves or not len(curves) == len(bounds) == len(names):
        raise InvalidInput(
            f"There are {len(curves)} records, {len(bounds)} bounds and {len(names)} labels. Pass at least one record, "
            "and one bound and one label for each."
        )
    ax = _axes(ax)
    for k, (presented, total) in enumerate(curves):
        colour = COLOURS[k % len(COLOURS)]
        ax.plot(presented, total, color=colour, linewidth=1.6, drawstyle="steps-post", label=names[k])
        ax.plot(presented[-1], total[-1], "o", color=colour, markersize=4, clip_on=False)
    for k, height in enumerate(bounds[:1] if shared else bounds):
        if height is not None:
            look = {"color": GREY if shared else COLOURS[k % len(COLOURS)]}
            ax.axhline(height, linewidth=1.0, linestyle=DASHES, zorder=1, **look)
            at = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "bottom", "bbox": None}
            _text(ax, (1, height), f"at most {height:,.0f}", (0, 2), **at, **look)
    _scale(ax, [int(total[-1]) for _, total in curves], [float(height) for height in bounds if height is not None])
    ax.set(xlabel="rows presented", ylabel="mistakes so far", xlim=(0, None))
    _legend(ax)
    return ax


def plot_theory(theory: Theory, ax: Axes | None = None) -> Axes:
    """Draw Novikoff's proof on a run: two quantities that must stay between two curves, and where these cross.

    Each mistake adds at least the margin to <w, w*>, and at most R^2 to |w|^2. As <w, w*> is at most |w|, the line
    M gamma below and the curve sqrt(M) R above leave no room beyond their crossing, which is the mistake bound. Of
    data that is not separable, |w| and what is above it.

    Parameters
    ----------
    theory : Theory
        From `rosenblatt.theory`.
    ax : matplotlib.axes.Axes or None

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the run made no mistake.
    """
    if not theory.mistakes:
        raise InvalidInput("The run made no mistake: there is nothing to draw. Start it from zero.")
    ax = _axes(ax)
    end = max(theory.bound or 0, theory.mistakes)
    far = end > 8 * theory.mistakes
    reach = np.geomspace(1, 2 * end, 400) if far else np.linspace(0, 1.1 * end, 400)
    cap = np.sqrt(theory.cap[0] + reach * theory.radius**2)
    ax.plot(reach, cap, color=COLOURS[1], linewidth=1.0, linestyle=DASHES, label=r"at most $\sqrt{M}\,R$")
    dots = {"marker": "o", "markersize": 3.5} if theory.updates.size <= FEW else {}
    ax.plot(theory.updates, np.sqrt(theory.square), color=COLOURS[1], linewidth=1.6, label=r"$|w|$", **dots)
    if theory.margin is not None:
        ax.plot(
            theory.updates, theory.alignment, color=COLOURS[0], linewidth=1.6, label=r"$\langle w, w^*\rangle$", **dots
        )
        floor = theory.floor[0] + reach * theory.margin.lower
        ax.plot(reach, floor, color=COLOURS[0], linewidth=1.0, linestyle=DASHES, label=r"at least $M\,\gamma$")
        ax.fill_between(reach, floor, cap, where=floor <= cap, color=SKY, alpha=0.1, linewidth=0, zorder=0)
        cross = (end, float(np.sqrt(theory.cap[0] + end * theory.radius**2)))
        ax.plot(*cross, "o", color=INK, markersize=4, zorder=5)
        _text(ax, cross, f"at most {theory.bound:,} mistakes", (-6, 10), ha="right")
    if far:
        heights = np.concatenate([np.sqrt(theory.square), theory.alignment])
        low = min(float(heights[heights > 0].min()), theory.radius)
        ax.set(xscale="log", yscale="log", xlim=(1, 2 * end), ylim=(low / 2, 4 * float(cap[-1])))
    else:
        ax.set(xlim=(0, 1.1 * end), ylim=(min(0.0, *theory.alignment.tolist(), 0.0), 1.15 * float(cap[-1])))
    ax.set(xlabel="mistakes $M$", ylabel="length")
    _legend(ax)
    return ax


def _cumulative(record: Run | Iterable[Trial]) -> tuple[Array, Array]:
    """Give numbers of rows presented, and the mistakes made by then."""
    if isinstance(record, Run):
        return np.linspace(0, record.trials, record.epochs + 1), np.array([0, *np.cumsum(record.mistakes)])
    trials = list(record)
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
