"""Laws of shards and of what is found out about their rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.training.mixing import merge, merge_tree
from rosenblatt.training.shards import Shard, cut, make_block, rows_between, spans_of_shards, stats_of


def some_rows(n=60, d=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, (n, d)).astype(float)
    return X, np.where(X @ np.arange(1, d + 1) > random.normal(size=n), "yes", "no")


def shard(number, X, y, weight=()):
    block = make_block(as_table(X), y, np.asarray(weight, float))
    return Shard(number, [] if block is None else [block])


def test_censuses_add_up_and_do_not_mind_empty_shards():
    X, y = some_rows()
    whole = stats_of(shard(0, X, y))
    parts = [stats_of(shard(k, X[rows], y[rows])) for k, rows in spans_of_shards(60, 7)]
    found = merge_tree([*parts, stats_of(Shard(7, []))], merge)
    assert (found.classes.tolist(), found.counts.tolist()) == (whole.classes.tolist(), whole.counts.tolist())
    assert (found.n_rows, found.largest, found.numbers) == (60, whole.largest, tuple(range(7)))
    assert found.survey().value == pytest.approx(whole.survey().value)


def test_censuses_of_other_columns_or_kinds_of_labels_are_refused():
    X, y = some_rows()
    with pytest.raises(InvalidInput, match="features"):
        stats_of(shard(0, X, y)).merge(stats_of(shard(1, X[:, :3], y)))
    with pytest.raises(InvalidInput, match="texts"):
        stats_of(shard(0, X, y)).merge(stats_of(shard(1, X, y == "yes")))


def test_rows_of_weight_zero_do_not_count_and_a_shard_of_them_is_empty():
    X, y = some_rows(8)
    assert stats_of(shard(3, X, y, np.zeros(8))).sizes == ((3, 0),)
    assert stats_of(shard(3, X, y, np.zeros(8))).filled == ()
    assert stats_of(shard(3, X, y, [1.0, 0.0] * 4)).filled == ((3, 4),)


def test_a_census_knows_whether_a_shard_is_read_in_blocks():
    X, y = some_rows()
    whole, blocks = shard(0, X, y), [make_block(as_table(X[k::2]), y[k::2], np.empty(0)) for k in (0, 1)]
    assert not stats_of(whole).in_several_blocks
    found = stats_of(Shard(1, blocks))
    assert found.in_several_blocks
    assert found.filled == ((1, 60),)
    assert stats_of(whole).merge(found).in_several_blocks


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_neighbouring_rows_are_views_of_their_table(dtype):
    X = some_rows()[0] * (np.arange(5) != 2)
    S = sp.csr_matrix(X)
    S.indices, S.indptr = S.indices.astype(dtype), S.indptr.astype(dtype)
    for table in (as_table(X), as_table(S)):
        for first, last in ((0, 60), (7, 8), (59, 60), (13, 40), (5, 5)):
            part = rows_between(table, first, last)
            assert part.shape == (last - first, 5)
            rows = part.matrix()
            np.testing.assert_array_equal(rows.toarray() if sp.issparse(rows) else rows, X[first:last])
            assert first == last or np.shares_memory(part.values, table.values)
            assert [array.dtype for array in part.rows] == [array.dtype for array in table.rows]


@pytest.mark.parametrize("sparse", [False, True])
def test_the_shards_of_a_table_have_each_row_once_in_its_order(sparse):
    X, y = some_rows()
    table = as_table(sp.csr_matrix(X) if sparse else X)
    classes, label = np.unique(y, return_inverse=True)
    some = np.arange(3, 50, 2, dtype=np.int32)
    for subset in (np.empty(0, np.int32), some, some[::-1], np.random.default_rng(0).permutation(some)):
        seen = []
        for number, block in cut(table, classes, label, np.arange(60.0), subset, 7):
            assert number == len(seen)
            rows = block.rows if block.rows.size else np.arange(block.size)
            place = block.weight[rows].astype(int)  # the weight of a row is its place here
            np.testing.assert_array_equal(block.classes[block.label[rows]], y[place])
            found = block.table.matrix()[rows]
            np.testing.assert_array_equal(found.toarray() if sparse else found, X[place])
            seen.append(place)
        np.testing.assert_array_equal(np.concatenate(seen), subset if subset.size else np.arange(60))
        assert np.ptp([place.size for place in seen]) <= 1


def test_more_shards_than_rows_leave_the_last_empty():
    assert [list(span) for _, span in spans_of_shards(3, 10**12)] == [[0], [1], [2]]
    assert [list(span) for _, span in spans_of_shards(5, 2)] == [[0, 1, 2], [3, 4]]  # as NumPy splits an array
