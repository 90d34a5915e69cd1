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


@click.command(cls=Sections)
@click.argument("model", type=click.Path(dir_okay=False))
@files_argument
@option("-o", "--output", type=click.Path(dir_okay=False), default="-", help="Where to write; by default the output.")
@option("--scores", is_flag=True, help="Write the score of each class after the label.")
@option("--json", "as_json", is_flag=True, help="Write a JSON object for each row.")
@option("--no-labels", is_flag=True, help="The files have no labels; otherwise labels may be missing.")
@quiet_option
@reuse_options
def predict(model: str, files: tuple[str, ...], **options: Any) -> None:
    """Predict the labels of data files.

    A line for each row. FILES are read as those were read that the model was trained on; labels in them do not matter.

    \b
    rosenblatt predict spam.model new-mails.csv
    rosenblatt predict spam.model - --scores < new-mails.csv
    """  # noqa: D301
    from rosenblatt.training.model import load_linear

    quiet, scores, as_json = options.pop("quiet"), options.pop("scores"), options.pop("as_json")
    labels = "none" if options.pop("no_labels") else "optional"
    output = options.pop("output")
    check_targets((*files, model), output=output)
    swapped = [path for path in files if is_model(path)]
    if swapped and not is_model(model):
        raise click.UsageError(
            f"{swapped[0]} is a model, and {model} is none. Name the model first, then the data files."
        )
    loaded = load_linear(model)
    with open_like(loaded, files, labels=labels, **options) as source, _written(output) as stream:
        weights = replace(loaded, origin=None)  # the rows of the source are scaled already
        for chunk in source:
            for line in _lines(weights, chunk.table, scores, as_json):
                stream.write(line)
        report_problems(source, quiet)


@contextmanager
def _written(output: str) -> Iterator[TextIO]:
    """Open a file that appears whole or not at all, or the standard output; a device or a pipe as it is."""
    if output == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    if os.path.exists(output) and not os.path.isfile(output):
        with open(output, "w", encoding="utf-8") as stream:
            yield stream
        return
    from rosenblatt.storage.atomic import Beside

    with Beside(Path(os.path.realpath(output)), lasting=False) as file:
        stream = TextIOWrapper(file, encoding="utf-8", write_through=True)
        yield stream
        stream.detach()


def _lines(model: Any, table: Any, scores: bool, as_json: bool) -> Iterator[str]:
    """Yield a line for each row."""
    matrix = matrix_of(model, table)
    if not model.classes.size:
        for value in model.scores(matrix).tolist():
            yield f"{json.dumps({'prediction': value}) if as_json else repr(value)}\n"
        return
    found = model.class_scores(matrix)
    names = [plain(label) for label in model.classes]
    for label, row in zip(model.elect(found), found, strict=True):
        if as_json:
            columns = names if len(row) == len(names) else names[1:]
            values = dict(zip(map(str, columns), row.tolist(), strict=True))
            yield json.dumps({"prediction": plain(label), "scores": values}, ensure_ascii=False) + "\n"
        else:
            yield "\t".join([str(plain(label)), *(repr(value) for value in row.tolist() if scores)]) + "\n"
