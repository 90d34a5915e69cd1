"""Linear models, without scikit-learn: weights, classes, names of the features."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from rosenblatt.data.matrices import column_names, dense_values, refuse_infinite
from rosenblatt.data.table import as_sparse_table
from rosenblatt.engine.rows import Csr, Hyperplanes
from rosenblatt.errors import InvalidArgument, InvalidInput, NotAvailable
from rosenblatt.storage.checks import check_array, check_classes
from rosenblatt.storage.registry import expect, stored
from rosenblatt.storage.sparse import SparseArray
from rosenblatt.text import brief, count, did_you_mean, listed, short_repr
from rosenblatt.training.calibration import Sigmoids, probabilities
from rosenblatt.training.explanation import Explanation, by_place, explain, row_entries
from rosenblatt.training.multiclass import MULTICLASS, count_problems, decision, winners
from rosenblatt.training.named_rows import array_table, by_names, is_dict, row_names
from rosenblatt.training.scores import scores

Array = npt.NDArray[Any]


def finite_values(X: Any) -> Array:
    """Return dense rows as `dense_values` does; raise an error if a value is NaN or infinite."""
    values = dense_values(X)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        refuse_infinite(values[row], row)
    return values


def check_model(model: LinearModel) -> None:
    """Raise a `Fault` unless weights from a file are finite numbers, of labels."""
    values = model.W.data if isinstance(model.W, SparseArray) else model.W
    check_array("W", values, "f", values.shape)
    check_array("b", model.b, "f", (model.W.shape[0],))
    if model.classes.size:
        check_classes(model.classes)
    expect(all(isinstance(name, str) for name in model.feature_names), "feature_names are not names")
    expect(model._scaling is None or _is_scaling(model._scaling), "its scaling of columns is invalid")
    if "names" in (model.origin or {}):
        from rosenblatt.files.names import KeptNames  # imported here: few models have names of hashed columns

        last = max(KeptNames.from_json((model.origin or {})["names"]).column, default=0)
        expect(last < model.W.shape[1], "it has names of columns that it does not have")
    calibration, columns = (model.origin or {}).get("calibration"), 1 if model.classes.size == 2 else model.classes.size
    sound = calibration is None or (_is_scaling(calibration) and len(calibration[0]) == columns)
    expect(sound, "its calibration is invalid")


def _is_scaling(scaling: Any) -> bool:
    """Return whether a value from a file is two lists of numbers: means and deviations, or slopes and offsets."""
    lists = isinstance(scaling, list) and len(scaling) == 2 and all(isinstance(part, list) for part in scaling)
    if not lists or len(scaling[0]) != len(scaling[1]):
        return False
    # Compared, not converted: whole numbers of a file may be too large for a float.
    return all(type(value) in (int, float) and abs(value) < 1e300 for part in scaling for value in part)


@stored("LinearModel", check=check_model, sparse=("W",))
@dataclass(frozen=True)
class LinearModel:
    """Weights that predict.

    Attributes
    ----------
    W : array of shape (n_problems, n_features)
        Of many hashed columns, most of which no row has used, it may be a `rosenblatt.storage.sparse.SparseArray`. That
        acts like an array; ``numpy.asarray(model.W)`` makes it one.
    b : array of shape (n_problems,)
    classes : array of shape (n_classes,)
        The labels, sorted; empty for a regression.
    multiclass : {"ovr", "ovo", "ovo-vote", "joint"}
        How the problems decide between more than two classes.
    feature_names : tuple of str
        Names of the features; empty where they have none.
    origin : dict or None
        Of a model from data files: how these were read, how it was trained, and names of hashed features, as plain
        values. Rows are scaled as those of the files were.

    Examples
    --------
    >>> from rosenblatt import train
    >>> model = train([[0, 0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "yes"], order="cyclic").model
    >>> model.predict([[0, 0], [1, 1]]).tolist()
    ['no', 'yes']
    """

    W: Array | SparseArray
    b: Array
    classes: Array
    multiclass: str = "ovr"
    feature_names: tuple[str, ...] = ()
    origin: dict[str, Any] | None = None

    def __repr__(self) -> str:
        """Return the model in a few lines, with the size of many weights."""
        return brief(self)

    def __post_init__(self) -> None:
        """Raise an error if the weights do not fit the classes."""
        arrays = all(isinstance(part, np.ndarray) for part in (self.b, self.classes))
        arrays = arrays and isinstance(self.W, np.ndarray | SparseArray)
        if not arrays or self.classes.ndim != 1 or not isinstance(self.feature_names, tuple):
            raise InvalidInput("W, b and classes must be arrays, classes one-dimensional, and feature_names a tuple.")
        if not isinstance(self.multiclass, str) or self.multiclass not in MULTICLASS:
            raise InvalidInput(
                f"multiclass={short_repr(self.multiclass)} is not known. Choose one of {', '.join(MULTICLASS)}."
                + did_you_mean(self.multiclass, MULTICLASS)
            )
        problems = count_problems(self.classes.size, self.multiclass) if self.classes.size else 1
        if self.W.ndim != 2 or self.W.shape[0] != problems or self.b.shape != (problems,):
            raise InvalidInput(
                f"W has shape {self.W.shape} and b {self.b.shape}, but ({problems}, n_features) and ({problems},) "
                "are expected."
            )
        if self.feature_names and len(self.feature_names) != self.W.shape[1]:
            raise InvalidInput(
                f"There are {len(self.feature_names)} names for {count(self.W.shape[1], 'feature')}. "
                "Pass one for each, or none."
            )

    def problem_scores(self, X: Any) -> Array:
        """Return the score of each row under each problem, (n_rows, n_problems)."""
        self._check_names(column_names(X))
        if hasattr(X, "tocsr"):
            return self._sparse_scores(X)
        values = finite_values(X)
        self._check_width(values.shape[1])
        values = self._scaled(values)
        dtype = np.result_type(values.dtype, self.W.dtype)
        return np.asarray(values @ np.asarray(self.W, dtype).T + self.b.astype(dtype, copy=False))

    def _sparse_scores(self, X: Any) -> Array:
        self._refuse_scaling()
        table = as_sparse_table(X, to_score=True)
        self._check_width(table.shape[1])
        dtype, W = np.result_type(table.dtype, self.W.dtype), self.W
        if isinstance(W, SparseArray):
            # Also a column without weights keeps its place: the sum of a row is then the same, bit for bit.
            data, indices, indptr = cast(Csr, table.rows)
            places = W.places(indices)
            if places.size and not 0 <= places.min() <= places.max() < W.block.shape[1]:
                raise InvalidInput("The weights were changed, and no longer fit their columns. Load the model again.")
            rows = Csr(data, places, indptr)
            table, W = replace(table, rows=rows, shape=(table.shape[0], W.block.shape[1])), W.block
        return scores(table, Hyperplanes(np.asarray(W, dtype=dtype, order="A"), self.b.astype(dtype)))

    def _scaled(self, values: Array) -> Array:
        """Return dense rows as those that the model was trained on were scaled."""
        if self._scaling is None:
            return values
        from rosenblatt.files.tables import Scaler  # imported here: few models have one

        return Scaler(values.shape[1], self._scaling).scaled(values)

    def _refuse_scaling(self) -> None:
        if self._scaling is not None:
            raise InvalidInput(
                "The model was trained on standardised columns, but X is sparse. Pass X.toarray(), or files "
                "to rosenblatt predict."
            )

    @property
    def _scaling(self) -> Any:
        """Means and deviations of the columns that the model was trained on, if they were standardised."""
        return (self.origin or {}).get("scaling")

    def _check_names(self, names: tuple[str, ...]) -> None:
        if names and self.feature_names and names != self.feature_names:
            raise InvalidInput(
                f"X has the columns {listed(names)}, the model has {listed(self.feature_names)}, in this order. Pass "
                "X[list(model.feature_names)]."
            )

    def _check_width(self, features: int) -> None:
        if features != self.W.shape[1]:
            raise InvalidInput(
                f"X has {count(features, 'feature')}, the model has {self.W.shape[1]}. Pass the same columns."
            )

    def class_scores(self, X: Any) -> Array:
        """Return the scores of the classes; one column for two classes."""
        return decision(self.problem_scores(X), self.classes.size, self.multiclass)

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
        found = self.class_scores(X) if self.classes.size else self.problem_scores(X)
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
        return self.elect(self.class_scores(X))

    def elect(self, class_scores: Array) -> Array:
        """Return the class that wins each row of scores."""
        if self.classes.size == 1:
            return np.repeat(self.classes, class_scores.shape[0])
        return self.classes[winners(class_scores)]

    def explain(self, x: Any, top: int | None = None) -> Explanation:
        """Return the scores of one row as sums over its features.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, row of a data frame, or dict from names to numbers
        top : int, optional
            How many contributions to list, the largest first; the others are added up. By default all.

        Returns
        -------
        Explanation
            Values of standardised columns are shown as they are in x.
        """
        if row_names(x) and self.feature_names:
            x = x.to_dict()
        if is_dict(x):
            if not self.feature_names:
                raise InvalidInput("x is a dict, but the features of the model have no names. Pass an array.")
            x = by_names(x, self.feature_names)
        if hasattr(x, "tocsr"):
            self._refuse_scaling()
            scaled = shown = x
        else:
            self._check_names(column_names(x))
            shown = finite_values(x if len(getattr(x, "shape", ())) == 2 else [x])
            self._check_width(shown.shape[1])
            scaled = self._scaled(shown)
            if shown.shape[0] == 1:
                scaled, shown = scaled[0], shown[0]
        table = array_table(scaled, self.W.shape[1])
        entries = row_entries(table, self.name_of())
        if self._scaling is not None:
            entries = entries._replace(shown=shown[entries.column].tolist())
        planes = Hyperplanes(self.W[:, entries.column], self.b)
        return explain(planes, self.classes, self.multiclass, entries, top)

    def name_of(self) -> Callable[[int], str]:
        """Return a function from columns to their names, as far as they are known; else to a number."""
        if self.feature_names or "reading" not in (self.origin or {}):
            return by_place(self.feature_names)
        from rosenblatt.files.names import known_names  # imported here: only for models of files

        return known_names(self.origin or {})

    @property
    def sigmoids(self) -> Sigmoids | None:
        """The sigmoids that turn scores into probabilities, if the model is calibrated or has the logistic loss."""
        origin, columns = self.origin or {}, 1 if self.classes.size == 2 else self.classes.size
        if origin.get("calibration") is not None:
            slope, offset = origin["calibration"]
            return Sigmoids(tuple(slope), tuple(offset))
        training = origin.get("training")
        parameters = training.get("parameters") if isinstance(training, dict) else None
        logistic = isinstance(parameters, dict) and parameters.get("loss") in ("logistic", "log_loss")
        return Sigmoids((1.0,) * columns, (0.0,) * columns) if columns and logistic else None

    def require_probabilities(self) -> Sigmoids:
        """Return the sigmoids; raise an error if there are none."""
        if not self.classes.size:
            raise NotAvailable("This model predicts numbers, not classes, and has no probabilities.")
        if self.sigmoids is None:
            raise NotAvailable(
                "This model has scores, but no probabilities. Train it with rosenblatt train --calibrate, or with "
                "--learner soft-margin --loss logistic."
            )
        return self.sigmoids

    def probabilities(self, class_scores: Array) -> Array:
        """Return the probability of each class, from the scores of the classes."""
        return probabilities(class_scores, self.classes.size, self.require_probabilities())

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, of a model from files that is calibrated or has the logistic loss.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        self.require_probabilities()
        return self.probabilities(self.class_scores(X))

    def merge(self, others: Sequence[LinearModel], shares: Sequence[float] | None = None) -> LinearModel:
        """Return the weighted mean of this model and others of the same classes and features.

        Parameters
        ----------
        others : sequence of LinearModel
        shares : sequence of float, optional
            Weight of each, this model first; equal by default.
        """
        models = [self, *(others if isinstance(others, Sequence) else [others])]
        for other in models:
            if not isinstance(other, LinearModel):
                raise InvalidArgument(f"others has {short_repr(other)}, not a LinearModel. Pass a list of models.")
        share = scaled_shares([1.0] * len(models) if shares is None else shares, len(models))
        for other in models[1:]:
            alike = other.W.shape == self.W.shape and other.multiclass == self.multiclass
            alike = alike and np.array_equal(other.classes, self.classes) and other.feature_names == self.feature_names
            if not alike:
                raise InvalidInput(
                    "Models of other classes, features or another multiclass mode cannot be merged. Train them alike."
                )
        W = sum(s * np.asarray(model.W, float) for s, model in zip(share, models, strict=True))
        b = sum(s * model.b.astype(float) for s, model in zip(share, models, strict=True))
        dtype = self.W.dtype
        return LinearModel(W.astype(dtype), b.astype(dtype), self.classes, self.multiclass, self.feature_names)

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the model to a file, which appears whole or not at all.

        Parameters
        ----------
        path : str, path-like or binary file object

        See Also
        --------
        load_linear : the way back.
        """
        # Imported here: most models are never written.
        from rosenblatt.storage.atomic import target_of
        from rosenblatt.storage.container import write

        write(target_of(path), {"class": "LinearModel", "parameters": {}, "attributes": {"model": self}})


def scaled_shares(shares: Any, n_models: int) -> Array:
    """Return the weights of models, scaled to add up to one; raise an error if they are not valid."""
    try:
        weight = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        weight = np.empty(0)
    if weight.shape != (n_models,) or not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
        expected = f"{n_models} weights from 0 with a positive sum"
        raise InvalidInput(f"shares={short_repr(shares)} is invalid: pass {expected}.")
    return np.asarray(weight / weight.sum())


def load_linear(path: str | os.PathLike[str] | bytes | BinaryIO) -> LinearModel:
    """Read the weights of a linear model from a file, without scikit-learn.

    Parameters
    ----------
    path : str, path-like, bytes or binary file object
        A file, or the bytes of one, that `rosenblatt.save` or `LinearModel.save` wrote, of any linear member of the
        family.

    Returns
    -------
    LinearModel
        Predicts as the estimator does; that of the voted perceptron predicts by its average.

    Raises
    ------
    InvalidInput
        If the file is not a whole and sound model file, or holds a model without weights.
    NotAvailable
        If it holds a pipeline, unless that is a `TextHasher` or `TableHasher` and a linear learner.

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
    # Imported here: training neither reads nor writes files.
    from rosenblatt.storage.atomic import source_of
    from rosenblatt.storage.container import open_container

    name, source = source_of(path)
    try:
        opened = open_container(source)
        names = opened.names("attributes")
        if "steps" in names and "model" not in names:
            raise NotAvailable(
                f"{name} holds a pipeline, whose steps only rosenblatt.load applies. Predict in Python: "
                f"rosenblatt.load({name!r}).predict(X). The command line reads those of a TextHasher or TableHasher "
                "and a linear learner."
            )
        expect("model" in names, f"it holds a {opened.text('class'):.60}, which is not fitted or has no weights")
        model = opened.value("attributes", "model")
        expect(type(model) is LinearModel, "it does not contain a LinearModel")
    except InvalidInput as fault:
        raise InvalidInput(
            f"{name} cannot be loaded: {str(fault).rstrip('.')}. Pass a file that rosenblatt.save wrote, whole and "
            "unchanged."
        ) from None
    loaded: LinearModel = model
    return loaded
