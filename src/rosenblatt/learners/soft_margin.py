"""Soft margins: stochastic gradient steps against a loss of the margin and a penalty (Shalev-Shwartz et al. 2007)."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rosenblatt.data.survey import Survey
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rules import reach, rule
from rosenblatt.errors import InvalidInput, NotAvailable
from rosenblatt.learners import shared
from rosenblatt.learners.base import Facts, available_when, steady
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import choice, real, schedule_of
from rosenblatt.training.algorithm import Algorithm
from rosenblatt.training.calibration import probabilities
from rosenblatt.training.first_order import FirstOrder, HarmonicRate
from rosenblatt.training.multiclass import MULTICLASS
from rosenblatt.training.plan import SCHEDULES, Plan

Array = npt.NDArray[Any]

GRADIENT_REMEDY = "scale the data, for example with StandardScaler, or lower the learning rate"


@rule(zero_loss=1.0, remedy=GRADIENT_REMEDY)
def hinge(margin, norm, rate, importance, bounded=True):
    """Step 1 when m < 1, a subgradient step against max(0, 1 - m); if bounded, not beyond a margin of one.

    That is what many small steps come to. A longer one, which a large rate or a long row would ask for, overshoots.
    Karampatziakis and Langford (2011), Online importance weight aware updates. The weight of a row is a factor of the
    rate and of the bound: within the bound alone it would do nothing while rates are large.
    """
    if margin >= 1.0:
        return 0.0, 0.0
    loss, step = 1.0 - margin, rate * importance
    if not bounded:
        return step, loss
    return min(step, reach(loss, importance) / norm) if norm > 0.0 else step, loss


@rule(zero_loss=1.0, remedy=GRADIENT_REMEDY)
def squared_hinge(margin, norm, rate, importance, linear_from=np.inf):
    """Step 2 (1 - m) when m < 1, a gradient step against max(0, 1 - m)^2; but not beyond a margin of one.

    A longer step, which a large rate or a long row would ask for, overshoots the minimum: errors would grow. From a
    distance to the margin on, the loss may go on as a line: the modified Huber loss of Zhang (2004) does, from 2.
    """
    if margin >= 1.0:
        return 0.0, 0.0
    loss = 1.0 - margin
    slope = loss if loss <= linear_from else linear_from
    step = slope * (2.0 * rate * importance)
    # Where the rate is not what bounds the step, it is what the row asks for over its squared length.
    wanted = reach(loss, importance)
    return step * (wanted / max(wanted, step * norm)), slope * (2.0 * loss - slope)


@compiled(error_model="numpy")
def _flow(margin, growth, path):
    """Return the margin z after many small steps, whose rates add up to the path: z + e^z = m + e^m + path.

    By Lambert's function, approximated as in Karampatziakis and Langford (2011); `growth` is e^m.
    """
    x = margin + growth + path
    w = 0.86 * x + 0.01 if x >= 1.0 else np.exp(0.8 * x - 0.65)
    r = x - np.log(w) - w if x >= 1.0 else 0.2 * x + 0.65 - w
    t = 1.0 + w
    u = 2.0 * t * (t + 2.0 * r / 3.0)
    return x - w * (1.0 + r / t * (u - r) / (u - 2.0 * r))


@rule(zero_loss=math.log(2.0), remedy=GRADIENT_REMEDY)
def logistic(margin, norm, rate, importance, bounded=True):
    """Step 1 / (1 + e^m), a gradient step against log(1 + e^-m); if bounded, as far as many small steps go.

    The weight of a row is a factor of the step, within the bound as for the hinge.
    """
    # The gradient is g = top / total. To divide once is what keeps the next row waiting least.
    small = np.exp(-abs(margin))
    top, total = small if margin > 0.0 else 1.0, 1.0 + small
    loss = np.log1p(small) + max(0.0, -margin)
    path = rate * norm * top
    if not bounded or path <= 0.01 * total:  # one step is as good as many
        return importance * rate * top / total, loss
    if path > total:  # else the fraction below stands in for `_flow`: it is less than a hundredth off
        moved = _flow(margin, (total - top) / top, rate * norm) - margin
        return min(importance * rate * top / total, reach(max(0.0, moved), importance) / norm), loss
    # With d = g rate norm the flow moves the margin by d (6 + (1 - 3g) d) / (6 + (4 - 6g) d), but for terms in d^4.
    six, moved = 6.0 * total * total, importance * rate * top
    return moved * (six + (total - 3.0 * top) * path) / (total * (six + (4.0 * total - 6.0 * top) * path)), loss


LOGISTIC = ("logistic", "log_loss")  # the second is scikit-learn's word
HUBER_FROM = 2.0  # the distance to the margin from which the modified Huber loss is a straight line


def rule_of(estimator: Any) -> Any:
    """Return the rule: of a fitted estimator the one that it was fitted with, whatever the parameters are now."""
    stream = vars(estimator).get("_stream")
    return estimator._rule() if stream is None else stream.settings.algorithm.rule


def _has_probabilities(estimator: Any) -> bool:
    rule = rule_of(estimator)
    if not (isinstance(rule, logistic) or rule == squared_hinge(HUBER_FROM)):
        raise NotAvailable(
            f"SoftMargin(loss={estimator.loss!r}) has no probabilities. Use loss='logistic' or 'modified_huber'."
        )
    return True


def huber_probabilities(class_scores: Array, n_classes: int) -> Array:
    """Return the probability of each class that minimises the modified Huber loss at these scores: (1 + f) / 2.

    It is 0 below a score of -1 and 1 above 1. Several classes are scaled to add up to one; if all have 0, they share.
    Zhang (2004), Statistical behavior and consistency of classification methods based on convex risk minimization.
    """
    positive = (1.0 + np.clip(class_scores.astype(np.float64), -1.0, 1.0)) / 2.0
    if n_classes == 2:
        return np.hstack([1.0 - positive, positive])
    positive[~positive.any(axis=1)] = 1.0
    return np.asarray(positive / positive.sum(axis=1, keepdims=True))


RATES_BY_TRIAL = ("optimal", "pegasos")


class SoftMargin(LinearClassifier):
    """Soft margins: minimise the mean loss plus a penalty by stochastic gradient steps.

    Losses of the margin m = y f(x): hinge max(0, 1 - m), its square, modified Huber, which is the square but goes on as
    the line -4m below -1, or logistic log(1 + e^-m); penalty alpha ((1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1).

    A step goes no further than many small ones would: not beyond a margin of one for the hinge, and for the logistic
    loss to z with z + e^z = m + e^m + eta |x|^2. Long rows and large rates therefore do no harm, as they do to plain
    gradient steps. ``schedule="pegasos"`` has plain ones, as published. A sample weight is a factor of the step, by
    which a mistake goes to a margin of the weight at most.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    averaged_ : bool
        Whether the model is an average, as the last fit chose; streams have none.

    References
    ----------
    Shalev-Shwartz, Singer and Srebro (2007), Pegasos: primal estimated sub-gradient solver for SVM. Tsuruoka, Tsujii
    and Ananiadou (2009), Stochastic gradient descent training for L1-regularized log-linear models. Xu (2011), Towards
    optimal one pass large scale learning with averaged stochastic gradient descent. Karampatziakis and Langford (2011),
    Online importance weight aware updates. Zhang (2004), Statistical behavior and consistency of classification methods
    based on convex risk minimization.

    Examples
    --------
    >>> from rosenblatt import SoftMargin
    >>> model = SoftMargin(loss="logistic").fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """

    loss: Literal["hinge", "squared_hinge", "modified_huber", "logistic", "log_loss"] = choice(
        default="hinge",
        text='Loss that is minimised; see above. "log_loss" is the logistic one, too.',
        choices=("hinge", "squared_hinge", "modified_huber", *LOGISTIC),
        lab=("hinge", "squared_hinge", "modified_huber", "logistic"),
    )
    penalty: shared.Penalty = choice(
        default="l2", text="Shrink the weights a little in each trial.", choices=(None, "l2", "l1", "elasticnet")
    )
    eta0: float = real(
        default=0.01, text="Learning rate of the schedules by epoch.", above=0, range=(0.01, 10.0, 0.01), log=True
    )
    schedule: shared.Schedule = schedule_of(
        default="optimal",
        text='Rate by trial: "pegasos", 1/(alpha t) in trial t; "optimal", 1/(alpha (t0 + t)) with Bottou\'s t0; or by '
        "epoch, as for `Perceptron`.",
        words=(*RATES_BY_TRIAL, *SCHEDULES),
    )
    average: bool | None = choice(
        default=None,
        text="Whether the model is the average of the weights over all trials (averaged SGD). None: in a fit over those"
        " since the last of epochs 1, 2, 4, 8, ... began, which are the later half at least; no average in a stream,"
        " whose rows may drift, and where the penalty has a share of L1, whose zeros it would not keep.",
        choices=(None, True, False),
    )
    alpha: float = shared.ALPHA
    l1_ratio: float = shared.L1_RATIO
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
    shards: int = shared.SHARDS
    mixes: int | str = shared.MIXES
    n_jobs: int | None = shared.N_JOBS
    early_stopping: bool = shared.EARLY_STOPPING
    validation_fraction: float = shared.VALIDATION_FRACTION
    warm_start: bool = shared.WARM_START
    init: Any = shared.INIT
    keep: shared.Keep = shared.KEEP

    facts = Facts(
        published=2007,
        does="hinge, squared hinge, modified Huber or logistic loss with L1, L2, elastic net",
        when="a penalised model; probabilities",
        command="soft-margin",
        title="Soft margin",
        lecture="Introduction to Machine Learning",
        rule="soft_margin",
    )
    default_keep = "last"
    at_times = (*LinearClassifier.at_times, "averaged_")

    @property
    def modes(self) -> tuple[str, ...]:
        """Modes that the loss has: one with probabilities is another one of several classes at once."""
        return MULTICLASS if self.loss in ("hinge", "squared_hinge") else MULTICLASS[:-1]

    def _check_own(self) -> None:
        if self._by_trial() and not self.alpha > 0:
            raise InvalidInput(f"schedule={self.schedule!r} divides by alpha, which is 0. Choose schedule='constant'.")

    def _by_trial(self) -> bool:
        return isinstance(self.schedule, str) and self.schedule in RATES_BY_TRIAL

    def _algorithm(self) -> Algorithm:
        return FirstOrder(
            self._rule(),
            *shared.penalty_of(self),
            rate=self._rate(),
            averaged=self._averaged(),
            late=self.average is None,
        )

    def _rule(self) -> Any:
        """Return the rule of the loss; Pegasos is as it was published, without a bound on its steps."""
        if self.loss in LOGISTIC:
            return logistic(bounded=self.schedule != "pegasos")
        if self.loss == "hinge":
            return hinge(bounded=self.schedule != "pegasos")
        return squared_hinge(HUBER_FROM if self.loss == "modified_huber" else np.inf)

    def _averaged(self) -> bool:
        """Return whether the weights are averaged: as given, or as a fit has chosen."""
        return bool(self.__dict__.get("averaged_", False) if self.average is None else self.average)

    def _adapt(self, sizes: Survey, n_classes: int, *, warm: bool) -> None:
        super()._adapt(sizes, n_classes, warm=warm)
        chooses = self.average is None and not warm
        self.averaged_ = self.penalty in (None, "l2") if chooses else self._averaged()

    def _rate(self) -> HarmonicRate | None:
        if self.schedule == "pegasos":
            return HarmonicRate(float(self.alpha), 0.0)
        if self.schedule == "optimal":
            # Bottou's choice: the first step is no longer than a weight of typical size.
            typical = (1.0 / self.alpha**0.5) ** 0.5
            rule = self._rule()
            steepest = 2.0 * min(1.0 + typical, rule.linear_from) if isinstance(rule, squared_hinge) else 1.0
            # A penalty of any strength leaves the first rate finite.
            return HarmonicRate(float(self.alpha), max(steepest / (typical * self.alpha) - 1.0, math.nextafter(-1, 0)))
        return None

    def _plan(self, **changes: Any) -> Plan:
        return super()._plan(**({"schedule": "constant"} if self._by_trial() else {}), **changes)

    @available_when(_has_probabilities)
    @steady
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class; of several classes, scaled to add up to one.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return self._probabilities(self._class_scores(X))

    def _probabilities(self, class_scores: Array) -> Array:
        of_scores = probabilities if isinstance(rule_of(self), logistic) else huber_probabilities
        return of_scores(class_scores, self.classes_.size)

    @available_when(_has_probabilities)
    @steady
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        scores = self._class_scores(X).astype(float)
        if not isinstance(rule_of(self), logistic):
            with np.errstate(divide="ignore"):  # a probability may be zero
                return np.log(self._probabilities(scores))
        # Not by log(predict_proba), which vanishes where a probability rounds to zero or one.
        log_positive = -np.logaddexp(0.0, -scores)
        if self.classes_.size == 2:
            return np.hstack([-np.logaddexp(0.0, scores), log_positive])
        return np.asarray(log_positive - np.logaddexp.reduce(log_positive, axis=1, keepdims=True))

    @available_when(_has_probabilities)
    @steady
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each class for one row, as `predict_proba` does; empty before the first row.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, or dict from names to numbers

        Returns
        -------
        dict from labels to float
        """
        if "_stream" not in self.__dict__:
            return {}
        scores = self._decide(self._problem_scores(self._one_row(x)))
        return dict(zip(self.classes_.tolist(), self._probabilities(scores)[0].tolist(), strict=True))
