"""`rosenblatt evaluate`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import click
import numpy as np

from rosenblatt.cli.options import (
    REUSED_NAMES,
    Sections,
    files_argument,
    input_options,
    json_option,
    matrix_of,
    note,
    open_like,
    option,
    plain,
    print_json,
    quiet_option,
    reject_options,
    reject_options_except,
    report_problems,
    take_input,
)
from rosenblatt.cli.output import ProgressTable, rows_of_files, table
from rosenblatt.cli.training import check_class_weight, class_weights, job_of, shown_labels, training_options
from rosenblatt.errors import InvalidInput
from rosenblatt.evaluation import ClassificationMetrics, RegressionMetrics
from rosenblatt.files.opening import open_source
from rosenblatt.text import count
from rosenblatt.training.chunked import FirstChunkStats, learn_chunks, survey_first
from rosenblatt.training.model import LinearModel, load_linear
from rosenblatt.training.stream import NO_CLASSES, RegressionStream, Stream

CHUNK_ROWS = 4096  # that are read at once; the predictions do not depend on it
_way = partial(option, section="How to measure")
OF_SEVERAL_PASSES = (
    *("max_iter", "shuffle", "random_state", "tol", "n_iter_no_change", "keep", "max_seconds", "batch"),
    *("shards", "mixes", "n_jobs"),
)


# More classes than this do not fit on a screen as a confusion matrix.
MAX_CLASSES_SHOWN = 20

Metrics = ClassificationMetrics | RegressionMetrics


def summary(metrics: Metrics) -> dict[str, Any]:
    """Return metrics as plain values; those that are not defined are left out."""
    if isinstance(metrics, RegressionMetrics):
        return {name: getattr(metrics, name) for name in ("rows", "rmse", "mae", "r2", "baseline_rmse")}
    label, share = metrics.baseline
    names = ("accuracy", "errors", "balanced_accuracy", "f1", "auc", "log_loss", "brier")
    values = {name: getattr(metrics, name) for name in names}
    counts = metrics.counts
    classes = [
        {
            "label": plain(label),
            "rows": rows,
            "predicted": predicted,
            "precision": hits / predicted if predicted else None,
            "recall": hits / rows if rows else None,
            "f1": 2 * hits / (rows + predicted),
        }
        for label, (rows, predicted, hits) in counts.items()
    ]
    confusion: dict[str, dict[str, int]] = {str(plain(label)): {} for label, (rows, _, _) in counts.items() if rows}
    for (true, predicted), rows in sorted(metrics.pairs.items()):
        confusion[str(plain(true))][str(plain(predicted))] = rows
    return (
        {"rows": metrics.rows, "baseline": {"label": plain(label), "accuracy": share}}
        | {name: value for name, value in values.items() if value is not None}
        | {"classes": classes, "confusion": confusion}
    )


def text(metrics: Metrics) -> str:
    """Return metrics as lines, with a table of the classes and the confusion matrix."""
    figures = summary(metrics)
    if isinstance(metrics, RegressionMetrics):
        mean = f"  (always the mean: {metrics.baseline_rmse:.6g})"
        return _aligned(
            {
                "rows": str(metrics.rows),
                "rmse": f"{metrics.rmse:.6g}{mean}",
                "mae": f"{metrics.mae:.6g}",
                "r2": f"{metrics.r2:.4f}",
            }
        )
    label, share = metrics.baseline
    positive = "the mean of the classes" if metrics.positive is None else f"of {plain(metrics.positive)}"
    notes = {"accuracy": count(metrics.errors, "error"), "f1": positive}
    lines = {"rows": str(metrics.rows), "baseline": f"{share:.4f}  (always {plain(label)})"}
    for name in ("accuracy", "balanced_accuracy", "f1", "auc", "log_loss", "brier"):
        if name in figures:
            lines[name.replace("_", " ")] = f"{figures[name]:.4f}" + (f"  ({notes[name]})" if name in notes else "")
    rows = [
        (one["label"], one["rows"], one["predicted"], *(_share(one[name]) for name in ("precision", "recall", "f1")))
        for one in figures["classes"]
    ]
    parts = [_aligned(lines), table(("label", "rows", "predicted", "precision", "recall", "f1"), rows)]
    labels = list(metrics.counts)
    if len(labels) <= MAX_CLASSES_SHOWN:
        matrix = [[plain(true), *(metrics.pairs[true, guess] for guess in labels)] for true in labels]
        parts.append(table(("label / predicted", *(str(plain(label)) for label in labels)), matrix))
    return "\n\n".join(parts)


def _aligned(lines: dict[str, str]) -> str:
    width = max(map(len, lines))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in lines.items())


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


@click.command(cls=Sections)
@files_argument
@_way("-m", "--model", type=click.Path(dir_okay=False), help="Predict with this model.")
@_way("--folds", type=click.IntRange(2), help="Train N models, each without every N-th row; predict those.")
@_way(
    "--progressive",
    is_flag=True,
    help="Predict each row, then learn it, once over the files.",
)
@_way(
    "--every",
    type=click.IntRange(1),
    default=10000,
    show_default=True,
    help="Rows between lines of --progressive.",
)
@training_options()
@quiet_option
@json_option
@input_options
def evaluate(files: tuple[str, ...], **options: Any) -> None:
    """Measure the accuracy of a model on data files.

    Prints the accuracy beside that of the most frequent label, balanced accuracy, F1, AUC, log loss and Brier score
    where there are probabilities, and the confusion matrix; for numbers, errors beside those of the mean. Either of a
    trained model, on files that it was not trained on; or of a learner, with the options of rosenblatt train, by
    cross-validation or progressively.

    \b
    rosenblatt evaluate held-out.csv --model spam.model
    rosenblatt evaluate mails.csv --folds 10 --learner arow
    rosenblatt evaluate clicks.vw.gz --progressive
    """  # noqa: D301
    model, folds, progressive = options.pop("model"), options.pop("folds"), options.pop("progressive")
    every = options.pop("every")
    quiet, as_json = options.pop("quiet"), options.pop("as_json")
    if sum(map(bool, (model, folds, progressive))) != 1:
        raise click.UsageError("Pass one of --model FILE, --folds K and --progressive.")
    if not progressive:
        reject_options(("every",), "it is the number of rows between lines of --progressive. Leave it out.")
    if model:
        reject_options_except(
            ("files", "model", "quiet", "as_json", *REUSED_NAMES),
            "the model determines the training and how files are read. Leave it out, or --model.",
        )
        metrics, source = _predict(model, files, options, quiet)
    elif folds:
        if options["shuffle"]:
            raise click.UsageError("--shuffle needs a cache, which only rosenblatt train has. Shuffle the file itself.")
        reject_options(("shards", "mixes"), "shards are for rosenblatt train. Leave it out.")
        metrics, source = _cross_validate(files, folds, options, quiet or as_json)
    else:
        reject_options(OF_SEVERAL_PASSES, "--progressive reads the rows once, in order. Leave it out, or use --folds.")
        metrics, source = _progress(files, every, options, quiet or as_json)
    if not metrics.rows:
        raise InvalidInput("There are no rows to measure on. Pass files with more rows.")
    report_problems(source, quiet)
    rows = source.rows_by_file()
    if as_json:
        print_json(summary(metrics) | {"files": rows})
    else:
        if len(rows) > 1:
            note(rows_of_files(rows), quiet)
        click.echo(text(metrics))


def _measured(model: LinearModel, chunks: Iterable[tuple[Any, Any]]) -> Metrics:
    """Return the metrics of a model on some rows of chunks, which are scaled already."""
    weights = replace(model, origin=None)
    if not model.classes.size:
        errors = RegressionMetrics()
        for chunk, rows in chunks:
            errors.add(chunk.label[rows].astype(float), weights.predict(matrix_of(weights, chunk.table)[rows]))
        return errors
    metrics = ClassificationMetrics(model.classes)
    for chunk, rows in chunks:
        scores = weights.class_scores(matrix_of(weights, chunk.table)[rows])
        probabilities = None if model.sigmoids is None else model.probabilities(scores)
        metrics.add(chunk.label[rows], model.elect(scores), scores, probabilities)
    return metrics


def _predict(path: str, files: tuple[str, ...], options: dict[str, Any], quiet: bool) -> tuple[Metrics, Any]:
    model = load_linear(path)
    source = open_like(model, files, **{name: options[name] for name in REUSED_NAMES})
    metrics = _measured(model, ((chunk, slice(None)) for chunk in source))
    labels = {label for label, _ in metrics.pairs} if isinstance(metrics, ClassificationMetrics) else set()
    unknown = sorted(labels.difference(model.classes.tolist()))
    if unknown:
        shown = shown_labels(np.array(unknown))
        note(f"The model does not know the labels {shown}. It knows {shown_labels(model.classes)}.", quiet)
    return metrics, source


def _cross_validate(files: tuple[str, ...], folds: int, options: dict[str, Any], quiet: bool) -> tuple[Metrics, Any]:
    if "-" in files:
        raise click.UsageError("--folds reads the files several times. Pass files, not standard input.")
    source = open_source(list(files), learns=True, **take_input(options))
    settings, job = job_of(source, options)
    metrics: Any = RegressionMetrics() if job.regression else ClassificationMetrics()

    def held_out(fold: int) -> Iterator[tuple[Any, Any]]:
        start = 0
        for chunk in source:
            rows = np.flatnonzero((np.arange(start, start + chunk.label.size) - fold) % folds == 0)
            start += chunk.label.size
            if rows.size:
                yield chunk, rows

    for fold in range(folds):
        model = learn_chunks(replace(job, hold_out=(folds, fold))).model(origin={"training": settings})
        own = _measured(model, held_out(fold))
        metrics.merge(own)
        name = "rmse" if job.regression else "accuracy"
        note(f"fold {fold + 1}: {name} {getattr(own, name):.4f}", quiet)
    return metrics, source


def _progress(files: tuple[str, ...], every: int, options: dict[str, Any], quiet: bool) -> tuple[Metrics, Any]:
    """Predict each row, then learn it."""
    source = open_source(list(files), chunk_rows=CHUNK_ROWS, learns=True, **take_input(options))
    class_weight = options["class_weight"]
    _, job = job_of(source, options, first=False)
    metrics: Any = RegressionMetrics() if job.regression else ClassificationMetrics()
    progress = ProgressTable(every, job.regression, quiet)
    stream: Any = None
    for chunk in source:
        weight = np.empty(0) if chunk.weight is None else chunk.weight
        if stream is None:
            classes = NO_CLASSES if job.regression else np.unique(chunk.label)
            settings = job.configure(FirstChunkStats(chunk.table, survey_first([chunk.table]), classes))
            stream = RegressionStream(settings) if job.regression else Stream(settings)
            if job.classes is not None:
                stream.meet(job.classes)
        predicted = stream.predict_then_learn(chunk.table, chunk.label, weight)
        first = int(predicted[0] is None)  # there is nothing to predict the first row with
        label, guess = chunk.label[first:], np.array(predicted[first:])
        if guess.size:
            metrics.add(label, guess)
            progress.add((guess - label) ** 2 if job.regression else guess != label)
    progress.end()
    if stream is not None and not job.regression:
        check_class_weight(class_weights(class_weight, stream.classes.dtype.kind != "U"), stream.classes)
    return metrics, source
