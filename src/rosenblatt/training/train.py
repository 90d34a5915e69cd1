"""Train a perceptron on arrays, without scikit-learn."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels, as_names, as_weights, used_rows
from rosenblatt.data.numbers import is_real, is_truth
from rosenblatt.data.table import ALL_ROWS, as_table, learnable, with_own_indices
from rosenblatt.engine.rules import perceptron
from rosenblatt.errors import InvalidInput
from rosenblatt.text import count, short_repr
from rosenblatt.training.algorithm import start_state
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.model import LinearModel
from rosenblatt.training.multiclass import by_pairs, coding_matrix, make_task
from rosenblatt.training.plan import Plan, Run, check_names
from rosenblatt.training.runner import Job, Validation, run

Array = npt.NDArray[Any]

PLAN = tuple(field.name for field in fields(Plan))


def train(
    X: Any,
    y: Any,
    *,
    multiclass: str = "ovr",
    margin: float = 0.0,
    fit_intercept: bool = True,
    init: Any = None,
    sample_weight: Any = None,
    validation: tuple[Any, Any] | None = None,
    **plan: Any,
) -> Run:
    """Train a perceptron on X and y, without scikit-learn.

    On a mistake, y f(x) <= 0, the weights move towards the row: w += eta0 y x, b += eta0 y.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Two classes, such as -1 and +1 or 0 and 1, of which the larger is positive; or more.
    multiclass : {"ovr", "ovo", "ovo-vote", "joint"}
        How more than two classes become binary problems.
    margin : float
        Update as long as y f(x) <= margin.
    fit_intercept : bool
        Whether to learn a bias.
    init : (w0, b0) or None
        Where to start; zero by default.
    sample_weight : array-like of shape (n_samples,) or None
        Factor of each row's step.
    validation : (X, y) or None
        Rows to measure the error on after each epoch; the run ends when it stops decreasing.
    **plan
        The fields of `Plan`: order, schedule, eta0, batch, max_iter, max_seconds, tol, n_iter_no_change, keep,
        random_state, n_jobs, callback, before_epoch.

    Returns
    -------
    Run
        With the weights as `coef` and `intercept`, and as `model`, which predicts.

    Examples
    --------
    The logical OR, presented row by row until an epoch passes without a mistake:

    >>> from rosenblatt import train
    >>> run = train([[0, 0], [1, 0], [0, 1], [1, 1]], [-1, 1, 1, 1], order="cyclic")
    >>> run.mistakes, run.coef.tolist(), run.intercept.tolist()
    ((3, 1, 2, 2, 1, 0), [[2.0, 2.0]], [-1.0])
    """
    check_names("train", plan, PLAN)
    settings = Plan(**plan)
    _check_own(margin, fit_intercept)
    table = learnable(as_table(X))
    if settings.callback is not None or callable(settings.schedule):
        table = with_own_indices(table)
    classes, label = as_labels(y, table.shape[0])
    if classes.size < 2:
        raise InvalidInput(f"y has one class only, {short_repr(classes[0])}. Add examples of another class.")
    sign = coding_matrix(classes.size, multiclass)
    weight = as_weights(sample_weight, table.shape[0])
    task = make_task(label, sign, multiclass, weight=weight, bias=1.0 if fit_intercept else 0.0)
    algorithm = FirstOrder(perceptron(positive=margin / settings.eta0, negative=margin / settings.eta0))
    scale = algorithm.rate_scale(settings.eta0)
    state = start_state(algorithm, sign.shape[1], table, init, scale, by_pairs=by_pairs(multiclass))
    held_out = None if validation is None else _validation(validation, classes, table.shape[1])
    job = Job(algorithm, table, task, settings, multiclass, used_rows(weight), held_out, names=as_names(classes))
    record = run(job, state)
    planes = algorithm.hyperplanes(state)
    rate = planes.W.dtype.type(scale)
    return replace(record, model=LinearModel(planes.W * rate, planes.b * rate, classes, multiclass))


def _check_own(margin: Any, fit_intercept: Any) -> None:
    """Raise an error for invalid values of the rule's parameters."""
    if not is_real(margin) or not 0 <= margin < np.inf:
        raise InvalidInput(f"margin={short_repr(margin)} is invalid: pass a number from 0.")
    if not is_truth(fit_intercept):
        raise InvalidInput(f"fit_intercept={short_repr(fit_intercept)} is invalid: pass True or False.")


def _validation(validation: Any, classes: Array, n_features: int) -> Validation:
    if not isinstance(validation, tuple | list) or len(validation) != 2:
        raise InvalidInput(
            f"validation={short_repr(validation)} is not a pair. Pass (X, y), the rows and their labels."
        )
    table = as_table(validation[0])
    if table.shape[1] != n_features:
        raise InvalidInput(
            f"The validation rows have {count(table.shape[1], 'feature')}, the training rows {n_features}. "
            "Pass the same."
        )
    labels, number = as_labels(validation[1], table.shape[0])
    place = np.searchsorted(classes, labels)
    known = classes[np.minimum(place, classes.size - 1)] == labels
    # A class that training never saw cannot be predicted: -1 counts as an error whatever is predicted.
    return Validation(table, ALL_ROWS, np.where(known, place, -1).astype(np.int32)[number], np.empty(0))
