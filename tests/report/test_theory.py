"""Fits against their theorems: at no time is a quantity of the proof outside its bound."""

import math
import re
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import AveragedPerceptron, Perceptron, certify, theory
from rosenblatt.errors import InvalidInput
from strategies import integer_sets, separable_sets, small

SQUARE = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)
SLIGHTLY = 1 + 1e-9


def cyclic(X, y, start=0):
    """The weights (w, b) after each update of the perceptron that sees the rows in order, straight from the rule."""
    signed = np.column_stack([X, np.ones(len(X))]) * np.asarray(y)[:, None]
    w = np.zeros(signed.shape[1]) + start
    yield w
    while (signed @ w <= 0).any():
        for z in signed:
            if z @ w <= 0:
                w = w + z
                yield w


@given(separable_sets(most_rows=15, most_features=3), small)
@settings(max_examples=60)
def test_the_proof_holds_at_every_update(question, start):
    X, y, _, _ = question
    if len(set(y.tolist())) < 2:
        return
    d = X.shape[1]
    init = (np.full(d, start), start) if start else None
    report = theory(X, y, Perceptron(shuffle=False, max_iter=10**6, tol=None, init=init))
    weights = np.array(list(cyclic(X, y, start)))
    assert report.mistakes == len(weights) - 1 <= report.bound
    assert report.share == report.mistakes / report.bound
    assert np.array_equal(report.updates, np.arange(len(weights)))
    assert np.array_equal(report.square, (weights**2).sum(axis=1))
    separator = np.array(report.margin.w) / np.linalg.norm(report.margin.w)
    assert np.allclose(report.alignment, weights @ separator, rtol=0, atol=1e-9 * report.radius * len(weights))
    size = np.abs(report.alignment).max() + 1
    assert (report.floor <= report.alignment + 1e-9 * size).all()
    assert (report.square <= report.cap).all()  # integers: without any rounding
    assert report.ceiling * SLIGHTLY >= report.margin.lower
    if not start:
        assert report.bound == report.certificate.mistake_bound


@given(st.integers(0, 1000), st.sampled_from([1.0, 0.5, 0.1]), st.booleans())
@settings(max_examples=30)
def test_the_proof_holds_for_floats_in_any_order_and_storage(seed, eta, sparse):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 4))
    y = np.where(X @ rng.standard_normal(4) > 0.2, "up", "down")
    if len(set(y)) < 2:
        return
    model = Perceptron(eta0=eta, random_state=seed, init=(rng.standard_normal(4), 1.0), max_iter=10**5, tol=None)
    report = theory(sp.csr_array(X) if sparse else X, y, model)
    assert report.certificate.verdict == "separable"
    assert report.mistakes == sum(report.run.mistakes) <= report.bound
    assert report.updates[-1] == report.mistakes
    assert (report.floor <= report.alignment + 1e-9 * (np.abs(report.alignment) + 1)).all()
    assert (report.square <= report.cap * SLIGHTLY).all()
    assert not hasattr(model, "coef_")


def test_long_runs_are_followed_by_epochs(monkeypatch):
    import rosenblatt.report.theory

    model = Perceptron(shuffle=False)
    fine = theory(SQUARE, [-1, -1, -1, 1], model)
    monkeypatch.setattr(rosenblatt.report.theory, "MAX_TRACED_TRIALS", 0)
    coarse = theory(SQUARE, [-1, -1, -1, 1], model)
    assert coarse.updates.tolist() == [0, *np.cumsum(coarse.run.mistakes)]
    assert coarse.mistakes == fine.mistakes == 18
    for name in ("alignment", "floor", "square", "cap"):
        assert np.allclose(getattr(coarse, name), getattr(fine, name)[coarse.updates])


@given(integer_sets(most_rows=8, most_features=2))
@settings(max_examples=40)
def test_other_data_get_what_holds_of_them(question):
    X, label = question
    report = theory(X, label, Perceptron(shuffle=False))
    assert report.certificate.verdict == certify(X, label).verdict
    assert (report.square <= report.cap).all()
    if report.certificate.verdict == "separable":
        assert report.ceiling * SLIGHTLY >= report.margin.lower
    else:
        assert report.margin is report.bound is report.share is None
        assert not report.alignment.size
        assert not report.floor.size


def test_a_cycle_leaves_no_margin():
    report = theory(SQUARE, [-1, 1, 1, -1], Perceptron(shuffle=False))
    assert (report.mistakes, report.ceiling) == (4, 0.0)
    assert "overlap (not linearly separable)" in str(report)
    assert "no margin exceeds 0." in str(report)


def test_the_report_reads_well():
    text = str(theory(SQUARE, [-1, 1, 1, 1], Perceptron(shuffle=False)))
    assert "9 mistakes in 6 epochs" in text
    assert "At most 27 were possible" in text
    # gamma is 1/3 and R^2 is 3, both between proved numbers: 9 gamma and 9 R^2 are printed on the safe side.
    assert "<w, w*> = 3, at least 2.99999:" in text
    assert "|w|^2 = 9, at most 27.0001:" in text


def test_printed_bounds_are_true():
    rng = np.random.default_rng(0)
    for _ in range(40):
        X = rng.integers(-9, 10, (8, 2)) / 7
        y = np.where(X @ rng.integers(-3, 4, 2) > 0.1, 1, -1)
        report = theory(X, y, Perceptron(max_iter=50, tol=None)) if len(set(y)) == 2 else None
        if report is None or report.margin is None:
            continue
        figures = dict(re.findall(r"(R =|gamma =|at least|\|w\|\^2 = \S+ at most) ([\d.e+-]+\d)", str(report)))
        assert Decimal(figures["R ="]) >= Decimal(report.radius)
        assert Decimal(figures["gamma ="]) <= Decimal(report.margin.lower)
        assert Decimal(figures["at least"]) <= Decimal(float(report.floor[-1]))


def test_one_of_a_kind_is_counted_in_the_singular():
    text = str(theory([[1.0], [-2.0]], [1, -1], Perceptron(shuffle=False)))
    assert "2 samples, 1 feature: complete separation (linearly separable)." in text
    assert "made 1 mistake in 2 epochs." in text


def test_a_start_that_separates_makes_no_mistake():
    report = theory([[0.0], [1.0]], [0, 1], Perceptron(init=([4.0], -2.0)))
    assert report.mistakes == 0
    assert report.ceiling == math.inf
    assert "0 mistakes" in str(report)


@pytest.mark.parametrize(
    "changed",
    [
        {"penalty": "l2"},
        {"schedule": "1/t"},
        {"batch": True},
        {"margin": 0.5},
        {"margin": (0.0, 1.0)},
        {"class_weight": "balanced"},
        {"class_weight": {0: 2.0, 1: 1.0}},
        {"fit_intercept": False},
        {"early_stopping": True},
    ],
)
def test_other_rules_are_refused_by_name(changed):
    with pytest.raises(InvalidInput, match=next(iter(changed))):
        theory(SQUARE, [0, 1, 1, 1], Perceptron(**changed))


def test_other_models_and_tasks_are_refused():
    with pytest.raises(InvalidInput, match="AveragedPerceptron"):
        theory(SQUARE, [0, 1, 1, 1], AveragedPerceptron())
    with pytest.raises(InvalidInput, match="two"):
        theory(SQUARE, [0, 1, 2, 1])
    with pytest.raises(InvalidInput, match="two"):
        theory(SQUARE, [1, 1, 1, 1])


def test_the_callback_of_the_model_is_called():
    seen = []
    report = theory(SQUARE, [-1, 1, 1, 1], Perceptron(shuffle=False, callback=lambda epoch: seen.append(epoch.number)))
    assert seen == list(range(1, report.run.epochs + 1))


def test_parameters_that_fit_would_refuse_are_refused():
    for changed in ({"max_iter": 0}, {"eta0": -1.0}, {"shuffle": "sometimes"}):
        with pytest.raises(InvalidInput, match=next(iter(changed))):
            theory(SQUARE, [0, 1, 1, 1], Perceptron(**changed))


@pytest.mark.parametrize("shuffle", [True, False, "random"])
def test_the_run_is_that_of_a_fit(shuffle):
    X = np.random.default_rng(0).standard_normal((80, 3)).astype(np.float32)
    model = Perceptron(shuffle=shuffle, random_state=3, eta0=0.5, max_iter=30)
    run, fitted = theory(X, X[:, 0] > 0.1, model).run, model.fit(X, X[:, 0] > 0.1).run_
    assert (run.mistakes, run.updates, run.epochs, run.stop, run.kept) == (
        fitted.mistakes,
        fitted.updates,
        fitted.epochs,
        fitted.stop,
        fitted.kept,
    )
    assert run.coef.tobytes() == model.coef_.tobytes()
    assert run.intercept.tobytes() == model.intercept_.tobytes()


def test_random_states_are_left_where_one_seed_takes_them():
    random = np.random.RandomState(0)
    theory(SQUARE, [-1, 1, 1, 1], Perceptron(random_state=random))
    expected = np.random.RandomState(0)
    expected.randint(np.iinfo(np.int32).max)
    assert random.randint(1000) == expected.randint(1000)
