"""Open data files of any format as a source of chunks."""

from __future__ import annotations

import glob
import hashlib
import importlib.metadata
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from os import PathLike, fspath
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.table import Table
from rosenblatt.engine.inspection import inspect_csr, inspect_dense
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.files import arrow, delimited, jsonl, tables
from rosenblatt.files.arguments import reject
from rosenblatt.files.blocks import Block, BlockReader, in_order
from rosenblatt.files.cache import FAULTS, Cache
from rosenblatt.files.chunks import Chunk, Position, Problems, Progress, from_row, recut
from rosenblatt.files.entries import mark_columns
from rosenblatt.files.features import Dictionary, check_names
from rosenblatt.files.options import (
    DELIMITED,
    FORMATS,
    PURPOSES,
    TYPED,
    FeatureOptions,
    Layout,
    Reading,
    check_chunking,
    check_options,
)
from rosenblatt.files.parsing import EXAMPLES, Parsed, Parser, is_utf8
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
from rosenblatt.files.source import (
    STANDARD_INPUT,
    FilePath,
    StandardInput,
    can_be_read_once,
    open_raw,
    open_unpacked,
    unpacked_start,
)
from rosenblatt.files.tables import Look

Array = npt.NDArray[Any]

CHUNK_BYTES = 1 << 22
CACHE_BYTES = 64 << 30
TRAINING = -1  # in place of the number of a file
# Module and class of each format's parser, and of what decides how such a file is to be read.
PARSERS = {
    "svmlight": ("svmlight", "SvmlightParser"),
    "vw": ("vw", "VwParser"),
    "csv": ("delimited", "DelimitedParser"),
    "tsv": ("delimited", "DelimitedParser"),
    "jsonl": ("jsonl", "JsonParser"),
    "text": ("text", "TextParser"),
    "parquet": ("arrow", "ArrowParser"),
    "arrow": ("arrow", "ArrowParser"),
}


@dataclass(frozen=True)
class Opening:
    """How to open files; the content decides what is not said.

    Attributes
    ----------
    format : str, optional
        "svmlight", "vw", "csv", "tsv", "jsonl", "text", "parquet" or "arrow"; by default what name and content say.
    label : str or int, optional
        Name or position of the column of a table that has the labels; by default one that is called label, y, class or
        target, else the last.
    labels : {"required", "optional", "none"}
        "optional": labels may be missing; "none": there are none.
    label_type : {"auto", "number", "text"}
        "auto": numbers if all labels at the start of the file are.
    header : bool or "auto"
        Whether the first line of a table has names.
    columns : mapping from name or position to kind
        "number", "category", "text", "skip" or "weight", where the content of a column does not say it.
    zero_based : bool or "auto"
        Of svmlight: whether the first column has index 0; "auto": if index 0 is at the start of the file.
    features : FeatureOptions
    on_error : {"raise", "skip"}
        What to do with a line that cannot be used.
    reading : Reading, optional
        How other files were read: everything above but `labels` and `on_error` is taken from it.
    names : sequence of str, optional
        The dictionary of other files; names that are not in it are left out.
    scaling : Scaling, optional
        Means and deviations of other files.
    utf8 : bool, optional
        Whether the text of other files was UTF-8; files in which it is otherwise are refused. None: it is not known.
    chunk_bytes, chunk_rows : int
        Size of chunks in bytes of text, or exactly in rows. The rows do not depend on it.
    threads : int
        That parse, ahead of the consumer.
    cache : path-like, optional
        Where to keep the rows for further passes.
    cache_bytes : int
        The most that the cache may take.
    """

    format: str | None = None
    label: str | int | None = None
    labels: str = "required"
    label_type: str = "auto"
    header: bool | str = "auto"
    columns: Mapping[str | int, str] = field(default_factory=dict)
    zero_based: bool | str = "auto"
    features: FeatureOptions = field(default_factory=FeatureOptions)
    on_error: str = "raise"
    reading: Reading | None = None
    names: Sequence[str] | None = None
    scaling: Any = None
    utf8: bool | None = None
    chunk_bytes: int = CHUNK_BYTES
    chunk_rows: int | None = None
    threads: int = 2
    cache: FilePath | None = None
    cache_bytes: int = CACHE_BYTES

    def __post_init__(self) -> None:
        check_chunking(self.chunk_bytes, self.chunk_rows, self.threads)
        choices = {
            "format": (None, *FORMATS),
            "labels": ("required", "optional", "none"),
            "on_error": ("raise", "skip"),
            "label_type": ("auto", "number", "text"),
            "header": ("auto", True, False),
            "zero_based": ("auto", True, False),
            "utf8": (None, True, False),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                reject(name, getattr(self, name), " or ".join(map(repr, allowed)))
        if not isinstance(self.features, FeatureOptions):
            reject("features", self.features, "FeatureOptions(...)")

    def given(self) -> dict[str, Any]:
        """Return the options of reading that are not as they are by default."""
        found: dict[str, Any] = {}
        for options in (self, self.features):
            plain = type(options)()
            own = (one.name for one in fields(options) if one.name in PURPOSES)
            found |= {name: getattr(options, name) for name in own if getattr(options, name) != getattr(plain, name)}
        return found


def open_source(paths: FilePath | Sequence[FilePath], **options: Any) -> FileSource:
    """Open data files as a source of chunks (docs/reference/file-formats.md).

    Parameters
    ----------
    paths : path-like, or sequence of them
        Patterns with * and ? stand for the files that they fit, in order; "-" is standard input.
    **options
        As in `Opening`.

    Returns
    -------
    FileSource

    Raises
    ------
    InvalidInput
        If a file cannot be opened or recognised, or an option cannot be used.
    """
    opening = Opening(**options)
    inputs = Inputs(paths)
    reading, layouts, notes = decide(inputs, opening)
    parsers = [make_parser(reading, opening, layout) for layout in layouts]
    if opening.reading is None:
        check_options(opening.given(), parsers[0].options, inputs.paths[0], parsers[0].what)
    source = FileSource(inputs, parsers, opening, notes)
    if opening.cache is not None:
        if os.path.realpath(opening.cache) in map(os.path.realpath, inputs.paths):
            raise InvalidInput(f"cache={str(opening.cache)!r} is one of the files that are read. Name another file.")
        source.use_cache(Cache(opening.cache, opening.cache_bytes, source.digest(), source.n_features))
    return source


# ------------------------------------------------------------------------------------------------------------ inputs


class Inputs:
    """The files of a source.

    Attributes
    ----------
    paths : list of path-like
    standard_input : StandardInput, or None
        What "-" among the paths stands for.
    """

    def __init__(self, paths: FilePath | Sequence[FilePath]) -> None:
        given = [paths] if isinstance(paths, str | PathLike) else list(paths)
        self.paths = [path for one in given for path in _expanded(one)]
        if not self.paths:
            raise InvalidInput("There is no file to read. Pass at least one path.")
        pipes = [path for path in self.paths if can_be_read_once(path)]
        if len(pipes) > 1:
            raise InvalidInput(
                f"{pipes[0]} and {pipes[1]} are standard input or pipes, of which one can be read, once. Pass one of "
                "them, or paths of files."
            )
        self.standard_input = StandardInput(pipes[0]) if pipes else None
        self.paths = [STANDARD_INPUT if path in pipes else path for path in self.paths]

    def sample(self, number: int = 0) -> Sample:
        """Return the start of a file, unpacked: more of it where the lines are long."""
        path, size = self.paths[number], SAMPLE_BYTES
        start = self._start(path, size)
        while len(start) == size < MOST_SAMPLE_BYTES and start.count(b"\n") < FEWEST_LINES:
            size *= 8
            start = self._start(path, size)
        return Sample(start, path)

    def _start(self, path: FilePath, size: int) -> bytes:
        if self.standard_input is not None and path == STANDARD_INPUT:
            return unpacked_start(self.standard_input.start(size), size)
        with open_unpacked(path) as (stream, _):
            return stream.read(size)

    def open(self, path: FilePath) -> Any:
        """Open a file as it is on the disk."""
        if self.standard_input is not None and path == STANDARD_INPUT:
            return self.standard_input.open()
        return open_raw(path)

    def status(self) -> list[tuple[str, int, int]]:
        """Return path, size and time of change of each file."""
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
            raise InvalidInput(f"No file fits the pattern {text}. Pass the path of a file that is there.")
        return found
    return [path]


def make_parser(reading: Reading, opening: Opening, layout: Layout) -> Parser:
    """Return what parses a file of such a layout."""
    module, name = PARSERS[layout.format]
    kind = getattr(import_module(f"rosenblatt.files.{module}"), name)
    parser: Parser = kind(reading, opening.labels, opening.on_error == "skip", layout)
    return parser


def decide(inputs: Inputs, opening: Opening) -> tuple[Reading, list[Layout], list[str]]:
    """Return how files are to be read, the layout of each, and notes: by what users say, and how the files begin."""
    first = inputs.sample()
    if opening.format not in ("parquet", "arrow"):
        check_text(*first)
    name = opening.format or (opening.reading.format if opening.reading else recognise(*first))
    if name in (*DELIMITED, *TYPED):
        return _decide_table(name, inputs, opening)
    for number, path in enumerate(inputs.paths):
        found = other_format(inputs.sample(number), name)
        told = opening.format is not None or (opening.reading is not None and found not in TYPED)
        if found is not None and not told:
            was = f"{inputs.paths[0]} is {name}" if opening.reading is None else f"the model was trained on {name}"
            raise InvalidInput(f"{path} is {found}, and {was}. Pass files of one format, or convert it.")
    reading = opening.reading
    if reading is None:
        module, _ = PARSERS[name]
        reading = import_module(f"rosenblatt.files.{module}").decide(Reading(name, opening.features), first, opening)
    return _normalised(reading, opening), [Layout(name)] * len(inputs.paths), []


def _decide_table(name: str, inputs: Inputs, opening: Opening) -> tuple[Reading, list[Layout], list[str]]:
    """Return the same for tables: each file is looked at by itself, and its columns are found by their names."""
    known: Collection[str] = [which for which in (opening.label, *opening.columns) if isinstance(which, str)]
    if opening.reading is not None:
        known = [column.name for column in opening.reading.columns] if opening.reading.named else ()
    looks: list[Look] = []
    for number in range(len(inputs.paths)):
        sample = inputs.sample(number)
        like = looks[0].layout if looks else opening.reading.layout if opening.reading else None
        if like is not None and not sample.content.strip():  # no rows, and nothing that could not fit
            looks.append(Look(sample.path, like._replace(format="csv", offset=0, line=0), [], []))
            continue
        check_text(*sample)
        looks.append(_look(sample, name, opening, known))
        if number == 0 and opening.reading is None:
            known = looks[0].layout.names if looks[0].layout.named else ()
    if opening.reading is None:
        reading, notes = tables.decide(Reading(name, opening.features), looks, opening)
    else:
        reading, notes = opening.reading, []
    alike = opening.reading is None
    for look in looks[int(alike) :]:
        notes += tables.check_columns(reading, look, opening.labels, looks[0] if alike else None)
    layouts = [look.layout._replace(closed=alike) for look in looks]
    return (
        _normalised(reading, opening),
        layouts,
        [
            *tables.index_notes(reading, looks),
            *tables.quote_notes(reading, looks),
            *notes,
        ],
    )


def _look(sample: Sample, name: str, opening: Opening, known: Collection[str]) -> Look:
    """Return what the start of a table shows; `name` is the format of the first file, or of a model's."""
    name = opening.format or table_format(sample, name)
    if name == "jsonl":
        return jsonl.look(sample)
    if name in TYPED:
        return arrow.look(sample, name)
    header = opening.header
    if opening.reading is not None:
        header = "auto" if opening.reading.named else False
    return delimited.look(sample, name, header, known)


def _normalised(reading: Reading, opening: Opening) -> Reading:
    normalise = opening.features.normalise
    return reading if normalise is None or opening.reading else replace(reading, normalise=normalise)


# ------------------------------------------------------------------------------------------------------------ source


class FileSource:
    """Rows of files, read anew by each iteration, unless there is a cache.

    Attributes
    ----------
    reading : Reading
        All decisions; files that are read with an equal one give rows that mean the same.
    n_features : int
    utf8 : bool, or None
        Whether the text read so far is UTF-8; None if it is ASCII, or if there are no words in it.
    problems : Problems
        Of the current or the last pass.
    file_rows : list of int, or None
        Rows of each file, by the last pass over all of them.
    """

    def __init__(self, inputs: Inputs, parsers: Sequence[Parser], opening: Opening, notes: Sequence[str] = ()) -> None:
        self.inputs, self.parsers, self.opening = inputs, parsers, opening
        self.reading, self.n_features = parsers[0].reading, parsers[0].n_features
        options = self.reading.features
        self._known = None if opening.names is None else check_names(opening.names, options)
        self._dictionary = Dictionary(options.n_columns, self._known) if options.dictionary else None
        self.scaling, self.utf8 = opening.scaling, opening.utf8
        self._used = np.zeros(self.n_features, np.uint8)
        self._used_before = 0  # columns that the pass used whose rows are in the cache
        self._reader: BlockReader | None = None
        self._finished = 0  # bytes of the files of the current pass that were read to their end
        self._rows = 0
        self._none = self.problems = Problems(notes=tuple(notes))
        self.file_rows: list[int] | None = None
        self.cache: Cache | None = None
        # All rows, where one chunk holds them: the files as they were, the chunk, and what was wrong with it.
        self._whole: tuple[Any, Chunk, Problems] | None = None

    # -------------------------------------------------------------------------------------------------- what is known

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, where they are known; those of a dictionary so far."""
        return self.parsers[0].names if self._dictionary is None else self._dictionary.names()

    @property
    def stateful(self) -> bool:
        """Whether rows depend on those before them."""
        learned = self._dictionary is not None and self._known is None
        return learned or (self.reading.features.standardise and self.opening.scaling is None)

    @property
    def cached(self) -> bool:
        """Whether a whole cache is there."""
        return self.cache is not None and self.cache.whole

    @property
    def again(self) -> bool:
        """Whether a further pass is possible."""
        return self.cached or self.inputs.standard_input is None

    def digest(self) -> str:
        """Return the identity of the input: files, sizes, times of change, and how and by what they are read."""
        content: list[Any] = [self.inputs.status(), self.reading.to_json(), self.opening.labels, self.opening.on_error]
        content += [
            importlib.metadata.version("rosenblatt"),
            [parser.layout for parser in self.parsers],
            self._known,
            self.opening.chunk_bytes,
            None if self.opening.scaling is None else repr(self.opening.scaling),
        ]
        return hashlib.sha256(json.dumps(content).encode("utf-8", "backslashreplace")).hexdigest()

    def rows_by_file(self) -> dict[str, int]:
        """Return the rows of each file, by its path; none before the first pass over all of them is over."""
        found: dict[str, int] = {}
        for path, rows in zip(self.inputs.paths, self.file_rows or (), strict=False):
            found[str(path)] = found.get(str(path), 0) + rows
        return found

    def columns_used(self) -> int:
        """Return how many columns had an entry so far."""
        return max(int(np.count_nonzero(self._used)), self._used_before)

    def progress(self) -> Progress:
        """Return how far the current pass has come."""
        sizes = [size for _, size, _ in self.inputs.status()]
        total = None if -1 in sizes else sum(sizes)
        if self.cached and self._reader is None:
            assert self.cache is not None
            return Progress(self._rows, self.cache.bytes_read, self.cache.size)
        reader = self._reader
        return Progress(self._rows, self._finished + reader.bytes_read() if reader else 0, total)

    # ---------------------------------------------------------------------------------------------------------- chunks

    def __iter__(self) -> Iterator[Chunk]:
        return self.read()

    def read(self, position: Position | None = None) -> Iterator[Chunk]:
        """Yield the chunks from a position on; by default all."""
        start = Position() if position is None else Position(*position)
        chunks = self._tallied(self._start(start), start.row == 0)
        if self.opening.chunk_rows is not None:
            chunks = recut(chunks, self.opening.chunk_rows)
        return self._counted(chunks, start.row)

    def _start(self, start: Position) -> Iterator[Chunk]:
        self._reader = None
        if self.cached:
            assert self.cache is not None
            return self.cache.chunks(start.row)
        if start.row and self.inputs.standard_input is not None:
            raise InvalidInput("Reading cannot go on in the middle of standard input. Pass the path of a file.")
        if start.row == 0:
            chunks = self._parsed(start)
            return chunks if self.cache is None else self._written(chunks, self.cache)
        again = self.stateful or start.file < 0
        return from_row(self._parsed(Position()), start.row) if again else self._parsed(start)

    def _written(self, chunks: Iterator[Chunk], cache: Cache) -> Iterator[Chunk]:
        yield from cache.write(chunks, self._found)
        if cache.given_up:
            self._note(cache.given_up)

    def _tallied(self, chunks: Iterator[Chunk], whole: bool) -> Iterator[Chunk]:
        """Yield chunks, and count the rows of each file, in a pass over all of them."""
        counts = [0] * len(self.inputs.paths)
        for chunk in chunks:
            assert chunk.after is not None
            counts[chunk.after.file - (chunk.after.offset == 0)] += chunk.label.size  # a place may be before a file
            yield chunk
        if whole:
            self.file_rows = counts

    def _counted(self, chunks: Iterator[Chunk], before: int) -> Iterator[Chunk]:
        self._rows = before
        for chunk in chunks:
            self._rows += chunk.label.size
            yield chunk

    def _note(self, note: str) -> None:
        self.problems = self.problems._replace(notes=(*self.problems.notes, note))

    def use_cache(self, cache: Cache) -> None:
        """Keep rows in a cache; if it has them, take over what the pass that wrote it found besides."""
        self.cache = cache
        if not cache.whole:
            return
        try:
            if self.inputs.standard_input is not None:
                raise ValueError("left by a process that was killed, of other rows")
            self._take_over(**cache.found)
        except (InvalidInput, *FAULTS):
            cache.remove()

    def _found(self) -> dict[str, Any]:
        """Return what a pass over all rows found besides them, which a model and its report need."""
        skipped, examples, missing, notes = self.problems
        return {
            "problems": [skipped, examples, missing, notes[len(self._none.notes) :]],
            "names": None if self._dictionary is None else self._dictionary.names(),
            "scaling": self.scaling,
            "used": self.columns_used(),
            "utf8": self.utf8,
        }

    def _take_over(self, problems: Any, names: Any, scaling: Any, used: Any, utf8: Any) -> None:
        """Take over what `_found` returned in another process; raise an error for anything else."""
        options = self.reading.features
        skipped, examples, missing, notes = problems
        texts = tuple(map(str, examples)), (*self._none.notes, *map(str, notes))
        found = Problems(int(skipped), texts[0], int(missing), texts[1])
        dictionary = Dictionary(options.n_columns, check_names(names, options)) if options.dictionary else None
        if options.standardise:
            scaling = tables.Scaling(*(tuple(map(float, part)) for part in scaling))
            self.parsers[0].scaler(scaling)
        self._used_before, self.utf8 = int(used), None if utf8 is None else bool(utf8)
        self.problems, self._dictionary, self.scaling = found, dictionary, scaling

    def build_cache(self) -> None:
        """Read all rows once, to write them into the cache."""
        if self.cache is None:
            raise InvalidInput("This source has no cache. Open it with cache=PATH.")
        if not self.cached:
            for _ in self.read():
                pass

    @property
    def chunk_count(self) -> int:
        """Number of chunks in the cache."""
        return self._whole_cache().count

    def chunk(self, number: int) -> Chunk:
        """Return a chunk from the cache."""
        return self._whole_cache().chunk(number)

    def _whole_cache(self) -> Cache:
        if not self.cached:
            raise InvalidInput("There is no whole cache. Open the source with cache=PATH, and call build_cache().")
        assert self.cache is not None
        return self.cache

    def close(self) -> None:
        """Close standard input, and forget a cache of it."""
        if self.inputs.standard_input is not None:
            self.inputs.standard_input.close()
            if self.cache is not None:
                self.cache.remove()

    def __enter__(self) -> FileSource:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --------------------------------------------------------------------------------------------------------- parsing

    def _parsed(self, start: Position) -> Iterator[Chunk]:
        """Yield what the files say from a position on, in chunks as they are parsed; those of one chunk only once."""
        status = self.inputs.status()
        if self._whole is not None and start.row == 0 and self._whole[0] == status:
            _, chunk, self.problems = self._whole
            yield chunk
            return
        only = None
        for number, chunk in enumerate(self._parse(start)):
            only = chunk if number == 0 else None
            yield chunk
        if only is not None and start == Position() and self.inputs.standard_input is None:
            self._whole = status, only, self.problems

    def _parse(self, start: Position) -> Iterator[Chunk]:
        self.problems = self._none
        if self._known is None and self._dictionary is not None:
            self._dictionary = Dictionary(self.reading.features.n_columns)
        scaler = self.parsers[0].scaler(self.opening.scaling) if self.reading.features.standardise else None
        row, file, line = start.row, start.file if start.offset else -1, start.line
        typed = [number for number, parser in enumerate(self.parsers) if parser.layout.format in TYPED]
        encodings = {} if self.opening.utf8 is None else {self.opening.utf8: TRAINING}
        if typed:
            encodings.setdefault(True, typed[0])
        for block, parsed, largest, utf8 in in_order(self._blocks(start), self._work, self.opening.threads):
            if utf8 is not None:
                self._check_encoding(encodings, utf8, block.file)
            if block.file != file:
                file, line = block.file, self.parsers[block.file].layout.line
            self._report(parsed, block.file, line)
            if parsed.pieces is not None or scaler is not None:
                parsed, largest = self._finish(parsed, scaler)
                self.scaling = scaler.scaling() if scaler is not None else self.scaling
            row, line = row + parsed.label.size, line + parsed.lines
            after = Position(row, file + 1) if block.last else Position(row, file, block.end, line)
            if parsed.label.size:
                yield self._chunk(parsed, largest, after, file, line - parsed.lines)
        self._reader = None
        if self._dictionary is not None and self._dictionary.left_out:
            full = f"The dictionary is full: {self._dictionary.left_out} entries of further names were left out."
            self._note(f"{full} Pass more bits, or hash the names.")

    def _blocks(self, start: Position) -> Iterator[Block]:
        """Yield the blocks of one file after another, from a position on."""
        self._finished = 0
        for number in range(start.file, len(self.parsers)):
            parser, offset = self.parsers[number], start.offset if number == start.file else 0
            reader = parser.reader(self.inputs, self.inputs.paths[number], self.opening.chunk_bytes)
            self._reader = reader
            for block in reader.blocks(0, max(offset, parser.layout.offset)):
                yield block._replace(file=number)
            self._finished += reader.bytes_read()

    def _work(self, block: Block) -> tuple[Block, Parsed, tuple[float, int], bool | None]:
        parsed = self.parsers[block.file].parse(block.text)
        largest = (0.0, -1) if parsed.pieces is not None else self._inspect(parsed)
        utf8 = is_utf8(block.text) if self._has_words and self.parsers[block.file].layout.format not in TYPED else None
        return block._replace(text=None), parsed, largest, utf8

    @property
    def _has_words(self) -> bool:
        """Whether anything but numbers becomes a feature or a label."""
        numbers = self.reading.numeric or self.reading.format == "svmlight"
        return not numbers or self.reading.label_type == "text"

    def find_encoding(self) -> None:
        """Read all files again to find `utf8`: a training that was resumed may have read the last rows only."""
        if self.utf8 is None and self._has_words and self.again:
            blocks = (one for one in self._blocks(Position()) if self.parsers[one.file].layout.format not in TYPED)
            found = {is_utf8(block.text) for block in blocks} - {None}
            self.utf8 = False not in found if found else None

    def starts_in_utf8(self) -> bool:
        """Return whether the text is UTF-8, by the first file whose start is not ASCII; True if there is none."""
        if self._has_words and self.opening.utf8 is None:
            for number, parser in enumerate(self.parsers):
                if parser.layout.format not in TYPED:
                    start = self.inputs.sample(number).content
                    whole = start[: start.rfind(b"\n") + 1]  # a letter may be cut off
                    if (found := is_utf8(np.frombuffer(whole, np.uint8))) is not None:
                        return found
        return self.opening.utf8 is not False

    def _check_encoding(self, found: dict[bool, int], utf8: bool, file: int) -> None:
        """Note that a file is not UTF-8; raise an error if others are, as the same words would be others in it."""
        first, paths = found.setdefault(utf8, file), self.inputs.paths
        self.utf8 = False not in found
        if len(found) == 2 and found[False] == TRAINING:
            raise InvalidInput(
                f"{paths[file]} is UTF-8, and the text of the training is not: the same words would be others. Convert "
                f"it, for example by iconv -f UTF-8 -t LATIN1 {paths[file]}; or train on UTF-8."
            )
        path = paths[found.get(False, file)]
        remedy = f"Convert it, for example by iconv -f LATIN1 -t UTF-8 {path}."
        if len(found) == 2 and found[False] != found[True]:
            other = "the text of the training" if found[True] == TRAINING else paths[found[True]]
            raise InvalidInput(f"{path} is not UTF-8, and {other} is. {remedy}")
        if not utf8 and first in (file, TRAINING):
            note = f"{path} is not UTF-8: its letters beyond ASCII are taken byte by byte. {remedy}"
            if note not in self.problems.notes:
                self._note(note)

    def _inspect(self, parsed: Parsed) -> tuple[float, int]:
        """Return the largest squared length of a row, and the first row that is not finite or -1."""
        if parsed.dense is not None:
            largest, infinite = inspect_dense(parsed.dense)
            return largest, infinite
        entries = parsed.entries
        assert entries is not None
        mark_columns(entries.column, self._used)
        largest, outside, infinite, disorder = inspect_csr(
            entries.value, entries.column, entries.indptr, self.n_features, -1.0
        )
        assert (outside, disorder) == (-1, -1), "a parser made rows out of order"
        return largest, infinite

    def _finish(self, parsed: Parsed, scaler: Any) -> tuple[Parsed, tuple[float, int]]:
        """Do what depends on the rows before: names from the dictionary, scaling."""
        parser = self.parsers[0]
        if scaler is not None and parsed.dense is not None:
            parsed = parsed._replace(dense=scaler.scaled(parsed.dense))
        if parsed.pieces is not None:
            numbers = [] if parsed.dense is None else parser.number_pieces(parsed.dense)
            pieces = [*numbers, *parsed.pieces]
            known = self._dictionary
            assembler = parser.assembler
            pieces = assembler.hashed(pieces) if known is None else assembler.named(pieces, known)
            parsed = parsed._replace(entries=assembler.rows(pieces), pieces=None, dense=None)
        return parsed, self._inspect(parsed)

    def _report(self, parsed: Parsed, file: int, line: int) -> None:
        """Raise an error for a fault, or count what is skipped."""
        path, faults = self.inputs.paths[file], parsed.faults
        if not faults.count and not parsed.missing:
            return
        texts = [f"{path}, line {line + fault.line + 1}: {fault.found}{fault.reason}" for fault in faults.examples]
        if faults.stop:
            raise InvalidInput(texts[0])
        skipped, examples, missing, notes = self.problems
        examples = (*examples, *texts)[:EXAMPLES]
        self.problems = Problems(skipped + faults.count, examples, missing + parsed.missing, notes)

    def _chunk(self, parsed: Parsed, largest: tuple[float, int], after: Position, file: int, line: int) -> Chunk:
        norm, infinite = largest
        if infinite >= 0:
            where = f"{self.inputs.paths[file]}, line {line + parsed.line[infinite] + 1}"
            raise InvalidInput(f"{where}: the values are so large that their squares overflow. Scale them.")
        if parsed.dense is not None:
            rows: Dense | Csr = Dense(parsed.dense)
        else:
            assert parsed.entries is not None
            rows = Csr(parsed.entries.value, parsed.entries.column, parsed.entries.indptr)
        shape = (parsed.label.size, self.n_features)
        return Chunk(Table(rows, shape, np.dtype(np.float64), norm), parsed.label, parsed.weight, after)
