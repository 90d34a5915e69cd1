"""Measure the quality of predictions, and the losses of scores.

Predictions are compared as labels of any type. Losses are defined for two classes, y = -1 or +1, and a score f(x) whose
sign is the prediction; labels 0/1 and False/True count as -1/+1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.text import did_you_mean, short_repr

Array = npt.NDArray[Any]
Loss = Callable[[Any, Any], Array]


def _column(values: Any, name: str) -> Array:
    """Return values as a one-dimensional array that is not empty and has no NaN."""
    try:
        column = np.asarray(values)
    except ValueError:
        raise InvalidInput(f"{name} has rows of different lengths. Pass one value for each row.") from None
    if column.ndim != 1:
        raise InvalidInput(f"{name} has shape {column.shape}, not one value for each row. Flatten it first.")
    if column.size == 0:
        raise InvalidInput(f"{name} is empty: there is nothing to evaluate. Pass at least one row.")
    # NaN is the only value that differs from itself, in arrays of objects too.
    if column.dtype.kind in "fcO" and np.any(column != column):
        raise InvalidInput(f"{name} contains NaN (at {int(np.argmax(column != column))}). Remove such rows first.")
    return column


def _same_length(first: Array, second: Array, names: tuple[str, str]) -> None:
    if first.size != second.size:
        raise InvalidInput(
            f"{names[0]} has {first.size} values, {names[1]} has {second.size}. Pass one of each for every row."
        )


def _pair(y_true: Any, y_pred: Any) -> tuple[Array, Array]:
    """Return two columns of labels that can be compared."""
    truth, predicted = _column(y_true, "y_true"), _column(y_pred, "y_pred")
    _same_length(truth, predicted, ("y_true", "y_pred"))
    text = [column.dtype.kind in "US" for column in (truth, predicted)]
    numeric = [column.dtype.kind in "biufc" for column in (truth, predicted)]
    if (text[0] and numeric[1]) or (text[1] and numeric[0]):
        raise InvalidInput(
            f"y_true has dtype {truth.dtype}, y_pred has dtype {predicted.dtype}: text never equals a number. "
            "Use the same labels in both."
        )
    return truth, predicted


def _weights(sample_weight: Any, size: int) -> Array:
    """Return the weight of each row, as shares that add up to one."""
    if sample_weight is None:
        return np.full(size, 1.0 / size)
    weight = _numbers(sample_weight, "sample_weight")
    if weight.size != size:
        raise InvalidInput(f"sample_weight has {weight.size} values for {size} rows. Pass one for every row.")
    if not np.isfinite(weight).all() or weight.min() < 0:
        raise InvalidInput("sample_weight has values that are negative or infinite. Pass numbers from 0.")
    if not weight.any():
        raise InvalidInput("sample_weight is zero everywhere. Give some row a weight above 0.")
    weight = weight / weight.max()  # keeps the sum of huge weights finite
    return np.asarray(weight / weight.sum())


def _numbers(values: Any, name: str) -> Array:
    column = _column(values, name)
    if column.dtype.kind not in "biuf":
        raise InvalidInput(f"{name} has dtype {column.dtype}, which is not a real type. Pass numbers.")
    return column.astype(np.float64)


def _signs(y: Any) -> Array:
    """Return labels -1/+1, 0/1 or False/True as -1.0/+1.0."""
    values = _numbers(y, "y")
    labels = np.unique(values)
    if not (np.isin(labels, (-1, 1)).all() or np.isin(labels, (0, 1)).all()):
        shown = ", ".join(f"{value:g}" for value in labels[:4]) + (", ..." if labels.size > 4 else "")
        raise InvalidInput(f"y has the values {shown}, which are not two signs. Pass -1 and +1, 0 and 1, or booleans.")
    return np.where(values > 0, 1.0, -1.0)


def _margins(y: Any, score: Any) -> Array:
    """Return the margin y f(x) of each row: positive if the score has the right sign."""
    signs, scores = _signs(y), _numbers(score, "score")
    _same_length(signs, scores, ("y", "score"))
    return signs * scores


def accuracy(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
    """Return the share of rows that are predicted correctly.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels of any type, the true and the predicted.
    sample_weight : array-like of shape (n_samples,) or None
        Weight of each row; equal by default.

    Returns
    -------
    float from 0 to 1

    Raises
    ------
    InvalidInput
        If the labels cannot be compared row by row, or there are no rows.

    Examples
    --------
    >>> accuracy(["spam", "ham", "ham", "ham"], ["spam", "spam", "ham", "ham"])
    0.75
    """
    truth, predicted = _pair(y_true, y_pred)
    return float(_weights(sample_weight, truth.size)[truth == predicted].sum())


def confusion(y_true: Any, y_pred: Any, labels: Any = None) -> tuple[Array, Array]:
    """Return the confusion matrix.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels of any type, the true and the predicted.
    labels : array-like of shape (n_classes,) or None
        All classes, in the order of the matrix; by default those that occur, sorted.

    Returns
    -------
    labels : array of shape (n_classes,)
    matrix : int64 array of shape (n_classes, n_classes)
        ``matrix[i, j]`` rows of class ``labels[i]`` were predicted as ``labels[j]``.

    Raises
    ------
    InvalidInput
        If the labels cannot be compared row by row, or a label is missing from `labels`.

    Examples
    --------
    >>> labels, matrix = confusion(["spam", "ham", "ham"], ["spam", "spam", "ham"])
    >>> labels.tolist(), matrix.tolist()
    (['ham', 'spam'], [[1, 1], [0, 1]])
    """
    truth, predicted = _pair(y_true, y_pred)
    try:
        present = np.unique(np.concatenate([truth, predicted]))
    except TypeError as error:
        raise InvalidInput(f"The labels cannot be sorted ({error}). Use labels of one type.") from None
    names = present if labels is None else _column(labels, "labels")
    place = {name: number for number, name in enumerate(names.tolist())}
    if len(place) != names.size:
        raise InvalidInput(f"labels={names.tolist()} names a class twice. Name each once.")
    missing = [name for name in present.tolist() if name not in place]
    if missing:
        raise InvalidInput(f"The label {missing[0]!r} occurs, but is not in labels={names.tolist()}. Add it.")
    matrix = np.zeros((names.size, names.size), np.int64)
    rows, columns = ([place[name] for name in part.tolist()] for part in (truth, predicted))
    np.add.at(matrix, (rows, columns), 1)
    return names, matrix


def zero_one_loss(y: Any, score: Any) -> Array:
    """Return 1 for each mistake, y f(x) <= 0, and 0 otherwise: a tie is a mistake.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        -1/+1, 0/1 or booleans.
    score : array-like of shape (n_samples,)
        f(x) = w.x + b.

    Returns
    -------
    array of shape (n_samples,)
    """
    return (_margins(y, score) <= 0).astype(np.float64)


def perceptron_loss(y: Any, score: Any) -> Array:
    """Return the loss of the perceptron, max(0, -y f(x)), for each row.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        -1/+1, 0/1 or booleans.
    score : array-like of shape (n_samples,)
        f(x) = w.x + b.

    Returns
    -------
    array of shape (n_samples,)
    """
    return np.maximum(0.0, 0.0 - _margins(y, score))  # 0 - 0 is 0; negating 0 would give -0


def hinge_loss(y: Any, score: Any) -> Array:
    """Return the loss of the soft margin, max(0, 1 - y f(x)), for each row.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        -1/+1, 0/1 or booleans.
    score : array-like of shape (n_samples,)
        f(x) = w.x + b.

    Returns
    -------
    array of shape (n_samples,)
    """
    return np.maximum(0.0, 1.0 - _margins(y, score))


def logistic_loss(y: Any, score: Any) -> Array:
    """Return the loss of logistic regression, log(1 + exp(-y f(x))), for each row, in nats.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        -1/+1, 0/1 or booleans.
    score : array-like of shape (n_samples,)
        f(x) = w.x + b.

    Returns
    -------
    array of shape (n_samples,)
    """
    return np.asarray(np.logaddexp(0.0, -_margins(y, score)))


LOSSES: dict[str, Loss] = {
    "zero_one": zero_one_loss,
    "perceptron": perceptron_loss,
    "hinge": hinge_loss,
    "logistic": logistic_loss,
}


def empirical_risk(loss: str | Loss, y: Any, score: Any, sample_weight: Any = None) -> float:
    """Return the empirical risk: the mean of a loss over the rows.

    Parameters
    ----------
    loss : str or callable
        A name in `LOSSES`, or a function of labels and scores that returns one number for each row.
    y : array-like of shape (n_samples,)
        -1/+1, 0/1 or booleans.
    score : array-like of shape (n_samples,)
        f(x) = w.x + b.
    sample_weight : array-like of shape (n_samples,) or None
        Weight of each row; equal by default.

    Returns
    -------
    float

    Raises
    ------
    InvalidInput
        If the loss is unknown, or labels, scores and weights do not match.

    Examples
    --------
    >>> empirical_risk("zero_one", [-1, 1, 1, 1], [-2.0, 0.5, 0.0, -1.0])
    0.5
    """
    if not callable(loss) and not (isinstance(loss, str) and loss in LOSSES):
        choices = f"Choose one of {', '.join(LOSSES)}, or pass a function."
        raise InvalidInput(f"loss={short_repr(loss)} is not a known loss. {choices}{did_you_mean(loss, LOSSES)}")
    function = loss if callable(loss) else LOSSES[loss]
    values = _numbers(function(_signs(y), score), "The loss")
    weight = _weights(sample_weight, values.size)
    _same_length(_signs(y), values, ("y", "the loss"))
    # A row of weight zero does not count, even if its loss is infinite.
    return float(values[weight > 0] @ weight[weight > 0])
