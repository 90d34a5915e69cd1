"""`rosenblatt certify` and `rosenblatt verify`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click

from rosenblatt.cli.options import (
    INPUT_NAMES,
    REUSED_NAMES,
    Sections,
    check_targets,
    files_argument,
    input_options,
    json_option,
    open_like,
    option,
    print_json,
    refuse_given,
    report_problems,
    take_input,
)
from rosenblatt.cli.output import said_while_waiting
from rosenblatt.prover.exact.clock import TIME_LIMIT

# 2^22 names at most.
MOST_NAMES_BITS = 22

_like = option(
    "-m",
    "--model",
    type=click.Path(dir_okay=False),
    help="Read the files as those were read that this model was trained on.",
)


def read_all(
    files: tuple[str, ...], model: str | None, options: dict[str, Any]
) -> tuple[Any, Any, list[str] | None, list[int]]:
    """Return all rows of files in memory, their labels, the names of the columns where they are known, rows by file.

    Names have columns of their own here, because two that share one could hide a separation. Columns without an entry
    say nothing, and are left out.
    """
    import numpy as np

    from rosenblatt.errors import InvalidInput
    from rosenblatt.files.chunks import joined
    from rosenblatt.files.opening import open_source

    notes: tuple[str, ...] = ()
    if model is None:
        again, bits = {name: options[name] for name in ("on_error", "format")}, options["bits"]
        source = open_source(list(files), **take_input(options))
        if not source.reading.numeric and source.reading.format != "svmlight" and "-" not in files:
            if bits <= MOST_NAMES_BITS:
                most = f"every name has a column of its own here, up to 2^{MOST_NAMES_BITS} of them. Leave it out."
                refuse_given(("bits",), most)
            features = source.reading.features
            exact = replace(features, dictionary=True, bits=max(features.bits, MOST_NAMES_BITS))
            reading, notes = replace(source.reading, features=exact), source.problems.notes
            source = open_source(list(files), reading=reading, **again)
    else:
        from rosenblatt.training.model import load_linear

        decided = [name for name in INPUT_NAMES if name not in REUSED_NAMES]
        refuse_given(decided, "the model knows how its files are read. Leave it out, or --model.")
        source = open_like(load_linear(model), files, **{name: options[name] for name in REUSED_NAMES})
    chunks = list(source)
    if not chunks:
        raise InvalidInput("There are no rows in the files. Pass files with at least one row.")
    source.problems = source.problems._replace(notes=tuple(dict.fromkeys((*notes, *source.problems.notes))))
    report_problems(source, quiet=False)
    whole = joined(chunks)
    label, matrix = whole.label, whole.table.matrix()
    names = None if source.names is None else list(source.names)
    if label.dtype.kind == "f" and np.all(label == np.floor(label)):
        label = label.astype(np.int64)
    if hasattr(matrix, "indices"):
        used = np.unique(matrix.indices)
        matrix = matrix[:, used]
        names = None if names is None else [names[column] for column in used]
    return matrix, label, names, source.file_rows or []


@click.command(cls=Sections)
@files_argument
@option(
    "-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Where to write the certificate, as JSON."
)
@option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    default=TIME_LIMIT,
    show_default=True,
    help="Give up after this time; inf: never.",
)
@option("--no-margin", is_flag=True, help="Do not look for the largest margin.")
@option(
    "--exact",
    type=click.Choice(("binary", "decimal")),
    default="binary",
    show_default=True,
    help="What a value means: the float itself, or the shortest decimal that rounds to it.",
)
@_like
@json_option
@input_options
def certify(files: tuple[str, ...], **options: Any) -> None:
    """Find out whether data is separable, with a proof.

    All rows are read into memory. The certificate can be checked by rosenblatt verify, or with the stand-alone checker,
    without trusting this program.

    \b
    rosenblatt certify mails.csv --output mails.certificate
    """  # noqa: D301
    from rosenblatt.prover.search.certify import certify as decide

    output, limit = options.pop("output"), options.pop("time_limit")
    check_targets((*files, options["model"]), output=output)
    X, y, _, _ = read_all(files, options.pop("model"), options)
    still = f"certify: still searching after {{}} s; it gives up after {limit:g} s, or after what --time-limit says"
    with said_while_waiting(still):
        found = decide(X, y, margin=not options["no_margin"], exact=options["exact"], time_limit=limit)
    if output is not None:
        found.save(output)
    if options["as_json"]:
        print_json(found.to_dict())
    else:
        click.echo(str(found))
        if output is not None:
            click.echo(f"The certificate is in {output}.")


@click.command(cls=Sections)
@click.argument("certificate", type=click.Path(dir_okay=False))
@files_argument
@_like
@json_option
@input_options
@click.pass_context
def verify(context: click.Context, /, certificate: str, files: tuple[str, ...], **options: Any) -> None:
    """Check a proof.

    FILES must be read as they were when the certificate was issued: pass the same options. The exit code is 0 if the
    certificate proves what it claims about these rows, else 1.

    \b
    rosenblatt verify mails.certificate mails.csv
    """  # noqa: D301
    from rosenblatt.prover.certificates.certificate import Certificate
    from rosenblatt.prover.certificates.verify import verify as check

    claimed = Certificate.load(certificate)
    X, y, _, _ = read_all(files, options.pop("model"), options)
    holds = bool(check(claimed, X, y))
    if options["as_json"]:
        click.echo(json.dumps({"holds": holds, "verdict": claimed.verdict}))
    else:
        right = f"The certificate holds: {claimed.verdict}."
        click.echo(right if holds else f"The certificate does not prove {claimed.verdict!r} of these rows.")
    context.exit(0 if holds else 1)
