"""Soft margins by stochastic gradient steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.engine import rules
from rosenblatt.errors import NotAvailable
from rosenblatt.learners.base import available_when, steady
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.linear_parameters import ForSoftMargin
from rosenblatt.training.plan import Plan

Array = npt.NDArray[Any]


def _is_logistic(estimator: Any) -> bool:
    # A fitted one has the loss that it was fitted with, whatever the parameter is set to since.
    stream = vars(estimator).get("_stream")
    logistic = (
        estimator.loss == "logistic" if stream is None else isinstance(stream.settings.algorithm.rule, rules.logistic)
    )
    if not logistic:
        raise NotAvailable(f"SoftMargin(loss={estimator.loss!r}) has no probabilities. Use loss='logistic'.")
    return True


class SoftMargin(ForSoftMargin, LinearClassifier):
    """Soft margins: minimise the mean loss plus a penalty by stochastic gradient steps.

    Losses of the margin m = y f(x): hinge max(0, 1 - m), its square, or logistic log(1 + e^-m); penalty
    alpha ((1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1).

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

    References
    ----------
    Shalev-Shwartz, Singer and Srebro (2007), Pegasos: primal estimated sub-gradient solver for SVM. Tsuruoka, Tsujii
    and Ananiadou (2009), Stochastic gradient descent training for L1-regularized log-linear models. Xu (2011), Towards
    optimal one pass large scale learning with averaged stochastic gradient descent. Karampatziakis and Langford (2011),
    Online importance weight aware updates.

    Examples
    --------
    >>> from rosenblatt import SoftMargin
    >>> model = SoftMargin(loss="logistic").fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """

    def _plan(self, **changes: Any) -> Plan:
        return super()._plan(**({"schedule": "constant"} if self._by_trial() else {}), **changes)

    @available_when(_is_logistic)
    @steady
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, from the logistic scores; several classes are scaled to add up to one.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return self._probabilities(self._class_scores(X))

    def _probabilities(self, class_scores: Array) -> Array:
        positive = 1.0 / (1.0 + np.exp(-np.clip(class_scores.astype(float), -700, 700)))
        if self.classes_.size == 2:
            return np.hstack([1.0 - positive, positive])
        return np.asarray(positive / positive.sum(axis=1, keepdims=True))

    @available_when(_is_logistic)
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
        return self._log_probabilities(self._class_scores(X))

    def _log_probabilities(self, class_scores: Array) -> Array:
        """Return logarithms that do not vanish where a probability rounds to zero or one."""
        log_positive = -np.logaddexp(0.0, -class_scores.astype(float))
        if self.classes_.size == 2:
            return np.hstack([-np.logaddexp(0.0, class_scores.astype(float)), log_positive])
        return np.asarray(log_positive - np.logaddexp.reduce(log_positive, axis=1, keepdims=True))

    @available_when(_is_logistic)
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
