"""From mistakes to the error on new rows."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings

from oracles import family
from oracles.cases import NOISY, Case, any_rows
from rosenblatt import bounds


def draws(case, n):
    """All sequences of n of the rows: independent draws from the uniform distribution on them."""
    return itertools.product(range(len(case.rows)), repeat=n)


def iterates(case, sequence):
    """Weights of a perceptron before each trial and after the last."""
    return [family.perceptron(case.rows, case.labels, [sequence[:t]]).w for t in range(len(sequence) + 1)]


@given(any_rows().filter(lambda case: len(case.rows) >= 3))
@settings(max_examples=25)
def test_e6_leave_one_out_is_exact_for_a_random_hypothesis_and_twice_it_bounds_the_vote(case):
    case.rows, case.labels, n = case.rows[:3], case.labels[:3], 3
    expected = np.mean([sum(family.perceptron(case.rows, case.labels, [s]).mistakes) for s in draws(case, n + 1)])
    random, vote = [], []
    for sequence in draws(case, n):
        W = np.array(iterates(case, sequence))
        # A tie is a mistake of a hypothesis, here as in training.
        wrong = (case.labels * (case.rows @ W.T).T) <= 0
        random.append(wrong.mean())
        vote.append((wrong.mean(0) >= 0.5).mean())
    assert np.mean(random) == pytest.approx(bounds.leave_one_out(expected, n))
    assert np.mean(vote) <= bounds.leave_one_out_vote(expected, n) * (1 + 1e-9)


def test_e6_leave_one_out_without_the_factor_two_is_false_for_the_vote():
    excess = []
    for case in NOISY[:12]:
        case = Case(case.rows[:3], case.labels[:3], case.orders, case.u)
        expected = np.mean([sum(family.perceptron(case.rows, case.labels, [s]).mistakes) for s in draws(case, 4)])
        W = [np.array(iterates(case, sequence)) for sequence in draws(case, 3)]
        vote = np.mean([(((case.labels * (case.rows @ w.T).T) <= 0).mean(0) >= 0.5).mean() for w in W])
        excess.append(vote - bounds.leave_one_out(expected, 3))
    assert max(excess) > 0


def test_e6_the_average_risk_fails_no_more_often_than_promised():
    delta, n, runs, failures = 0.3, 40, 200, {"average": 0, "voted": 0, "mistakes alone": 0}
    rng, case = np.random.default_rng(0), NOISY[3]
    for _ in range(runs):
        sequence = rng.integers(0, len(case.rows), n)
        mistakes = sum(family.perceptron(case.rows, case.labels, [sequence]).mistakes)
        wrong = (case.labels * (case.rows @ np.array(iterates(case, sequence))[:-1].T).T) <= 0
        failures["average"] += wrong.mean() > bounds.average_risk(mistakes, n, delta)
        failures["voted"] += (wrong.mean(0) >= 0.5).mean() > bounds.voted_risk(mistakes, n, delta)
        failures["mistakes alone"] += wrong.mean() > mistakes / n
    assert failures["average"] <= delta * runs
    assert failures["voted"] <= delta * runs
    assert failures["mistakes alone"] > delta * runs


def test_e6_by_hand():
    assert bounds.average_risk(10, 200, math.exp(-4)) == pytest.approx(0.05 + 0.2)
    assert bounds.voted_risk(10, 200, math.exp(-4)) == pytest.approx(0.5)
    assert bounds.leave_one_out(5, 99) == 0.05
    assert bounds.leave_one_out_vote(5, 99) == 0.1
