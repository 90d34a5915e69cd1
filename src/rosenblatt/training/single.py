"""Single rows of a stream: what they need at hand, and how one that makes the weights overflow is undone."""

from __future__ import annotations

from typing import Any, NamedTuple

from rosenblatt.training.algorithm import copy_state
from rosenblatt.training.single_row import LearnRow, Row, RowTask, ScoreRow

# Entries of rows that are written down, at least, before the state is copied anew.
MIN_ENTRIES = 4096


class Single(NamedTuple):
    """What `learn_one` needs at hand."""

    place: dict[Any, int]  # number of each class
    trial: RowTask
    learn: dict[bool, LearnRow]  # dense rows, or sparse ones


class Scorer(NamedTuple):
    """What `predict_one` needs at hand."""

    score: ScoreRow  # as `rosenblatt.engine.single.score_row`
    labels: list[Any] | None  # of the classes, as plain Python has them; None in a regression
    several: bool  # whether there are more than two


class ReplayLog:
    """A copy of a state, and the rows learned since.

    A row is learned in place, and whether it makes the weights overflow is known only afterwards. To copy the weights
    before each row would take longer than to learn it. Therefore they are copied from time to time, and the rows since
    then are kept: a state before the last row is the copy after the same rows again.
    """

    def __init__(self, state: Any) -> None:
        self.state, self.copied = state, copy_state(state)
        self.rows: list[tuple[LearnRow, int, Row]] = []
        self.size = max(MIN_ENTRIES, sum(array.size for array in state))
        self.room = self.size

    def note(self, learn: LearnRow, c: int, row: Row) -> None:
        """Write down that a row was learned in this way as one of class c."""
        if row[1] is None:  # it may be the user's own array
            row = row[0].copy(), None
        self.rows.append((learn, c, row))
        self.room -= (row[0] if row[1] is None else row[1]).size + 1
        if self.room < 0:
            self.copied = copy_state(self.state, self.copied)
            self.rows, self.room = [], self.size

    def restore(self) -> None:
        """Put the state back to where it was after the last row written down."""
        copy_state(self.copied, self.state)
        for learn, c, row in self.rows:
            learn(c, *row)
