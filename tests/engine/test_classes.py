"""Sparse rows of several classes: pointers, vectors of weights, and the same bits as in any other layout."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.engine.classes import CACHED_WEIGHT_BYTES, add_to_vectors, dot_vectors, pointer
from rosenblatt.engine.jit import compiled
from rosenblatt.engine.rows import Hyperplanes
from rosenblatt.engine.scores import score


@compiled()
def _dot(data, indices, start, end, W, p, out):
    dot_vectors(pointer(data), pointer(indices), start, end, pointer(W), W.shape[0], p, pointer(out), 4)


@compiled()
def _add(data, indices, start, end, W, p, steps):
    add_to_vectors(pointer(data), pointer(indices), start, end, pointer(W), W.shape[0], p, pointer(steps), 4)


@pytest.mark.parametrize("entries", range(10))
@pytest.mark.parametrize("kinds", [("f8", "f8", "i4"), ("f4", "f4", "i8"), ("f4", "f8", "i4"), ("f8", "f4", "i4")])
def test_a_row_meets_four_vectors_and_no_others(entries, kinds):
    random, (kind, weight_kind, index_kind) = np.random.default_rng(entries), kinds
    data, W = random.normal(size=12).astype(kind), np.asfortranarray(random.normal(size=(7, 20)), weight_kind)
    indices = random.permutation(20)[:12].astype(index_kind)
    row = np.zeros(20)
    row[indices[1 : 1 + entries]] = data[1 : 1 + entries]
    out = np.full(7, np.nan)
    _dot(data, indices, 1, 1 + entries, W, 2, out)
    assert np.isnan(out).tolist() == [True, True, False, False, False, False, True]
    assert out[2:6] == pytest.approx(W[2:6] @ row, rel=1e-5, abs=1e-6)
    steps, before = random.normal(size=7), W.copy()
    _add(data, indices, 1, 1 + entries, W, 2, steps)
    before[2:6] += (steps[2:6, None] * row).astype(weight_kind)
    np.testing.assert_allclose(W, before, rtol=1e-5, atol=1e-6)


def test_sums_are_made_four_products_at_a_time():
    data, indices = np.array([1.0, 1e16, 1.0, -1e16, 1.0, 1.0]), np.arange(6)
    W, out = np.ones((5, 6), order="F"), np.zeros(5)
    _dot(data, indices, 0, 6, W, 0, out)
    assert out.tolist() == [(1.0 + 1e16) + (1.0 - 1e16) + 1.0 + 1.0] * 4 + [0.0]


@compiled()
def _double(array):
    elements = pointer(array)
    for k in range(array.size):
        elements[k] = 2.0 * elements[k] + k


@pytest.mark.parametrize("order", ["C", "F"])
def test_elements_are_read_and_written_as_they_lie(order):
    array = np.asarray(np.arange(6.0).reshape(2, 3), order=order)
    wanted = 2.0 * array + np.arange(6).reshape(2, 3, order=order)
    _double(array)
    np.testing.assert_array_equal(array, wanted)


def test_weights_side_by_side_give_the_same_bits():
    random = np.random.default_rng(0)
    X, W = random.normal(size=(50, 70)), random.normal(size=(11, 70))
    X[random.random(X.shape) < 0.5] = 0.0
    rows, out = as_table(sp.csr_array(X)).rows, np.empty((2, 50, 11))
    for place, order in enumerate("CF"):
        score(rows, np.empty(0, np.int32), Hyperplanes(np.asarray(W, order=order), np.zeros(11)), out[place])
    assert out[0].tobytes() == out[1].tobytes()


def test_weights_that_are_prefetched_are_used_alike():
    random = np.random.default_rng(2)
    X, W = sp.random(40, 30_000, 0.001, "csr", random_state=random), random.normal(size=(20, 30_000))
    X = sp.csr_array(sp.diags_array(np.arange(40.0) % 5) @ X)  # some rows are empty
    X.eliminate_zeros()
    assert W.nbytes > CACHED_WEIGHT_BYTES
    for subset in (np.empty(0, np.int32), random.permutation(40)[:25].astype(np.int32)):
        out = np.empty((2, subset.size or 40, 20))
        for place, order in enumerate("CF"):
            score(as_table(X).rows, subset, Hyperplanes(np.asarray(W, order=order), np.zeros(20)), out[place])
        assert out[0].tobytes() == out[1].tobytes()
