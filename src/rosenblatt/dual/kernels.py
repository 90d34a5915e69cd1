"""Similarities k(x, z): all that a dual representation needs to know of its objects.

Objects come as rows of an array, as rows of a CSR matrix, or as anything at all in an array of objects. A similarity
takes two such collections and gives the whole block at once; the built-in ones by a matrix product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.compiled.distances import CsrBlock, city_block, city_block_csr
from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]
Objects = Any  # a 2-D array, a CSR matrix, or a 1-D array of objects; numbers of rows for a precomputed matrix

# Sparse rows with no more features than this are multiplied as dense ones: at such widths BLAS wins.
NARROW = 2048
# Features from which on a similarity is cheaper to keep than to compute again. Fresh memory is dear: on MNIST, with
# 784, writing a gigabyte of them took 4 s of a fit of 14.
WIDE = 4096
# Rows whose similarity with themselves is asked for at a time, where only whole blocks can be had.
TOGETHER = 64


def is_sparse(objects: Objects) -> bool:
    """Tell whether objects are rows of a sparse matrix."""
    return bool(sp.issparse(objects))


def take(objects: Objects, index: Array) -> Objects:
    """Give some of the objects, without a copy where they are neighbours."""
    if index.size and index[-1] - index[0] == index.size - 1 and (index.size == 1 or (np.diff(index) == 1).all()):
        return objects[int(index[0]) : int(index[-1]) + 1]
    return objects[index]


def join(first: Objects, second: Objects) -> Objects:
    """Give the objects of both, sparse if either is."""
    if not first.shape[0] or not second.shape[0]:
        return first if first.shape[0] else second
    if is_sparse(first) or is_sparse(second):
        return sp.vstack([sp.csr_matrix(first), sp.csr_matrix(second)], format="csr")
    return np.concatenate([first, second])


def _dense(rows: Objects) -> Array:
    return np.asarray(rows.toarray()) if is_sparse(rows) else np.asarray(rows)


def _products(A: Objects, B: Objects) -> Array:
    """Give A B' as a dense array."""
    if is_sparse(A) or is_sparse(B):
        if A.shape[1] <= NARROW:
            return _dense(A) @ _dense(B).T
        return _dense(A @ B.T) if is_sparse(A) else _dense((B @ A.T).T)
    return np.asarray(A @ B.T)


def _squares(rows: Objects) -> Array:
    """Give the squared length of each row."""
    if is_sparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1)
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


class Similarity:
    """A similarity of objects.

    Attributes
    ----------
    dear : bool
        Whether a single one costs so much that none is to be computed in vain.
    foreign : bool
        Whether it calls a user's function, which need not be fit for threads.
    """

    dear: ClassVar[bool] = False
    foreign: ClassVar[bool] = False

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Give k(row, vector) as an array of shape (n_vectors, n_rows)."""
        raise NotImplementedError

    def costly(self, rows: Objects) -> bool:
        """Tell whether a similarity of such rows is cheaper to keep than to compute again."""
        return bool(rows.ndim == 1 or rows.shape[1] >= WIDE)

    def own(self, rows: Objects) -> Array:
        """Give k(x, x) of each row."""
        blocks = (take(rows, np.arange(i, min(i + TOGETHER, rows.shape[0]))) for i in range(0, rows.shape[0], TOGETHER))
        return np.concatenate([np.diagonal(self.columns(block, block)) for block in blocks])


@dataclass(frozen=True)
class Polynomial(Similarity):
    """(gamma x.z + coef0)^degree; the inner product itself with its values left as they are.

    Whole powers are products, so that integers stay exact.
    """

    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Give the powers of the shifted inner products."""
        return self._raise(_products(vectors, rows))

    def own(self, rows: Objects) -> Array:
        """Give the powers of the shifted squared lengths."""
        return self._raise(_squares(rows))

    def _raise(self, K: Array) -> Array:
        if self.gamma != 1.0:
            K *= K.dtype.type(self.gamma)
        if self.coef0 != 0.0:
            K += K.dtype.type(self.coef0)
        if self.degree == 0:
            K[...] = 1.0
        elif self.degree > 1:
            bits = f"{self.degree:b}"[1:]
            base = K.copy() if "1" in bits else K
            with np.errstate(over="ignore"):  # scores that are not finite are refused later, by name
                for bit in bits:
                    K *= K
                    if bit == "1":
                        K *= base
        return K


@dataclass(frozen=True)
class Gaussian(Similarity):
    """exp(-gamma |x - z|^2): radial basis functions."""

    gamma: float

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Give the exponentials of the squared distances, which come from inner products."""
        K = _products(vectors, rows)
        K *= -2
        K += _squares(vectors)[:, None]
        K += _squares(rows)
        np.maximum(K, 0, out=K)
        K *= K.dtype.type(-self.gamma)
        return np.exp(K, out=K)

    def own(self, rows: Objects) -> Array:
        """Give ones."""
        return np.ones(rows.shape[0], rows.dtype)


@dataclass(frozen=True)
class Laplacian(Similarity):
    """exp(-gamma |x - z|_1), with the sum of absolute differences."""

    gamma: float

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Give the exponentials of the distances."""
        K = np.empty((vectors.shape[0], rows.shape[0]), np.result_type(vectors.dtype, rows.dtype))
        if is_sparse(vectors) and is_sparse(rows):
            city_block_csr(_as_block(vectors), _as_block(rows), K)
        else:
            city_block(_dense(vectors), _dense(rows), K)
        K *= K.dtype.type(-self.gamma)
        return np.exp(K, out=K)

    def own(self, rows: Objects) -> Array:
        """Give ones."""
        return np.ones(rows.shape[0], rows.dtype)


def _as_block(rows: Objects) -> CsrBlock:
    """Return CSR rows with the sums of their absolute values."""
    length = np.asarray(abs(rows).sum(axis=1), dtype=np.float64).reshape(-1)
    return CsrBlock(rows.data, rows.indices, rows.indptr, length)


@dataclass(frozen=True)
class Cosine(Similarity):
    """x.z / (|x| |z|); zero where either is zero."""

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Give the inner products over the lengths."""
        K = _products(vectors, rows)
        for part, axis in ((vectors, (slice(None), None)), (rows, (None, slice(None)))):
            length = np.sqrt(_squares(part))
            K /= np.where(length > 0, length, 1)[axis]
        return K

    def own(self, rows: Objects) -> Array:
        """Give ones, and zero where a row is."""
        return (_squares(rows) > 0).astype(rows.dtype)


@dataclass(frozen=True)
class Padded(Similarity):
    """k(x, z) + 1: the similarity of the objects with one more feature, which is one everywhere: a bias."""

    inner: Similarity

    @property
    def dear(self) -> bool:  # type: ignore[override]
        """Whether the inner one is."""
        return self.inner.dear

    @property
    def foreign(self) -> bool:  # type: ignore[override]
        """Whether the inner one is."""
        return self.inner.foreign

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Add one."""
        K = self.inner.columns(vectors, rows)
        K += 1
        return K

    def costly(self, rows: Objects) -> bool:
        """Tell what the inner one does."""
        return self.inner.costly(rows)

    def own(self, rows: Objects) -> Array:
        """Add one."""
        return self.inner.own(rows) + 1


@dataclass(frozen=True)
class Precomputed(Similarity):
    """Entries of a matrix of shape (n_rows, n_vectors); the objects are the numbers of its rows and columns."""

    matrix: Array

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Look them up."""
        return np.ascontiguousarray(self.matrix[np.ix_(rows, vectors)].T)

    def costly(self, rows: Objects) -> bool:
        """Tell that they are kept already."""
        return False

    def own(self, rows: Objects) -> Array:
        """Give the diagonal."""
        return np.asarray(self.matrix[rows, rows])


@dataclass(frozen=True)
class Blocks(Similarity):
    """A user's function from two blocks of objects to the block of their similarities."""

    function: Callable[[Any, Any], Any]
    foreign = True

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Call the function, and look at what it returns."""
        wanted = (rows.shape[0], vectors.shape[0])
        K = _as_numbers(self.function(rows, vectors), "a block of similarities")
        if K.shape != wanted:
            raise InvalidInput(
                f"The kernel gave an array of shape {K.shape} for blocks of {wanted[0]} and {wanted[1]} rows. It must "
                f"give one of shape {wanted}: the similarity of each row of the first with each of the second."
            )
        return np.array(K.T, order="C")

    def costly(self, rows: Objects) -> bool:
        """Tell that nobody knows what a user's function costs."""
        return True


@dataclass(frozen=True)
class Pairs(Similarity):
    """A user's function from two objects to their similarity, which does not depend on which comes first."""

    function: Callable[[Any, Any], Any]
    dear = foreign = True

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Call the function for each pair."""
        given = [[self.function(row, vector) for row in rows] for vector in vectors]
        K = _as_numbers(given, "a similarity").reshape(len(given), -1)
        return K

    def own(self, rows: Objects) -> Array:
        """Call the function for each object with itself."""
        return _as_numbers([self.function(row, row) for row in rows], "a similarity")


def _as_numbers(given: Any, what: str) -> Array:
    """Give what a user's function returned as finite numbers."""
    given = _dense(given) if is_sparse(given) else given
    try:
        K = np.asarray(given)
        K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"The kernel must give {what}, but what it gave is not a number ({error}).") from None
    if not np.isfinite(K).all():
        raise InvalidInput(f"The kernel gave {what} that is NaN or infinite. A similarity is a finite number.")
    return K


def from_function(function: Callable[[Any, Any], Any], objects: Objects) -> Similarity:
    """Find out whether a user's function takes blocks or single objects, by trying.

    It is called with two blocks, of two and of three objects. What gives an array of two by three takes blocks; any
    other function must give a number for two single objects.
    """
    # With three features a product meant for two vectors would give two by three, too: then there are four objects.
    sizes = (2, 4 if objects.ndim == 2 and objects.shape[1] == 3 else 3)
    blocks = [objects[np.arange(size) % objects.shape[0]] for size in sizes]
    try:
        answer = function(*blocks)
        if np.shape(_dense(answer) if is_sparse(answer) else answer) == sizes:
            return Blocks(function)
        found = f"shape {np.shape(answer)}"
    except Exception as error:  # whatever a function of single objects makes of two blocks
        found = f"{type(error).__name__}: {error}"
    if is_sparse(objects):
        raise InvalidInput(
            f"The kernel does not give a block of similarities for two sparse blocks ({found}). Write it for blocks of "
            "CSR rows, or pass a dense array."
        )
    try:
        if np.ndim(function(objects[0], objects[0])) == 0:
            return Pairs(function)
        single = "it gave an array"
    except Exception as error:
        single = f"{type(error).__name__}: {error}"
    raise InvalidInput(
        f"The kernel takes neither two blocks of rows ({found}) nor two single ones ({single}). It must give the block "
        "of their similarities, or a number."
    )
