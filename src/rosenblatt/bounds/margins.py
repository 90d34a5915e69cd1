"""Learners that demand a margin: the margin perceptron and the passive-aggressive algorithms."""

from rosenblatt.bounds.arguments import check_not_negative, check_positive, check_radius_and_margin
from rosenblatt.bounds.perceptron import novikoff


def margin_perceptron(radius: float, margin: float, tau_pos: float, tau_neg: float | None = None) -> float:
    """Bound the updates of the perceptron with margins tau on separable rows: (R^2 + 2 max tau) / gamma^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y w.x of a separator w of unit norm.
    tau_pos, tau_neg : float
        A row is corrected while y f(x) <= tau of its class; one value serves both classes. Divide them by the learning
        rate if that is not one.

    Returns
    -------
    float
        Most updates in any order over any number of epochs.

    Notes
    -----
    Assumes a start at zero. An update adds at most R^2 + 2 tau to the squared norm of w and at least gamma to w.u.

    References
    ----------
    W. Krauth and M. Mezard (1987), Learning algorithms with optimal stability in neural networks, Journal of Physics A
    20, L745-L752. Y. Li, H. Zaragoza, R. Herbrich, J. Shawe-Taylor and J. Kandola (2002), The perceptron algorithm with
    uneven margins, ICML, 379-386.

    Examples
    --------
    >>> margin_perceptron(radius=2.0, margin=0.5, tau_pos=1.0)
    24.0
    """
    _, largest = _taus(radius, margin, tau_pos, tau_neg)
    return (radius**2 + 2 * largest) / margin**2


def margin_perceptron_margin(radius: float, margin: float, tau_pos: float, tau_neg: float | None = None) -> float:
    """Margin that the perceptron with margins tau ends with: gamma min tau / (R^2 + 2 max tau).

    Parameters
    ----------
    radius, margin, tau_pos, tau_neg : float
        As for `margin_perceptron`.

    Returns
    -------
    float
        Least margin, over all rows, of the weights after an epoch without updates. It tends to gamma / 2 as an even tau
        grows.

    Notes
    -----
    Every row has y f(x) > tau then, and norm(w) <= sqrt(k (R^2 + 2 tau)) <= (R^2 + 2 tau) / gamma after k updates.

    References
    ----------
    As for `margin_perceptron`.

    Examples
    --------
    >>> margin_perceptron_margin(radius=2.0, margin=0.5, tau_pos=2.0)
    0.125
    """
    smallest, largest = _taus(radius, margin, tau_pos, tau_neg)
    return margin * smallest / (radius**2 + 2 * largest)


def passive_aggressive(radius: float, margin: float) -> float:
    """Sum of squared hinge losses of PA on separable rows, hence its mistakes: (R / gamma)^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y w.x of a separator w of unit norm.

    Returns
    -------
    float
        Most of the sum of max(0, 1 - y f(x))^2 over the trials; a mistake has a loss of at least one.

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
    """Mistakes of PA-I on any rows: max(R^2, 1 / C) (U^2 + 2 C L).

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
    check_positive("radius", radius)
    check_not_negative("norm", norm)
    check_not_negative("loss", loss)
    check_positive("C", C)
    return max(radius**2, 1 / C) * (norm**2 + 2 * C * loss)


def passive_aggressive_2(radius: float, norm: float, squared_loss: float, C: float) -> float:
    """Sum of squared hinge losses of PA-II on any rows, hence its mistakes: (R^2 + 1 / 2C) (U^2 + 2 C L2).

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
        Most of the sum of max(0, 1 - y f(x))^2 over the trials, against every u at once.

    Notes
    -----
    Assumes a start at zero. As for PA-I, with 2 s l_u <= s^2 / 2C + 2 C l_u^2 in the sum.

    References
    ----------
    Crammer et al. (2006), as for `passive_aggressive`.
    """
    check_positive("radius", radius)
    check_not_negative("norm", norm)
    check_not_negative("squared_loss", squared_loss)
    check_positive("C", C)
    return (radius**2 + 1 / (2 * C)) * (norm**2 + 2 * C * squared_loss)


def _taus(radius: float, margin: float, tau_pos: float, tau_neg: float | None) -> tuple[float, float]:
    check_radius_and_margin(radius, margin)
    both = tau_pos, tau_pos if tau_neg is None else tau_neg
    check_not_negative("tau_pos", both[0])
    check_not_negative("tau_neg", both[1])
    return min(both), max(both)
