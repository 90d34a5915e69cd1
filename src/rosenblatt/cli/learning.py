"""`rosenblatt predict - --learn`: answer each line, then learn from it if it has a label.

Lines that have arrived together are a group: they are answered one by one, each by the model that has learned those
before it, and reach the journal and standard output together. A client that waits for each answer sends groups of one.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.cli.options import note, plain
from rosenblatt.cli.predictions import Columns, Predictions, lines_of, objects_of
from rosenblatt.errors import InvalidInput
from rosenblatt.files import formats
from rosenblatt.files.chunks import Chunk, inspected, sliced
from rosenblatt.files.features import Dictionary
from rosenblatt.files.formats.jsonl import JsonParser
from rosenblatt.files.options import FileLayout
from rosenblatt.files.parsing import Parsed, Parser
from rosenblatt.files.streams import MAX_LINE_BYTES
from rosenblatt.learners.file_model import FileModel
from rosenblatt.learners.saving import load, save
from rosenblatt.storage.atomic import replace_file, target_of
from rosenblatt.storage.journal import Journal
from rosenblatt.text import count
from rosenblatt.training.calibration import Sigmoids, probabilities
from rosenblatt.training.multiclass import decision, winners

READ_BYTES = 1 << 16
# Size of the journal from which on the model is written, so that a restart does not take long.
MAX_JOURNAL_BYTES = 1 << 26


class LineStop(Exception):
    """A signal to end, while waiting for a line."""


class Signals:
    """Ends on Ctrl-C and SIGTERM: at once while waiting for lines, else after the lines at hand."""

    def __init__(self) -> None:
        self.number = 0
        self._waits = False

    def _note(self, number: int, frame: Any) -> None:
        self.number = number
        if self._waits:
            raise LineStop

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Handle the signals."""
        before = {one: signal.signal(one, self._note) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def lines(self, descriptor: int) -> Iterator[list[bytes]]:
        """Yield the lines that have arrived, whenever there are some, until the end or a signal."""
        rest = b""
        while not self.number:
            try:
                self._waits = True
                part = b"" if self.number else os.read(descriptor, READ_BYTES)
            except LineStop:
                return
            finally:
                self._waits = False
            if not part:
                break
            *lines, rest = (rest + part).split(b"\n")
            if len(rest) > MAX_LINE_BYTES:
                raise InvalidInput(f"A line has over {MAX_LINE_BYTES} bytes. Write one row on each line.")
            if lines:
                yield lines
        if rest and not self.number:
            yield [rest]


class Answered(NamedTuple):
    """The result of a group of lines."""

    answers: list[str]
    learned: list[bytes]  # the lines that had a label
    fault: InvalidInput | None = None  # of the line after those


class Session:
    """A model that answers lines and learns from them.

    Attributes
    ----------
    model : FileModel
    rows : int
        Rows that were learned.
    """

    def __init__(
        self, model: FileModel, *, scores: bool, proba: bool, as_json: bool, skip: bool, id: str | int | None
    ) -> None:
        self.model, self.scores, self.proba, self.as_json = model, scores, proba, as_json
        self.skip, self.id = skip, id
        reader = model.reader
        self.reading, self.stream = reader.reading, model.learner._stream
        self._name_classes()
        self.rows = self.line = 0
        self._parser: Parser | None = None
        self.dictionary: Dictionary | None = None
        if self.reading.features.dictionary:
            self.dictionary = Dictionary(self.reading.features.n_columns, reader.names, frozen=False)
        self.scaler = None if reader.moments is None else reader.parser.scaler(reader.moments)

    def parser(self, line: bytes) -> Parser:
        """Return the parser of the lines, the first of which decides: JSON objects, or the format of the model."""
        if self._parser is None:
            name, reading = self.reading.format, self.reading
            if reading.columns and line.lstrip().startswith(b"{"):
                self._parser = JsonParser(reading, "optional", self.skip, FileLayout("jsonl", named=True))
            elif formats.ALL[name].magic:
                raise InvalidInput(f"The model was trained on {name}, which has no lines. Write JSON objects.")
            else:
                self._parser = formats.ALL[name].parser(reading, "optional", self.skip, None)
            self._parser.tags = True
            if self.id is not None:
                self._parser.return_ids(self.id)
        return self._parser

    def begin(self) -> None:
        """Count lines from here; they may be in another format than those before."""
        self.line, self._parser = 0, None

    def answer(self, lines: Sequence[bytes]) -> Answered:
        """Answer lines one after the other, and learn from those with a label."""
        # If rows depend on those before, each is read when its turn comes.
        stateful = self.scaler is not None or self.dictionary is not None
        answers: list[str] = []
        learned: list[bytes] = []
        for part in [[line] for line in lines] if stateful else [lines]:
            found = self._answer(part)
            answers += found.answers
            learned += found.learned
            if found.fault is not None:
                return Answered(answers, learned, found.fault)
        return Answered(answers, learned)

    def _answer(self, lines: Sequence[bytes]) -> Answered:
        first = next((line for line in lines if line.strip()), None)
        self.line += len(lines)
        if first is None:
            return Answered([], [])
        parser = self.parser(first)
        parsed = parser.parse(_block(lines))
        fault = parsed.faults.examples[0] if parsed.faults.stop else None
        before = self.line - len(lines) + 1
        chunk, infinite = self._chunk(parsed, learn=False)
        limit = chunk.label.size if infinite < 0 else infinite
        if fault is not None:
            limit = min(limit, int(np.searchsorted(parsed.line, fault.line)))
        error = None
        if fault is not None and (infinite < 0 or fault.line < parsed.line[infinite]):
            error = InvalidInput(f"line {before + fault.line}: {fault.found}{fault.reason}")
        elif infinite >= 0:
            error = InvalidInput(f"line {before + parsed.line[infinite]}: the values are too large. Scale them.")
        return self._answer_rows(lines, parsed, chunk, limit, error)

    def _chunk(self, parsed: Parsed, *, learn: bool) -> tuple[Chunk, int]:
        """Return rows as a chunk, and the first whose squares overflow, or -1; new names are known if they are learned.

        As in `RowReader.table`: a row is predicted by the scaling of those before it, and learned by its own, too.
        """
        assert self._parser is not None
        scaler = self.scaler
        if self.dictionary is not None:
            self.dictionary.frozen = not learn
        if scaler is not None and not learn:
            scaler = self._parser.scaler(scaler.moments().scaling())
        rows = self._parser.rows(parsed, scaler, self.dictionary)
        table, infinite = inspected(rows, self._parser.n_features)
        return Chunk(table, parsed.label, parsed.weight, None, parsed.id), infinite

    def _answer_rows(
        self, lines: Sequence[bytes], parsed: Parsed, chunk: Chunk, limit: int, error: InvalidInput | None
    ) -> Answered:
        answers: dict[int, str] = {}
        learned: list[bytes] = []
        parser = self.parser(b"")
        places = parsed.line.tolist()
        stateful = self.scaler is not None or self.dictionary is not None
        labels = chunk.label.tolist()
        for k, row in zip(range(limit), self.stream.table_rows(chunk.table), strict=False):
            answers[places[k]] = self._text(row, chunk, k)
            label = labels[k]
            if label == "" or label != label:
                continue
            moments = None if self.scaler is None else self.scaler.moments()
            known = 0 if self.dictionary is None else len(self.dictionary)
            try:
                if stateful:  # one line, parsed again: making rows sorts the entries in place
                    chunk, infinite = self._chunk(parser.parse(_block(lines)), learn=True)
                    if infinite >= 0:
                        raise InvalidInput(f"line {self.line}: the values are too large. Scale them.")
                    row = next(self.stream.table_rows(chunk.table))
                self._learn(row, chunk, k, label)
            except InvalidInput as fault:
                del answers[places[k]]
                error = fault
                if moments is not None:
                    self.scaler = self.model.reader.parser.scaler(moments)
                if self.dictionary is not None:
                    self.dictionary = Dictionary(self.dictionary.most, self.dictionary.names()[:known], frozen=False)
                break
            learned.append(lines[places[k]])
        if self.skip:  # a line that cannot be used has an answer, too
            end = len(lines) if error is None else places[len(answers)]  # of those after it nothing is known
            refused = (n for n, line in enumerate(lines[:end]) if line.strip() and n not in answers)
            answers |= dict.fromkeys(refused, '{"error": "the line cannot be used"}\n' if self.as_json else "\n")
        self.rows += len(learned)
        return Answered([answers[place] for place in sorted(answers)], learned, error)

    def _learn(self, row: Any, chunk: Chunk, k: int, label: Any) -> None:
        weight = 1.0 if chunk.weight is None else float(chunk.weight[k])
        if weight == 0.0:
            return
        if weight != 1.0 or not self.stream.classes.size or self.stream.learn_known(row, label) is None:
            own = sliced(chunk, k, k + 1)
            self.stream.learn(own.table, own.label, np.empty(0) if weight == 1.0 else own.weight)
            if self.stream.classes.size > len(self.names):
                self._name_classes()

    def _name_classes(self) -> None:
        """Note the classes so far: new ones may appear."""
        self.names = {label: plain(label) for label in self.stream.classes.tolist()}
        names = [str(name) for name in self.names.values()]
        scored = names[1:] if len(names) == 2 else names
        self.columns = Columns([], True, scored if self.scores else [], names if self.proba else [])

    def _text(self, row: Any, chunk: Chunk, k: int) -> str:
        """Return the answer to a row."""
        scored = self.scores or self.proba
        answer = None if scored else self.stream.predict_one(row)
        scores = None
        if answer is None:
            answer, scores = self._scored(sliced(chunk, k, k + 1).table)
        label = self.names.get(answer, answer)
        id = None if chunk.id is None or chunk.id[k] is None else [chunk.id[k]]
        if id is None and not scored and not self.as_json:
            return f"{label}\n"
        batch = Predictions([label], id)
        if scores is not None and scored:
            chances = probabilities(scores, len(self.names), self._sigmoids(scores)) if self.proba else None
            batch = Predictions(
                [label], id, scores.tolist() if self.scores else None, None if chances is None else chances.tolist()
            )
        return next(objects_of(batch, self.columns) if self.as_json else lines_of(batch))

    def _scored(self, table: Any) -> tuple[Any, Any]:
        """Return the class of one row, and the scores of the classes; a number and None in a regression."""
        found, classes = self.stream.problem_scores(table), self.stream.classes
        if not classes.size:
            return float(found[0, 0]), None
        scores = decision(found, classes.size, self.stream.settings.multiclass)
        winner = winners(scores)[0] if classes.size > 1 else 0
        return classes[winner].item(), scores

    def _sigmoids(self, scores: Any) -> Sigmoids | None:
        """Return the calibration, if there is one; raise an error if a class is new to it."""
        sigmoids = self.model.sigmoids
        if sigmoids is not None and len(sigmoids.slope) != scores.shape[1]:
            raise InvalidInput("There is a new class, which the calibration does not know. Train with --calibrate.")
        return sigmoids

    def finish(self) -> FileModel:
        """Return the model with everything that was learned."""
        reader = self.model.reader
        if self.scaler is not None:
            reader.moments = self.scaler.moments()
        if self.dictionary is not None:
            reader.names = self.dictionary.names()
        return self.model


def _block(lines: Sequence[bytes]) -> Any:
    """Return lines as a text for parsers."""
    return np.frombuffer(b"\n".join([*lines, b""]), np.uint8)


def digest(content: bytes) -> str:
    """Return the SHA-256 of a model file."""
    return hashlib.sha256(content).hexdigest()


class LineService:
    """Answers the lines of standard input, and keeps model file and journal in step."""

    def __init__(self, path: str, journal: str | None, quiet: bool) -> None:
        self.path, self.quiet = Path(os.path.realpath(path)), quiet
        content = self.path.read_bytes()
        self.digest = digest(content)
        model = load(content)
        if not isinstance(model, FileModel):
            raise InvalidInput(f"{path} cannot learn from lines: it was not trained by rosenblatt train. Train it so.")
        self.model = model
        self.journal = None if journal is None else Journal(journal, self.digest)
        self.rows = 0  # learned rows that the model file has
        self.behind = False  # whether rows were learned that the journal does not have, because it cannot be written

    def run(self, session: Session) -> int:
        """Answer all lines, write the model, and return the exit code."""
        if self.journal is not None and self.journal.rows:
            self._replay(session, self.journal.rows)
        signals = Signals()
        try:
            with signals.watched():
                for lines in signals.lines(sys.stdin.fileno()):
                    self._answer(session, lines)
        finally:
            if session.rows > self.rows and not self.behind:
                self.write(session)
            if self.journal is not None:
                self.journal.close()
        return 128 + signals.number if signals.number else 0

    def _answer(self, session: Session, lines: Sequence[bytes]) -> None:
        found = session.answer(lines)
        if self.journal is not None and found.learned:
            self.behind = True
            self.journal.append(found.learned)
            self.behind = False
        sys.stdout.write("".join(found.answers))
        sys.stdout.flush()
        if found.fault is not None:
            raise found.fault
        if self.journal is not None and self.journal.size > MAX_JOURNAL_BYTES:
            self.write(session)

    def _replay(self, session: Session, rows: Sequence[bytes]) -> None:
        found = session.answer(rows)
        if found.fault is not None or len(found.learned) != len(rows):
            reason = f" ({found.fault})" if found.fault is not None else ""
            raise InvalidInput(
                f"The rows of the journal cannot be learned by this model{reason}. Restore the model that they follow."
            )
        session.begin()
        note(f"Learned {count(len(rows), 'row')} of the journal again.", self.quiet)

    def write(self, session: Session) -> None:
        """Write the model, and empty the journal."""
        buffer = BytesIO()
        save(session.finish(), buffer)
        content = buffer.getvalue()
        if digest(self.path.read_bytes()) != self.digest:
            kept = "" if self.journal is None else " The rows are in the journal."
            raise InvalidInput(f"{self.path} was changed by another process, and is not overwritten.{kept}")
        after = digest(content)
        if self.journal is not None:
            self.journal.note_model(after)
        replace_file(target_of(self.path), [content])
        if self.journal is not None:
            self.journal.restart(after)
        self.digest, self.rows = after, session.rows
