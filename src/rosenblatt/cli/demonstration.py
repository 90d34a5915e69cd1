"""`rosenblatt demo`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    default=Path("rosenblatt-demo.png"),
    show_default=True,
    help="Where to save the picture; its ending chooses the format.",
)
@click.option("--no-picture", is_flag=True, help="Print the report only; works without matplotlib.")
@click.pass_context
def demo(context: click.Context, output: Path, no_picture: bool) -> None:
    """Watch a perceptron learn: a short report and a picture.

    Two sets that come with scikit-learn, nothing is downloaded: tumours, benign or malignant, and handwritten digits.
    """
    from rich.console import Console

    from rosenblatt.cli.demo import run_demo

    context.exit(run_demo(None if no_picture else output, Console()))
