"""Brackets, radius and mistake bound against fractions."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from certificates_by_hand import exact, prepare, signed_rows_of
from rosenblatt.prover.certificates.brackets import (
    direction,
    margin_bracket,
    mistake_bound,
    outer_radius,
    root_above,
    root_below,
)


@given(st.fractions(min_value=0), st.integers(-400, 400))
def test_roots_are_rounded_outwards_by_less_than_a_step(value, exponent):
    square = value * Fraction(4) ** exponent
    low, high = root_below(square), root_above(square)
    assert Fraction(low) ** 2 <= square < Fraction(math.nextafter(low, math.inf)) ** 2
    assert Fraction(high) ** 2 >= square
    assert high == 0 or Fraction(math.nextafter(high, 0.0)) ** 2 < square


@st.composite
def two_clouds(draw):
    """Separable rows, a separator that is not the best, and witnesses."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(2, 30)), draw(st.integers(1, 5))
    X = rng.standard_normal((n, d)) * 10.0 ** draw(st.integers(-8, 8)) + 10.0 ** draw(st.integers(-3, 6))
    w = rng.standard_normal(d)
    margins = X @ w
    cut = np.median(margins) if n > 2 else margins.mean()
    y = margins > cut
    y[np.argmax(margins)] = True
    rows = np.flatnonzero(rng.random(n) < 0.5)
    rows = np.union1d(rows, [np.argmax(margins), np.argmin(margins)])
    return X, y, np.append(w, -cut), rows, rng.random(rows.size) + 0.01, draw(st.booleans())


@given(two_clouds(), st.booleans())
def test_brackets_are_true_and_tight(clouds, in_fractions):
    X, y, w, rows, weights, decimal = clouds
    if in_fractions:  # that no floats are
        w, weights = (np.array([Fraction(v) / 3 for v in part]) for part in (w, weights))
    signed, _ = prepare(X, y, decimal)
    Z = list(signed_rows_of(X, y.astype(int), 2, decimal))
    exact_w = [exact(v) for v in w]
    margins = [sum(a * b for a, b in zip(z, exact_w, strict=True)) for z in Z]
    shares = [exact(v) for v in weights]

    def mean(side):
        own = [(share, Z[i]) for share, i in zip(shares, rows, strict=True) if y[i] in side]
        return [sum(share * z[j] for share, z in own) / sum(share for share, _ in own) for j in range(w.size)]

    low = [min(h for h, own in zip(margins, y, strict=True) if own == side) for side in (False, True)]
    square = sum(v * v for v in exact_w)
    gap = [a + b for a, b in zip(mean({False}), mean({True}), strict=True)]
    for bracket, least, norm, upper in (
        (
            margin_bracket(signed, w, rows, weights),
            sum(low) / 2,
            square - exact_w[-1] ** 2,
            sum(v * v for v in gap) / 4,
        ),
        (
            margin_bracket(signed, w, rows, weights, augmented=True),
            min(low),
            square,
            sum(v * v for v in mean({False, True})),
        ),
    ):
        truth = (1 if least > 0 else -1) * least**2 / norm
        lower = exact(bracket.lower) * abs(exact(bracket.lower))
        assert lower <= truth <= lower + abs(lower) * Fraction(1, 10**12)
        assert exact(bracket.upper) ** 2 >= upper >= exact(bracket.upper) ** 2 * (1 - Fraction(1, 10**12))


def test_integers_are_not_rounded_on_the_way():
    assert direction((2**60 + 1, Fraction(1, 2))) == [2**61 + 2, 1]
    assert direction((0.5, np.float32(2.0))).tolist() == [0.5, 2.0]
    signed, _ = prepare([[1.0, 1.0], [-1.0, -1.0]], [1, 0])
    assert (
        margin_bracket(signed, (2**60 + 1, -(2**60), 0), [], [], augmented=True).lower > 0
    )  # in floats the margin is zero


@given(two_clouds())
@settings(max_examples=40)
def test_the_radius_holds_and_the_mistake_bound_follows(clouds):
    X, y, _, _, _, decimal = clouds
    radius = outer_radius(prepare(X, y, decimal)[0])
    largest = max(sum(exact(v, decimal) ** 2 for v in x) + 1 for x in X)
    assert largest <= exact(radius) ** 2 <= largest * (1 + Fraction(1, 10**9))
    assert mistake_bound(radius, 0.5) == (4 * exact(radius) ** 2).__floor__()
    assert mistake_bound(radius, 0.0) is None
