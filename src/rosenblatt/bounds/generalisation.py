"""From mistakes to the error on new rows."""

import math

from rosenblatt.bounds.arguments import check_count, check_not_negative, check_number
from rosenblatt.errors import InvalidInput


def average_risk(mistakes: float, n: int, delta: float) -> float:
    """Bound the average risk of the hypotheses of one pass: M / n + sqrt(2 ln(1 / delta) / n).

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
        With probability 1 - delta over the rows, a bound of the average probability of an error on a new row, over the
        n hypotheses that predicted in the n trials; equally of the risk of one of them drawn at random for each
        prediction. It does not hold for the last weights alone. Above one it says nothing.

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
    check_not_negative("mistakes", mistakes)
    check_count("n", n, least=1)
    if mistakes > n:
        raise InvalidInput(f"mistakes={mistakes} exceeds n={n}, the number of trials. Count the mistakes of one pass.")
    check_number("delta", delta)
    if not (0 < delta < 1):
        raise InvalidInput(f"delta={delta} is not a probability strictly between 0 and 1. Pass 0.05, for example.")
    return mistakes / n + math.sqrt(2 * math.log(1 / delta) / n)


def voted_risk(mistakes: float, n: int, delta: float) -> float:
    """Bound the risk of the vote of the hypotheses of one pass: twice their average risk.

    Parameters
    ----------
    mistakes, n, delta
        As for `average_risk`.

    Returns
    -------
    float
        With probability 1 - delta over the rows, a bound of the probability that the majority of the n hypotheses errs
        on a new row: the voted perceptron, in which each vector counts the trials it predicted in. Above one it says
        nothing.

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
    """Bound the risk of a random hypothesis of one pass, expected over the rows: E / (n + 1).

    Parameters
    ----------
    mistakes : float
        E, the expected number of mistakes of one pass over n + 1 rows, or a bound that always holds.
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
    >>> from rosenblatt.bounds import novikoff
    >>> leave_one_out(novikoff(radius=2.0, margin=0.5), n=799)
    0.02
    """
    check_not_negative("mistakes", mistakes)
    check_count("n", n, least=0)
    return mistakes / (n + 1)


def leave_one_out_vote(mistakes: float, n: int) -> float:
    """Bound the risk of the voted perceptron after one pass, expected over the rows: 2 E / (n + 1).

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
