"""AROW."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import family
from oracles.cases import NOISY, SEPARABLE, any_rows, broken, holds, separable
from rosenblatt import bounds


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
