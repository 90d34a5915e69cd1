"""The observers that end a run, and the words for each end."""

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.table import ALL_ROWS, as_table
from rosenblatt.learn import stopping
from rosenblatt.learn.multiclass import code, make_task
from rosenblatt.learn.stopping import PRECEDENCE, Ceiling, Cycle, Patience, Stop

WORDS = {name: getattr(stopping, name) for name in ("PERCEPTRON", "BATCH", "KERNEL", "LOSS", "REGRESSION")}
# What the trainer knows at the end of a run.
FIGURES = {"totals", "epochs", "trials", "mistakes", "loss", "zero_loss", "remedy", "seconds", "patience", "by"}
FIGURES |= {"every", "share", "support", "after", "plane", "beyond", "cycle", "fewer_mistakes", "less_loss"}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
def test_every_end_has_words_made_of_figures_that_are_known(words):
    assert words.keys() == set(Stop)
    for text in words.values():
        fields = {field for _, field, _, _ in string.Formatter().parse(text) if field}
        assert fields <= FIGURES | {"proof"}


def test_no_end_advises_to_shuffle():
    assert "shuff" not in str(WORDS) + stopping.CYCLE_PROVED + stopping.CYCLE_COMPUTED


def test_a_figure_falls_if_its_last_third_is_below_the_second():
    assert stopping.falls([3])
    assert stopping.falls([5, 5, 5])  # too few to tell
    assert stopping.falls(range(30, 0, -1))
    assert not stopping.falls([90, *[5, 4, 6, 5, 5, 4, 6, 5, 5] * 3])
    assert not stopping.falls(range(30))


def test_the_parts_of_a_run_are_named_by_how_they_ended():
    say = {Stop.EPOCHS: "ended", Stop.SEPARATED: "done", Stop.CHUNK: "a chunk"}.get
    stops, noun = (Stop.SEPARATED, Stop.EPOCHS, Stop.SEPARATED), ("class", "classes")
    told = "1 of 3 classes ('b'): ended; 2 of 3 classes ('a' and 'c'): done"
    assert stopping.by_part(stops, "abc", noun, say) == told
    assert stopping.by_part(stops[:1] * 3, "abc", noun, say) == "all 3 classes: done"
    assert stopping.by_part(stops[:1], "", noun, say) == "done"
    assert stopping.by_part((Stop.CHUNK,) * 2, "ab", noun, say) == "a chunk"
    many = stopping.by_part(stops + stops[:1] * 20, range(23), noun, say)
    assert many == "1 of 23 classes (1): ended; 22 of 23 classes (0, 2, 3, 4, 5, 6 and 16 more): done"


def test_every_end_has_its_place():
    assert sorted(stop.name for stop in PRECEDENCE) == sorted(stop.name for stop in Stop)


def test_only_a_perceptron_speaks_of_separating():
    for name in ("LOSS", "REGRESSION"):
        for stop in (Stop.EPOCHS, Stop.TRAINING, Stop.CHUNK, Stop.SEPARATED):
            assert "separa" not in WORDS[name][stop]
    for stop in (Stop.EPOCHS, Stop.TRAINING, Stop.CHUNK, Stop.SEPARATED):
        assert "mistake" not in WORDS["REGRESSION"][stop]
    for words in WORDS.values():
        assert "in epoch" not in words[Stop.CHUNK]
        assert "separable at all" not in words[Stop.CHUNK]


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


@given(st.integers(0, 6), st.integers(1, 7))
def test_a_cycle_is_found_with_a_length_that_is_a_multiple_of_its_own(before, length):
    W, b = np.zeros((1, 1)), np.zeros(1)
    cycle = Cycle(W, b)
    for epoch in range(1, 200):
        place = epoch if epoch < before else before + (epoch - before) % length
        W[0, 0] = place
        if cycle.returned(slice(None)):
            assert cycle.length % length == 0
            assert cycle.length < 2 * (before + length) + 2
            return
        cycle.advance()
    pytest.fail("no cycle was found")


def ceiling_of_wide_rows():
    table = as_table(np.random.default_rng(0).standard_normal((100, 300)))  # too wide for a search
    label = np.arange(100, dtype=np.int32) % 2
    task = make_task(label, code(2, "ovr"), "ovr", weight=np.empty(0), bias=1.0)
    return Ceiling(table, task, ALL_ROWS, np.zeros((1, 300)), np.zeros(1), 1, ())


def test_a_part_waits_as_long_again_as_it_had_learned_and_short_recoveries_do_not_count_anew():
    ceiling = ceiling_of_wide_rows()
    assert ceiling.end(0, 0.0, 30) is None
    # In the epochs between, the loss was a little lower than ever.
    assert ceiling.end(0, 0.0, 59) is None
    assert ceiling.end(0, 0.0, 60) is Stop.TRAINING


@pytest.mark.parametrize(("decay", "last"), [(0.97, 270), (1.0, 45)])
def test_a_part_whose_updates_become_fewer_waits_longer_but_not_for_ever(decay, last):
    ceiling = ceiling_of_wide_rows()
    for epoch in range(1, 500):
        ceiling.add(np.array([100.0 * decay**epoch]))
        if epoch >= 20 and ceiling.end(0, -1.0, epoch):  # no bound is so low
            break
    assert epoch == last  # 20 and 10,000,000 or 1,000,000 entries, 40,000 an epoch


def test_what_a_long_run_keeps_of_its_steps_is_bounded():
    ceiling = ceiling_of_wide_rows()
    for _ in range(5000):
        ceiling.add(np.array([2.0]))
    assert len(ceiling.history) <= stopping.MAX_KEPT_EPOCHS
    assert [kept[0] for kept in ceiling.history] == [2.0 * ceiling.stride * k for k in range(len(ceiling.history))]
