"""`rosenblatt convert`."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli.options import (
    Sections,
    check_targets,
    conversion_options,
    files_argument,
    note,
    option,
    quiet_option,
    take_input,
)
from rosenblatt.files import formats
from rosenblatt.files.conversion import convert as convert_files
from rosenblatt.text import count


@click.command(cls=Sections)
@files_argument
@option("-o", "--output", type=click.Path(dir_okay=False), required=True, help="File to write; - for standard output.")
@option(
    "--to",
    type=click.Choice(formats.names(lambda one: one.write)),
    help="Format to write; by default that of the file name.",
)
@quiet_option
@conversion_options
def convert(files: tuple[str, ...], **options: Any) -> None:
    """Convert data files to another format.

    \b
    rosenblatt convert day-*.vw.gz --output days.svm
    """  # noqa: D301
    output, to, quiet = options.pop("output"), options.pop("to"), options.pop("quiet")
    check_targets(files, output=output)
    written = convert_files(list(files), output, to=to, **take_input(options))
    skipped = f", skipped {count(written.skipped, 'line')}" if written.skipped else ""
    note(f"Wrote {count(written.rows, 'row')} to {output}{skipped}.", quiet or output == "-")
    for text in written.notes:
        note(text, quiet)
