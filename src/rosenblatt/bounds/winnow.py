"""Winnow on disjunctions."""

import math

from rosenblatt.bounds.arguments import check_count
from rosenblatt.errors import InvalidInput


def winnow1(k: int, n: int, alpha: float = 2.0, theta: float | None = None) -> float:
    """Mistakes of Winnow1 on a disjunction of k out of n features: alpha k (log_alpha theta + 1) + n / theta.

    Parameters
    ----------
    k : int
        Number of features in the disjunction, none of them negated.
    n : int
        Number of features, all 0 or 1.
    alpha : float
        Factor of a promotion, above one.
    theta : float, optional
        Threshold, at least 1 / alpha; n / 2 if not given, which with alpha = 2 makes the bound 2 k log2 n + 2.

    Returns
    -------
    float
        Most mistakes on any sequence of trials.

    Notes
    -----
    Assumes labels without noise, weights that start at one, promotion of the active features by alpha on a
    missed positive and their elimination on a false alarm. A promotion multiplies the weight of a feature of the
    disjunction that is at most theta: at most k (log_alpha theta + 1) of them, each adding (alpha - 1) theta at most
    to the sum of the weights; an elimination removes at least theta from it.

    References
    ----------
    N. Littlestone (1988), Learning quickly when irrelevant attributes abound: a new linear-threshold algorithm, Machine
    Learning 2, 285-318.

    Examples
    --------
    >>> winnow1(k=3, n=64)
    38.0
    """
    promotions, theta = _promotions(k, n, alpha, theta)
    return alpha * promotions + n / theta


def winnow2(k: int, n: int, alpha: float = 2.0, theta: float | None = None) -> float:
    """Mistakes of Winnow2 on a disjunction: (1 + alpha) k (log_alpha theta + 1) + alpha n / ((alpha - 1) theta).

    Parameters
    ----------
    k, n, alpha, theta
        As for `winnow1`.

    Returns
    -------
    float
        Most mistakes on any sequence of trials.

    Notes
    -----
    As for `winnow1`, with a demotion that divides by alpha: it removes at least (1 - 1 / alpha) theta from the
    sum of the weights. Littlestone treats all linearly separable boolean functions; this is the case of a
    disjunction, which with alpha = 2 and theta = n is the 3 k (log2 n + 1) + 2 of the lectures on Winnow.

    References
    ----------
    As for `winnow1`.

    Examples
    --------
    >>> winnow2(k=3, n=64, theta=64)
    65.0
    """
    promotions, theta = _promotions(k, n, alpha, theta)
    return (1 + alpha) * promotions + alpha / (alpha - 1) * n / theta


def _promotions(k: int, n: int, alpha: float, theta: float | None) -> tuple[float, float]:
    """Most promotions of Winnow, and the threshold."""
    check_count("k", k, least=0)
    check_count("n", n, least=max(k, 1))
    theta = n / 2 if theta is None else theta
    if not (1 < alpha < math.inf):
        raise InvalidInput(f"alpha={alpha} does not promote. Pass a finite factor above 1.")
    if not (1 / alpha <= theta < math.inf):
        raise InvalidInput(f"theta={theta} is below 1 / alpha = {1 / alpha} or not finite. Pass a larger threshold.")
    return k * (math.log(theta) / math.log(alpha) + 1), theta
