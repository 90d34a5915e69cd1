"""What every rule must respect: the importance of a row, the length of what moves, the sign of the step, NaN."""

import numpy as np
import pytest

from rosenblatt.engine import rules
from rosenblatt.engine.rules import Rule, respond

MARGINS = (-3.0, -0.5, 0.0, 0.25)
NORMS = (1.46, 5.5)
RULES = [rule for rule in vars(rules).values() if isinstance(rule, Rule)]
each = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)


def steps(rule, *, rate=0.05, importance=1.0, factor=1.0):
    """Return the steps of a rule for some margins and norms, of both classes."""
    parameters = rule(**dict.fromkeys(rule.defaults, 0.7))
    where = [(sign, margin, norm) for sign in (1, -1) for margin in MARGINS for norm in NORMS]
    return np.array([respond(parameters, m, factor * norm, rate, importance, sign)[0] for sign, m, norm in where])


def importance_counts(rule):
    little, once, twice = (steps(rule, importance=weight) for weight in (1e-12, 1.0, 2.0))
    return little.max() < 1e-9 and (twice > once - 1e-12).all() and (twice > once + 1e-3).any()


def test_there_are_rules():
    assert {"perceptron", "hinge", "passive_aggressive"} <= {rule.__name__ for rule in RULES}


@each
def test_a_row_of_little_importance_moves_little_and_more_importance_moves_more(rule):
    assert importance_counts(rule), f"{rule.__name__} forgot the importance"


@each
def test_a_step_is_no_longer_where_more_moves(rule):
    assert (steps(rule, factor=2.0) <= steps(rule) + 1e-12).all(), f"{rule.__name__} forgot the norm"


@each
def test_a_wrong_row_is_moved_towards_its_side_whatever_its_class(rule):
    moved = steps(rule)
    assert (moved >= 0).all(), f"{rule.__name__}: the step is along y x; its sign is not the rule's business"
    assert (moved[[m <= 0 for _ in (1, -1) for m in MARGINS for _ in NORMS]] > 0).all(), "ties and mistakes must move"


@each
def test_a_margin_that_overflowed_is_not_right(rule):
    step, loss = respond(rule(**dict.fromkeys(rule.defaults, 0.7)), np.nan, 2.0, 0.3, 1.0, 1)
    assert step != 0 or np.isnan(loss), f"{rule.__name__} takes NaN for a margin that is large enough"


def test_a_rule_that_does_not_ask_for_the_importance_is_weighted_by_it():
    assert importance_counts(Rule(lambda margin, rate: (rate, 0.0)))


def test_a_rule_that_forgets_the_importance_is_noticed():
    assert not importance_counts(Rule(lambda margin, norm, importance: (1.0 / norm, 0.0)))


def test_rules_of_equal_parameters_are_different_rules():
    assert repr(rules.passive_aggressive(C=1.0)) != repr(rules.smooth_passive_aggressive(C=1.0))
