"""Coordinate descent against plain arrays, and what the passes before a search find."""

import numpy as np
import pytest
import scipy.sparse as sp

from margins_by_hand import planted_margin
from rosenblatt.data.table import as_table
from rosenblatt.engine.rows import Csr, Dense
from rosenblatt.engine.rules import passive_aggressive, perceptron
from rosenblatt.prover.exact.clock import Deadline
from rosenblatt.prover.exact.signed_rows import SignedRows
from rosenblatt.prover.search import coordinates, descent
from rosenblatt.prover.search.coordinates import standardised
from rosenblatt.prover.search.descent import coordinate_descent, joint_epochs


def stored(X, kind):
    if kind == "dense":
        return Dense(X)
    matrix = sp.csr_array(X)
    return Csr(matrix.data, matrix.indices, matrix.indptr)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_coordinate_descent_is_that_of_the_dual(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (20, 3)).astype(float)
    centre = X.mean(axis=0) if kind == "dense" else np.zeros(3)  # sparse rows are not moved
    inverse = np.array([0.5, 1.0, 2.0])
    A = np.column_stack([(X - centre) * inverse, np.ones(20)])
    sign, tied = rng.choice([-1.0, 1.0], 20), np.arange(20) == 4
    square = np.empty(20)
    coordinates.write_squares(stored(X, kind), centre, inverse, 1.0, square)
    assert np.allclose(square, (A**2).sum(axis=1))
    w, alpha, order = np.zeros(4), np.zeros(20), rng.permutation(20)
    expected_w, expected, wrong = np.zeros(4), np.zeros(20), 0
    for i in order:
        shortfall = 1.0 - sign[i] * (A[i] @ expected_w)
        wrong += shortfall >= 1.0
        step = (shortfall - 1.0 if tied[i] else max(shortfall, -expected[i] * square[i])) / square[i]
        if tied[i] or shortfall > 0 or expected[i] > 0:
            expected[i] += step
            expected_w += step * sign[i] * A[i]
    found = descent.descend(stored(X, kind), sign, centre, inverse, 1.0, square, tied, order, w, alpha)
    assert found == wrong
    assert np.allclose(alpha, expected)
    assert np.allclose(w, expected_w)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_coordinate_descent_separates_and_ties(store):
    X, y = planted_margin(200, 5, 2.0**-2)
    signed = SignedRows(as_table(store(X)), y > 0, 2)
    view = standardised(signed)
    u, alpha = coordinate_descent(view, 500, Deadline(None))
    assert signed.margins(view.to_weights(u))[0].min() > 0
    assert alpha.min() >= 0
    line = SignedRows(as_table(store(np.array([[0.0, 1.0], [0.0, 1.0], [3.0, 1.0], [-2.0, 1.0]]))), [0, 1, 1, 0], 2)
    view = standardised(line)
    margins = view.margins(coordinate_descent(view, 1000, Deadline(None), tied=np.array([0, 1]), reached=1e-9)[0])
    assert np.abs(margins[:2]).max() < 1e-6
    assert margins[2:].min() > 0.1


@pytest.mark.parametrize("rule", [passive_aggressive(C=np.inf), perceptron()])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_joint_epochs_separate_three_classes(store, rule):
    rng = np.random.default_rng(0)
    label = np.arange(90) % 3
    X = np.array([[4.0, 0.0], [0.0, 4.0], [-4.0, -4.0]])[label] + rng.uniform(-1, 1, (90, 2))
    signed = SignedRows(as_table(store(X)), label, 3)
    assert signed.margins(joint_epochs(signed, rule, 100, Deadline(None)))[0].min() > 0
