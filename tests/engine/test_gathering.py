"""Copies of some rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from rosenblatt.data.table import as_table
from rosenblatt.engine.gathering import gather
from strategies import integer_sets


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@given(data=integer_sets())
def test_rows_are_copied_each_times_its_factor(kind, data):
    X = data[0]
    subset, factor = np.array([len(X) - 1, 0], np.int32), np.array([2.0, -1.0])
    out = np.zeros((2, X.shape[1] + 1))
    gather(as_table(kind(X)).rows, subset, factor, out)
    np.testing.assert_array_equal(out[:, :-1], factor[:, None] * X[subset])
    assert not out[:, -1].any()
