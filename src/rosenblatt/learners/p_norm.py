"""The p-norm perceptron: theta += y x on a mistake, and w is the gradient of |theta|_p^2 / 2 (Grove et al. 2001)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.engine.frame import TRIALS
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import Hyperplanes, add, dot, entries, entry
from rosenblatt.learners import shared
from rosenblatt.learners.base import Facts
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import real
from rosenblatt.storage.registry import expect, stored
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

# Between these a sum of powers is brought up to date. Outside, all weights are recomputed, in units of about the
# norm then: the larger p, the sooner powers would overflow, or a sum of them be rounding.
_SMALLEST, _LARGEST = 2.0**-10, 2.0**10


class PNormRule(NamedTuple):
    """Perceptron steps for a sum of rows, whose link the weights are. Grove, Littlestone and Schuurmans (2001)."""

    power: float  # p, at least 2


@stored("PNormWeights")
class PNormWeights(NamedTuple):
    """Sums theta of signed rows, and the weights that they give, but for a factor: W = link(theta / unit).

    The link is sign(s) |s|^(p - 1), and power_sum the sum of |theta / unit|^p, with the bias. The factor from W to the
    weights, which the sign of a score does not need, is unit * power_sum^(2 / p - 1). A power_sum below zero means
    that W and b were set as weights, and theta must be computed from them.
    """

    W: Matrix
    b: Vector
    t: Integers
    theta: Matrix
    theta_b: Vector
    unit: Doubles
    power_sum: Doubles


@compiled()
def _link(power, value, length, unit):
    """Return sign(s) |s|^(p - 1) of s = value / unit.

    The padding makes values longer by its length, and its weight, too. Written so that p = 2 changes no bit.
    """
    share = np.float64(value) / unit
    return share * abs(share / length) ** (power - 2.0) if share != 0.0 else 0.0


@compiled()
def _powers(value, weight, length, unit):
    """Return |s|^p from the link of s."""
    return abs(np.float64(value) / unit * weight) / length / length


@compiled(error_model="numpy")
def _norm(power, values, value, length, p):
    """Return the norm of a problem's values, with the padding's; 1 if all are zero, or if p = 2, which needs none."""
    largest = abs(np.float64(value[p])) / length
    for j in range(values.shape[1]):
        largest = max(largest, abs(np.float64(values[p, j])))
    if power == 2.0 or largest == 0.0:
        return 1.0
    total = (abs(np.float64(value[p])) / length / largest) ** power
    for j in range(values.shape[1]):
        total += (abs(np.float64(values[p, j])) / largest) ** power
    return largest * total ** (1.0 / power)


@compiled(error_model="numpy")
def _renew(power, state, length, p):
    """Compute all weights of a problem, in units of about the norm of theta."""
    W, b, _, theta, theta_b, unit, power_sum = state
    norm = _norm(power, theta, theta_b, length, p)
    # For small p a power of two: whole powers of small integers are then exact, and ties stay ties.
    unit[p] = norm if power > 8.0 else 2.0 ** np.round(np.log2(norm))
    b[p] = _link(power, theta_b[p], length, unit[p])
    total = _powers(theta_b[p], b[p], length, unit[p])
    for j in range(W.shape[1]):
        W[p, j] = _link(power, theta[p, j], 1.0, unit[p])
        total += _powers(theta[p, j], W[p, j], 1.0, unit[p])
    power_sum[p] = total


@compiled(error_model="numpy")
def _invert(power, state, length, p):
    """Compute the theta that weights W and b belong to: the same link, of q with 1 / p + 1 / q = 1."""
    W, b, _, theta, theta_b, _, _ = state
    dual = power / (power - 1.0)
    norm = _norm(dual, W, b, length, p)
    theta_b[p] = norm * _link(dual, b[p], length, norm)
    for j in range(W.shape[1]):
        theta[p, j] = norm * _link(dual, W[p, j], 1.0, norm)


@compiled()
def factor_of(power, unit, power_sum):
    """Return what makes W the gradient of half the squared p-norm, which is in proportion to theta."""
    return unit * power_sum ** (2.0 / power - 1.0) if power_sum > 0.0 else 1.0


@compiled(error_model="numpy")
def _move(power, rows, i, factor, bias, state, length, p):
    """Add `factor` times row i to theta, and bring the weights of its features up to date."""
    W, b, _, theta, theta_b, unit, power_sum = state
    total = power_sum[p] - _powers(theta_b[p], b[p], length, unit[p])
    start, end = entries(rows, i)
    for k in range(start, end):
        j, _ = entry(rows, i, k)
        total -= _powers(theta[p, j], W[p, j], 1.0, unit[p])
    add(rows, i, factor, theta, p)
    for k in range(start, end):
        j, value = entry(rows, i, k)
        if value != 0.0:
            W[p, j] = _link(power, theta[p, j], 1.0, unit[p])
        total += _powers(theta[p, j], W[p, j], 1.0, unit[p])
    theta_b[p] += factor * bias
    b[p] = _link(power, theta_b[p], length, unit[p])
    power_sum[p] = abs(total + _powers(theta_b[p], b[p], length, unit[p]))
    # Also if it is not a number. With p = 2 the factor is one, whatever the sum.
    if power > 2.0 and not _SMALLEST <= power_sum[p] <= _LARGEST:
        _renew(power, state, length, p)


def p_norm_trial(algorithm, rows, i, sign, importance, bias, state, p):
    """On a mistake add y x to theta."""
    power = algorithm.power
    margin = sign * (np.float64(dot(rows, i, state.W, p)) + state.b[p])
    if margin > 0.0:
        return margin, 0.0, 0.0
    loss = -margin * factor_of(power, state.unit[p], state.power_sum[p])
    length = np.sqrt(bias) if bias > 0.0 else 1.0
    if state.power_sum[p] < 0.0:
        _invert(power, state, length, p)
        _renew(power, state, length, p)
    _move(power, rows, i, sign * importance, bias, state, length, p)
    return margin, importance, loss


TRIALS[PNormRule] = p_norm_trial


@dataclass
class PNorm(TrialAlgorithm):
    """Sum rows with the perceptron's steps; the weights are the link of this sum."""

    power: float  # p, at least 2

    derives_weights, local_updates = True, False
    signed: ClassVar[frozenset[str]] = frozenset({"W", "b", "theta", "theta_b"})
    state_class: ClassVar[type] = PNormWeights
    layout: ClassVar[Mapping[str, str]] = layout_of(PNormWeights)

    def check_state(self, state: PNormWeights) -> None:
        """Raise a `Fault` unless a state from a file is sound."""
        super().check_state(state)
        expect(np.all(state.unit > 0), "the state has units that are not positive")

    def start(self, problems: int, features: int, dtype: npt.DTypeLike, order: Order = "C") -> PNormWeights:
        """Return zero weights; the loop computes their theta, as a caller may replace them."""
        state: PNormWeights = super().start(problems, features, dtype, order)
        state.unit[:], state.power_sum[:] = 1.0, -1.0
        return state

    @property
    def rule(self) -> PNormRule:
        """The rule that the loops take."""
        return PNormRule(self.power)

    def hyperplanes(self, state: PNormWeights) -> Hyperplanes:
        """Return the gradients themselves: the scores of several classes are held against each other."""
        pairs = zip(state.unit.tolist(), state.power_sum.tolist(), strict=True)
        factor = np.array([factor_of(self.power, unit, total) for unit, total in pairs])
        W, b, dtype = state.W * factor[:, None], state.b * factor, state.W.dtype
        return Hyperplanes(W.astype(dtype, copy=False), b.astype(dtype, copy=False))

    @property
    def kind(self) -> tuple[Any, ...]:
        """Which arrays the state has, and which link the weights are of theta."""
        return "PNormWeights", self.power


class PNormPerceptron(LinearClassifier):
    """The p-norm perceptron: between the perceptron (p = 2) and Winnow, for few relevant features among many.

    On a mistake theta += y x, as in the perceptron. The weights are the gradient of half the squared p-norm of theta:
    w_j = sign(theta_j) |theta_j|^(p - 1) / norm(theta)^(p - 2). The larger p, the more the largest of theta count.
    A sample weight is a factor of the step.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    At most (p - 1) (R / g)^2 mistakes on separable rows, where R is the largest p-norm of a row and g the margin of a
    separator whose q-norm is one, 1/p + 1/q = 1: `rosenblatt.bounds.p_norm`. With p = 2 ln(d) for d features, and a
    separator of few of them, that grows with the logarithm of d, as Winnow's bound does, and the features may have
    any sign. Weights so small that their type cannot hold them are zero: about |theta_j| < norm(theta) / 100 with
    float32 and p = 20.

    References
    ----------
    Grove, Littlestone and Schuurmans (2001), General convergence results for linear discriminant updates, Machine
    Learning 43, 173-210. Gentile (2003), The robustness of the p-norm algorithms, Machine Learning 53, 265-299.

    Examples
    --------
    >>> from rosenblatt import PNormPerceptron
    >>> PNormPerceptron(p=6).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).predict([[0.2, 1.0]]).tolist()
    [0]
    """

    p: float = real(
        default=3.0,
        text="Which norm; 2 is the perceptron. Of d features a few of which matter: about 2 ln(d).",
        least=2,
        wanted="a number of at least 2",
        range=(2.0, 12.0, 0.5),
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
    intercept_scaling: shared.Padding = shared.INTERCEPT_SCALING
    n_jobs: int | None = shared.N_JOBS
    early_stopping: bool = shared.EARLY_STOPPING
    validation_fraction: float = shared.VALIDATION_FRACTION
    warm_start: bool = shared.WARM_START
    keep: shared.Keep = shared.KEEP

    facts = Facts(
        published=2001,
        does="the perceptron, its weights by another norm: p = 2 is the perceptron, a large p is near to Winnow",
        when="few relevant features among many, of either sign",
        command="p-norm",
        title="p-norm perceptron",
        rule="p_norm",
    )
    without_shards = f"Weights that are no sum of rows {shared.NO_MEAN}"

    # No bound is known for classes that compete.
    modes = ("ovr", "ovo", "ovo-vote")

    def _algorithm(self) -> Algorithm:
        return PNorm(float(self.p))
