"""The command line: a table of commands, each imported when it is called."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import click
from click.shell_completion import get_completion_class

from rosenblatt import learners
from rosenblatt.errors import RosenblattError
from rosenblatt.text import did_you_mean

# Commands that only train and predict from files: importing scikit-learn would take most of their time.
WITHOUT_SCIKIT_LEARN = ("train", "predict", "evaluate", "info")
# The module and the summary of each command, the most used first. Those of this module need few lines.
COMMANDS = {
    "train": ("train", "Train a model on data files."),
    "predict": ("predict", "Predict the labels of data files."),
    "evaluate": ("evaluate", "Measure the accuracy of a model on data files."),
    "info": ("info", "Describe a model or a data file."),
    "report": ("report", "Train on a data file and write an HTML report."),
    "certify": ("proofs", "Decide whether data is linearly separable, with a proof."),
    "verify": ("proofs", "Check a proof."),
    "trace": ("trace", "Show every trial of the perceptron on a small data file."),
    "convert": ("convert", "Convert data files to another format."),
    "serve": ("serve", "Serve models that predict and learn over HTTP, and lose nothing."),
    "lab": ("lab", "Explore learning in a browser: draw points, step through every trial."),
    "demo": ("main", "Watch a perceptron learn: a short report and a picture."),
    "completion": ("main", "Print the completion script for a shell."),
}


class Failure(click.ClickException):
    """An error of the package, printed as one line; the exit code is 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message on stderr."""
        click.echo(f"error: {self.format_message()}", file=file or sys.stderr)


class Commands(click.Group):
    """A group of commands that imports each when it is called, and prints expected errors without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, the most used first."""
        return [*COMMANDS] if self.name == "rosenblatt" else [*self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if self.name == "rosenblatt" and cmd_name in COMMANDS:
            command: click.Command = getattr(import_module(f"rosenblatt.cli.{COMMANDS[cmd_name][0]}"), cmd_name)
            return command
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command that the arguments name, or raise an error that suggests one."""
        if self.get_command(ctx, args[0]) is not None:
            return super().resolve_command(ctx, args)
        raise click.UsageError(f"There is no command {args[0]}.{did_you_mean(args[0], self.list_commands(ctx))}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their summaries, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except RosenblattError as error:
            raise Failure(str(error)) from error
        except KeyboardInterrupt:
            click.echo("\nInterrupted.", err=True)
            ctx.exit(130)  # 128 + SIGINT, as shells have it
        except BrokenPipeError:
            # The reader of the output has closed it, as head does. The rest of the buffer has nowhere to go.
            sys.stdout = None
            ctx.exit(0)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise Failure(f"{place}{error.strerror or error}") from error


def _show_version(context: click.Context, _: click.Parameter, flag: bool) -> None:
    if flag and not context.resilient_parsing:
        from importlib.metadata import version  # takes as long to import as the rest of --help

        click.echo(f"rosenblatt {version('rosenblatt')}")
        context.exit()


@click.group(cls=Commands, name="rosenblatt", context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help="Show the version."
)
def commands() -> None:
    """Train, use and understand the perceptron and its family."""


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    default=Path("rosenblatt-demo.png"),
    show_default=True,
    help="File for the picture; the suffix chooses the format.",
)
@click.option("--no-picture", is_flag=True, help="Print the report only; works without matplotlib.")
@click.pass_context
def demo(context: click.Context, output: Path, no_picture: bool) -> None:
    """Watch a perceptron learn: a short report and a picture.

    It learns two data sets that come with scikit-learn: benign and malignant tumours, and handwritten digits.
    """
    if no_picture and context.get_parameter_source("output") is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--output has no effect: there is no picture. Leave it out, or --no-picture.")
    from rosenblatt.cli.demo import run_demo

    context.exit(run_demo(None if no_picture else output, sys.stdout))


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    eval "$(rosenblatt completion bash)"        # in ~/.bashrc; the same for zsh
    rosenblatt completion fish | source         # in ~/.config/fish/config.fish
    """  # noqa: D301
    cls = get_completion_class(shell)
    assert cls is not None
    click.echo(cls(commands, {}, "rosenblatt", "_ROSENBLATT_COMPLETE").source())


def main(arguments: list[str] | None = None, **options: Any) -> Any:
    """Run the command line of this process: the console script, and `python -m rosenblatt`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Before any learner is imported. In-process callers of `commands` get learners of scikit-learn.
    light = "_ROSENBLATT_COMPLETE" in os.environ or arguments[:1] in [[name] for name in WITHOUT_SCIKIT_LEARN]
    learners.SCIKIT_LEARN = not light
    return commands(arguments, prog_name="rosenblatt", **options)


if __name__ == "__main__":
    main()
