"""`rosenblatt trace`."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli.options import Sections, files_argument, input_options, json_option, option, print_json
from rosenblatt.cli.output import table
from rosenblatt.cli.proofs import read_all

# Features up to which the weights are shown.
MOST_WEIGHTS_SHOWN = 8


@click.command(cls=Sections)
@files_argument
@option("--trials", type=click.IntRange(1), default=100, show_default=True, help="Most trials to show.")
@option("--epochs", type=click.IntRange(1), default=1000, show_default=True, help="Most passes over the rows.")
@option("--mistakes-only", is_flag=True, help="Show only trials that change the weights.")
@json_option
@input_options
def trace(files: tuple[str, ...], **options: Any) -> None:
    """Show every trial of the perceptron on a small data file.

    The algorithm of the lectures: see a row, predict, see its label, and move the weights if that was wrong.

    \b
    rosenblatt trace or.csv
    """  # noqa: D301
    from rosenblatt.learn.trace import trace as follow

    limit, epochs = options.pop("trials"), options.pop("epochs")
    only, as_json = options.pop("mistakes_only"), options.pop("as_json")
    X, y, names = read_all(files, None, options)
    shown: list[tuple[Any, ...]] = []
    for trial in follow(X, y, epochs=epochs):
        if only and not trial.mistake:
            continue
        if len(shown) == limit:
            break
        if as_json:
            keys = ("t", "epoch", "row", "label", "score", "mistake")
            print_json({key: getattr(trial, key) for key in keys} | {"w": trial.w.tolist(), "b": float(trial.b)})
            shown.append(())
            continue
        weights = [f"{value:g}" for value in trial.w] if X.shape[1] <= MOST_WEIGHTS_SHOWN else []
        mark = "mistake" if trial.mistake else ""
        shown.append((trial.t, trial.epoch, trial.row, trial.label, f"{trial.score:g}", mark, *weights, f"{trial.b:g}"))
    if not as_json:
        width = X.shape[1] if X.shape[1] <= MOST_WEIGHTS_SHOWN else 0
        features = list(names or [f"w{j}" for j in range(width)])[:width]
        click.echo(table(("trial", "epoch", "row", "label", "score", "", *features, "bias"), shown))
