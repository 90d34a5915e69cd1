"""A model as the service has it: what learns, and all that changes with a request.

`ServedModel.apply` is the only way in which a model changes, for a request and for a line of the journal alike. It has
no other input than the change, so that the same changes give the same model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from rosenblatt.serving.learner import (
    NUMBERS,
    OfRows,
    ServedLearner,
    begin,
    begin_with_lines,
    by_class,
    check_size,
    plain,
)
from rosenblatt.serving.problems import Problem
from rosenblatt.serving.record import Record
from rosenblatt.serving.requests import Id, LateLabel, NewModel, RowToLearn, RowToPredict, X

MAX_KEYS = 100_000  # the latest are known
MAX_WAITING, MAX_WAITING_BYTES = 100_000, 1 << 26  # rows that wait for their labels


class Learn(Struct, tag="learn", tag_field="change", omit_defaults=True):
    """Rows to learn. `settings` are those of a model that begins with them."""

    rows: list[RowToLearn]
    time: float
    key: str = ""
    body: str = ""  # digest of the request that has the key
    settings: NewModel | None = None


class Keep(Struct, tag="keep", tag_field="change", omit_defaults=True):
    """Rows to predict, and to keep until their labels come."""

    rows: list[RowToPredict]
    time: float
    asked: list[str] = []


class LearnLate(Struct, tag="label", tag_field="change", omit_defaults=True):
    """Labels of rows that were kept."""

    rows: list[LateLabel]
    time: float
    key: str = ""
    body: str = ""


class Rollback(Struct, tag="rollback", tag_field="change", omit_defaults=True):
    """A return to what a snapshot had learned."""

    snapshot: int
    time: float
    key: str = ""
    body: str = ""


Change = Learn | Keep | LearnLate | Rollback


class Waiting(Struct, array_like=True):
    """A row that waits for its label, what was predicted for it, and its size in JSON."""

    x: X
    predicted: Any
    size: int


class State(Struct):
    """All of a model but its learner, as the first line of a journal has it."""

    seq: int = 0
    settings: NewModel | None = None
    keys: dict[str, tuple[str, dict[str, Any]]] = {}
    waiting: dict[str, Waiting] = {}
    record: Record = msgspec.field(default_factory=Record)


_decoder = msgspec.json.Decoder(Change)
_states = msgspec.json.Decoder(State)


def encoded(value: Change | State) -> bytes:
    """Return a change or a state as a line of a journal."""
    return msgspec.json.encode(value)


def decoded_change(line: bytes) -> Change:
    """Return the change on a line of a journal."""
    change: Change = _decoder.decode(line)
    return change


def decoded_state(line: bytes) -> State:
    """Return the state on the first line of a journal."""
    state: State = _states.decode(line)
    return state


class ServedModel:
    """A model of the service.

    Parameters
    ----------
    state : State
    learner : ServedLearner or None
        None: nothing was learned yet, and the settings are to be completed by the first rows.
    snapshot_of : callable
        Return the learner of the snapshot with a number; raise a `Problem` if there is none.
    """

    def __init__(
        self, state: State, learner: ServedLearner | None, snapshot_of: Callable[[int], ServedLearner | None]
    ) -> None:
        self.state, self.learner, self.snapshot_of = state, learner, snapshot_of
        self.waiting_bytes = sum(row.size for row in state.waiting.values())

    @property
    def known(self) -> ServedLearner:
        """The learner; raises a `Problem` before the first row."""
        if self.learner is None:
            raise Problem("nothing-learned", "The model has not learned any row yet. Send some to /learn.")
        return self.learner

    def apply(self, change: Change) -> dict[str, Any]:
        """Make a change, and return the answer to its request; raise a `Problem` if it is refused as a whole."""
        if isinstance(change, Keep):
            return self._keep(change)
        known = self.state.keys.get(change.key) if change.key else None
        if known is not None:
            if known[0] != change.body:
                raise Problem("other-body", f"The key {change.key!r} belongs to a request with another body.")
            return known[1]
        answer = self._applied(change)
        if change.key:
            keys = self.state.keys
            keys[change.key] = change.body, answer
            if len(keys) > MAX_KEYS:
                del keys[next(iter(keys))]
        return answer

    def repeats(self, change: Change) -> bool:
        """Return whether a change was made before, so that it needs no line of the journal."""
        return not isinstance(change, Keep) and bool(change.key) and change.key in self.state.keys

    def _applied(self, change: Learn | LearnLate | Rollback) -> dict[str, Any]:
        if isinstance(change, Learn):
            rows = change.rows
            return self._learn([row.x for row in rows], [row.y for row in rows], [row.weight for row in rows], change)
        if isinstance(change, LearnLate):
            return self._learn_late(change)
        learner = self.snapshot_of(change.snapshot)
        self.learner = learner
        self.state.seq += 1
        return {"seq": self.state.seq, "snapshot": change.snapshot}

    # ---------------------------------------------------------------------------------------------------------- learn

    def _learn(self, X: list[X], y: list[Any], weight: list[float], change: Learn) -> dict[str, Any]:
        learner, predictions = self._learned(X, y, weight, change.settings)
        self.learner = learner
        return self._answer(predictions, y, change.time)

    def _learned(
        self, X: list[X], y: list[Any], weight: list[float], settings: NewModel | None = None
    ) -> tuple[ServedLearner, list[Any]]:
        """Learn rows; return the learner and the predictions before."""
        y = [as_label(label) for label in y]
        learner = self.learner
        if learner is None:
            learner = begin(settings or self.state.settings or NewModel(), X[0], y[0], X)
        check_size(learner, X, y)
        return learner, learner.learn(X, y, None if all(one == 1.0 for one in weight) else weight)

    def _answer(self, predictions: Sequence[Any], y: Sequence[Any], time: float) -> dict[str, Any]:
        self.state.seq += 1
        labels = [plain(as_label(label)) for label in y]
        error = self.state.record.add(predictions, labels, time, self.known.regression)
        return {"seq": self.state.seq, "learned": len(labels), "error": error}

    def _keep(self, change: Keep) -> dict[str, Any]:
        """Predict rows, and keep those with an id; the oldest make room if there are too many."""
        waiting = self.state.waiting
        rows: dict[str, X] = {}
        for number, row in enumerate(change.rows):
            if row.id is not None:
                held = waiting.get(key_of(row.id))
                if rows.setdefault(key_of(row.id), row.x if held is None else held.x) != row.x:
                    raise Problem("other-row", f"Another row waits under the id {row.id!r}.", place=f"$[{number}]")
        found = self.predicted([row.x for row in change.rows], change.asked)
        for row, predicted in zip(change.rows, found["predictions"], strict=True):
            if row.id is not None and key_of(row.id) not in waiting:
                held = Waiting(row.x, predicted, len(msgspec.json.encode(row.x)))
                waiting[key_of(row.id)] = held
                self.waiting_bytes += held.size
        while len(waiting) > MAX_WAITING or self.waiting_bytes > MAX_WAITING_BYTES:
            self._take(next(iter(waiting)))
            self.state.record.dropped += 1
        self.state.seq += 1
        return found | {"seq": self.state.seq}

    def _take(self, id: str) -> Waiting:
        held = self.state.waiting.pop(id)
        self.waiting_bytes -= held.size
        return held

    def _learn_late(self, change: LearnLate) -> dict[str, Any]:
        ids = [key_of(row.id) for row in change.rows]
        for number, (id, row) in enumerate(zip(ids, change.rows, strict=True)):
            if id not in self.state.waiting:
                raise Problem("unknown-id", f"No row waits under the id {row.id!r}.", place=f"$[{number}]")
        if len(set(ids)) < len(ids):
            raise Problem("invalid-row", "An id is there twice. Send each label once.")
        held = [self.state.waiting[id] for id in ids]
        y, weight = [row.y for row in change.rows], [row.weight for row in change.rows]
        self.learner, _ = self._learned([row.x for row in held], y, weight)
        for id in ids:
            self._take(id)
        return self._answer([row.predicted for row in held], y, change.time)

    # --------------------------------------------------------------------------------------------------------- reading

    def predicted(self, X: list[X], asked: Sequence[str] = ()) -> dict[str, Any]:
        """Return a prediction of each row, and the scores or probabilities if they are asked for."""
        learner = self.known
        figures = {name: by_class(learner, getattr(learner, name)(X)) for name in asked}
        return {"seq": self.state.seq, "predictions": learner.predict(X), **figures}

    def check_format(self, format: str) -> None:
        """Raise a `Problem` unless lines of a format are rows of the model; an empty name stands for its own."""
        own = self.known.format
        if own == NUMBERS or format not in ("", own):
            raise Problem("unknown-media-type", f"This model has rows of {own}. Send those, or JSON.")

    def rows_on(self, lines: Sequence[str], format: str) -> tuple[NewModel | None, list[RowToLearn]]:
        """Return the rows on lines in the format of the model, and the settings of a model that begins with them."""
        learner = self.learner
        if learner is None:
            settings = self.state.settings or NewModel()
            return begin_with_lines(settings, format or settings.format, lines)
        self.check_format(format)
        assert isinstance(learner, OfRows)
        return None, learner.rows_on(lines)


def as_label(y: Any) -> Any:
    """Return a label as models have it: JSON's true and false are texts."""
    return str(y).lower() if isinstance(y, bool) else y


def key_of(id: Id | None) -> str:
    """Return an id as the waiting rows have it: 7 and "7" are two."""
    return msgspec.json.encode(id).decode()


def digest_of(*parts: bytes) -> str:
    """Return the digest of a request."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()
