"""Soft margins by stochastic gradient steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from rosenblatt.estimators.linear import LinearClassifier
from rosenblatt.estimators.linear_parameters import ForSoftMargin
from rosenblatt.learn.plan import Plan

Array = npt.NDArray[Any]


def _is_logistic(estimator: Any) -> bool:
    if estimator.loss != "logistic":
        raise AttributeError("predict_proba is only there with loss='logistic'.")
    return True


class SoftMargin(ForSoftMargin, LinearClassifier):
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

    def _plan(self, **changes: Any) -> Plan:
        return super()._plan(**({"schedule": "constant"} if self._by_trial() else {}), **changes)

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
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
