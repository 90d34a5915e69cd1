"""Predictions are those of the library."""

import json

import numpy as np
import pytest

import rosenblatt
from commands import mails, run, svmlight
from rosenblatt.datasets import load_svmlight


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name, classes in (("two", 2), ("four", 4)):
        svmlight(folder / f"{name}.svm", classes=classes)
        run("train", folder / f"{name}.svm", "--model", folder / name, "--quiet")
    return folder


@pytest.mark.parametrize("name", ["two", "four"])
def test_predictions_and_scores_are_those_of_the_model(folder, name):
    X, _ = load_svmlight(folder / f"{name}.svm", n_features=1 << 18)
    model = rosenblatt.load_linear(folder / name)
    lines = run("predict", folder / f"{name}.svm", "--model", folder / name, "--scores").stdout.splitlines()
    found = np.array([line.split("\t") for line in lines], dtype=float)
    np.testing.assert_array_equal(found[:, 0], model.predict(X))
    np.testing.assert_array_equal(found[:, 1:], model.class_scores(X))
    told = [
        json.loads(line)
        for line in run("predict", folder / f"{name}.svm", "--model", folder / name, "--json").stdout.splitlines()
    ]
    assert [one["prediction"] for one in told] == found[:, 0].tolist()


def test_the_output_appears_whole_or_not_at_all(folder):
    run("predict", folder / "two.svm", "--model", folder / "two", "-o", folder / "out")
    assert (folder / "out").read_text() == run("predict", folder / "two.svm", "--model", folder / "two").stdout
    (folder / "bad.svm").write_text("1 1:2\n1 x\n")
    run("predict", folder / "bad.svm", "--model", folder / "two", "-o", folder / "out", code=1)
    assert len((folder / "out").read_text().splitlines()) == 2000


def test_columns_and_labels_are_read_as_in_training(folder):
    mails(folder / "mails.csv")
    run("train", folder / "mails.csv", "--label", "kind", "--model", folder / "mails", "--quiet")
    header, *lines = (folder / "mails.csv").read_text().splitlines()
    (folder / "new.csv").write_text("\n".join([header, *("," + line.split(",", 1)[1] for line in lines)]) + "\n")
    unlabelled = run("predict", folder / "new.csv", "--model", folder / "mails").stdout
    assert unlabelled == run("predict", folder / "mails.csv", "--model", folder / "mails").stdout


def test_a_model_without_a_reading_and_what_is_no_model_are_refused(folder):
    rosenblatt.save(rosenblatt.Perceptron().fit([[0.0], [1.0]], [0, 1]), folder / "library")
    assert (
        "does not say how to read" in run("predict", folder / "two.svm", "--model", folder / "library", code=1).stderr
    )
    assert "cannot be loaded" in run("predict", folder / "two.svm", "--model", folder / "two.svm", code=1).stderr
    run("predict", folder / "two.svm", "--model", folder / "none", code=1)
