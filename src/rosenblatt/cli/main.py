"""The command line: parse, call, print. One function per command; what is heavy is imported inside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Any

import click

from rosenblatt.errors import RosenblattError


class Failure(click.ClickException):
    """An error of the package, shown as one sentence; the exit code is 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence on stderr."""
        click.echo(f"error: {self.format_message()}", file=file or sys.stderr)


class Commands(click.Group):
    """A group of commands whose expected errors end in a sentence, not in a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except RosenblattError as error:
            raise Failure(str(error)) from error


@click.group(cls=Commands, name="rosenblatt", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rosenblatt", message="rosenblatt %(version)s")
def main() -> None:
    """Train, use and understand the perceptron and its family."""


@main.command()
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


@main.command()
@click.argument("names", nargs=-1)
def warmup(names: tuple[str, ...]) -> None:
    """Compile the loops beforehand, so that no first use waits.

    NAMES are perceptron, certify, arow, kernel, ... or all; by default the perceptron and certify.
    """
    from rosenblatt.estimators.warm import warmup as compile_named

    click.echo(compile_named(*names))


if __name__ == "__main__":
    main()
