"""What learns in a model: rows of names and texts by the reading of a `FileModel`, or rows of numbers by an estimator.

Both have the same methods, so that nothing else in this package knows which it is.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Sequence
from io import BytesIO
from typing import Any, Protocol

import msgspec
import numpy as np

from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.opening import completed
from rosenblatt.files.options import Column, FeatureOptions, Opening, Reading
from rosenblatt.files.tables import check_crosses, kind_of
from rosenblatt.learners import trainable
from rosenblatt.learners.base import all_or_nothing
from rosenblatt.learners.file_model import FileModel
from rosenblatt.learners.saving import load, save
from rosenblatt.serving.problems import Problem
from rosenblatt.serving.requests import NewModel, RowToLearn, X
from rosenblatt.text import did_you_mean, listed

NUMBERS = "numbers"
# The format of a model whose rows are of this type, if it is not given.
FORMAT_OF = {dict: "jsonl", list: NUMBERS, str: "text"}
# The most weights of a model, and numbers in a row.
MAX_CLASSES, MAX_WEIGHTS = 1_000, 1 << 26


class ServedLearner(Protocol):
    """What the service asks of a model."""

    name: str
    format: str
    regression: bool

    @property
    def classes(self) -> list[Any]:
        """The labels, sorted; empty in a regression, or before the first row."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def reading(self) -> dict[str, Any] | None:
        """How rows are read; None if they are numbers."""

    def predict(self, X: Sequence[X]) -> list[Any]:
        """Return the class of each row, or its number in a regression."""

    def scores(self, X: Sequence[X]) -> Any:
        """Return the scores of each row, as `decision_function` does."""

    def probabilities(self, X: Sequence[X]) -> Any:
        """Return the probability of each class for each row, if the model has them."""

    def learn(self, X: Sequence[X], y: Sequence[Any], weight: Sequence[float] | None) -> list[Any]:
        """Predict each row, then learn from it; all rows or none. None stands for no prediction."""

    def explain(self, x: X, top: int | None) -> Any:
        """Return the scores of a row as sums over its features."""

    def save(self) -> bytes:
        """Return the model file."""


class OfRows:
    """Learns from rows that are read as those of files."""

    def __init__(self, model: FileModel) -> None:
        self.model = model
        self.name, self.format = model.training["learner"], model.reader.reading.format
        self.regression = not hasattr(model.learner, "decision_function")

    @property
    def classes(self) -> list[Any]:
        """The labels."""
        return [plain(label) for label in self.model.classes_.tolist()]

    @property
    def n_features(self) -> int:
        """Number of features."""
        reader = self.model.reader
        return len(reader.names) if reader.reading.features.dictionary else reader.n_features

    @property
    def reading(self) -> dict[str, Any] | None:
        """How rows are read."""
        return self.model.reader.reading.to_json()

    def _checked(self, rows: Sequence[X]) -> Sequence[Any]:
        """Return rows as the reader takes them; raise an error for names and types that it would pass over."""
        reading = self.model.reader.reading
        kinds = {type(row) for row in rows}
        if len(kinds) > 1:
            raise InvalidInput("Some rows are objects, lists or texts, and others are not. Send one kind.")
        own = formats.ALL[reading.format]
        if kinds == {dict} and reading.columns and not own.ragged:
            known = {column.name for column in reading.columns}
            unknown = next((name for row in rows for name in row if name not in known), None)
            if unknown is not None:
                raise InvalidInput(
                    f"There is no column {unknown!r}.{did_you_mean(unknown, known)} The columns are "
                    f"{listed([c.name for c in reading.columns])}."
                )
        return list(as_numbers(rows)) if kinds == {list} and own.numbered else rows

    def predict(self, X: Sequence[X]) -> list[Any]:
        """Return the class of each row, or its number in a regression."""
        return [plain(label) for label in self.model.predict(self._checked(X)).tolist()]

    def scores(self, X: Sequence[X]) -> Any:
        """Return the scores of each row."""
        return self.model.decision_function(self._checked(X))

    def probabilities(self, X: Sequence[X]) -> Any:
        """Return the probability of each class for each row."""
        return self.model.predict_proba(self._checked(X))

    def learn(self, X: Sequence[X], y: Sequence[Any], weight: Sequence[float] | None) -> list[Any]:
        """Predict each row, then learn from it."""
        return [plain(label) for label in self.model.predict_then_learn(self._checked(X), y, weight)]

    def explain(self, x: X, top: int | None) -> Any:
        """Return the scores of a row as sums over its features."""
        return self.model.explain(self._checked([x])[0], top)

    def rows_on(self, lines: Sequence[str]) -> list[RowToLearn]:
        """Return the rows with the labels that are on lines in the format of the model."""
        reader, weights = self.model.reader, None
        if self.format == "text":
            pairs = [line.partition("\t") for line in lines]
            texts, labels = [text for *_, text in pairs], [label for label, *_ in pairs]
            if reader.reading.label_type == "number":
                labels = as_numbers([labels])[0].tolist()
        else:
            texts = list(lines)
            labels, weights = reader.labels(lines)
        for number, label in enumerate(labels):
            if label == "" or label != label:
                raise Problem("invalid-row", "The line has no label.", place=f"line {number + 1}")
        given = [1.0] * len(texts) if weights is None else weights
        return [RowToLearn(*row) for row in zip(texts, map(plain, labels), given, strict=True)]

    def save(self) -> bytes:
        """Return the model file."""
        return _saved(self.model)


class OfNumbers:
    """Learns from rows of numbers, in lists or by names."""

    format = NUMBERS
    reading = None

    def __init__(self, name: str, estimator: Any) -> None:
        self.name, self.estimator = name, estimator
        self.regression = not hasattr(estimator, "decision_function")

    @property
    def classes(self) -> list[Any]:
        """The labels."""
        return [plain(label) for label in getattr(self.estimator, "classes_", np.empty(0)).tolist()]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(getattr(self.estimator, "n_features_in_", 0))

    def predict(self, X: Sequence[X]) -> list[Any]:
        """Return the class of each row, or its number in a regression."""
        return [plain(self.estimator.predict_one(row)) for row in _rows_of_numbers(X)]

    def scores(self, X: Sequence[X]) -> Any:
        """Return the scores of each row."""
        return self._asked("decision_function", "scores", X)

    def probabilities(self, X: Sequence[X]) -> Any:
        """Return the probability of each class for each row."""
        return self._asked("predict_proba", "probabilities", X)

    def _asked(self, method: str, figures: str, X: Sequence[X]) -> Any:
        if not hasattr(type(self.estimator), method):
            raise InvalidInput(f"This model has no {figures}. Leave them out.")
        if {type(row) for row in X} == {dict}:
            raise InvalidInput(f"The {figures} are for rows that are lists. Send lists, or leave them out.")
        return getattr(self.estimator, method)(as_numbers(X))

    def learn(self, X: Sequence[X], y: Sequence[Any], weight: Sequence[float] | None) -> list[Any]:
        """Predict each row, then learn from it."""
        rows, predictions, estimator = _rows_of_numbers(X), [], self.estimator
        with all_or_nothing(estimator):
            for number, (row, label) in enumerate(zip(rows, y, strict=True)):
                known = hasattr(estimator, "n_features_in_")
                predictions.append(plain(estimator.predict_one(row)) if known else None)
                if weight is None or weight[number] == 1.0:
                    estimator.learn_one(row, label)
                elif isinstance(row, dict):
                    raise InvalidInput("A row of names has no weight here. Send lists, or leave the weight out.")
                else:
                    estimator.partial_fit(row.reshape(1, -1), [label], sample_weight=[weight[number]])
        return predictions

    def explain(self, x: X, top: int | None) -> Any:
        """Return the scores of a row as sums over its features."""
        return self.estimator.explain(_rows_of_numbers([x])[0], top)

    def save(self) -> bytes:
        """Return the model file."""
        return _saved(self.estimator)


def plain(label: Any) -> Any:
    """Return a label as JSON has it: 1 rather than 1.0."""
    value = label.item() if isinstance(label, np.generic) else label
    return int(value) if isinstance(value, float) and value.is_integer() else value


def finite(value: Any) -> Any:
    """Return a value without infinite numbers, which JSON does not have."""
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def by_class(learner: ServedLearner, figures: Any) -> list[Any]:
    """Return figures of each row, by class; one score of two classes as it is, positive for the second."""
    found = np.asarray(figures)
    if found.ndim == 1:
        return [finite(score) for score in found.tolist()]
    names = [str(label) for label in learner.classes]
    return [finite(dict(zip(names, row, strict=True))) for row in found.tolist()]


def as_numbers(rows: Sequence[Any]) -> Any:
    """Return lists of numbers as an array; raise an error for anything else."""
    try:
        found = np.array(rows, np.float64)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or found.ndim != 2:
        raise InvalidInput("The rows are not lists of numbers of one length. Send as many numbers for each row.")
    return found


def _rows_of_numbers(rows: Sequence[Any]) -> Sequence[Any]:
    kinds = {type(row) for row in rows}
    if kinds == {dict}:
        for row in rows:
            for name, value in row.items():
                if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > sys.float_info.max:
                    raise InvalidInput(f"{name!r} is not a number, or too large. This model has rows of numbers.")
        return [{name: float(value) for name, value in row.items()} for row in rows]
    if kinds != {list}:
        raise InvalidInput("This model has rows of numbers. Send lists of numbers, or objects of names and numbers.")
    return list(as_numbers(rows))


def _saved(model: Any) -> bytes:
    buffer = BytesIO()
    save(model, buffer)
    return buffer.getvalue()


# --------------------------------------------------------------------------------------------------------------- begin


def begin(new: NewModel, x: X, y: Any, rows: Sequence[X] = ()) -> ServedLearner:
    """Return a learner that has learned nothing, for a first row and its label; `rows` show what columns are.

    Raises an error if the settings are invalid.
    """
    known = trainable()
    if new.learner not in known:
        meant = did_you_mean(new.learner, known)
        raise InvalidInput(f"There is no learner {new.learner!r}.{meant} There are {', '.join(known)}.")
    cls = known[new.learner]
    unknown = next((name for name in new.parameters if name not in cls.declared), None)
    if unknown is not None:
        raise InvalidInput(f"{new.learner} has no parameter {unknown!r}.{did_you_mean(unknown, cls.declared)}")
    regression = not hasattr(cls, "decision_function")
    labels = new.labels if new.labels != "auto" else "text" if isinstance(y, str | bool) else "number"
    if labels not in ("text", "number"):
        raise InvalidInput(f"labels={labels!r} is invalid: it must be text, number or auto.")
    if regression and (labels == "text"):
        raise InvalidInput(f"{new.learner} learns numbers, not labels. Send numbers, or choose another learner.")
    learner = cls(**_parameters(new.parameters, labels))
    learner._check_streaming()
    format = new.format if new.format != "auto" else FORMAT_OF[type(x)]
    if format == NUMBERS:
        _refuse_unused(new)
        return OfNumbers(new.learner, learner)
    if format not in formats.names(lambda one: not one.magic):
        wanted = ", ".join((NUMBERS, *formats.names(lambda one: not one.magic)))
        raise InvalidInput(f"format={format!r} is invalid: it must be auto, or one of {wanted}.")
    return OfRows(FileModel.begin(new.learner, learner, _reading(new, format, labels, rows)))


def _parameters(given: dict[str, Any], labels: str) -> dict[str, Any]:
    """Return parameters as Python has them: JSON has texts for the labels of class weights."""
    weights = given.get("class_weight")
    if not isinstance(weights, dict) or labels == "text":
        return given
    try:
        return given | {"class_weight": {float(label): weight for label, weight in weights.items()}}
    except ValueError:
        raise InvalidInput("class_weight has labels that are not numbers, as those of the rows are.") from None


def _refuse_unused(new: NewModel) -> None:
    """Raise an error for settings that rows of numbers do not have."""
    default = NewModel()
    used = ("learner", "parameters", "format", "labels")
    for name in NewModel.__struct_fields__:
        if name not in used and getattr(new, name) != getattr(default, name):
            raise InvalidInput(f"{name} has no effect on rows of numbers. Leave it out, or choose another format.")


def _reading(new: NewModel, format: str, labels: str, rows: Sequence[X]) -> Reading:
    """Return how rows are read."""
    names = ("bits", "dictionary", "words", "letters", "lowercase", "counts", "normalise", "standardise")
    options = {name: getattr(new, name) for name in names}
    features = FeatureOptions(**options, cross=tuple(new.cross))  # type: ignore[arg-type]
    own = formats.ALL[format]
    columns = dict(new.columns)
    if columns and own.kind != "table":
        raise InvalidInput(f"columns has no effect: rows of {format} have no columns. Leave it out.")
    if own.kind == "table" and not own.ragged and not columns:
        raise InvalidInput(f'columns is missing: {format} needs it, as in "columns": {{"age": "number"}}.')
    kinds = {*columns.values()} - {"label", "weight", "skip"}
    if own.ragged:
        found = _kinds(rows)
        # Else texts would be categories, of which a sentence is hardly ever the same again.
        columns |= {name: "text" for name, kind in found.items() if kind == "text" and name not in columns}
        kinds |= {columns.get(name, kind) for name, kind in found.items()}
    reading = Reading(
        format,
        features,
        labels,
        header=own.kind == "table" and not own.typed,
        columns=tuple(Column(name, kind) for name, kind in columns.items()),
        normalise=format == "text" or kinds == {"text"},
    )
    made = completed(reading, Opening(learns=True, features=features))
    parser = own.parser(made, "optional", False, None)
    if made.features.standardise and not getattr(parser, "number_names", ()):
        raise InvalidInput("standardise has no effect: there is no column of numbers. Leave it out.")
    if made.features.cross and not own.ragged:
        check_crosses(made.features.cross, columns)
    return made


def _kinds(rows: Sequence[X]) -> dict[str, str]:
    """Return the kind of each name in the first rows: a text has several words."""
    found: dict[str, list[str | float | None]] = {}
    for row in rows:
        for name, value in row.items() if isinstance(row, dict) else ():
            found.setdefault(name, []).append(value if isinstance(value, str) else 0.0)
    return {name: kind_of(values) for name, values in found.items()}


def check(new: NewModel) -> None:
    """Raise an error if no model can begin with these settings."""
    numbers = new.labels == "number" or not hasattr(trainable().get(new.learner), "decision_function")
    begin(new, {}, 0 if numbers else "")


def begin_with_lines(new: NewModel, format: str, lines: Sequence[str]) -> tuple[NewModel, list[RowToLearn]]:
    """Return the settings of a model that begins with lines of a format, and the rows on these lines."""
    if new.format not in ("auto", format):
        raise InvalidInput(f"The model has rows of {new.format}. Send those.")
    for labels in ("number", "text") if new.labels == "auto" else (new.labels,):
        settings = msgspec.structs.replace(new, format=format, labels=labels)
        learner = begin(settings, "", 0 if labels == "number" else "")
        assert isinstance(learner, OfRows)
        try:
            return settings, learner.rows_on(lines)
        except InvalidInput as error:
            fault = error
    raise fault


# -------------------------------------------------------------------------------------------------------------- files


def opened(content: bytes) -> ServedLearner:
    """Return the learner in a model file; raise an error if it cannot learn from single rows."""
    model = load(content)
    if isinstance(model, FileModel):
        return OfRows(model)
    name = type(model).__name__
    if not hasattr(model, "learn_one") or not hasattr(model, "n_features_in_"):
        raise InvalidInput(f"The file has a {name}, which does not learn from single rows here. Send another model.")
    return OfNumbers(name, model)


def digest(content: bytes) -> str:
    """Return the SHA-256 of a model file."""
    return hashlib.sha256(content).hexdigest()


def check_size(learner: ServedLearner, X: Sequence[X], y: Sequence[Any]) -> None:
    """Raise a `Problem` if these rows would make a model too large."""
    classes = 1 if learner.regression else len({*learner.classes, *map(plain, y)})
    if classes > MAX_CLASSES:
        raise Problem("too-many", f"The model would have {classes} classes; the most are {MAX_CLASSES}.")
    features = learner.n_features
    if isinstance(learner, OfNumbers):
        features = max(features, *map(len, X), *(features + len(x) for x in X if isinstance(x, dict)))
    if classes * features > MAX_WEIGHTS:
        raise Problem("too-many", f"The model would have {classes * features} weights; the most are {MAX_WEIGHTS}.")
