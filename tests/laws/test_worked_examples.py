"""The lectures' worked examples, to the number."""

import numpy as np
import pytest

from rosenblatt import Perceptron, trace, train
from rosenblatt.datasets import logical, spam

MAILS, SPAM = spam()


def test_spam_takes_four_updates_on_the_first_four_mails():
    trials = list(trace(MAILS, SPAM))
    assert [trial.row for trial in trials if trial.mistake] == [0, 1, 2, 3]
    run = train(MAILS, SPAM, order="cyclic")
    assert (run.updates, run.mistakes) == (4, (4, 0))
    assert run.coef.tolist() == [[0, 2, 0, -1, 1]]
    assert run.intercept.tolist() == [0]


def test_spam_margins_and_the_new_mail():
    model = Perceptron(shuffle=False).fit(MAILS, SPAM)
    assert (model.decision_function(MAILS) * SPAM).tolist() == [2, 1, 2, 1, 1, 1]
    new = [[1, 1, 0, 0, 0]]
    assert model.decision_function(new).tolist() == [2]
    assert model.predict(new).tolist() == [1]


@pytest.mark.parametrize(
    ("name", "updates", "epochs", "w", "b"), [("or", 9, 6, [2, 2], -1), ("and", 18, 9, [2, 3], -4)]
)
def test_or_and_and_converge_as_on_the_blackboard(name, updates, epochs, w, b):
    run = train(*logical(name), order="cyclic")
    assert (run.updates, run.epochs, run.mistakes[-1]) == (updates, epochs, 0)
    assert run.mistakes[-2] > 0
    assert (run.coef.tolist(), run.intercept.tolist()) == ([w], [b])
    assert run.stop.name == "SEPARATED"


def test_xor_is_a_cycle_of_one_epoch():
    run = train(*logical("xor"), order="cyclic")
    assert run.stop.name == "CYCLE"
    assert run.cycle == 1
    assert run.mistakes == (4,)
    assert not run.coef.any()
    assert not run.intercept.any()
    assert "every epoch" in run.reason


def test_circle_becomes_linear_in_the_squares():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (200, 2))
    radius = np.hypot(*X.T)
    X, inside = X[np.abs(radius - 1) > 0.1], (radius < 1)[np.abs(radius - 1) > 0.1]
    assert Perceptron().fit(X, inside).score(X, inside) < 1
    assert Perceptron().fit(X**2, inside).score(X**2, inside) == 1
