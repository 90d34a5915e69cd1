"""The perceptron's rule, and what does nothing."""

import numpy as np
import pytest

from rosenblatt.engine.rules import perceptron, respond
from rosenblatt.engine.epoch import rate_at

ROWS = None  # the perceptron looks at the margin alone


@pytest.mark.parametrize(
    ("sign", "margin", "wanted"),
    [(1, 0.1, (0.0, 0.0)), (1, 0.0, (1.5, 0.0)), (1, -2.0, (1.5, 2.0)), (-1, 0.4, (1.5, 0.1)), (-1, 0.6, (0.0, 0.0))],
)
def test_a_tie_is_a_mistake_and_each_class_has_its_margin(sign, margin, wanted):
    step, loss = respond(perceptron(0.0, 0.5), sign, margin, ROWS, 0, RuleInput(0.5, 3.0, 1.0, 1.0))
    assert (step, loss) == (wanted[0], pytest.approx(wanted[1]))


def test_a_margin_that_is_not_a_number_is_never_correct():
    step, _ = respond(perceptron(), 1, np.nan, ROWS, 0, RuleInput(1.0, 1.0, 1.0, 1.0))
    assert step == 1.0


def test_a_constant_rate_stays():
    assert [rate_at(ConstantRate(0.3), t) for t in (1, 5, 1000)] == [0.3] * 3
