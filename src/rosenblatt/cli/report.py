"""`rosenblatt report`."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli.options import Sections, check_targets, files_argument, input_options, note, option, quiet_option
from rosenblatt.cli.proofs import read_all
from rosenblatt.cli.training import learner_options, take_learner, trainable

_TRAINING, _REPORT = "Training", "Report"
DEFAULT_LEARNER = "perceptron"


@click.command(cls=Sections)
@files_argument
@option(
    "-o",
    "--output",
    section=_REPORT,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    required=True,
    help="Where to write the report, one HTML file.",
)
@option("--title", section=_REPORT, help="Its title.")
@option("--test", section=_REPORT, type=click.Path(), metavar="FILE", help="Evaluate on the rows of this file too.")
@option(
    "--holdout",
    section=_REPORT,
    type=click.IntRange(2),
    metavar="K",
    help="Hold out every K-th row, and evaluate on these too.",
)
@option(
    "--time-limit",
    section=_REPORT,
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Look for a proof of separability so long.",
)
@option(
    "--learner",
    section="Learner",
    type=click.Choice(tuple(name for name, cls in trainable().items() if hasattr(cls, "decision_function"))),
    default=DEFAULT_LEARNER,
    show_default=True,
    help="The algorithm.",
)
@learner_options()
@option(
    "--max-iter",
    "--epochs",
    "max_iter",
    section=_TRAINING,
    type=click.IntRange(1),
    help="Most passes over the rows. By default as the learner has it.",
)
@option("--shuffle/--no-shuffle", section=_TRAINING, default=True, show_default=True, help="Shuffle the rows.")
@quiet_option
@input_options
def report(files: tuple[str, ...], **options: Any) -> None:
    """Train on a data file, and write what happened as one HTML page.

    The page has the data in short, the record of the training and why it stopped, an evaluation, telling features, a
    proof whether the rows are separable, and pictures. It needs no network. All rows are read into memory.

    \b
    rosenblatt report mails.csv --label kind --output report.html
    rosenblatt report train.csv --test test.csv --learner arow -o report.html
    """  # noqa: D301
    output, title, quiet = options.pop("output"), options.pop("title"), options.pop("quiet")
    test, holdout, limit = options.pop("test"), options.pop("holdout"), options.pop("time_limit")
    if test and holdout:
        raise click.UsageError("--test and --holdout are two ways to evaluate. Choose one.")
    if test == "-":
        raise click.UsageError("--test reads a file. Pass one, not standard input.")
    check_targets((*files, test), output=output)
    estimator = _estimator(options)
    X, y, names, counts = read_all(files if test is None else (*files, test), None, options)
    rows = _split(counts, test, holdout)
    estimator.fit(X[rows[0]], y[rows[0]])
    held_out = (X[rows[1]], y[rows[1]]) if rows[1].size else (None, None)
    from rosenblatt.report.report import Report

    told = {"title": title or f"{', '.join(files)}: a report", "feature_names": names, "time_limit": limit}
    found = Report(estimator, X[rows[0]], y[rows[0]], *held_out, **told)
    found.save(output)
    note(str(found), quiet)
    note(f"The report is in {output}.", quiet)


def _estimator(options: dict[str, Any]) -> Any:
    """Take the options of a learner out of all options, and return the estimator that they describe."""
    import warnings

    epochs, shuffle = options.pop("max_iter"), options.pop("shuffle")
    _, learner = take_learner(options)
    learner.set_params(shuffle=shuffle, **({} if epochs is None else {"max_iter": epochs}))
    warnings.simplefilter("ignore")  # the report itself says whether it converged
    return learner


def _split(counts: list[int], test: str | None, holdout: int | None) -> Any:
    """Return the numbers of the rows to train on, and of those to evaluate on: every K-th, or those of a test file."""
    import numpy as np

    from rosenblatt.files.opening import Inputs

    every = np.arange(sum(counts))
    if holdout:
        return every[every % holdout != holdout - 1], every[every % holdout == holdout - 1]
    if test is None:
        return every, every[:0]
    first = sum(counts[: -len(Inputs(test).paths)])
    return every[:first], every[first:]
