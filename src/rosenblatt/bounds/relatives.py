"""Relatives of the perceptron: passive-aggressive algorithms, ROMMA, ALMA, the p-norm perceptron, AROW and Winnow."""

import math

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.bounds.arguments import (
    as_vector,
    check_competitor,
    check_count,
    check_not_negative,
    check_number,
    check_positive,
    check_possible,
    check_radius_and_margin,
)
from rosenblatt.bounds.perceptron import novikoff
from rosenblatt.errors import InvalidInput


def passive_aggressive(radius: float, margin: float) -> float:
    """Bound the squared hinge losses of PA on separable rows, and so its mistakes: (R / gamma)^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y w.x of a separator w of unit norm.

    Returns
    -------
    float
        Upper bound of the sum of max(0, 1 - y f(x))^2 over the trials; a mistake has a loss of at least one.

    Notes
    -----
    Assumes a start at zero and separable rows. A trial lowers norm(w - u)^2, with u = w* / gamma, by loss^2 /
    norm(x)^2.

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer (2006), Online passive-aggressive
    algorithms, Journal of Machine Learning Research 7, 551-585.
    """
    return novikoff(radius, margin)


def passive_aggressive_1(radius: float, norm: float, loss: float, C: float) -> float:
    """Bound the mistakes of PA-I on any rows: max(R^2, 1 / C) (U^2 + 2 C L).

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    norm : float
        U, the norm of any vector u.
    loss : float
        L, the sum of max(0, 1 - y u.x) over all trials.
    C : float
        Largest step.

    Returns
    -------
    float
        Most mistakes, against every u at once.

    Notes
    -----
    Assumes a start at zero. With steps s <= C and losses l, the sum of s (2 l - s norm(x)^2 - 2 l_u) is at most
    U^2, and s norm(x)^2 <= l; a mistake has s l >= min(C, 1 / R^2).

    References
    ----------
    Crammer et al. (2006), as for `passive_aggressive`.
    """
    check_competitor(radius, norm, loss=loss)
    check_positive("C", C)
    return max(radius**2, 1 / C) * (norm**2 + 2 * C * loss)


def passive_aggressive_2(radius: float, norm: float, squared_loss: float, C: float) -> float:
    """Bound the squared hinge losses of PA-II on any rows, and so its mistakes: (R^2 + 1 / 2C) (U^2 + 2 C L2).

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    norm : float
        U, the norm of any vector u.
    squared_loss : float
        L2, the sum of max(0, 1 - y u.x)^2 over all trials.
    C : float
        Aggressiveness: a step is loss / (norm(x)^2 + 1 / 2C).

    Returns
    -------
    float
        Upper bound of the sum of max(0, 1 - y f(x))^2 over the trials, against every u at once.

    Notes
    -----
    Assumes a start at zero. As for PA-I, with 2 s l_u <= s^2 / 2C + 2 C l_u^2 in the sum.

    References
    ----------
    Crammer et al. (2006), as for `passive_aggressive`.
    """
    check_competitor(radius, norm, squared_loss=squared_loss)
    check_positive("C", C)
    return (radius**2 + 1 / (2 * C)) * (norm**2 + 2 * C * squared_loss)


def romma(radius: float, margin: float) -> float:
    """Bound the mistakes of ROMMA, and squared hinge losses of aggressive ROMMA, on separable rows: (R / gamma)^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y w.x of a separator w of unit norm.

    Returns
    -------
    float
        Most mistakes of either; for the aggressive one also an upper bound of the sum of max(0, 1 - y f(x))^2.

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
    """Bound the corrections of ALMA with p = 2 on separable rows of unit norm: 2 (2 / alpha - 1)^2 / gamma^2.

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
    _check_alma(margin, alpha)
    return 2 * (2 / alpha - 1) ** 2 / margin**2


def alma2_margin(margin: float, alpha: float) -> float:
    """Bound the margin that ALMA with p = 2 reaches on rows of unit norm: (1 - alpha) gamma.

    Parameters
    ----------
    margin, alpha : float
        As for `alma2`.

    Returns
    -------
    float
        Lower bound of the margin, over the normalised rows, of the weights after an epoch without corrections.

    Notes
    -----
    After m corrections every row has y w.x > (1 - alpha) B / sqrt(m + 1) and norm(w) <= 1; by the bound of `alma2`,
    m + 1 <= 8 / (alpha gamma)^2 = (B / gamma)^2.

    References
    ----------
    As for `alma2`.
    """
    _check_alma(margin, alpha)
    return (1 - alpha) * margin


def p_norm(radius: float, margin: float, p: float) -> float:
    """Bound the mistakes of the p-norm perceptron on separable rows: (p - 1) (R_p / gamma)^2.

    Parameters
    ----------
    radius : float
        R_p, the largest p-norm of a row.
    margin : float
        Smallest y w.x of a separator whose q-norm is one, 1 / p + 1 / q = 1.
    p : float
        The norm, at least 2; with 2 this is the perceptron.

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


def _check_alma(margin: float, alpha: float) -> None:
    check_positive("margin", margin)
    check_possible(margin, 1.0, "the norm of the rows")
    check_number("alpha", alpha)
    if not (0 < alpha <= 1):
        raise InvalidInput(f"alpha={alpha} is not in (0, 1]. Pass the share of the margin that may be lost.")


def arow(X: ArrayLike, y: ArrayLike, separator: ArrayLike, eager: int, r: float = 1.0) -> float:
    """Bound AROW's mistakes, full covariance: sqrt(r U^2 + norm(X u)^2) sqrt(ln det(I + X'X / r) + E) + L - E.

    Parameters
    ----------
    X : array of shape (n_updates, n_features)
        The rows of the trials that updated, with repetitions.
    y : array of shape (n_updates,)
        Their signs.
    separator : array of shape (n_features,)
        Any vector u; U is its norm and L the sum of max(0, 1 - y u.x) over those trials.
    eager : int
        E, the number of updates without a mistake (0 < y f(x) < 1).
    r : float
        Regularisation of AROW.

    Returns
    -------
    float
        Most mistakes, against every u at once.

    Notes
    -----
    Assumes a start at zero with the identity as covariance; no separability. On its updates AROW is ridge
    regression on the signs: with A = r I + X'X and b = X'y, M + E - L <= u.b <= sqrt(u'A u) sqrt(b'A^-1 b), and
    b'A^-1 b is the sum of 1 - (1 - m)^2 r / (r + v): at most v / (r + v) <= ln of the growth of det A for a mistake,
    at most one otherwise.

    References
    ----------
    K. Crammer, A. Kulesza and M. Dredze (2009), Adaptive regularization of weight vectors, NIPS 22, 414-422; (2013)
    Machine Learning 91, 155-187.
    """
    check_positive("r", r)
    check_not_negative("eager", eager)
    u, signs = as_vector("separator", separator), as_vector("y", y)
    rows = np.asarray(X, np.float64).reshape(-1, u.size) if np.size(X) == 0 else np.asarray(X, np.float64)
    if rows.shape != (signs.size, u.size):
        raise InvalidInput(
            f"X has shape {rows.shape} for {signs.size} signs and a separator of {u.size} features. "
            "Pass the rows of the updates, one sign for each."
        )
    wrong = signs[(signs != 1.0) & (signs != -1.0)]
    if wrong.size:
        raise InvalidInput(f"y contains {wrong[0]}, which is not a sign. Pass -1 and +1.")
    scores = rows @ u
    growth = float(np.linalg.slogdet(np.eye(u.size) + rows.T @ rows / r).logabsdet)
    energy, loss = float(r * u @ u + scores @ scores), float(np.maximum(0, 1 - signs * scores).sum())
    return math.sqrt(energy * (growth + eager)) + loss - eager


def winnow1(k: int, n: int, alpha: float = 2.0, theta: float | None = None) -> float:
    """Bound the mistakes of Winnow1 on a disjunction: alpha k (log_alpha theta + 1) + n / theta.

    Parameters
    ----------
    k : int
        Number of features in the disjunction, none of them negated.
    n : int
        Number of features, all 0 or 1.
    alpha : float
        Factor of a promotion, above one.
    theta : float, optional
        Threshold, at least 1 / alpha. The default n / 2 with alpha = 2 makes the bound 2 k log2 n + 2.

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
    """Bound Winnow2's mistakes on a disjunction: (1 + alpha) k (log_alpha theta + 1) + alpha n / ((alpha - 1) theta).

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
    """Check the arguments; return the most promotions of Winnow, and the threshold."""
    check_count("k", k, least=0)
    check_count("n", n, least=max(k, 1))
    theta = n / 2 if theta is None else theta
    if not (1 < alpha < math.inf):
        raise InvalidInput(f"alpha={alpha} is not a factor of a promotion. Pass a finite number above 1.")
    if not (1 / alpha <= theta < math.inf):
        raise InvalidInput(f"theta={theta} is below 1 / alpha = {1 / alpha} or not finite. Pass a larger threshold.")
    return k * (math.log(theta) / math.log(alpha) + 1), theta
