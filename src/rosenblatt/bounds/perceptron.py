"""The perceptron: on separable rows, on any rows, from any start, mixed, with several classes, and with a margin."""

import math

from numpy.typing import ArrayLike

from rosenblatt.bounds.arguments import (
    as_vector,
    check_competitor,
    check_not_negative,
    check_positive,
    check_possible,
    check_radius_and_margin,
)
from rosenblatt.errors import InvalidInput


def novikoff(radius: float, margin: float) -> float:
    """Bound the mistakes of the perceptron on separable rows: (R / gamma)^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y w.x of a separator w of unit norm.

    Returns
    -------
    float
        Most mistakes in any order, with repetitions, over any number of epochs.

    Notes
    -----
    Assumes a start at zero and updates on y f(x) <= 0 only. Any constant learning rate gives the same mistakes. Each
    mistake adds at least gamma to w.u and at most R^2 to the squared norm of w, so M gamma <= norm(w) <= sqrt(M) R.

    References
    ----------
    A. B. J. Novikoff (1962), On convergence proofs on perceptrons, Symposium on the Mathematical Theory of Automata,
    volume 12, 615-622. H. D. Block (1962), The perceptron: a model for brain functioning, Reviews of Modern Physics 34,
    123-135.

    Examples
    --------
    >>> novikoff(radius=2.0, margin=0.5)
    16.0
    """
    check_radius_and_margin(radius, margin)
    return (radius / margin) ** 2


def from_start(start: ArrayLike, separator: ArrayLike, radius: float, margin: float) -> float:
    """Bound the corrections of the perceptron from any start: norm(a1 - alpha a*)^2 / R^2, alpha = R^2 / gamma.

    Parameters
    ----------
    start : array of shape (n_features,)
        Initial weights a1, divided by the learning rate if that is not one.
    separator : array of shape (n_features,)
        Any separator a*; its norm is free.
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y a*.x, for the separator as passed, without scaling.

    Returns
    -------
    float
        Most corrections in any order, with repetitions, over any number of epochs.

    Notes
    -----
    A correction lowers norm(a - alpha a*)^2 by at least 2 alpha gamma - R^2 = R^2. From zero and with a unit separator
    this is Novikoff's bound.

    References
    ----------
    R. O. Duda et al. (2001), Pattern classification, second edition, chapter 5.

    Examples
    --------
    >>> from_start([0, 0], [1, 0], radius=2.0, margin=0.5)
    16.0
    """
    check_positive("radius", radius)
    check_positive("margin", margin)
    a1, separator = as_vector("start", start), as_vector("separator", separator)
    if a1.size != separator.size:
        raise InvalidInput(
            f"start has {a1.size} values and separator {separator.size}. Pass two vectors of the same space."
        )
    distance = a1 - radius**2 / margin * separator
    return float(distance @ distance) / radius**2


def agnostic(radius: float, norm: float, loss: float) -> float:
    """Bound the mistakes M of the perceptron on any rows: sqrt(M) = (R U + sqrt(R^2 U^2 + 4 L)) / 2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    norm : float
        U, the norm of any vector u.
    loss : float
        L, the sum of max(0, 1 - y u.x) over the trials on which the perceptron erred, or over all trials.

    Returns
    -------
    float
        Most mistakes, against every u at once.

    Notes
    -----
    Assumes a start at zero, nothing else: separable or not, any order, any number of trials, each counted in L.
    With the final weights w, M - L <= w.u <= U R sqrt(M), which is quadratic in sqrt(M). On separable rows u = w* /
    gamma has no loss, and this is Novikoff's bound.

    References
    ----------
    N. Cesa-Bianchi and G. Lugosi (2006), Prediction, learning, and games, chapter 12. M. Mohri and A. Rostamizadeh
    (2013), Perceptron mistake bounds, arXiv:1305.0208.

    Examples
    --------
    >>> agnostic(radius=2.0, norm=2.0, loss=0.0)
    16.0
    """
    check_competitor(radius, norm, loss=loss)
    return ((radius * norm + math.sqrt((radius * norm) ** 2 + 4 * loss)) / 2) ** 2


def freund_schapire(radius: float, margin: float, deviation: float) -> float:
    """Bound the mistakes of the perceptron in one pass over any rows: ((R + D) / gamma)^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Any gamma above zero; a vector u of unit norm need not reach it.
    deviation : float
        D, the root of the sum of max(0, gamma - y u.x)^2 over the trials.

    Returns
    -------
    float
        Most mistakes, against every u and gamma at once.

    Notes
    -----
    Assumes a start at zero and one pass: a row presented twice counts twice in D. One more coordinate for each
    row makes the rows separable at a cost of D; the perceptron does not depend on these coordinates.

    References
    ----------
    Y. Freund and R. E. Schapire (1999), Large margin classification using the perceptron algorithm,
    Machine Learning 37, 277-296.

    Examples
    --------
    >>> freund_schapire(radius=2.0, margin=0.5, deviation=1.0)
    36.0
    """
    check_positive("radius", radius)
    check_positive("margin", margin)
    check_not_negative("deviation", deviation)
    return ((radius + deviation) / margin) ** 2


def parameter_mixing(radius: float, margin: float) -> float:
    """Bound the mistakes of iterative parameter mixing, weighted by the shares of the shards: (R / gamma)^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y w.x over all shards of a separator w of unit norm.

    Returns
    -------
    float
        Upper bound of the sum, over epochs n and shards i, of mu_i k_in, with k_in mistakes of shard i in epoch n and
        nonnegative shares mu_i that sum to one in each epoch. With S equal shares: S times this many mistakes in all.

    Notes
    -----
    Assumes a start at zero and that every epoch starts each shard at the mix of the last. The mix gains gamma times the
    weighted mistakes along u, and by convexity at most R^2 times them in squared norm. Mixing once at the end has no
    such bound. If the mix adds c times the mean of the changes d_i, with c |mean d|^2 <= mean |d_i|^2, the bound holds
    for c times the mistakes: for all of them, if the changes of the shards are orthogonal.

    References
    ----------
    R. McDonald, K. Hall and G. Mann (2010), Distributed training strategies for the structured perceptron, NAACL,
    456-464.
    """
    return novikoff(radius, margin)


def multiclass(radius: float, margin: float) -> float:
    """Bound the mistakes of the ultraconservative multiclass perceptrons on separable rows: 2 (R / gamma)^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest difference of the score of the true class and the next highest, for weights of unit Frobenius norm.

    Returns
    -------
    float
        Most mistakes in any order over any number of epochs.

    Notes
    -----
    Assumes a start at zero and updates that add x to the true class and take shares of x, which sum to one,
    from classes that score at least as high: the highest only, or all of them. Such an update adds at most 2 R^2 to
    the squared norm.

    References
    ----------
    K. Crammer and Y. Singer (2003), Ultraconservative online algorithms for multiclass problems, Journal of Machine
    Learning Research 3, 951-991.

    Examples
    --------
    >>> multiclass(radius=2.0, margin=0.5)
    32.0
    """
    check_positive("radius", radius)
    check_positive("margin", margin)
    check_possible(margin, math.sqrt(2) * radius, "sqrt(2) times the radius")
    return 2 * (radius / margin) ** 2


def margin_perceptron(radius: float, margin: float, tau_pos: float, tau_neg: float | None = None) -> float:
    """Bound the updates of the perceptron with margins tau on separable rows: (R^2 + 2 max tau) / gamma^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y w.x of a separator w of unit norm.
    tau_pos, tau_neg : float
        A row is corrected while y f(x) <= tau of its class; by default tau_neg is tau_pos. Divide them by the learning
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
    """Bound the margin that the perceptron with margins tau reaches: gamma min tau / (R^2 + 2 max tau).

    Parameters
    ----------
    radius, margin, tau_pos, tau_neg : float
        As for `margin_perceptron`.

    Returns
    -------
    float
        Lower bound of the margin of the weights after an epoch without updates. It tends to gamma / 2 as tau grows, if
        both classes have the same.

    Notes
    -----
    Every row then has y f(x) > tau, and norm(w) <= sqrt(k (R^2 + 2 tau)) <= (R^2 + 2 tau) / gamma after k updates.

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


def _taus(radius: float, margin: float, tau_pos: float, tau_neg: float | None) -> tuple[float, float]:
    """Check the arguments; return the smaller and the larger tau."""
    check_radius_and_margin(radius, margin)
    both = tau_pos, tau_pos if tau_neg is None else tau_neg
    check_not_negative("tau_pos", both[0])
    check_not_negative("tau_neg", both[1])
    return min(both), max(both)
