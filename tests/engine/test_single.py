"""Single rows: what is refused, and what is noticed afterwards."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.engine.rows import Dense
from rosenblatt.engine.single import is_sound, touched_finite


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_a_row_that_would_lead_astray_is_told(value):
    assert is_sound(Dense(np.ones((1, 3))), np.zeros((2, 3)))
    assert not is_sound(Dense(np.ones((1, 3))), np.zeros((2, 2)))
    assert not is_sound(Dense(np.array([[0.0, value, 1.0]])), np.zeros((2, 3)))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_only_the_weights_of_entries_are_looked_at(kind):
    rows, W, b = as_table(kind(np.array([[1.0, 0.0], [2.0, 0.0]]))).rows, np.zeros((2, 2)), np.zeros(2)
    assert touched_finite(rows, W, b)
    W[1, 1] = np.inf
    assert touched_finite(rows, W, b) == (kind is sp.csr_array)
    W[1, 0] = np.nan
    assert not touched_finite(rows, W, b)
    assert not touched_finite(rows, np.zeros((2, 2)), np.array([0.0, np.inf]))
