"""What a report is about: everything that is to be said of a fit, computed once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.dense import column_names
from rosenblatt.data.labels import as_labels
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.evaluation import confusion
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.prover.search.certify import certify
from rosenblatt.report.models import margins
from rosenblatt.report.theory import Theory, theory
from rosenblatt.text import short_repr
from rosenblatt.training.plan import Run

Array = npt.NDArray[Any]

# Entries of X up to which a report looks for a proof.
MAX_PROVED_ENTRIES = 2_000_000


@dataclass(frozen=True)
class Evaluation:
    """How well a model predicts some rows.

    Attributes
    ----------
    name : str
        Which rows.
    labels : array of shape (n_classes,)
        All classes that occur, or are predicted.
    counts : int array of shape (n_classes, n_classes)
        Rows of each class that are taken for each class.
    margins : array of shape (n_samples,) or None
        Of each row, where the model gives scores.
    """

    name: str
    labels: Array
    counts: Array
    margins: Array | None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.counts.sum())

    @property
    def errors(self) -> int:
        """How many of them are predicted wrongly."""
        return self.rows - int(np.trace(self.counts))

    @property
    def accuracy(self) -> float:
        """Share of the rows that are predicted rightly."""
        return 1 - self.errors / self.rows


@dataclass(frozen=True)
class Findings:
    """A fit, its data, and what can be said of both.

    Attributes
    ----------
    estimator, model : object
        What was passed, and the classifier in it: the last step of a pipeline.
    rows : array or sparse matrix of shape (n_samples, n_features)
        As the classifier sees them.
    classes, label : arrays
        The labels, sorted; the number of each row's class.
    names : list of str
        Of the features.
    run : Run or None
        The record of the training.
    evaluations : tuple of Evaluation
        On the training rows, and on those that were held out.
    certificate : Certificate or None
    theory : Theory or None
        Of a plain perceptron with two classes.
    unproved : str
        Why there is no certificate.
    """

    estimator: Any
    model: Any
    rows: Any
    classes: Array
    label: Array
    names: list[str]
    run: Run | None
    evaluations: tuple[Evaluation, ...]
    certificate: Certificate | None
    theory: Theory | None
    unproved: str

    @property
    def weights(self) -> tuple[Array, Array] | None:
        """Weights and biases of each problem, where the model has a weight for each feature."""
        coef, intercept = getattr(self.model, "coef_", None), getattr(self.model, "intercept_", None)
        if coef is None or intercept is None or hasattr(coef, "toarray"):
            return None
        found = np.atleast_2d(np.asarray(coef, np.float64))
        return found, np.broadcast_to(np.asarray(intercept, np.float64), found.shape[:1])


def examine(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    names: Any = None,
    time_limit: float = 10.0,
) -> Findings:
    """Return everything that is to be said of a fit.

    Parameters
    ----------
    estimator : fitted classifier
        A member of the family, or a pipeline that ends in one; others, for what can be said of them.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    X_test, y_test : the same, optional
        Rows that it was not trained on.
    names : sequence of str, optional
        Of the features as the classifier sees them.
    time_limit : float
        Seconds to look for a proof.
    """
    if (X_test is None) != (y_test is None):
        raise InvalidInput("X_test and y_test belong together, and one is missing. Pass both, or none.")
    _check(estimator, X)
    model = estimator[-1] if hasattr(estimator, "steps") else estimator
    rows = estimator[:-1].transform(X) if hasattr(estimator, "steps") and len(estimator.steps) > 1 else X
    table = as_table(rows)
    matrix = table.matrix()
    classes, label = as_labels(y, table.shape[0])
    evaluations = [_evaluate("training rows", estimator, X, y)]
    if X_test is not None:
        evaluations.append(_evaluate("held-out rows", estimator, X_test, y_test))
    run = getattr(model, "run_", None)
    proof, compared, unproved = _prove(model, rows, y, table.shape, classes.size, time_limit)
    return Findings(
        estimator,
        model,
        matrix,
        classes,
        label,
        _names(names, estimator, model, rows, table.shape[1]),
        run if isinstance(run, Run) else None,
        tuple(evaluations),
        proof,
        compared,
        unproved,
    )


def _check(estimator: Any, X: Any) -> None:
    """Raise an error for what is no fitted classifier."""
    if not hasattr(estimator, "predict"):
        raise InvalidInput(f"{short_repr(estimator)} has no predict. Pass a fitted classifier.")
    name = type(estimator).__name__
    try:
        classes = getattr(estimator, "classes_", None)
        estimator.predict(X)
    except (ValueError, AttributeError) as error:  # scikit-learn's NotFittedError is both
        raise InvalidInput(f"{name} does not predict these rows: {error} Fit it on X and y first.") from error
    if classes is None:
        raise InvalidInput(f"{name} has no classes: it is no classifier. Pass one, fitted.")


def _names(names: Any, estimator: Any, model: Any, rows: Any, width: int) -> list[str]:
    """Return the names of the features: those given, else those that somebody knows, else x1, x2, ..."""
    candidates = [names, getattr(model, "feature_names_in_", None), column_names(rows)]
    if hasattr(estimator, "steps"):
        with suppress(AttributeError, ValueError):
            candidates.append(estimator[:-1].get_feature_names_out())
    if names is not None and len(names) != width:
        raise InvalidInput(f"There are {len(names)} names for {width} features. Pass one for each, or none.")
    for found in candidates:
        if found is not None and len(found) == width:
            return [str(name) for name in found]
    return [f"x{j}" for j in range(1, width + 1)]


def _evaluate(name: str, estimator: Any, X: Any, y: Any) -> Evaluation:
    truth = np.asarray(y)
    labels, counts = confusion(truth, np.asarray(estimator.predict(X)))
    known = np.isin(truth, np.asarray(estimator.classes_)).all()
    try:
        found = margins(estimator, X, truth) if known else None
    except InvalidInput:  # it gives no scores
        found = None
    return Evaluation(name, labels, counts, found)


def _prove(
    model: Any, rows: Any, y: Any, shape: tuple[int, int], n_classes: int, time_limit: float
) -> tuple[Certificate | None, Theory | None, str]:
    """Return a certificate, the theory of a plain perceptron, or why there is no certificate."""
    if shape[0] * shape[1] > MAX_PROVED_ENTRIES:
        return None, None, f"{shape[0]:,} rows of {shape[1]:,} features are too many to look for a proof in passing."
    # The class itself: what inherits from it may learn by another rule.
    if type(model).__name__ == "Perceptron" and n_classes == 2:
        try:
            found = theory(rows, y, model, time_limit=time_limit)
            return found.certificate, found, ""
        except InvalidInput:
            pass  # not the plain rule
    try:
        return certify(rows, y, time_limit=time_limit), None, ""
    except InvalidInput as error:
        return None, None, str(error)
