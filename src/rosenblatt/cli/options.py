"""Options that several commands share: how files are read, and what is printed."""

from __future__ import annotations

import glob
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.files import formats

if TYPE_CHECKING:
    from rosenblatt.files.source import FileSource
    from rosenblatt.training.model import LinearModel

Decorator = Callable[[Any], Any]

COLUMN_KINDS = ("number", "category", "text", "skip", "weight")


class Sections(click.Command):
    """A command whose help lists its options in sections, by the attribute `section` of each."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "Options"), []).append(record)
        for title in sorted(sections, key=lambda title: title == "Options"):
            with formatter.section(title):
                formatter.write_dl(sections[title])


class SectionOption(click.Option):
    """An option of a section."""

    def __init__(self, *names: Any, section: str = "Options", **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.section = section


def option(*names: str, section: str = "Options", **settings: Any) -> Decorator:
    """Return a decorator that adds an option to a section."""
    return click.option(*names, cls=SectionOption, section=section, **settings)


def together(*decorators: Decorator) -> Decorator:
    """Return a decorator that adds several options, in this order."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


class Range(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """The shortest and the longest n of n-grams: 2, or 1-2."""

    name = "n-m"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the range as two numbers; None for "none"."""
        if value is None or isinstance(value, tuple):
            return value
        if value.lower() == "none":
            return None
        first, _, last = value.partition("-")
        try:
            return int(first), int(last or first)
        except ValueError:
            self.fail(f"{value!r} is not a range of n-grams. Write 1, or 1-2, or none.", param, ctx)


class Columns(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Kinds of columns: age=number,city=category."""

    name = "name=kind,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a dict from names or positions to kinds."""
        if not isinstance(value, str):
            return value
        found: dict[str | int, str] = {}
        for part in value.split(","):
            name, _, kind = part.rpartition("=")
            if kind not in COLUMN_KINDS or not name:
                self.fail(f"{part!r} is not name=kind with a kind of {', '.join(COLUMN_KINDS)}.", param, ctx)
            found[position_or_name(name)] = kind
        return found


def position_or_name(text: str) -> str | int:
    """Return a column's position if the text is a number, else its name."""
    try:
        return int(text)
    except ValueError:
        return text


def _switch(value: str) -> Any:
    return {"yes": True, "no": False}.get(value, value)


_INPUT, _FEATURES = "Input", "Features"
_SWITCH = click.Choice(("auto", "yes", "no"))

_on_error = option(
    "--on-error",
    section=_INPUT,
    type=click.Choice(("raise", "skip")),
    default="raise",
    show_default=True,
    help="What to do with a line that cannot be used: end with an error, or leave it out and count it.",
)
_threads = option(
    "--threads", section=_INPUT, type=click.IntRange(0), default=2, show_default=True, help="Threads that read files."
)
_chunk_bytes = option(
    "--chunk-bytes",
    section=_INPUT,
    type=click.IntRange(1),
    help="Text that is read at once. The model does not depend on it, unless chunks are shuffled.",
)

_reading_options = together(
    option(
        "-f",
        "--format",
        section=_INPUT,
        type=click.Choice(list(formats.ALL)),
        help="Format; by default what content and name say.",
    ),
    option(
        "-l",
        "--label",
        section=_INPUT,
        metavar="NAME",
        help="Column with the labels, by name or position (-1 is the last). By default one called label, y, class or "
        "target, else the last.",
    ),
    option(
        "--label-type",
        section=_INPUT,
        type=click.Choice(("auto", "number", "text")),
        default="auto",
        show_default=True,
        help="What labels are.",
    ),
    option(
        "--header",
        section=_INPUT,
        type=_SWITCH,
        default="auto",
        show_default=True,
        help="Whether a table begins with names.",
    ),
    option(
        "--columns",
        section=_INPUT,
        type=Columns(),
        help=f"Kinds of columns, by name or position, where the content does not say it: {', '.join(COLUMN_KINDS)}.",
    ),
    option(
        "--zero-based",
        section=_INPUT,
        type=_SWITCH,
        default="auto",
        show_default=True,
        help="Whether svmlight counts from 0.",
    ),
    _on_error,
    _threads,
    _chunk_bytes,
)
_word_options = together(
    option(
        "--words",
        section=_FEATURES,
        type=Range(),
        default="1",
        show_default=True,
        help="n-grams of words, such as 1-2; or none.",
    ),
    option("--letters", section=_FEATURES, type=Range(), help="n-grams of characters within words, such as 3-5."),
    option(
        "--lowercase/--keep-case",
        section=_FEATURES,
        default=True,
        show_default=True,
        help="Whether upper and lower case are one.",
    ),
)
input_options = together(
    _reading_options,
    option(
        "-b",
        "--bits",
        section=_FEATURES,
        type=int,
        default=18,
        show_default=True,
        help="Names are hashed to 2^bits columns.",
    ),
    option(
        "--dictionary", section=_FEATURES, is_flag=True, help="Exact names instead of hashes, at most 2^bits of them."
    ),
    _word_options,
    option(
        "--counts",
        section=_FEATURES,
        type=click.Choice(("binary", "count", "log")),
        default="log",
        show_default=True,
        help="Value of a word that occurs c times: 1, c, or 1 + ln c.",
    ),
    option(
        "--normalise/--no-normalise",
        section=_FEATURES,
        default=None,
        help="Divide rows by their length; by default where all features are words.",
    ),
    option(
        "--standardise",
        section=_FEATURES,
        is_flag=True,
        help="Centre and scale numeric columns of a table by the rows so far.",
    ),
)

# Where names and counts are written as they are.
conversion_options = together(_reading_options, _word_options)
# Where a model says how to read.
reuse_options = together(_on_error, _threads, _chunk_bytes)

quiet_option = option("-q", "--quiet", is_flag=True, help="Print results and errors only.")
json_option = option("--json", "as_json", is_flag=True, help="Print results as JSON.")


def check_targets(read: Iterable[str | None], **written: str | None) -> None:
    """Raise an error before the work if a file would be written over one that is read or another, or cannot be."""
    taken = {os.path.realpath(name): name for path in read if path for name in (glob.glob(path) or [path])}
    for option, path in written.items():
        if path is None or path == "-":
            continue
        before = taken.setdefault(os.path.realpath(path), f"--{option}")
        if before.startswith("--"):
            if before != f"--{option}":
                raise click.UsageError(f"{before} and --{option} are one file, {path}. Name two.")
        else:
            raise click.UsageError(f"--{option} would write over {before}, which is read. Name another file.")
        _check_place(option, path)


def _check_place(option: str, path: str) -> None:
    """Raise an error if no file can be written at a path; a device or a pipe is there already."""
    from rosenblatt.errors import InvalidInput
    from rosenblatt.storage.atomic import check_writable

    if os.path.exists(path) and not os.path.isfile(path):
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InvalidInput(f"--{option}: the folder {target.parent} does not exist. Create it, or choose another.")
    try:
        check_writable(target)
    except OSError as error:
        raise InvalidInput(
            f"--{option}: nothing can be written into the folder {target.parent} ({error.strerror}). Choose another."
        ) from None


def refuse_given(names: Iterable[str], because: str) -> None:
    """Raise an error if one of some options, which would change nothing, is on the command line."""
    context = click.get_current_context()
    own = {parameter.name: parameter for parameter in context.command.params}
    for name in names:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            off = own[name].secondary_opts if not context.params[name] else []
            flag = next(text for text in (*off, *own[name].opts) if text.startswith("--"))
            raise click.UsageError(f"{flag} would change nothing: {because}")


def refuse_but(names: Iterable[str], because: str) -> None:
    """Raise an error if any option but some is on the command line."""
    own = (parameter.name for parameter in click.get_current_context().command.params)
    refuse_given((name for name in own if name is not None and name not in names), because)


files_argument = click.argument("files", nargs=-1, required=True, metavar="FILES...")

_FEATURE_NAMES = ("bits", "dictionary", "words", "letters", "lowercase", "counts", "normalise", "standardise")
REUSED_NAMES = ("on_error", "threads", "chunk_bytes")
_INPUT_NAMES = (
    "format",
    "label",
    "label_type",
    "header",
    "columns",
    "zero_based",
    *REUSED_NAMES,
)


INPUT_NAMES = (*_INPUT_NAMES, *_FEATURE_NAMES)


def take_input(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of reading out of all options, and return them as `open_source` wants them."""
    from rosenblatt.files.options import FeatureOptions

    features = FeatureOptions(**{name: options.pop(name) for name in _FEATURE_NAMES if name in options})
    given = {name: options.pop(name) for name in _INPUT_NAMES}
    if given["label"] is not None:
        given["label"] = position_or_name(given["label"])
    for name in ("header", "zero_based"):
        given[name] = _switch(given[name])
    return {name: value for name, value in given.items() if value is not None} | {"features": features}


def open_like(model: LinearModel, paths: Any, **options: Any) -> FileSource:
    """Open files as those were read that a model was trained on."""
    from rosenblatt.errors import InvalidInput
    from rosenblatt.files.opening import open_source
    from rosenblatt.files.options import Reading

    origin = model.origin or {}
    if "reading" not in origin:
        raise InvalidInput(
            "This model was not trained by rosenblatt train: it does not know how to read files. Train it on files, or "
            "predict with rosenblatt.load_linear in Python."
        )
    reading = Reading.from_json(origin["reading"])
    if reading.features.dictionary:
        options["names"] = model.feature_names
    if origin.get("scaling") is not None:
        from rosenblatt.files.tables import Scaling

        options["scaling"] = Scaling(*(tuple(part) for part in origin["scaling"]))
    given = {"utf8": origin.get("utf8")} | {name: value for name, value in options.items() if value is not None}
    return open_source(list(paths), reading=reading, **given)


def is_model(path: str) -> bool:
    """Return whether a file begins as a safetensors file does."""
    try:
        with open(path, "rb") as file:
            start, size = file.read(9), os.fstat(file.fileno()).st_size
    except OSError:
        return False
    return len(start) == 9 and start[8:] == b"{" and 0 < int.from_bytes(start[:8], "little") <= size - 8


def matrix_of(model: LinearModel, table: Any) -> Any:
    """Return the rows of a table as the model takes them: a dictionary has fewer names than there are columns."""
    matrix = table.matrix()
    width = model.W.shape[1]
    return matrix[:, :width] if matrix.shape[1] > width else matrix


def plain(label: Any) -> Any:
    """Return a label as it was in the file: 1 rather than 1.0."""
    value = label.item() if hasattr(label, "item") else label
    return int(value) if isinstance(value, float) and value.is_integer() else value


def note(text: str, quiet: bool = False) -> None:
    """Print a line on stderr."""
    if not quiet:
        click.echo(text, err=True)


def report_problems(source: Any, quiet: bool) -> None:
    """Print what was skipped or missing."""
    problems = source.problems
    if problems.skipped:
        were = "line was" if problems.skipped == 1 else "lines were"
        note(f"{problems.skipped} {were} left out. The first: {'; '.join(problems.examples)}", quiet)
    if problems.missing:
        note(f"{problems.missing} {'value is' if problems.missing == 1 else 'values are'} missing.", quiet)
    for text in problems.notes:
        note(text, quiet)


def print_json(content: Any) -> None:
    """Print a value as JSON, on one line."""
    json.dump(content, sys.stdout, default=plain)
    sys.stdout.write("\n")
