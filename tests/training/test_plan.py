"""How a run proceeds, and what its record says."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from rosenblatt import Perceptron, train
from rosenblatt.errors import InvalidInput
from rosenblatt.training.plan import Plan


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "sorted"}, "order='sorted'.*cyclic, shuffled, random"),
        ({"schedule": "fast"}, "schedule='fast'.*function of the epoch"),
        ({"keep": "all"}, "keep='all'"),
        ({"epochs": 0}, "epochs=0"),
        ({"epochs": True}, "epochs=True"),
        ({"patience": 1.5}, "patience=1.5"),
        ({"threads": -1}, "threads=-1"),
        ({"eta": float("inf")}, "eta=inf is not possible: pass a positive number"),
        ({"eta": "1"}, "eta='1' is not possible"),
        ({"tol": float("nan")}, "tol=nan"),
        ({"seconds": 0}, "seconds=0 is not possible"),
    ],
    ids=str,
)
def test_values_without_a_meaning_are_refused_by_name(options, message):
    with pytest.raises(InvalidInput, match=message):
        Plan(**options)


@pytest.mark.parametrize("options", [{"tol": None}, {"tol": -1.0}, {"seconds": 0.5}, {"eta": np.float32(0.5)}], ids=str)
def test_values_with_a_meaning_are_taken(options):
    Plan(**options)


def test_the_rate_of_an_epoch_is_that_of_the_schedule():
    assert [Plan(eta=0.5, schedule="1/t").rate(t) for t in (1, 2, 4)] == [0.5, 0.25, 0.125]
    assert Plan(eta=2.0, schedule=lambda t: 3.0 * t).rate(5) == 30.0
    for factor in (0, -1.0, float("inf"), None, "1"):
        with pytest.raises(InvalidInput, match=f"returned {factor!r} for epoch 3"):
            Plan(schedule=lambda t, factor=factor: factor).rate(3)


def test_a_plan_is_a_value():
    assert Plan() == Plan()
    assert Plan(epochs=3) != Plan()


def test_a_plan_and_a_record_cannot_be_changed():
    run = train([[0.0], [1.0]], [0, 1])
    for value, name in ((Plan(), "epochs"), (run, "mistakes")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 5)


def test_the_record_of_train_has_weights_and_that_of_an_estimator_has_none():
    X, y = [[0.0], [1.0]], [0, 1]
    run = train(X, y)
    assert run.coef is run.model.W
    assert run.intercept is run.model.b
    with pytest.raises(AttributeError, match="coef_ and intercept_"):
        _ = Perceptron().fit(X, y).run_.coef
