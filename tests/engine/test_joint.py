"""The loop in which classes compete, against the oracle."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from oracles import reference
from rosenblatt import train
from rosenblatt.engine.joint import best_wrong
from rosenblatt.engine.rows import Dense
from strategies import integer_sets

STORAGES = {"dense": np.asarray, "float32": np.float32, "sparse": sp.csr_array}
storage = pytest.mark.parametrize("stored", STORAGES.values(), ids=STORAGES.keys())


@storage
@given(integer_sets(classes=3), st.integers(1, 4))
def test_joint_training_is_ultraconservative(stored, data, epochs):
    X, label = data
    run = train(stored(X), label, order="cyclic", max_iter=epochs, tol=None, multiclass="joint")
    W, b, mistakes = reference.joint(X.tolist(), label.tolist(), 3, [range(len(X))] * epochs)
    assert (run.coef.tolist(), run.intercept.tolist()) == (W, b)
    assert run.mistakes == tuple(mistakes[: run.epochs])


@pytest.mark.parametrize(("c", "wanted"), [(0, (1.0, 5.0, 2)), (2, (5.0, 3.0, 1)), (1, (3.0, 5.0, 2))])
def test_the_best_wrong_class_is_the_best_of_the_others(c, wanted):
    W, b = np.array([[1.0], [2.0], [5.0]]), np.array([0.0, 1.0, 0.0])
    assert best_wrong(Dense(np.ones((1, 1))), 0, c, W, b, np.ones(3)) == wanted
