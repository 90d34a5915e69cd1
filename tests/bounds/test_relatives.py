"""ROMMA, ALMA and the p-norm perceptron."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import family
from oracles.cases import SEPARABLE, Case, broken, final_margin, holds, separable, settle
from rosenblatt import bounds


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
