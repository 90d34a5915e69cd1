"""Kernels: similarities k(x, z), all that a dual representation needs of its objects.

Objects are rows of an array, rows of a CSR matrix, or anything at all in an array of objects. A kernel takes two such
collections and returns the whole block of similarities at once. The built-in kernels use a matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.matrices import sp
from rosenblatt.engine.jit import compiled
from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]
Objects = Any  # a 2-D array, a CSR matrix, or a 1-D array of objects; numbers of rows for a precomputed matrix

# Up to this many features sparse rows are multiplied as dense ones: BLAS is faster.
DENSE_PRODUCT_MAX_FEATURES = 2048
# From this many features on, keeping a similarity is cheaper than computing it again. Writing to fresh memory is slow:
# on MNIST, with 784 features, writing a gigabyte of similarities took 4 s of a fit of 14 s.
CACHED_MIN_FEATURES = 4096


def is_sparse(objects: Objects) -> bool:
    """Return whether objects are rows of a sparse matrix."""
    return bool(sp.issparse(objects))


def are_neighbours(number: Array) -> bool:
    """Return whether numbers are consecutive, so that a slice can replace them."""
    return bool(number.size and number[-1] - number[0] == number.size - 1 and (np.diff(number) == 1).all())


def take(objects: Objects, number: Array) -> Objects:
    """Return some of the objects, without a copy if they are neighbours."""
    if are_neighbours(number):
        return objects[int(number[0]) : int(number[-1]) + 1]
    return objects[number]


def join(first: Objects, second: Objects) -> Objects:
    """Return the objects of both, sparse if either is."""
    if not first.shape[0] or not second.shape[0]:
        return first if first.shape[0] else second
    if is_sparse(first) or is_sparse(second):
        return sp.vstack([sp.csr_matrix(first), sp.csr_matrix(second)], format="csr")
    return np.concatenate([first, second])


def _dense(rows: Objects) -> Array:
    return np.asarray(rows.toarray()) if is_sparse(rows) else np.asarray(rows)


def width(gamma: float | str, objects: Objects) -> float:
    """Return the value of gamma for these rows.

    A number is returned as it is; "scale" gives 1 / (n_features * variance of all entries), or 1 if all entries are
    equal; "auto" gives 1 / n_features.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / int(objects.shape[1])
    if is_sparse(objects):
        variance = objects.multiply(objects).mean() - objects.mean() ** 2
    else:
        variance = objects.var(dtype=np.float64)
    return float(1.0 / (objects.shape[1] * variance)) if variance > 0 else 1.0


def _products(A: Objects, B: Objects) -> Array:
    """Return A B' as a dense array."""
    if is_sparse(A) or is_sparse(B):
        if A.shape[1] <= DENSE_PRODUCT_MAX_FEATURES:
            return _dense(A) @ _dense(B).T
        return _dense(A @ B.T) if is_sparse(A) else _dense((B @ A.T).T)
    return np.asarray(A @ B.T)


def _squares(rows: Objects) -> Array:
    """Return the squared length of each row."""
    if is_sparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1)
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


class Similarity:
    """A similarity of objects."""

    expensive: ClassVar[bool] = False  # whether a similarity is so slow that none may be wasted
    user_defined: ClassVar[bool] = False  # whether it calls a user's function, which need not be safe for threads

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Return k(row, vector) as an array of shape (n_vectors, n_rows)."""
        raise NotImplementedError

    def worth_caching(self, rows: Objects) -> bool:
        """Return whether keeping a similarity of such rows is cheaper than computing it again."""
        return bool(rows.ndim == 1 or rows.shape[1] >= CACHED_MIN_FEATURES)

    def diagonal(self, rows: Objects) -> Array:
        """Return k(x, x) of each row."""
        # Whole blocks must be computed, of which the diagonal is needed: small ones waste less.
        blocks = (rows[start : start + 64] for start in range(0, rows.shape[0], 64))
        return np.concatenate([np.diagonal(self.columns(block, block)) for block in blocks])


@dataclass(frozen=True)
class Polynomial(Similarity):
    """(gamma x.z + coef0)^degree; with its default values, the inner product itself.

    Powers are computed by products, so that integers stay exact.
    """

    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Return the powers of the shifted inner products."""
        return self._raise(_products(vectors, rows))

    def diagonal(self, rows: Objects) -> Array:
        """Return the powers of the shifted squared lengths."""
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
            with np.errstate(over="ignore"):
                for bit in bits:
                    K *= K
                    if bit == "1":
                        K *= base
        if not np.isfinite(K).all():
            raise InvalidInput(
                f"({self.gamma:g} x.z + {self.coef0:g})^{self.degree} overflows {K.dtype} for some of the rows. Scale "
                "the data, for example with StandardScaler, or lower gamma or degree."
            )
        return K


@dataclass(frozen=True)
class Gaussian(Similarity):
    """exp(-gamma |x - z|^2): radial basis functions."""

    gamma: float

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Return the exponentials of the squared distances, which are computed from inner products."""
        K = _products(vectors, rows)
        to_exponents(K, _squares(vectors), _squares(rows), self.gamma)
        return np.exp(K, out=K)

    def diagonal(self, rows: Objects) -> Array:
        """Return ones."""
        return np.ones(rows.shape[0], rows.dtype)


@dataclass(frozen=True)
class Laplacian(Similarity):
    """exp(-gamma |x - z|_1), with the sum of absolute differences."""

    gamma: float

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Return the exponentials of the distances."""
        K = np.empty((vectors.shape[0], rows.shape[0]), np.result_type(vectors.dtype, rows.dtype))
        if is_sparse(vectors) and is_sparse(rows):
            city_block_csr(_as_block(vectors), _as_block(rows), K)
        else:
            city_block(_dense(vectors), _dense(rows), K)
        K *= K.dtype.type(-self.gamma)
        return np.exp(K, out=K)

    def diagonal(self, rows: Objects) -> Array:
        """Return ones."""
        return np.ones(rows.shape[0], rows.dtype)


def _as_block(rows: Objects) -> CsrBlock:
    """Return CSR rows with the sums of their absolute values."""
    length = np.asarray(abs(rows).sum(axis=1), dtype=np.float64).reshape(-1)
    return CsrBlock(rows.data, rows.indices, rows.indptr, length)


@dataclass(frozen=True)
class Cosine(Similarity):
    """x.z / (|x| |z|); zero if either is zero."""

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Return the inner products, divided by the lengths."""
        K = _products(vectors, rows)
        for part, axis in ((vectors, (slice(None), None)), (rows, (None, slice(None)))):
            length = np.sqrt(_squares(part))
            K /= np.where(length > 0, length, 1)[axis]
        return K

    def diagonal(self, rows: Objects) -> Array:
        """Return ones, and zeros for rows that are zero."""
        return (_squares(rows) > 0).astype(rows.dtype)


@dataclass(frozen=True)
class Padded(Similarity):
    """k(x, z) + 1: the similarity of objects with one more feature, 1 everywhere: a bias."""

    inner: Similarity

    @property
    def expensive(self) -> bool:  # type: ignore[override]
        """Whether the inner similarity is expensive."""
        return self.inner.expensive

    @property
    def user_defined(self) -> bool:  # type: ignore[override]
        """Whether the inner similarity is a user's."""
        return self.inner.user_defined

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Return the inner similarities plus one."""
        K = self.inner.columns(vectors, rows)
        K += K.dtype.type(1.0)
        return K

    def worth_caching(self, rows: Objects) -> bool:
        """Return what the inner similarity does."""
        return self.inner.worth_caching(rows)

    def diagonal(self, rows: Objects) -> Array:
        """Return the inner diagonal plus one."""
        return self.inner.diagonal(rows) + 1.0


@dataclass(frozen=True)
class Precomputed(Similarity):
    """Entries of a matrix of shape (n_rows, n_vectors); the objects are the numbers of its rows and columns."""

    matrix: Array

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Return entries of the matrix."""
        return np.ascontiguousarray(self.matrix[np.ix_(rows, vectors)].T)

    def worth_caching(self, rows: Objects) -> bool:
        """Return False: the matrix is in memory already."""
        return False

    def diagonal(self, rows: Objects) -> Array:
        """Return entries of the diagonal of the matrix."""
        return np.asarray(self.matrix[rows, rows])


@dataclass(frozen=True)
class BlockFunction(Similarity):
    """A user's function from two blocks of objects to the block of their similarities."""

    function: Callable[[Any, Any], Any]
    user_defined = True

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Call the function, and check what it returns."""
        wanted = (rows.shape[0], vectors.shape[0])
        K = _as_numbers(self.function(rows, vectors), "a block of similarities")
        if K.shape != wanted:
            raise InvalidInput(
                f"The kernel gave an array of shape {K.shape} for blocks of {wanted[0]} and {wanted[1]} rows. It must "
                f"give one of shape {wanted}: the similarity of each row of the first with each of the second."
            )
        return np.array(K.T, order="C")

    def worth_caching(self, rows: Objects) -> bool:
        """Return True: the cost of a user's function is unknown."""
        return True


@dataclass(frozen=True)
class PairFunction(Similarity):
    """A user's function from two objects to their similarity, which does not depend on which comes first."""

    function: Callable[[Any, Any], Any]
    expensive = user_defined = True

    def columns(self, vectors: Objects, rows: Objects) -> Array:
        """Call the function for each pair."""
        answers = [[self.function(row, vector) for row in rows] for vector in vectors]
        return _as_numbers(answers, "a similarity").reshape(len(answers), -1)

    def diagonal(self, rows: Objects) -> Array:
        """Call the function for each object with itself."""
        return _as_numbers([self.function(row, row) for row in rows], "a similarity")


def _as_numbers(answer: Any, what: str) -> Array:
    """Return the answer of a user's function as an array; raise InvalidInput unless it is finite numbers."""
    answer = _dense(answer) if is_sparse(answer) else answer
    try:
        K = np.asarray(answer)
        if K.dtype.kind == "c":
            raise InvalidInput(f"The kernel gave {what} in complex numbers. A similarity is a real number.")
        K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"The kernel must give {what}, but what it gave is not a number ({error}).") from None
    if not np.isfinite(K).all():
        raise InvalidInput(f"The kernel gave {what} that is NaN or infinite. A similarity is a finite number.")
    return K


def from_function(function: Callable[[Any, Any], Any], objects: Objects) -> Similarity:
    """Return the similarity that a user's function computes: of two blocks, or of two single objects.

    The function is called with two blocks, of two and of three objects. If it returns an array of two by three, it
    takes blocks. Any other function must return a number for two single objects.
    """
    # With three features, a product of two single vectors would be two by three as well: then use four objects.
    sizes = (2, 4 if objects.ndim == 2 and objects.shape[1] == 3 else 3)
    blocks = [objects[np.arange(size) % objects.shape[0]] for size in sizes]
    try:
        answer = function(*blocks)
        if np.shape(_dense(answer) if is_sparse(answer) else answer) == sizes:
            return BlockFunction(function)
        found = f"shape {np.shape(answer)}"
    except Exception as error:  # a function of single objects may raise anything when called with blocks
        found = f"{type(error).__name__}: {error}"
    if is_sparse(objects):
        raise InvalidInput(
            f"The kernel does not give a block of similarities for two sparse blocks ({found}). Write it for blocks of "
            "CSR rows, or pass a dense array."
        )
    try:
        if np.ndim(function(objects[0], objects[0])) == 0:
            return PairFunction(function)
        single = "it gave an array"
    except Exception as error:
        single = f"{type(error).__name__}: {error}"
    raise InvalidInput(
        f"The kernel takes neither two blocks of rows ({found}) nor two single ones ({single}). It must give the block "
        "of their similarities, or a number."
    )


# Kernels with a width gamma.
WITH_WIDTH = ("poly", "rbf", "laplacian")


def built_in(name: str, gamma: float, coef0: float, degree: int) -> Similarity:
    """Return the kernel of a name; parameters that it does not have are ignored."""
    made: dict[str, Callable[[], Similarity]] = {
        "linear": Polynomial,
        "quadratic": lambda: Polynomial(1.0, 1.0, 2),
        "poly": lambda: Polynomial(gamma, coef0, degree),
        "rbf": lambda: Gaussian(gamma),
        "laplacian": lambda: Laplacian(gamma),
        "cosine": Cosine,
    }
    return made[name]()


def as_objects(items: Any) -> Array:
    """Return a sequence of anything as an array of objects."""
    objects = np.empty(len(items), object)
    for i, item in enumerate(items):
        objects[i] = item
    if not objects.size:
        raise InvalidInput("Found 0 sample(s) in X while a minimum of 1 is required.")
    return objects


def are_vectors(X: Any) -> bool:
    """Return whether X has rows of numbers: a matrix, a data frame, or lists that numpy reads as numbers."""
    if is_sparse(X) or hasattr(X, "columns"):
        return True
    if hasattr(X, "ndim"):
        return bool(X.ndim == 2 and X.dtype.kind not in "US")
    # A graph, too, can have a length and items, which numpy would take for those of a list.
    if not all(isinstance(row, Sequence) or hasattr(row, "__array__") for row in X):
        return False
    try:
        values = np.asarray(X)
    except ValueError:  # sequences of different lengths
        return False
    return values.ndim == 2 and values.dtype.kind in "fiubc"


# ----------------------------------------------------------------------- distances, in compiled loops without bounds


@compiled()
def to_exponents(K, squares_a, squares_b, gamma):
    """Replace the inner products K of rows a and b by -gamma |a - b|^2, in one pass over memory."""
    for i in range(K.shape[0]):
        for j in range(K.shape[1]):
            square = squares_a[i] + squares_b[j] - 2.0 * K[i, j]
            # Rounding may leave a square just below zero; NaN, after an overflow, stays.
            K[i, j] = 0.0 if square <= 0.0 else -gamma * square


# Sums may be reordered and fused, which vectorises them; NaN and infinity keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}


class CsrBlock(NamedTuple):
    """Rows stored by their nonzeros: row i is entries indptr[i] to indptr[i + 1]."""

    data: np.ndarray  # (nnz,)
    indices: np.ndarray  # (nnz,) features, ascending within a row
    indptr: np.ndarray  # (n + 1,)
    length: np.ndarray  # (n,) sum of the absolute values of each row


@compiled(fastmath=FASTMATH)
def city_block(A, B, out):
    """Write |a - b|_1 for each row a of A and each row b of B, both dense, into out (rows of A, rows of B)."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = 0.0
            for k in range(A.shape[1]):
                total += abs(A[i, k] - B[j, k])
            out[i, j] = total


@compiled(fastmath=FASTMATH)
def city_block_csr(A, B, out):
    """Write the same for two `CsrBlock`: the sum of both lengths, corrected where both rows have an entry."""
    data_a, indices_a, indptr_a, length_a = A
    data_b, indices_b, indptr_b, length_b = B
    for i in range(indptr_a.size - 1):
        for j in range(indptr_b.size - 1):
            total = length_a[i] + length_b[j]
            a, b = indptr_a[i], indptr_b[j]
            while a < indptr_a[i + 1] and b < indptr_b[j + 1]:
                if indices_a[a] < indices_b[b]:
                    a += 1
                elif indices_a[a] > indices_b[b]:
                    b += 1
                else:
                    x, z = data_a[a], data_b[b]
                    total += abs(x - z) - abs(x) - abs(z)
                    a += 1
                    b += 1
            out[i, j] = max(total, 0.0)  # rounding may leave a distance just below zero
