"""The margin perceptron and the passive-aggressive algorithms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import family
from oracles.cases import AXES, NOISY, SEPARABLE, any_rows, broken, final_margin, holds, separable, settle
from rosenblatt import bounds

TAUS = st.tuples(st.integers(0, 30), st.integers(0, 30))


def margin_count(case, algorithm, taus=(9, 4)):
    run = case.run(algorithm, tau_pos=taus[0], tau_neg=taus[1])
    return [(sum(run.updates), bounds.margin_perceptron(case.radius, case.margin, *taus))]


def margin_reached(case, algorithm, taus=(30, 30)):
    run = settle(algorithm, case, tau_pos=taus[0], tau_neg=taus[1])
    least = bounds.margin_perceptron_margin(case.radius, case.margin, *taus)
    return [] if run is None else [(least, final_margin(case.rows, case, run))]


@given(separable(most_rows=12, most_features=3), TAUS)
def test_a6_updates_and_final_margin_of_the_margin_perceptron(case, taus):
    assert holds(margin_count(case, family.margin_perceptron, taus))
    assert holds(margin_reached(case, family.margin_perceptron, taus))


@pytest.mark.parametrize(("old", "new"), [("w + y * x", "w - y * x"), ("w + y * x", "w + 0.1 * y * x")])
def test_a6_notices_a_wrong_sign_and_a_short_step(old, new):
    assert broken(margin_count, SEPARABLE + AXES, family.margin_perceptron, old, new)


def test_a6_notices_a_trigger_without_tau():
    old = "(tau_pos if y > 0 else tau_neg)"
    assert broken(margin_reached, SEPARABLE, family.margin_perceptron, old, "0")


def test_a6_without_tau_in_the_bound_is_false():
    runs = [(case, case.run(family.margin_perceptron, tau_pos=9, tau_neg=9)) for case in AXES]
    assert all(sum(run.updates) > bounds.novikoff(case.radius, case.margin) * (1 + 1e-9) for case, run in runs)


CS = st.sampled_from([1 / 64, 0.1, 1.0, 10.0])


def pa(case, algorithm):
    run = case.run(algorithm)
    bound = bounds.passive_aggressive(case.radius, case.margin)
    return [(np.square(run.losses).sum(), bound), (sum(run.mistakes), bound)]


def pa1(case, algorithm, Cs=(1 / 64, 0.1, 1.0)):
    norm, loss = np.linalg.norm(case.u), case.losses(case.stream).sum()
    return [
        (
            sum(case.run(algorithm, C=C, variant="PA-I").mistakes),
            bounds.passive_aggressive_1(case.radius, norm, loss, C),
        )
        for C in Cs
    ]


def pa2(case, algorithm, Cs=(1 / 64, 0.1, 1.0)):
    norm, loss = np.linalg.norm(case.u), (case.losses(case.stream) ** 2).sum()
    return [
        (
            np.square(case.run(algorithm, C=C, variant="PA-II").losses).sum(),
            bounds.passive_aggressive_2(case.radius, norm, loss, C),
        )
        for C in Cs
    ]


@given(separable())
def test_a7_squared_losses_of_pa(case):
    assert holds(pa(case, family.passive_aggressive))


@given(any_rows(), CS)
def test_a7_mistakes_of_pa1_and_squared_losses_of_pa2_against_any_vector(case, C):
    assert holds(pa1(case, family.passive_aggressive, [C]))
    assert holds(pa2(case, family.passive_aggressive, [C]))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("w + step * y * x", "w - step * y * x"),
        ("step = wanted / (x @ x)\n            elif", "step = wanted\n            elif"),
    ],
)
def test_a7_notices_a_wrong_sign_and_a_step_without_the_norm(old, new):
    assert broken(pa, SEPARABLE, family.passive_aggressive, old, new)


@pytest.mark.parametrize(("old", "new"), [("w + step * y * x", "w - step * y * x"), ("if loss > 0", "if loss > 1")])
def test_a7_pa1_notices_a_wrong_sign_and_a_wrong_trigger(old, new):
    assert broken(pa1, SEPARABLE + NOISY, family.passive_aggressive, old, new)


@pytest.mark.parametrize(("old", "new"), [("w + step * y * x", "w - step * y * x"), (" + 1 / (2 * C)", "")])
def test_a7_pa2_notices_a_wrong_sign_and_a_missing_term(old, new):
    assert broken(pa2, SEPARABLE + NOISY, family.passive_aggressive, old, new)
