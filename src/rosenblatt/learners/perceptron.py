"""Rosenblatt's perceptron, and the average of its weights."""

from __future__ import annotations

from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.linear_parameters import ForAveragedPerceptron, ForPerceptron


class Perceptron(ForPerceptron, LinearClassifier):
    """Rosenblatt's perceptron: on a mistake, move the weights towards the row.

    For a row x with label y in {-1, +1} and the score f(x) = w.x + b, a mistake is y f(x) <= 0, and then
    w += eta0 y x, b += eta0 y. If some hyperplane separates the classes with margin g, and no row is longer than R,
    this happens at most (R/g)^2 times, in any order.

    Takes every parameter of scikit-learn's ``Perceptron``, with its meaning. The defaults differ in effect: fitting
    goes on while the data may be separable, at most twice as long as the loss kept falling on large data, and the best
    weights are kept when it is not.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    An epoch reads the data once, for all classes together, at the speed of memory. Where the mistakes no longer fall
    fast, keeping the best weights adds a second reading. Dense and sparse copies of the same data give the same model.

    Mistakes: at most (R/g)^2 (Novikoff 1962), `rosenblatt.bounds.novikoff`. With a margin tau: at most
    (R^2 + 2 tau)/g^2 updates, `rosenblatt.bounds.margin_perceptron`.

    References
    ----------
    Rosenblatt (1958), The perceptron: a probabilistic model for information storage and organization in the brain.
    Novikoff (1962), On convergence proofs on perceptrons. Li, Zaragoza, Herbrich, Shawe-Taylor and Kandola (2002),
    The perceptron algorithm with uneven margins.

    See Also
    --------
    AveragedPerceptron : steadier on data that is not separable.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X = [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> model = Perceptron(shuffle=False).fit(X, ["no", "yes", "yes", "yes"])
    >>> model.predict([[0, 0], [1, 1]]).tolist(), model.coef_.tolist(), model.run_.mistakes
    (['no', 'yes'], [[2.0, 2.0]], (3, 1, 2, 2, 1, 0))
    """


class AveragedPerceptron(ForAveragedPerceptron, LinearClassifier):
    """The perceptron whose model is the average of its weights over all trials.

    Trains exactly as `Perceptron` does and predicts with (w_1 + ... + w_T) / T, which does not depend on which row came
    last. The sum is kept lazily, at the cost of a second addition per update, and training can go on at any time.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    The mistakes of the perceptron that it averages are at most (R/g)^2, as for `Perceptron`.

    References
    ----------
    Freund and Schapire (1999), Large margin classification using the perceptron algorithm, Machine Learning 37.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron
    >>> model = AveragedPerceptron(shuffle=False, max_iter=1, tol=None).fit([[1.0], [-1.0]], [1, 0])
    >>> model.coef_.tolist(), model.intercept_.tolist()
    ([[1.5]], [0.5])
    """
