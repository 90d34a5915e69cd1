"""Figures of the evaluation are those that one would count oneself."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import rosenblatt
from commands import run, svmlight
from rosenblatt.datasets import load_svmlight


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    svmlight(folder / "rows.svm", n=700, classes=3)
    return folder


@pytest.fixture(scope="module")
def data(folder):
    return load_svmlight(folder / "rows.svm", n_features=1 << 18)


def test_a_model_is_measured_on_files(folder, data):
    run("train", folder / "rows.svm", "--model", folder / "m", "--quiet")
    X, y = data
    predicted = rosenblatt.load_linear(folder / "m").predict(X)
    told = json.loads(run("evaluate", folder / "rows.svm", "-m", folder / "m", "--json").stdout)
    assert told["accuracy"] == np.mean(predicted == y)
    for one in told["classes"]:
        hits = np.sum((predicted == one["label"]) & (y == one["label"]))
        assert one["precision"] == hits / np.sum(predicted == one["label"])
        assert one["recall"] == hits / np.sum(y == one["label"])
    assert told["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, predicted))
    assert told["f1"] == pytest.approx(metrics.f1_score(y, predicted, average="macro"))
    scores = rosenblatt.load_linear(folder / "m").class_scores(X)
    areas = [metrics.roc_auc_score(y == label, column) for label, column in enumerate(scores.T)]
    assert told["auc"] == pytest.approx(np.mean(areas))
    assert told["baseline"]["accuracy"] == max(np.mean(y == label) for label in range(3))
    assert "log_loss" not in told
    matrix = metrics.confusion_matrix(y, predicted)
    assert [[told["confusion"][str(true)].get(str(guess), 0) for guess in range(3)] for true in range(3)] == (
        matrix.tolist()
    )
    text = run("evaluate", folder / "rows.svm", "-m", folder / "m").stdout
    for name in ("accuracy", "balanced_accuracy", "f1", "auc"):
        assert re.search(rf"^{name.replace('_', ' ')} +{told[name]:.4f}", text, re.MULTILINE)
    for true, row in enumerate(matrix.tolist()):
        assert re.search(rf"^{true} +{' +'.join(map(str, row))}$", text, re.MULTILINE)


def test_probabilities_of_folds_are_those_of_the_models_of_the_folds(folder, data):
    X, y = data
    options = ["--learner", "soft-margin", "--loss", "log_loss", "--tol", "none", "--intercept-scaling", 1]
    told = json.loads(run("evaluate", folder / "rows.svm", "--folds", 4, "--json", *options).stdout)
    p, areas = np.empty((y.size, 3)), []
    for fold in range(4):
        outside = np.arange(y.size) % 4 == fold
        model = rosenblatt.SoftMargin(loss="logistic", max_iter=5, tol=None, shuffle=False, intercept_scaling=1.0)
        p[outside] = model.fit(X[~outside], y[~outside]).predict_proba(X[outside])
        areas.append(metrics.roc_auc_score(y[outside], p[outside], multi_class="ovr"))
    assert told["log_loss"] == pytest.approx(metrics.log_loss(y, p))
    assert told["brier"] == pytest.approx(np.mean(((p - np.eye(3)[y.astype(int)]) ** 2).sum(axis=1)))
    assert told["auc"] == pytest.approx(np.mean(areas))


def test_the_confusion_of_many_classes_is_in_json_only(tmp_path):
    lines = [f"{label} {label + 1}:1" for label in range(30)]
    (tmp_path / "rows.svm").write_text("\n".join(lines * 2) + "\n")
    run("train", tmp_path / "rows.svm", "--model", tmp_path / "m", "--quiet")
    assert "label / predicted" not in run("evaluate", tmp_path / "rows.svm", "-m", tmp_path / "m").stdout
    told = json.loads(run("evaluate", tmp_path / "rows.svm", "-m", tmp_path / "m", "--json").stdout)
    assert sum(sum(row.values()) for row in told["confusion"].values()) == 60


def test_a_file_without_rows_is_refused(folder, tmp_path):
    (tmp_path / "none.svm").write_text("")
    run("train", folder / "rows.svm", "--model", tmp_path / "m", "--quiet")
    run("evaluate", tmp_path / "none.svm", "-m", tmp_path / "m", code=1)


def test_labels_that_the_model_does_not_know_are_told(tmp_path):
    for name, labels in [("train", ["False", "True"]), ("test", [0, 1])]:
        (tmp_path / f"{name}.csv").write_text("a,b,y\n" + f"1,2,{labels[0]}\n2,1,{labels[1]}\n" * 4)
    run("train", tmp_path / "train.csv", "--model", tmp_path / "m", "--quiet")
    told = "The model does not know the labels 0, 1. It knows False, True."
    assert told in run("evaluate", tmp_path / "test.csv", "--model", tmp_path / "m").stderr
    assert told not in run("evaluate", tmp_path / "train.csv", "--model", tmp_path / "m").stderr


@pytest.mark.parametrize("encodings", [("utf-8", "latin-1"), ("latin-1", "utf-8")])
def test_labels_in_another_encoding_are_refused(tmp_path, encodings):
    for name, encoding in zip(("train.csv", "test.csv"), encodings, strict=True):
        (tmp_path / name).write_text("a,b,y\n" + "1,2,größer\n2,1,kleiner\n" * 4, encoding=encoding)
    for _ in range(2):  # the second time from the cache of the first
        run(
            "train",
            "--overwrite",
            tmp_path / "train.csv",
            "--model",
            tmp_path / "m",
            "--cache",
            tmp_path / "c",
            "--quiet",
        )
        run("evaluate", tmp_path / "train.csv", "--model", tmp_path / "m")
        done = run("evaluate", tmp_path / "test.csv", "--model", tmp_path / "m", code=1)
        assert "UTF-8, and the text of the training is" in done.stderr


def test_one_error_is_counted_in_the_singular(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 1:-1\n")
    (tmp_path / "new.svm").write_text("1 1:1\n1 1:-1\n")
    run("train", tmp_path / "rows.svm", "--model", tmp_path / "m", "--quiet")
    assert "(1 error)" in run("evaluate", tmp_path / "new.svm", "-m", tmp_path / "m").stdout


def test_folds_are_every_kth_row(folder, data):
    X, y = data
    right = 0
    for fold in range(4):
        outside = np.arange(y.size) % 4 == fold
        model = rosenblatt.AveragedPerceptron(max_iter=5, tol=None, shuffle=False, keep="last", intercept_scaling=1.0)
        right += np.sum(model.fit(X[~outside], y[~outside]).predict(X[outside]) == y[outside])
    options = ["--learner", "averaged", "--intercept-scaling", 1, "--tol", "none"]
    told = json.loads(run("evaluate", folder / "rows.svm", "--folds", 4, "--json", *options).stdout)
    assert told["accuracy"] == right / y.size


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_progressive_predictions_come_before_the_rows_are_learned(folder, data, multiclass):
    X, y = data
    model = rosenblatt.AveragedPerceptron(intercept_scaling=1.0, multiclass=multiclass)
    wrong = []
    for i in range(y.size):
        if i:
            wrong.append(model.predict(X[i])[0] != y[i])
        model.partial_fit(X[i], y[i : i + 1])
    options = ["--progressive", "--learner", "averaged", "--intercept-scaling", 1, "--multiclass", multiclass]
    told = json.loads(run("evaluate", folder / "rows.svm", "--json", *options).stdout)
    assert told["rows"] == y.size - 1
    assert told["errors"] == sum(wrong)
    lines = run("evaluate", folder / "rows.svm", "--every", 300, *options).stderr.splitlines()[-3:]
    shown = [[float(cell) for cell in line.split()[:3]] for line in lines]
    expected = [
        [end, np.mean(wrong[:end]), np.mean(wrong[start:end])] for start, end in ((0, 300), (300, 600), (600, 699))
    ]
    np.testing.assert_allclose(shown, expected, rtol=1e-5)


def test_numbers_are_measured_by_their_distance(folder, data):
    X, y = data
    run("train", folder / "rows.svm", "--learner", "adaline-regressor", "--model", folder / "r", "--quiet")
    predicted = rosenblatt.load_linear(folder / "r").predict(X)
    told = json.loads(run("evaluate", folder / "rows.svm", "-m", folder / "r", "--json").stdout)
    assert told["rmse"] == pytest.approx(np.sqrt(np.mean((predicted - y) ** 2)))
    assert told["mae"] == pytest.approx(np.mean(np.abs(predicted - y)))
    assert told["r2"] == pytest.approx(metrics.r2_score(y, predicted))
    assert told["baseline_rmse"] == pytest.approx(np.std(y))
    text = run("evaluate", folder / "rows.svm", "--folds", 2, "--learner", "adaline-regressor").stdout
    assert "rmse" in text
    assert "rmse" in run("evaluate", folder / "rows.svm", "--progressive", "--learner", "adaline-regressor").stdout


def test_one_way_to_measure_must_be_chosen(folder):
    run("evaluate", folder / "rows.svm", code=2)
    run("evaluate", folder / "rows.svm", "--folds", 3, "--progressive", code=2)
    run("evaluate", "-", "--folds", 3, code=2)


# --------------------------------------------------------------------------------------------- columns in another order


@pytest.fixture
def orders(tmp_path):
    """The same table of numbers, cut in two files whose columns are in different orders, and whole."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2)) * [1, 5]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": (X @ [3, 0.1] > 0).astype(int)})
    frame.to_csv(tmp_path / "whole.csv", index=False)
    frame[:150].to_csv(tmp_path / "ab.csv", index=False)
    frame[150:][["b", "y", "a"]].to_csv(tmp_path / "ba.csv", index=False, sep=";")
    return tmp_path


def test_files_whose_columns_are_in_other_orders_are_one_table(orders):
    """The second file was read by position: .948 for each of two files, .721 for both."""
    both, whole = [orders / "ab.csv", orders / "ba.csv"], orders / "whole.csv"
    run("train", *both, "--model", orders / "both", "--quiet")
    run("train", whole, "--model", orders / "one", "--quiet")
    models = [rosenblatt.load_linear(orders / name) for name in ("both", "one")]
    assert models[0].W.tobytes() == models[1].W.tobytes()
    for how in (["--model", orders / "one"], ["--folds", 5], ["--progressive"]):
        found, expected = (json.loads(run("evaluate", *files, *how, "--json").stdout) for files in (both, [whole]))
        assert found.pop("files") == {str(both[0]): 150, str(both[1]): 150}
        assert expected.pop("files") == {str(whole): 300}
        assert found == expected
    told = run("evaluate", *both, "--model", orders / "one").stderr
    assert told == f"{both[0]}: 150 rows\n{both[1]}: 150 rows\n"
    predicted = [run("predict", *files, "--model", orders / "one").stdout for files in (both, [whole])]
    assert predicted[0] == predicted[1]
