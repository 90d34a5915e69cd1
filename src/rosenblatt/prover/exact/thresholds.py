"""Ordinal models as a question with two classes, without rounding, so that proofs hold for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.dense import column_names
from rosenblatt.data.labels import as_labels
from rosenblatt.data.sparse import sp
from rosenblatt.data.table import as_sparse_table
from rosenblatt.errors import InvalidInput

Array = npt.NDArray[Any]


def against_thresholds(X: Any, y: Any, *, order: Sequence[Any] | None = None) -> tuple[Any, Array]:
    """Compare each observation with the thresholds below and above its class.

    A cumulative-link model (proportional odds, ordered probit) has one weight vector, and a threshold between each two
    neighbouring classes. Its likelihood has no maximum if and only if weights and thresholds exist with every
    observation on its sides of these two, weakly, and strictly for one: the question of `certify` for the rows that are
    returned. The first threshold is their intercept; columns say what the others differ from it.

    Parameters
    ----------
    X : array-like, sparse matrix or pandas data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Ordered classes.
    order : sequence, optional
        All labels, the lowest class first; by default they are sorted.

    Returns
    -------
    rows : like X
        One or two for each observation, in order, and a column more for each threshold after the first.
    above : bool array
        Whether the row's threshold is below the class of its observation.

    Raises
    ------
    InvalidInput
        If there are fewer than two classes, or `order` is not made of them.

    Examples
    --------
    >>> rows, above = against_thresholds([[1], [2], [3]], ["low", "high", "mid"], order=["low", "mid", "high"])
    >>> rows.tolist(), above.tolist()
    ([[1, 0], [2, 1], [3, 0], [3, 1]], [False, True, True, False])
    """
    sparse, frame = sp.issparse(X), X if hasattr(X, "iloc") else None
    values: Any = sp.csr_array(as_sparse_table(X).matrix()) if sparse else np.asarray(X)
    classes, label = as_labels(y, values.shape[0])
    levels = classes.tolist() if order is None else list(order)
    if len(levels) < 2 or sorted(map(repr, levels)) != sorted(map(repr, classes.tolist())):
        raise InvalidInput(
            f"order={levels!r:.200} does not name the classes {classes.tolist()!r:.200}, two at least, each once. Pass "
            "all labels of y, the lowest class first."
        )
    rank = np.array([levels.index(one) for one in classes.tolist()])[label]
    sample = np.repeat(np.arange(rank.size), 2)
    threshold = (rank[:, None] - [1, 0]).ravel()  # the one below each class, and the one above it
    inside = (threshold >= 0) & (threshold < len(levels) - 1)
    sample, threshold = sample[inside], threshold[inside]
    marks = (threshold[:, None] == np.arange(1, len(levels) - 1)).astype(np.int64)
    above = threshold < rank[sample]
    if sparse:
        columns: Any = sp.csr_array(marks.astype(values.dtype))
        return sp.hstack([values[sample], columns], format="csr"), above
    if frame is None or not column_names(frame):
        return np.hstack([values[sample], marks.astype(values.dtype)]), above
    named = {f"threshold {levels[t]}|{levels[t + 1]}": marks[:, t - 1] for t in range(1, len(levels) - 1)}
    return frame.iloc[sample].reset_index(drop=True).assign(**named), above
