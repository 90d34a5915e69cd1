"""Adaptive regularisation of weights."""

from __future__ import annotations

from typing import Literal

from rosenblatt.estimators.linear import LinearClassifier
from rosenblatt.estimators.parameters import (
    ForClasses,
    InEpochs,
    OnThreads,
    WithKeep,
    WithPadding,
    WithValidation,
    WithWarmStart,
    choice,
    real,
)
from rosenblatt.learn.multiclass import MULTICLASS
from rosenblatt.methods.covariance import Arow
from rosenblatt.methods.method import Method


class AROW(InEpochs, ForClasses, WithPadding, OnThreads, WithValidation, WithWarmStart, WithKeep, LinearClassifier):
    """Adaptive regularisation of weights: small steps where a feature is known well, large ones where it is rare.

    Keeps a Gaussian over the weights. When m = y f(x) < 1, with v = x'Vx and beta = 1/(v + r):
    w += (1 - m) beta y V x and V -= beta V x x'V. Strong on noisy and sparse data.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

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

    r: float = real(default=1.0, text="The larger, the smaller the steps.", above=0, wanted="a positive number")
    covariance: Literal["diagonal", "full"] = choice(
        default="diagonal",
        text="A variance for each weight, or the whole matrix, for up to some thousand features.",
        choices=("diagonal", "full"),
    )

    minds_scale = False

    @property
    def modes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Modes there are: all classes at once share no covariance matrix."""
        return MULTICLASS if self.covariance == "diagonal" else MULTICLASS[:-1]

    def _method(self) -> Method:
        return Arow(float(self.r), self.covariance == "full")
