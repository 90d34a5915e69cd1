"""The figures of a report on a fit, computed once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels
from rosenblatt.data.matrices import column_names
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.evaluation import confusion
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.prover.designs import read_design
from rosenblatt.prover.search.certify import certify
from rosenblatt.regression.diagnosis import Diagnosis, diagnosis_of
from rosenblatt.report.models import linear_weights, margins
from rosenblatt.report.theory import Theory, theory
from rosenblatt.text import short_repr
from rosenblatt.training.plan import Run

Array = npt.NDArray[Any]

# Entries of X up to which a report searches for a proof.
MAX_PROVED_ENTRIES = 2_000_000


@dataclass(frozen=True)
class Evaluation:
    """Predictions of a model for some rows, against their labels."""

    name: str  # "training rows" or "held-out rows"
    labels: Array  # all classes in the labels or the predictions
    counts: Array  # the confusion matrix: true class by row, predicted class by column
    margins: Array | None  # of each row; None if the model gives no scores

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    @property
    def errors(self) -> int:
        """Number of rows that are misclassified."""
        return self.rows - int(np.trace(self.counts))

    @property
    def accuracy(self) -> float:
        """Share of the rows that are classified correctly."""
        return 1 - self.errors / self.rows


@dataclass(frozen=True)
class Findings:
    """A fit, its data, and all figures of a report on them."""

    estimator: Any  # the classifier or pipeline that was passed
    model: Any  # the classifier: the last step of a pipeline, or the estimator itself
    rows: Any  # array or sparse matrix that the classifier sees
    classes: Array  # sorted
    label: Array  # class number of each row
    names: list[str]  # of the features
    run: Run | None  # the record of the training
    evaluations: tuple[Evaluation, ...]  # on the training rows, and on held-out rows if there are any
    certificate: Certificate | None
    diagnosis: Diagnosis | None  # only for two separated classes of small data
    theory: Theory | None  # only for a plain perceptron with two classes
    unproved: str  # why there is no certificate

    @property
    def weights(self) -> tuple[Array, Array] | None:
        """Weights and biases of each problem; None if the model is not linear, or its weights are sparse."""
        return linear_weights(self.model)


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
    """Return the figures of a report on a fit; the arguments are those of `Report`."""
    if (X_test is None) != (y_test is None):
        raise InvalidInput("Only one of X_test and y_test was passed. Pass both, or neither.")
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
    names = _names(names, estimator, model, rows, table.shape[1])
    return Findings(
        estimator,
        model,
        matrix,
        classes,
        label,
        names,
        run if isinstance(run, Run) else None,
        tuple(evaluations),
        proof,
        _diagnose(proof, rows, y, names),
        compared,
        unproved,
    )


def _check(estimator: Any, X: Any) -> None:
    """Raise `InvalidInput` unless the estimator is a fitted classifier."""
    if not hasattr(estimator, "predict"):
        raise InvalidInput(f"{short_repr(estimator)} has no predict. Pass a fitted classifier.")
    name = type(estimator).__name__
    try:
        classes = getattr(estimator, "classes_", None)
        estimator.predict(X)
    except (ValueError, AttributeError) as error:  # scikit-learn's NotFittedError is both
        raise InvalidInput(f"{name} cannot predict these rows: {error} Fit it on X and y first.") from error
    if classes is None:
        raise InvalidInput(f"{name} has no classes_, so it is not a classifier. Pass a fitted classifier.")


def _names(names: Any, estimator: Any, model: Any, rows: Any, width: int) -> list[str]:
    """Return the names of the features: those passed, those of the model, the rows or the pipeline, or x1, x2, ..."""
    candidates = [names, getattr(model, "feature_names_in_", None), column_names(rows)]
    if hasattr(estimator, "steps"):
        with suppress(AttributeError, ValueError):
            candidates.append(estimator[:-1].get_feature_names_out())
    if names is not None and len(names) != width:
        raise InvalidInput(f"There are {len(names)} names for {width} features. Pass one for each feature, or None.")
    for candidate in candidates:
        if candidate is not None and len(candidate) == width:
            return [str(name) for name in candidate]
    return [f"x{j}" for j in range(1, width + 1)]


def _evaluate(name: str, estimator: Any, X: Any, y: Any) -> Evaluation:
    truth = np.asarray(y)
    labels, counts = confusion(truth, np.asarray(estimator.predict(X)))
    distances = None
    if np.isin(truth, np.asarray(estimator.classes_)).all():
        with suppress(InvalidInput):  # a model without scores has no margins
            distances = margins(estimator, X, truth)
    return Evaluation(name, labels, counts, distances)


def _prove(
    model: Any, rows: Any, y: Any, shape: tuple[int, int], n_classes: int, time_limit: float
) -> tuple[Certificate | None, Theory | None, str]:
    """Return a certificate, the theory of a plain perceptron, and the reason if there is no certificate."""
    if shape[0] * shape[1] > MAX_PROVED_ENTRIES:
        fault = f"{shape[0]:,} rows of {shape[1]:,} features are too many for a report to search for a proof."
        return None, None, f"{fault} Call rosenblatt.certify."
    # Only the class itself: a subclass may learn by another rule.
    if type(model).__name__ == "Perceptron" and n_classes == 2:
        try:
            compared = theory(rows, y, model, time_limit=time_limit)
            return compared.certificate, compared, ""
        except InvalidInput:
            pass  # not the plain rule
    try:
        return certify(rows, y, time_limit=time_limit), None, ""
    except InvalidInput as error:
        return None, None, str(error)


def _diagnose(certificate: Certificate | None, rows: Any, y: Any, names: list[str]) -> Diagnosis | None:
    """Return the estimates of a regression on separated rows of two classes, if the certificate has determined them."""
    if certificate is None or not certificate.estimates or certificate.verdict == "overlapping":
        return None
    found = diagnosis_of(certificate, read_design(rows, y, feature_names=names))
    return found if found.table is not None else None
