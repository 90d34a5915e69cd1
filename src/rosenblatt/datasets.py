"""Data sets: generated with a known hyperplane, from the lectures, and from files.

The generators plant a hyperplane, so the margin and the noise of the data are known. Each returns the same rows for the
same seed. The loaders are those of `rosenblatt.files`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.files.formats.svmlight import load_svmlight
from rosenblatt.files.idx import MNIST_FILES, load_idx, load_mnist
from rosenblatt.files.options import as_count, reject
from rosenblatt.text import brief

__all__ = [
    "MNIST_FILES",
    "SPAM_WORDS",
    "Planted",
    "circles",
    "load_idx",
    "load_mnist",
    "load_svmlight",
    "logical",
    "noisy",
    "separable",
    "spam",
    "two_moons",
]

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Planted:
    """Rows, their labels, and the hyperplane that gave the labels.

    It unpacks to rows and labels: ``X, y = separable(100, 5, 0.1)``.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
    y : int64 array of shape (n_samples,)
        +1 or -1.
    w : array of shape (n_features,)
        Normal of the hyperplane, of norm 1.
    b : float
        Bias of the hyperplane: its score is w.x + b.
    margin : float
        Least distance of the rows from the hyperplane. Rows with y (w.x + b) < 0 are those whose label was flipped.
    """

    X: Any
    y: Array
    w: Array
    b: float
    margin: float

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        """Return a short repr that shows arrays by their shape."""
        return brief(self)


def _number(name: str, value: Any, fits: Callable[[float], bool], expected: str) -> float:
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not fits(number):  # no comparison holds for NaN
        reject(name, value, expected)
    return number


def _share(name: str, value: Any) -> float:
    return _number(name, value, lambda share: 0.0 <= share <= 1.0, "a share between 0 and 1")


def _noise(value: Any) -> float:
    return _number("noise", value, lambda noise: 0.0 <= noise < math.inf, "a standard deviation, 0 or larger")


def _random(seed: Any) -> np.random.Generator:
    return np.random.default_rng(as_count("seed", seed, least=0))


# ---------------------------------------------------------------------------------------------- planted hyperplanes


def _on_sphere(random: np.random.Generator, *shape: int) -> Array:
    points = random.standard_normal(shape)
    points /= np.linalg.norm(points, axis=-1, keepdims=True)
    return points


def _signs(score: Array) -> Array:
    return np.where(score > 0.0, 1, -1).astype(np.int64)


def separable(
    n_samples: int, n_features: int, margin: float, *, bias: float = 0.0, tight: bool = True, seed: int = 0
) -> Planted:
    """Return linearly separable rows with a known margin.

    Rows are drawn from the unit sphere and labelled by a random hyperplane; then each class is moved away from the
    hyperplane by `margin`. With ``tight=True`` some rows are replaced by mirrored pairs u + margin w, u - margin w
    around points u of the hyperplane: their distance is twice the margin, so no hyperplane has a larger one.

    Parameters
    ----------
    n_samples, n_features : int
    margin : float
        Geometric margin, larger than 0 and at most 1.
    bias : float, default 0
        Bias of the planted hyperplane, between -1 and 1. |w.x| is about 1/sqrt(n_features) for a row x, so a bias
        beyond that leaves one class with few rows.
    tight : bool, default True
        Whether the largest margin of the data is exactly `margin`, up to rounding; otherwise it is larger. Needs
        at least two rows, and both classes occur.
    seed : int, default 0

    Returns
    -------
    Planted
        Unpacks to X, y. Without a bias no row is longer than 1 + margin.

    See Also
    --------
    noisy : Rows with some labels flipped.

    Examples
    --------
    >>> from rosenblatt.datasets import separable
    >>> data = separable(100, 5, 0.1)
    >>> X, y = data
    >>> print(f"{(y * (X @ data.w + data.b)).min():.6f}")
    0.100000
    """
    if not isinstance(tight, bool | np.bool_):
        reject("tight", tight, "True or False")
    n, d = as_count("n_samples", n_samples, least=2 if tight else 1), as_count("n_features", n_features)
    margin = _number("margin", margin, lambda m: 0.0 < m <= 1.0, "a number above 0 and at most 1; scale X for others")
    return _plant(n, d, margin, bias, tight, _random(seed))


def _plant(n: int, d: int, margin: float, bias: float, tight: bool, random: np.random.Generator) -> Planted:
    b = _number("bias", bias, lambda bias: -1.0 < bias < 1.0, "between -1 and 1: the hyperplane cuts the unit sphere")
    w, X = _on_sphere(random, d), _on_sphere(random, n, d)
    score = X @ w + b
    y = _signs(score)
    pairs = max(1, min(d, n // 4)) if tight else 0
    feet = X[:pairs] - np.outer(score[:pairs], w)
    X += np.outer(margin * y, w)
    X[:pairs], y[:pairs] = feet + margin * w, 1
    X[pairs : 2 * pairs], y[pairs : 2 * pairs] = feet - margin * w, -1
    order = random.permutation(n)
    return Planted(X[order], y[order], w, b, margin)


def _flip(y: Array, share: float, random: np.random.Generator) -> None:
    y[random.choice(y.size, round(share * y.size), replace=False)] *= -1


def noisy(
    n_samples: int, n_features: int, flip: float, *, margin: float = 0.05, bias: float = 0.0, seed: int = 0
) -> Planted:
    """Return rows labelled by a hyperplane, with some of the labels flipped.

    Parameters
    ----------
    n_samples, n_features : int
    flip : float
        Share of the labels to flip, between 0 and 1, to the nearest whole number of rows.
    margin : float, default 0.05
        Distance of all rows from the hyperplane, flipped or not, between 0 and 1.
    bias : float, default 0
        Bias of the planted hyperplane, between -1 and 1.
    seed : int, default 0

    Returns
    -------
    Planted
        Unpacks to X, y.

    Examples
    --------
    >>> from rosenblatt.datasets import noisy
    >>> data = noisy(200, 5, flip=0.1)
    >>> int((data.y * (data.X @ data.w + data.b) < 0).sum())
    20
    """
    n, d, share = as_count("n_samples", n_samples), as_count("n_features", n_features), _share("flip", flip)
    random = _random(seed)
    data = _plant(n, d, _share("margin", margin), bias, False, random)
    _flip(data.y, share, random)
    return data


# --------------------------------------------------------------------------------------------- figures in the plane


def two_moons(n_samples: int, noise: float = 0.1, seed: int = 0) -> tuple[Array, Array]:
    """Return two interleaved half circles.

    Parameters
    ----------
    n_samples : int
        At least 2; half of them in each class.
    noise : float, default 0.1
        Standard deviation of the noise added to each coordinate.
    seed : int, default 0

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : int64 array of shape (n_samples,)
        -1 on the upper moon, +1 on the lower one.

    Examples
    --------
    >>> from rosenblatt.datasets import two_moons
    >>> X, y = two_moons(200)
    >>> X.shape, int(y.sum())
    ((200, 2), 0)
    """
    n, deviation, random = as_count("n_samples", n_samples, least=2), _noise(noise), _random(seed)
    angle, turn = np.linspace(0.0, math.pi, n - n // 2), np.linspace(0.0, math.pi, n // 2)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1.0 - np.cos(turn), 0.5 - np.sin(turn)])
    return _scatter(upper, lower, deviation, random)


def circles(n_samples: int, factor: float = 0.5, noise: float = 0.05, seed: int = 0) -> tuple[Array, Array]:
    """Return a circle of radius 1 and a smaller one inside it.

    Parameters
    ----------
    n_samples : int
        At least 2; half of them in each class.
    factor : float, default 0.5
        Radius of the smaller circle, larger than 0 and less than 1.
    noise : float, default 0.05
        Standard deviation of the noise added to each coordinate.
    seed : int, default 0

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : int64 array of shape (n_samples,)
        -1 on the outer circle, +1 on the inner one.

    Examples
    --------
    >>> from rosenblatt.datasets import circles
    >>> X, y = circles(200, factor=0.3, noise=0)
    >>> print(f"{abs(X[y == 1]).max():.6f}")
    0.300000
    """
    n, deviation, random = as_count("n_samples", n_samples, least=2), _noise(noise), _random(seed)
    factor = _number("factor", factor, lambda f: 0.0 < f < 1.0, "above 0 and below 1")
    rings = [np.arange(m) * (2.0 * math.pi / m) for m in (n - n // 2, n // 2)]
    outer, inner = (np.column_stack([np.cos(angle), np.sin(angle)]) for angle in rings)
    return _scatter(outer, factor * inner, deviation, random)


def _scatter(negative: Array, positive: Array, deviation: float, random: np.random.Generator) -> tuple[Array, Array]:
    """Shuffle the points of two classes and add noise."""
    X, y = np.concatenate([negative, positive]), np.repeat([-1, 1], [len(negative), len(positive)])
    order = random.permutation(y.size)
    return X[order] + deviation * random.standard_normal(X.shape), y[order].astype(np.int64)


# ------------------------------------------------------------------------------------------------ lectures' examples

SPAM_WORDS = ("and", "viagra", "the", "of", "nigeria")
SPAM_TABLE = (
    (1, 1, 0, 1, 1),
    (0, 0, 1, 1, 0),
    (0, 1, 1, 0, 0),
    (1, 0, 0, 1, 0),
    (1, 0, 1, 0, 1),
    (1, 0, 1, 1, 0),
)
LOGICAL = {"or": (-1, 1, 1, 1), "and": (-1, -1, -1, 1), "xor": (-1, 1, 1, -1)}


def spam() -> tuple[Array, Array]:
    """Return the lectures' six mails: which of the five words of ``SPAM_WORDS`` each contains, and whether it is spam.

    Returns
    -------
    X : array of shape (6, 5)
        0 or 1, one column for each word.
    y : int64 array of shape (6,)
        +1 spam, -1 not.

    Examples
    --------
    >>> from rosenblatt.datasets import SPAM_WORDS, spam
    >>> X, y = spam()
    >>> [word for word, there in zip(SPAM_WORDS, X[2]) if there], int(y[2])
    (['viagra', 'the'], 1)
    """
    return np.array(SPAM_TABLE, np.float64), np.array([1, -1, 1, -1, 1, -1], np.int64)


def logical(name: str) -> tuple[Array, Array]:
    """Return the truth table of a logical function, in the lectures' order (0,0) (1,0) (0,1) (1,1).

    Parameters
    ----------
    name : {"or", "and", "xor"}

    Returns
    -------
    X : array of shape (4, 2)
    y : int64 array of shape (4,)
        +1 true, -1 false.

    Examples
    --------
    >>> from rosenblatt.datasets import logical
    >>> X, y = logical("xor")
    >>> y.tolist()
    [-1, 1, 1, -1]
    """
    if not isinstance(name, str) or name not in LOGICAL:
        reject("name", name, f"one of {', '.join(LOGICAL)}")
    return np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.float64), np.array(LOGICAL[name], np.int64)
