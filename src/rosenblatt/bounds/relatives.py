"""Relatives of the perceptron: ROMMA, ALMA and the p-norm perceptron."""

import math

from rosenblatt.bounds.arguments import check_number, check_positive, check_possible, check_radius_and_margin
from rosenblatt.bounds.perceptron import novikoff
from rosenblatt.errors import InvalidInput


def romma(radius: float, margin: float) -> float:
    """Mistakes of ROMMA, and squared hinge losses of aggressive ROMMA, on separable rows: (R / gamma)^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y w.x of a separator w of unit norm.

    Returns
    -------
    float
        Most mistakes of either; for the aggressive one also the most of the sum of max(0, 1 - y f(x))^2.

    Notes
    -----
    Assumes a start at zero and separable rows. An update ends on the plane y w.x = 1, at least loss / norm(x)
    away, and in the half-space w.w_t >= norm(w_t)^2, so the squared norm grows by loss^2 / R^2; w* / gamma stays
    feasible, so the norm stays below 1 / gamma.

    References
    ----------
    Y. Li and P. M. Long (2002), The relaxed online maximum margin algorithm, Machine Learning 46, 361-387.
    """
    return novikoff(radius, margin)


def alma2(margin: float, alpha: float) -> float:
    """Corrections of ALMA with p = 2 on separable rows of unit norm: 2 (2 / alpha - 1)^2 / gamma^2.

    Parameters
    ----------
    margin : float
        Smallest y w.x over the normalised rows of a separator w of unit norm.
    alpha : float
        Share of the margin that may be lost, in (0, 1].

    Returns
    -------
    float
        Most corrections in any order over any number of epochs.

    Notes
    -----
    Assumes a start at zero, B = sqrt(8) / alpha and C = sqrt(2): correction k happens on
    y w.x <= (1 - alpha) B / sqrt(k), adds C / sqrt(k) y x and projects on the unit ball. The norm before the projection
    is at most 1 + rho / k with rho = C^2 / 2 + (1 - alpha) B C = 4 / alpha - 3, so after k corrections
    w.u >= gamma C sqrt(k) / (rho + 1) by induction, because sqrt(k (k - 1)) >= k - 1; and w.u <= 1.

    References
    ----------
    C. Gentile (2001), A new approximate maximal margin classification algorithm, Journal of Machine
    Learning Research 2, 213-242.

    Examples
    --------
    >>> alma2(margin=0.5, alpha=1.0)
    8.0
    """
    _alma(margin, alpha)
    return 2 * (2 / alpha - 1) ** 2 / margin**2


def alma2_margin(margin: float, alpha: float) -> float:
    """Margin that ALMA with p = 2 ends with, on rows of unit norm: (1 - alpha) gamma.

    Parameters
    ----------
    margin, alpha : float
        As for `alma2`.

    Returns
    -------
    float
        Least margin, over the normalised rows, of the weights after an epoch without corrections.

    Notes
    -----
    After m corrections every row has y w.x > (1 - alpha) B / sqrt(m + 1) and norm(w) <= 1; by the bound of `alma2`,
    m + 1 <= 8 / (alpha gamma)^2 = (B / gamma)^2.

    References
    ----------
    As for `alma2`.
    """
    _alma(margin, alpha)
    return (1 - alpha) * margin


def p_norm(radius: float, margin: float, p: float) -> float:
    """Mistakes of the p-norm perceptron on separable rows: (p - 1) (R_p / gamma)^2.

    Parameters
    ----------
    radius : float
        R_p, the largest p-norm of a row.
    margin : float
        Smallest y w.x of a separator whose q-norm is one, 1 / p + 1 / q = 1.
    p : float
        At least 2; 2 is the perceptron.

    Returns
    -------
    float
        Most mistakes in any order over any number of epochs.

    Notes
    -----
    Assumes a start at zero. Half the squared p-norm of the sum of y x over the mistakes grows by at most (p -
    1) / 2 R_p^2 at each, by the second derivative of that function; its product with the separator grows by gamma.

    References
    ----------
    A. J. Grove, N. Littlestone and D. Schuurmans (2001), General convergence results for linear discriminant updates,
    Machine Learning 43, 173-210. C. Gentile (2003), The robustness of the p-norm algorithms, Machine Learning 53,
    265-299.

    Examples
    --------
    >>> p_norm(radius=2.0, margin=0.5, p=2)
    16.0
    """
    check_radius_and_margin(radius, margin)
    check_number("p", p)
    if not (2 <= p < math.inf):
        raise InvalidInput(f"p={p} is outside the range of the theorem. Pass a finite p from 2.")
    return (p - 1) * (radius / margin) ** 2


def _alma(margin: float, alpha: float) -> None:
    check_positive("margin", margin)
    check_possible(margin, 1.0, "the norm of the rows")
    check_number("alpha", alpha)
    if not (0 < alpha <= 1):
        raise InvalidInput(f"alpha={alpha} is not in (0, 1]. Pass the share of the margin that may be lost.")
