"""Classifiers as plots and reports need them: classes, weights if they are linear, scores at any point, margins."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput
from rosenblatt.training.multiclass import decision
from rosenblatt.training.plan import Run

Array = npt.NDArray[Any]

# Share of grid points at which the class of the highest score must be the predicted one. Rounding may break ties.
AGREEMENT = 0.999


@dataclass(frozen=True)
class Classifier:
    """A classifier of the plane."""

    model: Any
    classes: Array
    weights: tuple[Array, Array] | None  # (n_problems, 2) and biases; None if the model is not linear
    multiclass: str  # how the scores of the problems give a class
    names: Any  # of the features, or None
    like: Any  # rows of the type that the model was fitted on: a grid becomes a data frame if these are one

    def predict(self, grid: Array) -> Array:
        """Return the class number of each point; -1 if the prediction is not one of the classes."""
        labels = np.asarray(self._quietly(self.model.predict, grid))
        number = np.searchsorted(self.classes, labels).clip(0, self.classes.size - 1)
        return np.where(self.classes[number] == labels, number, -1)

    def scores(self, grid: Array) -> Array:
        """Return a score for each class at each point; the predicted class has the highest."""
        predicted = self.predict(grid)
        for candidate in (self._linear_scores, self._decision):
            scores = candidate(grid)
            if scores is not None and np.mean(scores.argmax(axis=1) == predicted) >= AGREEMENT:
                return scores
        return np.asarray((predicted[:, None] == np.arange(self.classes.size)) - 0.5)

    def is_linear(self, grid: Array) -> bool:
        """Return whether the model predicts by its hyperplanes."""
        scores = self._linear_scores(grid)
        return scores is not None and bool(np.mean(scores.argmax(axis=1) == self.predict(grid)) >= AGREEMENT)

    def _linear_scores(self, grid: Array) -> Array | None:
        if self.weights is None:
            return None
        coef, intercept = self.weights
        return _sided(decision(grid @ coef.T + intercept, self.classes.size, self.multiclass))

    def _decision(self, grid: Array) -> Array | None:
        decide = getattr(self.model, "decision_function", None)
        if decide is None:
            return None
        scores = np.asarray(self._quietly(decide, grid), np.float64)
        scores = _sided(scores[:, None] if scores.ndim == 1 else scores)
        return scores if scores.shape == (len(grid), self.classes.size) else None

    def _quietly(self, method: Any, grid: Array) -> Any:
        if hasattr(self.like, "iloc"):
            return method(type(self.like)(grid, columns=list(self.like.columns)))
        return _nameless(self.model, method, grid)


def _nameless(model: Any, method: Any, rows: Any) -> Any:
    """Call a method of a model with rows without names, and ignore the warning if it was fitted with names."""
    if not hasattr(model, "feature_names_in_") or hasattr(rows, "columns"):
        return method(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return method(rows)


def _sided(scores: Array) -> Array:
    """Return scores with a column for each class: a single column gives the side of a hyperplane."""
    if scores.shape[1] > 1:
        return scores
    # A score of zero means the first class.
    return np.hstack([-scores, np.where(scores > 0, scores, scores - np.finfo(float).tiny)])


def fitted(model: Any) -> Any:
    """Return the model of a run of `train`, or the model itself."""
    if not isinstance(model, Run):
        return model
    if model.model is None:
        raise InvalidInput("The run of an estimator does not hold its weights. Pass the estimator.")
    return model.model


def linear_weights(model: Any) -> tuple[Array, Array] | None:
    """Return the weights and biases of an estimator's problems; None if it is not linear, or its weights are sparse."""
    coef, intercept = getattr(model, "coef_", None), getattr(model, "intercept_", None)
    if coef is None or intercept is None or hasattr(coef, "toarray"):
        return None
    coef = np.atleast_2d(np.asarray(coef, np.float64))
    return coef, np.broadcast_to(np.asarray(intercept, np.float64), coef.shape[:1])


def as_classifier(model: Any, X: Any, y: Any) -> Classifier:
    """Return a fitted classifier of two features as a `Classifier`; raise `InvalidInput` if it is not one."""
    model = fitted(model)
    if not hasattr(model, "predict"):
        raise InvalidInput(f"{type(model).__name__} has no predict. Pass a fitted classifier, or what train returns.")
    if hasattr(model, "W") and hasattr(model, "b") and hasattr(model, "classes"):  # LinearModel
        weights = np.asarray(model.W, np.float64), np.asarray(model.b, np.float64)
        _check_width(model.W.shape[1])
        return Classifier(model, model.classes, weights, model.multiclass, model.feature_names or None, None)
    _check_width(getattr(model, "n_features_in_", 2))
    return _from_estimator(model, X, y)


def _check_width(width: int) -> None:
    if width != 2:
        raise InvalidInput(f"The model has {width} features; a plot of the plane needs 2. Fit it on two.")


def _from_estimator(model: Any, X: Any, y: Any) -> Classifier:
    try:
        predicted = np.asarray(_nameless(model, model.predict, X))
        classes = getattr(model, "classes_", None)
        if classes is None:
            classes = np.unique(np.concatenate([np.asarray(y), predicted]))
    except (ValueError, AttributeError, TypeError) as error:  # NotFittedError is a ValueError and an AttributeError
        fault = f"{type(model).__name__} cannot predict: it is not fitted, or was fitted on other columns"
        raise InvalidInput(f"{fault} ({error}). Fit it first.") from None
    names = getattr(model, "feature_names_in_", getattr(X, "columns", None))
    return Classifier(
        model,
        np.asarray(classes),
        linear_weights(model),
        getattr(model, "multiclass", "ovr"),
        None if names is None else list(names),
        X,
    )


def linear_parts(model: Any) -> tuple[Array, Array, Array]:
    """Return the weights, the biases and the classes of a linear model; raise `InvalidInput` if it is not one."""
    model = fitted(model)
    if hasattr(model, "W") and hasattr(model, "b"):
        return np.asarray(model.W, np.float64), np.asarray(model.b, np.float64), np.asarray(model.classes)
    weights = linear_weights(model)
    if weights is None or not hasattr(model, "classes_"):
        fault = f"{type(model).__name__} is not fitted, is not a linear classifier, or has sparse weights."
        raise InvalidInput(f"{fault} Pass a fitted linear classifier with dense weights.")
    return *weights, np.asarray(model.classes_)


def margins(model: Any, X: Any, y: Any) -> Array:
    """Return the margin of each row: y f(x) for two classes, else the score of its class minus the best other score.

    For two classes and a linear model it is divided by the length of the weights, and so is a distance.
    """
    model = fitted(model)
    decide = getattr(model, "decision_function", None) or getattr(model, "scores", None)
    classes = getattr(model, "classes_", getattr(model, "classes", None))
    if decide is None or classes is None:
        raise InvalidInput(f"{type(model).__name__} gives no scores, hence no margins. Pass a fitted classifier.")
    scores, truth = np.asarray(decide(X), np.float64), np.asarray(y)
    classes = np.asarray(classes)
    number = np.searchsorted(classes, truth).clip(0, classes.size - 1)
    if scores.ndim == 1:
        coef = getattr(model, "coef_", getattr(model, "W", None))
        length = 1.0 if coef is None else float(np.linalg.norm(np.asarray(coef)))
        return np.asarray(np.where(number == 1, scores, -scores) / (length or 1.0))
    if scores.shape != (truth.size, classes.size):
        fault = f"{type(model).__name__} has scores of shape {scores.shape}, not one for each of the classes."
        raise InvalidInput(f"{fault} Pass a classifier with a score for each class.")
    own = scores[np.arange(truth.size), number]
    others = scores.copy()
    others[np.arange(truth.size), number] = -np.inf
    return np.asarray(own - others.max(axis=1))
