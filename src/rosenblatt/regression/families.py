"""The likelihoods of binomial and of Poisson responses with canonical links, and their derivatives.

Both are sums over the rows of total * eta - trials * k(eta), where eta is the linear predictor of the row. The
derivatives of k are the cumulants of a response: mean, variance, third, fourth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit, gammaln

Array = npt.NDArray[Any]


class ResponseMoments(NamedTuple):
    """The log-likelihood at some linear predictors, and its derivatives by the predictor of each row.

    Attributes
    ----------
    log_likelihood : float
    residuals : array of shape (n_samples,)
        First derivatives: total less its mean.
    variance, third, fourth : array of shape (n_samples,)
        Cumulants of the totals. The second derivative is -variance.
    """

    log_likelihood: float
    residuals: Array
    variance: Array
    third: Array
    fourth: Array


class Family(NamedTuple):
    """A distribution of responses with its canonical link.

    Attributes
    ----------
    moments : function of (eta, total, trials)
        Returns `ResponseMoments`.
    guess : function of (total, trials)
        Returns linear predictors near the responses, from which a fit can start.
    """

    moments: Callable[[Array, Array, Array], ResponseMoments]
    guess: Callable[[Array, Array], Array]


def _binomial_moments(eta: Array, total: Array, trials: Array) -> ResponseMoments:
    """Return the moments of `total` successes in `trials`; the number of orders in which they occur is left out."""
    p, q = expit(eta), expit(-eta)
    failures = trials - total
    variance = trials * p * q
    return ResponseMoments(
        -float(total @ np.logaddexp(0.0, -eta) + failures @ np.logaddexp(0.0, eta)),
        total * q - failures * p,
        variance,
        variance * (q - p),
        variance * (1.0 - 6.0 * p * q),
    )


def _poisson_moments(eta: Array, total: Array, trials: Array) -> ResponseMoments:
    """Return the moments of a mean count of `total / trials` in each of `trials` equal rows."""
    mean = trials * np.exp(eta)
    constant = trials @ gammaln(total / trials + 1.0)
    return ResponseMoments(float(np.sum(total * eta - mean) - constant), total - mean, mean, mean, mean)


FAMILIES = {
    "binomial": Family(_binomial_moments, lambda total, trials: np.log((total + 0.5) / (trials - total + 0.5))),
    "poisson": Family(_poisson_moments, lambda total, trials: np.log(total / trials + 0.5)),
}
