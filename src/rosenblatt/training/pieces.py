"""Rows in pieces: compiled code hears no interrupt, so that there are pauses in which one is heard."""

from __future__ import annotations

from typing import Any

from rosenblatt.data.table import part_of
from rosenblatt.training.algorithm import Algorithm, EpochArgs

# Entries of rows, for each problem, that are presented between two pauses: a fraction of a second.
PIECE_ENTRIES = 1 << 27


def run_in_pieces(algorithm: Algorithm, shown: EpochArgs, state: Any, entries: int) -> None:
    """Present rows of so many entries, with pauses in which an interrupt is heard; the result is the same."""
    n_rows, (problems, features) = shown.size, state.W.shape
    size = max(1, PIECE_ENTRIES // algorithm.trial_cost(max(1, entries // max(1, n_rows)), features, problems))
    for first in range(0, n_rows, size):
        algorithm.run_epoch(shown._replace(order=part_of(shown.order, first, size, n_rows)), state, state)
