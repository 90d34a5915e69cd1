"""Options that several commands share, and how they open files with them."""

from __future__ import annotations

import glob
import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from rosenblatt.cli.spellings import equivalent
from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.chunks import joined
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FEATURE_KINDS, FeatureOptions, Reading
from rosenblatt.files.source import FileSource
from rosenblatt.files.tables import Scaling
from rosenblatt.storage.atomic import check_writable
from rosenblatt.text import count, did_you_mean
from rosenblatt.training.model import LinearModel, load_linear

Decorator = Callable[[Any], Any]

COLUMN_KINDS = (*FEATURE_KINDS, "skip", "weight")
# Where every name gets a column of its own, at most 2^22 names.
MOST_NAMES_BITS = 22


# Keys of what a help text depends on, in the dict `meta` of a context.
SHOW_ALL, ARGUMENTS = "rosenblatt.show_all", "rosenblatt.arguments"


class SectionOption(click.Option):
    """An option with a section of the help text. One that is not `common` is shown by --help-all only."""

    def __init__(self, *names: Any, section: str = "Options", common: bool = True, **settings: Any) -> None:
        if isinstance(settings.get("type"), click.IntRange) and not settings.get("metavar"):
            settings["metavar"] = "N"
        super().__init__(*names, **settings)
        self.section, self.common = section, common

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return what click adds to the text, without the range, which an error message gives."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra

    def is_shown(self, ctx: click.Context) -> bool:
        """Return whether this help text shows the option; that of a learner has few others."""
        if ctx.meta.get(SHOW_ALL, False):
            return True
        return self.common and (named_learner(ctx) is None or self.section == "Options")


def named_learner(ctx: click.Context) -> str | None:
    """Return the value of --learner on the command line, also if it comes after --help."""
    words = ctx.meta.get(ARGUMENTS, [])
    values = [word.partition("=")[2] for word in words if word.startswith("--learner=")]
    values += [after for word, after in pairwise(words) if word == "--learner"]
    return values[-1] if values else None


def _show_all(context: click.Context, _: click.Parameter, flag: bool) -> None:
    if flag and not context.resilient_parsing:
        context.meta[SHOW_ALL] = True
        click.echo(context.get_help())
        context.exit()


_HELP_ALL = SectionOption(
    ["--help-all"],
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_all,
    help="Show all options and exit.",
)


class Sections(click.Command):
    """A command whose help groups the options by their attribute `section`."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters; --help-all is among them if --help does not show all."""
        own = super().get_params(ctx)
        return own if all(getattr(one, "common", True) for one in own) else [*own, _HELP_ALL]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a wrong option is answered with what it may mean."""
        ctx.meta[ARGUMENTS] = [*args]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            known = [text for one in self.get_params(ctx) for text in (*one.opts, *one.secondary_opts)]
            hint = equivalent(name) or did_you_mean(name, known)
            raise click.UsageError(f"There is no option {name}.{hint}", ctx) from None
        except click.BadParameter as error:
            named = [text for text in (error.param.opts if error.param else ()) if text in ctx.meta[ARGUMENTS]]
            hint = "".join(map(equivalent, named))
            raise (click.BadParameter(error.message + hint, ctx, error.param) if hint else error) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section; those without one come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            shown = not isinstance(parameter, SectionOption) or parameter.is_shown(ctx)
            record = parameter.get_help_record(ctx) if shown and isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "Options"), []).append(record)
        for title in sorted(sections, key=lambda title: title == "Options"):
            with formatter.section(title):
                formatter.write_dl(sections[title], col_max=28)


def option(*names: str, section: str = "Options", **settings: Any) -> Decorator:
    """Return a decorator that adds an option to a section."""
    return click.option(*names, **{"cls": SectionOption} | settings, section=section)


def together(*decorators: Decorator) -> Decorator:
    """Return a decorator that adds several options, in this order."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def ngram_range(text: str) -> tuple[int, int] | None:
    """Return the shortest and the longest n of "2" or "1-2"; None for "none"."""
    if text.lower() == "none":
        return None
    first, _, last = text.partition("-")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a range of n-grams. Write 1, or 1-2, or none.") from None


def column_kinds(text: str) -> dict[str | int, str]:
    """Return a dict from names or positions to kinds, of columns such as "age=number,city=category"."""
    kinds: dict[str | int, str] = {}
    for part in text.split(","):
        name, _, kind = part.rpartition("=")
        if kind not in COLUMN_KINDS or not name:
            raise click.BadParameter(f"{part!r} is not name=kind with one of the kinds {', '.join(COLUMN_KINDS)}.")
        kinds[position_or_name(name)] = kind
    return kinds


def interaction(text: str) -> str:
    """Return the cross of Vowpal Wabbit's interaction of namespaces: a*b for ab."""
    if len(text) < 2:
        raise click.BadParameter(f"{text!r} has fewer than two letters. Write ab for the namespaces a... and b...")
    return "*".join(text)


def position_or_name(text: str) -> str | int:
    """Return the position of a column if the text is an integer, else its name."""
    try:
        return int(text)
    except ValueError:
        return text


_input_option, _feature_option = partial(option, section="Input"), partial(option, section="Features")
_SWITCH = click.Choice(("auto", "yes", "no"))

_on_error = _input_option(
    "--on-error",
    type=click.Choice(("raise", "skip")),
    default="raise",
    help="Stop at an invalid line, or skip and count it.",
)
_threads = _input_option(
    "--threads",
    type=click.IntRange(0),
    default=2,
    show_default=True,
    common=False,
    help="Threads that read and parse files.",
)
_chunk_bytes = _input_option(
    "--chunk-bytes",
    type=click.IntRange(1),
    common=False,
    help="Size of the chunks that are parsed at once. The model depends on it only if chunks are shuffled.",
)

_reading_options = together(
    _input_option(
        "-f",
        "--format",
        type=click.Choice(list(formats.ALL)),
        metavar="NAME",
        help=f"{', '.join(formats.ALL)}; detected by default.",
    ),
    _input_option(
        "-l",
        "--label",
        metavar="NAME",
        help="Column of the labels, else: label, y, class or target, or the last.",
    ),
    _input_option(
        "--label-type",
        type=click.Choice(("auto", "number", "text")),
        default="auto",
        show_default=True,
        common=False,
        help="Type of the labels.",
    ),
    _input_option("--header", type=_SWITCH, default="auto", common=False, help="Whether a table starts with names."),
    _input_option(
        "--columns",
        type=column_kinds,
        metavar="NAME=KIND,...",
        help=f"Kinds of columns: {', '.join(COLUMN_KINDS)}; detected by default.",
    ),
    _input_option(
        "--date",
        multiple=True,
        type=position_or_name,
        metavar="NAME",
        common=False,
        help="Split a column of dates into year, month, day, weekday and hour; the same as --columns NAME=date.",
    ),
    _input_option(
        "--zero-based",
        type=_SWITCH,
        default="auto",
        show_default=True,
        common=False,
        help="Whether svmlight columns count from 0.",
    ),
    _on_error,
    _threads,
    _chunk_bytes,
)
_word_options = together(
    _feature_option(
        "--words",
        type=ngram_range,
        metavar="N-M",
        default="1",
        help="Word n-grams, such as 1-2; none for none.",
    ),
    _feature_option("--letters", type=ngram_range, metavar="N-M", help="Letter n-grams within words, such as 3-5."),
    _feature_option(
        "--lowercase/--keep-case", default=True, show_default=True, common=False, help="Whether to ignore case."
    ),
)
input_options = together(
    _reading_options,
    _feature_option(
        "-b", "--bits", type=int, metavar="N", default=18, show_default=True, help="Hash names to 2^N columns."
    ),
    _feature_option("--dictionary", is_flag=True, help="Keep names, at most 2^bits, unhashed."),
    _word_options,
    _feature_option(
        "--cross",
        multiple=True,
        metavar="A*B,...",
        help="Multiply the features of two or more columns or namespaces: user*ad, text*text.",
    ),
    _feature_option(
        "-q", "--quadratic", "--cubic", "--interactions", "interactions", type=interaction, multiple=True, hidden=True
    ),
    _feature_option(
        "--counts",
        type=click.Choice(("binary", "count", "log")),
        default="log",
        show_default=True,
        common=False,
        help="Value of a word that occurs c times: 1, c or 1 + ln c.",
    ),
    _feature_option(
        "--normalise/--no-normalise",
        default=None,
        help="Divide rows by their norm; the default for words.",
    ),
    _feature_option(
        "--standardise/--no-standardise",
        default=None,
        help="Scale columns of numbers; the default.",
    ),
)

# For conversions, which write names and counts as they are.
conversion_options = together(_reading_options, _word_options)
# For models, which know how to read the rest.
reuse_options = together(_on_error, _threads, _chunk_bytes)

quiet_option = option("--quiet", is_flag=True, help="Print only results and errors.")
json_option = option("--json", "as_json", is_flag=True, help="Print results as JSON.")


def check_targets(read: Iterable[str | None], **written: str | None) -> None:
    """Raise an error, before any work, if an output overwrites an input or another output, or is not writable."""
    taken = {os.path.realpath(name): name for path in read if path for name in (glob.glob(path) or [path])}
    for option, path in written.items():
        if path is None or path == "-":
            continue
        before = taken.setdefault(os.path.realpath(path), f"--{option}")
        if not before.startswith("--"):
            raise click.UsageError(f"--{option} would overwrite the input {before}. Name another file.")
        if before != f"--{option}":
            raise click.UsageError(f"{before} and --{option} are the same file, {path}. Name two files.")
        _check_place(option, path)


def _check_place(option: str, path: str) -> None:
    """Raise an error if no file can be written at a path."""
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe
        return
    if path.endswith(os.sep):
        raise InvalidInput(f"--{option}: {path} is a folder. Name a file in it.")
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InvalidInput(f"--{option}: the folder {target.parent} does not exist. Create it, or choose another.")
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise InvalidInput(f"--{option}: {path} is not writable. Choose another file, or change its permissions.")
    except OSError as error:  # such as a name that is too long
        raise InvalidInput(f"--{option}: {path} cannot be written ({error.strerror}). Choose another.") from None
    try:
        check_writable(target)
    except OSError as error:
        raise InvalidInput(
            f"--{option}: the folder {target.parent} is not writable ({error.strerror}). Choose another."
        ) from None


def reject_options(names: Iterable[str], because: str) -> None:
    """Raise an error if one of these options, which would have no effect, is on the command line."""
    context = click.get_current_context()
    own = {parameter.name: parameter for parameter in context.command.params}
    for name in names:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            off = own[name].secondary_opts if not context.params[name] else []
            flag = next(text for text in (*off, *own[name].opts) if text.startswith("--"))
            raise click.UsageError(f"{flag} has no effect: {because}")


def reject_options_except(names: Iterable[str], because: str) -> None:
    """Raise an error if any other option than these is on the command line."""
    own = (parameter.name for parameter in click.get_current_context().command.params)
    reject_options((name for name in own if name is not None and name not in names), because)


files_argument = click.argument("files", nargs=-1, required=True, metavar="DATA...")

_FEATURE_NAMES = tuple(field.name for field in fields(FeatureOptions))
SHORT_FOR = {"interactions": "cross", "date": "columns"}  # options that add to another
REUSED_NAMES = ("on_error", "threads", "chunk_bytes")
_INPUT_NAMES = ("format", "label", "label_type", "header", "columns", "zero_based", *REUSED_NAMES)
INPUT_NAMES = (*_INPUT_NAMES, *_FEATURE_NAMES, *SHORT_FOR)


def take_input(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of reading from all options, and return them as arguments of `open_source`."""
    if options["date"]:
        options["columns"] = dict.fromkeys(options["date"], "date") | (options["columns"] or {})
    del options["date"]
    if "interactions" in options:  # Vowpal Wabbit's words for crosses
        options["cross"] += options.pop("interactions")
    features = FeatureOptions(**{name: options.pop(name) for name in _FEATURE_NAMES if name in options})
    settings = {name: options.pop(name) for name in _INPUT_NAMES}
    if settings["label"] is not None:
        settings["label"] = position_or_name(settings["label"])
    for name in ("header", "zero_based"):
        settings[name] = {"yes": True, "no": False}.get(settings[name], settings[name])
    context = click.get_current_context()
    given = [
        name for name in INPUT_NAMES if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    present = {name: value for name, value in settings.items() if value is not None}
    return present | {"features": features, "given": tuple(given)}


def open_like(model: LinearModel, paths: Any, **options: Any) -> FileSource:
    """Open files the way the training files of a model were read."""
    origin = model.origin or {}
    if "reading" not in origin:
        raise InvalidInput(
            "This model does not say how to read files: it was not trained by rosenblatt train. Train it on files, or "
            "use rosenblatt.load_linear in Python."
        )
    reading = Reading.from_json(origin["reading"])
    labelled = not reading.columns or any(column.kind == "label" for column in reading.columns)
    if not labelled and options.get("labels", "required") == "required":
        raise InvalidInput(
            "This model does not know which column has the labels: it is a pipeline, which had them apart. Use "
            "rosenblatt predict, or rosenblatt.load in Python."
        )
    if reading.features.dictionary:
        options["names"] = model.feature_names
    if origin.get("scaling") is not None:
        options["scaling"] = Scaling(*(tuple(part) for part in origin["scaling"]))
    settings = {"utf8": origin.get("utf8")} | {name: value for name, value in options.items() if value is not None}
    return open_source(list(paths), reading=reading, **settings)


class FileData(NamedTuple):
    """All rows of some files."""

    X: Any
    y: Any
    names: list[str] | None  # of the columns; None if unknown
    counts: list[int]  # rows of each file
    weight: Any  # of each row; None: all are one
    source: FileSource


def read_all(files: tuple[str, ...], model: str | None, options: dict[str, Any], quiet: bool = False) -> FileData:
    """Return the rows of files.

    Every name gets a column of its own, because two names that share one could hide a separation. Empty columns are
    left out.
    """
    notes: tuple[str, ...] = ()
    if model is None:
        again, bits = {name: options[name] for name in ("on_error", "format")}, options["bits"]
        source = open_source(list(files), **take_input(options))
        if not source.reading.numeric and source.reading.format != "svmlight" and "-" not in files:
            if bits <= MOST_NAMES_BITS:
                reject_options(
                    ("bits",), f"this command gives up to 2^{MOST_NAMES_BITS} names a column each. Leave it out."
                )
            features = source.reading.features
            exact = replace(features, dictionary=True, bits=max(features.bits, MOST_NAMES_BITS))
            reading, notes = replace(source.reading, features=exact), source.problems.notes
            source = open_source(list(files), reading=reading, **again)
    else:
        fixed = [name for name in INPUT_NAMES if name not in REUSED_NAMES]
        reject_options(fixed, "the model determines how files are read. Leave it out, or --model.")
        source = open_like(load_linear(model), files, **{name: options[name] for name in REUSED_NAMES})
    chunks = list(source)
    if not chunks:
        raise InvalidInput("The files have no rows. Pass files with at least one row.")
    source.problems = source.problems._replace(notes=tuple(dict.fromkeys((*notes, *source.problems.notes))))
    report_problems(source, quiet)
    whole = joined(chunks)
    label, matrix = whole.label, whole.table.matrix()
    names = None if source.names is None else list(source.names)
    if label.dtype.kind == "f" and np.all(label == np.floor(label)):
        label = label.astype(np.int64)
    if hasattr(matrix, "indices"):
        used = np.unique(matrix.indices)
        matrix = matrix[:, used]
        names = None if names is None else [names[column] for column in used]
    return FileData(matrix, label, names, source.file_rows or [], whole.weight, source)


def is_model(path: str) -> bool:
    """Return whether a file starts like a safetensors file."""
    try:
        with open(path, "rb") as file:
            start, size = file.read(9), os.fstat(file.fileno()).st_size
    except OSError:
        return False
    return len(start) == 9 and start[8:] == b"{" and 0 < int.from_bytes(start[:8], "little") <= size - 8


def matrix_of(model: LinearModel, table: Any) -> Any:
    """Return the rows of a table with the columns of a model: a dictionary may have fewer names than columns."""
    matrix = table.matrix()
    width = model.W.shape[1]
    return matrix[:, :width] if matrix.shape[1] > width else matrix


def plain(label: Any) -> Any:
    """Return a label as it is in the file: 1 rather than 1.0."""
    value = label.item() if hasattr(label, "item") else label
    return int(value) if isinstance(value, float) and value.is_integer() else value


def note(text: str, quiet: bool = False) -> None:
    """Print a line on stderr."""
    if not quiet:
        click.echo(text, err=True)


def report_problems(source: Any, quiet: bool) -> None:
    """Print the numbers of skipped lines and missing values, and the notes of a source."""
    problems = source.problems
    if problems.skipped:
        note(f"Skipped {count(problems.skipped, 'line')}. The first: {'; '.join(problems.examples)}", quiet)
    if problems.missing:
        note(f"{problems.missing} {'value is' if problems.missing == 1 else 'values are'} missing.", quiet)
    for text in problems.notes:
        note(text, quiet)


def print_json(content: Any) -> None:
    """Print a value as one line of JSON."""
    json.dump(content, sys.stdout, default=plain)
    sys.stdout.write("\n")
