"""Partitions become shards."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.errors import InvalidInput
from rosenblatt.files.options import FeatureOptions
from rosenblatt.scaling.partitions import (
    FileRows,
    in_groups,
    parsed_bytes,
    resolve_files,
    shard_of_block,
    shard_of_files,
    with_columns,
)

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 0, 1])


def test_blocks_of_every_kind_become_portions():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b"])
    for rows in (X, sp.csr_matrix(X), sp.csr_array(X), frame):
        (portion,) = shard_of_block(3, rows, Y).blocks
        np.testing.assert_array_equal(sp.csr_matrix(portion.table.matrix()).toarray(), X)
        assert portion.label.tolist() == Y.tolist()
    named = shard_of_block(0, frame.assign(label=Y, w=[1, 0, 1, 1, 1, 1]), "label", "w")
    assert named.names == ("a", "b")
    assert [portion.size for portion in named.blocks] == [5]


def test_empty_blocks_and_blocks_without_weight_have_no_portions():
    assert not shard_of_block(0, X[:0], Y[:0]).blocks
    assert not shard_of_block(0, X, Y, np.zeros(6)).blocks


def test_bad_weights_are_refused():
    with pytest.raises(InvalidInput, match="negative"):
        shard_of_block(0, X, Y, -np.ones(6))


@pytest.fixture
def files(tmp_path):
    for k in range(3):
        (tmp_path / f"{k}.csv").write_text("kind,size,colour\n" + f"a,1,red\nb,2,{'blue' if k else 'red'}\n" * 50)
    return tmp_path


def test_all_files_are_read_as_the_first_one(files):
    paths, options, *_ = resolve_files([str(files / "*.csv")], {"label": "kind"})
    assert [path[-5:] for path in paths] == ["0.csv", "1.csv", "2.csv"]
    widths = {portion.table.shape[1] for path in paths for portion in FileRows([path], options)}
    assert len(widths) == 1
    held = shard_of_files(0, FileRows(paths, options), (), True)
    again = shard_of_files(0, FileRows(paths, options), (), False)
    for one, other in zip(held.blocks, again.blocks, strict=True):
        np.testing.assert_array_equal(one.table.values, other.table.values)
        assert one.classes.tolist() == ["a", "b"]
    assert parsed_bytes(paths) > 0


def test_what_depends_on_the_rows_of_other_files_is_refused(files):
    with pytest.raises(InvalidInput, match="a worker does not see"):
        resolve_files([str(files / "0.csv")], {"label": "kind", "features": FeatureOptions(dictionary=True)})
    with pytest.raises(InvalidInput, match="Standard input"):
        resolve_files(["-"], {"format": "svmlight"})


def test_groups_are_neighbours_and_even():
    assert in_groups("abcdefg", 3) == [["a", "b", "c"], ["d", "e"], ["f", "g"]]


def test_columns_come_in_the_order_of_a_model(tmp_path):
    (tmp_path / "a.csv").write_text("kind,b,a\nx,1,2\ny,3,4\n")
    _, options, names, _ = resolve_files([str(tmp_path / "a.csv")], {"label": "kind"})
    assert names == ("b", "a")
    (chunk,) = FileRows([str(tmp_path / "a.csv")], with_columns(options, ["a", "b"])).source()
    assert chunk.table.rows.X.tolist() == [[2, 1], [4, 3]]
    with pytest.raises(InvalidInput, match=r"Missing: c\. New: b\."):
        with_columns(options, ["a", "c"])
