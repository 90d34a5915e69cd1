"""The pocket: never worse, and no streams."""

import traceback

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import PocketPerceptron
from rosenblatt.errors import InvalidInput
from strategies import integer_sets


@given(integer_sets(classes=3), st.integers(0, 3))
@settings(max_examples=40)
def test_the_pocket_of_every_problem_has_the_errors_it_counted(data, seed):
    X, label = data
    for multiclass in ("ovr", "ovo"):
        model = PocketPerceptron(multiclass=multiclass, max_iter=4, tol=None, random_state=seed).fit(X, label)
        stream = model._stream
        sign = stream.settings.coding_matrix(3)[:, : stream.known][label]
        wrong = (sign * (X @ model.coef_.T + model.intercept_) <= 0) & (sign != 0)
        assert stream.state.errors.tolist() == wrong.sum(0).tolist()


def test_the_weights_of_a_row_count_in_its_errors():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1, 0])
    light = PocketPerceptron(max_iter=3000, tol=None).fit(X, y)
    assert light.score(X, y) == 0.8
    heavy = PocketPerceptron(max_iter=3000, tol=None).fit(X, y, sample_weight=[1, 1, 1, 1, 9])
    assert heavy.predict([[4.0]])[0] == 0


@pytest.mark.parametrize("name", ["partial_fit", "learn_one"])
def test_it_looks_back_at_all_rows_and_says_so(name):
    model = PocketPerceptron()
    assert not hasattr(model, name)
    with pytest.raises(AttributeError) as caught:
        getattr(model, name)
    assert "looks back at all rows" in "".join(traceback.format_exception(caught.value))


def test_there_is_no_joint_pocket():
    with pytest.raises(InvalidInput, match="does not exist for PocketPerceptron: choose one of 'ovr', 'ovo'"):
        PocketPerceptron(multiclass="joint").fit(np.eye(3), [0, 1, 2])
