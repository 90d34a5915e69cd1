"""Checks of the rows and labels of a learner, beside scikit-learn's; and what the sizes of the values decide."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.dense import readable, refuse_kind
from rosenblatt.data.labels import as_labels, check_column
from rosenblatt.data.sparse import as_csr, sp
from rosenblatt.data.survey import Survey
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput, ScaleWarning
from rosenblatt.learners.contract import validate_data
from rosenblatt.text import count, listed, short_repr

Array = npt.NDArray[Any]

UNCHECKED: Any = object()  # in the place of labels where X comes alone
PLAIN_TYPES = (np.dtype(np.float64), np.dtype(np.float32))
# Times the median from which a column is said to outweigh the others. Measured: raw data that a scaler helps has
# 300 to 4,000 (wine, spambase, forest cover types, breast cancer); counts, texts, pixels and scaled data up to 20.
OUTWEIGHS = 100.0


def validated(estimator: Any, X: Any, y: Any = UNCHECKED, *, reset: bool, **options: Any) -> Any:
    """Return X, or X and y if there are labels, as scikit-learn's `validate_data` does with these options.

    Input that scipy or scikit-learn would misread, or reject without a remedy, is rejected first: broken pointers,
    dates, text, shapes and sizes that do not fit. `reset` makes the features of X those of the estimator.
    """
    if sp.issparse(X):
        X = as_csr(X)
        refuse_kind(X.dtype, "X")
        if not options.get("accept_sparse", False):
            raise InvalidInput("Sparse data was passed for X, but dense data is required. Pass X.toarray().")
    else:
        X = readable(X)
    if not reset:
        _check_width(estimator, X)
    if y is not UNCHECKED and y is not None:  # scikit-learn reports None, with its own message
        values = check_column(y, X.shape[0])
        # Of integers and truth values of pandas, which may be missing, scikit-learn would make floats.
        if not isinstance(kind := getattr(y, "dtype", values.dtype), np.dtype) or kind.kind == "T":
            y = values
    if options.get("ensure_all_finite") is False and _need_no_change(estimator, X, y):
        if reset:
            estimator.n_features_in_ = X.shape[1]
        return X if y is UNCHECKED else (X, y)
    kinds = [np.float64, np.float32]
    y = "no_validation" if y is UNCHECKED else y
    return validate_data(estimator, X, y, reset=reset, dtype=kinds, **options)


def _check_width(estimator: Any, X: Any) -> None:
    """Raise an error if rows have another number of features than the estimator was fitted on."""
    width = getattr(estimator, "n_features_in_", None)
    other = width is not None and not hasattr(X, "columns") and X.ndim == 2 and X.shape[1] != width
    # Let scikit-learn report NaN first, with its own message.
    if other and (sp.issparse(X) or X.dtype.kind not in "fc" or np.isfinite(X).all()):
        raise InvalidInput(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {width} features as input. Pass "
            "the columns that it was fitted on."
        )


def _need_no_change(estimator: Any, X: Any, y: Any) -> bool:
    """Return whether scikit-learn's checks would return these rows and labels as they are.

    On a small table its checks take the time of ten epochs.
    """
    sparse = sp.issparse(X)
    if sparse:
        plain = X.format == "csr" and X.ndim == 2 and min(X.shape) > 0
    else:
        plain = type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.flags.c_contiguous
    if not plain or X.dtype not in PLAIN_TYPES or hasattr(estimator, "feature_names_in_"):
        return False
    return y is UNCHECKED or (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU")


def labels_of(y: Any, n_rows: int) -> tuple[Array, Array]:
    """Return the classes, at least two, and the number of each row's class."""
    classes, label = as_labels(y, n_rows)
    check_several(classes)
    return classes, label


def check_several(classes: Array) -> None:
    """Raise an error if there is only one class."""
    if classes.size < 2:
        raise InvalidInput(
            f"The number of classes has to be greater than one; got 1 class: {short_repr(classes[0])}. "
            "Add examples of another class."
        )


def same_classes(classes: Array, known: Array) -> None:
    """Raise an error if a warm start has other classes."""
    if not np.array_equal(classes, known):
        raise InvalidInput(
            f"warm_start continues with the classes {listed(known)}, but y has {listed(classes)}. "
            "Fit a fresh estimator, or use partial_fit, which takes new classes."
        )


def same_width(width: int | None, known: int | None) -> None:
    """Raise an error if a warm start has rows of another length."""
    if width != known:
        raise InvalidInput(
            f"warm_start continues with {count(known or 0, 'feature')}, but X has {width or 0}. Fit again."
        )


def warn_of_scale(sizes: Survey, names: Any, stacklevel: int) -> None:
    """Warn if the values of a column are far larger than those of the others; `names` are of the columns, or None."""
    if not sizes.column_value > OUTWEIGHS * sizes.median_value:
        return
    name = sizes.column if names is None else repr(str(names[sizes.column]))
    warnings.warn(
        f"Column {name} (root mean square {sizes.column_value:.2g}) outweighs the others (median "
        f"{sizes.median_value:.2g}): scale the columns, for example with StandardScaler or MaxAbsScaler, or use AROW, "
        "which is not affected.",
        ScaleWarning,
        stacklevel=stacklevel + 1,
    )


def choose_padding(sizes: Survey, n_classes: int) -> float:
    """Return the constant for rows of these sizes: 1, or where the values are small, one that does not outweigh them.

    Two classes: half the length of a row. More: the size of a value, because the scores of several classes are held
    against each other, and a bias that moves far at each mistake disturbs that. A power of two scales the bias without
    rounding.
    """
    # From this root mean square of the values that are not zero, a bias that moves by one does not outweigh the rows.
    if not 0.0 < sizes.value < 0.25:
        return 1.0
    wanted = sizes.row_length / 2 if n_classes == 2 else sizes.value
    # Rounded at 0.45 and not at a half: rows of equal values, such as 1/sqrt(32), must not be on a border, where the
    # rounding of their sum of squares, which depends on the order of storage, would decide.
    return min(max(2.0 ** math.floor(math.log2(wanted) + 0.55), 1e-100), 1.0)


def first_row_padding(first: Any) -> float:
    """Return the constant for a stream that begins with this row: 1/4 if its length is one, as that of texts; else 1.

    The first row alone decides, so that the weights do not depend on the chunks. One row says whether rows are scaled
    to length one, but not how large their values are. Accuracy of `PassiveAggressive` after a pass over unit rows with
    the constants 1, 1/2, 1/4, 1/8 in %: sms 97.4, 98.1, 98.4, 98.4; imdb 86.2, 87.3, 87.4, 87.4; 20 topics 9.7, 22.0,
    29.5, 32.3; digits 91.6, 93.4, 94.0, 94.0.
    """
    values = _values_of(first)
    several = np.count_nonzero(values) > 1  # else it may be one of several categories, whose values are 0 and 1
    return 0.25 if several and abs(math.fsum((values * values).tolist()) - 1.0) < 1e-5 else 1.0


def _values_of(first: Any) -> Array:
    """Return the values of a row, or of the first one of rows; empty if they are not numbers."""
    row: Any = first
    if isinstance(first, Dense):
        row = first.X[0]
    elif isinstance(first, Csr):
        row = first.data[: first.indptr[1]]
    elif isinstance(first, Mapping):
        row = list(first.values())
    elif hasattr(first, "indptr"):
        row = first.data
    try:
        return np.asarray(row, np.float64).ravel()
    except (TypeError, ValueError):  # which learning from the row reports
        return np.empty(0)
