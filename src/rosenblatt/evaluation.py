"""Measure the quality of predictions, and the losses of scores.

Predictions are compared as labels of any type. Losses are defined for two classes, y = -1 or +1, and a score f(x) whose
sign is the prediction; labels 0/1 and False/True count as -1/+1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.text import did_you_mean, short_repr

Array = npt.NDArray[Any]
Loss = Callable[[Any, Any], Array]

# Scores that `ClassificationMetrics` keeps for the AUC at most: a gigabyte of them.
MAX_SCORES = 1 << 27


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
    y, score
        As for `zero_one_loss`.

    Returns
    -------
    array of shape (n_samples,)
    """
    return np.maximum(0.0, 0.0 - _margins(y, score))  # 0 - 0 is 0; negating 0 would give -0


def hinge_loss(y: Any, score: Any) -> Array:
    """Return the loss of the soft margin, max(0, 1 - y f(x)), for each row.

    Parameters
    ----------
    y, score
        As for `zero_one_loss`.

    Returns
    -------
    array of shape (n_samples,)
    """
    return np.maximum(0.0, 1.0 - _margins(y, score))


def logistic_loss(y: Any, score: Any) -> Array:
    """Return the loss of logistic regression, log(1 + exp(-y f(x))), for each row, in nats.

    Parameters
    ----------
    y, score
        As for `zero_one_loss`.

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
    y, score
        As for `zero_one_loss`.
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


# ------------------------------------------------------------------------------------------------ rows in chunks


def _area(positive: Array, score: Array) -> float | None:
    """Return the area under the ROC curve, ties counted half; None unless there are rows of both kinds."""
    n_positive = int(np.count_nonzero(positive))
    n_negative = positive.size - n_positive
    if not n_positive or not n_negative:
        return None
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2  # the mean rank of equal scores, from 1
    wins = float(rank[place.reshape(-1)[positive]].sum()) - n_positive * (n_positive + 1) / 2
    return wins / n_positive / n_negative


class ClassificationMetrics:
    """Metrics of a classifier whose rows come in chunks, as scikit-learn defines them.

    Memory grows with the rows only by the scores, which the AUC needs.

    Parameters
    ----------
    classes : array-like of shape (n_classes,)
        Classes of the scores and probabilities, in their order. Without these, they may be left out.

    Examples
    --------
    >>> metrics = ClassificationMetrics(["ham", "spam"])
    >>> metrics.add(["spam", "ham"], ["spam", "spam"], scores=[[2.0], [0.5]])
    >>> metrics.add(["ham", "ham"], ["ham", "ham"], scores=[[-1.0], [-3.0]])
    >>> metrics.rows, metrics.accuracy, metrics.baseline, metrics.auc
    (4, 0.75, ('ham', 0.75), 1.0)
    """

    def __init__(self, classes: Any = ()) -> None:
        self.classes: list[Any] = np.asarray(classes).tolist()
        self.pairs: Counter[tuple[Any, Any]] = Counter()  # of true and predicted labels
        self._scores: list[Array] | None = []  # None: there are too many, or a chunk came without
        self._numbers: list[Array] = []  # of the class of each row; -1 for a label that is not a class
        self._logs, self._squares, self._with_probabilities = 0.0, 0.0, 0
        self._areas: list[float] = []  # of metrics that were merged

    def add(self, label: Any, predicted: Any, scores: Any = None, probabilities: Any = None) -> None:
        """Add some rows.

        Parameters
        ----------
        label, predicted : array-like of shape (n_rows,)
        scores : array-like of shape (n_rows, n_classes), or (n_rows, 1) for two classes; optional
        probabilities : array-like of shape (n_rows, n_classes), optional
        """
        label, predicted = np.asarray(label), np.asarray(predicted)
        self.pairs.update(zip(label.tolist(), predicted.tolist(), strict=True))
        number = self._class_numbers(label)
        # With several classes the AUC compares rows, whose scores have a common scale only as probabilities.
        ranked = probabilities if probabilities is not None and len(self.classes) > 2 else scores
        self._keep(ranked, number)
        if probabilities is not None:
            self._add_probabilities(np.asarray(probabilities, np.float64), number)

    def _class_numbers(self, label: Array) -> Array:
        place = {name: number for number, name in enumerate(self.classes)}
        names, inverse = np.unique(label, return_inverse=True)
        return np.array([place.get(name, -1) for name in names.tolist()], np.int32)[inverse.reshape(-1)]

    def _keep(self, scores: Any, number: Array) -> None:
        if scores is None or self._scores is None:
            self._scores = None
            return
        kept = np.asarray(scores, np.float64)
        self._scores.append(kept)
        self._numbers.append(number)
        if sum(part.size for part in self._scores) > MAX_SCORES:
            self._scores = None

    def _add_probabilities(self, probabilities: Array, number: Array) -> None:
        known = number >= 0
        own, number = probabilities[known], number[known]
        smallest = np.finfo(np.float64).eps
        true = own[np.arange(number.size), number]
        self._logs -= float(np.log(np.clip(true, smallest, 1.0 - smallest)).sum())
        # Sum over the classes of (p - [class is the true one])^2; of two classes one is enough.
        squares = (own * own).sum(axis=1) - 2.0 * true + 1.0
        self._squares += float(squares.sum()) / (2 if len(self.classes) == 2 else 1)
        self._with_probabilities += number.size

    def merge(self, other: ClassificationMetrics) -> None:
        """Add the rows of another model's metrics. Its scores are not comparable: the AUC is the mean of both."""
        self.pairs.update(other.pairs)
        self._logs, self._squares = self._logs + other._logs, self._squares + other._squares
        self._with_probabilities += other._with_probabilities
        self._scores = None
        if (area := other.auc) is not None:
            self._areas.append(area)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.pairs.total()

    @property
    def errors(self) -> int:
        """Number of rows with a wrong prediction."""
        return sum(rows for (label, predicted), rows in self.pairs.items() if label != predicted)

    @property
    def accuracy(self) -> float:
        """Share of rows that are predicted correctly."""
        return (self.rows - self.errors) / self.rows

    @property
    def counts(self) -> dict[Any, tuple[int, int, int]]:
        """For each label that occurs, sorted: its rows, how often it was predicted, and how often rightly."""
        true: Counter[Any] = Counter()
        predicted: Counter[Any] = Counter()
        for (label, guess), rows in self.pairs.items():
            true[label] += rows
            predicted[guess] += rows
        return {label: (true[label], predicted[label], self.pairs[label, label]) for label in sorted(true | predicted)}

    @property
    def baseline(self) -> tuple[Any, float]:
        """The most frequent label, and the accuracy of always predicting it."""
        label, (rows, _, _) = max(self.counts.items(), key=lambda item: item[1][0])
        return label, rows / self.rows

    @property
    def balanced_accuracy(self) -> float:
        """Mean recall of the classes that have rows."""
        recalls = [hits / rows for rows, _, hits in self.counts.values() if rows]
        return math.fsum(recalls) / len(recalls)

    @property
    def positive(self) -> Any:
        """The second of two classes; None if there are not two."""
        labels = sorted({*self.classes, *self.counts})
        return labels[1] if len(labels) == 2 else None

    @property
    def f1(self) -> float:
        """F1 of the second of two classes; else the mean of the F1 of all labels that occur."""
        scores = {label: 2 * hits / (rows + predicted) for label, (rows, predicted, hits) in self.counts.items()}
        if self.positive is not None:
            return scores.get(self.positive, 0.0)
        return math.fsum(scores.values()) / len(scores)

    @property
    def auc(self) -> float | None:
        """Area under the ROC curve; with several classes the mean of each class with rows against the rest.

        None if scores are missing, too many, or of labels that are not among the classes.
        """
        if self._areas:
            return math.fsum(self._areas) / len(self._areas)
        if not self._scores or self._has_unknown:
            return None
        number = np.concatenate(self._numbers)
        columns = [1] if len(self.classes) == 2 else range(len(self.classes))
        areas = []
        for place, column in enumerate(columns):
            score = np.concatenate([part[:, place] for part in self._scores])
            areas.append(_area(number == column, score))
        defined = [area for area in areas if area is not None]
        return math.fsum(defined) / len(defined) if defined else None

    @property
    def log_loss(self) -> float | None:
        """Mean of -ln of the probability of the true class; None if not all rows have one."""
        return self._logs / self.rows if 0 < self._with_probabilities == self.rows else None

    @property
    def brier(self) -> float | None:
        """Mean squared error of the probabilities, summed over the classes if there are more than two."""
        return self._squares / self.rows if 0 < self._with_probabilities == self.rows else None

    @property
    def _has_unknown(self) -> bool:
        return any(bool((number < 0).any()) for number in self._numbers)


class RegressionMetrics:
    """Metrics of predicted numbers whose rows come in chunks, as scikit-learn defines them.

    Examples
    --------
    >>> metrics = RegressionMetrics()
    >>> metrics.add([1.0, 2.0], [1.0, 3.0])
    >>> metrics.add([3.0], [3.0])
    >>> metrics.rows, round(metrics.mae, 3), round(metrics.rmse, 3), metrics.r2
    (3, 0.333, 0.577, 0.5)
    """

    def __init__(self) -> None:
        self.rows = 0
        self._distances, self._squares = 0.0, 0.0
        self._mean, self._deviations = 0.0, 0.0  # of the targets: the mean, and squared deviations from it

    def add(self, target: Any, predicted: Any) -> None:
        """Add some rows: array-likes of shape (n_rows,)."""
        target, predicted = np.asarray(target, np.float64), np.asarray(predicted, np.float64)
        errors = predicted - target
        self._distances += float(abs(errors).sum())
        self._squares += float(errors @ errors)
        if target.size:
            self._add_targets(target.size, float(target.mean()), float(((target - target.mean()) ** 2).sum()))

    def _add_targets(self, rows: int, mean: float, deviations: float) -> None:
        """Add the mean and the squared deviations of more targets (Chan, Golub and LeVeque 1983)."""
        total, delta = self.rows + rows, mean - self._mean
        self._deviations += deviations + delta * delta * (self.rows / total) * rows
        self._mean += delta * rows / total
        self.rows = total

    def merge(self, other: RegressionMetrics) -> None:
        """Add the rows of other metrics."""
        self._distances += other._distances
        self._squares += other._squares
        if other.rows:
            self._add_targets(other.rows, other._mean, other._deviations)

    @property
    def mae(self) -> float:
        """Mean absolute error."""
        return self._distances / self.rows

    @property
    def rmse(self) -> float:
        """Root of the mean squared error."""
        return math.sqrt(self._squares / self.rows)

    @property
    def baseline_rmse(self) -> float:
        """Root of the mean squared error of always predicting the mean of the targets."""
        return math.sqrt(self._deviations / self.rows)

    @property
    def r2(self) -> float:
        """1 less the squared error, as a share of that of the mean; of constant targets 1 if all are exact, else 0."""
        if self._deviations:
            return 1.0 - self._squares / self._deviations
        return 0.0 if self._squares else 1.0
