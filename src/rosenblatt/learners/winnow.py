"""Winnow: w_j is multiplied by factor^(y x_j) on a mistake (Littlestone 1988)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table
from rosenblatt.engine.frame import TRIALS
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import dot, entries, entry
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import shared
from rosenblatt.learners.base import UNCHECKED, Facts
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import flag, real
from rosenblatt.storage.registry import stored
from rosenblatt.training.algorithm import (
    Algorithm,
    Doubles,
    Integers,
    Matrix,
    Order,
    TrialAlgorithm,
    Vector,
    layout_of,
)

# Exponents may grow without end on data that no weights fit; the weights stay finite.
_HIGHEST = 300.0


@stored("Exponents")
class Exponents(NamedTuple):
    """Weights that are powers of a factor, updated through their exponents theta."""

    W: Matrix
    b: Vector
    t: Integers
    theta: Annotated[np.ndarray, "d? pd"]
    theta_b: Doubles


class WinnowRule(NamedTuple):
    """Weights factor^theta against a threshold; a demotion divides, or eliminates. Littlestone (1988).

    Balanced, for features of either sign: weights factor^theta - factor^-theta. Littlestone (1989).
    """

    factor: float
    eliminate: bool = False
    balanced: bool = False


@compiled(error_model="numpy")
def weight_of(rule, theta):
    """Return the weight that belongs to an exponent."""
    bound = _HIGHEST / np.log(rule.factor)
    if not rule.balanced:
        return rule.factor ** min(theta, bound)
    theta = max(-bound, min(theta, bound))
    return rule.factor**theta - rule.factor**-theta


def winnow_trial(algorithm, rows, i, sign, importance, bias, state, p):
    """On a mistake multiply the weight of each feature of the row by factor^(y x)."""
    margin = sign * (dot(rows, i, state.W, p) + state.b[p])
    if margin > 0.0:
        return margin, 0.0, 0.0
    start, end = entries(rows, i)
    for k in range(start, end):
        j, value = entry(rows, i, k)
        if value != 0.0:
            change = sign * importance * value
            # The factor to the power of minus infinity is zero, for good.
            state.theta[p, j] = -np.inf if algorithm.eliminate and change < 0.0 else state.theta[p, j] + change
            state.W[p, j] = weight_of(algorithm, state.theta[p, j])
    if bias > 0.0:
        state.theta_b[p] += sign * importance
        state.b[p] = weight_of(algorithm, state.theta_b[p])
    return margin, importance, max(0.0, -margin)


TRIALS[WinnowRule] = winnow_trial


@dataclass
class Multiplicative(TrialAlgorithm):
    """Winnow, as training runs it."""

    rule: WinnowRule
    threshold: float = 0.0  # that w.x must exceed; 0 for the balanced rule, which learns a bias

    signed: ClassVar[frozenset[str]] = frozenset({"W", "b", "theta", "theta_b"})
    state_class: ClassVar[type] = Exponents
    layout: ClassVar[Mapping[str, str]] = layout_of(Exponents)

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> Exponents:
        """Return exponents of zero."""
        state: Exponents = super().start(problems, features, dtype, order)
        state.W[:], state.b[:] = 0.0 if self.rule.balanced else 1.0, -self.threshold
        return state

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has, and what the exponents mean."""
        return "Exponents", self.rule, self.threshold


class Winnow(LinearClassifier):
    """Winnow: on a mistake multiply the weights instead of adding to them; few relevant features among many.

    Littlestone's Winnow (``balanced=False``) takes features that are not negative: it starts from weights of one,
    predicts w.x > threshold, and multiplies w_j by factor^(y x_j), or eliminates it for good in a demotion. The
    balanced form, for any features, has weights factor^theta - factor^-theta with theta += y x, and learns a bias.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    A disjunction of k of n features is learned with at most 2 k log2(n) + 2 mistakes (factor 2, threshold n/2,
    elimination): `rosenblatt.bounds.winnow1`, `winnow2`.

    References
    ----------
    Littlestone (1988), Learning quickly when irrelevant attributes abound, Machine Learning 2, 285-318.

    Examples
    --------
    >>> from rosenblatt import Winnow
    >>> X = [[1, 0, 0, 0], [0, 1, 0, 1], [1, 0, 1, 1], [0, 0, 1, 0]]
    >>> Winnow(balanced=False, factor=2.0).fit(X, [1, 0, 1, 0]).score(X, [1, 0, 1, 0])
    1.0
    """

    balanced: bool = flag(default=True, text="Whether features may be of either sign.")
    factor: float = real(
        default=1.5, text="Factor (> 1) by which weights are multiplied on promotion.", above=1, range=(1.01, 4.0, 0.01)
    )
    threshold: float | None = real(
        default=None,
        text="Threshold of w.x without `balanced`; None: half the number of features.",
        above=0,
        optional=True,
        range=(0.1, 10.0, 0.1),
    )
    eliminate: bool = flag(
        default=False, text="Whether a demotion sets weights to zero (Winnow1) rather than dividing them (Winnow2)."
    )
    fit_intercept: bool = shared.FIT_INTERCEPT
    max_iter: int = shared.MAX_ITER
    tol: float | None = shared.TOL
    shuffle: shared.Shuffle = shared.SHUFFLE
    verbose: int = shared.VERBOSE
    random_state: shared.RandomState = shared.RANDOM_STATE
    n_iter_no_change: int = shared.N_ITER_NO_CHANGE
    max_seconds: float | None = shared.MAX_SECONDS
    callback: shared.Callback = shared.CALLBACK
    class_weight: shared.ClassWeight = shared.CLASS_WEIGHT
    multiclass: shared.Multiclass = shared.MULTICLASS
    n_jobs: int | None = shared.N_JOBS
    early_stopping: bool = shared.EARLY_STOPPING
    validation_fraction: float = shared.VALIDATION_FRACTION
    warm_start: bool = shared.WARM_START
    keep: shared.Keep = shared.KEEP

    facts = Facts(
        published=1988,
        does="multiplies weights (Littlestone's, balanced)",
        when="few relevant features among very many",
        command="winnow",
        title="Winnow",
        lecture="Perceptron and Kernelization",
        rule="winnow",
    )
    without_shards = f"Weights that are multiplied {shared.NO_MEAN}"
    modes = ("ovr", "ovo", "ovo-vote")
    scale_sensitive = False

    @property
    def supports_new_classes(self) -> bool:  # type: ignore[override]
        """Whether a class that appears can start from the negated weights of another: only in the balanced form."""
        return bool(self.balanced)

    def _bias(self) -> float:
        return super()._bias() if self.balanced else 0.0

    def _algorithm(self) -> Algorithm:
        if self.balanced:
            return Multiplicative(WinnowRule(float(self.factor), balanced=True))
        threshold = self.n_features_in_ / 2 if self.threshold is None else float(self.threshold)
        return Multiplicative(WinnowRule(float(self.factor), bool(self.eliminate)), threshold)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.balanced
        # Littlestone's form is for features that are there or not; on others it promises little.
        tags.classifier_tags.poor_score = not self.balanced
        return tags

    def _check_rows(self, X: Any, y: Any = UNCHECKED, *, reset: bool) -> tuple[Table, Any]:
        table, labels = super()._check_rows(X, y, reset=reset)
        if not self.balanced and table.entries and table.values.min() < 0:
            raise InvalidInput(
                f"Negative values in data passed to Winnow: X goes down to {table.values.min():.3g}. Use "
                "balanced=True, or split each feature into its positive and its negative part."
            )
        return table, labels

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row of a stream; see `Perceptron.learn_one`."""
        if not self.balanced:
            values = [*x.values()] if isinstance(x, Mapping) else getattr(x, "data", x) if hasattr(x, "tocsr") else x
            if len(values) and np.min(values) < 0:
                raise InvalidInput("Negative values in a row passed to Winnow. Use balanced=True.")
        return super().learn_one(x, y)
