"""Margins whose size is known, and brackets that must hold it."""

from fractions import Fraction

import numpy as np


def brackets(bracket, truth=None):
    """Whether a bracket is narrow and holds a number of which the square is given."""
    lower, upper = Fraction(bracket.lower), Fraction(bracket.upper)
    narrow = 0 < lower <= upper <= lower * (1 + Fraction(1, 10**9))
    return narrow and (truth is None or lower**2 <= truth <= upper**2)


def planted_margin(n, d, gamma, offset=0.0625):
    """Rows whose largest margin is gamma, exactly: d pairs of them are mirror images at that distance."""
    rng = np.random.default_rng(d)
    w = np.zeros(d)
    w[rng.permutation(d)[:4]] = 0.5 * rng.choice([-1, 1], 4)  # of length one, and exact in everything below
    X = rng.integers(-(2**20), 2**20, (n, d)) / 2.0**20
    scores = X @ w + offset
    y = np.where(scores > 0, 1, -1)
    X += np.outer(np.maximum(gamma - np.abs(scores), 0) * y, w)
    foot = X[:d] - np.outer(X[:d] @ w + offset, w)
    X[:d], X[d : 2 * d], y[:d], y[d : 2 * d] = foot + gamma * w, foot - gamma * w, 1, -1
    assert (y * (X @ w + offset)).min() == gamma
    return X, y
