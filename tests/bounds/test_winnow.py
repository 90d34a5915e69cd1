"""Winnow on disjunctions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import family
from oracles.cases import DISJUNCTIONS, broken, disjunctions, holds
from rosenblatt import bounds


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
