"""Cones of integer rows: every answer is a proof."""

from fractions import Fraction

import numpy as np

from oracles.exact_lp import feasible
from rosenblatt.prover.exact.cones import in_cone


def test_every_answer_proves_itself_and_the_oracle_agrees():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        count, size = int(rng.integers(1, 7)), int(rng.integers(1, 5))
        rows = rng.integers(-3, 4, (count, size)).tolist()
        target = rng.integers(-3, 4, size).tolist()
        if not any(target):
            continue
        members, normal = in_cone(rows, target)
        # Outside the cone if some x is not negative on the rows and negative on the target.
        outside = feasible([*rows, [-v for v in target]], [0] * count + [1])
        assert outside == (normal is not None)
        seen.add(outside)
        if normal is not None:
            assert all(sum(a * b for a, b in zip(row, normal, strict=True)) >= 0 for row in rows)
            assert sum(a * b for a, b in zip(target, normal, strict=True)) < 0
        else:
            assert np.linalg.matrix_rank(np.array(rows)[members]) == len(members)
            factors = np.linalg.lstsq(np.array(rows, float)[members].T, np.array(target, float), rcond=None)[0]
            assert factors.min() > 0
            np.testing.assert_allclose(np.array(rows, float)[members].T @ factors, target, atol=1e-9)
    assert seen == {True, False}


def test_integers_of_any_size_are_exact():
    long = 3**200
    members, normal = in_cone([[long, 1], [-long, 1]], [1, 0])
    assert members == []
    assert normal[0] * long + normal[1] >= 0
    assert -normal[0] * long + normal[1] >= 0
    assert normal[0] < 0
    assert Fraction(normal[1], -normal[0]) >= long
