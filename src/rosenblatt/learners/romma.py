"""The relaxed online maximum margin algorithm."""

from __future__ import annotations

from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.linear_parameters import ForRomma


class ROMMA(ForRomma, LinearClassifier):
    """Relaxed online maximum margin algorithm: on a mistake, the shortest weights that the last two bounds allow.

    On y f(x) <= 0, or y f(x) < 1 if aggressive, w becomes the vector of least norm with y w.x >= 1 and
    w.v >= v.v, where v is the w before: half-spaces that hold the maximum margin, too. A sample weight is a factor of
    the change: below one a share of the way to these bounds, above one beyond them.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    At most (R / g)^2 mistakes on separable rows of weight one, as the perceptron; the aggressive form also has squared
    hinge losses that add up to no more: `rosenblatt.bounds.romma`. On rows that nothing separates the weights grow with
    each mistake. Beyond a norm of 1e30, where the one in y w.x >= 1 is rounding, they are scaled down.

    References
    ----------
    Li and Long (2002), The relaxed online maximum margin algorithm, Machine Learning 46, 361-387.

    Examples
    --------
    >>> from rosenblatt import ROMMA
    >>> ROMMA().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).predict([[0.2, 1.0]]).tolist()
    [0]
    """
