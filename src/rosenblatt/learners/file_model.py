"""Models of data files: a learner, and a reader that turns data in memory into the rows that files give."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_weights
from rosenblatt.data.table import Table
from rosenblatt.errors import InvalidInput
from rosenblatt.files.names import NO_NAMES, KeptNames
from rosenblatt.files.options import Reading
from rosenblatt.files.reader import RowReader
from rosenblatt.files.tables import Moments
from rosenblatt.learners.base import all_or_nothing
from rosenblatt.storage.checks import check_array, check_record, entries
from rosenblatt.storage.registry import Fault, expect
from rosenblatt.text import count
from rosenblatt.training.calibration import Sigmoids
from rosenblatt.training.chunked import OpenPass, Start
from rosenblatt.training.explanation import Explanation, explain_rows
from rosenblatt.training.model import LinearModel
from rosenblatt.training.stream import NO_CLASSES, Stream

Array = npt.NDArray[Any]

# Figures of a record that add up, and lists with an entry for each epoch.
_SUMS, _LISTS = ("rows", "epochs", "trials", "updates"), ("mistakes", "losses")
PLAIN = (bool, int, float, str)  # values that a record can hold


def added(before: dict[str, Any] | None, record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of two trainings, one after the other."""
    if before is None:
        return record
    errors = [record.get("errors") or [], before.get("errors") or []]
    measured = [own or [None] * one["epochs"] for own, one in zip(errors, (record, before), strict=True)]
    return (
        record
        | {name: before[name] + record[name] for name in (*_SUMS, *_LISTS)}
        | {"errors": measured[1] + measured[0] if any(errors) else [], "kept": before["epochs"] + record["kept"]}
    )


class FileModel:
    r"""A model that `rosenblatt train` wrote: it takes rows as the files had them, and learns on.

    A row is a row of a data frame, a dict, a text, a line of the format, or a row of an array, and is read as the files
    were: the same names, words, hashes, dictionary and scaling. `rosenblatt.load` returns such a model.

    Attributes
    ----------
    learner : estimator
        Learns from the rows that the reader makes.
    reader : RowReader
        Makes rows of data in memory; its `reading` has the format, the columns and the options.
    training : dict
        The record of the training: learner, parameters, rows, epochs, mistakes, why it ended.
    classes_ : array of shape (n_classes,)
        The labels, sorted; empty for a regression.
    names : KeptNames
        Names of hashed features, from the first rows.
    sigmoids : Sigmoids or None
        From scores to probabilities, if the model was calibrated; of no use after new labels.

    See Also
    --------
    load : Read one from a file.
    save : Write it to a file.

    Examples
    --------
    >>> import pathlib, subprocess, sys, tempfile
    >>> from rosenblatt import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = pathlib.Path(folder, "mails.csv")
    ...     _ = data.write_text("text,label\nwin money now,spam\nsee you at noon,ham\nmoney for you now,spam\n")
    ...     command = "-m", "rosenblatt", "train", str(data), "--model", f"{folder}/spam.model", "--quiet"
    ...     _ = subprocess.run([sys.executable, *command], check=True)
    ...     model = load(f"{folder}/spam.model")
    >>> model.predict([{"text": "money"}]).tolist()
    ['spam']
    >>> model.partial_fit([{"text": "lunch at noon"}], ["ham"]).predict_one({"text": "lunch"})
    'ham'
    """

    def __init__(
        self,
        learner: Any,
        reader: RowReader,
        training: dict[str, Any],
        opened: OpenPass | None = None,
        before: dict[str, Any] | None = None,
        names: KeptNames = NO_NAMES,
        sigmoids: Sigmoids | None = None,
    ) -> None:
        self.learner, self.reader, self.names, self.sigmoids = learner, reader, names, sigmoids
        # The record, the pass that further files can continue, and the record before it.
        self._training, self._opened, self._before = training, opened, before
        self._predictor: tuple[Any, LinearModel] = (None, None)  # type: ignore[assignment]
        stream = learner._stream
        self._recorded = (0, 0) if stream is None else (stream.trials, stream.mistakes)

    @classmethod
    def begin(cls, name: str, learner: Any, reading: Reading) -> Self:
        """Return a model that has learned nothing yet, for rows that are read in this way.

        Parameters
        ----------
        name : str
            Name of the learner, as `rosenblatt train` has it.
        learner : estimator
        reading : Reading
        """
        parameters = {name: getattr(learner, name) for name in learner.declared}
        plain = {name: value for name, value in parameters.items() if value is None or isinstance(value, PLAIN)}
        record: dict[str, Any] = dict.fromkeys((*_SUMS, "kept"), 0) | {name: [] for name in (*_LISTS, "errors")}
        reader = RowReader(reading)
        if reading.features.standardise:
            reader.moments = reader.parser.scaler(None).moments()
        return cls(learner, reader, {"learner": name, "parameters": plain, **record})

    def __repr__(self) -> str:
        """Return the model in a line."""
        rows = count(self.training["rows"], "row")
        return f"FileModel({type(self.learner).__name__}, {self.reader.reading.format}, {rows})"

    @property
    def classes_(self) -> Array:
        """The labels, sorted; empty for a regression."""
        stream = self.learner._stream
        classes: Array = NO_CLASSES if stream is None else stream.classes
        return classes

    @property
    def training(self) -> dict[str, Any]:
        """The record of the training, rows that were learned in Python included."""
        stream = self.learner._stream
        if stream is None:
            return self._training
        trials, mistakes = stream.trials - self._recorded[0], stream.mistakes - self._recorded[1]
        if not trials:
            return self._training
        own = {"rows": trials, "epochs": 1, "trials": trials, "updates": 0, "mistakes": [mistakes], "losses": [None]}
        how = {"errors": [], "kept": 1, "stop": "chunk", "reason": self.learner.run_.reason}
        return self._training | added(self._training, own | how)

    @property
    def start(self) -> Start:
        """The state from which training on further files continues."""
        learned = self.learner._stream.trials > self._recorded[0]
        return Start(self.learner._stream.learned, None if learned else self._opened)

    @property
    def record_before(self) -> dict[str, Any] | None:
        """The record before the pass that further files can continue."""
        return self.training if self.start.opened is None else self._before

    # ------------------------------------------------------------------------------------------------------ prediction

    def _weights(self) -> LinearModel:
        """Return the weights that predict, in the memory order that they have in a file: sums depend on it."""
        if self.learner._stream is None:
            raise InvalidInput("The model has not learned any row yet. Learn one first.")
        model: LinearModel = self.learner._stream.model()
        if self._predictor[0] is not model:
            self._predictor = model, replace(model, W=np.ascontiguousarray(model.W))
        return self._predictor[1]

    def predict(self, X: Any) -> Array:
        """Return the class of each row, or its number in a regression, as `rosenblatt predict` prints it.

        Parameters
        ----------
        X : data frame, list of dicts, of texts or of lines of the format, or array
            Columns go by their names; labels among them are ignored.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._weights().predict(self.reader.table(X).matrix())

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes, or the numbers of a regression.

        Parameters
        ----------
        X : as in `predict`

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)
        """
        return self._weights().scores(self.reader.table(X).matrix())

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, if the model is calibrated or has the logistic loss.

        Parameters
        ----------
        X : as in `predict`

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return self.linear().probabilities(self._weights().class_scores(self.reader.table(X).matrix()))

    def predict_one(self, x: Any) -> Any:
        """Return the class of one row, or its number in a regression.

        Parameters
        ----------
        x : dict, row of a data frame, text, line of the format, or array of shape (n_features,)
        """
        return self.predict([_row(x)])[0].item()

    def explain(self, x: Any, top: int | None = None) -> Explanation:
        """Return the scores of one row as sums over its features, by their names.

        Parameters
        ----------
        x : as in `predict_one`
        top : int, optional
            How many contributions to list, the largest first; the others are added up. By default all.

        Returns
        -------
        Explanation
            Prints as a line for each class: ``spam 6.1 = prize 3.2, money 2.1, bias -0.6``.
        """
        table, named = self.reader.named_rows([_row(x)])
        return next(explain_rows(self._weights(), table.rows, named, top))

    # -------------------------------------------------------------------------------------------------------- learning

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows once, in the order in which they come.

        A dictionary grows by the names of the rows, and a scaling changes with them. If a row is rejected, nothing
        changes.

        Parameters
        ----------
        X : as in `predict`
        y : array-like of shape (n_samples,)
            Labels; new ones may appear. Numbers in a regression.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        reader = replace(self.reader)
        matrix = reader.table(X, learn=True).matrix()
        self.learner.partial_fit(matrix, self._labels(y), sample_weight=sample_weight)
        self.reader = reader
        return self

    def predict_then_learn(self, X: Any, y: Any, sample_weight: Any = None) -> list[Any]:
        """Predict each row by what was learned from those before it, and then learn from it.

        The same as `predict_one` and `partial_fit` for one row after the other, with less work around it. If a row is
        rejected, nothing is learned.

        Parameters
        ----------
        X, y, sample_weight : as in `partial_fit`

        Returns
        -------
        list
            A prediction for each row: its class, or its number in a regression; None while nothing was learned.
        """
        reader = replace(self.reader)
        labels = self._labels(y)
        weight = as_weights(sample_weight, labels.size)
        # Names and scaling are those of the rows before; if there are any, rows are made one by one.
        parts = [[row] for row in reader.rows(X)] if reader.learns else [X]
        predictions: list[Any] = []
        with all_or_nothing(self.learner):
            for rows in parts:
                before = reader.table(rows) if reader.learns else None
                table = reader.table(rows, learn=True)
                own = slice(len(predictions), len(predictions) + table.shape[0])
                if labels[own].size < table.shape[0]:
                    raise InvalidInput(f"X has more rows than y, which has {labels.size}. Pass a label for each row.")
                predictions += self._predict_then_learn(table, before, labels[own], weight[own])
            if len(predictions) < labels.size:
                rows_of_x = count(len(predictions), "row")
                raise InvalidInput(f"X has {rows_of_x}, and y {labels.size} labels. Pass a label for each row.")
        self.reader = reader
        return predictions

    def _predict_then_learn(self, table: Table, before: Table | None, y: Array, weight: Array) -> list[Any]:
        """Predict and learn rows; `before` is their table by what was known before them, if that is another."""
        learner, first = self.learner, []
        if learner._stream is None:  # the first row of all decides what depends on sizes
            one = np.arange(1)
            learner.partial_fit(table.take(one).matrix(), y[:1], sample_weight=weight[:1] if weight.size else None)
            if table.shape[0] == 1:
                return [None]
            table, first, y, weight = table.take(np.arange(1, table.shape[0])), [None], y[1:], weight[1:]
        stream: Stream = learner._stream
        if stream.outdated:
            learner._going_on()
        return first + stream.predict_then_learn(table, y, weight, before)

    def learn_one(self, x: Any, y: Any) -> bool:
        """Learn from one row; return whether it was a mistake.

        Parameters
        ----------
        x : as in `predict_one`
        y : label, or number in a regression
        """
        stream = self.learner._stream
        before = 0 if stream is None else stream.mistakes
        self.partial_fit([_row(x)], [y])
        return bool(self.learner._stream.mistakes > before)

    def _labels(self, y: Any) -> Array:
        """Return labels as the files have them: numbers or texts."""
        if self.reader.reading.label_type == "text":
            strange = [label for label in y if not isinstance(label, str) and str(label) not in self.classes_]
            if strange:
                raise InvalidInput(f"y has {strange[0]!r}, not a string, as labels in files are. Pass strings.")
            return np.array([str(label) for label in y])
        try:
            return np.asarray(y, np.float64)
        except (TypeError, ValueError):
            raise InvalidInput("y has labels that are not numbers, as those of the files are. Pass numbers.") from None

    # ----------------------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the model to a file, which `rosenblatt predict` and `rosenblatt train --from` read.

        Parameters
        ----------
        path : str, path-like or binary file object
        """
        from rosenblatt.learners.saving import save  # imports this module

        save(self, path)

    def linear(self) -> LinearModel:
        """Return the weights, with all that is needed to predict from files."""
        reader, model = self.reader, self._weights()
        names = reader.names if reader.reading.features.dictionary else reader.parser.names
        origin: dict[str, Any] = {"reading": reader.reading.to_json(), "training": self.training}
        if reader.moments is not None:
            origin["scaling"] = [list(part) for part in reader.moments.scaling()]
        if reader.utf8 is not None:
            origin["utf8"] = reader.utf8
        if self.names.name:
            origin["names"] = self.names.to_json()
        columns = 1 if self.classes_.size == 2 else self.classes_.size
        if self.sigmoids is not None and len(self.sigmoids.slope) == columns:  # else there are new labels
            origin["calibration"] = [list(part) for part in self.sigmoids]
        W = model.W if names is None else model.W[:, : len(names)]
        return replace(model, W=W, origin=origin, feature_names=tuple(names or ()))

    def to_file(self) -> dict[str, Any]:
        """Return what a file holds beside the learner and its `linear` weights."""
        moments = None if self.reader.moments is None else np.array(self.reader.moments, np.float64)
        start = self.start
        return {"moments": moments, "pass": start.opened, "before": self._before if start.opened else None}

    @classmethod
    def from_file(cls, learner: Any, linear: LinearModel, parts: Any) -> Self:
        """Return the model of a file; raise a `Fault` if its parts do not fit one another."""
        moments, opened, before = entries(parts, ("moments", "pass", "before"))
        origin = linear.origin
        if not isinstance(origin, Mapping) or not {"reading", "training"} <= origin.keys():
            raise Fault("it does not say how to read files")
        reading, utf8 = Reading.from_json(origin["reading"]), origin.get("utf8")
        expect(utf8 in (None, True, False), "its encoding is neither UTF-8 nor another")
        names = linear.feature_names if reading.features.dictionary else ()
        reader = RowReader(reading, names, None, utf8)
        if moments is not None:
            check_array("its moments", moments, "d", (3, len(getattr(reader.parser, "number_names", ()))))
            expect((moments[[0, 2]] >= 0).all(), "its moments are not those of numbers")
            reader.moments = Moments(*map(tuple, moments.tolist()))
        expect(reading.features.standardise == (moments is not None), "its columns are scaled, or not, by chance")
        expect(reader.n_features == learner.n_features_in_, f"its reader makes rows of {reader.n_features} features")
        if opened is not None:
            check_record("its pass", opened, OpenPass)
        for record in (origin["training"], before):
            expect(record is None or _is_record(record), "its record is damaged")
        kept = KeptNames.from_json(origin["names"]) if "names" in origin else NO_NAMES
        calibration = Sigmoids(*map(tuple, origin["calibration"])) if "calibration" in origin else None
        return cls(learner, reader, origin["training"], opened, before, kept, calibration)


def _is_record(record: Any) -> bool:
    """Return whether a value from a file is the record of a training."""
    if not isinstance(record, dict) or not {*_SUMS, *_LISTS, "errors", "kept", "parameters"} <= record.keys():
        return False
    counts = all(type(record[name]) is int and 0 <= record[name] < 1 << 62 for name in (*_SUMS, "kept"))
    return counts and all(type(record[name]) is list for name in (*_LISTS, "errors"))


def _row(x: Any) -> Any:
    """Return a row of a data frame as a dict; anything else as it is."""
    return x.to_dict() if hasattr(x, "to_dict") and hasattr(x, "index") else x
