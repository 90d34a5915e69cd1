"""Data to learn from: made to measure, from the lectures, and from files.

The makers plant the hyperplane, so that margin, noise and drift are known and not guessed. Each of them gives the
same rows for the same seed. The loaders trust nothing that a file says about itself.
"""

from __future__ import annotations

import gzip
import math
import operator
import os
import re
import reprlib
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]
FilePath = str | os.PathLike[str]

LARGEST_INT32 = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Planted:
    """Rows, their labels, and the hyperplane that gave the labels.

    It unpacks to the two things that training needs: ``X, y = separable(100, 5, 0.1)``.

    Attributes
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    y : int64 array of shape (n_samples,)
        +1 or -1.
    w : array of shape (n_features,)
        Normal of the hyperplane, of norm 1. Of shape (n_samples, n_features) where it moves from row to row.
    b : float
        Bias of the hyperplane: its score is w.x + b.
    margin : float
        Distance that all rows keep from the hyperplane. Rows with y (w.x + b) < 0 are those whose label was flipped.
    """

    X: Any
    y: Array
    w: Array
    b: float
    margin: float

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))


def _refuse(name: str, value: Any, wanted: str) -> NoReturn:
    raise InvalidInput(f"{name}={reprlib.repr(value)}; it must be {wanted}.")


def _count(name: str, value: Any, least: int = 1) -> int:
    wanted = f"a whole number from {least}"
    try:
        number = operator.index(value)
    except TypeError:
        _refuse(name, value, wanted)
    if isinstance(value, bool) or number < least:
        _refuse(name, value, wanted)
    return number


def _number(name: str, value: Any, fits: Callable[[float], bool], wanted: str) -> float:
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not fits(number):  # no comparison holds for NaN
        _refuse(name, value, wanted)
    return number


def _share(name: str, value: Any) -> float:
    return _number(name, value, lambda share: 0.0 <= share <= 1.0, "a share between 0 and 1")


def _noise(value: Any) -> float:
    return _number("noise", value, lambda noise: 0.0 <= noise < math.inf, "a standard deviation, 0 or larger")


def _random(seed: Any) -> np.random.Generator:
    return np.random.default_rng(_count("seed", seed, least=0))


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
    """Make linearly separable rows with a known margin.

    Rows are drawn from the unit sphere and labelled by a random hyperplane; then each class is moved away from the
    hyperplane by `margin`. With ``tight=True`` some rows are replaced by mirrored pairs u + margin w, u - margin w
    around points u of the hyperplane: their distance is twice the margin, so no hyperplane at all has a larger one.

    Parameters
    ----------
    n_samples, n_features : int
    margin : float
        Geometric margin, larger than 0 and at most 1.
    bias : float, default 0
        Bias of the planted hyperplane, between -1 and 1. |w.x| is about 1/sqrt(n_features) for a row x, so a bias
        beyond that leaves few rows to one of the classes.
    tight : bool, default True
        Whether the largest margin of the data is exactly `margin`, up to rounding; otherwise it is larger. Needs
        two rows, and both classes occur.
    seed : int, default 0

    Returns
    -------
    Planted
        Unpacks to X, y. Without a bias no row is longer than 1 + margin.

    See Also
    --------
    noisy : The same with some labels flipped.

    Examples
    --------
    >>> from rosenblatt.datasets import separable
    >>> data = separable(100, 5, 0.1)
    >>> X, y = data
    >>> print(f"{(y * (X @ data.w + data.b)).min():.6f}")
    0.100000
    """
    n, d = _count("n_samples", n_samples, least=2 if tight else 1), _count("n_features", n_features)
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
    """Make rows labelled by a hyperplane, with some of the labels flipped.

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
    n, d, share = _count("n_samples", n_samples), _count("n_features", n_features), _share("flip", flip)
    random = _random(seed)
    data = _plant(n, d, _share("margin", margin), bias, False, random)
    _flip(data.y, share, random)
    return data


def drifting(n_samples: int, n_features: int, *, speed: float, margin: float = 0.05, seed: int = 0) -> Planted:
    """Make a stream whose hyperplane, through the origin, turns a little from row to row.

    Row t is labelled by w_t = cos(speed t) p + sin(speed t) q, with p and q random, orthogonal and of norm 1.

    Parameters
    ----------
    n_samples : int
    n_features : int
        At least 2.
    speed : float
        Angle between the hyperplanes of two neighbouring rows, in radians; with 0 nothing drifts.
    margin : float, default 0.05
        Distance of each row from its own hyperplane, between 0 and 1.
    seed : int, default 0

    Returns
    -------
    Planted
        Unpacks to X, y, in the order of the stream. Its `w` has one row for each row of X.

    Examples
    --------
    >>> from rosenblatt.datasets import drifting
    >>> X, y = drifting(1000, 3, speed=0.01)
    >>> for x, label in zip(X, y):
    ...     pass  # predict, see the label, update
    """
    n, d = _count("n_samples", n_samples), _count("n_features", n_features, least=2)
    speed = _number("speed", speed, math.isfinite, "a finite angle in radians per row")
    margin, random = _share("margin", margin), _random(seed)
    plane, _ = np.linalg.qr(random.standard_normal((d, 2)))
    angle = speed * np.arange(n)
    w = np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
    X = _on_sphere(random, n, d)
    y = _signs(np.einsum("ij,ij->i", X, w))
    X += (margin * y)[:, None] * w
    return Planted(X, y, w, 0.0, margin)


def sparse_text(
    n_samples: int,
    n_features: int,
    nonzeros: int,
    *,
    positive: float = 0.5,
    flip: float = 0.0,
    exponent: float = 1.0,
    seed: int = 0,
) -> Planted:
    """Make sparse rows that look like texts to a learner: few words each, common words first, norm 1.

    The words of a row are drawn without replacement, word j = 1, 2, ... with a probability in proportion to
    j^-exponent (Zipf's law). The labels are those of a random hyperplane.

    Parameters
    ----------
    n_samples : int
        At least 2.
    n_features : int
        Size of the vocabulary.
    nonzeros : int
        Distinct words in each row.
    positive : float, default 0.5
        Share of the positive class, for imbalanced data; the bias of the hyperplane is chosen to give it. There
        is at least one row of each class, unless rows are alike.
    flip : float, default 0
        Share of the labels to flip afterwards.
    exponent : float, default 1
        0: all words are equally common; the larger, the more common the first ones.
    seed : int, default 0

    Returns
    -------
    Planted
        Unpacks to X, y; X is a CSR matrix of float64. The margin is what the rows happen to have.

    Examples
    --------
    >>> from rosenblatt.datasets import sparse_text
    >>> X, y = sparse_text(1000, 5000, 20, positive=0.1)
    >>> X.shape, X.nnz, int((y == 1).sum())
    ((1000, 5000), 20000, 100)
    """
    n, d = _count("n_samples", n_samples, least=2), _count("n_features", n_features)
    k = _count("nonzeros", nonzeros)
    if k > d or d > LARGEST_INT32:
        raise InvalidInput(
            f"nonzeros={k}, n_features={d}: a row has at most n_features distinct words, and there are at most "
            f"{LARGEST_INT32} of these. Choose nonzeros <= n_features <= {LARGEST_INT32}."
        )
    positive, flip = _share("positive", positive), _share("flip", flip)
    exponent = _number("exponent", exponent, lambda e: 0.0 <= e <= 10.0, "between 0 and 10")
    random = _random(seed)
    words = _zipf_words(n, d, k, exponent, random)
    values = 1.0 + random.standard_exponential((n, k))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    X = sp.csr_matrix((values.ravel(), words.ravel(), k * np.arange(n + 1)), shape=(n, d))
    w = _on_sphere(random, d)
    score = X @ w
    ranked = np.sort(score)
    split = min(max(n - round(positive * n), 1), n - 1)
    b = -float(ranked[split - 1] + ranked[split]) / 2.0
    y = _signs(score + b)
    margin = float(np.abs(score + b).min())
    _flip(y, flip, random)
    return Planted(X, y, w, b, margin)


def _zipf_words(n: int, d: int, k: int, exponent: float, random: np.random.Generator) -> Array:
    """Draw k distinct words out of d for each of n rows, in rising order."""
    weight = np.arange(1.0, d + 1.0) ** -exponent
    edges = np.cumsum(weight)
    words = np.empty((n, k), np.int32)
    repeated = np.ones((n, k), bool)
    active = np.arange(n)
    for _ in range(30):
        row = words[active]
        draw = random.random(np.count_nonzero(repeated)) * edges[-1]
        # A draw can round up to the very end.
        row[repeated] = np.minimum(np.searchsorted(edges, draw, side="right"), d - 1)
        row.sort(axis=1)
        words[active] = row
        repeated = np.zeros(row.shape, bool)
        repeated[:, 1:] = row[:, 1:] == row[:, :-1]
        unfinished = repeated.any(axis=1)
        active, repeated = active[unfinished], repeated[unfinished]
        if not active.size:
            break
    # Where the words left are rare, drawing again and again would not end; the largest of weighted keys have the
    # same distribution (Efraimidis and Spirakis, 2006).
    for i, again in zip(active, repeated, strict=True):
        keys = np.log(weight) + random.gumbel(size=d)
        keys[words[i]] = -np.inf
        missing = np.count_nonzero(again)
        words[i, again] = np.argpartition(-keys, missing - 1)[:missing]
        words[i].sort()
    return words


# --------------------------------------------------------------------------------------------- figures in the plane


def two_moons(n_samples: int, noise: float = 0.1, seed: int = 0) -> tuple[Array, Array]:
    """Make two half circles that reach into one another.

    Parameters
    ----------
    n_samples : int
        At least 2; half of them in each class.
    noise : float, default 0.1
        Standard deviation of what is added to each coordinate.
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
    n, deviation, random = _count("n_samples", n_samples, least=2), _noise(noise), _random(seed)
    angle, turn = np.linspace(0.0, math.pi, n - n // 2), np.linspace(0.0, math.pi, n // 2)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1.0 - np.cos(turn), 0.5 - np.sin(turn)])
    return _scatter(upper, lower, deviation, random)


def circles(n_samples: int, factor: float = 0.5, noise: float = 0.05, seed: int = 0) -> tuple[Array, Array]:
    """Make a circle of radius 1 and a smaller one inside it.

    Parameters
    ----------
    n_samples : int
        At least 2; half of them in each class.
    factor : float, default 0.5
        Radius of the smaller circle, larger than 0 and less than 1.
    noise : float, default 0.05
        Standard deviation of what is added to each coordinate.
    seed : int, default 0

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : int64 array of shape (n_samples,)
        -1 on the outer circle, +1 on the inner one.

    See Also
    --------
    circle_points : The lectures' version, which fills the inside and the outside.

    Examples
    --------
    >>> from rosenblatt.datasets import circles
    >>> X, y = circles(200, factor=0.3, noise=0)
    >>> print(f"{abs(X[y == 1]).max():.6f}")
    0.300000
    """
    n, deviation, random = _count("n_samples", n_samples, least=2), _noise(noise), _random(seed)
    factor = _number("factor", factor, lambda f: 0.0 < f < 1.0, "above 0 and below 1")
    rings = [np.arange(m) * (2.0 * math.pi / m) for m in (n - n // 2, n // 2)]
    outer, inner = (np.column_stack([np.cos(angle), np.sin(angle)]) for angle in rings)
    return _scatter(outer, factor * inner, deviation, random)


def _scatter(negative: Array, positive: Array, deviation: float, random: np.random.Generator) -> tuple[Array, Array]:
    """Mix the points of two classes and move each a little."""
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
    """Give the lectures' six mails: which of the five words of ``SPAM_WORDS`` each contains, and whether it is spam.

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
    """Give the truth table of a logical function, in the lectures' order (0,0) (1,0) (0,1) (1,1).

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
        _refuse("name", name, f"one of {', '.join(LOGICAL)}")
    return np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.float64), np.array(LOGICAL[name], np.int64)


def circle_points(
    n_samples: int = 200, radius: float | tuple[float, float] = 1.0, *, gap: float = 0.1, seed: int = 0
) -> tuple[Array, Array]:
    """Make points inside and outside a circle, which the map (x1, x2) -> (x1^2, x2^2) separates linearly.

    After the map w = (1, 1) and b = -r^2 separate them; for an ellipse with half axes r1 and r2,
    w = (1/r1^2, 1/r2^2) and b = -1.

    Parameters
    ----------
    n_samples : int, default 200
        Half of them in each class.
    radius : float or (float, float), default 1
        Radius r of the circle, or the half axes of an ellipse.
    gap : float, default 0.1
        Width of the ring left empty on each side of the circle, as a share of the radius, at least 0 and below 1.
    seed : int, default 0

    Returns
    -------
    X : array of shape (n_samples, 2)
        Points up to twice as far from the origin as the circle.
    y : int64 array of shape (n_samples,)
        +1 outside, -1 inside: the sign of x1^2 + x2^2 - r^2.

    Examples
    --------
    >>> from rosenblatt.datasets import circle_points
    >>> X, y = circle_points(100, radius=2)
    >>> bool(((X**2).sum(axis=1) - 4 > 0).tolist() == (y > 0).tolist())
    True
    """
    n, random = _count("n_samples", n_samples), _random(seed)
    given = tuple(radius) if isinstance(radius, tuple | list) else (radius, radius)
    if len(given) != 2:
        _refuse("radius", radius, "one number, or two for an ellipse")
    axes = [_number("radius", r, lambda r: 0.0 < r < math.inf, "a number above 0, or two of them") for r in given]
    gap = _number("gap", gap, lambda gap: 0.0 <= gap < 1.0, "at least 0 and below 1")
    y = random.permutation(np.arange(n) % 2 * 2 - 1).astype(np.int64)
    # Uniform on the disc, and on the ring around it.
    low, high = np.where(y > 0, (1.0 + gap) ** 2, 0.0), np.where(y > 0, 4.0, (1.0 - gap) ** 2)
    distance = np.sqrt(high - random.random(n) * (high - low))
    angle = random.uniform(0.0, 2.0 * math.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) * distance[:, None] * axes, y


# -------------------------------------------------------------------------------------------------------- files

CHUNK = 1 << 20
DEFLATE_LIMIT = 1032  # no byte of a gzip file becomes more bytes than this


@contextmanager
def _opened(path: FilePath) -> Iterator[tuple[BufferedIOBase, float]]:
    """Open a file, unpack it if it is gzip by content, and say how many bytes it can hold at most."""
    try:
        file = open(Path(path), "rb")  # noqa: SIM115 - closed below
    except (OSError, TypeError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be opened ({error}). Pass the path of a file that can be read.") from None
    with file:
        try:
            status = os.fstat(file.fileno())
            held = float(status.st_size) if stat.S_ISREG(status.st_mode) else math.inf
            if file.peek(2)[:2] == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield unpacked, held * DEFLATE_LIMIT
            else:
                yield file, held
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidInput(
                f"{path} cannot be read to its end ({error}): it is damaged or cut short. Fetch it again."
            ) from None


def _read(stream: BufferedIOBase, size: int) -> bytearray:
    """Read up to `size` bytes; memory grows with what is there, not with what is asked for."""
    content = bytearray()
    while len(content) < size and (part := stream.read(min(CHUNK, size - len(content)))):
        content += part
    return content


IDX_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
IDX_AXES = 64  # as many as numpy has


def load_idx(path: FilePath) -> Array:
    """Read an array from an IDX file, the format of MNIST, plain or gzip.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    array
        In the shape and type that the file says, in the machine's byte order.

    Raises
    ------
    InvalidInput
        If the file is not IDX, or shorter or longer than its header says. Nothing is allocated on the word of a
        header that the file cannot keep.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from rosenblatt.datasets import load_idx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "labels")
    ...     _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 0, 4]))
    ...     load_idx(path).tolist()
    [5, 0, 4]
    """
    with _opened(path) as (stream, held):
        magic = stream.read(4)
        if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in IDX_TYPES or magic[3] > IDX_AXES:
            raise InvalidInput(
                f"{path} starts with {magic!r}, which is not IDX: two bytes 0, a type out of "
                f"{', '.join(f'0x{code:02X}' for code in IDX_TYPES)}, and a number of dimensions up to {IDX_AXES}. "
                "Pass an IDX file, such as those of MNIST."
            )
        kind, axes = np.dtype(IDX_TYPES[magic[2]]), magic[3]
        sizes = stream.read(4 * axes)
        if len(sizes) < 4 * axes:
            raise InvalidInput(f"{path} ends within its header of {axes} dimensions. Fetch it again.")
        shape = struct.unpack(f">{axes}I", sizes)
        wanted = math.prod(shape) * kind.itemsize
        told = f"{path} says that it holds {' x '.join(map(str, shape)) or 'one'} values of type {kind.name}"
        if wanted + 4 + 4 * axes > held:
            raise InvalidInput(f"{told}, {wanted} bytes, but it is too short for that. Fetch it again.")
        content = _read(stream, wanted + 1)
    if len(content) != wanted:
        found = f"only {len(content)}" if len(content) < wanted else "more"
        raise InvalidInput(f"{told}, {wanted} bytes, but it has {found}. Fetch it again.")
    try:
        values = np.frombuffer(content, kind).reshape(shape)
    except ValueError as error:  # no values, but sizes whose product is too large for numpy
        raise InvalidInput(f"{told}, which is no shape of an array ({error}). Fetch it again.") from None
    return values.astype(kind.newbyteorder("="), copy=False)


MNIST_FILES = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")


def load_mnist(folder: FilePath, *, raw: bool = False) -> tuple[Array, Array, Array, Array]:
    """Read MNIST, or another data set in its four files, such as Fashion-MNIST.

    Parameters
    ----------
    folder : path-like
        Folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
        t10k-labels-idx1-ubyte, each plain or with the ending .gz.
    raw : bool, default False
        Keep the pixels as they are, uint8 from 0 to 255, instead of float32 from 0 to 1.

    Returns
    -------
    X_train, y_train, X_test, y_test : arrays
        One row of pixels for each image; labels as int64.

    Examples
    --------
    >>> from rosenblatt.datasets import load_mnist
    >>> X_train, y_train, X_test, y_test = load_mnist("mnist")  # doctest: +SKIP
    """
    parts: list[Array] = []
    for images_name, labels_name in zip(MNIST_FILES[::2], MNIST_FILES[1::2], strict=True):
        images, labels = load_idx(_mnist_file(folder, images_name)), load_idx(_mnist_file(folder, labels_name))
        if images.dtype != np.uint8 or images.ndim != 3 or labels.dtype != np.uint8 or labels.shape != images.shape[:1]:
            raise InvalidInput(
                f"{folder} has images of shape {images.shape} and type {images.dtype} with labels of shape "
                f"{labels.shape} and type {labels.dtype}; they must be (n, height, width) and (n,), of type uint8. "
                "Fetch the four files of one data set."
            )
        X = images.reshape(len(images), math.prod(images.shape[1:]))
        if not raw:
            X = X.astype(np.float32)
            X /= np.float32(255.0)
        parts += [X, labels.astype(np.int64)]
    X_train, y_train, X_test, y_test = parts
    if X_train.shape[1] != X_test.shape[1]:
        raise InvalidInput(
            f"{folder} has images of {X_train.shape[1]} pixels to train on and of {X_test.shape[1]} to test on. "
            "Fetch the four files of one data set."
        )
    return X_train, y_train, X_test, y_test


def _mnist_file(folder: FilePath, name: str) -> Path:
    try:
        place = Path(folder)
    except TypeError:
        _refuse("folder", folder, "the path of a folder")
    for ending in ("-ubyte", "-ubyte.gz"):
        for spelling in (name + ending, name.replace("-idx", ".idx") + ending):
            if os.path.isfile(place / spelling):
                return place / spelling
    raise InvalidInput(
        f"{folder} has no file {name}-ubyte or {name}-ubyte.gz. Pass the folder with MNIST's four files."
    )


# ----------------------------------------------------------------------------------------------------- svmlight

BLOCK = 1 << 24
LONGEST_LINE = 1 << 28
NUMBER = rb"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
COMMENT = re.compile(rb"#[^\n]*")
QUERY = re.compile(rb"(?<=[ \t])qid:[0-9]+(?=[ \t\r\n])")
# A space before something that is neither a number, nor index:number, nor space, nor the end. Without nested
# repetitions the search needs no memory, however long the line.
FAULT = re.compile(rb"[ \t\r\n](?!(?:[0-9]+:)?" + NUMBER + rb"[ \t\r\n]|[ \t\r\n]|\Z)")
NO_LABEL = re.compile(rb"\n[ \t\r]*[0-9]+:")


def load_svmlight(
    path: FilePath, *, n_features: int | None = None, zero_based: bool | str = "auto"
) -> tuple[Any, Array]:
    """Read sparse rows from a file in the format of SVMlight and LIBSVM, plain or gzip.

    Each line is ``label index:value index:value ...``, with indices in any order. Values of a repeated index are
    added up. Blank lines, comments from # on, and ``qid:`` are ignored.

    Parameters
    ----------
    path : path-like
    n_features : int, optional
        Number of columns; by default as many as the largest index needs. Give it where two files, such as training
        and test data, must agree.
    zero_based : bool or "auto", default "auto"
        Whether indices count from 0; otherwise from 1. "auto": from 1, unless an index 0 occurs.

    Returns
    -------
    X : CSR matrix of float64, of shape (n_samples, n_features)
        Indices in order, none repeated, int32 unless there are 2^31 values or more.
    y : float64 array of shape (n_samples,)

    Raises
    ------
    InvalidInput
        If a line is anything else; several labels, NaN and infinity are refused too. The message names the line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from rosenblatt.datasets import load_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.svm")
    ...     _ = path.write_text("+1 1:0.5 3:2 # a comment" + chr(10) + "-1 2:1")
    ...     X, y = load_svmlight(path)
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1.0, -1.0])
    """
    width = None if n_features is None else _count("n_features", n_features)
    if width is not None and width > LARGEST_INT32:
        _refuse("n_features", n_features, f"at most {LARGEST_INT32}")
    if not (isinstance(zero_based, bool) or (isinstance(zero_based, str) and zero_based == "auto")):
        _refuse("zero_based", zero_based, 'True, False or "auto"')
    with _opened(path) as (stream, _):
        blocks = [_parse(block, first, path) for first, block in _blocks(stream, path)]
    if not sum(block.y.size for block in blocks):
        raise InvalidInput(f"{path} has no rows. Pass a file with lines such as: +1 3:0.5 7:1")
    parts = ("y", "values", "index", "counts", "lines")
    y, values, index, counts, lines = (np.concatenate([getattr(block, part) for block in blocks]) for part in parts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    least = _base(index, zero_based)
    if width is None:
        if not index.size:
            raise InvalidInput(f"{path} has no index:value at all. Pass n_features to say how many columns there are.")
        width = int(index.max()) - least + 1
    outside = np.flatnonzero((index < least) | (index >= width + least))
    if outside.size:
        line = lines[np.searchsorted(indptr, outside[0], side="right") - 1]
        raise InvalidInput(
            f"{path}, line {line}: index {index[outside[0]]} is not among {least} to {width + least - 1}. "
            "Correct the line, or n_features and zero_based."
        )
    X = sp.csr_matrix((values, index - np.int32(least), indptr), shape=(y.size, width))
    X.sum_duplicates()
    if not np.isfinite(X.data).all():
        row = np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(X.data))[0], side="right") - 1
        raise InvalidInput(f"{path}, line {lines[row]}: the values of a repeated index add up to infinity. Scale them.")
    return X, y


def _base(index: Array, zero_based: bool | str) -> int:
    """Give the number of the first column."""
    if zero_based == "auto":
        return int(index.size > 0 and index.min() > 0)
    return 0 if zero_based else 1


def _blocks(stream: BufferedIOBase, path: FilePath) -> Iterator[tuple[int, bytes]]:
    """Give whole lines in large blocks, with the number of the first line of each."""
    first, rest = 1, b""
    while chunk := stream.read(BLOCK):
        if first == 1 and not rest:
            chunk = chunk.removeprefix(b"\xef\xbb\xbf")  # the mark some editors put in front
        whole, newline, rest = (rest + chunk).rpartition(b"\n")
        if newline:
            yield first, whole + newline
            first += whole.count(b"\n") + 1
        if len(rest) > LONGEST_LINE:
            raise InvalidInput(
                f"{path}, line {first} has more than {LONGEST_LINE} bytes. Pass a text file with one row on each line."
            )
    yield first, rest + b"\n"


@dataclass(frozen=True)
class _Rows:
    """What a block of lines says; `counts[i]` of the pairs `index`, `values` belong to row i, on line `lines[i]`."""

    y: Array
    values: Array
    index: Array
    counts: Array
    lines: Array


def _parse(block: bytes, first: int, path: FilePath) -> _Rows:
    text = b"\n" + block
    if b"#" in text:
        text = COMMENT.sub(b"", text)
    if b"qid:" in text:
        text = QUERY.sub(b"", text)
    if fault := FAULT.search(text):
        raise _fault(text, fault.end(), first, path)
    code = np.frombuffer(text, np.uint8)
    printed = code > 32
    starts = np.flatnonzero(code[:-1] == 10) + 1  # of lines
    begins = printed & ~np.concatenate([[False], printed[:-1]])
    tokens = np.add.reduceat(begins, starts, dtype=np.int64)
    pairs = np.add.reduceat(code == 58, starts, dtype=np.int64)
    # All that is printed is a number or a pair by now. A line of pairs and one number, where no pair comes first,
    # is a label and its row.
    filled = tokens > 0
    wrong = np.flatnonzero(filled & (tokens != pairs + 1))
    where = int(starts[wrong[0]]) if wrong.size else len(text)
    if early := NO_LABEL.search(text, 0, where):
        where = early.end()
    if where < len(text):
        raise _fault(text, where, first, path)
    counts = pairs[filled]
    # fromstring makes up a number where there is none.
    numbers = np.fromstring(text.replace(b":", b" "), sep=" ") if counts.size else np.empty(0)
    heads = np.arange(counts.size) + 2 * (np.cumsum(counts) - counts)
    y, features = numbers[heads], np.delete(numbers, heads)
    index, values = features[::2], features[1::2]
    lines = np.flatnonzero(filled) + first
    _check_numbers(y, values, index, counts, lines, path)
    return _Rows(y, np.ascontiguousarray(values), index.astype(np.int32), counts, lines)


def _check_numbers(y: Array, values: Array, index: Array, counts: Array, lines: Array, path: FilePath) -> None:
    """Refuse what has the form of a number but is too large to be one."""
    owner = np.repeat(lines, counts)
    for numbers, own, what in ((y, lines, "label"), (values, owner, "value")):
        infinite = np.flatnonzero(~np.isfinite(numbers))
        if infinite.size:
            raise InvalidInput(f"{path}, line {own[infinite[0]]}: a {what} is too large for float64. Scale the data.")
    huge = np.flatnonzero(index >= LARGEST_INT32)
    if huge.size:
        raise InvalidInput(
            f"{path}, line {owner[huge[0]]}: index {index[huge[0]]:.0f} is not below {LARGEST_INT32}. "
            "Number the features anew, or hash them into fewer columns."
        )


def _fault(text: bytes, position: int, first: int, path: FilePath) -> InvalidInput:
    """Say what is wrong in the line at a position of a text that has one newline too many in front."""
    start, end = text.rfind(b"\n", 0, position) + 1, text.find(b"\n", position)
    line = first - 1 + text.count(b"\n", 0, position)
    for place, token in enumerate(re.finditer(rb"[^ \t\r]+", text[start:end])):
        if fault := _token_fault(token[0], label=place == 0):
            found = reprlib.repr(token[0].decode("latin-1"))
            return InvalidInput(f"{path}, line {line}: {found} {fault}")
    raise AssertionError("a line was refused that has no fault")


def _token_fault(token: bytes, label: bool) -> str:
    """Say what is wrong with a token and what to do, or nothing."""
    index, colon, value = token.partition(b":")
    if label:
        if re.fullmatch(NUMBER, token):
            return ""
        if b"," in token:
            return "looks like several labels. Give one for each line, as a number."
        if colon:
            return "is there instead of a label. Start each line with its label, as in: +1 3:0.5 7:1"
        return "is not a label. Use finite numbers, as in: +1 3:0.5 7:1"
    if not colon:
        return "is not index:value. Write rows as in: +1 3:0.5 7:1"
    if index == b"qid":
        return "is not a query in the form qid:7. Correct or remove it."
    if not index.isdigit():
        return "has an index that is not a whole number from 0. Number the features from 1, or from 0."
    if not re.fullmatch(NUMBER, value):
        return "has a value that is not a finite number. Correct it, or leave it out if it is not known."
    return ""
