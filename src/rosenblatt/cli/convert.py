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
from rosenblatt.text import count


@click.command(cls=Sections)
@files_argument
@option("-o", "--output", type=click.Path(dir_okay=False), required=True, help="Where to write; - is the output.")
@option(
    "--to",
    type=click.Choice(formats.names(lambda one: one.write)),
    help="Format to write; by default what the name says.",
)
@quiet_option
@conversion_options
def convert(files: tuple[str, ...], **options: Any) -> None:
    """Write data files in another format.

    \b
    rosenblatt convert day-*.vw.gz --output days.svm
    """  # noqa: D301
    from rosenblatt.files.conversion import convert as write

    output, to, quiet = options.pop("output"), options.pop("to"), options.pop("quiet")
    check_targets(files, output=output)
    written = write(list(files), output, to=to, **take_input(options))
    skipped = f", {count(written.skipped, 'line')} left out" if written.skipped else ""
    rows = f"{count(written.rows, 'row')} {'is' if written.rows == 1 else 'are'}"
    note(f"{rows} in {output}{skipped}.", quiet or output == "-")
    for text in written.notes:
        note(text, quiet)
