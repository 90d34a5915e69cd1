"""The observers that end a run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.table import ALL_ROWS, as_table
from rosenblatt.learn import stopping
from rosenblatt.learn.multiclass import code, make_task
from rosenblatt.learn.stopping import PRECEDENCE, Ceiling, Patience, Stop


def test_every_end_has_its_place():
    assert sorted(stop.name for stop in PRECEDENCE) == sorted(stop.name for stop in Stop)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(0, 3), st.integers(1, 4))
def test_patience_ends_after_so_many_epochs_without_progress(figures, tol, patience):
    watch = Patience(1, tol, patience)
    for n in range(1, len(figures) + 1):
        stale = 0
        for k in range(n):  # an epoch is progress if it is at least tol below the lowest before
            stale = 0 if k == 0 or figures[k] <= min(figures[:k]) - tol else stale + 1
        assert watch.stalled([figures[n - 1]]) == [stale >= patience]


def test_patience_watches_each_part_by_itself():
    watch = Patience(2, 0.1, 2)
    assert [watch.stalled([1.0 / t, 1.0]) for t in (1, 2, 3)] == [[False, False], [False, False], [False, True]]


def ceiling_of_wide_rows(rows=700):
    table = as_table(np.random.default_rng(0).standard_normal((rows, 300)))  # too wide for a search
    label = np.arange(rows, dtype=np.int32) % 2
    task = make_task(label, code(2, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    return Ceiling(table, task, ALL_ROWS, np.zeros((1, 300)), np.zeros(1), 1, ())


def test_a_part_waits_as_long_again_as_it_had_learned_and_short_recoveries_do_not_count_anew():
    ceiling = ceiling_of_wide_rows()
    for _ in range(60):
        ceiling.add(np.array([100.0]))
    assert ceiling.end(0, 0.0, 30) is None
    # In the epochs between, the loss was a little lower than ever.
    assert ceiling.end(0, 0.0, 59) is None
    assert ceiling.end(0, 0.0, 60) is Stop.TRAINING


@pytest.mark.parametrize(
    ("rows", "updates", "decay", "last"),
    [
        (700, 700, 1.0, 10),  # 5, and as long again as before
        (700, 700, 0.9, 17),  # 5, and 3,000,000 entries, of 210,000 and 40,000 an epoch
        (700, 70, 1.0, 17),
        (600, 600, 1.0, 51),  # 5, and 10,000,000, of 180,000 and 40,000
    ],
)
def test_a_part_with_few_updates_or_many_weights_waits_longer_but_not_for_ever(rows, updates, decay, last):
    ceiling = ceiling_of_wide_rows(rows)
    for epoch in range(1, 500):
        ceiling.add(np.array([updates * decay**epoch]))
        if epoch >= 5 and ceiling.end(0, -1.0, epoch):  # no bound is so low
            break
    assert epoch == last


def test_what_a_long_run_keeps_of_its_steps_is_bounded():
    ceiling = ceiling_of_wide_rows()
    for _ in range(5000):
        ceiling.add(np.array([2.0]))
    assert len(ceiling.history) <= stopping.MAX_KEPT_EPOCHS
    assert [kept[0] for kept in ceiling.history] == [2.0 * ceiling.stride * k for k in range(len(ceiling.history))]
