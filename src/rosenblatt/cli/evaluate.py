"""`rosenblatt evaluate`."""

from __future__ import annotations

import math
from collections import Counter
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
from rosenblatt.files.opening import open_source
from rosenblatt.text import count
from rosenblatt.training.chunked import FirstChunkStats, learn_chunks, survey_first
from rosenblatt.training.model import load_linear
from rosenblatt.training.stream import NO_CLASSES, RegressionStream, Stream

CHUNK_ROWS = 4096  # that are read at once; the predictions do not depend on it
_way = partial(option, section="How to measure")
OF_SEVERAL_PASSES = (
    *("max_iter", "shuffle", "random_state", "tol", "n_iter_no_change", "keep", "max_seconds", "batch"),
    *("shards", "mixes", "n_jobs"),
)


class Score:
    """Counts of pairs of labels and predictions; for a regression, sums of errors."""

    def __init__(self) -> None:
        self.pairs: Counter[tuple[Any, Any]] = Counter()
        self.squares, self.distances, self.numbers = 0.0, 0.0, 0

    def add(self, label: Any, predicted: Any) -> None:
        """Count the labels and predictions of some rows."""
        self.pairs.update(zip(label.tolist(), predicted.tolist(), strict=True))

    def add_numbers(self, target: Any, predicted: Any) -> None:
        """Count the errors of a regression."""
        errors = predicted - target
        self.squares += float(errors @ errors)
        self.distances += float(abs(errors).sum())
        self.numbers += errors.size

    def summary(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        if self.numbers:
            root = math.sqrt(self.squares / self.numbers)
            return {"rows": self.numbers, "rmse": root, "mae": self.distances / self.numbers}
        total = sum(self.pairs.values())
        right = sum(number for (label, predicted), number in self.pairs.items() if label == predicted)
        classes = []
        for label in sorted({label for pair in self.pairs for label in pair}):
            own = sum(number for (true, _), number in self.pairs.items() if true == label)
            claimed = sum(number for (_, guess), number in self.pairs.items() if guess == label)
            hit = self.pairs[label, label]
            figures = {"precision": hit / claimed if claimed else None, "recall": hit / own if own else None}
            classes.append({"label": plain(label), "rows": own, "predicted": claimed} | figures)
        return {"rows": total, "accuracy": right / max(total, 1), "errors": total - right, "classes": classes}

    def text(self) -> str:
        """Return the figures as text."""
        figures = self.summary()
        if self.numbers:
            return f"rows       {figures['rows']}\nrmse       {figures['rmse']:.6g}\nmae        {figures['mae']:.6g}"
        wrong = count(figures["errors"], "error")
        lines = [f"rows       {figures['rows']}", f"accuracy   {figures['accuracy']:.4f}  ({wrong})", ""]
        rows = [
            (one["label"], one["rows"], one["predicted"], _share(one["precision"]), _share(one["recall"]))
            for one in figures["classes"]
        ]
        lines.append(table(("label", "rows", "predicted", "precision", "recall"), rows))
        if len(rows) <= 20:  # a larger table of errors does not fit on a screen
            labels = sorted({label for pair in self.pairs for label in pair})
            counts = [[plain(true), *(self.pairs[true, guess] for guess in labels)] for true in labels]
            lines += ["", table(("label / predicted", *(str(plain(label)) for label in labels)), counts)]
        return "\n".join(lines)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


@click.command(cls=Sections)
@files_argument
@_way("-m", "--model", type=click.Path(dir_okay=False), help="Predict with this model.")
@_way("--folds", type=click.IntRange(2), help="Train K models, each without every K-th row, and predict those rows.")
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
    help="Rows between lines of --progressive on stderr.",
)
@training_options()
@quiet_option
@json_option
@input_options
def evaluate(files: tuple[str, ...], **options: Any) -> None:
    """Measure the accuracy of a model on data files.

    Either of a trained model, on files that it was not trained on; or of a learner, with the options of rosenblatt
    train, by cross-validation or progressively.

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
    score = Score()
    if model:
        reject_options_except(
            ("files", "model", "quiet", "as_json", *REUSED_NAMES),
            "the model determines the training and how files are read. Leave it out, or --model.",
        )
        source = _predict(score, model, files, options, quiet)
    elif folds:
        if options["shuffle"]:
            raise click.UsageError("--shuffle needs a cache, which only rosenblatt train has. Shuffle the file itself.")
        reject_options(("shards", "mixes"), "shards are for rosenblatt train. Leave it out.")
        source = _cross_validate(score, files, folds, options, quiet or as_json)
    else:
        reject_options(OF_SEVERAL_PASSES, "--progressive reads the rows once, in order. Leave it out, or use --folds.")
        source = _progress(score, files, every, options, quiet or as_json)
    report_problems(source, quiet)
    rows = source.rows_by_file()
    if as_json:
        print_json(score.summary() | {"files": rows})
    else:
        if len(rows) > 1:
            note(rows_of_files(rows), quiet)
        click.echo(score.text())


def _add(score: Score, model: Any, chunk: Any, rows: Any = slice(None)) -> None:
    """Predict some rows of a chunk, and add them to a score."""
    matrix = matrix_of(model, chunk.table)[rows]
    if model.classes.size:
        score.add(chunk.label[rows], model.predict(matrix))
    else:
        score.add_numbers(chunk.label[rows].astype(float), model.predict(matrix))


def _predict(score: Score, path: str, files: tuple[str, ...], options: dict[str, Any], quiet: bool) -> Any:
    model = load_linear(path)
    source = open_like(model, files, **{name: options[name] for name in REUSED_NAMES})
    weights = replace(model, origin=None)  # the rows of the source are scaled already
    for chunk in source:
        _add(score, weights, chunk)
    unknown = sorted({label for label, _ in score.pairs}.difference(model.classes.tolist()))  # empty in a regression
    if unknown:
        labels = shown_labels(np.array(unknown))
        note(f"The model does not know the labels {labels}. It knows {shown_labels(model.classes)}.", quiet)
    return source


def _cross_validate(score: Score, files: tuple[str, ...], folds: int, options: dict[str, Any], quiet: bool) -> Any:
    if "-" in files:
        raise click.UsageError("--folds reads the files several times. Pass files, not standard input.")
    source = open_source(list(files), **take_input(options))
    _, job = job_of(source, options)
    for fold in range(folds):
        model = learn_chunks(replace(job, hold_out=(folds, fold))).model()
        own, start = Score(), 0
        for chunk in source:
            rows = np.flatnonzero((np.arange(start, start + chunk.label.size) - fold) % folds == 0)
            start += chunk.label.size
            if rows.size:
                _add(own, model, chunk, rows)
        score.pairs.update(own.pairs)
        score.squares, score.distances = score.squares + own.squares, score.distances + own.distances
        score.numbers += own.numbers
        name, value = list(own.summary().items())[1]
        note(f"fold {fold + 1}: {name} {value:.4f}", quiet)
    return source


def _progress(score: Score, files: tuple[str, ...], every: int, options: dict[str, Any], quiet: bool) -> Any:
    """Predict each row, then learn it."""
    source = open_source(list(files), chunk_rows=CHUNK_ROWS, **take_input(options))
    class_weight = options["class_weight"]
    _, job = job_of(source, options, first=False)
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
        if not guess.size:
            continue
        if job.regression:
            score.add_numbers(label, guess)
            progress.add((guess - label) ** 2)
        else:
            score.add(label, guess)
            progress.add(guess != label)
    progress.end()
    if stream is not None and not job.regression:
        check_class_weight(class_weights(class_weight, stream.classes.dtype.kind != "U"), stream.classes)
    return source
