"""Scores of all rows of a table."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from rosenblatt.data.table import ALL_ROWS, as_table
from rosenblatt.engine.rows import Hyperplanes
from rosenblatt.training import scores as module
from rosenblatt.training.scores import scores
from strategies import integer_sets


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("entries", [1, 1 << 27])
@given(data=integer_sets())
def test_scores_are_products_whatever_the_pieces(kind, entries, data):
    X = data[0]
    W, b = np.arange(3.0 * X.shape[1]).reshape(3, -1), np.arange(3.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE_ENTRIES", entries)
        for subset in (ALL_ROWS, np.array([0, len(X) - 1], np.int32)):
            some = X[subset] if subset.size else X
            np.testing.assert_array_equal(scores(as_table(kind(X)), Hyperplanes(W, b), subset), some @ W.T + b)
