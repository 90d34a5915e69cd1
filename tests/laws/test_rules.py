"""What every rule must respect: the importance of a row, the length of what moves, the sign of the step, NaN."""

from importlib import import_module

import numpy as np
import pytest

from rosenblatt.engine import rules
from rosenblatt.engine.rules import Rule, respond, rule
from rosenblatt.learners import modules
from rosenblatt.learners.passive_aggressive import smooth_passive_aggressive

MARGINS = (-3.0, -0.5, 0.0, 0.25)
NORMS = (1.46, 5.5)
PLACES = [rules, *map(import_module, sorted(set(modules().values())))]
FOUND = [kind for place in PLACES for kind in vars(place).values() if isinstance(getattr(kind, "of", None), Rule)]
RULES = list(dict.fromkeys(FOUND))
each = pytest.mark.parametrize("kind", RULES, ids=lambda kind: kind.__name__)


def filled(kind):
    """Return a rule whose parameters are of a size that shows all its branches."""
    return kind(**dict.fromkeys(kind.of.defaults, 0.7))


def steps(kind, *, rate=0.05, importance=1.0, factor=1.0):
    """Return the steps of a rule for some margins and norms, of both classes."""
    parameters = filled(kind)
    where = [(sign, margin, norm) for sign in (1, -1) for margin in MARGINS for norm in NORMS]
    return np.array([respond(parameters, m, factor * norm, rate, importance, sign)[0] for sign, m, norm in where])


def importance_counts(kind):
    little, once, twice = (steps(kind, importance=weight) for weight in (1e-12, 1.0, 2.0))
    return little.max() < 1e-9 and (twice > once - 1e-12).all() and (twice > once + 1e-3).any()


def test_there_are_rules():
    assert {"perceptron", "hinge", "passive_aggressive"} <= {rule.__name__ for rule in RULES}


@each
def test_a_row_of_little_importance_moves_little_and_more_importance_moves_more(kind):
    assert importance_counts(kind), f"{kind.__name__} forgot the importance"


@each
def test_a_step_is_no_longer_where_more_moves(kind):
    assert (steps(kind, factor=2.0) <= steps(kind) + 1e-12).all(), f"{kind.__name__} forgot the norm"


@each
def test_a_wrong_row_is_moved_towards_its_side_whatever_its_class(kind):
    moved = steps(kind)
    assert (moved >= 0).all(), f"{kind.__name__}: the step is along y x; its sign is not the rule's business"
    assert (moved[[m <= 0 for _ in (1, -1) for m in MARGINS for _ in NORMS]] > 0).all(), "ties and mistakes must move"


@each
def test_a_margin_that_overflowed_is_not_right(kind):
    step, loss = respond(filled(kind), np.nan, 2.0, 0.3, 1.0, 1)
    assert step != 0 or np.isnan(loss), f"{kind.__name__} takes NaN for a margin that is large enough"


@each
def test_a_step_and_a_loss_are_numbers(kind):
    for sign in (1, -1):
        for margin in MARGINS:
            answer = respond(filled(kind), margin, 2.0, 0.05, 1.0, sign)
            assert np.isfinite(answer).all(), f"{kind.__name__} returns (step, loss) = {answer} at a margin of {margin}"


@rule
def unweighted(margin, rate):
    """Ask for no importance."""
    return rate, 0.0


@rule
def forgetful(margin, norm, importance):
    """Ask for the importance, and forget it."""
    return 1.0 / norm, 0.0


def test_a_rule_that_does_not_ask_for_the_importance_is_weighted_by_it():
    assert importance_counts(unweighted)


def test_a_rule_that_forgets_the_importance_is_noticed():
    assert not importance_counts(forgetful)


def test_rules_of_equal_parameters_are_different_rules():
    assert repr(rules.passive_aggressive(C=1.0)) != repr(smooth_passive_aggressive(C=1.0))
