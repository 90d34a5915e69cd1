"""Rows whose columns each have a learning rate of their own."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.jit import compiled
from rosenblatt.engine.rows import add, dot, square

X = np.array([[1.0, 0.0, -2.0], [0.0, 0.5, 4.0]])
RATE = np.array([4.0, 0.5, 0.25])


@compiled()
def speak(rows, i, W):
    found = dot(rows, i, W, 0), square(rows, i)
    add(rows, i, 2.0, W, 0)
    return found


@pytest.mark.parametrize("i", [0, 1])
@pytest.mark.parametrize(
    "rows", [RatedDense(X, RATE), RatedCsr(*as_table(sp.csr_array(X)).rows, RATE)], ids=["dense", "csr"]
)
def test_scores_are_of_the_row_steps_and_lengths_have_the_rates(rows, i):
    W = np.array([[1.0, 2.0, 3.0]])
    score, length = speak(rows, i, W)
    assert score == X[i] @ [1.0, 2.0, 3.0]
    assert length == (X[i] ** 2) @ RATE
    assert W[0].tolist() == (np.array([1.0, 2.0, 3.0]) + 2.0 * X[i] * RATE).tolist()
