"""Each way in which a run can end, and what it keeps."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import Perceptron, train, verify
from rosenblatt.engine import jit
from rosenblatt.training.trainer import RunClock


def noisy(n=400, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1, -1)


def separable(n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X = X[np.abs(X[:, 0]) > 0.1]
    return X, np.sign(X[:, 0])


def errors(run, X, y):
    return int((y * (X @ run.coef[0] + run.intercept[0]) <= 0).sum())


def test_it_stops_when_separated():
    X, y = separable()
    run = train(X, y)
    assert run.stop.name == "SEPARATED"
    assert run.mistakes[-1] == 0 < run.mistakes[-2]
    assert errors(run, X, y) == 0
    assert run.kept == run.epochs


def test_it_stops_after_the_last_epoch():
    X, y = noisy()
    run = train(X, y, max_iter=3, tol=None)
    assert (run.stop.name, run.epochs, run.trials, len(run.mistakes)) == ("EPOCHS", 3, 3 * len(X), 3)
    assert ("allow more epochs" in run.reason) == (min(run.mistakes[1:]) < run.mistakes[0])


def test_it_stops_when_time_is_over():
    X, y = noisy(20_000)
    start = time.perf_counter()
    run = train(X, y, max_seconds=0.2, tol=None, max_iter=10**9)
    assert run.stop.name == "SECONDS"
    assert 0.2 <= time.perf_counter() - start < 5


def test_it_stops_with_a_proof_that_nothing_separates():
    X, y = noisy()
    run = train(X, y, n_iter_no_change=4, tol=1e-3)
    assert run.stop.name == "INSEPARABLE"
    assert "proven not separable" in run.reason
    assert run.certificate.verdict in ("overlapping", "quasi-separable")
    assert verify(run.certificate, X, y)
    assert f"as {len(run.certificate.support)} of the rows prove" in run.reason


def test_without_a_proof_it_says_how_small_a_margin_must_be():
    # Without a bias the question is not the one that a certificate answers.
    X, y = noisy()
    run = train(X, y, n_iter_no_change=4, tol=1e-3, fit_intercept=False)
    assert run.stop.name == "TRAINING"
    assert run.certificate is None
    assert run.ceiling <= 1e-3 * run.radius
    assert "no hyperplane through the origin separates the rows with a margin above" in run.reason


def test_it_does_not_give_up_while_the_data_may_be_separable():
    # Mirrored pairs close to the plane: the mistakes fall slowly, and patience alone would end too early.
    rng = np.random.default_rng(1)
    base = rng.standard_normal((40, 5))
    base[:, 0] = 0
    lift = np.r_[0.05, np.zeros(4)]
    X, y = np.r_[base + lift, base - lift], np.r_[np.ones(40), -np.ones(40)]
    run = train(X, y, n_iter_no_change=1)
    assert run.stop.name == "SEPARATED"
    assert run.epochs > 10


def test_it_stops_when_the_validation_error_does_not_fall_and_keeps_the_best():
    X, y = noisy(600)
    run = train(X[:400], y[:400], validation=(X[400:], y[400:]), keep="best", n_iter_no_change=3)
    assert run.stop.name == "VALIDATION"
    assert len(run.errors) == run.epochs
    assert run.errors[run.kept - 1] == min(run.errors)
    assert np.isclose(errors(run, X[400:], y[400:]) / 200, min(run.errors))
    assert run.epochs - 1 - int(np.argmin(run.errors)) <= 3 + run.errors.count(min(run.errors))


def test_the_best_weights_are_those_with_the_fewest_errors_at_the_end_of_an_epoch():
    X, y = noisy()
    seen = []
    run = train(X, y, max_iter=15, tol=None, keep="best", callback=lambda epoch: seen.append(epoch) and None)
    counts = [int((y * (X @ epoch.coef[0] + epoch.intercept[0]) <= 0).sum()) for epoch in seen]
    assert [epoch.number for epoch in seen] == list(range(1, 16))
    np.testing.assert_allclose(run.errors, np.array(counts) / len(X))
    assert errors(run, X, y) == min(counts)
    last = train(X, y, max_iter=15, tol=None)
    assert errors(last, X, y) == counts[-1] > min(counts)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_the_best_of_several_classes_counts_wrong_elections(multiclass):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 4))
    y = (X @ rng.standard_normal((4, 3)) + rng.standard_normal((300, 3))).argmax(1)
    model = Perceptron(multiclass=multiclass, max_iter=12, tol=None, keep="best").fit(X, y)
    measured = [error for error in model.run_.errors if error is not None]
    np.testing.assert_allclose(1 - model.score(X, y), min(measured), atol=1e-12)
    sparse = Perceptron(multiclass=multiclass, max_iter=12, tol=None, keep="best").fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, model.coef_)


def test_errors_are_measured_when_the_mistakes_do_not_fall_fast_and_at_the_end():
    X, y = noisy()
    run = train(X, y, max_iter=15, tol=None, keep="best")
    assert (len(run.errors), run.errors[0]) == (15, None)
    for number in range(1, 14):
        assert (run.errors[number] is None) == (run.mistakes[number] <= 0.8 * min(run.mistakes[:number]))
    assert run.errors[-1] is not None
    measured = [error for error in run.errors if error is not None]
    assert errors(run, X, y) / len(X) == min(measured) == run.errors[run.kept - 1]


def test_a_look_at_the_run_does_not_change_it():
    X, y = noisy()
    seen = []
    plain = train(X, y, max_iter=9, keep="best")
    watched = train(X, y, max_iter=9, keep="best", callback=lambda epoch: seen.append(epoch.error))
    assert plain.kept == watched.kept
    np.testing.assert_array_equal(plain.coef, watched.coef)
    assert seen == list(watched.errors)
    assert None not in seen


def test_a_run_that_only_gets_better_measures_nothing():
    run = train([[1.0], [2.0], [-1.0]], [1, 1, -1], keep="best")
    assert (run.stop.name, run.errors, run.kept) == ("SEPARATED", (), run.epochs)


def contradictions(n=1000, d=300):
    """Rows that come twice, with either label: nothing separates them, and they are too wide for a search."""
    X = np.random.default_rng(0).standard_normal((n, d))
    return np.vstack([X, X]), np.repeat([1, -1], n)


def test_waiting_for_a_separation_has_a_price_limit():
    X, y = contradictions()
    run = train(X, y, max_iter=1000)
    assert (run.stop.name, run.certificate) == ("TRAINING", None)
    assert run.epochs < 100
    assert "stopped changing" in run.reason


def test_the_price_of_waiting_is_counted_for_each_problem():
    X, y = contradictions()
    rows = np.vstack([X, X[:50] + 100.0])
    run = train(rows, np.append(y, [7] * 50), max_iter=1000)
    assert {stop.name for stop in run.stops} == {"TRAINING", "SEPARATED"}


def test_a_callback_can_end_it():
    X, y = noisy()
    run = train(X, y, tol=None, callback=lambda epoch: epoch.number == 4)
    assert (run.stop.name, run.epochs) == ("CALLBACK", 4)


def test_a_cycle_in_several_problems_is_found_in_each():
    corners = [[0, 0], [1, 0], [0, 1], [1, 1]]
    run = train(corners, [0, 1, 2, 0], order="cyclic", tol=None, max_iter=1000)
    assert {stop.name for stop in run.stops} <= {"CYCLE", "SEPARATED"}
    assert run.reason.startswith("1 of 3 classes (0): no hyperplane separates the rows: the weights came back")
    assert "; 2 of 3 classes (1 and 2): every row is on its side" in run.reason


def test_the_time_to_compile_does_not_count_against_a_limit(monkeypatch):
    clock = RunClock(5.0)
    clock.start -= 100.0
    assert clock.late
    assert clock.overdue
    monkeypatch.setattr(jit.timer, "seconds", jit.timer.seconds + 98.0)
    assert not clock.late
    assert clock.seconds > 99.0, "but it is time that the run has taken"
