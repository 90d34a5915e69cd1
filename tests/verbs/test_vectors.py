"""Vectors of weights that lie side by side."""

import numpy as np
import pytest

from rosenblatt.jit import compiled


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
