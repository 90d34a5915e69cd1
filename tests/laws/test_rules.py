"""What every rule must respect, as CONTRIBUTING says: importance, bias, vectors, sign. A failure says what is missing.

A rule is called as the plain function that it is. Each test has a rule that forgets, which it must notice.
"""

import numpy as np
import pytest

from rosenblatt.engine.rules import least_mean_squares, normalised_least_mean_squares
from rosenblatt.engine.rows import Dense, square

MARGINS = (-3.0, -0.5, 0.0, 0.25)
ROWS = np.array([[0.6, -0.3, 1.1], [2.0, 0.5, -1.0]])
# Rules with parameters of any size that shows all their branches.
SETTINGS = {name: tuple(0.7 for _ in name._fields) for name in RULES}
# Least squares has no joint multiclass, in which more than one vector moves.
SINGLE = (least_mean_squares, normalised_least_mean_squares)
rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)


def steps(rule, rows, *, function=None, eta=0.05, importance=1.0, vectors=1.0, bias=1.0):
    """The steps of a rule for some margins and rows, of both classes."""
    respond, parameters = function or RULES[rule], rule(*SETTINGS[rule])
    trial, rows = RuleInput(eta, importance, vectors, bias), Dense(np.ascontiguousarray(rows))
    where = [(s, m, i) for s in (1.0, -1.0) for m in MARGINS for i in range(len(rows.X))]
    return np.array([respond(parameters, sign, margin, rows, i, trial)[0] for sign, margin, i in where])


def importance_counts(rule, **options):
    little, once, twice = (steps(rule, ROWS, importance=weight, **options) for weight in (1e-12, 1.0, 2.0))
    return little.max() < 1e-9 and (twice > once - 1e-12).all() and (twice > once + 1e-3).any()


def bias_is_part_of_the_row(rule, **options):
    padded = np.column_stack([ROWS, np.full(len(ROWS), 0.5)])
    return np.allclose(steps(rule, ROWS, bias=0.25, **options), steps(rule, padded, bias=0.0, **options))


def vectors_share_the_length(rule, **options):
    twice = steps(rule, ROWS * np.sqrt(2), bias=2.0, **options)
    return np.allclose(steps(rule, ROWS, vectors=2.0, bias=1.0, **options), twice)


@rules
def test_a_row_of_little_importance_moves_little_and_more_importance_moves_more(rule):
    assert importance_counts(rule), f"{rule.__name__} forgot trial.importance"


@rules
def test_the_constant_of_the_bias_is_part_of_the_length_of_a_row(rule):
    assert bias_is_part_of_the_row(rule), f"{rule.__name__} forgot trial.bias beside square(rows, i)"


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in SINGLE], ids=lambda rule: rule.__name__)
def test_vectors_that_move_together_share_the_length_of_the_step(rule):
    assert vectors_share_the_length(rule), f"{rule.__name__} forgot to multiply the squared length by trial.vectors"


@rules
def test_a_wrong_row_is_moved_towards_its_side_whatever_its_class(rule):
    moved = steps(rule, ROWS)
    assert (moved >= 0).all(), f"{rule.__name__}: the step is along y x; its sign is not the rule's business"
    assert (moved[[m <= 0 for _ in (1, -1) for m in MARGINS for _ in ROWS]] > 0).all(), "ties and mistakes must move"


@rules
def test_a_margin_that_overflowed_is_not_right(rule):
    step, loss = RULES[rule](rule(*SETTINGS[rule]), 1.0, np.nan, Dense(ROWS), 0, RuleInput(0.3, 1.0, 1.0, 1.0))
    assert step != 0 or np.isnan(loss), f"{rule.__name__} takes NaN for a margin that is large enough"


def test_rules_that_forget_are_noticed():
    rule = next(iter(RULES))

    def forgetful(parameters, sign, margin, rows, i, trial):
        return trial.eta / square(rows, i), 0.0

    assert not importance_counts(rule, function=forgetful)
    assert not bias_is_part_of_the_row(rule, function=forgetful)
    assert not vectors_share_the_length(rule, function=forgetful)
