"""The perceptron: on separable rows, on any rows, from any start, mixed, and with several classes."""

import math

from numpy.typing import ArrayLike

from rosenblatt.bounds.arguments import (
    as_vector,
    check_not_negative,
    check_positive,
    check_possible,
    check_radius_and_margin,
)
from rosenblatt.errors import InvalidInput


def novikoff(radius: float, margin: float) -> float:
    """Mistakes of the perceptron on separable rows: (R / gamma)^2.

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
    """Corrections of the perceptron from any start: k0 = norm(a1 - alpha a*)^2 / R^2, alpha = R^2 / gamma.

    Parameters
    ----------
    start : array of shape (n_features,)
        Initial weights a1, divided by the learning rate if that is not one.
    separator : array of shape (n_features,)
        Any separator a*; its norm is free.
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y a*.x, for `separator` as it is passed, not scaled.

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
    """Mistakes of the perceptron on any rows: M with sqrt(M) = (R U + sqrt(R^2 U^2 + 4 L)) / 2.

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
    check_positive("radius", radius)
    check_not_negative("norm", norm)
    check_not_negative("loss", loss)
    return ((radius * norm + math.sqrt((radius * norm) ** 2 + 4 * loss)) / 2) ** 2


def freund_schapire(radius: float, margin: float, deviation: float) -> float:
    """Mistakes of the perceptron in one pass over any rows: ((R + D) / gamma)^2.

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
    row makes the rows separable, at a price of D; the perceptron does not see those coordinates.

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
    """Mistakes of iterative parameter mixing, each shard's weighted by its share: (R / gamma)^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y w.x over all shards of a separator w of unit norm.

    Returns
    -------
    float
        Most of the sum, over epochs n and shards i, of mu_i k_in, with k_in mistakes of shard i in epoch n and shares
        mu_i from zero that sum to one in each epoch. With S equal shares: S times this many mistakes in all.

    Notes
    -----
    Assumes a start at zero and that every epoch starts each shard at the mix of the last. The mix gains gamma
    times the weighted mistakes along u, and by convexity R^2 times them in squared norm. Mixing once at the end has
    no such bound. Where a mix goes c times the mean of the changes d_i, with c |mean d|^2 <= mean |d_i|^2, the bound
    holds for the mistakes times c: of shards that learn orthogonal things, for all of them.

    References
    ----------
    R. McDonald, K. Hall and G. Mann (2010), Distributed training strategies for the structured perceptron, NAACL,
    456-464.
    """
    return novikoff(radius, margin)


def multiclass(radius: float, margin: float) -> float:
    """Mistakes of the ultraconservative multiclass perceptrons on separable rows: 2 (R / gamma)^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest distance of the score of the true class from the next, under weights of unit Frobenius norm.

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
