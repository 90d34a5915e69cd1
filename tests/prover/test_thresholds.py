"""Ordinal models: the verdict on thresholds is that of the model's own inequalities."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from oracles import exact_lp
from rosenblatt import certify, verify
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.exact.thresholds import against_thresholds


def by_definition(X, rank, classes):
    """The verdict by linear programs in the weights and all thresholds: t below the class <= w.x <= t above it."""
    Z = []
    for x, k in zip(X, rank, strict=True):
        for t, sign in ((k - 1, 1), (k, -1)):
            if 0 <= t < classes - 1:
                Z.append([sign * v for v in x] + [-sign * (s == t) for s in range(classes - 1)])
    if exact_lp.feasible(Z, [1] * len(Z)):
        return "separable"
    total = [sum(column) for column in zip(*Z, strict=True)]
    return "quasi-separable" if exact_lp.feasible([*Z, total], [0] * len(Z) + [1]) else "overlapping"


def test_the_verdict_is_that_of_the_models_inequalities():
    rng, seen = np.random.default_rng(0), set()
    for k in range(60):
        n, d, classes = int(rng.integers(3, 9)), int(rng.integers(1, 3)), int(rng.integers(2, 5))
        X = rng.integers(-2, 3, (n, d))
        y = np.digitize(X @ rng.integers(-1, 2, d) + (k % 3 == 0) * rng.integers(0, 2, n), np.arange(classes - 1))
        y = np.unique(y, return_inverse=True)[1]
        if not y.max():
            continue
        truth = by_definition(X.tolist(), y.tolist(), int(y.max()) + 1)
        for data in (X, sp.csr_array(X)):
            rows, above = against_thresholds(data, y)
            found = certify(rows, above, margin=False)
            assert found.verdict == truth, (X.tolist(), y.tolist())
            assert verify(found, rows, above)
        seen.add(truth)
    assert seen == {"separable", "quasi-separable", "overlapping"}


def test_two_classes_are_left_as_they_are():
    rows, above = against_thresholds([[1.5], [2.5], [0.5]], ["a", "b", "a"])
    assert rows.tolist() == [[1.5], [2.5], [0.5]]
    assert above.tolist() == [False, True, False]


def test_names_and_large_integers_are_kept():
    frame = pd.DataFrame({"dose": [1, 2, 3]})
    rows, _ = against_thresholds(frame, ["low", "high", "mid"], order=["low", "mid", "high"])
    assert list(rows.columns) == ["dose", "threshold mid|high"]
    rows, _ = against_thresholds(np.array([[2**60 + 1], [2**60], [3]]), [0, 1, 2])
    assert rows[0, 0] == 2**60 + 1


@pytest.mark.parametrize("order", [["a"], ["a", "b", "c"], ["a", "a"], ["b"]])
def test_an_order_that_does_not_name_the_classes_is_refused(order):
    with pytest.raises(InvalidInput, match="does not name the classes"):
        against_thresholds([[1], [2]], ["a", "b"], order=order)
