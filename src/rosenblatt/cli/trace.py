"""`rosenblatt trace`."""

from __future__ import annotations

from itertools import islice
from typing import Any

import click

from rosenblatt.cli.options import Sections, files_argument, input_options, json_option, option, print_json, read_all
from rosenblatt.cli.output import table
from rosenblatt.cli.training import epochs_option
from rosenblatt.training.tables import FORMS, trial_table
from rosenblatt.training.trace import trace as trials_of


@click.command(cls=Sections)
@files_argument
@option("--trials", type=click.IntRange(1), default=100, show_default=True, help="Maximum number of trials to show.")
@epochs_option(default=1000, show_default=True)
@option("--mistakes-only", is_flag=True, help="Show only trials that change the weights.")
@option(
    "--table",
    "form",
    type=click.Choice(FORMS),
    help="Print a table for the classroom, with rows named x1, x2, ... and the weights before and after each trial.",
)
@json_option
@input_options
def trace(files: tuple[str, ...], **options: Any) -> None:
    """Show every trial of the perceptron on a small data file.

    The algorithm of the lectures: see a row, predict, see its label, and move the weights if the prediction was wrong.

    \b
    rosenblatt trace or.csv
    rosenblatt trace or.csv --table latex > or.tex
    """  # noqa: D301
    limit, epochs = options.pop("trials"), options.pop("max_iter")
    only, as_json, form = options.pop("mistakes_only"), options.pop("as_json"), options.pop("form")
    if form and as_json:
        raise click.UsageError("--table and --json exclude each other. Choose one.")
    X, y, names, *_ = read_all(files, None, options)
    trials = (trial for trial in trials_of(X, y, max_iter=epochs) if trial.mistake or not only)
    if form:
        click.echo(trial_table(trials, form, most=limit))
    elif as_json:
        for trial in islice(trials, limit):
            keys = ("t", "epoch", "row", "label", "score", "mistake")
            print_json({key: getattr(trial, key) for key in keys} | {"w": trial.w.tolist(), "b": float(trial.b)})
    else:
        width = X.shape[1] if X.shape[1] <= 8 else 0  # columns for more weights do not fit on a screen
        features = list(names or [f"w{j}" for j in range(width)])[:width]
        lines = [_line(trial, width) for trial in islice(trials, limit)]
        click.echo(table(("trial", "epoch", "row", "label", "score", "", *features, "bias"), lines))


def _line(trial: Any, width: int) -> tuple[Any, ...]:
    """Return the cells of a trial, with the weights unless `width` is 0."""
    weights = [f"{value:g}" for value in trial.w] if width else []
    mark = "mistake" if trial.mistake else ""
    return trial.t, trial.epoch, trial.row, trial.label, f"{trial.score:g}", mark, *weights, f"{trial.b:g}"
