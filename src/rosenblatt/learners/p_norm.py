"""The p-norm perceptron."""

from __future__ import annotations

from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.linear_parameters import ForPNormPerceptron


class PNormPerceptron(ForPNormPerceptron, LinearClassifier):
    """p-norm perceptron: between the perceptron (p = 2) and Winnow, for few relevant features among many.

    On a mistake theta += y x, as in the perceptron. The weights are the gradient of half the squared p-norm of theta:
    w_j = sign(theta_j) |theta_j|^(p - 1) / norm(theta)^(p - 2). The larger p, the more the largest of theta count.
    A sample weight is a factor of the step.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    At most (p - 1) (R / g)^2 mistakes on separable rows, where R is the largest p-norm of a row and g the margin of a
    separator whose q-norm is one, 1/p + 1/q = 1: `rosenblatt.bounds.p_norm`. With p = 2 ln(d) for d features, and a
    separator of few of them, that grows with the logarithm of d, as Winnow's bound does, and the features may have
    any sign. Weights so small that their type cannot hold them are zero: about |theta_j| < norm(theta) / 100 with
    float32 and p = 20.

    References
    ----------
    Grove, Littlestone and Schuurmans (2001), General convergence results for linear discriminant updates, Machine
    Learning 43, 173-210. Gentile (2003), The robustness of the p-norm algorithms, Machine Learning 53, 265-299.

    Examples
    --------
    >>> from rosenblatt import PNormPerceptron
    >>> PNormPerceptron(p=6).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).predict([[0.2, 1.0]]).tolist()
    [0]
    """
