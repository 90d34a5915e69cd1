"""Each rule's step and loss, by its formula."""

import numpy as np
import pytest
from scipy.special import wrightomega

from rosenblatt.engine.rules import passive_aggressive, perceptron, respond
from rosenblatt.learners.adaline import least_mean_squares, normalised_least_mean_squares
from rosenblatt.learners.passive_aggressive import smooth_passive_aggressive
from rosenblatt.learners.soft_margin import hinge, logistic, squared_hinge

NORM = 6.0
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
]


@pytest.mark.parametrize(("rule", "formula"), FORMULAS, ids=lambda part: str(part) if isinstance(part, tuple) else "")
@pytest.mark.parametrize("margin", [-3.0, 0.0, 0.9, 1.0, 4.0])
def test_step_and_loss_are_those_of_the_formula(rule, formula, margin):
    found = respond(rule, margin, NORM, 0.01, 1.0, 1)
    np.testing.assert_allclose(found, formula(margin), atol=1e-15)


@pytest.mark.parametrize("margin", [-40.0, -3.0, 0.0, 2.0])
@pytest.mark.parametrize("rate", [1e-3, 0.1, 10.0, 1e4])
def test_a_step_against_the_logistic_loss_goes_as_far_as_many_small_ones(margin, rate):
    step, _ = respond(logistic(), margin, NORM, rate, 1.0, 1)
    z = margin + 6 * step
    assert z + np.exp(z) == pytest.approx(margin + np.exp(margin) + 6 * rate, rel=1e-2, abs=1e-2)


@pytest.mark.parametrize("margin", np.linspace(-20.0, 20.0, 41))
def test_a_bounded_step_is_the_exact_one_up_to_a_hundredth_and_grows_with_the_rate(margin):
    rates = np.geomspace(1e-6, 1e6, 241)
    steps = [respond(logistic(), margin, NORM, rate, 1.0, 1)[0] for rate in rates]
    ends = margin + np.exp(margin) + 6.0 * rates
    found, exact = 6.0 * np.array(steps), ends - wrightomega(ends) - margin
    plain = 6.0 * rates / (1.0 + np.exp(margin))
    seen = exact > 1e-6 * max(1.0, np.exp(margin))  # where the difference is more than rounding
    np.testing.assert_allclose(found[seen], exact[seen], rtol=0.01)
    np.testing.assert_allclose(found[plain < 1e-4], plain[plain < 1e-4], rtol=1e-4)
    assert (np.diff(steps) > -1e-2 * np.array(steps[1:])).all()


def test_a_row_of_length_zero_takes_the_plain_step():
    for bounded, plain in ((hinge(), hinge(bounded=False)), (logistic(), logistic(bounded=False))):
        assert respond(bounded, 0.0, 0.0, 0.5, 1.0, 1) == respond(plain, 0.0, 0.0, 0.5, 1.0, 1)


def test_a_step_against_the_squared_hinge_ends_at_a_margin_of_one():
    step, _ = respond(squared_hinge(), -1.0, NORM, 1e6, 1.0, 1)
    assert -1.0 + step * 6 == pytest.approx(1.0)


@pytest.mark.parametrize("rule", [least_mean_squares(), normalised_least_mean_squares()], ids=str)
def test_a_row_that_counts_twice_is_learned_twice(rule):
    once, _ = respond(rule, 0.0, NORM, 0.01, 1.0, 1)
    again, _ = respond(rule, once * 6, NORM, 0.01, 1.0, 1)
    twice, _ = respond(rule, 0.0, NORM, 0.01, 2.0, 1)
    assert twice == pytest.approx(once + again)


@pytest.mark.parametrize(
    ("sign", "margin", "wanted"),
    [(1, 0.1, (0.0, 0.0)), (1, 0.0, (1.5, 0.0)), (1, -2.0, (1.5, 2.0)), (-1, 0.4, (1.5, 0.1)), (-1, 0.6, (0.0, 0.0))],
)
def test_a_tie_is_a_mistake_and_each_class_has_its_margin(sign, margin, wanted):
    step, loss = respond(perceptron(negative=0.5), margin, NORM, 0.5, 3.0, sign)
    assert (step, loss) == (wanted[0], pytest.approx(wanted[1]))
