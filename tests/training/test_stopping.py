"""The rules that end a run, and how long a stalled one waits."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Perceptron
from rosenblatt.training.plan import Plan
from rosenblatt.training.stopping import FREE_ENTRIES, Cycle, MarginBound, Stop, StoppingRules
from rosenblatt.training.trainer import EpochRunner, EpochStats, RunClock


def rules(figures, *, zero_loss=math.inf, **plan):
    """Return the rules of a run whose losses are these, after its last epoch; a list of them for each epoch."""
    runner = EpochRunner(Plan(**plan), len(figures[0]), "ovr")
    runner.n_rows, runner.zero_loss = 1, zero_loss
    asked = StoppingRules(runner.plan, runner, RunClock(None))
    for epoch, losses in enumerate(figures, 1):
        some = [1] * runner.parts
        asked.after_epoch(epoch, EpochStats(some, some, losses, 1, True), None, asked=False)
    return asked


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(0, 3), st.integers(1, 4))
def test_patience_ends_after_so_many_epochs_without_progress(figures, tol, patience):
    stale = 0
    for k, figure in enumerate(figures):  # an epoch is progress if it is at least tol below the lowest before
        stale = 0 if k == 0 or figure <= min(figures[:k]) - tol else stale + 1
        if stale == patience:
            break
    ended = rules([[figure] for figure in figures], tol=tol, n_iter_no_change=patience)
    assert ended.stops == ({0: Stop.TRAINING} if stale == patience else {})


def test_patience_watches_each_part_by_itself():
    ended = rules([[1.0 / t, 1.0] for t in (1, 2, 3)], tol=0.1, n_iter_no_change=2)
    assert (ended.active, ended.stops) == ([0], {1: Stop.TRAINING})


@pytest.mark.parametrize(
    ("losses", "tol", "stop"),
    [
        ((1, 9, 9, 9), 1e-3, Stop.TRAINING),
        ((1, 99, 99, 99), 1e-3, Stop.DIVERGED),
        ((99, 50, 25, 12), 1e-3, Stop.EPOCHS),  # high, but falling
        ((1, 99, 99, 99), None, Stop.DIVERGED),
        ((1, 9, 9, 9), None, Stop.EPOCHS),
        ((1, 1, 1, math.inf), 1e-3, Stop.DIVERGED),
    ],
)
def test_a_loss_that_stalls_far_above_that_of_zero_weights_has_diverged(losses, tol, stop):
    assert rules([[loss] for loss in losses], zero_loss=1.0, tol=tol, n_iter_no_change=3, max_iter=4).stops == {0: stop}


def bound(entries):
    found = MarginBound(np.ones((1, 3)), np.zeros(1), 1, bias=1.0, radius=1.0, entries=entries)
    found.W[:] = 2.0  # it has moved by the square root of 3
    return found


def test_a_part_waits_as_long_again_as_it_had_learned_and_short_recoveries_do_not_count_anew():
    waiting = bound(entries=FREE_ENTRIES)
    waiting.add(np.array([1.0]))
    assert waiting.give_up([0], 0.0, 30, RunClock(None)) == {}
    # In the epochs between, the loss was a little lower than ever.
    assert waiting.give_up([0], 0.0, 59, RunClock(None)) == {}
    assert waiting.give_up([0], 0.0, 60, RunClock(None)) == {0: Stop.TRAINING}


def test_a_part_of_few_rows_may_wait_longer():
    waiting = bound(entries=FREE_ENTRIES / 50)
    assert waiting.give_up([0], 0.0, 5, RunClock(None)) == {}
    assert waiting.give_up([0], 0.0, 30, RunClock(None)) == {}
    assert waiting.give_up([0], 0.0, 55, RunClock(None)) == {0: Stop.TRAINING}


def test_a_part_whose_own_mistakes_rule_out_a_margin_above_tol_ends_at_once():
    waiting = bound(entries=10)
    waiting.add(np.array([1000.0]))
    assert waiting.give_up([0], 1e-3, 5, RunClock(None)) == {}
    waiting.add(np.array([1000.0]))
    assert waiting.give_up([0], 1e-3, 6, RunClock(None)) == {0: Stop.TRAINING}
    assert waiting.observe() == [np.sqrt(3) / 2000]


def test_a_search_is_made_when_a_part_stalls_and_when_its_epochs_have_doubled():
    searched = []

    def search(part, work, seconds):
        searched.append(work)
        return SimpleNamespace(margin_bound=0.5, certificate=None)

    waiting = bound(entries=0)
    waiting.search = search
    for epoch in range(5, 25):
        waiting.give_up([0], 0.1, epoch, RunClock(None))
    assert np.array_equal(np.array(searched) / waiting.epoch_cost, [5, 10, 20])


@pytest.mark.parametrize("seed", range(40))
def test_the_defaults_separate_what_is_separable_with_a_margin_of_two_hundredths(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.uniform(-1.0, 1.0, (200, 2)), rng.standard_normal(2)
    margin = (X @ w + 0.3 * rng.standard_normal()) / np.linalg.norm(w)
    X, margin = X[np.abs(margin) >= 0.02], margin[np.abs(margin) >= 0.02]
    if np.unique(margin > 0).size == 2:
        model = Perceptron(random_state=seed).fit(X, margin > 0)
        assert model.run_.stop is Stop.SEPARATED
        assert model.score(X, margin > 0) == 1.0


@given(st.integers(0, 6), st.integers(1, 7))
def test_a_cycle_is_found_with_a_length_that_is_a_multiple_of_its_own(before, length):
    W, b = np.zeros((1, 1)), np.zeros(1)
    cycle = Cycle(W, b)
    for epoch in range(1, 200):
        place = epoch if epoch < before else before + (epoch - before) % length
        W[0, 0] = place
        if cycle.returned().all():
            assert cycle.length % length == 0
            assert cycle.length < 2 * (before + length) + 2
            return
        cycle.advance()
    pytest.fail("no cycle was found")


@given(st.sampled_from("CF"), st.lists(st.integers(0, 2999), max_size=4))
def test_only_the_problems_that_are_back_are_told_wherever_the_others_differ(order, places):
    W, b = np.zeros((4, 3000), order=order), np.zeros(4)
    cycle = Cycle(W, b)
    for part, place in enumerate(places):
        W[part, place] = 1.0
    assert cycle.returned().tolist() == [part >= len(places) for part in range(4)]
    assert cycle.back([0, 1, 3]) == {part: 1 for part in (0, 1, 3) if part >= len(places)}


def test_classes_that_learn_jointly_are_back_together():
    W, b = np.zeros((3, 5)), np.zeros(3)
    cycle = Cycle(W, b, joint=True)
    assert cycle.back([0]) == {0: 1}
    W[2, 4] = 1.0
    assert cycle.back([0]) == {}
