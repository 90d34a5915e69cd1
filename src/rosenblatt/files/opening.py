"""Open data files of any format as a source of chunks."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats, tables
from rosenblatt.files.cache import RowCache
from rosenblatt.files.options import FileLayout, Opening, Reading, check_options, reject
from rosenblatt.files.parsing import Parser
from rosenblatt.files.sniffing import (
    FEWEST_LINES,
    MOST_SAMPLE_BYTES,
    SAMPLE_BYTES,
    Sample,
    check_text,
    other_format,
    recognise,
    table_format,
)
from rosenblatt.files.source import FileSource
from rosenblatt.files.streams import (
    STANDARD_INPUT,
    FilePath,
    StandardInput,
    can_be_read_once,
    open_raw,
    open_unpacked,
    unpacked_start,
)
from rosenblatt.files.tables import Preview


def open_source(paths: FilePath | Sequence[FilePath], **options: Any) -> FileSource:
    """Open data files as a source of chunks (docs/reference/file-formats.md).

    Parameters
    ----------
    paths : path-like, or sequence of them
        Patterns with * and ? stand for the files that match, in order; "-" is standard input.
    **options
        As in `Opening`.

    Returns
    -------
    FileSource

    Raises
    ------
    InvalidInput
        If a file cannot be opened or recognised, or an option is invalid.
    """
    opening = Opening(**options)
    inputs = Inputs(paths)
    reading, layouts, notes = decide(inputs, opening)
    parsers = [make_parser(reading, opening, layout) for layout in layouts]
    if opening.reading is None:
        check_options(opening.changed(), parsers[0].options, inputs.paths[0], parsers[0].what)
    source = FileSource(inputs, parsers, opening, notes)
    if opening.cache is not None:
        if os.path.realpath(opening.cache) in map(os.path.realpath, inputs.paths):
            raise InvalidInput(f"cache={str(opening.cache)!r} is one of the files that are read. Name another file.")
        source.use_cache(RowCache(opening.cache, opening.cache_bytes, source.digest(), source.n_features))
    return source


class Inputs:
    """The files of a source. `standard_input` is read for "-" among the paths, or for a pipe."""

    def __init__(self, paths: FilePath | Sequence[FilePath]) -> None:
        given = [paths] if isinstance(paths, str | PathLike) else list(paths)
        self.paths = [path for one in given for path in _expanded(one)]
        if not self.paths:
            raise InvalidInput("There is no file to read. Pass at least one path.")
        pipes = [path for path in self.paths if can_be_read_once(path)]
        if len(pipes) > 1:
            raise InvalidInput(
                f"{pipes[0]} and {pipes[1]} are standard input or pipes; only one of them can be read. Pass one of "
                "them, or paths of files."
            )
        self.standard_input = StandardInput(pipes[0]) if pipes else None
        self.paths = [STANDARD_INPUT if path in pipes else path for path in self.paths]

    def sample(self, number: int = 0) -> Sample:
        """Return the start of a file, unpacked; more of it if the lines are long."""
        path, size = self.paths[number], SAMPLE_BYTES
        start = self.start(path, size)
        while len(start) == size < MOST_SAMPLE_BYTES and start.count(b"\n") < FEWEST_LINES:
            size *= 8
            start = self.start(path, size)
        return Sample(start, path)

    def start(self, path: FilePath, size: int) -> bytes:
        """Return the first bytes of a file, unpacked."""
        if self.standard_input is not None and path == STANDARD_INPUT:
            return unpacked_start(self.standard_input.start(size), size)
        with open_unpacked(path) as (stream, _):
            return stream.read(size)

    def open(self, path: FilePath) -> Any:
        """Open a file without unpacking it."""
        if self.standard_input is not None and path == STANDARD_INPUT:
            return self.standard_input.open()
        return open_raw(path)

    def status(self) -> list[tuple[str, int, int]]:
        """Return path, size and modification time of each file."""
        found = []
        for path in self.paths:
            if path == STANDARD_INPUT:
                found.append((STANDARD_INPUT, -1, -1))
                continue
            try:
                status = os.stat(path)
            except OSError as error:
                raise InvalidInput(f"{path} cannot be opened ({error}). Pass a file that can be read.") from None
            found.append((os.path.abspath(path), status.st_size, status.st_mtime_ns))
        return found


def _expanded(path: FilePath) -> list[FilePath]:
    try:
        text = fspath(path)
    except TypeError:
        reject("paths", path, "a path, or a list of paths")
    if not isinstance(text, str):
        reject("paths", path, "a path, or a list of paths")
    if glob.has_magic(text) and not os.path.exists(text):
        found: list[FilePath] = [*sorted(glob.glob(text, recursive=True))]
        if not found:
            raise InvalidInput(f"No file matches the pattern {text}. Pass the path of a file that exists.")
        return found
    return [path]


def make_parser(reading: Reading, opening: Opening, layout: FileLayout) -> Parser:
    """Return the parser of a file with this layout."""
    parser = formats.ALL[layout.format].parser(reading, opening.labels, opening.on_error == "skip", layout)
    parser.tags = opening.tags
    if opening.id is not None:
        parser.return_ids(opening.id)
    return parser


def decide(inputs: Inputs, opening: Opening) -> tuple[Reading, list[FileLayout], list[str]]:
    """Return how to read files, the layout of each, and notes: from the options, and from the start of the files."""
    first = inputs.sample()
    if opening.format is None or not formats.ALL[opening.format].magic:
        check_text(*first)
    name = opening.format or (opening.reading.format if opening.reading else recognise(*first))
    if formats.ALL[name].kind == "table":
        return _decide_table(name, inputs, opening)
    for number, path in enumerate(inputs.paths):
        found = None if opening.format else other_format(inputs.sample(number), name)
        if found is not None and (opening.reading is None or formats.ALL[found].typed):
            was = f"{inputs.paths[0]} is {name}" if opening.reading is None else f"the model was trained on {name}"
            raise InvalidInput(f"{path} is {found}, and {was}. Pass files of one format, or convert it.")
    reading, notes = opening.reading, []
    if reading is None:
        own = formats.ALL[name]
        assert own.decide is not None
        reading = own.decide(Reading(name, opening.features), first, opening)
        notes = own.notes(reading, (inputs.sample(k) for k in range(len(inputs.paths)))) if own.notes else []
    return completed(reading, opening), [FileLayout(name)] * len(inputs.paths), notes


def _decide_table(name: str, inputs: Inputs, opening: Opening) -> tuple[Reading, list[FileLayout], list[str]]:
    """Return the same for tables: each file has its own layout, and columns are matched by name."""
    known: Collection[str] = [which for which in (opening.label, *opening.columns) if isinstance(which, str)]
    if opening.reading is not None:
        known = [column.name for column in opening.reading.columns] if opening.reading.named else ()
    previews: list[Preview] = []
    for number in range(len(inputs.paths)):
        sample = inputs.sample(number)
        like = previews[0].layout if previews else opening.reading.layout if opening.reading else None
        if like is not None and not sample.content.strip():  # a file without rows fits any table
            previews.append(Preview(sample.path, like._replace(format="csv", offset=0, line=0), [], []))
            continue
        check_text(*sample)
        previews.append(_preview(sample, name, opening, known))
        if number == 0 and opening.reading is None:
            known = previews[0].layout.names if previews[0].layout.named else ()
    if opening.reading is None:
        reading, notes = tables.decide(Reading(name, opening.features), previews, opening)
    else:
        reading, notes = opening.reading, []
    alike = opening.reading is None
    for preview in previews[int(alike) :]:
        notes += tables.check_columns(reading, preview, opening.labels, previews[0] if alike else None, opening.id)
    layouts = [preview.layout._replace(closed=alike) for preview in previews]
    own = ((formats.ALL[preview.layout.format].notes, preview) for preview in previews)
    of_format = next((found for note, preview in own if note and (found := note(reading, preview))), [])
    return completed(reading, opening), layouts, [*tables.index_notes(reading, previews), *of_format, *notes]


def _preview(sample: Sample, name: str, opening: Opening, known: Collection[str]) -> Preview:
    """Return the columns and first rows of a table; `name` is the format of the first file, or of a model's."""
    name = opening.format or table_format(sample, name)
    header = opening.header
    if opening.reading is not None:
        header = "auto" if opening.reading.named else False
    preview = formats.ALL[name].preview
    assert preview is not None
    return preview(sample, name, header, known)


def completed(reading: Reading, opening: Opening) -> Reading:
    """Return the reading with the options that content alone does not decide."""
    if opening.reading is not None:
        return reading
    features, own = opening.features, formats.ALL[reading.format]
    normalise = reading.normalise if features.normalise is None else features.normalise
    numbers = not own.ragged and "number" in {column.kind for column in reading.columns}
    standardise = opening.learns and numbers if features.standardise is None else features.standardise
    return replace(reading, normalise=normalise, features=replace(reading.features, standardise=standardise))
