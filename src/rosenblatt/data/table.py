"""From what users have (arrays, frames, sparse matrices) to rows that a kernel may read without looking.

Compiled loops do not check bounds, so everything that could lead them astray is refused here: indices out
of range, broken row pointers, values that are not finite, shapes that do not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.compiled.epochs import Csr, Dense
from rosenblatt.compiled.inspection import inspect_csr, inspect_dense
from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Table:
    """Validated rows.

    Attributes
    ----------
    rows : Dense or Csr
        The rows, in place where the input allowed it.
    shape : (int, int)
        Number of rows and of features.
    dtype : numpy.dtype
        float32 or float64: the type of the values, and of the weights trained on them.
    largest : float
        Largest squared Euclidean norm of a row.
    """

    rows: Dense | Csr
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    largest: float

    def take(self, index: Array) -> Table:
        """Copy some of the rows."""
        if isinstance(self.rows, Dense):
            rows: Dense | Csr = Dense(self.rows.X[index])
        else:
            whole = sp.csr_matrix((self.rows.data, self.rows.indices, self.rows.indptr), shape=self.shape)
            part = whole[index]
            rows = Csr(part.data, part.indices, part.indptr)
        return Table(rows, (index.size, self.shape[1]), self.dtype, self.largest)


def as_table(X: Any) -> Table:
    """Validate X and give its rows to the kernels, without a copy where possible.

    float32 and float64 values are used in place, in C-contiguous arrays and in CSR matrices with int32 or int64
    indices; anything else is converted once.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    Table

    Raises
    ------
    InvalidInput
        If X is not a finite real matrix with at least one row and one feature, or is a damaged sparse matrix.
    """
    return _sparse_table(check_sparse(X)) if sp.issparse(X) else _dense_table(X)


def _real(values: Array, what: str) -> Array:
    """Give values as native float32 or float64."""
    if values.dtype.kind == "c":
        raise InvalidInput(f"Complex data not supported: {what} has dtype {values.dtype}. Pass its real part.")
    if values.dtype.kind not in "fiub":
        raise InvalidInput(
            f"{what} has dtype {values.dtype}, which is not numeric. Turn text and categories into numbers "
            "first, for example with a vectorizer or one-hot encoding."
        )
    # float16 fits float32; every integer up to 2**53 fits float64.
    kept = np.float32 if values.dtype in (np.float16, np.float32) else np.float64
    return np.ascontiguousarray(values, dtype=kept)


def _numeric(X: Any) -> Array:
    values = np.asarray(X)
    if values.dtype.kind in "OUS":
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"X cannot be read as numbers ({error}). Turn text and categories into numbers first, for "
                "example with a vectorizer or one-hot encoding."
            ) from None
    return values


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise InvalidInput(
            f"Expected 2D array, got {len(shape)}D array instead: X has shape {shape}. "
            "Reshape your data so that each row is one sample: X.reshape(n_samples, -1)."
        )
    for size, kind in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise InvalidInput(f"Found array with 0 {kind}(s) (shape={shape}) while a minimum of 1 is required.")


def _refuse_infinite(values: Array, row: int) -> None:
    """Say what is not finite in a row whose squared norm is not."""
    faulty = np.flatnonzero(~np.isfinite(values))
    if faulty.size == 0:
        raise InvalidInput(
            f"X has values as large as {np.abs(values).max():.3g} in row {row}, whose squared norm overflows. "
            "Scale the data, for example with StandardScaler."
        )
    name = "NaN" if np.isnan(values[faulty[0]]) else "infinity"
    raise InvalidInput(
        f"Input X contains {name} (row {row}, stored value {faulty[0]}). "
        "Remove such rows or fill them in, for example with SimpleImputer."
    )


def _dense_table(X: Any) -> Table:
    numbers = _numeric(X)
    _check_shape(numbers.shape)
    values = _real(numbers, "X")
    with np.errstate(over="ignore"):  # compiled code does not warn; the same code as plain Python would
        largest, fault = inspect_dense(values)
    if fault >= 0:
        _refuse_infinite(values[fault], fault)
    return Table(Dense(values), values.shape, values.dtype, largest)


def _damaged(fault: str) -> InvalidInput:
    return InvalidInput(
        f"X is a damaged sparse matrix: {fault}. Build it anew from its coordinates, for example with "
        "scipy.sparse.coo_array((values, (rows, columns)), shape=...).tocsr()."
    )


def _check_compressed(X: Any) -> None:
    """Refuse a CSR, CSC or BSR matrix whose arrays do not describe a matrix of its shape."""
    major, minor = X.shape if X.format != "csc" else X.shape[::-1]
    if X.format == "bsr":
        major, minor = major // X.blocksize[0], minor // X.blocksize[1]
    for name in ("indptr", "indices"):
        part = getattr(X, name)
        if not isinstance(part, np.ndarray) or part.ndim != 1 or part.dtype.kind not in "iu":
            raise _damaged(f"{name} is not a one-dimensional array of integers")
    indptr, indices, values = X.indptr, X.indices, X.data
    if indptr.size != major + 1:
        raise _damaged(f"indptr has {indptr.size} entries where the shape {X.shape} needs {major + 1}")
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise _damaged("indptr does not rise from 0")
    if indptr[-1] > min(indices.size, len(values)):
        raise _damaged(
            f"indptr ends at {indptr[-1]}, past the {indices.size} indices and {len(values)} values there are"
        )
    if X.format != "csr":  # the compiled inspection reads the indices of CSR
        used = indices[: indptr[-1]]
        if used.size and (used.min() < 0 or used.max() >= minor):
            raise _damaged(f"an index is outside [0, {minor}): the indices go from {used.min()} to {used.max()}")


def check_sparse(X: Any) -> Any:
    """Give a sparse matrix in a format whose arrays can be trusted by scipy's own conversions and products.

    Parameters
    ----------
    X : scipy sparse matrix or array

    Returns
    -------
    scipy sparse matrix or array
        X itself.

    Raises
    ------
    InvalidInput
        If an index or a pointer of X leads outside its arrays.
    """
    _check_shape(X.shape)
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X)
    elif X.format == "coo":
        for axis, size in enumerate(X.shape):
            index = X.coords[axis]
            if index.size != X.data.size or (index.size and (index.min() < 0 or index.max() >= size)):
                raise _damaged(f"a coordinate is outside the shape {X.shape}")
    return X


def _sparse_table(X: Any) -> Table:
    matrix = X.tocsr()
    values, indices, indptr = matrix.data, matrix.indices, matrix.indptr
    values = _real(values[: indptr[-1]], "X")
    indices = np.ascontiguousarray(indices, dtype=np.int32 if indices.dtype == np.int32 else np.int64)
    indptr = np.ascontiguousarray(indptr, dtype=np.int64 if indptr[-1] > np.iinfo(np.int32).max else indices.dtype)
    with np.errstate(over="ignore"):
        largest, outside, infinite, disorder = inspect_csr(values, indices, indptr, matrix.shape[1])
    if outside >= 0:
        raise _damaged(f"an index of row {outside} is outside [0, {matrix.shape[1]})")
    if infinite >= 0:
        _refuse_infinite(values[indptr[infinite] : indptr[infinite + 1]], infinite)
    if disorder >= 0:
        # Repeated entries add up in scipy's eyes; a sum of their squares would not be the row's norm.
        tidy = sp.csr_matrix((values, indices, indptr), shape=matrix.shape, copy=True)
        tidy.sum_duplicates()
        return _sparse_table(tidy)
    return Table(Csr(values, indices, indptr), matrix.shape, values.dtype, largest)


def as_labels(y: Any, n_samples: int) -> tuple[Array, Array]:
    """Give the sorted classes in y and the number of each row's class.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    n_samples : int
        How many there must be.

    Returns
    -------
    classes : array of shape (n_classes,)
    label : int32 array of shape (n_samples,)
    """
    values = np.asarray(y)
    if values.ndim != 1 or values.size != n_samples:
        raise InvalidInput(
            f"y has shape {values.shape}, X has {n_samples} rows: found input variables with inconsistent numbers of "
            "samples. Pass one label for each row."
        )
    if values.dtype.kind in "fc" and not np.isfinite(values).all():
        raise InvalidInput("Input y contains NaN or infinity. Remove the rows whose label is not known.")
    if values.dtype.kind == "c" or (values.dtype.kind == "f" and np.any(values != np.floor(values))):
        raise InvalidInput(
            "Unknown label type: continuous. y has values between whole numbers, such as those of a regression. "
            "Pass class labels, for example y > threshold."
        )
    if values.dtype.kind in "biuf":
        # Two numbers, the common case, need no sorting.
        low, high = values.min(), values.max()
        upper = values == high
        if low != high and (upper | (values == low)).all():
            return np.array([low, high], values.dtype), upper.astype(np.int32)
    classes, label = np.unique(values, return_inverse=True)
    return classes, label.reshape(-1).astype(np.int32)


def as_weights(sample_weight: Any, n_samples: int) -> Array:
    """Give sample weights as a checked array, empty where all are one."""
    if sample_weight is None:
        return np.empty(0)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise InvalidInput(
            f"sample_weight has shape {weight.shape}; it must be one number for each of {n_samples} rows."
        )
    if not np.isfinite(weight).all() or weight.min() < 0:
        raise InvalidInput("sample_weight has values that are negative or not finite. Weights are numbers from 0.")
    if not weight.any():
        raise InvalidInput("sample_weight is zero everywhere: there is nothing to learn from.")
    return np.ascontiguousarray(weight)


def as_targets(y: Any) -> Array:
    """Give the targets of a regression as checked numbers."""
    values = np.asarray(y)
    if values.dtype.kind in "OUS":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"y cannot be read as numbers ({error}). A regression needs numbers.") from None
    target = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(target).all():
        raise InvalidInput("Input y contains NaN or infinity. Remove the rows whose target is not known.")
    return target


def as_names(classes: Array) -> tuple[int | float | str, ...]:
    """Return class labels as JSON can hold them: numbers and text."""
    return tuple(name if isinstance(name, int | float | str) else str(name) for name in classes.tolist())
