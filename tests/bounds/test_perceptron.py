"""Bounds of the perceptron: each holds on every run, and a wrong algorithm breaks it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import family, reference
from oracles.cases import (
    AXES,
    CLASSES,
    NOISY,
    SEPARABLE,
    Case,
    any_rows,
    broken,
    final_margin,
    holds,
    separable,
    separable_classes,
    settle,
)
from rosenblatt import bounds
from strategies import small


def novikoff(case, algorithm):
    return [(sum(case.run(algorithm).mistakes), bounds.novikoff(case.radius, case.margin))]


@given(separable())
def test_a1_novikoff(case):
    assert holds(novikoff(case, family.perceptron))


@pytest.mark.parametrize(("old", "new"), [("w + y * x", "w - y * x"), ("if margin <= 0", "if margin < 0")])
def test_a1_notices_a_wrong_sign_and_a_wrong_trigger(old, new):
    assert broken(novikoff, SEPARABLE, family.perceptron, old, new)


def test_a1_is_an_equality_on_orthonormal_rows():
    for case in AXES:
        assert sum(case.run(family.perceptron).mistakes) == round(bounds.novikoff(case.radius, case.margin))


@given(separable(), st.lists(small, min_size=6, max_size=6))
def test_a3_duda_and_hart_from_any_start(case, start):
    start = start[: case.rows.shape[1]]
    unscaled = case.margin * np.linalg.norm(case.u)
    k0 = bounds.from_start(start, case.u, case.radius, unscaled)
    # The padding is a feature here, so the bias of the reference is off.
    _, _, mistakes = reference.perceptron(case.rows.tolist(), case.labels.tolist(), case.orders, w0=start, bias=0)
    assert sum(mistakes) <= k0 * (1 + 1e-9)
    unit = case.u / np.linalg.norm(case.u)
    assert bounds.from_start(0 * unit, unit, case.radius, case.margin) == pytest.approx(
        bounds.novikoff(case.radius, case.margin)
    )


def agnostic(case, algorithm):
    run = case.run(algorithm)
    norm = np.linalg.norm(case.u)
    # The wrong variants may err without an update, so the mistakes' losses are taken from the losses of the run.
    wrong = [i for i, loss in zip(case.stream, run.losses, strict=True) if loss >= 1]
    return [(sum(run.mistakes), bounds.agnostic(case.radius, norm, case.losses(wrong).sum()))]


@given(any_rows())
def test_a4_the_agnostic_bound_against_any_vector(case):
    assert holds(agnostic(case, family.perceptron))


@pytest.mark.parametrize(("old", "new"), [("w + y * x", "w - y * x"), ("if margin <= 0", "if margin < 0")])
def test_a4_notices_a_wrong_sign_and_a_wrong_trigger(old, new):
    assert broken(agnostic, SEPARABLE + NOISY, family.perceptron, old, new)


def test_a4_without_the_loss_is_false():
    assert any(sum(case.run(family.perceptron).mistakes) > (case.radius**2 * case.u @ case.u) for case in NOISY)


def freund_schapire(case, algorithm, gammas=(0.1, 0.5, 2.0), once=False):
    mistakes = sum(case.run(algorithm).mistakes)
    unit = case.u / (np.linalg.norm(case.u) or 1.0)
    seen = list(range(len(case.rows))) if once else case.stream
    margins = case.labels[seen] * (case.rows[seen] @ unit)
    return [
        (mistakes, bounds.freund_schapire(case.radius, gamma, math.sqrt((np.maximum(0, gamma - margins) ** 2).sum())))
        for gamma in gammas
    ]


@given(any_rows(), st.integers(1, 40))
def test_a5_freund_and_schapire(case, eighths):
    if case.u.any():
        assert holds(freund_schapire(case, family.perceptron, [eighths / 8]))


@pytest.mark.parametrize(("old", "new"), [("w + y * x", "w - y * x"), ("if margin <= 0", "if margin < 0")])
def test_a5_notices_a_wrong_sign_and_a_wrong_trigger(old, new):
    assert broken(freund_schapire, SEPARABLE + NOISY, family.perceptron, old, new)


def test_a5_with_the_deviation_of_one_pass_is_false_for_many():
    assert any(not holds(freund_schapire(case, family.perceptron, once=True)) for case in NOISY)


def multiclass(case, algorithm):
    if not len(case.rows):
        return []
    scores = np.sort(case.rows @ case.u.T, axis=1)
    margin = (scores[:, -1] - scores[:, -2]).min() / np.linalg.norm(case.u)
    bound = bounds.multiclass(case.radius, margin)
    return [
        (sum(case.run(algorithm, n_classes=len(case.u), spread=spread).mistakes), bound)
        for spread in ("max", "uniform")
    ]


@given(separable_classes())
def test_a12_mistakes_of_the_ultraconservative_perceptrons(case):
    assert holds(multiclass(case, family.multiclass))


@pytest.mark.parametrize(
    ("old", "new"), [("W[k] -= x", "W[k] += x"), ("W[c] += x", "W[c] -= x"), ("if margin <= 0", "if margin < 0")]
)
def test_a12_notices_wrong_signs_and_a_wrong_trigger(old, new):
    assert broken(multiclass, CLASSES, family.multiclass, old, new)


def test_a12_without_the_factor_two_is_false():
    row = Case(np.ones((1, 1)), np.array([0]), [[0]], np.array([[1.0], [-1.0]]) / math.sqrt(2))
    bound = bounds.multiclass(row.radius, math.sqrt(2))
    mistakes = sum(row.run(family.multiclass, n_classes=2).mistakes)
    assert mistakes == pytest.approx(bound)
    assert mistakes > bound / 2


def mixing(case, algorithm, shares=(1, 3)):
    bound = bounds.parameter_mixing(case.radius, case.margin)
    return [(case.run(algorithm, shares=s).more["weighted"], bound) for s in shares]


@given(separable(), st.integers(1, 5))
def test_a15_weighted_mistakes_of_parameter_mixing(case, shares):
    assert holds(mixing(case, family.parameter_mixing, [shares]))


@pytest.mark.parametrize(("old", "new"), [("v + y * x", "v - y * x"), ("v = w\n", "v = 0 * w\n")])
def test_a15_notices_a_wrong_sign_and_a_mix_that_is_forgotten(old, new):
    assert broken(mixing, SEPARABLE, family.parameter_mixing, old, new)


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
