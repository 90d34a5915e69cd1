"""Permutations of rows and of blocks of rows, and copies of some rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.table import as_table
from rosenblatt.engine.rows import gather, interleave, shuffle
from strategies import integer_sets


@given(st.integers(1, 300), st.integers(0, 9))
def test_shuffle_is_a_permutation(n, seed):
    order = np.arange(n, dtype=np.int32)
    shuffle(order, np.random.default_rng(seed).random(n))
    assert sorted(order.tolist()) == list(range(n))


def test_shuffle_stays_inside_for_the_largest_uniform_number():
    order = np.arange(1000, dtype=np.int32)
    shuffle(order, np.full(1000, np.nextafter(1.0, 0.0)))
    assert sorted(order.tolist()) == list(range(1000))


def test_shuffle_favours_no_place():
    rng = np.random.default_rng(0)
    counts = np.zeros((4, 4))
    for _ in range(4000):
        order = np.arange(4, dtype=np.int32)
        shuffle(order, rng.random(4))
        counts[np.arange(4), order] += 1
    # Each of the 16 counts is binomial with mean 1000 and deviation 27: six of them are a wide berth.
    assert np.abs(counts - 1000).max() < 6 * 27.4


@given(st.integers(1, 300), st.integers(1, 20), st.integers(1, 5), st.integers(0, 9))
def test_interleaving_blocks_presents_each_row_once(n, width, streams, seed):
    blocks = np.random.default_rng(seed).permutation(-(-n // width)).astype(np.int32)
    rows = np.arange(n, dtype=np.int32) * 3
    order = np.empty_like(rows)
    interleave(blocks, width, streams, rows, order)
    assert sorted(order.tolist()) == rows.tolist()


def test_interleaving_walks_its_streams_side_by_side():
    rows, order = np.arange(10, dtype=np.int32), np.empty(10, np.int32)
    interleave(np.array([2, 0, 1], np.int32), 4, 2, rows, order)
    # Blocks 2 (rows 8, 9) and 0 (rows 0 to 3) by turns, then block 1.
    assert order.tolist() == [8, 0, 9, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@given(data=integer_sets())
def test_rows_are_copied_each_times_its_factor(kind, data):
    X = data[0]
    subset, factor = np.array([len(X) - 1, 0], np.int32), np.array([2.0, -1.0])
    out = np.zeros((2, X.shape[1] + 1))
    gather(as_table(kind(X)).rows, subset, factor, out)
    np.testing.assert_array_equal(out[:, :-1], factor[:, None] * X[subset])
    assert not out[:, -1].any()
