"""Scores are those of a matrix product, wherever the weights lie."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from rosenblatt.data.table import as_table
from rosenblatt.engine.scores import score
from rosenblatt.training.algorithm import as_hyperplanes
from strategies import integer_sets


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("order", ["C", "F"])
@given(data=integer_sets())
def test_the_scores_of_some_rows_or_all_are_products(kind, order, data):
    X = data[0]
    W = np.asarray(np.arange(9.0 * X.shape[1]).reshape(9, -1) % 5, order=order)
    b = np.arange(9.0)
    for subset in (np.empty(0, np.int32), np.array([len(X) - 1, 0, 0], np.int32)):
        some = X[subset] if subset.size else X
        out = np.empty((len(some), 9))
        score(as_table(kind(X)).rows, subset, as_hyperplanes(W, b), out)
        np.testing.assert_array_equal(out, some @ W.T + b)
