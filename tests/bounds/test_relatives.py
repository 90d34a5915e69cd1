"""Bounds of the relatives of the perceptron: each holds on every run, and a wrong algorithm breaks it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import family
from oracles.cases import (
    DISJUNCTIONS,
    NOISY,
    SEPARABLE,
    Case,
    any_rows,
    broken,
    disjunctions,
    final_margin,
    holds,
    separable,
    settle,
)
from rosenblatt import bounds

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


def romma(case, algorithm):
    bound = bounds.romma(case.radius, case.margin)
    eager = case.run(algorithm, aggressive=True)
    return [
        (sum(case.run(algorithm).mistakes), bound),
        (sum(eager.mistakes), bound),
        (np.square(eager.losses).sum(), bound),
    ]


@given(separable())
def test_a8_mistakes_of_romma_and_losses_of_aggressive_romma(case):
    assert holds(romma(case, family.romma))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("c * w + d * y * x", "c * w - d * y * x"),
        ("ww * (1 - margin)", "(1 - margin)"),
        ("c * w + d * y * x", "y * x / xx"),
    ],
)
def test_a8_notices_a_wrong_sign_and_wrong_coefficients(old, new):
    assert broken(romma, SEPARABLE, family.romma, old, new)


def unit_rows(case):
    return Case(case.rows / np.linalg.norm(case.rows, axis=1)[:, None], case.labels, case.orders, case.u)


def alma_count(case, algorithm, alpha=0.5):
    run = case.run(algorithm, alpha=alpha)
    return [(sum(run.updates), bounds.alma2(unit_rows(case).margin, alpha))]


def alma_reached(case, algorithm, alpha=0.5):
    run = settle(algorithm, case, most_epochs=600, alpha=alpha)
    unit = unit_rows(case)
    return [] if run is None else [(bounds.alma2_margin(unit.margin, alpha), final_margin(unit.rows, unit, run))]


@given(separable(most_rows=12, most_features=3), st.sampled_from([0.3, 0.5, 0.9, 1.0]))
def test_a9_corrections_and_final_margin_of_alma(case, alpha):
    assert holds(alma_count(case, family.alma2, alpha))
    assert holds(alma_reached(case, family.alma2, alpha))


@pytest.mark.parametrize(
    ("old", "new"), [("* y * x", "* -y * x"), ("/ alpha / math.sqrt(k)", "/ alpha"), ("k += 1", "k += 0")]
)
def test_a9_notices_a_wrong_sign_and_wrong_rates(old, new):
    assert broken(alma_count, SEPARABLE, family.alma2, old, new)


def test_a9_notices_a_trigger_without_margin():
    assert broken(alma_reached, SEPARABLE, family.alma2, "margin <= (1 - alpha)", "margin <= 0 * (1 - alpha)")


def p_norm(case, algorithm, ps=(2, 3, 6)):
    pairs = []
    for p in ps:
        radius = (abs(case.rows) ** p).sum(1).max() ** (1 / p)
        q = p / (p - 1)
        margin = (case.labels * (case.rows @ case.u)).min() / (abs(case.u) ** q).sum() ** (1 / q)
        pairs.append((sum(case.run(algorithm, p=p).mistakes), bounds.p_norm(radius, margin, p)))
    return pairs


@given(separable(), st.sampled_from([2, 2.5, 3, 4, 8]))
def test_mistakes_of_the_p_norm_perceptron(case, p):
    assert holds(p_norm(case, family.p_norm, [p]))


@pytest.mark.parametrize(("old", "new"), [("total + y * x", "total - y * x"), ("np.sign(total) * ", "")])
def test_the_p_norm_check_notices_a_wrong_sign_and_a_lost_one(old, new):
    assert broken(p_norm, SEPARABLE, family.p_norm, old, new)


def arow(case, algorithm, rs=(1.0,)):
    pairs = []
    for r in rs:
        run = case.run(algorithm, r=r)
        eager = sum(run.updates) - sum(run.mistakes)
        pairs.append(
            (sum(run.mistakes), bounds.arow(case.rows[run.rows], case.labels[run.rows], case.u, max(0, eager), r))
        )
    return pairs


@given(any_rows(), st.sampled_from([1 / 8, 1.0, 16.0]))
def test_a10_arow_against_any_vector(case, r):
    assert holds(arow(case, family.arow, [r]))


@given(separable(), st.sampled_from([1 / 8, 1.0, 16.0]))
def test_a10_arow_against_a_separator(case, r):
    case.u = case.u * 2
    assert holds(arow(case, family.arow, [r]))


@pytest.mark.parametrize(
    ("old", "new"), [("w + loss", "w - loss"), ("if loss > 0", "if loss > 1"), ("S - beta", "S + beta")]
)
def test_a10_notices_wrong_signs_and_a_wrong_trigger(old, new):
    assert broken(arow, SEPARABLE + NOISY, family.arow, old, new)


def test_without_updates_the_bound_is_zero():
    assert bounds.arow([], [], [1.0, 2.0], 0) == 0
    assert bounds.arow(np.empty((0, 2)), [], [1.0, 2.0], 0) == 0


def winnow1(case, algorithm, alpha=2.0, theta=None):
    n, k = len(case.u), int(case.u.sum())
    run = case.run(algorithm, alpha=alpha, theta=theta)
    return [(sum(run.mistakes), bounds.winnow1(k, n, alpha, theta))]


def winnow2(case, algorithm, alpha=2.0, theta=None):
    n, k = len(case.u), int(case.u.sum())
    run = case.run(algorithm, alpha=alpha, theta=theta)
    return [(sum(run.mistakes), bounds.winnow2(k, n, alpha, theta))]


@given(disjunctions(), st.sampled_from([1.5, 2.0, 3.0]), st.sampled_from([None, 1.0, 5.0, 40.0]))
def test_a14_mistakes_of_winnow_on_disjunctions(case, alpha, theta):
    assert holds(winnow1(case, family.winnow1, alpha, theta))
    assert holds(winnow2(case, family.winnow2, alpha, theta))


@given(st.integers(2, 500), st.integers(1, 5))
def test_a14_the_usual_form_of_the_bound(n, k):
    if k <= n:
        assert bounds.winnow1(k, n) == pytest.approx(2 * k * math.log2(n) + 2)
        assert bounds.winnow2(k, n, theta=n) == pytest.approx(3 * k * (math.log2(n) + 1) + 2)


@pytest.mark.parametrize(
    ("old", "new"), [("else 0.0", "else w"), ("w * alpha if y > 0", "w / alpha if y > 0"), ("if y > 0", "if y < 0")]
)
def test_a14_notices_no_elimination_a_demotion_for_a_promotion_and_both_swapped(old, new):
    assert broken(winnow1, DISJUNCTIONS, family.winnow1, old, new)


@pytest.mark.parametrize(("old", "new"), [("w / alpha", "w"), ("if y > 0", "if y < 0")])
def test_a14_notices_no_demotion_and_both_swapped_in_winnow2(old, new):
    assert broken(winnow2, DISJUNCTIONS, family.winnow2, old, new)
