"""The perceptron on integers against plain Python, and how its runs end."""

import numpy as np
import pytest

from rosenblatt.prover.search import cycles

XOR = np.array([[0, 0, -1], [1, 0, 1], [0, 1, 1], [-1, -1, -1]])
OR = np.array([[0, 0, -1], [1, 0, 1], [0, 1, 1], [1, 1, 1]])


def start(Z):
    """Weights, mark, counts and state of a run that begins."""
    n, width = Z.shape
    return np.zeros(width, np.int64), np.zeros(width, np.int64), np.zeros(n, np.int64), np.array([0, 0, 1])


def test_rows_of_or_are_separated():
    w, mark, counts, state = start(OR)
    assert cycles.run_epochs(OR, w, mark, counts, state, 100, 1 << 40) == cycles.SEPARATED
    assert w.tolist() == [2, 2, -1]
    assert (OR @ w > 0).all()


def test_rows_of_xor_lead_back_and_every_update_is_counted():
    w, mark, counts, state = start(XOR)
    assert cycles.run_epochs(XOR, w, mark, counts, state, 100, 1 << 40) == cycles.RETURNED
    assert counts.tolist() == [1, 1, 1, 1]
    assert state[0] == 1


@pytest.mark.parametrize("seed", range(6))
def test_runs_are_those_of_plain_python_in_any_batches(seed):
    rng = np.random.default_rng(seed)
    Z = rng.integers(-3, 4, (8, 3))
    w, mark, counts, state = start(Z)
    end = cycles.GOING
    while end == cycles.GOING:
        end = cycles.run_epochs(Z, w, mark, counts, state, 3, 1 << 40)
    plain, marks = np.zeros(3, int), []
    for _ in range(state[0]):
        marks.append(plain.tolist())
        for z in Z:
            if z @ plain <= 0:
                plain = plain + z
    assert w.tolist() == plain.tolist()
    if end == cycles.RETURNED:
        assert plain.tolist() in marks
        assert not (counts @ Z).any()
    else:
        assert (Z @ plain > 0).all()


def test_a_run_stops_before_its_sums_overflow():
    w, mark, counts, state = start(OR)
    assert cycles.run_epochs(OR, w, mark, counts, state, 100, 0) == cycles.OVERFLOW
    assert state[0] == 1  # zero weights were safe
    w, mark, counts, state = start(OR)
    assert cycles.run_epochs(OR, w, mark, counts, state, 1, 1 << 40) == cycles.GOING
