"""Each rule's step and loss, by its formula."""

import numpy as np
import pytest
from scipy.special import wrightomega

from rosenblatt.engine.rules import hinge, least_mean_squares, logistic, normalised_least_mean_squares, passive_aggressive, respond, smooth_passive_aggressive, squared_hinge
from rosenblatt.engine.rows import Dense

ROWS = Dense(np.array([[2.0, 1.0]]))  # of squared norm 6, the bias included
FORMULAS = [
    (passive_aggressive(C=0.1), lambda m: (min(0.1, max(0, 1 - m) / 6), max(0, 1 - m))),
    (passive_aggressive(C=np.inf), lambda m: (max(0, 1 - m) / 6, max(0, 1 - m))),
    (smooth_passive_aggressive(C=2.0), lambda m: (max(0, 1 - m) / (6 + 1 / 4), max(0, 1 - m) ** 2)),
    (hinge(), lambda m: (min(0.01, max(0, 1 - m) / 6), max(0, 1 - m))),
    (hinge(bounded=False), lambda m: (0.01 * (m < 1), max(0, 1 - m))),
    (squared_hinge(), lambda m: (0.02 * max(0, 1 - m), max(0, 1 - m) ** 2)),
    (logistic(bounded=False), lambda m: (0.01 / (1 + np.exp(m)), np.log1p(np.exp(-m)))),
    (least_mean_squares(), lambda m: (0.01 * (1 - m), (1 - m) ** 2 / 2)),
    (normalised_least_mean_squares(), lambda m: (0.01 * (1 - m) / 6, (1 - m) ** 2 / 2)),
    (normalised_least_mean_squares(8.0), lambda m: (0.01 * (1 - m) / 8, (1 - m) ** 2 / 2)),
]


@pytest.mark.parametrize(("rule", "formula"), FORMULAS, ids=lambda part: str(part) if isinstance(part, tuple) else "")
@pytest.mark.parametrize("margin", [-3.0, 0.0, 0.9, 1.0, 4.0])
def test_step_and_loss_are_those_of_the_formula(rule, formula, margin):
    found = respond(rule, 1, margin, ROWS, 0, RuleInput(0.01, 1.0, 1.0, 1.0))
    np.testing.assert_allclose(found, formula(margin), atol=1e-15)


@pytest.mark.parametrize("margin", [-40.0, -3.0, 0.0, 2.0])
@pytest.mark.parametrize("rate", [1e-3, 0.1, 10.0, 1e4])
def test_a_step_against_the_logistic_loss_goes_as_far_as_many_small_ones(margin, rate):
    step, _ = respond(logistic(), 1, margin, ROWS, 0, RuleInput(rate, 1.0, 1.0, 1.0))
    z = margin + 6 * step
    assert z + np.exp(z) == pytest.approx(margin + np.exp(margin) + 6 * rate, rel=1e-2, abs=1e-2)


@pytest.mark.parametrize("margin", np.linspace(-20.0, 20.0, 41))
def test_a_bounded_step_is_the_exact_one_up_to_a_hundredth_and_grows_with_the_rate(margin):
    rates = np.geomspace(1e-6, 1e6, 241)
    steps = [respond(logistic(), 1, margin, ROWS, 0, RuleInput(rate, 1.0, 1.0, 1.0))[0] for rate in rates]
    ends = margin + np.exp(margin) + 6.0 * rates
    found, exact = 6.0 * np.array(steps), ends - wrightomega(ends) - margin
    plain = 6.0 * rates / (1.0 + np.exp(margin))
    seen = exact > 1e-6 * max(1.0, np.exp(margin))  # where the difference is more than rounding
    np.testing.assert_allclose(found[seen], exact[seen], rtol=0.01)
    np.testing.assert_allclose(found[plain < 1e-4], plain[plain < 1e-4], rtol=1e-4)
    assert (np.diff(steps) > -1e-2 * np.array(steps[1:])).all()


def test_a_row_of_length_zero_takes_the_plain_step():
    trial = RuleInput(0.5, 1.0, 1.0, 0.0)
    for bounded, plain in ((hinge(), hinge(bounded=False)), (logistic(), logistic(bounded=False))):
        rows = Dense(np.zeros((1, 2)))
        assert respond(bounded, 1, 0.0, rows, 0, trial) == respond(plain, 1, 0.0, rows, 0, trial)


def test_a_step_against_the_squared_hinge_ends_at_a_margin_of_one():
    step, _ = respond(squared_hinge(), 1, -1.0, ROWS, 0, RuleInput(1e6, 1.0, 1.0, 1.0))
    assert -1.0 + step * 6 == pytest.approx(1.0)


@pytest.mark.parametrize("rule", [least_mean_squares(), normalised_least_mean_squares()], ids=str)
def test_a_row_that_counts_twice_is_learned_twice(rule):
    once, _ = respond(rule, 1, 0.0, ROWS, 0, RuleInput(0.01, 1.0, 1.0, 1.0))
    again, _ = respond(rule, 1, once * 6, ROWS, 0, RuleInput(0.01, 1.0, 1.0, 1.0))
    twice, _ = respond(rule, 1, 0.0, ROWS, 0, RuleInput(0.01, 2.0, 1.0, 1.0))
    assert twice == pytest.approx(once + again)
