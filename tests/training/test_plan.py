"""How a run proceeds, and what its record says."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from rosenblatt import AdalineRegressor, KernelPerceptron, Perceptron, VotedPerceptron, train
from rosenblatt.errors import InvalidInput
from rosenblatt.training.plan import Plan


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "sorted"}, "order='sorted'.*cyclic, shuffled, random"),
        ({"schedule": "fast"}, "schedule='fast'.*function of the epoch"),
        ({"keep": "all"}, "keep='all'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"max_iter": True}, "max_iter=True"),
        ({"n_iter_no_change": 1.5}, "n_iter_no_change=1.5"),
        ({"n_jobs": -1}, "n_jobs=-1"),
        ({"eta0": float("inf")}, "eta0=inf is invalid: pass a positive number"),
        ({"eta0": "1"}, "eta0='1' is invalid"),
        ({"tol": float("nan")}, "tol=nan"),
        ({"max_seconds": 0}, "max_seconds=0 is invalid"),
    ],
    ids=str,
)
def test_values_without_a_meaning_are_refused_by_name(options, message):
    with pytest.raises(InvalidInput, match=message):
        Plan(**options)


@pytest.mark.parametrize(
    "options", [{"tol": None}, {"tol": -1.0}, {"max_seconds": 0.5}, {"eta0": np.float32(0.5)}], ids=str
)
def test_values_with_a_meaning_are_taken(options):
    Plan(**options)


def test_the_rate_of_an_epoch_is_that_of_the_schedule():
    assert [Plan(eta0=0.5, schedule="1/t").rate(t) for t in (1, 2, 4)] == [0.5, 0.25, 0.125]
    assert Plan(eta0=2.0, schedule=lambda t: 3.0 * t).rate(5) == 30.0
    for factor in (0, -1.0, float("inf"), None, "1"):
        with pytest.raises(InvalidInput, match=f"returned {factor!r} for epoch 3"):
            Plan(schedule=lambda t, factor=factor: factor).rate(3)


def test_a_plan_is_a_value():
    assert Plan() == Plan()
    assert Plan(max_iter=3) != Plan()


def test_a_plan_and_a_record_cannot_be_changed():
    run = train([[0.0], [1.0]], [0, 1])
    for value, name in ((Plan(), "max_iter"), (run, "mistakes")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 5)


def test_the_record_of_train_has_weights_and_that_of_an_estimator_has_none():
    X, y = [[0.0], [1.0]], [0, 1]
    run = train(X, y)
    assert run.coef is run.model.W
    assert run.intercept is run.model.b
    with pytest.raises(AttributeError, match="coef_ and intercept_"):
        _ = Perceptron().fit(X, y).run_.coef


def test_the_mistakes_of_the_first_pass_bound_the_error_on_new_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3))
    y = np.where(X[:, 0] + 0.1 * rng.standard_normal(20_000) > 0, 1, -1)
    run = train(X[:10_000], y[:10_000], max_iter=3, tol=None)
    average, vote = run.guarantees(delta=0.01)
    slack = np.sqrt(2 * np.log(100) / 10_000)
    assert np.isclose(average.risk, run.mistakes[0] / 10_000 + slack)
    assert np.isclose(vote.risk, 2 * average.risk)
    assert (average.confidence, vote.confidence) == (0.99, 0.99)
    model = VotedPerceptron(max_iter=1, tol=None).fit(X[:10_000], y[:10_000])
    assert 1 - model.score(X[10_000:], y[10_000:]) <= vote.risk
    assert train(X[:90], np.arange(90) % 3).guarantees() == ()


ROWS = np.random.default_rng(1).standard_normal((400, 3))
SIDES = (ROWS[:, 0] > 0).astype(int)


def test_a_stream_is_promised_what_its_mistakes_say_however_its_rows_come():
    chunks, single = Perceptron(), Perceptron()
    for start in range(0, 400, 50):
        chunks.partial_fit(ROWS[start : start + 50], SIDES[start : start + 50], classes=[0, 1])
    single.partial_fit(ROWS[:100], SIDES[:100], classes=[0, 1])
    for x, y in zip(ROWS[100:], SIDES[100:].tolist(), strict=True):
        single.learn_one(x, y)
    for model in (chunks, single):
        average, vote = model.run_.guarantees(delta=0.1)
        assert average.hypothesis == "the hypotheses of the stream, on average"
        assert np.isclose(average.risk, model.mistakes_ / 400 + np.sqrt(2 * np.log(10) / 400))
        assert np.isclose(vote.risk, 2 * average.risk)
        assert model.run_.single_pass == (400, model.mistakes_)


def test_nothing_is_promised_where_rows_were_not_new_to_the_weights():
    assert train(ROWS, SIDES, order="random").guarantees() == ()
    assert train(ROWS, SIDES, batch=True).guarantees() == ()
    assert Perceptron(shuffle="random").fit(ROWS, SIDES).run_.guarantees() == ()
    warm = Perceptron(warm_start=True).fit(ROWS, SIDES)
    assert len(warm.run_.guarantees()) == 2
    assert warm.fit(ROWS, SIDES).run_.guarantees() == ()
    assert warm.partial_fit(ROWS, SIDES).run_.guarantees() == ()
    assert warm.partial_fit(ROWS, SIDES).run_.guarantees() == ()


def test_a_regression_makes_no_mistakes_and_gets_no_promise():
    assert AdalineRegressor(max_iter=2).fit(ROWS, ROWS[:, 0]).run_.guarantees() == ()
    assert AdalineRegressor().partial_fit(ROWS, ROWS[:, 0]).run_.guarantees() == ()


@pytest.mark.parametrize("shuffle", [True, False])
def test_the_dual_is_promised_the_same(shuffle):
    run = KernelPerceptron(kernel="linear", shuffle=shuffle).fit(ROWS, SIDES).run_
    assert run.single_pass == (400, run.mistakes[0])
