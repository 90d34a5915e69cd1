"""The stores of a run: objects, kept similarities, arrays that grow."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.kernels import unbounded
from rosenblatt.kernels.kernels import PairFunction, Polynomial
from rosenblatt.kernels.runner import ObjectPool
from rosenblatt.kernels.unbounded import ColumnCache, GrowingArray


def test_no_pair_is_asked_twice():
    asked = set()

    def overlap(a, b):
        pair = frozenset([a, b])
        assert pair not in asked
        asked.add(pair)
        return len(set(a) & set(b))

    words = np.array(["".join(w) for w in itertools.combinations("abcdefg", 3)], object)
    pool = ObjectPool(PairFunction(overlap), words[:0], words, 1e6)
    for _ in range(2):
        pool.columns(np.arange(10), np.arange(5, 20))
        pool.columns(np.arange(5, 20), np.arange(10))
    assert len(asked) == len({frozenset([i, j]) for i in range(10) for j in range(5, 20)})


def test_a_pool_without_room_asks_again():
    asked = []
    words = np.array(["ab", "bc", "cd"], object)
    pool = ObjectPool(PairFunction(lambda a, b: asked.append((a, b)) or 1.0), words[:0], words, 8 * 3 * 3 - 1)
    for _ in range(2):
        pool.columns(np.arange(3), np.arange(3))
    assert len(asked) == 18


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@given(number=st.lists(st.integers(0, 8), min_size=1, max_size=6))
def test_a_pool_numbers_the_first_vectors_before_the_rows(storage, number):
    X = np.random.default_rng(0).integers(-3, 4, (9, 2)).astype(float)
    pool = ObjectPool(Polynomial(), storage(X[:4]), storage(X[4:]), 0.0)
    number, row = np.array(number), np.array([3, 0, 1])
    part = pool.take(number)
    assert (part.toarray() if sp.issparse(part) else part).tolist() == X[number].tolist()
    assert pool.columns(number, row).tolist() == (X[number] @ X[4 + row].T).tolist()


@given(
    st.integers(0, 12),
    st.lists(st.integers(0, 11), min_size=1, max_size=12, unique=True),
    st.lists(st.integers(0, 6), min_size=1, max_size=7, unique=True),
)
def test_a_cache_returns_what_was_written_up_to_its_capacity(capacity, slots, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unbounded, "COLUMNS_PER_READ", 3)
        cache = ColumnCache(7, 12, np.float32, capacity * 7 * 4)
        assert cache.capacity == capacity
        slot, row = np.array(slots), np.array(rows)
        K = np.arange(slot.size * row.size, dtype=np.float32).reshape(slot.size, row.size)
        cache.write(slot, row, K)
        kept = np.flatnonzero(slot < capacity)
        seen = []
        for place, block in cache.read(slot[kept], row):
            assert block.tolist() == K[kept[place]].tolist()
            seen += place.tolist()
        assert sorted(seen) == list(range(kept.size))


def test_an_array_grows_without_losing_anything():
    array, wanted = GrowingArray((2,), np.int64), []
    for size in (1, 255, 0, 1, 700):
        values = np.arange(2 * size).reshape(size, 2) + len(wanted)
        array.push(values)
        wanted += values.tolist()
        assert array.view().tolist() == wanted
    assert array.view(3).tolist() == wanted[3:]
