"""Every proven bound holds for the oracle of its algorithm, and each check fails on an oracle with one thing wrong.

A claim is a function of a case and an algorithm that gives pairs (smaller, larger). The property tests put the oracle
in it. The mutation tests put the oracle in it with a piece of its source replaced, and want some case of a fixed family
to break the claim: this is how the property tests are known to be able to fail.
"""

import inspect
import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import family, reference
from rosenblatt import bounds
from rosenblatt.errors import InvalidInput
from strategies import integer_sets, separable_sets, small


@dataclass
class Case:
    """Rows as the algorithm sees them, labels, orders of presentation and a vector u (or several, for classes)."""

    rows: np.ndarray
    labels: np.ndarray
    orders: list
    u: np.ndarray

    @property
    def radius(self):
        return math.sqrt((self.rows**2).sum(1).max())

    @property
    def margin(self):
        """Of u, scaled to unit norm: a lower bound on the margin of the best separator."""
        return (self.labels * (self.rows @ self.u)).min() / np.linalg.norm(self.u)

    @property
    def stream(self):
        return [i for order in self.orders for i in order]

    def losses(self, numbers):
        """Hinge losses of u on the rows of these numbers."""
        return np.maximum(0, 1 - self.labels[numbers] * (self.rows[numbers] @ self.u))

    def run(self, algorithm, **parameters):
        return algorithm(self.rows, self.labels, self.orders, **parameters)


def holds(pairs):
    return all(smaller <= larger * (1 + 1e-9) + 1e-12 for smaller, larger in pairs)


def mutant(algorithm, old, new):
    """The algorithm with one piece of its source replaced."""
    source = inspect.getsource(algorithm)
    assert old in source
    names = dict(vars(family))
    exec(source.replace(old, new), names)
    return names[algorithm.__name__]


def broken(claim, cases, algorithm, old, new):
    """Whether the mutant breaks the claim on some case of the family, which the oracle itself does not."""
    wrong = mutant(algorithm, old, new)
    assert all(holds(claim(case, algorithm)) for case in cases)
    with np.errstate(all="ignore"):
        return any(not holds(claim(case, wrong)) for case in cases)


# Data -----------------------------------------------------------------------------------------------------------------


def some_orders(rng, n, epochs):
    """Each epoch cyclic, shuffled or drawn with repetition."""
    draws = [lambda: range(n), lambda: rng.permutation(n), lambda: rng.integers(0, n, 2 * n)]
    return [list(draws[rng.integers(3)]()) for _ in range(epochs)]


@st.composite
def orders_of(draw, n, most_epochs=6):
    return some_orders(np.random.default_rng(draw(st.integers(0, 999))), n, draw(st.integers(1, most_epochs)))


@st.composite
def separable(draw, **sizes):
    """Integer rows padded with a one, labelled by a planted hyperplane with half-integer bias, which is u."""
    X, y, u, c = draw(separable_sets(**sizes))
    return Case(np.c_[X, np.ones(len(X))], y, draw(orders_of(len(X))), np.append(u, c))


@st.composite
def any_rows(draw):
    """Integer rows padded with a one, any labels and any u."""
    X, label = draw(integer_sets())
    u = draw(st.lists(small, min_size=X.shape[1] + 1, max_size=X.shape[1] + 1))
    scale = draw(st.sampled_from([1, 1 / 2, 1 / 8]))
    return Case(np.c_[X, np.ones(len(X))], 2 * label - 1, draw(orders_of(len(X))), np.array(u) * scale)


@st.composite
def separable_classes(draw, classes=4):
    """Integer rows labelled by the highest of planted integer scores, those with a tie left out."""
    X, _ = draw(integer_sets(most_features=4))
    rows = np.c_[X, np.ones(len(X))]
    U = draw(
        st.lists(st.lists(small, min_size=rows.shape[1], max_size=rows.shape[1]), min_size=classes, max_size=classes)
    )
    return class_case(rows, np.array(U, float), draw(st.integers(0, 999)))


def class_case(rows, U, seed, epochs=4):
    scores = np.sort(rows @ U.T, axis=1)
    rows = rows[scores[:, -1] > scores[:, -2]]
    orders = some_orders(np.random.default_rng(seed), len(rows), epochs) if len(rows) else []
    return Case(rows, (rows @ U.T).argmax(1) if len(rows) else np.array([], int), orders, U)


@st.composite
def separable_ranks(draw):
    X, _ = draw(integer_sets(most_features=4))
    u = np.array(draw(st.lists(small, min_size=X.shape[1], max_size=X.shape[1])), float)
    b = np.array(sorted(draw(st.sets(st.integers(-8, 8), min_size=1, max_size=4)))) + 0.5
    return rank_case(X, u, b, draw(st.integers(0, 999)))


def rank_case(X, u, b, seed, epochs=5):
    ranks = 1 + (X @ u[:, None] > b).sum(1)
    return Case(X, ranks, some_orders(np.random.default_rng(seed), len(X), epochs), np.append(u, b))


@st.composite
def disjunctions(draw):
    n = draw(st.integers(2, 40))
    return disjunction_case(n, draw(st.integers(1, min(4, n))), draw(st.integers(0, 9999)))


def disjunction_case(n, k, seed, trials=150):
    """Rows of zeros and ones of several densities; positive if one of k features is one. u marks the features."""
    rng = np.random.default_rng(seed)
    u = np.zeros(n)
    u[rng.choice(n, k, replace=False)] = 1
    rows = (rng.random((trials, n)) < rng.choice([0.02, 0.1, 0.3, 0.6], (trials, 1))).astype(float)
    return Case(rows, np.where(rows @ u > 0, 1, -1), [range(trials)], u)


def fixed(separated, cases=16, epochs=30):
    """A fixed family of small integer sets, separable by u or not."""
    found = []
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(4, 25), rng.integers(1, 5)
        rows = np.c_[rng.integers(-4, 5, (n, d)), np.ones(n)].astype(float)
        u = np.append(rng.integers(-4, 5, d), rng.integers(-4, 5) + 0.5)
        labels = np.where(rows @ u > 0, 1, -1)
        if not separated:
            labels = np.where(rng.random(n) < 0.2, -labels, labels)
            u = u / rng.choice([1, 2, 8, 64])
        found.append(Case(rows, labels, some_orders(rng, n, epochs), u))
    return found


SEPARABLE = fixed(True)
NOISY = fixed(False)
# Orthonormal rows, all positive: many of the bounds are equalities on them.
AXES = [Case(np.eye(n), np.ones(n), [range(n)] * 3, np.ones(n)) for n in (1, 2, 5, 9)]
CLASSES = [class_case(np.eye(n), np.eye(n), n, epochs=30) for n in (2, 3, 5)]
RANKS = [rank_case(np.arange(-n, n + 1.0)[:, None], np.ones(1), np.arange(-n, n) + 0.5, n, epochs=60) for n in (1, 2)]
DISJUNCTIONS = [disjunction_case(n, 2, n, trials=400) for n in (4, 8, 16, 32, 64)]


def settle(algorithm, case, most_epochs=2000, **parameters):
    """Run in cyclic order until an epoch has no update; None if that takes too long."""
    epochs = 2
    while epochs <= most_epochs:
        run = algorithm(case.rows, case.labels, [range(len(case.rows))] * epochs, **parameters)
        if run.updates[-1] == 0:
            return run
        epochs *= 4
    return None


def final_margin(rows, case, run):
    return (case.labels * (rows @ run.w)).min() / (np.linalg.norm(run.w) or 1.0)


# A1, A3: separable, from zero and from any start ----------------------------------------------------------------------


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


# A4, A5: any rows -----------------------------------------------------------------------------------------------------


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


# A6: margin perceptron ------------------------------------------------------------------------------------------------

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


# A7: passive-aggressive -----------------------------------------------------------------------------------------------

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
        ("step = loss / (x @ x)\n            elif", "step = loss\n            elif"),
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


# A8, A9: ROMMA and ALMA -----------------------------------------------------------------------------------------------


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


# A10, A11: second order -----------------------------------------------------------------------------------------------


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


def second_order(case, algorithm, a_s=(1.0,)):
    runs = [(case.run(algorithm, a=a), a) for a in a_s]
    return [
        (sum(run.mistakes), bounds.second_order(case.rows[run.rows], case.labels[run.rows], case.u, a))
        for run, a in runs
    ]


@given(any_rows(), st.sampled_from([1 / 8, 1.0, 16.0]))
def test_a11_the_second_order_perceptron_against_any_vector(case, a):
    assert holds(second_order(case, family.second_order, [a]))


@pytest.mark.parametrize(("old", "new"), [("v + y * x", "v - y * x"), ("if margin <= 0", "if margin < 0")])
def test_a11_notices_a_wrong_sign_and_a_wrong_trigger(old, new):
    assert broken(second_order, SEPARABLE + NOISY, family.second_order, old, new)


# A12, A13: classes and ranks ------------------------------------------------------------------------------------------


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


def prank(case, algorithm):
    d = case.rows.shape[1]
    w, b = case.u[:d], case.u[d:]
    if not case.rows.any():
        return []
    margin = abs(case.rows @ w[:, None] - b).min() / np.linalg.norm(case.u)
    run = case.run(algorithm, n_ranks=len(b) + 1)
    return [(sum(run.losses), bounds.prank(case.radius, margin, len(b) + 1))]


@given(separable_ranks())
def test_a13_rank_errors_of_prank(case):
    assert holds(prank(case, family.prank))


@given(integer_sets(classes=4), st.integers(4, 6), st.integers(0, 99))
def test_a13_the_thresholds_of_prank_stay_ordered_on_any_rows(data, n_ranks, seed):
    X, label = data
    run = family.prank(X, 1 + label, some_orders(np.random.default_rng(seed), len(X), 5), n_ranks=n_ranks)
    assert (np.diff(run.more["history"], axis=1) >= 0).all()


@pytest.mark.parametrize(
    ("old", "new"), [("b - move", "b + move"), ("w + move.sum()", "w - move.sum()"), ("if rank > r", "if rank >= r")]
)
def test_a13_notices_wrong_signs_and_ranks_shifted_by_one(old, new):
    assert broken(prank, RANKS, family.prank, old, new)


def test_a13_thresholds_move_apart_only_with_the_right_sign():
    wrong = mutant(family.prank, "b - move", "b + move")
    runs = [case.run(wrong, n_ranks=len(case.u)) for case in RANKS]
    assert any((np.diff(run.more["history"], axis=1) < 0).any() for run in runs)


# A14: Winnow, and the p-norms between it and the perceptron -----------------------------------------------------------


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


# A15: parameter mixing ------------------------------------------------------------------------------------------------


def mixing(case, algorithm, shares=(1, 3)):
    bound = bounds.parameter_mixing(case.radius, case.margin)
    return [(case.run(algorithm, shares=s).more["weighted"], bound) for s in shares]


@given(separable(), st.integers(1, 5))
def test_a15_weighted_mistakes_of_parameter_mixing(case, shares):
    assert holds(mixing(case, family.parameter_mixing, [shares]))


@pytest.mark.parametrize(("old", "new"), [("v + y * x", "v - y * x"), ("v = w\n", "v = 0 * w\n")])
def test_a15_notices_a_wrong_sign_and_a_mix_that_is_forgotten(old, new):
    assert broken(mixing, SEPARABLE, family.parameter_mixing, old, new)


# B20: average and vote ------------------------------------------------------------------------------------------------


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


# B21, B22: one algorithm is another -----------------------------------------------------------------------------------


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


# The rest of the oracle -----------------------------------------------------------------------------------------------


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


# E6: from mistakes to the error on new rows ---------------------------------------------------------------------------


def draws(case, n):
    """All sequences of n of the rows: independent draws from the uniform distribution on them."""
    return itertools.product(range(len(case.rows)), repeat=n)


def iterates(case, sequence):
    """Weights of a perceptron before each trial and after the last."""
    return [family.perceptron(case.rows, case.labels, [sequence[:t]]).w for t in range(len(sequence) + 1)]


@given(any_rows().filter(lambda case: len(case.rows) >= 3))
@settings(max_examples=25)
def test_e6_leave_one_out_is_exact_for_a_random_hypothesis_and_twice_it_bounds_the_vote(case):
    case.rows, case.labels, n = case.rows[:3], case.labels[:3], 3
    expected = np.mean([sum(family.perceptron(case.rows, case.labels, [s]).mistakes) for s in draws(case, n + 1)])
    random, vote = [], []
    for sequence in draws(case, n):
        W = np.array(iterates(case, sequence))
        # A tie is a mistake of a hypothesis, here as in training.
        wrong = (case.labels * (case.rows @ W.T).T) <= 0
        random.append(wrong.mean())
        vote.append((wrong.mean(0) >= 0.5).mean())
    assert np.mean(random) == pytest.approx(bounds.leave_one_out(expected, n))
    assert np.mean(vote) <= bounds.leave_one_out_vote(expected, n) * (1 + 1e-9)


def test_e6_leave_one_out_without_the_factor_two_is_false_for_the_vote():
    excess = []
    for case in NOISY[:12]:
        case = Case(case.rows[:3], case.labels[:3], case.orders, case.u)
        expected = np.mean([sum(family.perceptron(case.rows, case.labels, [s]).mistakes) for s in draws(case, 4)])
        W = [np.array(iterates(case, sequence)) for sequence in draws(case, 3)]
        vote = np.mean([(((case.labels * (case.rows @ w.T).T) <= 0).mean(0) >= 0.5).mean() for w in W])
        excess.append(vote - bounds.leave_one_out(expected, 3))
    assert max(excess) > 0


def test_e6_the_average_risk_fails_no_more_often_than_promised():
    delta, n, runs, failures = 0.3, 40, 200, {"average": 0, "voted": 0, "mistakes alone": 0}
    rng, case = np.random.default_rng(0), NOISY[3]
    for _ in range(runs):
        sequence = rng.integers(0, len(case.rows), n)
        mistakes = sum(family.perceptron(case.rows, case.labels, [sequence]).mistakes)
        wrong = (case.labels * (case.rows @ np.array(iterates(case, sequence))[:-1].T).T) <= 0
        failures["average"] += wrong.mean() > bounds.average_risk(mistakes, n, delta)
        failures["voted"] += (wrong.mean(0) >= 0.5).mean() > bounds.voted_risk(mistakes, n, delta)
        failures["mistakes alone"] += wrong.mean() > mistakes / n
    assert failures["average"] <= delta * runs
    assert failures["voted"] <= delta * runs
    assert failures["mistakes alone"] > delta * runs


def test_e6_by_hand():
    assert bounds.average_risk(10, 200, math.exp(-4)) == pytest.approx(0.05 + 0.2)
    assert bounds.voted_risk(10, 200, math.exp(-4)) == pytest.approx(0.5)
    assert bounds.leave_one_out(5, 99) == 0.05
    assert bounds.leave_one_out_vote(5, 99) == 0.1


# Bad arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bound", "arguments"),
    [
        (bounds.novikoff, (0, 1)),
        (bounds.novikoff, (1, 0)),
        (bounds.novikoff, (1, -1)),
        (bounds.novikoff, (1, math.nan)),
        (bounds.novikoff, (1, 2)),
        (bounds.from_start, ([0, 0], [1], 1, 1)),
        (bounds.from_start, ([[0, 0]], [1, 0], 1, 1)),
        (bounds.from_start, ([math.inf, 0], [1, 0], 1, 1)),
        (bounds.agnostic, (1, 1, -1)),
        (bounds.agnostic, (1, -1, 1)),
        (bounds.freund_schapire, (1, 1, -1)),
        (bounds.margin_perceptron, (2, 1, -1)),
        (bounds.margin_perceptron_margin, (2, 1, 1, -1)),
        (bounds.passive_aggressive_1, (1, 1, 1, 0)),
        (bounds.passive_aggressive_2, (1, 1, 1, math.inf)),
        (bounds.alma2, (1, 0)),
        (bounds.alma2, (1.5, 0.5)),
        (bounds.alma2_margin, (1, 2)),
        (bounds.arow, ([[1, 0]], [1], [1, 0], -1)),
        (bounds.arow, ([[1, 0]], [2], [1, 0], 0)),
        (bounds.arow, ([[1, 0]], [1, 1], [1, 0], 0)),
        (bounds.second_order, ([[1, 0]], [1], [1, 0], 0)),
        (bounds.second_order, ([[1, 0]], [1], [1, 0, 0])),
        (bounds.multiclass, (1, 2)),
        (bounds.prank, (1, 1, 1)),
        (bounds.prank, (1, 1, 2.5)),
        (bounds.p_norm, (1, 1, 1.5)),
        (bounds.winnow1, (3, 2)),
        (bounds.winnow1, (-1, 2)),
        (bounds.winnow1, (1, 2, 1)),
        (bounds.winnow2, (1, 8, 2, 0.25)),
        (bounds.average_risk, (-1, 10, 0.1)),
        (bounds.average_risk, (11, 10, 0.1)),
        (bounds.average_risk, (1, 0, 0.1)),
        (bounds.average_risk, (1, 10, 0)),
        (bounds.voted_risk, (1, 10, 1)),
        (bounds.leave_one_out, (1, -1)),
        (bounds.leave_one_out_vote, (-1, 1)),
    ],
)
def test_a_bad_argument_is_named_with_its_fault_and_a_remedy(bound, arguments):
    with pytest.raises(InvalidInput, match=r"^\w+[= ].*\. (Pass|Divide|Count) .*\.$"):
        bound(*arguments)


def test_without_updates_the_second_order_bounds_are_zero():
    assert bounds.arow([], [], [1.0, 2.0], 0) == 0
    assert bounds.second_order(np.empty((0, 2)), [], [1.0, 2.0]) == 0


def test_every_bound_is_public():
    names = {name for name, value in vars(bounds).items() if inspect.isfunction(value) and not name.startswith("_")}
    assert set(bounds.__all__) == names
