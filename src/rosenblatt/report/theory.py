"""A fit against its theorems: margin, radius, mistake bound, and the two quantities of the proof over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.bounds import from_start
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.perceptron import Perceptron
from rosenblatt.markup.charts import squeeze_chart
from rosenblatt.markup.elements import tag
from rosenblatt.prover.certificates.brackets import Bracket
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.prover.exact.clock import TIME_LIMIT
from rosenblatt.prover.search.certify import certify
from rosenblatt.text import brief, count, rounded_down, rounded_up
from rosenblatt.training.algorithm import check_start
from rosenblatt.training.plan import Epoch, Run
from rosenblatt.training.trace import trace
from rosenblatt.training.train import train

Array = npt.NDArray[Any]

# The parameters that the theorems assume: the plain perceptron rule.
PLAIN = {
    "penalty": None,
    "schedule": "constant",
    "batch": False,
    "margin": 0.0,
    "class_weight": None,
    "fit_intercept": True,
    "early_stopping": False,
}
# A run with more trials or entries is followed by epochs instead of by updates, which takes plain Python.
MAX_TRACED_TRIALS, MAX_TRACED_ENTRIES = 100_000, 20_000_000


@dataclass(frozen=True)
class Theory:
    """A fit against its theorems.

    Rows are (x, 1), and weights (w, b) divided by the learning rate. w* is the unit separator of the certificate, and
    gamma its proven margin.

    Attributes
    ----------
    certificate : Certificate
        Whether the data are separable, and the proof.
    run : Run
        Record of the fit.
    mistakes : int
        Mistakes in all epochs.
    radius : float
        R, the largest |(x, 1)|.
    margin : Bracket or None
        Bounds of gamma; None if the data are not separable, or no margin was found in time.
    bound : int or None
        The most mistakes that any run from the same start can make: (R/gamma)^2 from zero, else
        |a - alpha w*|^2 / R^2 with the start a and alpha = R^2/gamma.
    ceiling : float
        An upper bound of the margin of any separator, which the mistakes of the run prove: the least |w - a| / M.
        Infinite before the first mistake.
    updates : int array of shape (n_points,)
        M over time: after every update, or at the end of every epoch if there are too many updates.
    alignment, floor : float arrays of shape (n_points,)
        <w, w*>, and its lower bound <a, w*> + M gamma; empty without a margin.
    square, cap : float arrays of shape (n_points,)
        |w|^2, and its upper bound |a|^2 + M R^2.
    """

    certificate: Certificate
    run: Run
    mistakes: int
    radius: float
    margin: Bracket | None
    bound: int | None
    ceiling: float
    updates: Array
    alignment: Array
    floor: Array
    square: Array
    cap: Array

    def __repr__(self) -> str:
        """Return the fields in a few lines, with long arrays abbreviated."""
        return brief(self, ("mistakes", "bound", "radius", "margin"))

    @property
    def share(self) -> float | None:
        """Share of the bound that was used."""
        return None if self.bound is None else self.mistakes / max(1, self.bound)

    def __str__(self) -> str:
        """Report the fit in a few lines."""
        lines = [
            self.certificate.proof.splitlines()[0],
            f"The perceptron made {count(self.mistakes, 'mistake')} in {count(self.run.epochs, 'epoch')}.",
        ]
        most = rounded_up(self.cap[-1])
        squeezed = f"  |w|^2 = {self.square[-1]:.6g}, at most {most}: each mistake adds R^2 or less"
        if self.margin is not None and self.share is not None:
            low, high = self.margin.lower, self.margin.upper
            lines += [
                f"At most {self.bound} {'was' if self.bound == 1 else 'were'} possible: it used "
                f"{100 * self.share:.2g} % of the bound.",
                f"  R = {rounded_up(self.radius)}, the longest row; gamma = {rounded_down(low)}, the margin"
                + (f" (at most {rounded_up(high)})" if f"{low:.6g}" != f"{high:.6g}" else ""),
                "The proof, after the last mistake:",
                f"  <w, w*> = {self.alignment[-1]:.6g}, at least {rounded_down(self.floor[-1])}: each mistake "
                "adds gamma or more",
                squeezed,
            ]
        else:
            lines.append(squeezed)
        if math.isfinite(self.ceiling):
            lines.append(f"Its mistakes alone prove that no margin exceeds {rounded_up(self.ceiling)}.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        picture = (
            squeeze_chart(self.updates, self.alignment, self.floor, self.square, self.cap) if self.mistakes else None
        )
        return tag("div", picture, *(tag("p", line) for line in str(self).splitlines()))


class _Record:
    """The quantities of the proof over time."""

    def __init__(self, start: Array, separator: Array | None) -> None:
        self.start, self.separator = start, separator
        self.points: list[tuple[int, float, float, float]] = []
        self.add(0, start)

    def add(self, updates: int, w: Array) -> None:
        """Record the weights after some updates."""
        along = math.nan if self.separator is None else float(w @ self.separator)
        self.points.append((updates, along, float(w @ w), float(np.linalg.norm(w - self.start))))

    @property
    def columns(self) -> tuple[Array, Array, Array, Array]:
        """Updates, alignments, squares and distances from the start."""
        updates, along, square, moved = (np.array(column) for column in zip(*self.points, strict=True))
        return updates, along, square, moved


def theory(X: Any, y: Any, model: Perceptron | None = None, *, time_limit: float | None = TIME_LIMIT) -> Theory:
    """Train a perceptron and compare the run with its theorems.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Two classes.
    model : Perceptron or None
        A copy with its parameters is fitted. The theorems hold for the plain rule: a constant learning rate, a bias on
        rows padded by one; no penalty, margin, class weights, batches or held-out rows. The run starts from its
        `init`.
    time_limit : float or None
        Seconds for the certificate; None means no limit.

    Returns
    -------
    Theory
        Print it for a report; `rosenblatt.plots.plot_theory` draws it.

    Raises
    ------
    InvalidInput
        If the model does not follow the plain rule, or there are more than two classes.

    References
    ----------
    Novikoff (1962), On convergence proofs on perceptrons. R. O. Duda et al. (2001), Pattern classification, chapter
    5, for any start.

    Examples
    --------
    >>> from rosenblatt import Perceptron, theory
    >>> report = theory([[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, 1], Perceptron(shuffle=False))
    >>> report.mistakes, report.bound
    (9, 27)
    >>> report.square.tolist()
    [0.0, 1.0, 1.0, 3.0, 2.0, 3.0, 5.0, 6.0, 8.0, 9.0]
    """
    model = Perceptron() if model is None else model
    _check_plain(model)
    certificate = certify(X, y, time_limit=time_limit)
    if len(certificate.classes) > 2 or certificate.classes[0] is None:
        classes = list(certificate.classes)
        raise InvalidInput(f"y has the classes {classes}; the theorems are about two. Pass rows of two classes.")
    margin = certificate.augmented
    separator = None if margin is None else np.array(margin.w, np.float64)
    if separator is not None:
        separator /= np.linalg.norm(separator)
    eta = float(model.eta0)
    start = np.zeros(certificate.shape[1] + 1)
    if model.init is not None:
        W0, b0 = check_start(model.init, 1, certificate.shape[1])
        start = np.append(W0[0], b0[0]) / eta
    record, run = _follow(X, y, model, _Record(start, separator))
    updates, along, square, moved = record.columns
    cap = start @ start + updates * certificate.radius**2
    mistakes = int(updates[-1])
    ceiling = float((moved[updates > 0] / updates[updates > 0]).min()) if mistakes else math.inf
    known = (certificate, run, mistakes, certificate.radius, margin)
    if margin is None or separator is None:
        return Theory(*known, None, ceiling, updates, np.empty(0), np.empty(0), square, cap)
    bound = certificate.mistake_bound
    if start.any():
        bound = math.floor(from_start(start, separator, certificate.radius, margin.lower))
    floor = start @ separator + updates * margin.lower
    return Theory(*known, bound, ceiling, updates, along, floor, square, cap)


def _check_plain(model: Perceptron) -> None:
    """Raise `InvalidInput` unless a model follows the plain rule of the theorems."""
    if type(model) is not Perceptron:
        name = type(model).__name__
        raise InvalidInput(f"{name} is not a Perceptron, which the theorems are about. Pass a Perceptron, or None.")
    plain_padding = {"intercept_scaling": 1.0} if model.intercept_scaling != "auto" else {}
    for name, plain in (PLAIN | plain_padding).items():
        value = getattr(model, name)
        if np.any(value) if name == "margin" else value != plain:  # a margin may be a pair
            raise InvalidInput(f"{name}={value!r} is not the plain rule of the theorems. Set {name}={plain!r}.")


def _follow(X: Any, y: Any, model: Perceptron, record: _Record) -> tuple[_Record, Run]:
    """Train, and record every update.

    Record only the ends of the epochs if the run is too long to trace in plain Python, or if rounding makes the trace
    differ from the run.
    """
    model._check_parameters()
    eta = float(model.eta0)
    plan = model._plan()
    ends = _Record(record.start, record.separator)

    def watch(epoch: Epoch) -> Any:
        ends.add(ends.points[-1][0] + epoch.mistakes, np.append(epoch.coef[0], epoch.intercept[0]) / eta)
        return None if plan.callback is None else plan.callback(epoch)

    run = train(X, y, init=model.init, **(vars(plan) | {"callback": watch}))
    if run.trials > MAX_TRACED_TRIALS or run.trials * record.start.size > MAX_TRACED_ENTRIES:
        return ends, run
    settings = {"order": plan.order, "eta0": eta, "init": model.init, "random_state": plan.random_state}
    for trial in trace(X, y, max_iter=run.epochs, **settings):
        if trial.mistake:
            record.add(trial.mistakes, np.append(trial.w, trial.b) / eta)
    same = record.points[-1][0] == ends.points[-1][0]
    return (record if same and np.allclose(record.points[-1][1:], ends.points[-1][1:], equal_nan=True) else ends), run
