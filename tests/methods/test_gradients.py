"""What is known of rules that follow a gradient."""

import numpy as np
import pytest

from rosenblatt.methods.first_order import FirstOrder
from rosenblatt.methods.gradients import ZERO_LOSSES, remedy, zero_loss
from rosenblatt.verbs.learning import PerceptronRule, RuleInput, respond
from rosenblatt.verbs.rows import Dense
from rosenblatt.verbs.rules import LmsRule, NormalisedLmsRule, PassiveAggressiveRule


@pytest.mark.parametrize("rule", [kind() for kind in ZERO_LOSSES], ids=str)
def test_the_loss_of_zero_weights_is_that_of_a_margin_of_zero(rule):
    _, loss = respond(rule, 1, 0.0, Dense(np.ones((1, 1))), 0, RuleInput(1.0, 1.0, 1.0, 1.0))
    assert zero_loss(rule) == FirstOrder(rule).zero_loss == pytest.approx(loss)


def test_a_loss_without_a_rate_may_grow():
    assert np.isinf(zero_loss(PassiveAggressiveRule(1.0)))
    assert np.isinf(FirstOrder(PerceptronRule(0.0, 0.0)).zero_loss)


def test_the_remedy_fits_the_rule():
    assert "normalised=True" in remedy(LmsRule())
    assert "normalised=True" not in remedy(NormalisedLmsRule())
    assert "rate" not in remedy(PassiveAggressiveRule(1.0))
