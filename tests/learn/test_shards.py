"""Laws of shards and of what is found out about their rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.learn.mixing import merge, merge_tree
from rosenblatt.learn.multiclass import code, make_task
from rosenblatt.learn.shards import Shard, census_of, make_portion, portions_of, rows_between, rows_of_shards


def some_rows(n=60, d=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, (n, d)).astype(float)
    return X, np.where(X @ np.arange(1, d + 1) > random.normal(size=n), "yes", "no")


def shard(number, X, y, weight=()):
    portion = make_portion(as_table(X), y, np.asarray(weight, float))
    return Shard(number, [] if portion is None else [portion])


def test_censuses_add_up_and_do_not_mind_empty_shards():
    X, y = some_rows()
    whole = census_of(shard(0, X, y))
    parts = [census_of(shard(k, X[rows], y[rows])) for k, rows in rows_of_shards(60, np.empty(0, int), 7)]
    found = merge_tree([*parts, census_of(Shard(7, []))], merge)
    assert (found.classes.tolist(), found.counts.tolist()) == (whole.classes.tolist(), whole.counts.tolist())
    assert (found.n_rows, found.largest, found.numbers) == (60, whole.largest, tuple(range(7)))
    assert found.survey().value == pytest.approx(whole.survey().value)


def test_censuses_of_other_columns_or_kinds_of_labels_are_refused():
    X, y = some_rows()
    with pytest.raises(InvalidInput, match="features"):
        census_of(shard(0, X, y)).merge(census_of(shard(1, X[:, :3], y)))
    with pytest.raises(InvalidInput, match="texts"):
        census_of(shard(0, X, y)).merge(census_of(shard(1, X, y == "yes")))


def test_rows_of_weight_zero_do_not_count_and_a_shard_of_them_is_empty():
    X, y = some_rows(8)
    assert census_of(shard(3, X, y, np.zeros(8))).sizes == ((3, 0),)
    assert census_of(shard(3, X, y, np.zeros(8))).filled == ()
    assert census_of(shard(3, X, y, [1.0, 0.0] * 4)).filled == ((3, 4),)


def test_a_census_knows_whether_a_shard_is_read_in_portions():
    X, y = some_rows()
    whole, portions = shard(0, X, y), [make_portion(as_table(X[k::2]), y[k::2], np.empty(0)) for k in (0, 1)]
    assert not census_of(whole).in_portions
    found = census_of(Shard(1, portions))
    assert found.in_portions
    assert found.filled == ((1, 60),)
    assert census_of(whole).merge(found).in_portions


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


def test_portions_of_a_table_have_the_rows_of_its_shards():
    X, y = some_rows()
    classes, label = np.unique(y, return_inverse=True)
    weight = np.arange(60.0)
    task = make_task(label.astype(np.int32), code(2, "ovr"), "ovr", weight=weight, bias=1.0)
    for subset in (np.empty(0, np.int32), np.arange(3, 50, 2, dtype=np.int32)):
        wanted = dict(rows_of_shards(60, subset, 7))
        for number, portion in portions_of(as_table(X), task, subset, 7):
            rows = portion.rows if portion.rows.size else slice(None)
            np.testing.assert_array_equal(portion.table.matrix()[rows], X[wanted[number]])
            np.testing.assert_array_equal(portion.weight[rows], weight[wanted[number]])
            np.testing.assert_array_equal(classes[portion.classes[portion.label[rows]]], y[wanted[number]])
            assert portion.size == wanted[number].size
