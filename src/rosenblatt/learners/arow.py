"""Adaptive regularisation of weights."""

from __future__ import annotations

from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.linear_parameters import ForArow
from rosenblatt.storage.registry import expect


class AROW(ForArow, LinearClassifier):
    """Adaptive regularisation of weights: small steps where a feature is known well, large ones where it is rare.

    Keeps a Gaussian over the weights. When m = y f(x) < 1, with v = x'Vx and beta = 1/(v + r):
    w += (1 - m) beta y V x and V -= beta V x x'V. Strong on noisy and sparse data.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    covariance_ : str
        "diagonal" or "full", as the last fit chose; streams have none.

    Notes
    -----
    Mistakes with the full matrix: `rosenblatt.bounds.arow`.

    References
    ----------
    Crammer, Kulesza and Dredze (2009), Adaptive regularization of weight vectors, NIPS 22.

    Examples
    --------
    >>> from rosenblatt import AROW
    >>> AROW().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).predict([[0.2, 1.0]]).tolist()
    [0]
    """

    scale_sensitive = False
    at_times = (*LinearClassifier.at_times, "covariance_")

    def _check_learned(self) -> None:
        kind = self.__dict__.get("covariance_", "diagonal")
        expect(kind in ("diagonal", "full"), f"covariance_={kind!r:.60} is neither 'diagonal' nor 'full'")
        super()._check_learned()
