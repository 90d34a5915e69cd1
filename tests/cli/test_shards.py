"""Training on shards from the command line."""

import json

import numpy as np
import pytest

import rosenblatt
from commands import mails, run, svmlight

OVERWRITE = ("train", "--overwrite")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    svmlight(folder / "all.svm")
    lines = (folder / "all.svm").read_text().splitlines(keepends=True)
    for k in range(4):
        (folder / f"part-{k}.svm").write_text("".join(lines[500 * k : 500 * (k + 1)]))
    mails(folder / "mails.csv")
    return folder


def trained(folder, *arguments):
    run("train", "--overwrite", "--model", folder / "m", "--quiet", *arguments)
    return rosenblatt.load_linear(folder / "m")


def test_shards_of_one_file_are_those_of_a_table(folder):
    from rosenblatt.datasets import load_svmlight

    found = trained(folder, folder / "all.svm", "--shards", 4, "--epochs", 3)
    X, y = load_svmlight(folder / "all.svm", n_features=1 << 18)  # how often shards mix depends on the width
    model = rosenblatt.AveragedPerceptron(shards=4, max_iter=3, shuffle=False, keep="last").fit(X, y)
    np.testing.assert_array_equal(found.W, model.coef_)
    assert found.origin["training"]["parameters"]["shards"] == 4


def test_files_are_shards_and_threads_change_nothing(folder):
    files = [folder / f"part-{k}.svm" for k in range(4)]
    one = trained(folder, *files, "--shards", 4, "--n-jobs", 1)
    two = trained(folder, *files, "--shards", 4, "--n-jobs", 2)
    assert one.W.tobytes() == two.W.tobytes() == trained(folder, folder / "all.svm", "--shards", 4).W.tobytes()


def test_the_model_reads_files_as_it_was_trained(folder):
    trained(folder, folder / "mails.csv", "--label", "kind", "--shards", 3, "--class-weight", "spam=2")
    done = run("evaluate", folder / "mails.csv", "--model", folder / "m", "--json")
    assert json.loads(done.stdout)["accuracy"] > 0.9
    shown = run(
        "train",
        "--overwrite",
        folder / "mails.csv",
        "--label",
        "kind",
        "--shards",
        3,
        "--model",
        folder / "m",
        "--json",
    )
    assert json.loads(shown.stdout)["parameters"]["shards"] == 3


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of Dask and of what it imports
def test_a_scheduler_of_dask_gives_the_bits_of_threads(folder):
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    files = [folder / f"part-{k}.svm" for k in range(4)]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        where = ("--dask", cluster.scheduler_address)
        for options in (
            (),
            ("--learner", "perceptron", "--epochs", 3, "--shuffle"),
            ("--learner", "passive-aggressive"),
        ):
            here = trained(folder, *files, "--shards", 4, *options)
            there = trained(folder, *files, *where, *options)
            assert (here.W.tobytes(), here.b.tobytes()) == (there.W.tobytes(), there.b.tobytes())
            assert here.origin["reading"] == there.origin["reading"]
            assert there.origin["training"]["parameters"]["shards"] == 4
        two, there = (trained(folder, *files, "--shards", 2, *engine) for engine in ((), where))
        assert two.W.tobytes() == there.W.tobytes() != here.W.tobytes()
        done = run("train", "--overwrite", folder / "all.svm", *where, "--shards", 2, "--model", folder / "m", code=1)
        assert "1 files cannot become 2 shards" in done.stderr
    done = run("train", "--overwrite", files[0], "--dask", "tcp://127.0.0.1:1", "--model", folder / "m", code=1)
    assert "There is no Dask scheduler at tcp://127.0.0.1:1" in done.stderr


def test_what_shards_cannot_do_is_refused(folder):
    done = run(
        "train", "--overwrite", folder / "all.svm", "--model", folder / "m", "--shards", 2, "--holdout", 5, code=2
    )
    assert "--holdout has no effect: it is for training without shards" in done.stderr
    done = run(
        "train", "--overwrite", folder / "all.svm", "--model", folder / "m", "--learner", "arow", "--shards", 2, code=2
    )
    assert "--shards is not an option of arow" in done.stderr


def test_shards_are_files_whose_columns_are_in_any_order(tmp_path):
    rows = [(k, k * k % 11, "xy"[k % 3 == 0]) for k in range(40)]
    (tmp_path / "1.csv").write_text("a,b,kind\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows[:20]))
    (tmp_path / "2.csv").write_text("kind;b;a\n" + "".join(f"{y};{b};{a}\n" for a, b, y in rows[20:]))
    (tmp_path / "3.csv").write_text("a,b,kind\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows[20:]))
    mixed, plain = (
        trained(tmp_path, tmp_path / "1.csv", tmp_path / name, "--shards", 2) for name in ("2.csv", "3.csv")
    )
    assert mixed.W.tobytes() == plain.W.tobytes()
    for shards in (2, 3):
        done = run(
            "train",
            "--overwrite",
            tmp_path / "1.csv",
            tmp_path / "2.csv",
            "--shards",
            shards,
            "--model",
            tmp_path / "m",
        )
        assert f"{tmp_path / '1.csv'}: 20 rows\n{tmp_path / '2.csv'}: 20 rows\n" in done.stderr


@pytest.mark.parametrize("encodings", [("utf-8", "latin-1"), ("latin-1", "utf-8")])
def test_shards_in_two_encodings_are_refused(tmp_path, encodings):
    """No shard saw the files of another, and the same word was two features."""
    files = [tmp_path / f"{k}.csv" for k in range(2)]
    for path, encoding in zip(files, encodings, strict=True):
        path.write_text("a,k,y\n1,größer,1\n2,klein,0\n", encoding=encoding)
    done = run("train", "--overwrite", *files, "--shards", 2, "--model", tmp_path / "m", code=1)
    assert "UTF-8, and the text of the training is" in done.stderr
    trained(tmp_path, files[0], files[0], "--shards", 2)
    assert (
        "UTF-8, and the text of the training is" in run("predict", files[1], "--model", tmp_path / "m", code=1).stderr
    )
