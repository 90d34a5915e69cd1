"""Proven bounds on mistakes, losses, margins and risks: one function each, from numbers to a number.

A function states the formula, what it assumes, the step of the proof that gives the constant, and where it was
published. Rows mean rows as the algorithm sees them: with a bias, radius and margin are those of the padded rows
(x, 1). A margin is that of any separator, not only of the best one: a smaller margin makes a weaker bound. Ties are
mistakes.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.errors import InvalidInput

__all__ = [
    "agnostic",
    "alma2",
    "alma2_margin",
    "arow",
    "average_risk",
    "freund_schapire",
    "from_start",
    "leave_one_out",
    "leave_one_out_vote",
    "margin_perceptron",
    "margin_perceptron_margin",
    "multiclass",
    "novikoff",
    "p_norm",
    "parameter_mixing",
    "passive_aggressive",
    "passive_aggressive_1",
    "passive_aggressive_2",
    "prank",
    "romma",
    "second_order",
    "voted_risk",
    "winnow1",
    "winnow2",
]


# The perceptron -------------------------------------------------------------------------------------------------------


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
    _radius_and_margin(radius, margin)
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
        Smallest y a*.x, for `separator` as it is given.

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
    _positive("radius", radius)
    _positive("margin", margin)
    a1, separator = _vector("start", start), _vector("separator", separator)
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
    _positive("radius", radius)
    _not_negative("norm", norm)
    _not_negative("loss", loss)
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
    _positive("radius", radius)
    _positive("margin", margin)
    _not_negative("deviation", deviation)
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
    no such bound.

    References
    ----------
    R. McDonald, K. Hall and G. Mann (2010), Distributed training strategies for the structured perceptron, NAACL,
    456-464.
    """
    return novikoff(radius, margin)


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


# Passive-aggressive and maximum margin --------------------------------------------------------------------------------


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
    _positive("radius", radius)
    _not_negative("norm", norm)
    _not_negative("loss", loss)
    _positive("C", C)
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
    _positive("radius", radius)
    _not_negative("norm", norm)
    _not_negative("squared_loss", squared_loss)
    _positive("C", C)
    return (radius**2 + 1 / (2 * C)) * (norm**2 + 2 * C * squared_loss)


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


# Second order ---------------------------------------------------------------------------------------------------------


def arow(X: ArrayLike, y: ArrayLike, separator: ArrayLike, eager: int, r: float = 1.0) -> float:
    """Mistakes of AROW with a full covariance: sqrt(r U^2 + norm(X u)^2) sqrt(ln det(I + X'X / r) + E) + L - E.

    Parameters
    ----------
    X : array of shape (n_updates, n_features)
        The rows of the trials that updated, with repetitions.
    y : array of shape (n_updates,)
        Their signs.
    separator : array of shape (n_features,)
        Any vector u; U is its norm and L the sum of max(0, 1 - y u.x) over those trials.
    eager : int
        E, how many of the updates were no mistakes (0 < y f(x) < 1).
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
    _positive("r", r)
    _not_negative("eager", eager)
    energy, growth, loss = _spectrum(X, y, separator, r)
    return math.sqrt(energy * (growth + eager)) + loss - eager


def second_order(X: ArrayLike, y: ArrayLike, separator: ArrayLike, a: float = 1.0) -> float:
    """Mistakes of the second-order perceptron: L + sqrt((a U^2 + norm(X u)^2) ln det(I + X'X / a)).

    Parameters
    ----------
    X : array of shape (n_mistakes, n_features)
        The rows of the trials with a mistake, with repetitions.
    y : array of shape (n_mistakes,)
        Their signs.
    separator : array of shape (n_features,)
        Any vector u; U is its norm and L the sum of max(0, 1 - y u.x) over those trials.
    a : float
        Initial correlation matrix, a times the identity.

    Returns
    -------
    float
        Most mistakes, against every u at once.

    Notes
    -----
    Assumes a start at zero, the correlation matrix A growing on mistakes only, and a prediction by v' (A +
    xx')^-1 x; no separability. A mistake adds at most x'A^-1 x <= ln of the growth of det A to v'A^-1 v, and M - L <=
    u.v.

    References
    ----------
    N. Cesa-Bianchi, A. Conconi and C. Gentile (2005), A second-order perceptron algorithm, SIAM Journal on
    Computing 34, 640-668.
    """
    _positive("a", a)
    energy, growth, loss = _spectrum(X, y, separator, a)
    return loss + math.sqrt(energy * growth)


# Several classes and ranks --------------------------------------------------------------------------------------------


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
    _positive("radius", radius)
    _positive("margin", margin)
    _possible(margin, math.sqrt(2) * radius, "sqrt(2) times the radius")
    return 2 * (radius / margin) ** 2


def prank(radius: float, margin: float, n_ranks: int) -> float:
    """Sum of rank errors of PRank on separable rows: ((k - 1) R^2 + 1) / gamma^2.

    Parameters
    ----------
    radius : float
        Largest norm of a row.
    margin : float
        Smallest y_r (w.x - b_r) over rows and thresholds b_1 <= ... <= b_{k-1}, with norm(w)^2 + norm(b)^2 = 1; y_r
        is +1
        if the rank is above r and -1 otherwise.
    n_ranks : int
        k, the number of ranks.

    Returns
    -------
    float
        Most of the sum over the trials of the distance of the predicted rank from the true one.

    Notes
    -----
    Assumes a start at zero. A trial that moves n thresholds gains n gamma along the separator and at most n^2
    R^2 + n in squared norm, and n <= k - 1; n is at least the rank error. Hence also (k - 1) (R^2 + 1) / gamma^2, the
    usual form.

    References
    ----------
    K. Crammer and Y. Singer (2001), Pranking with ranking, NIPS 14, 641-647.

    Examples
    --------
    >>> prank(radius=2.0, margin=1.0, n_ranks=3)
    9.0
    """
    _positive("radius", radius)
    _positive("margin", margin)
    _count("n_ranks", n_ranks, least=2)
    _possible(margin, math.sqrt(radius**2 + 1), "sqrt(R^2 + 1)")
    return ((n_ranks - 1) * radius**2 + 1) / margin**2


# Multiplicative updates and other norms -------------------------------------------------------------------------------


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
    _radius_and_margin(radius, margin)
    if not (2 <= p < math.inf):
        raise InvalidInput(f"p={p} is outside the range of the theorem. Pass a finite p from 2.")
    return (p - 1) * (radius / margin) ** 2


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


# From mistakes to the error on new rows -------------------------------------------------------------------------------


def average_risk(mistakes: float, n: int, delta: float) -> float:
    """Average risk of the hypotheses of one pass: M / n + sqrt(2 ln(1 / delta) / n).

    Parameters
    ----------
    mistakes : float
        M, the mistakes of one pass over n rows, or any sum of losses in [0, 1].
    n : int
        Number of rows.
    delta : float
        Probability with which the statement may fail.

    Returns
    -------
    float
        With probability 1 - delta over the rows, the average probability of an error on a new row of the n hypotheses
        that predicted in the n trials; equally the risk of one of them drawn at random for each prediction. It says
        nothing of the last weights. Above one it says nothing.

    Notes
    -----
    Assumes independent rows of one distribution, each presented once, in an order that does not look at them.
    Proof: risk minus loss of each trial is a martingale difference in [-1, 1], so by Hoeffding and Azuma their mean
    exceeds e with probability at most exp(-n e^2 / 2). (Its range given the past is one, which would even give half
    the root.)

    References
    ----------
    N. Cesa-Bianchi, A. Conconi and C. Gentile (2004), On the generalization ability of on-line learning
    algorithms, IEEE Transactions on Information Theory 50, 2050-2057.

    Examples
    --------
    >>> round(average_risk(mistakes=50, n=10_000, delta=0.05), 4)
    0.0295
    """
    _not_negative("mistakes", mistakes)
    _count("n", n, least=1)
    if mistakes > n:
        raise InvalidInput(f"mistakes={mistakes} in n={n} trials is impossible. Count the mistakes of one pass.")
    if not (0 < delta < 1):
        raise InvalidInput(f"delta={delta} is not a probability strictly between 0 and 1. Pass 0.05, say.")
    return mistakes / n + math.sqrt(2 * math.log(1 / delta) / n)


def voted_risk(mistakes: float, n: int, delta: float) -> float:
    """Risk of the vote of the hypotheses of one pass: twice their average risk.

    Parameters
    ----------
    mistakes, n, delta
        As for `average_risk`.

    Returns
    -------
    float
        With probability 1 - delta over the rows, the probability that the majority of the n hypotheses errs on a new
        row: the voted perceptron, each vector counting the trials it predicted in. Above one it says nothing.

    Notes
    -----
    Assumes what `average_risk` does. Where the vote errs at least half of the hypotheses err, so by Markov's inequality
    the vote errs at most twice as often as they do on average.

    References
    ----------
    As for `average_risk`; Freund and Schapire (1999), as for `freund_schapire`, for the vote.
    """
    return 2 * average_risk(mistakes, n, delta)


def leave_one_out(mistakes: float, n: int) -> float:
    """Risk of a random hypothesis of one pass, expected over the rows: E / (n + 1).

    Parameters
    ----------
    mistakes : float
        E, the expected number of mistakes of one pass over n + 1 rows, or a bound on them that holds always.
    n : int
        Number of rows trained on.

    Returns
    -------
    float
        The probability, over n rows, the draw and one new row, that the weights after the first r rows err on the new
        row, with r drawn from 0 to n.

    Notes
    -----
    Assumes independent rows of one distribution and one pass. The new row is trial r + 1 of a random sequence,
    so the sum over r of the probabilities is E.

    References
    ----------
    D. P. Helmbold and M. K. Warmuth (1995), On weak learning, Journal of Computer and System Sciences 50,
    551-573. Freund and Schapire (1999), as for `freund_schapire`.

    Examples
    --------
    >>> leave_one_out(novikoff(radius=2.0, margin=0.5), n=799)
    0.02
    """
    _not_negative("mistakes", mistakes)
    _count("n", n, least=0)
    return mistakes / (n + 1)


def leave_one_out_vote(mistakes: float, n: int) -> float:
    """Risk of the voted perceptron after one pass, expected over the rows: 2 E / (n + 1).

    Parameters
    ----------
    mistakes, n
        As for `leave_one_out`.

    Returns
    -------
    float
        The probability, over n rows and one new row, that the majority of the weights after 0, 1, ..., n rows errs.

    Notes
    -----
    As for `leave_one_out`, and at least half of the weights err where their majority does. With
    `freund_schapire` for the mistakes, this is the bound of the voted perceptron.

    References
    ----------
    As for `leave_one_out`.
    """
    return 2 * leave_one_out(mistakes, n)


# Checks ---------------------------------------------------------------------------------------------------------------


def _positive(name: str, value: float) -> None:
    if not (0 < value < math.inf):
        raise InvalidInput(f"{name}={value} is not a positive number. Pass a finite number above 0.")


def _not_negative(name: str, value: float) -> None:
    if not (0 <= value < math.inf):
        raise InvalidInput(f"{name}={value} is not a finite number from 0. Pass a sum or a count, 0 or more.")


def _count(name: str, value: int, *, least: int) -> None:
    if not (least <= value < math.inf) or value != int(value):
        raise InvalidInput(f"{name}={value} is not a whole number from {least}. Pass such a count.")


def _possible(margin: float, largest: float, words: str) -> None:
    if margin > largest * (1 + 1e-9):
        raise InvalidInput(
            f"margin={margin} is above {largest}, {words}: no separator of unit norm has it. "
            "Divide the margin by the norm of the separator."
        )


def _radius_and_margin(radius: float, margin: float) -> None:
    _positive("radius", radius)
    _positive("margin", margin)
    _possible(margin, radius, "the radius")


def _taus(radius: float, margin: float, tau_pos: float, tau_neg: float | None) -> tuple[float, float]:
    _radius_and_margin(radius, margin)
    both = tau_pos, tau_pos if tau_neg is None else tau_neg
    _not_negative("tau_pos", both[0])
    _not_negative("tau_neg", both[1])
    return min(both), max(both)


def _alma(margin: float, alpha: float) -> None:
    _positive("margin", margin)
    _possible(margin, 1.0, "the norm of the rows")
    if not (0 < alpha <= 1):
        raise InvalidInput(f"alpha={alpha} is not in (0, 1]. Pass the share of the margin that may be lost.")


def _promotions(k: int, n: int, alpha: float, theta: float | None) -> tuple[float, float]:
    """Most promotions of Winnow, and the threshold."""
    _count("k", k, least=0)
    _count("n", n, least=max(k, 1))
    theta = n / 2 if theta is None else theta
    if not (1 < alpha < math.inf):
        raise InvalidInput(f"alpha={alpha} does not promote. Pass a finite factor above 1.")
    if not (1 / alpha <= theta < math.inf):
        raise InvalidInput(f"theta={theta} is below 1 / alpha = {1 / alpha} or not finite. Pass a larger threshold.")
    return k * (math.log(theta) / math.log(alpha) + 1), theta


def _vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    vector = np.asarray(values, np.float64)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise InvalidInput(f"{name} has shape {vector.shape} or values that are not finite. Pass one row of numbers.")
    return vector


def _spectrum(X: ArrayLike, y: ArrayLike, separator: ArrayLike, ridge: float) -> tuple[float, float, float]:
    """Return ridge norm(u)^2 + norm(X u)^2, ln det(I + X'X / ridge) and the hinge loss of u on the rows."""
    u, signs = _vector("separator", separator), _vector("y", y)
    rows = np.asarray(X, np.float64).reshape(-1, u.size) if np.size(X) == 0 else np.asarray(X, np.float64)
    if rows.shape != (signs.size, u.size):
        raise InvalidInput(
            f"X has shape {rows.shape} for {signs.size} signs and a separator of {u.size} features. "
            "Pass the rows of the updates, one sign for each."
        )
    _signs(signs.tolist())
    scores = rows @ u
    growth = float(np.linalg.slogdet(np.eye(u.size) + rows.T @ rows / ridge).logabsdet)
    return float(ridge * u @ u + scores @ scores), growth, float(np.maximum(0, 1 - signs * scores).sum())


def _signs(values: Sequence[float]) -> None:
    wrong = [value for value in values if value not in (-1.0, 1.0)]
    if wrong:
        raise InvalidInput(f"y contains {wrong[0]}, which is not a sign. Pass -1 and +1.")
