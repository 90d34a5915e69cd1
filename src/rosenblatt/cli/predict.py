"""`rosenblatt predict`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

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
    position_or_name,
    quiet_option,
    reject_options,
    report_problems,
    reuse_options,
)
from rosenblatt.cli.predictions import WRITERS, Columns, Predictions, format_of
from rosenblatt.files.records import open_output
from rosenblatt.training.explanation import explain_rows
from rosenblatt.training.model import LinearModel, load_linear


@click.command(cls=Sections)
@files_argument
@option("-m", "--model", type=click.Path(dir_okay=False), required=True, help="Model to predict with.")
@option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    default="-",
    help="File to write; standard output by default. Its ending chooses the format: .csv, .ndjson, .parquet, else "
    "plain lines.",
)
@option("--output-format", type=click.Choice(tuple(WRITERS)), help="Format of the output, whatever its name.")
@option("--json", "as_json", is_flag=True, help="The same as --output-format ndjson.")
@option("--scores", is_flag=True, help="Write the score of each class after the label.")
@option("--proba", is_flag=True, help="Write the probability of each class: logistic or calibrated models.")
@option("--id", metavar="NAME", help="Write the value of this column beside the prediction; tags of VW files always.")
@option(
    "--explain",
    type=click.IntRange(1),
    metavar="K",
    help="Write why: the score of each class as a sum of its K largest contributions, the others, and the bias.",
)
@option("--learn", is_flag=True, help="Answer the lines of standard input, and learn from those with a label.")
@option(
    "--journal",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="With --learn: a row is in this file before it is answered, so that a crash loses none.",
)
@option("--no-labels", is_flag=True, help="The files have no labels. Otherwise labels may be missing.")
@quiet_option
@reuse_options
@click.pass_context
def predict(context: click.Context, /, files: tuple[str, ...], model: str, **options: Any) -> None:
    """Predict the labels of data files.

    Writes a line for each row. DATA is read the way the training files of the model were; labels are ignored.

    \b
    rosenblatt predict new-mails.csv --model spam.model
    rosenblatt predict - --model spam.model --scores < new-mails.csv
    rosenblatt predict new-mails.csv --model spam.model --proba --id number --output predicted.csv
    rosenblatt predict new-mails.csv --model spam.model --explain 5
    rosenblatt predict - --model clicks.model --learn --journal clicks.journal
    """  # noqa: D301
    if options["learn"]:
        context.exit(_learn(files, model, options))
    reject_options(("journal",), "it is for rows that are learned. Add --learn, or leave it out.")
    for name in ("learn", "journal"):
        options.pop(name)
    quiet, scores, proba = options.pop("quiet"), options.pop("scores"), options.pop("proba")
    options["labels"] = "none" if options.pop("no_labels") else "optional"
    output, wanted, as_json = options.pop("output"), options.pop("output_format"), options.pop("as_json")
    if as_json and wanted not in (None, "ndjson"):
        raise click.UsageError(f"--json and --output-format {wanted} exclude each other. Choose one.")
    write = WRITERS[format_of(output, "ndjson" if as_json else wanted)]
    check_targets((*files, model), output=output)
    swapped = [path for path in files if is_model(path)]
    if swapped and not is_model(model):
        raise click.UsageError(
            f"{swapped[0]} is a model, but {model} is not. Pass the model by --model, then the data."
        )
    loaded = load_linear(model)
    if not loaded.classes.size:
        reject_options(("scores",), "the model predicts numbers, which are its scores. Leave it out.")
    if proba:
        loaded.require_probabilities()
    if options["id"] is not None:
        options["id"] = position_or_name(options["id"])
    top = options.pop("explain")
    read = open_like(loaded, files, tags=True, named=top is not None, **options)
    with read as source, open_output(output) as written:
        columns = _columns(loaded, source, scores, proba)._replace(explanation=top is not None)
        write(written.file, _predictions(loaded, source, columns, top), columns)
        report_problems(source, quiet)


def _learn(files: tuple[str, ...], path: str, options: dict[str, Any]) -> int:
    """Answer the lines of standard input, and learn from them."""
    from rosenblatt.cli.learning import LineService, Session  # imports the learners

    reject_options(
        ("output", "no_labels", "threads", "chunk_bytes"),
        "--learn answers line by line, on standard output. Leave it out.",
    )
    if files != ("-",):
        raise click.UsageError("--learn answers the lines of standard input. Pass - as DATA.")
    if options["output_format"] not in (None, "lines", "ndjson"):
        raise click.UsageError("--learn answers in lines. Leave out --output-format, or pass ndjson.")
    check_targets((path,), journal=options["journal"])
    service = LineService(path, options["journal"], options["quiet"])
    if options["proba"]:
        service.model.linear().require_probabilities()
    session = Session(
        service.model,
        scores=options["scores"],
        proba=options["proba"],
        as_json=options["as_json"] or options["output_format"] == "ndjson",
        skip=options["on_error"] == "skip",
        id=None if options["id"] is None else position_or_name(options["id"]),
    )
    return service.run(session)


def _columns(model: LinearModel, source: Any, scores: bool, proba: bool) -> Columns:
    """Return the columns of the output; tags are the ids of Vowpal Wabbit's text."""
    labels = [plain(label) for label in model.classes]
    names = [str(label) for label in labels]
    with_id = source.opening.id is not None or source.reading.format == "vw"
    scored = names[1:] if len(names) == 2 else names  # two classes share a score
    return Columns(labels, with_id, scored if scores else [], names if proba else [])


def _predictions(model: LinearModel, source: Any, columns: Columns, top: int | None) -> Iterator[Predictions]:
    """Yield the predictions of each chunk of a source, with the `top` contributions to each if that is a number."""
    weights = replace(model, origin=None)  # the rows of the source are scaled already
    for chunk in source:
        matrix = matrix_of(weights, chunk.table)
        why = None if top is None else list(explain_rows(weights, chunk.table.rows, chunk.named, top))
        if not model.classes.size:
            yield Predictions(weights.scores(matrix).tolist(), chunk.id, explanation=why)
            continue
        class_scores = weights.class_scores(matrix)
        yield Predictions(
            [plain(label) for label in model.elect(class_scores).tolist()],
            chunk.id,
            class_scores.tolist() if columns.scores else None,
            model.probabilities(class_scores).tolist() if columns.probabilities else None,
            why,
        )
