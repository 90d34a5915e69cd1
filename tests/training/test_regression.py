"""Streams of numbers: no classes, one problem."""

import numpy as np
import pytest

from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.adaline import least_mean_squares
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.regression import RegressionStream, regression_task
from rosenblatt.training.stream import NO_CLASSES, Learned, Settings

UNWEIGHTED = np.empty(0)


def test_a_regression_has_no_classes_and_one_problem():
    X = np.random.default_rng(0).standard_normal((30, 2))
    stream = RegressionStream(Settings(FirstOrder(least_mean_squares()), eta=0.1))
    stream.learn(as_table(X), X[:, 0] - X[:, 1], UNWEIGHTED)
    assert (stream.classes.size, stream.known, stream.model().W.shape) == (0, 1, (1, 2))
    stream.check()


def test_one_step_of_least_mean_squares():
    stream = RegressionStream(Settings(FirstOrder(least_mean_squares()), eta=0.5))
    stream.learn(as_table([[2.0, 0.0]]), [3.0], UNWEIGHTED)
    model = stream.model()
    assert (model.W.tolist(), model.b.tolist()) == ([[3.0, 0.0]], [1.5])  # eta (y - 0) x, and eta (y - 0)


def test_a_regression_from_a_file_that_has_classes_is_refused():
    algorithm = FirstOrder(least_mean_squares())
    learned = Learned(np.array([0, 1]), algorithm.start(1, 2, np.float64), 0, 0, ())
    with pytest.raises(InvalidInput, match="a regression has classes"):
        RegressionStream(Settings(algorithm), learned).check()
    RegressionStream(Settings(algorithm), learned._replace(classes=NO_CLASSES)).check()


def test_the_task_of_numbers():
    task = regression_task(np.array([1.0, 2.0]), UNWEIGHTED, 1.0)
    assert (task.target.tolist(), task.sign.tolist(), task.label.tolist()) == ([1, 2], [[1]], [0, 0])
