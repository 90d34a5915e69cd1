"""Linear models: weights, the classes they tell apart, the names of the features. No scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.epochs import Dense, Hyperplanes, score
from rosenblatt.data.table import ALL_ROWS, Table, as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.multiclass import MULTICLASS, code, count_problems, decision, winners
from rosenblatt.storage.atomic import source_of, target_of
from rosenblatt.storage.checks import check_array, check_classes, expect
from rosenblatt.storage.container import Container, Content, open_container, write
from rosenblatt.storage.values import stored

Array = npt.NDArray[Any]


def scores(table: Table, planes: Hyperplanes, subset: Array = ALL_ROWS) -> Array:
    """Return the score W.x + b of each row under each problem.

    Parameters
    ----------
    table : Table
    planes : Hyperplanes
    subset : int array, default all rows

    Returns
    -------
    array of shape (n_rows, n_problems)
    """
    if isinstance(table.rows, Dense) and not subset.size:
        return np.asarray(table.rows.X @ planes.W.T + planes.b)
    out = np.empty((subset.size or table.shape[0], planes.b.size), planes.W.dtype)
    score(table.rows, subset, planes, out)
    return out


def _check_model(model: LinearModel) -> None:
    check_array("W", model.W, "f", model.W.shape)
    check_array("b", model.b, "f", (model.W.shape[0],))
    if model.classes.size:
        check_classes(model.classes)
    expect(all(isinstance(name, str) for name in model.feature_names), "feature_names are not names")


@stored("LinearModel", check=_check_model)
@dataclass(frozen=True)
class LinearModel:
    """Weights that predict.

    Attributes
    ----------
    W : array of shape (n_problems, n_features)
    b : array of shape (n_problems,)
    classes : array of shape (n_classes,)
        The labels, sorted; empty for a regression.
    multiclass : {"ovr", "ovo", "ovo-vote", "joint"}
        How the problems decide between more than two classes.
    feature_names : tuple of str
        Names of the features; empty where they have none.

    Examples
    --------
    >>> from rosenblatt import train
    >>> model = train([[0, 0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "yes"], order="cyclic").model
    >>> model.predict([[0, 0], [1, 1]]).tolist()
    ['no', 'yes']
    """

    W: Array
    b: Array
    classes: Array
    multiclass: str = "ovr"
    feature_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise an error for weights that do not fit the classes."""
        if self.multiclass not in MULTICLASS:
            raise InvalidInput(
                f"multiclass={self.multiclass!r:.60} is not known. Choose one of {', '.join(MULTICLASS)}."
            )
        problems = count_problems(self.classes.size, self.multiclass) if self.classes.size else 1
        if self.W.ndim != 2 or self.W.shape[0] != problems or self.b.shape != (problems,):
            raise InvalidInput(
                f"W has shape {self.W.shape} and b {self.b.shape}, where ({problems}, n_features) and ({problems},) "
                "belong."
            )
        if self.feature_names and len(self.feature_names) != self.W.shape[1]:
            raise InvalidInput(f"There are {len(self.feature_names)} names for {self.W.shape[1]} features.")

    def problem_scores(self, table: Table) -> Array:
        """Return the score of each row under each problem, (n_rows, n_problems)."""
        if table.shape[1] != self.W.shape[1]:
            raise InvalidInput(f"X has {table.shape[1]} features; the model has {self.W.shape[1]}.")
        dtype = np.result_type(table.dtype, self.W.dtype)
        W, b = np.ascontiguousarray(self.W, dtype=dtype), np.asarray(self.b, dtype=dtype)
        return scores(table, Hyperplanes(W, b, np.ones(b.size)))

    def class_scores(self, table: Table) -> Array:
        """Return the scores of the classes; one column for two classes."""
        return decision(self.problem_scores(table), code(self.classes.size, self.multiclass), self.multiclass)

    def scores(self, X: Any) -> Array:
        """Return the scores of the classes, or the numbers of a regression.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes[1]``, and for a regression;
        else (n_samples, n_classes)
        """
        table = as_table(X)
        found = self.class_scores(table) if self.classes.size else self.problem_scores(table)
        return found[:, 0] if found.shape[1] == 1 else found

    def predict(self, X: Any) -> Array:
        """Return the class of each row, or its number in a regression; a score of zero is the negative class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        if not self.classes.size:
            return self.scores(X)
        return self.elect(self.class_scores(as_table(X)))

    def elect(self, class_scores: Array) -> Array:
        """Return the class that wins each row of scores."""
        if self.classes.size == 1:
            return np.repeat(self.classes, class_scores.shape[0])
        return self.classes[winners(class_scores)]

    def merge(self, others: Sequence[LinearModel], shares: Sequence[float] | None = None) -> LinearModel:
        """Return the weighted mean of this model and others of the same classes and features.

        Parameters
        ----------
        others : sequence of LinearModel
        shares : sequence of float, optional
            Weight of each, this model first; equal by default.
        """
        models = [self, *others]
        weight = np.asarray([1.0] * len(models) if shares is None else shares, dtype=np.float64)
        if weight.shape != (len(models),) or not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
            raise InvalidInput(f"shares={shares!r} are not {len(models)} weights from 0 with a positive sum.")
        for other in models[1:]:
            alike = other.W.shape == self.W.shape and other.multiclass == self.multiclass
            alike = alike and np.array_equal(other.classes, self.classes) and other.feature_names == self.feature_names
            if not alike:
                raise InvalidInput("Only models of the same classes, mode and features can be merged.")
        share = weight / weight.sum()
        W = sum(s * model.W.astype(float) for s, model in zip(share, models, strict=True))
        b = sum(s * model.b.astype(float) for s, model in zip(share, models, strict=True))
        dtype = self.W.dtype
        return LinearModel(W.astype(dtype), b.astype(dtype), self.classes, self.multiclass, self.feature_names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which appears whole or not at all.

        Parameters
        ----------
        path : str or path-like

        See Also
        --------
        load_linear : the way back.
        """
        content: Content = {"class": "LinearModel", "parameters": {}, "attributes": {"model": self}}
        write(target_of(path), content)


def load_linear(path: str | os.PathLike[str]) -> LinearModel:
    """Read the weights of a linear model from a file, without scikit-learn and without what training needs.

    Parameters
    ----------
    path : str or path-like
        A file that `rosenblatt.save` or `LinearModel.save` wrote, of any linear member of the family.

    Returns
    -------
    LinearModel
        Which predicts as the estimator does; the voted perceptron's predicts by its last weights.

    Raises
    ------
    InvalidInput
        If the file is not a whole and sound model file, or holds a model without weights.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import Perceptron, load_linear, save
    >>> model = Perceptron().fit([[0, 0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/or.safetensors")
    ...     load_linear(f"{folder}/or.safetensors").predict([[0, 0], [1, 1]]).tolist()
    ['no', 'yes']
    """
    shown = source_of(path)
    try:
        opened = open_container(shown)
        names = opened.names("attributes")
        if opened.version == "1":
            return _from_version_1(opened, names)
        expect("model" in names, f"it holds a {opened.text('class'):.60}, which is not fitted or has no weights")
        model = opened.value("attributes", "model")
        expect(type(model) is LinearModel, "its model is none")
    except InvalidInput as fault:
        raise InvalidInput(f"{shown} cannot be loaded: {str(fault).rstrip('.')}.") from None
    found: LinearModel = model
    return found


def _from_version_1(opened: Container, names: list[str]) -> LinearModel:
    """Return the weights of a file of format version 1, which stored those of each estimator by itself."""
    expect("coef_" in names, f"it holds a {opened.text('class'):.60}, which is not fitted or has no weights")
    coef, intercept = opened.value("attributes", "coef_"), opened.value("attributes", "intercept_")
    if "classes_" not in names:
        W, b = np.atleast_2d(coef), np.atleast_1d(np.asarray(intercept, dtype=coef.dtype))
        model = LinearModel(W, b, np.empty(0))
    else:
        classes, multiclass = opened.value("attributes", "classes_"), opened.value("parameters", "multiclass")
        check_classes(classes)
        model = LinearModel(coef, intercept, classes, multiclass)
    _check_model(model)
    return model
