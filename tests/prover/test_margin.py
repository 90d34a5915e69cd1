"""The largest margin: planted ones, scaled ones, and the mistakes that it bounds."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from margins_by_hand import brackets, planted_margin
from rosenblatt import MaximumMargin, certify, train, verify
from rosenblatt.data.table import as_table
from rosenblatt.engine.jit import DISABLE_JIT
from rosenblatt.prover.certificates.brackets import Bracket, margin_bounds
from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search import limits, margin
from rosenblatt.prover.search.margin import centred, largest_margin, largest_margin_hyperplane, plane_margin
from strategies import integer_sets, separable_sets

compiled_only = pytest.mark.skipif(DISABLE_JIT, reason="hundreds of epochs over wide rows take minutes without the JIT")
SQUARE = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)


def hull_distance(P, Q):
    """Squared distance of the hulls of two sets of integer points in the plane that do not meet, exactly."""

    def to_segment(p, a, b):
        along = [v - u for u, v in zip(a, b, strict=True)]
        square = sum(v * v for v in along)
        t = Fraction(sum((w - u) * v for w, u, v in zip(p, a, along, strict=True)), square) if square else Fraction(0)
        t = min(max(t, Fraction(0)), Fraction(1))
        return sum((w - u - t * v) ** 2 for w, u, v in zip(p, a, along, strict=True))

    pairs = ((p, a, b) for one, other in ((P, Q), (Q, P)) for p in one for a in other for b in other)
    return min(to_segment(p, a, b) for p, a, b in pairs)


@given(separable_sets(most_rows=8, most_features=2))
def test_the_margin_is_half_the_distance_of_the_hulls(data):
    X, y, _, _ = data
    assume(X.shape[1] == 2)
    assume(len(set(y.tolist())) == 2)
    whole = X.astype(int)
    truth = hull_distance(whole[y > 0].tolist(), whole[y < 0].tolist()) / 4
    assert brackets(certify(X, y).margin, truth)


@given(separable_sets(), st.integers(-60, 60))
@settings(max_examples=60)
def test_margins_scale_with_the_data(data, k):
    X, y, _, _ = data
    assume(len(set(y.tolist())) == 2)
    one, other = certify(X, y), certify(X * 2.0**k, y)
    assert verify(one, X, y)
    assert verify(other, X * 2.0**k, y)
    assert brackets(one.margin)
    assert brackets(one.augmented)
    assert brackets(other.margin)
    assert one.augmented.lower <= one.margin.upper  # the bias only makes w longer
    assert other.margin.lower <= one.margin.upper * 2.0**k
    assert one.margin.lower * 2.0**k <= other.margin.upper


@given(integer_sets(most_rows=2))
def test_two_points_are_half_their_distance_from_the_plane(data):
    X, label = data
    X, label = X[:2], np.array([0, 1])
    assume((X[0] != X[1]).any())
    assert brackets(certify(X, label).margin, Fraction(int(((X[0] - X[1]) ** 2).sum()), 4))


@pytest.mark.parametrize("d", [4, 9])
@pytest.mark.parametrize("power", [-3, -10, -17])
def test_a_planted_margin_is_found(d, power):
    X, y = planted_margin(300, d, 2.0**power)
    certificate = certify(X, y)
    assert verify(certificate, X, y)
    assert brackets(certificate.margin, Fraction(4) ** power)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_a_margin_does_not_depend_on_where_the_origin_is(store):
    X, y = planted_margin(300, 30, 2.0**-3)
    moved = X + 2.0**30
    assert (moved - 2.0**30 == X).all()
    assert brackets(certify(store(moved), y).margin, Fraction(1, 64))


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("offset", [0.0625, 1.375])  # the latter leaves a few rows of one class
def test_many_rows_are_seen_through_a_sample_of_them(store, offset):
    X, y = planted_margin(20_000, 5, 2.0**-10, offset)
    model = MaximumMargin().fit(store(X), y)
    assert brackets(Bracket(model.margin_[0], model.margin_ceiling_[0]), Fraction(1, 4**10))
    assert verify(certify(store(X), y), X, y)
    # Two rows contradict each other; the sample most likely has neither.
    X[7], y[7] = X[-3], -y[-3]
    certificate = certify(store(X), y)
    assert certificate.verdict == "overlapping"
    assert verify(certificate, X, y)


@given(separable_sets(), st.sampled_from(["cyclic", "shuffled"]), st.integers(0, 9))
def test_no_run_makes_more_mistakes_than_the_bound(data, order, seed):
    X, y, _, _ = data
    assume(len(set(y.tolist())) == 2)
    certificate = certify(X, y)
    run = train(X, y, order=order, random_state=seed, max_iter=100_000)
    assert run.stop.name == "SEPARATED"
    assert run.updates <= certificate.mistake_bound
    assert certificate.radius**2 / certificate.augmented.lower**2 < certificate.mistake_bound + 1.001
    # The mistakes themselves are multipliers: no margin exceeds the length of their mean (Novikoff's other half).
    length = math.hypot(*run.coef[0], run.intercept[0])
    assert certificate.augmented.lower <= length / run.updates * (1 + 1e-12)


def test_margins_are_left_out_on_request():
    certificate = certify(SQUARE, [0, 1, 1, 1], margin=False)
    assert certificate.margin is certificate.augmented is certificate.mistake_bound is None
    assert verify(certificate, SQUARE, [0, 1, 1, 1])
    # x1 + x2 = 1/2: the corner (0, 0) and the segment from (1, 0) to (0, 1) are a half of the diagonal apart.
    certificate = certify(SQUARE, [0, 1, 1, 1])
    assert brackets(certificate.margin, Fraction(1, 8))
    # With the bias: (2, 2, -1) / 3 has margin 1/3, of the rows that it leans on.
    assert brackets(certificate.augmented, Fraction(1, 9))
    assert certificate.mistake_bound == 27


def test_the_hyperplane_is_scaled_to_its_closest_rows():
    signed = SignedRows(as_table(SQUARE), np.array([0, 1, 1, 1]), 2)
    found = largest_margin_hyperplane(signed, Deadline(None))
    assert np.allclose([*found.w, found.b], [2.0, 2.0, -1.0])
    assert found.support.tolist() == [0, 1, 2]
    assert brackets(found.margin, Fraction(1, 8))
    assert largest_margin_hyperplane(SignedRows(as_table(SQUARE), np.array([0, 1, 1, 0]), 2), Deadline(None)) is None


def wide_rows(seed, rows=600, features=2000):
    """Sparse rows with a random hyperplane between them."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((rows, features), density=0.02, rng=rng, format="csr")
    return X, X @ rng.normal(size=features) > 0


@compiled_only
@pytest.mark.parametrize("store", [sp.csr_array, lambda X: X.toarray(), lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("scale", [1.0, 2.0**-60, 2.0**80])
def test_a_close_margin_of_wide_rows_is_within_its_share_of_the_largest(store, scale):
    X, y = wide_rows(0)
    signed = SignedRows(as_table(store(X * scale)), y, 2)
    exact = largest_margin_hyperplane(signed, Deadline(None))
    close = largest_margin_hyperplane(signed, Deadline(None), tol=1e-2)
    assert not np.array_equal(close.w, exact.w)  # else this would say nothing
    assert close.margin.lower <= exact.margin.upper
    assert close.margin.upper >= exact.margin.lower
    assert close.margin.lower >= close.margin.upper * (1 - 1e-2)
    assert plane_margin(signed, np.append(close.w, close.b)) >= close.margin.lower
    assert np.isclose(signed.margins(np.append(close.w, close.b))[0].min(), 1.0)


@compiled_only
@pytest.mark.parametrize("scale", [2.0**-700, 2.0**500])
def test_lengths_whose_squares_leave_the_floats_are_left_to_exact_sums(scale):
    X, y = wide_rows(1)
    assert margin._close_hyperplane(SignedRows(as_table(X), y, 2), Deadline(None), 1e-2) is not None
    assert margin._close_hyperplane(SignedRows(as_table(X * scale), y, 2), Deadline(None), 1e-2) is None


@compiled_only
@pytest.mark.parametrize("tol", [0.0, 1e-2])
def test_the_search_for_a_margin_of_wide_rows_ends_where_one_row_is_in_both_classes(tol):
    X, y = wide_rows(2)
    X, y = sp.vstack([X, X[:1]]).tocsr(), np.append(y, ~y[0])
    assert largest_margin_hyperplane(SignedRows(as_table(X), y, 2), Deadline(None), tol=tol) is None


@given(st.integers(0, 2**32), st.integers(-300, 300), st.integers(1, 40), st.integers(1, 30))
def test_the_bound_of_a_distance_in_floats_is_above_the_distance(seed, power, rows, features):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + 1, features)) * 2.0**power * 10.0 ** rng.integers(-8, 8, features)
    label, weight = np.arange(rows + 1) % 2, rng.random(rows + 1) + 1e-9
    signed, ids = SignedRows(as_table(X), label, 2), np.arange(rows + 1)
    truth = margin_bounds(signed, rng.normal(size=features + 1), ids, weight.tolist())[1]
    bound = margin._hull_distance_above(signed, ids, weight) / 2
    assert truth <= bound
    largest = np.abs(X).max() * features
    assert bound <= truth + 1e-12 * largest + 1e-140


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_the_largest_margin_has_rows_that_bound_it(store):
    X, y = planted_margin(300, 5, 2.0**-4)
    signed = SignedRows(as_table(store(X)), y > 0, 2)
    best = largest_margin(signed, Deadline(None), augmented=False)
    margin = signed.margins(best.w)[0].min() / np.linalg.norm(best.w[:-1])
    assert abs(margin - 2.0**-4) < 1e-9
    Z = signed.gather(best.ids)[:, :-1]
    sides = [best.shares[own] @ Z[own] / best.shares[own].sum() for own in (y[best.ids] < 0, y[best.ids] > 0)]
    assert abs(np.linalg.norm(sides[0] + sides[1]) / 2 - 2.0**-4) < 1e-9
    # Moved off the middle, the hyperplane is moved back.
    assert np.allclose(centred(signed, best.w + np.eye(6)[5] * 2.0**-6), best.w)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_whose_space_would_not_fit_get_a_true_bracket(monkeypatch, form):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += 2 * y - 1
    narrow = certify(form(X), y)
    monkeypatch.setattr(margin, "is_long", lambda signed: True)
    monkeypatch.setattr(limits, "ROW_SPACE_MAX_ROWS", 1)
    wide = certify(form(X), y)
    assert verify(wide, X, y)
    for name in ("margin", "augmented"):
        found, best = getattr(wide, name), getattr(narrow, name)
        assert 0 < found.lower <= best.upper
        assert found.upper >= best.lower
