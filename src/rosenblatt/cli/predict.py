"""`rosenblatt predict`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

import click

from rosenblatt.cli.options import (
    Sections,
    check_targets,
    files_argument,
    is_model,
    matrix_of,
    open_like,
    option,
    plain,
    quiet_option,
    report_problems,
    reuse_options,
)
from rosenblatt.storage.atomic import Beside
from rosenblatt.training.model import load_linear


@click.command(cls=Sections)
@files_argument
@option("-m", "--model", type=click.Path(dir_okay=False), required=True, help="Model to predict with.")
@option(
    "-o", "--output", type=click.Path(dir_okay=False), default="-", help="File to write; standard output by default."
)
@option("--scores", is_flag=True, help="Write the score of each class after the label.")
@option("--json", "as_json", is_flag=True, help="Write a JSON object for each row.")
@option("--no-labels", is_flag=True, help="The files have no labels. Otherwise labels may be missing.")
@quiet_option
@reuse_options
def predict(files: tuple[str, ...], model: str, **options: Any) -> None:
    """Predict the labels of data files.

    Writes a line for each row. DATA is read the way the training files of the model were; labels are ignored.

    \b
    rosenblatt predict new-mails.csv --model spam.model
    rosenblatt predict - --model spam.model --scores < new-mails.csv
    """  # noqa: D301
    quiet, scores, as_json = options.pop("quiet"), options.pop("scores"), options.pop("as_json")
    labels = "none" if options.pop("no_labels") else "optional"
    output = options.pop("output")
    check_targets((*files, model), output=output)
    swapped = [path for path in files if is_model(path)]
    if swapped and not is_model(model):
        raise click.UsageError(
            f"{swapped[0]} is a model, but {model} is not. Pass the model by --model, then the data."
        )
    loaded = load_linear(model)
    with open_like(loaded, files, labels=labels, **options) as source, _opened(output) as stream:
        weights = replace(loaded, origin=None)  # the rows of the source are scaled already
        for chunk in source:
            for line in _lines(weights, chunk.table, scores, as_json):
                stream.write(line)
        report_problems(source, quiet)


@contextmanager
def _opened(output: str) -> Iterator[TextIO]:
    """Open standard output, a device or a pipe, or else a file that replaces `output` when it is complete."""
    if output == "-":
        yield sys.stdout
        sys.stdout.flush()
    elif os.path.exists(output) and not os.path.isfile(output):
        with open(output, "w", encoding="utf-8") as stream:
            yield stream
    else:
        with Beside(Path(os.path.realpath(output)), lasting=False) as file:
            text = TextIOWrapper(file, encoding="utf-8", write_through=True)
            yield text
            text.detach()


def _lines(model: Any, table: Any, scores: bool, as_json: bool) -> Iterator[str]:
    """Yield a line for each row."""
    matrix = matrix_of(model, table)
    if not model.classes.size:
        for value in model.scores(matrix).tolist():
            yield f"{json.dumps({'prediction': value}) if as_json else repr(value)}\n"
        return
    class_scores = model.class_scores(matrix)
    names = [plain(label) for label in model.classes]
    for label, row in zip(model.elect(class_scores), class_scores, strict=True):
        if as_json:
            columns = names if len(row) == len(names) else names[1:]
            values = dict(zip(map(str, columns), row.tolist(), strict=True))
            yield json.dumps({"prediction": plain(label), "scores": values}, ensure_ascii=False) + "\n"
        else:
            yield "\t".join([str(plain(label)), *(repr(value) for value in row.tolist() if scores)]) + "\n"
