"""The rows of data files, in chunks that fit into memory."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from io import BufferedReader, BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.table import Table
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.cache import FAULTS, RowCache
from rosenblatt.files.chunks import Chunk, Position, ReadProblems, ReadProgress, from_row, inspected, recut
from rosenblatt.files.entries import mark_columns
from rosenblatt.files.features import Dictionary, check_names
from rosenblatt.files.names import BLOCK_BYTES, NO_NAMES, KeptNames, NamedRows, first_names, is_hashed, with_names
from rosenblatt.files.options import Opening
from rosenblatt.files.parsing import EXAMPLES, Parsed, Parser, is_utf8
from rosenblatt.files.streams import STANDARD_INPUT, BlockReader, FileBlock, in_order
from rosenblatt.files.tables import Moments, Scaling

if TYPE_CHECKING:
    from rosenblatt.files.opening import Inputs

STANDARD_INPUT_BYTES = 1 << 22  # from which names are kept
TRAINING = -1  # the number of the file, for the files that a model was trained on


class FileSource:
    """Rows of files. Each iteration reads the files again, unless there is a cache.

    Attributes
    ----------
    reading : Reading
        How the files are read; files with an equal reading give rows that mean the same.
    n_features : int
    utf8 : bool, or None
        Whether the text read so far is UTF-8; None if it is ASCII, or if it has no words.
    problems : ReadProblems
        Of the current or the last pass.
    moments : Moments, or None
        Of the columns of numbers so far, if they are standardised by the rows so far.
    file_rows : list of int, or None
        Rows of each file, by the last pass over all of them.
    """

    def __init__(self, inputs: Inputs, parsers: Sequence[Parser], opening: Opening, notes: Sequence[str] = ()) -> None:
        self.inputs, self.parsers, self.opening = inputs, parsers, opening
        self.reading, self.n_features = parsers[0].reading, parsers[0].n_features
        self.typed = [formats.ALL[parser.layout.format].typed for parser in parsers]
        options = self.reading.features
        self.known_names = None if opening.names is None else check_names(opening.names, options)
        self.dictionary = self.first_dictionary()
        self.moments: Moments | None = opening.scaling if opening.goes_on else None
        self.utf8 = opening.utf8
        self.used = np.zeros(self.n_features, np.uint8)  # columns that had an entry
        self._used_before = 0  # columns of the rows in the cache
        self.first_problems = self.problems = ReadProblems(notes=tuple(notes))
        self.file_rows: list[int] | None = None
        self.cache: RowCache | None = None
        self._pass: _Pass | None = None
        self._rows = 0
        # All rows, if one chunk holds them: the files as they were, the chunk, and its problems.
        self._whole: tuple[Any, Chunk, ReadProblems] | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they are known; those of a dictionary so far."""
        return self.parsers[0].names if self.dictionary is None else self.dictionary.names()

    @property
    def scaling(self) -> Scaling | None:
        """Means and deviations of the columns of numbers, if they are standardised."""
        if self.moments is not None:
            return self.moments.scaling()
        scaling: Scaling | None = None if self.opening.goes_on else self.opening.scaling
        return scaling

    @property
    def stateful(self) -> bool:
        """Whether rows depend on those before them."""
        options, opening = self.reading.features, self.opening
        learns_names = options.dictionary and (opening.names is None or opening.goes_on)
        return learns_names or (bool(options.standardise) and (opening.scaling is None or opening.goes_on))

    def first_dictionary(self) -> Dictionary | None:
        """Return the dictionary before the first row; None if names are hashed."""
        options = self.reading.features
        if not options.dictionary:
            return None
        return Dictionary(options.n_columns, self.known_names, frozen=not self.opening.goes_on)

    @property
    def again(self) -> bool:
        """Whether a further pass is possible."""
        return self.cached or self.inputs.standard_input is None

    def digest(self) -> str:
        """Return the identity of the input: files, sizes, modification times, and how they are read."""
        content: list[Any] = [self.inputs.status(), self.reading.to_json(), self.opening.labels, self.opening.on_error]
        content += [
            importlib.metadata.version("rosenblatt"),
            [parser.layout for parser in self.parsers],
            self.known_names,
            self.opening.chunk_bytes,
            None if self.opening.scaling is None else repr(self.opening.scaling),
            self.opening.goes_on,
        ]
        return hashlib.sha256(json.dumps(content).encode("utf-8", "backslashreplace")).hexdigest()

    def rows_by_file(self) -> dict[str, int]:
        """Return the rows of each file, by its path; empty before the first pass over all of them is over."""
        found: dict[str, int] = {}
        for path, rows in zip(self.inputs.paths, self.file_rows or (), strict=False):
            found[str(path)] = found.get(str(path), 0) + rows
        return found

    def columns_used(self) -> int:
        """Return how many columns had an entry so far."""
        return max(int(np.count_nonzero(self.used)), self._used_before)

    def progress(self) -> ReadProgress:
        """Return the progress of the current pass."""
        if self.cache is not None and self.cached and self._pass is None:
            return ReadProgress(self._rows, self.cache.bytes_read, self.cache.size)
        sizes = [size for _, size, _ in self.inputs.status()]
        total = None if -1 in sizes else sum(sizes)
        return ReadProgress(self._rows, self._pass.bytes_read() if self._pass else 0, total)

    def __enter__(self) -> FileSource:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close standard input, and remove a cache of it."""
        if self.inputs.standard_input is not None:
            self.inputs.standard_input.close()
            if self.cache is not None:
                self.cache.remove()

    # ---------------------------------------------------------------------------------------------------------- chunks

    def __iter__(self) -> Iterator[Chunk]:
        return self.read()

    def read(self, position: Position | None = None) -> Iterator[Chunk]:
        """Yield the chunks from a position on; by default all."""
        start = Position() if position is None else Position(*position)
        self._pass = None
        if self.cache is not None and self.cache.whole:
            chunks = self.cache.chunks(start.row)
        elif start.row == 0:
            chunks = self._parsed(start) if self.cache is None else self._written(self._parsed(start), self.cache)
        elif self.inputs.standard_input is not None:
            raise InvalidInput("Reading cannot continue in the middle of standard input. Pass the path of a file.")
        elif self.stateful or start.file < 0:
            chunks = from_row(self._parsed(Position()), start.row)
        else:
            chunks = self._parsed(start)
        chunks = self._by_file(chunks, start.row == 0)
        if self.opening.chunk_rows is not None:
            chunks = recut(chunks, self.opening.chunk_rows)
        return self._counted(chunks, start.row)

    def _by_file(self, chunks: Iterator[Chunk], whole: bool) -> Iterator[Chunk]:
        """Yield chunks, and count the rows of each file in a pass over all of them."""
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

    def _parsed(self, start: Position) -> Iterator[Chunk]:
        """Yield chunks as they are parsed, from a position on. Files that are one chunk are parsed once."""
        status = self.inputs.status()
        if self._whole is not None and start.row == 0 and self._whole[0] == status:
            _, chunk, self.problems = self._whole
            yield chunk
            return
        self._pass = _Pass(self, start)
        only = None
        for number, chunk in enumerate(self._pass.chunks()):
            only = chunk if number == 0 else None
            yield chunk
        self._pass = None
        if only is not None and start == Position() and self.inputs.standard_input is None:
            self._whole = status, only, self.problems

    def note(self, note: str) -> None:
        """Add a note to the problems."""
        self.problems = self.problems._replace(notes=(*self.problems.notes, note))

    # ---------------------------------------------------------------------------------------------------------- names

    def first_names(self, most: int, before: KeptNames = NO_NAMES) -> KeptNames:
        """Return up to `most` names of hashed features from the first rows of the files, and those before.

        The start of standard input is read, and kept for the pass to come.
        """
        if not most or not is_hashed(self.reading):
            return before
        return first_names(self._starts(), most, before)

    def _starts(self) -> Iterator[tuple[Parser, Any]]:
        """Yield blocks from the start of the files; of standard input only its first bytes."""
        for parser, path in zip(self.parsers, self.inputs.paths, strict=True):
            own: Parser = copy(parser)
            own.skip = True  # the pass to come reports faults
            reader: BlockReader = own.reader(self.inputs, path, BLOCK_BYTES)
            if path == STANDARD_INPUT:
                start = self.inputs.start(path, STANDARD_INPUT_BYTES)
                whole = start[: own.record_end(np.frombuffer(start, np.uint8))]
                reader.open_path = _from_memory(whole)
            for block in reader.blocks(own.layout.offset):
                yield own, block.text

    # ------------------------------------------------------------------------------------------------------- encoding

    @property
    def has_words(self) -> bool:
        """Whether anything but numbers becomes a feature or a label."""
        numbers = self.reading.numeric or formats.ALL[self.reading.format].numbered
        return not numbers or self.reading.label_type == "text"

    def find_encoding(self) -> None:
        """Read all files again to find `utf8`: a training that was resumed may have read the last rows only."""
        if self.utf8 is None and self.has_words and self.again:
            blocks = (block for file, block in _Pass(self, Position()).blocks() if not self.typed[file])
            found = {is_utf8(block.text) for block in blocks} - {None}
            self.utf8 = False not in found if found else None

    def starts_in_utf8(self) -> bool:
        """Return whether the text is UTF-8, by the first file whose start is not ASCII; True if all are ASCII."""
        if self.has_words and self.opening.utf8 is None:
            for number, typed in enumerate(self.typed):
                if not typed:
                    start = self.inputs.sample(number).content
                    whole = start[: start.rfind(b"\n") + 1]  # a letter may be cut off
                    if (found := is_utf8(np.frombuffer(whole, np.uint8))) is not None:
                        return found
        return self.opening.utf8 is not False

    # ---------------------------------------------------------------------------------------------------------- cache

    @property
    def cached(self) -> bool:
        """Whether all rows are in a cache."""
        return self.cache is not None and self.cache.whole

    def use_cache(self, cache: RowCache) -> None:
        """Keep rows in a cache; if it has them, restore the findings of the pass that wrote it."""
        self.cache = cache
        if not cache.whole:
            return
        try:
            if self.inputs.standard_input is not None:
                raise ValueError("left by a process that was killed, of other rows")
            self._restore(**cache.found)
        except (InvalidInput, *FAULTS):
            cache.remove()

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

    def _whole_cache(self) -> RowCache:
        if self.cache is None or not self.cache.whole:
            raise InvalidInput(
                "The cache is missing or incomplete. Open the source with cache=PATH, and call build_cache()."
            )
        return self.cache

    def _written(self, chunks: Iterator[Chunk], cache: RowCache) -> Iterator[Chunk]:
        yield from cache.write(chunks, self._findings)
        if cache.given_up:
            self.note(cache.given_up)

    def _findings(self) -> dict[str, Any]:
        """Return the findings of a pass over all rows as plain values; a model and its report need them."""
        skipped, examples, missing, notes = self.problems
        return {
            "problems": [skipped, examples, missing, notes[len(self.first_problems.notes) :]],
            "names": None if self.dictionary is None else self.dictionary.names(),
            "moments": self.moments,
            "used": self.columns_used(),
            "utf8": self.utf8,
        }

    def _restore(self, problems: Any, names: Any, moments: Any, used: Any, utf8: Any) -> None:
        """Restore the `_findings` of another process; raise an error for anything else."""
        options = self.reading.features
        skipped, examples, missing, notes = problems
        texts = tuple(map(str, examples)), (*self.first_problems.notes, *map(str, notes))
        found = ReadProblems(int(skipped), texts[0], int(missing), texts[1])
        dictionary = Dictionary(options.n_columns, check_names(names, options)) if options.dictionary else None
        if moments is not None:
            moments = Moments(*(tuple(map(float, part)) for part in moments))
            self.parsers[0].scaler(moments)
        self._used_before, self.utf8 = int(used), None if utf8 is None else bool(utf8)
        self.problems, self.dictionary, self.moments = found, dictionary, moments


def _from_memory(content: bytes) -> Callable[[Any], Any]:
    """Return a function that opens some bytes, whatever the path."""
    return lambda _: BufferedReader(BytesIO(content))


class _Pass:
    """One reading of the files of a source, from a position on."""

    def __init__(self, source: FileSource, start: Position) -> None:
        self.source, self.start = source, start
        self._reader: Any = None
        self._finished = 0  # bytes of the files that were read to their end
        # The first file of each encoding: UTF-8 or not.
        self._encodings = {} if source.opening.utf8 is None else {source.opening.utf8: TRAINING}
        if True in source.typed:
            self._encodings.setdefault(True, source.typed.index(True))

    def bytes_read(self) -> int:
        """Return how many bytes of the files on disk were read so far."""
        reader = self._reader
        return self._finished + (reader.bytes_read() if reader else 0)

    def blocks(self) -> Iterator[tuple[int, FileBlock]]:
        """Yield the blocks of one file after another, each with the number of its file."""
        source, start = self.source, self.start
        for number in range(start.file, len(source.parsers)):
            parser, offset = source.parsers[number], start.offset if number == start.file else 0
            self._reader = parser.reader(source.inputs, source.inputs.paths[number], source.opening.chunk_bytes)
            for block in self._reader.blocks(max(offset, parser.layout.offset)):
                yield number, block
            self._finished, self._reader = self._finished + self._reader.bytes_read(), None

    def chunks(self) -> Iterator[Chunk]:
        """Yield chunks as they are parsed."""
        source, start = self.source, self.start
        source.problems = source.first_problems
        if source.known_names is None or source.opening.goes_on:
            source.dictionary = source.first_dictionary()
        standardise = source.reading.features.standardise
        scaler = source.parsers[0].scaler(source.opening.scaling) if standardise else None
        self._in_order = scaler is not None or source.dictionary is not None
        row, file, line = start.row, start.file if start.offset else -1, start.line
        for number, block, parsed, made, utf8 in in_order(self.blocks(), self._parse, source.opening.threads):
            if utf8 is not None:
                self._check_encoding(utf8, number)
            if number != file:
                file, line = number, source.parsers[number].layout.line
            self._report(parsed, file, line)
            table, infinite = made or self._table(source.parsers[file].rows(parsed, scaler, source.dictionary))
            if scaler is not None and scaler.given is None:
                source.moments = scaler.moments()
            if infinite >= 0:
                where = f"{source.inputs.paths[file]}, line {line + parsed.line[infinite] + 1}"
                raise InvalidInput(f"{where}: the values are so large that their squares overflow. Scale them.")
            row, line = row + parsed.label.size, line + parsed.lines
            after = Position(row, file + 1) if block.last else Position(row, file, block.end, line)
            if parsed.label.size:
                yield Chunk(table, parsed.label, parsed.weight, after, parsed.id, parsed.named)
        if source.dictionary is not None and source.dictionary.left_out:
            full = f"The dictionary is full: {source.dictionary.left_out} entries of further names were left out."
            source.note(f"{full} Pass more bits, or hash the names.")

    def _parse(self, numbered: tuple[int, FileBlock]) -> tuple[int, FileBlock, Parsed, Any, bool | None]:
        """Return the number of the file, the block without its text, its content, its table, and its encoding.

        There is no table yet if rows depend on those before: these are made in order, by the consumer.
        """
        file, block = numbered
        parser, made = self.source.parsers[file], None
        if self.source.opening.named:
            parsed = with_names(parser).parse(block.text)
            parsed = parsed._replace(named=NamedRows(parser, parsed, self.source.known_names))
        else:
            parsed = parser.parse(block.text)
        if not self._in_order:
            made, parsed = self._table(parser.rows(parsed)), parsed._replace(pieces=[], numbers=None)
        utf8 = is_utf8(block.text) if self.source.has_words and not self.source.typed[file] else None
        return file, block._replace(text=None), parsed, made, utf8

    def _table(self, rows: Dense | Csr) -> tuple[Table, int]:
        """Return rows as a table, and the first of them whose squares overflow, or -1."""
        if isinstance(rows, Csr):
            mark_columns(rows.indices, self.source.used)
        return inspected(rows, self.source.n_features)

    def _report(self, parsed: Parsed, file: int, line: int) -> None:
        """Raise an error for a fault, or count it as skipped."""
        path, faults = self.source.inputs.paths[file], parsed.faults
        if not faults.count and not parsed.missing:
            return
        texts = [f"{path}, line {line + fault.line + 1}: {fault.found}{fault.reason}" for fault in faults.examples]
        if faults.stop:
            raise InvalidInput(texts[0])
        skipped, examples, missing, notes = self.source.problems
        examples = (*examples, *texts)[:EXAMPLES]
        self.source.problems = ReadProblems(skipped + faults.count, examples, missing + parsed.missing, notes)

    def _check_encoding(self, utf8: bool, file: int) -> None:
        """Note that a file is not UTF-8; raise an error if others are, because the same words would differ."""
        found, paths = self._encodings, self.source.inputs.paths
        first = found.setdefault(utf8, file)
        self.source.utf8 = False not in found
        if len(found) == 2 and found[False] == TRAINING:
            raise InvalidInput(
                f"{paths[file]} is UTF-8, and the text of the training is not: the same words would differ. Convert "
                f"it, for example by iconv -f UTF-8 -t LATIN1 {paths[file]}; or train on UTF-8."
            )
        path = paths[found.get(False, file)]
        remedy = f"Convert it, for example by iconv -f LATIN1 -t UTF-8 {path}."
        if len(found) == 2 and found[False] != found[True]:
            other = "the text of the training" if found[True] == TRAINING else paths[found[True]]
            raise InvalidInput(f"{path} is not UTF-8, and {other} is. {remedy}")
        if not utf8 and first in (file, TRAINING):
            note = f"{path} is not UTF-8: its letters beyond ASCII are taken byte by byte. {remedy}"
            if note not in self.source.problems.notes:
                self.source.note(note)
