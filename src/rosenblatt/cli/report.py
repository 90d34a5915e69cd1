"""`rosenblatt report`."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import click
import numpy as np

import rosenblatt
from rosenblatt.cli.options import (
    Sections,
    check_targets,
    files_argument,
    input_options,
    note,
    option,
    quiet_option,
    read_all,
)
from rosenblatt.cli.training import (
    epochs_option,
    learner_options,
    take_learner,
    training_option,
)
from rosenblatt.files.opening import Inputs

_report_option = partial(option, section="Report")


@click.command(cls=Sections)
@files_argument
@_report_option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    required=True,
    help="File for the report, a single HTML page.",
)
@_report_option("--title", help="Title of the report.")
@_report_option("--test", type=click.Path(), metavar="FILE", help="Evaluate on the rows of this file as well.")
@_report_option(
    "--holdout", type=click.IntRange(2), metavar="K", help="Hold out every K-th row, and evaluate on them as well."
)
@_report_option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of the proof of separability.",
)
@learner_options(classifiers=True)
@epochs_option("Maximum number of passes over the rows; by default that of the learner.")
@training_option("--shuffle/--no-shuffle", default=True, show_default=True, help="Shuffle the rows.")
@quiet_option
@input_options
def report(files: tuple[str, ...], **options: Any) -> None:
    """Train on a data file and write an HTML report.

    The page summarises the data, the training and why it stopped, an evaluation, the features with the largest weights,
    a proof of whether the rows are separable, and pictures. It works offline. All rows are read into memory.

    \b
    rosenblatt report mails.csv --label kind --output report.html
    rosenblatt report train.csv --test test.csv --learner arow -o report.html
    """  # noqa: D301
    output, title, quiet = options.pop("output"), options.pop("title"), options.pop("quiet")
    test, holdout, limit = options.pop("test"), options.pop("holdout"), options.pop("time_limit")
    if test and holdout:
        raise click.UsageError("--test and --holdout exclude each other. Choose one.")
    if test == "-":
        raise click.UsageError("--test cannot be standard input. Pass a file.")
    check_targets((*files, test), output=output)
    estimator = _estimator(options)
    X, y, names, counts, *_ = read_all(files if test is None else (*files, test), None, options)
    rows, others = _split(counts, test, holdout)
    estimator.fit(X[rows], y[rows])
    held_out = (X[others], y[others]) if others.size else (None, None)
    title = title or f"{', '.join(files)}: a report"
    page = rosenblatt.Report(estimator, X[rows], y[rows], *held_out, title=title, feature_names=names, time_limit=limit)
    page.save(output)
    note(str(page), quiet)
    note(f"The report is in {output}.", quiet)


def _estimator(options: dict[str, Any]) -> Any:
    """Remove the options of a learner from all options, and return the estimator."""
    epochs, shuffle = options.pop("max_iter"), options.pop("shuffle")
    _, learner = take_learner(options)
    learner.set_params(shuffle=shuffle, **({} if epochs is None else {"max_iter": epochs}))
    warnings.simplefilter("ignore")  # the report itself states whether it converged
    return learner


def _split(counts: list[int], test: str | None, holdout: int | None) -> Any:
    """Return the rows to train on and those to evaluate on: every K-th row, or those of a test file."""
    every = np.arange(sum(counts))
    if holdout:
        return every[every % holdout != holdout - 1], every[every % holdout == holdout - 1]
    if test is None:
        return every, every[:0]
    first = sum(counts[: -len(Inputs(test).paths)])
    return every[:first], every[first:]
