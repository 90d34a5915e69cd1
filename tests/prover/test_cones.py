"""The oracle of estimates on designs whose answer is known by hand."""

import numpy as np

from attacks import fuzz_estimates
from attacks.fuzz_verdicts import numbers
from oracles import cones, exact_lp, recession

SEPARABLE, QUASI, OVERLAP = "separable", "quasi-separable", "overlapping"


def test_it_agrees_with_the_primal_programs():
    seen = set()
    for k in range(len(fuzz_estimates.FAMILIES)):
        _, X, label, decimal = fuzz_estimates.draw(k, 11)
        if not label.max():
            continue
        rows, labels = numbers(X, decimal), label.tolist()
        found = cones.answers(cones.multinomial(rows, labels, decimal=decimal))
        assert found == (
            exact_lp.verdict(rows, labels, decimal=decimal),
            recession.extreme(rows, labels, decimal=decimal),
            recession.estimates(rows, labels, decimal=decimal),
        )
        seen |= {found[0], *found[2]}
    assert seen == {SEPARABLE, QUASI, OVERLAP, "finite", "+inf", "-inf", "+/-inf", "not identified"}


def test_a_threshold_drives_slope_and_intercept():
    # x > 0.5 is class 1: b > 0, and the boundary -a / b is between 0 and 1: a < 0 unless the boundary is 0.
    assert cones.answers(cones.binary([[0], [1]], [0, 1])) == (SEPARABLE, (0, 1), ("+inf", "-inf"))
    # Centred, the constant can have any sign.
    assert cones.answers(cones.binary([[-1], [1]], [0, 1])) == (SEPARABLE, (0, 1), ("+inf", "+/-inf"))


def test_without_a_constant_rays_count():
    # 1 and 2 are on one ray from the origin, with different classes; with a constant they are separable.
    assert cones.answers(cones.binary([[1], [2]], [0, 1])) == (SEPARABLE, (0, 1), ("+inf", "-inf"))
    none = "not identified"
    assert cones.answers(cones.binary([[1], [2]], [0, 1], constant=False)) == (OVERLAP, (), ("finite", none))
    assert cones.answers(cones.binary([[1], [2]], [1, 1], constant=False)) == (SEPARABLE, (0, 1), ("+inf", none))
    # A row of zeros has a fitted probability of one half whatever the weight.
    assert cones.answers(cones.binary([[0], [2]], [1, 1], constant=False)) == (QUASI, (1,), ("+inf", none))
    # A constant among the columns is a column like any other.
    assert cones.answers(cones.binary([[1, 1], [2, 1]], [0, 1], constant=False))[2] == ("+inf", "-inf", none)


def test_counts_diverge_where_a_column_vanishes_on_the_positive_rows():
    # The dummy of a level with no counts: its mean falls to zero, and nothing else moves.
    X, y = [[1], [1], [0], [0], [0], [0]], [0, 0, 0, 1, 2, 3]
    assert cones.answers(cones.poisson(X, y)) == (QUASI, (0, 1), ("-inf", "finite"))
    # A slope cannot vanish on positive rows at two places.
    assert cones.answers(cones.poisson([[0], [1], [2]], [0, 1, 2])) == (OVERLAP, (), ("finite", "finite"))
    # All positive rows are at 1: the slope turns around that point, a + b = 0.
    assert cones.answers(cones.poisson([[0], [1]], [0, 5])) == (QUASI, (0,), ("+inf", "-inf"))
    assert cones.answers(cones.poisson([[0], [1], [2]], [0, 5, 0])) == (OVERLAP, (), ("finite", "finite"))
    # No counts at all: the constant alone falls. The slope can have either sign beside it.
    assert cones.answers(cones.poisson([[0], [1]], [0, 0])) == (SEPARABLE, (0, 1), ("+/-inf", "-inf"))
    assert cones.answers(cones.poisson([[1], [2]], [0, 0], constant=False))[2] == ("-inf", "not identified")


def test_groups_with_both_outcomes_are_equations():
    X = [[0], [1], [2]]
    assert cones.answers(cones.grouped(X, [[1, 1], [1, 1], [3, 0]])) == (OVERLAP, (), ("finite", "finite"))
    assert cones.answers(cones.grouped(X, [[0, 4], [2, 2], [3, 0]])) == (QUASI, (0, 2), ("+inf", "-inf"))
    assert cones.answers(cones.grouped(X, [[0, 4], [0, 2], [3, 0]])) == (SEPARABLE, (0, 1, 2), ("+inf", "-inf"))
    # An empty group says nothing, and identifies nothing.
    assert cones.answers(cones.grouped(X, [[1, 1], [0, 0], [0, 0]])) == (OVERLAP, (), ("not identified", "finite"))


def test_groups_are_their_single_rows():
    rng = np.random.default_rng(0)
    verdicts = set()
    for _ in range(200):
        X = rng.integers(-1, 2, (int(rng.integers(2, 6)), 2)).tolist()
        counts = (rng.integers(1, 3, (len(X), 2)) * (rng.random((len(X), 2)) < 0.5)).tolist()
        if not np.any(counts):
            continue
        single = [
            (x, side) for x, pair in zip(X, counts, strict=True) for side in (1, 0) for _ in range(pair[1 - side])
        ]
        for constant in (True, False):
            verdict, _, estimates = cones.answers(cones.grouped(X, counts, constant=constant))
            other = cones.answers(cones.binary(*map(list, zip(*single, strict=True)), constant=constant))
            assert (verdict, estimates) == (other[0], other[2])
            verdicts.add(verdict)
    assert verdicts == {SEPARABLE, QUASI, OVERLAP}


def test_classes_are_compared_with_the_first():
    # Class 2 alone is at 9. Classes 0 and 1 are mixed at 0 and 1, where 2 must not rise against them.
    verdict, extreme, estimates = cones.answers(cones.multinomial([[0], [0], [1], [1], [9]], [0, 1, 0, 1, 2]))
    assert (verdict, extreme) == (QUASI, (4,))
    assert estimates == ("finite", "finite", "+inf", "-inf")


def test_thresholds_of_an_ordinal_model():
    # Two classes: P(y = 0) = F(alpha - beta x) is the binary model with the intercept -alpha.
    assert cones.answers(cones.ordinal([[0], [1]], [0, 1])) == (SEPARABLE, (0, 1), ("+inf", "+inf"))
    # In order and apart: all grow together.
    ordered = cones.answers(cones.ordinal([[1], [2], [3]], [0, 1, 2]))
    assert ordered == (SEPARABLE, (0, 1, 2), ("+inf", "+inf", "+inf"))
    # Out of order, as 1, 3, 2: no slope puts them apart.
    assert cones.answers(cones.ordinal([[1], [2], [3]], [0, 2, 1]))[0] == OVERLAP
    # 0 and 1 are mixed at x = 0 and x = 1; class 2 is at x = 0 too: all is finite.
    mixed = [[0], [0], [1], [1], [0]]
    assert cones.answers(cones.ordinal(mixed, [0, 1, 0, 1, 2])) == (OVERLAP, (), ("finite",) * 3)
    # A constant feature is part of the thresholds.
    assert cones.answers(cones.ordinal([[7], [7]], [0, 1])) == (OVERLAP, (), ("not identified", "finite"))


def test_later_columns_are_the_dependent_ones():
    assert cones.dependent(cones.padded([[2, 1, 2], [2, 3, 6], [2, 4, 8]], True)) == {0, 2}
    assert cones.dependent(cones.padded([[2, 1, 2], [2, 3, 6], [2, 4, 8]], False)) == {2, 3}
