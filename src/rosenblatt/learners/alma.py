"""The approximate maximal margin algorithm."""

from __future__ import annotations

from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.linear_parameters import ForAlma


class ALMA(ForAlma, LinearClassifier):
    """Approximate maximal margin algorithm (ALMA with p = 2): nearly the widest margin, row by row.

    Rows are taken at unit norm, with their padding. Correction k is made on y w.x <= (1 - a) B / sqrt(k), with the
    approximation a and B = sqrt(8) / a: w += sqrt(2 / k) y x, and a w outside the unit ball is projected on it.
    A sample weight is a factor of the step.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Separable rows with margin g at unit norm take at most 2 (2 / a - 1)^2 / g^2 corrections, whatever the order
    (`rosenblatt.bounds.alma2`); an epoch without one ends with a margin of at least (1 - a) g (`alma2_margin`).

    References
    ----------
    Gentile (2001), A new approximate maximal margin classification algorithm, Journal of Machine Learning Research 2,
    213-242.

    Examples
    --------
    >>> from rosenblatt import ALMA
    >>> ALMA().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).predict([[0.2, 1.0]]).tolist()
    [0]
    """
