"""Convert data files from one format to another.

Tables and raw text keep their columns. Formats of features have names and values: a table becomes numbers, categories
as name=value, and words with their counts; features become a table of numbers.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.formats import Format
from rosenblatt.files.opening import make_parser, open_source
from rosenblatt.files.options import MOST_BITS, WORD_OPTIONS, reject
from rosenblatt.files.records import FeatureRows, Records, open_output
from rosenblatt.files.sniffing import format_by_name
from rosenblatt.files.source import FileSource
from rosenblatt.files.streams import FilePath, can_be_read_once, open_raw

# Options of features that do not apply to conversions: names and counts are written as they are.
UNUSED = ("bits", "dictionary", "counts", "normalise", "standardise", "cross")


class Written(NamedTuple):
    """The result of a conversion: rows written, lines skipped, and notes for users."""

    rows: int
    skipped: int
    notes: tuple[str, ...] = ()


def convert(
    paths: FilePath | Sequence[FilePath], target: FilePath, *, to: str | None = None, **options: Any
) -> Written:
    """Convert files to another format; the target appears whole or not at all.

    Parameters
    ----------
    paths : path-like, or sequence of them
        "-" is standard input. It is copied to a temporary file, because the names of all columns are known at its end.
    target : path-like
        "-" is standard output.
    to : str, optional
        Name of a format that can be written, see docs/reference/file-formats.md; by default the ending of the target
        decides.
    **options
        How to read the files: as of `open_source`.

    Returns
    -------
    Written

    Raises
    ------
    InvalidInput
        If a file cannot be read, or the target's format cannot hold its content.
    """
    written = formats.names(lambda one: one.write)
    name = to or format_by_name(target)
    if name not in written:
        reject("to", to or os.fspath(target), f"one of {', '.join(written)}, or a target with the ending of one")
    made = formats.ALL[name]
    assert made.write is not None
    with (
        seekable(paths) as files,
        _open(files, options, made) as source,
        open_output(target, binary=bool(made.magic)) as output,
    ):
        if made.kind != "features" and formats.ALL[source.reading.format].kind != "features":
            records = Records(source, typed=made.typed)
            made.write(output, records)
            return Written(output.rows, records.skipped, source.problems.notes)
        made.write(output, FeatureRows(source))
    return Written(output.rows, source.problems.skipped, (*output.notes, *source.problems.notes))


@contextlib.contextmanager
def seekable(paths: FilePath | Sequence[FilePath]) -> Iterator[list[FilePath]]:
    """Return the paths; standard input and pipes are copied to temporary files."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not any(map(can_be_read_once, given)):
        yield given
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = [Path(folder) / f"pipe-{k}" if can_be_read_once(path) else path for k, path in enumerate(given)]
        for path, file in zip(given, kept, strict=True):
            if file is not path:
                with open_raw(path) as stream, open(file, "wb") as copy:
                    shutil.copyfileobj(stream, copy)
        yield kept


def _open(paths: Sequence[FilePath], options: dict[str, Any], made: Format) -> FileSource:
    """Open files to convert: with names where they have names, and with plain counts."""
    source = open_source(paths, **{"labels": "optional"} | options)
    for name in source.opening.changed():
        if name in UNUSED or (name in WORD_OPTIONS and made.kind != "features"):
            words = formats.listed(formats.names(lambda one: one.kind == "features" and one.write), "and")
            raise InvalidInput(
                f"{name} would change nothing: tables and texts keep their columns, and only {words}, whose features "
                "are words with their counts, need words. Leave it out."
            )
    numbered = formats.ALL[source.reading.format].numbered
    plain: dict[str, Any] = {
        "bits": MOST_BITS if numbered else 24,
        "dictionary": not numbered,
        "counts": "count",
    }
    reading = replace(source.reading, features=replace(source.reading.features, **plain), normalise=False)
    parsers = [make_parser(reading, source.opening, parser.layout) for parser in source.parsers]
    return FileSource(source.inputs, parsers, source.opening, source.problems.notes)
