"""`train`: the perceptron on arrays, its settings and what it returns."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from rosenblatt import Perceptron, train
from rosenblatt.errors import InvalidInput
from strategies import integer_sets

GOOD = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
LABELS = [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": (np.ones(3), 0.0)}, "init"),
        ({"init": np.ones(2)}, "init"),
        ({"init": ([np.inf, 0], 0.0)}, "finite"),
        ({"sample_weight": [1, 2]}, "sample_weight"),
        ({"sample_weight": [1, 2, -1, 1]}, "negative"),
        ({"sample_weight": [0, 0, 0, 0]}, "zero everywhere"),
        ({"order": "sorted"}, "order='sorted'"),
        ({"schedule": "fast"}, "schedule='fast'"),
        ({"schedule": lambda t: -1.0}, "returned -1.0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"eta0": 0.0}, "eta0=0.0 is invalid"),
        ({"max_seconds": -1.0}, "max_seconds=-1.0 is invalid"),
        ({"keep": "all"}, "keep='all'"),
        ({"multiclass": "ecoc"}, "multiclass='ecoc'"),
        ({"validation": (np.ones((2, 3)), [0, 1])}, "3 features"),
    ],
)
def test_bad_settings_are_refused_with_the_value_named(options, message):
    with pytest.raises(InvalidInput, match=message):
        train(GOOD, LABELS, **options)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "ovo-vote", "joint"])
@given(data=integer_sets(classes=3))
def test_the_model_predicts_as_an_estimator_of_the_same_weights(multiclass, data):
    X, label = data
    names = np.array(["one", "three", "two"])[label]
    run = train(X, names, multiclass=multiclass, order="cyclic", max_iter=3, tol=None)
    fitted = Perceptron(multiclass=multiclass, shuffle=False, max_iter=3, tol=None).fit(X, names)
    assert run.coef.tolist() == fitted.coef_.tolist()
    assert run.mistakes == fitted.run_.mistakes
    assert run.model.predict(X).tolist() == fitted.predict(X).tolist()


def test_validation_rows_of_a_class_that_training_does_not_know_are_errors():
    run = train([[0.0], [1.0]], [0, 1], validation=([[0.0], [1.0]], [0, 7]), max_iter=5, tol=None)
    assert run.errors[-1] == 0.5


def test_one_class_is_not_enough():
    with pytest.raises(InvalidInput, match="one class only"):
        train(GOOD, [3, 3, 3, 3])


def test_an_unknown_setting_is_an_error():
    with pytest.raises(TypeError, match="epoch"):
        train(GOOD, LABELS, epoch=3)


@given(integer_sets())
def test_the_rate_scales_the_weights_exactly(data):
    X, label = data
    one, other = (train(X, label, eta0=eta, order="cyclic", max_iter=4, tol=None) for eta in (1.0, 0.1))
    assert other.mistakes == one.mistakes
    assert other.coef.tolist() == (0.1 * one.coef).tolist()
    sparse = train(sp.csr_array(X), label, order="cyclic", max_iter=4, tol=None)
    assert sparse.coef.tolist() == one.coef.tolist()
