"""What models and data files say of themselves."""

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from commands import mails, run, svmlight
from rosenblatt import load_linear
from rosenblatt.storage.sparse import SparseArray


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    mails(folder / "mails.csv")
    svmlight(folder / "four.svm", classes=4)
    (folder / "some.vw").write_text("1 |a x y:2 7 | z |3 x\n-1 |a 12 q |b x z:0.5\n")
    (folder / "some.txt").write_text("yes\tone two\nno\ttwo three Three\n")
    return folder


def test_the_most_telling_words_are_those_that_were_planted(folder):
    run("train", folder / "mails.csv", "--label", "kind", "--model", folder / "m", "--quiet")
    told = json.loads(run("info", folder / "m", "--names", folder / "mails.csv", "--top", 10, "--json").stdout)
    spam = {name.split("=")[1] for name, _ in told["top"]["spam"]}
    assert spam <= {*["free", "prize", "winner", "click", "cash", "offer", "urgent", "claim", "viagra", "credit"]}
    text = run("info", folder / "m", "--names", folder / "mails.csv", "--top", 3).stdout
    assert "for spam" in text
    assert "labels      ham, spam" in text
    assert json.loads(run("info", folder / "m", "--top", 10, "--json").stdout)["top"] == told["top"]


def test_several_classes_have_features_each(folder):
    run("train", folder / "four.svm", "--model", folder / "four", "--quiet")
    told = json.loads(run("info", folder / "four", "--top", 2, "--json").stdout)
    assert [len(told["top"][label]) for label in "0123"] == [2, 2, 2, 2]
    # Columns have the numbers of the file, which counts from 1.
    W = load_linear(folder / "four").W
    for row, label in zip(W, "0123", strict=True):
        assert told["top"][label][0] == [f"column {row.argmax() + 1}", row.max()]


def test_a_data_file_is_counted(folder):
    told = json.loads(run("info", folder / "four.svm", "--json").stdout)
    labels = np.loadtxt(folder / "four.svm", usecols=0, dtype=float, converters=lambda text: float(text.split(":")[0]))
    assert told["rows"] == 2000
    assert told["label_counts"] == {str(label): int((labels == label).sum()) for label in range(4)}
    assert (told["format"], told["entries"], told["features"]) == ("svmlight", 16000, 50)


def test_what_is_neither_is_refused(folder):
    (folder / "empty").write_bytes(b"")
    run("info", folder / "empty", code=1)
    run("info", folder / "none", code=1)


def test_large_sparse_weights_are_described_without_making_them_dense(folder, monkeypatch):
    run("train", folder / "four.svm", "--model", folder / "four", "--quiet", "--overwrite")
    dense = load_linear(folder / "four")
    W = np.zeros((4, 1 << 20))
    W[:, : dense.W.shape[1]] = np.asarray(dense.W)
    replace(dense, W=W).save(folder / "wide")
    assert isinstance(load_linear(folder / "wide").W, SparseArray)
    told = [json.loads(run("info", folder / name, "--top", 3, "--json").stdout) for name in ("four", "wide")]
    assert told[0]["top"] == told[1]["top"]
    monkeypatch.setattr(SparseArray, "dense", property(lambda array: pytest.fail("it was made dense")))
    tracemalloc.start()
    run("info", folder / "wide", "--top", 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < W.nbytes
