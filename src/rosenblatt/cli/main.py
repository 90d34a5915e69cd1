"""The command line: a table of commands. What a command needs is imported when it is called."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import IO, Any

import click

from rosenblatt import learners
from rosenblatt.errors import RosenblattError

NEW_OBJECTS = 100_000  # between two looks for garbage
# Commands that only train and predict from files: to import scikit-learn would take most of their time.
WITHOUT_SCIKIT_LEARN = ("train", "predict", "evaluate", "info")
# Name of each command: its module, and what it does.
COMMANDS = {
    "train": ("train", "Train a model on data files."),
    "predict": ("predict", "Predict the labels of data files."),
    "evaluate": ("evaluate", "Measure how good a model is on data files."),
    "info": ("info", "Describe a model or a data file."),
    "report": ("report", "Train on a data file, and write what happened as one HTML page."),
    "certify": ("proofs", "Find out whether data is separable, with a proof."),
    "verify": ("proofs", "Check a proof."),
    "trace": ("trace", "Show every trial of the perceptron on a small data file."),
    "convert": ("convert", "Write data files in another format."),
    "lab": ("lab", "Explore learning in a browser: draw points, step through every trial."),
    "demo": ("demonstration", "Watch a perceptron learn: a short report and a picture."),
    "completion": ("manual", "Print the completion script for a shell."),
    "manual": ("manual", "Write a manual page for each command."),
}


class Failure(click.ClickException):
    """An error of the package, shown as one sentence; the exit code is 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence on stderr."""
        click.echo(f"error: {self.format_message()}", file=file or sys.stderr)


class Commands(click.Group):
    """A group of commands whose expected errors end in a sentence, not in a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, the most used first."""
        return [*COMMANDS, *self.commands] if self.name == "rosenblatt" else [*self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; its module is imported here."""
        if self.name == "rosenblatt" and cmd_name in COMMANDS:
            module = import_module(f"rosenblatt.cli.{COMMANDS[cmd_name][0]}")
            found: click.Command = getattr(module, cmd_name)
            return found
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with what they do, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx) if name in COMMANDS])

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command line. Garbage is looked for seldom: imports, which take most of a short one, make none."""
        before = gc.get_threshold()
        gc.set_threshold(NEW_OBJECTS, *before[1:])
        try:
            return super().main(*args, **kwargs)
        finally:
            gc.set_threshold(*before)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except RosenblattError as error:
            raise Failure(str(error)) from error
        except BrokenPipeError:
            # Whoever read the output has seen enough. What is still in the buffer has nowhere to go.
            sys.stdout = None
            ctx.exit(0)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise Failure(f"{place}{error.strerror or error}.") from error


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"rosenblatt {version('rosenblatt')}")
        context.exit()


@click.group(cls=Commands, name="rosenblatt", context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help="Show the version."
)
def commands() -> None:
    """Train, use and understand the perceptron and its family."""


def main(arguments: list[str] | None = None, **options: Any) -> Any:
    """Run the command line of this process: the console script, and `python -m rosenblatt`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Before any learner is imported. In-process callers of `commands` get learners of scikit-learn.
    learners.SCIKIT_LEARN = arguments[:1] not in [[name] for name in WITHOUT_SCIKIT_LEARN]
    return commands(arguments, prog_name="rosenblatt", **options)


if __name__ == "__main__":
    main()
