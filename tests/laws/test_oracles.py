"""The oracles of the family keep the laws of their algorithms, and are one another where theory says so."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import family, reference
from oracles.cases import NOISY, any_rows, broken, disjunctions, holds, mutant
from strategies import small


@given(any_rows())
def test_b20_the_sum_of_the_iterates_needs_one_vector_and_a_count(case):
    run = case.run(family.averaged)
    trials = len(run.losses)
    lazy = sum((t * case.labels[i] * case.rows[i] for t, i in zip(run.trials, run.rows, strict=True)), 0)
    assert (trials * run.more["last"] - lazy).tolist() == run.more["total"].tolist()
    assert run.more["last"].tolist() == case.run(family.perceptron).w.tolist()


@given(any_rows())
def test_b20_survival_times_count_the_iterates(case):
    vectors = case.run(family.voted).more["vectors"]
    averaged = case.run(family.averaged)
    assert sum(c for _, c in vectors) == len(averaged.losses)
    assert sum(c * w for w, c in vectors).tolist() == averaged.more["total"].tolist()
    for x in case.rows[:5]:
        iterates = [w for w, c in vectors for _ in range(c)]
        assert family.vote(vectors, x) == (1 if sum(1 if w @ x > 0 else -1 for w in iterates) > 0 else -1)


@given(st.lists(small, min_size=3, max_size=3).filter(any), st.integers(1, 9), any_rows())
def test_b20_with_survival_times_of_one_the_vote_is_the_sign_of_the_signs(row, pairs, case):
    # A row with both labels in turn: every trial is a mistake, every vector survives one.
    run = family.voted(np.array([row, row], float), [1, -1], [[0, 1]] * pairs)
    assert [c for _, c in run.more["vectors"]] == [0] + [1] * (2 * pairs)
    vectors = case.run(family.voted).more["vectors"]
    for x in case.rows[:5]:
        signs = sum(1 if w @ x > 0 else -1 for w, _ in vectors)
        assert family.vote([[w, 1] for w, _ in vectors], x) == (1 if signs > 0 else -1)


def same(one, other):
    return one.w.tolist() == other.w.tolist() and one.rows == other.rows and one.losses == other.losses


@given(any_rows())
def test_b22_what_is_the_perceptron(case):
    perceptron = case.run(family.perceptron)
    assert same(perceptron, case.run(family.margin_perceptron, tau_pos=0, tau_neg=0))
    assert same(perceptron, case.run(family.p_norm, p=2))
    assert same(perceptron, case.run(family.parameter_mixing, shares=1))
    assert same(perceptron, case.run(family.voted))
    w, _, mistakes = reference.perceptron(case.rows.tolist(), case.labels.tolist(), case.orders, bias=0)
    assert (w, mistakes) == (perceptron.w.tolist(), perceptron.mistakes)


@given(any_rows())
def test_b22_two_classes_make_two_opposite_perceptrons_of_the_same_mistakes(case):
    perceptron = case.run(family.perceptron)
    for spread in ("max", "uniform"):
        run = family.multiclass(case.rows, (case.labels + 1) // 2, case.orders, n_classes=2, spread=spread)
        assert run.rows == perceptron.rows
        assert run.w.tolist() == [(-perceptron.w).tolist(), perceptron.w.tolist()]


@given(any_rows())
def test_b22_what_is_passive_aggressive(case):
    plain = case.run(family.passive_aggressive)
    assert same(plain, case.run(family.relaxation, b=1, rho=1))
    assert same(plain, case.run(family.passive_aggressive, C=math.inf, variant="PA-I"))
    assert same(plain, case.run(family.passive_aggressive, C=math.inf, variant="PA-II"))
    distances = [
        abs(case.run(family.passive_aggressive, C=C, variant="PA-II").w - plain.w).max() for C in (1e4, 1e7, 1e10)
    ]
    assert distances[0] < 0.1
    assert distances[1] < 1e-4
    assert distances[2] < 1e-7


@given(any_rows(), st.sampled_from([1 / 8, 1.0, 10.0]))
def test_b22_the_first_update_of_arow_is_that_of_pa2(case, r):
    first = [case.stream[:1]]
    ours = [family.arow, family.arow_diagonal]
    pa2 = family.passive_aggressive(case.rows, case.labels, first, C=1 / (2 * r), variant="PA-II")
    for run in (algorithm(case.rows, case.labels, first, r=r) for algorithm in ours):
        assert np.allclose(run.w, pa2.w, rtol=1e-12)


@given(any_rows(), st.sampled_from([1 / 8, 1.0, 10.0]))
def test_arow_is_the_same_in_full_and_diagonal_on_the_axes(case, r):
    axes = np.eye(case.rows.shape[1])[np.arange(len(case.rows)) % case.rows.shape[1]] * case.rows[:, :1]
    full, diagonal = (f(axes, case.labels, case.orders, r=r) for f in (family.arow, family.arow_diagonal))
    assert np.allclose(full.w, diagonal.w)
    assert np.allclose(np.diag(full.more["covariance"]), diagonal.more["covariance"])


@given(any_rows())
@settings(max_examples=40)
def test_b22_after_an_update_of_pa_the_margin_is_one(case):
    stream = case.stream[:40]
    for t in range(1, len(stream) + 1):
        run = family.passive_aggressive(case.rows, case.labels, [stream[:t]])
        if run.trials and run.trials[-1] == t - 1:
            assert case.labels[stream[t - 1]] * (run.w @ case.rows[stream[t - 1]]) == pytest.approx(1, rel=1e-12)


def test_b22_notices_a_step_that_stops_short():
    wrong = mutant(family.passive_aggressive, "w + step", "w + 0.5 * step")
    assert not same(wrong(np.eye(2), [1, -1], [[0, 1]]), family.relaxation(np.eye(2), [1, -1], [[0, 1]]))


def never_rises(case, algorithm):
    errors = case.run(algorithm).more["errors"]
    return [(after, before) for before, after in itertools.pairwise(errors)]


@given(any_rows())
def test_b24_the_training_error_of_the_pocket_never_rises(case):
    run = case.run(family.pocket)
    assert holds(never_rises(case, family.pocket))
    assert run.more["errors"][-1] == sum(case.labels * (case.rows @ run.w) <= 0) or not run.w.any()
    assert run.more["last"].tolist() == case.run(family.perceptron).w.tolist()


def test_b24_notices_a_pocket_without_ratchet():
    assert broken(never_rises, NOISY, family.pocket, "if errors < kept_errors", "if True")


@given(any_rows())
def test_normalised_lms_with_rate_one_fits_the_last_row(case):
    run = case.run(family.lms, eta=1.0, normalised=True)
    assert run.w @ case.rows[case.stream[-1]] == pytest.approx(case.labels[case.stream[-1]])


@given(any_rows())
def test_lms_is_the_gradient_of_the_squared_error(case):
    one = family.lms(case.rows, case.labels, [case.stream[:1]], eta=0.25)
    assert one.w.tolist() == (0.25 * case.labels[case.stream[0]] * case.rows[case.stream[0]]).tolist()
    assert one.losses == [1.0]


@given(any_rows(), st.sampled_from([0.01, 0.1, 1.0]))
def test_pegasos_is_a_scaled_sum_of_its_updates_and_stays_in_its_ball(case, lam):
    free = case.run(family.pegasos, lam=lam, project=False)
    total = (case.labels[free.rows][:, None] * case.rows[free.rows]).sum(0)
    assert np.allclose(free.w, total / (lam * len(free.losses)))
    ball = case.run(family.pegasos, lam=lam)
    assert ball.w @ ball.w <= 1 / lam * (1 + 1e-9)


@given(disjunctions())
def test_the_two_sides_of_balanced_winnow_stay_inverse(case):
    run = case.run(family.balanced_winnow)
    assert np.allclose(run.more["u"] * run.more["v"], 1)
