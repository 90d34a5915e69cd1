"""The loop in which classes compete, against the oracle."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from oracles import reference
from rosenblatt import train
from strategies import integer_sets

STORAGES = {"dense": np.asarray, "float32": np.float32, "sparse": sp.csr_array}
storage = pytest.mark.parametrize("stored", STORAGES.values(), ids=STORAGES.keys())


@storage
@given(integer_sets(classes=3), st.integers(1, 4))
def test_joint_training_is_ultraconservative(stored, data, epochs):
    X, label = data
    run = train(stored(X), label, order="cyclic", epochs=epochs, tol=None, multiclass="joint")
    W, b, mistakes = reference.joint(X.tolist(), label.tolist(), 3, [range(len(X))] * epochs)
    assert (run.coef.tolist(), run.intercept.tolist()) == (W, b)
    assert run.mistakes == tuple(mistakes[: run.epochs])
