"""Learners that keep second-order information: AROW."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.bounds.arguments import as_vector, check_not_negative, check_positive
from rosenblatt.errors import InvalidInput


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
    check_positive("r", r)
    check_not_negative("eager", eager)
    energy, growth, loss = _spectrum(X, y, separator, r)
    return math.sqrt(energy * (growth + eager)) + loss - eager


def _spectrum(X: ArrayLike, y: ArrayLike, separator: ArrayLike, ridge: float) -> tuple[float, float, float]:
    """Return ridge norm(u)^2 + norm(X u)^2, ln det(I + X'X / ridge) and the hinge loss of u on the rows."""
    u, signs = as_vector("separator", separator), as_vector("y", y)
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
