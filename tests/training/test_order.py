"""Orders of presentation and learning rates."""

import numpy as np
import pytest

from rosenblatt.data.table import ALL_ROWS
from rosenblatt.errors import InvalidInput
from rosenblatt.training.plan import MIN_ROWS_FOR_BLOCKS, ROWS_PER_BLOCK, Order, step_decay


def drawn(kind, label, index=ALL_ROWS, seed=0, epochs=2):
    order = Order(kind, label, index, seed)
    return [order.draw().copy() for _ in range(epochs)]


def test_a_cycle_is_the_rows_as_they_lie():
    assert drawn("cyclic", np.zeros(9, int))[0].size == 0
    index = np.array([2, 5, 7], np.int32)
    assert drawn("cyclic", np.zeros(9, int), index)[1].tolist() == [2, 5, 7]


@pytest.mark.parametrize("n", [50, MIN_ROWS_FOR_BLOCKS + 7], ids=["single rows", "blocks"])
@pytest.mark.parametrize("subset", [False, True])
def test_each_epoch_is_a_new_permutation(n, subset):
    label = np.random.default_rng(0).integers(0, 2, n)
    index = np.arange(0, n, 3, dtype=np.int32) if subset else ALL_ROWS
    first, second = drawn("shuffled", label, index)
    expected = index.tolist() if subset else list(range(n))
    assert sorted(first.tolist()) == sorted(second.tolist()) == expected
    assert first.tolist() != second.tolist()


def test_the_seed_decides():
    label = np.random.default_rng(0).integers(0, 2, 100)
    for kind in ("shuffled", "random"):
        assert [o.tolist() for o in drawn(kind, label, seed=5)] == [o.tolist() for o in drawn(kind, label, seed=5)]
        assert drawn(kind, label, seed=5)[0].tolist() != drawn(kind, label, seed=6)[0].tolist()


def test_random_draws_repeat_rows():
    label = np.zeros(100, int)
    epoch = drawn("random", label)[0]
    assert epoch.size == 100
    assert len(set(epoch.tolist())) < 100
    assert set(epoch.tolist()) <= set(range(100))


def test_many_mixed_rows_are_walked_in_blocks_and_sorted_ones_are_not():
    n = 4 * MIN_ROWS_FOR_BLOCKS
    mixed = np.random.default_rng(0).integers(0, 3, n)
    assert Order("shuffled", mixed, ALL_ROWS, 0).width == ROWS_PER_BLOCK
    assert Order("shuffled", np.sort(mixed), ALL_ROWS, 0).width == 1
    assert Order("shuffled", mixed[: MIN_ROWS_FOR_BLOCKS - 1], ALL_ROWS, 0).width == 1


def test_step_decay_falls_by_its_factor():
    rate = step_decay(0.1, every=3)
    assert [round(rate(t), 6) for t in range(1, 8)] == [1, 1, 1, 0.1, 0.1, 0.1, 0.01]
    for factor, every in ((0, 3), (1.5, 3), (0.5, 0)):
        with pytest.raises(InvalidInput):
            step_decay(factor, every)
