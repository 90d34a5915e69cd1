"""Each rule's step and loss, by its formula."""

import numpy as np
import pytest

from rosenblatt.verbs.learning import RuleInput, respond
from rosenblatt.verbs.rows import Dense
from rosenblatt.verbs.rules import (
    HingeRule,
    LmsRule,
    LogisticRule,
    NormalisedLmsRule,
    PassiveAggressiveRule,
    SmoothPassiveAggressiveRule,
    SquaredHingeRule,
)

ROWS = Dense(np.array([[2.0, 1.0]]))  # of squared norm 6, the bias included
FORMULAS = [
    (PassiveAggressiveRule(0.1), lambda m: (min(0.1, max(0, 1 - m) / 6), max(0, 1 - m))),
    (PassiveAggressiveRule(np.inf), lambda m: (max(0, 1 - m) / 6, max(0, 1 - m))),
    (SmoothPassiveAggressiveRule(2.0), lambda m: (max(0, 1 - m) / (6 + 1 / 4), max(0, 1 - m) ** 2)),
    (HingeRule(), lambda m: (min(0.01, max(0, 1 - m) / 6), max(0, 1 - m))),
    (HingeRule(False), lambda m: (0.01 * (m < 1), max(0, 1 - m))),
    (SquaredHingeRule(), lambda m: (0.02 * max(0, 1 - m), max(0, 1 - m) ** 2)),
    (LogisticRule(False), lambda m: (0.01 / (1 + np.exp(m)), np.log1p(np.exp(-m)))),
    (LmsRule(), lambda m: (0.01 * (1 - m), (1 - m) ** 2 / 2)),
    (NormalisedLmsRule(), lambda m: (0.01 * (1 - m) / 6, (1 - m) ** 2 / 2)),
    (NormalisedLmsRule(8.0), lambda m: (0.01 * (1 - m) / 8, (1 - m) ** 2 / 2)),
]


@pytest.mark.parametrize(("rule", "formula"), FORMULAS, ids=lambda part: str(part) if isinstance(part, tuple) else "")
@pytest.mark.parametrize("margin", [-3.0, 0.0, 0.9, 1.0, 4.0])
def test_step_and_loss_are_those_of_the_formula(rule, formula, margin):
    found = respond(rule, 1, margin, ROWS, 0, RuleInput(0.01, 1.0, 1.0, 1.0))
    np.testing.assert_allclose(found, formula(margin), atol=1e-15)


@pytest.mark.parametrize("margin", [-40.0, -3.0, 0.0, 2.0])
@pytest.mark.parametrize("rate", [1e-3, 0.1, 10.0, 1e4])
def test_a_step_against_the_logistic_loss_goes_as_far_as_many_small_ones(margin, rate):
    step, _ = respond(LogisticRule(), 1, margin, ROWS, 0, RuleInput(rate, 1.0, 1.0, 1.0))
    z = margin + 6 * step
    assert z + np.exp(z) == pytest.approx(margin + np.exp(margin) + 6 * rate, rel=1e-2, abs=1e-2)


def test_a_step_against_the_squared_hinge_ends_at_a_margin_of_one():
    step, _ = respond(SquaredHingeRule(), 1, -1.0, ROWS, 0, RuleInput(1e6, 1.0, 1.0, 1.0))
    assert -1.0 + step * 6 == pytest.approx(1.0)


@pytest.mark.parametrize("rule", [LmsRule(), NormalisedLmsRule()], ids=str)
def test_a_row_that_counts_twice_is_learned_twice(rule):
    once, _ = respond(rule, 1, 0.0, ROWS, 0, RuleInput(0.01, 1.0, 1.0, 1.0))
    again, _ = respond(rule, 1, once * 6, ROWS, 0, RuleInput(0.01, 1.0, 1.0, 1.0))
    twice, _ = respond(rule, 1, 0.0, ROWS, 0, RuleInput(0.01, 2.0, 1.0, 1.0))
    assert twice == pytest.approx(once + again)
