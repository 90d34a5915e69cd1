"""A source can be read again, and its chunks are the file."""

import numpy as np
import pytest

from rosenblatt import train
from rosenblatt.compiled.epochs import Csr
from rosenblatt.datasets import load_svmlight
from rosenblatt.errors import InvalidInput
from rosenblatt.files import source
from rosenblatt.files.chunks import Chunk, SvmlightSource

TEXT = "".join(f"{i % 2} 1:{i} {2 + i % 5}:0.5\n" for i in range(40))


@pytest.fixture
def path(tmp_path):
    (tmp_path / "rows.svm").write_text(TEXT)
    return tmp_path / "rows.svm"


def dense(chunk):
    rows = chunk.table.rows
    assert isinstance(rows, Csr)
    X = np.zeros(chunk.table.shape)
    for i in range(len(X)):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        X[i, rows.indices[part]] = rows.data[part]
    return X


@pytest.mark.parametrize("size", [1, 50, 1 << 24])
def test_the_chunks_of_a_file_are_its_rows_each_time(path, size, monkeypatch):
    monkeypatch.setattr(source, "BLOCK_BYTES", size)
    rows = SvmlightSource(path, n_features=7)
    X, y = load_svmlight(path, n_features=7)
    for _ in range(2):
        chunks = list(rows)
        assert len(chunks) == 1 if size > len(TEXT) else len(chunks) > 3
        assert all(isinstance(chunk, Chunk) and chunk.weight is None for chunk in chunks)
        assert np.concatenate([dense(chunk) for chunk in chunks]).tolist() == X.toarray().tolist()
        assert np.concatenate([chunk.label for chunk in chunks]).tolist() == y.tolist()


def test_two_iterations_do_not_disturb_one_another(path, monkeypatch):
    monkeypatch.setattr(source, "BLOCK_BYTES", 50)
    rows = SvmlightSource(path, n_features=7)
    first = iter(rows)
    next(first)
    whole = [chunk.label.tolist() for chunk in rows]
    assert [chunk.label.tolist() for chunk in first] == whole[1:]


def test_indices_count_from_one_or_from_zero(path):
    (chunk,) = SvmlightSource(path, n_features=8, zero_based=True)
    assert dense(chunk)[3].tolist() == [0, 3, 0, 0, 0, 0.5, 0, 0]
    with pytest.raises(InvalidInput, match="line 5: index 6 is not among 1 to 5"):
        list(SvmlightSource(path, n_features=5))
    with pytest.raises(InvalidInput, match="n_features=0"):
        list(SvmlightSource(path, n_features=0))


def test_a_chunk_can_be_trained_on(path):
    (chunk,) = SvmlightSource(path, n_features=7)
    assert train(dense(chunk), chunk.label, epochs=1).trials == 40
