"""Rows in pieces give what all rows at once give."""

import numpy as np
import pytest

from rosenblatt.data.table import as_table
from rosenblatt.engine.rules import perceptron
from rosenblatt.learners.arow import Arow
from rosenblatt.training import pieces
from rosenblatt.training.algorithm import EpochArgs, new_counts
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import code, make_task
from rosenblatt.training.pieces import run_in_pieces


@pytest.mark.parametrize("algorithm", [FirstOrder(perceptron(), averaged=True), Arow(1.0)], ids=str)
def test_pieces_of_any_size_change_no_bit(algorithm, monkeypatch):
    rng = np.random.default_rng(0)
    table, label = as_table(rng.normal(size=(40, 3))), rng.integers(0, 3, 40).astype(np.int32)
    task, every = make_task(label, code(3, "ovr"), "ovr", weight=np.empty(0), bias=1.0), np.empty(0, np.int32)

    def learned(entries):
        monkeypatch.setattr(pieces, "PIECE_ENTRIES", entries)
        state, counts = algorithm.start(3, 3, np.float64), new_counts(3)
        run_in_pieces(
            algorithm, EpochArgs(table.rows, task, every, every, np.arange(3), 1.0, counts, False), state, table.entries
        )
        return [array.tobytes() for array in state], counts.mistakes.tolist()

    at_once = learned(1 << 27)
    assert sum(at_once[1]) > 0
    for entries in (1, 30, 100):
        assert learned(entries) == at_once
