"""Predictions as lines, CSV, JSON lines or Parquet, written chunk by chunk."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple, TextIO

import click

from rosenblatt.errors import InvalidInput, MissingExtra
from rosenblatt.files.formats import listed
from rosenblatt.text import count
from rosenblatt.training.explanation import Explanation

MOST_CLASSES = 3  # that plain lines explain; the other formats explain all


class Predictions(NamedTuple):
    """The predictions of some rows."""

    label: list[Any]  # or numbers, of a regression
    id: list[Any] | None = None  # None where a row has none
    scores: list[list[float]] | None = None  # of the classes in `Columns.scores`
    probabilities: list[list[float]] | None = None  # of the classes in `Columns.probabilities`
    explanation: list[Explanation] | None = None


class Columns(NamedTuple):
    """The columns of the output."""

    labels: list[Any]  # the classes that may be predicted; none in a regression
    id: bool  # whether rows have ids
    scores: list[str]  # the classes whose scores are written
    probabilities: list[str]  # the classes whose probabilities are written
    explanation: bool = False

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        numbers = [*(f"proba_{name}" for name in self.probabilities), *(f"score_{name}" for name in self.scores)]
        why = ["explanation"] if self.explanation else []
        return [*(["id"] if self.id else []), "prediction", *numbers, *why]


def _rows(batch: Predictions) -> Iterator[list[Any]]:
    """Yield the values of each row, in the order of `Columns.names`."""
    parts: list[Any] = [[[label] for label in batch.label]]
    if batch.id is not None:
        parts.insert(0, [[one] for one in batch.id])
    parts += [part for part in (batch.probabilities, batch.scores) if part is not None]
    if batch.explanation is not None:
        parts.append([["; ".join(why.lines())] for why in batch.explanation])
    for row in zip(*parts, strict=True):
        yield [value for part in row for value in part]


def lines_of(batch: Predictions) -> Iterator[str]:
    """Yield a line for each row: the prediction, probabilities and scores between tabs, and the id if there is one.

    Explanations follow on lines that begin with two spaces, for the classes with the highest scores.
    """
    ids = batch.id if batch.id is not None else [None] * len(batch.label)
    for k, (values, one) in enumerate(zip(_rows(batch._replace(id=None, explanation=None)), ids, strict=True)):
        yield "\t".join([str(value) for value in values] + ([] if one is None else [str(one)])) + "\n"
        if batch.explanation is not None:
            why = batch.explanation[k].lines()
            yield from (f"  {line}\n" for line in why[:MOST_CLASSES])
            if len(why) > MOST_CLASSES:
                yield f"  ... {count(len(why) - MOST_CLASSES, 'more class', 'more classes')}\n"


def write_lines(stream: TextIO, batches: Iterator[Predictions], columns: Columns) -> None:
    """Write a line for each row, without a header."""
    for batch in batches:
        stream.writelines(lines_of(batch))


def objects_of(batch: Predictions, columns: Columns) -> Iterator[str]:
    """Yield a JSON object for each row; scores and probabilities are objects by class."""
    for k, label in enumerate(batch.label):
        row: dict[str, Any] = {} if batch.id is None or batch.id[k] is None else {"id": batch.id[k]}
        row["prediction"] = label
        if batch.probabilities is not None:
            row["probabilities"] = dict(zip(columns.probabilities, batch.probabilities[k], strict=True))
        if batch.scores is not None:
            row["scores"] = dict(zip(columns.scores, batch.scores[k], strict=True))
        if batch.explanation is not None:
            row["explanation"] = batch.explanation[k].to_dict()
        yield json.dumps(row, ensure_ascii=False, default=str) + "\n"


def write_ndjson(stream: TextIO, batches: Iterator[Predictions], columns: Columns) -> None:
    """Write a JSON object for each row."""
    for batch in batches:
        stream.writelines(objects_of(batch, columns))


def write_csv(stream: TextIO, batches: Iterator[Predictions], columns: Columns) -> None:
    """Write a table with a header."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns.names)
    for batch in batches:
        writer.writerows(_rows(batch))


def write_parquet(stream: Any, batches: Iterator[Predictions], columns: Columns) -> None:
    """Write a Parquet file. The first rows decide the type of the ids."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra('Parquet files need pyarrow. Run: pip install "rosenblatt[files]"') from None

    def type_of(values: list[Any]) -> Any:
        kinds = {type(value) for value in values}
        return pyarrow.int64() if kinds == {int} else pyarrow.float64() if kinds <= {int, float} else pyarrow.string()

    first = next(batches, None)
    types = dict.fromkeys(columns.names, pyarrow.float64()) | {"prediction": type_of(columns.labels)}
    if columns.explanation:
        types["explanation"] = pyarrow.string()
    if columns.id:
        types["id"] = pyarrow.string() if first is None else type_of(first.id or [])
    schema = pyarrow.schema(list(types.items()))
    with pyarrow.parquet.ParquetWriter(stream.buffer, schema) as writer:
        for batch in chain([] if first is None else [first], batches):
            values = dict(zip(columns.names, map(list, zip(*_rows(batch), strict=True)), strict=True))
            for name, kind in types.items():
                if kind == pyarrow.string():
                    values[name] = [None if value is None else str(value) for value in values[name]]
            try:
                writer.write_table(pyarrow.table(values, schema))
            except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError) as error:
                raise InvalidInput(f"The ids are not of one type ({error}). Write CSV or NDJSON instead.") from None


Writer = Callable[[Any, Iterator[Predictions], Columns], None]
WRITERS: dict[str, Writer] = {"lines": write_lines, "csv": write_csv, "ndjson": write_ndjson, "parquet": write_parquet}
ENDINGS = {".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".parquet": "parquet"}


def format_of(output: str, wanted: str | None) -> str:
    """Return the format that was asked for, else that of the ending of the file, else lines."""
    by_name = ENDINGS.get(os.path.splitext(output)[1].lower())
    if wanted is not None and by_name is not None and by_name != wanted:
        raise click.UsageError(
            f"--output {output} ends like {by_name}, and the format is {wanted}. Leave out the format, or rename the "
            f"file; endings with a meaning are {listed(ENDINGS)}."
        )
    return wanted or by_name or "lines"
