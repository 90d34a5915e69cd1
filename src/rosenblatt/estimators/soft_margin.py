"""Soft margins by stochastic gradient steps."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.epochs import HarmonicRate, HingeRule, LogisticRule, SquaredHingeRule
from rosenblatt.errors import InvalidInput, NotAvailable
from rosenblatt.estimators.base import available_when
from rosenblatt.estimators.linear import LinearClassifier, penalty_of
from rosenblatt.estimators.parameters import FullTraining, Penalty, WithPenalty, choice, real, schedule_of
from rosenblatt.learn.multiclass import MULTICLASS
from rosenblatt.learn.order import SCHEDULES, Schedule
from rosenblatt.learn.plan import Plan
from rosenblatt.methods.first_order import FirstOrder
from rosenblatt.methods.method import Method

Array = npt.NDArray[Any]

RULES = {"hinge": HingeRule, "squared_hinge": SquaredHingeRule, "logistic": LogisticRule}


def _is_logistic(estimator: Any) -> bool:
    if estimator.loss != "logistic":
        raise NotAvailable(f"SoftMargin(loss={estimator.loss!r}) has no probabilities. Use loss='logistic'.")
    return True


class SoftMargin(WithPenalty, FullTraining, LinearClassifier):
    """Soft margins: minimise the mean loss plus a penalty by stochastic gradient steps.

    Losses of the margin m = y f(x): hinge max(0, 1 - m), its square, or logistic log(1 + e^-m); penalty
    alpha ((1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Shalev-Shwartz, Singer and Srebro (2007), Pegasos: primal estimated sub-gradient solver for SVM. Tsuruoka, Tsujii
    and Ananiadou (2009), Stochastic gradient descent training for L1-regularized log-linear models. Xu (2011), Towards
    optimal one pass large scale learning with averaged stochastic gradient descent.

    Examples
    --------
    >>> from rosenblatt import SoftMargin
    >>> model = SoftMargin(loss="logistic").fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """

    loss: Literal["hinge", "squared_hinge", "logistic"] = choice(
        default="hinge", text="What is minimised; see above.", choices=("hinge", "squared_hinge", "logistic")
    )
    penalty: Penalty = choice(
        default="l2", text="Shrink the weights a little in each trial.", choices=(None, "l2", "l1", "elasticnet")
    )
    eta0: float = real(
        default=0.01, text="Learning rate of the schedules by epoch.", above=0, wanted="a positive number"
    )
    schedule: str | Schedule = schedule_of(
        default="optimal",
        text='"pegasos": 1/(alpha t) in trial t; "optimal": 1/(alpha (t0 + t)) with Bottou\'s t0; or by epoch, '
        "as for `Perceptron`.",
        words=("optimal", "pegasos", *SCHEDULES),
    )
    average: bool | None = choice(
        default=None,
        text="Whether the model is the average of the weights over all trials (averaged SGD). None: unless the penalty"
        " has a share of L1, whose zeros an average would not keep.",
        choices=(None, True, False),
    )

    keeps = "last"

    @property
    def modes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Modes that the loss has: the logistic loss of several classes at once is another one."""
        return MULTICLASS[:-1] if self.loss == "logistic" else MULTICLASS

    def _check_own(self) -> None:
        if self._by_trial() and not self.alpha > 0:
            raise InvalidInput(f"schedule={self.schedule!r} divides by alpha, which is 0. Choose schedule='constant'.")

    def _by_trial(self) -> bool:
        return isinstance(self.schedule, str) and self.schedule in ("optimal", "pegasos")

    def _plan(self, **changes: Any) -> Plan:
        return super()._plan(**({"schedule": "constant"} if self._by_trial() else {}), **changes)

    def _method(self) -> Method:
        return FirstOrder(RULES[self.loss](), penalty_of(self), self._rate(), self._averaged())

    def _averaged(self) -> bool:
        return self.penalty in (None, "l2") if self.average is None else bool(self.average)

    def _rate(self) -> HarmonicRate | None:
        if self.schedule == "pegasos":
            return HarmonicRate(float(self.alpha), 0.0)
        if self.schedule == "optimal":
            # Bottou's choice: the first step is no longer than a weight of typical size.
            typical = (1.0 / self.alpha**0.5) ** 0.5
            steepest = 2.0 * (1.0 + typical) if self.loss == "squared_hinge" else 1.0
            # Above -1 also for a vast alpha: the first rate is 1/(alpha (t0 + 1)).
            return HarmonicRate(float(self.alpha), max(steepest / (typical * self.alpha) - 1.0, 1e-12 - 1.0))
        return None

    @available_when(_is_logistic)
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, from the logistic scores; several classes are scaled to add up to one.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        positive = 1.0 / (1.0 + np.exp(-np.clip(self._class_scores(X).astype(float), -700, 700)))
        if positive.shape[1] == 1:
            return np.hstack([1.0 - positive, positive])
        return np.asarray(positive / positive.sum(axis=1, keepdims=True))
