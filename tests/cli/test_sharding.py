"""Training on shards from the command line."""

import json

import numpy as np
import pytest

import rosenblatt
from commands import mails, run, svmlight


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
    run("train", "--model", folder / "m", "-q", *arguments)
    return rosenblatt.load_linear(folder / "m")


def test_shards_of_one_file_are_those_of_a_table(folder):
    from rosenblatt.datasets import load_svmlight

    found = trained(folder, folder / "all.svm", "--shards", 4, "--epochs", 3)
    X, y = load_svmlight(folder / "all.svm")
    model = rosenblatt.AveragedPerceptron(shards=4, max_iter=3, shuffle=False, keep="last").fit(X, y)
    np.testing.assert_array_equal(found.W[:, : X.shape[1]], model.coef_)
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
    shown = run("train", folder / "mails.csv", "--label", "kind", "--shards", 3, "--model", folder / "m", "--json")
    assert json.loads(shown.stdout)["parameters"]["shards"] == 3


def test_what_shards_cannot_do_is_refused(folder):
    done = run("train", folder / "all.svm", "--model", folder / "m", "--shards", 2, "--holdout", 5, code=2)
    assert "--holdout is for training without shards" in done.stderr
    done = run("train", folder / "all.svm", "--model", folder / "m", "--learner", "arow", "--shards", 2, code=2)
    assert "--shards is no option of arow" in done.stderr
